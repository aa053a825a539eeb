// How much of the machine others used while something was measured. Slow libraries suffer more from preemption than fast
// ones, so ratios taken on a busy machine are wrong, and the table says how busy it was.
import { readFileSync } from "node:fs";
import { cpus } from "node:os";

const TICKS_A_SECOND = 100;

function busyTicks() {
  const [user, nice, system, , , irq, softirq] = readFileSync(
    "/proc/stat",
    "utf8",
  )
    .split("\n")[0]
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return user + nice + system + irq + softirq;
}

/** Starts a meter; calling it with our own CPU seconds gives the cores that others kept busy meanwhile. */
export function meter() {
  const before = busyTicks();
  const start = Date.now();
  return (ownSeconds) => {
    const seconds = (Date.now() - start) / 1000;
    const busy = (busyTicks() - before) / TICKS_A_SECOND;
    return {
      others: Math.max(0, busy - ownSeconds) / seconds,
      cores: cpus().length,
    };
  };
}

/** Waits until most of the machine has been idle for a moment, or the patience is over. */
export async function waitIdle({ share = 0.8, patienceMs }) {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const before = busyTicks();
    await new Promise((done) => setTimeout(done, 1000));
    if (1 - (busyTicks() - before) / TICKS_A_SECOND / cpus().length >= share)
      return;
  }
}

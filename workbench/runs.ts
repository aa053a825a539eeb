/** What was run from the pages of this host, as the host process keeps it, and what came of each run. */
import { effect, signal } from "@preact/signals";
import { get, post } from "./api.js";
import { pause } from "./dom.js";
import { isObject } from "./form/schema.js";
import type { Fields } from "./form/value.js";
import type { Run, Runs } from "./state.generated.js";
import { lines } from "./state.js";

/** Newest first. */
export const runs = signal<Run[]>([]);

/** Keeps them: a line of the log says when there may be something new. */
export function followRuns(): void {
  let seen: number | undefined;
  let last = 0;
  let asking = false;
  const ask = async () => {
    if (asking) return;
    asking = true;
    try {
      // Views make such lines too, and as many as they like.
      await pause(ASKED);
      const fresh = await get<Runs>(
        `/api/runs${seen === undefined ? "" : `?seen=${seen}`}`,
      );
      seen = fresh.version;
      if (fresh.runs) runs.value = fresh.runs;
    } catch {
      // The next line asks again; that the host process is gone is said elsewhere.
    } finally {
      asking = false;
    }
  };
  effect(() => {
    const fresh = lines.value.filter(({ n }) => n > last);
    last = lines.value[0]?.n ?? last;
    if (fresh.some(({ kind }) => kind === "call" || kind === "result"))
      void again();
  });
  // What comes while it is asked is asked for once more.
  let more = false;
  async function again() {
    if (asking) {
      more = true;
      return;
    }
    do {
      more = false;
      await ask();
    } while (more);
  }
}

/** The arguments and the answer of a run. */
export async function wholeRun(
  n: number,
): Promise<{ arguments: Fields; result: unknown }> {
  const whole = await get<{ arguments: unknown; result: unknown }>(
    `/api/run?n=${n}`,
  );
  return {
    arguments: isObject(whole.arguments) ? (whole.arguments as Fields) : {},
    result: whole.result,
  };
}

/** Asks a server something for the person. */
export const askServer = <T>(
  server: string,
  method: string,
  params: Record<string, unknown> = {},
) => post<T>("/api/ask", { server, method, params });

const ASKED = 100;

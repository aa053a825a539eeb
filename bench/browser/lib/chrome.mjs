// Starts Chromium over --remote-debugging-pipe with a CDP client of our own. Runtime.enable is never sent: with it every
// console.* call in every frame is serialised to us, and libraries that log each message look far slower than to a user.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export async function launch() {
  const profile = mkdtempSync(path.join(tmpdir(), "transom-bench-"));
  const child = spawn(
    findChromium(),
    [
      ...FLAGS,
      `--user-data-dir=${profile}`,
      "--remote-debugging-pipe",
      "about:blank",
    ],
    {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    },
  );
  const exited = new Promise((done) => child.once("exit", done));
  const { send, listeners } = openPipe(child);
  return {
    pid: child.pid,
    open: (url) => open(send, listeners, url),
    async close() {
      send("Browser.close").catch(() => {});
      await Promise.race([
        exited,
        new Promise((done) => setTimeout(done, 3000)),
      ]);
      if (child.exitCode === null) child.kill("SIGKILL");
      rmSync(profile, {
        recursive: true,
        force: true,
        maxRetries: 10,
        retryDelay: 100,
      });
    },
  };
}

/** The browser's two pipes: messages that end in a zero byte. */
function openPipe(child) {
  const pending = new Map();
  const listeners = [];
  let last = 0;
  let buffer = "";
  child.stdio[4].setEncoding("utf8").on("data", (text) => {
    buffer += text;
    for (
      let end;
      (end = buffer.indexOf("\0")) >= 0;
      buffer = buffer.slice(end + 1)
    ) {
      const message = JSON.parse(buffer.slice(0, end));
      if (!message.id) for (const listener of listeners) listener(message);
      else {
        const { resolve, reject, method } = pending.get(message.id);
        pending.delete(message.id);
        message.error
          ? reject(new Error(`${method}: ${message.error.message}`))
          : resolve(message.result);
      }
    }
  });
  const send = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      pending.set(++last, { resolve, reject, method });
      child.stdio[3].write(
        JSON.stringify({
          id: last,
          method,
          params,
          ...(sessionId && { sessionId }),
        }) + "\0",
      );
    });
  return { send, listeners };
}

/** Opens a page in the start-up tab, which is in the foreground; a created one would be backgrounded and reniced. */
async function open(send, listeners, url) {
  // The browser's own menus are pages too, and the tab may not be there yet.
  let tab;
  while (!tab) {
    const { targetInfos } = await send("Target.getTargets");
    tab = targetInfos.find(
      ({ type, url }) => type === "page" && url === "about:blank",
    );
  }
  const { targetId } = tab;
  const { sessionId } = await send("Target.attachToTarget", {
    targetId,
    flatten: true,
  });
  const cdp = (method, params) => send(method, params, sessionId);
  const children = [];
  listeners.push(({ method, params }) => {
    if (method !== "Target.attachedToTarget") return;
    children.push({
      ...params.targetInfo,
      cdp: (name, more) => send(name, more, params.sessionId),
    });
  });
  const loaded = new Promise((done) =>
    listeners.push(
      (m) =>
        m.sessionId === sessionId &&
        m.method === "Page.loadEventFired" &&
        done(),
    ),
  );
  await cdp("Page.enable");
  await cdp("Page.navigate", { url });
  await loaded;
  await cdp("Page.disable");
  return {
    cdp,
    children,
    attachChildren: () =>
      cdp("Target.setAutoAttach", {
        autoAttach: true,
        waitForDebuggerOnStart: false,
        flatten: true,
      }),
    evaluate: (expression) => evaluate(cdp, expression),
  };
}

async function evaluate(cdp, expression) {
  const { result, exceptionDetails } = await cdp("Runtime.evaluate", {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails)
    throw new Error(
      exceptionDetails.exception?.description ?? exceptionDetails.text,
    );
  return result.value;
}

/** CPU seconds used so far by a process and everything it started. */
export function cpuSeconds(pid) {
  let ns = 0;
  for (const each of descendants(pid)) {
    let tasks = [];
    try {
      tasks = readdirSync(`/proc/${each}/task`);
    } catch {
      // Ended meanwhile.
    }
    for (const task of tasks)
      ns += Number(
        read(`/proc/${each}/task/${task}/schedstat`).split(" ")[0] || 0,
      );
  }
  return ns / 1e9;
}

function descendants(pid) {
  const children = new Map();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = read(`/proc/${entry}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const walk = (each) => [each, ...(children.get(each) ?? []).flatMap(walk)];
  return walk(pid);
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function findChromium() {
  return (
    process.env.CHROMIUM ??
    execFileSync("sh", ["-c", "command -v chromium"], {
      encoding: "utf8",
    }).trim()
  );
}

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Nothing leaves the machine: every other name fails to resolve.
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE *.localhost , EXCLUDE 127.0.0.1 , EXCLUDE [::1]",
  // Timers and renderers at full speed although nobody looks.
  "--disable-renderer-backgrounding",
  "--disable-backgrounding-occluded-windows",
  "--disable-background-timer-throttling",
  "--window-size=1280,900",
];

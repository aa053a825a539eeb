// The three windows of one view (host page, sandbox, guest), and strangers beside them.
import { bundle, page } from "./bundle.mjs";
import { DEFAULT_POLICY, putSandbox } from "./sandbox.mjs";
import { mountElement, mountFrame, putView } from "./stage.mjs";

/**
 * Opens a host page with a sandbox and a guest that has our library. `raw` gives the guest as HTML instead of by URL.
 * With `connect: false` the guest stays silent. `element` mounts a <transom-view> instead of a small host's frame.
 */
export async function openTrio(t, { site, openStage }, options = {}) {
  const {
    raw = false,
    connect = true,
    element = false,
    settings = {},
    message = {},
    headers,
  } = options;
  const scripts = options.scripts ?? [element ? "element.js" : "small-host.js"];
  const stage = await openStage(t, { scripts, headers: options.hostHeaders });
  const viewScripts = options.viewScripts ?? ["transom.view.js"];
  const sandboxOrigin = site.fresh();
  const guestOrigin = site.fresh();
  const policy = `${DEFAULT_POLICY}; frame-ancestors ${guestOrigin} ${sandboxOrigin} ${site.host}`;
  const guestHeaders = { "content-security-policy": policy, ...headers };
  const guestUrl = raw
    ? undefined
    : await putView(site, {
        origin: guestOrigin,
        scripts: viewScripts,
        headers: guestHeaders,
      });
  const address = await putSandbox(site, {
    origin: sandboxOrigin,
    guest: guestUrl,
    ...settings,
  });
  const origins = {
    host: site.host,
    sandbox: new URL(address).origin,
    guest: new URL(guestUrl ?? address).origin,
  };
  const html =
    raw &&
    page({
      scripts: await Promise.all(["ear.js", ...viewScripts].map(bundle)),
    });
  const mount = element ? putElement : putFrame;
  await mount(
    stage.host,
    address,
    origins.sandbox,
    html,
    message,
    options.host,
  );
  const sandbox = await stage.frameAt(address);
  const view = await stage.frameAt(guestUrl ?? "about:srcdoc");
  if (connect) await connectApp(view);
  return { ...stage, sandbox, view, origins, guestUrl, address };
}

const GREETING = {
  hostContext: { theme: "dark" },
  hostCapabilities: { serverTools: {} },
};

function putElement(host, address, _origin, html, message, more) {
  const resource = html ? { html, ...message } : undefined;
  return mountElement(host, address, { ...GREETING, resource, ...more });
}

/** A small host's frame, which is given the guest's HTML where the guest has no address. */
async function putFrame(host, address, origin, html, message, more) {
  await mountFrame(host, address, { ...GREETING, origin, ...more });
  if (!html) return;
  await host.evaluate(() => ear.next("sandboxready"));
  await host.evaluate(
    ([html, message]) => theHost.sendHtml(html, message),
    [html, message],
  );
}

/** Reloads the view of a trio, and connects it again. */
export async function reload({ host, view }) {
  const gone = host.waitForEvent("framenavigated", (frame) => frame === view);
  await view.evaluate(() => void location.reload()).catch(() => {});
  await gone;
  await view.waitForLoadState("load");
  await connectApp(view);
}

/** Connects `app` in a frame that has our library, with an ear on every event. */
export function connectApp(view, capabilities = {}) {
  return view.evaluate((capabilities) => {
    const app = (globalThis.app = new library.App(
      { name: "v", version: "1" },
      capabilities,
      { autoResize: false },
    ));
    for (const event of [
      "toolinput",
      "toolinputpartial",
      "toolresult",
      "toolcancelled",
      "hostcontextchanged",
      "teardown",
    ])
      app[`on${event}`] = (params) => void ear.hear(event, params);
    app.onerror = (error) => ear.hear("apperror", String(error));
    return app.connect().then(() => {});
  }, capabilities);
}

/** How many frames a document holds now. What the driver knows of them lags behind. */
export const framesIn = (frame) => frame.evaluate(() => frames.length);

/** Puts a stranger's frame beside the others. It writes down everything it is sent. */
export async function addStranger(
  host,
  site,
  { origin = site.neighbour, attributes = {} } = {},
) {
  const address = await putView(site, {
    origin,
    path: `/stranger-${++strangers}`,
    scripts: ["stranger.js"],
  });
  await host.evaluate(
    ([address, attributes]) => {
      const frame = document.createElement("iframe");
      for (const [name, value] of Object.entries(attributes))
        frame.setAttribute(name, value);
      frame.src = address;
      document.body.append(frame);
    },
    [address, attributes],
  );
  const frame =
    host.frames().find((each) => each.url() === address) ??
    (await arrives(host, address));
  await frame.waitForLoadState("load");
  return frame;
}
let strangers = 0;

const arrives = (host, address) =>
  host.waitForEvent("framenavigated", (frame) => frame.url() === address);

/** Counts what reaches a window, whoever sent it, so that "ignored" can be told from "not there yet". */
export async function watch(frame) {
  await frame.evaluate(() => {
    globalThis.arrived = [];
    addEventListener("message", ({ origin, data, ports }) => {
      arrived.push({
        origin,
        ports: ports.length,
        method: data?.method,
        attack: data?.attack ?? data?.params?.attack,
      });
      for (const wake of globalThis.wakes ?? []) wake();
    });
    globalThis.arrivals = (n) =>
      new Promise((done) => {
        const look = () =>
          arrived.filter(({ attack }) => attack).length >= n && done();
        (globalThis.wakes ??= []).push(look);
        look();
      });
  });
  return (n) => frame.evaluate((n) => arrivals(n), n);
}

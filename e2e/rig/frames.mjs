// The pages of the postMessage transport's tests: an outer page, and inner ones on origins of their own.
import { putView } from "./stage.mjs";

let pages = 0;

/** Puts an inner page on an origin; `query` is what its script is told. Returns its address without a fragment. */
export async function putInner(
  site,
  { origin = site.fresh(), scripts = ["frames.inner.js"], query = {}, allow = [site.host], headers, body } = {},
) {
  const path = `/inner-${++pages}`;
  const address = await putView(site, { scripts, origin, path, headers, body });
  const search = new URLSearchParams(query);
  for (const each of allow) search.append("allow", each);
  return `${address}?${search}`;
}

/** Opens an outer page with a prepared transport for an address. */
export async function openOuter(t, { openStage }, url, options = {}, stageOptions = {}) {
  const stage = await openStage(t, { scripts: ["frames.outer.js"], ...stageOptions });
  await stage.host.evaluate(([url, options]) => prepare(url, options), [url, options]);
  return stage;
}

export const setUp = (host) => host.evaluate(() => settled(outer.setup()));
/** "open", or the error. */
export const start = async (host) => {
  const { error = "open" } = await host.evaluate(() => settled(outer.start()));
  return error;
};
export const ask = (host, method, params) =>
  host.evaluate(([method, params]) => ask(method, params), [method, params]);
export const next = (frame, name) => frame.evaluate((name) => ear.next(name), name);
/** Why the connection ended, once it has. */
export const reason = async (host) => {
  await next(host, "close");
  return host.evaluate(() => outer.reason?.code);
};

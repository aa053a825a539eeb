/** The one line of a page that knows nothing else of hosts. */
import { applyHostStyles } from "../theme.js";
import { App } from "../view.js";
import { initMcpHttp } from "./http.js";
import type { FetchOptions } from "./install.js";

/**
 * Connects this page to its Host, carries whatever it asks for, and gives it the Host's look.
 *
 * In a tab of its own the page stays as it is, and nothing is returned.
 */
export function carry(options: FetchOptions = {}): App | undefined {
  if (parent === self) return undefined;
  const app = new App({ name: document.title || "page", version: "0" });
  initMcpHttp(app, options);
  app.onhostcontextchanged = applyHostStyles;
  app.connect().then(
    () => applyHostStyles(app.getHostContext()),
    // Each request says so too, when it has waited for its Host.
    ({ message }: Error) => options.log?.(message),
  );
  return app;
}

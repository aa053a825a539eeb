/** What form a view has, where that is a deprecated one. */
import type { TransomView } from "../web/src/host.js";
import { make } from "./dom.js";

/** Shows above a view that it is in mcp-ui's form, for as long as it is. */
export function hearBanner(view: TransomView): void {
  const banner = make("p", { className: "banner", hidden: true });
  view.before(banner);
  view.addEventListener("transom-banner", ({ detail }) => {
    banner.textContent = detail.text;
    banner.hidden = !detail.text;
  });
  view.addEventListener("transom-open", () => (banner.hidden = true));
}

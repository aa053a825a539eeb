/** What views are told about this page. */
import type { Facts, TransomView } from "../web/src/host.js";

/** What views are told about this page. Nothing covers a view in the page; in fullscreen something may. */
export function facts(mode: TransomView["mode"] = "inline"): Facts {
  const has = (query: string) => matchMedia(query).matches;
  const style = getComputedStyle(document.documentElement);
  const inset = (side: string) =>
    mode === "fullscreen"
      ? parseFloat(style.getPropertyValue(`--inset-${side}`)) || 0
      : 0;
  return {
    theme: has(DARK) ? "dark" : "light",
    locale: navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    touch: has("(any-pointer: coarse)"),
    hover: has("(any-hover: hover)"),
    insets: {
      top: inset("top"),
      right: inset("right"),
      bottom: inset("bottom"),
      left: inset("left"),
    },
  };
}

/** Tells every view when something about this page changes. */
export function followPage(): void {
  const views = () => document.querySelectorAll("transom-view");
  const tell = () =>
    views().forEach((view) => view.say({ context: facts(view.mode) }));
  for (const query of [DARK, "(any-pointer: coarse)", "(any-hover: hover)"])
    matchMedia(query).addEventListener("change", tell);
  addEventListener("languagechange", tell);
  addEventListener("resize", () => views().forEach((view) => view.fit()));
}

const DARK = "(prefers-color-scheme: dark)";

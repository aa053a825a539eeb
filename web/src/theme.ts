/** The Host's look, applied to the document. A value that the spec does not know does no harm. */
import type { HostContext, Styles, Theme } from "./wire.js";

/** Applies everything that a context says about looks; a partial context changes only its part. */
export function applyHostStyles({
  theme,
  styles = {},
  safeAreaInsets,
}: HostContext = {}): void {
  if (theme) applyDocumentTheme(theme);
  // Earlier drafts had the variables directly in `styles` (docs/reference/mcp-apps.md §4.2).
  applyHostStyleVariables(styles.variables ?? (styles as Styles));
  if (styles.css?.fonts) applyHostFonts(styles.css.fonts);
  for (const side in safeAreaInsets)
    applyHostStyleVariables({
      ["--safe-area-" + side]: safeAreaInsets[side as "top"] + "px",
    } as Styles);
}

/** Tells the document's theme: its `data-theme`, or else its class `dark`. */
export function getDocumentTheme(): Theme {
  const root = document.documentElement;
  return /dark/.test(root.dataset.theme ?? root.className) ? "dark" : "light";
}

/** Sets `data-theme` and `color-scheme`, so that `light-dark()` works. */
export function applyDocumentTheme(theme: Theme): void {
  const root = document.documentElement;
  root.dataset.theme = root.style.colorScheme = theme;
}

/** Sets the style variables on an element, by default the root. */
export function applyHostStyleVariables(
  styles: Styles,
  root: HTMLElement = document.documentElement,
): void {
  for (const [name, value] of Object.entries(styles))
    if (value && /^--/.test(name)) root.style.setProperty(name, value);
}

/** Adds the Host's font faces, or replaces those of an earlier call. */
export function applyHostFonts(css: string): void {
  fonts ??= document.head.appendChild(document.createElement("style"));
  fonts.textContent = css;
}

let fonts: HTMLStyleElement | undefined;

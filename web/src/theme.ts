/** The Host's look, applied to the document. Values that the spec does not know are left alone. */
import type { HostContext, Styles, Theme } from "./wire.js";

/** Applies everything that a context says about looks; a partial context changes only its part. */
export function applyHostStyles(context: HostContext | undefined): void {
  const { theme, styles, safeAreaInsets, displayMode } = context ?? {};
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") applyDocumentTheme(theme);
  // Earlier drafts had the variables directly in `styles` (reference §4.2).
  if (styles) applyHostStyleVariables(styles.variables ?? (styles as Styles));
  if (styles?.css?.fonts) applyHostFonts(styles.css.fonts);
  if (displayMode) root.dataset.displayMode = displayMode;
  for (const [side, inset] of Object.entries(safeAreaInsets ?? {}))
    root.style.setProperty(`--safe-area-${side}`, `${inset}px`);
}

/** Tells the document's theme: its `data-theme`, or else its class `dark`. */
export function getDocumentTheme(): Theme {
  const { dataset, classList } = document.documentElement;
  const { theme } = dataset;
  if (theme === "dark" || theme === "light") return theme;
  return classList.contains("dark") ? "dark" : "light";
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
    if (name.startsWith("--") && typeof value === "string") root.style.setProperty(name, value);
}

/** Adds the Host's font faces, or replaces those of an earlier call. */
export function applyHostFonts(css: string): void {
  const id = "transom-fonts";
  let style = document.getElementById(id);
  if (!style) {
    style = document.createElement("style");
    style.id = id;
    document.head.append(style);
  }
  style.textContent = css;
}

/** Hooks for Views written with React. */
import { useEffect, useState, type RefObject } from "react";
import {
  followContext,
  followTheme,
  mountApp,
  NOT_YET,
  type AppState,
  type UseAppOptions,
} from "./mounted.js";
import {
  applyHostFonts,
  applyHostStyles,
  applyHostStyleVariables,
  getDocumentTheme,
} from "./theme.js";
import type { App } from "./view.js";
import type { HostContext, Theme } from "./wire.js";

export * from "./index.js";
export type { AppState, UseAppOptions } from "./mounted.js";

/**
 * Makes an `App` and connects it while the component is mounted. The options of the first render count.
 *
 * Under StrictMode the component mounts twice: each mount has an `App` of its own, and the first one's
 * is closed before the second speaks.
 */
export function useApp(options: UseAppOptions): AppState {
  const [state, setState] = useState<AppState>(NOT_YET);
  // A new object on every render must not mean a new connection.
  useEffect(() => mountApp(options, setState), []);
  return state;
}

/** Applies the Host's theme, style variables, fonts and safe areas, now and on every change. */
export function useHostStyles(
  app: App | null,
  initialContext?: HostContext | null,
): void {
  useHostContext(app, initialContext, applyHostStyles);
}

/** Applies the Host's theme and style variables, now and on every change. */
export function useHostStyleVariables(
  app: App | null,
  initialContext?: HostContext | null,
): void {
  useHostContext(app, initialContext, applyVariables);
}

/** Applies the Host's fonts, now and on every change. */
export function useHostFonts(
  app: App | null,
  initialContext?: HostContext | null,
): void {
  useHostContext(app, initialContext, applyFonts);
}

/**
 * Reports the size of the content, or of one element, while the component is mounted, for an `App` with
 * `autoResize: false`.
 */
export function useAutoResize(
  app: App | null,
  element?: RefObject<HTMLElement | null>,
): void {
  useEffect(
    () => app?.setupSizeChangedNotifications(element?.current ?? undefined),
    [app, element],
  );
}

/** The document's theme, followed as it changes. */
export function useDocumentTheme(): Theme {
  const [theme, setTheme] = useState<Theme>(getDocumentTheme);
  useEffect(() => followTheme(setTheme), []);
  return theme;
}

function useHostContext(
  app: App | null,
  initialContext: HostContext | null | undefined,
  apply: (context: HostContext) => void,
): void {
  useEffect(
    () => followContext(app, apply, initialContext),
    [app, initialContext, apply],
  );
}

function applyVariables({ theme, styles }: HostContext): void {
  applyHostStyles({ ...(theme && { theme }) });
  if (styles?.variables) applyHostStyleVariables(styles.variables);
}

function applyFonts({ styles }: HostContext): void {
  if (styles?.css?.fonts) applyHostFonts(styles.css.fonts);
}

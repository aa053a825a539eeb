/** The `App` of a View written with Solid, as signals. */
import {
  createEffect,
  createSignal,
  onCleanup,
  onMount,
  type Accessor,
} from "solid-js";
import {
  followStyles,
  followTheme,
  followWhole,
  mountApp,
  NOT_YET,
  type UseAppOptions,
} from "./mounted.js";
import { getDocumentTheme } from "./theme.js";
import type { App } from "./view.js";
import type { HostContext, Theme } from "./wire.js";

export * from "./index.js";
export type { UseAppOptions } from "./mounted.js";

/** What a component knows about its `App`. */
export type AppSignals = {
  app: Accessor<App | null>;
  isConnected: Accessor<boolean>;
  error: Accessor<Error | null>;
};

/** Makes an `App` and connects it while the component is mounted. */
export function useApp(options: UseAppOptions): AppSignals {
  const [state, setState] = createSignal(NOT_YET);
  onMount(() => onCleanup(mountApp(options, setState)));
  return {
    app: () => state().app,
    isConnected: () => state().isConnected,
    error: () => state().error,
  };
}

/** What the Host has told of itself: theme, locale, sizes and the rest. */
export function useHostContext(
  app: Accessor<App | null>,
): Accessor<HostContext> {
  const [context, setContext] = createSignal<HostContext>({});
  createEffect(() => onCleanup(followWhole(app(), setContext)));
  return context;
}

/** Applies the Host's theme, style variables, fonts and safe areas, now and on every change. */
export function useHostStyles(app: Accessor<App | null>): void {
  createEffect(() => onCleanup(followStyles(app())));
}

/**
 * Reports the size of the content, or of the element that `element` gives, while the component is mounted, for an `App`
 * with `autoResize: false`.
 */
export function useAutoResize(
  app: Accessor<App | null>,
  element?: Accessor<HTMLElement | null | undefined>,
): void {
  createEffect(() => {
    const end = app()?.setupSizeChangedNotifications(element?.() ?? undefined);
    if (end) onCleanup(end);
  });
}

/** The document's theme, followed as it changes. */
export function useDocumentTheme(): Accessor<Theme> {
  const [theme, setTheme] = createSignal<Theme>(getDocumentTheme());
  onMount(() => onCleanup(followTheme(setTheme)));
  return theme;
}

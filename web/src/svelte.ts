/** The `App` of a View written with Svelte, as stores. */
import { onMount } from "svelte";
import { derived, readable, writable, type Readable } from "svelte/store";
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
export type AppStores = {
  app: Readable<App | null>;
  isConnected: Readable<boolean>;
  error: Readable<Error | null>;
};

/** Makes an `App` and connects it while the component is mounted. */
export function useApp(options: UseAppOptions): AppStores {
  const state = writable(NOT_YET);
  onMount(() => mountApp(options, state.set));
  return {
    app: derived(state, ({ app }) => app),
    isConnected: derived(state, ({ isConnected }) => isConnected),
    error: derived(state, ({ error }) => error),
  };
}

/** What the Host has told of itself: theme, locale, sizes and the rest. */
export function useHostContext(
  app: Readable<App | null>,
): Readable<HostContext> {
  const begin: HostContext = {};
  return derived(app, (app, set) => followWhole(app, set), begin);
}

/** Applies the Host's theme, style variables, fonts and safe areas, now and on every change. */
export function useHostStyles(app: Readable<App | null>): void {
  each(app, followStyles);
}

/**
 * Reports the size of the content, or of the element that `element` gives, while the component is mounted, for an `App`
 * with `autoResize: false`.
 */
export function useAutoResize(
  app: Readable<App | null>,
  element?: () => HTMLElement | null | undefined,
): void {
  each(app, (app) =>
    app?.setupSizeChangedNotifications(element?.() ?? undefined),
  );
}

/** The document's theme, followed as it changes. */
export function useDocumentTheme(): Readable<Theme> {
  return readable(getDocumentTheme(), followTheme);
}

/** Begins something with each `App` that there is, and ends it with that or with the component. */
function each(
  app: Readable<App | null>,
  begin: (app: App | null) => (() => void) | undefined,
): void {
  onMount(() => {
    let end: (() => void) | undefined;
    const leave = app.subscribe((next) => {
      end?.();
      end = begin(next);
    });
    return () => {
      leave();
      end?.();
    };
  });
}

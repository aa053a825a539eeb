/** The `App` of a View written with Vue, as its state. */
import {
  onMounted,
  onUnmounted,
  shallowRef,
  watch,
  type Ref,
  type ShallowRef,
} from "vue";
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
export type AppRefs = {
  app: Readonly<ShallowRef<App | null>>;
  isConnected: Readonly<ShallowRef<boolean>>;
  error: Readonly<ShallowRef<Error | null>>;
};

/** Makes an `App` and connects it while the component is mounted. */
export function useApp(options: UseAppOptions): AppRefs {
  // Shallow: an App is no data, and Vue looks into everything that it makes reactive.
  const app = shallowRef(NOT_YET.app);
  const isConnected = shallowRef(NOT_YET.isConnected);
  const error = shallowRef(NOT_YET.error);
  whileMounted(() =>
    mountApp(options, (state) => {
      app.value = state.app;
      isConnected.value = state.isConnected;
      error.value = state.error;
    }),
  );
  return { app, isConnected, error };
}

/** What the Host has told of itself: theme, locale, sizes and the rest. */
export function useHostContext(
  app: Readonly<Ref<App | null>>,
): Readonly<ShallowRef<HostContext>> {
  const context = shallowRef<HostContext>({});
  each(app, (app) => followWhole(app, (whole) => (context.value = whole)));
  return context;
}

/** Applies the Host's theme, style variables, fonts and safe areas, now and on every change. */
export function useHostStyles(app: Readonly<Ref<App | null>>): void {
  each(app, followStyles);
}

/**
 * Reports the size of the content, or of one element, while the component is mounted, for an `App` with
 * `autoResize: false`.
 */
export function useAutoResize(
  app: Readonly<Ref<App | null>>,
  element?: Readonly<Ref<HTMLElement | null>>,
): void {
  each(app, (app) =>
    app?.setupSizeChangedNotifications(element?.value ?? undefined),
  );
}

/** The document's theme, followed as it changes. */
export function useDocumentTheme(): Readonly<ShallowRef<Theme>> {
  const theme = shallowRef(getDocumentTheme());
  whileMounted(() => followTheme((next) => (theme.value = next)));
  return theme;
}

/** Begins something with each `App` that there is, and ends it with that. */
function each(
  app: Readonly<Ref<App | null>>,
  begin: (app: App | null) => (() => void) | undefined,
): void {
  watch(
    app,
    (app, _, ended) => {
      const end = begin(app);
      if (end) ended(end);
    },
    { immediate: true },
  );
}

function whileMounted(begin: () => () => void): void {
  let end: (() => void) | undefined;
  onMounted(() => (end = begin()));
  onUnmounted(() => end?.());
}

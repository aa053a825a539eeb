/** Hooks for Views written with React. */
import { useEffect, useState, type RefObject } from "react";
import {
  applyHostFonts,
  applyHostStyles,
  applyHostStyleVariables,
  getDocumentTheme,
} from "./theme.js";
import { App, type AppOptions } from "./view.js";
import type {
  AppCapabilities,
  HostContext,
  Implementation,
  Theme,
} from "./wire.js";

export * from "./index.js";

/** How to make the `App` of a component. */
export type UseAppOptions = Pick<AppOptions, "autoResize" | "strict"> & {
  appInfo: Implementation;
  capabilities: AppCapabilities;
  /** The place to set handlers; called once per connection, before it is made. */
  onAppCreated?: (app: App) => void;
};

/** What a component knows about its `App`. */
export type AppState = {
  app: App | null;
  isConnected: boolean;
  error: Error | null;
};

/**
 * Makes an `App` and connects it while the component is mounted. The options of the first render count.
 *
 * Under StrictMode the component mounts twice: each mount has an `App` of its own, and the first one's
 * is closed before the second speaks.
 */
export function useApp(options: UseAppOptions): AppState {
  const [state, setState] = useState<AppState>(NOT_YET);
  useEffect(() => {
    const { appInfo, capabilities, onAppCreated, autoResize, strict } = options;
    const app = new App(appInfo, capabilities, {
      ...(autoResize !== undefined && { autoResize }),
      ...(strict !== undefined && { strict }),
    });
    let mounted = true;
    onAppCreated?.(app);
    app.connect().then(
      () => mounted && setState({ app, isConnected: true, error: null }),
      (error: Error) =>
        mounted && setState({ app: null, isConnected: false, error }),
    );
    app.onclose = () => mounted && setState(NOT_YET);
    return () => {
      mounted = false;
      void app.close();
    };
    // A new object on every render must not mean a new connection.
  }, []);
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
  useEffect(() => {
    const observer = new MutationObserver(() => setTheme(getDocumentTheme()));
    observer.observe(document.documentElement, {
      attributeFilter: ["data-theme", "class"],
    });
    return () => observer.disconnect();
  }, []);
  return theme;
}

function useHostContext(
  app: App | null,
  initialContext: HostContext | null | undefined,
  apply: (context: HostContext) => void,
): void {
  useEffect(() => {
    apply(initialContext ?? app?.getHostContext() ?? {});
    app?.addEventListener("hostcontextchanged", apply);
    return () => app?.removeEventListener("hostcontextchanged", apply);
  }, [app, initialContext, apply]);
}

function applyVariables({ theme, styles }: HostContext): void {
  applyHostStyles({ ...(theme && { theme }) });
  if (styles?.variables) applyHostStyleVariables(styles.variables);
}

function applyFonts({ styles }: HostContext): void {
  if (styles?.css?.fonts) applyHostFonts(styles.css.fonts);
}

const NOT_YET: AppState = { app: null, isConnected: false, error: null };

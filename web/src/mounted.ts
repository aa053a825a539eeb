/**
 * The `App` of a component, from when the component is mounted until it goes, and what it follows meanwhile: what
 * `transom/react`, `transom/vue`, `transom/svelte` and `transom/solid` have in common. Each function here returns what ends it.
 */
import { applyHostStyles, getDocumentTheme } from "./theme.js";
import { App, type AppOptions } from "./view.js";
import type {
  AppCapabilities,
  HostContext,
  Implementation,
  Theme,
} from "./wire.js";

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

/** Makes an `App` and connects it. Nothing is told of it after its end. */
export function mountApp(
  options: UseAppOptions,
  told: (state: AppState) => void,
): () => void {
  const { appInfo, capabilities, onAppCreated, autoResize, strict } = options;
  const app = new App(appInfo, capabilities, {
    ...(autoResize !== undefined && { autoResize }),
    ...(strict !== undefined && { strict }),
  });
  let mounted = true;
  onAppCreated?.(app);
  app.connect().then(
    () => mounted && told({ app, isConnected: true, error: null }),
    (error: Error) => mounted && told({ app: null, isConnected: false, error }),
  );
  app.onclose = () => mounted && told(NOT_YET);
  return () => {
    mounted = false;
    void app.close();
  };
}

/** Applies what the Host tells of its context: all that is known now, and then what changes. */
export function followContext(
  app: App | null,
  apply: (context: HostContext) => void,
  initialContext?: HostContext | null,
): () => void {
  apply(initialContext ?? app?.getHostContext() ?? {});
  app?.addEventListener("hostcontextchanged", apply);
  return () => app?.removeEventListener("hostcontextchanged", apply);
}

/** Tells all that is known of the Host's context, now and on every change. */
export const followWhole = (
  app: App | null,
  told: (context: HostContext) => void,
): (() => void) => followContext(app, () => told({ ...app?.getHostContext() }));

/** Applies the Host's theme, style variables, fonts and safe areas, now and on every change. */
export const followStyles = (app: App | null): (() => void) =>
  followContext(app, applyHostStyles);

/** Tells the document's theme on every change. */
export function followTheme(told: (theme: Theme) => void): () => void {
  const observer = new MutationObserver(() => told(getDocumentTheme()));
  observer.observe(document.documentElement, {
    attributeFilter: ["data-theme", "class"],
  });
  return () => observer.disconnect();
}

export const NOT_YET: AppState = { app: null, isConnected: false, error: null };

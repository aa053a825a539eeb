/** Views written with Vue, Svelte and Solid: one story, told with each framework's own state. */
import { createComponent, createEffect, createSignal } from "solid-js";
import { render } from "solid-js/web";
import { flushSync, mount, unmount } from "svelte";
import { writable } from "svelte/store";
import { createApp, defineComponent, h, ref } from "vue";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { App, CallToolResult } from "transom";
import * as solid from "transom/solid";
import * as svelte from "transom/svelte";
import * as vue from "transom/vue";
import SvelteView from "./View.svelte";
import { FakeHost, settle, standUnder } from "./stage.js";

let host: FakeHost;
let apps: App[];
beforeEach(() => {
  apps = [];
  host = standUnder(new FakeHost()) as FakeHost;
});

const options = (show: (text: string) => void) => ({
  appInfo: { name: "v", version: "1" },
  capabilities: {},
  autoResize: false,
  onAppCreated: (created: App) => {
    apps.push(created);
    created.ontoolresult = (result: CallToolResult) =>
      show(JSON.stringify(result.structuredContent));
  },
});

const words = (...parts: unknown[]) => parts.join(" ");

/** Draws the view into an element; what it returns takes it away. */
const FRAMEWORKS: Record<string, (root: HTMLElement) => () => void> = {
  vue(root) {
    const View = defineComponent(() => {
      const text = ref("");
      const { app, isConnected, error } = vue.useApp(
        options((shown) => (text.value = shown)),
      );
      vue.useHostStyles(app);
      vue.useAutoResize(app);
      const context = vue.useHostContext(app);
      const theme = vue.useDocumentTheme();
      return () =>
        h(
          "p",
          error.value
            ? (error.value as { code?: string }).code
            : words(
                isConnected.value,
                theme.value,
                context.value.locale,
                text.value,
              ),
        );
    });
    const drawn = createApp(View);
    drawn.mount(root);
    return () => drawn.unmount();
  },
  svelte(root) {
    const text = writable("");
    const given = { svelte, words, text, options: options(text.set) };
    const drawn = mount(SvelteView, { target: root, props: given });
    flushSync();
    return () => void unmount(drawn);
  },
  solid(root) {
    const View = () => {
      const [text, setText] = createSignal("");
      const { app, isConnected, error } = solid.useApp(options(setText));
      solid.useHostStyles(app);
      solid.useAutoResize(app);
      const context = solid.useHostContext(app);
      const theme = solid.useDocumentTheme();
      const element = document.createElement("p");
      createEffect(() => {
        const failed = error() as { code?: string } | null;
        element.textContent = failed
          ? failed.code!
          : words(isConnected(), theme(), context().locale, text());
      });
      return element;
    };
    return render(() => createComponent(View, {}), root);
  },
};

describe.each(Object.entries(FRAMEWORKS))("%s", (_, draw) => {
  test("useApp connects once, its state follows the host, and it closes with the component", async () => {
    const root = document.createElement("div");
    const remove = draw(root);
    await settle();
    expect(root.textContent).toMatch(/^false /);
    host.welcome();
    await settle();
    const told = { structuredContent: { a: 1 } };
    host.say({ method: "ui/notifications/tool-result", params: told });
    const changed = { locale: "pt-PT", theme: "light" };
    host.say({
      method: "ui/notifications/host-context-changed",
      params: changed,
    });
    await settle();
    await vi.waitFor(() =>
      expect(root.textContent).toBe('true light pt-PT {"a":1}'),
    );
    const ready = "ui/notifications/initialized";
    expect(host.messages.filter((m) => m.method === ready)).toHaveLength(1);
    expect(apps).toHaveLength(1);
    remove();
    await settle();
    await expect(apps[0]!.openLink({ url: "x" })).rejects.toMatchObject({
      code: "NotConnected",
    });
  });

  test("without a host the error is told", async () => {
    vi.stubGlobal("parent", window);
    const root = document.createElement("div");
    const remove = draw(root);
    await settle();
    await vi.waitFor(() => expect(root.textContent).toBe("NoHost"));
    remove();
  });
});

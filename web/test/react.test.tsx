import {
  act,
  createElement,
  StrictMode,
  useEffect,
  useRef,
  useState,
} from "react";
import { createRoot } from "react-dom/client";
import { beforeEach, expect, test, vi } from "vitest";
import {
  useApp,
  useAutoResize,
  useDocumentTheme,
  useHostStyles,
  type App,
} from "transom/react";
import { FakeHost, settle, standUnder } from "./stage.js";

let host: FakeHost;
beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  host = standUnder(new FakeHost()) as FakeHost;
});

test("useAutoResize watches the element that it is given", async () => {
  const watched: Element[] = [];
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe(element: Element) {
        watched.push(element);
      }
      disconnect() {}
    },
  );
  function View() {
    const element = useRef<HTMLElement>(null);
    const { app } = useApp({
      appInfo: { name: "v", version: "1" },
      capabilities: {},
      autoResize: false,
    });
    useAutoResize(app, element);
    return createElement("main", { ref: element });
  }
  const container = document.createElement("div");
  const root = createRoot(container);
  await act(async () => {
    root.render(createElement(View));
    await settle();
  });
  await act(async () => {
    host.welcome();
    await settle();
  });
  expect(watched).toContain(container.querySelector("main"));
  expect(watched).not.toContain(document.documentElement);
  await act(async () => root.unmount());
});

test("useApp connects once under StrictMode, hears the result, and closes with the component", async () => {
  const apps: App[] = [];
  function View() {
    const [text, setText] = useState("");
    const { app, isConnected, error } = useApp({
      appInfo: { name: "v", version: "1" },
      capabilities: {},
      autoResize: false,
      onAppCreated: (created) => {
        apps.push(created);
        created.ontoolresult = (result) =>
          setText(JSON.stringify(result.structuredContent));
      },
    });
    useHostStyles(app);
    useAutoResize(null);
    const theme = useDocumentTheme();
    useEffect(() => {}, [app]);
    return createElement(
      "p",
      null,
      error ? error.message : `${isConnected} ${theme} ${text}`,
    );
  }
  const container = document.createElement("div");
  const root = createRoot(container);
  await act(async () => {
    root.render(createElement(StrictMode, null, createElement(View)));
    await settle();
  });
  await act(async () => {
    host.welcome();
    await settle();
    host.say({
      method: "ui/notifications/tool-result",
      params: { structuredContent: { a: 1 } },
    });
    await settle();
  });
  await act(settle);
  expect(container.textContent).toBe('true dark {"a":1}');
  expect(
    host.messages.filter((m) => m.method === "ui/notifications/initialized"),
  ).toHaveLength(1);
  await act(async () => {
    root.unmount();
    await settle();
  });
  await expect(apps.at(-1)!.openLink({ url: "x" })).rejects.toMatchObject({
    code: "NotConnected",
  });
});

test("without a host the error is told", async () => {
  vi.stubGlobal("parent", window);
  function View() {
    const { error } = useApp({
      appInfo: { name: "v", version: "1" },
      capabilities: {},
    });
    return createElement(
      "p",
      null,
      `${(error as { code?: string } | null)?.code}`,
    );
  }
  const container = document.createElement("div");
  await act(async () => {
    createRoot(container).render(createElement(View));
    await settle();
  });
  expect(container.textContent).toBe("NoHost");
});

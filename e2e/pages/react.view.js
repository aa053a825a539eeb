// A view written with React, mounted under StrictMode: every effect runs, is undone, and runs again.
import { createElement, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { useApp } from "../../web/src/react.ts";

function View() {
  const { app, isConnected, error } = useApp({
    appInfo: { name: "react-view", version: "1" },
    capabilities: {},
    onAppCreated(app) {
      ear.hear("created");
      app.ontoolinput = (params) => ear.hear("toolinput", params);
      app.ontoolresult = (params) => ear.hear("toolresult", params);
    },
  });
  globalThis.app = app;
  if (isConnected) ear.hear("connected");
  return createElement(
    "p",
    null,
    error ? `error: ${error}` : isConnected ? "connected" : "waiting",
  );
}

globalThis.root = createRoot(
  document.body.appendChild(document.createElement("div")),
);
root.render(createElement(StrictMode, null, createElement(View)));

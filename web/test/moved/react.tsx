/** The same for React: every hook of ext-apps, with both packages. */
import {
  useApp,
  useAutoResize,
  useDocumentTheme,
  useHostFonts,
  useHostStyles,
  useHostStyleVariables,
  type AppState,
  type UseAppOptions,
} from "@modelcontextprotocol/ext-apps/react";
import { useRef, useState } from "react";
import { createRoot } from "react-dom/client";

function View() {
  const [shown, setShown] = useState("nothing");
  const options: UseAppOptions = {
    appInfo: { name: "moved", version: "1.0.0" },
    capabilities: {},
    autoResize: false,
    onAppCreated(app) {
      app.ontoolresult = ({ content }) => setShown(JSON.stringify(content));
    },
  };
  const { app, isConnected, error }: AppState = useApp(options);
  const whole = useRef<HTMLElement>(null);
  useHostStyles(app, app?.getHostContext());
  useHostStyleVariables(app);
  useHostFonts(app);
  useAutoResize(app, whole);
  const theme = useDocumentTheme();
  return (
    <main ref={whole}>
      {error ? error.message : isConnected ? `${theme}: ${shown}` : "waiting"}
    </main>
  );
}

createRoot(document.body.appendChild(document.createElement("div"))).render(
  <View />,
);

// The same view on our own package: its App and what the host tells are signals.
import { createSignal } from "solid-js";
import { useApp, useHostContext, useHostStyles } from "transom/solid";

export default function View() {
  const [input, setInput] = createSignal("");
  const [result, setResult] = createSignal("");
  const [sum, setSum] = createSignal("");
  const [trouble, setTrouble] = createSignal("");
  const words = ({ content }) => content.map(({ text }) => text).join(" ");
  const { app, isConnected } = useApp({
    appInfo: { name: "matrix", version: "1.0.0" },
    capabilities: {},
    onAppCreated(made) {
      made.ontoolinput = ({ arguments: given }) => setInput(`asked for ${given.from}`);
      made.ontoolresult = (told) => setResult(words(told));
    },
  });
  useHostStyles(app);
  const context = useHostContext(app);
  const host = () => (isConnected() && context().theme ? `shown by ${app().getHostVersion().name}` : "");
  const tried = (act) => () => act().catch((error) => setTrouble(String(error)));
  const add = tried(async () => setSum(words(await app().callServerTool({ name: "add", arguments: { a: 40, b: 2 } }))));
  const say = tried(() => app().sendMessage({ role: "user", content: [{ type: "text", text: "said by a view" }] }));
  const link = tried(() => app().openLink({ url: "https://example.com/matrix" }));

  return (
    <>
      <p id="host">{host()}</p><p id="input">{input()}</p><p id="result">{result()}</p><p id="sum">{sum()}</p><p id="trouble">{trouble()}</p>
      <button id="add" onClick={add}>Add</button><button id="say" onClick={say}>Say</button><button id="link" onClick={link}>Link</button>
    </>
  );
}

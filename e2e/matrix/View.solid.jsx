import { createSignal } from "solid-js";
import { App } from "ext-apps";

export default function View() {
  const app = new App({ name: "matrix", version: "1.0.0" }, {});
  const [host, setHost] = createSignal("");
  const [input, setInput] = createSignal("");
  const [result, setResult] = createSignal("");
  const [sum, setSum] = createSignal("");
  const [trouble, setTrouble] = createSignal("");
  const words = ({ content }) => content.map(({ text }) => text).join(" ");
  const tried = (act) => () => act().catch((error) => setTrouble(String(error)));

  app.ontoolinput = ({ arguments: given }) => setInput(`asked for ${given.from}`);
  app.ontoolresult = (told) => setResult(words(told));
  const add = tried(async () => setSum(words(await app.callServerTool({ name: "add", arguments: { a: 40, b: 2 } }))));
  const say = tried(() => app.sendMessage({ role: "user", content: [{ type: "text", text: "said by a view" }] }));
  const link = tried(() => app.openLink({ url: "https://example.com/matrix" }));
  tried(async () => {
    await app.connect();
    setHost(`shown by ${app.getHostVersion().name}`);
  })();

  return (
    <>
      <p id="host">{host()}</p><p id="input">{input()}</p><p id="result">{result()}</p><p id="sum">{sum()}</p><p id="trouble">{trouble()}</p>
      <button id="add" onClick={add}>Add</button><button id="say" onClick={say}>Say</button><button id="link" onClick={link}>Link</button>
    </>
  );
}

import { useEffect, useState } from "react";
import { z } from "zod";
import { createMcpHostBridge } from "xmcp/host-bridge";

export const schema = { from: z.number().describe("Where to begin") };

export const metadata = {
  name: "count",
  description: "Counts from a number",
  annotations: { readOnlyHint: true },
  _meta: { ui: { prefersBorder: true } },
};

export default function Count({ from }) {
  const [bridge, setBridge] = useState(undefined);
  const [sum, setSum] = useState("");
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    const made = createMcpHostBridge();
    setBridge(made);
    return () => made.dispose();
  }, []);
  const tried = (act) => () => act().catch((error) => setTrouble(String(error)));
  const add = tried(async () => setSum((await bridge.callTool("add", { a: 40, b: 2 })).content.map(({ text }) => text).join(" ")));
  const say = tried(() => bridge.sendMessage({ role: "user", content: [{ type: "text", text: "said by a view" }] }));
  const link = tried(() => bridge.openLink("https://example.com/matrix"));
  return (
    <main>
      <p id="result">counted from {from}</p><p id="sum">{sum}</p><p id="trouble">{trouble}</p>
      <button id="add" onClick={add}>Add</button><button id="say" onClick={say}>Say</button><button id="link" onClick={link}>Link</button>
    </main>
  );
}

import { useCallTool, useToolContext } from "mcp-use/react";

export default function Counter() {
  const { status, toolInput, toolOutput } = useToolContext();
  const adding = useCallTool("add");
  return (
    <main>
      <p id="input">asked for {toolInput?.from}</p>
      <p id="result">{status === "pending" ? "" : toolOutput?.counted}</p>
      <p id="sum">{adding.data?.content?.map(({ text }) => text).join(" ")}</p>
      <p id="trouble">{adding.error?.message}</p>
      <button id="add" onClick={() => void adding.callTool({ a: 40, b: 2 })}>Add</button>
    </main>
  );
}

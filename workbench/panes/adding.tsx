/** Adds a server: by its address, by the command that starts it, or from a file that other hosts have. */
import { useState } from "preact/hooks";
import { request } from "../api.js";
import { Button } from "../parts/button.js";
import { Tabs } from "../parts/tabs.js";
import { wordsOf } from "./asked.js";

export function Adding() {
  const [how, setHow] = useState("url");
  const [said, setSaid] = useState({ words: "", failed: false });
  const [busy, setBusy] = useState(false);
  const add = async (text: string) => {
    setBusy(true);
    setSaid({ words: how === "url" ? "Adding…" : WAITING, failed: false });
    try {
      const response = await request("/api/add", {
        method: "POST",
        headers: { "content-type": "text/plain" },
        body: text,
      });
      const { names } = (await response.json()) as { names: string[] };
      setSaid({ words: `Added: ${names.join(", ")}`, failed: false });
    } catch (error) {
      setSaid({ words: wordsOf(error), failed: true });
    }
    setBusy(false);
  };
  return (
    <details class="adding" id="add-server">
      <summary>Add a server</summary>
      <Tabs
        tabs={WAYS}
        chosen={how}
        choose={setHow}
        label="How to add a server"
        prefix="add"
      />
      <div
        role="tabpanel"
        id={`add-panel-${how}`}
        aria-labelledby={`add-tab-${how}`}
      >
        {how === "url" && <ByAddress add={add} busy={busy} />}
        {how === "command" && <ByCommand add={add} busy={busy} />}
        {how === "file" && <ByFile add={add} busy={busy} />}
      </div>
      <p class={said.failed ? "fault" : "said"} role="status">
        {said.words}
      </p>
    </details>
  );
}

type Way = { add: (text: string) => Promise<void>; busy: boolean };

const sending = (then: () => unknown) => (event: Event) => {
  event.preventDefault();
  void then();
};

function ByAddress({ add, busy }: Way) {
  const [url, setUrl] = useState("");
  return (
    <form onSubmit={sending(() => add(url.trim()))}>
      <label>
        Its address
        <input
          type="url"
          required
          placeholder="http://localhost:3001/mcp"
          value={url}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
      </label>
      <Button primary type="submit" disabled={busy}>
        Add it
      </Button>
    </form>
  );
}

function ByCommand({ add, busy }: Way) {
  const [line, setLine] = useState("");
  const [name, setName] = useState("");
  const [env, setEnv] = useState("");
  return (
    <form onSubmit={sending(() => add(entryOf(line, name, env)))}>
      <label>
        The command that starts it
        <input
          required
          placeholder="npx -y some-server --stdio"
          value={line}
          onInput={({ currentTarget }) => setLine(currentTarget.value)}
        />
      </label>
      <label>
        What it is called
        <input
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <label>
        Its variables, one NAME=VALUE on a line
        <textarea
          class="low"
          rows={1}
          value={env}
          onInput={({ currentTarget }) => setEnv(currentTarget.value)}
        />
      </label>
      <p>
        Nothing starts before somebody says yes in the terminal in which transom
        runs.
      </p>
      <Button primary type="submit" disabled={busy}>
        Add it
      </Button>
    </form>
  );
}

/** A command as files with `mcpServers` have it. */
export function entryOf(line: string, name: string, given: string): string {
  const [command = "", ...args] = split(line);
  const pairs = given.split("\n").filter((each) => each.includes("="));
  const env = Object.fromEntries(
    pairs.map((each) => {
      const at = each.indexOf("=");
      return [each.slice(0, at).trim(), each.slice(at + 1)];
    }),
  );
  const called = name.trim() || command.split(/[/\\]/).at(-1) || "server";
  const server = { command, args, ...(pairs.length > 0 && { env }) };
  return JSON.stringify({ mcpServers: { [called]: server } });
}

function ByFile({ add, busy }: Way) {
  const [text, setText] = useState("");
  return (
    <form onSubmit={sending(() => add(text))}>
      <label>
        A file with mcpServers
        <input
          type="file"
          accept=".json,application/json"
          onChange={({ currentTarget: { files } }) =>
            void files?.[0]?.text().then(setText)
          }
        />
      </label>
      <label>
        Or what stands in it
        <textarea
          class="json"
          required
          value={text}
          placeholder='{"mcpServers": {…}}'
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <Button primary type="submit" disabled={busy}>
        Add what is in it
      </Button>
    </form>
  );
}

/** The words of a command, as a shell reads the plain ones: quotes keep words together. Nothing else of a shell is meant. */
export function split(line: string): string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) =>
    word.replaceAll(
      /"([^"]*)"|'([^']*)'/g,
      (_, double?: string, single?: string) => double ?? single ?? "",
    ),
  );
}

const WAYS = [
  { id: "url", title: "Address" },
  { id: "command", title: "Command" },
  { id: "file", title: "File" },
];
const WAITING =
  "It may need a yes in the terminal in which transom runs. Waiting…";

/** The shared messages, as far as a View reads or sends them: `fixtures/messages/`, `fixtures/transcripts/`. */
import { beforeEach, describe, expect, test } from "vitest";
import { App } from "transom";
import {
  arrive,
  FakeHost,
  fixtureFiles,
  readJson,
  readLines,
  settle,
  standUnder,
  type Wire,
} from "./stage.js";

type Entry = {
  name: string;
  direction: string;
  answers?: string;
  emit: boolean;
  message: unknown;
  reads?: Wire;
  refused?: number | string;
};

let host: FakeHost;
let app: App;

beforeEach(async () => {
  host = standUnder(new FakeHost()) as FakeHost;
  app = new App({ name: "v", version: "1" }, {}, { autoResize: false });
  const ready = app.connect();
  await settle();
  host.welcome();
  await ready;
  return () => app.close();
});

const entries = fixtureFiles("messages", ".json").flatMap((file) =>
  readJson<Entry[]>(`messages/${file}`).map((entry) => ({ ...entry, file })),
);

describe.skipIf(entries.length === 0)("messages", () => {
  test.each(entries.filter(({ direction }) => direction === "host-to-view"))(
    "$file: $name leaves the View alive",
    async ({ message }) => {
      arrive(message, { source: host });
      await settle();
      host.say({ id: "alive", method: "ping" });
      await settle();
      expect(host.messages.at(-1)).toEqual({
        jsonrpc: "2.0",
        id: "alive",
        result: {},
      });
      expect(reportError).not.toHaveBeenCalled();
    },
  );

  // Not for the View's eyes, and not messages in either direction: nobody is answered.
  test.each(
    entries.filter(
      ({ file, refused }) =>
        file === "envelope.json" && typeof refused === "string",
    ),
  )("$file: $name is answered by nobody", async ({ message }) => {
    const before = host.posted.length;
    arrive(message, { source: host });
    await settle();
    expect(host.posted.length).toBe(before);
  });
});

type Line = { from: string; to: string; message: Wire };
const golden = fixtureFiles("transcripts", "golden-trace.jsonl");

describe.skipIf(golden.length === 0)("transcripts", () => {
  test.each(golden)("%s, the View's half", async (file) => {
    const lines = readLines<Line>(`transcripts/${file}`).filter(
      ({ from, to }) => from === "view" || to === "view",
    );
    await app.close();
    host = standUnder(new FakeHost()) as FakeHost;
    app = new App({ name: "v", version: "1" }, {}, { autoResize: false });
    app.onteardown = () => {};
    let at = 0;
    let first = true;
    for (const { from, message } of lines) {
      if (from !== "view") {
        arrive(message, { source: host });
        await settle();
        continue;
      }
      if (message.method === "ui/initialize")
        void app.connect().catch(() => {});
      else if (message.method === "tools/call") {
        const { name, arguments: args } = message.params as {
          name: string;
          arguments: Record<string, unknown>;
        };
        void app.callServerTool({ name, arguments: args }).catch(() => {});
      } else if (message.method === "ui/notifications/size-changed")
        void app.sendSizeChanged(message.params as object);
      await settle();
      const sent = host.messages[at++];
      expect(sent?.method).toBe(message.method);
      expect("result" in (sent ?? {})).toBe("result" in message);
      first = false;
    }
    expect(first).toBe(false);
    expect(host.messages).toHaveLength(at);
  });
});

/** The fast lane, replayed from both ends: `fixtures/port/`. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { App } from "transom";
import {
  InPageChannel,
  type Said,
  type Told,
  type TransomView,
} from "transom/host";
import {
  arrive,
  FakeChannel,
  FakeHost,
  FakePort,
  FakeWindow,
  mockFrames,
  fixtureFiles,
  readLines,
  settle,
  standUnder,
  type Wire,
} from "./stage.js";

type Row = {
  from: "view" | "host";
  lane: "window" | "port" | "held";
  message?: Wire;
  text?: string;
  port?: boolean;
  lost?: boolean;
  forged?: boolean;
  refused?: boolean;
  judged?: boolean;
};

const files = fixtureFiles("port", ".jsonl");
const transcripts = files.map(
  (file) => [file, readLines<Row>(`port/${file}`)] as const,
);

test("there are transcripts", () => expect(files.length).toBeGreaterThan(8));

describe("our View", () => {
  let host: FakeHost;
  beforeEach(() => {
    host = standUnder(new FakeHost()) as FakeHost;
  });

  // What only the Host's end can show is left to the other half.
  const HOST_ONLY = [
    "view-does-not-ask.jsonl",
    "early-answer-waits.jsonl",
    "not-a-message.jsonl",
    "first-word-on-the-port.jsonl",
    "reserved-names-stop.jsonl",
    "reload.jsonl",
  ];

  test.each(transcripts.filter(([file]) => !HOST_ONLY.includes(file)))(
    "%s",
    async (_, rows) => {
      const app = new App(
        { name: "v", version: "1" },
        {},
        { autoResize: false },
      );
      const heard: unknown[] = [];
      app.ontoolinput = (params) => heard.push(params);
      const ready = app.connect();
      const { port1, port2 } = new FakeChannel();
      const onPort: Wire[] = [];
      port1.addEventListener("message", (event) =>
        onPort.push(JSON.parse((event as { data: string }).data) as Wire),
      );
      let windowAt = 0;
      let portAt = 0;
      for (const { from, lane, message, port, lost, refused } of rows) {
        await settle();
        const before = heard.length;
        if (from === "view") {
          if (refused) continue;
          if (message?.method === "tools/call") {
            await ready;
            void app
              .callServerTool({ name: "t", arguments: {} })
              .catch(() => {});
            await settle();
          }
          const sent =
            lane === "window" ? host.messages[windowAt++] : onPort[portAt++];
          expect(sent).toEqual(message);
        } else if (lane === "window") {
          arrive(message, {
            source: host,
            ports: port && !lost ? [port2] : [],
          });
        } else {
          port1.postMessage(JSON.stringify(message));
        }
        await settle();
        if (message?.method === "ui/notifications/tool-input")
          expect(heard.length).toBe(before + (refused ? 0 : 1));
      }
      await settle();
      expect(host.messages).toHaveLength(windowAt);
      expect(onPort).toHaveLength(portAt);
      const used = rows.some(({ lane }) => lane === "port");
      expect(port2.closed).toBe(
        !used && rows.some(({ port, lost }) => port && !lost),
      );
      await app.close();
    },
  );
});

describe("our host element", () => {
  let element: TransomView;
  afterEach(() => element.remove());

  test.each(
    transcripts.filter(([file]) => file !== "port-without-the-key.jsonl"),
  )("%s", async (_, rows) => {
    const said: unknown[] = [];
    let tell!: (told: Told) => void;
    const channel = new InPageChannel((_, hear) => {
      tell = hear;
      return (said_: Said) => {
        if ("message" in said_) said.push(said_.message);
      };
    });
    const view = new FakeWindow();
    element = document.createElement("transom-view") as TransomView;
    mockFrames(view);
    element.setAttribute("view", "v1");
    element.channel = channel;
    document.body.append(element);
    tell({ open: { src: "https://sandbox.test/" } });

    let port: FakePort | undefined;
    let onPort: Wire[] = [];
    const hear = (event: unknown) =>
      onPort.push(JSON.parse((event as { data: string }).data) as Wire);
    let saidAt = 0;
    let windowAt = 0;
    let portAt = 0;
    const gave = new Set<string>();
    for (const row of rows) {
      const { from, lane, message, text, refused, judged, forged } = row;
      if (forged) continue;
      if (from === "view") {
        if (lane === "window")
          arrive(message, { source: view, origin: "https://sandbox.test" });
        else port!.postMessage(text ?? JSON.stringify(message));
        await settle();
        // Text stays text, and is not even read.
        const carried =
          lane === "port" ? (text ?? JSON.stringify(message)) : message;
        if (refused && !judged) expect(said).toHaveLength(saidAt);
        else expect(said[saidAt++]).toEqual(carried);
        continue;
      }
      const key = JSON.stringify(message);
      // What was held comes out by itself once the lane is known.
      if (!gave.has(key) || message?.method !== undefined || row.port)
        tell({ message: key });
      if (lane === "held") gave.add(key);
      await settle();
      if (lane === "held") {
        expect(view.posted).toHaveLength(windowAt);
        expect(onPort).toHaveLength(portAt);
      } else if (lane === "window") {
        const posted = view.posted[windowAt++];
        expect(posted?.data).toEqual(message);
        expect(posted?.target).toBe("https://sandbox.test");
        expect(posted?.ports).toHaveLength(row.port ? 1 : 0);
        if (row.port) {
          port = posted!.ports[0]!;
          onPort = [];
          portAt = 0;
          port.addEventListener("message", hear);
        }
      } else expect(onPort[portAt++]).toEqual(message);
    }
    expect(view.posted).toHaveLength(windowAt);
    expect(onPort).toHaveLength(portAt);
    expect(said).toHaveLength(saidAt);
  });
});

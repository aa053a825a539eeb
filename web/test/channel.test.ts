/** The envelope, as a page writes and reads it: `fixtures/envelope/`. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  WebSocketChannel,
  type asMessage,
  type Said,
  type Told,
} from "transom/host";
import { fixtureFiles, readJson, readLines } from "./stage.js";

type Frame = {
  name: string;
  from: "page" | "host";
  text: string;
  reads: {
    view?: string;
    seq?: number;
    ack?: number;
    kind?: string;
    payload?: unknown;
    text?: string;
  };
};

class FakeSocket {
  static all: FakeSocket[] = [];
  static get last() {
    return this.all.at(-1)!;
  }
  readonly sent: string[] = [];
  closed: number | undefined;
  onopen?: () => void;
  onmessage?: (event: { data: unknown }) => void;
  onclose?: (event: { code: number }) => void;
  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }
  send(text: string) {
    if (this.closed === undefined) this.sent.push(text);
  }
  hear(text: string) {
    this.onmessage?.({ data: text });
  }
  close(code = 1000) {
    if (this.closed !== undefined) return;
    this.closed = code;
    this.onclose?.({ code });
  }
  open(welcome: object = { version: 1, resumed: false, views: [] }) {
    this.onopen?.();
    this.hear(JSON.stringify({ welcome }));
    return this;
  }
}

const frames = readJson<Frame[]>("envelope/frames.json");
const PAGE = "6b1f0f5e-3f0e-4a57-9d1f-0c6f3f0e4a57";
let channel: WebSocketChannel;

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.all = [];
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.spyOn(crypto, "randomUUID").mockReturnValue(PAGE);
  channel = new WebSocketChannel({
    url: "ws://h/",
    key: "k3y-from-the-fragment",
  });
  return () => channel.close();
});

/** Brings a fresh view to the point where its next frame has this seq and ack. */
function seatAt({ view = "v1", seq = 1, ack = 0 }) {
  const told: Told[] = [];
  const seat = channel.join(view, (one) => told.push(one));
  for (let n = 1; n < seq; n++) seat.say({ mode: { mode: "inline" } });
  for (let n = 1; n <= ack; n++)
    FakeSocket.last.hear(
      `{"view":"${view}","seq":${n},"ack":0,"mode":{"mode":"inline"}}`,
    );
  told.length = 0;
  FakeSocket.last.sent.length = 0;
  return { seat, told };
}

describe("frames that the page writes", () => {
  test("hello", () => {
    FakeSocket.last.onopen?.();
    expect(FakeSocket.last.sent).toEqual([
      frames.find(({ name }) => name === "hello")!.text,
    ]);
    expect(FakeSocket.last.url).not.toContain("k3y");
  });

  test.each(
    frames.filter(
      ({ from, reads }) => from === "page" && reads.kind && reads.view,
    ),
  )("$name", ({ text, reads }) => {
    FakeSocket.last.open();
    const { seat } = seatAt(reads);
    seat.say({ [reads.kind!]: reads.text ?? reads.payload } as Said);
    expect(FakeSocket.last.sent).toEqual([text]);
  });

  test("confirmation alone", async () => {
    FakeSocket.last.open();
    seatAt({ ack: 7 });
    await vi.advanceTimersByTimeAsync(100);
    expect(FakeSocket.last.sent).toEqual(['{"view":"v1","ack":7}']);
  });
});

describe("frames that the page reads", () => {
  test.each(
    frames.filter(
      ({ from, reads }) => from === "host" && reads.kind && reads.view,
    ),
  )("$name", ({ text, reads }) => {
    FakeSocket.last.open();
    const { told } = seatAt({
      view: reads.view!,
      seq: reads.ack! + 1,
      ack: reads.seq! - 1,
    });
    FakeSocket.last.hear(text);
    expect(told).toEqual([{ [reads.kind!]: reads.text ?? reads.payload }]);
    expect(FakeSocket.last.closed).toBeUndefined();
  });

  test.each(
    readJson<{ name: string; text: string }[]>("envelope/refused.json"),
  )("$name is refused", ({ text }) => {
    FakeSocket.last.open();
    const { told } = seatAt({});
    FakeSocket.last.hear(text);
    expect(told).toEqual([]);
    expect(FakeSocket.last.closed).toBeDefined();
  });

  test("a view that nobody has here is passed over", () => {
    FakeSocket.last.open();
    FakeSocket.last.hear(
      '{"view":"other","seq":1,"ack":0,"mode":{"mode":"inline"}}',
    );
    expect(FakeSocket.last.closed).toBeUndefined();
  });

  test("a kind of the future is confirmed and handed on", () => {
    FakeSocket.last.open();
    const { told } = seatAt({});
    FakeSocket.last.hear('{"view":"v1","seq":1,"ack":0,"novelty":{}}');
    expect(told).toEqual([{ novelty: {} }]);
  });
});

describe("delivery", () => {
  const ping = (n: number): Said => ({
    message: `{"jsonrpc":"2.0","id":${n},"method":"ping"}`,
  });

  test("what is said before the welcome goes out after it", () => {
    const seat = channel.join("v1", () => {});
    seat.say({ resize: { width: 1 } });
    expect(FakeSocket.last.sent).toEqual([]);
    FakeSocket.last.open();
    expect(FakeSocket.last.sent[1]).toBe(
      '{"view":"v1","seq":1,"ack":0,"resize":{"width":1}}',
    );
  });

  test("at most 64 are under way, and the rest follows in order", () => {
    FakeSocket.last.open();
    const { seat } = seatAt({});
    opened();
    for (let n = 0; n < 150; n++) seat.say(ping(n));
    expect(FakeSocket.last.sent).toHaveLength(64);
    FakeSocket.last.hear('{"view":"v1","ack":64}');
    expect(FakeSocket.last.sent).toHaveLength(128);
    FakeSocket.last.hear('{"view":"v1","ack":128}');
    const seqs = FakeSocket.last.sent.map((text) =>
      Number(/"seq":(\d+)/.exec(text)?.[1]),
    );
    expect(seqs).toEqual(Array.from({ length: 150 }, (_, n) => n + 1));
  });

  test("at most 4 MiB are under way, but one that is larger goes alone", () => {
    FakeSocket.last.open();
    const { seat } = seatAt({});
    opened();
    const big: Said = {
      message: `{"jsonrpc":"2.0","method":"x","params":{"s":"${"x".repeat(3 << 20)}"}}`,
    };
    for (let n = 0; n < 4; n++) seat.say(big);
    expect(FakeSocket.last.sent).toHaveLength(2);
    FakeSocket.last.hear('{"view":"v1","ack":2}');
    expect(FakeSocket.last.sent).toHaveLength(4);
  });

  test.each([
    ["text", (text: string) => text],
    [
      "object",
      (text: string) => JSON.parse(text) as ReturnType<typeof asMessage>,
    ],
  ])(
    "of an %s that is too long its beginning goes, by which it can be refused",
    (_, made) => {
      FakeSocket.last.open();
      const { seat } = seatAt({});
      opened();
      // Fewer characters than the limit, and more bytes.
      const text = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"s":"${"\u20ac".repeat(8 << 20)}"}}`;
      seat.say({ message: made(text) as string });
      const sent = FakeSocket.last.sent.at(-1)!;
      const { dropped } = JSON.parse(sent) as { dropped: { message: string } };
      expect(dropped).toEqual({ message: text.slice(0, 999) });
    },
  );

  test("after a reconnect what was not confirmed is said again, and a repetition is heard once", async () => {
    FakeSocket.last.open();
    const { seat, told } = seatAt({});
    seat.say(ping(1));
    seat.say(ping(2));
    FakeSocket.last.hear('{"view":"v1","seq":1,"ack":1,"mode":{"mode":"pip"}}');
    FakeSocket.last.close(1006);
    seat.say(ping(3));
    await vi.advanceTimersByTimeAsync(1000);
    expect(FakeSocket.all).toHaveLength(2);
    FakeSocket.last.open({ version: 1, resumed: true, views: ["v1"] });
    expect(
      FakeSocket.last.sent.slice(1).map((text) => text.slice(0, 31)),
    ).toEqual([
      '{"view":"v1","seq":2,"ack":1,"m',
      '{"view":"v1","seq":3,"ack":1,"m',
    ]);
    FakeSocket.last.hear('{"view":"v1","seq":1,"ack":1,"mode":{"mode":"pip"}}');
    FakeSocket.last.hear(
      '{"view":"v1","seq":2,"ack":3,"mode":{"mode":"inline"}}',
    );
    expect(told).toHaveLength(2);
  });

  test("a host that does not know the page any more has lost its views", async () => {
    FakeSocket.last.open();
    const { told } = seatAt({});
    FakeSocket.last.close(1006);
    await vi.advanceTimersByTimeAsync(1000);
    FakeSocket.last.open();
    expect(told).toEqual([{ close: { reason: "lost" } }]);
  });

  test.each([
    ["a gap", '{"view":"v1","seq":2,"ack":0,"mode":{"mode":"inline"}}'],
    ["a confirmation from the future", '{"view":"v1","ack":1}'],
  ])("%s closes the socket", (_, text) => {
    FakeSocket.last.open();
    seatAt({});
    FakeSocket.last.hear(text);
    expect(FakeSocket.last.closed).toBeDefined();
  });

  test("a refused key is not tried again", async () => {
    const states: string[] = [];
    channel.close();
    channel = new WebSocketChannel({
      url: "ws://h/",
      key: "bad",
      onstate: (state) => states.push(state),
    });
    FakeSocket.last.close(4401);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states).toEqual(["refused"]);
    expect(FakeSocket.all).toHaveLength(2);
  });

  test("the pause between attempts grows to ten seconds and starts again after a welcome", async () => {
    for (let n = 0; n < 12; n++) {
      FakeSocket.last.close(1006);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(FakeSocket.all).toHaveLength(13);
    FakeSocket.last.open();
    FakeSocket.last.close(1006);
    await vi.advanceTimersByTimeAsync(250);
    expect(FakeSocket.all).toHaveLength(14);
  });

  test("a view that leaves and joins again keeps its place in the order", () => {
    FakeSocket.last.open();
    const { seat } = seatAt({});
    seat.say({ close: { reason: "gone" } });
    seat.leave();
    channel.join("v1", () => {}).say({ resize: {} });
    expect(FakeSocket.last.sent.at(-1)).toBe(
      '{"view":"v1","seq":2,"ack":0,"resize":{}}',
    );
  });

  const opened = (limits: object = USUAL) =>
    FakeSocket.last.hear(
      `{"view":"v1","seq":1,"ack":0,"open":${JSON.stringify({ src: "https://s.test/", limits })}}`,
    );
  const USUAL = {
    flying: 64,
    flyingBytes: 2 ** 22,
    waiting: 1_024,
    waitingBytes: 2 ** 26,
  };

  test("a view that drowns its channel is given up", () => {
    FakeSocket.last.open();
    const { seat, told } = seatAt({});
    opened();
    for (let n = 0; n < 1_024; n++) seat.say(ping(n));
    expect(told.at(-1)).toEqual({ close: { reason: "overrun" } });
    // Whoever judges it hears of that next, and of nothing that waited.
    FakeSocket.last.hear('{"view":"v1","ack":64}');
    expect(FakeSocket.last.sent).toHaveLength(65);
    expect(FakeSocket.last.sent.at(-1)).toBe(
      '{"view":"v1","seq":65,"ack":1,"close":{"reason":"flood"}}',
    );
  });

  test.each([
    [3, 5],
    [2_000, 5_000],
  ])("%i fly and %i wait when the host process said so", (flying, waiting) => {
    FakeSocket.last.open();
    const { seat, told } = seatAt({});
    opened({ flying, waiting });
    for (let n = 1; n < waiting; n++) seat.say(ping(n));
    expect(FakeSocket.last.sent).toHaveLength(flying);
    expect(told).toHaveLength(1);
    seat.say(ping(0));
    expect(told.at(-1)).toEqual({ close: { reason: "overrun" } });
  });

  test("bytes are counted, and not characters", () => {
    FakeSocket.last.open();
    const { seat, told } = seatAt({});
    opened({ flyingBytes: 30, waitingBytes: 60 });
    // Twelve bytes, and seven characters.
    const message = '"ééééé"';
    for (let n = 0; n < 5; n++) seat.say({ message });
    expect(FakeSocket.last.sent).toHaveLength(3);
    expect(told).toHaveLength(1);
    seat.say({ message });
    expect(told.at(-1)).toEqual({ close: { reason: "overrun" } });
  });

  test("a view that fills the page with what waits is given up", () => {
    FakeSocket.last.open();
    const { seat, told } = seatAt({});
    opened();
    const message = JSON.stringify("x".repeat(8_000_000));
    for (let n = 0; n < 8; n++) seat.say({ message });
    expect(told).toHaveLength(1);
    // What the peer has confirmed does not wait.
    FakeSocket.last.hear('{"view":"v1","ack":1}');
    seat.say({ message });
    expect(told).toHaveLength(1);
    seat.say({ message });
    expect(told.at(-1)).toEqual({ close: { reason: "overrun" } });
  });

  test("who closes a view does not wait behind what it has not sent yet", () => {
    FakeSocket.last.open();
    const { seat } = seatAt({});
    opened();
    for (let n = 0; n < 100; n++) seat.say(ping(n));
    // What the person did counts, though the view goes.
    seat.say({ answer: { id: "q1", choice: "deny" } });
    seat.say({ dropped: {} });
    seat.say({ did: { id: "d1", done: true } });
    seat.say({ close: { reason: "user" } });
    seat.say({ resize: { width: 1 } });
    FakeSocket.last.hear('{"view":"v1","ack":64}');
    expect(FakeSocket.last.sent.slice(64)).toEqual([
      '{"view":"v1","seq":65,"ack":1,"answer":{"id":"q1","choice":"deny"}}',
      '{"view":"v1","seq":66,"ack":1,"did":{"id":"d1","done":true}}',
      '{"view":"v1","seq":67,"ack":1,"close":{"reason":"user"}}',
      '{"view":"v1","seq":68,"ack":1,"resize":{"width":1}}',
    ]);
  });

  test("an id that could break out of its quotes is refused", () => {
    expect(() => channel.join('v","seq":1', () => {})).toThrow(TypeError);
  });

  test("which views the host still has is told", () => {
    const views = vi.fn();
    channel.close();
    channel = new WebSocketChannel({
      url: "ws://h/",
      key: "k",
      onviews: views,
    });
    FakeSocket.last.open({ version: 1, resumed: false, views: ["v1"] });
    expect(views).toHaveBeenCalledWith(["v1"]);
  });
});

describe("stories, the page's half", () => {
  type Row = { from?: string; text?: string; event?: string };
  const plain = ["open-and-close.jsonl", "duplicates-are-dropped.jsonl"];
  test.each(
    fixtureFiles("envelope/stories", ".jsonl").filter((file) =>
      plain.includes(file),
    ),
  )("%s", async (file) => {
    const rows = readLines<Row>(`envelope/stories/${file}`);
    const seat = channel.join("v1", () => {});
    FakeSocket.last.onopen?.();
    let at = 0;
    const written = new Set<string>();
    for (const { from, text } of rows) {
      if (from === "host") FakeSocket.last.hear(text!);
      else if (text!.startsWith('{"hello"'))
        expect(FakeSocket.last.sent[at++]).toBe(text);
      else if (!text!.includes('"seq"')) {
        await vi.advanceTimersByTimeAsync(100);
        expect(FakeSocket.last.sent.at(-1)).toBe(text);
      } else if (!written.has(text!)) {
        written.add(text!);
        const [kind, payload] = Object.entries(JSON.parse(text!) as object).at(
          -1,
        )!;
        seat.say({ [kind]: payload } as Said);
        expect(FakeSocket.last.sent[at++]).toBe(text);
      }
    }
    expect(FakeSocket.last.closed).toBeUndefined();
  });
});

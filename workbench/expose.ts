/**
 * The page that `transom expose` opens: it holds a server that is a page in its frame, and hands MCP messages between that
 * server and the process, over a socket. What it says of itself are `Said`; what the process says are MCP messages.
 */
import {
  FrameError,
  IframeControl,
  OuterFrameTransport,
  type Payload,
  type SetupRequired,
} from "../web/src/frames/index.js";

/** What the process hears, beside MCP messages. */
type Said =
  | { said: "note"; words: string }
  | { said: "open"; title: string }
  | { said: "closed"; code: string; words: string };

/** What is kept of a server between runs; the session's name is a secret between it and this page. */
type Kept = { session: string; title: string; visible: boolean };

const order = new URLSearchParams(location.hash.slice(1));
const url = order.get("page") ?? "";
const windowed = order.get("window") === "yes";
// The order holds the key of the socket: gone from the address as soon as it is read.
history.replaceState(undefined, "", location.pathname);

const socket = new WebSocket(order.get("socket") ?? "");
const say = (said: Said) => socket.send(JSON.stringify(said));

/** A setup that a person must see, where there is nothing to see it in. */
class Frame extends IframeControl {
  needed = false;
  constructor(readonly refuse: () => void) {
    super({ container: document.body, title: "MCP server" });
  }
  override show(): void {
    this.needed = true;
    if (windowed) super.show();
    else this.refuse();
  }
}

/** The name is the server's whole address: pages of one site may be several servers. */
const KEY = `server ${url}`;

socket.onopen = () => void run();

async function run(): Promise<void> {
  try {
    const kept = load() ?? (await setUp());
    await connect(kept);
  } catch (error) {
    fail(error as FrameError);
  }
}

async function setUp(session?: string): Promise<Kept> {
  const seen = new AbortController();
  const control = new Frame(() => seen.abort());
  const outer = transport(control, session);
  try {
    const setup = await outer.setup({ signal: seen.signal });
    const kept = {
      session: outer.session,
      title: setup.title,
      visible: setup.visibility.requirement !== "hidden",
    };
    localStorage.setItem(KEY, JSON.stringify(kept));
    if (setup.ephemeralMessage)
      say({ said: "note", words: `${setup.title}: ${setup.ephemeralMessage}` });
    return kept;
  } catch (error) {
    if (!control.needed || windowed) throw error;
    throw new FrameError(
      "USER_CANCELLED",
      "a person must see this page's setup: run the same command once with --window",
    );
  }
}

async function connect({ session, title, visible }: Kept): Promise<void> {
  const outer = transport(new Frame(() => {}), session, visible && windowed);
  let open = false;
  outer.onmessage = (message) => socket.send(JSON.stringify(message));
  outer.onsetuprequired = (required) => void again(outer, required);
  outer.onclose = () => {
    if (open) fail(outer.reason);
  };
  await outer.start();
  open = true;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data as string) as Payload;
    outer.send(message).catch((error: FrameError) => refuse(message, error));
  };
  say({ said: "open", title });
}

/** Runs the setup anew where nothing works without; the process connects again after it. */
async function again(
  outer: OuterFrameTransport,
  { message, canContinue }: SetupRequired,
): Promise<void> {
  say({ said: "note", words: `the server asks for its setup: ${message}` });
  if (canContinue) return;
  outer.onclose = () => {};
  const { session } = outer;
  await outer.close();
  try {
    await setUp(session);
    say({
      said: "closed",
      code: "SETUP_REQUIRED",
      words: "the page had to be set up again",
    });
  } catch (error) {
    fail(error as FrameError);
  }
}

function transport(
  control: IframeControl,
  sessionId?: string,
  visible = false,
): OuterFrameTransport {
  return new OuterFrameTransport({
    url,
    control,
    visible,
    ...(sessionId !== undefined && { sessionId }),
  });
}

/** A request that cannot be sent is answered here: no other part will. */
function refuse({ id, method }: Payload, error: FrameError): void {
  if (id === undefined || method === undefined) return;
  const { code, message } = error;
  const answer = { code: -32000, message, data: { code } };
  socket.send(JSON.stringify({ jsonrpc: "2.0", id, error: answer }));
}

function fail(error: FrameError | undefined): void {
  const { code = "CLOSED", message = "the page closed the connection" } =
    error ?? {};
  // What was kept may be what went wrong; the next run sets the page up again.
  if (code === "SESSION_MISMATCH") localStorage.removeItem(KEY);
  say({ said: "closed", code, words: message });
}

function load(): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "null") as Kept | null;
    return typeof kept?.session === "string" ? kept : undefined;
  } catch {
    return undefined;
  }
}

// What the sample pages share: who may connect, and words on the page. A page of your own needs none of this.
import { InnerFrameTransport } from "transom/frames";

/** The pages that may connect: whoever serves this page writes them into it. */
export const clients = content("mcp-clients").split(" ").filter(Boolean);

/** A value that was written into the page. */
export function content(name) {
  return document.querySelector(`meta[name="${name}"]`)?.content ?? "";
}

export const element = (id) => document.getElementById(id);

/** Says how things are, as text. */
export function say(text) {
  element("status").textContent = text;
}

/**
 * Announces this page, and does what it was opened for: its setup, or a connection.
 *
 * `setup` gets the session and returns the outcome; `connect` gets the transport and puts an MCP endpoint on it.
 */
export async function open({ setup, connect, ...options }) {
  // Whoever opens the page by hand sees why nothing happens.
  const inner = new InnerFrameTransport({ allowedOrigins: clients, ...options });
  inner.onclose = () => say(inner.reason?.message ?? "disconnected");
  try {
    if (inner.phase === "setup") {
      const session = await inner.setup();
      say(`setting up for ${session.origin}`);
      await inner.complete(await setup(session, inner));
      say("set up");
    } else {
      await connect(inner);
      say(`connected to ${inner.session.origin}`);
    }
  } catch (error) {
    say(error.message);
  }
  return inner;
}

/** A setup that needs nobody. */
export const automatic = (outcome) => async () => ({ status: "success", ...outcome });

/** A tool's answer in words, and in numbers where there are some. */
export const answer = (text, structuredContent) => ({
  content: [{ type: "text", text }],
  ...(structuredContent && { structuredContent }),
});

/** A tool's answer when it could not do its work; the model reads the words. */
export const failure = (text) => ({ content: [{ type: "text", text }], isError: true });

// A model's endpoint for tests: it speaks `/chat/completions` and `/v1/messages`, says what a test has written for it, and keeps
// what it was asked. The published clients of both read its streams in `conversation-endpoint.test.mjs`, so that it cannot drift.
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/**
 * `answer` is given each request, as `{ body, headers, last }`, and returns what to say: a list of steps.
 *
 *   "text"                          a piece of text
 *   { call, id, pieces, at }        a call, with the pieces of its arguments
 *   { side: [call, call] }          calls whose pieces come in turns
 *   { wait: ms }, { raw: "…" }      nothing for a while; anything at all
 *   { hang: true }, { cut: true }   nothing more, ever; the connection breaks
 *   { status, error, location }     in place of a stream
 *   { finish: "length" }            why it ends
 */
export async function startModel(answer) {
  const asked = [];
  const sockets = new Set();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const body = JSON.parse(text || "{}");
    const kind = request.url.endsWith("/messages") ? anthropic : openai;
    const it = { body, headers: request.headers, url: request.url, last: kind.last(body), tools: kind.tools(body) };
    asked.push(it);
    try {
      await say(response, kind, await answer(it, asked.length));
    } catch (error) {
      response.destroy(error);
    }
  });
  server.on("connection", (socket) => sockets.add(socket) && socket.on("close", () => sockets.delete(socket)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url: `${url}/v1`,
    asked,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function say(response, kind, steps) {
  const [{ status, error, location }] = [steps[0] ?? {}];
  if (status) {
    response.writeHead(status, { "content-type": "application/json", ...(location && { location }) });
    return void response.end(JSON.stringify({ type: "error", error: { type: "error", message: error } }));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const write = (event) => response.write(event);
  const said = kind.begin(write);
  let finish;
  for (const step of steps) {
    if (typeof step === "string") said.text(step);
    else if (step.call) {
      const place = said.call(step);
      for (const piece of step.pieces ?? ["{}"]) (said.piece(place, piece), await delay(step.pause ?? 1));
    } else if (step.side) await aside(said, step.side);
    else if (step.wait) await delay(step.wait);
    else if (step.raw !== undefined) write(step.raw);
    else if (step.cut) return void response.destroy();
    else if (step.hang) return;
    else if (step.finish) finish = step.finish;
    await delay(1);
  }
  said.end(finish);
  response.end();
}

async function aside(said, calls) {
  const places = calls.map((call) => said.call(call));
  const most = Math.max(...calls.map(({ pieces }) => pieces.length));
  for (let at = 0; at < most; at++)
    for (const [which, { pieces }] of calls.entries()) if (at < pieces.length) (said.piece(places[which], pieces[at]), await delay(1));
}

const openai = {
  last: ({ messages = [] }) => messages.at(-1),
  tools: ({ tools = [] }) => tools.map(({ function: { name } }) => name),
  begin(write) {
    const chunk = (delta, more = {}) =>
      write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "test", choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }] })}\n\n`);
    let calls = 0;
    chunk({ role: "assistant", content: "" });
    return {
      text: (content) => chunk({ content }),
      call({ call: name, id = `call_${calls}` }) {
        chunk({ tool_calls: [{ index: calls, id, type: "function", function: { name, arguments: "" } }] });
        return calls++;
      },
      piece: (index, text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
      end(finish = calls ? "tool_calls" : "stop") {
        chunk({}, { finish_reason: finish });
        write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "test", choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } })}\n\n`);
        write("data: [DONE]\n\n");
      },
    };
  },
};

const anthropic = {
  last: ({ messages = [] }) => messages.at(-1),
  tools: ({ tools = [] }) => tools.map(({ name }) => name),
  begin(write) {
    const event = (data) => write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    let index = -1;
    let open = false;
    let calls = 0;
    const stop = () => open && event({ type: "content_block_stop", index });
    const block = (content_block) => {
      stop();
      [index, open] = [index + 1, true];
      event({ type: "content_block_start", index, content_block });
      return index;
    };
    let text;
    event({ type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "test", content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 5, output_tokens: 1 } } });
    event({ type: "ping" });
    return {
      text(words) {
        text ??= block({ type: "text", text: "" });
        event({ type: "content_block_delta", index: text, delta: { type: "text_delta", text: words } });
      },
      call({ call: name, id = `toolu_${calls}` }) {
        calls++;
        text = undefined;
        return block({ type: "tool_use", id, name, input: {} });
      },
      piece: (at, partial_json) => event({ type: "content_block_delta", index: at, delta: { type: "input_json_delta", partial_json } }),
      end(finish = calls ? "tool_use" : "end_turn") {
        stop();
        event({ type: "message_delta", delta: { stop_reason: finish === "length" ? "max_tokens" : finish, stop_sequence: null }, usage: { output_tokens: 7 } });
        event({ type: "message_stop" });
      },
    };
  },
};

// An MCP server that is a page: it estimates pi by throwing points, and draws them where somebody looks.
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, automatic, element, open } from "../shared/page.js";
import { SIDE } from "./field.js";

// In a worker: a browser slows the timers of a page that nobody sees, and its messages wait behind its work.
const worker = new Worker("worker.js", { type: "module" });
const runs = new Map();
let last = 0;

worker.onmessage = ({ data: { run, done, field, ...numbers } }) => {
  // Drawing needs nobody to look: a frame that is shown later has the points of before.
  paint(field);
  element("estimate").textContent = words(numbers);
  const waiting = runs.get(run);
  if (!waiting) return;
  if (!done) return waiting.progress(numbers);
  runs.delete(run);
  waiting.resolve(numbers);
};

/** Lets the worker throw points; `signal` ends it early. */
function compute(ask, { signal, progress }) {
  const run = ++last;
  return new Promise((resolve, reject) => {
    const cancel = () => {
      runs.delete(run);
      worker.postMessage({ run, cancel: true });
      reject(new Error("cancelled"));
    };
    runs.set(run, { resolve, progress });
    worker.postMessage({ run, ...ask });
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel);
  });
}

function paint(field) {
  const context = element("points").getContext("2d");
  const image = context.createImageData(SIDE, SIDE);
  const pixels = new Uint32Array(image.data.buffer);
  // Blue inside the circle, orange outside; in the byte order of every machine that browsers run on.
  field.forEach((what, at) => (pixels[at] = [0, 0xffd08020, 0xff3080f0][what]));
  context.putImageData(image, 0, 0);
}

function words({ total, estimate, error }) {
  if (!total) return "no points yet";
  return `pi is about ${estimate.toFixed(6)}, which is ${error.toFixed(6)} off, after ${total} points`;
}

function serve(inner) {
  const server = new McpServer({ name: "pi", version: "1.0.0" });
  server.registerTool(
    "calculate_pi",
    {
      title: "Calculate pi",
      description: "Throws points at a square and counts those in the circle. Points add up over calls.",
      inputSchema: z.object({
        iterations: z.int().min(1_000).max(1_000_000).default(100_000),
        seed: z.int().min(0).optional().describe("the same points for the same seed"),
      }),
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    async ({ iterations, seed }, { mcpReq }) => {
      const token = mcpReq._meta?.progressToken;
      let before;
      const progress = ({ thrown }) => {
        if (token === undefined || thrown === before) return;
        before = thrown;
        const params = { progressToken: token, progress: thrown, total: iterations };
        void mcpReq.notify({ method: "notifications/progress", params });
      };
      const numbers = await compute({ iterations, seed }, { signal: mcpReq.signal, progress });
      const { estimate, error, total } = numbers;
      return answer(words(numbers), { estimate, error, total, iterations });
    },
  );
  server.registerTool("reset", { title: "Forget all points" }, async () => {
    await compute({ reset: true }, { progress() {} });
    return answer("all points are forgotten", { total: 0 });
  });
  return server.connect(inner);
}

await open({
  setup: automatic({
    title: "Pi calculator",
    visibility: {
      requirement: "optional",
      description: "Shows the points as they fall; it computes as fast without.",
    },
    ephemeralMessage: "There was nothing to set up.",
  }),
  connect: serve,
});

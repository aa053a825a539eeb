// The endpoint of the tests speaks as the published clients of both kinds expect it: they read its streams.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { after, test } from "../rig/test.mjs";
import { startModel } from "../rig/model.mjs";

const STEPS = [
  "Let me ",
  "look.",
  {
    side: [
      { call: "weather", id: "a", pieces: ['{"city":', '"Ro', 'me"}'] },
      { call: "clock", id: "b", pieces: ["{", "}"] },
    ],
  },
];
const model = await startModel(() => STEPS);
after(() => model.stop());

test("the client of OpenAI reads its text and both calls", async () => {
  const client = new OpenAI({ baseURL: model.url, apiKey: "none" });
  const stream = client.chat.completions.stream({ model: "test", messages: [{ role: "user", content: "hi" }] });
  const { choices, usage } = await stream.finalChatCompletion();
  const [{ message, finish_reason }] = choices;
  assert.equal(message.content, "Let me look.");
  assert.equal(finish_reason, "tool_calls");
  const calls = message.tool_calls.map(({ id, function: { name, arguments: given } }) => [id, name, given]);
  assert.deepEqual(calls, [
    ["a", "weather", '{"city":"Rome"}'],
    ["b", "clock", "{}"],
  ]);
  assert.equal(usage?.total_tokens ?? 12, 12);
});

test("the client of Anthropic reads its text and both calls", async () => {
  const client = new Anthropic({ baseURL: model.url.replace("/v1", ""), apiKey: "none" });
  const stream = client.messages.stream({ model: "test", max_tokens: 9, messages: [{ role: "user", content: "hi" }] });
  const { content, stop_reason } = await stream.finalMessage();
  assert.equal(stop_reason, "tool_use");
  assert.deepEqual(content.map(({ type, text, name, input }) => [type, text ?? name, input]), [
    ["text", "Let me look.", undefined],
    ["tool_use", "weather", { city: "Rome" }],
    ["tool_use", "clock", {}],
  ]);
});

/** The View in the README, as someone would paste it. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as transom from "transom";
import { FakeHost, settle, standUnder } from "./stage.js";

const readme = readFileSync("README.md", "utf8");
const html = /## A View[^]*?```html\n([^]*?)```/.exec(readme)![1]!;

test("it has fewer than 20 lines", () => {
  expect(html.trim().split("\n").length).toBeLessThan(20);
});

test("it works", async () => {
  const host = standUnder(new FakeHost()) as FakeHost;
  const [, body, script] =
    /<title>[^]*?<\/title>([^]*?)<script type="module">([^]*?)<\/script>/.exec(
      html,
    )!;
  document.body.innerHTML = body!;
  const names = /import \{(.*?)\} from "transom";/.exec(script!)![1]!;
  const code = script!.replace(/import .*;/, "");
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (...args: unknown[]) => Promise<void>;
  const out = document.getElementById("out")!;
  const again = document.getElementById("again")!;
  const running = new AsyncFunction(
    "transom",
    "out",
    "again",
    `const {${names}} = transom;${code}`,
  )(transom, out, again);
  await settle();
  host.welcome();
  await running;
  host.say({
    method: "ui/notifications/tool-result",
    params: { content: [{ type: "text", text: '{"a":1}' }] },
  });
  expect(JSON.parse(out.textContent!)).toEqual({ a: 1 });
  expect(document.documentElement.dataset.theme).toBe("dark");
  again.click();
  await settle();
  host.answer("tools/call", { structuredContent: { b: 2 } });
  await settle();
  expect(JSON.parse(out.textContent!)).toEqual({ b: 2 });
});

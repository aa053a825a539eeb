/** What is private, as the core judges it: `fixtures/csp/private.json`. */
import { expect, test } from "vitest";
import { policyOf } from "../src/guard.js";
import { readJson } from "./stage.js";

const rows = readJson<{ host: string; reach: string }[]>("csp/private.json");

test.each(rows)("$host is $reach, in raw mode too", ({ host, reach }) => {
  for (const source of [
    host,
    `https://${host}`,
    `http://${host}:8080`,
    `wss://${host}:*`,
    `https://${host}/path`,
  ]) {
    const lists = { connectDomains: [source], frameDomains: [source] };
    const given = policyOf(lists).includes(host);
    expect(given, source).toBe(reach === "public");
  }
  const below = policyOf({ connectDomains: [`https://*.${host}`] });
  if (reach !== "public") expect(below).toBe(policyOf({}));
});

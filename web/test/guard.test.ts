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
    `wss://${host}:8443`,
  ]) {
    const lists = { connectDomains: [source], frameDomains: [source] };
    const given = policyOf(lists).includes(host);
    // What is written in another way than browsers write it is refused, wherever it is.
    const written = URL.parse(`http://${host}`)?.hostname === host;
    expect(given, source).toBe(reach === "public" && written);
  }
  const below = policyOf({ connectDomains: [`https://*.${host}`] });
  if (reach !== "public") expect(below).toBe(policyOf({}));
});

test("a source of a million letters is refused, and takes no time to be", () => {
  for (const long of ["*.x." + "a".repeat(1e6) + ".1", "a".repeat(1e6)])
    expect(policyOf({ connectDomains: [long] })).toBe(policyOf({}));
});

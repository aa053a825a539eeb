// Cookies know hosts and no ports: whoever shares a host name with a view shares them with it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { startPlainBrowser } from "../rig/browser.mjs";
import { benchOf, binary, hostile, startHost } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";

// As a person starts it: Playwright's own start keeps cookies from frames of other sites, which is not everybody's setting.
const plain = await startPlainBrowser();
after(() => plain.close());
// Another program of this machine, which has nothing to do with views, and whom somebody has signed in to.
const other = createServer((_, response) => response.setHeader("set-cookie", "session=hush; path=/").end("<p>signed in"));
other.listen(0, "127.0.0.1");
await once(other, "listening");
after(() => other.close());
const servers = { stranger: hostile("view"), neighbour: hostile("view") };

/** The page at one of its names, in a browser that is signed in to the other program at both. */
async function openAt(t, name, args = []) {
  const host = await startHost({ servers, args });
  t.after(() => host.stop());
  const page = await plain.context.newPage();
  t.after(() => page.close());
  for (const each of ["127.0.0.1", "localhost"]) {
    await page.goto(`http://${each}:${other.address().port}/`);
    assert.equal(await page.evaluate(() => document.cookie), "session=hush");
  }
  await page.setViewportSize({ width: 1280, height: 3200 });
  const bench = benchOf(page);
  await page.goto(host.url.replace("localhost", name));
  const open = async (server) => {
    const card = await bench.run(server, "open");
    await card.guest.locator("body[data-ready]").waitFor();
    return card.frame();
  };
  return { host, page, bench, stranger: await open("stranger"), neighbour: await open("neighbour") };
}

const cookie = (frame) => frame.evaluate(() => document.cookie);

for (const [mode, args] of [
  ["a name for each frame", []],
  ["a port for each frame", ["--sandbox", "ports"]],
])
  for (const name of ["localhost", "127.0.0.1"])
    test(`with ${mode} and the page at ${name}, a view sees no cookie of another view or program`, async (t) => {
      const { page, stranger, neighbour } = await openAt(t, name, args);
      assert.equal(await cookie(stranger), "", "of another program at the page's host");
      // For itself, for its host by name, and for whatever stands above it.
      const { hostname } = new URL(stranger.url());
      const above = hostname.split(".").map((_, at, labels) => labels.slice(at).join("."));
      await stranger.evaluate((domains) => {
        // A frame of another site keeps a cookie only with these words; loopback counts as secure.
        for (const words of ["", "; samesite=none; secure", "; samesite=none; secure; partitioned"]) {
          document.cookie = `mine${words.length}=1; path=/${words}`;
          for (const domain of domains) document.cookie = `tossed${words.length}=${domain}; path=/; domain=${domain}${words}`;
        }
      }, above);
      assert.match(await cookie(stranger), /mine\d+=1/, "or nothing here could fail");
      assert.equal(await cookie(neighbour), "", "of another view");
      // Nor does it reach the page, or the other program, with one of its own.
      assert.equal(await page.evaluate(() => document.cookie), "session=hush");
      const hosts = [stranger, neighbour].map((frame) => new URL(frame.url()).hostname);
      assert.equal(new Set([...hosts, "127.0.0.1", "localhost"]).size, 4, hosts.join(" "));
    });

test("a domain for views below one with another use is refused at the start: views could toss cookies at all of it", async () => {
  // The name of a file that is not there ends a run that would begin otherwise.
  const words = ["run", "--config", "nowhere.json", "--sandbox-domain", "https://*.views.example.com"];
  const { code, told } = await new Promise((done) => {
    const child = execFile(binary(), words, (_, out, err) => done({ code: child.exitCode, told: out + err }));
  });
  assert.equal(code, 2, told);
  assert.match(told, /views below views\.example\.com could set cookies for all of example\.com; register a domain for views alone/);
});

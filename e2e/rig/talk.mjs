// The conversation on the host's page, as a person uses it.
import { openBench } from "./host.mjs";

export async function openTalk(browser, host, options) {
  const bench = await openBench(browser, host, options);
  return talkOf(bench);
}

export async function talkOf(bench) {
  const { page } = bench;
  await page.getByRole("tab", { name: "Conversation" }).click();
  const words = page.getByLabel("Your words", { exact: true });
  const stop = page.getByRole("button", { name: "Stop", exact: true });
  await words.waitFor();
  return {
    ...bench,
    words,
    said: page.locator(".thread .said"),
    last: page.locator(".thread .said").last(),
    calls: page.locator(".thread .call"),
    ask: page.locator("dialog.ask[open]"),
    trouble: page.locator(".talk .trouble"),
    chips: page.locator(".chip"),
    stop,
    /** Says something, and does not wait for the answer. */
    async begin(text) {
      await words.fill(text);
      await words.press("Enter");
      await page.waitForFunction((text) => [...document.querySelectorAll(".said.user .words")].at(-1)?.textContent === text, text);
    },
    /** The model has come to an end. */
    async settled() {
      await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    },
    async say(text) {
      await this.begin(text);
      await this.settled();
      return this.last.innerText();
    },
    async fresh() {
      await page.getByRole("button", { name: "New conversation" }).click();
      await page.locator(".thread .empty").waitFor();
    },
    async answer(choice) {
      await page.locator(`dialog.ask[open] button.${choice}`).click();
    },
    /** The guest of the newest view. */
    async guest() {
      const box = page.locator(".call-view article.view").last();
      await box.locator("iframe").waitFor();
      let frame = await (await box.locator("iframe").elementHandle()).contentFrame();
      for (let depth = 0; depth < 2; depth++) frame = await (await frame.waitForSelector("iframe")).contentFrame();
      await frame.waitForFunction(() => window.host);
      return frame;
    },
  };
}

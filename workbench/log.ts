/** What happened, line by line. */
import { element, get, make, pause } from "./dom.js";
import type { Entries } from "./state.generated.js";

/** What happened, newest first. */
export async function log(key: string): Promise<void> {
  let next = 0;
  const lines = element("log");
  for (;;) {
    try {
      const { entries } = await get<Entries>(`/api/log?after=${next}`, key);
      // Every message of every view passes through this page: drawing a line for each as it comes would make them wait,
      // and the first line of a view is written when its frames are about to be loaded.
      await pause(LOG_PAUSE);
      next = entries.at(-1)?.n ?? next;
      const fresh = entries.slice(-LOG_LINES).map((entry) => {
        const line = make("li", { className: `line-${entry.kind}` });
        line.append(
          make("time", { textContent: entry.at }),
          make("b", { textContent: entry.who }),
          make("span", { textContent: entry.words }),
        );
        return line;
      });
      lines.prepend(...fresh.reverse());
      while (lines.childElementCount > LOG_LINES)
        lines.lastElementChild?.remove();
    } catch {
      await pause(2000);
    }
  }
}

const LOG_PAUSE = 200;
/** As many as are drawn in a few milliseconds: every view on the page waits for that. */
const LOG_LINES = 200;

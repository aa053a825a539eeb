/** Arguments that are written into a view piece by piece, as a model writes them. */
import type { TransomView } from "../../web/src/host.js";
import { pause } from "../dom.js";

/** How fast, in characters a second. */
export const SPEEDS: readonly { name: string; rate: number }[] = [
  { name: "slowly", rate: 20 },
  { name: "as a model", rate: 100 },
  { name: "fast", rate: 1_000 },
];

/**
 * Writes arguments into a view piece by piece, from when it is there to see the first of them: a view says so by its lane or
 * its size, if it says anything. A view that has gone hears nothing of the rest.
 */
export async function write(
  view: TransomView,
  text: string,
  rate: number,
): Promise<void> {
  const signs = [
    "transom-lane",
    "transom-resize",
    "transom-text",
    "transom-close",
  ] as const;
  const there = signs.map(
    (sign) =>
      new Promise((done) => view.addEventListener(sign, done, { once: true })),
  );
  await Promise.race([...there, pause(VIEW_PAUSE)]);
  const piece = Math.max(1, Math.round((rate * PIECE_PAUSE) / 1_000));
  // A character that is two halves is written in one go: half of one is no text.
  const characters = [...text];
  for (let at = 0; at < characters.length; at += piece) {
    const done = at + piece >= characters.length;
    view.say({
      arguments: {
        text: characters.slice(at, at + piece).join(""),
        ...(done && { done }),
      },
    });
    await pause(PIECE_PAUSE);
  }
}

const PIECE_PAUSE = 40;
/** How long a view that gives no sign of being there is waited for. */
const VIEW_PAUSE = 3_000;

/** Reports the height of the document's content to the Host, and cannot be drawn into a loop. */
import type { SizeParams } from "./wire.js";

/**
 * Watches the document, or one element of it, and reports its size when it changed, at most once per
 * frame.
 *
 * A layout that depends on the viewport (`min-height: 100vh` with a margin) grows each time the Host
 * obeys. Such growth shows in the first measurement after the viewport changed. Ten in a row are
 * reported at once, one more after a pause, and then none, until the content changes while the
 * viewport does not: that is growth of its own.
 */
export function watchSize(
  report: (size: SizeParams) => void,
  root: HTMLElement = document.documentElement,
): () => void {
  let viewport = 0;
  let measured = 0;
  let fed = 0;
  let sent: SizeParams = {};

  const send = () => {
    if (sent.width === innerWidth && sent.height === measured) return;
    sent = { width: innerWidth, height: measured };
    report(sent);
  };
  const measure = () => {
    const { height } = root.style;
    root.style.height = "max-content";
    const now = Math.ceil(root.getBoundingClientRect().height);
    root.style.height = height;

    const obeyed = viewport !== innerHeight;
    fed = obeyed === now > measured ? fed + +obeyed : 0;
    viewport = innerHeight;
    measured = now;
    if (fed <= PATIENCE) send();
    if (obeyed && fed === PATIENCE + 1) setTimeout(send, 1000);
  };
  // Once when it begins, and then at most once per frame.
  const observer = new ResizeObserver(measure);
  observer.observe(root);
  observer.observe(document.body);
  return () => observer.disconnect();
}

/** Growth that only the viewport explains, before it is called a loop. */
const PATIENCE = 10;

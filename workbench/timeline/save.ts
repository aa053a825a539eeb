/** Saves a file where the browser puts what it downloads. */
import { make } from "../dom.js";

export function save(name: string, content: Blob): void {
  const href = URL.createObjectURL(content);
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

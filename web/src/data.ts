/** What a tool wanted to show, wherever it put it. */
import type { CallToolResult } from "./wire.js";

/** Finds a result's data: its `structuredContent`, or else the first text block that is JSON. */
export function dataOf({
  structuredContent,
  content,
}: CallToolResult): unknown {
  for (const block of content)
    try {
      structuredContent ??= JSON.parse((block as { text: string }).text);
    } catch {
      // A block for people, or none with text: the next may be it.
    }
  return structuredContent;
}

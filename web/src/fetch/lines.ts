/** Server-sent events, cut out of bytes that come in any pieces. */

/** One event. */
export type ServerEvent = { type: string; data: string; lastEventId: string };

/**
 * Reads events; `push` takes the next bytes and returns what is complete by then. A block that never ends is no event.
 * Lines end in LF, CR or CR LF, also where the bytes were cut in between (SSE-2).
 */
export function openLines(lastEventId = "") {
  const decoder = new TextDecoder();
  let rest = "";
  let afterCr = false;
  let type = "";
  let data: string[] = [];
  let id = lastEventId;
  const lines = {
    /** In milliseconds, if the server has said so. */
    retry: undefined as number | undefined,
    /** The id that a new connection is told. */
    lastEventId: () => lastEventId,
    push(bytes: Uint8Array): ServerEvent[] {
      let text = decoder.decode(bytes, { stream: true });
      if (afterCr && text) {
        afterCr = false;
        text = text.replace(/^\n/, "");
      }
      afterCr ||= text.endsWith("\r");
      const whole = (rest + text).split(/\r\n|\r|\n/);
      rest = whole.pop()!;
      // A line without an end is not kept for ever (ATK-57).
      if (rest.length > MAX_LINE) throw new RangeError("a line is too long");
      return whole.flatMap(take);
    },
  };
  const take = (line: string): ServerEvent[] => {
    if (line === "") {
      const event = { type: type || "message", data: data.join("\n") };
      const given = data.length > 0;
      lastEventId = id;
      type = "";
      data = [];
      return given ? [{ ...event, lastEventId }] : [];
    }
    const [, field, value = ""] = /^([^:]*):? ?([^]*)$/.exec(line)!;
    if (field === "event") type = value;
    if (field === "data") data.push(value);
    if (field === "id" && !value.includes("\0")) id = value;
    if (field === "retry" && /^\d+$/.test(value)) lines.retry = Number(value);
    return [];
  };
  return lines;
}

const MAX_LINE = 16 << 20;

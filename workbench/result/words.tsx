/** A text of an answer: as it is, as Markdown, or as the data that it holds; long ones are folded and can be searched. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import { Button } from "../parts/button.js";
import { Copy } from "../parts/copy.js";
import { Tree } from "../parts/tree.js";

type Way = "text" | "markdown" | "data";

export function Words({ text, mime = "" }: { text: string; mime?: string }) {
  const data = useMemo(() => dataOf(text), [text]);
  const ways: Way[] = [
    "text",
    ...(text.length < MARKDOWN ? (["markdown"] as const) : []),
    ...(data === undefined ? [] : (["data"] as const)),
  ];
  const [way, setWay] = useState<Way>(() =>
    data !== undefined ? "data" : isMarkdown(text, mime) ? "markdown" : "text",
  );
  return (
    <div class="words">
      <div class="words-head">
        <div class="ways" role="group" aria-label="How this text is shown">
          {ways.map((each) => (
            <Button
              key={each}
              quiet
              aria-pressed={each === way}
              onClick={() => setWay(each)}
            >
              {NAMES[each]}
            </Button>
          ))}
        </div>
        <Copy text={text} label="this text" />
      </div>
      {way === "markdown" && <Marked text={text} />}
      {way === "data" && <Tree value={data} name="data" open={2} />}
      {way === "text" && <Plain text={text} />}
    </div>
  );
}

/** A text, line by line; with a search it shows the lines that have the words. */
function Plain({ text }: { text: string }) {
  const [shown, setShown] = useState(FOLDED);
  const [sought, setSought] = useState("");
  const long = text.length > FOLDED;
  const found = useMemo(
    () => (sought ? find(text, sought) : undefined),
    [text, sought],
  );
  const body = found ? found.lines.join("\n") : text.slice(0, shown);
  return (
    <>
      {long && (
        <input
          type="search"
          class="find"
          aria-label="Find in this text"
          placeholder={`Find in ${text.length} characters`}
          value={sought}
          onInput={({ currentTarget }) => setSought(currentTarget.value)}
        />
      )}
      {found && (
        <p role="status" class="none">
          {found.count === 0
            ? "No line has it."
            : found.count === 1
              ? "1 line has it."
              : `${found.count} lines have it.`}
        </p>
      )}
      <pre tabIndex={0}>{body}</pre>
      {!found && shown < text.length && (
        <Button quiet onClick={() => setShown(shown * 10)}>
          {`Show more: ${text.length - shown} characters are left`}
        </Button>
      )}
    </>
  );
}

function find(
  text: string,
  sought: string,
): { count: number; lines: string[] } {
  const words = sought.toLowerCase();
  const lines: string[] = [];
  let count = 0;
  text.split("\n").forEach((line, at) => {
    if (!line.toLowerCase().includes(words)) return;
    count++;
    if (lines.length < FOUND) lines.push(`${at + 1}: ${line.slice(0, 1_000)}`);
  });
  return { count, lines };
}

/** What draws Markdown is brought when it is first needed. */
function Marked({ text }: { text: string }) {
  const [Markdown, setMarkdown] = useState<
    ComponentType<{ text: string }> | undefined
  >(undefined);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    import("../parts/markdown.js").then(
      (module) => setMarkdown(() => module.Markdown),
      () => setFailed(true),
    );
  }, []);
  return Markdown && !failed ? <Markdown text={text} /> : <Plain text={text} />;
}

/** The object or list that a text is the JSON of. */
function dataOf(text: string): unknown {
  if (text.length > DATA || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const isMarkdown = (text: string, mime: string) =>
  text.length < MARKDOWN &&
  (mime === "text/markdown" ||
    (!mime && /^#{1,6} |^```|\*\*\S|^[-*] |^\|.*\|$/m.test(text)));

const NAMES: Record<Way, string> = {
  text: "Text",
  markdown: "Markdown",
  data: "Data",
};
const FOLDED = 4_000;
const FOUND = 500;
const MARKDOWN = 200_000;
const DATA = 2_000_000;

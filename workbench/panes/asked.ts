/** What a server is asked for while its pane is open: an answer, or why there is none. */
import { useEffect, useState } from "preact/hooks";

export type Asked<T> = { value?: T; failed?: string };

/** Asks when it is first drawn, and again when `again` is another. */
export function useAsked<T>(
  ask: () => Promise<T>,
  again: unknown,
): Asked<T> | undefined {
  const [asked, setAsked] = useState<Asked<T> | undefined>(undefined);
  useEffect(() => {
    let gone = false;
    ask().then(
      (value) => !gone && setAsked({ value }),
      (error: unknown) => !gone && setAsked({ failed: wordsOf(error) }),
    );
    return () => {
      gone = true;
    };
  }, [again]);
  return asked;
}

export const wordsOf = (error: unknown) =>
  error instanceof Error ? error.message : String(error);

export type Page = { [name: string]: unknown };

/** All pages of a list of a server, as far as it goes. */
export async function pages(
  ask: (params: { cursor?: string }) => Promise<Page>,
  member: string,
): Promise<unknown[]> {
  const all: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES && all.length < ENTRIES; page++) {
    const answer = await ask(cursor === undefined ? {} : { cursor });
    const list = answer[member];
    if (Array.isArray(list)) all.push(...list.slice(0, ENTRIES));
    const next = answer["nextCursor"];
    if (typeof next !== "string" || !next || next === cursor) break;
    cursor = next;
  }
  return all.slice(0, ENTRIES);
}

const PAGES = 50;
const ENTRIES = 1_000;

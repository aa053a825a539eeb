/** Small things that every part of the page does. */

export async function get<T>(path: string, key: string): Promise<T> {
  const response = await fetch(path, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as T;
}

export function say(words: string): void {
  element("status").textContent = words;
}

export function element(id: string): HTMLElement {
  return document.getElementById(id)!;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(name), properties);
}

export const pause = (time: number) =>
  new Promise((resolve) => setTimeout(resolve, time));

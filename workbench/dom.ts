/** Small things that every part of the page does. */

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

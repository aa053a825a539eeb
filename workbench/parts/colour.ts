/** A colour of the page for whoever paints by hand: a canvas knows no variables, and nothing of light and dark. */
export function colourOf(element: HTMLElement, name: string): string {
  const before = element.style.color;
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = before;
  return color;
}

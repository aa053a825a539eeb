// Mermaid, bundled: nothing is fetched. What it makes is shown as an image, in which nothing can be clicked and nothing runs.
import mermaid from "mermaid";

mermaid.initialize({
  startOnLoad: false,
  securityLevel: "strict",
  // Text instead of HTML in boxes, so that the picture is XML, which an image must be.
  htmlLabels: false,
  flowchart: { htmlLabels: false },
  suppressErrorRendering: true,
});

let pictures = 0;
/** One at a time: the library has one configuration for all of them. */
let work = Promise.resolve();

/** An image of a diagram; throws words about code that is none. */
export function render(code) {
  const made = work.then(() => make(code));
  work = made.catch(() => {});
  return made;
}

async function make(code) {
  const { svg } = await mermaid.render(`picture-${++pictures}`, code);
  const image = new Image();
  image.alt = code;
  // The picture says that it is as wide as there is room; its own size stands in its coordinates.
  const [, width] = /viewBox="\S+ \S+ ([\d.]+) /.exec(svg) ?? [];
  if (width) image.width = Math.ceil(Number(width));
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  return image;
}

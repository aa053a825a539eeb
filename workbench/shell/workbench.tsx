/** The whole page: a header, and three areas side by side. */
import { useLayoutEffect } from "preact/hooks";
import { area, folded, width } from "../layout.js";
import { Area } from "./area.js";
import { Header } from "./header.js";
import { Narrow } from "./narrow.js";
import { Palette } from "./palette.js";
import { Splitter } from "./splitter.js";

export function Workbench() {
  useLayoutEffect(() => {
    // By the object model: the page's policy lets no attribute style anything.
    const { style, dataset } = document.body;
    style.setProperty("--left", `${width.left.value}px`);
    style.setProperty("--right", `${width.right.value}px`);
    dataset["area"] = area.value;
    for (const side of ["left", "right"] as const)
      document.body.classList.toggle(`${side}-folded`, folded[side].value);
  });
  // Read here, so that the effect follows them.
  void [width.left.value, width.right.value, area.value];
  void [folded.left.value, folded.right.value];
  return (
    <>
      <Header />
      <nav id="area-left" class="area left" aria-label="Servers">
        <Area area="left" />
      </nav>
      <Splitter side="left" label="Width of the servers" />
      <main id="area-centre" class="area centre" tabIndex={-1}>
        <Area area="centre" />
      </main>
      <Splitter side="right" label="Width of what happened" />
      <aside id="area-right" class="area right" aria-label="What happened">
        <Area area="right" />
      </aside>
      <Narrow />
      <Palette />
    </>
  );
}

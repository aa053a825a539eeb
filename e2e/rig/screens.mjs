// Pictures of the page, for people to look at: in three widths and both themes, below target/screens.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const SCREENS = path.join(process.env.CARGO_TARGET_DIR ?? path.join(ROOT, "target"), "screens");
/** The widths that the page is made for, with a usual height. */
export const SIZES = [
  [360, 740],
  [768, 1000],
  [1440, 900],
];

/** Takes a screen of the page as it is, in every width and theme, and puts the page back. `area` is the one that a narrow window shows. */
export async function shoot(page, name, { area } = {}) {
  mkdirSync(SCREENS, { recursive: true });
  const before = page.viewportSize();
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      if (area) await page.evaluate((area) => (document.body.dataset.area = area), area);
      await page.screenshot({ path: path.join(SCREENS, `${name}-${width}-${colorScheme}.png`), animations: "disabled" });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(before);
}

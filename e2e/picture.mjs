// Takes the picture of `transom run` that the README shows: node picture.mjs FILE
import { writeFileSync } from "node:fs";
import { startBrowser } from "./rig/browser.mjs";
import { example } from "./rig/examples.mjs";
import { openBench, startHost } from "./rig/host.mjs";

const [file] = process.argv.slice(2);
const host = await startHost({ servers: { weather: example("weather"), booking: example("booking") } });
const browser = await startBrowser();
try {
  const bench = await openBench(browser, host, { viewport: { width: 1200, height: 460 }, colorScheme: "light" });
  await bench.ready("booking");
  const card = await bench.run("weather", "get_forecast", { place: "Lisbon", days: 5 });
  await card.guest.getByRole("heading", { name: "Lisbon" }).waitFor();
  await card.guest.getByRole("button", { name: "Refresh" }).click();
  await card.guest.getByText("Up to date.").waitFor();
  await bench.log('tools/call "get_forecast": allowed').first().waitFor();
  // The pointer would leave its mark on whatever lies below it.
  await bench.page.mouse.move(0, 0);
  const png = await bench.page.screenshot({ animations: "disabled" });
  const blank = await browser.newPage();
  writeFileSync(file, Buffer.from(await blank.evaluate(smaller, png.toString("base64")), "base64"));
} finally {
  await browser.close();
  await host.stop();
}

// Runs in a page: a third of the bytes, and nothing that one would see.
async function smaller(png) {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", 0.9).split(",")[1];
}

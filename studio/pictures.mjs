// Usage: node studio/pictures.mjs
//
// Makes the pictures of the gallery, studio/pictures/NAME.webp, from the previews in docs/images: one image out of the middle of
// each. Chromium cuts and compresses them.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(here);
const { chromium } = createRequire(path.join(root, "build/tools/studio/node_modules/index.js"))("playwright-core");

// Runs in the page: the images of a preview are the large rectangles on its plain background.
async function cut(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const plain = (x, y) => [0, 1, 2].every((k) => Math.abs(data[4 * (y * image.width + x) + k] - data[4 * (2 * image.width + 2) + k]) < 3);
  const runs = (count, isPlain) => {
    const found = [];
    for (let i = 0, first = -1; i <= count; i++) {
      if (i < count && !isPlain(i)) first = first < 0 ? i : first;
      else if (first >= 0) {
        if (i - first > 90) found.push([first, i]);
        first = -1;
      }
    }
    return found;
  };
  const rows = runs(image.height, (y) => plain(30, y));
  const [top, bottom] = rows.length > 0 ? rows[Math.floor(rows.length / 2)] : [0, image.height];
  const columns = runs(image.width, (x) => plain(x, top + 4));
  const [left, right] = columns.length > 0 ? columns[columns.length - 1] : [0, image.width];
  const width = Math.min(right - left, ((bottom - top) * 8) / 5);
  const height = (width * 5) / 8;
  const small = Object.assign(document.createElement("canvas"), { width: 320, height: 200 });
  const to = small.getContext("2d");
  to.imageSmoothingQuality = "high";
  to.drawImage(canvas, left + (right - left - width) / 2, top + (bottom - top - height) / 2, width, height, 0, 0, 320, 200);
  return small.toDataURL("image/webp", 0.82);
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
fs.mkdirSync(path.join(here, "pictures"), { recursive: true });
const scenes = [...fs.readdirSync(path.join(root, "examples")), ...fs.readdirSync(path.join(here, "scenes"))];
for (const name of scenes.filter((f) => f.endsWith(".json")).map((f) => f.slice(0, -5))) {
  const preview = path.join(root, "docs/images", `${name}.png`);
  if (!fs.existsSync(preview)) continue;
  const made = await page.evaluate(cut, `data:image/png;base64,${fs.readFileSync(preview).toString("base64")}`);
  fs.writeFileSync(path.join(here, "pictures", `${name}.webp`), Buffer.from(made.split(",")[1], "base64"));
}
await browser.close();

// Tests of what a person builds on the page: models, comparisons, frames, grain, dropped meshes, files.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { assert, change, hash, open, sleep, statistics, until } from "./page.mjs";
import { root } from "./support.mjs";

const body = (page, index = 0) => page.evaluate((i) => window.studio.scene.bodies[i], index);
const send = (page, made) => page.evaluate((c) => window.studio.send({ type: "change", change: c }), made);
const advance = (page, steps) => page.evaluate((n) => window.studio.run(n).then((r) => ({ hash: r.report.hash, positions: Array.from(r.positions) })), steps);

async function choose(page, tool) {
  await page.evaluate((word) => {
    document.querySelectorAll("#panel details").forEach((d) => (d.open = true));
    const picker = document.getElementById("tool");
    picker.value = word;
    picker.dispatchEvent(new Event("change"));
  }, tool);
  await sleep(300);
}

// Until a body is drawn at a position of the window.
const drawn = (page, at) => until("a body under the mouse", () => page.evaluate(({ x, y }) => window.studio.hits(x, y), at));

// The bar at rest, paused, and where a point along its front is on the screen.
async function openBar() {
  const page = await open("#bar", { viewport: { width: 1000, height: 420 } });
  await page.keyboard.press("Space");
  await change(page, () => page.evaluate(() => window.studio.send({ type: "reset" })));
  const screen = async (share) => {
    const at = await page.evaluate((s) => window.studio.screen([s, -0.1, 0]), share);
    await drawn(page, at);
    return at;
  };
  return { page, screen };
}

// Two closed tetrahedra that share a face, as an OBJ file.
const WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 3 4 5\nf 4 2 5\n";

// Drops files on the page: pairs of a name and bytes.
async function dropFiles(page, files) {
  await page.evaluate((list) => {
    const data = new DataTransfer();
    for (const [name, text] of list) data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  }, files.map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]));
}

// The validator of Khronos, if it could be installed.
function findValidator() {
  try {
    return createRequire(path.join(root, "build/tools/node_modules/index.js"))("gltf-validator");
  } catch {
    console.log("      skipped: the skin is not validated, because gltf-validator is not installed");
    return null;
  }
}

// What the page downloads while `act` runs.
async function saved(page, act) {
  const waiting = page.waitForEvent("download");
  await act();
  const file = await waiting;
  const to = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "studio-")), file.suggestedFilename());
  await file.saveAs(to);
  return to;
}

export const editing = {
  async "the model changes while it runs, and the body stays where it is"() {
    const { page } = await openBar();
    const lowest = (p) => p.reduce((low, z, i) => (i % 3 === 2 ? Math.min(low, z) : low), Infinity);
    const before = await advance(page, 30);
    await page.evaluate(() => document.querySelectorAll("#panel details").forEach((d) => (d.open = true)));
    await page.selectOption("#model", "affine");
    await until("frames", async () => (await body(page)).frames === 8);
    const after = await advance(page, 1);
    assert(Math.abs(lowest(after.positions) - lowest(before.positions)) < 0.05, `it was at ${lowest(before.positions)} m and is at ${lowest(after.positions)} m`);
    await page.evaluate(() => {
      const slider = document.getElementById("frame-count");
      slider.value = "0.1";
      slider.dispatchEvent(new Event("change"));
    });
    await until("five frames", async () => (await body(page)).frames === 5);
    await page.keyboard.press("Control+z");
    await until("eight frames", async () => (await body(page)).frames === 8);
    await page.keyboard.press("Control+z");
    await until("elements", async () => (await body(page)).frames === 0);
    assert((await advance(page, 0)).hash === before.hash, "undo did not bring back the state");
    await page.close();
  },

  async "four models side by side, pulled by one hand"() {
    const { page } = await openBar();
    await change(page, () => send(page, { kind: "gravity", value: [0, 0, 0] }));
    await page.evaluate(() => document.querySelectorAll("#panel details").forEach((d) => (d.open = true)));
    await page.click("#compare-models");
    await page.click("#compare-start");
    await until("four models", () => page.evaluate(() => window.studio.scene.bodies.length === 4));
    const counts = await page.evaluate(() => window.studio.scene.bodies.map((b) => b.vertices));
    const rest = await advance(page, 1);
    await sleep(500);

    // The tip of the second one is pulled upwards; the tips of all follow.
    const offset = (await statistics(page)).compared[1].offset[0];
    const at = await page.evaluate((x) => window.studio.screen([x, -0.1, 0]), 0.9 + offset);
    await drawn(page, at);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x, at.y - 25);
    await page.mouse.move(at.x, at.y - 50);
    const pulled = await advance(page, 40);
    await page.mouse.up();
    let first = 0;
    for (const count of counts) {
      const highest = (p) => Math.max(...p.slice(3 * first, 3 * (first + count)).filter((_, i) => i % 3 === 2));
      const rise = highest(pulled.positions) - highest(rest.positions);
      assert(rise > 0.01, `the body that begins with vertex ${first} rose by ${rise} m`);
      first += count;
    }
    await until("labels", () => page.evaluate(() => document.querySelectorAll(".compared").length === 4));
    await until("errors", async () => (await statistics(page)).compared.every((c, i) => (i === 0 ? c.error === 0 : c.error > 0) && c.milliseconds > 0));
    await page.click("#stop-comparing");
    await until("one body", () => page.evaluate(() => window.studio.scene.bodies.length === 1));
    await page.close();
  },

  async "frames are added, moved, inserted and deleted; a part is painted rigid"() {
    const { page, screen } = await openBar();
    await send(page, { kind: "model", body: 0, model: "affine", frames: 5 });
    await until("five frames", async () => (await body(page)).frames === 5);
    await choose(page, "frames");
    const at = await screen(0.6);
    await page.mouse.click(at.x, at.y);
    await until("a sixth frame", async () => (await body(page)).frames === 6);

    // The new frame is touched, moved and deleted.
    await sleep(300);
    await drawn(page, at);
    const position = (await body(page)).nodesOfFrames[5].position;
    const mark = await page.evaluate((p) => window.studio.screen(p), position);
    await page.mouse.move(mark.x, mark.y);
    await page.mouse.down();
    await page.mouse.move(mark.x - 40, mark.y);
    await page.mouse.up();
    await until("it moved", async () => (await body(page)).nodesOfFrames[5].position[0] < position[0] - 0.02);
    await page.click("#delete-frame");
    await until("it is gone", async () => (await body(page)).frames === 5);

    await choose(page, "insert");
    await drawn(page, at);
    await page.mouse.click(at.x, at.y);
    await until("a frame joins", async () => (await body(page)).frames === 6);
    await advance(page, 20);
    await page.keyboard.press("Control+z");
    await until("it leaves", async () => (await body(page)).frames === 5);

    await choose(page, "paint");
    await drawn(page, at);
    await page.mouse.click(at.x, at.y);
    await until("a tissue", async () => (await body(page)).materials.length === 2);
    await advance(page, 5);
    assert(await page.evaluate(() => document.getElementById("toast").hidden), await page.textContent("#toast"));
    await page.close();
  },

  async "a stroke changes the grain and the motion; a turn solves it again"() {
    const { page, screen } = await openBar();
    const plain = await advance(page, 45);
    await change(page, () => page.evaluate(() => window.studio.send({ type: "reset" })));
    await choose(page, "grain");
    const from = await screen(0.15);
    const to = await screen(0.85);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    for (let i = 1; i <= 8; i++) {
      await page.mouse.move(from.x + ((to.x - from.x) * i) / 8, from.y + ((to.y - from.y) * i) / 8);
      await sleep(80);
    }
    await page.mouse.up();
    await until("the field", async () => (await body(page)).field === "frames");
    const grained = await advance(page, 45);
    const sag = (p) => -0.1 - p.reduce((low, z, i) => (i % 3 === 2 ? Math.min(low, z) : low), Infinity);
    assert(sag(grained.positions) < 0.7 * sag(plain.positions), `it sags by ${sag(grained.positions)} m, without grain by ${sag(plain.positions)} m`);

    // The disc by keyboard; the solve takes milliseconds, and says so.
    const before = (await advance(page, 0)).hash;
    await page.focus("#turn");
    await change(page, () => page.keyboard.press("ArrowRight"));
    await until("its time", async () => (await statistics(page)).grainMs > 0);
    assert((await statistics(page)).grainMs < 200, `the field took ${(await statistics(page)).grainMs} ms`);
    await advance(page, 5);
    await page.keyboard.press("Control+z");
    await until("the state before the turn", async () => (await advance(page, 0)).hash === before, 20);
    await page.close();
  },

  async "a dropped mesh becomes a soft body and a skin that the validator accepts"() {
    const page = await open("#bar");
    await dropFiles(page, [["wedge.obj", WEDGE]]);
    await until("the wedge", () => page.evaluate(() => window.studio.scene.bodies[0].name === "wedge"));
    await page.keyboard.press("Space");
    assert((await body(page)).frames === 10, "it does not have ten frames");
    await advance(page, 12);
    await page.evaluate(() => document.getElementById("save").click());
    const skin = await saved(page, () => page.click("#save-skin"));
    const validator = findValidator();
    if (!validator) return;
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(skin)));
    assert(report.issues.numErrors === 0 && report.issues.numWarnings === 0, JSON.stringify(report.issues.messages.slice(0, 3)));
    assert(report.info.hasSkins, "it is no skin");
    await page.close();
  },

  async "a character walks by a motion file that is dropped with it"() {
    const glb = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "studio-")), "person.glb");
    const script = "import sys; sys.path.insert(0, sys.argv[1]); import characters; characters.person('lean').save(sys.argv[2])";
    execFileSync("python3", ["-c", script, path.join(root, "tests/cli"), glb]);
    const page = await open("#bar");
    await dropFiles(page, [["person.glb", fs.readFileSync(glb)], ["walk.bvh", fs.readFileSync(path.join(root, "examples/walk.bvh"))]]);
    await until("the person", () => page.evaluate(() => window.studio.scene.bodies[0].name === "person"));
    await page.keyboard.press("Space");
    assert((await body(page)).model === "positions", "it is not under position dynamics");
    const first = await advance(page, 1);
    const later = await advance(page, 20);
    const moved = Math.max(...first.positions.map((x, i) => Math.abs(x - later.positions[i])));
    assert(moved > 0.02 && moved < 3, `it moved by ${moved} m in a third of a second`);
    await page.close();
  },

  async "a scene is saved with its changes, and travels in a link"() {
    const { page } = await openBar();
    await change(page, () => send(page, { kind: "material", body: 0, number: 0, constant: "young", value: 123456 }));
    await change(page, () => send(page, { kind: "model", body: 0, model: "affine", frames: 4 }));
    await page.evaluate(() => document.getElementById("save").click());
    const file = await saved(page, () => page.click("#save-scene"));
    const scene = JSON.parse(fs.readFileSync(file, "utf8"));
    assert(scene.bodies[0].material.young === 123456 && scene.bodies[0].frames.count === 4, JSON.stringify(scene.bodies[0]));

    await page.evaluate(() => document.getElementById("share").click());
    await until("the link", () => page.evaluate(() => location.hash.startsWith("#data:")));
    const other = await open(await page.evaluate(() => location.hash));
    await until("the same scene", async () => (await body(other)).frames === 4 && (await body(other)).materials[0].young === 123456);
    await other.close();
    await page.close();
  },
};

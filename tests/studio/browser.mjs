// Usage: node tests/studio/browser.mjs SINEW PAGE [WORD]
//
// The page in Chromium: it starts and says nothing on the console; bodies are pulled and return; a cube dropped on the floor rests;
// time goes back; edits are undone; mistakes are explained; it fits a phone. editing.mjs has the tests of the tools. With WORD, only the
// tests whose name contains it.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { editing } from "./editing.mjs";
import { assert, browser, change, folder, hash, open, run, serve, sleep, statistics, until } from "./page.mjs";
import { bundle, root } from "./support.mjs";

const tests = {
  async "something moves, and the state is that of the same core in Node"() {
    const page = await open("#bar");
    await page.keyboard.press("Space");
    await page.click("#reset");
    await until("the start", async () => (await statistics(page))?.report.time === 0);
    const ran = await page.evaluate(() => window.studio.run(20).then((r) => r.report));
    const { Core } = await import(await bundle("core.ts"));
    const core = await Core.create(await WebAssembly.compile(fs.readFileSync(path.join(folder, "sinew.wasm"))));
    core.addFile("bar.json", fs.readFileSync(path.join(root, "examples/bar.json")));
    await core.load("bar.json", [], () => null);
    for (let i = 0; i < 20; i++) core.step();
    assert(core.report().hash === ran.hash, `the hash is ${ran.hash}, in Node ${core.report().hash}`);
    await page.close();
  },

  async "a body is pulled with the mouse and returns"() {
    const page = await open("#bar");
    await page.keyboard.press("Space");
    // Without gravity it is at rest.
    await page.evaluate(() => {
      window.studio.send({ type: "reset" });
      window.studio.send({ type: "change", change: { kind: "gravity", value: [0, 0, 0] } });
      window.studio.send({ type: "change", change: { kind: "damping", body: 0, mass: 4, stiffness: 0.05 } });
    });
    const rest = await page.evaluate(() => window.studio.run(1).then((r) => Array.from(r.positions)));
    const tip = rest.reduce((best, _, i) => (i % 3 === 0 && rest[i] > rest[best] ? i : best), 0);
    // A little inside the end face, where the bar is under the cursor whatever the view.
    const at = await page.evaluate((p) => window.studio.screen(p), [rest[tip] - 0.08, 0, 0]);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + 10, at.y - 60);
    await page.mouse.move(at.x + 20, at.y - 110);
    const height = (p) => p[tip + 2];
    let pulled = rest;
    for (let i = 0; i < 40 && height(pulled) < height(rest) + 0.03; i++) {
      pulled = await page.evaluate(() => window.studio.run(5).then((r) => Array.from(r.positions)));
    }
    assert(height(pulled) > height(rest) + 0.03, `the tip rose by ${height(pulled) - height(rest)} m only`);
    await until("the force", () => page.evaluate(() => /\d .?N$/.test(document.getElementById("force").textContent)));
    await page.mouse.up();
    const back = await page.evaluate(() => window.studio.run(250).then((r) => Array.from(r.positions)));
    assert(Math.abs(height(back) - height(rest)) < 0.05 * (height(pulled) - height(rest)), `it stays ${height(back) - height(rest)} m off`);
    await until("the force goes", () => page.evaluate(() => document.getElementById("force").hidden));
    await page.close();
  },

  async "a dropped cube comes to rest on the floor; undo restores the state"() {
    const page = await open("#layers");
    await page.keyboard.press("Space");
    await change(page, () => page.keyboard.press("f"));
    const before = await hash(page);
    // Beside the other bodies.
    await change(page, () => page.evaluate(() => window.studio.send({ type: "change",
      change: { kind: "drop", solid: "cube", size: 0.2, position: [0, 2, window.studio.scene.obstacles[0].position[2] + 0.3] } })));
    await until("another body", () => page.evaluate(() => window.studio.scene.bodies.at(-1).dropped));
    const count = await page.evaluate(() => window.studio.scene.bodies.at(-1).vertices);
    const run = (steps) => page.evaluate(([n, c]) => window.studio.run(n).then((r) => Array.from(r.positions.slice(-3 * c))), [steps, count]);
    const lowest = (p) => p.reduce((low, z, i) => (i % 3 === 2 ? Math.min(low, z) : low), Infinity);
    await run(160);
    const first = await run(10);
    const second = await run(10);
    const moved = Math.max(...first.map((x, i) => Math.abs(x - second[i])));
    const floor = await page.evaluate(() => window.studio.scene.obstacles[0].position[2]);
    assert(lowest(second) > floor - 1e-6, `it is ${floor - lowest(second)} m below the floor`);
    assert(moved < 0.005, `it still moves by ${moved} m in ten steps`);
    await change(page, () => page.keyboard.press("Control+z"));
    await until("the cube to go", () => page.evaluate(() => !window.studio.scene.bodies.at(-1).dropped));
    await until("the hash", async () => (await hash(page)) === before, 10);
    await page.keyboard.press("Control+Shift+z");
    await until("the cube to come back", () => page.evaluate(() => window.studio.scene.bodies.at(-1).dropped));
    await page.evaluate(() => document.getElementById("drop-ball").click());
    await until("a ball", () => page.evaluate(() => window.studio.scene.bodies.at(-1).name === "ball"));
    await page.close();
  },

  async "materials change while it runs, and time goes back"() {
    const page = await open("#layers");
    await page.keyboard.press("Space");
    await page.evaluate(() => window.studio.send({ type: "reset" }));
    const past = await page.evaluate(() => window.studio.run(30).then((r) => r.report.hash));
    await page.evaluate(() => window.studio.run(30));
    await page.evaluate(() => window.studio.send({ type: "seek", share: 0.5 }));
    await until("the past", async () => Math.abs((await statistics(page)).history.now - 0.3) < 0.05);
    const again = await page.evaluate(() => window.studio.run(0).then((r) => r.report));
    assert(Math.abs(again.time - 0.3) < 1e-9 && again.hash === past, `another state at ${again.time} s`);
    const before = await hash(page);
    await change(page, () => page.evaluate(() => {
      const slider = document.getElementById("young-0");
      slider.value = "0.9";
      slider.dispatchEvent(new Event("input"));
    }));
    await until("the modulus", () => page.evaluate(() => window.studio.scene.bodies[0].materials[0].young > 1e8));
    await page.evaluate(() => window.studio.run(5));
    await change(page, () => page.keyboard.press("Control+z"));
    await until("the state", async () => (await hash(page)) === before, 10);
    await page.close();
  },

  async "every kind of body shows its frames, colours and forces"() {
    const page = await open("#frames-creature");
    for (const key of ["2", "3", "4", "5", "1", "m"]) {
      await page.keyboard.press(key);
      await sleep(60);
    }
    await page.evaluate(() => ["frames", "contacts"].forEach((id) => document.getElementById(id).click()));
    await page.evaluate(() => window.studio.run(3));
    for (const name of ["frames-t", "plate", "bones-arm"]) {
      await page.evaluate((n) => window.studio.openExample(n), name);
      await until(name, () => page.evaluate((n) => document.getElementById("busy").hidden && location.hash === `#${n}`, name));
      await page.evaluate(() => window.studio.run(2));
    }
    assert(await page.evaluate(() => document.getElementById("toast").hidden), "something failed");
    await page.close();
  },

  // Their states are compared in Node (parity.mjs), whose bits are those of the browser.
  async "every example loads and moves"() {
    const page = await open("#bar");
    await page.keyboard.press("Space");
    const names = fs.readdirSync(path.join(folder, "examples")).filter((f) => f.endsWith(".json")).map((f) => f.slice(0, -5));
    for (const name of names) {
      await page.evaluate((n) => window.studio.openExample(n), name);
      await until(name, () => page.evaluate((n) => document.getElementById("busy").hidden && location.hash === `#${n}`, name));
      const time = await page.evaluate(() => window.studio.run(2).then((r) => r.report.time));
      assert(time > 0, `${name} stays at ${time} s`);
      assert(await page.evaluate(() => document.getElementById("toast").hidden), `${name}: ${await page.textContent("#toast")}`);
    }
    await page.close();
  },

  async "mistakes are explained, and the scene before stays"() {
    const page = await open("#bar");
    await page.evaluate(() => window.studio.load("broken.json", new TextEncoder().encode('{"version": 1, "bodies": [{"shape": {"kind": "bax"}}]}')));
    await until("the message", () => page.evaluate(() => !document.getElementById("toast").hidden));
    const text = await page.textContent("#toast");
    assert(/cannot be simulated/.test(text) && /box/.test(text), text);
    await page.click("#toast-close");
    await page.evaluate(() => window.studio.run(2));
    await page.close();
  },

  async "gallery, help, themes and a phone"() {
    const page = await open("", { viewport: { width: 390, height: 780 }, hasTouch: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert(wide <= 390, `the page is ${wide} pixels wide`);
    await page.click("#open-gallery");
    const cards = await page.locator(".card").count();
    const scenes = fs.readdirSync(path.join(folder, "examples")).filter((f) => f.endsWith(".json")).length;
    assert(cards === scenes, `${cards} cards for ${scenes} scenes`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    assert(await page.evaluate(() => document.getElementById("help").open), "no help");
    await page.keyboard.press("Escape");
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const before = await theme();
    await page.keyboard.press("t");
    assert((await theme()) !== before, "the theme stays");
    const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select")]
      .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length || e.hidden)).map((e) => e.outerHTML));
    assert(nameless.length === 0, `without a name: ${nameless.join(" ")}`);
    await page.close();
  },

  async "a scene of one's own, with a file beside it"() {
    const scene = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "studio-")), "own.json");
    fs.copyFileSync(path.join(root, "examples/bar.json"), scene);
    const own = await serve(scene);
    const page = await browser.newPage();
    await page.goto(own.address);
    await until("the scene", () => page.evaluate(() => window.studio?.scene?.bodies.length === 1));
    await page.close();
    own.server.kill("SIGINT");
  },
};

const word = process.argv[4] ?? "";
await run(Object.fromEntries(Object.entries({ ...tests, ...editing }).filter(([name]) => name.includes(word))));

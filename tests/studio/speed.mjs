// Usage: node tests/studio/speed.mjs CORE.wasm NARROW_REPORT FULL_REPORT [NAME...]
//
// How fast WebAssembly is beside native builds: the fastest of 80 steps of examples with frames and with position dynamics. NARROW_REPORT
// is studio_report of the preset `plain`, limited to 128-bit vectors as WebAssembly is; FULL_REPORT that of `release`. A measurement, not
// a test: it prints and does not judge.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { bundle, root } from "./support.mjs";

const STEPS = 80;
const [core, narrow, full, ...names] = process.argv.slice(2);
if (!full) {
  console.error("Usage: node tests/studio/speed.mjs CORE.wasm NARROW_REPORT FULL_REPORT [NAME...]");
  process.exit(2);
}
const examples = path.join(root, "examples");
const measured = names.length > 0 ? names : ["frames-t", "frames-creature", "frames-beam", "frames-shell", "tissues-dragon", "bones-arm", "bones-leg", "bones-biped"];

const { Core } = await import(await bundle("core.ts"));
const module = await WebAssembly.compile(fs.readFileSync(core));

async function timeHere(name) {
  const studio = await Core.create(module);
  studio.addFile(`${name}.json`, fs.readFileSync(path.join(examples, `${name}.json`)));
  await studio.load(`${name}.json`, [], async (file) => fs.readFileSync(path.join(examples, file)));
  let least = Infinity;
  for (let i = 0; i < STEPS; i++) {
    studio.step();
    least = Math.min(least, studio.report().total);
  }
  return 1000 * least;
}

function timeNatively(program, name) {
  const steps = Array.from({ length: STEPS }, (_, i) => String(i + 1));
  const lines = execFileSync(program, [examples, `${name}.json`, ...steps], { encoding: "utf8", maxBuffer: 2 ** 26 }).trim().split("\n");
  return 1000 * Math.min(...lines.map((line) => JSON.parse(line).total));
}

console.log("example              WebAssembly  128-bit  ratio   native  ratio   (ms a step; ratio: native over WebAssembly)");
for (const name of measured) {
  const here = await timeHere(name);
  const [limited, best] = [timeNatively(narrow, name), timeNatively(full, name)];
  const cells = [here.toFixed(3).padStart(11), limited.toFixed(3).padStart(8), (limited / here).toFixed(2).padStart(6), best.toFixed(3).padStart(8), (best / here).toFixed(2).padStart(6)];
  console.log(`${name.padEnd(20)} ${cells.join(" ")}`);
}

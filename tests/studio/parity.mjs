// Usage: node tests/studio/parity.mjs CORE.wasm STUDIO_REPORT [--all] [NAME...]
//
// Every example in WebAssembly, in Node, beside a native build: the hash of the state after 200 steps. STUDIO_REPORT comes from the
// preset `plain`, which uses the same vectors and solvers as WebAssembly and no fused products, so that most examples have the same bits. What is left are the elementary functions (sin, cos, pow) of the two C libraries: scenes that move supports, bones or
// obstacles by them, or make shapes and fields with them, differ in the last digits, and these may be listed below with a reason.
//
// Without --all, an example ends early once its steps have taken SECONDS.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { bundle, root } from "./support.mjs";

const STEPS = 200;
const SECONDS = 0.4;
const [core, native, ...rest] = process.argv.slice(2);
const all = rest.includes("--all");
const names = rest.filter((a) => !a.startsWith("-"));
const examples = path.join(root, "examples");

// How far energies, momentum and volume may differ, relative to the largest number of their kind, where the bits do.
const TOLERANCE = 1e-9;
const LOOSER = {
  "bones-arm": 1e-7, // position dynamics in single precision, driven by bones that follow sines
  "bones-belly": 1e-4,
  "bones-biped": 1e-7,
  "bones-cores": 1e-7,
  "bones-leg": 1e-7,
  "grain-fish": 1e-7, // the fish is made with pow and swims by a sine; its linear solves end at 1e-6
  "reduced": 0.05, // training chooses among samples of equal merit, which rounding decides: models within its error of 1 % in forces
};

const { Core } = await import(await bundle("core.ts"));
const module = await WebAssembly.compile(fs.readFileSync(core));

async function runHere(name) {
  const studio = await Core.create(module);
  studio.addFile(`${name}.json`, fs.readFileSync(path.join(examples, `${name}.json`)));
  await studio.load(`${name}.json`, [], async (file) => fs.readFileSync(path.join(examples, file)));
  const begin = process.cpuUsage().user;
  let steps = 0;
  while (steps < STEPS && (all || process.cpuUsage().user - begin < 1e6 * SECONDS)) {
    studio.step();
    steps++;
  }
  studio.update("strain");
  return { steps, report: studio.report() };
}

// The largest difference, relative to the largest number of its kind.
function compare(a, b) {
  const energy = Math.max(Math.abs(b.kinetic), Math.abs(b.elastic ?? 0), 1e-12);
  const momentum = Math.max(Math.hypot(...b.momentum), Math.sqrt(2 * b.mass * b.kinetic), 1e-12);
  return Math.max(
    Math.abs(a.kinetic - b.kinetic) / energy,
    Math.abs((a.elastic ?? 0) - (b.elastic ?? 0)) / energy,
    Math.hypot(...a.momentum.map((x, i) => x - b.momentum[i])) / momentum,
    Math.abs(a.volume - b.volume) / b.restVolume,
    Math.abs(a.time - b.time));
}

let failed = 0;
const listed = fs.readdirSync(examples).filter((f) => f.endsWith(".json")).map((f) => f.slice(0, -5));
for (const name of names.length > 0 ? names : listed) {
  try {
    const { steps, report } = await runHere(name);
    const other = JSON.parse(execFileSync(native, [examples, `${name}.json`, String(steps)], { encoding: "utf8" }));
    const same = report.hash === other.hash;
    const difference = compare(report, other);
    const good = same || difference <= (LOOSER[name] ?? TOLERANCE);
    if (!good) failed++;
    console.log(`${good ? "ok  " : "FAIL"} ${name.padEnd(20)} ${String(steps).padStart(3)} steps  ${same ? "same bits" : `differs by ${difference.toExponential(1)}`}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.message}`);
  }
}
console.log(failed === 0 ? "all agree" : `${failed} differ`);
process.exit(failed === 0 ? 0 : 1);

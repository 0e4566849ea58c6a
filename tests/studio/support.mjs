// What the tests of the studio share.
import { createRequire } from "node:module";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const packages = path.join(root, "build/tools/studio/node_modules");
export const load = createRequire(path.join(packages, "index.js"));

// A source file of the page as a module for Node; returns its address.
export async function bundle(name) {
  const out = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "studio-")), name.replace(/\.ts$/, ".mjs"));
  await load("esbuild").build({ entryPoints: [path.join(root, "studio/src", name)], bundle: true, format: "esm", outfile: out, nodePaths: [packages], logLevel: "warning" });
  return pathToFileURL(out).href;
}

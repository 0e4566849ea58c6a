// Usage: node studio/build.mjs CORE.wasm OUT [--single]
//
// Builds the page into the folder OUT; with --single into the one file OUT, which needs no server. The npm packages are those that
// scripts/setup put into build/tools/studio.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(here);
const packages = path.join(root, "build/tools/studio/node_modules");
const esbuild = createRequire(path.join(packages, "index.js"))("esbuild");
const [core, out, ...options] = process.argv.slice(2);
if (!core || !out) {
  console.error("Usage: node studio/build.mjs CORE.wasm OUT [--single]");
  process.exit(2);
}
const single = options.includes("--single");

// The scenes in the order of the README of the examples, after those of the studio itself.
function listExamples() {
  const examples = [{ name: "welcome", section: "Start here", title: "", about: "Pull, throw, squeeze: soft things on a floor" }];
  let section = "";
  for (const line of fs.readFileSync(path.join(root, "examples/README.md"), "utf8").split("\n")) {
    section = /^## (.*)/.exec(line)?.[1] ?? section;
    const row = /^\| \[([\w-]+)\.json\]\([^)]*\) \| (.*?) \|/.exec(line);
    if (row) examples.push({ name: row[1], section, title: "", about: row[2].replace(/ \(`.*$/, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1") });
  }
  for (const example of examples) {
    const text = fs.readFileSync(scenePath(example.name), "utf8");
    example.title = /"title"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? example.name;
    example.picture = fs.existsSync(path.join(here, "pictures", `${example.name}.webp`));
  }
  return examples;
}

function scenePath(name) {
  const own = path.join(here, "scenes", `${name}.json`);
  return fs.existsSync(own) ? own : path.join(root, "examples", `${name}.json`);
}

// Every file of the page by its name: contents.
function collect(examples) {
  const files = { "gallery.json": Buffer.from(JSON.stringify(examples)), "sinew.wasm": fs.readFileSync(core) };
  for (const { name, picture } of examples) {
    const file = scenePath(name);
    files[`examples/${name}.json`] = fs.readFileSync(file);
    for (const [, other] of fs.readFileSync(file, "utf8").matchAll(/"file"\s*:\s*"([^"]+)"/g)) {
      files[`examples/${other}`] = fs.readFileSync(path.join(path.dirname(file), other));
    }
    if (picture) files[`pictures/${name}.webp`] = fs.readFileSync(path.join(here, "pictures", `${name}.webp`));
  }
  return files;
}

async function bundle(entry) {
  const result = await esbuild.build({
    entryPoints: [path.join(here, "src", entry)], bundle: true, minify: true, format: single && entry === "worker.ts" ? "iife" : "esm",
    target: "es2022", write: false, nodePaths: [packages], define: { SINGLE: String(single) }, legalComments: "none", logLevel: "warning",
  });
  return result.outputFiles[0].text;
}

const examples = listExamples();
const files = collect(examples);
const app = await bundle("app.ts");
const worker = await bundle("worker.ts");
const page = fs.readFileSync(path.join(here, "index.html"), "utf8");
const style = fs.readFileSync(path.join(here, "style.css"), "utf8");

// Text inside a script element must not end it.
const inScript = (text) => text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");

if (single) {
  const embedded = { worker, files: {} };
  for (const [name, bytes] of Object.entries(files)) {
    if (name.endsWith(".webp")) embedded.files[`raw:${name}`] = bytes.toString("base64");
    else embedded.files[name] = zlib.gzipSync(bytes, { level: 9 }).toString("base64");
  }
  const html = page
    .replace('<link rel="stylesheet" href="style.css">', () => `<style>${style}</style>`)
    .replace('<script type="module" src="app.js"></script>', () =>
      `<script type="application/json" id="embedded">${JSON.stringify(embedded).replaceAll("<", "\\u003c")}</script>\n<script type="module">${inScript(app)}</script>`);
  fs.mkdirSync(path.dirname(out), { recursive: true });
  fs.writeFileSync(out, html);
  console.log(`${out}: ${(html.length / 2 ** 20).toFixed(2)} MB`);
} else {
  Object.assign(files, { "index.html": page, "style.css": style, "app.js": app, "worker.js": worker });
  fs.rmSync(out, { recursive: true, force: true });
  let size = 0;
  for (const [name, bytes] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(out, name)), { recursive: true });
    fs.writeFileSync(path.join(out, name), bytes);
    if (!/^(examples|pictures)\//.test(name)) size += zlib.gzipSync(bytes).length;
  }
  console.log(`${out}: ${examples.length} scenes, ${(size / 2 ** 20).toFixed(2)} MB compressed without them`);
}

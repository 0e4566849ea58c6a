// The page in Chromium, served by the program, for tests that speak to it as a person does; the state is read through window.studio.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { load } from "./support.mjs";

export const [sinew, folder] = process.argv.slice(2);
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((f) => fs.existsSync(f));
if (!chromium) {
  console.log("skipped: there is no Chromium");
  process.exit(0);
}

export function assert(condition, what) {
  if (!condition) throw new Error(what);
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Asks again and again until the answer is true.
export async function until(what, ask, seconds = 40) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(60)) {
    if (await ask()) return;
  }
  throw new Error(`waited in vain: ${what}`);
}

export function serve(...more) {
  const server = spawn(sinew, ["studio", "--folder", folder, ...more], { stdio: ["pipe", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    server.stdout.once("data", (text) => resolve({ server, address: String(text).split("\n")[0] }));
    server.once("exit", () => reject(new Error("the server did not start")));
  });
}

export const browser = await load("playwright-core").chromium.launch({
  executablePath: chromium, args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
export const { server, address } = await serve();
const messages = [];

export async function open(hash, options = {}) {
  const page = await browser.newPage({ viewport: { width: 620, height: 420 }, ...options });
  page.on("console", (m) => messages.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => messages.push(`error: ${e.message}`));
  page.setDefaultTimeout(40000);
  await page.addInitScript(() => localStorage.setItem("pulled", "yes"));
  await page.goto(address + hash);
  await until("the first image", () => page.evaluate(() => document.documentElement.dataset.moving !== undefined));
  return page;
}

export const statistics = (page) => page.evaluate(() => window.studio.latest);
export const hash = async (page) => (await statistics(page)).report.hash;

export async function change(page, act) {
  const before = await page.evaluate(() => window.studio.latest);
  await act();
  await until("new statistics", async () => (await statistics(page)) !== before && (await statistics(page)).report);
  await sleep(500);
}

// Runs the tests one after the other; none may leave a message on the console.
export async function run(tests) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const begin = Date.now();
    messages.length = 0;
    try {
      await test();
      assert(messages.length === 0, `the console has messages: ${messages.join("; ")}`);
      console.log(`ok   ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed++;
      console.log(`FAIL ${name}: ${error.message}`);
    }
  }
  await browser.close();
  server.kill("SIGINT");
  console.log(failed === 0 ? "all pass" : `${failed} fail`);
  process.exit(failed === 0 ? 0 : 1);
}

// Where the page's files come from: beside it on a server, or inside it when it is a single file.
declare const SINGLE: boolean;

interface Embedded {
  worker: string;
  files: Record<string, string>; // name: base64 of the file, compressed by gzip
}

function embedded(): Embedded {
  return JSON.parse(document.getElementById("embedded")!.textContent!) as Embedded;
}

const store: Embedded | null = SINGLE ? embedded() : null;

async function unpack(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A file of the studio, or null if there is none of that name.
export async function readFile(name: string): Promise<Uint8Array | null> {
  if (store) return name in store.files ? unpack(store.files[name]) : null;
  const response = await fetch(name);
  return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
}

export async function readModule(): Promise<WebAssembly.Module> {
  const bytes = await readFile("sinew.wasm");
  if (!bytes) throw new Error("The simulation (sinew.wasm) could not be read.");
  return WebAssembly.compile(bytes as BufferSource);
}

export function startWorker(): Worker {
  if (!store) return new Worker("worker.js", { type: "module" });
  return new Worker(URL.createObjectURL(new Blob([store.worker], { type: "text/javascript" })));
}

// The address of a picture, or null.
export function pictureAddress(name: string): string | null {
  if (!store) return name;
  return `raw:${name}` in store.files ? `data:image/webp;base64,${store.files[`raw:${name}`]}` : null;
}

// The smallest module that uses SIMD: a function that returns i8x16.splat(0) lane by lane.
const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

export function hasSimd(): boolean {
  return typeof WebAssembly === "object" && WebAssembly.validate(SIMD);
}

// What draws, in WebGL's own words; null without WebGL 2.
function describeRenderer(): string | null {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return null;
  const extension = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(extension ? extension.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return name;
}

const renderer = typeof document === "object" ? describeRenderer() : null;

export const hasWebGL = (): boolean => renderer !== null;

export const drawsInSoftware = (): boolean => /swiftshader|llvmpipe|software/i.test(renderer ?? "");

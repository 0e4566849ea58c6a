// The core in WebAssembly, with types. Works in a worker of a page and in Node; studio/core/studio.h
// documents the functions behind it.

export interface Material {
  number: number;
  name: string;
  law: string;
  young: number;
  poisson: number;
  density: number;
}

export interface Body {
  name: string;
  model: string;
  vertices: number;
  triangles: number;
  nodes: number;
  elements: number;
  frames: number;
  mass: number;
  volume: number;
  dropped: boolean;
  materials: Material[];
}

export interface Obstacle {
  kind: "plane" | "sphere" | "box" | "capsule" | "other";
  position: [number, number, number];
  rotation: [number, number, number, number];
  size: [number, number, number];
  radius: number;
  length: number;
}

export interface SceneInfo {
  title: string;
  step: number;
  steps: number;
  integrator: string;
  gravity: [number, number, number];
  bodies: Body[];
  obstacles: Obstacle[];
}

export interface Report {
  time: number;
  hash: string;
  kinetic: number;
  elastic: number | null;
  gravity: number;
  momentum: [number, number, number];
  mass: number;
  volume: number;
  restVolume: number;
  smallestJ: number;
  outcome: string;
  newton: number;
  solver: number;
  residual: number;
  assemble: number;
  solve: number;
  total: number;
  contacts: number;
  contactForce: number;
  memory: number;
}

export const COLORS = ["body", "strain", "stress", "speed", "pressure"] as const;
export type Color = (typeof COLORS)[number];

type Exports = Record<string, (...values: number[]) => number> & { memory: WebAssembly.Memory };

const OK = 0;

// A call of the core that failed, with its message.
export class CoreError extends Error {}

export class Core {
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();
  private readonly studio: number;

  private constructor(private readonly wasm: Exports) {
    this.studio = wasm.studio_create(1);
    if (this.studio === 0) throw new CoreError("There is not enough memory for the simulation.");
  }

  static async create(module: WebAssembly.Module): Promise<Core> {
    let memory: WebAssembly.Memory | undefined;
    const clock = (_id: number, _precision: bigint, at: number): number => {
      new DataView(memory!.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    };
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: { clock_time_get: clock },
      env: { emscripten_notify_memory_growth: () => undefined },
    });
    const wasm = instance.exports as unknown as Exports;
    memory = wasm.memory;
    wasm._initialize();
    return new Core(wasm);
  }

  // Reads a text that ends with a zero.
  private text(at: number): string {
    const bytes = new Uint8Array(this.wasm.memory.buffer, at);
    const end = bytes.indexOf(0);
    return this.decoder.decode(bytes.slice(0, end));
  }

  // Calls `use` with the addresses of copies of the texts.
  private withTexts<T>(texts: string[], use: (...at: number[]) => T): T {
    const copies = texts.map((text) => this.copy(this.encoder.encode(text + "\0")));
    try {
      return use(...copies);
    } finally {
      copies.forEach((at) => this.wasm.free(at));
    }
  }

  private copy(bytes: Uint8Array): number {
    const at = this.wasm.malloc(Math.max(bytes.length, 1));
    if (at === 0) throw new CoreError("There is not enough memory for this file.");
    new Uint8Array(this.wasm.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  private check(status: number): void {
    if (status !== OK) throw new CoreError(this.text(this.wasm.studio_get_message(this.studio)));
  }

  private floats(at: number, count: number): Float32Array {
    return new Float32Array(this.wasm.memory.buffer, at, count);
  }

  addFile(name: string, bytes: Uint8Array): void {
    const at = this.copy(bytes);
    try {
      this.withTexts([name], (n) => this.check(this.wasm.studio_add_file(this.studio, n, at, bytes.length)));
    } finally {
      this.wasm.free(at);
    }
  }

  // Loads a scene; a file that it references and that was not added is asked for, and it tries again.
  async load(name: string, settings: string[], fetchFile: (name: string) => Promise<Uint8Array>): Promise<void> {
    const asked = new Set<string>();
    for (;;) {
      const status = this.withTexts([name, settings.join("\n")], (n, s) =>
        this.wasm.studio_load(this.studio, n, s));
      if (status === OK) return;
      const missing = this.text(this.wasm.studio_get_missing_file(this.studio));
      if (missing === "" || asked.has(missing)) this.check(status);
      asked.add(missing);
      this.addFile(missing, await fetchFile(missing));
    }
  }

  describe(): SceneInfo {
    return JSON.parse(this.text(this.wasm.studio_describe(this.studio))) as SceneInfo;
  }

  report(): Report {
    return JSON.parse(this.text(this.wasm.studio_report(this.studio))) as Report;
  }

  get time(): number {
    return this.wasm.studio_get_time(this.studio);
  }

  step(): void {
    this.check(this.wasm.studio_step(this.studio));
  }

  // Views into the memory of the core, valid until its next call.
  update(color: Color): { positions: Float32Array; values: Float32Array } {
    this.check(this.wasm.studio_update(this.studio, COLORS.indexOf(color)));
    const count = this.wasm.studio_get_vertex_count(this.studio);
    return {
      positions: this.floats(this.wasm.studio_get_positions(this.studio), 3 * count),
      values: this.floats(this.wasm.studio_get_values(this.studio), count),
    };
  }

  triangles(body: number): Int32Array {
    const count = this.wasm.studio_get_body_triangle_count(this.studio, body);
    const at = this.wasm.studio_get_body_triangles(this.studio, body);
    return new Int32Array(this.wasm.memory.buffer, at, 3 * count).slice();
  }

  frames(): Float32Array {
    const count = this.wasm.studio_compute_frames(this.studio);
    return this.floats(this.wasm.studio_get_frames(this.studio), 12 * count).slice();
  }

  contacts(): Float32Array {
    const count = this.wasm.studio_compute_contacts(this.studio);
    return this.floats(this.wasm.studio_get_contacts(this.studio), 6 * count).slice();
  }

  obstacles(): Float32Array {
    const count = this.wasm.studio_compute_obstacles(this.studio);
    return this.floats(this.wasm.studio_get_obstacles(this.studio), 7 * count).slice();
  }

  // Returns the number of the body, or -1 if the ray meets none.
  grab(origin: number[], direction: number[], stiffness: number): number {
    const body = this.wasm.studio_grab(this.studio, ...origin, ...direction, stiffness);
    if (body < -1) throw new CoreError(this.text(this.wasm.studio_get_message(this.studio)));
    return body;
  }

  drag(target: number[]): void {
    this.check(this.wasm.studio_drag(this.studio, ...target));
  }

  release(): void {
    this.wasm.studio_release(this.studio);
  }

  setHandStiffness(stiffness: number): void {
    this.check(this.wasm.studio_set_hand_stiffness(this.studio, stiffness));
  }

  hand(): Float64Array {
    return new Float64Array(this.wasm.memory.buffer, this.wasm.studio_get_hand(this.studio), 10).slice();
  }

  takeSnapshot(): Uint8Array {
    const size = this.wasm.studio_get_snapshot_size(this.studio);
    const at = this.wasm.malloc(size);
    if (at === 0) throw new CoreError("There is not enough memory for a snapshot.");
    try {
      this.check(this.wasm.studio_take_snapshot(this.studio, at));
      return new Uint8Array(this.wasm.memory.buffer, at, size).slice();
    } finally {
      this.wasm.free(at);
    }
  }

  restoreSnapshot(bytes: Uint8Array): void {
    const at = this.copy(bytes);
    try {
      this.check(this.wasm.studio_restore_snapshot(this.studio, at, bytes.length));
    } finally {
      this.wasm.free(at);
    }
  }

  setGravity(gravity: number[]): void {
    this.check(this.wasm.studio_set_gravity(this.studio, ...gravity));
  }

  setStep(seconds: number): void {
    this.check(this.wasm.studio_set_step(this.studio, seconds));
  }

  setIntegrator(word: string): void {
    this.withTexts([word], (w) => this.check(this.wasm.studio_set_integrator(this.studio, w)));
  }

  setMaterial(body: number, number: number, constant: string, value: number | string): void {
    const amount = typeof value === "number" ? value : 0;
    const word = typeof value === "string" ? value : "";
    this.withTexts([constant, word], (c, w) =>
      this.check(this.wasm.studio_set_material(this.studio, body, number, c, amount, w)));
  }

  setDamping(body: number, mass: number, stiffness: number): void {
    this.check(this.wasm.studio_set_damping(this.studio, body, mass, stiffness));
  }

  setFloor(on: boolean, height: number): void {
    this.check(this.wasm.studio_set_floor(this.studio, on ? 1 : 0, height));
  }

  addSolid(kind: string, size: number, position: number[]): void {
    this.withTexts([kind], (k) => this.check(this.wasm.studio_add_solid(this.studio, k, size, ...position)));
  }

  removeSolid(): void {
    this.check(this.wasm.studio_remove_solid(this.studio));
  }
}

// The core in WebAssembly, with types. Works in a worker of a page and in Node; studio/core/studio.h
// documents the functions behind it.

export interface Material {
  number: number;
  label: number; // of the elements or voxels made of it; -1: all that have no other
  name: string;
  law: string;
  young: number;
  poisson: number;
  density: number;
}

export interface FrameNode {
  position: [number, number, number]; // at rest [m]
  kind: string;
}

export interface Body {
  name: string;
  model: string;
  vertices: number;
  triangles: number;
  nodes: number;
  elements: number;
  frames: number;
  nodesOfFrames: FrameNode[];
  mass: number;
  volume: number;
  dropped: boolean;
  materials: Material[];
  field: "" | "fibres" | "frames";
}

export interface Obstacle {
  kind: "plane" | "sphere" | "box" | "capsule" | "mesh" | "other";
  position: [number, number, number];
  rotation: [number, number, number, number];
  size: [number, number, number];
  radius: number;
  length: number;
}

export interface SceneInfo {
  title: string;
  unit: number; // metres in the unit of length of the scene
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
  rescued: number;
  residual: number;
  assemble: number;
  solve: number;
  total: number;
  contacts: number;
  contactForce: number;
  memory: number;
}

export const COLORS = ["body", "strain", "stress", "speed", "pressure", "weights", "labels"] as const;
export type Color = (typeof COLORS)[number];

// Colours that stand for things instead of amounts come as red, green and blue.
export const isTint = (color: Color): boolean => color === "weights" || color === "labels";

// Sets of material points, as in studio.h.
export const POINTS = { compared: 0, drawn: 1, field: 2, samples: 3 } as const;
export type PointSet = keyof typeof POINTS;

export interface Tagged {
  positions: Float32Array;
  tags: Int32Array;
}

export interface Picked {
  body: number;
  rest: number[];
  normal: number[];
}

// A curve that guides the grain, in metres and radians.
export interface Curve {
  stroke: boolean;
  points: number[][];
  normal: number[];
  turn: number;
}

export interface NamedFile {
  name: string;
  bytes: Uint8Array;
}

type Exports = Record<string, (...values: number[]) => number> & { memory: WebAssembly.Memory };

const OK = 0;
const BAD_FILE = 8;

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
    // Whatever else the module imports concerns files, and there are none: "bad file number".
    const imports: Record<string, Record<string, (...values: never[]) => number>> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      (imports[from] ??= {})[name] = () => BAD_FILE;
    }
    imports.wasi_snapshot_preview1.clock_time_get = clock;
    const instance = await WebAssembly.instantiate(module, imports);
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

  // The lower and upper corner of a mesh file, z up, in its own unit.
  measureMesh(name: string): number[] {
    const at = this.withTexts([name], (n) => this.wasm.studio_measure_mesh(this.studio, n));
    if (at === 0) throw new CoreError(this.text(this.wasm.studio_get_message(this.studio)));
    return Array.from(new Float64Array(this.wasm.memory.buffer, at, 6));
  }

  // Loads a scene whose files are all here. `carry`: bodies go on from where they were.
  build(name: string, carry: boolean): void {
    this.check(this.withTexts([name, ""], (n, s) => this.wasm.studio_load(this.studio, n, s, carry ? 1 : 0)));
  }

  // Loads a scene; a file that it references and that was not added is asked for, and it tries again.
  async load(name: string, settings: string[], fetchFile: (name: string) => Promise<Uint8Array>): Promise<void> {
    const asked = new Set<string>();
    for (;;) {
      const status = this.withTexts([name, settings.join("\n")], (n, s) =>
        this.wasm.studio_load(this.studio, n, s, 0));
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
  // Values are one number for each vertex, or three if the colour is a tint.
  update(color: Color): { positions: Float32Array; values: Float32Array } {
    this.check(this.wasm.studio_update(this.studio, COLORS.indexOf(color)));
    const count = this.wasm.studio_get_vertex_count(this.studio);
    return {
      positions: this.floats(this.wasm.studio_get_positions(this.studio), 3 * count),
      values: isTint(color)
        ? this.floats(this.wasm.studio_get_tints(this.studio), 3 * count)
        : this.floats(this.wasm.studio_get_values(this.studio), count),
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

  // The surface of an obstacle that is a mesh, or null.
  obstacleMesh(obstacle: number): { positions: Float32Array; triangles: Int32Array } | null {
    const { wasm, studio } = this;
    const vertices = wasm.studio_get_obstacle_vertex_count(studio, obstacle);
    if (vertices === 0) return null;
    const triangles = wasm.studio_get_obstacle_triangle_count(studio, obstacle);
    const { buffer } = wasm.memory;
    return {
      positions: Float32Array.from(new Float64Array(buffer, wasm.studio_get_obstacle_vertices(studio, obstacle), 3 * vertices)),
      triangles: new Int32Array(buffer, wasm.studio_get_obstacle_triangles(studio, obstacle), 3 * triangles).slice(),
    };
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

  // By the rest position of the point [m].
  grabAt(body: number, rest: number[], stiffness: number): void {
    const held = this.wasm.studio_grab_at(this.studio, body, ...rest, stiffness);
    if (held < 0) throw new CoreError(this.text(this.wasm.studio_get_message(this.studio)));
  }

  handRest(): number[] {
    return Array.from(new Float64Array(this.wasm.memory.buffer, this.wasm.studio_get_hand_rest(this.studio), 3));
  }

  pick(origin: number[], direction: number[]): Picked | null {
    const room = this.wasm.malloc(8);
    try {
      const at = this.wasm.studio_pick(this.studio, ...origin, ...direction, room);
      if (at === 0) return null;
      const state = Array.from(new Float64Array(this.wasm.memory.buffer, at, 6));
      const [body] = new Int32Array(this.wasm.memory.buffer, room, 1);
      return { body, rest: state.slice(0, 3), normal: state.slice(3) };
    } finally {
      this.wasm.free(room);
    }
  }

  // Calls `use` with the address of a copy of the numbers.
  private withNumbers<T>(numbers: number[], use: (at: number) => T): T {
    const at = this.copy(new Uint8Array(Float64Array.from(numbers).buffer));
    try {
      return use(at);
    } finally {
      this.wasm.free(at);
    }
  }

  setPoints(set: PointSet, body: number, rest: number[][]): void {
    this.withNumbers(rest.flat(), (at) => this.check(this.wasm.studio_set_points(this.studio, POINTS[set], body, at, rest.length)));
  }

  points(set: PointSet): Tagged {
    const count = this.wasm.studio_compute_points(this.studio, POINTS[set]);
    return {
      positions: this.floats(this.wasm.studio_get_points(this.studio, POINTS[set]), 3 * count).slice(),
      tags: new Int32Array(this.wasm.memory.buffer, this.wasm.studio_get_point_tags(this.studio, POINTS[set]), count).slice(),
    };
  }

  showFields(on: boolean): void {
    this.wasm.studio_show_fields(this.studio, on ? 1 : 0);
  }

  showSamples(on: boolean): void {
    this.wasm.studio_show_samples(this.studio, on ? 1 : 0);
  }

  insertFrame(body: number, rest: number[], range: number): void {
    this.check(this.wasm.studio_insert_frame(this.studio, body, ...rest, range));
  }

  removeFrame(body: number): void {
    this.check(this.wasm.studio_remove_frame(this.studio, body));
  }

  // The field of a body from curves.
  setCurves(body: number, fibres: boolean, curves: Curve[]): void {
    const kept: number[] = [];
    const keep = (numbers: number[]): number => {
      kept.push(this.copy(new Uint8Array(Float64Array.from(numbers).buffer)));
      return kept[kept.length - 1];
    };
    try {
      this.check(this.wasm.studio_begin_field(this.studio, body, fibres ? 1 : 0));
      for (const { stroke, points, normal, turn } of curves) {
        const at = keep(points.flat());
        this.check(this.wasm.studio_add_curve(this.studio, stroke ? 1 : 0, at, points.length, keep(normal), turn));
      }
      this.check(this.wasm.studio_make_field(this.studio));
    } finally {
      kept.forEach((at) => this.wasm.free(at));
    }
  }

  turnCurve(curve: number, turn: number): void {
    this.check(this.wasm.studio_turn_curve(this.studio, curve, turn));
  }

  moveCurve(curve: number, points: number[][]): void {
    this.withNumbers(points.flat(), (at) => this.check(this.wasm.studio_move_curve(this.studio, curve, at, points.length)));
  }

  beginExport(format: "glb" | "skin"): void {
    this.withTexts([format], (f) => this.check(this.wasm.studio_begin_export(this.studio, f)));
  }

  addToExport(): void {
    this.check(this.wasm.studio_add_to_export(this.studio));
  }

  finishExport(): NamedFile[] {
    this.check(this.wasm.studio_finish_export(this.studio));
    const room = this.wasm.malloc(4);
    const files = Array.from({ length: this.wasm.studio_get_export_count(this.studio) }, (_, i) => {
      const at = this.wasm.studio_get_export_data(this.studio, i, room);
      const [size] = new Uint32Array(this.wasm.memory.buffer, room, 1);
      return {
        name: this.text(this.wasm.studio_get_export_name(this.studio, i)),
        bytes: new Uint8Array(this.wasm.memory.buffer, at, size).slice(),
      };
    });
    this.wasm.free(room);
    return files;
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

// One body in several models at once: a core for each, drawn side by side, pulled by one hand, and compared with the most accurate. To
// the simulation the group looks like a single core.
import { Core, type Color, type Curve, type NamedFile, type Picked, type PointSet, type Report, type SceneInfo, type Tagged } from "./core.ts";
import { writeDocument, type Document } from "./document.ts";
import { isolate, MODELS, MODEL_WORDS, setModel, type Model } from "./models.ts";
import type { Compared } from "./protocol.ts";

const COMPARED_POINTS = 80;
const SMOOTHING = 0.1;

interface Member {
  core: Core;
  model: Model;
  offset: number[];
  milliseconds: number;
  failed: string | null;
}

const add = (a: number[], b: number[]): number[] => a.map((x, i) => x + b[i]);
const subtract = (a: number[], b: number[]): number[] => a.map((x, i) => x - b[i]);

// What both a core and a group can do.
export type Engine = Core | Group;

export class Group {
  private held: Member | null = null;
  private size = 1;

  private constructor(private readonly members: Member[]) {}

  // Builds a body of a scene in each model. Models that cannot be built are left out, with the reason.
  static async create(module: WebAssembly.Module, document: Document, body: number, models: Model[], frames: number,
    files: NamedFile[]): Promise<{ group: Group; refused: string[] }> {
    const alone = isolate(document, body);
    const members: Member[] = [];
    const refused: string[] = [];
    for (const model of MODEL_WORDS.filter((m) => models.includes(m))) {
      const core = await Core.create(module);
      try {
        files.forEach((file) => core.addFile(file.name, file.bytes));
        core.addFile("compared.json", writeDocument(setModel(alone, 0, model, frames)));
        core.build("compared.json", false);
        members.push({ core, model, offset: [0, 0, 0], milliseconds: 0, failed: null });
      } catch (error) {
        refused.push(`${MODELS[model]}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (members.length === 0) throw new Error(refused.join(" "));
    const group = new Group(members);
    group.arrange();
    return { group, refused };
  }

  // Side by side as the camera first sees them, around where the body was.
  private arrange(): void {
    const { positions } = this.members[0].core.update("body");
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    positions.forEach((x, i) => {
      low[i % 3] = Math.min(low[i % 3], x);
      high[i % 3] = Math.max(high[i % 3], x);
    });
    const extent = subtract(high, low);
    this.size = Math.hypot(...extent);
    const spacing = 1.15 * extent[0] + 0.12 * this.size;
    this.members.forEach((member, i) => {
      member.offset[0] = (i - (this.members.length - 1) / 2) * spacing;
    });

    // Points of the best model that are in all of them.
    const stride = Math.max(1, Math.floor(positions.length / 3 / COMPARED_POINTS));
    const points: number[][] = [];
    for (let i = 0; i < positions.length / 3; i += stride) points.push(Array.from(positions.slice(3 * i, 3 * i + 3)));
    const rest = this.restOf(points);
    for (const { core } of this.members) core.setPoints("compared", 0, rest);
  }

  // Rest positions of points of the first model, which is at rest where it was placed.
  private restOf(points: number[][]): number[][] {
    const { core } = this.members[0];
    const middle = points.reduce(add, [0, 0, 0]).map((x) => x / points.length);
    return points.flatMap((point) => {
      const outward = subtract(point, middle);
      const origin = add(middle, outward.map((x) => 3 * x));
      const picked = core.pick(origin, outward.map((x) => -x));
      return picked ? [picked.rest] : [];
    });
  }

  private get first(): Core {
    return this.members[0].core;
  }

  private each(act: (core: Core) => void): void {
    this.members.forEach((member) => act(member.core));
  }

  describe(): SceneInfo {
    const infos = this.members.map((m) => m.core.describe());
    return { ...infos[0], bodies: infos.map((info, i) => ({ ...info.bodies[0], name: MODELS[this.members[i].model] })) };
  }

  report(): Report {
    return this.first.report();
  }

  // Under each model: its root mean square distance from the best one, relative to the size of the body, and its time for a step.
  compare(): Compared[] {
    const best = this.first.points("compared").positions;
    return this.members.map(({ core, model, milliseconds, failed, offset }, i) => {
      const { positions } = core.points("compared");
      let sum = 0;
      best.forEach((x, k) => (sum += (positions[k] - x) ** 2));
      const error = Math.sqrt((3 * sum) / Math.max(best.length, 1)) / this.size;
      return { model, name: MODELS[model], best: i === 0, error, milliseconds, failed, offset };
    });
  }

  get time(): number {
    return this.first.time;
  }

  // A model that fails stays as it was; the others go on.
  step(): void {
    for (const member of this.members) {
      if (member.failed) continue;
      const begin = performance.now();
      try {
        member.core.step();
      } catch (error) {
        if (member === this.members[0]) throw error;
        member.failed = error instanceof Error ? error.message : String(error);
      }
      const taken = performance.now() - begin;
      member.milliseconds = member.milliseconds === 0 ? taken : member.milliseconds + SMOOTHING * (taken - member.milliseconds);
    }
  }

  update(color: Color): { positions: Float32Array; values: Float32Array } {
    const parts = this.members.map(({ core, offset }) => {
      const { positions, values } = core.update(color);
      return { positions: positions.map((x, i) => x + offset[i % 3]), values: values.slice() };
    });
    return { positions: join(parts.map((p) => p.positions)), values: join(parts.map((p) => p.values)) };
  }

  triangles(body: number): Int32Array {
    return this.members[body].core.triangles(0);
  }

  // Shifts every third number and the two after it.
  private shifted(read: (core: Core) => Float32Array, stride: number, at: number): Float32Array {
    return join(this.members.map(({ core, offset }) => {
      const values = read(core);
      for (let i = at; i + 2 < values.length; i += stride) for (let k = 0; k < 3; k++) values[i + k] += offset[k];
      return values;
    }));
  }

  frames(): Float32Array {
    return this.shifted((core) => core.frames(), 12, 9);
  }

  contacts(): Float32Array {
    return this.shifted((core) => core.contacts(), 6, 0);
  }

  obstacles(): Float32Array {
    return this.first.obstacles();
  }

  obstacleMesh(obstacle: number): { positions: Float32Array; triangles: Int32Array } | null {
    return this.first.obstacleMesh(obstacle);
  }

  // The nearest model under the cursor; the same point of all the others.
  grab(origin: number[], direction: number[], stiffness: number): number {
    this.held = null;
    let nearest = Infinity;
    for (const member of this.members) {
      if (member.core.grab(subtract(origin, member.offset), direction, stiffness) < 0) continue;
      const point = Array.from(member.core.hand().slice(0, 3));
      const distance = Math.hypot(...subtract(add(point, member.offset), origin));
      if (distance < nearest) {
        nearest = distance;
        this.held = member;
      }
    }
    if (!this.held) return -1;
    const rest = this.held.core.handRest();
    const force = this.held.core.hand()[9];
    this.each((core) => core.grabAt(0, rest, force));
    return this.members.indexOf(this.held);
  }

  drag(target: number[]): void {
    const { held } = this;
    if (held) this.each((core) => core.drag(subtract(target, held.offset)));
  }

  release(): void {
    this.each((core) => core.release());
    this.held = null;
  }

  setHandStiffness(stiffness: number): void {
    this.each((core) => core.setHandStiffness(stiffness));
  }

  hand(): Float64Array {
    if (!this.held) return this.first.hand();
    const state = this.held.core.hand();
    for (let k = 0; k < 3; k++) {
      state[k] += this.held.offset[k];
      state[k + 3] += this.held.offset[k];
    }
    return state;
  }

  pick(origin: number[], direction: number[]): Picked | null {
    for (const [body, member] of this.members.entries()) {
      const picked = member.core.pick(subtract(origin, member.offset), direction);
      if (picked) return { ...picked, body };
    }
    return null;
  }

  points(set: PointSet): Tagged {
    const parts = this.members.map(({ core, offset }) => {
      const { positions, tags } = core.points(set);
      return { positions: positions.map((x, i) => x + offset[i % 3]), tags };
    });
    const tags = new Int32Array(parts.reduce((sum, p) => sum + p.tags.length, 0));
    let at = 0;
    for (const part of parts) {
      tags.set(part.tags, at);
      at += part.tags.length;
    }
    return { positions: join(parts.map((p) => p.positions)), tags };
  }

  showFields(on: boolean): void {
    this.each((core) => core.showFields(on));
  }

  showSamples(on: boolean): void {
    this.each((core) => core.showSamples(on));
  }

  // One after the other, each behind its length.
  takeSnapshot(): Uint8Array {
    const parts = this.members.map((m) => m.core.takeSnapshot());
    const all = new Uint8Array(parts.reduce((sum, p) => sum + 4 + p.length, 0));
    let at = 0;
    for (const part of parts) {
      new DataView(all.buffer).setUint32(at, part.length);
      all.set(part, at + 4);
      at += 4 + part.length;
    }
    return all;
  }

  restoreSnapshot(bytes: Uint8Array): void {
    let at = 0;
    for (const member of this.members) {
      const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
      member.core.restoreSnapshot(bytes.subarray(at + 4, at + 4 + length));
      member.failed = null;
      at += 4 + length;
    }
  }

  setGravity(gravity: number[]): void {
    this.each((core) => core.setGravity(gravity));
  }

  setStep(seconds: number): void {
    this.each((core) => core.setStep(seconds));
  }

  setIntegrator(word: string): void {
    this.each((core) => core.setIntegrator(word));
  }

  // The constants are those of all models; the law is what makes them different.
  setMaterial(_body: number, number: number, constant: string, value: number | string): void {
    if (constant === "law") throw new Error("The models that are compared keep their laws.");
    for (const { core, model } of this.members) if (model !== "positions") core.setMaterial(0, number, constant, value);
  }

  setDamping(_body: number, mass: number, stiffness: number): void {
    for (const { core, model } of this.members) if (model !== "positions") core.setDamping(0, mass, stiffness);
  }

  setFloor(on: boolean, height: number): void {
    this.each((core) => core.setFloor(on, height));
  }

  addSolid(kind: string, size: number, position: number[]): void {
    throw new Error(`A ${kind} of ${size} m at ${position.join(", ")} m cannot fall on models that are compared.`);
  }

  removeSolid(): void {
    throw new Error("Nothing was dropped.");
  }

  insertFrame(): void {
    throw new Error("Frames cannot join while models are compared.");
  }

  setCurves(_body: number, _fibres: boolean, _curves: Curve[]): void {
    throw new Error("Curves cannot be drawn while models are compared.");
  }

  turnCurve(): void {
    throw new Error("Curves cannot turn while models are compared.");
  }

  moveCurve(): void {
    throw new Error("Curves cannot move while models are compared.");
  }

  setPoints(): void {
    // Curves are not shown while models are compared.
  }

  beginExport(format: "glb" | "skin"): void {
    this.each((core) => core.beginExport(format));
  }

  addToExport(): void {
    this.each((core) => core.addToExport());
  }

  finishExport(): NamedFile[] {
    return this.members.flatMap(({ core, model }) => core.finishExport().map((file) => ({ ...file, name: `${model}-${file.name}` })));
  }
}

function join(parts: Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, p) => sum + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

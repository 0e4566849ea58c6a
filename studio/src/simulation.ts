// The simulation: a fixed step with an accumulator, so that the page stays responsive and time stays honest; snapshots to go back to;
// changes that can be taken back.
import { Core, type Curve, type NamedFile, type SceneInfo } from "./core.ts";
import { bake, canCarry, readCurves, readDamping, readDocument, setCurves, writeDocument, type Document } from "./document.ts";
import { edit, type StructuralChange } from "./edit.ts";
import { Group, type Engine } from "./group.ts";
import { History, type Snapshot } from "./history.ts";
import { makeDocument } from "./dropped.ts";
import { findModel } from "./models.ts";
import type { Change, Damping, FromWorker, Grain, Hand, ImageArrays, Look } from "./protocol.ts";

const BUDGET_MS = 12;
const MERGE_MS = 700;
const MOST_EDITS = 50;
const EXPORTED_IMAGES = 200;

type CompareChange = Extract<Change, { kind: "compare" }>;
type CurvesChange = Extract<Change, { kind: "curves" }>;

// How the present world came about: a document, and the changes since it was built.
interface Build {
  text: Uint8Array;
  live: Change[];
  compare: CompareChange | null;
}

// A change, the change that takes it back (null: the scene is built again), and what was before it.
interface Edit {
  change: Change;
  inverse: Change | null;
  build: Build;
  before: Uint8Array;
  rebuilt: boolean;
  at: number;
}

export const post = (message: FromWorker, transfer: Transferable[] = []): void =>
  (self as unknown as Worker).postMessage(message, transfer);

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// A core that ran out of memory or trapped cannot be trusted any more.
const isFatal = (error: unknown): boolean =>
  error instanceof WebAssembly.RuntimeError || error instanceof RangeError;

// Whether a change needs the scene to be built again.
const isStructural = (change: Change, info: SceneInfo): boolean =>
  ["model", "frames", "paint"].includes(change.kind)
  || (change.kind === "curves" && (info.bodies[change.body]?.field === "" || change.curves.length === 0));

export class Simulation {
  private core!: Core;
  private engine!: Engine;
  private name = "";
  private files = new Map<string, Uint8Array>();
  private build: Build = { text: new Uint8Array(), live: [], compare: null };
  private document: Document | null = null;
  private info!: SceneInfo;
  private damping: Damping[] = [];
  private floor = { on: false, height: 0 };
  private curves: Grain | null = null; // as the core has them
  private grainBody = -1;
  private grainMs: number | null = null;
  private loaded = false;

  private playing = true;
  private speed = 1;
  private owed = 0;
  private last = 0;
  private windows: { at: number; steps: number; simulated: number }[] = [];

  private look: Look = { color: "body", frames: false, contacts: false, edges: false, fields: false, samples: false };
  private handStiffness = 0;
  private held = false;

  private readonly history = new History();
  private start: Snapshot | null = null;
  private undos: Edit[] = [];
  private redos: Edit[] = [];

  private wantsImage = true;
  private dirty = true;
  private spare: ImageArrays | null = null;
  private statisticsAt = 0;
  private waiting = new Map<string, (bytes: Uint8Array | null) => void>();

  constructor(private readonly module: WebAssembly.Module) {}

  async begin(): Promise<void> {
    this.core = await Core.create(this.module);
    this.engine = this.core;
    post({ type: "ready" });
    this.loop();
  }

  receiveFile(name: string, bytes: Uint8Array | null): void {
    this.waiting.get(name)?.(bytes);
    this.waiting.delete(name);
  }

  private fetchFile = async (name: string): Promise<Uint8Array> => {
    const bytes = await new Promise<Uint8Array | null>((resolve) => {
      this.waiting.set(name, resolve);
      post({ type: "need", name });
    });
    if (!bytes) throw new Error(`The scene needs the file “${name}”, which is not here. Drop it together with the scene.`);
    this.files.set(name, bytes);
    return bytes;
  };

  async load(name: string, bytes: Uint8Array, settings: string[]): Promise<void> {
    post({ type: "loading", name });
    this.loaded = false;
    try {
      this.core.addFile(name, bytes);
      await this.core.load(name, settings, this.fetchFile);
    } catch (error) {
      await this.recover(error, "load");
      return;
    }
    const fresh = name !== this.name;
    this.name = name;
    this.engine = this.core;
    this.build = { text: bytes, live: [], compare: null };
    this.undos = [];
    this.redos = [];
    this.begun(false);
    this.describeScene(fresh);
  }

  // A mesh or a character: a scene is made of it.
  async loadMesh(name: string, files: NamedFile[], frames: number): Promise<void> {
    try {
      for (const file of files) {
        this.core.addFile(file.name, file.bytes);
        this.files.set(file.name, file.bytes);
      }
      const mesh = files.find((file) => file.name === name)!;
      const motion = files.find((file) => /\.bvh$/i.test(file.name));
      const document = makeDocument(mesh, motion?.name ?? null, this.core.measureMesh(name), frames);
      await this.load(`${name.replace(/\.\w+$/, "")}.json`, writeDocument(document), []);
    } catch (error) {
      await this.recover(error, "load");
    }
  }

  // A world that was just built.
  private begun(carried: boolean): void {
    this.loaded = true;
    this.held = false;
    this.floor = { on: false, height: 0 };
    this.curves = null;
    this.grainMs = null;
    this.owed = 0;
    this.document = readDocument(this.build.text);
    this.info = this.engine.describe();
    this.damping = readDamping(this.document, this.info.bodies.length);
    this.forget();
    this.start = carried ? null : this.present();
  }

  // Builds a scene again. `carry`: bodies go on from where they were.
  private async open(build: Build, carry: boolean): Promise<void> {
    this.loaded = false;
    const { compare } = build;
    if (compare) {
      const document = readDocument(build.text);
      if (!document) throw new Error("This scene cannot be read by the page.");
      const files = [...this.files].map(([name, bytes]) => ({ name, bytes }));
      const { group, refused } = await Group.create(this.module, document, compare.body, compare.models, compare.frames, files);
      if (refused.length > 0) post({ type: "note", message: refused.join(" ") });
      this.engine = group;
    } else {
      this.core.addFile(this.name, build.text);
      this.core.build(this.name, carry);
      this.engine = this.core;
    }
    this.build = { ...build, live: [] };
    this.begun(carry);
    for (const change of build.live) this.applyLive(change);
    this.forget();
  }

  private describeScene(fresh: boolean): void {
    this.info = this.engine.describe();
    while (this.damping.length < this.info.bodies.length) this.damping.push({ mass: 0, stiffness: 0.004 });
    this.damping.length = this.info.bodies.length;
    const triangles = this.info.bodies.map((_, body) => this.engine.triangles(body));
    const obstacleMeshes = this.info.obstacles.map((_, i) => this.engine.obstacleMesh(i));
    const model = this.info.bodies.map((body, i) => findModel(this.document?.bodies[i] ?? {}, body.materials[0]?.law ?? ""));
    this.updateOverlays();
    post({
      type: "scene", name: this.name, info: this.info, damping: this.damping, triangles, fresh, model, obstacleMeshes,
      grain: this.grain(), comparing: this.build.compare !== null,
    }, triangles.map((t) => t.buffer));
    this.spare = null;
    this.wantsImage = true;
    this.dirty = true;
    this.statisticsAt = 0;
  }

  // Points that follow the bodies are made again when these or their fields have changed.
  private updateOverlays(): void {
    this.engine.showFields(this.look.fields);
    this.engine.showSamples(this.look.samples);
    const grain = this.grain();
    const points = grain ? grain.curves.flatMap((c) => c.points) : [];
    try {
      this.engine.setPoints("drawn", Math.max(this.grainBody, 0), points);
    } catch {
      this.engine.setPoints("drawn", 0, []);
    }
    this.dirty = true;
  }

  // The curves of the body whose grain is edited.
  private grain(): Grain | null {
    const body = this.grainBody;
    if (body < 0 || !this.document || this.build.compare || !this.info.bodies[body] || this.info.bodies[body].dropped) return null;
    if (this.curves?.body === body) return this.curves;
    return { body, fibres: this.info.bodies[body].field === "fibres", curves: readCurves(this.document, body, this.info.unit) };
  }

  showGrain(body: number): void {
    this.grainBody = body;
    if (this.loaded) this.describeScene(false);
  }

  // After a failure of the core itself a new one takes over, without a scene.
  async recover(error: unknown, what: "load" | "change" | "export"): Promise<void> {
    if (!isFatal(error)) {
      this.loaded = this.name !== "";
      post({ type: "failed", what, message: describe(error) });
      return;
    }
    this.core = await Core.create(this.module);
    this.engine = this.core;
    this.loaded = false;
    this.name = "";
    post({ type: "failed", what: "memory", message: describe(error) });
  }

  private present = (): Snapshot => ({ time: this.engine.time, bytes: this.engine.takeSnapshot() });

  private forget(): void {
    this.history.begin(this.present());
  }

  seek(share: number): void {
    if (!this.loaded) return;
    this.letGo();
    this.engine.restoreSnapshot(this.history.seek(share, this.present).bytes);
    this.owed = 0;
    this.dirty = true;
    this.statisticsAt = 0;
  }

  private advance(): boolean {
    this.history.branch();
    try {
      this.engine.step();
    } catch (error) {
      this.playing = false;
      this.dirty = true;
      post({ type: "diverged", message: describe(error), canGoBack: true });
      return false;
    }
    if (!this.held && this.history.isDue(this.engine.time)) this.history.add(this.present());
    this.dirty = true;
    return true;
  }

  private loop = (): void => {
    const now = performance.now();
    const elapsed = Math.min((now - this.last) / 1000, 0.1);
    this.last = now;

    // Take as many steps as time has passed, as far as they fit; what does not fit is given up, and
    // the rate says so.
    let steps = 0;
    if (this.playing && this.loaded) {
      this.owed += elapsed * this.speed;
      while (this.owed >= this.info.step && (steps === 0 || performance.now() - now < BUDGET_MS)) {
        if (!this.advance()) break;
        this.owed -= this.info.step;
        steps++;
      }
      this.owed = Math.min(this.owed, this.info.step);
    }

    this.measure(steps);
    this.sendImage();
    this.sendStatistics();
    setTimeout(this.loop, this.playing && this.loaded ? 1 : 15);
  };

  private measure(steps: number): void {
    const at = performance.now();
    this.windows.push({ at, steps, simulated: steps * (this.info?.step ?? 0) });
    while (this.windows[0].at < at - 1000) this.windows.shift();
  }

  private sendImage(): void {
    if (!this.loaded || !this.wantsImage || !this.dirty) return;
    const { engine, look } = this;
    const view = engine.update(look.color);
    const fits = this.spare?.positions.length === view.positions.length && this.spare.values.length === view.values.length;
    const image = fits && this.spare ? this.spare : {
      positions: new Float32Array(view.positions.length),
      values: new Float32Array(view.values.length),
    };
    image.positions.set(view.positions);
    image.values.set(view.values);
    this.spare = null;
    this.wantsImage = false;
    this.dirty = false;
    post({
      type: "image",
      image,
      frames: look.frames ? engine.frames() : null,
      contacts: look.contacts ? engine.contacts() : null,
      fields: look.fields ? engine.points("field") : null,
      samples: look.samples ? engine.points("samples") : null,
      drawn: this.grainBody >= 0 ? engine.points("drawn").positions : null,
      obstacles: engine.obstacles(),
      hand: this.hand(),
      time: engine.time,
    }, [image.positions.buffer, image.values.buffer]);
  }

  private hand(): Hand | null {
    if (!this.held) return null;
    const state = Array.from(this.engine.hand());
    return { point: state.slice(0, 3), target: state.slice(3, 6), force: state.slice(6, 9), stiffness: state[9] };
  }

  private sendStatistics(): void {
    const at = performance.now();
    if (!this.loaded || at - this.statisticsAt < 200) return;
    this.statisticsAt = at;
    const span = Math.max((at - this.windows[0].at) / 1000, 1e-3);
    const steps = this.windows.reduce((sum, w) => sum + w.steps, 0);
    const simulated = this.windows.reduce((sum, w) => sum + w.simulated, 0);
    const { time } = this.engine;
    post({
      type: "statistics",
      statistics: {
        report: this.engine.report(),
        rate: simulated / span,
        stepsPerSecond: steps / span,
        playing: this.playing,
        compared: this.engine instanceof Group ? this.engine.compare() : null,
        grainMs: this.grainMs,
        history: { first: this.history.first, last: Math.max(this.history.last, time), now: time },
        undo: this.undos.length,
        redo: this.redos.length,
      },
    });
  }

  drawn(image: ImageArrays | null): void {
    this.spare = image;
    this.wantsImage = true;
  }

  play(playing: boolean): void {
    this.playing = playing;
    this.owed = 0;
    this.statisticsAt = 0;
  }

  stepOnce(): void {
    this.playing = false;
    if (this.loaded) this.advance();
    this.statisticsAt = 0;
  }

  setSpeed(value: number): void {
    this.speed = value;
  }

  setLook(look: Look): void {
    const before = this.look;
    this.look = look;
    this.dirty = true;
    if (this.loaded && (before.fields !== look.fields || before.samples !== look.samples)) this.updateOverlays();
  }

  // Back to the start, with the materials and settings as they are now and without what was dropped.
  async reset(): Promise<void> {
    if (!this.loaded) return;
    this.letGo();
    const kept = this.build.live.filter((c) => !["drop", "undrop", "insert"].includes(c.kind));
    try {
      if (!this.start || kept.length < this.build.live.length) throw new Error("another world than at the start");
      this.engine.restoreSnapshot(this.start.bytes);
      this.forget();
    } catch {
      if (kept.length < this.build.live.length) this.undos = this.redos = [];
      await this.open({ ...this.build, live: kept }, false);
      this.describeScene(false);
    }
    this.owed = 0;
    this.dirty = true;
    this.statisticsAt = 0;
  }

  grab(origin: number[], direction: number[]): void {
    if (!this.loaded) return;
    this.history.branch();
    try {
      const body = this.engine.grab(origin, direction, this.handStiffness);
      this.held = body >= 0;
      if (this.held) post({ type: "grabbed", body });
    } catch (error) {
      post({ type: "failed", what: "grab", message: describe(error) });
    }
    this.dirty = true;
  }

  drag(target: number[]): void {
    if (!this.held) return;
    this.engine.drag(target);
    this.dirty = true;
  }

  letGo(): void {
    if (!this.held) return;
    this.engine.release();
    this.held = false;
    this.dirty = true;
  }

  setHand(stiffness: number): void {
    this.handStiffness = stiffness;
    if (this.held && stiffness > 0) this.engine.setHandStiffness(stiffness);
  }

  pick(id: number, origin: number[], direction: number[]): void {
    post({ type: "picked", id, picked: this.loaded ? this.engine.pick(origin, direction) : null });
  }

  // What would take a change back; null: only building the scene again does.
  private invert(change: Change): Change | null {
    switch (change.kind) {
      case "gravity": return { kind: "gravity", value: this.info.gravity };
      case "step": return { kind: "step", value: this.info.step };
      case "integrator": return { kind: "integrator", value: this.info.integrator };
      case "material": {
        const material = this.info.bodies[change.body].materials.find((m) => m.number === change.number);
        const key = change.constant as "young" | "poisson" | "density" | "law";
        return { ...change, value: material![key] };
      }
      case "damping": return { kind: "damping", body: change.body, ...this.damping[change.body] };
      case "floor": return { kind: "floor", ...this.floor };
      case "drop": return { kind: "undrop" };
      default: return null;
    }
  }

  // Changes of the running world.
  private applyLive(change: Change): void {
    const { engine } = this;
    switch (change.kind) {
      case "gravity": engine.setGravity(change.value); break;
      case "step": engine.setStep(change.value); break;
      case "integrator": engine.setIntegrator(change.value); break;
      case "material": engine.setMaterial(change.body, change.number, change.constant, change.value); break;
      case "damping":
        engine.setDamping(change.body, change.mass, change.stiffness);
        this.damping[change.body] = { mass: change.mass, stiffness: change.stiffness };
        break;
      case "floor":
        engine.setFloor(change.on, change.height);
        this.floor = { on: change.on, height: change.height };
        break;
      case "drop": engine.addSolid(change.solid, change.size, change.position); break;
      case "undrop": engine.removeSolid(); break;
      case "insert": engine.insertFrame(change.body, change.rest, change.range); break;
      case "curves": this.applyCurves(change); break;
      default: throw new Error("This change builds the scene again.");
    }
    this.build = { ...this.build, live: [...this.build.live, change] };
  }

  // Curves that only rotated or moved keep what was factored for them.
  private applyCurves(change: CurvesChange): void {
    const before = this.curves?.body === change.body ? this.curves.curves : null;
    const same = (a: Curve, b: Curve): boolean =>
      a.stroke === b.stroke && a.points.length === b.points.length && String(a.normal) === String(b.normal);
    const kept = before?.length === change.curves.length && change.curves.every((c, i) => same(c, before[i]));
    const begin = performance.now();
    if (kept) {
      change.curves.forEach((curve, i) => {
        if (String(curve.points) !== String(before[i].points)) this.engine.moveCurve(i, curve.points);
        if (curve.turn !== before[i].turn) this.engine.turnCurve(i, curve.turn);
      });
    } else {
      this.engine.setCurves(change.body, change.fibres, change.curves);
    }
    this.grainMs = performance.now() - begin;
    this.curves = { body: change.body, fibres: change.fibres, curves: change.curves };
  }

  // The scene as it is now.
  private bakeDocument(): Document {
    if (!this.document) throw new Error("This scene cannot be read by the page.");
    const baked = bake(this.document, this.info, this.damping, this.floor);
    const { curves } = this;
    if (curves) setCurves(baked, curves.body, curves.fibres, curves.curves, this.info.bodies[curves.body], this.info.unit);
    return baked;
  }

  private async apply(change: Change): Promise<void> {
    if (change.kind === "compare") {
      const text = this.build.compare ? this.build.text : writeDocument(this.bakeDocument());
      const live = this.build.live.filter((c) => c.kind === "gravity");
      await this.open({ text, live, compare: change.models.length > 0 ? change : null }, false);
      return;
    }
    if (!isStructural(change, this.info)) {
      this.applyLive(change);
      return;
    }
    if (this.build.compare) throw new Error("Stop comparing models first.");
    const document = edit(this.bakeDocument(), change as StructuralChange, this.info);
    const live = this.build.live.filter((c) => c.kind === "drop" || c.kind === "undrop");
    await this.open({ text: writeDocument(document), live, compare: null }, canCarry(document));
  }

  // What a change leaves of the past, and of the page's knowledge of the scene.
  private changed(change: Change, rebuilt: boolean): void {
    if (change.kind === "curves" && !rebuilt) {
      this.updateOverlays();
      this.statisticsAt = 0;
      return;
    }
    if (change.kind !== "gravity" && change.kind !== "damping") this.forget();
    this.describeScene(false);
  }

  async change(change: Change): Promise<void> {
    if (!this.loaded) return;
    this.letGo();
    this.history.branch();
    const { build, engine } = this;
    const at = performance.now();
    const rebuilt = isStructural(change, this.info);
    try {
      const inverse = this.invert(change);
      const before = engine.takeSnapshot();
      await this.apply(change);
      // One movement of a slider or of the mouse is one change. What was built for the first time, such as a curve, is another one.
      const latest = this.undos[this.undos.length - 1];
      const isOne = latest && at - latest.at < MERGE_MS && latest.rebuilt === rebuilt;
      if (isOne && targetOf(change) !== "" && targetOf(latest.change) === targetOf(change)) {
        latest.change = change;
        latest.at = at;
        this.build = { ...this.build, live: [...latest.build.live, change] };
      } else {
        this.undos.push({ change, inverse, build, before, rebuilt, at });
        if (this.undos.length > MOST_EDITS) this.undos.shift();
      }
      this.redos = [];
    } catch (error) {
      this.build = build;
      this.engine = engine;
      await this.recover(error, "change");
      if (this.loaded) this.describeScene(false);
      return;
    }
    this.changed(change, rebuilt);
  }

  async undo(): Promise<void> {
    const latest = this.undos.pop();
    if (!latest) return;
    this.letGo();
    try {
      if (latest.inverse) {
        this.applyLive(latest.inverse);
        this.build = latest.build;
      } else {
        await this.open(latest.build, false);
      }
      this.engine.restoreSnapshot(latest.before);
    } catch (error) {
      await this.recover(error, "change");
    }
    this.redos.push(latest);
    this.forget();
    this.describeScene(false);
  }

  async redo(): Promise<void> {
    const latest = this.redos.pop();
    if (!latest) return;
    this.letGo();
    try {
      latest.before = this.engine.takeSnapshot();
      latest.build = this.build;
      await this.apply(latest.change);
    } catch (error) {
      await this.recover(error, "change");
    }
    this.undos.push(latest);
    this.changed(latest.change, true);
  }

  // The scene as a file, or its past as an animation.
  async export(what: "scene" | "glb" | "skin"): Promise<void> {
    if (!this.loaded) return;
    this.letGo();
    try {
      const name = `${this.name.replace(/\.json$/, "")}.json`;
      const files = what === "scene" ? [{ name, bytes: writeDocument(this.bakeDocument()) }] : this.exportPast(what);
      if (files.length === 0) throw new Error("Only bodies of frames have skins. Choose such a model for the body first.");
      post({ type: "exported", files });
    } catch (error) {
      await this.recover(error, "export");
    }
  }

  // Null if the scene is as it was loaded.
  share(): void {
    const changed = this.build.live.length > 0 || this.undos.length > 0;
    post({ type: "shared", scene: changed && this.loaded && this.document ? writeDocument(this.bakeDocument()) : null });
  }

  private exportPast(what: "glb" | "skin"): NamedFile[] {
    const present = this.present();
    try {
      this.engine.beginExport(what);
      const past = this.history.all.filter((s) => s.time < present.time).slice(-EXPORTED_IMAGES);
      for (const snapshot of [...past, present]) {
        this.engine.restoreSnapshot(snapshot.bytes);
        this.engine.addToExport();
      }
      return this.engine.finishExport();
    } finally {
      this.engine.restoreSnapshot(present.bytes);
    }
  }

  // Exactly so many steps from here, for tests and measurements; paused afterwards.
  run(id: number, steps: number): void {
    this.playing = false;
    for (let i = 0; i < steps; i++) {
      if (!this.advance()) break;
    }
    const positions = this.engine.update(this.look.color).positions.slice();
    post({ type: "ran", id, report: this.engine.report(), positions }, [positions.buffer]);
  }
}

// What a change is about; changes of the same thing in quick succession are one. Empty: never.
function targetOf(change: Change): string {
  switch (change.kind) {
    case "gravity": case "step": case "integrator": return change.kind;
    case "material": return `material ${change.body} ${change.number} ${change.constant}`;
    case "damping": return `damping ${change.body}`;
    case "curves": return `curves ${change.body} ${change.curves.length}`;
    default: return "";
  }
}

// The simulation, off the page's thread: a fixed step with an accumulator, so that the page stays
// responsive and time stays honest; snapshots to go back to; changes that can be taken back.
import { Core, type Color, type SceneInfo } from "./core.ts";
import type { Change, Damping, FromWorker, Hand, ImageArrays, ToWorker } from "./protocol.ts";

const HISTORY_BYTES = 96 * 2 ** 20;
const HISTORY_SECONDS = 1 / 20;
const BUDGET_MS = 12;
const MERGE_MS = 700;

interface Snapshot {
  time: number;
  bytes: Uint8Array;
}

interface Edit {
  undo: Change;
  redo: Change;
  before: Uint8Array;
  at: number;
}

const post = (message: FromWorker, transfer: Transferable[] = []): void =>
  (self as unknown as Worker).postMessage(message, transfer);

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// A core that ran out of memory or trapped cannot be trusted any more.
const isFatal = (error: unknown): boolean =>
  error instanceof WebAssembly.RuntimeError || error instanceof RangeError;

// The damping of each body as its scene has it; scenes may contain comments.
function readDamping(bytes: Uint8Array, count: number): Damping[] {
  const text = new TextDecoder().decode(bytes).replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[^]*?\*\//g, "$1");
  let bodies: { damping?: Partial<Damping> | number }[] = [];
  try {
    bodies = (JSON.parse(text) as { bodies?: typeof bodies }).bodies ?? [];
  } catch {
    // The core has read it; only its damping stays unknown to the panel.
  }
  return Array.from({ length: count }, (_, i) => {
    const damping = bodies[i]?.damping;
    return typeof damping === "object" ? { mass: damping.mass ?? 0, stiffness: damping.stiffness ?? 0 } : { mass: 0, stiffness: 0 };
  });
}

class Simulation {
  private core!: Core;
  private name = "";
  private scene: Uint8Array = new Uint8Array();
  private settings: string[] = [];
  private info!: SceneInfo;
  private damping: Damping[] = [];
  private floor = false;
  private loaded = false;

  private playing = true;
  private speed = 1;
  private owed = 0;
  private last = 0;
  private windows: { at: number; steps: number; simulated: number }[] = [];

  private color: Color = "body";
  private showFrames = false;
  private showContacts = false;
  private handStiffness = 0;
  private held = false;

  private history: Snapshot[] = [];
  private now = -1; // the snapshot we went back to; -1: the present
  private start: Snapshot | null = null;
  private drops = 0;
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
    this.scene = bytes;
    this.settings = settings;
    this.undos = [];
    this.redos = [];
    this.begun();
    this.describeScene(fresh);
  }

  // A new scene, or the same one again from its start.
  private begun(): void {
    this.loaded = true;
    this.held = false;
    this.drops = 0;
    this.floor = false;
    this.owed = 0;
    this.info = this.core.describe();
    this.damping = readDamping(this.scene, this.info.bodies.length);
    this.forget();
    this.start = this.history[0];
  }

  private describeScene(fresh: boolean): void {
    this.info = this.core.describe();
    while (this.damping.length < this.info.bodies.length) this.damping.push({ mass: 0, stiffness: 0.004 });
    this.damping.length = this.info.bodies.length;
    const triangles = this.info.bodies.map((_, body) => this.core.triangles(body));
    post({ type: "scene", name: this.name, info: this.info, damping: this.damping, triangles, fresh },
      triangles.map((t) => t.buffer));
    this.spare = null;
    this.wantsImage = true;
    this.dirty = true;
    this.statisticsAt = 0;
  }

  // After a failure of the core itself a new one takes over, without a scene.
  private async recover(error: unknown, what: "load" | "change"): Promise<void> {
    if (!isFatal(error)) {
      this.loaded = this.name !== "";
      post({ type: "failed", what, message: describe(error) });
      return;
    }
    this.core = await Core.create(this.module);
    this.loaded = false;
    this.name = "";
    post({ type: "failed", what: "memory", message: describe(error) });
  }

  // Snapshots of another world do not fit any more: begin again with the present.
  private forget(): void {
    this.history = [{ time: this.core.time, bytes: this.core.takeSnapshot() }];
    this.now = -1;
  }

  private remember(): void {
    const time = this.core.time;
    if (time < this.history[this.history.length - 1].time + HISTORY_SECONDS - 1e-9 || this.held) return;
    const bytes = this.core.takeSnapshot();
    this.history.push({ time, bytes });
    const capacity = Math.max(8, Math.floor(HISTORY_BYTES / bytes.length));
    if (this.history.length > capacity) this.history.splice(0, this.history.length - capacity);
  }

  seek(share: number): void {
    if (!this.loaded || this.history.length === 0) return;
    this.letGo();
    if (this.now < 0) this.history.push({ time: this.core.time, bytes: this.core.takeSnapshot() });
    const first = this.history[0].time;
    const wanted = first + share * (this.history[this.history.length - 1].time - first);
    let best = 0;
    this.history.forEach((s, i) => {
      if (Math.abs(s.time - wanted) < Math.abs(this.history[best].time - wanted)) best = i;
    });
    this.core.restoreSnapshot(this.history[best].bytes);
    this.now = best;
    this.owed = 0;
    this.dirty = true;
    this.statisticsAt = 0;
  }

  // From a past state the future is made again.
  private branch(): void {
    if (this.now < 0) return;
    this.history.length = this.now + 1;
    this.now = -1;
  }

  private advance(): boolean {
    this.branch();
    try {
      this.core.step();
    } catch (error) {
      this.playing = false;
      this.dirty = true;
      post({ type: "diverged", message: describe(error), canGoBack: this.history.length > 0 });
      return false;
    }
    this.remember();
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
    const view = this.core.update(this.color);
    const fits = this.spare?.positions.length === view.positions.length;
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
      frames: this.showFrames ? this.core.frames() : null,
      contacts: this.showContacts ? this.core.contacts() : null,
      obstacles: this.core.obstacles(),
      hand: this.hand(),
      time: this.core.time,
    }, [image.positions.buffer, image.values.buffer]);
  }

  private hand(): Hand | null {
    if (!this.held) return null;
    const state = Array.from(this.core.hand());
    return { point: state.slice(0, 3), target: state.slice(3, 6), force: state.slice(6, 9), stiffness: state[9] };
  }

  private sendStatistics(): void {
    const at = performance.now();
    if (!this.loaded || at - this.statisticsAt < 200) return;
    this.statisticsAt = at;
    const span = Math.max((at - this.windows[0].at) / 1000, 1e-3);
    const steps = this.windows.reduce((sum, w) => sum + w.steps, 0);
    const simulated = this.windows.reduce((sum, w) => sum + w.simulated, 0);
    const last = this.history[this.history.length - 1].time;
    const time = this.core.time;
    post({
      type: "statistics",
      statistics: {
        report: this.core.report(),
        rate: simulated / span,
        stepsPerSecond: steps / span,
        playing: this.playing,
        history: { first: this.history[0].time, last: Math.max(last, time), now: time },
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

  look(color: Color, frames: boolean, contacts: boolean): void {
    this.color = color;
    this.showFrames = frames;
    this.showContacts = contacts;
    this.dirty = true;
  }

  // Back to the start, with the materials and settings as they are now and without what was dropped.
  async reset(): Promise<void> {
    if (!this.loaded || !this.start) return;
    this.letGo();
    const { step, integrator } = this.info;
    try {
      if (this.drops > 0 || this.floor) throw new Error("other bodies than at the start");
      this.core.restoreSnapshot(this.start.bytes);
      this.forget();
    } catch {
      await this.reload(step, integrator);
    }
    this.owed = 0;
    this.dirty = true;
    this.statisticsAt = 0;
  }

  // Builds the scene again and repeats the changes that are in force.
  private async reload(step: number, integrator: string): Promise<void> {
    const { info, damping, floor } = this;
    await this.core.load(this.name, this.settings, this.fetchFile);
    this.begun();
    const start = this.start;
    const count = this.info.bodies.length;
    info.bodies.slice(0, count).forEach((body, i) => {
      for (const material of body.materials) {
        for (const constant of ["young", "poisson", "density", "law"] as const) {
          const before = this.info.bodies[i].materials.find((m) => m.number === material.number)?.[constant];
          if (before !== material[constant]) this.core.setMaterial(i, material.number, constant, material[constant]);
        }
      }
      const { mass, stiffness } = damping[i];
      if (mass !== this.damping[i].mass || stiffness !== this.damping[i].stiffness) this.core.setDamping(i, mass, stiffness);
    });
    this.core.setGravity(info.gravity);
    if (step !== this.info.step) this.core.setStep(step);
    if (integrator !== this.info.integrator) this.core.setIntegrator(integrator);
    if (floor) this.core.setFloor(true, this.floorHeight);
    this.floor = floor;
    this.damping = damping.slice(0, count);
    this.undos = [];
    this.redos = [];
    this.forget();
    this.start = start;
    this.describeScene(false);
  }

  private floorHeight = 0;

  grab(origin: number[], direction: number[]): void {
    if (!this.loaded) return;
    this.branch();
    try {
      const body = this.core.grab(origin, direction, this.handStiffness);
      this.held = body >= 0;
      if (this.held) post({ type: "grabbed", body });
    } catch (error) {
      post({ type: "failed", what: "grab", message: describe(error) });
    }
    this.dirty = true;
  }

  drag(target: number[]): void {
    if (!this.held) return;
    this.core.drag(target);
    this.dirty = true;
  }

  letGo(): void {
    if (!this.held) return;
    this.core.release();
    this.held = false;
    this.dirty = true;
  }

  setHand(stiffness: number): void {
    this.handStiffness = stiffness;
    if (this.held && stiffness > 0) this.core.setHandStiffness(stiffness);
  }

  // What would take a change back.
  private invert(change: Change): Change {
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
      case "floor": return { kind: "floor", on: this.floor, height: this.floorHeight };
      case "drop": return { kind: "undrop" };
      case "undrop": throw new Error("a body that was taken away cannot come back");
    }
  }

  private apply(change: Change): void {
    const { core } = this;
    switch (change.kind) {
      case "gravity": core.setGravity(change.value); break;
      case "step": core.setStep(change.value); break;
      case "integrator": core.setIntegrator(change.value); break;
      case "material": core.setMaterial(change.body, change.number, change.constant, change.value); break;
      case "damping":
        core.setDamping(change.body, change.mass, change.stiffness);
        this.damping[change.body] = { mass: change.mass, stiffness: change.stiffness };
        break;
      case "floor":
        core.setFloor(change.on, change.height);
        this.floor = change.on;
        this.floorHeight = change.height;
        break;
      case "drop":
        core.addSolid(change.solid, change.size, change.position);
        this.drops++;
        break;
      case "undrop":
        core.removeSolid();
        this.drops--;
        break;
    }
  }

  change(change: Change): void {
    if (!this.loaded) return;
    const hadHand = this.held && change.kind !== "gravity";
    if (hadHand) this.letGo();
    const at = performance.now();
    try {
      const undo = this.invert(change);
      const before = this.core.takeSnapshot();
      this.apply(change);
      // One movement of a slider is one change.
      const latest = this.undos[this.undos.length - 1];
      if (latest && latest.redo.kind === change.kind && at - latest.at < MERGE_MS && sameTarget(latest.redo, change)) {
        latest.redo = change;
        latest.at = at;
      } else {
        this.undos.push({ undo, redo: change, before, at });
        if (this.undos.length > 50) this.undos.shift();
      }
      this.redos = [];
    } catch (error) {
      void this.recover(error, "change");
      this.describeScene(false);
      return;
    }
    this.changed(change);
  }

  private changed(change: Change): void {
    if (change.kind !== "gravity" && change.kind !== "damping") this.forget();
    this.describeScene(false);
  }

  undo(): void {
    const edit = this.undos.pop();
    if (!edit) return;
    this.letGo();
    try {
      this.apply(edit.undo);
      this.core.restoreSnapshot(edit.before);
    } catch (error) {
      void this.recover(error, "change");
    }
    this.redos.push(edit);
    this.forget();
    this.describeScene(false);
  }

  redo(): void {
    const edit = this.redos.pop();
    if (!edit) return;
    this.letGo();
    try {
      edit.before = this.core.takeSnapshot();
      this.apply(edit.redo);
    } catch (error) {
      void this.recover(error, "change");
    }
    this.undos.push(edit);
    this.changed(edit.redo);
  }

  // Exactly so many steps from here, for tests and measurements; paused afterwards.
  run(id: number, steps: number): void {
    this.playing = false;
    for (let i = 0; i < steps; i++) {
      if (!this.advance()) break;
    }
    const positions = this.core.update(this.color).positions.slice();
    post({ type: "ran", id, report: this.core.report(), positions }, [positions.buffer]);
  }
}

function sameTarget(a: Change, b: Change): boolean {
  if (a.kind === "drop" || a.kind === "undrop" || a.kind === "floor") return false;
  if (a.kind === "material" && b.kind === "material") {
    return a.body === b.body && a.number === b.number && a.constant === b.constant;
  }
  return a.kind !== "damping" || (b.kind === "damping" && a.body === b.body);
}

// Messages that arrive before the core is ready wait for it.
let start: (simulation: Simulation) => void;
const simulation = new Promise<Simulation>((resolve) => (start = resolve));

self.onmessage = async (event: MessageEvent<ToWorker>): Promise<void> => {
  const message = event.data;
  if (message.type === "start") {
    const made = new Simulation(message.module);
    await made.begin();
    start(made);
    return;
  }
  const s = await simulation;
  switch (message.type) {
    case "load": await s.load(message.name, message.bytes, message.settings); break;
    case "file": s.receiveFile(message.name, message.bytes); break;
    case "play": s.play(message.playing); break;
    case "step": s.stepOnce(); break;
    case "reset": await s.reset(); break;
    case "speed": s.setSpeed(message.value); break;
    case "seek": s.seek(message.share); break;
    case "grab": s.grab(message.origin, message.direction); break;
    case "drag": s.drag(message.target); break;
    case "release": s.letGo(); break;
    case "hand": s.setHand(message.stiffness); break;
    case "look": s.look(message.color, message.frames, message.contacts); break;
    case "change": s.change(message.change); break;
    case "undo": s.undo(); break;
    case "redo": s.redo(); break;
    case "run": s.run(message.id, message.steps); break;
    case "drawn": s.drawn(message.image); break;
  }
};

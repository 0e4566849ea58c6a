// The settings: the hand, the look, the world and the material of a body.
import type { Body, Color, Material, SceneInfo } from "./core.ts";
import { button, check, element, make, select, slider } from "./dom.ts";
import { digits, withUnit } from "./numbers.ts";
import { ISOTROPIC } from "./document.ts";
import { hasFrames, MODELS, MODEL_WORDS, type Model } from "./models.ts";
import type { Change, Damping, Look } from "./protocol.ts";

export const INTEGRATORS = ["implicit-euler", "newton-euler", "symplectic-euler", "newmark", "midpoint", "bdf2"];

export const LEGENDS: Record<Color, { name: string; unit: string }> = {
  body: { name: "Bodies", unit: "" },
  strain: { name: "Strain", unit: "" },
  stress: { name: "Von Mises stress", unit: "Pa" },
  speed: { name: "Speed", unit: "m/s" },
  pressure: { name: "Contact pressure", unit: "Pa" },
  weights: { name: "Weights of the frames", unit: "" },
  labels: { name: "Layers and tissues", unit: "" },
};

export interface PanelActions {
  change: (change: Change) => void;
  look: (look: Look) => void;
  hand: (stiffness: number) => void;
  drop: (solid: "cube" | "ball") => void;
  floor: (on: boolean) => void;
  floorOn: () => boolean;
  compare: (on: boolean) => void;
  selected: (body: number) => void;
}

export class Panel {
  readonly look: Look = { color: "body", frames: false, contacts: false, edges: false, fields: false, samples: false };
  private selected = 0;
  private info: SceneInfo | null = null;
  private damping: Damping[] = [];
  private model: Model[] = [];
  private comparing = false;

  constructor(private readonly actions: PanelActions) {
    this.showTouch();
    this.showLook();
  }

  private showTouch(): void {
    // At the left end the stiffness follows from the body.
    const show = (v: number): string => (v < 1 ? "fits the body" : withUnit(v, "N/m"));
    element("touch").replaceChildren(
      slider({ id: "hand", name: "Stiffness of the hand", low: 0.5, high: 1e9, value: 0.5, logarithmic: true, show, change: (v) => this.actions.hand(v < 1 ? 0 : v) }),
      make("div", { className: "row" }, [
        button("Drop a cube", () => this.actions.drop("cube"), "drop-cube"),
        button("Drop a ball", () => this.actions.drop("ball"), "drop-ball"),
      ]));
  }

  showLook(): void {
    const { look } = this;
    const update = (part: Partial<Look>): void => {
      Object.assign(look, part);
      this.actions.look(look);
    };
    const colors = Object.keys(LEGENDS) as Color[];
    const picker = make("select", { id: "color" }, colors.map((c) => make("option", { value: c, textContent: LEGENDS[c].name })));
    picker.value = look.color;
    picker.addEventListener("change", () => update({ color: picker.value as Color }));
    element("look").replaceChildren(
      make("div", { className: "field" }, [make("label", { htmlFor: "color", textContent: "Colour" }), picker]),
      check("Mesh", look.edges, (edges) => update({ edges }), "edges"),
      check("Frames", look.frames, (frames) => update({ frames }), "frames"),
      check("Contact forces", look.contacts, (contacts) => update({ contacts }), "contacts"),
      check("Grain", look.fields, (fields) => update({ fields }), "fields"),
      check("Samples", look.samples, (samples) => update({ samples }), "samples"));
  }

  get body(): number {
    return this.selected;
  }

  select(body: number): void {
    if (body === this.selected) return;
    this.selected = body;
    this.showBody();
    this.actions.selected(body);
  }

  setScene(info: SceneInfo, damping: Damping[], model: Model[], comparing: boolean, fresh: boolean): void {
    // A slider that is being moved must not be replaced under the finger.
    const busy = !fresh && document.activeElement instanceof HTMLInputElement && element("panel").contains(document.activeElement)
      && info.bodies.length === this.info?.bodies.length;
    this.info = info;
    this.damping = damping;
    this.model = model;
    this.comparing = comparing;
    if (fresh || this.selected >= info.bodies.length) this.selected = 0;
    if (busy) return;
    this.showWorld();
    this.showBody();
  }

  private showWorld(): void {
    const { info, actions } = this;
    if (!info) return;
    const strength = Math.hypot(...info.gravity);
    // Tilted about the view's depth and sideways; the angle is zero when it points down.
    let size = strength;
    let tilt = strength > 0 ? (Math.atan2(info.gravity[0], -info.gravity[2]) * 180) / Math.PI : 0;
    const set = (): void => {
      const angle = (tilt * Math.PI) / 180;
      actions.change({ kind: "gravity", value: [size * Math.sin(angle), 0, -size * Math.cos(angle)] });
    };
    element("world").replaceChildren(
      slider({ id: "gravity", name: "Gravity", low: 0, high: 25, value: size, show: (v) => `${v.toFixed(2)} m/s²`, change: (v) => { size = v; set(); } }),
      slider({ id: "tilt", name: "Tilt", low: -180, high: 180, value: tilt, show: (v) => `${v.toFixed(0)}°`, change: (v) => { tilt = v; set(); } }),
      slider({ id: "dt", name: "Step", low: 0.0005, high: 0.05, value: info.step, logarithmic: true, show: (v) => `${digits(1000 * v)} ms`, change: (value) => actions.change({ kind: "step", value }) }),
      select("Integrator", INTEGRATORS, info.integrator, (value) => actions.change({ kind: "integrator", value }), "integrator"),
      check("Floor", actions.floorOn(), (on) => actions.floor(on), "floor"));
  }

  private showBody(): void {
    const { info, actions } = this;
    const body = info?.bodies[this.selected];
    if (!info || !body) {
      element("body").replaceChildren();
      return;
    }
    const picker = make("select", { id: "which" }, info.bodies.map((b, i) => make("option", { value: String(i), textContent: b.name })));
    picker.value = String(this.selected);
    picker.addEventListener("change", () => this.select(Number(picker.value)));
    const size = body.frames > 0 ? `${body.frames} frames` : `${body.elements} elements`;
    const damping = this.damping[this.selected] ?? { mass: 0, stiffness: 0 };
    const fields: HTMLElement[] = [
      make("div", { className: "field" }, [make("label", { htmlFor: "which", textContent: "Body" }), picker]),
      make("p", { className: "note", textContent: `${body.model}, ${size}, ${withUnit(1000 * body.mass, "g")}` }),
      ...this.modelFields(body),
      ...body.materials.flatMap((m) => this.materialFields(m, body.materials.length > 1)),
      slider({ id: "damping", name: "Damping of strain", low: 1e-5, high: 0.2, value: Math.max(damping.stiffness, 1e-5), logarithmic: true,
        show: (v) => (v <= 1.01e-5 ? "none" : `${digits(1000 * v)} ms`),
        change: (v) => actions.change({ kind: "damping", body: this.selected, mass: damping.mass, stiffness: v <= 1.01e-5 ? 0 : v }) }),
    ];
    element("body").replaceChildren(...fields);
  }

  // The model, the number of its frames, and the comparison with others.
  private modelFields(body: Body): HTMLElement[] {
    const { actions, selected } = this;
    if (this.comparing) return [button("Stop comparing", () => actions.compare(false), "stop-comparing")];
    if (body.dropped) return [];
    const now = this.model[selected];
    const picker = make("select", { id: "model" }, MODEL_WORDS.map((m) => make("option", { value: m, textContent: MODELS[m] })));
    picker.value = now;
    const count = body.frames || 8;
    const change = (model: Model, frames: number): void => actions.change({ kind: "model", body: selected, model, frames });
    picker.addEventListener("change", () => change(picker.value as Model, body.frames > 0 ? 0 : count));
    const fields: HTMLElement[] = [make("div", { className: "field" }, [make("label", { htmlFor: "model", textContent: "Model" }), picker])];
    if (hasFrames(now)) {
      fields.push(slider({ id: "frame-count", name: "Number of frames", low: 1, high: 40, value: count, whole: true, settled: true,
        show: (v) => v.toFixed(0), change: (v) => change(now, v) }));
    }
    return [...fields, button("Compare models…", () => actions.compare(true), "compare-models")];
  }

  private materialFields(material: Material, named: boolean): HTMLElement[] {
    const body = this.selected;
    const set = (constant: string) => (value: number | string): void =>
      this.actions.change({ kind: "material", body, number: material.number, constant, value });
    const fields: HTMLElement[] = [];
    if (named) fields.push(make("p", { className: "note", textContent: material.name }));
    if (!ISOTROPIC.includes(material.law)) {
      fields.push(make("p", { className: "note", textContent: `${material.law} law, with its own constants` }));
      return fields;
    }
    const id = (name: string): string => `${name}-${material.number}`;
    fields.push(
      select("Law", ISOTROPIC, material.law, set("law"), id("law")),
      slider({ id: id("young"), name: "Young’s modulus", low: 1e3, high: 1e10, value: material.young, logarithmic: true, show: (v) => withUnit(v, "Pa"), change: set("young") }),
      slider({ id: id("poisson"), name: "Poisson’s ratio", low: 0, high: 0.495, value: material.poisson, show: (v) => v.toFixed(3), change: set("poisson") }),
      slider({ id: id("density"), name: "Density", low: 10, high: 10000, value: material.density, logarithmic: true, show: (v) => `${digits(v)} kg/m³`, change: set("density") }));
    return fields;
  }
}

// Tools that edit a body with the mouse: frames, paint and grain. The pointer is theirs while one is chosen; "pull" leaves it to the hand.
import type { Curve, FrameNode, Picked, SceneInfo } from "./core.ts";
import { button, dial, element, make, select, slider } from "./dom.ts";
import type { Change, Grain, Paint } from "./protocol.ts";
import type { View } from "./view.ts";

export type Tool = "pull" | "frames" | "insert" | "paint" | "grain";

const NAMES: Record<Tool, string> = {
  pull: "Pull", frames: "Add, move and delete frames", insert: "Insert a frame where I touch", paint: "Paint a part", grain: "Draw the grain",
};
const HINTS: Record<Tool, string> = {
  pull: "",
  frames: "Click a body to add a frame, drag a frame to move it, press Delete to remove the last one you touched.",
  insert: "Click a body of frames: a frame joins there while it moves.",
  paint: "Click a body of frames: a ball of it becomes another tissue.",
  grain: "Draw a stroke on a body. Drag a point of a curve to move it.",
};
const REACH = 14; // pixels within which a frame or a point is meant
const MOST_POINTS = 6; // of a curve that was drawn

export interface ToolActions {
  change: (change: Change) => void;
  pick: (x: number, y: number) => Promise<Picked | null>;
  chosen: (tool: Tool) => void;
  body: () => number;
}

// Evenly chosen points of a stroke, ends included.
function thin(points: number[][]): number[][] {
  const count = Math.min(points.length, MOST_POINTS);
  return Array.from({ length: count }, (_, i) => points[Math.round((i * (points.length - 1)) / (count - 1))]);
}

// The solution of A x = b for the axes of a frame, by Cramer's rule.
function solve(columns: number[][], b: number[]): number[] {
  const cross = (u: number[], v: number[]): number[] => [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const dot = (u: number[], v: number[]): number => u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
  const [p, q, r] = columns;
  const determinant = dot(p, cross(q, r));
  if (Math.abs(determinant) < 1e-9) return b;
  return [dot(b, cross(q, r)), dot(p, cross(b, r)), dot(p, cross(q, b))].map((x) => x / determinant);
}

export class Tools {
  tool: Tool = "pull";
  selected = -1; // the control point or frame that was touched last
  private info: SceneInfo | null = null;
  private grain: Grain | null = null;
  private frames: Float32Array | null = null;
  private drawn: Float32Array | null = null;
  private range = 0.35;
  private radius = 0.15;
  private how: Paint = "rigid";
  private stroke: number[][] | null = null;
  private strokeBody = -1;
  private moving: { index: number; from: number[] } | null = null;
  private pending = false;
  private shown = ""; // the curves that the panel has controls for

  constructor(private readonly view: View, private readonly actions: ToolActions) {
    view.canvas.parentElement!.addEventListener("pointerdown", this.down, { capture: true });
    window.addEventListener("pointermove", this.move);
    window.addEventListener("pointerup", this.up);
    this.show();
  }

  get showsGrain(): boolean {
    return this.tool === "grain";
  }

  setScene(info: SceneInfo, grain: Grain | null): void {
    this.info = info;
    this.grain = grain;
    // Controls that are in use must not be replaced under the finger.
    if (`${grain?.body} ${grain?.curves.length}` !== this.shown) {
      this.selected = -1;
      this.show();
    }
  }

  setMarks(frames: Float32Array | null, drawn: Float32Array | null): void {
    this.frames = frames;
    this.drawn = drawn;
  }

  setSolveTime(ms: number | null): void {
    const output = document.getElementById("grain-ms");
    if (output) output.textContent = ms === null ? "" : `Solved again in ${ms.toFixed(1)} ms`;
  }

  choose(tool: Tool): void {
    this.tool = tool;
    this.selected = -1;
    this.stroke = this.moving = null;
    this.view.setGlass(tool === "frames" || tool === "insert");
    this.show();
    this.actions.chosen(tool);
  }

  private show(): void {
    this.shown = `${this.grain?.body} ${this.grain?.curves.length}`;
    const words = Object.keys(NAMES) as Tool[];
    const picker = make("select", { id: "tool" }, words.map((t) => make("option", { value: t, textContent: NAMES[t] })));
    picker.value = this.tool;
    picker.addEventListener("change", () => this.choose(picker.value as Tool));
    element("edit").replaceChildren(
      make("div", { className: "field" }, [make("label", { htmlFor: "tool", textContent: "Tool" }), picker]),
      make("p", { className: "note", textContent: HINTS[this.tool] }),
      ...this.fields());
  }

  private fields(): HTMLElement[] {
    const percent = (v: number): string => `${(100 * v).toFixed(0)} % of the body`;
    switch (this.tool) {
      case "frames": return [button("Delete frame", () => this.remove(), "delete-frame")];
      case "insert": return [slider({ id: "insert-range", name: "Range", low: 0.05, high: 1, value: this.range, show: percent, change: (v) => (this.range = v) })];
      case "paint": return [
        select("Makes it", ["rigid", "softer", "stiffer"], this.how, (word) => (this.how = word as Paint), "paint-how"),
        slider({ id: "paint-radius", name: "Radius", low: 0.02, high: 0.5, value: this.radius, show: percent, change: (v) => (this.radius = v) })];
      case "grain": return this.grainFields();
      default: return [];
    }
  }

  private grainFields(): HTMLElement[] {
    const curves = this.grain?.curves ?? [];
    if (curves.length === 0) return [];
    const curve = this.selectedCurve();
    return [
      dial({ id: "turn", name: `Turn of the frames of curve ${curve + 1}`, value: curves[curve].turn, change: (turn) => this.setCurve(curve, { turn }) }),
      make("output", { id: "grain-ms", className: "note" }),
      make("div", { className: "row" }, [button("Remove curve", () => this.setCurves(curves.filter((_, i) => i !== curve)), "remove-curve")])];
  }

  // The curve of the point that was touched last; the last curve if there is none.
  private selectedCurve(): number {
    const curves = this.grain?.curves ?? [];
    const [curve] = this.locate(this.selected) ?? [curves.length - 1];
    return curve;
  }

  private locate(point: number): [curve: number, point: number] | null {
    if (point < 0) return null;
    let first = 0;
    for (const [i, curve] of (this.grain?.curves ?? []).entries()) {
      if (point < first + curve.points.length) return [i, point - first];
      first += curve.points.length;
    }
    return null;
  }

  private setCurves(curves: Curve[]): void {
    if (!this.grain) return;
    this.grain = { ...this.grain, curves };
    this.actions.change({ kind: "curves", body: this.grain.body, fibres: this.grain.fibres, curves });
  }

  private setCurve(index: number, part: Partial<Curve>): void {
    this.setCurves(this.grain!.curves.map((curve, i) => (i === index ? { ...curve, ...part } : curve)));
  }

  // The mark nearest to the pointer, if it is within reach.
  private nearest(positions: Float32Array | null, stride: number, at: number, event: PointerEvent): number {
    let best = -1;
    let distance = REACH;
    for (let i = 0; positions && i < positions.length / stride; i++) {
      const mark = this.view.project(Array.from(positions.slice(stride * i + at, stride * i + at + 3)));
      const away = Math.hypot(mark.x - event.clientX, mark.y - event.clientY);
      if (away < distance) {
        distance = away;
        best = i;
      }
    }
    return best;
  }

  private down = (event: PointerEvent): void => {
    if (this.tool === "pull" || event.target !== this.view.canvas || event.button !== 0) return;
    const mark = this.tool === "frames" ? this.nearest(this.frames, 12, 9, event) : this.tool === "grain" ? this.nearest(this.drawn, 3, 0, event) : -1;
    const hit = this.view.pick(event.clientX, event.clientY);
    if (mark < 0 && !hit) return; // rotates the view
    event.stopPropagation();
    this.view.controls.enabled = false;
    if (mark >= 0) {
      this.select(mark);
      const from = this.tool === "frames" ? Array.from(this.frames!.slice(12 * mark + 9, 12 * mark + 12)) : [];
      this.moving = { index: mark, from };
    } else if (this.tool === "grain") {
      this.stroke = [];
      this.strokeBody = -1;
      void this.extend(event.clientX, event.clientY);
    } else {
      void this.click(event.clientX, event.clientY);
    }
  };

  private select(mark: number): void {
    this.selected = mark;
    this.show();
  }

  private async click(x: number, y: number): Promise<void> {
    const picked = await this.actions.pick(x, y);
    const body = picked ? this.info?.bodies[picked.body] : undefined;
    if (!picked || !body) return;
    const size = 2 * Math.cbrt(body.volume);
    if (this.tool === "insert") this.actions.change({ kind: "insert", body: picked.body, rest: picked.rest, range: this.range * size });
    if (this.tool === "paint") this.actions.change({ kind: "paint", body: picked.body, center: picked.rest, radius: this.radius * size, how: this.how });
    if (this.tool === "frames") this.addFrame(picked, body.nodesOfFrames, size);
  }

  // A little below the surface.
  private addFrame(picked: Picked, nodes: FrameNode[], size: number): void {
    const position = picked.rest.map((x, k) => x - 0.04 * size * picked.normal[k]) as [number, number, number];
    const kind = nodes[0]?.kind ?? "affine";
    this.actions.change({ kind: "frames", body: picked.body, nodes: [...nodes, { position, kind }] });
  }

  // Which frame of which body a number among all frames stands for.
  private frameOf(index: number): { body: number; node: number } | null {
    let first = 0;
    for (const [body, { frames }] of (this.info?.bodies ?? []).entries()) {
      if (index < first + frames) return { body, node: index - first };
      first += frames;
    }
    return null;
  }

  // The frame that was touched last goes.
  remove(): void {
    const frame = this.tool === "frames" && this.selected >= 0 ? this.frameOf(this.selected) : null;
    if (!frame || !this.info) return;
    const nodes = this.info.bodies[frame.body].nodesOfFrames.filter((_, i) => i !== frame.node);
    this.selected = -1;
    this.actions.change({ kind: "frames", body: frame.body, nodes });
  }

  private move = (event: PointerEvent): void => {
    if (this.stroke) void this.extend(event.clientX, event.clientY);
    if (this.moving && this.tool === "grain") void this.movePoint(event.clientX, event.clientY);
  };

  // One request at a time: the page asks again when the answer has come.
  private async extend(x: number, y: number): Promise<void> {
    if (this.pending) return;
    this.pending = true;
    const picked = await this.actions.pick(x, y);
    this.pending = false;
    if (!picked || !this.stroke || (this.strokeBody >= 0 && picked.body !== this.strokeBody)) return;
    this.strokeBody = picked.body;
    const last = this.stroke[this.stroke.length - 1];
    const least = 0.02 * Math.cbrt(this.info?.bodies[picked.body]?.volume ?? 1);
    if (!last || Math.hypot(...picked.rest.map((v, k) => v - last[k])) > least) this.stroke.push(picked.rest);
  }

  private async movePoint(x: number, y: number): Promise<void> {
    const place = this.moving ? this.locate(this.moving.index) : null;
    if (this.pending || !place || !this.grain) return;
    this.pending = true;
    const picked = await this.actions.pick(x, y);
    this.pending = false;
    if (!picked || picked.body !== this.grain.body) return;
    const [curve, point] = place;
    const points = this.grain.curves[curve].points.map((p, i) => (i === point ? picked.rest : p));
    this.setCurve(curve, { points });
  }

  private up = (event: PointerEvent): void => {
    if (this.tool === "pull") return;
    this.view.controls.enabled = true;
    const { moving, stroke } = this;
    this.moving = this.stroke = null;
    if (moving && this.tool === "frames") this.moveFrame(moving, event);
    if (stroke && stroke.length >= 2 && this.grain && this.strokeBody === this.grain.body) {
      const curve: Curve = { stroke: false, points: thin(stroke), normal: [0, 0, 0], turn: 0 };
      this.setCurves([...this.grain.curves, curve]);
    } else if (stroke && this.strokeBody >= 0 && this.strokeBody !== this.grain?.body) {
      this.actions.chosen(this.tool);
    }
  };

  // In the plane of the picture; its axes take the displacement back to the rest shape.
  private moveFrame(moving: { index: number; from: number[] }, event: PointerEvent): void {
    const frame = this.frameOf(moving.index);
    const origin = this.view.camera.position.clone().fromArray(moving.from);
    const target = this.view.onPlane(event.clientX, event.clientY, origin);
    if (!frame || !target || !this.frames || !this.info) return;
    const displacement = target.sub(origin).toArray();
    if (Math.hypot(...displacement) < 1e-3 * this.view.extent) return;
    const columns = [0, 1, 2].map((axis) => Array.from(this.frames!.slice(12 * moving.index + 3 * axis, 12 * moving.index + 3 * axis + 3)));
    const back = solve(columns, displacement);
    const nodes = this.info.bodies[frame.body].nodesOfFrames.map((node, i) =>
      (i === frame.node ? { ...node, position: node.position.map((x, k) => x + back[k]) as [number, number, number] } : node));
    this.actions.change({ kind: "frames", body: frame.body, nodes });
  }
}

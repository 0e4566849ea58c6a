// Changes of a scene's document: those that need the scene to be built again.
import type { SceneInfo } from "./core.ts";
import { asObject, setCurves, setFrames, type Document, type JsonObject } from "./document.ts";
import { setModel } from "./models.ts";
import type { Change, Paint } from "./protocol.ts";

export type StructuralChange = Extract<Change, { kind: "model" | "frames" | "paint" | "curves" }>;

const YOUNG: Record<Paint, number> = { rigid: 1, softer: 0.15, stiffer: 8 };

// A solid as the only one of a list, so that others can be painted over it.
function listSolids(shape: JsonObject): JsonObject {
  if (shape.kind === undefined && !shape.size) return { ...shape };
  const { kind, center, size, thickness, ...rest } = shape;
  const solid: JsonObject = { kind: kind ?? "box" };
  if (center) solid.center = center;
  if (size) solid.size = size;
  if (thickness) solid.thickness = thickness;
  return { ...rest, solids: [solid] };
}

// A ball inside a body of frames becomes a tissue of its own.
function paint(document: Document, change: Extract<Change, { kind: "paint" }>, info: SceneInfo): void {
  const body = document.bodies[change.body];
  if (body.model !== "frames") throw new Error("Only bodies of frames can be painted. Choose such a model for this body first.");
  const shape = listSolids(asObject(body.shape));
  const solids = Array.isArray(shape.solids) ? shape.solids : [];
  const used = [1, ...solids.map((s) => Number(asObject(s).label ?? 1)), ...info.bodies[change.body].materials.map((m) => m.label)];
  const label = Math.max(...used) + 1;
  const across = (2 * change.radius) / info.unit;
  shape.solids = [...solids, { kind: "sphere", operation: "paint", label, center: change.center.map((x) => x / info.unit), size: [across, across, across] }];
  body.shape = shape;

  // Its material, and a frame of its own if it is rigid.
  const base = asObject(body.material);
  body.materials = { ...asObject(body.materials), [label]: { ...base, young: Number(base.young ?? 1e6) * YOUNG[change.how] } };
  if (change.how !== "rigid") return;
  const frames = { ...asObject(body.frames) };
  frames.tissues = { ...asObject(frames.tissues), [label]: { rigid: true } };
  frames.count = info.bodies[change.body].frames + 1;
  body.frames = frames;
}

// The document after a change; `document` is a copy that may be changed.
export function edit(document: Document, change: StructuralChange, info: SceneInfo): Document {
  switch (change.kind) {
    case "model": return setModel(document, change.body, change.model, change.frames);
    case "frames": setFrames(document, change.body, change.nodes, info.unit); break;
    case "paint": paint(document, change, info); break;
    case "curves": setCurves(document, change.body, change.fibres, change.curves, info.bodies[change.body], info.unit); break;
  }
  return document;
}

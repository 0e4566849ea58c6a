// The models that a body can have, from the most accurate to the roughest, and how a scene says so.
import { asObject, copyDocument, type Document, type JsonObject } from "./document.ts";

export const MODELS = {
  hyperelastic: "Hyperelastic elements",
  corotational: "Corotational elements",
  warped: "Warped elements",
  linear: "Linear elements",
  quadratic: "Quadratic frames",
  affine: "Affine frames",
  rigid: "Rigid frames",
  springs: "Springs between frames",
  positions: "Position dynamics",
} as const;
export type Model = keyof typeof MODELS;
export const MODEL_WORDS = Object.keys(MODELS) as Model[];

const LAWS: Partial<Record<Model, string>> = { hyperelastic: "stable-neo-hookean", corotational: "corotational", warped: "linear", linear: "linear" };

// Weights that are solved in a moment, and accept frames wherever a person puts them.
export const WEIGHTS = { kind: "voronoi", adopt_unreached: true, adopt_outside: true };

export const hasFrames = (model: Model): boolean => ["quadratic", "affine", "rigid", "springs"].includes(model);

// What a body of a scene is now.
export function findModel(body: JsonObject, law: string): Model {
  if (body.model === "positions") return "positions";
  if (body.model === "warped" || body.model === "warped-edges") return "warped";
  if (body.model === "frames") {
    const frames = asObject(body.frames);
    if (frames.springs === true) return "springs";
    const kind = String(frames.kind ?? "rigid");
    return kind === "affine" || kind === "quadratic" ? kind : "rigid";
  }
  if (law === "linear") return "linear";
  return law === "corotational" ? "corotational" : "hyperelastic";
}

function setLaw(body: JsonObject, law: string): void {
  const change = (material: JsonObject): JsonObject =>
    (material.law === "orthotropic" || material.law === "transverse" ? material : { ...material, law });
  body.material = change(asObject(body.material));
  if (!body.materials) return;
  const materials = asObject(body.materials);
  body.materials = Object.fromEntries(Object.entries(materials).map(([label, m]) => [label, change(asObject(m))]));
}

// Shapes that voxels and tets share; sizes that only one of them knows go.
function setFrameModel(body: JsonObject, model: Model, count: number): void {
  const before = asObject(body.frames);
  body.model = "frames";
  body.frames = {
    resolution: 28,
    ...before,
    kind: model === "springs" ? "rigid" : model,
    springs: model === "springs",
    weights: { ...WEIGHTS, ...asObject(before.weights) },
  };
  const frames = asObject(body.frames);
  if (model === "quadratic") asObject(frames.weights).kind = "spectral";
  else if (asObject(frames.weights).kind === "spectral") asObject(frames.weights).kind = "voronoi";
  if (count > 0) {
    frames.count = count;
    delete frames.nodes;
  }
  if (model === "springs") delete frames.blend;
  const shape = { ...asObject(body.shape) };
  for (const key of ["element", "cells", "cell", "tets_per_cell"]) delete shape[key];
  if (typeof shape.file === "string") {
    shape.surfaces = [{ file: shape.file }];
    delete shape.file;
    delete shape.tets;
  }
  body.shape = shape;
}

function setElementModel(body: JsonObject, model: Model): void {
  delete body.frames;
  const shape = { ...asObject(body.shape) };
  const surfaces = Array.isArray(shape.surfaces) ? shape.surfaces.map(asObject) : [];
  if (surfaces.length === 1) {
    shape.file = surfaces[0].file;
    delete shape.surfaces;
  }
  if ((shape.file || shape.solids) && !shape.tets) shape.tets = 2500;
  body.shape = shape;
  if (model === "positions") {
    body.model = "positions";
    body.positions = { mode: "compliance", iterations: 20, ...asObject(body.positions) };
    return;
  }
  delete body.positions;
  body.model = model === "warped" ? "warped" : "elastic";
  setLaw(body, LAWS[model]!);
}

// A scene in which a body has another model; with `count` frames, or with those it has if that is 0.
export function setModel(document: Document, index: number, model: Model, count: number): Document {
  const changed = copyDocument(document);
  const body = changed.bodies[index];
  if (hasFrames(model)) setFrameModel(body, model, count);
  else setElementModel(body, model);
  return changed;
}

// A body alone in its scene, to be compared with itself in other models.
export function isolate(document: Document, index: number): Document {
  const alone = copyDocument(document);
  alone.bodies = [alone.bodies[index]];
  for (const key of ["attachments", "joints", "probes", "output", "preview"]) delete alone[key];
  return alone;
}

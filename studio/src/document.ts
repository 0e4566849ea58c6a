// Scenes as documents: JSON that the page edits and the program can run.
import type { Body, Curve, FrameNode, Material, SceneInfo } from "./core.ts";
import type { Damping } from "./protocol.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Document extends JsonObject {
  bodies: JsonObject[];
}

export const ISOTROPIC = ["linear", "st-venant-kirchhoff", "corotational", "neo-hookean", "stable-neo-hookean", "mooney-rivlin", "arruda-boyce"];

const isObject = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

export const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

// Scenes may contain comments. Null if it is no scene; the core says why.
export function readDocument(bytes: Uint8Array): Document | null {
  const text = new TextDecoder().decode(bytes).replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[^]*?\*\//g, "$1");
  try {
    const document = JSON.parse(text) as Json;
    return isObject(document) && Array.isArray(document.bodies) ? (document as Document) : null;
  } catch {
    return null;
  }
}

export const writeDocument = (document: Document): Uint8Array => new TextEncoder().encode(`${JSON.stringify(document, null, 1)}\n`);

export const copyDocument = (document: Document): Document => structuredClone(document);

// The damping of each body as its scene has it.
export function readDamping(document: Document | null, count: number): Damping[] {
  return Array.from({ length: count }, (_, i) => {
    const { mass, stiffness } = asObject(document?.bodies[i]?.damping);
    return { mass: Number(mass ?? 0), stiffness: Number(stiffness ?? 0) };
  });
}

// Whether bodies may go on from where they were when the scene is built again: not if something moves them by the clock, which starts
// again.
export function canCarry(document: Document): boolean {
  return !document.skeletons && !/"(scripted|motion)"\s*:/.test(JSON.stringify(document));
}

// A material as an object of its own, whether it was named or written in place.
function resolveMaterial(document: Document, value: Json | undefined): JsonObject {
  if (typeof value === "string") return { ...asObject(asObject(document.materials)[value]) };
  return { ...asObject(value) };
}

// The material of a body as it is now; anisotropic laws keep their own constants.
function bakeMaterial(document: Document, value: Json | undefined, now: Material): JsonObject {
  const material = resolveMaterial(document, value);
  if (!ISOTROPIC.includes(now.law)) return { ...material, density: now.density };
  delete material.preset;
  return { ...material, law: now.law, young: now.young, poisson: now.poisson, density: now.density };
}

function bakeBody(document: Document, body: JsonObject, now: Body, damping: Damping | undefined): void {
  for (const material of now.materials) {
    if (material.label < 0) {
      body.material = bakeMaterial(document, body.material, material);
      continue;
    }
    const materials = asObject(body.materials);
    const key = String(material.label);
    body.materials = { ...materials, [key]: bakeMaterial(document, materials[key] ?? body.material, material) };
  }
  if (damping && (damping.mass > 0 || damping.stiffness > 0)) body.damping = { ...damping };
  else delete body.damping;
}

export interface Floor {
  on: boolean;
  height: number;
}

// What was changed while the scene ran becomes part of it.
export function bake(document: Document, info: SceneInfo, damping: Damping[], floor: Floor): Document {
  const baked = copyDocument(document);
  baked.gravity = [...info.gravity];
  baked.step = info.step;
  baked.integrator = info.integrator;
  baked.bodies.forEach((body, i) => {
    const now = info.bodies[i];
    if (now && body.model !== "positions" && body.model !== "rigid") bakeBody(baked, body, now, damping[i]);
  });
  if (floor.on) baked.contact = { ...asObject(baked.contact), ground: { height: floor.height / info.unit } };
  return baked;
}

// The frames of a body, listed one by one.
export function setFrames(document: Document, body: number, nodes: FrameNode[], unit: number): void {
  const frames = { ...asObject(document.bodies[body].frames) };
  const listed = Array.isArray(frames.nodes) ? frames.nodes : [];
  frames.nodes = nodes.map((node, i) => ({
    ...asObject(listed[i]),
    kind: node.kind,
    position: node.position.map((x) => x / unit),
  }));
  delete frames.count;
  frames.weights = { ...asObject(frames.weights), adopt_outside: true, adopt_unreached: true };
  document.bodies[body].frames = frames;
}

// The grain of a body by curves. A body of an isotropic material becomes orthotropic, eight times as stiff along the curves.
export function setCurves(document: Document, body: number, fibres: boolean, curves: Curve[], now: Body, unit: number): void {
  const target = document.bodies[body];
  if (curves.length === 0) {
    delete target.field;
    return;
  }
  target.field = {
    kind: fibres ? "fibres" : "frames",
    curves: curves.map(({ stroke, points, normal, turn }) => ({
      kind: stroke ? "stroke" : "nurbs",
      points: points.map((p) => p.map((x) => x / unit)),
      ...(normal.some((x) => x !== 0) ? { normal } : {}),
      turn: (turn * 180) / Math.PI,
    })),
  };
  const [material] = now.materials;
  if (!material || !ISOTROPIC.includes(material.law)) return;
  const { young, density } = material;
  target.material = { law: "orthotropic", young_1: 2 * young, young_2: young, young_3: 8 * young, poisson: Math.min(material.poisson, 0.3), density };
}

// The curves of a body's grain, in metres and radians.
export function readCurves(document: Document, body: number, unit: number): Curve[] {
  const field = asObject(document.bodies[body]?.field);
  const scale = (points: Json | undefined): number[][] => (Array.isArray(points) ? (points as number[][]).map((p) => p.map((x) => x * unit)) : []);
  const curves = Array.isArray(field.curves) ? field.curves.map(asObject) : [];
  const strokes = Array.isArray(field.strokes) ? field.strokes : [];
  return [
    ...curves.map((curve) => ({
      stroke: curve.kind === "stroke",
      points: scale(curve.points),
      normal: (curve.normal as number[] | undefined) ?? [0, 0, 0],
      turn: (Number(curve.turn ?? 0) * Math.PI) / 180,
    })),
    ...strokes.map((points) => ({ stroke: true, points: scale(points), normal: [0, 0, 0], turn: 0 })),
  ];
}

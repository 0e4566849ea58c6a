// Files that were dropped on the page become scenes: a closed surface becomes a soft body of frames on a floor, a skinned character a
// body whose flesh follows its bones.
import type { NamedFile } from "./core.ts";
import type { Document, JsonObject } from "./document.ts";
import { WEIGHTS } from "./models.ts";

export const isMesh = (name: string): boolean => /\.(obj|ply|stl|glb|gltf)$/i.test(name);

// The JSON part of a .glb or .gltf file, or null.
function readGltf(file: NamedFile): JsonObject | null {
  try {
    if (/\.gltf$/i.test(file.name)) return JSON.parse(new TextDecoder().decode(file.bytes)) as JsonObject;
    if (!/\.glb$/i.test(file.name)) return null;
    const view = new DataView(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
    return JSON.parse(new TextDecoder().decode(file.bytes.subarray(20, 20 + view.getUint32(12, true)))) as JsonObject;
  } catch {
    return null;
  }
}

const bodyName = (file: string): string => file.replace(/\.\w+$/, "").replace(/[^\p{L}\p{N} _-]/gu, "_") || "body";

// As soft as it takes to be squeezed visibly by its own weight, whatever its size.
const soften = (size: number): JsonObject => ({ law: "corotational", young: 30 * 1000 * 9.81 * size, poisson: 0.4, density: 1000 });

// Files do not say their unit: above 20 across they are taken to be in millimetres.
function chooseUnit(size: number): { word: string; metres: number } {
  return size > 20 ? { word: "mm", metres: 1e-3 } : { word: "m", metres: 1 };
}

function makeCharacter(file: string, motion: string | null, size: number): Document {
  const skeleton: JsonObject = { file, end: "loop" };
  if (motion) skeleton.motion = { file: motion, unit: "cm" }; // as nearly all motion files
  return {
    version: 1,
    title: bodyName(file),
    step: 1 / 60,
    skeletons: { bones: skeleton },
    bodies: [{
      name: bodyName(file), model: "positions", skeleton: "bones",
      rotation: { axis: [1, 0, 0], degrees: 90 }, // y is up in glTF, z on the page
      shape: { file, tets: 4000 }, surface: file,
      positions: { mode: "compliance", iterations: 10 }, material: soften(size),
    }],
  };
}

// `box`: lower and upper corner of the mesh in its own unit.
export function makeDocument(mesh: NamedFile, motion: string | null, box: number[], frames: number): Document {
  const extent = [0, 1, 2].map((k) => box[k + 3] - box[k]);
  const size = Math.max(...extent);
  const { word, metres } = chooseUnit(size);
  const gltf = readGltf(mesh);
  if (Array.isArray(gltf?.skins) && (motion || Array.isArray(gltf?.animations))) return makeCharacter(mesh.name, motion, size * metres);
  return {
    version: 1,
    title: bodyName(mesh.name),
    units: word,
    step: 1 / 60,
    contact: { ground: { height: box[2] - 0.02 * size } },
    bodies: [{
      name: bodyName(mesh.name),
      model: "frames",
      shape: { surfaces: [{ file: mesh.name }] },
      surface: mesh.name,
      frames: { count: frames, kind: "affine", resolution: 32, weights: { ...WEIGHTS } },
      material: soften(size * metres),
      damping: { stiffness: 0.01 },
    }],
  };
}

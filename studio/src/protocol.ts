// The messages between the page and the worker that simulates.
import type { Color, Curve, FrameNode, NamedFile, Report, SceneInfo, Tagged } from "./core.ts";
import type { Model } from "./models.ts";

// Something that a person changed, and can take back.
export type Change =
  | { kind: "gravity"; value: number[] }
  | { kind: "step"; value: number }
  | { kind: "integrator"; value: string }
  | { kind: "material"; body: number; number: number; constant: string; value: number | string }
  | { kind: "damping"; body: number; mass: number; stiffness: number }
  | { kind: "floor"; on: boolean; height: number }
  | { kind: "drop"; solid: "cube" | "ball"; size: number; position: number[] }
  | { kind: "undrop" }
  // These build the scene again, from its document.
  | { kind: "model"; body: number; model: Model; frames: number }
  | { kind: "frames"; body: number; nodes: FrameNode[] }
  | { kind: "paint"; body: number; center: number[]; radius: number; how: Paint }
  | { kind: "compare"; body: number; models: Model[]; frames: number }
  // A frame that joins while it runs; curves that guide the grain.
  | { kind: "insert"; body: number; rest: number[]; range: number }
  | { kind: "curves"; body: number; fibres: boolean; curves: Curve[] };

// What painting makes of a part.
export type Paint = "rigid" | "softer" | "stiffer";

// A model beside others.
export interface Compared {
  model: Model;
  name: string;
  best: boolean;
  error: number; // root mean square distance from the best, relative to the size of the body [-]
  milliseconds: number; // of a step
  failed: string | null;
  offset: number[]; // where it is drawn [m]
}

// What is drawn besides the bodies.
export interface Look {
  color: Color;
  frames: boolean;
  contacts: boolean;
  edges: boolean;
  fields: boolean;
  samples: boolean;
}

// The grain of the selected body as it is drawn.
export interface Grain {
  body: number;
  fibres: boolean;
  curves: Curve[];
}

export interface Damping {
  mass: number;
  stiffness: number;
}

export type ToWorker =
  | { type: "start"; module: WebAssembly.Module }
  | { type: "load"; name: string; bytes: Uint8Array; settings: string[] }
  | { type: "mesh"; name: string; files: NamedFile[]; frames: number }
  | { type: "file"; name: string; bytes: Uint8Array | null }
  | { type: "play"; playing: boolean }
  | { type: "step" }
  | { type: "reset" }
  | { type: "speed"; value: number }
  | { type: "seek"; share: number }
  | { type: "grab"; origin: number[]; direction: number[] }
  | { type: "drag"; target: number[] }
  | { type: "release" }
  | { type: "hand"; stiffness: number }
  | { type: "look"; look: Look }
  | { type: "grain"; body: number }
  // The rest position under a ray, for tools.
  | { type: "pick"; id: number; origin: number[]; direction: number[] }
  | { type: "export"; what: "scene" | "glb" | "skin" }
  // The scene with all its changes, for a link.
  | { type: "share" }
  | { type: "change"; change: Change }
  | { type: "undo" }
  | { type: "redo" }
  | { type: "run"; id: number; steps: number }
  // The page has drawn an image and gives its arrays back.
  | { type: "drawn"; image: ImageArrays | null };

export interface ImageArrays {
  positions: Float32Array;
  values: Float32Array;
}

// What the hand holds: the point, the position it is pulled to, the force [N], the stiffness [N/m].
export interface Hand {
  point: number[];
  target: number[];
  force: number[];
  stiffness: number;
}

export interface Statistics {
  report: Report;
  // Simulated seconds for each second that passed, at the speed that was asked for.
  rate: number;
  stepsPerSecond: number;
  playing: boolean;
  compared: Compared[] | null;
  // Of the last solve of the grain [ms]; null: none yet.
  grainMs: number | null;
  // Snapshots that one can go back to: first and last time, and where we are among them [s].
  history: { first: number; last: number; now: number };
  undo: number;
  redo: number;
}

export type FromWorker =
  | { type: "ready" }
  | { type: "need"; name: string }
  | { type: "loading"; name: string }
  // `fresh`: another scene than before, so that the camera has to find it.
  | { type: "scene"; name: string; info: SceneInfo; damping: Damping[]; triangles: Int32Array[]; fresh: boolean; model: Model[];
      obstacleMeshes: ({ positions: Float32Array; triangles: Int32Array } | null)[]; grain: Grain | null; comparing: boolean }
  | {
      type: "image";
      image: ImageArrays;
      frames: Float32Array | null;
      contacts: Float32Array | null;
      fields: Tagged | null;
      samples: Tagged | null;
      drawn: Float32Array | null; // control points of curves
      obstacles: Float32Array;
      hand: Hand | null;
      time: number;
    }
  | { type: "statistics"; statistics: Statistics }
  | { type: "grabbed"; body: number }
  | { type: "picked"; id: number; picked: { body: number; rest: number[]; normal: number[] } | null }
  | { type: "exported"; files: NamedFile[] }
  | { type: "shared"; scene: Uint8Array | null }
  | { type: "note"; message: string }
  | { type: "failed"; what: "load" | "change" | "grab" | "memory" | "export"; message: string }
  | { type: "diverged"; message: string; canGoBack: boolean }
  | { type: "ran"; id: number; report: Report; positions: Float32Array };

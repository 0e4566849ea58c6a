// The messages between the page and the worker that simulates.
import type { Color, Report, SceneInfo } from "./core.ts";

// Something that a person changed, and can take back.
export type Change =
  | { kind: "gravity"; value: number[] }
  | { kind: "step"; value: number }
  | { kind: "integrator"; value: string }
  | { kind: "material"; body: number; number: number; constant: string; value: number | string }
  | { kind: "damping"; body: number; mass: number; stiffness: number }
  | { kind: "floor"; on: boolean; height: number }
  | { kind: "drop"; solid: "cube" | "ball"; size: number; position: number[] }
  | { kind: "undrop" };

export interface Damping {
  mass: number;
  stiffness: number;
}

export type ToWorker =
  | { type: "start"; module: WebAssembly.Module }
  | { type: "load"; name: string; bytes: Uint8Array; settings: string[] }
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
  | { type: "look"; color: Color; frames: boolean; contacts: boolean }
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
  | { type: "scene"; name: string; info: SceneInfo; damping: Damping[]; triangles: Int32Array[]; fresh: boolean }
  | {
      type: "image";
      image: ImageArrays;
      frames: Float32Array | null;
      contacts: Float32Array | null;
      obstacles: Float32Array;
      hand: Hand | null;
      time: number;
    }
  | { type: "statistics"; statistics: Statistics }
  | { type: "grabbed"; body: number }
  | { type: "failed"; what: "load" | "change" | "grab" | "memory"; message: string }
  | { type: "diverged"; message: string; canGoBack: boolean }
  | { type: "ran"; id: number; report: Report; positions: Float32Array };

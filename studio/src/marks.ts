// Lines and points that are drawn over the bodies, as arrays.
import type * as THREE from "three";
import type { Tagged } from "./core.ts";

export interface Marks {
  points: Float32Array;
  colors: Float32Array;
}

const AXES = [[0.9, 0.25, 0.2], [0.25, 0.75, 0.3], [0.25, 0.45, 0.95]];

// Three axes of each frame: nine numbers of its matrix by columns, then its position.
export function frameLines(frames: Float32Array, length: number): Marks {
  const count = frames.length / 12;
  const points = new Float32Array(count * 18);
  const colors = new Float32Array(count * 18);
  for (let i = 0; i < count; i++) {
    for (let axis = 0; axis < 3; axis++) {
      for (let k = 0; k < 3; k++) {
        const at = i * 18 + axis * 6 + k;
        points[at] = frames[12 * i + 9 + k];
        points[at + 3] = frames[12 * i + 9 + k] + length * frames[12 * i + 3 * axis + k];
        colors[at] = colors[at + 3] = AXES[axis][k];
      }
    }
  }
  return { points, colors };
}

// An arrow for each contact: position and force. The longest has the given length.
export function contactLines(contacts: Float32Array, longest: number, tint: THREE.Color): Marks {
  const count = contacts.length / 6;
  let largest = 0;
  for (let i = 0; i < count; i++) largest = Math.max(largest, Math.hypot(contacts[6 * i + 3], contacts[6 * i + 4], contacts[6 * i + 5]));
  const scale = largest > 0 ? longest / largest : 0;
  const points = new Float32Array(6 * count);
  const colors = new Float32Array(6 * count);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 3; k++) {
      points[6 * i + k] = contacts[6 * i + k];
      points[6 * i + 3 + k] = contacts[6 * i + k] + scale * contacts[6 * i + 3 + k];
    }
    tint.toArray(colors, 6 * i);
    tint.toArray(colors, 6 * i + 3);
  }
  return { points, colors };
}

// Pairs of points, each pair a segment along an axis.
export function fieldLines(fields: Tagged): Marks {
  const colors = new Float32Array(fields.positions.length);
  fields.tags.forEach((axis, i) => colors.set(AXES[axis], 3 * i));
  return { points: fields.positions, colors };
}

// Hues far apart for neighbouring numbers.
export function chooseHue(number: number): [number, number, number] {
  const hue = (0.08 + 0.61803398875 * number) % 1;
  const part = (k: number): number => 0.1 + 0.8 * Math.min(Math.max(Math.abs(((6 * hue + k) % 6) - 3) - 1, 0), 1);
  return [part(0), part(4), part(2)];
}

// The voxels of a body in the colours of their samples.
export function samplePoints(samples: Tagged): Marks {
  const colors = new Float32Array(samples.positions.length);
  samples.tags.forEach((sample, i) => colors.set(chooseHue(sample), 3 * i));
  return { points: samples.positions, colors };
}

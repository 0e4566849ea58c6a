// Colours: of bodies, and of values.
import * as THREE from "three";

// Distinct and calm, in the order in which bodies get them.
const BODIES = ["#e07a5f", "#3d8b8b", "#e6b35a", "#6d83c9", "#9bb56b", "#b57aa8", "#d99a8c", "#5fa3c4", "#c4a27a", "#8f86c9"];

export const bodyColor = (index: number): THREE.Color => new THREE.Color(BODIES[index % BODIES.length]);

// From pale to dark, readable on both themes: sand, orange, red, plum, night.
const STOPS = ["#f3e3c3", "#f2b25c", "#e4663f", "#b02a5b", "#5d1a63", "#22104a"].map((c) => new THREE.Color(c));

export function mapValue(share: number, to: Float32Array, at: number): void {
  const x = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const i = Math.min(Math.floor(x), STOPS.length - 2);
  const f = x - i;
  const a = STOPS[i], b = STOPS[i + 1];
  to[at] = a.r + f * (b.r - a.r);
  to[at + 1] = a.g + f * (b.g - a.g);
  to[at + 2] = a.b + f * (b.b - a.b);
}

export const GRADIENT = `linear-gradient(90deg, #f3e3c3, #f2b25c, #e4663f, #b02a5b, #5d1a63, #22104a)`;

// A body's surface as it is drawn: vertices are doubled along sharp edges of the rest shape, so that
// a cube has flat faces and a ball is smooth.
import * as THREE from "three";

const CREASE = Math.cos((38 * Math.PI) / 180);

function faceNormals(positions: Float32Array, first: number, triangles: Int32Array): Float32Array {
  const normals = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * (first + triangles[t]);
    const b = 3 * (first + triangles[t + 1]);
    const c = 3 * (first + triangles[t + 2]);
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
    normals[t] = uy * vz - uz * vy;
    normals[t + 1] = uz * vx - ux * vz;
    normals[t + 2] = ux * vy - uy * vx;
  }
  return normals;
}

export class Surface {
  readonly geometry = new THREE.BufferGeometry();
  private readonly source: Uint32Array; // the vertex of the body for each that is drawn
  private readonly index: Uint32Array;

  constructor(private readonly triangles: Int32Array, readonly first: number, vertexCount: number, rest: Float32Array, sharp: boolean) {
    const { source, index } = sharp
      ? Surface.split(triangles, vertexCount, first, rest)
      : { source: Uint32Array.from({ length: vertexCount }, (_, i) => i), index: Uint32Array.from(triangles) };
    this.source = source;
    this.index = index;
    const count = source.length;
    this.geometry.setIndex(new THREE.BufferAttribute(index, 1));
    for (const name of ["position", "normal", "color"]) {
      const attribute = new THREE.BufferAttribute(new Float32Array(3 * count), 3);
      attribute.setUsage(THREE.DynamicDrawUsage);
      this.geometry.setAttribute(name, attribute);
    }
  }

  // Corners of a vertex whose triangles meet smoothly share one copy of it.
  private static split(triangles: Int32Array, vertexCount: number, first: number, rest: Float32Array): { source: Uint32Array; index: Uint32Array } {
    const normals = faceNormals(rest, first, triangles);
    for (let t = 0; t < normals.length; t += 3) {
      const length = Math.hypot(normals[t], normals[t + 1], normals[t + 2]) || 1;
      normals[t] /= length;
      normals[t + 1] /= length;
      normals[t + 2] /= length;
    }
    const copies: { vertex: number; normal: [number, number, number] }[] = [];
    const ofVertex: number[][] = Array.from({ length: vertexCount }, () => []);
    const index = new Uint32Array(triangles.length);
    for (let corner = 0; corner < triangles.length; corner++) {
      const t = corner - (corner % 3);
      const n: [number, number, number] = [normals[t], normals[t + 1], normals[t + 2]];
      const vertex = triangles[corner];
      const found = ofVertex[vertex].find((copy) => {
        const m = copies[copy].normal;
        return n[0] * m[0] + n[1] * m[1] + n[2] * m[2] > CREASE;
      });
      if (found !== undefined) {
        index[corner] = found;
        continue;
      }
      index[corner] = copies.length;
      ofVertex[vertex].push(copies.length);
      copies.push({ vertex, normal: n });
    }
    return { source: Uint32Array.from(copies, (c) => c.vertex), index };
  }

  update(positions: Float32Array): void {
    const position = this.geometry.getAttribute("position") as THREE.BufferAttribute;
    const normal = this.geometry.getAttribute("normal") as THREE.BufferAttribute;
    const to = position.array as Float32Array;
    const n = normal.array as Float32Array;
    for (let i = 0; i < this.source.length; i++) {
      const from = 3 * (this.first + this.source[i]);
      to[3 * i] = positions[from];
      to[3 * i + 1] = positions[from + 1];
      to[3 * i + 2] = positions[from + 2];
    }

    // Normals weighted by area; the shader normalises them.
    const faces = faceNormals(positions, this.first, this.triangles);
    n.fill(0);
    for (let corner = 0; corner < this.index.length; corner++) {
      const at = 3 * this.index[corner];
      const t = corner - (corner % 3);
      n[at] += faces[t];
      n[at + 1] += faces[t + 1];
      n[at + 2] += faces[t + 2];
    }
    position.needsUpdate = true;
    normal.needsUpdate = true;
  }

  colorize(paint: (vertex: number, to: Float32Array, at: number) => void): void {
    const color = this.geometry.getAttribute("color") as THREE.BufferAttribute;
    const to = color.array as Float32Array;
    for (let i = 0; i < this.source.length; i++) paint(this.first + this.source[i], to, 3 * i);
    color.needsUpdate = true;
  }

  dispose(): void {
    this.geometry.dispose();
  }
}

// The picture: bodies, floor, light, camera, and what is drawn on top of them.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
import { drawsInSoftware } from "./platform.ts";
import { bodyColor, mapValue } from "./colors.ts";
import type { Obstacle, SceneInfo, Tagged } from "./core.ts";
import type { Hand, ImageArrays } from "./protocol.ts";
import { contactLines, fieldLines, frameLines, samplePoints, type Marks } from "./marks.ts";
import { Surface } from "./surface.ts";

export type Theme = "light" | "dark";

export type ObstacleMesh = { positions: Float32Array; triangles: Int32Array } | null;

const THEMES = {
  light: { background: "#eef0f2", floor: "#e4e6e9", line: "#9aa3ad", shadow: 0.32, ambient: 0.75, accent: "#d1495b" },
  dark: { background: "#15181d", floor: "#1c2026", line: "#59636f", shadow: 0.55, ambient: 0.45, accent: "#ff8fa0" },
};

const GRID_VERTEX = `
varying vec3 vWorld;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  vWorld = world.xyz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

const GRID_FRAGMENT = `
varying vec3 vWorld;
uniform vec3 lineColor;
uniform float cell;
uniform vec2 center;
uniform float radius;
void main() {
  vec2 at = vWorld.xy / cell;
  vec2 width = fwidth(at);
  vec2 near = abs(fract(at - 0.5) - 0.5) / max(width, vec2(1e-6));
  float line = 1.0 - smoothstep(0.4, 1.4, min(near.x, near.y));
  float fade = 1.0 - smoothstep(0.25, 1.0, length(vWorld.xy - center) / radius);
  gl_FragColor = vec4(lineColor, line * fade * 0.5);
  #include <colorspace_fragment>
}`;

function meshGeometry(surface: NonNullable<ObstacleMesh>): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(surface.positions, 3));
  geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(surface.triangles), 1));
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  geometry.dispose();
  return flat;
}

export class View {
  readonly canvas: HTMLCanvasElement;
  readonly camera = new THREE.PerspectiveCamera(35, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  private readonly renderer: THREE.WebGLRenderer;
  // Without a graphics card: fewer pixels, flat light.
  private readonly simple = drawsInSoftware();
  private dirty = true;
  private readonly scene = new THREE.Scene();
  private readonly key = new THREE.DirectionalLight("#fff4e6", 2.2);
  private readonly fill = new THREE.HemisphereLight("#dfe9f5", "#8d8577", 0.6);
  private readonly bodies = new THREE.Group();
  private readonly obstacles = new THREE.Group();
  private readonly overlay = new THREE.Group();
  private readonly raycaster = new THREE.Raycaster();
  private surfaces: Surface[] = [];
  private meshes: THREE.Mesh[] = [];
  private info: SceneInfo | null = null;
  private triangles: Int32Array[] = [];
  private obstacleMeshes: ObstacleMesh[] = [];
  private size = 1;
  private center = new THREE.Vector3();
  private fresh = true;
  private theme: Theme = "light";
  private wireframe = false;
  private colored = false;
  private range = 0;

  private readonly handLine: THREE.Mesh;
  private readonly handPoint: THREE.Mesh;
  private readonly handTarget: THREE.Mesh;
  private frameLines: THREE.LineSegments | null = null;
  private contactLines: THREE.LineSegments | null = null;
  private fieldLines: THREE.LineSegments | null = null;
  private samplePoints: THREE.Points | null = null;
  private drawnPoints: THREE.Points | null = null;
  private glass = false;

  constructor(parent: HTMLElement) {
    this.renderer = new THREE.WebGLRenderer({ antialias: !this.simple, powerPreference: "high-performance", preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = this.simple ? THREE.BasicShadowMap : THREE.PCFSoftShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.canvas = this.renderer.domElement;
    this.canvas.id = "view";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", "The simulated bodies. Drag a body to pull it; drag elsewhere to rotate the view.");
    parent.prepend(this.canvas);

    if (!this.simple) {
      const environment = new THREE.PMREMGenerator(this.renderer);
      this.scene.environment = environment.fromScene(new RoomEnvironment(), 0.04).texture;
      environment.dispose();
    }

    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = Math.PI * 0.95;

    this.key.castShadow = true;
    this.key.shadow.mapSize.setScalar(this.simple ? 512 : 2048);
    this.key.shadow.radius = 5;
    this.key.shadow.bias = -0.0004;
    this.key.shadow.normalBias = 0.01;
    this.scene.add(this.key, this.key.target, this.fill, this.bodies, this.obstacles, this.overlay);

    const handMaterial = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 });
    this.handLine = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 12), handMaterial);
    this.handPoint = new THREE.Mesh(new THREE.SphereGeometry(1, 20, 14), handMaterial);
    this.handTarget = new THREE.Mesh(new THREE.TorusGeometry(1, 0.18, 10, 28), handMaterial);
    for (const part of [this.handLine, this.handPoint, this.handTarget]) {
      part.visible = false;
      part.renderOrder = 10;
      this.overlay.add(part);
    }
    this.setTheme("light");
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    const look = THEMES[theme];
    this.scene.background = new THREE.Color(look.background);
    this.scene.environmentIntensity = look.ambient;
    this.fill.intensity = (theme === "light" ? 0.5 : 0.3) + (this.simple ? 1.3 : 0);
    (this.handLine.material as THREE.MeshBasicMaterial).color.set(look.accent);
    this.buildObstacles();
    this.dirty = true;
  }

  setWireframe(on: boolean): void {
    this.dirty = true;
    this.wireframe = on;
    for (const mesh of this.meshes) mesh.children.forEach((child) => (child.visible = on));
  }

  setScene(info: SceneInfo, triangles: Int32Array[], obstacleMeshes: ObstacleMesh[], fresh: boolean): void {
    this.info = info;
    this.obstacleMeshes = obstacleMeshes;
    this.triangles = triangles;
    this.fresh = this.fresh || fresh;
    this.surfaces.forEach((s) => s.dispose());
    this.surfaces = [];
    this.bodies.clear();
    this.meshes = [];
    if (fresh) this.range = 0;
    this.buildObstacles();
  }

  // The first image of a scene is its rest shape, from which surfaces and camera are made.
  private build(positions: Float32Array): void {
    let first = 0;
    this.info!.bodies.forEach((body, i) => {
      const surface = new Surface(this.triangles[i], first, body.vertices, positions, body.frames === 0);
      first += body.vertices;
      const color = bodyColor(i);
      const material = this.makeMaterial(color);
      const mesh = new THREE.Mesh(surface.geometry, material);
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      mesh.userData.body = i;
      const edges = new THREE.Mesh(surface.geometry, new THREE.MeshBasicMaterial({ color: "#000000", wireframe: true, transparent: true, opacity: 0.18 }));
      edges.visible = this.wireframe;
      edges.frustumCulled = false;
      mesh.add(edges);
      this.bodies.add(mesh);
      this.meshes.push(mesh);
      if (this.glass) this.applyGlass(mesh);
      this.surfaces.push(surface);
    });
    if (this.fresh) this.frameAll(positions);
    this.fresh = false;
  }

  private makeMaterial(color: THREE.Color): THREE.MeshLambertMaterial | THREE.MeshPhysicalMaterial {
    const common = { color: this.colored ? new THREE.Color("#ffffff") : color, vertexColors: this.colored, side: THREE.DoubleSide };
    if (this.simple) return new THREE.MeshLambertMaterial(common);
    return new THREE.MeshPhysicalMaterial({
      ...common,
      roughness: 0.55,
      sheen: 0.4,
      sheenRoughness: 0.5,
      sheenColor: color.clone().lerp(new THREE.Color("#ffffff"), 0.5),
    });
  }

  private frameAll(positions: Float32Array): void {
    const box = new THREE.Box3();
    const point = new THREE.Vector3();
    for (let i = 0; i < positions.length; i += 3) box.expandByPoint(point.fromArray(positions, i));
    if (box.isEmpty()) box.set(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5));
    const extent = box.getSize(new THREE.Vector3());
    box.getCenter(this.center);
    this.size = Math.max(extent.length(), 1e-4);
    this.resetCamera();
    this.buildObstacles();
  }

  resetCamera(): void {
    // A narrow window needs more distance for the same width.
    const aspect = Math.min(this.camera.aspect, 1.6);
    const distance = (this.size * 1.12) / Math.min(aspect, 1) / (2 * Math.tan((this.camera.fov * Math.PI) / 360));
    const direction = new THREE.Vector3(0.35, -1, 0.42).normalize();
    this.camera.near = this.size / 200;
    this.camera.far = this.size * 100;
    this.camera.position.copy(this.center).addScaledVector(direction, distance);
    this.controls.target.copy(this.center);
    this.controls.minDistance = this.size * 0.1;
    this.controls.maxDistance = this.size * 20;
    this.camera.updateProjectionMatrix();
    this.controls.update();

    const light = this.key.shadow.camera;
    this.key.target.position.copy(this.center);
    this.key.position.copy(this.center).add(new THREE.Vector3(-0.55, -0.75, 1.6).multiplyScalar(this.size * 1.5));
    light.left = light.bottom = -this.size * 1.2;
    light.right = light.top = this.size * 1.2;
    light.near = this.size * 0.1;
    light.far = this.size * 6;
    light.updateProjectionMatrix();
  }

  // Floors are drawn only where things can land on them.
  private buildObstacles(): void {
    this.obstacles.clear();
    for (const [i, obstacle] of (this.info?.obstacles ?? []).entries()) {
      const object = this.buildObstacle(obstacle, this.obstacleMeshes[i] ?? null);
      object.position.fromArray(obstacle.position);
      object.quaternion.fromArray(obstacle.rotation);
      this.obstacles.add(object);
    }
  }

  private buildObstacle(obstacle: Obstacle, surface: ObstacleMesh): THREE.Object3D {
    const look = THEMES[this.theme];
    const material = new THREE.MeshStandardMaterial({ color: look.line, roughness: 0.85, transparent: true, opacity: 0.85 });
    const solid = (geometry: THREE.BufferGeometry): THREE.Mesh => {
      const mesh = new THREE.Mesh(geometry, material);
      mesh.castShadow = mesh.receiveShadow = true;
      return mesh;
    };
    switch (obstacle.kind) {
      case "plane": return this.buildFloor();
      case "sphere": return solid(new THREE.SphereGeometry(obstacle.radius, 40, 24));
      case "box": return solid(new THREE.BoxGeometry(...obstacle.size));
      case "capsule": return solid(new THREE.CapsuleGeometry(obstacle.radius, obstacle.length, 12, 28).rotateX(Math.PI / 2));
      case "mesh": return surface ? solid(meshGeometry(surface)) : new THREE.Group();
      default: return new THREE.Group();
    }
  }

  private buildFloor(): THREE.Object3D {
    const look = THEMES[this.theme];
    const radius = this.size * 6;
    const group = new THREE.Group();
    const shadow = new THREE.Mesh(new THREE.CircleGeometry(radius, 64), new THREE.ShadowMaterial({ opacity: look.shadow, depthWrite: false }));
    shadow.receiveShadow = true;
    shadow.position.set(this.center.x, this.center.y, 0);
    const cell = 10 ** Math.round(Math.log10(this.size / 6));
    const grid = new THREE.Mesh(new THREE.CircleGeometry(radius, 64), new THREE.ShaderMaterial({
      vertexShader: GRID_VERTEX,
      fragmentShader: GRID_FRAGMENT,
      transparent: true,
      depthWrite: false,
      uniforms: {
        lineColor: { value: new THREE.Color(look.line) },
        cell: { value: cell },
        center: { value: new THREE.Vector2(this.center.x, this.center.y) },
        radius: { value: this.size * 2.6 },
      },
    }));
    grid.position.copy(shadow.position);
    group.add(shadow, grid);
    return group;
  }

  // `colored`: by values, otherwise each body has its own colour. Returns the value at the end of the scale.
  setImage(image: ImageArrays, colored: boolean): number {
    this.dirty = true;
    if (this.surfaces.length === 0) {
      this.colored = colored;
      this.build(image.positions);
    }
    if (colored !== this.colored) {
      this.colored = colored;
      this.range = 0;
      this.meshes.forEach((mesh, i) => {
        const material = mesh.material as THREE.MeshLambertMaterial;
        material.color.copy(colored ? new THREE.Color("#ffffff") : bodyColor(i));
        material.vertexColors = colored;
        material.needsUpdate = true;
      });
    }
    this.surfaces.forEach((surface) => surface.update(image.positions));
    if (colored) this.paint(image.values);
    return this.range;
  }

  // The scale follows the largest values, quickly upwards and slowly down.
  private paint(values: Float32Array): void {
    // Three numbers for each vertex are its colour.
    const vertices = this.info!.bodies.reduce((sum, body) => sum + body.vertices, 0);
    if (values.length === 3 * vertices) {
      for (const surface of this.surfaces) {
        surface.colorize((vertex, to, at) => {
          for (let k = 0; k < 3; k++) to[at + k] = values[3 * vertex + k];
        });
      }
      return;
    }
    let largest = 0;
    for (const value of values) if (value > largest && Number.isFinite(value)) largest = value;
    this.range = Math.max(largest, this.range * 0.985);
    const scale = this.range > 0 ? 1 / this.range : 0;
    for (const surface of this.surfaces) surface.colorize((vertex, to, at) => mapValue(values[vertex] * scale, to, at));
  }

  resetRange(): void {
    this.range = 0;
  }

  setObstacles(poses: Float32Array): void {
    this.obstacles.children.forEach((object, i) => {
      object.position.fromArray(poses, 7 * i);
      object.quaternion.fromArray(poses, 7 * i + 3);
    });
  }

  setHand(hand: Hand | null): void {
    const visible = hand !== null;
    this.handLine.visible = this.handPoint.visible = this.handTarget.visible = visible;
    if (!hand) return;
    const from = new THREE.Vector3().fromArray(hand.point);
    const to = new THREE.Vector3().fromArray(hand.target);
    const along = to.clone().sub(from);
    const unit = this.camera.position.distanceTo(from) * 0.003;
    this.handPoint.position.copy(from);
    this.handPoint.scale.setScalar(unit * 2.4);
    this.handTarget.position.copy(to);
    this.handTarget.scale.setScalar(unit * 3.2);
    this.handTarget.quaternion.copy(this.camera.quaternion);
    this.handLine.position.copy(from).addScaledVector(along, 0.5);
    this.handLine.scale.set(unit * 0.8, Math.max(along.length(), 1e-9), unit * 0.8);
    this.handLine.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.length() > 0 ? along.normalize() : new THREE.Vector3(0, 1, 0));
  }

  setFrames(frames: Float32Array | null): void {
    this.frameLines = this.setLines(this.frameLines, frames && frames.length > 0 ? frameLines(frames, this.size * 0.045) : null);
  }

  setFields(fields: Tagged | null): void {
    this.fieldLines = this.setLines(this.fieldLines, fields && fields.tags.length > 0 ? fieldLines(fields) : null);
  }

  setSamples(samples: Tagged | null): void {
    this.samplePoints = this.setDots(this.samplePoints, samples && samples.tags.length > 0 ? samplePoints(samples) : null, 4, false);
  }

  // Control points of curves; `selected` is drawn in the accent colour.
  setDrawn(points: Float32Array | null, selected: number): void {
    const colors = points ? new Float32Array(points.length) : null;
    if (points && colors) {
      const plain = new THREE.Color("#ffffff"), accent = new THREE.Color(THEMES[this.theme].accent);
      for (let i = 0; i < points.length / 3; i++) (i === selected ? accent : plain).toArray(colors, 3 * i);
    }
    this.drawnPoints = this.setDots(this.drawnPoints, points && colors && points.length > 0 ? { points, colors } : null, 11, true);
  }

  private setDots(dots: THREE.Points | null, data: Marks | null, size: number, above: boolean): THREE.Points | null {
    if (dots) {
      this.overlay.remove(dots);
      dots.geometry.dispose();
    }
    if (!data) return null;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(data.points, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(data.colors, 3));
    const made = new THREE.Points(geometry, new THREE.PointsMaterial({ size, sizeAttenuation: false, vertexColors: true, depthTest: false, transparent: true, opacity: above ? 1 : 0.85 }));
    made.frustumCulled = false;
    made.renderOrder = above ? 11 : 8;
    this.overlay.add(made);
    return made;
  }

  // Where bodies are drawn now: the middle of the lower edge of each, in pixels of the window.
  footOf(body: number): { x: number; y: number } | null {
    const surface = this.surfaces[body];
    if (!surface) return null;
    surface.geometry.computeBoundingBox();
    const box = surface.geometry.boundingBox!;
    return this.project([(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2, box.min.z]);
  }

  // While a tool is used, bodies are glass, so that what is inside can be seen.
  setGlass(on: boolean): void {
    this.glass = on;
    this.dirty = true;
    for (const mesh of this.meshes) this.applyGlass(mesh);
  }

  private applyGlass(mesh: THREE.Mesh): void {
    const material = mesh.material as THREE.MeshLambertMaterial;
    material.transparent = this.glass;
    material.opacity = this.glass ? 0.45 : 1;
    material.needsUpdate = true;
  }

  setContacts(contacts: Float32Array | null): void {
    this.contactLines = this.setLines(this.contactLines, contacts && contacts.length > 0 ? contactLines(contacts, 0.2 * this.size, new THREE.Color(THEMES[this.theme].accent)) : null);
  }

  private setLines(lines: THREE.LineSegments | null, data: Marks | null): THREE.LineSegments | null {
    if (lines) {
      this.overlay.remove(lines);
      lines.geometry.dispose();
    }
    if (!data) return null;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(data.points, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(data.colors, 3));
    const made = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    made.frustumCulled = false;
    made.renderOrder = 9;
    this.overlay.add(made);
    return made;
  }

  // The ray under a position of the window, in pixels.
  ray(x: number, y: number): { origin: THREE.Vector3; direction: THREE.Vector3 } {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    return { origin: this.raycaster.ray.origin.clone(), direction: this.raycaster.ray.direction.clone() };
  }

  pick(x: number, y: number): { point: THREE.Vector3; body: number } | null {
    this.ray(x, y);
    for (const surface of this.surfaces) surface.geometry.computeBoundingSphere();
    const hit = this.raycaster.intersectObjects(this.meshes, false)[0];
    return hit ? { point: hit.point.clone(), body: hit.object.userData.body as number } : null;
  }

  // Where a ray meets the plane through `point` that faces the camera.
  onPlane(x: number, y: number, point: THREE.Vector3): THREE.Vector3 | null {
    const { origin, direction } = this.ray(x, y);
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, point);
    return new THREE.Ray(origin, direction).intersectPlane(plane, new THREE.Vector3());
  }

  // Where a point is drawn, in pixels of the window.
  project(point: number[]): { x: number; y: number } {
    const at = new THREE.Vector3().fromArray(point).project(this.camera);
    const box = this.canvas.getBoundingClientRect();
    return { x: box.left + ((at.x + 1) / 2) * box.width, y: box.top + ((1 - at.y) / 2) * box.height };
  }

  get extent(): number {
    return this.size;
  }

  get middle(): THREE.Vector3 {
    return this.center;
  }

  get highest(): number {
    let top = -Infinity;
    for (const surface of this.surfaces) {
      const position = surface.geometry.getAttribute("position").array;
      for (let i = 2; i < position.length; i += 3) top = Math.max(top, position[i]);
    }
    return Number.isFinite(top) ? top : this.center.z;
  }

  get lowest(): number {
    let bottom = Infinity;
    for (const surface of this.surfaces) {
      const position = surface.geometry.getAttribute("position").array;
      for (let i = 2; i < position.length; i += 3) bottom = Math.min(bottom, position[i]);
    }
    return Number.isFinite(bottom) ? bottom : this.center.z;
  }

  // `covered`: pixels at the right that a panel covers, so that the middle lies beside it.
  resize(covered: number): void {
    const box = this.canvas.parentElement!.getBoundingClientRect();
    this.renderer.setPixelRatio(this.simple ? 1 : Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(box.width, box.height, true);
    this.camera.aspect = box.width / Math.max(box.height, 1);
    if (covered > 0) this.camera.setViewOffset(box.width, box.height, covered / 2, 0, box.width, box.height);
    else this.camera.clearViewOffset();
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  // Something has changed that the next call of render has to show.
  touch(): void {
    this.dirty = true;
  }

  render(): void {
    if (this.controls.update()) this.dirty = true;
    if (!this.dirty) return;
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
  }
}

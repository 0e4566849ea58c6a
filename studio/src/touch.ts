// Mouse, finger and keyboard on the picture: a body is pulled, everything else rotates the view.
import type * as THREE from "three";
import type { ToWorker } from "./protocol.ts";
import type { View } from "./view.ts";

export class Touch {
  private held: THREE.Vector3 | null = null;
  private pointer = -1;
  private hovering = 0;

  constructor(private readonly view: View, private readonly send: (message: ToWorker) => void, private readonly pulls: () => boolean,
    private readonly grabbed: (body: number) => void) {
    const { canvas } = view;
    // Before the controls of the camera see it.
    canvas.parentElement!.addEventListener("pointerdown", this.down, { capture: true });
    window.addEventListener("pointermove", this.move);
    window.addEventListener("pointerup", this.up);
    window.addEventListener("pointercancel", this.up);
  }

  get holding(): boolean {
    return this.held !== null;
  }

  private down = (event: PointerEvent): void => {
    if (event.target !== this.view.canvas || event.button !== 0 || this.held || !this.pulls() || event.ctrlKey || event.shiftKey) return;
    const hit = this.view.pick(event.clientX, event.clientY);
    if (!hit) return;
    event.stopPropagation();
    this.view.canvas.focus({ preventScroll: true });
    this.take(event.clientX, event.clientY, hit.point, hit.body);
    this.pointer = event.pointerId;
  };

  private take(x: number, y: number, point: THREE.Vector3, body: number): void {
    const { origin, direction } = this.view.ray(x, y);
    this.held = point;
    this.view.controls.enabled = false;
    this.view.canvas.classList.add("held");
    this.send({ type: "grab", origin: origin.toArray(), direction: direction.toArray() });
    this.grabbed(body);
  }

  private move = (event: PointerEvent): void => {
    if (!this.held) {
      this.hover(event);
      return;
    }
    if (event.pointerId !== this.pointer) return;
    const target = this.view.onPlane(event.clientX, event.clientY, this.held);
    if (target) this.send({ type: "drag", target: target.toArray() });
  };

  private hover(event: PointerEvent): void {
    const now = performance.now();
    if (event.pointerType !== "mouse" || now - this.hovering < 80 || event.buttons !== 0) return;
    this.hovering = now;
    const over = event.target === this.view.canvas && this.view.pick(event.clientX, event.clientY) !== null;
    this.view.canvas.classList.toggle("over", over);
  }

  private up = (event: PointerEvent): void => {
    if (this.held && event.pointerId === this.pointer) this.release();
  };

  release(): void {
    if (!this.held) return;
    this.held = null;
    this.pointer = -1;
    this.view.controls.enabled = true;
    this.view.canvas.classList.remove("held");
    this.send({ type: "release" });
  }

  // By keyboard: takes hold of what is in the middle of the picture, or lets go of it.
  toggle(): void {
    if (this.held) {
      this.release();
      return;
    }
    const box = this.view.canvas.getBoundingClientRect();
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    const hit = this.view.pick(x, y);
    if (hit) this.take(x, y, hit.point.clone(), hit.body);
  }

  // By keyboard: moves the hand in the plane of the picture.
  push(right: number, up: number): void {
    if (!this.held) return;
    const length = 0.03 * this.view.extent;
    const { matrixWorld } = this.view.camera;
    const e = matrixWorld.elements;
    this.held.x += length * (right * e[0] + up * e[4]);
    this.held.y += length * (right * e[1] + up * e[5]);
    this.held.z += length * (right * e[2] + up * e[6]);
    this.send({ type: "drag", target: this.held.toArray() });
  }
}

// The page: starts the worker, shows its images, and connects the controls.
import { isTint, type Picked, type SceneInfo } from "./core.ts";
import { GRADIENT } from "./colors.ts";
import { Comparing } from "./comparing.ts";
import { element, make } from "./dom.ts";
import { isMesh } from "./dropped.ts";
import { fillGallery, readExamples, type Example } from "./gallery.ts";
import { withUnit } from "./numbers.ts";
import { LEGENDS, Panel } from "./panel.ts";
import { hasSimd, hasWebGL, readFile, readModule, startWorker } from "./platform.ts";
import type { Change, FromWorker, Hand, ImageArrays, Look, Statistics, ToWorker } from "./protocol.ts";
import { download, Film, pack, savePicture, unpack } from "./saving.ts";
import { StatisticsPanel } from "./statistics.ts";
import { Tools } from "./tools.ts";
import { Touch } from "./touch.ts";
import { View, type Theme } from "./view.ts";

const FIRST_SCENE = "welcome";
const SHORTCUTS: [string, string][] = [
  ["Space", "Play or pause"], [".", "One step"], ["R", "Back to the start"], [",", "Back in time"], ["G", "Scenes"],
  ["C", "Drop a cube"], ["B", "Drop a ball"], ["F", "Floor"], ["1 – 7", "Colours"], ["M", "Mesh"], ["0", "Whole scene in view"],
  ["H", "Take hold of the middle, move with the arrow keys, H to let go"], ["Ctrl Z", "Undo"], ["Ctrl Shift Z", "Redo"],
  ["T", "Light or dark"], ["P", "Settings"], ["E", "Next tool"], ["Delete", "Delete a frame"], ["S", "Save"], ["?", "This list"],
];

class App {
  private readonly view = new View(element("stage"));
  private readonly statistics = new StatisticsPanel();
  private readonly panel: Panel;
  private readonly touch: Touch;
  private readonly tools: Tools;
  private readonly comparing: Comparing;
  private film: Film | null = null;
  private picks = new Map<number, (picked: Picked | null) => void>();
  private pickCount = 0;
  private shared: ((scene: Uint8Array | null) => void) | null = null;
  private examples: Example[] = [];
  private name = "";
  private sceneBytes: Uint8Array | null = null;
  private info: SceneInfo | null = null;
  private dropped = new Map<string, Uint8Array>();
  private folder = "examples/";
  private floorOn = false;
  private playing = true;
  private speed = 1;
  private scrubbing = false;
  private hand: Hand | null = null;
  private pulled = localStorage.getItem("pulled") === "yes";
  private images = 0;
  private pendingCamera: number[] | null = null;
  private busyTimer = 0;
  private runs = new Map<number, (result: Extract<FromWorker, { type: "ran" }>) => void>();
  latest: Statistics | null = null;

  constructor(private readonly worker: Worker) {
    this.panel = new Panel({
      change: (change) => this.send({ type: "change", change }),
      look: (look) => this.setLook(look),
      hand: (stiffness) => this.send({ type: "hand", stiffness }),
      drop: (solid) => this.drop(solid),
      floor: (on) => this.setFloor(on),
      floorOn: () => this.floorOn,
      compare: (on) => (on ? this.comparing.open() : this.compare([])),
      selected: () => this.showGrain(),
    });
    this.tools = new Tools(this.view, {
      change: (change) => this.send({ type: "change", change }),
      pick: (x, y) => this.pick(x, y),
      body: () => this.panel.body,
      chosen: () => {
        this.showGrain();
        this.setLook(this.panel.look);
      },
    });
    this.comparing = new Comparing(this.view, (models) => this.compare(models));
    this.touch = new Touch(this.view, (m) => this.send(m), () => this.tools.tool === "pull", (body) => {
      this.panel.select(body);
      this.pulled = true;
      localStorage.setItem("pulled", "yes");
      element("hint").hidden = true;
    });
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    worker.onerror = (event) => this.fail("The simulation stopped.", event.message);
    this.connect();
    this.setTheme((localStorage.getItem("theme") as Theme | null) ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    if (innerWidth < 900) this.togglePanel(false);
    this.resize();
    requestAnimationFrame(this.draw);
  }

  send(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  private compare(models: Extract<Change, { kind: "compare" }>["models"]): void {
    const body = this.panel.body;
    this.send({ type: "change", change: { kind: "compare", body, models, frames: this.info?.bodies[body]?.frames || 8 } });
  }

  // The rest position under the pointer, from the simulation.
  private pick(x: number, y: number): Promise<Picked | null> {
    const { origin, direction } = this.view.ray(x, y);
    const id = ++this.pickCount;
    return new Promise((resolve) => {
      this.picks.set(id, resolve);
      this.send({ type: "pick", id, origin: origin.toArray(), direction: direction.toArray() });
    });
  }

  private showGrain(): void {
    this.send({ type: "grain", body: this.tools.showsGrain ? this.panel.body : -1 });
  }

  // Tools show what they work on.
  private setLook(look: Look): void {
    const { tool } = this.tools;
    const frames = look.frames || tool === "frames" || tool === "insert";
    this.send({ type: "look", look: { ...look, frames, fields: look.fields || tool === "grain" } });
    this.view.setWireframe(look.edges);
    this.view.resetRange();
    this.showLegend(0);
  }

  private resize(): void {
    const open = innerWidth >= 900 && !element("panel").classList.contains("closed");
    this.view.resize(open ? 296 : 0);
  }

  private receive(message: FromWorker): void {
    switch (message.type) {
      case "ready": break;
      case "need": void this.giveFile(message.name); break;
      case "loading": this.busy(`Building ${message.name.replace(/\.json$/, "")}…`); break;
      case "scene": this.showScene(message); break;
      case "image": this.showImage(message); break;
      case "statistics": this.showStatistics(message.statistics); break;
      case "grabbed": this.panel.select(message.body); break;
      case "failed": this.showFailure(message.what, message.message); break;
      case "diverged":
        this.setPlaying(false, false);
        this.fail("The simulation diverged.", message.message, message.canGoBack ? "Go back a second" : undefined, () => this.back(1));
        break;
      case "ran": this.runs.get(message.id)?.(message); break;
      case "picked":
        this.picks.get(message.id)?.(message.picked);
        this.picks.delete(message.id);
        break;
      case "exported":
        this.busy(null);
        for (const { name, bytes } of message.files) download(name, new Blob([bytes as BlobPart]));
        break;
      case "shared": this.shared?.(message.scene); break;
      case "note": this.fail("Some models are left out.", message.message); break;
    }
  }

  private async giveFile(name: string): Promise<void> {
    const bytes = this.dropped.get(name) ?? (await readFile(this.folder + name));
    this.send({ type: "file", name, bytes });
  }

  private showFailure(what: "load" | "change" | "grab" | "memory" | "export", message: string): void {
    this.busy(null);
    const titles = {
      load: "This scene cannot be simulated.",
      change: "This change is not possible.",
      grab: "This body cannot be pulled.",
      memory: "The model is too large for the memory of the page.",
      export: "This cannot be saved.",
    };
    if (what === "grab") this.touch.release();
    const text = what === "memory" ? `Choose a smaller one, or run it with the program. (${message})` : message;
    this.fail(titles[what], text);
  }

  private showScene(message: Extract<FromWorker, { type: "scene" }>): void {
    this.busy(null);
    this.pending = null; // an image of the world before
    this.info = message.info;
    if (message.fresh) {
      this.floorOn = false;
      this.statistics.clear();
      const example = this.examples.find((e) => `${e.name}.json` === message.name);
      const title = message.info.title || example?.title || message.name.replace(/\.json$/, "");
      element("scene-title").textContent = title;
      document.title = `${title} – Sinew studio`;
      element("hint").hidden = this.pulled;
    }
    this.floorOn = message.info.obstacles.some((o) => o.kind === "plane");
    const reframe = message.fresh || message.comparing !== this.compared;
    this.compared = message.comparing;
    this.panel.setScene(message.info, message.damping, message.model, message.comparing, message.fresh);
    this.tools.setScene(message.info, message.grain);
    this.view.setScene(message.info, message.triangles, message.obstacleMeshes, reframe);
  }

  private compared = false;
  private pending: Extract<FromWorker, { type: "image" }> | null = null;

  private showImage(message: Extract<FromWorker, { type: "image" }>): void {
    this.pending = message;
  }

  private draw = (): void => {
    requestAnimationFrame(this.draw);
    const message = this.pending;
    this.pending = null;
    if (message) {
      const fresh = this.images === 0;
      const range = this.view.setImage(message.image, this.panel.look.color !== "body");
      this.view.setObstacles(message.obstacles);
      this.view.setFrames(message.frames);
      this.view.setContacts(message.contacts);
      this.view.setFields(message.fields);
      this.view.setSamples(message.samples);
      this.view.setDrawn(message.drawn, this.tools.selected);
      this.tools.setMarks(message.frames, message.drawn);
      this.hand = message.hand;
      this.showLegend(range);
      this.giveBack(message.image);
      if (this.pendingCamera) this.placeCamera(this.pendingCamera);
      this.pendingCamera = null;
      if (fresh) document.documentElement.dataset.moving = String(Math.round(performance.now()));
      this.images++;
    }
    this.view.setHand(this.hand);
    this.showForce();
    this.comparing.place();
    this.view.render();
  };

  private giveBack(image: ImageArrays): void {
    this.send({ type: "drawn", image }, [image.positions.buffer, image.values.buffer]);
  }

  private showForce(): void {
    const label = element("force");
    label.hidden = this.hand === null;
    if (!this.hand) return;
    const at = this.view.project(this.hand.target);
    label.textContent = withUnit(Math.hypot(...this.hand.force), "N");
    label.style.left = `${at.x}px`;
    label.style.top = `${at.y}px`;
  }

  private showLegend(range: number): void {
    const { color } = this.panel.look;
    element("legend").hidden = color === "body";
    element("legend-scale").hidden = isTint(color);
    element("legend-name").textContent = LEGENDS[color].name;
    element("legend-end").textContent = LEGENDS[color].unit ? withUnit(range, LEGENDS[color].unit) : range.toPrecision(2);
  }

  private showStatistics(statistics: Statistics): void {
    this.latest = statistics;
    this.statistics.show(statistics, this.speed);
    this.comparing.show(statistics.compared);
    this.tools.setSolveTime(statistics.grainMs);
    const { first, last, now } = statistics.history;
    element("time").textContent = `${now.toFixed(2)} s`;
    if (!this.scrubbing) element<HTMLInputElement>("timeline").value = String(last > first ? Math.round((1000 * (now - first)) / (last - first)) : 1000);
    element<HTMLButtonElement>("undo").disabled = statistics.undo === 0;
    element<HTMLButtonElement>("redo").disabled = statistics.redo === 0;
    if (statistics.playing !== this.playing) this.setPlaying(statistics.playing, false);
  }

  // Text of what takes a while; short waits are not announced.
  private busy(text: string | null): void {
    clearTimeout(this.busyTimer);
    if (text === null) {
      element("busy").hidden = true;
      return;
    }
    element("busy-text").textContent = text;
    this.busyTimer = window.setTimeout(() => (element("busy").hidden = false), 150);
  }

  fail(title: string, text: string, action?: string, act?: () => void): void {
    this.busy(null);
    element("toast-title").textContent = title;
    element("toast-text").textContent = text;
    const button = element<HTMLButtonElement>("toast-action");
    button.hidden = action === undefined;
    button.textContent = action ?? "";
    button.onclick = () => {
      element("toast").hidden = true;
      act?.();
    };
    element("toast").hidden = false;
  }

  private setPlaying(playing: boolean, send = true): void {
    this.playing = playing;
    if (send) this.send({ type: "play", playing });
    element("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    element("play-shape").setAttribute("d", playing ? "M5 3v10M11 3v10" : "M4.5 3l8 5-8 5z");
  }

  private seek(share: number): void {
    this.setPlaying(false);
    this.send({ type: "seek", share });
  }

  private back(seconds: number): void {
    if (!this.latest) return;
    const { first, last, now } = this.latest.history;
    if (last > first) this.seek(Math.max((now - seconds - first) / (last - first), 0));
  }

  private drop(solid: "cube" | "ball"): void {
    const size = 0.16 * this.view.extent;
    // Above everything, a little beside the middle so that solids do not pile up on one point.
    const shift = (): number => (Math.random() - 0.5) * 0.2 * this.view.extent;
    const { middle } = this.view;
    const position = [middle.x + shift(), middle.y + shift(), this.view.highest + size];
    if (!this.floorOn) this.setFloor(true);
    this.send({ type: "change", change: { kind: "drop", solid, size, position } });
  }

  private setFloor(on: boolean): void {
    const change: Change = { kind: "floor", on, height: this.view.lowest - 1e-3 * this.view.extent };
    this.floorOn = on;
    this.send({ type: "change", change });
  }

  private setTheme(theme: Theme): void {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
    this.view.setTheme(theme);
  }

  private togglePanel(open = element("panel").classList.contains("closed")): void {
    element("panel").classList.toggle("closed", !open);
    document.body.classList.toggle("wide", !open);
    element("toggle-panel").setAttribute("aria-expanded", String(open));
    this.resize();
  }

  async openExample(name: string): Promise<void> {
    element<HTMLDialogElement>("gallery").close();
    this.busy("Loading…");
    const bytes = await readFile(`examples/${name}.json`);
    if (!bytes) {
      this.fail("There is no such scene.", `“${name}” is not among the examples.`);
      return;
    }
    this.folder = "examples/";
    this.load(`${name}.json`, bytes);
    history.replaceState(null, "", `#${name}`);
  }

  load(name: string, bytes: Uint8Array): void {
    element("toast").hidden = true;
    this.touch.release();
    this.name = name;
    this.sceneBytes = bytes;
    this.setPlaying(true);
    this.send({ type: "load", name, bytes, settings: [] });
  }

  // Files that were dropped or chosen: one scene and whatever it references, or a mesh, perhaps with a motion.
  private async openFiles(files: File[]): Promise<void> {
    for (const file of files) this.dropped.set(file.name, new Uint8Array(await file.arrayBuffer()));
    const scene = files.find((f) => f.name.toLowerCase().endsWith(".json"));
    const mesh = files.find((f) => isMesh(f.name));
    if (!scene && !mesh) {
      this.fail("This is neither a scene nor a mesh.", `The studio opens scenes (.json) with the files they reference, closed surfaces (.obj, .ply, .stl, .glb), and characters (.glb) with a motion (.bvh). ${files.map((f) => f.name).join(", ")} will be used by the next scene that references it.`);
      return;
    }
    element<HTMLDialogElement>("gallery").close();
    this.folder = "examples/";
    if (scene) this.load(scene.name, this.dropped.get(scene.name)!);
    else this.loadMesh(mesh!.name, files.map((f) => f.name));
    history.replaceState(null, "", " ");
  }

  private loadMesh(name: string, names: string[]): void {
    element("toast").hidden = true;
    this.touch.release();
    this.name = name;
    this.sceneBytes = null;
    this.setPlaying(true);
    this.busy(`Voxelising ${name} and placing frames…`);
    const files = names.map((n) => ({ name: n, bytes: this.dropped.get(n)! }));
    this.send({ type: "mesh", name, files, frames: 10 });
  }

  // A link that holds the scene, in itself if it is not an example, and the camera.
  private async link(): Promise<string> {
    const { camera, controls } = this.view;
    const numbers = [...camera.position.toArray(), ...controls.target.toArray()].map((x) => Number(x.toPrecision(5)));
    const example = this.name.replace(/\.json$/, "");
    const known = this.examples.some((e) => e.name === example) && this.folder === "examples/" && !this.dropped.has(this.name);
    const changed = await this.askScene();
    const bytes = changed ?? (known ? null : this.sceneBytes);
    const scene = bytes ? `data:${await pack(bytes)}` : example;
    return `${location.href.split("#")[0]}#${scene}@${numbers.join(",")}`;
  }

  // The scene with all its changes; null if it has none.
  private askScene(): Promise<Uint8Array | null> {
    return new Promise((resolve) => {
      this.shared = resolve;
      this.send({ type: "share" });
    });
  }

  private placeCamera(numbers: number[]): void {
    if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return;
    this.view.camera.position.fromArray(numbers);
    this.view.controls.target.fromArray(numbers, 3);
  }

  async openLink(): Promise<void> {
    const [scene, camera] = decodeURIComponent(location.hash.slice(1)).split("@");
    if (camera) this.pendingCamera = camera.split(",").map(Number);
    if (scene.startsWith("data:")) {
      this.load("shared.json", await unpack(scene.slice(5)));
      return;
    }
    const served = new URLSearchParams(location.search).get("scene");
    if (!scene && served) {
      const bytes = await readFile(`scene/${served}`);
      this.folder = "scene/";
      if (bytes) this.load(served, bytes);
      else this.fail("The scene cannot be read.", `${served} is not there any more.`);
      return;
    }
    await this.openExample(scene || FIRST_SCENE);
  }

  private connect(): void {
    const click = (id: string, act: () => void): void => element(id).addEventListener("click", act);
    click("play", () => this.setPlaying(!this.playing));
    click("step", () => this.stepOnce());
    click("reset", () => this.send({ type: "reset" }));
    click("undo", () => this.send({ type: "undo" }));
    click("redo", () => this.send({ type: "redo" }));
    click("theme", () => this.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
    click("toggle-panel", () => this.togglePanel());
    click("open-gallery", () => element<HTMLDialogElement>("gallery").showModal());
    click("open-help", () => element<HTMLDialogElement>("help").showModal());
    click("open-file", () => element<HTMLInputElement>("file").click());
    click("toast-close", () => (element("toast").hidden = true));
    click("share", () => void this.copyLink());
    click("save", () => element<HTMLDialogElement>("saving").showModal());
    const saves: Record<string, () => void> = {
      "save-picture": () => this.savePicture(),
      "save-film": () => void this.toggleFilm(),
      "save-scene": () => this.send({ type: "export", what: "scene" }),
      "save-glb": () => this.export("glb"),
      "save-skin": () => this.export("skin"),
    };
    for (const [id, act] of Object.entries(saves)) {
      click(id, () => {
        element<HTMLDialogElement>("saving").close();
        act();
      });
    }
    document.querySelectorAll<HTMLButtonElement>("dialog .close").forEach((b) => b.addEventListener("click", () => b.closest("dialog")!.close()));
    document.querySelectorAll("dialog").forEach((d) => d.addEventListener("click", (e) => e.target === d && d.close()));
    element("file").addEventListener("change", () => void this.openFiles([...(element<HTMLInputElement>("file").files ?? [])]));
    element("speed").addEventListener("change", () => {
      this.speed = Number(element<HTMLSelectElement>("speed").value);
      this.send({ type: "speed", value: this.speed });
    });
    const timeline = element<HTMLInputElement>("timeline");
    timeline.addEventListener("input", () => {
      this.scrubbing = true;
      this.seek(Number(timeline.value) / 1000);
    });
    timeline.addEventListener("change", () => (this.scrubbing = false));
    element("legend-bar").style.background = GRADIENT;
    element("shortcuts").append(...SHORTCUTS.flatMap(([keys, what]) => [
      make("dt", {}, keys.split(" ").map((k) => (k === "–" ? "–" : make("kbd", { textContent: k })))), make("dd", { textContent: what })]));

    new ResizeObserver(() => this.resize()).observe(element("stage"));
    window.addEventListener("keydown", (event) => this.press(event));
    window.addEventListener("hashchange", () => void this.openLink());
    window.addEventListener("dragover", (event) => {
      event.preventDefault();
      element("dropzone").hidden = false;
    });
    window.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) element("dropzone").hidden = true;
    });
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      element("dropzone").hidden = true;
      void this.openFiles([...(event.dataTransfer?.files ?? [])]);
    });
  }

  private stepOnce(): void {
    this.setPlaying(false, false);
    this.send({ type: "step" });
  }

  private async copyLink(): Promise<void> {
    const link = await this.link();
    history.replaceState(null, "", link);
    try {
      await navigator.clipboard.writeText(link);
      this.fail("The link is copied.", "It opens this scene with this view.");
    } catch {
      this.fail("The link is in the address bar.", "Copy it from there.");
    }
  }

  private get title(): string {
    return this.name.replace(/\.\w+$/, "");
  }

  private savePicture(): void {
    this.view.touch();
    this.view.render();
    savePicture(this.view.canvas, this.title);
  }

  private export(what: "glb" | "skin"): void {
    this.busy("Writing…");
    this.send({ type: "export", what });
  }

  private async toggleFilm(): Promise<void> {
    const { film } = this;
    this.film = film ? null : Film.begin(this.view.canvas);
    element("save-film").textContent = this.film ? "Stop the film" : "Film (WebM)";
    element("save").classList.toggle("recording", this.film !== null);
    if (film) download(`${this.title}.webm`, await film.end());
    else if (!this.film) this.fail("This browser cannot record films.", "It has no MediaRecorder for WebM or MP4. Save pictures instead.");
  }

  private press(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      this.send({ type: event.shiftKey ? "redo" : "undo" });
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLSelectElement) return;
    const typing = target instanceof HTMLInputElement || target instanceof HTMLButtonElement || target.tagName === "SUMMARY";
    if (event.key === " " && typing) return;
    const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key in arrows && !(target instanceof HTMLInputElement)) {
      event.preventDefault();
      this.arrow(...arrows[event.key]);
      return;
    }
    const colors = Object.keys(LEGENDS) as (keyof typeof LEGENDS)[];
    const number = Number(event.key);
    if (number >= 1 && number <= colors.length) {
      this.panel.look.color = colors[number - 1];
      this.applyLook();
      return;
    }
    const actions: Record<string, () => void> = {
      " ": () => this.setPlaying(!this.playing),
      ".": () => this.stepOnce(),
      ",": () => this.back(0.1),
      r: () => this.send({ type: "reset" }),
      g: () => element<HTMLDialogElement>("gallery").showModal(),
      c: () => this.drop("cube"),
      b: () => this.drop("ball"),
      f: () => this.setFloor(!this.floorOn),
      m: () => {
        this.panel.look.edges = !this.panel.look.edges;
        this.applyLook();
      },
      h: () => this.touch.toggle(),
      "0": () => this.view.resetCamera(),
      t: () => element("theme").click(),
      p: () => this.togglePanel(),
      s: () => element<HTMLDialogElement>("saving").showModal(),
      e: () => this.nextTool(),
      Delete: () => this.tools.remove(),
      "?": () => element<HTMLDialogElement>("help").showModal(),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  private nextTool(): void {
    const tools = ["pull", "frames", "insert", "paint", "grain"] as const;
    this.tools.choose(tools[(tools.indexOf(this.tools.tool) + 1) % tools.length]);
  }

  // Arrows move the hand while it holds something, and rotate the view otherwise.
  private arrow(right: number, up: number): void {
    if (this.touch.holding) {
      this.touch.push(right, up);
      return;
    }
    const { camera, controls } = this.view;
    const offset = camera.position.clone().sub(controls.target);
    offset.applyAxisAngle(camera.up, -0.1 * right);
    const side = offset.clone().cross(camera.up).normalize();
    const tilted = offset.clone().applyAxisAngle(side, -0.1 * up);
    const height = tilted.clone().normalize().z;
    camera.position.copy(controls.target).add(Math.abs(height) < 0.97 ? tilted : offset);
  }

  private applyLook(): void {
    this.setLook(this.panel.look);
    this.panel.showLook();
  }

  async start(): Promise<void> {
    this.busy("Starting…");
    void readExamples().then((examples) => {
      this.examples = examples;
      fillGallery(examples, (name) => void this.openExample(name));
    });
    const module = await readModule();
    this.send({ type: "start", module });
    await this.openLink();
  }

  // For tests and measurements from outside.
  run(steps: number): Promise<Extract<FromWorker, { type: "ran" }>> {
    const id = this.runs.size;
    return new Promise((resolve) => {
      this.runs.set(id, resolve);
      this.send({ type: "run", id, steps });
    });
  }

  screen(point: number[]): { x: number; y: number } {
    return this.view.project(point);
  }

  hits(x: number, y: number): boolean {
    return this.view.pick(x, y) !== null;
  }

  get scene(): SceneInfo | null {
    return this.info;
  }
}

function refuse(title: string, text: string): void {
  element("busy").hidden = true;
  element("toast-title").textContent = title;
  element("toast-text").textContent = text;
  element("toast").hidden = false;
}

async function main(): Promise<void> {
  if (!hasSimd()) {
    refuse("This browser is too old for the studio.", "It has no WebAssembly SIMD. Any current Chrome, Edge, Firefox or Safari (from 16.4) has it.");
    return;
  }
  if (!hasWebGL()) {
    refuse("The studio cannot draw.", "This browser has no WebGL 2, or it is switched off.");
    return;
  }
  const app = new App(startWorker());
  Object.assign(window, { studio: app });
  try {
    await app.start();
  } catch (error) {
    app.fail("The studio could not start.", error instanceof Error ? error.message : String(error));
  }
}

void main();

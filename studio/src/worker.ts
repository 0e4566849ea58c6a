// The worker of the page: takes its messages in order and hands them to the simulation.
import type { ToWorker } from "./protocol.ts";
import { Simulation } from "./simulation.ts";

// Messages that arrive before the core is ready wait for it.
let start: (simulation: Simulation) => void;
const simulation = new Promise<Simulation>((resolve) => (start = resolve));

// Those that build something wait for each other; files and the hand do not.
let queue: Promise<void> = Promise.resolve();

async function handle(s: Simulation, message: ToWorker): Promise<void> {
  switch (message.type) {
    case "load": await s.load(message.name, message.bytes, message.settings); break;
    case "mesh": await s.loadMesh(message.name, message.files, message.frames); break;
    case "reset": await s.reset(); break;
    case "change": await s.change(message.change); break;
    case "undo": await s.undo(); break;
    case "redo": await s.redo(); break;
    case "export": await s.export(message.what); break;
    case "share": s.share(); break;
    case "play": s.play(message.playing); break;
    case "step": s.stepOnce(); break;
    case "speed": s.setSpeed(message.value); break;
    case "seek": s.seek(message.share); break;
    case "grab": s.grab(message.origin, message.direction); break;
    case "drag": s.drag(message.target); break;
    case "release": s.letGo(); break;
    case "hand": s.setHand(message.stiffness); break;
    case "look": s.setLook(message.look); break;
    case "grain": s.showGrain(message.body); break;
    case "pick": s.pick(message.id, message.origin, message.direction); break;
    case "run": s.run(message.id, message.steps); break;
  }
}

self.onmessage = async (event: MessageEvent<ToWorker>): Promise<void> => {
  const message = event.data;
  if (message.type === "start") {
    const made = new Simulation(message.module);
    await made.begin();
    start(made);
    return;
  }
  const s = await simulation;
  if (message.type === "file") s.receiveFile(message.name, message.bytes);
  else if (message.type === "drawn") s.drawn(message.image);
  else queue = queue.then(() => handle(s, message)).catch((error: unknown) => s.recover(error, "change"));
};

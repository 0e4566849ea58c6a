// Small helpers for the page.

export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Partial<HTMLElementTagNameMap[K]> = {},
  children: (Node | string)[] = []): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

let count = 0;

// A labelled control with its value beside it.
function field(name: string, control: HTMLElement, output: HTMLOutputElement | null): HTMLElement {
  control.id = control.id || `field-${++count}`;
  const label = make("label", { htmlFor: control.id, textContent: name });
  return make("div", { className: "field" }, output ? [label, output, control] : [label, control]);
}

export interface SliderOptions {
  id?: string;
  name: string;
  low: number;
  high: number;
  value: number;
  logarithmic?: boolean;
  whole?: boolean; // whole numbers
  settled?: boolean; // report the value when the slider is let go, because acting on it takes a while
  show: (value: number) => string;
  change: (value: number) => void;
}

export function slider(options: SliderOptions): HTMLElement {
  const { low, high, logarithmic } = options;
  const toShare = (v: number): number => (logarithmic ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
  const exact = (s: number): number => (logarithmic ? low * (high / low) ** s : low + s * (high - low));
  const toValue = (s: number): number => (options.whole ? Math.round(exact(s)) : exact(s));
  const output = make("output", { textContent: options.show(options.value) });
  const input = make("input", { type: "range", id: options.id ?? "" });
  input.min = "0";
  input.max = "1";
  input.step = "0.001";
  input.value = String(Math.min(Math.max(toShare(options.value), 0), 1));
  input.setAttribute("aria-valuetext", output.textContent ?? "");
  input.addEventListener("input", () => {
    const value = toValue(Number(input.value));
    output.textContent = options.show(value);
    input.setAttribute("aria-valuetext", options.show(value));
    if (!options.settled) options.change(value);
  });
  if (options.settled) input.addEventListener("change", () => options.change(toValue(Number(input.value))));
  return field(options.name, input, output);
}

export function select(name: string, words: readonly string[], value: string, change: (word: string) => void, id = ""): HTMLElement {
  const input = make("select", { id }, words.map((w) => make("option", { value: w, textContent: w.replaceAll("-", " ") })));
  input.value = value;
  input.addEventListener("change", () => change(input.value));
  return field(name, input, null);
}

export function check(name: string, value: boolean, change: (on: boolean) => void, id = ""): HTMLElement {
  const input = make("input", { type: "checkbox", checked: value, id });
  input.addEventListener("change", () => change(input.checked));
  return make("label", { className: "check" }, [name, input]);
}

export function button(name: string, press: () => void, id = ""): HTMLButtonElement {
  const made = make("button", { type: "button", textContent: name, id });
  made.addEventListener("click", press);
  return made;
}

export interface DialOptions {
  id: string;
  name: string;
  value: number; // [rad]
  change: (angle: number) => void;
}

// A disc that turns with the mouse, a finger or the arrow keys.
export function dial(options: DialOptions): HTMLElement {
  let angle = options.value;
  const disc = make("div", { className: "dial", id: options.id, tabIndex: 0 }, [make("span")]);
  disc.setAttribute("role", "slider");
  disc.setAttribute("aria-label", options.name);
  disc.setAttribute("aria-valuemin", "-180");
  disc.setAttribute("aria-valuemax", "180");
  const output = make("output");
  const show = (): void => {
    const degrees = Math.round((angle * 180) / Math.PI);
    disc.style.setProperty("--angle", `${degrees}deg`);
    disc.setAttribute("aria-valuenow", String(degrees));
    output.textContent = `${degrees}°`;
  };
  const set = (value: number): void => {
    angle = Math.atan2(Math.sin(value), Math.cos(value));
    show();
    options.change(angle);
  };
  const point = (event: PointerEvent): number => {
    const box = disc.getBoundingClientRect();
    return Math.atan2(event.clientX - box.left - box.width / 2, box.top + box.height / 2 - event.clientY);
  };
  disc.addEventListener("pointerdown", (event) => {
    disc.setPointerCapture(event.pointerId);
    set(point(event));
  });
  disc.addEventListener("pointermove", (event) => {
    if (disc.hasPointerCapture(event.pointerId)) set(point(event));
  });
  disc.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    set(angle + (step * 5 * Math.PI) / 180);
  });
  show();
  return make("div", { className: "field" }, [make("label", { htmlFor: options.id, textContent: options.name }), output, disc]);
}

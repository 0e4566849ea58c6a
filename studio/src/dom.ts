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
  show: (value: number) => string;
  change: (value: number) => void;
}

export function slider(options: SliderOptions): HTMLElement {
  const { low, high, logarithmic } = options;
  const toShare = (v: number): number => (logarithmic ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
  const toValue = (s: number): number => (logarithmic ? low * (high / low) ** s : low + s * (high - low));
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
    options.change(value);
  });
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

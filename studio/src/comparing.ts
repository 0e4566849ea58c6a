// Models side by side: the choice of them, and the labels below each.
import { element, make } from "./dom.ts";
import { MODELS, MODEL_WORDS, type Model } from "./models.ts";
import { digits } from "./numbers.ts";
import type { Compared } from "./protocol.ts";
import type { View } from "./view.ts";

const MOST = 4;
const USUAL: Model[] = ["corotational", "affine", "springs", "positions"];

export class Comparing {
  private labels: HTMLElement[] = [];

  constructor(private readonly view: View, private readonly start: (models: Model[]) => void) {
    const boxes = MODEL_WORDS.map((model) => {
      const box = make("input", { type: "checkbox", value: model, checked: USUAL.includes(model), id: `compare-${model}` });
      box.addEventListener("change", () => this.limit());
      return make("label", { className: "check" }, [MODELS[model], box]);
    });
    element("compare-choice").replaceChildren(...boxes);
    element("compare-start").addEventListener("click", () => {
      element<HTMLDialogElement>("compare").close();
      this.start(this.chosen());
    });
    this.limit();
  }

  private boxes(): HTMLInputElement[] {
    return [...element("compare-choice").querySelectorAll("input")];
  }

  private chosen(): Model[] {
    return this.boxes().filter((box) => box.checked).map((box) => box.value as Model);
  }

  // At most four; at least two to compare.
  private limit(): void {
    const count = this.chosen().length;
    for (const box of this.boxes()) box.disabled = !box.checked && count >= MOST;
    element<HTMLButtonElement>("compare-start").disabled = count < 2;
  }

  open(): void {
    element<HTMLDialogElement>("compare").showModal();
  }

  show(compared: Compared[] | null): void {
    if (this.labels.length !== (compared?.length ?? 0)) {
      this.labels = (compared ?? []).map(() => make("div", { className: "compared" }));
      element("labels").replaceChildren(...this.labels);
    }
    compared?.forEach((c, i) => {
      const error = c.best ? "the reference" : `${digits(100 * c.error)} % off`;
      this.labels[i].replaceChildren(
        make("b", { textContent: c.name }), make("span", { textContent: c.failed ? "failed" : error }),
        make("span", { textContent: `${digits(c.milliseconds)} ms a step` }));
      this.labels[i].title = c.failed ?? "";
    });
  }

  // The labels follow the bodies.
  place(): void {
    this.labels.forEach((label, i) => {
      const foot = this.view.footOf(i);
      if (!foot) return;
      label.style.left = `${foot.x}px`;
      label.style.top = `${Math.min(foot.y + 10, innerHeight - 150)}px`;
    });
  }
}

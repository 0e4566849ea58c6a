// The gallery: the examples with their pictures, by section.
import { element, make } from "./dom.ts";
import { pictureAddress, readFile } from "./platform.ts";

export interface Example {
  name: string;
  section: string;
  title: string;
  about: string;
  picture: boolean;
}

export async function readExamples(): Promise<Example[]> {
  const bytes = await readFile("gallery.json");
  return bytes ? (JSON.parse(new TextDecoder().decode(bytes)) as Example[]) : [];
}

function makeCard(example: Example, choose: (name: string) => void): HTMLElement {
  const card = make("button", { type: "button", className: "card" });
  card.dataset.scene = example.name;
  const address = example.picture ? pictureAddress(`pictures/${example.name}.webp`) : null;
  card.append(address
    ? make("img", { src: address, alt: "", loading: "lazy", width: 320, height: 200 })
    : make("span", { className: "blank" }));
  card.append(make("span", { className: "name", textContent: example.title }));
  card.append(make("span", { className: "about", textContent: example.about }));
  card.addEventListener("click", () => choose(example.name));
  return card;
}

export function fillGallery(examples: Example[], choose: (name: string) => void): void {
  const cards = element("cards");
  cards.replaceChildren();
  for (const section of [...new Set(examples.map((e) => e.section))]) {
    const grid = make("div", { className: "grid" });
    grid.append(...examples.filter((e) => e.section === section).map((e) => makeCard(e, choose)));
    cards.append(make("h3", { textContent: section }), grid);
  }
}

// The search field of the site: finds sections whose titles and texts have all words of the query. The sections are in sections.js, which
// scripts/docs makes, so that pages opened from a disk can search, too.
"use strict";

// How well a section fits, 0 if a word is missing: titles count more than text, and beginnings of words more than their insides.
function rate(section, words) {
    const title = (section.title + " " + section.page).toLowerCase(), text = section.text.toLowerCase();
    let sum = 0;
    for (const word of words) {
        const inTitle = title.indexOf(word), inText = text.indexOf(word);
        if (inTitle < 0 && inText < 0) {
            return 0;
        }
        const starts = (where, at) => at >= 0 && (at === 0 || !/[a-z0-9]/.test(where[at - 1]));
        sum += (inTitle >= 0 ? 8 : 0) + (starts(title, inTitle) ? 8 : 0) + (inText >= 0 ? 1 : 0) + (starts(text, inText) ? 2 : 0);
        sum += Math.min(text.split(word).length - 1, 5) / 2;
    }
    return sum;
}

// The best sections for a query, at most `count`.
function find(sections, query, count) {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word.length > 0);
    if (words.length === 0) {
        return [];
    }
    return sections.map((section) => ({ section, rating: rate(section, words) })).filter((hit) => hit.rating > 0)
        .sort((a, b) => b.rating - a.rating).slice(0, count).map((hit) => hit.section);
}

function show(list, root, hits) {
    list.replaceChildren(...hits.map((hit) => {
        const item = document.createElement("li"), link = document.createElement("a"), page = document.createElement("small");
        link.href = root + hit.address;
        link.textContent = hit.title;
        page.textContent = hit.page === hit.title ? "" : hit.page;
        item.append(link, page);
        return item;
    }));
}

function begin() {
    const place = document.querySelector("nav search"), field = document.createElement("input"), list = document.createElement("ol");
    field.type = "search";
    field.placeholder = "Search";
    field.setAttribute("aria-label", "Search these pages");
    field.addEventListener("input", () => show(list, place.dataset.root, find(SINEW_SECTIONS, field.value, 10)));
    field.addEventListener("keydown", (event) => {
        const first = list.querySelector("a");
        if (event.key === "Enter" && first) {
            location.href = first.href;
        }
    });
    place.append(field, list);
}

if (typeof document === "undefined") {
    module.exports = { find };
} else {
    begin();
}

// SPDX-License-Identifier: Apache-2.0
// Adds to the page what it does without: theme, stories in a dialog, search, zoom, arrow keys.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function addTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const dark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  name();
}

// The place of each figure in the JSON, shown on hover.
function addPlaces() {
  document.addEventListener("pointerover", (event) => {
    const value = event.target.closest?.("data[data-json]");
    if (value && !value.title) value.title = value.dataset.json;
  });
}

function addStories() {
  const dialog = document.getElementById("story");
  const body = dialog.querySelector("div");
  document.getElementById("close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("figure.chart a");
    const story = link && document.querySelector(link.getAttribute("href"));
    if (!story || !story.matches("details")) return;
    event.preventDefault();
    const title = document.createElement("h3");
    title.id = "story-title";
    title.textContent = story.querySelector("summary b").textContent;
    body.replaceChildren(title, ...all(":scope > :not(summary)", story).map((each) => each.cloneNode(true)));
    dialog.showModal();
  });
}

// A link to a story opens it.
function openTarget() {
  const story = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (story && story.matches("details")) story.open = true;
}

function addSearch() {
  for (const input of all("input.find")) {
    const section = input.closest("section");
    const found = section.querySelector(".found");
    input.closest(".tools").hidden = false;
    const marks = all("figure.zoom a", section).map((each) => [each, each.textContent.trim().toLowerCase()]);
    const stories = all("details.story", section).map((each) => [each, each.querySelector("summary b").textContent.toLowerCase()]);
    input.addEventListener("input", () => {
      const words = input.value.trim().toLowerCase();
      for (const [mark, name] of marks) mark.classList.toggle("dim", !name.split(":")[0].includes(words));
      let count = 0;
      for (const [story, name] of stories) {
        story.hidden = !name.includes(words);
        count += !story.hidden;
      }
      found.textContent = words ? `${count} of ${stories.length} buffers` : "";
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") section.querySelector("figure.zoom a:not(.dim)")?.focus();
    });
  }
}

function addZoom() {
  for (const figure of all("figure.zoom")) {
    const svg = figure.querySelector("svg");
    let zoom = 1;
    const set = (wanted) => {
      zoom = Math.min(16, Math.max(1, wanted));
      svg.style.width = `${zoom * 100}%`;
      svg.style.minWidth = `${zoom * 640}px`;
    };
    const bar = document.createElement("div");
    bar.className = "zoomers";
    for (const [word, act] of [["Zoom in", () => zoom * 2], ["Zoom out", () => zoom / 2], ["Whole", () => 1]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = word;
      button.addEventListener("click", () => set(act()));
      bar.append(button);
    }
    figure.prepend(bar);
    figure.addEventListener("keydown", (event) => {
      const act = { "+": zoom * 2, "=": zoom * 2, "-": zoom / 2, "0": 1 }[event.key];
      if (act !== undefined && !event.ctrlKey && !event.metaKey) { set(act); event.preventDefault(); }
    });
  }
}

// One stop of the tab key for each chart; arrows go to the nearest mark in their direction.
function addArrows() {
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  for (const figure of all("figure.chart")) {
    const marks = all("svg a", figure);
    marks.forEach((mark, index) => mark.setAttribute("tabindex", index ? "-1" : "0"));
    figure.addEventListener("keydown", (event) => {
      const way = ways[event.key];
      const here = event.target.closest("svg a");
      if (!way || !here) return;
      event.preventDefault();
      const middle = (mark) => {
        const box = mark.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
      };
      const [x, y] = middle(here);
      let best = null;
      let least = Infinity;
      for (const mark of marks) {
        const [toX, toY] = middle(mark);
        const along = (toX - x) * way[0] + (toY - y) * way[1];
        const aside = Math.abs((toX - x) * way[1]) + Math.abs((toY - y) * way[0]);
        const far = along + 2 * aside;
        if (mark !== here && along > 0.5 && far < least) { best = mark; least = far; }
      }
      if (!best) return;
      here.setAttribute("tabindex", "-1");
      best.setAttribute("tabindex", "0");
      best.focus();
    });
  }
}

// Pointing at a device, a pool or a cell of the matrix lights up the ways that it is on.
function addLights() {
  const lit = all("[data-lights]");
  const cells = all("td[data-own]");
  const show = (own) => {
    const wanted = own ? own.split(" ") : [];
    for (const each of lit) {
      const has = each.dataset.lights.split(" ");
      each.classList.toggle("unlit", !wanted.every((token) => has.includes(token)));
    }
    for (const cell of cells) {
      const has = cell.dataset.own.split(" ");
      cell.classList.toggle("lit", wanted.length > 0 && wanted.every((token) => has.includes(token)));
    }
  };
  for (const each of all("[data-own]")) {
    each.addEventListener("pointerenter", () => show(each.dataset.own));
    each.addEventListener("focus", () => show(each.dataset.own));
    each.addEventListener("pointerleave", () => show(""));
    each.addEventListener("blur", () => show(""));
  }
}

addTheme();
addPlaces();
addStories();
addSearch();
addZoom();
addArrows();
addLights();
openTarget();
addEventListener("hashchange", openTarget);

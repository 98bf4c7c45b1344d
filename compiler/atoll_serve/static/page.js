// SPDX-License-Identifier: Apache-2.0
"use strict";
const at = (id) => document.getElementById(id);
const pictures = at("pictures");
let shown = 0;

/** Load the newest picture behind the one that is seen, then swap them at the same place. */
function draw(number) {
  shown = number;
  for (const late of pictures.querySelectorAll(".next")) late.remove();
  const before = pictures.querySelector("iframe");
  const next = document.createElement("iframe");
  next.className = "next";
  next.title = "Report";
  next.src = `report?picture=${number}${before ? before.contentWindow.location.hash : ""}`;
  next.addEventListener("load", () => {
    if (before) {
      const { scrollX, scrollY } = before.contentWindow;
      next.contentWindow.scrollTo({ left: scrollX, top: scrollY, behavior: "instant" });
      before.remove();
    }
    next.className = "";
  });
  pictures.append(next);
}

function show(state) {
  document.title = at("title").textContent = state.title;
  const drawn = state.picture ? `picture ${state.picture}, drawn in ${state.seconds.toFixed(2)} s` : "";
  const stale = state.faults.length && state.picture ? "the picture is that of the last good save" : "";
  at("status").textContent = state.busy || state.run || stale || drawn;
  at("run").hidden = !state.runs;
  at("run").querySelector("button").disabled = state.running;
  at("faults").hidden = !state.faults.length;
  at("faults").replaceChildren(...state.faults.map((text) => {
    const line = document.createElement("pre");
    line.textContent = text;
    return line;
  }));
  if (state.picture > shown) draw(state.picture);
}

const events = new EventSource("events");
events.onmessage = (event) => show(JSON.parse(event.data));
events.onerror = () => { at("status").textContent = "the server has ended; this is its last picture"; };
at("run").addEventListener("submit", (event) => {
  event.preventDefault();
  fetch(`run?cpu=${at("cpu").value}`, { method: "POST" });
});

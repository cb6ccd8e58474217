"use strict";
// Steps as they happen; the pieces are made, and made harmless, by the server.
(() => {
  const steps = document.getElementById("steps");
  if (!steps) return;
  const source = new EventSource(steps.dataset.events);
  const seen = new Set();
  source.addEventListener("step", (event) => {
    if (seen.has(event.lastEventId)) return;
    seen.add(event.lastEventId);
    steps.insertAdjacentHTML("beforeend", JSON.parse(event.data).html);
  });
  source.addEventListener("done", (event) => {
    source.close();
    document.getElementById("working").remove();
    document.getElementById("answer").innerHTML = JSON.parse(event.data).html;
  });
})();

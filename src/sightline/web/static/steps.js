"use strict";
// J and K go from step to step.
document.addEventListener("keydown", (event) => {
  const way = { j: 1, k: -1 }[event.key.toLowerCase()];
  if (!way || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const steps = [...document.querySelectorAll(".step")];
  const at = steps.indexOf(document.activeElement?.closest(".step"));
  const next = steps[Math.min(steps.length - 1, Math.max(0, at + way))];
  if (next) { next.focus(); next.scrollIntoView({ block: "center" }); }
});

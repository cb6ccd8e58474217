"use strict";
// On a phone the bar is one line that scrolls: where one is can be seen in it. `scrollIntoView` would also begin the way of
// the Tab key there, past the link that skips the bar.
const here = document.querySelector("nav.bar [aria-current]");
if (here) {
  const bar = here.parentElement, box = bar.getBoundingClientRect(), own = here.getBoundingClientRect();
  bar.scrollLeft += own.left + own.width / 2 - (box.left + box.width / 2);
}
// A picture that was loaded again in the place of the one over the grid: the way back leads to another page.
addEventListener("popstate", () => { if (!document.getElementById("library")) location.reload(); });
// Keys: whatever has data-key is pressed by it, once however long it is held, unless somebody is typing.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "/") {
    const field = document.getElementById("find") ?? document.querySelector("input[type=search]");
    if (field) { event.preventDefault(); field.focus(); field.select(); }
    return;
  }
  const wanted = document.querySelector(`[data-key="${CSS.escape(event.key.length === 1 ? event.key.toLowerCase() : event.key)}"]`);
  if (!wanted) return;
  event.preventDefault();
  if (!event.repeat) wanted.click();
});

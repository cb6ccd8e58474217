"use strict";
// The grid holds only what is near the window: one block of pictures is one request, kept for as long as it may be needed.
(() => {
  const grid = document.getElementById("grid");
  const count = Number(grid?.dataset.count || 0);
  if (!grid || !count) return;
  const BLOCK = 120, KEPT = 80;
  const query = new URLSearchParams(grid.dataset.query);
  const blocks = new Map(), shown = new Map();
  const plain = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd"); // As `words.one_line`.
  let columns = 1, side = 1, gap = 7, focused = -1, frame = 0;
  let back = performance.getEntriesByType("navigation")[0]?.type === "back_forward" ? history.state?.at ?? -1 : -1;
  grid.textContent = "";
  grid.classList.add("live");

  const measure = () => {
    const wide = grid.clientWidth, phone = matchMedia("(max-width: 46rem)").matches;
    gap = phone ? 4 : 7;
    columns = phone ? 3 : Math.max(1, Math.floor((wide + gap) / (150 + gap)));
    side = (wide - gap * (columns - 1)) / columns;
    grid.style.height = `${Math.ceil(count / columns) * (side + gap)}px`;
  };
  const place = (tile, at) => {
    tile.style.width = tile.style.height = `${side}px`;
    tile.style.transform = `translate(${(at % columns) * (side + gap)}px, ${Math.floor(at / columns) * (side + gap)}px)`;
  };
  const load = (number) => {
    if (blocks.has(number)) return blocks.get(number);
    const asked = new URLSearchParams(query);
    asked.set("offset", number * BLOCK);
    asked.set("limit", BLOCK);
    const coming = fetch(`/api/pictures?${asked}`).then((reply) => (reply.ok ? reply.json() : Promise.reject(reply.status)));
    const held = { rows: null };
    coming.then((rows) => { held.rows = rows; ask(); }, () => blocks.delete(number));
    blocks.set(number, held);
    if (blocks.size > KEPT) blocks.delete(blocks.keys().next().value);
    return held;
  };
  const make = (at) => {
    const tile = document.createElement("a");
    tile.className = "tile";
    tile.dataset.at = at;
    tile.tabIndex = at === Math.max(focused, 0) ? 0 : -1;
    place(tile, at);
    grid.append(tile);
    return tile;
  };
  const fill = (tile, row) => {
    const [key, id, taken, tint] = row;
    tile.href = `/picture?${new URLSearchParams({ id })}`;
    tile.title = plain(taken ? `${id}, ${taken.replace("T", " ")}` : id);
    tile.style.background = tint;
    const image = new Image();
    image.alt = plain(id);
    image.decoding = "async";
    image.src = `/thumb/${key}?size=256`;
    tile.append(image);
  };
  const draw = () => {
    frame = 0;
    const box = grid.getBoundingClientRect(), high = side + gap, margin = innerHeight;
    const first = Math.max(0, Math.floor((-box.top - margin) / high) * columns);
    const last = Math.min(count, Math.ceil((innerHeight - box.top + margin) / high) * columns);
    for (const [at, tile] of shown) {
      if ((at < first || at >= last) && tile !== document.activeElement) { tile.remove(); shown.delete(at); }
    }
    for (let at = first; at < last; at += 1) {
      const held = load(Math.floor(at / BLOCK));
      let tile = shown.get(at);
      if (!tile) { tile = make(at); shown.set(at, tile); }
      if (held.rows && !tile.firstChild && held.rows[at % BLOCK]) fill(tile, held.rows[at % BLOCK]);
    }
    if (back >= 0 && shown.get(back)?.firstChild) { // Whoever comes back from a picture is where they left.
      focused = back;
      back = -1;
      for (const [at, tile] of shown) tile.tabIndex = at === focused ? 0 : -1;
      shown.get(focused).focus({ preventScroll: true });
    }
    grid.dataset.drawn = [...shown.values()].every((tile) => tile.firstChild) ? "all" : "some";
  };
  const ask = () => { frame ||= requestAnimationFrame(draw); };
  const again = () => { measure(); for (const [at, tile] of shown) place(tile, at); ask(); };

  const steps = { ArrowRight: () => 1, ArrowLeft: () => -1, ArrowDown: () => columns, ArrowUp: () => -columns };
  grid.addEventListener("keydown", (event) => {
    const at = Number(event.target.closest("[data-at]")?.dataset.at ?? -1);
    const step = steps[event.key];
    if (at < 0 || !step) return;
    event.preventDefault();
    const next = Math.min(count - 1, Math.max(0, at + step()));
    focused = next;
    const top = grid.getBoundingClientRect().top + scrollY + Math.floor(next / columns) * (side + gap);
    if (top < scrollY + 80) scrollTo(0, top - 80);
    if (top + side > scrollY + innerHeight) scrollTo(0, top + side - innerHeight + 20);
    draw();
    for (const tile of shown.values()) tile.tabIndex = -1;
    const tile = shown.get(next);
    if (tile) { tile.tabIndex = 0; tile.focus({ preventScroll: true }); }
  });
  grid.addEventListener("click", (event) => {
    const at = Number(event.target.closest("[data-at]")?.dataset.at ?? -1);
    if (at >= 0) history.replaceState({ at }, "");
  });
  addEventListener("scroll", ask, { passive: true });
  addEventListener("resize", again);
  measure();
  const offset = Number(grid.dataset.offset || 0);
  if (offset) scrollTo(0, grid.getBoundingClientRect().top + scrollY + Math.floor(offset / columns) * (side + gap));
  draw();
})();

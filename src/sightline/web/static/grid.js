// A justified grid over any number of pictures. Three bytes a picture say its shape and colour, so that every place is known
// and none is empty; only what is near the window is on the page, and a block of pictures is one request.
const BLOCK = 120, KEPT = 80;
let grid, query, count, rows, tops, ratios, tints, blocks, shown, focused, gap, frame = 0, version = 0;
let back = history.state?.at ?? -1;
const plain = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd"); // As `words.one_line`.

export const total = () => count;
export const params = () => new URLSearchParams(query);
export const tileAt = (at) => shown.get(at);

// Where the rows begin: pictures are taken until they fill the width at no more than the wanted height.
const measure = () => {
  const wide = grid.clientWidth, phone = matchMedia("(max-width: 46rem)").matches, wanted = phone ? 110 : 210;
  gap = phone ? 2 : 4;
  rows = [0];
  tops = [0];
  let sum = 0, top = 0;
  for (let at = 0; at < count; at += 1) {
    sum += ratios[at];
    const high = (wide - gap * (at - rows.at(-1))) / sum;
    if (high > wanted && at + 1 < count) continue;
    top += Math.min(high, wanted) + gap;
    rows.push(at + 1);
    tops.push(top);
    sum = 0;
  }
  grid.style.height = `${top}px`;
};
const rowAt = (top) => { // The last row that begins above.
  let low = 0, high = tops.length - 1;
  while (low < high) { const middle = (low + high + 1) >> 1; if (tops[middle] <= top) low = middle; else high = middle - 1; }
  return Math.min(low, rows.length - 2);
};
const rowOf = (at) => {
  let low = 0, high = rows.length - 2;
  while (low < high) { const middle = (low + high + 1) >> 1; if (rows[middle] <= at) low = middle; else high = middle - 1; }
  return low;
};
export const load = (number) => {
  if (blocks.has(number)) return blocks.get(number);
  const asked = new URLSearchParams(query), mine = version;
  asked.set("offset", number * BLOCK);
  asked.set("limit", BLOCK);
  const held = { rows: null };
  held.coming = fetch(`/api/pictures?${asked}`).then((reply) => (reply.ok ? reply.json() : Promise.reject(reply.status)));
  held.coming.then((found) => { held.rows = found; if (mine === version) ask(); }, () => blocks.delete(number));
  blocks.set(number, held);
  if (blocks.size > KEPT) blocks.delete(blocks.keys().next().value);
  return held;
};
export const row = async (at) => (await load(Math.floor(at / BLOCK)).coming)[at % BLOCK];

const place = (tile, at, line) => {
  let left = 0;
  for (let one = rows[line]; one < at; one += 1) left += ratios[one] * (tops[line + 1] - tops[line] - gap) + gap;
  const high = tops[line + 1] - tops[line] - gap;
  tile.style.width = `${ratios[at] * high}px`;
  tile.style.height = `${high}px`;
  tile.style.transform = `translate(${left}px, ${tops[line]}px)`;
};
const make = (at, line) => {
  const tile = document.createElement("a");
  tile.className = "tile";
  tile.dataset.at = at;
  tile.tabIndex = at === Math.max(focused, 0) ? 0 : -1;
  tile.style.background = tints[at];
  place(tile, at, line);
  const next = [...shown.keys()].filter((one) => one > at).sort((a, b) => a - b)[0];
  grid.insertBefore(tile, next === undefined ? null : shown.get(next)); // In the order in which it is read.
  shown.set(at, tile);
  return tile;
};
const fill = (tile, [key, id, taken, , others, stack]) => {
  tile.href = `/picture?${new URLSearchParams({ id })}`;
  tile.dataset.id = id;
  tile.title = plain(taken ? `${id}, ${taken.replace("T", " ")}` : id);
  const image = new Image();
  image.alt = plain(id);
  image.decoding = "async";
  image.src = `/thumb/${key}?size=${devicePixelRatio > 1.2 ? 512 : 256}`;
  tile.append(image);
  if (others && !query.has("group") && query.get("similar") !== "all") {
    tile.append(Object.assign(document.createElement("b"), { className: "stack", textContent: `${stack.startsWith("film/") ? "▶ " : ""}+${others}`, title: stack.startsWith("film/") ? `${others} more of this film` : `${others} more like it` }));
    tile.dataset.stack = stack;
  }
  tile.append(Object.assign(document.createElement("i"), { className: "pick", title: "Select (X)" }));
  grid.dispatchEvent(new CustomEvent("filled", { detail: tile }));
};
const draw = () => {
  frame = 0;
  if (!ratios) return; // Another search began.
  const box = grid.getBoundingClientRect(), margin = innerHeight;
  const first = rows[rowAt(Math.max(0, -box.top - margin))] ?? 0, lines = rowAt(Math.max(0, innerHeight - box.top + margin));
  const last = rows[lines + 1] ?? 0;
  for (const [at, tile] of shown) {
    if ((at < first || at >= last) && tile !== document.activeElement) { tile.remove(); shown.delete(at); }
  }
  for (let line = rowOf(first); line <= lines; line += 1) {
    for (let at = rows[line]; at < rows[line + 1]; at += 1) {
      const held = load(Math.floor(at / BLOCK)), tile = shown.get(at) ?? make(at, line);
      if (held.rows?.[at % BLOCK] && !tile.firstChild) fill(tile, held.rows[at % BLOCK]);
    }
  }
  if (back >= 0 && shown.get(back)?.firstChild) { const at = back; back = -1; focus(at); } // Where one left.
  grid.dataset.drawn = [...shown.values()].every((tile) => tile.firstChild) ? "all" : "some";
};
const ask = () => { if (ratios) frame ||= requestAnimationFrame(draw); };
const again = () => {
  if (!grid?.isConnected || !ratios) return;
  measure();
  for (const [at, tile] of shown) place(tile, at, rowOf(at));
  ask();
};
export const focus = (at) => { // Into the window, and the keys go on from there.
  focused = at;
  const line = rowOf(at), top = grid.getBoundingClientRect().top + scrollY, head = 110;
  if (top + tops[line] < scrollY + head) scrollTo(0, top + tops[line] - head);
  if (top + tops[line + 1] > scrollY + innerHeight) scrollTo(0, top + tops[line + 1] - innerHeight + 20);
  draw();
  for (const tile of shown.values()) tile.tabIndex = -1;
  const tile = shown.get(at);
  if (tile) { tile.tabIndex = 0; tile.focus({ preventScroll: true }); }
};
const beside = (at, way) => { // The picture of the next row that stands nearest.
  const line = rowOf(at) + way, old = shown.get(at);
  if (line < 0 || line > rows.length - 2 || !old) return at;
  const middle = (left, wide) => left + wide / 2, high = tops[line + 1] - tops[line] - gap;
  const wanted = middle(old.getBoundingClientRect().left - grid.getBoundingClientRect().left, old.offsetWidth);
  let best = rows[line], least = Infinity, left = 0;
  for (let one = rows[line]; one < rows[line + 1]; one += 1) {
    const far = Math.abs(middle(left, ratios[one] * high) - wanted);
    if (far < least) { least = far; best = one; }
    left += ratios[one] * high + gap;
  }
  return best;
};
const keys = { ArrowRight: (at) => at + 1, ArrowLeft: (at) => at - 1, ArrowDown: (at) => beside(at, 1), ArrowUp: (at) => beside(at, -1) };
const walk = (event) => {
  const at = Number(event.target.closest("[data-at]")?.dataset.at ?? -1);
  if (at < 0 || !keys[event.key]) return;
  event.preventDefault();
  focus(Math.min(count - 1, Math.max(0, keys[event.key](at))));
};

export const start = async () => {
  const mine = (version += 1);
  grid = document.getElementById("grid");
  count = Number(grid.dataset.count);
  query = new URLSearchParams(grid.dataset.query);
  blocks = new Map();
  shown = new Map();
  focused = -1;
  ratios = null;
  if (!count) return;
  load(Math.floor(Number(grid.dataset.offset || 0) / BLOCK));
  const packed = new Uint8Array(await (await fetch(`/api/layout?${query}`)).arrayBuffer());
  if (mine !== version) return;
  count = packed.length / 3;
  ratios = new Float32Array(count);
  tints = new Array(count);
  for (let at = 0; at < count; at += 1) {
    ratios[at] = Math.min(3.2, Math.max(0.45, 2 ** ((packed[3 * at] - 128) / 32)));
    const colour = (packed[3 * at + 1] << 8) | packed[3 * at + 2];
    tints[at] = `rgb(${(colour >> 11) << 3},${((colour >> 5) & 63) << 2},${(colour & 31) << 3})`;
  }
  grid.textContent = "";
  grid.classList.add("live");
  measure();
  grid.addEventListener("keydown", walk);
  const offset = Number(grid.dataset.offset || 0);
  if (offset) scrollTo(0, grid.getBoundingClientRect().top + scrollY + tops[rowOf(offset)]);
  draw();
};
addEventListener("scroll", ask, { passive: true });
addEventListener("resize", again);

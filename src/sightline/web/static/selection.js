// Pictures that are selected, and what is done with them: an album, a contact sheet.
import { params, row, total } from "./grid.js";
import { post } from "./post.js";

const chosen = new Map(), bar = document.getElementById("chosen"), dialog = document.getElementById("album");
let last = -1;
const say = (text) => { bar.querySelector("[role=status]").textContent = text; };
const mark = (tile) => tile.classList.toggle("selected", chosen.has(tile.dataset.id));
const draw = () => {
  for (const tile of document.querySelectorAll("#grid [data-id]")) mark(tile);
  bar.hidden = !chosen.size;
  for (const button of bar.querySelectorAll("button")) button.hidden = !chosen.size;
  bar.querySelector("b").textContent = `${chosen.size.toLocaleString("en")} selected`;
};
export const isSelecting = () => chosen.size > 0;
export const toggle = async (at, isRange = false) => {
  const isOn = !chosen.has((await row(at))[1]);
  const [from, to] = isRange && last >= 0 ? [Math.min(last, at), Math.max(last, at)] : [at, at];
  for (let one = from; one <= Math.min(to, total() - 1); one += 1) {
    const id = (await row(one))[1];
    if (isOn) chosen.set(id, one); else chosen.delete(id);
  }
  last = at;
  say("");
  draw();
};
export const clear = () => { chosen.clear(); last = -1; draw(); };
export const watch = (grid) => { grid.addEventListener("filled", (event) => mark(event.detail)); clear(); };

const fields = (more = {}) => ({ ids: [...chosen.keys()].join("\n"), ...more });
const sheet = async () => {
  say("Making the contact sheet …");
  const reply = await post("/api/contact-sheet", fields());
  if (!reply.ok) return say((await reply.json()).error);
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(await reply.blob()), download: `${params().get("text") || "pictures"}.pdf` });
  link.click();
  URL.revokeObjectURL(link.href);
  say("");
};
bar?.addEventListener("click", (event) => {
  const what = event.target.closest("[data-do]")?.dataset.do;
  if (what === "clear") clear();
  if (what === "sheet") sheet();
  if (what === "album") { dialog.querySelector("[role=alert]").textContent = ""; dialog.showModal(); }
});
dialog?.querySelector("form").addEventListener("submit", async (event) => {
  if (event.submitter?.value !== "make") return;
  event.preventDefault();
  const reply = await post("/api/album", fields(Object.fromEntries(new FormData(event.target))));
  const found = await reply.json();
  if (!reply.ok) { dialog.querySelector("[role=alert]").textContent = found.error; return; }
  dialog.close();
  clear();
  bar.hidden = false; // It says where the album is, and what can be done with pictures waits for others.
  bar.querySelector("b").textContent = "";
  say(found.told);
});

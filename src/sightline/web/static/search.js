// The page of pictures: what is typed or clicked is asked for at once, and only what changes is drawn anew.
import * as grid from "./grid.js";
import * as lightbox from "./lightbox.js";
import { post, upload } from "./post.js";
import * as selection from "./selection.js";

const PAUSE = 250;
let timer = 0, asked = 0, counted = 0, isTyping = false;
const address = () => new URLSearchParams(location.pathname === "/search" ? location.search : "");

const visit = async (to, isNew) => {
  const mine = (asked += 1), reply = await fetch(to), page = new DOMParser().parseFromString(await reply.text(), "text/html");
  if (mine !== asked || lightbox.isOpen()) return; // Something newer has been asked for.
  const fresh = page.getElementById("library");
  if (!fresh) { location.assign(to); return; }
  document.getElementById("library").replaceWith(fresh);
  document.title = page.title;
  if (isNew) history.pushState(null, "", to); else if (to !== location.pathname + location.search) history.replaceState(null, "", to);
  const field = document.getElementById("find");
  if (document.activeElement !== field) field.value = address().get("text") ?? "";
  begin();
};
const begin = () => {
  if (scrollY > 0 && !history.state?.at) scrollTo(0, 0);
  grid.start();
  selection.watch(document.getElementById("grid"));
  const where = document.getElementById("where");
  where?.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(count, PAUSE); });
};
const count = async () => {
  const mine = (counted += 1), where = document.getElementById("where"), left = document.getElementById("left");
  const found = await (await fetch(`/api/count?${new URLSearchParams({ where: where.value })}`)).json();
  if (mine !== counted) return;
  left.textContent = found.error ? found.error : `${found.count.toLocaleString("en")} ${found.count === 1 ? "picture" : "pictures"}`;
  left.classList.toggle("wrong", Boolean(found.error));
};
const remember = (query, how = "") => post("/api/searches", { query: String(query), how });

// -- what is typed
const field = document.getElementById("find");
const typed = () => {
  const query = address(), text = field.value.trim();
  for (const name of ["offset", "text", ...(text ? ["like", "upload"] : [])]) query.delete(name);
  if (text) query.set("text", text);
  return query;
};
field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => { visit(`/search?${typed()}`, !isTyping); isTyping = true; }, PAUSE);
});
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  visit(`/search?${typed()}`, !isTyping);
  isTyping = false;
});
field.addEventListener("change", () => { isTyping = false; if (field.value.trim()) remember(typed()); });

// -- what is clicked
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  const save = event.target.closest("#save");
  if (save) { remember(address(), save.dataset.how).then(() => visit(location.href, false)); return; }
  if (event.ctrlKey || event.metaKey || event.button) return;
  const tile = event.target.closest("#grid .tile[data-id]"), link = event.target.closest("#library a[href]");
  if (tile) {
    event.preventDefault();
    const at = Number(tile.dataset.at);
    if (event.target.closest(".stack")) visit(`/search?${new URLSearchParams({ group: tile.dataset.stack, order: "oldest" })}`, true);
    else if (event.target.closest(".pick") || selection.isSelecting()) selection.toggle(at, event.shiftKey);
    else lightbox.open(at);
  } else if (link?.pathname === "/search") {
    event.preventDefault();
    visit(link.pathname + link.search, true);
    if (link.closest(".filters")) remember(link.search);
  }
});
document.addEventListener("submit", (event) => {
  if (event.target.id !== "filter") return;
  event.preventDefault();
  const query = new URLSearchParams(new FormData(event.target));
  if (!query.get("where")) query.delete("where");
  visit(`/search?${query}`, true);
  remember(query);
});
document.addEventListener("keydown", (event) => {
  const tile = event.target.closest("#grid .tile[data-id]");
  if (event.key === "Escape" && selection.isSelecting() && !document.querySelector("dialog[open]")) selection.clear();
  if (tile && event.key.toLowerCase() === "x" && !event.ctrlKey && !event.metaKey) selection.toggle(Number(tile.dataset.at), event.shiftKey);
});
addEventListener("popstate", () => { if (!lightbox.closed()) visit(location.href, false); });

// -- a picture to search by: chosen, dropped from elsewhere, or dragged from the grid to the field
const by = async (picture) => {
  try {
    const query = address();
    for (const name of ["like", "text", "offset"]) query.delete(name);
    query.set("upload", await upload(picture));
    field.value = "";
    visit(`/search?${query}`, true);
  } catch (error) {
    document.getElementById("count").textContent = error.message;
  }
};
document.getElementById("file").addEventListener("change", (event) => { if (event.target.files[0]) by(event.target.files[0]); });
addEventListener("dragstart", (event) => {
  const tile = event.target.closest?.("#grid .tile[data-id]");
  if (tile) event.dataTransfer.setData("text/x-sightline", tile.dataset.id);
});
addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const like = event.dataTransfer.getData("text/x-sightline");
  if (like && event.target.closest(".find")) visit(`/search?${new URLSearchParams({ like })}`, true);
  else if (!like && event.dataTransfer.files[0]) by(event.dataTransfer.files[0]);
});
lightbox.connect(visit);
begin();

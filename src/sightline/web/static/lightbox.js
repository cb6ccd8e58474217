// One picture over the grid: keys, zoom to its pixels, what is known of it, and a part of it to search by.
import { focus, params, row, total } from "./grid.js";
import { upload } from "./post.js";

const box = document.getElementById("box"), stage = box?.querySelector(".stage"), image = new Image();
const side = box?.querySelector("aside"), said = box?.querySelector(".tools span");
let at = -1, visit = null, from = null, frame = null, cut = null, touched = null;
export const isOpen = () => Boolean(box?.open);
const isZoomed = () => stage.classList.contains("zoomed");

const fit = () => { stage.classList.remove("zoomed"); stopCrop(); };
const know = async (id) => {
  const page = new DOMParser().parseFromString(await (await fetch(`/picture?${new URLSearchParams({ id })}`)).text(), "text/html");
  if (image.dataset.id !== id) return;
  side.replaceChildren(...(page.getElementById("known")?.childNodes ?? []));
};
const show = async (next) => {
  if (next < 0 || next >= total()) return;
  at = next;
  const [key, id, taken] = await row(next);
  if (at !== next) return;
  fit();
  image.dataset.key = key;
  image.dataset.id = id;
  image.alt = id;
  image.src = `/thumb/${key}?size=1600`;
  said.textContent = `${next + 1} of ${total().toLocaleString("en")} · ${id.split("/").at(-1)}${taken ? ` · ${taken.replace("T", " ")}` : ""}`;
  history.replaceState({ at: next, box: true }, "", `/picture?${new URLSearchParams({ id })}`);
  know(id);
  for (const beside of [next + 1, next - 1]) if (beside >= 0 && beside < total()) row(beside).then(([other]) => { new Image().src = `/thumb/${other}?size=1600`; });
};
export const open = (place) => {
  from = location.href;
  history.replaceState({ at: place }, "");
  history.pushState({ at: place, box: true }, "", location.href);
  stage.append(image);
  box.showModal();
  stage.focus();
  show(place);
};
const close = () => { if (isOpen()) history.back(); };
export const closed = () => { // The address has gone back: so does the page.
  if (!isOpen()) return false;
  fit();
  box.close();
  focus(at);
  return true;
};
const zoom = (event) => {
  if (isZoomed()) return fit();
  const area = image.getBoundingClientRect(), x = event?.clientX ? (event.clientX - area.left) / area.width : 0.5, y = event?.clientY ? (event.clientY - area.top) / area.height : 0.5;
  const centre = () => { stage.scrollTo(x * image.offsetWidth - stage.clientWidth / 2, y * image.offsetHeight - stage.clientHeight / 2); };
  stage.classList.add("zoomed");
  image.addEventListener("load", centre, { once: true });
  image.src = `/thumb/${image.dataset.key}?size=0`;
  centre();
};

// -- a part of it
const stopCrop = () => { frame?.remove(); frame = cut = null; stage.classList.remove("cropping"); };
const startCrop = () => { fit(); stage.classList.add("cropping"); said.textContent = "Draw a frame around what to search for"; };
const search = async () => {
  const area = image.getBoundingClientRect(), frameBox = frame.getBoundingClientRect();
  const scale = image.naturalWidth / area.width, canvas = document.createElement("canvas");
  canvas.width = Math.max(1, frameBox.width * scale);
  canvas.height = Math.max(1, frameBox.height * scale);
  canvas.getContext("2d").drawImage(image, (area.left - frameBox.left) * scale, (area.top - frameBox.top) * scale, image.naturalWidth, image.naturalHeight);
  stopCrop();
  const key = await upload(await new Promise((made) => { canvas.toBlob(made, "image/jpeg", 0.9); }));
  go({ upload: key });
};
const go = (wanted) => {
  const query = params();
  for (const name of ["text", "like", "upload", "offset", "order"]) query.delete(name);
  for (const [name, value] of Object.entries(wanted)) query.set(name, value);
  box.close();
  history.replaceState(null, "", from);
  visit(`/search?${query}`, true);
};
const does = { close, zoom, crop: startCrop, like: () => go({ like: image.dataset.id }), info: () => box.classList.toggle("bare"), before: () => show(at - 1), after: () => show(at + 1) };
const keys = { ArrowLeft: "before", ArrowRight: "after", z: "zoom", c: "crop", l: "like", i: "info" };

export const connect = (goes) => {
  visit = goes;
  if (!box) return;
  box.addEventListener("cancel", (event) => { event.preventDefault(); if (stage.classList.contains("cropping")) stopCrop(); else close(); });
  box.addEventListener("click", (event) => { const what = event.target.closest("[data-do]")?.dataset.do; if (what) does[what](); else if (event.target === stage) close(); });
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation();
    const what = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (what) { event.preventDefault(); does[what](); }
  });
  image.addEventListener("dragstart", (event) => event.preventDefault());
  stage.addEventListener("pointerdown", (event) => {
    touched = { x: event.clientX, y: event.clientY, left: stage.scrollLeft, top: stage.scrollTop, on: event.target, moved: false };
    if (stage.classList.contains("cropping")) { frame?.remove(); frame = Object.assign(document.createElement("div"), { className: "frame" }); stage.append(frame); cut = touched; stage.setPointerCapture(event.pointerId); }
  });
  stage.addEventListener("pointermove", (event) => {
    if (!touched) return;
    touched.moved ||= Math.hypot(event.clientX - touched.x, event.clientY - touched.y) > 6;
    if (cut && frame) {
      const left = Math.min(cut.x, event.clientX), top = Math.min(cut.y, event.clientY);
      Object.assign(frame.style, { left: `${left}px`, top: `${top}px`, width: `${Math.abs(event.clientX - cut.x)}px`, height: `${Math.abs(event.clientY - cut.y)}px` });
    } else if (isZoomed() && event.pointerType === "mouse") stage.scrollTo(touched.left + touched.x - event.clientX, touched.top + touched.y - event.clientY);
  });
  stage.addEventListener("pointerup", (event) => {
    const began = touched, drawn = frame && cut ? frame.getBoundingClientRect() : null;
    touched = cut = null;
    if (drawn) { if (drawn.width > 12 && drawn.height > 12) search(); return; }
    const wide = began ? event.clientX - began.x : 0;
    if (began && !isZoomed() && event.pointerType === "touch" && Math.abs(wide) > 50) show(at - Math.sign(wide));
    else if (began && !began.moved && began.on === image) zoom(event);
  });
};

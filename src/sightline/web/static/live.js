"use strict";
// Parts of a page that change by themselves (`data-live` says where they are fetched from), until nothing is under way;
// and fields for folders, which offer what is in the one that is typed.
(() => {
  const again = async (id) => {
    const here = document.getElementById(id);
    if (!here?.dataset.live) return;
    try {
      const page = new DOMParser().parseFromString(await (await fetch(here.dataset.live)).text(), "text/html");
      const fresh = page.getElementById(id);
      const bar = document.querySelector("nav.bar a[href='/jobs']"), fresher = page.querySelector("nav.bar a[href='/jobs']");
      if (bar && fresher) bar.innerHTML = fresher.innerHTML; // How many are running.
      const isNext = !fresh || fresh.dataset.stage !== here.dataset.stage;
      if (isNext && here.dataset.more && document.querySelector("#grid .tile, dialog[open]")) {
        here.replaceChildren(`${here.dataset.more} `, Object.assign(document.createElement("a"), { href: location.href, textContent: "Show it" }));
        return;
      }
      if (isNext) { location.reload(); return; }
      for (const open of here.querySelectorAll("details[open][id]")) fresh.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
      const focused = here.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
      if (fresh.innerHTML !== here.innerHTML || !fresh.dataset.live) here.replaceWith(fresh);
      if (focused) document.querySelector(`#${CSS.escape(id)} [aria-label="${CSS.escape(focused)}"]`)?.focus();
    } catch { /* The app is being started anew: try again. */ }
    setTimeout(again, 1000, id);
  };
  for (const part of document.querySelectorAll("[data-live]")) setTimeout(again, 1000, part.id);

  const chip = (field, path, text) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "chip", textContent: text });
    button.addEventListener("click", () => { field.value = path; offer(field); });
    return button;
  };
  const offer = async (field) => {
    const typed = field.value, asked = new URLSearchParams({ path: typed, archives: field.dataset.archives ?? "" });
    const found = await (await fetch(`/api/folders?${asked}`)).json();
    if (!Array.isArray(found) || typed !== field.value) return;
    const list = field.closest("label").parentElement.querySelector(".folders") ?? Object.assign(document.createElement("p"), { className: "chips folders" });
    const above = typed.replace(/[^/]*\/?$/, "");
    list.replaceChildren(...(above ? [chip(field, above, "↑")] : []), ...found.map((path) => chip(field, path, path.match(/[^/]+\/?$/)?.[0] ?? path)));
    field.closest("label").after(list);
  };
  for (const field of document.querySelectorAll("input.folder")) {
    field.addEventListener("input", () => offer(field));
    field.addEventListener("focus", () => offer(field));
    if (!field.value && field.dataset.archives) offer(field);
  }
})();

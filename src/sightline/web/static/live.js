"use strict";
// Parts of a page that change by themselves (`data-live` says where they are fetched from), until nothing is under way;
// and fields for folders, which complete what is typed.
(() => {
  const again = async (id) => {
    const here = document.getElementById(id);
    if (!here?.dataset.live) return;
    try {
      const page = new DOMParser().parseFromString(await (await fetch(here.dataset.live)).text(), "text/html");
      const fresh = page.getElementById(id);
      if (!fresh) { location.reload(); return; }
      for (const open of here.querySelectorAll("details[open][id]")) fresh.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
      const focused = here.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
      if (fresh.innerHTML !== here.innerHTML || !fresh.dataset.live) here.replaceWith(fresh);
      if (focused) document.querySelector(`#${CSS.escape(id)} [aria-label="${CSS.escape(focused)}"]`)?.focus();
    } catch { /* The app is being started anew: try again. */ }
    setTimeout(again, 1000, id);
  };
  for (const part of document.querySelectorAll("[data-live]")) setTimeout(again, 1000, part.id);

  const list = document.createElement("datalist");
  list.id = "folders";
  document.body.append(list);
  const complete = async (event) => {
    const found = await (await fetch(`/api/folders?${new URLSearchParams({ path: event.target.value })}`)).json();
    if (Array.isArray(found)) list.replaceChildren(...found.map((path) => Object.assign(document.createElement("option"), { value: path })));
  };
  for (const field of document.querySelectorAll("input.folder")) {
    field.addEventListener("input", complete);
    field.addEventListener("focus", complete);
  }
})();

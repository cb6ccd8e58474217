"use strict";
// What is chosen is shown where one is: the page stays at its place, and so does the focus.
(() => {
  const show = async (href, focus) => {
    const reply = await fetch(href);
    if (!reply.ok) { location.assign(href); return; }
    const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
    const sideways = [...document.querySelectorAll(".photos")].map((strip) => strip.scrollLeft);
    document.querySelector("main").replaceWith(fresh.querySelector("main"));
    document.title = fresh.title;
    [...document.querySelectorAll(".photos")].forEach((strip, at) => { strip.scrollLeft = sideways[at] || 0; });
    const chosen = document.getElementById("chosen");
    if (focus) [...document.querySelectorAll("main a")].find((link) => link.getAttribute("href") === focus)?.focus({ preventScroll: true });
    if (matchMedia("(max-width: 60rem)").matches) chosen.scrollIntoView();
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".memory a, .chips a");
    const href = link?.getAttribute("href") ?? "";
    if (!href.startsWith(location.pathname) || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    history.pushState(null, "", href);
    show(href, href);
  });
  addEventListener("popstate", () => show(location.href));
})();

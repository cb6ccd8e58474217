"use strict";
// A decision is sent once, however often a key is pressed; the words of a query are ready to be typed.
(() => {
  document.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "1";
  });
  const reword = document.getElementById("reword");
  reword?.addEventListener("toggle", () => { if (reword.open) reword.querySelector("input[name=words]").focus(); });
})();

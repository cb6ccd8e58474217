"use strict";
// One thing is under way at a time: what is pressed while a decision is being saved was meant for the next page.
// What is opened to say something is ready to be typed into.
(() => {
  let sent = false;
  document.addEventListener("click", (event) => { if (sent) event.preventDefault(); }, true);
  document.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  addEventListener("pageshow", () => { sent = false; });
  for (const say of document.querySelectorAll("details.say")) {
    say.addEventListener("toggle", () => { if (say.open) say.querySelector("input[name=words]").focus(); });
  }
})();

"use strict";
// How many pictures the filter leaves, while it is typed; and a picture that is dropped becomes a search.
(() => {
  const form = document.getElementById("search");
  if (!form) return;
  const where = document.getElementById("where"), left = document.getElementById("left");
  const state = document.getElementById("upload-state"), file = document.getElementById("file");
  let timer = 0, asked = 0;
  const count = async () => {
    const mine = (asked += 1);
    const reply = await fetch(`/api/count?${new URLSearchParams({ where: where.value })}`);
    const found = await reply.json();
    if (mine !== asked) return;
    left.textContent = found.error ? found.error : `${found.count.toLocaleString("en")} ${found.count === 1 ? "picture" : "pictures"}`;
    left.classList.toggle("wrong", Boolean(found.error));
  };
  if (left) where.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(count, 200); });
  if (left && !document.querySelector("[role=alert]")) count(); // What is wrong is told once.

  const send = async (picture) => {
    state.textContent = "Sending …";
    const reply = await fetch("/api/upload", {
      method: "POST",
      headers: { "X-CSRF-Token": document.querySelector("meta[name=csrf]").content, "Content-Type": "application/octet-stream" },
      body: picture,
    });
    const found = await reply.json();
    if (!reply.ok) { state.textContent = found.error; state.classList.add("wrong"); return; }
    const query = new URLSearchParams(new FormData(form));
    query.delete("like");
    query.set("upload", found.upload);
    location.assign(`/search?${query}`);
  };
  file.addEventListener("change", () => { if (file.files[0]) send(file.files[0]); });
  const drop = document.getElementById("drop");
  addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0]);
  });
})();

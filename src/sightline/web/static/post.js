// A form as our own pages send it.
export const token = () => document.querySelector("meta[name=csrf]").content;
export const post = (path, fields) => fetch(path, { method: "POST", headers: { "X-CSRF-Token": token() }, body: new URLSearchParams(fields) });
export const upload = async (picture) => {
  const reply = await fetch("/api/upload", { method: "POST", headers: { "X-CSRF-Token": token(), "Content-Type": "application/octet-stream" }, body: picture });
  const found = await reply.json();
  if (!reply.ok) throw new Error(found.error);
  return found.upload;
};

// Browsers start no worker on a page that was opened from a folder. The search then runs its worker in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.onmessage = this.onerror = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => {
        const copy = structuredClone(data); // As between threads: each side keeps its own.
        setTimeout(() => this.onmessage?.({ data: copy }));
      };
      const script = inside.document.createElement("script");
      this.loaded = new Promise((done) => { script.onload = done; });
      script.onerror = (event) => this.onerror?.(event);
      script.src = new URL(url, location.href).href;
      inside.document.body.append(script);
      this.frame = frame;
    }

    postMessage(data) {
      const copy = structuredClone(data);
      this.loaded.then(() => this.frame.contentWindow.onmessage?.({ data: copy }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}

// Browsers start no worker from a file. So that the search works in a folder too, without a server,
// the worker's script runs in an empty frame there.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.started = new Promise((start) => {
        const run = () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) =>
            this.dispatchEvent(new MessageEvent("message", { data }));
          const script = inside.document.createElement("script");
          script.src = url;
          script.addEventListener("load", () => start(inside));
          inside.document.body.append(script);
        };
        frame.addEventListener("load", run, { once: true });
      });
      document.body.append(frame);
    }

    async postMessage(data) {
      const inside = await this.started;
      inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}

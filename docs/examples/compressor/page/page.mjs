// Has a worker compress bytes. The page itself must not block, and C does.
const at = (id) => document.getElementById(id);

function compress(bytes) {
  at("said").textContent = "…";
  const worker = new Worker(new URL("./worker.js", import.meta.url), {
    type: "module",
  });
  const began = performance.now();
  worker.onmessage = ({ data: { said, compressed } }) => {
    const took = Math.round(performance.now() - began);
    at("said").textContent = `${said}, ${took} ms`;
    URL.revokeObjectURL(at("result").href);
    at("result").href = URL.createObjectURL(new Blob([compressed]));
    at("result").hidden = false;
    worker.terminate();
  };
  worker.onerror = ({ message }) => {
    at("said").textContent = message ?? "the worker did not start";
  };
  worker.postMessage(bytes);
}

at("text").onclick = () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `This is line ${i}.`);
  compress(new TextEncoder().encode(lines.join(" and then ")));
};

at("file").onchange = async () => {
  const [file] = at("file").files;
  if (file !== undefined) compress(new Uint8Array(await file.arrayBuffer()));
};

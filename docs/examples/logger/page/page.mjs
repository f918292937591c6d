// Starts the workers, waits until all is written, and shows the file's end.
import { Latch, RecordRing } from "@weft/sync";

const WORKERS = 3;
const at = (id) => document.getElementById(id);

at("start").onclick = async () => {
  at("start").disabled = true;
  const lines = RecordRing.create({ capacity: 1 << 16 });
  const working = Latch.create(WORKERS);
  const written = Latch.create(1);
  const shared = {
    lines: lines.handle,
    working: working.handle,
    written: written.handle,
  };
  const workers = ["writer", "first", "second", "third"].map((name) => {
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      type: "module",
    });
    worker.onerror = ({ message }) => {
      at("said").textContent = message ?? "a worker did not start";
    };
    worker.postMessage({ ...shared, name });
    return worker;
  });
  await working.waitAsync();
  lines.close(); // the writer writes what is left, and ends
  await written.waitAsync();
  workers.forEach((worker) => worker.terminate());
  const folder = await navigator.storage.getDirectory();
  const file = await (await folder.getFileHandle("log.txt")).getFile();
  const all = (await file.text()).trim().split("\n");
  at("said").textContent = `${all.length} lines, ${file.size} bytes`;
  at("lines").textContent = all.slice(-5).join("\n");
  at("start").disabled = false;
};

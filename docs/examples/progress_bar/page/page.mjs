// Draws how far a worker is, once a frame. The button stops it at once.
import { Event, Snapshot } from "@weft/sync";

const at = (id) => document.getElementById(id);
const progress = Snapshot.create({ size: 8 });
const stop = Event.create();
const ended = Event.create();
const worker = new Worker(new URL("./worker.js", import.meta.url), {
  type: "module",
});
worker.postMessage({
  progress: progress.handle,
  stop: stop.handle,
  ended: ended.handle,
});
const seen = new Float64Array(1);

at("start").onclick = async () => {
  at("start").disabled = true;
  at("stop").disabled = false;
  stop.reset();
  ended.reset();
  at("said").textContent = "";
  worker.postMessage("start");
  let frame = requestAnimationFrame(function show() {
    progress.read(seen);
    at("bar").value = seen[0];
    frame = requestAnimationFrame(show);
  });
  await ended.waitAsync();
  cancelAnimationFrame(frame);
  progress.read(seen);
  at("said").textContent = seen[0] < 1
    ? `stopped at ${(100 * seen[0]).toFixed(1)} %`
    : "done";
  at("start").disabled = false;
  at("stop").disabled = true;
};

at("stop").onclick = () => stop.set();

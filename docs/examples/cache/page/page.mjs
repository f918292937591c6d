// Draws the table while workers fill it, and counts how often they had to
// compute a value.
import { RwLock, StripedCounter, struct, WorkCounter } from "@weft/sync";

const WORKERS = 3;
const SLOTS = 256;
const QUESTIONS = 6000;
const COLOURS = ["#3b76d6", "#d97706", "#0f9d58"];
const Entry = struct({ key: "u32", by: "u32", value: "f64" });
const at = (id) => document.getElementById(id);
const canvas = at("table").getContext("2d");

at("start").onclick = async () => {
  at("start").disabled = true;
  const table = new SharedArrayBuffer(SLOTS * Entry.size);
  const computed = StripedCounter.create();
  const lock = RwLock.create();
  const questions = WorkCounter.create(QUESTIONS);
  const workers = Array.from({ length: WORKERS }, (_, agent) => {
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      type: "module",
    });
    worker.postMessage({
      table,
      agent,
      computed: computed.handle,
      lock: lock.handle,
      questions: questions.handle,
    });
    return worker;
  });
  const entry = Entry.view(new Uint8Array(table), 0);
  let frame = requestAnimationFrame(function show() {
    const guard = lock.tryRead(); // a page must not wait: next time, then
    if (guard !== undefined) {
      draw(entry);
      guard.unlock();
    }
    frame = requestAnimationFrame(show);
  });
  await questions.waitAsync();
  cancelAnimationFrame(frame);
  workers.forEach((worker) => worker.terminate());
  draw(entry);
  at("said").textContent =
    `${QUESTIONS} answers, of which ${computed.sum()} were computed`;
  at("start").disabled = false;
};

function draw(entry) {
  canvas.clearRect(0, 0, 640, 160);
  for (let i = 0; i < SLOTS; i++) {
    entry.$at = i * Entry.size;
    if (entry.key === 0) continue;
    canvas.fillStyle = COLOURS[entry.by];
    canvas.fillRect((i % 32) * 20 + 1, Math.floor(i / 32) * 20 + 1, 18, 18);
  }
}

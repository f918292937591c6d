// Hands out permits, and draws how many requests each worker has sent.
import { Semaphore } from "@weft/sync";

const WORKERS = 3;
const COLOURS = ["#3b76d6", "#d97706", "#0f9d58"];
const AT_ONCE = 5; // permits that may lie there, if nobody wants them
const at = (id) => document.getElementById(id);
const permits = Semaphore.create();
const sent = new Int32Array(new SharedArrayBuffer(4 * WORKERS));
for (let number = 0; number < WORKERS; number++) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), {
    type: "module",
  });
  worker.postMessage({ permits: permits.handle, sent, number });
}

const began = performance.now();
let then = began;
let due = 0;
setInterval(() => {
  const now = performance.now();
  due += (now - then) / 1000 * Number(at("rate").value);
  then = now;
  const n = Math.min(Math.floor(due), AT_ONCE - permits.available);
  due -= Math.floor(due);
  if (n > 0) permits.release(n);
}, 20);

const canvas = at("sent").getContext("2d");
requestAnimationFrame(function draw() {
  const { width } = canvas.canvas;
  canvas.clearRect(0, 0, width, 120);
  let sum = 0;
  for (let i = 0; i < WORKERS; i++) {
    const count = Atomics.load(sent, i);
    canvas.fillStyle = COLOURS[i];
    canvas.fillRect(0, 40 * i + 4, 4 * count % width, 32);
    sum += count;
  }
  at("said").textContent = `${at("rate").value}; ${sum} sent`;
  requestAnimationFrame(draw);
});

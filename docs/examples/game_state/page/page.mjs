// Draws the latest state once a frame, and sends keys. Nobody ever waits.
import { Snapshot, SpscQueue } from "@weft/sync";

const THINGS = 64;
const KEYS = { ArrowLeft: 1, ArrowRight: 2, ArrowUp: 3 };
const state = Snapshot.create({ size: (1 + 2 * THINGS) * 8 });
const keys = SpscQueue.create({ capacity: 16 });
const worker = new Worker(new URL("./worker.js", import.meta.url), {
  type: "module",
});
worker.postMessage({ state: state.handle, keys: keys.handle });

addEventListener("keydown", ({ key }) => {
  if (KEYS[key] !== undefined) keys.tryPushInt(KEYS[key]);
});
for (const button of document.querySelectorAll("[data-key]")) {
  button.onclick = () => keys.tryPushInt(Number(button.dataset.key));
}

const canvas = document.getElementById("field").getContext("2d");
const said = document.getElementById("said");
const things = new Float64Array(1 + 2 * THINGS);
requestAnimationFrame(function draw() {
  state.read(things); // all of one step
  const { width, height } = canvas.canvas;
  canvas.clearRect(0, 0, width, height);
  canvas.fillStyle = "#3b76d6";
  for (let i = 0; i < THINGS; i++) {
    canvas.beginPath();
    const [x, y] = things.subarray(1 + 2 * i, 3 + 2 * i);
    canvas.arc(x * width, y * height, 5, 0, 7);
    canvas.fill();
  }
  said.textContent = `step ${things[0]}`;
  requestAnimationFrame(draw);
});

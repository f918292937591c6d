// Draws an array while workers sort it.
import { Barrier, Latch } from "@weft/sync";

const AGENTS = 4; // a power of two
const N = 1 << 14;
const COLOURS = ["#3b76d6", "#d97706", "#0f9d58", "#b83fc9"];
const at = (id) => document.getElementById(id);
const canvas = at("picture").getContext("2d");
const memory = () => new Uint32Array(new SharedArrayBuffer(N * 4));
const [numbers, spare] = [memory(), memory()];
// Which worker has which part of the array.
const owners = new Uint8Array(new SharedArrayBuffer(AGENTS));
shuffle();
draw();

at("sort").onclick = async () => {
  at("sort").disabled = true;
  shuffle();
  const barrier = Barrier.create(AGENTS);
  const sorted = Latch.create(AGENTS);
  const began = performance.now();
  const workers = Array.from({ length: AGENTS }, (_, agent) => {
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      type: "module",
    });
    worker.postMessage({
      agent,
      agents: AGENTS,
      numbers,
      spare,
      owners,
      barrier: barrier.handle,
      sorted: sorted.handle,
    });
    return worker;
  });
  let frame = requestAnimationFrame(function show() {
    draw(); // a picture may show an array that is half merged
    frame = requestAnimationFrame(show);
  });
  await sorted.waitAsync();
  const took = Math.round(performance.now() - began);
  cancelAnimationFrame(frame);
  workers.forEach((worker) => worker.terminate());
  draw();
  const right = numbers.every((n, i) => i === 0 || numbers[i - 1] <= n);
  at("said").textContent = right ? `sorted, ${took} ms` : "wrong";
  at("sort").disabled = false;
};

function shuffle() {
  for (let i = 0; i < N; i++) numbers[i] = Math.random() * 2 ** 32;
  owners.forEach((_, part) => owners[part] = part);
}

function draw() {
  const { width, height } = canvas.canvas;
  canvas.clearRect(0, 0, width, height);
  for (let x = 0; x < width; x++) {
    canvas.fillStyle = COLOURS[owners[Math.floor(x * AGENTS / width)]];
    const tall = numbers[Math.floor(x * N / width)] / 2 ** 32 * height;
    canvas.fillRect(x, height - tall, 1, tall);
  }
}

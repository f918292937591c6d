// Shows a picture, and has workers blur it. The page only awaits.
import { WorkCounter } from "@weft/sync";

const WIDE = 512;
const HIGH = 512;
const at = (id) => document.getElementById(id);
const canvas = at("picture").getContext("2d");

let pixels = new SharedArrayBuffer(WIDE * HIGH);
new Uint8Array(pixels).forEach((_, i, all) => {
  const [x, y] = [i % WIDE, Math.floor(i / WIDE)];
  all[i] = (x ^ y) & 32 ? 40 + x / 4 : 220 - y / 4;
});
draw();

at("blur").onclick = async () => {
  at("blur").disabled = true;
  const began = performance.now();
  pixels = await blur(pixels, Number(at("workers").value));
  at("said").textContent = `${Math.round(performance.now() - began)} ms`;
  draw();
  at("blur").disabled = false;
};

/** Returns the blurred pixels, once all rows are done. */
async function blur(from, agents) {
  const to = new SharedArrayBuffer(WIDE * HIGH);
  const rows = WorkCounter.create(HIGH, { schedule: "guided", agents });
  const workers = Array.from({ length: agents }, () => {
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      type: "module",
    });
    worker.postMessage({ from, to, rows: rows.handle });
    return worker;
  });
  await rows.waitAsync();
  workers.forEach((worker) => worker.terminate());
  return to;
}

function draw() {
  const image = canvas.createImageData(WIDE, HIGH);
  new Uint8Array(pixels).forEach((grey, i) => {
    image.data.fill(grey, 4 * i, 4 * i + 3);
    image.data[4 * i + 3] = 255;
  });
  canvas.putImageData(image, 0, 0);
}

// Shows a picture while workers blur it. The page only awaits.
import { WorkCounter } from "@weft/sync";

const WIDE = 512;
const HIGH = 512;
const STRIP = 24; // at the right of the picture: who did the row
const COLOURS = ["#3b76d6", "#d97706", "#0f9d58", "#b83fc9"];
const NONE = 255; // nobody yet
const at = (id) => document.getElementById(id);
const canvas = at("picture").getContext("2d");

let pixels = new SharedArrayBuffer(WIDE * HIGH);
new Uint8Array(pixels).forEach((_, i, all) => {
  const [x, y] = [i % WIDE, Math.floor(i / WIDE)];
  all[i] = (x ^ y) & 32 ? 40 + x / 4 : 220 - y / 4;
});
let owners = new Uint8Array(new SharedArrayBuffer(HIGH)).fill(NONE);
draw();

at("blur").onclick = async () => {
  if (!at("workers").reportValidity()) return; // 0 workers, or a thousand
  at("blur").disabled = true;
  const began = performance.now();
  const agents = Number(at("workers").value);
  await blur(agents);
  const took = Math.round(performance.now() - began);
  const rows = Array.from(
    { length: agents },
    (_, agent) => owners.filter((owner) => owner === agent).length,
  );
  at("said").textContent = `${rows.join(" + ")} rows, ${took} ms`;
  at("blur").disabled = false;
};

/** Blurs the pixels, and shows each row as soon as it is done. */
async function blur(agents) {
  const from = pixels;
  const to = new SharedArrayBuffer(WIDE * HIGH);
  new Uint8Array(to).set(new Uint8Array(from));
  owners = new Uint8Array(new SharedArrayBuffer(HIGH)).fill(NONE);
  const rows = WorkCounter.create(HIGH, { schedule: "guided", agents });
  const workers = Array.from({ length: agents }, (_, agent) => {
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      type: "module",
    });
    worker.postMessage({ from, to, owners, agent, rows: rows.handle });
    return worker;
  });
  pixels = to;
  let frame = requestAnimationFrame(function show() {
    draw();
    frame = requestAnimationFrame(show);
  });
  await rows.waitAsync();
  cancelAnimationFrame(frame);
  workers.forEach((worker) => worker.terminate());
  draw();
}

function draw() {
  const image = canvas.createImageData(WIDE, HIGH);
  new Uint8Array(pixels).forEach((grey, i) => {
    image.data.fill(grey, 4 * i, 4 * i + 3);
    image.data[4 * i + 3] = 255;
  });
  canvas.putImageData(image, 0, 0);
  canvas.clearRect(WIDE, 0, STRIP, HIGH);
  for (let y = 0; y < HIGH; y++) {
    if (owners[y] === NONE) continue;
    canvas.fillStyle = COLOURS[owners[y] % COLOURS.length];
    canvas.fillRect(WIDE + 4, y, STRIP - 4, 1);
  }
}

// Workers blur an image together. They take rows from one counter, so a worker
// that is slow takes fewer rows.
import { WorkCounter } from "@weft/sync";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const WIDE = 512;
const HIGH = 512;
const AGENTS = 2;

if (isMainThread) await main();
else blur(workerData);

async function main() {
  const memory = () => new SharedArrayBuffer(WIDE * HIGH);
  const [from, to] = [memory(), memory()];
  new Uint8Array(from).forEach((_, i, pixels) => pixels[i] = (i * i) >> 7);
  const rows = WorkCounter.create(HIGH, { schedule: "guided", agents: AGENTS });
  const done = new Int32Array(new SharedArrayBuffer(4 * AGENTS)); // rows of each
  const shared = { from, to, rows: rows.handle, done };
  const workers = Array.from(
    { length: AGENTS },
    (_, agent) =>
      new Worker(new URL(import.meta.url), {
        workerData: { ...shared, agent },
      }).on("error", fail),
  );
  await rows.waitAsync();
  await Promise.all(workers.map((worker) => worker.terminate()));

  const alone = { ...shared, to: memory(), done: new Int32Array(1), agent: 0 };
  const again = WorkCounter.create(HIGH);
  blur({ ...alone, rows: again.handle });
  const [a, b] = [new Uint8Array(to), new Uint8Array(alone.to)];
  const equal = a.every((pixel, i) => pixel === b[i]);
  console.log(`${done.join(" + ")} rows by ${AGENTS} workers`);
  console.log(equal ? "equal to what one thread makes" : "different");
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

/** Blurs rows until none is left. */
function blur({ from, to, rows, done, agent }) {
  const source = new Uint8Array(from);
  const target = new Uint8Array(to);
  const work = WorkCounter.from(rows);
  for (let range; (range = work.nextRange()) !== undefined;) {
    for (let y = range.start; y < range.end; y++) blurRow(source, target, y);
    done[agent] += range.end - range.start;
    work.done(range.end - range.start);
  }
}

function blurRow(source, target, y) {
  for (let x = 0; x < WIDE; x++) {
    let sum = 0;
    let count = 0;
    for (let v = Math.max(y - 1, 0); v <= Math.min(y + 1, HIGH - 1); v++) {
      for (let u = Math.max(x - 1, 0); u <= Math.min(x + 1, WIDE - 1); u++) {
        sum += source[v * WIDE + u];
        count++;
      }
    }
    target[y * WIDE + x] = sum / count;
  }
}

// A worker computes, and this agent shows how far it is, once a frame, without
// any message. A button, here at 60 %, stops the worker at once.
import { Event, Snapshot } from "@weft/sync";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const STEPS = 1e9; // a second or two

if (isMainThread) await main();
else compute();

async function main() {
  const progress = Snapshot.create({ size: 8 });
  const stop = Event.create();
  const ended = Event.create();
  new Worker(new URL(import.meta.url), {
    workerData: {
      progress: progress.handle,
      stop: stop.handle,
      ended: ended.handle,
    },
  }).on("error", fail);
  const seen = new Float64Array(1);
  let shown = 0;
  // On a page: requestAnimationFrame.
  const timer = setInterval(() => {
    progress.read(seen);
    const tenths = Math.floor(10 * seen[0] / STEPS);
    if (tenths > shown) {
      shown = tenths;
      console.log("#".repeat(tenths).padEnd(10, "."), `${10 * tenths} %`);
    }
    if (tenths >= 6) stop.set(); // as a button would do
  }, 16);
  await ended.waitAsync();
  clearInterval(timer);
  progress.read(seen);
  console.log(seen[0] < STEPS ? "stopped" : "not stopped");
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

/** Works in pieces, and looks after each whether it shall stop. */
function compute() {
  const progress = Snapshot.from(workerData.progress);
  const stop = Event.from(workerData.stop);
  let sum = 0;
  for (let done = 0; done < STEPS && !stop.isSet; done += 10_000) {
    for (let i = 0; i < 10_000; i++) sum += Math.sqrt(done + i);
    progress.write(Float64Array.of(done + 10_000));
  }
  Event.from(workerData.ended).set();
}

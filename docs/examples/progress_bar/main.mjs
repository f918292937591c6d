// A worker computes, and this agent shows how far it is, once a frame, without
// any message. A button, here a limit, stops the worker at once.
import { Event, Snapshot } from "@weft/sync";
import process from "node:process";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const STEPS = 1e12;

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
  });
  const seen = new Float64Array(1);
  let frames = 0;
  // On a page: requestAnimationFrame.
  const timer = setInterval(() => {
    progress.read(seen);
    const line = `${(100 * seen[0] / STEPS).toFixed(5)} %`;
    if (process.stdout.isTTY) process.stdout.write(`\r${line}`);
    frames++;
    if (seen[0] > 1e6) stop.set(); // as a button would do
  }, 16);
  await ended.waitAsync();
  clearInterval(timer);
  progress.read(seen);
  console.log(frames > 0 && seen[0] < STEPS ? "stopped" : "not stopped");
}

/** Works in pieces, and looks after each whether it shall stop. */
function compute() {
  const progress = Snapshot.from(workerData.progress);
  const stop = Event.from(workerData.stop);
  let sum = 0;
  for (let done = 0; done < STEPS && !stop.isSet; done += 10_000) {
    for (let i = 0; i < 10_000; i++) sum += Math.sqrt(done + i);
    progress.write(Float64Array.of(done));
  }
  Event.from(workerData.ended).set();
}

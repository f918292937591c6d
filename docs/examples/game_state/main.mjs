// A game: a worker moves things 1000 times a second, the drawing side reads the
// latest state when it draws, and keys go to the worker. Nobody ever waits.
import { Event, Snapshot, SpscQueue } from "@weft/sync";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const THINGS = 64;
const RIGHT = 1;

if (isMainThread) await main();
else simulate();

async function main() {
  const state = Snapshot.create({ size: THINGS * 8 });
  const keys = SpscQueue.create({ capacity: 16 });
  const end = Event.create();
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { state: state.handle, keys: keys.handle, end: end.handle },
  }).on("error", fail);
  const things = new Float64Array(THINGS);
  let frames = 0;
  let torn = 0;
  keys.tryPushInt(RIGHT);
  while (things[0] < 10) {
    await new Promise((resolve) => setTimeout(resolve, 16)); // a frame
    state.read(things);
    frames++;
    if (things.some((x) => x !== things[0])) torn++; // all move together
  }
  end.set();
  await new Promise((ended) => worker.once("exit", ended));
  console.log(`${frames} frames of ${THINGS} things, ${torn} of them torn`);
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

function simulate() {
  const state = Snapshot.from(workerData.state);
  const keys = SpscQueue.from(workerData.keys);
  const end = Event.from(workerData.end);
  const things = new Float64Array(THINGS);
  let speed = 0;
  while (!end.tryWait(1)) { // a step is a millisecond
    if (keys.tryPopInt() === RIGHT) speed = 1;
    things.forEach((x, i) => things[i] = x + speed);
    state.write(things);
  }
}

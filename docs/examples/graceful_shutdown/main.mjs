// On a signal the program takes no more jobs, finishes those that it has, and
// then ends: nothing is lost, and no worker is terminated in the middle.
import { ClosedError, Latch, MpmcQueue } from "@weft/sync";
import process from "node:process";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const WORKERS = 2;

if (isMainThread) await main();
else work();

async function main() {
  const jobs = MpmcQueue.create({ capacity: 64 });
  const ended = Latch.create(WORKERS);
  const done = new SharedArrayBuffer(4);
  const shared = { jobs: jobs.handle, ended: ended.handle, done };
  for (let i = 0; i < WORKERS; i++) {
    new Worker(new URL(import.meta.url), { workerData: shared })
      .on("error", fail);
  }
  process.once("SIGTERM", () => jobs.close());
  let accepted = 0;
  try {
    for (;; accepted++) {
      if (accepted === 1000) process.kill(process.pid, "SIGTERM");
      await jobs.pushIntAsync(accepted);
    }
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
  await ended.waitAsync(); // the workers have done what was in the queue
  const [count] = new Int32Array(done);
  console.log(`SIGTERM: ${accepted} jobs were accepted, ${count} are done`);
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

function work() {
  const jobs = MpmcQueue.from(workerData.jobs);
  const done = new Int32Array(workerData.done);
  try {
    for (;;) {
      jobs.popInt();
      Atomics.add(done, 0, 1); // here the job would be done
    }
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
  Latch.from(workerData.ended).countDown();
}

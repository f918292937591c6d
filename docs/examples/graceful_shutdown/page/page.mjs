// Gives jobs to workers until the button closes the queue.
import { ClosedError, Latch, MpmcQueue } from "@weft/sync";

const WORKERS = 2;
const at = (id) => document.getElementById(id);

at("start").onclick = async () => {
  at("start").disabled = true;
  at("stop").disabled = false;
  const jobs = MpmcQueue.create({ capacity: 64 });
  const ended = Latch.create(WORKERS);
  const done = new Int32Array(new SharedArrayBuffer(4));
  const workers = Array.from({ length: WORKERS }, () => {
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      type: "module",
    });
    worker.postMessage({ jobs: jobs.handle, ended: ended.handle, done });
    return worker;
  });
  at("stop").onclick = () => jobs.close();
  let accepted = 0;
  let frame = requestAnimationFrame(function show() {
    at("queue").value = jobs.size;
    at("said").textContent = `${Atomics.load(done, 0)} of ${accepted}`;
    frame = requestAnimationFrame(show);
  });
  try {
    for (;; accepted++) await jobs.pushIntAsync(accepted);
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
  at("stop").disabled = true;
  await ended.waitAsync(); // the workers have done what was in the queue
  cancelAnimationFrame(frame);
  workers.forEach((worker) => worker.terminate());
  at("queue").value = jobs.size;
  at("said").textContent = done[0] === accepted
    ? `all ${accepted} are done`
    : `${done[0]} of ${accepted}: some are lost`;
  at("start").disabled = false;
};

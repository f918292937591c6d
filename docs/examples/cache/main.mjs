// A table in shared memory that all agents read and fill: what one of them has
// computed, the others find. Many read at a time; one writes.
import { RwLock, struct, WorkCounter } from "@weft/sync";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const Entry = struct({ key: "u32", value: "f64" });
const SLOTS = 256;
const QUESTIONS = 2000;
const N = 50; // different values

if (isMainThread) await main();
else ask();

async function main() {
  const table = new SharedArrayBuffer(SLOTS * Entry.size);
  const computed = new SharedArrayBuffer(4);
  const lock = RwLock.create();
  const questions = WorkCounter.create(QUESTIONS);
  const shared = {
    table,
    computed,
    lock: lock.handle,
    questions: questions.handle,
  };
  const workers = [1, 2].map(() =>
    new Worker(new URL(import.meta.url), { workerData: shared })
      .on("error", fail)
  );
  await questions.waitAsync();
  await Promise.all(workers.map((worker) => worker.terminate()));
  const [count] = new Int32Array(computed);
  const least = Math.min(N, QUESTIONS);
  const most = N <= SLOTS ? 2 * N : QUESTIONS; // both workers may compute one
  console.log(`${QUESTIONS} answers; ${count} values were computed`);
  if (count < least || count > most) throw new Error(`not ${least} to ${most}`);
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

/** Asks for N different values again and again. */
function ask() {
  const entry = Entry.view(new Uint8Array(workerData.table), 0);
  const computed = new Int32Array(workerData.computed);
  const lock = RwLock.from(workerData.lock);
  const questions = WorkCounter.from(workerData.questions);

  /** Moves `entry` to the key, or to the slot that it shall have. */
  const seek = (key) => {
    for (let i = 0; i < SLOTS; i++) {
      entry.$at = ((key + i) % SLOTS) * Entry.size;
      if (entry.key === key) return true;
      if (entry.key === 0) return false;
    }
    return false; // the table is full: another value gives way
  };
  const get = (key) => {
    const found = lock.reading(() => seek(key) ? entry.value : undefined);
    if (found !== undefined) return found;
    const value = compute(key); // without the lock: others go on
    Atomics.add(computed, 0, 1);
    lock.writing(() => {
      if (seek(key)) return; // another agent was faster
      entry.value = value;
      entry.key = key;
    });
    return value;
  };
  for (let i; (i = questions.next()) >= 0;) {
    const key = 1 + i % N;
    if (get(key) !== compute(key)) throw new Error(`wrong value of ${key}`);
    questions.done();
  }
}

/** What takes long in a real program. */
function compute(key) {
  return Math.sqrt(key);
}

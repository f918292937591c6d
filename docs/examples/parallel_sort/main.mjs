// Workers sort one array in shared memory: each sorts a part, then they merge
// the parts in pairs. A barrier ends each phase.
import { Barrier, Latch } from "@weft/sync";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const AGENTS = 4; // a power of two
const N = 1 << 16; // a multiple of AGENTS

if (isMainThread) await main();
else sort();

async function main() {
  const memory = () => new SharedArrayBuffer(N * 4);
  const [numbers, spare] = [memory(), memory()];
  new Uint32Array(numbers).forEach((_, i, all) =>
    all[i] = Math.imul(i, 2654435761)
  );
  const expected = new Uint32Array(numbers).slice().sort();
  const began = performance.now();
  const barrier = Barrier.create(AGENTS);
  const sorted = Latch.create(AGENTS);
  const workers = Array.from(
    { length: AGENTS },
    (_, agent) =>
      new Worker(new URL(import.meta.url), {
        workerData: {
          agent,
          numbers,
          spare,
          barrier: barrier.handle,
          sorted: sorted.handle,
        },
      }).on("error", fail),
  );
  await sorted.waitAsync();
  const took = Math.round(performance.now() - began);
  await Promise.all(workers.map((worker) => worker.terminate()));
  const result = new Uint32Array(numbers);
  const right = result.every((n, i) => n === expected[i]);
  const said = right ? "sorted" : "not sorted";
  console.log(`${N} numbers, ${said} by ${AGENTS} workers in ${took} ms`);
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

function sort() {
  const { agent } = workerData;
  const numbers = new Uint32Array(workerData.numbers);
  const spare = new Uint32Array(workerData.spare);
  const barrier = Barrier.from(workerData.barrier);
  let size = N / AGENTS;
  numbers.subarray(agent * size, (agent + 1) * size).sort();
  for (let step = 1; step < AGENTS; step *= 2) {
    barrier.arriveAndWait(); // all parts of this size are sorted
    if (agent % (2 * step) === 0) {
      const begin = agent * (N / AGENTS);
      merge(numbers, spare, begin, begin + size, begin + 2 * size);
    }
    size *= 2;
  }
  Latch.from(workerData.sorted).countDown();
}

/** Merges two sorted parts that lie side by side. */
function merge(numbers, spare, begin, middle, end) {
  let [a, b] = [begin, middle];
  for (let i = begin; i < end; i++) {
    const first = b === end || (a < middle && numbers[a] <= numbers[b]);
    spare[i] = first ? numbers[a++] : numbers[b++];
  }
  numbers.set(spare.subarray(begin, end), begin);
}

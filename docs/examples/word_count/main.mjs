// Two workers count the words of a text in one map.
import { codec, HashMap, Latch } from "@weft/sync";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const N = 100; // how often the text is counted
const TEXT = "the warp and the weft and the loom";
const CODECS = { key: codec.text, value: codec.i32 };

if (isMainThread) await main();
else count();

async function main() {
  const counts = HashMap.create({ ...CODECS, capacity: 100 });
  const counted = Latch.create(2);
  const shared = { counts: counts.handle, counted: counted.handle };
  for (let i = 0; i < 2; i++) {
    new Worker(new URL(import.meta.url), { workerData: shared })
      .on("error", fail);
  }
  await counted.waitAsync();
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 2);
  console.log(most.map(([word, n]) => `${word}: ${n}`).join(", "));
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

function count() {
  const counts = HashMap.from(workerData.counts, CODECS);
  for (let i = 0; i < N; i++) {
    for (const word of TEXT.split(" ")) {
      const before = counts.add(word, 1); // in one step
      if (before === undefined) throw new Error("the map is full");
    }
  }
  Latch.from(workerData.counted).countDown();
}

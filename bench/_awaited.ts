// A program, run with --expose-gc. How much memory is left in use after very
// many async waits with a timeout were woken? It prints one JSON object.
import process from "node:process";
import { Semaphore } from "../mod.ts";

const COUNT = 100_000;
const { gc } = globalThis as unknown as { gc(): void };

/** Bytes in use after everything that can be freed was freed. */
async function used() {
  for (let i = 0; i < 5; i++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

const kinds: Record<string, () => Promise<void>> = {
  async weft() {
    const semaphore = Semaphore.create(0);
    const waits: Promise<boolean>[] = [];
    for (let i = 0; i < COUNT; i++) {
      waits.push(semaphore.tryAcquireAsync(1, { timeout: 1000 }));
    }
    semaphore.release(COUNT);
    const woken = (await Promise.all(waits)).filter(Boolean).length;
    if (woken !== COUNT) throw new Error(`only ${woken} were woken`);
  },
  /** A native wait with its own timeout for each. */
  async bare() {
    const alive = setInterval(() => {}, 1000);
    const words = new Int32Array(new SharedArrayBuffer(4));
    const waits: Promise<string>[] = [];
    for (let i = 0; i < COUNT; i++) {
      const wait = Atomics.waitAsync(words, 0, 0, 1000);
      if (wait.async) waits.push(wait.value);
    }
    Atomics.notify(words, 0);
    await Promise.all(waits);
    clearInterval(alive);
  },
};

const kind = kinds[process.argv[2]!]!;
// The first batches pay for growth and compilation that happen only once.
await kind();
await kind();
const before = await used();
await kind();
const after = await used(); // well before the waits' second is over
console.log(JSON.stringify({
  heap: (after.heap - before.heap) / 1e6,
  rss: (after.rss - before.rss) / 1e6,
}));
process.exit(0);

/**
 * Computes the BLAKE2b of files by JavaScript workers and threads of wasm that
 * share one queue, one semaphore, one work counter and one lock:
 *
 * ```sh
 * deno task demo [FILE|DIR ...] [--js N] [--wasm N] [--chunk BYTES] [--json]
 * ```
 *
 * This thread streams chunks into slots of the wasm memory and pushes the
 * numbers of the slots. The agent that pops a number hashes that slot. While no
 * slot is free, this thread hashes chunks itself, if JavaScript is to hash at
 * all. It never blocks.
 *
 * BLAKE2b runs through a message from its first byte to its last, so only
 * separate messages can be hashed at the same time. A file that fits one chunk
 * is one message, and an agent computes its BLAKE2b. Of a larger file the
 * agents compute the digest of each chunk, at the same time; the pass that
 * checks them one by one computes that of the whole file.
 *
 * @module
 */

import process from "node:process";
import { setImmediate } from "node:timers";
import { Stopwatch } from "./alone.ts";
import { Arena, DIGEST, type Row, type Size } from "./arena.ts";
import { check } from "./check.ts";
import { plainPlace, wasmPlace } from "./hash.ts";
import { type Chunk, chunksOf, type File, find, Reader } from "./input.ts";
import { Complaint, type Options, parse, USAGE } from "./options.ts";
import { print, printJson, type Report } from "./report.ts";
import { Others } from "./others.ts";
import { blake2b } from "./blake2b.ts";
import type { Start } from "./worker.ts";

// Read it now: Emscripten's module replaces the global by that of Node.
const WebWorker = globalThis.Worker;

/** The name of the row of this thread. */
const MAIN = "main";

/** The most chunks of a run: their digests are kept. */
const MAX_CHUNKS = 2 ** 24;

/**
 * Slots for each agent. With fewer, an agent reads bytes that are still in the
 * cache of this thread's core alone, which takes longer than from a cache that
 * all cores share.
 */
const SLOTS = 128;

/** The most bytes of all slots. */
const MAX_SLOT_BYTES = 2 ** 29;

function sizeFor({ chunk, js, wasm }: Options): Size {
  const agents = js + wasm;
  const most = Math.floor(MAX_SLOT_BYTES / chunk);
  return { chunk, agents, slots: Math.min(SLOTS * agents, most) };
}

/** Milliseconds for which this thread hashes before files are read on. */
const TURN = 2;

/** Starts the JavaScript workers. `failed` is called for the first failure. */
function startWorkers(
  count: number,
  { memory, plan }: Pick<Start, "memory" | "plan">,
  failed: (error: Error) => void,
): void {
  for (let row = 1; row <= count; row++) {
    const url = new URL("./worker.ts", import.meta.url);
    const worker = new WebWorker(url, { type: "module" });
    worker.onerror = (event) => {
      event.preventDefault();
      failed(new Error(`worker ${row} failed: ${event.message}`));
    };
    worker.postMessage({ memory, plan, row } satisfies Start);
  }
}

/** Streams chunks through the slots, to the agents, until all are hashed. */
class Stream {
  readonly #arena: Arena;
  readonly #size: Size;
  readonly #signal: AbortSignal;
  /** The chunk in each slot, until its digest is taken. */
  readonly #inSlot: (Chunk | undefined)[] = [];
  /** Where to look for a free slot first. */
  #next = 0;
  /** What this thread hashed itself. */
  readonly #own: Row = { chunks: 0, bytes: 0, busy: 0 };
  /** When it last let events happen. */
  #turn = 0;

  constructor(arena: Arena, size: Size, signal: AbortSignal) {
    this.#arena = arena;
    this.#size = size;
    this.#signal = signal;
  }

  /** With `helps`, this thread hashes while no slot is free. */
  async run(reader: Reader, helps: boolean): Promise<void> {
    const { jobs, permits, work } = this.#arena;
    const signal = this.#signal;
    // Half of the slots at a time: one wake-up for many chunks, and the agents
    // have the rest to do until this thread streams again.
    const most = Math.ceil(this.#size.slots / 2);
    const numbers = new Int32Array(most);
    let chunks: Chunk[] = [];
    for (;;) {
      if (chunks.length === 0) chunks = await reader.take(most);
      if (chunks.length === 0) break;
      if (!permits.tryAcquire(chunks.length)) {
        if (helps) {
          await this.#hash(chunks.pop()!);
          continue;
        }
        await permits.acquireAsync(chunks.length, { signal });
      }
      for (const [i, chunk] of chunks.entries()) {
        work.next(); // counts it as handed out
        numbers[i] = this.#freeSlot();
        this.#inSlot[numbers[i]] = chunk;
        this.#arena.fill(numbers[i], chunk.bytes);
        this.#arena.queue(numbers[i]);
      }
      // Sometimes only a part fits: an agent may be inside a pop.
      let pushed = jobs.tryPushMany(numbers, chunks.length);
      for (; pushed < chunks.length; pushed++) {
        await jobs.pushIntAsync(numbers[pushed]!, { signal });
      }
      chunks = [];
    }
    work.cancel(); // of a file that shrank less was handed out
    await work.waitAsync({ signal });
    jobs.close();
    for (let slot = 0; slot < this.#size.slots; slot++) this.#collect(slot);
    await this.#count();
  }

  /** Hashes a chunk in this thread, which needs no copy. */
  async #hash({ file, index, bytes }: Chunk): Promise<void> {
    const { work } = this.#arena;
    work.next();
    const begin = performance.now();
    file.digests.set(blake2b(bytes), index * DIGEST);
    const end = performance.now();
    this.#own.chunks++;
    this.#own.bytes += bytes.length;
    this.#own.busy += end - begin;
    work.done();
    if (end < this.#turn + TURN) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#signal.throwIfAborted();
    this.#turn = performance.now();
  }

  /** Counts what this thread hashed, as the agents count theirs. */
  async #count(): Promise<void> {
    const { chunks, bytes, busy } = this.#own;
    using _lock = await this.#arena.lock.lockAsync();
    for (const row of [0, this.#size.agents + 1]) {
      this.#arena.count(row, bytes, busy, chunks);
    }
  }

  /** A slot that no agent has. Each acquired permit stands for one. */
  #freeSlot(): number {
    for (;;) {
      const slot = this.#next++ % this.#size.slots;
      if (!this.#arena.isFree(slot)) continue;
      this.#collect(slot);
      return slot;
    }
  }

  /** Takes the digest out of a slot. */
  #collect(slot: number): void {
    const chunk = this.#inSlot[slot];
    if (chunk === undefined) return;
    this.#inSlot[slot] = undefined;
    const { file, index } = chunk;
    file.digests.set(this.#arena.digestIn(slot), index * DIGEST);
  }
}

/** Shows the progress on a terminal. Returns a function that ends that. */
function showProgress(arena: Arena, chunks: number): () => void {
  if (!process.stdout.isTTY) return () => {};
  const timer = setInterval(() => {
    const done = arena.work.completed;
    const percent = Math.floor(100 * done / chunks);
    process.stdout.write(`\r${percent} %, ${done} of ${chunks} chunks`);
  }, 100);
  return () => {
    clearInterval(timer);
    process.stdout.write("\r\x1b[K");
  };
}

/** Hashes the files and checks the digests. */
async function run(options: Options): Promise<Report> {
  const files: File[] = await find(options.paths);
  let chunks = 0;
  for (const file of files) {
    const own = chunksOf(file.size, options.chunk);
    file.digests = new Uint8Array(own * DIGEST);
    chunks += own;
    if (chunks > MAX_CHUNKS) {
      throw new Complaint(`more than ${MAX_CHUNKS} chunks: raise --chunk`);
    }
  }
  const reader = new Reader(files, options.chunk);
  const size = sizeFor(options);
  const { js, wasm } = options;
  const place = wasm > 0 ? await wasmPlace(size) : plainPlace(size);
  const { memory, base, plan, module } = place;
  const arena = Arena.init(memory, plan, base, size, chunks);

  const failure = new AbortController();
  startWorkers(js, place, (error) => failure.abort(error));
  for (let row = js + 1; row <= js + wasm; row++) {
    const error = module!._begin(base, row);
    if (error !== 0) throw new Error(`no thread of wasm: error ${error}`);
  }
  const { signal } = failure;
  await arena.ready.acquireAsync(js + wasm, { signal });
  await reader.filled();

  const sample = reader.ahead.map(({ bytes }) => bytes);
  const ofJs = js > 0 ? new Stopwatch(arena, sample) : undefined;
  const ofWasm = module
    ? new Stopwatch(arena, sample, { module, base })
    : undefined;
  ofJs?.measure();
  ofWasm?.measure();

  const progressed = showProgress(arena, chunks);
  const begin = performance.now();
  const others = new Others();
  await new Stream(arena, size, signal).run(reader, js > 0);
  const time = performance.now() - begin;
  const { own: cpu, others: elsewhere } = others.end();
  progressed();

  ofJs?.measure();
  ofWasm?.measure();

  const rows = [];
  {
    using _lock = await arena.lock.lockAsync();
    for (let row = 0; row <= js + wasm + 1; row++) rows.push(arena.row(row));
  }
  const [together, ...agents] = rows;
  return {
    options,
    size,
    time,
    cpu,
    ...(elsewhere !== undefined && { elsewhere }),
    together: together!,
    agents: agents.map((row, i) => ({
      ...row,
      name: i < js
        ? `js ${i + 1}`
        : i < js + wasm
        ? `wasm ${i - js + 1}`
        : MAIN,
      isJs: i < js || i === js + wasm,
    })).filter(({ name, chunks }) => name !== MAIN || js > 0 || chunks > 0),
    ...(ofJs && { js: ofJs.sum }),
    ...(ofWasm && { wasm: ofWasm.sum }),
    files: await check(files, options.chunk),
  };
}

async function main(): Promise<number> {
  const options = parse(process.argv.slice(2));
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const report = await run(options);
  if (options.json) printJson(report);
  else print(report);
  const differences = report.files.flatMap((file) => file.differences);
  for (const difference of differences) console.error(difference);
  return differences.length === 0 ? 0 : 1;
}

// Threads may still be asleep, so the process would not end by itself.
try {
  process.exit(await main());
} catch (error) {
  if (!(error instanceof Complaint)) throw error;
  console.error(`demo: ${error.message}`);
  process.exit(2);
}

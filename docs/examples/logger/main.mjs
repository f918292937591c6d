// Three workers log lines; one writer puts all of them into one file, in order.
// A line never waits for the disk, only for room in the ring.
import { ClosedError, Latch, RecordRing } from "@weft/sync";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const N = 1000; // lines of each worker
const WORKERS = 3;

if (isMainThread) await main();
else if (workerData.role === "writer") write();
else work();

async function main() {
  const lines = RecordRing.create({ capacity: 1 << 16 });
  const working = Latch.create(WORKERS);
  const written = Latch.create(1);
  const file = join(tmpdir(), `weft-log-${crypto.randomUUID()}.txt`);
  const shared = {
    lines: lines.handle,
    working: working.handle,
    written: written.handle,
    file,
  };
  const start = (more) =>
    new Worker(new URL(import.meta.url), {
      workerData: { ...shared, ...more },
    }).on("error", fail);
  start({ role: "writer" });
  for (let name = 0; name < WORKERS; name++) start({ name });
  await working.waitAsync();
  lines.close(); // the writer writes what is left, and ends
  await written.waitAsync();
  const all = readFileSync(file, "utf8").trim().split("\n");
  rmSync(file);
  console.log(`${all.length} lines; the last one: ${all.at(-1)}`);
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

/** Logs some lines, as any worker of a program does. */
function work() {
  const lines = RecordRing.from(workerData.lines);
  const encoder = new TextEncoder();
  for (let i = 0; i < N; i++) {
    lines.push(encoder.encode(`worker ${workerData.name}: line ${i}\n`));
  }
  Latch.from(workerData.working).countDown();
}

/** Writes what is there at once, and sleeps when there is nothing. */
function write() {
  const lines = RecordRing.from(workerData.lines);
  const file = openSync(workerData.file, "a");
  const block = new Uint8Array(1 << 16);
  let used = 0;
  const flush = () => {
    writeSync(file, block, 0, used);
    used = 0;
  };
  try {
    for (;;) {
      let line = lines.tryPop();
      if (line === undefined) {
        flush();
        line = lines.pop();
      }
      if (used + line.length > block.length) flush();
      block.set(line, used);
      used += line.length;
    }
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
  flush();
  closeSync(file);
  Latch.from(workerData.written).countDown();
}

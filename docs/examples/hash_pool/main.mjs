// A pool of workers that computes hashes: tasks with types, in order, as fast
// as the workers are.
import { codec, Pool, servePool, task } from "@weft/sync/pool";
import { createHash } from "node:crypto";
import { isMainThread, Worker } from "node:worker_threads";

const tasks = {
  hash: task({ request: codec.binary, reply: codec.binary, idempotent: true }),
};
const sha256 = (bytes) => createHash("sha256").update(bytes).digest();

if (isMainThread) await main();
else servePool(tasks, { hash: sha256 });

async function main() {
  const pool = new Pool({
    tasks,
    workers: 2,
    make: () => new Worker(new URL(import.meta.url)),
  });
  const encoder = new TextEncoder();
  const texts = Array.from({ length: 500 }, (_, i) => encoder.encode(`${i}`));
  const began = performance.now();
  let same = 0;
  let next = 0;
  for await (const digest of pool.map("hash", texts)) {
    if (sha256(texts[next++]).equals(digest)) same++;
  }
  await pool.close();
  const took = Math.round(performance.now() - began);
  console.log(`${texts.length} hashes in ${took} ms, ${same} of them right`);
}

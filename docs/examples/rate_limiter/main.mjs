// All workers together keep to one limit of requests: a timer puts permits
// into a semaphore, and each request takes one.
import { Latch, Semaphore } from "@weft/sync";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const WORKERS = 3;
const REQUESTS = 4; // of each worker
const AT_ONCE = 2;

if (isMainThread) await main();
else send();

async function main() {
  const permits = Semaphore.create(AT_ONCE);
  const sent = Latch.create(WORKERS * REQUESTS);
  const began = performance.now();
  let refills = 0;
  const timer = setInterval(() => {
    const missing = AT_ONCE - permits.available;
    if (missing > 0) permits.release(missing); // never more than AT_ONCE
    refills++;
  }, 20);
  const workers = Array.from(
    { length: WORKERS },
    () =>
      new Worker(new URL(import.meta.url), {
        workerData: { permits: permits.handle, sent: sent.handle },
      }).on("error", fail),
  );
  await sent.waitAsync();
  const took = Math.round(performance.now() - began);
  clearInterval(timer);
  await Promise.all(workers.map((worker) => worker.terminate()));
  // The first permits were there at once; each refill gave two at most.
  const least = (WORKERS * REQUESTS - AT_ONCE) / AT_ONCE;
  const all = WORKERS * REQUESTS;
  console.log(`${all} requests in ${took} ms, ${AT_ONCE} every 20 ms at most`);
  if (refills < least) throw new Error(`only ${refills} refills`);
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

function send() {
  const permits = Semaphore.from(workerData.permits);
  const sent = Latch.from(workerData.sent);
  for (let i = 0; i < REQUESTS; i++) {
    permits.acquire(); // sleeps until there is a permit
    sent.countDown(); // here the request would be sent
  }
}

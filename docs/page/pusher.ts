/**
 * A worker that pushes numbers into a queue, or pops them, a few hundred a
 * second.
 *
 * @module
 */
import {
  agentId,
  announceAgent,
  type Handle,
  LockFreeQueue,
  MpmcQueue,
} from "@weft/sync";
import { type Push, WORD } from "./stuck_words.ts";

globalThis.onmessage = async ({ data }: MessageEvent<Push>) => {
  postMessage(await announceAgent());
  try {
    work(data);
  } catch (error) { // that the queue is stuck
    postMessage(`${error}`);
  }
};

function work({ kind, queue, words, pops }: Push) {
  const numbers = kind === "mpmc"
    ? MpmcQueue.from(queue as Handle<"mpmc_queue">)
    : LockFreeQueue.from(queue as Handle<"lock_free_queue">);
  const shared = new Int32Array(words);
  for (let n = 0;; n++) {
    if (pops) numbers.popInt();
    else if (Atomics.compareExchange(shared, WORD.hold, 1, 0) === 1) {
      // A push is a reservation and a commit. This one stops between them.
      while (numbers.reserve() === undefined) {
        Atomics.wait(shared, WORD.idle, 0, 1);
      }
      Atomics.store(shared, WORD.held, agentId());
      while (true) Atomics.wait(shared, WORD.idle, 0);
    } else numbers.pushInt(n);
    Atomics.add(shared, pops ? WORD.popped : WORD.pushed, 1);
    if (!pops) Atomics.wait(shared, WORD.idle, 0, 2);
  }
}

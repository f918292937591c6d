// Produces into a queue, or consumes from one, in a given manner; then waits
// for the next job.
import type { Handle, Queue } from "../../mod.ts";
import { ClosedError } from "../../primitives/_queue/queue.ts";
import { LockFreeQueue } from "../../primitives/lock_free_queue.ts";
import { MpmcQueue } from "../../primitives/mpmc_queue.ts";
import { SpscQueue } from "../../primitives/spsc_queue.ts";
import { hello } from "../_run/workers.ts";

/** How an agent uses its end of the queue. */
export type Manner = "block" | "async" | "many" | "place" | "hasty" | "try";

/** The orders of an agent. */
export interface QueueJob {
  handle: Handle;
  end: "push" | "pop";
  manner: Manner;
  /** The producer's number, and how many elements it pushes. */
  producer: number;
  count: number;
}

const BATCH = 7;

/** Element `n` of a producer: its number, and words that tell a torn one. */
function write(words: Int32Array, producer: number, n: number): void {
  words[0] = producer << 24 | n;
  for (let i = 1; i < words.length; i++) words[i] = words[0]! * 31 + i;
}

function read(words: Int32Array): number {
  for (let i = 1; i < words.length; i++) {
    if (words[i] !== (words[0]! * 31 + i | 0)) throw new Error("torn");
  }
  return words[0]!;
}

/** The words of an element in place. */
const wordsOf = ({ buffer, byteOffset, length }: Uint8Array) =>
  new Int32Array(buffer, byteOffset, length / 4);

async function produce(queue: Queue, job: QueueJob): Promise<void> {
  const { manner, producer, count } = job;
  const per = queue.elementSize / 4;
  const element = new Int32Array(per);
  const batch = new Int32Array(per * BATCH);
  for (let n = 0; n < count;) {
    write(element, producer, n);
    if (manner === "many") {
      const some = Math.min(BATCH, count - n);
      for (let i = 0; i < some; i++) {
        write(batch.subarray(i * per, i * per + per), producer, n + i);
      }
      const pushed = queue.tryPushMany(batch, some);
      n += pushed;
      if (pushed > 0) continue;
      queue.push(element);
    } else if (manner === "place") {
      const place = queue.reserve();
      if (place === undefined) queue.push(element);
      else {
        write(wordsOf(place), producer, n);
        queue.commit();
      }
    } else if (manner === "async") await queue.pushAsync(element);
    else if (manner === "block") queue.push(element);
    else if (manner === "try") { while (!queue.tryPush(element)); }
    else if (!await hastily((o) => queue.tryPushAsync(element, o), n)) {
      if (!queue.tryPush(element, n % 3 / 10)) continue;
    }
    n++;
  }
}

async function consume(
  queue: Queue,
  manner: Manner,
): Promise<number[]> {
  const per = queue.elementSize / 4;
  const element = new Int32Array(per);
  const batch = new Int32Array(per * BATCH);
  const got: number[] = [];
  const take = async (): Promise<boolean> => {
    if (manner === "many") {
      const popped = queue.tryPopMany(batch, BATCH);
      for (let i = 0; i < popped; i++) {
        got.push(read(batch.subarray(i * per, i * per + per)));
      }
      if (popped > 0) return false;
      queue.popInto(element);
      return true;
    }
    if (manner === "place") {
      const place = queue.peek();
      if (place === undefined) {
        queue.popInto(element);
        return true;
      }
      got.push(read(wordsOf(place)));
      queue.consume();
      return false;
    }
    if (manner === "async") {
      await queue.popIntoAsync(element);
      return true;
    }
    if (manner === "block") {
      queue.popInto(element);
      return true;
    }
    if (manner === "try") return queue.tryPopInto(element);
    return await hastily(
      (o) => queue.tryPopIntoAsync(element, o),
      got.length,
    ) || queue.tryPopInto(element, got.length % 3 / 10);
  };
  try {
    for (;;) if (await take()) got.push(read(element));
  } catch (error) {
    if (error instanceof ClosedError) return got;
    throw error;
  }
}

/** Gives up soon, by timeout or abort, sometimes in the same turn. */
async function hastily(
  start: (
    options: { timeout?: number; signal?: AbortSignal },
  ) => Promise<boolean>,
  n: number,
): Promise<boolean> {
  if (n % 2) return start({ timeout: n % 3 });
  const abort = new AbortController();
  const wait = start({ timeout: Infinity, signal: abort.signal });
  if (n % 4) setTimeout(() => abort.abort("hurry"), n % 3);
  else abort.abort("hurry");
  try {
    return await wait;
  } catch (error) {
    if (error !== "hurry") throw error;
    return false;
  }
}

function viewOf({ kind, buffer, byteOffset }: Handle): Queue {
  if (kind === "spsc_queue") return new SpscQueue(buffer, byteOffset);
  if (kind === "mpmc_queue") return new MpmcQueue(buffer, byteOffset);
  return new LockFreeQueue(buffer, byteOffset);
}

const { data, post, next } = await hello<QueueJob>();
for (let job = data;; job = await next<QueueJob>()) {
  const queue = viewOf(job.handle);
  post("up");
  await next(); // go
  post(
    job.end === "push"
      ? await produce(queue, job)
      : await consume(queue, job.manner),
  );
}

// Produces into a queue, or consumes from one, in a given manner.
import {
  ClosedError,
  type Handle,
  LockFreeQueue,
  MpmcQueue,
  type Queue,
  SpscQueue,
} from "../../mod.ts";
import { hello } from "../_run/workers.ts";

/** How an agent uses its end of the queue. */
export type Manner = "block" | "async" | "many" | "place" | "hasty" | "try";

/** What an agent is to do. */
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

async function produce(queue: Queue<string>, job: QueueJob): Promise<void> {
  const { manner, producer, count } = job;
  const per = queue.elementSize / 4;
  const element = new Int32Array(per);
  const batch = new Int32Array(per * BATCH);
  const inQueue = (at: number) =>
    new Int32Array(queue.bytes.buffer, queue.byteOffset + at, per);
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
      const at = queue.reserve();
      if (at < 0) queue.push(element);
      else {
        write(inQueue(at), producer, n);
        queue.commit();
      }
    } else if (manner === "async") await queue.pushAsync(element);
    else if (manner === "block") queue.push(element);
    else if (manner === "try") { while (!queue.tryPush(element)); }
    else if (!await hastily((o) => queue.pushAsync(element, o), n)) {
      if (!queue.push(element, n % 3 / 10)) continue;
    }
    n++;
  }
}

async function consume(
  queue: Queue<string>,
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
      return queue.pop(element);
    }
    if (manner === "place") {
      const at = queue.peek();
      if (at < 0) return queue.pop(element);
      const at4 = queue.byteOffset + at;
      got.push(read(new Int32Array(queue.bytes.buffer, at4, per)));
      queue.consume();
      return false;
    }
    if (manner === "async") return await queue.popAsync(element);
    if (manner === "block") return queue.pop(element);
    if (manner === "try") return queue.tryPop(element);
    return await hastily((o) => queue.popAsync(element, o), got.length) ||
      queue.pop(element, got.length % 3 / 10);
  };
  try {
    for (;;) if (await take()) got.push(read(element));
  } catch (error) {
    if (error instanceof ClosedError) return got;
    throw error;
  }
}

/** Gives up soon, by timeout or abort, now and then in the same turn. */
async function hastily(
  start: (
    options: { timeout?: number; signal?: AbortSignal },
  ) => Promise<boolean>,
  n: number,
): Promise<boolean> {
  if (n % 2) return start({ timeout: n % 3 });
  const abort = new AbortController();
  const wait = start({ signal: abort.signal });
  if (n % 4) setTimeout(() => abort.abort("hurry"), n % 3);
  else abort.abort("hurry");
  try {
    return await wait;
  } catch (error) {
    if (error !== "hurry") throw error;
    return false;
  }
}

const self = await hello<QueueJob>();
const { handle, end, manner } = self.data;
const queue: Queue<string> = handle.kind === "spsc_queue"
  ? SpscQueue.from(handle)
  : handle.kind === "mpmc_queue"
  ? MpmcQueue.from(handle)
  : LockFreeQueue.from(handle);
self.post("up");
await self.next(); // go
self.post(
  end === "push"
    ? await produce(queue, self.data)
    : await consume(queue, manner),
);

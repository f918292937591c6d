import { type Handle, SpscQueue } from "../mod.ts";
import * as kernel from "../primitives/kernel/kernel.ts";
import type { Did, Run } from "./contest.ts";

/** The data of each end of a queue. */
export interface End {
  queue: Handle<"spsc_queue">;
  /** Elements a turn. */
  n: number;
  /** Words an element has. */
  words: number;
  /** Elements a call. */
  batch: number;
  /** Whether the operations run in the kernel. */
  kernel?: boolean;
  /** Where a batch lies in the queue's memory, if it does. */
  place?: number;
}

function attach({ queue, kernel: inKernel }: End): SpscQueue<number> {
  if (!inKernel) return SpscQueue.from(queue);
  const made = kernel.SpscQueue.from(queue);
  if (!made.inKernel) throw new Error("it does not run in the kernel");
  return made as unknown as SpscQueue<number>;
}

function batchOf({ batch, place }: End, queue: SpscQueue): Int32Array {
  return place === undefined
    ? new Int32Array(batch)
    : new Int32Array(queue.buffer, place, batch);
}

const done = (n: number): Did => ({ ops: n });
const nothing: Did = { ops: 0 };

function assertSum(sum: number, n: number) {
  if (sum !== (n * (n - 1) / 2 | 0)) throw new Error("elements were lost");
}

export function pushInts(end: End): Run {
  const { n } = end;
  const q = attach(end);
  return () => {
    for (let i = 0; i < n; i++) q.pushInt(i);
    return done(n);
  };
}

export function popInts(end: End): Run {
  const { n } = end;
  const q = attach(end);
  return () => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum = sum + q.popInt()! | 0;
    assertSum(sum, n);
    return nothing;
  };
}

export function pushMany(end: End): Run {
  const { n, batch } = end;
  const q = attach(end);
  const src = batchOf(end, q);
  return () => {
    for (let i = 0; i < n; i += batch) {
      for (let k = 0; k < batch; k++) src[k] = i + k;
      // If a batch found too little room, go on with the rest.
      let sent = q.tryPushMany(src, batch);
      while (sent < batch) {
        sent += q.tryPushMany(src.subarray(sent), batch - sent);
      }
    }
    return done(n);
  };
}

export function popMany(end: End): Run {
  const { n, batch } = end;
  const q = attach(end);
  const dst = batchOf(end, q);
  return () => {
    let sum = 0;
    for (let i = 0; i < n;) {
      const count = q.tryPopMany(dst, batch);
      for (let k = 0; k < count; k++) sum = sum + dst[k]! | 0;
      i += count;
    }
    assertSum(sum, n);
    return nothing;
  };
}

export function pushRecords(end: End): Run {
  const { n, words } = end;
  const q = attach(end);
  const src = new Int32Array(words);
  return () => {
    for (let i = 0; i < n; i++) {
      src[0] = i;
      q.push(src);
    }
    return done(n);
  };
}

export function popRecords(end: End): Run {
  const { n, words } = end;
  const q = attach(end);
  const dst = new Int32Array(words);
  return () => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      q.popInto(dst);
      sum = sum + dst[0]! | 0;
    }
    assertSum(sum, n);
    return nothing;
  };
}

// ---- ringbuf.js -------------------------------------------------------------

interface Ring {
  push(src: Int32Array, length?: number, offset?: number): number;
  pop(dst: Int32Array, length?: number, offset?: number): number;
}

interface PeerEnd extends End {
  url: string;
  storage: SharedArrayBuffer;
}

async function ring({ url, storage }: PeerEnd): Promise<Ring> {
  const { RingBuffer } = await import(url);
  return new RingBuffer(storage, Int32Array);
}

/** It cannot wait: a side that finds it full or empty tries again. */
export async function pushRing(end: PeerEnd): Promise<Run> {
  const { n, words, batch } = end;
  const q = await ring(end);
  const length = words * batch;
  const src = new Int32Array(length);
  return () => {
    for (let i = 0; i < n; i += batch) {
      for (let k = 0; k < batch; k++) src[k * words] = i + k;
      let sent = q.push(src, length);
      while (sent < length) sent += q.push(src, length - sent, sent);
    }
    return done(n);
  };
}

export async function popRing(end: PeerEnd): Promise<Run> {
  const { n, words, batch } = end;
  const q = await ring(end);
  const length = words * batch;
  const dst = new Int32Array(length);
  return () => {
    let sum = 0;
    if (words === 1) {
      for (let i = 0; i < n;) {
        const count = q.pop(dst, length);
        for (let k = 0; k < count; k++) sum = sum + dst[k]! | 0;
        i += count;
      }
    } else {
      for (let i = 0; i < n; i++) {
        let got = q.pop(dst, length);
        while (got < length) got += q.pop(dst, length - got, got);
        sum = sum + dst[0]! | 0;
      }
    }
    assertSum(sum, n);
    return nothing;
  };
}

// ---- the floor: bare atomics ------------------------------------------------

/** Lamport's ring. Each side keeps the other's index as it last saw it. */
export function pushBare({ queue, n }: End): Run {
  const words = new Int32Array(queue.buffer as SharedArrayBuffer);
  const mask = words.length - 64 - 1;
  return () => {
    let tail = Atomics.load(words, 0), head = Atomics.load(words, 32);
    for (let i = 0; i < n; i++) {
      while (tail - head > mask) head = Atomics.load(words, 32);
      words[64 + (tail & mask)] = i;
      Atomics.store(words, 0, ++tail);
    }
    return done(n);
  };
}

export function popBare({ queue, n }: End): Run {
  const words = new Int32Array(queue.buffer as SharedArrayBuffer);
  const mask = words.length - 64 - 1;
  return () => {
    let head = Atomics.load(words, 32), tail = Atomics.load(words, 0), sum = 0;
    for (let i = 0; i < n; i++) {
      while (tail === head) tail = Atomics.load(words, 0);
      sum = sum + words[64 + (head & mask)]! | 0;
      Atomics.store(words, 32, ++head);
    }
    assertSum(sum, n);
    return nothing;
  };
}

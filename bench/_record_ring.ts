import { type Handle, RecordRing } from "../mod.ts";
import * as kernel from "../primitives/kernel/kernel.ts";
import type { Did, Run } from "./contest.ts";

/** The data of each thread. */
export interface End {
  ring: Handle<"record_ring">;
  /** Records this thread pushes, or pops, each turn, and their bytes. */
  n: number;
  bytes: number;
  /** Whether the operations run in the kernel. */
  kernel?: boolean;
  /** Where the producer's record lies in the ring's memory, if it does. */
  place?: number;
}

function attach({ ring, kernel: inKernel }: End): RecordRing {
  if (!inKernel) return RecordRing.from(ring);
  const made = kernel.RecordRing.from(ring);
  if (!made.inKernel) throw new Error("it does not run in the kernel");
  return made as unknown as RecordRing;
}

export function push(end: End): Run {
  const { n, bytes, place } = end;
  const q = attach(end);
  const src = place === undefined
    ? new Uint8Array(bytes)
    : new Uint8Array(q.buffer, place, bytes);
  return (): Did => {
    for (let i = 0; i < n; i++) {
      src[0] = i;
      q.push(src);
    }
    return { ops: n };
  };
}

export function pop(end: End): Run {
  const { n, bytes } = end;
  const q = attach(end);
  const dst = new Uint8Array(bytes);
  return (): Did => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      q.popInto(dst);
      sum = sum + dst[0]! | 0;
    }
    return { ops: 0, sum };
  };
}

/** Pops all records that are there, in place. */
export function read(end: End): Run {
  const { n } = end;
  const q = attach(end);
  let sum = 0;
  const add = (record: Uint8Array) => {
    sum = sum + record[0]! | 0;
  };
  return (): Did => {
    sum = 0;
    for (let i = 0; i < n;) {
      const count = q.read(add, n - i);
      if (count === 0) add(q.pop()!);
      i += count || 1;
    }
    return { ops: 0, sum };
  };
}

// ---- ringbuf.js -------------------------------------------------------------

interface PeerEnd extends End {
  url: string;
  storage: SharedArrayBuffer;
}

async function open({ url, storage }: PeerEnd) {
  const { RingBuffer } = await import(url);
  return new RingBuffer(storage, Uint8Array);
}

export async function pushPeer(end: PeerEnd): Promise<Run> {
  const { n, bytes } = end;
  const q = await open(end);
  const src = new Uint8Array(bytes);
  return (): Did => {
    for (let i = 0; i < n; i++) {
      src[0] = i;
      let sent = q.push(src, bytes);
      while (sent < bytes) sent += q.push(src, bytes - sent, sent);
    }
    return { ops: n };
  };
}

export async function popPeer(end: PeerEnd): Promise<Run> {
  const { n, bytes } = end;
  const q = await open(end);
  const dst = new Uint8Array(bytes);
  return (): Did => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      let got = q.pop(dst, bytes);
      while (got < bytes) got += q.pop(dst, bytes - got, got);
      sum = sum + dst[0]! | 0;
    }
    return { ops: 0, sum };
  };
}

/** As records of any length need it: their length goes before each. */
export async function pushFramedPeer(end: PeerEnd): Promise<Run> {
  const { n, bytes } = end;
  const q = await open(end);
  const head = new Uint8Array(4);
  const src = new Uint8Array(bytes);
  const push = (array: Uint8Array) => {
    let sent = q.push(array);
    while (sent < array.length) {
      sent += q.push(array, array.length - sent, sent);
    }
  };
  new DataView(head.buffer).setUint32(0, bytes, true);
  return (): Did => {
    for (let i = 0; i < n; i++) {
      src[0] = i;
      push(head);
      push(src);
    }
    return { ops: n };
  };
}

export async function popFramedPeer(end: PeerEnd): Promise<Run> {
  const { n, bytes } = end;
  const q = await open(end);
  const head = new Uint8Array(4);
  const view = new DataView(head.buffer);
  const dst = new Uint8Array(bytes);
  const pop = (array: Uint8Array, length: number) => {
    let got = q.pop(array, length);
    while (got < length) got += q.pop(array, length - got, got);
  };
  return (): Did => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      pop(head, 4);
      pop(dst, view.getUint32(0, true));
      sum = sum + dst[0]! | 0;
    }
    return { ops: 0, sum };
  };
}

// ---- the floor: bare atomics ------------------------------------------------

/** The words of a record with its head, and of the indices in front. */
const FRONT = 64;

function bareRing({ bytes, storage }: PeerEnd) {
  const words = new Int32Array(storage);
  const space = Math.ceil((8 + bytes) / 8) * 2;
  const places = 2 ** Math.floor(Math.log2((words.length - FRONT) / space));
  const at = (index: number) => FRONT + (index & places - 1) * space;
  return { words, places, at, length: bytes >> 2 };
}

/** Lamport's ring of records: a loop that copies, and one store. */
export function pushBare(end: PeerEnd): Run {
  const { words, places, at, length } = bareRing(end);
  const src = new Int32Array(length);
  return (): Did => {
    let tail = Atomics.load(words, 0), head = Atomics.load(words, 32);
    for (let i = 0; i < end.n; i++) {
      src[0] = i;
      while (tail - head >= places) head = Atomics.load(words, 32);
      const to = at(tail);
      words[to] = end.bytes;
      for (let k = 0; k < length; k++) words[to + 2 + k] = src[k]!;
      Atomics.store(words, 0, ++tail);
    }
    return { ops: end.n };
  };
}

export function popBare(end: PeerEnd): Run {
  const { words, at } = bareRing(end);
  const dst = new Int32Array(end.bytes >> 2);
  return (): Did => {
    let head = Atomics.load(words, 32), tail = Atomics.load(words, 0), sum = 0;
    for (let i = 0; i < end.n; i++) {
      while (tail === head) tail = Atomics.load(words, 0);
      const from = at(head);
      const length = words[from]! >> 2;
      for (let k = 0; k < length; k++) dst[k] = words[from + 2 + k]!;
      sum = sum + dst[0]! | 0;
      Atomics.store(words, 32, ++head);
    }
    return { ops: 0, sum };
  };
}

/**
 * The worker's side of `pool.ts`: its twin in C is `pool.h`.
 *
 * @module
 */

import { ClosedError, Event, layout, MpmcQueue, SlabPool } from "@weft/sync";
import type { Memory } from "@weft/sync";

/** Room for `count` tasks of `bytes` bytes at a time; post it to workers. */
export interface Place {
  readonly memory: Memory;
  readonly base?: number;
  readonly count: number;
  readonly bytes: number;
}

/** The pool at a place, which has `byteLength` bytes. */
export function arena({ count: capacity, bytes }: Omit<Place, "memory">) {
  const queue = [MpmcQueue, { capacity }] as const;
  const size = Math.ceil((HEAD + bytes) / LINE) * LINE;
  return layout({
    jobs: queue,
    done: queue,
    enough: [Event, { autoReset: true }],
    slots: [SlabPool, { capacity, blockSize: size }],
  });
}

/** A slot begins with the length of its bytes, or with this. */
const TAKEN = -1;

/** Eight bytes: shared memory is copied byte by byte if it is not aligned. */
const HEAD = 8;

/** No two slots share a cache line. */
const LINE = 64;

/** Stands in place of a length: the task must not be done. */
export const CANCELLED = -2;

/** The parts that both sides use. */
export function open(place: Place, how: "init" | "attach") {
  const at = arena(place)[how](place.memory, place.base);
  const lengths = new Int32Array(at.slots.buffer, at.slots.byteOffset);
  const view = (slot: number, length = place.bytes) =>
    at.slots.bytes.subarray(slot + HEAD, slot + HEAD + length);
  const write = (slot: number, from: Uint8Array) => {
    view(slot).set(from); // throws if it is too long
    lengths[slot / 4] = from.length; // published by the push of the slot
  };
  return { ...at, lengths, view, write };
}

/** A worker's side: does tasks until the pool is closed. */
export function serve(place: Place, work: (request: Uint8Array) => Uint8Array) {
  const at = open(place, "attach");
  const { jobs, done, enough, lengths, view, write } = at;
  const run = (slot: number) => {
    const length = Atomics.exchange(lengths, slot / 4, TAKEN);
    if (length === CANCELLED) return slot;
    try {
      write(slot, work(view(slot, length)));
      return slot;
    } catch (error) {
      write(slot, new TextEncoder().encode(`${error}`).slice(0, place.bytes));
      return ~slot;
    }
  };
  try {
    for (;;) {
      done.pushInt(run(jobs.popInt()));
      if (done.size >= jobs.size) enough.set();
    }
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error; // there is no more to do
  }
}

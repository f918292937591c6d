/**
 * The algorithm of `LockFreeQueue`: two rings of entries, between which the
 * slots for elements circulate. No operation waits, and none allocates.
 * `./realtime` exports this part; `lock_free_queue.ts` adds waiting.
 *
 * C twin: `_lock_free_ring.h` and `lock_free_queue.h`.
 *
 * @module
 */

import { LOCK_FREE_QUEUE } from "../../_memory/layout.ts";
import { DamagedError, MOST_TRIES } from "../../_memory/damaged.ts";
import {
  attach,
  type Memory,
  type WordsInspection,
} from "../../_memory/region.ts";
import {
  atEpoch,
  waitersOf,
  wakeEnd as wake,
} from "../../_wait/event_count.ts";
import type { PendingResult } from "../../_wait/pending.ts";
import type { CopyingClass, Elements } from "../elements.ts";
import { type End, QueueCore } from "../queue_core.ts";
import { agentsFor, bytesFor, entriesFor } from "./sizes.ts";

export const CAPACITY: typeof LOCK_FREE_QUEUE.capacity = 1;
const ELEMENT_SIZE: typeof LOCK_FREE_QUEUE.element_size = 2;
const POP_EPOCH: typeof LOCK_FREE_QUEUE.pop_epoch = 160;
const PUSH_EPOCH: typeof LOCK_FREE_QUEUE.push_epoch = 192;
const POP_GONG: typeof LOCK_FREE_QUEUE.pop_gong = 162;
const PUSH_GONG: typeof LOCK_FREE_QUEUE.push_gong = 194;
export const ENTRIES: typeof LOCK_FREE_QUEUE.length = 224;

/**
 * The two rings. Each is named by the word that notes its next ticket to put
 * in.
 */
const QUEUE: typeof LOCK_FREE_QUEUE.tail = 32;
export const FREE: typeof LOCK_FREE_QUEUE.free_tail = 96;
/**
 * The distance from that word to the one that notes the next ticket to take
 * out.
 */
const HEAD = 32; // LOCK_FREE_QUEUE.head - LOCK_FREE_QUEUE.tail

/**
 * The slot bits of an entry that is not FILLED: the queue ends here, and no
 * further ticket is given out.
 */
export const CLOSED = 1;

/** How many tickets go by between two updates of the noted tickets. */
const NOTED = 2;

/**
 * An answer instead of a slot: there is none now. The next one: there will
 * never be one.
 */
const NONE = -1;
const OVER = -2;

/** The facts that `inspect` shows of a queue. */
export const LOCK_FREE: WordsInspection = {
  row: LOCK_FREE_QUEUE,
  waiters: (words) =>
    waitersOf(words, POP_EPOCH) + waitersOf(words, PUSH_EPOCH),
};

/**
 * The operations of a {@linkcode LockFreeQueue} that never wait.
 *
 * @ignore
 */
export class LockFreeCore extends QueueCore<"lock_free_queue"> {
  /** How many agents may be within an operation at the same time. */
  readonly agents: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  /**
   * The bit FILLED of an entry: it names a slot. As a number, it equals the
   * number of entries.
   */
  readonly #filled: number;
  /** The index of the first element's word. */
  readonly #slots: number;
  readonly #wordsPer: number;
  /** The slot that this view reserved, and the one it peeked at. */
  #reserved = NONE;
  #peeked = NONE;
  /** The ticket at which `#room` found room, or an earlier one. */
  #ticket = 0;

  /** Attaches to a queue: see the class that also waits. */
  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    Copier: CopyingClass,
  ) {
    const words = attach(
      "lock_free_queue",
      LOCK_FREE_QUEUE,
      memory,
      byteOffset ?? 0,
      bytesFor,
    );
    const capacity = words[CAPACITY]!;
    const elementSize = words[ELEMENT_SIZE]!;
    super("lock_free_queue", words, LOCK_FREE, capacity, elementSize, Copier);
    const entries = entriesFor(capacity);
    this.agents = agentsFor(capacity);
    this.#words = words;
    this.#mask = entries - 1;
    this.#filled = entries;
    this.#slots = ENTRIES + 2 * entries;
    this.#wordsPer = elementSize / 4;
  }

  /** The index of the word at which a slot's element begins. */
  #at(slot: number): number {
    return this.#slots + slot * this.#wordsPer;
  }

  /** The index of the word of a ticket's entry. */
  #entry(ring: number, ticket: number): number {
    const entries = ring === QUEUE ? ENTRIES : ENTRIES + this.#filled;
    return entries + (ticket & this.#mask);
  }

  /** The entry of a ticket before a slot is put into it. */
  #lap(ticket: number): number {
    return (ticket & ~this.#mask) << 1;
  }

  /** How many tickets the lap of `entry` is ahead of the lap of `ticket`. */
  #ahead(entry: number, ticket: number): number {
    return ((entry & -2 * this.#filled) - this.#lap(ticket) | 0) >> 1;
  }

  /**
   * A later ticket to put in at, because `entry` is no longer free for this
   * one.
   */
  #afterPut(
    ring: number,
    ticket: number,
    entry: number,
    tries: number,
  ): number {
    if (tries > MOST_TRIES) throw new DamagedError("The queue");
    const ahead = this.#ahead(entry, ticket);
    if (ahead < 0) return Atomics.load(this.#words, ring); // `entry` was stale
    // Either the entry's own ticket is filled, or that of the lap before.
    const put = entry & this.#filled ? ahead : ahead - this.#filled;
    return ticket + put + 1 | 0;
  }

  /** A later ticket to take, because this one was taken already. */
  #afterTake(
    ring: number,
    ticket: number,
    entry: number,
    tries: number,
  ): number {
    if (tries > MOST_TRIES) throw new DamagedError("The queue");
    const ahead = this.#ahead(entry, ticket);
    if (ahead < 0) return Atomics.load(this.#words, ring + HEAD);
    if (ahead === 0) return ticket; // it was put in just now
    return ticket + ahead - this.#filled + 1 | 0;
  }

  /**
   * Notes that all tickets before this one are done, so that others begin here.
   */
  #note(index: number, ticket: number): void {
    const words = this.#words;
    const noted = words[index]!;
    if ((ticket - noted | 0) <= 0) return;
    Atomics.compareExchange(words, index, noted, ticket);
  }

  /** Whether a ticket that was put into the queue was taken out again. */
  #isTaken(ticket: number): boolean {
    const words = this.#words;
    const at = this.#entry(QUEUE, ticket);
    // A taken ticket stays taken, so only the answer "not taken" needs a second
    // look.
    return this.#ahead(words[at]!, ticket) > 0 ||
      this.#ahead(Atomics.load(words, at), ticket) > 0;
  }

  /**
   * 0 if there is room to push, NONE if the queue is full, OVER if it is
   * closed.
   */
  #room(): number {
    const words = this.#words;
    let tries = 0;
    for (let ticket = words[QUEUE]!;;) {
      const at = this.#entry(QUEUE, ticket);
      const free = this.#lap(ticket);
      let entry = words[at]!; // a hint: the exchange in `#put` checks it
      if (entry === free) {
        if (this.#isTaken(ticket - this.capacity | 0)) {
          this.#ticket = ticket;
          return 0;
        }
        entry = Atomics.load(words, at); // full, unless closed
        if (entry === free) return NONE;
      }
      if (entry === (free | CLOSED)) return OVER;
      ticket = this.#afterPut(QUEUE, ticket, entry, tries++);
    }
  }

  /**
   * Puts a slot into a ring, at `ticket` or a later one. Returns 0; NONE if the
   * ring already has `capacity` slots (0 means no limit); OVER if it is closed.
   */
  #put(
    ring: number,
    ticket: number,
    slot: number,
    capacity: number,
  ): number {
    const words = this.#words;
    const filled = this.#filled;
    const mask = filled - 1;
    const entries = ring === QUEUE ? ENTRIES : ENTRIES + filled;
    let tries = 0;
    for (;;) {
      const at = entries + (ticket & mask);
      const free = (ticket & ~mask) << 1;
      let entry = words[at]!; // a hint: the exchange below checks it
      if (entry === free) {
        if (capacity > 0 && !this.#isTaken(ticket - capacity | 0)) {
          entry = Atomics.load(words, at); // full, unless closed
          if (entry === free) return NONE;
        } else {
          const put = free | filled | slot;
          entry = Atomics.compareExchange(words, at, free, put);
          if (entry === free) {
            if ((ticket & NOTED - 1) === 0) this.#note(ring, ticket + 1 | 0);
            return 0;
          }
        }
      }
      if (entry === (free | filled | entry & mask)) ticket = ticket + 1 | 0;
      else if (entry === (free | CLOSED)) return OVER;
      else ticket = this.#afterPut(ring, ticket, entry, tries++);
    }
  }

  /**
   * Takes a slot out of a ring; NONE if it is empty, OVER if it is also closed.
   */
  #take(ring: number): number {
    const words = this.#words;
    const filled = this.#filled;
    const mask = filled - 1;
    const entries = ring === QUEUE ? ENTRIES : ENTRIES + filled;
    let tries = 0;
    for (let ticket = words[ring + HEAD]!;;) { // a hint, as in `#put`
      const at = entries + (ticket & mask);
      const free = (ticket & ~mask) << 1;
      let entry = words[at]!; // a hint: the following lines check it
      if ((entry & ~mask) === (free | filled)) {
        const taken = free + 2 * filled | 0;
        const seen = Atomics.compareExchange(words, at, entry, taken);
        if (seen === entry) {
          if ((ticket & NOTED - 1) === 0) {
            this.#note(ring + HEAD, ticket + 1 | 0);
          }
          // There is one slot fewer than there are entries, so this number
          // names no slot.
          if ((entry & mask) < mask) return entry & mask;
          throw new DamagedError("The queue");
        }
        entry = seen;
      } else if (entry === free || entry === (free | CLOSED)) {
        entry = Atomics.load(words, at);
        if (entry === free) return NONE;
        if (entry === (free | CLOSED)) return OVER;
      }
      ticket = this.#afterTake(ring, ticket, entry, tries++);
    }
  }

  /** The first ticket of a ring that was not taken out. */
  #front(ring: number): number {
    const words = this.#words;
    let tries = 0;
    for (let ticket = Atomics.load(words, ring + HEAD);;) {
      const entry = Atomics.load(words, this.#entry(ring, ticket));
      if (this.#ahead(entry, ticket) === 0) return ticket;
      ticket = this.#afterTake(ring, ticket, entry, tries++);
    }
  }

  /** The first ticket of a ring that was not put in. */
  #end(ring: number): number {
    const words = this.#words;
    let tries = 0;
    for (let ticket = Atomics.load(words, ring);;) {
      const entry = Atomics.load(words, this.#entry(ring, ticket));
      const state = entry - this.#lap(ticket) | 0;
      if (state === 0 || state === CLOSED) return ticket;
      ticket = this.#afterPut(ring, ticket, entry, tries++);
    }
  }

  /**
   * The number of slots in a ring. If slots are taken out during each of many
   * looks, it counts those only that were there at the last look.
   */
  #count(ring: number): number {
    let front = this.#front(ring);
    for (let looks = 8;; looks--) {
      const end = this.#end(ring);
      const was = front;
      front = this.#front(ring);
      // (C) Otherwise slots came and went meanwhile.
      if (front === was || looks === 1) {
        return Math.min(Math.max(end - front | 0, 0), this.#mask);
      }
    }
  }

  /** Elements in the queue; a moment later it may be another number. */
  override get size(): number {
    return this.#count(QUEUE);
  }

  /** Whether `close` was called; elements may still be in the queue. */
  override get closed(): boolean {
    return this.#room() === OVER;
  }

  /**
   * A free slot to push with; NONE if the queue is full; OVER if it is closed.
   */
  #claim(): number {
    const room = this.#room();
    return room < 0 ? room : this.#take(FREE);
  }

  /** The slot of the oldest element, or NONE. */
  #next(): number {
    const slot = this.#take(QUEUE);
    if (slot !== OVER) return slot;
    this.refuse();
    return NONE;
  }

  /** Reports a closed queue if the answer is OVER; returns false. */
  #isNone(answer: number): false {
    if (answer === OVER) this.refuse();
    return false;
  }

  /** Puts a slot back into the ring of free slots. */
  #giveBack(slot: number): void {
    this.#put(FREE, this.#words[FREE]!, slot, 0);
  }

  /**
   * (P) Publishes a slot and returns 0; if it returns NONE or OVER, the slot is
   * free again.
   */
  #append(ticket: number, slot: number, capacity: number): number {
    const result = this.#put(QUEUE, ticket, slot, capacity);
    if (result < 0) this.#giveBack(slot);
    return result;
  }

  /** Appends elements: see {@linkcode Queue.tryPushMany}. */
  override tryPushMany(src: Elements, n: number): number {
    this.assertRoom(src, n);
    const per = this.#wordsPer;
    let count = 0;
    let result = 0;
    for (; count < n; count++) {
      const slot = result = this.#claim();
      if (slot < 0) break;
      this.copier.put(src, count * per, this.#at(slot), per);
      result = this.#append(this.#ticket, slot, this.capacity);
      if (result < 0) break;
    }
    if (count === 0) this.#isNone(result);
    else wake(this.#words, POP_EPOCH, count);
    return count;
  }

  /** Takes elements: see {@linkcode Queue.tryPopMany}. */
  override tryPopMany(dst: Elements, n: number): number {
    this.assertRoom(dst, n);
    const per = this.#wordsPer;
    let count = 0;
    for (; count < n; count++) {
      const slot = count === 0 ? this.#next() : this.#take(QUEUE);
      if (slot < 0) break;
      this.copier.get(dst, count * per, this.#at(slot), per);
      this.#giveBack(slot);
    }
    if (count > 0) wake(this.#words, PUSH_EPOCH, count);
    return count;
  }

  /** Appends an element: see {@linkcode Queue.tryPush}. */
  override tryPush(src: Elements): boolean {
    this.assertElement(src);
    return this.tryPushMany(src, 1) === 1;
  }

  /** Takes an element: see {@linkcode Queue.tryPopInto}. */
  override tryPopInto(dst: Elements): boolean {
    return this.tryPopMany(dst, 1) === 1;
  }

  /** Appends a 4-byte element: see {@linkcode Queue.tryPushInt}. */
  override tryPushInt(value: number): boolean {
    this.assertInts();
    this.assertInt(value);
    const slot = this.#claim();
    if (slot < 0) return this.#isNone(slot);
    this.#words[this.#slots + slot] = value; // published by (P)
    const result = this.#append(this.#ticket, slot, this.capacity);
    if (result < 0) return this.#isNone(result);
    wake(this.#words, POP_EPOCH, 1);
    return true;
  }

  /** Takes a 4-byte element: see {@linkcode Queue.tryPopInt}. */
  override tryPopInt(): number | undefined {
    this.assertInts();
    const slot = this.#next();
    if (slot < 0) return undefined;
    const value = this.#words[this.#slots + slot]!; // published by (P)
    this.#giveBack(slot);
    wake(this.#words, PUSH_EPOCH, 1);
    return value;
  }

  /** Reserves room for an element: see {@linkcode Queue.reserve}. */
  override reserve(): Uint8Array | undefined {
    if (this.#reserved !== NONE) {
      throw new TypeError("A slot is reserved already");
    }
    const slot = this.#claim();
    if (slot < 0) return void this.#isNone(slot);
    this.#reserved = slot;
    return this.viewOfSlot(slot);
  }

  /**
   * Appends the reserved element: see {@linkcode Queue.commit}.
   */
  override commit(): boolean {
    const slot = this.#reserved;
    if (slot === NONE) throw new TypeError("No slot is reserved");
    this.#reserved = NONE;
    const result = this.#append(this.#words[QUEUE]!, slot, 0);
    if (result < 0) return this.#isNone(result);
    wake(this.#words, POP_EPOCH, 1);
    return true;
  }

  /** Shows the oldest element in place: see {@linkcode Queue.peek}. */
  override peek(): Uint8Array | undefined {
    if (this.#peeked === NONE) this.#peeked = this.#next();
    const slot = this.#peeked;
    return slot === NONE ? undefined : this.viewOfSlot(slot);
  }

  /**
   * Removes the element that `peek` returned: see {@linkcode Queue.consume}.
   */
  override consume(): void {
    const slot = this.#peeked;
    if (slot === NONE) throw new TypeError("No element was peeked at");
    this.#peeked = NONE;
    this.#giveBack(slot);
    wake(this.#words, PUSH_EPOCH, 1);
  }

  /** Passes a wake on: a waiter that gave up may have used one. */
  #pass(end: End): void {
    if (end === "push") {
      const room = this.#room();
      if (room === NONE) return;
      wake(this.#words, PUSH_EPOCH, room === OVER ? Infinity : 1);
    } else if (this.#count(QUEUE) > 0) wake(this.#words, POP_EPOCH, 1);
    else if (this.closed) wake(this.#words, POP_EPOCH, Infinity);
  }

  /** Closes the queue for good: see {@linkcode Queue.close}. */
  override close(): void {
    const words = this.#words;
    let tries = 0;
    for (let ticket = words[QUEUE]!;;) {
      const at = this.#entry(QUEUE, ticket);
      const free = this.#lap(ticket);
      const closed = free | CLOSED;
      const seen = Atomics.compareExchange(words, at, free, closed);
      if (seen === free || seen === closed) break;
      ticket = this.#afterPut(QUEUE, ticket, seen, tries++);
    }
    wake(words, POP_EPOCH, Infinity);
    wake(words, PUSH_EPOCH, Infinity);
  }

  /**
   * Gets back the slots of agents that were terminated within an operation;
   * returns how many. Call it only while no agent is within one, or has a slot
   * reserved or an element peeked at: their slots would be given to others.
   */
  repair(): number {
    const words = this.#words;
    const n = this.#filled;
    const free = ENTRIES + n;
    const before = this.#count(FREE);
    let left = this.#count(QUEUE);
    let ticket = this.#front(QUEUE);
    words.fill(1, free, free + n); // first, note whether slot i is free
    for (; left > 0; left--, ticket++) {
      words[free + (words[this.#entry(QUEUE, ticket)]! & this.#mask)] = 0;
    }
    let count = 0;
    for (let slot = 0; slot < n - 1; slot++) {
      if (words[free + slot] === 1) words[free + count++] = n | slot;
    }
    words.fill(0, free + count, free + n);
    Atomics.store(words, FREE + HEAD, 0);
    Atomics.store(words, FREE, count);
    if (count > before) wake(words, PUSH_EPOCH, count - before);
    return count - before;
  }

  /** @internal */
  protected override get slots(): number {
    return this.#mask;
  }

  /** @internal */
  protected override wordOfSlot(slot: number): number {
    return this.#at(slot);
  }

  /** @internal */
  protected override position(end: End): number {
    return this.#words[end === "pop" ? QUEUE + HEAD : QUEUE]!;
  }

  /** @internal */
  override gongAt(end: End): number {
    return this.byteOffset / 4 + (end === "pop" ? POP_GONG : PUSH_GONG);
  }

  /** @internal */
  protected override pendingAt<T>(
    end: End,
    attempt: () => T | false | undefined,
  ): PendingResult<T> {
    const words = this.#words;
    const index = end === "pop" ? POP_EPOCH : PUSH_EPOCH;
    return {
      ...atEpoch(words, index),
      place: { words, index },
      attempt,
      pass: () => this.#pass(end),
    };
  }

  /** @internal */
  protected override poppable(): boolean {
    return this.#count(QUEUE) > 0 || this.closed;
  }
}

/**
 * The algorithm of `CallRing`: the steps by which a call passes from caller to
 * server and back. `words` are those of the ring, and a call is `at`, the index
 * of the first word of its slot. `Slots` finds the slots, and copies the bytes.
 *
 * C twin: `call_ring.h`, function by function.
 *
 * @module
 */

import { wake } from "../../_wait/event_count.ts";
import type { Waiting } from "../../_wait/wait.ts";
import {
  CALLER,
  CLAIMED,
  CLOSED,
  DEAD,
  DEAD_BIT,
  DEATHS,
  DROPPED,
  ENTRIES,
  FREE,
  ID_MASK,
  LOST,
  PHASE_MASK,
  POSTED,
  REPLIED,
  REQUEST_LENGTH,
  ROUND_SHIFT,
  SERVE_EPOCH,
  SERVING,
  SLOT_EPOCH,
  WAITING_BIT,
} from "./words.ts";

/** The words of a ring. */
type Words = Int32Array<SharedArrayBuffer>;

/** Whether `close` was called. */
export const isClosed = (words: Words): boolean =>
  Atomics.load(words, CLOSED) !== 0;

/** Claims a free slot for agent `id`; false if it is free no more. */
export const claim = (words: Words, at: number, id: number): boolean =>
  Atomics.compareExchange(words, at, FREE, CLAIMED | id) === FREE;

/** Frees a slot that only this agent uses. */
export function free(words: Words, at: number): void {
  Atomics.store(words, at, FREE);
  wake(words, SLOT_EPOCH, 1);
}

/**
 * Posts the `byteLength` bytes that agent `id` wrote to the slot it claimed;
 * false if the ring is closed.
 */
export function publish(
  words: Words,
  at: number,
  id: number,
  byteLength: number,
): boolean {
  Atomics.store(words, at + CALLER, id);
  words[at + REQUEST_LENGTH] = byteLength; // published by (P)
  const posted = POSTED | id;
  Atomics.store(words, at, posted); // (P)
  // (C) Pairs with (E): we see that the ring is closed, or the servers see
  // our call before they end.
  if (
    isClosed(words) &&
    Atomics.compareExchange(words, at, posted, FREE) === posted
  ) return false;
  wake(words, SERVE_EPOCH, 1);
  return true;
}

// ---- callers ----------------------------------------------------------------

/** Whether the call was answered. */
export const isAnswered = (words: Words, at: number): boolean =>
  (Atomics.load(words, at) & PHASE_MASK) >= REPLIED;

/**
 * Waits for the answer; false if the time is over. If the call ended
 * meanwhile, the slot may belong to another call, so it is not looked at.
 */
export function* answered(
  words: Words,
  at: number,
  isOver = () => false,
): Waiting<boolean> {
  while (!isOver()) {
    const state = Atomics.load(words, at);
    if ((state & PHASE_MASK) >= REPLIED) return true;
    const value = state | WAITING_BIT;
    // (W) Pairs with (R): the server sees the bit, or we see its answer.
    if (
      state !== value &&
      Atomics.compareExchange(words, at, state, value) !== state
    ) continue;
    const outcome = yield { words, index: at, value, all: true };
    if (outcome === "timed-out") return false;
  }
  return true;
}

/** Ends a call that has no answer yet; false if it has one. */
export function giveUp(words: Words, at: number): boolean {
  for (;;) {
    const state = Atomics.load(words, at);
    const phase = state & PHASE_MASK;
    if (phase >= REPLIED) return false;
    // A server has the call, so the server will free the slot.
    const next = phase === SERVING ? DROPPED | state & ID_MASK : FREE;
    if (Atomics.compareExchange(words, at, state, next) !== state) continue;
    if (next === FREE) wake(words, SLOT_EPOCH, 1);
    return true;
  }
}

/** Ends a call, whether it was answered or not. */
export function cancel(words: Words, at: number): void {
  if (!giveUp(words, at)) free(words, at);
}

// ---- servers ----------------------------------------------------------------

/**
 * Takes a call for agent `id`, if it is posted; `state` is what its slot had
 * at the last look.
 */
export function take(
  words: Words,
  at: number,
  id: number,
  state: number,
): boolean {
  while ((state & PHASE_MASK) === POSTED) {
    const expected = state;
    const next = SERVING | id | expected & WAITING_BIT;
    state = Atomics.compareExchange(words, at, expected, next);
    if (state === expected) return true;
  }
  return false;
}

/** Whether the caller still waits. */
export const isWanted = (words: Words, at: number): boolean =>
  (Atomics.load(words, at) & PHASE_MASK) === SERVING &&
  (Atomics.load(words, at + CALLER) & DEAD_BIT) === 0;

/** Whether a slot is the one of a call of this agent. */
export function isOf(words: Words, at: number, caller: number): boolean {
  const state = Atomics.load(words, at);
  const phase = state & PHASE_MASK;
  return phase === SERVING || phase === DROPPED
    ? Atomics.load(words, at + CALLER) === caller
    : phase !== FREE && (state & ID_MASK) === caller;
}

/** The caller of the call in a slot, which may have died. */
export const callerOf = (words: Words, at: number): number =>
  Atomics.load(words, at + CALLER) & ID_MASK;

/** Whether agent `id` serves a slot. */
export function isServed(words: Words, at: number, id: number): boolean {
  const state = Atomics.load(words, at);
  const phase = state & PHASE_MASK;
  return (phase === SERVING || phase === DROPPED) && (state & ID_MASK) === id;
}

/** Takes back an answer to a caller that was abandoned. */
function reclaim(words: Words, at: number, answer: number): boolean {
  const caller = answer & ID_MASK;
  // Pairs with (D): we see the mark, or the agent that made it sees the
  // answer. A dead agent stays dead, so the exchange cannot hit a later call.
  if (
    Atomics.load(words, at + CALLER) !== (caller | DEAD_BIT) ||
    Atomics.compareExchange(words, at, answer, FREE) !== answer
  ) return false;
  wake(words, SLOT_EPOCH, 1);
  return true;
}

/**
 * Answers a call that this agent serves: `phase` is REPLIED or FAILED. False if
 * the caller does not wait any more.
 */
export function answer(words: Words, at: number, phase: number): boolean {
  for (;;) {
    const state = Atomics.load(words, at);
    if ((state & PHASE_MASK) === DROPPED) {
      free(words, at); // too late: the slot belongs to us alone
      return false;
    }
    const next = phase | callerOf(words, at);
    // (R) From here on the slot belongs to the caller.
    if (Atomics.compareExchange(words, at, state, next) !== state) continue;
    if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at);
    return !reclaim(words, at, next);
  }
}

// ---- the end ----------------------------------------------------------------

/** Closes the ring, and wakes all that wait for a call or for a slot. */
export function close(words: Words): void {
  if (Atomics.exchange(words, CLOSED, 1) !== 0) return;
  wake(words, SERVE_EPOCH, Infinity);
  wake(words, SLOT_EPOCH, Infinity);
}

/**
 * Ends what agent `id`, known never to run again, did in a slot; false if that
 * is nothing.
 */
export function abandon(words: Words, at: number, id: number): boolean {
  const dead = id | DEAD_BIT;
  // (D) A server that answers later sees the mark, and frees the slot.
  const caller = Atomics.compareExchange(words, at + CALLER, id, dead);
  for (;;) {
    const state = Atomics.load(words, at);
    const phase = state & PHASE_MASK;
    if ((state & ID_MASK) !== id) {
      // The server may have been terminated after it answered and before it
      // woke the caller.
      if (phase >= REPLIED) Atomics.notify(words, at);
      return phase === SERVING && caller === id;
    }
    // The expected value names the dead agent, so it cannot come again.
    let next = FREE;
    if (phase === SERVING) {
      const waits = Atomics.load(words, at + CALLER);
      if ((waits & DEAD_BIT) === 0) next = LOST | waits;
    }
    if (Atomics.compareExchange(words, at, state, next) !== state) continue;
    if (next === FREE) return true;
    if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at);
    reclaim(words, at, next);
    return true;
  }
}

/**
 * Notes that agent `id` was abandoned, for servers that keep what is its, and
 * for callers that wait for it. It comes after the slots of the agent: an
 * answer that it still had came before.
 */
export function noteDeath(words: Words, id: number): void {
  const entry = Atomics.add(words, DEATHS, 1);
  // The round tells entries apart of an agent whose id was used again.
  const round = Math.floor(entry / ENTRIES) << ROUND_SHIFT;
  Atomics.store(words, DEAD + (entry & ENTRIES - 1), round | id);
}

/** Whether agent `id` is one of those that were abandoned last. */
export function isDead(words: Words, id: number): boolean {
  for (let i = 0; i < ENTRIES; i++) {
    if ((Atomics.load(words, DEAD + i) & ID_MASK) === id) return true;
  }
  return false;
}

/**
 * Mutants of `weft.h`: what is wrong with one is wrong with a mutant of the
 * TypeScript, too, in the same words. {@linkcode WITHOUT} says what cannot go
 * wrong in C, and why.
 *
 * @module
 */
import { type Mutant as Original, stemsOf } from "../mutants.ts";
import type { Mutant } from "./mutant.ts";
import { barrier } from "../../barrier/mutants_c.ts";
import { broadcast } from "../../broadcast/mutants_c.ts";
import { call_ring } from "../../call_ring/mutants_c.ts";
import { channel } from "../../channel/mutants_c.ts";
import { condition } from "../../condition/mutants_c.ts";
import { striped_counter } from "../../striped_counter/mutants_c.ts";
import { event } from "../../event/mutants_c.ts";
import { latch } from "../../latch/mutants_c.ts";
import { lock_free_queue } from "../../lock_free_queue/mutants_c.ts";
import {
  _event_count,
  _queue,
  mpmc_queue,
} from "../../mpmc_queue/mutants_c.ts";
import { _wait, mutex } from "../../mutex/mutants_c.ts";
import { once } from "../../once/mutants_c.ts";
import { record_ring } from "../../record_ring/mutants_c.ts";
import { rw_lock } from "../../rw_lock/mutants_c.ts";
import { semaphore } from "../../semaphore/mutants_c.ts";
import { snapshot } from "../../snapshot/mutants_c.ts";
import { slab_pool } from "../../slab_pool/mutants_c.ts";
import { spsc_queue } from "../../spsc_queue/mutants_c.ts";
import { work_counter } from "../../work_counter/mutants_c.ts";
import { work_deque } from "../../work_deque/mutants_c.ts";

export { diffOf, type Mutant, mutated } from "./mutant.ts";

/** All of them. */
export const MUTANTS: readonly Mutant[] = [
  ...mutex,
  ..._wait,
  ...semaphore,
  ...spsc_queue,
  ...mpmc_queue,
  ..._event_count,
  ..._queue,
  ...work_counter,
  ...latch,
  ...event,
  ...lock_free_queue,
  ...call_ring,
  ...channel,
  ...barrier,
  ...once,
  ...rw_lock,
  ...snapshot,
  ...work_deque,
  ...striped_counter,
  ...condition,
  ...record_ring,
  ...broadcast,
  ...slab_pool,
];

/** Whether a mutant of C makes the mistake of one of TypeScript. */
export const isCounterpart = (mutant: Mutant, original: Original): boolean =>
  mutant.what === original.what && stemsOf(original).includes(mutant.stem);

/** Mutants of TypeScript that have no counterpart, after the reason. */
export const WITHOUT: readonly (readonly [why: string, ...string[]])[] = [
  [
    "A hint is an atomic load in wasm: what it says was so when it was read, " +
    "and that is enough here",
    "rw_lock.ts: believes a hint that there is a writer",
    "rw_lock.ts: believes a hint that there are readers",
    "semaphore.ts: believes a hint that there are too few",
    "mpmc_queue.ts: reads the next ticket plainly to say that it is full",
    "lock_free_queue.ts: a hint says that an element is not taken",
    "lock_free_queue.ts: a hint says that the queue is empty",
    "broadcast.ts: full, and does not look whether it is closed",
    "_call_slots.ts: looks for a slot by hints alone",
    "_call_slots.ts: looks for calls by hints alone",
    "_call_slots.ts: leaves a call alone whose caller just went to sleep",
  ],
  [
    "In C there is no view that would remember what it saw",
    "work_deque.ts: full one item too late, at the second look",
    "work_deque.ts: believes an old top that it is full",
  ],
  [
    "An int32_t cannot hold what does not wrap",
    "spsc_queue.ts: the index a producer sleeps on does not wrap",
  ],
  [
    "Memory is made by JavaScript here; tests/_twin has that of C",
    "mpmc_queue.ts: MQ7: slots have no turns at first",
    "slab_pool.ts: hands out what lies behind the last block",
  ],
  [
    "In C, who serves a call writes the reply in place",
    "_call_slots.ts: writes the reply after the answer",
  ],
  [
    "C has one form of these, for an array and for what is none",
    "broadcast.ts: reads arrays plainly where it drops",
    "broadcast.ts: writes arrays plainly where it drops",
    "broadcast.ts: takes arrays that are void",
    "_call_slots.ts: takes the reply to an array after it gave the slot back",
    "_call_slots.ts: keeps the slot of a call that was answered to an array",
    "record_ring.ts: (F): frees before it copies to an array",
  ],
  [
    "C has no waitAny",
    "mpmc_queue.ts: who only looked does not pass the wake on",
    "semaphore.ts: who only looked does not pass the wake on",
    "semaphore.ts: who looks is not counted",
    "semaphore.ts: who looks is counted for ever",
    "event.ts: who only looked does not pass the wake on",
    "event.ts: who looks takes the signal",
    "_wait.ts: the others are waited for still",
  ],
  [
    "C has no async forms, and so no waits that an event loop keeps",
    "_wait.ts: blocks and leaves its native waits in the lists",
    "_wait.ts: takes one native wait out of the list, whosever it is",
    "_wait.ts: forgets to take its native waits out of the lists",
    "_wait.ts: uses up a wake that came after all had given up",
    "_wait.ts: takes a native wait that did not begin for one",
    "_wait.ts: begins no native wait",
    "_wait.ts: does not serve who is behind in line",
    "_wait.ts: serves the first in line alone, where the wake is for all",
    "_wait.ts: a native wait that is over counts as pending",
    "_wait.ts: begins no native wait for who is first in line now",
    "_wait.ts: an aborted waiter stays in line",
    "_wait.ts: a waiter that is served while it is aborted gets nothing",
    "_wait.ts: does not look each second",
    "_wait.ts: looks behind a waiter that asked for its own look",
  ],
];

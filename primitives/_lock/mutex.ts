/**
 * The algorithm of `Mutex`: what each operation does to its two words. `words`
 * are those of the mutex, and `id` is the agent that calls.
 *
 * C twin: `mutex.h`, function by function.
 *
 * @module
 */

import { keeps, keepsAsleep, told } from "../_memory/explored.ts";
import type { MUTEX } from "../_memory/layout.ts";
import { spin, spinning } from "../_wait/spin.ts";
import { block, type Waiting } from "../_wait/wait.ts";

export const STATE: typeof MUTEX.state = 0;
const STARVING: typeof MUTEX.starving = 1;

export const UNLOCKED = 0;
export const OWNER_MASK = 0x0fff_ffff; // MUTEX_BITS.OWNER
const ABANDONED_BIT = 0x1000_0000; // MUTEX_BITS.ABANDONED
export const HANDOFF_BIT = 0x2000_0000; // MUTEX_BITS.HANDOFF
export const CONTENDED_BIT = 0x4000_0000; // MUTEX_BITS.CONTENDED
/** HANDOFF and CONTENDED: the mutex is kept for a sleeper. */
export const KEPT = 0x6000_0000; // MUTEX_BITS.HANDOFF | CONTENDED

/**
 * How long, in ms, newcomers may pass a sleeper before it is handed the mutex.
 */
const PATIENCE_MS = 1;

/** The same for a hand-off among sleepers served in line: see `lockSlow`. */
const LINE_PATIENCE_MS = 100;

/** How an attempt to lock ended. */
export type LockOutcome = false | "locked" | "abandoned";

/** The id of the agent that holds the mutex, or 0. */
export function ownerOf(words: Int32Array<SharedArrayBuffer>): number {
  return Atomics.load(words, STATE) & OWNER_MASK;
}

/** Locks the mutex if nobody holds it, without waiting. */
export function tryLock(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
): LockOutcome {
  let state = Atomics.compareExchange(words, STATE, UNLOCKED, id);
  if (state === UNLOCKED) return "locked";
  // A mutex without an owner is ABANDONED, or reserved for a sleeper, or came
  // free just now. A sleeper that finds it taken sleeps again.
  while ((state & OWNER_MASK) === 0) {
    const expected = state;
    const taken = id | (state & CONTENDED_BIT);
    state = Atomics.compareExchange(words, STATE, expected, taken);
    if (state === expected) {
      return state & ABANDONED_BIT ? "abandoned" : "locked";
    }
  }
  return false;
}

/**
 * Spins for a short time until the mutex is free, and locks it. It looks once
 * in a microsecond, because each look takes the cache line from the owner,
 * which needs it to unlock. If the mutex was handed to a sleeper, it stops:
 * spinning would take the sleeper's core.
 */
function spinAndLock(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
): boolean {
  return spin(() => {
    const state = Atomics.load(words, STATE);
    if (state & HANDOFF_BIT) return null;
    return state === UNLOCKED &&
      Atomics.compareExchange(words, STATE, state, id) === state;
  }) === true;
}

/**
 * For a sleeper that leaves: frees a mutex that is kept for a sleeper, and
 * wakes another one; or takes back that it is offered.
 */
function decline(words: Int32Array<SharedArrayBuffer>): void {
  let state = Atomics.load(words, STATE);
  while (state & HANDOFF_BIT) {
    const expected = state;
    const next = state === KEPT ? UNLOCKED : state & ~HANDOFF_BIT;
    state = Atomics.compareExchange(words, STATE, expected, next);
    if (state !== expected) continue;
    if (next === UNLOCKED) Atomics.notify(words, STATE, 1);
    return;
  }
}

/**
 * Locks the mutex after `state` was seen, which may be old.
 *
 * With `inLine`, a sleeper that waited for a millisecond has the next sleeper
 * served in line, too. A newcomer then takes a hand-off only after 100 ms:
 * where 64 agents share two cores, a woken agent may need that long to run.
 * `outer` is for the race tester: what the caller keeps meanwhile.
 */
export function* lockSlow(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
  state: number,
  inLine = false,
  outer = 0,
): Waiting<LockOutcome> {
  let woken = false; // by a notify: a hand-off may be meant for this agent
  let starved = false;
  let contended = 0; // CONTENDED_BIT once this agent slept: others may, too
  let since = 0;
  const patience = inLine ? LINE_PATIENCE_MS : PATIENCE_MS;
  for (;;) {
    if (told.explored) {
      keeps("lock", state, woken, starved, contended, since, outer);
    }
    const expected = state;
    if (
      (state & OWNER_MASK) === 0 &&
      ((state & HANDOFF_BIT) === 0 || woken || starved)
    ) {
      // (C) A woken sleeper cannot know whether others sleep, so it keeps
      // CONTENDED; its unlock wakes the next.
      const taken = id | (state & CONTENDED_BIT) | contended;
      state = Atomics.compareExchange(words, STATE, expected, taken);
      if (state !== expected) continue;
      if (
        inLine && contended !== 0 &&
        (starved || performance.now() - since > PATIENCE_MS)
      ) Atomics.store(words, STARVING, 1);
      else if (state & HANDOFF_BIT && !starved) {
        Atomics.store(words, STARVING, 0);
      }
      return state & ABANDONED_BIT ? "abandoned" : "locked";
    }
    if ((state & CONTENDED_BIT) === 0) {
      state |= CONTENDED_BIT;
      const seen = Atomics.compareExchange(words, STATE, expected, state);
      if (seen !== expected) {
        state = seen;
        continue;
      }
    }
    if (contended === 0) {
      contended = CONTENDED_BIT;
      since = performance.now();
    } else if (!starved && performance.now() - since > PATIENCE_MS) {
      starved = true;
      Atomics.store(words, STARVING, 1);
    }
    const handoff = (state & HANDOFF_BIT) !== 0;
    const offered = handoff && state; // what is read after the sleep
    const meant = handoff && woken;
    if (told.explored) {
      keeps("sleep", state, meant, starved, contended, since, outer);
      keepsAsleep("asleep", offered, meant, starved, since, outer);
    }
    // The sleeper it is reserved for may be dead: after a while, take it.
    const outcome = yield handoff
      ? { words, index: STATE, value: state, atMost: patience }
      : { words, index: STATE, value: state };
    if (outcome === "timed-out") {
      decline(words); // it may be meant for this sleeper, which leaves
      return false;
    }
    if (told.explored) {
      const ok = outcome === "ok";
      keeps("awake", offered, meant, starved, since, outer, ok);
    }
    const before = state;
    state = Atomics.load(words, STATE);
    // Whoever was woken for an offer may take it once it is kept.
    woken = outcome === "ok" ||
      (handoff && (state === before || (woken && before !== KEPT)));
  }
}

/**
 * Locks the mutex again at the end of a condition's wait. No timeout
 * and no abort ends this. `outer` is what the wait keeps meanwhile.
 */
export function* relock(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
  outer: number,
): Waiting<LockOutcome> {
  const path = lockSlow(words, id, UNLOCKED, false, outer);
  let step = path.next();
  while (!step.done) {
    const outcome = yield { ...step.value, patient: true };
    step = path.next(outcome === "timed-out" ? "not-equal" : outcome);
  }
  return step.value;
}

/**
 * Waits until nobody holds the mutex: it takes it, and gives it up at once. A
 * mutex that was abandoned stays so for the next one who locks it.
 */
export function* untilUnlocked(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
): Waiting<boolean> {
  if (ownerOf(words) === 0) return true;
  const outcome = yield* lockSlow(words, id, UNLOCKED);
  if (outcome === false) return false;
  if (outcome === "abandoned") abandon(words, id);
  else unlock(words, id);
  return true;
}

/**
 * Locks the mutex, and blocks `timeout` ms at most.
 *
 * @throws {TypeError} If agent `id` holds it.
 */
export function lock(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
  timeout: number,
): LockOutcome {
  const state = Atomics.compareExchange(words, STATE, UNLOCKED, id);
  if (state === UNLOCKED) return "locked";
  if ((state & OWNER_MASK) === id) {
    throw new TypeError(
      `Cannot lock a mutex twice: agent ${id} holds it already`,
    );
  }
  if (spinning.rounds > 0 && spinAndLock(words, id)) return "locked";
  return block(lockSlow(words, id, state), timeout);
}

/** Unlocks a mutex in which `state` was seen, which may be old by now. */
function unlockSlow(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
  state: number,
): void {
  const owner = state & OWNER_MASK;
  if (owner !== id) {
    throw new TypeError(
      `Cannot unlock: agent ${id} does not hold the mutex, ` +
        (owner === 0 ? "nobody does" : `agent ${owner} does`),
    );
  }
  // CONTENDED is set, so only the owner changes the word now.
  if (Atomics.load(words, STARVING) === 0) { // before it is given: see (G)
    Atomics.store(words, STATE, UNLOCKED);
    Atomics.notify(words, STATE, 1);
    return;
  }
  // Offer it to a sleeper, and only then keep it for that one: whether there is
  // one cannot be looked at later, see (G).
  const offered = state | HANDOFF_BIT;
  Atomics.store(words, STATE, offered);
  let next = KEPT;
  if (Atomics.notify(words, STATE, 1) === 0) {
    // Nobody slept: the starving sleeper gave up, or was terminated.
    Atomics.store(words, STARVING, 0);
    next = UNLOCKED;
  }
  // (G) Whoever takes the mutex may free the memory at once: from here on, only
  // the address is used. A sleeper that leaves takes the offer back.
  if (Atomics.compareExchange(words, STATE, offered, next) !== offered) {
    Atomics.store(words, STATE, UNLOCKED);
  }
  Atomics.notify(words, STATE, 1);
}

/**
 * Unlocks the mutex, and wakes a sleeper if there may be one.
 *
 * @throws {TypeError} If agent `id` does not hold it.
 */
export function unlock(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
): void {
  const state = Atomics.compareExchange(words, STATE, id, UNLOCKED);
  if (state !== id) unlockSlow(words, id, state);
}

/**
 * Frees the mutex if agent `id` holds it, which will never run again. Returns
 * how many locks it freed: 1, or 0 if `id` did not hold the mutex.
 */
export function abandon(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
): number {
  let state = Atomics.load(words, STATE);
  while ((state & OWNER_MASK) === id && id !== 0) {
    const expected = state;
    state = Atomics.compareExchange(words, STATE, expected, ABANDONED_BIT);
    if (state !== expected) continue;
    if (state & CONTENDED_BIT) Atomics.notify(words, STATE, 1);
    return 1;
  }
  return 0;
}

/**
 * Makes `heir` the owner of a mutex that agent `id` holds, which will never run
 * again. Returns false if `id` did not hold it.
 */
export function inherit(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
  heir: number,
): boolean {
  let state = Atomics.load(words, STATE);
  while ((state & OWNER_MASK) === id && id !== 0) {
    const expected = state;
    const next = state & ~OWNER_MASK | heir;
    state = Atomics.compareExchange(words, STATE, expected, next);
    if (state === expected) return true;
  }
  return false;
}

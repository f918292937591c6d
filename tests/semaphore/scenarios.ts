import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  giveBack,
  type Scenario,
  TRIES_AGAIN,
  viewing,
  type Weft,
} from "../_run/scenario.ts";
import { acquire, attempt, release, trackedOf } from "./scenarios_tracked.ts";

const { permits, waiters, bulk, claimant, claim } = LAYOUT.semaphore;
/** In the permits: what is free is lacking. */
const DEBT = 3;
const freeOf = (word: number) =>
  (word & 3) === DEBT ? -(word >>> 2) : word >>> 2;

/** Read plainly before an exchange checks it. */
const HINTS = [[permits * 4, permits * 4 + 4]] as const;

/**
 * A semaphore with `initial` permits. The model's state is the number of free
 * permits. A waiter lets others pass `patience` times before it claims.
 */
function counting(weft: Weft, initial: number, patience = 0) {
  const { Semaphore } = weft.mod;
  return race.spec({
    memory: () => Semaphore.create(initial).buffer,
    ...viewing(weft, Semaphore, LAYOUT.semaphore),
    hints: HINTS,
    stateless: true,
    init: initial,
    ops: {
      acquire: {
        run: (s, n: number) => {
          weft.spin.spinning.patience = patience;
          return s.acquire(n);
        },
        model: (free: number, n: number) =>
          free < n ? null : [free - n, undefined],
      },
      acquireFor: {
        run: (s, n: number) => {
          weft.spin.spinning.patience = patience;
          return s.tryAcquire(n, 5);
        },
        model: (free: number, n: number) =>
          free < n
            ? race.timedOut([free, false])
            : race.either([free - n, true], race.timedOut([free, false])),
      },
      // Permits laid aside for a claimant are not free.
      tryAcquire: {
        run: (s, n: number) => s.tryAcquire(n),
        model: (free: number, n: number) =>
          free < n
            ? [free, false]
            : race.either([free - n, true], race.contended([free, false])),
        lockFree: true,
      },
      // For scenarios without claims, so that no other reason is left.
      tryUnclaimed: {
        run: (s, n: number) => s.tryAcquire(n),
        model: (free: number, n: number) =>
          free < n ? [free, false] : [free - n, true],
        lockFree: true,
      },
      drain: {
        run: (s) => s.drain(),
        model: (free: number) =>
          race.either([0, free], race.contended([free, 0])),
        lockFree: true,
      },
      drainUnclaimed: {
        run: (s) => s.drain(),
        model: (free: number) => [0, free],
        lockFree: true,
      },
      release: {
        run: (s, n: number) => s.release(n),
        model: (free: number, n: number) => [free + n, undefined],
        lockFree: true,
      },
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      for (const index of [waiters, bulk, claimant]) {
        if (words[index] !== 0) return `word ${index} is ${words[index]}`;
      }
    },
  });
}

/** Whoever got its permits frees the memory, as POSIX allows with `sem_t`. */
function freed(weft: Weft, patience = 0) {
  const { Semaphore } = weft.mod;
  return race.spec({
    memory: () => Semaphore.create(0).buffer,
    ...viewing(weft, Semaphore, LAYOUT.semaphore),
    hints: HINTS,
    stateless: true,
    ops: {
      acquireAndFree: {
        run: (s, n: number) => {
          weft.spin.spinning.patience = patience;
          s.acquire(n);
          giveBack(s, LAYOUT.semaphore.length);
        },
      },
      tryAndFree: {
        run: (s, n: number) => {
          if (s.tryAcquire(n)) giveBack(s, LAYOUT.semaphore.length);
          else s.acquire(n);
        },
      },
      release: { run: (s, n: number) => s.release(n) },
    },
  });
}

/** A terminated agent leaves the others the permits they need, and no more. */
function terminated(weft: Weft, initial: number, most = initial + 4) {
  const { Semaphore } = weft.mod;
  return race.spec({
    memory: () => Semaphore.create(initial).buffer,
    ...viewing(weft, Semaphore, LAYOUT.semaphore),
    hints: HINTS,
    stateless: true,
    ops: {
      acquire: { run: (s, n: number) => s.acquire(n) },
      release: { run: (s, n: number) => s.release(n) },
      section: {
        run: (s, n: number) => {
          s.acquire(n);
          s.release(n);
        },
      },
    },
    recover: (s, dead) => {
      s.abandon(dead + 1);
      s.release(4); // what it may have held is its supervisor's business
    },
    invariant: (memory) => {
      const now = freeOf(new Int32Array(memory)[permits]!);
      if (now > most) return `there are ${now} permits`;
    },
  });
}

/** A claimant was terminated before the exploration began. */
function claimed(weft: Weft) {
  const { Semaphore } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = Semaphore.create();
      const words = new Int32Array(buffer);
      words[permits] = 2 << 2 | DEBT;
      words[claim] = 2;
      words[claimant] = 9;
      return buffer;
    },
    ...viewing(weft, Semaphore, LAYOUT.semaphore),
    hints: HINTS,
    stateless: true,
    init: { free: -2, claimant: 9 },
    ops: {
      acquire: {
        run: (s, n: number) => {
          weft.spin.spinning.patience = 0;
          return s.acquire(n);
        },
        model: (s: { free: number; claimant: number }, n: number) =>
          s.free < n ? null : [{ ...s, free: s.free - n }, undefined],
      },
      release: {
        run: (s, n: number) => s.release(n),
        model: (s: { free: number; claimant: number }, n: number) => [
          { ...s, free: s.free + n },
          undefined,
        ],
      },
      abandon: {
        run: (s, id: number) => s.abandon(id),
        model: (s: { free: number; claimant: number }, id: number) =>
          s.claimant === id ? [{ free: s.free + 2, claimant: 0 }, 2] : [s, 0],
      },
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      if (words[claimant] !== 0) return `agent ${words[claimant]} has a claim`;
      const free = freeOf(words[permits]!);
      if (free !== 1) return `there are ${free} permits`;
    },
  });
}

/**
 * A claim that times out: an agent that waits for its permits gets them at
 * once.
 */
function inTime(weft: Weft) {
  const { Semaphore } = weft.mod;
  return race.spec({
    memory: () => Semaphore.create(1).buffer,
    ...viewing(weft, Semaphore, LAYOUT.semaphore),
    hints: HINTS,
    stateless: true,
    ops: {
      acquireTwo: {
        run: (s) => {
          weft.spin.spinning.patience = 0;
          return s.tryAcquire(2, 5);
        },
      },
      acquireOne: {
        run: (s) => s.tryAcquire(1, 500) && performance.now() < 100,
      },
    },
    final: (_, results) =>
      results[1]![0] === true ? undefined : "the permit came too late",
  });
}

/** The race scenarios of `Semaphore`. */
export function scenarios(weft: Weft): Scenario[] {
  const none = counting(weft, 0);
  const one = counting(weft, 1);
  const patient = counting(weft, 0, 8);
  const cycle = (n: number) => [acquire(n), release(n)] as const;
  return [
    {
      name: "one permit, two agents",
      differs: TRIES_AGAIN,
      spec: one,
      agents: [cycle(1), cycle(1)],
    },
    {
      name: "one permit, two agents, twice",
      spec: one,
      agents: [[...cycle(1), ...cycle(1)], cycle(1)],
    },
    {
      name: "one permit, three agents",
      spec: one,
      agents: [cycle(1), cycle(1), cycle(1)],
      options: { states: 100_000 },
      sampled: true,
    },
    {
      name: "two permits released at once",
      spec: none,
      agents: [[acquire(1)], [acquire(1)], [release(2)]],
      options: { states: 100_000 },
      sampled: true,
    },
    {
      name: "two permits released one by one",
      spec: none,
      agents: [[acquire(1)], [acquire(1)], [release(1), release(1)]],
      options: { states: 100_000 },
      sampled: true,
    },
    {
      name: "one wants two permits, released one by one",
      differs: TRIES_AGAIN,
      spec: none,
      agents: [[acquire(2)], [release(1), release(1)]],
    },
    {
      // The waiter for one must not sleep on while the wake went to the other.
      name: "one wants one permit, another two",
      spec: none,
      agents: [[acquire(1)], [acquire(2)], [release(1), release(2)]],
      options: { states: 100_000 },
      sampled: true,
    },
    {
      name: "two claims",
      spec: none,
      agents: [[acquire(2)], [acquire(2)], [release(1), release(3)]],
      options: { states: 100_000 },
      sampled: true,
    },
    {
      name: "two permits released at once, with patience",
      spec: patient,
      agents: [[acquire(1)], [acquire(1)], [release(2)]],
      options: { timeouts: 0 },
    },
    {
      name: "two permits released one by one, with patience",
      spec: patient,
      agents: [[acquire(1)], [acquire(1)], [release(1), release(1)]],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
    },
    {
      // It sleeps beside a permit; whoever takes that must not hide it.
      name: "one wants two permits, and another takes one, with patience",
      differs: TRIES_AGAIN,
      spec: counting(weft, 1, 8),
      agents: [[acquire(2)], [attempt(1), release(2)]],
      options: { timeouts: 0 },
    },
    {
      name: "one wants two permits, released one by one, with patience",
      differs: TRIES_AGAIN,
      spec: patient,
      agents: [[acquire(2)], [release(1), release(1)]],
      options: { timeouts: 0 },
    },
    {
      // The wake for one permit must not go to an agent that wants two.
      name: "wanted one and two, released one, with patience",
      spec: patient,
      agents: [[acquire(2)], [acquire(1)], [release(1)]],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
    },
    {
      name: "a timeout at any time, with patience",
      differs: TRIES_AGAIN,
      spec: patient,
      agents: [[["acquireFor", 1]], [release(1)]],
      options: { timeouts: true },
    },
    {
      name: "a claim that times out gives back",
      differs: TRIES_AGAIN,
      spec: none,
      agents: [[["acquireFor", 2]], [release(1), attempt(1)]],
      options: { timeouts: true },
    },
    {
      name: "a claim that times out serves another",
      differs: TRIES_AGAIN,
      spec: inTime(weft),
      agents: [[["acquireTwo"]], [["acquireOne"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "a claim is given up",
      spec: claimed(weft),
      agents: [[acquire(1)], [["abandon", 8], ["abandon", 9]], [release(2)]],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
    },
    {
      name: "two inherit a claim, and one claims anew",
      differs: TRIES_AGAIN,
      spec: claimed(weft),
      agents: [[["abandon", 9], release(3)], [["abandon", 9], acquire(2)]],
      options: { timeouts: 0 },
    },
    {
      name: "a claimant is terminated",
      differs: TRIES_AGAIN,
      spec: terminated(weft, 0, 6),
      agents: [[acquire(2)], [release(2)]],
      options: { kill: true, rescue: true, timeouts: 0 },
    },
    {
      name: "tryAcquire, acquire",
      differs: TRIES_AGAIN,
      spec: one,
      agents: [[attempt(1)], cycle(1)],
    },
    {
      name: "tryAcquire against tryAcquire",
      spec: counting(weft, 3),
      agents: [
        [["tryUnclaimed", 1], ["tryUnclaimed", 1]],
        [["tryUnclaimed", 2]],
      ],
      options: { progress: "lock-free" },
    },
    {
      name: "three tryAcquire, each of which gets a permit",
      spec: counting(weft, 3),
      agents: [
        [["tryUnclaimed", 1]],
        [["tryUnclaimed", 1]],
        [["tryUnclaimed", 1]],
      ],
      options: { progress: "lock-free" },
    },
    {
      name: "drain against release and tryAcquire",
      spec: counting(weft, 2),
      agents: [
        [["drainUnclaimed"], ["drainUnclaimed"]],
        [["tryUnclaimed", 1], release(2)],
      ],
      options: { progress: "lock-free" },
    },
    {
      name: "drain against drain",
      spec: counting(weft, 2),
      agents: [[["drainUnclaimed"], release(1)], [["drainUnclaimed"]]],
      options: { progress: "lock-free" },
    },
    {
      // It sleeps beside a permit; whoever drains that must not hide it.
      name: "one wants two permits, and another drains, with patience",
      differs: TRIES_AGAIN,
      spec: counting(weft, 1, 8),
      agents: [[acquire(2)], [["drainUnclaimed"], release(2)]],
      options: { timeouts: 0 },
    },
    {
      // What was released for a claimant is not free.
      name: "one claims two permits, and another drains",
      differs: TRIES_AGAIN,
      spec: none,
      agents: [[acquire(2)], [release(1), ["drain"], release(2)]],
      options: { timeouts: 0 },
    },
    {
      name: "a timeout at any time",
      differs: TRIES_AGAIN,
      spec: none,
      agents: [[["acquireFor", 1]], [release(1)]],
      options: { timeouts: true },
    },
    {
      name: "a timeout of two at any time",
      differs: TRIES_AGAIN,
      spec: none,
      agents: [[["acquireFor", 2]], [release(1), release(1)]],
      options: { timeouts: true },
    },
    {
      name: "a timeout beside a waiter",
      spec: none,
      agents: [[["acquireFor", 1]], [acquire(1)], [release(1), release(1)]],
      options: { timeouts: true, states: 100_000 },
      sampled: true,
    },
    {
      name: "spurious wakes",
      differs: TRIES_AGAIN,
      spec: one,
      agents: [cycle(1), cycle(1)],
      options: { spurious: true },
    },
    {
      name: "an agent is terminated",
      spec: terminated(weft, 1),
      agents: [[["section", 1]], [["section", 1]]],
      options: { kill: true, rescue: true },
    },
    {
      name: "an agent that wants two is terminated",
      spec: terminated(weft, 2),
      agents: [[["section", 2]], [["section", 1]]],
      options: { kill: true, rescue: true },
    },
    {
      name: "one acquires, and frees the semaphore",
      differs: TRIES_AGAIN,
      spec: freed(weft),
      agents: [[["acquireAndFree", 1]], [release(1)]],
    },
    {
      name: "one tries, and frees the semaphore",
      differs: TRIES_AGAIN,
      spec: freed(weft),
      agents: [[["tryAndFree", 1]], [release(1)]],
    },
    {
      name: "one acquires two, and frees the semaphore",
      differs: TRIES_AGAIN,
      spec: freed(weft),
      agents: [[["acquireAndFree", 2]], [release(1), release(1)]],
    },
    {
      name: "one acquires two of two agents, and frees the semaphore",
      spec: freed(weft, 8),
      agents: [[["acquireAndFree", 2]], [release(1)], [release(1)]],
      options: { timeouts: 0 },
    },
    ...trackedOf(weft),
  ];
}

/**
 * What agents do with a condition in scenarios, and what must hold.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { enter, giveBack, named, type Weft } from "../_run/scenario.ts";

const MUTEX = LAYOUT.condition.length * 4;
const TOKENS = MUTEX + LAYOUT.mutex.length * 4;
const BYTES = TOKENS + 8;

/**
 * What agents have: a condition, its mutex, and two words that it guards, of
 * which `words` names those that are used.
 */
const guarding = (
  weft: Weft,
  words: Readonly<Record<string, number>> = { tokens: TOKENS },
) => ({
  agent: (memory: SharedArrayBuffer, id: number) => {
    const { Condition, Mutex } = weft.mod;
    enter(weft, id);
    return {
      condition: new Condition(memory),
      mutex: new Mutex(memory, MUTEX),
      tokens: new Int32Array(memory, TOKENS, 2),
    };
  },
  words: {
    ...named(LAYOUT.condition),
    ...named(LAYOUT.mutex, MUTEX),
    ...words,
  },
  stateless: true,
});

/** Tokens under a mutex. The model's state is the number of tokens. */
export function tokens(weft: Weft, turn = 0) {
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(BYTES);
      begin(memory, { turn });
      return memory;
    },
    ...guarding(weft),
    init: 0,
    ops: {
      take: {
        run: ({ condition, mutex, tokens }) => {
          using _lock = mutex.lock();
          while (tokens[0] === 0) condition.wait(mutex);
          return tokens[0]!--;
        },
        model: (n: number) => n > 0 ? [n - 1, n] : null,
      },
      takeFor: {
        run: ({ condition, mutex, tokens }) => {
          using _lock = mutex.lock();
          while (tokens[0] === 0) {
            if (!condition.tryWait(mutex, 5)) return 0;
          }
          return tokens[0]!--;
        },
        model: (n: number) =>
          n > 0
            ? race.either([n - 1, n], race.timedOut([n, 0]))
            : race.timedOut([n, 0]),
      },
      put: {
        run: ({ condition, mutex, tokens }, n: number) => {
          {
            using _lock = mutex.lock();
            tokens[0]! += n;
          }
          condition.notify(n);
        },
        model: (m: number, n: number) => [m + n, undefined],
      },
      putInside: {
        run: ({ condition, mutex, tokens }, n: number) => {
          using _lock = mutex.lock();
          tokens[0]! += n;
          condition.notify(n);
        },
        model: (m: number, n: number) => [m + n, undefined],
      },
      putAll: {
        run: ({ condition, mutex, tokens }, n: number) => {
          using _lock = mutex.lock();
          tokens[0]! += n;
          condition.notifyAll();
        },
        model: (m: number, n: number) => [m + n, undefined],
      },
      notify: {
        run: ({ condition }, n: number) => condition.notify(n),
        lockFree: true,
        model: (m: number) => [m, undefined],
      },
    },
  });
}

/** In the word of a group: one that waits. */
export const WAITING = 1 << 15;
const GATHERS = 1 << 30;
const COUNTS = GATHERS - 1;

/** How many are counted in a word. */
export const total = (counts: number): number =>
  counts % WAITING + Math.floor(counts / WAITING);

/** Bit 31 of a word: the called waiters belong to this group. */
const markOf = (group: number): number => (group + 1 & 2) << 30;

/** The counts in the three words of a condition. */
interface Counts {
  readonly turn: number;
  readonly even: number;
  readonly odd: number;
}

/** Where a condition begins. */
interface Start extends Partial<Counts> {
  /** Whether its turn has not yet followed the words. */
  readonly lags?: boolean;
}

/** Begins in turn `turn`, with this many called and waiting agents. */
function begin(memory: SharedArrayBuffer, start: Start): void {
  const { turn = 0, even = 0, odd = 0, lags = false } = start;
  const words = new Int32Array(memory);
  words[LAYOUT.condition.turn] = lags ? turn - 1 : turn;
  const counts = [even, odd];
  for (const group of [turn, turn - 1]) {
    const parity = group & 1;
    const gathers = group !== turn && counts[parity]! >= WAITING;
    words[LAYOUT.condition.even + parity] = markOf(group) |
      (gathers ? GATHERS : 0) | counts[parity]!;
  }
}

/** Other agents wait, too; only their count exists. */
export function counted(
  weft: Weft,
  start: Start,
  check: (results: unknown[][], counts: Counts) => string,
) {
  const { Condition, Mutex } = weft.mod;
  const { turn, even, odd } = LAYOUT.condition;
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(BYTES);
      begin(memory, start);
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return {
        condition: new Condition(memory),
        mutex: new Mutex(memory, MUTEX),
        words: new Int32Array(memory),
      };
    },
    words: { ...named(LAYOUT.condition), ...named(LAYOUT.mutex, MUTEX) },
    stateless: true,
    ops: {
      doze: {
        run: ({ condition, mutex }) => {
          using _lock = mutex.lock();
          return condition.tryWait(mutex, 5);
        },
      },
      nap: {
        run: ({ condition, mutex }) => {
          using _lock = mutex.lock();
          return condition.tryWait(mutex, 0);
        },
      },
      notify: { run: ({ condition }) => condition.notify(), lockFree: true },
      join: {
        run: ({ words }) => {
          for (;;) {
            const group = Atomics.load(words, turn) + 1;
            const place = even + (group & 1);
            const state = Atomics.load(words, place);
            const isOver = (state ^ markOf(group)) >= 0;
            if (isOver) continue;
            const joined = (state | GATHERS) + WAITING;
            const seen = Atomics.compareExchange(words, place, state, joined);
            if (seen === state) return group;
          }
        },
      },
      pass: {
        run: ({ words }, turns: number) => {
          for (let i = 0; i < turns;) {
            const now = Atomics.load(words, turn);
            const place = even + (now + 1 & 1);
            const state = Atomics.load(words, place);
            const n = ((state & COUNTS) >> 15) + 1;
            const called = markOf(now + 1) | n;
            const seen = Atomics.compareExchange(words, place, state, called);
            if (seen !== state) continue;
            Atomics.compareExchange(words, turn, now, now + 1);
            i++;
          }
        },
      },
    },
    final: (memory, results) => {
      const words = new Int32Array(memory);
      const counts = {
        turn: words[turn]!,
        even: words[even]! & COUNTS,
        odd: words[odd]! & COUNTS,
      };
      const wrong = check(results, counts);
      if (wrong !== "") {
        return `${wrong}: ${JSON.stringify(counts)} ${results.join("; ")}`;
      }
    },
  });
}

/** Waits that are not repeated. At most as many end as were called. */
export function dozing(weft: Weft, most: number, turn = 0) {
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(BYTES);
      begin(memory, { turn });
      return memory;
    },
    ...guarding(weft, {}),
    ops: {
      doze: {
        run: ({ condition, mutex }) => {
          using _lock = mutex.lock();
          return condition.tryWait(mutex, 5);
        },
      },
      notify: {
        run: ({ condition, mutex }) => {
          using _lock = mutex.lock();
          condition.notify();
        },
      },
      notifyAll: {
        run: ({ condition }) => condition.notifyAll(),
        lockFree: true,
      },
    },
    final: (memory, results) => {
      const called = results.flat().filter((result) => result === true).length;
      if (called > most) return `${called} were called`;
      const words = new Int32Array(memory);
      const { turn, even } = LAYOUT.condition;
      // Nobody waits, so none may be counted.
      const waiting = [even, even + 1].map((i) => (words[i]! & COUNTS) >> 15);
      if (waiting.some((n) => n !== 0)) {
        return `counted at turn ${words[turn]}: ${waiting}`;
      }
    },
  });
}

/**
 * Agents wait until one notifies them while it holds the mutex. The last waiter
 * that has the mutex again unlocks it, and frees both: it knows that the notify
 * and the other waits have returned.
 */
export function freed(weft: Weft, waiters: number) {
  return race.spec({
    memory: () => new SharedArrayBuffer(BYTES),
    ...guarding(weft, { tokens: TOKENS, left: TOKENS + 4 }),
    ops: {
      notify: {
        run: ({ condition, mutex, tokens }) => {
          using _lock = mutex.lock();
          tokens[0] = 1;
          condition.notify();
        },
      },
      notifyAll: {
        run: ({ condition, mutex, tokens }) => {
          using _lock = mutex.lock();
          tokens[0] = 1;
          condition.notifyAll();
        },
      },
      waitAndFree: {
        run: ({ condition, mutex, tokens }) => {
          const lock = mutex.lock();
          while (tokens[0] === 0) condition.wait(mutex);
          const last = ++tokens[1]! === waiters;
          lock.unlock();
          if (last) giveBack(condition, BYTES / 4);
        },
      },
    },
  });
}

/** A waiter that dies loses no wake of others. */
export function terminated(weft: Weft) {
  return race.spec({
    memory: () => new SharedArrayBuffer(BYTES),
    ...guarding(weft),
    ops: {
      doze: {
        run: ({ condition, mutex }) => {
          using _lock = mutex.lock();
          condition.tryWait(mutex, 5);
        },
      },
      take: {
        run: ({ condition, mutex, tokens }) => {
          using _lock = mutex.lock();
          while (tokens[0] === 0) condition.tryWait(mutex, 5000);
        },
      },
      put: {
        run: ({ condition, mutex, tokens }) => {
          using _lock = mutex.lock();
          tokens[0] = 1;
          condition.notify(1);
        },
      },
    },
    recover: ({ condition, mutex, tokens }, dead) => {
      mutex.abandon(dead + 1);
      using _lock = mutex.lock();
      tokens[0] = 1; // what the dead agent may have been about to do
      condition.notify(1);
    },
  });
}

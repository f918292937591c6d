import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  giveBack,
  named,
  type Scenario,
  type Weft,
} from "../_run/scenario.ts";

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
function tokens(weft: Weft, turn = 0) {
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

/** The race scenarios of `Condition`. */
export function scenarios(weft: Weft): Scenario[] {
  const spec = tokens(weft);
  const large = { states: 50_000, time: 20_000 };
  return [
    {
      name: "one waits, one notifies unlocked",
      spec,
      agents: [[["take"]], [["put", 1]]],
    },
    {
      name: "one waits twice, one notifies twice, locked",
      spec: tokens(weft, -1),
      agents: [[["take"], ["take"]], [["putInside", 1], ["putInside", 1]]],
      options: large,
      sampled: true,
    },
    {
      name: "two wait, one notifies both",
      spec,
      agents: [[["take"]], [["take"]], [["put", 2]]],
      options: large,
      sampled: true,
    },
    {
      name: "two wait, notified one by one",
      spec,
      agents: [[["take"]], [["take"]], [["put", 1], ["put", 1]]],
      options: large,
      sampled: true,
    },
    {
      name: "two wait, all are notified",
      spec,
      agents: [[["take"]], [["take"]], [["putAll", 2]]],
      options: large,
      sampled: true,
    },
    {
      name: "notified from everywhere",
      spec: tokens(weft, -1),
      agents: [[["take"]], [["put", 1]], [["notify", 1], ["notify", 1]]],
      options: large,
      sampled: true,
    },
    {
      name: "one notifies locked, the other frees the condition",
      spec: freed(weft, 1),
      agents: [[["notify"]], [["waitAndFree"]]],
      options: { timeouts: 0 },
    },
    {
      name: "one notifies all, the last waiter frees the condition",
      spec: freed(weft, 2),
      agents: [[["notifyAll"]], [["waitAndFree"]], [["waitAndFree"]]],
      options: { ...large, timeouts: 0 },
      sampled: true,
    },
    {
      name: "a timeout at any time",
      spec,
      agents: [[["takeFor"]], [["put", 1]]],
      options: { timeouts: true },
    },
    {
      name: "a timeout beside a waiter",
      spec,
      agents: [[["takeFor"]], [["take"]], [["put", 1], ["put", 1]]],
      options: { ...large, timeouts: true },
      sampled: true,
    },
    {
      name: "spurious wakes",
      spec,
      agents: [[["take"]], [["put", 1]]],
      options: { spurious: true },
    },
    {
      name: "called once",
      spec: dozing(weft, 1),
      agents: [[["doze"], ["doze"]], [["notifyAll"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "called once, of two, where the turn wraps",
      spec: dozing(weft, 1, 0x7fff_ffff),
      agents: [[["doze"]], [["doze"]], [["notify"]]],
      options: { timeouts: 0, rescue: true, states: 30_000 },
      sampled: true,
    },
    {
      name: "spurious calls",
      spec: dozing(weft, 0),
      agents: [[["doze"]], [["doze"]]],
      options: { spurious: true, rescue: true, timeouts: 0 },
    },
    {
      name: "a waiter is terminated",
      spec: terminated(weft),
      agents: [[["doze"]], [["take"]], [["put"]]],
      // Nothing orders what a dead owner did before its mutex is abandoned.
      options: { ...large, kill: true, rescue: true, races: false },
      sampled: true,
    },
    {
      name: "two notify at once",
      spec: counted(
        weft,
        { odd: 2 * WAITING, turn: 1 },
        (_, { odd }) => odd === 2 ? "" : "not both were called",
      ),
      agents: [[["notify"]], [["notify"]]],
    },
    {
      name: "two notify at once, where some are not awake yet",
      spec: counted(
        weft,
        { odd: 2 * WAITING + 1 },
        (_, { odd, turn }) =>
          odd === 2 && turn === 1 ? "" : "not both were called",
      ),
      agents: [[["notify"]], [["notify"]]],
    },
    {
      name: "an old call is no new one",
      spec: counted(
        weft,
        { odd: WAITING + 1 },
        (_, { odd }) => odd === 1 ? "" : "not one was called",
      ),
      agents: [[["notify"]]],
    },
    {
      name: "the turn passes once",
      spec: counted(
        weft,
        { odd: WAITING },
        (_, { turn, even }) =>
          turn === 1 && even % WAITING > 0
            ? "called before its turn"
            : total(even) === 1
            ? ""
            : "another count",
      ),
      agents: [[["notify"], ["join"], ["notify"]], [["notify"]]],
    },
    {
      name: "joins while another of its group is called",
      spec: counted(
        weft,
        { odd: WAITING },
        ([[called]], { odd, even }) =>
          odd + even === (called ? WAITING : 1) ? "" : "another count",
      ),
      agents: [[["doze"]], [["notify"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "takes no call of the group two before",
      spec: counted(
        weft,
        { odd: 1 },
        ([[called]], { odd }) =>
          !called && odd === 1 ? "" : "it took another's call",
      ),
      agents: [[["doze"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "takes no call that came before it waited",
      spec: counted(
        weft,
        {},
        ([, answers]) => answers![1] === false ? "" : "it took another's call",
      ),
      agents: [[["doze"]], [["notify"], ["doze"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "joins while two notifications overtake it",
      spec: counted(
        weft,
        { odd: WAITING },
        ([, , [, joined]], { turn, odd }) =>
          turn === 2 && joined === 2 && odd >= WAITING
            ? "counted where nobody waits"
            : "",
      ),
      agents: [[["nap"]], [["notify"]], [["notify"], ["join"]]],
      options: large,
      sampled: true,
    },
    {
      name: "joins while three turns pass",
      spec: counted(weft, {}, () => ""),
      agents: [[["nap"]], [["pass", 3], ["notify"]]],
    },
    {
      name: "wakes when two turns have passed",
      spec: counted(
        weft,
        {},
        ([, joins], { turn, odd }) =>
          turn === 3 && joins![2] === 3 && total(odd) !== 2
            ? "another count"
            : "",
      ),
      agents: [[["nap"]], [["pass", 2], ["join"], ["join"], ["notify"]]],
      options: large,
      sampled: true,
    },
    {
      name: "wakes when four turns have passed",
      spec: counted(
        weft,
        {},
        ([, joins], { turn, odd }) =>
          turn === 5 && joins![2] === 5 && total(odd) !== 2
            ? "it took another's call"
            : "",
      ),
      agents: [[["nap"]], [["pass", 4], ["join"], ["join"], ["notify"]]],
      options: large,
      sampled: true,
    },
    {
      name: "notifies while four turns pass",
      spec: counted(
        weft,
        {},
        ([, joins], { turn, even }) =>
          turn === 5 && joins![4] === 5 && even >= 2 * WAITING
            ? "the turn of some was left out"
            : "",
      ),
      agents: [[["notify"]], [
        ["pass", 3],
        ["join"],
        ["join"],
        ["notify"],
        ["join"],
        ["join"],
      ]],
      options: { polls: true }, // until the turn has passed
    },
    {
      name: "moves a turn on that lags behind, to wait",
      spec: counted(
        weft,
        { turn: 1, odd: WAITING + 1, lags: true },
        (_, { turn, even, odd }) =>
          turn === 1 && even === 0 && odd === WAITING + 1 ? "" : "other counts",
      ),
      agents: [[["nap"]]],
    },
    {
      name: "moves a turn on that lags behind",
      spec: counted(
        weft,
        { turn: 1, odd: WAITING + 1, lags: true },
        (_, { turn, even, odd }) =>
          turn === 1 && even === 0 && odd === 2 ? "" : "not both are called",
      ),
      agents: [[["nap"]], [["notify"]]],
    },
  ];
}

/** In the word of a group: one that waits. */
const WAITING = 1 << 15;
const GATHERS = 1 << 30;
const COUNTS = GATHERS - 1;

/** How many are counted in a word. */
const total = (counts: number): number =>
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
function counted(
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
function dozing(weft: Weft, most: number, turn = 0) {
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
function freed(weft: Weft, waiters: number) {
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
function terminated(weft: Weft) {
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

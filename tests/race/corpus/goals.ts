/**
 * Programs for which this library has a goal of its own: how far the search of
 * the race tester should come. `bench/race_goals.ts` measures them.
 *
 * @module
 */
import { Condition, Mutex } from "../../../mod.ts";
import { type Body, counts, of, REACH, type Reach, times } from "./reach.ts";
import type { Options } from "../../../race/mod.ts";

/** A program, the goal for it, and how it is explored. */
export interface Goal extends Reach {
  readonly goal: string;
  readonly options?: Options;
}

/** The program of that name in the table of reach. */
function reach(name: string, as = name): Reach {
  const found = REACH.find((program) => program.name === name);
  if (found === undefined) throw new Error(`no program ${name}`);
  return { ...found, name: as };
}

// ---- locks of the library ---------------------------------------------------

/** The word after a mutex, which it protects. */
const PROTECTED = Mutex.byteLength() / 4;

const locks = (rounds: number): Body => (w) => {
  const mutex = new Mutex(w.buffer as SharedArrayBuffer);
  for (let i = 0; i < rounds; i++) {
    using _guard = mutex.lock();
    w[PROTECTED] = w[PROTECTED]! + 1;
  }
};

const mutex = (agents: number, rounds: number): Reach =>
  of(
    `Mutex, ${agents} agents${rounds === 2 ? ", each twice" : ""}`,
    PROTECTED + 1,
    times(agents, locks(rounds)),
    counts(PROTECTED, agents * rounds),
  );

const CONDITION = Mutex.byteLength();
/** The word that waiters wait for. */
const FLAG = (CONDITION + Condition.byteLength()) / 4;

const waits: Body = (w) => {
  const memory = w.buffer as SharedArrayBuffer;
  const mutex = new Mutex(memory);
  const condition = new Condition(memory, CONDITION);
  using _guard = mutex.lock();
  while (w[FLAG] === 0) condition.wait(mutex);
};

const tells: Body = (w) => {
  const memory = w.buffer as SharedArrayBuffer;
  const mutex = new Mutex(memory);
  const condition = new Condition(memory, CONDITION);
  using _guard = mutex.lock();
  w[FLAG] = 1;
  condition.notifyAll();
};

// ---- locks that only load and store; the last word is what they protect -----

/** Words 1.. are levels, words 1 + agents.. the last who came to a level. */
const filter = (agents: number): Body => (w, id) => {
  const blocked = (level: number): boolean => {
    for (let other = 0; other < agents; other++) {
      if (other !== id && Atomics.load(w, 1 + other) >= level) {
        return Atomics.load(w, agents + level) === id;
      }
    }
    return false;
  };
  for (let level = 1; level < agents; level++) {
    Atomics.store(w, 1 + id, level);
    Atomics.store(w, agents + level, id);
    while (blocked(level));
  }
  w[0] = w[0]! + 1;
  Atomics.store(w, 1 + id, 0);
};

/** Szymanski's lock: word 1 + id says how far an agent has come. */
const szymanski = (agents: number, rounds: number): Body => (w, id) => {
  const far = (other: number) => Atomics.load(w, 1 + other);
  const some = (from: number, to: number, is: (far: number) => boolean) => {
    for (let other = from; other < to; other++) {
      if (other !== id && is(far(other))) return true;
    }
    return false;
  };
  for (let i = 0; i < rounds; i++) {
    Atomics.store(w, 1 + id, 1);
    while (some(0, agents, (far) => far > 2));
    Atomics.store(w, 1 + id, 3);
    if (some(0, agents, (far) => far === 1)) {
      Atomics.store(w, 1 + id, 2);
      while (!some(0, agents, (far) => far === 4));
    }
    Atomics.store(w, 1 + id, 4);
    while (some(0, id, (far) => far > 1));
    w[0] = w[0]! + 1;
    while (some(id + 1, agents, (far) => far === 2 || far === 3));
    Atomics.store(w, 1 + id, 0);
  }
};

/** Lamport's fast lock: words 1 and 2 are x and y, words 3.. who is busy. */
const lamport = (agents: number): Body => (w, id) => {
  const me = id + 1;
  const x = 1;
  const y = 2;
  const busy = 3 + id;
  for (;;) {
    Atomics.store(w, busy, 1);
    Atomics.store(w, x, me);
    if (Atomics.load(w, y) !== 0) {
      Atomics.store(w, busy, 0);
      while (Atomics.load(w, y) !== 0);
      continue;
    }
    Atomics.store(w, y, me);
    if (Atomics.load(w, x) === me) break;
    Atomics.store(w, busy, 0);
    for (let other = 0; other < agents; other++) {
      while (Atomics.load(w, 3 + other) !== 0);
    }
    if (Atomics.load(w, y) === me) break;
    while (Atomics.load(w, y) !== 0);
  }
  w[0] = w[0]! + 1;
  Atomics.store(w, y, 0);
  Atomics.store(w, busy, 0);
};

/**
 * Eisenberg and McGuire's lock: word 1 is whose turn it is, words 2.. flags.
 */
const eisenberg = (agents: number): Body => (w, id) => {
  const [idle, wants, inside] = [0, 1, 2];
  const flag = (of: number) => 2 + of;
  for (;;) {
    Atomics.store(w, flag(id), wants);
    let other = Atomics.load(w, 1);
    while (other !== id) {
      other = Atomics.load(w, flag(other)) !== idle
        ? Atomics.load(w, 1)
        : (other + 1) % agents;
    }
    Atomics.store(w, flag(id), inside);
    let alone = 0;
    while (
      alone < agents &&
      (alone === id || Atomics.load(w, flag(alone)) !== inside)
    ) alone++;
    if (alone < agents) continue;
    const turn = Atomics.load(w, 1);
    if (turn === id || Atomics.load(w, flag(turn)) === idle) break;
  }
  Atomics.store(w, 1, id);
  w[0] = w[0]! + 1;
  let next = (id + 1) % agents;
  while (Atomics.load(w, flag(next)) === idle) next = (next + 1) % agents;
  Atomics.store(w, 1, next);
  Atomics.store(w, flag(id), idle);
};

const goal = (
  program: Reach,
  goal: string,
  options: Options = {},
): Goal => ({ ...program, goal, options });

const rounds = of(
  "Eisenberg and McGuire's lock, 3 agents",
  5,
  times(3, eisenberg(3)),
  counts(0, 3),
);

const COMPLETE = "complete";

/** The programs, and the goals for them. */
export const GOALS: readonly Goal[] = [
  goal(mutex(3, 2), "complete, 10 s"),
  goal(mutex(4, 1), "complete, 60 s"),
  goal(
    { ...mutex(4, 1), name: "the same, operations as one step" },
    "complete, 60 s",
    { primitives: "atomic" },
  ),
  goal(
    reach("Michael-Scott queue, 3 agents", "Michael-Scott queue, 3 x 2"),
    "complete, 1 s",
  ),
  goal(
    of("filter lock, 3 agents", 6, times(3, filter(3)), counts(0, 3)),
    "complete, 2 s",
  ),
  goal(reach("barrier twice, 3 agents"), COMPLETE),
  goal(
    of("Szymanski's lock, 2 x 2", 3, times(2, szymanski(2, 2)), counts(0, 4)),
    COMPLETE,
  ),
  goal(
    of("Lamport's fast lock, 3 agents", 6, times(3, lamport(3)), counts(0, 3)),
    COMPLETE,
  ),
  // Its rounds differ, and there is no end to them. After some states, they
  // are searched as if they remembered nothing.
  goal(rounds, COMPLETE, { states: undefined, time: undefined }),
  goal({ ...rounds, name: `${rounds.name}, memoryless` }, COMPLETE, {
    memoryless: true,
  }),
  goal(
    of("Condition, 2 waiters", FLAG + 1, [waits, waits, tells]),
    COMPLETE,
  ),
  goal(reach("last zero, 9 agents"), "1,600 states, 0.1 s"),
  goal(reach("file system, 16 agents"), "100 states"),
];

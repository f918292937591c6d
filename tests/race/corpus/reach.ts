/**
 * Programs that say how far the search reaches: locks, queues and stacks for
 * three to five agents. `deno task race --reach` prints what each takes.
 *
 * @module
 */
import { race, RaceError, type Result } from "../../../race/mod.ts";
import type { Options } from "../../../race/mod.ts";

type Words = Int32Array;
/** What an agent does; one that takes no number does the same as others. */
export type Body = (words: Words, id: number) => unknown;

/** One program. */
export interface Reach {
  readonly name: string;
  /** The kind of the failure, or `undefined` if there is none. */
  readonly kind?: string;
  run(options: Options): Result;
}

/** A program of agents in `words` words; `wrong` judges the end. */
export const of = (
  name: string,
  words: number,
  bodies: readonly Body[],
  wrong?: (words: Words) => string | undefined,
  kind?: string,
): Reach => ({
  name,
  ...kind !== undefined && { kind },
  run(options) {
    const agents = bodies.map((body) =>
      // A body that does not ask for its number does the same for all agents.
      body.length < 2
        ? sameBody(body)
        : (memory: SharedArrayBuffer, id: number) =>
          body(new Int32Array(memory), id)
    );
    try {
      return race.agents(
        { memory: () => new SharedArrayBuffer(words * 4) },
        ...agents,
        {
          ...options,
          ...wrong && {
            after: (memory: SharedArrayBuffer) => wrong(new Int32Array(memory)),
          },
        },
      ) as Result;
    } catch (error) {
      if (error instanceof RaceError) return error.result;
      throw error;
    }
  },
});

const bodies = new Map<Body, (memory: SharedArrayBuffer) => unknown>();

function sameBody(body: Body): (memory: SharedArrayBuffer) => unknown {
  let same = bodies.get(body);
  if (same === undefined) {
    const one = body as (words: Words) => unknown;
    bodies.set(body, same = (memory) => one(new Int32Array(memory)));
  }
  return same;
}

/** `n` agents that do the same. */
export const times = (n: number, body: Body): Body[] => Array(n).fill(body);

/** Judges that the word `at` holds `n` at the end. */
export const counts = (at: number, n: number) => (words: Words) =>
  words[at] === n ? undefined : `the counter is ${words[at]}, not ${n}`;

// ---- locks; word 1 is what they protect -------------------------------------

const spin: Body = (w) => {
  while (Atomics.compareExchange(w, 0, 0, 1) !== 0);
  w[1] = w[1]! + 1;
  Atomics.store(w, 0, 0);
};

const futex = (rounds: number): Body => (w) => {
  for (let i = 0; i < rounds; i++) {
    let state = Atomics.compareExchange(w, 0, 0, 1);
    if (state !== 0) {
      if (state !== 2) state = Atomics.exchange(w, 0, 2);
      while (state !== 0) {
        Atomics.wait(w, 0, 2);
        state = Atomics.exchange(w, 0, 2);
      }
    }
    w[1] = w[1]! + 1;
    if (Atomics.sub(w, 0, 1) !== 1) {
      Atomics.store(w, 0, 0);
      Atomics.notify(w, 0, 1);
    }
  }
};

/** The same, which says what it keeps. */
const kept = (rounds: number): Body => (w) => {
  for (let i = 0; i < rounds; i++) {
    race.forget(i);
    let state = Atomics.compareExchange(w, 0, 0, 1);
    if (state !== 0) {
      if (state !== 2) state = Atomics.exchange(w, 0, 2);
      while (state !== 0) {
        race.forget(i);
        Atomics.wait(w, 0, 2);
        state = Atomics.exchange(w, 0, 2);
      }
    }
    race.forget(i);
    w[1] = w[1]! + 1;
    if (Atomics.sub(w, 0, 1) !== 1) {
      Atomics.store(w, 0, 0);
      Atomics.notify(w, 0, 1);
    }
  }
};

/**
 * Words 0 and 1 count who has come, from 0 on, and turn the sense; with `says`,
 * agents say what they keep.
 */
const meet = (agents: number, rounds: number, says: boolean): Body => (w) => {
  let sense = 1;
  for (let i = 0; i < rounds; i++) {
    if (says) race.forget(i, sense);
    if (Atomics.add(w, 0, 1) === agents - 1) {
      Atomics.store(w, 0, 0);
      Atomics.store(w, 1, sense);
      Atomics.notify(w, 1);
    } else {
      for (;;) {
        if (says) race.forget(i, sense);
        if (Atomics.load(w, 1) === sense) break;
        Atomics.wait(w, 1, 1 - sense);
      }
    }
    sense = 1 - sense;
  }
};

const ticket: Body = (w) => {
  const mine = Atomics.add(w, 2, 1);
  while (Atomics.load(w, 0) !== mine);
  w[1] = w[1]! + 1;
  Atomics.store(w, 0, mine + 1);
};

/** Words 2.. : a node of two words for each agent, `next` and `locked`. */
const mcs: Body = (w, id) => {
  const node = 2 + 2 * id;
  Atomics.store(w, node, 0);
  Atomics.store(w, node + 1, 1);
  const before = Atomics.exchange(w, 0, node);
  if (before !== 0) {
    Atomics.store(w, before, node);
    while (Atomics.load(w, node + 1) !== 0);
  }
  w[1] = w[1]! + 1;
  if (Atomics.load(w, node) === 0) {
    if (Atomics.compareExchange(w, 0, node, 0) === node) return;
    while (Atomics.load(w, node) === 0);
  }
  Atomics.store(w, Atomics.load(w, node) + 1, 0);
};

/** Words 2..4 say who chooses, words 5..7 are the numbers. */
const bakery = (agents: number): Body => (w, id) => {
  Atomics.store(w, 2 + id, 1);
  let most = 0;
  for (let i = 0; i < agents; i++) {
    most = Math.max(most, Atomics.load(w, 2 + agents + i));
  }
  Atomics.store(w, 2 + agents + id, most + 1);
  Atomics.store(w, 2 + id, 0);
  for (let i = 0; i < agents; i++) {
    if (i === id) continue;
    while (Atomics.load(w, 2 + i) !== 0);
    for (;;) {
      const other = Atomics.load(w, 2 + agents + i);
      if (other === 0 || other > most + 1) break;
      if (other === most + 1 && i > id) break;
    }
  }
  w[1] = w[1]! + 1;
  Atomics.store(w, 2 + agents + id, 0);
};

// ---- a sequence lock --------------------------------------------------------

const seqWrite: Body = (w) => {
  const before = Atomics.load(w, 0);
  Atomics.store(w, 0, before + 1);
  Atomics.store(w, 1, Atomics.load(w, 1) + 1);
  Atomics.store(w, 2, Atomics.load(w, 2) + 1);
  Atomics.store(w, 0, before + 2);
};

const seqRead: Body = (w) => {
  for (;;) {
    const before = Atomics.load(w, 0);
    if (before & 1) continue;
    const first = Atomics.load(w, 1);
    const second = Atomics.load(w, 2);
    if (Atomics.load(w, 0) !== before) continue;
    if (first !== second) throw new Error(`${first}, ${second}`);
    return;
  }
};

// ---- a stack: word 0 is its head, words 1.. are `next` of each node ---------

const popStack = (w: Words, tag: number): number => {
  for (;;) {
    const head = Atomics.load(w, 0);
    const node = head & 255;
    if (node === 0) return 0;
    const next = Atomics.load(w, node);
    const then = tag ? (head + 256 & ~255) | next : next;
    if (Atomics.compareExchange(w, 0, head, then) === head) return node;
  }
};

const pushStack = (w: Words, node: number, tag: number): void => {
  for (;;) {
    const head = Atomics.load(w, 0);
    Atomics.store(w, node, head & 255);
    const then = tag ? (head + 256 & ~255) | node : node;
    if (Atomics.compareExchange(w, 0, head, then) === head) return;
  }
};

/** Takes a node; an owner's mark, 8 words on, says that nobody else has it. */
const take = (w: Words, tag: number): number => {
  const node = popStack(w, tag);
  if (node !== 0 && Atomics.add(w, 8 + node, 1) !== 0) {
    throw new Error(`node ${node} was taken twice`);
  }
  return node;
};

const give = (w: Words, node: number, tag: number): void => {
  if (node === 0) return;
  Atomics.sub(w, 8 + node, 1);
  pushStack(w, node, tag);
};

/** Pushes a node of its own and takes one back. */
const treiber: Body = (w, id) => {
  pushStack(w, 1 + id, 1);
  take(w, 1);
};

const stackOnce = (tag: number): Body[] => [
  (w, id) => {
    if (id === 0) {
      for (const node of [2, 1]) pushStack(w, node, tag);
      Atomics.store(w, 15, 1);
    }
    while (Atomics.load(w, 15) === 0);
    take(w, tag);
    take(w, tag);
  },
  (w, id) => {
    if (id < 0) return;
    while (Atomics.load(w, 15) === 0);
    const first = take(w, tag);
    take(w, tag);
    give(w, first, tag);
  },
];

// ---- a queue: head, tail, then `next` and `value` of each node --------------

/**
 * Michael and Scott's queue; nodes are never used again. Node 2 is the first.
 */
const queue: Body = (w, id) => {
  const node = 4 + 2 * id;
  Atomics.store(w, node + 1, id + 1);
  for (;;) {
    const tail = Atomics.load(w, 1) || 2;
    const next = Atomics.load(w, tail);
    if (next !== 0) {
      Atomics.compareExchange(
        w,
        1,
        tail === 2 ? Atomics.load(w, 1) : tail,
        next,
      );
      continue;
    }
    if (Atomics.compareExchange(w, tail, 0, node) === 0) {
      Atomics.compareExchange(w, 1, tail === 2 ? 0 : tail, node);
      break;
    }
  }
  for (;;) {
    const raw = Atomics.load(w, 0);
    const head = raw || 2;
    const next = Atomics.load(w, head);
    if (next === 0) return 0;
    const value = Atomics.load(w, next + 1);
    if (Atomics.compareExchange(w, 0, raw, next) === raw) return value;
  }
};

// ---- agents that mostly use words of their own ------------------------------

/**
 * Agent 0 looks for the last zero; each other agent adds to its neighbour's.
 */
const lastZero = (agents: number): Body[] => [
  (w, id) => {
    let at = agents + id;
    while (Atomics.load(w, at) !== 0) at--;
  },
  ...times(
    agents,
    (w, id) => Atomics.store(w, id, Atomics.load(w, id - 1) + 1),
  ),
];

const INODES = 32;
const BLOCKS = 26;

/** Takes a block for its file; from 14 agents on, some meet at a block. */
const file: Body = (w, id) => {
  const owner = INODES;
  const locks = owner + INODES;
  const used = locks + BLOCKS;
  const lock = (at: number) => {
    while (Atomics.compareExchange(w, at, 0, 1) !== 0);
  };
  lock(id);
  for (let block = 2 * id % BLOCKS;; block = (block + 1) % BLOCKS) {
    lock(locks + block);
    const free = Atomics.load(w, used + block) === 0;
    if (free) {
      Atomics.store(w, used + block, 1);
      Atomics.store(w, owner + id, block + 1);
    }
    Atomics.store(w, locks + block, 0);
    if (free) break;
  }
  Atomics.store(w, id, 0);
};

// ---- a lock whose handle remembers the ticket -------------------------------

/** Words 0 and 1 are the next ticket and the one that is served. */
const tickets = race.spec({
  memory: () => new SharedArrayBuffer(12),
  agent: (memory) => ({ words: new Int32Array(memory), mine: 0 }),
  ops: {
    lock: {
      run: (handle) => {
        const { words } = handle;
        handle.mine = Atomics.add(words, 0, 1);
        while (Atomics.load(words, 1) !== handle.mine);
        words[2]!++;
      },
    },
    unlock: {
      run: ({ words, mine }) => void Atomics.store(words, 1, mine + 1),
    },
  },
});

/** Agents that lock and unlock in each of `rounds`. */
const handles = (agents: number, rounds: number): Reach => ({
  name: `lock with handle state, ${agents} agents` +
    (rounds === 2 ? ", twice" : ""),
  run(options) {
    const round = [["lock"], ["unlock"]] as const;
    const calls = Array<typeof round>(rounds).fill(round).flat();
    const program = Array<typeof calls>(agents).fill(calls);
    return race.check(tickets, ...program, options);
  },
});

/** The program with the promise that its loops remember nothing. */
const promised = ({ name, run }: Reach): Reach => ({
  name,
  run: (options) => run({ ...options, memoryless: true }),
});

/** The programs of the table. */
export const REACH: readonly Reach[] = [
  of(
    "4 agents, 20 independent stores each",
    128,
    times(4, (w, id) => {
      for (let i = 1; i <= 20; i++) Atomics.store(w, 32 * id, i);
    }),
  ),
  of("spinlock, 3 agents", 2, times(3, spin), counts(1, 3)),
  of("spinlock, 4 agents", 2, times(4, spin), counts(1, 4)),
  of("spinlock, 5 agents", 2, times(5, spin), counts(1, 5)),
  of("ticket lock, 3 agents", 3, times(3, ticket), counts(1, 3)),
  of("ticket lock, 4 agents", 3, times(4, ticket), counts(1, 4)),
  of("MCS lock, 3 agents", 8, times(3, mcs), counts(1, 3)),
  of("MCS lock, 4 agents", 10, times(4, mcs), counts(1, 4)),
  of("bakery, 3 agents", 8, times(3, bakery(3)), counts(1, 3)),
  of("futex mutex, 2 agents", 2, times(2, futex(1)), counts(1, 2)),
  of("futex mutex, 3 agents", 2, times(3, futex(1)), counts(1, 3)),
  of("futex mutex twice, 3 agents", 2, times(3, futex(2)), counts(1, 6)),
  promised(of(
    "futex mutex twice, 3 agents, memoryless",
    2,
    times(3, futex(2)),
    counts(1, 6),
  )),
  of("futex mutex twice, 3 agents, forget", 2, times(3, kept(2)), counts(1, 6)),
  of("futex mutex, 4 agents, forget", 2, times(4, kept(1)), counts(1, 4)),
  of("barrier twice, 3 agents", 2, times(3, meet(3, 2, false))),
  of("barrier twice, 3 agents, forget", 2, times(3, meet(3, 2, true))),
  of("sequence lock, 1 writer, 2 readers", 3, [seqWrite, seqRead, seqRead]),
  of("Treiber stack with tags, 2 agents", 16, times(2, treiber)),
  of("Treiber stack with tags, 3 agents", 16, times(3, treiber)),
  of("Michael-Scott queue, 2 agents", 12, times(2, queue)),
  of("Michael-Scott queue, 3 agents", 12, times(3, queue)),
  of("last zero, 9 agents", 10, lastZero(9)),
  of("file system, 16 agents", 128, times(16, file)),
  handles(2, 2),
  handles(3, 1),
  of("stack with tags, 2 agents", 16, stackOnce(1)),
  of("stack without tags, 2 agents", 16, stackOnce(0), undefined, "exception"),
];

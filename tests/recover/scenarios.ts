import { race } from "../../race/mod.ts";
import type { Recoverable } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "../_run/scenario.ts";

/** An agent that ended before the exploration began. */
const DEAD = 9;

const { claimant } = LAYOUT.record_ring;
const { permits, claim } = LAYOUT.semaphore;

/** What one scenario is about. */
interface About<T> {
  /** Makes the primitive, in its state at the start. */
  readonly create: (weft: Weft) => { readonly buffer: SharedArrayBuffer };
  /** Attaches to it. */
  readonly attach: (weft: Weft, memory: SharedArrayBuffer) => T;
  /** Words that are read plainly. */
  readonly hints: readonly number[];
  readonly words: Readonly<Record<string, number>>;
  /** What an agent does that may be terminated at any step of it. */
  readonly run: (view: T) => unknown;
  /** What is wrong at the end. */
  readonly wrong: (words: Int32Array, weft: Weft) => string | undefined;
}

/** Agents are terminated at any step, and a survivor recovers them. */
function dying<T>(weft: Weft, about: About<T>) {
  const attach = (memory: SharedArrayBuffer) => about.attach(weft, memory);
  return race.spec({
    memory: () => about.create(weft).buffer,
    agent: (memory, id): unknown => {
      enter(weft, id);
      return attach(memory);
    },
    words: named(about.words),
    hints: about.hints.map((i) => [i * 4, i * 4 + 4] as const),
    stateless: false,
    ops: {
      section: { run: (view: unknown) => about.run(view as T) },
      rest: { run: () => {} },
    },
    recover: (view, dead) => {
      const found = weft.mod.recover([dead + 1, DEAD], view as Recoverable);
      for (const { what, id } of found) {
        if (what === "damaged" || id !== 0 && id !== DEAD && id !== dead + 1) {
          throw new Error(`${what}, of agent ${id}`);
        }
      }
    },
    final: (memory) => about.wrong(new Int32Array(memory), weft),
  });
}

/** Every interleaving of an agent that dies and one that recovers it. */
export function scenarios(weft: Weft): Scenario[] {
  const both = [[["section"]], [["section"]]] as const;
  const options = { kill: true, rescue: true, timeouts: 0 } as const;
  return [
    {
      name: "the owner of a mutex is terminated",
      spec: dying(weft, {
        create: ({ mod }) => mod.Mutex.create(),
        attach: ({ mod }, memory) => new mod.Mutex(memory),
        hints: [],
        words: LAYOUT.mutex,
        run: (mutex) => mutex.lock().unlock(),
        wrong: ([state]) =>
          state! & 2 ** 28 - 1 ? `agent ${state} holds it` : undefined,
      }),
      agents: both,
      options,
    },
    {
      name: "the writer of a lock is terminated",
      spec: dying(weft, {
        create: ({ mod }) => mod.RwLock.create(),
        attach: ({ mod }, memory) => new mod.RwLock(memory),
        hints: [LAYOUT.rw_lock.state, LAYOUT.rw_lock.writer],
        words: LAYOUT.rw_lock,
        run: (lock) => lock.write().unlock(),
        wrong: (words) => {
          const owner = words[LAYOUT.rw_lock.writer]! & 2 ** 28 - 1;
          return owner === 0 ? undefined : `agent ${owner} writes`;
        },
      }),
      agents: both,
      options,
    },
    {
      name: "a claimant is dead, and a waiter is terminated",
      spec: dying(weft, {
        create: ({ mod }) => {
          const semaphore = mod.Semaphore.create();
          const words = new Int32Array(semaphore.buffer);
          words[permits] = -1;
          words[claim] = 3;
          words[LAYOUT.semaphore.claimant] = DEAD;
          return semaphore;
        },
        attach: ({ mod }, memory) => new mod.Semaphore(memory),
        hints: [permits],
        words: LAYOUT.semaphore,
        run: (semaphore) => semaphore.tryAcquire(),
        wrong: (words) =>
          words[LAYOUT.semaphore.claimant] === 0 || words[permits] === -1
            ? undefined
            : "a claim is left",
      }),
      agents: both,
      options,
    },
    {
      name: "the claimant of a ring is dead, and a producer is terminated",
      spec: dying(weft, {
        create: ({ mod }) => {
          const ring = mod.RecordRing.create({ capacity: 64 });
          new Int32Array(ring.buffer)[claimant] = DEAD;
          return ring;
        },
        attach: ({ mod }, memory) => new mod.RecordRing(memory),
        hints: [LAYOUT.record_ring.tail, LAYOUT.record_ring.head, claimant],
        words: LAYOUT.record_ring,
        run: (ring) => {
          if (ring.reserve(1) !== undefined) ring.commit();
        },
        wrong: (words) =>
          words[claimant] === 0 || words[claimant] === (DEAD | 1 << 28) ||
            words[claimant] === DEAD
            ? undefined
            : `agent ${words[claimant]} has the claim`,
      }),
      agents: [[["section"]], [["rest"]]],
      options,
    },
    {
      name: "the producer of a queue is terminated",
      spec: dying(weft, {
        create: ({ mod }) => mod.MpmcQueue.create({ capacity: 2 }),
        attach: ({ mod }, memory) => new mod.MpmcQueue(memory),
        hints: [LAYOUT.mpmc_queue.tail, LAYOUT.mpmc_queue.head],
        words: LAYOUT.mpmc_queue,
        run: (queue) => queue.tryPushInt(1),
        wrong: (words, { mod }) => {
          const { length, tail } = LAYOUT.mpmc_queue;
          const size = words[tail]! / 2;
          let taken = 0; // as far as the slots are filled
          while (taken < size && words[length + 4 * taken]! & 1) taken++;
          const queue = new mod.MpmcQueue(words.buffer as SharedArrayBuffer);
          const blocked = mod.recover(DEAD, queue).length;
          if (taken < size && blocked === 0) {
            return "a blocked slot is not told";
          }
          if (taken === size && blocked > 0) {
            return "a slot that is not blocked is told";
          }
        },
      }),
      agents: [[["section"]], [["rest"]]],
      options,
    },
  ];
}

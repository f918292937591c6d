import { race } from "../../race/mod.ts";
import type { Finding, View } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { enter, named, type Scenario, type Weft } from "../_run/scenario.ts";

/** Two agents that ended before the exploration began. */
const DEAD = 99;
const OTHER = 98;

const { claimant } = LAYOUT.record_ring;
const { permits, claim } = LAYOUT.semaphore;
const { next, total } = LAYOUT.work_counter;

/** The rows of a counter that tracks two agents begin at these words. */
const ROWS = [104, 136] as const;

/** {@linkcode Scenario.differs} of what has a head. */
const READS_HEAD = "C reads the head of a primitive to learn its kind, which " +
  "a view in TypeScript knows";

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
  readonly wrong: (words: Int32Array) => string | undefined;
  /** What is wrong with the findings, just after an agent was recovered. */
  readonly told?: (
    findings: readonly Finding[],
    words: Int32Array,
  ) => string | undefined;
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
      const ended = [OTHER, dead + 1, DEAD];
      const findings = weft.mod.recover(ended, view as View);
      const memory = new Int32Array((view as View).buffer);
      const problem = about.told?.(findings, memory);
      if (problem !== undefined) throw new Error(problem);
      for (const { what, id } of findings) {
        const wrong = what === "damaged" || what === "claim held" ||
          id !== 0 && !ended.includes(id);
        if (wrong) throw new Error(`${what}, of agent ${id}`);
      }
    },
    final: (memory) => about.wrong(new Int32Array(memory)),
  });
}

/**
 * A dead agent holds a lock, and has reserved a record. Whoever gets the lock
 * finds that the record is skipped: locks are recovered last.
 */
function locked(weft: Weft) {
  const { mod } = weft;
  const at = LAYOUT.mutex.length * 4;
  return race.spec({
    memory: () => {
      const config = { capacity: 64 };
      const bytes = at + mod.RecordRing.byteLength(config);
      const memory = new SharedArrayBuffer(bytes);
      mod.RecordRing.init(memory, at, config);
      mod.setAgentId(DEAD);
      new mod.RecordRing(memory, at).reserve(1);
      new Int32Array(memory)[LAYOUT.mutex.state] = DEAD;
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      const ring = new mod.RecordRing(memory, at);
      return { mutex: new mod.Mutex(memory), ring };
    },
    words: {
      ...named(LAYOUT.mutex),
      ...named(LAYOUT.record_ring, at),
    },
    hints: [LAYOUT.record_ring.tail, LAYOUT.record_ring.head, claimant]
      .map((i) => [at + i * 4, at + i * 4 + 4] as const),
    stateless: false,
    ops: {
      recover: {
        run: ({ mutex, ring }) => {
          const found = mod.recover([DEAD], [mutex, ring] as View[]);
          return found.length;
        },
      },
      lock: {
        run: ({ mutex, ring }) => {
          const guard = mutex.lock();
          const first = new Int32Array(ring.buffer)[
            at / 4 + LAYOUT.record_ring.length
          ]!;
          guard.unlock();
          return first & 3;
        },
      },
    },
    final: (_, results) => {
      const [found, state] = results.flat(2);
      if (found !== 2) return `${found} findings`;
      if (state !== 3) return `a record in state ${state} behind the lock`;
    },
  });
}

/** The words of a row: whose it is, what it took and did, and two ranges. */
const wordsOfRow = (row: number) =>
  Array.from({ length: 9 }, (_, i) => row + i);

/** Whether a word is part of one of the two ranges of a row. */
const isRange = (word: number) =>
  ROWS.some((row) => word >= row + 3 && word < row + 9);

/** The tasks that the agent of a row took and has not done. */
function undone(words: Int32Array, row: number): number {
  const range = row + (words[row + 3] === words[row + 1] ? 3 : 6);
  const did = words[row + 2]! - words[range + 2]!;
  return words[range]! - words[range + 1]! - did;
}

/** What is wrong with a counter of which agents have died. */
function wrongTasks(words: Int32Array): string | undefined {
  const done = ROWS.reduce((sum, row) => sum + words[row + 2]!, 0);
  const left = ROWS.reduce((sum, row) => sum + undone(words, row), 0);
  const out = words[next]! >>> 8;
  if (done + left === out && out <= words[total]!) return;
  return `${done} tasks are done and ${left} are left, of ${out}`;
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
        hints: [
          ...[LAYOUT.rw_lock.state, LAYOUT.rw_lock.writer],
          LAYOUT.rw_lock.writer_starving,
        ],
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
      differs: READS_HEAD,
      spec: dying(weft, {
        create: ({ mod }) => {
          const semaphore = mod.Semaphore.create();
          const words = new Int32Array(semaphore.buffer);
          words[permits] = 1 << 2 | 3; // it lacks one
          words[claim] = 3;
          words[LAYOUT.semaphore.claimant] = DEAD;
          return semaphore;
        },
        attach: ({ mod }, memory) => new mod.Semaphore(memory),
        hints: [permits],
        words: LAYOUT.semaphore,
        run: (semaphore) => semaphore.tryAcquire(),
        wrong: (words) =>
          words[LAYOUT.semaphore.claimant] === 0 ||
            words[permits] === (1 << 2 | 3)
            ? undefined
            : "a claim is left",
      }),
      agents: both,
      options,
    },
    {
      name: "the claimant of a ring is dead, and a producer is terminated",
      differs: READS_HEAD,
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
      name: "two producers of a ring are dead, and a third is terminated",
      differs: READS_HEAD,
      spec: dying(weft, {
        create: ({ mod }) => {
          const ring = mod.RecordRing.create({ capacity: 64 });
          mod.setAgentId(OTHER);
          new mod.RecordRing(ring.buffer).reserve(1);
          new Int32Array(ring.buffer)[claimant] = DEAD;
          return ring;
        },
        attach: ({ mod }, memory) => new mod.RecordRing(memory),
        hints: [LAYOUT.record_ring.tail, LAYOUT.record_ring.head, claimant],
        words: LAYOUT.record_ring,
        run: (ring) => {
          if (ring.reserve(1) !== undefined) ring.commit();
        },
        wrong: (words) => {
          const owner = words[claimant]! & 2 ** 28 - 1;
          if (owner === DEAD) return; // nobody was terminated
          if (owner !== 0) return `agent ${owner} has the claim`;
          const state = words[LAYOUT.record_ring.length]! & 3;
          if (state !== 3) return `a record of the dead is in state ${state}`;
        },
      }),
      agents: [[["section"]], [["rest"]]],
      options,
    },
    {
      name: "a lock and a record of a dead agent are recovered",
      differs: READS_HEAD,
      spec: locked(weft),
      agents: [[["recover"]], [["lock"]]],
      options: { timeouts: 0 },
    },
    {
      name: "an agent that calls and serves is terminated",
      spec: dying(weft, {
        create: ({ mod }) => {
          const { buffer } = mod.CallRing.create({
            slots: 2,
            request: 1,
            reply: 1,
          });
          mod.setAgentId(DEAD);
          new mod.CallRing(buffer).tryPost(Uint8Array.of(9));
          return { buffer };
        },
        attach: ({ mod }, memory) => new mod.CallRing(memory),
        hints: [LAYOUT.call_ring.length, LAYOUT.call_ring.length + 32],
        words: LAYOUT.call_ring,
        run: (ring) => {
          const call = ring.tryPost(Uint8Array.of(1));
          ring.tryServeOne(() => 0);
          if (call?.tryReceive() === undefined) call?.cancel();
        },
        wrong: (words) => {
          for (const slot of [0, 32]) {
            const state = words[LAYOUT.call_ring.length + slot]!;
            const id = state & 2 ** 28 - 1;
            if (state !== 0 && id !== DEAD) return `agent ${id} has a slot`;
          }
        },
      }),
      agents: [[["section"]], [["section"]]],
      // Nothing orders the survivors behind what the dead wrote.
      options: { ...options, races: false, states: 15_000 },
      sampled: true,
    },
    {
      name: "an agent with tasks is dead, and a worker is terminated",
      differs: READS_HEAD,
      spec: dying(weft, {
        create: ({ mod }) => {
          const { buffer } = mod.WorkCounter.create(3, { tracked: 2 });
          mod.setAgentId(DEAD);
          new mod.WorkCounter(buffer).nextRange();
          return { buffer };
        },
        attach: ({ mod }, memory) => new mod.WorkCounter(memory),
        hints: [next, ...ROWS.flatMap(wordsOfRow)],
        words: LAYOUT.work_counter,
        run: (work) => {
          const range = work.nextRange();
          if (range !== undefined) work.done();
        },
        wrong: wrongTasks,
        told: (findings, words) => {
          const told = findings.filter(({ id }) => id === DEAD);
          if (told.length !== 1 || told[0]!.count !== 1) {
            return `${told.length} findings of the agent that took a task`;
          }
          const had = ROWS.find((row) => Atomics.load(words, row) === DEAD);
          if (had !== undefined) return "the dead agent has its row still";
        },
      }),
      agents: [[["section"]], [["rest"]]],
      // An agent notes plainly what it will take; it may die before it does.
      options: { ...options, races: (at) => !isRange(at / 4) },
    },
    {
      name: "the producer of a queue is terminated",
      differs: READS_HEAD,
      spec: dying(weft, {
        create: ({ mod }) => mod.MpmcQueue.create({ capacity: 2 }),
        attach: ({ mod }, memory) => new mod.MpmcQueue(memory),
        hints: [LAYOUT.mpmc_queue.tail, LAYOUT.mpmc_queue.head],
        words: LAYOUT.mpmc_queue,
        run: (queue) => queue.tryPushInt(1),
        wrong: () => undefined,
        told: (findings, words) => {
          const { length, tail } = LAYOUT.mpmc_queue;
          const size = Atomics.load(words, tail) / 2;
          let taken = 0; // as far as the slots are filled
          const isFilled = () => Atomics.load(words, length + 4 * taken) & 1;
          while (taken < size && isFilled()) taken++;
          if (taken < size && findings.length === 0) {
            return "a blocked slot is not told";
          }
          if (taken === size && findings.length > 0) {
            return "a slot that is not blocked is told";
          }
        },
      }),
      agents: [[["section"]], [["rest"]]],
      options,
    },
  ];
}

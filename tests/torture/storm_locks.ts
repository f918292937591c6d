/**
 * The storm on locks: agents, in threads and as loops of one thread, lock a
 * mutex, take permits of a semaphore, and wait for keys of a map. They block
 * and await, with priorities, give up, and cancel all that they await. Some of
 * them use the kernel.
 *
 * What the model allows: one agent holds the mutex at a time, and no more
 * permits are held than there are. Each call ends: it is served, or its time is
 * over, or it was aborted or cancelled. Who waits for a key gets its value. Of
 * calls that stand in line in one agent, those of a higher priority are served
 * first, and those of one priority in their order. When all is over, both locks
 * are free, and nobody is counted as a waiter.
 *
 * @module
 */
import fc from "../_run/property.ts";
import { HashMap, Mutex, Semaphore } from "../../mod.ts";
import {
  KEYS,
  Loop,
  MAP,
  type Orders,
  type Step,
  valueOf,
  viewsOf,
} from "./_locks_loops.ts";
import { memoryOf } from "./_kernels.ts";
import { Players } from "./_players.ts";
import { type Ledger, mostly, pause, type Storm } from "./_storm.ts";

const AGENT = new URL("./_locks_agent.ts", import.meta.url);

const step = fc.record({
  what: fc.constantFrom<Step["what"]>(
    ...["mutex", "mutex", "semaphore", "semaphore", "key", "key"] as const,
    ...["free", "drain", "set", "make", "cancel"] as const,
  ),
  count: fc.integer({ min: 1, max: 6 }),
  n: fc.nat(KEYS - 1),
  tries: fc.boolean(),
  timeout: fc.nat(4),
  priority: fc.integer({ min: -1, max: 2 }),
  abort: mostly(-1, fc.nat(9)),
  hold: mostly(-1, fc.nat(2)),
  waits: fc.boolean(),
});

const loop = fc.record({
  /** Whether it has a thread. */
  thread: fc.boolean(),
  blocks: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 24, size: "max" }),
});

/** A call that stands in line. */
const inLine = fc.record({
  priority: fc.integer({ min: -1, max: 2 }),
  /** It is aborted before it is served. */
  leaves: mostly(false, fc.constant(true)),
});

const plans = fc.record({
  permits: fc.integer({ min: 1, max: 4 }),
  loops: fc.array(loop, { minLength: 1, maxLength: 5, size: "max" }),
  /** When all keys are there, in ms. */
  keys: fc.nat(30),
  /** Calls that stand in line at a lock of their own. */
  lines: fc.array(fc.array(inLine, { maxLength: 8 }), { maxLength: 3 }),
  // What came later stands last, so that a seed has the plans that it had.
  /** Which loops use the kernel, and whether this thread does: a bit each. */
  kernels: fc.oneof(fc.constant(0), fc.nat(63)),
});

/** The bit of this thread. */
const HERE = 5;

/** What a play does. */
export interface LocksPlan {
  readonly permits: number;
  readonly loops: readonly {
    readonly thread: boolean;
    readonly blocks: boolean;
    readonly steps: readonly Step[];
  }[];
  readonly keys: number;
  readonly lines: readonly (readonly InLine[])[];
  /** Plans that were written down have none. */
  readonly kernels?: number;
}

interface InLine {
  readonly priority: number;
  readonly leaves: boolean;
}

/** One play. */
class Play {
  readonly #plan: LocksPlan;
  readonly #ledger: Ledger;
  readonly #shared: Pick<
    Orders,
    "memory" | "places" | "permits" | "held" | "inKernel"
  >;
  readonly #players: Players<Orders>;

  constructor(plan: LocksPlan, ledger: Ledger) {
    this.#plan = plan;
    this.#ledger = ledger;
    this.#players = new Players<Orders>(
      ledger,
      AGENT,
      (orders, note) => new Loop(orders, note).run(),
    );
    const { permits, kernels = 0 } = plan;
    const places = { mutex: 0, semaphore: 256, map: 1024 };
    const length = places.map + HashMap.byteLength(MAP);
    const memory = memoryOf(length, kernels > 0);
    Mutex.init(memory, places.mutex);
    Semaphore.init(memory, places.semaphore, permits);
    HashMap.init(memory, places.map, MAP);
    const held = new Int32Array(new SharedArrayBuffer(8));
    const inKernel = (kernels >> HERE & 1) === 1;
    this.#shared = { memory, places, permits, held, inKernel };
  }

  async run(): Promise<void> {
    const ledger = this.#ledger;
    const { loops, lines, keys, kernels = 0 } = this.#plan;
    const { mutex, semaphore, map } = viewsOf(this.#shared);
    for (const [i, { thread, blocks, steps }] of loops.entries()) {
      const inKernel = (kernels >> i & 1) === 1;
      const orders = {
        ...this.#shared,
        inKernel,
        blocks: blocks && thread,
        steps,
      };
      this.#players.start(orders, thread);
    }
    for (const [i, line] of lines.entries()) {
      ledger.expect(`line ${i}`, this.#line(line, i % 2 === 0), (end) => {
        if (end.failed) throw end.reason;
        return "lines";
      });
    }
    await pause(keys);
    for (let key = 0; key < KEYS; key++) {
      if (!map.set(key, valueOf(key))) ledger.problem(`no room for key ${key}`);
    }
    await ledger.settled();
    // The last call of each loop may stay, and what waited for it.
    await ledger.assertGivenBack(loops.length * 6 + lines.length + 1);
    const { available, waiters } = semaphore;
    if (ledger.problems.length > 0) return;
    const { permits } = this.#shared;
    if (mutex.owner !== 0) ledger.problem(`agent ${mutex.owner} has the mutex`);
    if (available !== permits) ledger.problem(`${available} permits are free`);
    if (waiters !== 0) ledger.problem(`${waiters} waiters are counted`);
    const awaiting = mutex.awaiting + semaphore.awaiting;
    if (awaiting > 0) ledger.problem(`${awaiting} calls await`);
    this.#players.stop();
  }

  /**
   * Calls stand in line at a lock that only this thread uses. Nothing else
   * takes it, so their order is known.
   */
  async #line(line: readonly InLine[], isMutex: boolean): Promise<void> {
    const lock = isMutex ? lineOfMutex() : lineOfPermits();
    const served: number[] = [];
    const calls = line.map(async ({ priority, leaves }, i) => {
      const control = new AbortController();
      const call = lock.enter({ priority, signal: control.signal });
      if (leaves) control.abort("left");
      try {
        const leave = await call;
        served.push(i);
        leave();
      } catch (error) {
        if (error !== "left" || !leaves) throw error;
      }
    });
    lock.open();
    await Promise.all(calls);
    const expected = [...line.keys()].filter((i) => !line[i]!.leaves)
      .sort((a, b) => line[b]!.priority - line[a]!.priority || a - b);
    if (`${served}` === `${expected}`) return;
    throw new Error(`served in the order ${served}, not ${expected}`);
  }
}

/** What is asked for a place in line. */
interface Ask {
  readonly priority: number;
  readonly signal: AbortSignal;
}

/** A mutex that is held until `open`. */
function lineOfMutex() {
  const mutex = Mutex.create();
  const guard = mutex.tryLock()!;
  const enter = async (ask: Ask) => {
    const guard = await mutex.lockAsync(ask);
    return () => guard.unlock();
  };
  return { enter, open: () => guard.unlock() };
}

/** A semaphore of one permit, which comes at `open`. */
function lineOfPermits() {
  const semaphore = Semaphore.create(0);
  const release = () => semaphore.release();
  const enter = async (ask: Ask) => {
    await semaphore.acquireAsync(1, ask);
    return release;
  };
  return { enter, open: release };
}

/** The storm on locks. */
export const locksStorm: Storm<LocksPlan> = {
  name: "Locks",
  plans,
  play: async (plan, ledger) => await new Play(plan, ledger).run(),
};

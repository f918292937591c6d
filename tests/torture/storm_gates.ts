/**
 * The storm on gates: agents, in threads and as loops of one thread, read and
 * write under a lock, take tokens by a condition, and wait at events, a latch,
 * a group, a barrier and onces. They block and await, give up, and abort. Some
 * of them use the kernel.
 *
 * What the model allows: readers without a writer, or one writer. Who waits for
 * a token gets one, as there is one for each. An event that lets one through
 * does so once for each time that it was set. Nobody comes through the latch
 * before it was counted down, nor through the barrier before all have arrived
 * or left, and a phase has at most one leader. A once runs one function at a
 * time, and none after the first that did not fail. Each call ends, and when
 * all is over, no gate counts anybody.
 *
 * @module
 */
import fc from "../_run/property.ts";
import { Barrier, Condition, Once, WaitGroup } from "../../mod.ts";
import {
  AUTO,
  type Handles,
  LATCHED,
  Loop,
  ONCES,
  type Orders,
  PHASES,
  type Step,
  TOKENS,
  viewsOf,
  WORDS,
} from "./_gates_loops.ts";
import { classes } from "./_kernels.ts";
import { Players } from "./_players.ts";
import { type Ledger, mostly, pause, type Storm } from "./_storm.ts";

const AGENT = new URL("./_gates_agent.ts", import.meta.url);

const step = fc.record({
  what: fc.constantFrom<Step["what"]>(
    ...["read", "read", "write", "down", "take", "take", "auto"] as const,
    ...["open", "latch", "work", "group", "once", "meet", "meet"] as const,
  ),
  count: fc.integer({ min: 1, max: 6 }),
  n: fc.nat(ONCES - 1),
  tries: fc.boolean(),
  timeout: fc.nat(4),
  abort: mostly(-1, fc.nat(9)),
  hold: mostly(-1, fc.nat(2)),
  waits: fc.boolean(),
});

const loop = fc.record({
  /** Whether it has a thread. */
  thread: fc.boolean(),
  blocks: fc.boolean(),
  meets: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 24, size: "max" }),
});

const plans = fc.record({
  /** Rows of the lock. */
  tracked: fc.constantFrom(0, 8),
  failures: fc.nat(2),
  loops: fc.array(loop, { minLength: 1, maxLength: 5, size: "max" }),
  /** How many times the latch is counted down. */
  counts: fc.integer({ min: 1, max: 3 }),
  /** The pauses of the thread that opens the gates, in ms. */
  pauses: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
  // What came later stands last, so that a seed has the plans that it had.
  /** Which loops use the kernel, and whether this thread does: a bit each. */
  kernels: fc.oneof(fc.constant(0), fc.nat(63)),
});

/** The bit of this thread. */
const HERE = 5;

/** What a play does. */
export interface GatesPlan {
  readonly tracked: number;
  readonly failures: number;
  readonly loops: readonly {
    readonly thread: boolean;
    readonly blocks: boolean;
    readonly meets: boolean;
    readonly steps: readonly Step[];
  }[];
  readonly counts: number;
  readonly pauses: readonly number[];
  /** Plans that were written down have none. */
  readonly kernels?: number;
}

/** One play. */
class Play {
  readonly #plan: GatesPlan;
  readonly #ledger: Ledger;
  readonly #shared: Pick<Orders, "handles" | "failures" | "words" | "inKernel">;
  readonly #views: ReturnType<typeof viewsOf>;
  readonly #players: Players<Orders>;
  readonly #parties: number;
  #sets = 0;

  constructor(plan: GatesPlan, ledger: Ledger) {
    this.#plan = plan;
    this.#ledger = ledger;
    this.#players = new Players<Orders>(
      ledger,
      AGENT,
      (orders, note) => new Loop(orders, note).run(),
    );
    const { tracked, failures, counts, loops, kernels = 0 } = plan;
    this.#parties = loops.filter(({ meets }) => meets).length;
    const config = tracked > 0 ? { tracked } : undefined;
    // Those of the kernel lie in its memory.
    const { Event, Latch, Mutex, RwLock } = classes(kernels > 0);
    const handles: Handles = {
      lock: RwLock.create(config).handle,
      mutex: Mutex.create().handle,
      condition: Condition.create().handle,
      auto: Event.create({ autoReset: true }).handle,
      open: Event.create().handle,
      latch: Latch.create(counts).handle,
      group: WaitGroup.create().handle,
      barrier: Barrier.create(Math.max(1, this.#parties)).handle,
      onces: Array.from({ length: ONCES }, () => Once.create().handle),
    };
    const words = new Int32Array(new SharedArrayBuffer(4 * WORDS));
    words.fill(1 << 30, PHASES + this.#parties);
    const inKernel = (kernels >> HERE & 1) === 1;
    this.#shared = { handles, failures, words, inKernel };
    this.#views = viewsOf(this.#shared);
  }

  async run(): Promise<void> {
    const ledger = this.#ledger;
    const { loops, kernels = 0 } = this.#plan;
    let party = 0;
    this.#views.group.add(); // until all gates are open
    for (const [i, { thread, blocks, meets, steps }] of loops.entries()) {
      const orders: Orders = {
        ...this.#shared,
        inKernel: (kernels >> i & 1) === 1,
        blocks: blocks && thread,
        party: meets ? party++ : -1,
        steps,
      };
      this.#players.start(orders, thread);
    }
    const opens = [
      this.#tokens(),
      this.#setsAuto(),
      this.#counts(),
      this.#opens(),
    ];
    for (const end of opens) {
      ledger.expect("what opens", end, (end) => {
        if (end.failed) throw end.reason;
        return "opens";
      });
    }
    await ledger.settled();
    if (ledger.problems.length > 0) return;
    await ledger.assertGivenBack(loops.length * 6 + 5);
    this.#assertFree();
    this.#players.stop();
  }

  #assertFree(): void {
    const { lock, mutex, auto, latch, group, barrier } = this.#views;
    const { words } = this.#shared;
    const problem = (what: string) => this.#ledger.problem(what);
    if (lock.readers !== 0) problem(`${lock.readers} readers`);
    if (lock.writer !== 0) problem(`agent ${lock.writer} writes`);
    if (mutex.owner !== 0) problem(`agent ${mutex.owner} has the mutex`);
    if (latch.count !== 0) problem(`the latch is at ${latch.count}`);
    if (group.count !== 0) problem(`the group is at ${group.count}`);
    if (barrier.arrived !== 0) problem(`${barrier.arrived} have arrived`);
    const through = words[AUTO]! + Number(auto.isSet);
    if (through !== this.#sets) {
      problem(`${this.#sets} sets let ${through} through`);
    }
  }

  /** A token for each call that takes one. */
  async #tokens(): Promise<void> {
    const { mutex, condition } = this.#views;
    const { loops, pauses } = this.#plan;
    let left = 0;
    for (const { thread, blocks, steps } of loops) {
      for (const { what, count } of steps) {
        if (what === "take") left += blocks && thread ? 1 : count;
      }
    }
    for (let i = 0; left > 0; i++) {
      await pause(pauses[i % pauses.length]!);
      const n = Math.min(left, i % 3 + 1);
      left -= n;
      using _lock = await mutex.lockAsync();
      this.#shared.words[TOKENS]! += n;
      condition.notify(n);
    }
  }

  /** Sets the event that lets one through, as long as a loop runs. */
  async #setsAuto(): Promise<void> {
    const { auto } = this.#views;
    for (let i = 0; this.#players.running > 0; i++) {
      if (!auto.isSet) {
        this.#sets++;
        auto.set();
      }
      await pause(i % 3 === 0 ? 1 : 0);
    }
  }

  async #counts(): Promise<void> {
    const { latch } = this.#views;
    const { counts, pauses } = this.#plan;
    for (let i = 1; i <= counts; i++) {
      await pause(pauses[i % pauses.length]!);
      if (i === counts) Atomics.store(this.#shared.words, LATCHED, 1);
      latch.countDown();
    }
  }

  /** Opens and closes an event, and leaves it open. */
  async #opens(): Promise<void> {
    const { open, group } = this.#views;
    for (const ms of this.#plan.pauses) {
      await pause(ms);
      open.set();
      await pause(0);
      open.reset();
    }
    open.set();
    group.done();
  }
}

/** The storm on gates. */
export const gatesStorm: Storm<GatesPlan> = {
  name: "Gates",
  plans,
  play: async (plan, ledger) => await new Play(plan, ledger).run(),
};

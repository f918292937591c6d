/**
 * The state of the simulated machine: what it consists of, and how it is kept,
 * entered again, and told from others.
 *
 * @module
 */
import type { Snapshot } from "./agent/snapshot.ts";
import type { Agent } from "./agent/agent.ts";
import type { Hints, HintState } from "./hints.ts";
import type { Fault } from "../kinds.ts";
import { type Letter, Mail } from "./mail.ts";
import type { Memo } from "./agent/memo.ts";
import { Memory } from "./memory.ts";
import { I32 } from "../platform/native.ts";
import { Prospects } from "./prospects.ts";
import type { Twins } from "./twins.ts";
import { mix1, mix2 } from "../values.ts";
import type { Monitor, RaceWatch } from "./watch.ts";
import { type Budget, hashState, type Waiter } from "./key.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/**
 * What few steps change: many states have the same object. A state also keeps
 * memory, the judge's frontier, and the agents.
 */
export interface Around {
  readonly waiters: readonly Waiter[];
  readonly letters: readonly Letter[];
  readonly now: number;
  readonly budget: Budget;
  readonly hints: HintState | null;
}

/** Which bounds kept the scheduler from a choice in some state. */
export interface Cuts {
  timeouts: boolean;
  spurious: boolean;
  kills: boolean;
  stale: boolean;
  /** An interval goes on when all calls have ended. */
  intervals: boolean;
}

/** No bound did. */
export const noCuts = (): Cuts => ({
  timeouts: false,
  spurious: false,
  kills: false,
  stale: false,
  intervals: false,
});

/** Everything that a state keeps, apart from the agents. */
export interface WorldState {
  readonly memory: Int32Array;
  readonly frontier: number;
  readonly around: Around;
}

/** Records what happens in an execution, to show it. */
export interface Recorder {
  /** Prepares for the next execution. */
  clear(): void;
  /** Adds a row that is not an operation. */
  row(
    machine: Machine,
    agent: Agent,
    type: "begin" | "end" | "event",
    text: string,
  ): void;
  /** Adds an operation. */
  step(
    machine: Machine,
    agent: Agent,
    result: Any,
    writes: boolean,
    age: number,
  ): void;
}

/** A budget that allows nothing unusual. */
export const NO_BUDGET: Budget = { timeouts: 0, spurious: 0, kills: 0 };

/** Memory as it was at the start. */
const NO_WORDS = new I32(0);

/** No messages are on their way. */
const NO_LETTERS: readonly Letter[] = [];

const NOTHING_AROUND: Around = {
  waiters: [],
  letters: NO_LETTERS,
  now: 0,
  budget: NO_BUDGET,
  hints: null,
};

/** The state of the machine. */
export abstract class Machine {
  agents: Agent[] = [];
  readonly memory: Memory = new Memory();
  /** What agents can still do. */
  readonly prospects: Prospects = new Prospects();
  waiters: readonly Waiter[] = [];
  /** Messages on their way, and all that there are. */
  letters: readonly Letter[] = NO_LETTERS;
  readonly mail: Mail = new Mail();
  now = 0;
  /** The number of the judge's frontier. */
  frontier = 0;
  judge: Monitor | null = null;
  clocks: RaceWatch | null = null;
  hints: Hints | null = null;
  trace: Recorder | null = null;
  budget: Budget = NO_BUDGET;
  startBudget: Budget = NO_BUDGET;
  /** The bounds that left out something since the exploration began. */
  cuts: Cuts = noCuts();
  fault: Fault | null = null;
  steps = 0;
  maxOpSteps = 0;
  schedule: number[] = [];
  /** Whether the last operation changed memory or woke somebody. */
  changed = false;
  /** Whether the last step began a call, or ended one. */
  began = false;
  ended = false;
  /** Agents woken from a sleep that must be run to their next operation. */
  woken: Agent[] = [];
  /** What agents did before, if that may be used. */
  memo: Memo | null = null;
  /** Whether the present step depends on more than its agent has seen. */
  volatile = false;
  /** How many calls agent 0 makes before, and after, all other agents. */
  lead = 0;
  tail = 0;
  /** Agents that do the same, if that makes states equal. */
  twins: Twins | null = null;
  /** Whether states differ by how many old values of hints agents have read. */
  countsOld = false;
  /** Whether it is noted how agents are run. */
  notes = false;
  /** Whether agents keep their plain accesses. */
  keepsPlain = false;
  /** The agents that came to another operation in this step, as bits. */
  came = 0;
  /** The hashes of memory when those of a state were made last. */
  memory1 = 0;
  memory2 = 0;
  readonly #states: Snapshot[] = [];
  #around: Around = NOTHING_AROUND;

  // ---- states

  /** Goes back to the start. */
  reset(): void {
    this.memory.restore(NO_WORDS);
    this.waiters = [];
    this.letters = NO_LETTERS;
    this.now = this.steps = 0;
    this.fault = null;
    this.changed = this.began = this.ended = false;
    this.schedule = [];
    this.woken = [];
    this.budget = this.startBudget;
    this.frontier = this.judge === null ? 0 : this.judge.initial();
    this.trace?.clear();
    for (const agent of this.agents) agent.reset();
    this.clocks?.reset();
    this.hints?.reset();
  }

  /** Everything that is needed to come back here, apart from the agents. */
  save(): WorldState {
    const memory = new I32(this.memory.size);
    this.memory.save(memory);
    return { memory, frontier: this.frontier, around: this.around() };
  }

  /** Comes back to a state. */
  load({ memory, frontier, around }: WorldState): void {
    this.memory.restore(memory);
    this.enter(frontier, around);
  }

  /** What is around now. */
  around(): Around {
    const { waiters, letters, now, budget } = this;
    const hints = this.hints?.save() ?? null;
    const old = this.#around;
    const same = old.waiters === waiters && old.now === now &&
      old.budget === budget && old.hints === hints && old.letters === letters;
    if (same) return old;
    return this.#around = { waiters, letters, now, budget, hints };
  }

  /** Comes back to a state whose memory is restored. */
  enter(frontier: number, around: Around): void {
    const { waiters, letters, now, budget, hints } = around;
    this.#around = around;
    this.waiters = waiters;
    this.letters = letters;
    this.now = now;
    this.budget = budget;
    this.frontier = frontier;
    if (hints !== null) this.hints!.load(hints);
    this.fault = null;
    if (this.woken.length > 0) this.woken = [];
  }

  /**
   * Makes two hashes of everything the future depends on. With `twins`, states
   * in which agents that do the same have changed places have the same hashes.
   */
  key(
    out: Int32Array,
    withResults: boolean,
    twins: Twins | null = null,
  ): void {
    this.memory.hash(out);
    this.memory1 = out[0]!;
    this.memory2 = out[1]!;
    const states = this.#states;
    const { agents } = this;
    for (let i = 0; i < agents.length; i++) states[i] = agents[i]!.save();
    hashState(this, out, states, this.frontier, withResults, twins);
    for (const { message, view } of this.letters) {
      out[0] = mix1(out[0]!, message.id);
      out[1] = mix2(out[1]!, message.id);
      if (view !== null) this.hints?.hashView(out, view);
    }
  }
}

/**
 * What is true of one exploration: what it was asked for, where it stands, and
 * what it has learned by now. The engine adds what it does.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Ended, Guard, Snapshot } from "../state/agent/snapshot.ts";
import type { Asked, Look } from "./loops/ahead.ts";
import { Caught } from "./loops/caught.ts";
import { World } from "../state/core.ts";
import type { WorldState } from "../state/machine.ts";
import type { Handles } from "./handles.ts";
import { Unsupported } from "../kinds.ts";
import { type Job, Memo } from "../state/agent/memo.ts";
import { realNow } from "../platform/native.ts";
import type { Scenario } from "../scenario.ts";
import { TOKEN } from "../signals.ts";
import { Spins } from "./loops/spins.ts";
import type { PortState } from "../platform/office.ts";
import type { Call } from "../model.ts";
import type { Alone } from "./loops/alone.ts";
import { twinsOf } from "../state/twins.ts";
import type { Walk } from "./walk.ts";
import * as k from "../kinds.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Counts what the code under test does. */
export interface Covers {
  /** Counts an operation that an agent did. */
  note(agent: Agent, result: unknown): void;
  /** Counts the end of a sleep by its timeout. */
  timedOut(agent: Agent): void;
}

/** One exploration of the program of some agents. */
export abstract class Exploration {
  readonly world = new World();
  /** The agent on the stack. */
  current: Agent | null = null;
  /** See `unwinding`, and how many lines of stacks there were before. */
  #unwinding = false;
  #lines = 10;
  /** What the agent does that has caught the token. */
  protected readonly caught: Caught = new Caught();
  /** Whether an agent may go on without being suspended, if it is chosen. */
  inline = false;
  /** The choice that made an agent stop. */
  next = k.END;
  /** The agent that may do one operation, and the age of the value it reads. */
  grant: Agent | null = null;
  age = 0;
  /** Whether that operation was done already, and its answer. */
  performed = false;
  result: Any = undefined;
  /** The agent to be run. */
  job: Job | null = null;
  /** The calls that ended since it was run, and what memory had to hold. */
  ended: Ended[] = [];
  guards: Guard[] = [];
  /** What memory is supposed to hold, if an agent is only tried out. */
  forced: readonly Guard[] | null = null;
  /** Whether loops are not followed, because an agent is only tried out. */
  blind = false;
  /** What it then did instead of what is on its record. */
  strayed: string | undefined = undefined;
  /** What agents did before, and whether that may be used. */
  readonly memo = new Memo();
  recalls = false;
  /** Whether loops remember nothing, and how often that was tried. */
  forgets = false;
  believed = 0;
  /** Whether source lines are recorded. */
  sites = false;
  /** What counts the operations; then agents are run for every step. */
  coverage: Covers | null = null;
  /** After this many steps in a call, `overdue` is called. */
  maxSteps = 1000;
  /** Called for an agent that has taken `maxSteps` in a call. */
  overdue: ((agent: Agent) => void) | null = null;
  /** When executions are cut short, in milliseconds of the real clock. */
  until = Infinity;
  /** Whether an execution was cut short. */
  late = false;
  /** Whether the clock ended a comparison of agents. */
  hurried = false;
  /**
   * Whether comparing agents was given up. A search that begins again, because
   * it relied on something that does not hold, does not try it again.
   */
  gaveUp = false;
  /**
   * Whether groups may be used that nobody asked for. A search that meets a
   * cycle of states begins again without.
   */
  mayGroup = true;
  /** How many random walks were taken to learn which words agents use. */
  walks = 0;
  /** How many operations a loop may have before it counts as endless. */
  endless = 100_000;
  /** Whether a data race at an address is a failure. */
  racy: (address: number) => boolean = () => true;
  /** Loops that count as endless, also of earlier explorations. */
  loops: Set<string> = new Set();
  /** Whether this exploration has met one of them. */
  held = false;
  /**
   * How many operations are left of a loop, by what the agent in it has seen.
   */
  readonly futures: Map<string, number> = new Map();
  /** Loops that were not explored round by round. */
  readonly leapt: Set<string> = new Set();
  /** The states of agents that are rounds of a loop that changes memory. */
  readonly rounds: Set<number> = new Set();
  /** Loops that count their rounds. */
  readonly spins = new Spins();
  /** Whether it has met a loop of sleeps that seems to have no end. */
  sleepless = false;
  /** Whether an agent has looked at the clock. */
  clocked = false;
  /** Whether agents differ that do the same. */
  apart = false;
  /** Whether agents have asked who they are. */
  named = false;
  /**
   * Whether a word turned out to be a hint, so that the search starts again.
   */
  learned = false;
  /** Whether handles are being made for the first time. */
  setting = true;
  /** How many operations are left of a leap. */
  leaping = 0;
  /** Whether agents may be suspended without leaving the stack. */
  keepsStacks = true;
  /** Whether they need not be run from the start each time. */
  trusts = false;
  /** Whether one of them went on from there since the exploration began. */
  resumed = false;
  /** Why the program cannot be explored, if it cannot. */
  refused: Error | null = null;
  /** Whether this is the rehearsal, before the exploration itself. */
  rehearsing = false;
  /** Agents that are known to await nothing from outside. */
  readonly closed: Set<number> = new Set();
  /** Promises and timers of the agent on the stack. */
  settlers = new Map<number, (value: unknown) => void>();
  /** Whether the call of an asynchronous agent begins right now. */
  calls = false;
  /** Whether another exploration was asked for while such an agent runs. */
  asksAgain = false;
  /** Begins the next call of the asynchronous agent on the stack. */
  goesOn: (() => void) | null = null;
  /** What the agent on the stack has done with ports. */
  readonly ports: Map<number, PortState> = new Map();
  /** By terminated agent: what the recoverer does. */
  readonly recoveries: Call[][] = [];
  /** The state before the first choice, once it is known. */
  opening: { world: WorldState; agents: readonly Snapshot[] } | null = null;
  /** Calls that did the same with a fresh handle. */
  readonly verified: Set<string> = new Set();
  /** Makes handles. */
  abstract readonly handles: Handles;
  /** The loop that an agent is being run ahead in. */
  look: Look | null = null;
  /** A call that is run with made-up answers. */
  walk: Walk | null = null;
  /** A loop that an agent must be run ahead in before it goes on. */
  asked: Asked | null = null;
  /** How far an agent has come that is run on alone. */
  alone: Alone | null = null;
  /** Whether a call is being compared with its record. */
  verifying = false;

  /** An exploration of `scenario` with `count` agents. */
  constructor(
    readonly scenario: Scenario,
    readonly count: number,
    /** Whether an agent may be terminated. */
    public mayKill: boolean,
  ) {}

  /**
   * Whether a token is being thrown, or was caught by the code under test. That
   * may then make errors of its own, of which nothing reads the stacks.
   */
  get unwinding(): boolean {
    return this.#unwinding;
  }
  set unwinding(on: boolean) {
    if (on === this.#unwinding) return;
    this.#unwinding = on;
    if (!on) this.caught.end();
    if (on) this.#lines = Error.stackTraceLimit;
    Error.stackTraceLimit = on ? 0 : this.#lines;
  }

  /** Takes agents that do the same for equal from now on, or no longer. */
  setTwins(on: boolean): void {
    const { world, scenario, apart, named } = this;
    const calls = world.agents.map(({ calls }) => calls);
    const differ = apart || named;
    const twins = on && !differ ? twinsOf(scenario, calls) : null;
    if (twins === null && world.twins === null) return;
    world.twins = twins;
    for (const agent of world.agents) {
      agent.like = twins?.likes[agent.id] ?? agent.id;
    }
    this.opening = null;
    this.memo.clear();
  }

  /**
   * Whether states tell apart how many old values of hints agents have read. As
   * long as no agent has read as many as it may, this makes no difference.
   */
  set countsOld(on: boolean) {
    this.world.countsOld = this.memo.countsOld = on;
  }

  /** Whether what agents did before is made use of. */
  get remembers(): boolean {
    return this.recalls && !this.sites && this.world.trace === null;
  }

  /** Whether executions must be cut short; `step` counts their steps. */
  isLate(step: number): boolean {
    if (step % 32 !== 31 || realNow() <= this.until) return false;
    return this.late = true;
  }

  /** Forgets the states of agents and what followed from them. */
  forget(): void {
    this.learned = false;
    this.memo.clear();
    this.opening = null;
  }

  /** Suspends the agent on the stack. */
  suspend(): unknown {
    this.unwinding = true;
    return TOKEN;
  }

  /** Ends the exploration, because its result could be wrong. */
  refuse(message: string): never {
    this.refused ??= new Unsupported(message);
    if (this.current === null) throw this.refused;
    throw this.suspend();
  }
}

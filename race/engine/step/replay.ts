/**
 * The engine. A simulated agent is an ordinary function call. To suspend it,
 * the engine throws a token out of an operation on shared memory. To resume it,
 * the engine calls the function again, and the recorded operations give the
 * answers they gave before. So any code runs unmodified. To return to an
 * earlier state, the engine cuts a record short and restores a few words.
 *
 * @module
 */
import {
  Agent,
  type Ended,
  type Guard,
  type Snapshot,
} from "../state/agent.ts";
import { type Asked, follow, type Look, peek, SPINS } from "./ahead.ts";
import { World, type WorldState } from "../state/core.ts";
import {
  argBits,
  BLOCK,
  callText,
  signature,
  signedAddress,
  writtenIn,
} from "../state/operation.ts";
import { isTold, type Own, type Setting } from "../platform/guests.ts";
import { Handles, verify } from "./handles.ts";
import { Hints } from "../state/hints.ts";
import * as k from "../kinds.ts";
import { Misuse, Unsupported } from "../kinds.ts";
import { CHANGED, type Job, Memo } from "../state/memo.ts";
import type { Region } from "../region.ts";
import { isShared, realNow } from "../platform/native.ts";
import { type Memory, RECOVER, type Scenario } from "../scenario.ts";
import { install } from "../platform/shim.ts";
import {
  isThenable,
  NeedsAsync,
  NotConstant,
  StatefulHandle,
  TOKEN,
} from "../signals.ts";
import { placeOf, siteOf, stackOf, unfit } from "../sites.ts";
import { Spins } from "./spins.ts";
import { closePort, newChannel, openPort, send, take } from "../state/post.ts";
import { freshPort, type PortState } from "../platform/office.ts";
import {
  clearTimer,
  post,
  setTimer,
  unpost,
  waitAsync,
} from "../state/timers.ts";
import type { Call } from "../model.ts";
import { Chance } from "./chance.ts";
import { Drops } from "./drops.ts";
import { countsOf, LONGEST, LOOKS, looksAtClock, timesIn } from "./looks.ts";
import { Returns } from "./returns.ts";
import { type Alone, doAlone, goOn, mustGoOn } from "./alone.ts";
import { bits, mix1, mix2, show } from "../values.ts";
import { Whole } from "../platform/whole.ts";
import { twinsOf } from "../state/twins.ts";
import type { Args, Host, Target } from "../platform/views.ts";
import { leave, step, type Walk } from "./walk.ts";
import type { Stage } from "./stage.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A part of the explorer's work; it yields agents that must be run. */
export type Steps<T> = Generator<Agent, T, void>;

/** Decides which agent goes on. */
export interface Chooser {
  /** A choice, or `END`, or `CUT`. */
  choose(engine: Engine): number;
}

/** Counts what the code under test does. */
export interface Covers {
  /** Counts an operation that an agent did. */
  note(agent: Agent, result: unknown): void;
  /** Counts the end of a sleep by its timeout. */
  timedOut(agent: Agent): void;
}

/** What an operation is answered with to be done once more. */
const RESUMED: unique symbol = Symbol("resumed");

/** Up to this many reads of constants in a row do not count as a step. */
const CONSTANTS = 500;

/** Runs the agents of one scenario. */
export class Engine implements Host {
  readonly world = new World();
  readonly memory: Memory;
  /** The agent on the stack. */
  current: Agent | null = null;
  /** See `unwinding`, and how many lines of stacks there were before. */
  #unwinding = false;
  #lines = 10;
  chooser: Chooser | null = null;
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
  /** Words of primitives that turned out to be hints. */
  readonly #learned: Set<number> = new Set();
  /** How long a sleep is after which the code under test only looks again. */
  looks: number | undefined;
  /** Whether such a look may be needed after an agent was terminated. */
  looksAfterKill = false;
  /** Settings of primitives that are others while this engine explores. */
  readonly settings: Set<Setting> = new Set();
  /** What each agent has of its own in the modules of primitives. */
  readonly owns: Set<Own> = new Set();
  /** What agents say that they keep. */
  readonly drops: Drops = new Drops();
  /** How often it was tried whether that is true. */
  tried = 0;
  /** Which operations of primitives are one step. */
  readonly whole: Whole = new Whole(
    () => this.current,
    (what, value, begin) => this.#returned(what, value, begin),
  );
  /** What agents saw in operations of primitives that have returned. */
  readonly returns: Returns = new Returns();
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
  /** Where the agent on the stack is suspended, if it need not leave it. */
  #stage: Stage<unknown> | null = null;
  /** The number of the run that is on the stack, among its agent's. */
  #run = 0;
  /** Why the program cannot be explored, if it cannot. */
  refused: Error | null = null;
  /** Whether this is the rehearsal, before the exploration itself. */
  rehearsing = false;
  /** Agents that are known to await nothing from outside. */
  readonly closed: Set<number> = new Set();
  /** Promises and timers of the agent on the stack. */
  settlers = new Map<number, (value: unknown) => void>();
  /** What the agent on the stack has done with ports. */
  readonly ports: Map<number, PortState> = new Map();
  readonly recoverer: Agent | null = null;
  /** By terminated agent: what the recoverer does. */
  readonly recoveries: Call[][] = [];
  /** The state before the first choice, once it is known. */
  opening: { world: WorldState; agents: readonly Snapshot[] } | null = null;

  /** Makes handles. */
  readonly handles: Handles;
  /** Calls that did the same with a fresh handle. */
  readonly verified: Set<string> = new Set();
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
  #promised = false;
  readonly #chance = new Chance(this);
  readonly #sitesByPlace = new Map<string, string>();
  /**
   * How many constants were read since the last step, and which was the last.
   */
  #constants = 0;
  #constant: { target: Target; index: number } | null = null;
  /** Whether the current call has not reached an operation yet. */
  #idle = false;

  /** An engine for `count` agents; puts the stand-ins in place. */
  constructor(
    readonly scenario: Scenario,
    readonly count: number,
    looks: number | undefined,
    /** Whether an agent may be terminated. */
    public mayKill: boolean,
  ) {
    const { world } = this;
    this.looks = looks;
    install(this);
    this.handles = new Handles(this);
    this.memory = scenario.memory();
    const buffer: unknown = (this.memory as Any)?.buffer ?? this.memory;
    if (!isShared(buffer)) {
      throw new TypeError(
        "memory() must return a SharedArrayBuffer or a shared " +
          "WebAssembly.Memory",
      );
    }
    world.memory.add(buffer);
    const total = scenario.recover === null ? count : count + 1;
    for (let id = 0; id < total; id++) world.agents.push(new Agent(id, total));
    if (total > count) this.recoverer = world.agents[count]!;
    for (const agent of world.agents) {
      this.handles.first(agent);
    }
    for (const [name, offset] of Object.entries(scenario.words)) {
      world.memory.names.set(offset, name);
    }
    world.memory.freeze();
    this.setting = false;
  }

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

  /** The identity of the agent on the stack, if there is one. */
  identity(): { id: number } | undefined {
    const agent = this.current;
    if (agent === null) return undefined;
    if (!this.named) {
      this.named = true;
      if (this.world.twins !== null) this.world.memory.surprised = true;
    }
    return agent.identity;
  }

  /** Is told of a view of a primitive. */
  meet(primitive: object): void {
    // Some agents load modules of their own for each execution, which nobody
    // may keep.
    if (this.setting || this.whole.on || this.returns.on) {
      this.whole.meet(primitive);
    }
  }

  /** The agent on the stack keeps these values, and nothing else it saw. */
  drop(kept: readonly unknown[]): void {
    const agent = this.current;
    if (agent === null || !this.drops.on || this.handles.making) return;
    if (this.unwinding) throw TOKEN;
    const { pos, n, dropped, drawn, allocations } = agent;
    agent.dropped = pos;
    // While it is tried out, or runs again, its state is not its own.
    if (this.look ?? this.walk ?? this.alone ?? this.forced) return;
    if (this.blind || this.verifying || pos < n || this.grant === agent) return;
    if (this.clocked || drawn + allocations > 0) return;
    this.drops.drop(agent, placeOf(), kept, dropped);
    agent.snapshot = null;
  }

  /** An operation of a primitive has returned to the agent on the stack. */
  #returned(what: string, value: unknown, begin: number): void {
    const agent = this.current!;
    if (!this.#mayLeaveOut(agent)) return;
    this.returns.end(agent, `${what} ${countsOf(agent)}`, value, begin);
    agent.snapshot = null;
  }

  /**
   * The operation of a primitive in which the agent is keeps these values, or
   * will if it sleeps next.
   */
  keepInside(kept: readonly unknown[], asleep: boolean): void {
    const agent = this.current;
    if (agent === null || agent.depth !== 1 || agent.entered < 0) return;
    if (this.whole.on || !this.#mayLeaveOut(agent)) return;
    const wrote = this.world.judge === null ? "" : writtenIn(agent);
    const { within, entered } = agent;
    // Deadlines are made of what the clock showed.
    const times = timesIn(agent, entered);
    const what = `${within} ${kept.join()} ${
      countsOf(agent)
    } ${times} ${wrote}`;
    if (asleep) this.returns.sleep(agent, what, entered);
    else this.returns.keep(agent, what, entered);
    agent.snapshot = null;
  }

  /** Whether the agent is where its record ends, and has no more to tell. */
  #mayLeaveOut(agent: Agent): boolean {
    const { blind, verifying, grant, scenario, drops } = this;
    const { pos, n, drawn, allocations } = agent;
    if (!this.returns.on || this.handles.making || this.unwinding) return false;
    if (this.look ?? this.walk ?? this.alone) return false;
    if (blind || verifying || pos < n || grant === agent) return false;
    if (drops.used || drawn + allocations > 0) return false;
    return scenario.stateless !== false;
  }

  /** Is told how long a sleep is after which primitives only look again. */
  tellLooks(ms: number): void {
    this.looks = ms;
    this.looksAfterKill = true;
  }

  /**
   * Takes a word for a hint from now on, if it belongs to a primitive that has
   * told so: these read words plainly that may be old. If the answer is true,
   * the search must start again.
   */
  learn(address: number): boolean {
    const { world, scenario } = this;
    const learned = this.#learned;
    const { buffer, base } = world.memory.regionAt(address);
    if (learned.has(address) || !isTold(buffer, address - base)) return false;
    learned.add(address);
    world.hints = new Hints(
      world.agents,
      (address) => scenario.hints?.(address) || learned.has(address),
    );
    return this.learned = true;
  }

  /**
   * Whether states tell apart how many old values of hints agents have read. As
   * long as no agent has read as many as it may, this makes no difference.
   */
  set countsOld(on: boolean) {
    this.world.countsOld = this.memo.countsOld = on;
  }

  /**
   * Whether states may lead back to themselves although no agent is seen to be
   * in a loop.
   */
  get mayTurn(): boolean {
    return this.forgets || this.drops.used || this.returns.turns;
  }

  /** Forgets the states of agents and what followed from them. */
  forget(): void {
    this.learned = false;
    this.memo.clear();
    this.opening = null;
  }

  // ---- as the stand-ins' host

  /** Whether an agent is on the stack. */
  get running(): boolean {
    return this.current !== null;
  }

  /** The simulated memory that `buffer` stands for. */
  region(buffer: SharedArrayBuffer): Region {
    return this.world.memory.add(buffer);
  }

  /**
   * Whether a plain read is of a word that no agent was ever seen to write.
   * Then it need not be a step. Many such reads in a row may be a loop that
   * waits for a write.
   */
  #isConstant({ region, base, size }: Target, index: number): boolean {
    if (this.scenario.async || ++this.#constants > CONSTANTS) return false;
    return this.world.memory.isConstant(region, base + index * size, size);
  }

  /** Ends the exploration, because its result could be wrong. */
  refuse(message: string): never {
    this.refused ??= new Unsupported(message);
    if (this.current === null) throw this.refused;
    throw this.suspend();
  }

  /** Has agents leave the stack whenever they are suspended. */
  leaveStacks(): void {
    this.keepsStacks = false;
  }

  /** Reports an access beyond the end of a view. */
  outside(target: Target, index: unknown, what: string): void {
    if (this.unwinding) throw TOKEN;
    if (this.handles.making || this.look !== null) return;
    if (this.walk !== null) throw new RangeError("Beyond the end of a view");
    if (this.alone !== null) {
      this.alone.ended = true;
      throw this.suspend();
    }
    const { id } = this.current!;
    this.world.fail(
      "out-of-bounds",
      `agent ${id}: ${what} of element ${String(index)} of a ${target.name} ` +
        `of ${target.view.length}`,
    );
    throw this.suspend();
  }

  /** Allocates memory for the agent on the stack; each replay gets the same. */
  allocate(byteLength: number): SharedArrayBuffer {
    return this.#chance.allocate(byteLength);
  }

  /** A random number that depends only on the agent's past. */
  random(): number {
    return this.#chance.random();
  }

  /** The same for `Math.random`. */
  chance(): number {
    return this.#chance.chance();
  }

  /** The stand-in for a view. */
  keep(view: Any, make: (view: Any) => Any, args: Args | null): Any {
    return this.handles.keep(view, make, args);
  }

  /** The stand-in that is kept, if a handle's next view has the same `args`. */
  kept(...[real, buffer, offset, length]: Args): Any {
    return this.handles.kept(real, buffer, offset, length);
  }

  /** Does an operation of the agent on the stack. */
  operate(
    kind: number,
    target: Target | null,
    index: number,
    a: Any,
    b: Any,
    timeout: number,
  ): Any {
    if (this.unwinding) throw TOKEN;
    const agent = this.current!;
    const address = target === null
      ? k.NOWHERE
      : target.base + index * target.size;
    if (this.handles.making) {
      return this.handles.operate(kind, target, index, a, b, timeout);
    }
    if (kind === k.READ && this.#isConstant(target!, index)) {
      const { look } = this;
      if (look !== null && look.constants-- <= 0) throw this.suspend();
      this.#constant = { target: target!, index };
      return target!.peek(index);
    }
    for (;;) {
      this.#constants = 0;
      this.#idle = false;
      const { pos, n } = agent;
      if (pos < n) {
        if (
          agent.sig[pos] !== signature(kind, address) ||
          agent.args[pos] !== argBits(a, b)
        ) {
          this.strayed = `${n - pos} ${kind} ${address} ${show(a)} ${show(b)}`;
          this.#mismatch(agent, kind, address, agent.sig[pos]!);
        }
        agent.pos = pos + 1;
        return agent.res[pos];
      }
      if (this.grant === agent) this.#checkGrant(agent, kind, address, a);
      if (this.verifying) {
        this.verifying = false;
        throw this.suspend();
      }
      agent.kind = kind;
      agent.target = target;
      agent.index = index;
      agent.address = address;
      agent.size = target === null ? 0 : target.size;
      agent.a = a;
      agent.b = b;
      agent.timeout = timeout;
      if (kind === k.SEND || kind === k.TAKE) this.#mustBeReal();
      if (this.walk !== null) return step(this, agent);
      if (this.look !== null) return peek(this, agent);
      agent.snapshot = null;
      if (this.alone !== null) return doAlone(this, agent);
      const result = this.#reach(agent);
      if (result !== RESUMED) return result;
    }
  }

  /** Suspends the agent on the stack, if it is only tried out. */
  #mustBeReal(): void {
    const { walk, look, alone } = this;
    if (walk !== null) leave(this);
    if (look !== null) look.escaped = true;
    if (alone !== null) alone.ended = true;
    if (look !== null || alone !== null) throw this.suspend();
  }

  /** Does a `waitAsync` of the agent on the stack. */
  waitAsync(target: Target, index: number, value: Any, timeout: number): Any {
    return waitAsync(this, target, index, value, timeout);
  }

  /** Notes that the agent on the stack needs an event loop. */
  needAsync(): void {
    if (this.scenario.async || this.handles.making) return;
    this.#promised = true;
    throw this.suspend();
  }

  /** Sets a timer of the agent on the stack. */
  setTimer(fn: () => void, delay: number, repeat: boolean): Any {
    return setTimer(this, fn, delay, repeat);
  }

  /** Clears a timer of the agent on the stack. */
  clearTimer(timer: Any): void {
    clearTimer(this, timer);
  }

  /** Posts `fn` to the event loop of the agent on the stack. */
  post(fn: () => void): number {
    return post(this, fn);
  }

  /** Removes a posted function. */
  unpost(id: number): void {
    unpost(this, id);
  }

  /** What the agent on the stack has done with a port. */
  portState(port: number): PortState {
    let state = this.ports.get(port);
    if (state === undefined) this.ports.set(port, state = freshPort());
    return state;
  }

  /** The number of a new channel. */
  newChannel(): number {
    return newChannel(this);
  }

  /** Gives a port a name for reports. */
  namePort(port: number, name: string): void {
    this.world.mail.rename(port, name);
  }

  /** The worker that an address stands for, if there is one. */
  hire(url: string): Any {
    return this.scenario.hire?.(url);
  }

  /** Posts data to a port. */
  send(to: number, key: string, data: Any, ports: number[]): void {
    send(this, to, key, data, ports);
  }

  /** The next message to a port, in an object; undefined if there is none. */
  take(port: number): Any {
    return take(this, port);
  }

  /** Lets messages arrive at a port from now on. */
  openPort(port: number): void {
    openPort(this, port);
  }

  /** Lets no more messages arrive at a port. */
  closePort(port: number): void {
    closePort(this, port);
  }

  /** Calls a function of the agent that the platform would call. */
  guard(fn: () => unknown): void {
    const agent = this.current;
    if (agent === null || this.unwinding) return;
    try {
      fn();
    } catch (error) {
      if (this.unwinding) return;
      if (this.look !== null) this.look.escaped = true;
      else if (this.alone !== null) this.alone.ended = true;
      else this.threw(agent, error);
      this.suspend();
    }
  }

  /** Does something that concerns one agent only, so no other can step in. */
  local(kind: number, a: number, perform: (agent: Agent) => Any): Any {
    if (this.unwinding) throw TOKEN;
    const agent = this.current!;
    if (this.handles.making) {
      return this.refuse(
        "Cannot set a timer in agent(): do it in an operation",
      );
    }
    if (this.walk !== null) leave(this);
    const { pos } = agent;
    if (pos < agent.n) {
      if (agent.sig[pos] !== signature(kind, k.NOWHERE)) {
        this.#mismatch(agent, kind, k.NOWHERE, agent.sig[pos]!);
      }
      agent.pos = pos + 1;
      return agent.res[pos];
    }
    if (this.verifying || this.look !== null) {
      this.verifying = false;
      if (this.look !== null) this.look.escaped = true;
      throw this.suspend();
    }
    agent.snapshot = null;
    agent.kind = kind;
    agent.address = k.NOWHERE;
    const result = perform(agent);
    this.world.note(agent, result);
    agent.record(signature(kind, k.NOWHERE), argBits(a, 0), result);
    agent.pos = agent.n;
    return result;
  }

  // ---- operations

  /** Suspends the agent on the stack. */
  suspend(): unknown {
    this.unwinding = true;
    return TOKEN;
  }

  /** Checks that the agent does the operation that it was known to do next. */
  #checkGrant(agent: Agent, kind: number, address: number, a: Any): void {
    if (kind === k.CLOCK || this.verifying || this.look !== null) return;
    const known = agent.kind === kind && agent.address === address &&
      Object.is(agent.a, a);
    if (known) return;
    this.strayed = `0 ${kind} ${address} ${show(a)}`;
    this.#mismatch(agent, kind, address, signature(agent.kind, agent.address));
  }

  #mismatch(agent: Agent, kind: number, address: number, was: number): never {
    if (this.verifying) {
      this.verifying = false;
      throw this.suspend();
    }
    this.#fail(agent, kind, address, was % 32, signedAddress(was));
    throw this.suspend();
  }

  #fail(
    { id }: Agent,
    kind: number,
    address: number,
    oldKind: number,
    oldAddress: number,
  ): void {
    const name = (kind: number, address: number) =>
      `${k.OP_NAMES[kind]} ${this.world.memory.nameOf(address)}`.trim();
    this.world.fail(
      "nondeterministic",
      `agent ${id} did ${name(kind, address)} on replay where it first did ` +
        `${name(oldKind, oldAddress)}, or did it with other arguments: code ` +
        `under test may depend only on shared memory and its arguments`,
    );
  }

  /** Reports that an agent did not come to the state `was` again. */
  differs(agent: Agent, was: Snapshot): void {
    this.#doubtStacks();
    this.#fail(agent, agent.kind, agent.address, was.kind, was.address);
  }

  /** Handles an operation that the agent has not done yet. */
  #reach(agent: Agent): Any {
    const { world } = this;
    if (world.fault !== null) throw this.suspend();
    if (this.sites) agent.site = this.#siteNow();
    if (agent.spinNext) {
      agent.spinNext = false;
      agent.status = k.SPINNING;
      agent.deadline = agent.tick
        ? world.now + Math.min(1000 ** agent.idleFires, LONGEST)
        : Infinity;
      agent.tick = false;
      return this.#pause(agent);
    }
    if (agent.kind === k.CLOCK) return this.#clock(agent);
    if (this.leaping > 0 && this.grant === null) {
      this.leaping--;
      return this.#perform(agent, 0);
    }
    agent.status = k.READY;
    if (this.grant === agent) {
      this.grant = null;
      return this.#perform(agent, this.age);
    }
    if (this.whole.on && this.#isInside(agent)) return this.#goFurther(agent);
    // Woken agents must be run to their next operation before the next choice.
    if (!this.inline || world.woken.length > 0) return this.#pause(agent);
    const code = this.isLate(agent.n) ? k.END : this.chooser!.choose(this);
    const action = k.actionOf(code);
    const mine = k.agentOf(code) === agent.id;
    const steps = action === k.STEP || action === k.STALE || action === k.LEAP;
    if (code >= 0 && mine && steps) {
      world.schedule.push(code);
      const number = k.numberOf(code);
      if (action === k.LEAP) this.leaping = number - 1;
      return this.#perform(agent, action === k.STALE ? number : 0);
    }
    this.next = code;
    return this.#pause(agent);
  }

  /**
   * Suspends the agent on the stack before its operation. If it need not leave
   * the stack, the search goes on there, on top of the agent, until the agent
   * goes on from just this state or must leave. It then does its operation.
   */
  #pause(agent: Agent): Any {
    const stage = this.#stage;
    if (stage === null || !this.#mayPause(agent)) throw this.suspend();
    const { drawn, begun, allocations, depth, within, entered, runs } = agent;
    this.#stage = this.current = null;
    const goesOn = stage.pause(agent);
    this.#stage = stage;
    this.current = agent;
    if (!goesOn) throw this.suspend();
    this.resumed = true;
    this.unwinding = false;
    this.#run = runs;
    this.ports.clear();
    agent.drawn = drawn;
    agent.begun = begun;
    agent.allocations = allocations;
    agent.depth = depth;
    agent.within = within;
    agent.entered = entered;
    agent.merged = agent.returned = -1;
    agent.snapshot = null;
    return RESUMED;
  }

  /**
   * Whether nothing is known of the agent but its record, so that its frames on
   * the stack are as good as a replay.
   */
  #mayPause(agent: Agent): boolean {
    const { world, whole, drops, ports, trusts, sites } = this;
    return this.keepsStacks && trusts && !sites && world.trace === null &&
      this.#run === agent.runs && !whole.on && !drops.used &&
      ports.size === 0 && world.fault === null && !world.memory.surprised &&
      this.refused === null && !this.#promised && !mustGoOn(this, agent);
  }

  /**
   * Whether the agent is in a whole operation of a primitive, and has taken its
   * step there already. Then what it does next belongs to that step.
   */
  #isInside({ kind, target, address, depth, going }: Agent): boolean {
    const { whole, world } = this;
    if (!whole.holds(target, address)) return false;
    if (depth > 0) return going && !this.blind;
    const { region, size } = target!;
    if (kind === k.LOAD && world.memory.isConstant(region, address, size)) {
      return false;
    }
    whole.open(target!, address);
    world.memory.surprised = true;
    throw this.suspend();
  }

  /** Does the next operation of a whole operation of a primitive. */
  #goFurther(agent: Agent): Any {
    const { world } = this;
    // What follows depends on more than the first answer.
    world.volatile = true;
    const before = world.notes ? agent.save() : null;
    if (world.notes) this.noteRun();
    this.job = { ...this.job!, from: null, before: null, edge: undefined };
    const result = this.#perform(agent, 0);
    const cause = world.changed ? CHANGED : 0;
    this.job = { ...this.job, before, cause, value: result };
    return result;
  }

  /** Notes what the agent of the present job did. */
  noteRun(): void {
    const { world, memo, spins, ended, result } = this;
    const job = this.job!;
    const { agent, before, from } = job;
    if (before === null || world.fault !== null) return;
    const remembered = world.memo !== null && from !== null;
    const value = world.memo === null && job.cause === 0 ? result : job.value;
    const once = !remembered || memo.full;
    spins.note(agent, before, { ...job, value }, ended, once);
  }

  /** The source line of the agent on the stack. */
  #siteNow(): string {
    const place = placeOf();
    let site = this.#sitesByPlace.get(place);
    if (site === undefined) this.#sitesByPlace.set(place, site = siteOf());
    return site;
  }

  /** Does an agent's operation; the agent does not know of it yet. */
  perform(agent: Agent, age: number): Any {
    const { world } = this;
    if (age > 0) agent.stale++;
    const result = world.perform(agent, age);
    this.coverage?.note(agent, result);
    if (this.drops.used) this.drops.answered(agent.address, result);
    if (this.returns.used) this.returns.answered(agent.address, result);
    if (agent.ends <= agent.n) agent.effort++;
    if (agent.effort > this.maxSteps) this.overdue?.(agent);
    const { memory } = world;
    if (memory.surprised && this.current === null && !this.scenario.async) {
      memory.surprised = false;
      throw new NotConstant();
    }
    return result;
  }

  /** Whether executions must be cut short; `step` counts their steps. */
  isLate(step: number): boolean {
    if (step % 32 !== 31 || realNow() <= this.until) return false;
    return this.late = true;
  }

  /** Whether what agents did before is made use of. */
  get remembers(): boolean {
    return this.recalls && !this.sites && this.world.trace === null;
  }

  #perform(agent: Agent, age: number): Any {
    const { world } = this;
    let { result } = this;
    if (this.performed) this.performed = false;
    else {
      this.result = result = this.perform(agent, age);
      world.absorb(agent, result, world.changed);
    }
    if (result === BLOCK) throw this.suspend();
    agent.record(
      signature(agent.kind, agent.address),
      argBits(agent.a, agent.b),
      result,
    );
    agent.pos = agent.n;
    if (world.fault !== null) throw this.suspend();
    if (agent.depth > 0 && this.whole.holds(agent.target, agent.address)) {
      agent.going = true;
      this.whole.kinds.add(agent.within);
    }
    if (!this.blind && follow(this, agent) === SPINS) agent.spinNext = true;
    return result;
  }

  /** Handles a look at the clock, which may be all that a loop does. */
  #clock(agent: Agent): Any {
    const { world } = this;
    if (!this.clocked) this.clocked = world.memory.surprised = true;
    if (agent.tick && !agent.spinNext) {
      agent.tick = false;
      world.now += Math.min(10 ** agent.ticks++, LONGEST);
    }
    const now = this.local(k.CLOCK, 0, () => world.now);
    agent.pure++;
    if (!this.blind && follow(this, agent) === SPINS) agent.spinNext = true;
    else if (looksAtClock(agent) >= (agent.ticks > 0 ? 2 : LOOKS)) {
      agent.tick = true;
    }
    return now;
  }

  // ---- programs

  /** Prepares the agent for a replay. */
  rewind(agent: Agent): void {
    agent.runs++;
    agent.pos =
      agent.drawn =
      agent.begun =
      agent.allocations =
      agent.depth =
        0;
    agent.going = false;
    agent.dropped =
      agent.merged =
      agent.returned =
      agent.entered =
        -1;
  }

  /** Calls an operation; what it returns may be a promise. */
  call(agent: Agent, handle: Any, at: number): unknown {
    const { op, arg } = agent.calls[at]!;
    const { operations, recover } = this.scenario;
    agent.begun = at;
    this.#idle = true;
    this.#constant = null;
    const result = op === RECOVER && agent === this.recoverer
      ? recover!(handle, arg as number)
      : operations.get(op)!.run(handle, arg, agent.id);
    const constant: { target: Target; index: number } | null = this.#constant;
    if (constant !== null && this.#idle) {
      // The call read only constants. Its model may still care when it ran.
      this.#constants = CONSTANTS;
      const { target, index } = constant;
      this.operate(k.READ, target, index, 0, 0, 0);
    }
    return result;
  }

  /** Runs an agent from where its record begins. */
  run(agent: Agent): void {
    const outer = this.#run;
    try {
      this.runCalls(agent, this.handles.of(agent));
    } finally {
      this.#run = outer;
    }
  }

  /** Runs them with a handle; `sites.ts` knows it by its name. */
  runCalls(agent: Agent, handle: Any): void {
    this.#run = agent.runs;
    for (let at = agent.first; at < agent.calls.length; at++) {
      const result = this.call(agent, handle, at);
      if (isThenable(result)) {
        result.then(undefined, () => {});
        this.#promised = true;
        throw this.suspend();
      }
      // Code under test may have caught the token.
      if (this.unwinding) throw TOKEN;
      if (at !== agent.oi) continue;
      if (this.walk !== null) {
        this.walk.end = "returned";
        this.walk.result = result;
        return;
      }
      if (this.look !== null || this.alone !== null) return;
      this.finishCall(agent, result);
    }
  }

  /** Ends the agent's current call, which has returned. */
  finishCall(agent: Agent, result: unknown): void {
    const { world, scenario } = this;
    if (this.blind && (agent.pos < agent.n || this.performed)) {
      this.strayed = `${agent.n - agent.pos} ${this.performed} ${show(result)}`;
      world.fail("nondeterministic", "the call ends before its record does");
      throw this.suspend();
    }
    if (scenario.stateless === undefined) verify(this, agent, result);
    const recovered = agent === this.recoverer;
    const { steps } = agent;
    const answer = recovered ? undefined : result;
    world.end(agent, answer);
    this.ended.push({ result: answer, steps });
    agent.idleFires = 0;
    const idle = this.#isIdle(agent);
    // What it left to its event loop may use what it has seen.
    if (scenario.stateless === false || !idle) {
      agent.h1 = mix1(agent.h1, 77777 + bits(result));
      agent.h2 = mix2(agent.h2, 77777 + bits(result));
    } else agent.betweenCalls();
    // Promises and timers that are under way belong to recorded code.
    if (scenario.stateless === true && idle) agent.forget();
    else agent.from = agent.n;
    if (world.fault === null) this.checkInvariant();
    if (world.fault !== null) throw this.suspend();
  }

  #isIdle({ id, inbox, timers, open }: Agent): boolean {
    return inbox.length + timers.length + open.length === 0 &&
      !this.world.waiters.some(({ agent }) => agent === id);
  }

  /** Checks the invariant, if no agent is inside a call. */
  checkInvariant(): void {
    const { world, scenario: { invariant }, recoverer } = this;
    if (invariant === null || this.forced !== null) return;
    for (const { invoked, status } of world.agents) {
      if (invoked && status !== k.KILLED) return;
    }
    if (recoverer !== null && recoverer.oi < recoverer.calls.length) return;
    const message = this.unwatched(() => invariant(this.memory));
    if (message !== undefined) world.fail("invariant", message);
  }

  /** Runs a check that the user wrote; returns what is wrong, if anything. */
  unwatched(check: () => unknown): string | undefined {
    const { current } = this;
    this.current = null;
    try {
      const message = check();
      if (isThenable(message)) {
        message.then(undefined, () => {});
        throw new Misuse(
          "invariant(), final() and after() must not be asynchronous: they " +
            "throw, or return what is wrong",
        );
      }
      if (message === false) return "the check returned false";
      if (message instanceof Error) return message.message || `${message}`;
      return typeof message === "string" && message !== ""
        ? message
        : undefined;
    } catch (error) {
      if (error instanceof Misuse) throw error;
      return error instanceof Error
        ? error.message || `${error}`
        : String(error);
    } finally {
      this.current = current;
    }
  }

  /**
   * Runs an agent until it is suspended; with a `stage`, perhaps without
   * leaving the stack.
   */
  activate(agent: Agent, stage: Stage<unknown> | null = null): void {
    this.#stage = stage;
    this.current = agent;
    this.unwinding = false;
    this.#promised = false;
    this.#constants = 0;
    this.ports.clear();
    agent.snapshot = null;
    this.rewind(agent);
    try {
      this.run(agent);
      agent.status = k.DONE;
    } catch (error) {
      if (error instanceof StatefulHandle) throw error;
      if (!this.unwinding) this.threw(agent, error);
    } finally {
      this.current = null;
      this.unwinding = false;
      this.#stage = null;
    }
    if (stage?.left === true) return; // what follows was done as it paused
    const { fault } = this.world;
    if (stage !== null && fault?.kind === "nondeterministic") {
      this.#doubtStacks();
    }
    if (!this.blind && mustGoOn(this, agent)) this.#goOn(agent);
    if (this.refused !== null) throw this.refused;
    const { memory } = this.world;
    if (memory.surprised) {
      memory.surprised = false;
      throw new NotConstant();
    }
    if (this.#promised) throw new NeedsAsync();
  }

  /** Runs an agent on, alone and without effect. */
  #goOn(agent: Agent): void {
    const restore = goOn(this, agent);
    const alone = this.alone!;
    this.current = agent;
    this.rewind(agent);
    try {
      this.run(agent);
      alone.ended = true;
    } catch {
      if (!this.unwinding) alone.ended = true;
    } finally {
      this.current = null;
      this.unwinding = false;
      restore();
    }
  }

  /**
   * An agent did something else when it was run from its start. If agents went
   * on that were suspended on the stack, the exploration begins again without.
   */
  #doubtStacks(): void {
    if (!this.resumed) return;
    this.world.fault = null;
    this.keepsStacks = false;
    throw new NotConstant();
  }

  /** Handles an error that an operation threw. */
  threw(agent: Agent, error: unknown): void {
    agent.snapshot = null;
    agent.status = k.DONE;
    if (error instanceof Misuse) this.refused ??= error;
    const why = unfit(error);
    if (why !== undefined) this.refused ??= new Unsupported(why);
    this.world.fail(
      "exception",
      `agent ${agent.id} threw in ${callText(agent.call)}: ${stackOf(error)}`,
    );
  }
}

/**
 * The engine. A simulated agent is an ordinary function call. It is suspended
 * by throwing a token out of an operation on shared memory, and resumed by
 * calling the function again, while the operations on record answer what they
 * answered before. So any code runs unmodified, and to come back to an earlier
 * state is to cut a record short and to restore a few words.
 *
 * @module
 */
import { Agent } from "./agent.ts";
import {
  addTimer,
  argBits,
  BLOCK,
  callText,
  execute,
  type Region,
  signature,
  signedAddress,
  World,
} from "./core.ts";
import * as k from "./kinds.ts";
import { Fault, Unsupported } from "./kinds.ts";
import { isShared, native, RealShared } from "./native.ts";
import { type Memory, RECOVER, type Scenario } from "./scenario.ts";
import { install } from "./shim.ts";
import { bits, keyOf, mix1, mix2 } from "./values.ts";
import { type Host, type Target, targetOf } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Work of the explorer: it yields agents that must be run. */
export type Steps<T> = Generator<Agent, T, void>;

/** Decides who goes on. */
export interface Chooser {
  /** A choice, or `END`, or `CUT`. */
  choose(engine: Engine): number;
}

/** Handles turned out to have state of their own. */
export class StatefulHandle extends Error {}

/** An operation returned a promise. */
export class NeedsAsync extends Error {}

const TOKEN = Object.freeze({
  toString: () => "race: the agent is suspended (do not keep this)",
});

/** A loop is followed this far alone before it is held to be endless. */
const LOOK_AHEAD = 600;

/** In asynchronous code, where one cannot look ahead: rounds without effect. */
const ROUNDS = 32;

/** A loop followed ahead. */
interface Look {
  left: number;
  readonly period: number;
  escaped: boolean;
}

/** Runs the agents of one scenario. */
export class Engine implements Host {
  readonly world = new World();
  readonly memory: Memory;
  /** The agent on the stack. */
  current: Agent | null = null;
  /** A token is under way, or what became of it. */
  unwinding = false;
  chooser: Chooser | null = null;
  /** An agent may go on by itself, if the chooser says so. */
  inline = false;
  /** The choice that made an agent stop. */
  next = k.END;
  /** The agent that may do one operation, and the age of what it reads. */
  grant: Agent | null = null;
  age = 0;
  /** Source lines are wanted. */
  sites = false;
  maxSteps = 1000;
  /** What cannot be explored. */
  refused: Unsupported | null = null;
  /** Promises and timers of the agent on the stack. */
  settlers = new Map<number, (value: unknown) => void>();
  readonly recoverer: Agent | null = null;

  readonly #handles: Any[] = [];
  readonly #verified = new Set<string>();
  #setup: Agent | null = null;
  #setupAt = 0;
  #look: Look | null = null;
  #verifying = false;
  #promised = false;

  /** An engine for `count` agents; puts the stand-ins in place. */
  constructor(readonly scenario: Scenario, readonly count: number) {
    const { world } = this;
    install(this);
    this.memory = scenario.memory();
    const buffer: unknown = (this.memory as Any)?.buffer ?? this.memory;
    if (!isShared(buffer)) {
      throw new TypeError(
        "memory() must return a SharedArrayBuffer or a shared " +
          "WebAssembly.Memory",
      );
    }
    world.addRegion(buffer);
    const total = scenario.recover === null ? count : count + 1;
    for (let id = 0; id < total; id++) world.agents.push(new Agent(id, total));
    if (total > count) this.recoverer = world.agents[count]!;
    for (const agent of world.agents) {
      this.#handles.push(this.#makeHandle(agent));
      agent.setupDone = true;
    }
    for (const [name, offset] of Object.entries(scenario.words)) {
      world.names.set(offset, name);
    }
    world.freeze();
  }

  // ---- as the host of the stand-ins

  /** Whether an agent is on the stack. */
  get running(): boolean {
    return this.current !== null;
  }

  /** The simulated memory `buffer` is. */
  region(buffer: SharedArrayBuffer): Region {
    return this.world.addRegion(buffer);
  }

  /** Gives up: the exploration cannot be right. */
  refuse(message: string): never {
    this.refused ??= new Unsupported(message);
    if (this.current === null) throw this.refused;
    throw this.suspend();
  }

  /** An access beyond the end of a view. */
  outside(target: Target, index: unknown, what: string): void {
    if (this.unwinding) throw TOKEN;
    if (this.#setup !== null || this.#look !== null) return;
    const { id } = this.current!;
    this.world.fail(
      "out-of-bounds",
      `agent ${id}: ${what} of element ${String(index)} of a ${target.name} ` +
        `of ${target.view.length}`,
    );
    throw this.suspend();
  }

  /** Allocates for the agent on the stack: the same memory in each replay. */
  allocate(byteLength: number): SharedArrayBuffer {
    const agent = this.current!;
    const at = agent.allocations++;
    const known = agent.allocated[at];
    if (known?.byteLength === byteLength) return known;
    const buffer = new RealShared(byteLength);
    this.world.addRegion(buffer);
    return agent.allocated[at] = buffer;
  }

  /** A number that depends on the agent's past alone. */
  random(): number {
    const agent = this.current!;
    const draw = agent.drawn++;
    const low = mix1(mix1(agent.id + 77, agent.pos), draw);
    return (mix2(low, draw) >>> 0) / 4294967296;
  }

  /**
   * The stand-in for a view. Those a handle is made of are kept: a handle is
   * made again in each replay, and is always the same.
   */
  keep(view: Any, make: () => Any): Any {
    const agent = this.#setup;
    if (agent === null) return make();
    const at = agent.viewsMade++;
    const known = agent.views[at];
    if (known !== undefined) {
      const { view: old } = targetOf(known)!;
      if (
        old.buffer === view.buffer && old.byteOffset === view.byteOffset &&
        old.length === view.length && old.constructor === view.constructor
      ) return known;
    }
    return agent.views[at] = make();
  }

  /** An operation of the agent on the stack. */
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
    if (this.#setup !== null) {
      return this.#setUp(kind, target, index, address, a, b, timeout);
    }
    const { pos } = agent;
    if (pos < agent.n) {
      if (
        agent.sig[pos] !== signature(kind, address) ||
        agent.args[pos] !== argBits(a, b)
      ) {
        this.#mismatch(agent, kind, address, agent.sig[pos]!);
      }
      agent.pos = pos + 1;
      return agent.res[pos];
    }
    if (this.grant === agent) this.#checkGrant(agent, kind, address, a);
    if (this.#verifying) {
      this.#verifying = false;
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
    if (this.#look !== null) return this.#peek(agent);
    agent.snapshot = null;
    return this.#reach(agent);
  }

  /** A `waitAsync` of the agent on the stack. */
  waitAsync(target: Target, index: number, value: Any, timeout: number): Any {
    const result = this.operate(
      k.WAIT_ASYNC,
      target,
      index,
      value,
      0,
      timeout,
    );
    if (typeof result === "string") return { async: false, value: result };
    const promise = new Promise((resolve) => {
      this.settlers.set(result, resolve);
    });
    return { async: true, value: promise };
  }

  /** Sets a timer of the agent on the stack. */
  setTimer(fn: () => void, delay: number, repeat: boolean): Any {
    const every = repeat ? delay : -1;
    const id: number = this.#local(k.SET_TIMER, delay, (agent) => {
      const due = this.world.now + delay;
      const timer = { id: agent.serial++, due, every, promise: -1 };
      agent.timers = addTimer(agent.timers, timer);
      return timer.id;
    });
    this.settlers.set(id, fn);
    const timer = {
      virtual: id,
      ref: () => timer,
      unref: () => timer,
      hasRef: () => true,
      refresh: () => timer,
      [Symbol.toPrimitive]: () => id,
    };
    return timer;
  }

  /** Clears a timer of the agent on the stack. */
  clearTimer(timer: Any): void {
    const id = Number(timer?.virtual ?? timer);
    if (!Number.isInteger(id)) return;
    this.#local(k.CLEAR_TIMER, id, (agent) => {
      agent.timers = agent.timers.filter((other) => other.id !== id);
    });
    this.settlers.delete(id);
  }

  /** Something an agent does to itself: nobody can step in before it. */
  #local(kind: number, a: number, perform: (agent: Agent) => Any): Any {
    if (this.unwinding) throw TOKEN;
    const agent = this.current!;
    if (this.#setup !== null) {
      return this.refuse(
        "Cannot set a timer in agent(): do it in an operation",
      );
    }
    const { pos } = agent;
    if (pos < agent.n) {
      if (agent.sig[pos] !== signature(kind, k.NOWHERE)) {
        this.#mismatch(agent, kind, k.NOWHERE, agent.sig[pos]!);
      }
      agent.pos = pos + 1;
      return agent.res[pos];
    }
    if (this.#verifying || this.#look !== null) {
      this.#verifying = false;
      if (this.#look !== null) this.#look.escaped = true;
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

  /** Makes the agent on the stack stop. */
  suspend(): unknown {
    this.unwinding = true;
    return TOKEN;
  }

  /** What was chosen is what the agent was known to do next. */
  #checkGrant(agent: Agent, kind: number, address: number, a: Any): void {
    if (kind === k.CLOCK || this.#verifying || this.#look !== null) return;
    const known = agent.kind === kind && agent.address === address &&
      Object.is(agent.a, a);
    if (known) return;
    this.#mismatch(agent, kind, address, signature(agent.kind, agent.address));
  }

  #mismatch(agent: Agent, kind: number, address: number, was: number): never {
    if (this.#verifying) {
      this.#verifying = false;
      throw this.suspend();
    }
    const name = (kind: number, address: number) =>
      `${k.OP_NAMES[kind]} ${this.world.addressName(address)}`.trim();
    this.world.fail(
      "nondeterministic",
      `agent ${agent.id} did ${name(kind, address)} on replay where it ` +
        `first did ${name(was % 32, signedAddress(was))}, or did it with ` +
        `other arguments: code under test must depend on shared memory and ` +
        `its arguments alone`,
    );
    throw this.suspend();
  }

  /** The agent has come to an operation it has not done yet. */
  #reach(agent: Agent): Any {
    const { world } = this;
    if (world.fault !== null) throw this.suspend();
    if (this.sites) agent.site = siteOf();
    if (agent.kind === k.CLOCK) {
      return this.#local(k.CLOCK, 0, () => world.now);
    }
    if (agent.spinNext) {
      agent.spinNext = false;
      agent.status = k.SPINNING;
      throw this.suspend();
    }
    agent.status = k.READY;
    if (this.grant === agent) {
      this.grant = null;
      return this.#perform(agent, this.age);
    }
    // Woken agents must be run to their next operation before the next choice.
    if (!this.inline || world.woken.length > 0) throw this.suspend();
    const code = this.chooser!.choose(this);
    const action = k.actionOf(code);
    const mine = k.agentOf(code) === agent.id;
    if (code >= 0 && mine && (action === k.STEP || action === k.STALE)) {
      world.schedule.push(code);
      return this.#perform(agent, k.numberOf(code));
    }
    this.next = code;
    throw this.suspend();
  }

  #perform(agent: Agent, age: number): Any {
    const { world } = this;
    if (age > 0) agent.stale++;
    const result = world.perform(agent, age);
    if (agent.steps > this.maxSteps) {
      world.fail(
        "livelock",
        `agent ${agent.id} took more than ${this.maxSteps} steps in ` +
          callText(agent.call),
      );
    }
    if (result === BLOCK) throw this.suspend();
    agent.record(
      signature(agent.kind, agent.address),
      argBits(agent.a, agent.b),
      result,
    );
    agent.pos = agent.n;
    if (world.fault !== null) throw this.suspend();
    if (agent.pure >= 4 && this.#spins(agent)) agent.spinNext = true;
    return result;
  }

  /** A wait in agent(), which must not be one. */
  #noWait(differs: boolean, timeout: number): string {
    if (differs) return "not-equal";
    if (timeout <= 0) return "timed-out";
    return this.refuse("agent() must not wait: do it in an operation");
  }

  #setUp(
    kind: number,
    target: Target | null,
    index: number,
    address: number,
    a: Any,
    b: Any,
    timeout: number,
  ): Any {
    const agent = this.#setup!;
    const at = this.#setupAt++;
    if (kind === k.CLOCK || kind === k.NOTIFY) return 0;
    if (agent.setupDone) {
      if (agent.setupSig[at] !== signature(kind, address)) {
        this.refuse("agent() must do the same each time it is called");
      }
      return agent.setupRes[at];
    }
    const result = kind === k.WAIT
      ? this.#noWait(native.load(target!.view, index) !== a, timeout)
      : execute(kind, target!.view, index, a, b);
    agent.setupSig.push(signature(kind, address));
    agent.setupRes.push(result);
    return result;
  }

  // ---- loops that change nothing

  /** Whether the end of the record repeats, and would do so for ever. */
  #spins(agent: Agent): boolean {
    const { n, sig, res, args } = agent;
    const rounds = this.scenario.async ? ROUNDS : 2;
    const most = Math.min(Math.floor(agent.pure / rounds), 8);
    search: for (let period = 1; period <= most; period++) {
      for (let i = n - 1; i >= n - period * (rounds - 1); i--) {
        const j = i - period;
        if (sig[i] !== sig[j] || args[i] !== args[j] || res[i] !== res[j]) {
          continue search;
        }
      }
      // "The same answers twice" is no proof: others may have changed memory
      // in between. What counts is what it does on memory as it is now.
      if (!this.scenario.async && !this.#loops(agent, period)) return false;
      const places = sig.slice(n - period, n).map(signedAddress);
      agent.spinAddresses = [...new Set(places)];
      return true;
    }
    return false;
  }

  /** Lets the agent run alone, without effect: does it leave the loop? */
  #loops(agent: Agent, period: number): boolean {
    const { n, res, sig, args, pos, drawn, allocations } = agent;
    const look: Look = { left: LOOK_AHEAD, period, escaped: false };
    this.#look = look;
    agent.res = res.slice(0, n);
    agent.sig = sig.slice(0, n);
    agent.args = args.slice(0, n);
    try {
      this.#rewind(agent);
      this.#run(agent);
      look.escaped = true;
    } catch {
      if (!this.unwinding) look.escaped = true;
    } finally {
      this.#look = null;
      this.unwinding = false;
      Object.assign(agent, { n, res, sig, args, pos, drawn, allocations });
    }
    return !look.escaped;
  }

  /** What an operation would answer now, if it changes nothing. */
  #peek(agent: Agent): Any {
    const look = this.#look!;
    if (look.left-- <= 0) throw this.suspend();
    const { kind, address, a, b, n, target, index } = agent;
    const before = n - look.period;
    const result = effectless(kind, target, index, a, this.world.now);
    if (
      result === undefined || agent.res[before] !== result ||
      agent.sig[before] !== signature(kind, address) ||
      agent.args[before] !== argBits(a, b)
    ) {
      look.escaped = true;
      throw this.suspend();
    }
    agent.record(agent.sig[before]!, agent.args[before]!, result);
    agent.pos = agent.n;
    return result;
  }

  // ---- programs

  #makeHandle(agent: Agent): Any {
    const { current } = this;
    this.current = this.#setup = agent;
    this.#setupAt = agent.viewsMade = 0;
    try {
      return this.scenario.agent(this.memory, agent.id);
    } finally {
      this.#setup = null;
      this.current = current;
    }
  }

  /** The handle the agent's code is given, in this replay. */
  handleOf(agent: Agent): Any {
    if (this.scenario.stateless === true) return this.#handles[agent.id];
    return this.#makeHandle(agent);
  }

  #rewind(agent: Agent): void {
    agent.pos = agent.drawn = agent.allocations = 0;
  }

  /** Calls an operation; what it returns may be a promise. */
  call(agent: Agent, handle: Any, at: number): unknown {
    const { op, arg } = agent.calls[at]!;
    const { operations, recover } = this.scenario;
    return op === RECOVER && agent === this.recoverer
      ? recover!(handle, arg as number)
      : operations.get(op)!.run(handle, arg, agent.id);
  }

  /** Runs an agent from where its record begins. */
  #run(agent: Agent): void {
    const handle = this.handleOf(agent);
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
      if (this.#look !== null) return;
      this.finishCall(agent, result);
    }
  }

  /** The call the agent is in has returned. */
  finishCall(agent: Agent, result: unknown): void {
    const { world, scenario } = this;
    if (scenario.stateless === undefined) this.#verify(agent, result);
    const recovered = agent === this.recoverer;
    world.end(agent, recovered ? undefined : result);
    agent.idleFires = 0;
    if (scenario.stateless === false) {
      agent.h1 = mix1(agent.h1, 77777 + bits(result));
      agent.h2 = mix2(agent.h2, 77777 + bits(result));
    } else {
      agent.h1 = agent.oi * 7919 + agent.id;
      agent.h2 = agent.oi * 104729 + agent.id;
    }
    // Promises and timers under way belong to code on record.
    if (scenario.stateless === true && this.#isIdle(agent)) agent.forget();
    else agent.from = agent.n;
    if (world.fault === null) this.checkInvariant();
    if (world.fault !== null) throw this.suspend();
  }

  #isIdle({ id, inbox, timers }: Agent): boolean {
    return inbox.length === 0 && timers.length === 0 &&
      !this.world.waiters.some(({ agent }) => agent === id);
  }

  /**
   * Whether the call would have done the same with a fresh handle. If it ever
   * would not, handles have state, and states must be told apart by all an
   * agent has seen and not only by what it saw in its call.
   */
  #verify(agent: Agent, result: unknown): void {
    const { oi, from, n, pos, drawn, allocations, h1, h2 } = agent;
    if (oi === 0) return;
    const key = `${agent.id} ${callText(agent.call)} ${h1} ${h2}`;
    if (this.#verified.has(key)) return;
    let same = false;
    this.#verifying = true;
    try {
      const handle = this.#makeHandle(agent);
      agent.pos = from;
      const again = this.call(agent, handle, oi);
      same = this.#verifying && agent.pos === n &&
        keyOf(again) === keyOf(result);
    } catch {
      // It did something else.
    } finally {
      this.#verifying = false;
      this.unwinding = false;
      Object.assign(agent, { pos, drawn, allocations });
    }
    if (!same) {
      this.scenario.stateless = false;
      throw new StatefulHandle();
    }
    this.#verified.add(key);
  }

  /** Where nobody is inside a call, what was promised of memory must hold. */
  checkInvariant(): void {
    const { world, scenario: { invariant }, recoverer } = this;
    if (invariant === null) return;
    for (const { invoked, status } of world.agents) {
      if (invoked && status !== k.KILLED) return;
    }
    if (recoverer !== null && recoverer.oi < recoverer.calls.length) return;
    const message = this.unwatched(() => invariant(this.memory));
    if (message !== undefined) world.fail("invariant", message);
  }

  /** Runs a check of the user's; what is wrong, if anything is. */
  unwatched(check: () => unknown): string | undefined {
    const { current } = this;
    this.current = null;
    try {
      const message = check();
      return typeof message === "string" && message !== ""
        ? message
        : undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.current = current;
    }
  }

  /** Runs an agent until it must stop. */
  activate(agent: Agent): void {
    this.current = agent;
    this.unwinding = false;
    this.#promised = false;
    agent.snapshot = null;
    this.#rewind(agent);
    try {
      this.#run(agent);
      agent.status = k.DONE;
    } catch (error) {
      if (error instanceof StatefulHandle) throw error;
      if (!this.unwinding) this.threw(agent, error);
    } finally {
      this.current = null;
      this.unwinding = false;
    }
    if (this.refused !== null) throw this.refused;
    if (this.#promised) throw new NeedsAsync();
  }

  /** An operation threw. */
  threw(agent: Agent, error: unknown): void {
    agent.snapshot = null;
    agent.status = k.DONE;
    const text = error instanceof Error
      ? error.stack ?? error.message
      : String(error);
    this.world.fail(
      "exception",
      `agent ${agent.id} threw in ${callText(agent.call)}: ${text}`,
    );
  }

  // ---- executions

  /** Runs every agent to its first operation. */
  *begin(): Steps<void> {
    this.world.reset();
    this.inline = false;
    this.grant = null;
    this.next = k.END;
    for (const agent of this.world.agents) {
      if (agent === this.recoverer) agent.calls = [];
      yield agent;
    }
    if (this.world.fault === null) this.checkInvariant();
  }

  /** Does what the scheduler chose. */
  *apply(code: number, inline: boolean): Steps<void> {
    const { world } = this;
    const agent = world.agents[k.agentOf(code)]!;
    world.schedule.push(code);
    this.inline = inline;
    world.began = world.ended = false;
    const action = k.actionOf(code);
    if (action === k.STEP || action === k.STALE) {
      this.grant = agent;
      this.age = k.numberOf(code);
      yield agent;
      this.grant = null;
    } else this.#unusual(agent, action);
    while (world.woken.length > 0) {
      this.inline = false;
      yield world.woken.shift()!;
    }
    this.#blame();
  }

  #unusual(agent: Agent, action: number): void {
    const { world } = this;
    agent.snapshot = null;
    const free = isQuiet(world);
    if (action === k.KILL) return this.#kill(agent);
    if (action === k.SPURIOUS) {
      const { budget } = world;
      world.budget = { ...budget, spurious: budget.spurious - 1 };
      world.leave(agent);
      world.traceRow(agent, "event", "(wakes without a reason)");
      return world.wake(agent, "ok");
    }
    if (action === k.SETTLE) {
      const { promise, value } = agent.inbox[0]!;
      agent.inbox = agent.inbox.slice(1);
      world.traceRow(agent, "event", `(promise ${promise} settles: ${value})`);
      return this.#event(agent, promise, value);
    }
    if (!free) {
      const { budget } = world;
      world.budget = { ...budget, timeouts: budget.timeouts - 1 };
    }
    agent.idleFires++;
    if (action === k.TIMEOUT) {
      world.now = Math.max(world.now, agent.deadline);
      world.leave(agent);
      world.traceRow(agent, "event", `(the wait times out at ${world.now} ms)`);
      return world.wake(agent, "timed-out");
    }
    const timer = agent.timers[0]!;
    agent.timers = agent.timers.slice(1);
    world.now = Math.max(world.now, timer.due);
    world.traceRow(agent, "event", `(a timer fires at ${world.now} ms)`);
    if (timer.promise >= 0) return world.expire(agent, timer.promise);
    if (timer.every > 0) {
      const due = timer.due + timer.every;
      agent.timers = addTimer(agent.timers, { ...timer, due });
    }
    this.#event(agent, timer.id, undefined);
  }

  /** An event of the agent's loop, to be replayed from the record. */
  #event(agent: Agent, id: number, value: unknown): void {
    const { world } = this;
    agent.kind = k.EVENT;
    agent.address = id;
    world.note(agent, value);
    agent.record(signature(k.EVENT, id), 0, value);
    world.woken.push(agent);
  }

  #kill(agent: Agent): void {
    const { world, recoverer, scenario } = this;
    const { budget } = world;
    world.budget = { ...budget, kills: budget.kills - 1 };
    world.leave(agent);
    agent.status = k.KILLED;
    agent.inbox = [];
    agent.timers = [];
    agent.deadline = Infinity;
    world.traceRow(agent, "event", "(terminated here)");
    if (recoverer !== null) {
      recoverer.snapshot = null;
      recoverer.calls = [{ op: RECOVER, arg: agent.id }];
      recoverer.status = k.READY;
      // From here on the model does not know what holds.
      if (!scenario.recoverModelled) world.frontier = -1;
      world.woken.push(recoverer);
    } else this.checkInvariant();
  }

  /** After a kill, what goes wrong is damage. */
  #blame(): void {
    const { fault, agents } = this.world;
    if (fault === null) return;
    const dead = agents.find(({ status }) => status === k.KILLED);
    if (dead === undefined) return;
    if (fault.kind === "nondeterministic" || fault.kind === "data-race") return;
    const where = dead.invoked
      ? `inside ${callText(dead.call)}`
      : `before ${
        dead.oi < dead.calls.length ? callText(dead.call) : "its end"
      }`;
    this.world.fault = new Fault(
      "damaged-by-kill",
      `agent ${dead.id} was terminated ${where}; then ${fault.kind}: ` +
        fault.message,
    );
  }

  /** Names what is wrong, with regard to a kill. */
  fail(kind: Fault["kind"], message: string): void {
    this.world.fail(kind, message);
    this.#blame();
  }
}

/** Whether nothing happens any more unless time passes. */
export function isQuiet(world: World): boolean {
  for (const { status, inbox } of world.agents) {
    if (status === k.READY) return false;
    if (inbox.length > 0 && (status === k.IDLE || status === k.DONE)) {
      return false;
    }
  }
  return true;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}

/** What an operation answers, if it changes nothing; else `undefined`. */
function effectless(
  kind: number,
  target: Target | null,
  index: number,
  a: Any,
  now: number,
): Any {
  if (kind === k.CLOCK) return now;
  if (target === null) return undefined;
  const { view } = target;
  const value = kind === k.READ ? view[index] : native.load(view, index);
  switch (kind) {
    case k.LOAD:
    case k.READ:
      return value;
    case k.CAS:
      return value === a ? undefined : value;
    case k.WAIT:
      return value === a ? undefined : "not-equal";
    case k.STORE:
    case k.EXCHANGE:
      return value === a ? value : undefined;
    case k.OR:
      return (value | a) === value ? value : undefined;
    case k.AND:
      return (value & a) === value ? value : undefined;
    default:
      return undefined;
  }
}

const OWN = new URL(".", import.meta.url).href;

/** The source line of the code under test that is on the stack. */
function siteOf(): string {
  for (const line of (new Error().stack ?? "").split("\n").slice(1)) {
    if (ownLine(line)) continue;
    const match = /([^/\\(\s]+?)(?:\?[^:]*)?:(\d+):\d+\)?$/.exec(line.trim());
    if (match !== null) return `${match[1]}:${match[2]}`;
  }
  return "";
}

function ownLine(line: string): boolean {
  const at = line.indexOf(OWN);
  return at >= 0 && !line.slice(at + OWN.length).includes("/");
}

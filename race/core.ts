/**
 * The simulated machine: shared memory, who sleeps on what, virtual time, and
 * the effect of each operation. It knows nothing of how agents are run.
 *
 * @module
 */
import type { Agent } from "./agent.ts";
import type { Clocks } from "./clocks.ts";
import type { Hints, HintState } from "./hints.ts";
import * as k from "./kinds.ts";
import { type FailureKind, Fault, Unsupported } from "./kinds.ts";
import type { Call, Judge } from "./lin.ts";
import { I32, native, U8 } from "./native.ts";
import { bits, mix1, mix2, show } from "./values.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A piece of shared memory and where it lies among the addresses. */
export interface Region {
  readonly buffer: SharedArrayBuffer;
  readonly base: number;
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** What it held when the exploration began. */
  initial: Int32Array;
  /** By word: whether it was ever written. */
  readonly touched: Uint8Array;
}

/** An agent in the list of those that wait at an address. */
interface Waiter {
  readonly agent: number;
  readonly address: number;
  /** The promise of a `waitAsync`, or -1. */
  readonly promise: number;
}

/** One row of a trace. */
export interface Row {
  readonly agent: number;
  readonly type: "begin" | "step" | "end" | "event";
  readonly text: string;
  readonly site: string;
  /** Which step of the schedule it belongs to. */
  readonly step: number;
  readonly address: number;
  readonly writes: boolean;
  /** The row of the write it read, or -1. */
  readonly source: number;
  /** Plain accesses look different from atomic ones. */
  readonly plain: boolean;
}

/** All that a state holds, apart from the agents'. */
export interface WorldState {
  readonly memory: Int32Array;
  readonly waiters: readonly Waiter[];
  readonly frontier: number;
  readonly now: number;
  readonly budget: Budget;
  readonly hints: HintState | null;
}

/** How often the scheduler may still let something unusual happen. */
export interface Budget {
  readonly timeouts: number;
  readonly spurious: number;
  readonly kills: number;
}

/** What `perform` answers for an operation that puts the agent to sleep. */
export const BLOCK: unique symbol = Symbol("block");

/** No budget for anything unusual. */
export const NO_BUDGET: Budget = { timeouts: 0, spurious: 0, kills: 0 };

/** The machine. */
export class World {
  agents: Agent[] = [];
  readonly regions: Region[] = [];
  readonly #regionOf = new Map<SharedArrayBuffer, Region>();
  waiters: readonly Waiter[] = [];
  now = 0;
  /** The judge's frontier. */
  frontier = 0;
  judge: Judge | null = null;
  clocks: Clocks | null = null;
  hints: Hints | null = null;
  trace: Row[] | null = null;
  budget: Budget = NO_BUDGET;
  startBudget: Budget = NO_BUDGET;
  fault: Fault | null = null;
  /** Names of words, by address. */
  names = new Map<number, string>();
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

  // Words ever written: only these are saved and hashed.
  readonly #touchedRegions: Region[] = [];
  readonly #touchedWords: number[] = [];
  readonly #lastWrite = new Map<number, number>();

  // ---- memory

  /** Takes `buffer` in among the memory that is simulated. */
  addRegion(buffer: SharedArrayBuffer): Region {
    const known = this.#regionOf.get(buffer);
    if (known !== undefined) return known;
    if ((buffer as Any).growable === true) {
      throw new Unsupported(
        "Cannot explore a growable SharedArrayBuffer: allocate a fixed one",
      );
    }
    if (buffer.byteLength % 4 !== 0) {
      throw new Unsupported(
        `Cannot explore shared memory of ${buffer.byteLength} bytes: make it ` +
          `a multiple of 4`,
      );
    }
    const last = this.regions[this.regions.length - 1];
    const base = last === undefined
      ? 0
      : Math.ceil((last.base + last.bytes.length + 4096) / 4096) * 4096;
    const words = new I32(buffer);
    const region = {
      buffer,
      base,
      bytes: new U8(buffer),
      words,
      initial: words.slice(),
      touched: new U8(words.length),
    };
    this.regions.push(region);
    this.#regionOf.set(buffer, region);
    return region;
  }

  /** What memory holds now is what it holds at the start. */
  freeze(): void {
    for (const region of this.regions) region.initial = region.words.slice();
  }

  #regionAt(address: number): Region {
    let found = this.regions[0]!;
    for (const region of this.regions) {
      if (region.base <= address) found = region;
    }
    return found;
  }

  /** An address as the user knows it. */
  addressName(address: number): string {
    if (address === k.NOWHERE) return "";
    const name = this.names.get(address);
    if (name !== undefined) return name;
    const region = this.#regionAt(address);
    const offset = address - region.base;
    if (this.regions.length === 1) return `[${offset}]`;
    return `[${this.regions.indexOf(region)}:${offset}]`;
  }

  #touch(region: Region, { address, size }: Agent): void {
    const last = (address - region.base + size - 1) >> 2;
    for (let w = (address - region.base) >> 2; w <= last; w++) {
      if (region.touched[w] === 1) continue;
      region.touched[w] = 1;
      this.#touchedRegions.push(region);
      this.#touchedWords.push(w);
    }
  }

  /** The first address whose content was changed behind the machine's back. */
  strayWrite(): number {
    for (const { base, words, initial, touched } of this.regions) {
      if (words.length > 65536) continue;
      for (let w = 0; w < words.length; w++) {
        if (touched[w] === 0 && words[w] !== initial[w]) return base + w * 4;
      }
    }
    return -1;
  }

  // ---- states

  /** Back to the start. */
  reset(): void {
    this.#restore(null);
    this.waiters = [];
    this.now = this.steps = 0;
    this.fault = null;
    this.changed = this.began = this.ended = false;
    this.schedule = [];
    this.woken = [];
    this.budget = this.startBudget;
    this.frontier = this.judge === null ? 0 : this.judge.initial();
    this.#lastWrite.clear();
    for (const agent of this.agents) agent.reset();
    this.clocks?.reset();
    this.hints?.reset();
  }

  /** All that is needed to come back here, apart from the agents'. */
  save(): WorldState {
    const n = this.#touchedWords.length;
    const memory = new I32(n);
    for (let i = 0; i < n; i++) {
      memory[i] = this.#touchedRegions[i]!.words[this.#touchedWords[i]!]!;
    }
    const { waiters, frontier, now, budget } = this;
    const hints = this.hints?.save() ?? null;
    return { memory, waiters, frontier, now, budget, hints };
  }

  /** Comes back to a state. */
  load(state: WorldState): void {
    this.#restore(state.memory);
    this.waiters = state.waiters;
    this.frontier = state.frontier;
    this.now = state.now;
    this.budget = state.budget;
    if (state.hints !== null) this.hints!.load(state.hints);
    this.fault = null;
    if (this.woken.length > 0) this.woken = [];
  }

  #restore(memory: Int32Array | null): void {
    const n = this.#touchedWords.length;
    const known = memory === null ? 0 : memory.length;
    for (let i = 0; i < n; i++) {
      const { words, initial } = this.#touchedRegions[i]!;
      const w = this.#touchedWords[i]!;
      words[w] = i < known ? memory![i]! : initial[w]!;
    }
  }

  /** Two hashes of all that the future depends on. */
  key(out: [number, number], withResults: boolean): void {
    let memory1 = 0;
    let memory2 = 0;
    const n = this.#touchedWords.length;
    for (let i = 0; i < n; i++) {
      const region = this.#touchedRegions[i]!;
      const w = this.#touchedWords[i]!;
      const value = region.words[w]!;
      // A word that holds its first value must hash like one never written.
      if (value === region.initial[w]) continue;
      const at = region.base + w;
      memory1 = (memory1 + mix1(mix1(at + 0x51ed, value), value)) | 0;
      memory2 ^= mix2(mix2(at + 0x3779, value), value);
    }
    let a = mix1(this.frontier, memory1);
    let b = mix2(this.frontier ^ 0x5bd1e995, memory2);
    for (const agent of this.agents) {
      const place = agent.status | agent.oi << 4;
      a = mix1(mix1(a, agent.h1), place);
      b = mix2(mix2(b, agent.h2), place);
      if (agent.inbox.length + agent.timers.length > 0) {
        for (const { promise, value } of agent.inbox) {
          a = mix1(a, promise + 7);
          b = mix2(b, promise + bits(value));
        }
        for (const { id, due } of agent.timers) {
          a = mix1(mix1(a, id), bits(due));
          b = mix2(mix2(b, id), bits(due));
        }
      }
      if (agent.deadline !== Infinity) {
        a = mix1(a, bits(agent.deadline));
        b = mix2(b, bits(agent.deadline));
      }
      if (!withResults) continue;
      for (const result of agent.results) {
        a = mix1(a, bits(result));
        b = mix2(b, bits(result));
      }
    }
    for (const { agent, address } of this.waiters) {
      a = mix1(a, agent ^ address << 5);
      b = mix2(b, agent ^ address << 5);
    }
    if (this.now !== 0) {
      a = mix1(a, bits(this.now));
      b = mix2(b, bits(this.now));
    }
    const { timeouts, spurious, kills } = this.budget;
    if (timeouts + spurious + kills > 0) {
      const left = timeouts << 16 ^ spurious << 8 ^ kills;
      a = mix1(a, left);
      b = mix2(b, left);
    }
    out[0] = a;
    out[1] = b;
    this.hints?.hash(out);
  }

  // ---- operations

  /** Notes that something is wrong; the first thing counts. */
  fail(kind: FailureKind, message: string): void {
    this.fault ??= new Fault(kind, message);
  }

  /** Does an agent's next operation; `age` is that of a hint it reads. */
  perform(agent: Agent, age: number): Any {
    const { kind } = agent;
    this.steps++;
    agent.steps++;
    agent.snapshot = null;
    this.changed = this.began = this.ended = false;
    if (!agent.invoked) this.begin(agent);
    if (k.writes(kind)) this.#touch(agent.target!.region, agent);
    this.hints?.before(agent);
    const result = this.#effect(agent, age);
    const wrote = k.writes(kind) && (kind !== k.CAS || result === agent.a);
    if (this.clocks !== null) {
      const other = this.clocks.access(agent, wrote);
      if (other !== undefined) this.#race(agent, other);
    }
    if (this.hints !== null && kind !== k.NOTIFY && kind !== k.CLOCK) {
      this.hints.after(agent, wrote);
    }
    if (this.trace !== null) this.#traceStep(agent, result, wrote, age);
    if (result !== BLOCK) this.note(agent, result);
    if (kind === k.NOTIFY || kind === k.WRITE) agent.pure = 0;
    else agent.pure++;
    if (this.changed && kind !== k.NOTIFY) {
      agent.pure = 0;
      agent.idleFires = 0;
      this.#unspin(agent.address, agent.size);
    }
    return result;
  }

  #effect(agent: Agent, age: number): Any {
    const { a, index, kind } = agent;
    const view = agent.target!.view;
    switch (kind) {
      case k.LOAD:
        return native.load(view, index);
      case k.READ:
        return this.hints?.read(agent, age) ?? view[index];
      case k.WAIT:
      case k.WAIT_ASYNC:
        return this.#wait(agent, native.load(view, index));
      case k.NOTIFY:
        return this.#notify(agent);
      case k.STORE:
      case k.WRITE: {
        const old = view[index];
        const result = execute(kind, view, index, a, 0);
        this.changed = !Object.is(view[index], old);
        return result;
      }
      default: {
        const old = execute(kind, view, index, a, agent.b);
        this.changed = view[index] !== old;
        return old;
      }
    }
  }

  #wait(agent: Agent, value: Any): Any {
    const { address, timeout, id, kind } = agent;
    if (value !== agent.a) return "not-equal";
    if (timeout <= 0) return "timed-out";
    const promise = kind === k.WAIT_ASYNC ? agent.serial++ : -1;
    this.waiters = [...this.waiters, { agent: id, address, promise }];
    const due = timeout === Infinity ? Infinity : this.now + timeout;
    if (promise >= 0) {
      if (due !== Infinity) {
        const timer = { id: promise, due, every: -1, promise };
        agent.timers = addTimer(agent.timers, timer);
      }
      return promise;
    }
    agent.status = k.BLOCKED;
    agent.waitAddress = address;
    agent.deadline = due;
    return BLOCK;
  }

  #notify(agent: Agent): number {
    const { address, a: limit } = agent;
    let count = 0;
    const left: Waiter[] = [];
    for (const waiter of this.waiters) {
      if (waiter.address !== address || count >= limit) {
        left.push(waiter);
        continue;
      }
      count++;
      const woken = this.agents[waiter.agent]!;
      if (woken !== agent) {
        this.clocks?.wake(agent, woken);
        this.hints?.wake(agent, woken);
      }
      if (waiter.promise >= 0) this.#deliver(woken, waiter.promise, "ok");
      else this.wake(woken, "ok");
    }
    if (count > 0) this.waiters = left;
    this.changed = count > 0;
    return count;
  }

  /** Puts a settled promise into an agent's event queue. */
  #deliver(agent: Agent, promise: number, value: string): void {
    agent.snapshot = null;
    agent.inbox = [...agent.inbox, { promise, value }];
    agent.timers = agent.timers.filter((timer) => timer.promise !== promise);
  }

  /** Takes a waiter out of its list; its promise will settle. */
  expire(agent: Agent, promise: number): void {
    this.waiters = this.waiters.filter((waiter) =>
      waiter.agent !== agent.id || waiter.promise !== promise
    );
    this.#deliver(agent, promise, "timed-out");
  }

  /** Ends an agent's sleep. */
  wake(agent: Agent, result: string): void {
    agent.snapshot = null;
    agent.status = k.READY;
    agent.waitAddress = -1;
    agent.deadline = Infinity;
    agent.pure = 0;
    this.note(agent, result);
    agent.record(
      signature(agent.kind, agent.address),
      argBits(agent.a, agent.b),
      result,
    );
    this.woken.push(agent);
  }

  /** Takes an agent out of the lists in which it waits. */
  leave(agent: Agent): void {
    this.waiters = this.waiters.filter((w) => w.agent !== agent.id);
  }

  /** Adds a result to the hash of what an agent has seen. */
  note(agent: Agent, result: unknown): void {
    const operation = agent.kind ^ agent.address << 5;
    const value = bits(result);
    agent.h1 = mix1(mix1(agent.h1, operation), value);
    agent.h2 = mix2(mix2(agent.h2, operation), value);
  }

  #unspin(address: number, size: number): void {
    for (const agent of this.agents) {
      if (agent.status !== k.SPINNING) continue;
      for (const at of agent.spinAddresses) {
        if (at >= address + size || address >= at + 8) continue;
        agent.snapshot = null;
        agent.status = k.READY;
        agent.pure = 0;
        break;
      }
    }
  }

  // ---- calls

  /** A call takes its first step. */
  begin(agent: Agent): void {
    agent.invoked = true;
    this.began = true;
    if (this.trace !== null) {
      this.traceRow(agent, "begin", callText(agent.call));
    }
    if (this.judge !== null && this.frontier >= 0) {
      this.frontier = this.judge.invoke(this.frontier, agent.id, agent.call);
    }
  }

  /** A call returns. */
  end(agent: Agent, result: unknown): void {
    agent.snapshot = null;
    if (!agent.invoked) this.begin(agent);
    this.ended = true;
    const { call } = agent;
    if (this.trace !== null) this.traceRow(agent, "end", show(result));
    agent.results.push(result);
    if (this.judge !== null && this.frontier >= 0) {
      const next = this.judge.answer(this.frontier, agent.id, result);
      if (next >= 0) this.frontier = next;
      else {
        const allowed = this.judge.allowed(this.frontier, agent.id);
        this.fail(
          "not-linearizable",
          `agent ${agent.id}: ${callText(call)} = ${show(result)}, but no ` +
            `sequential order of operations explains that: it had ` +
            `${allowed.startsWith("to ") ? "" : "to be "}${allowed}; ` +
            this.judge.explain(this.frontier),
        );
      }
    }
    if (agent.steps > this.maxOpSteps) this.maxOpSteps = agent.steps;
    agent.oi++;
    agent.invoked = false;
    agent.steps =
      agent.pure =
      agent.stale =
      agent.idleFires =
        0;
  }

  // ---- text

  #race(agent: Agent, other: string): void {
    const how = k.OP_NAMES[agent.kind]!;
    const site = agent.site === "" ? "" : ` at ${agent.site}`;
    const name = this.addressName(agent.address);
    this.fail(
      "data-race",
      `agent ${agent.id}'s ${how} of ${name}${site} is unordered with ${other}`,
    );
  }

  /** Adds a row to the trace. */
  traceRow(agent: Agent, type: Row["type"], text: string): void {
    this.trace?.push({
      agent: agent.id,
      type,
      text,
      site: "",
      step: this.schedule.length,
      address: -1,
      writes: false,
      source: -1,
      plain: false,
    });
  }

  #traceStep(agent: Agent, result: Any, wrote: boolean, age: number): void {
    const { id, kind, address, site } = agent;
    const stale = age > 0 ? " (an old value)" : "";
    const reads = kind !== k.STORE && kind !== k.WRITE;
    const source = reads ? this.#lastWrite.get(address) ?? -1 : -1;
    if (wrote) this.#lastWrite.set(address, this.trace!.length);
    this.trace!.push({
      agent: id,
      type: "step",
      text: this.describe(agent, result) + stale,
      site,
      step: this.schedule.length,
      address,
      writes: wrote,
      source,
      plain: k.isPlain(kind),
    });
  }

  /** An operation and its result as text. */
  describe(agent: Agent, result: Any): string {
    const { a, b, timeout } = agent;
    const at = this.addressName(agent.address);
    const name = k.OP_NAMES[agent.kind]!;
    const limit = timeout === Infinity ? "" : `, ${timeout} ms`;
    switch (agent.kind) {
      case k.LOAD:
      case k.READ:
        return `${name} ${at} -> ${show(result)}`;
      case k.STORE:
      case k.WRITE:
        return `${name} ${at} = ${show(a)}`;
      case k.CAS: {
        const how = result === a ? "ok" : "FAILED";
        return `cas ${at} ${show(a)} => ${show(b)} -> ${show(result)} ${how}`;
      }
      case k.WAIT:
        return `wait ${at} == ${show(a)}${limit} -> ` +
          (result === BLOCK ? "sleeps" : result);
      case k.WAIT_ASYNC:
        return `waitAsync ${at} == ${show(a)}${limit} -> ` +
          (typeof result === "number" ? `promise ${result}` : result);
      case k.NOTIFY:
        return `notify ${at} ${a === Infinity ? "all" : a} -> ${result}`;
      case k.CLOCK:
        return `clock -> ${result}`;
      default:
        return `${name} ${at} ${show(a)} -> ${show(result)}`;
    }
  }
}

/** Does an operation that is no wait and no notify. */
export function execute(
  kind: number,
  view: Any,
  i: number,
  a: Any,
  b: Any,
): Any {
  switch (kind) {
    case k.LOAD:
      return native.load(view, i);
    case k.STORE:
      return native.store(view, i, a);
    case k.ADD:
      return native.add(view, i, a);
    case k.SUB:
      return native.sub(view, i, a);
    case k.AND:
      return native.and(view, i, a);
    case k.OR:
      return native.or(view, i, a);
    case k.XOR:
      return native.xor(view, i, a);
    case k.EXCHANGE:
      return native.exchange(view, i, a);
    case k.CAS:
      return native.compareExchange(view, i, a, b);
    case k.READ:
      return view[i];
    case k.WRITE:
      view[i] = a;
      return undefined;
    default:
      throw new Unsupported(`Cannot do this here: ${k.OP_NAMES[kind]}`);
  }
}

/** What stands for an operation in a record. */
export function signature(kind: number, address: number): number {
  return kind + address * 32;
}

/** What stands for an operation's arguments in a record. */
export function argBits(a: unknown, b: unknown): number {
  const first = typeof a === "number" && (a | 0) === a ? a : bits(a);
  return b === 0 ? first : Math.imul(first, 31) ^ bits(b);
}

/** The address in a signature. */
export function signedAddress(signature: number): number {
  return Math.floor(signature / 32);
}

/** A call as text. */
export function callText({ op, arg }: Call): string {
  return `${op}(${arg === undefined ? "" : show(arg)})`;
}

/** Timers in the order in which they fire. */
export function addTimer<T extends { due: number }>(
  timers: readonly T[],
  timer: T,
): readonly T[] {
  let at = timers.length;
  while (at > 0 && timers[at - 1]!.due > timer.due) at--;
  return [...timers.slice(0, at), timer, ...timers.slice(at)];
}

/**
 * A simulated agent: its program, its position in it, and what it has seen.
 *
 * @module
 */
import { BLOCKED, READY, SPINNING } from "../../kinds.ts";
import type { Call } from "../../model.ts";
import { I32 } from "../../platform/native.ts";
import type { Args, Target } from "../../platform/views.ts";
import {
  type Access,
  type Delivery,
  type Hash,
  NO_ACCESS,
  type Snapshot,
  type Timer,
} from "./snapshot.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** No ports. */
const NO_PORTS: readonly number[] = [];

/** No places. */
const NO_PLACES: readonly number[] = [];

/**
 * After this many timers in a row that changed nothing, no more timers fire,
 * unless it is known that the agent does something else after some more.
 */
export const IDLE_FIRES = 8;

/** One simulated agent. */
export class Agent {
  /** The calls it makes, in this order: its own, or those of `like`. */
  calls: readonly Call[] = [];

  /** The calls that it makes by its program, for what is told to a reader. */
  own: readonly Call[] = [];

  /** The first agent that does the same as this one. */
  like: number;

  // ---- what a state keeps of an agent: see Snapshot
  /** What it is doing. */
  status = READY;
  /** The index of its current call, or of the call it begins next. */
  oi = 0;
  /**
   * How many operations are recorded for replay; this call's begin at `from`.
   */
  n = 0;
  from = 0;
  /** The call in which the record begins. */
  first = 0;
  /** Results and signatures of the recorded operations. */
  res: Any[] = [];
  sig: number[] = [];
  args: number[] = [];
  /** A hash of everything it has seen. */
  h1 = 0;
  h2 = 0;
  /** Whether the call has taken its first step. */
  invoked = false;
  /** Its next operation begins another round of a loop that changes nothing. */
  spinNext = false;
  /** The next operation. */
  kind = 0;
  target: Target | null = null;
  index = 0;
  a: Any = 0;
  b: Any = 0;
  address = 0;
  size = 4;
  timeout = Infinity;
  /** Where it sleeps, and until when. */
  waitAddress = -1;
  deadline = Infinity;
  /** What its finished calls returned. */
  results: readonly unknown[] = [];
  /** Steps in this call. */
  steps = 0;
  /** How many operations at the end of the record changed nothing. */
  pure = 0;
  /** How many old values of hints it has read in this call. */
  stale = 0;
  /** What it reads while it spins. */
  spinAddresses: readonly number[] = [];
  /** Events that wait in its event loop. */
  inbox: readonly Delivery[] = [];
  timers: readonly Timer[] = [];
  /** The ports at which messages can arrive at it. */
  open: readonly number[] = NO_PORTS;
  /** The number of its next promise or timer. */
  serial = 0;
  /** How many timers in a row fired without any effect. */
  idleFires = 0;
  /**
   * How many timers in a row may fire without any effect, because the agent
   * does something else after them; 0 if that is not known.
   */
  fires = 0;
  /** The hashes after each recorded operation. */
  after1: number[] = [];
  after2: number[] = [];
  /** The length of the record where a loop will end by itself, or 0. */
  ends = 0;
  /** How many operations a round of that loop has. */
  period = 0;
  /**
   * How many operations are left of a long loop that changes nothing and ends
   * by itself.
   */
  leap = 0;
  /** Steps in this call, without those of loops that end by themselves. */
  effort = 0;
  /** Whether it is in a loop that changes memory and does not end by itself. */
  looping = false;
  /**
   * Whether time passes at its next look at the clock, and how often it has.
   */
  tick = false;
  ticks = 0;
  /**
   * Its plain accesses since its last operation by which others can learn of
   * them. No order is known between these and what other agents do now.
   */
  plain: readonly Access[] = NO_ACCESS;
  /**
   * How long its record was each time that its operation of a primitive said
   * what it keeps.
   */
  kept: readonly number[] = NO_PLACES;
  /** Its hashes if it sleeps next, where it has said what it keeps then. */
  asleep: Hash | null = null;

  // ---- what no state keeps
  /** The index of the next recorded operation, during a replay. */
  pos = 0;
  /** How often its code was begun, or its handle was made. */
  runs = 0;
  /** How often `Math.random` was called since the replay began. */
  drawn = 0;
  /** The index of the call that began last in the replay. */
  begun = 0;
  /**
   * How many operations of primitives it is in that tell when they end, and of
   * which kind the inner one is.
   */
  depth = 0;
  within = "";
  /**
   * How many of them are one step, and whether it has taken that step already.
   */
  wholes = 0;
  going = false;
  /**
   * How long the replay was when it began that operation, if its views keep
   * nothing, or -1.
   */
  entered = -1;
  /** The view whose operation that is. */
  keeper: object | null = null;
  /** Where in the replay it has said last what it keeps, or -1. */
  dropped = -1;
  /**
   * How long the record was when its last round of a loop became one with the
   * round before, or -1.
   */
  merged = -1;
  /**
   * How long the record was when an operation of a primitive returned last, if
   * what it saw there was left out; or -1.
   */
  returned = -1;
  /** What identifies it to primitives that ask. */
  identity: { id: number };
  /**
   * Shared memory that it allocated, by the call, the number there, and the
   * length; and how often it has done so since its call began.
   */
  readonly allocated = new Map<string, SharedArrayBuffer>();
  allocations = 0;
  /** The record of making its handle. */
  setupRes: Any[] = [];
  setupSig: number[] = [];
  setupDone = false;
  /** Stand-ins for the views that its handle is made of, and their origin. */
  views: Any[] = [];
  viewArgs: (Args | null)[] = [];
  viewsMade = 0;
  /** How many channels were made since the making of its handle began. */
  channelsMade = 0;
  /** After how many timers in a row it is tired: see IDLE_FIRES. */
  patience = IDLE_FIRES;
  /** Its vector clock, if clocks are used to look for data races. */
  clock: Int32Array;
  /** The source line of its next operation, if a trace is recorded. */
  site = "";
  /** A saved copy of it, as long as it still equals that copy. */
  snapshot: Snapshot | null = null;
  /** The answer of a sleep that has ended, until the agent gets it. */
  answer: string | undefined = undefined;
  /** Its state before the cause for which it must be run. */
  before: Snapshot | null = null;
  cause = 0;

  /** Makes agent `id` of `count` agents. */
  constructor(readonly id: number, count: number) {
    this.clock = new I32(count);
    this.like = id;
    this.identity = { id: id + 1 };
  }

  /** Goes back to the start of the program. */
  reset(): void {
    this.snapshot = this.before = null;
    this.answer = undefined;
    this.first = 0;
    this.status = READY;
    this.oi =
      this.n =
      this.from =
      this.steps =
      this.pure =
      this.stale =
        0;
    this.res = [];
    this.sig = [];
    this.args = [];
    [this.h1, this.h2] = this.beginning;
    this.invoked = this.spinNext = false;
    this.kind = 0;
    this.waitAddress = -1;
    this.deadline = Infinity;
    this.results = [];
    this.spinAddresses = [];
    this.inbox = [];
    this.timers = [];
    this.open = NO_PORTS;
    this.serial = this.idleFires = this.fires = 0;
    this.after1 = [];
    this.after2 = [];
    this.plain = NO_ACCESS;
    this.kept = NO_PLACES;
    this.asleep = null;
    this.clearLoops();
    this.pos =
      this.drawn =
      this.begun =
      this.allocations =
        0;
  }

  /** Forgets what is known about the loop it is in. */
  clearLoops(): void {
    this.ends =
      this.period =
      this.leap =
      this.effort =
      this.ticks =
        0;
    this.looping = this.tick = false;
  }

  /**
   * Adds an operation to the record. Other states may share the arrays and use
   * only their beginning.
   */
  record(signature: number, args: number, result: unknown): void {
    const { n } = this;
    this.asleep = null;
    if (this.res.length !== n) {
      this.res = this.res.slice(0, n);
      this.sig = this.sig.slice(0, n);
      this.args = this.args.slice(0, n);
      this.after1 = this.after1.slice(0, n);
      this.after2 = this.after2.slice(0, n);
    }
    this.after1.push(this.h1);
    this.after2.push(this.h2);
    this.res.push(result);
    this.sig.push(signature);
    this.args.push(args);
    this.n = n + 1;
  }

  /** Forgets the record, before a call that does not depend on it. */
  forget(): void {
    this.res = [];
    this.sig = [];
    this.args = [];
    this.after1 = [];
    this.after2 = [];
    this.kept = NO_PLACES;
    this.asleep = null;
    this.n =
      this.from =
      this.pos =
      this.drawn =
        0;
    this.first = this.oi;
  }

  /** Forgets what it has seen, between calls that do not depend on it. */
  betweenCalls(): void {
    [this.h1, this.h2] = this.beginning;
  }

  /** The hashes with which its call begins, if they say nothing of others. */
  get beginning(): Hash {
    const { oi, like } = this;
    return oi === 0
      ? [like + 1, like + 101]
      : [oi * 7919 + like, oi * 104729 + like];
  }

  /** Whether its sleep or its await ends by itself after some time. */
  get timed(): boolean {
    return this.status === BLOCKED || this.status === SPINNING
      ? this.deadline !== Infinity
      : this.timers.length > 0;
  }

  /** Whether no more of its timers fire. */
  get tired(): boolean {
    return this.idleFires >= this.patience && this.idleFires >= this.fires;
  }

  /** Its current call. */
  get call(): Call {
    return this.calls[Math.min(this.oi, this.calls.length - 1)]!;
  }

  /** The same, as its program has it: what is told to a reader. */
  get told(): Call {
    const at = Math.min(this.oi, this.calls.length - 1);
    return this.own[at] ?? this.calls[at]!;
  }

  /** Copies what a state keeps of it. */
  save(): Snapshot {
    return this.snapshot ??= {
      // What most steps need lies together, since it is often in no cache.
      status: this.status,
      kind: this.kind,
      leap: this.leap,
      target: this.target,
      address: this.address,
      size: this.size,
      index: this.index,
      a: this.a,
      b: this.b,
      timeout: this.timeout,
      edges: null,
      invoked: this.invoked,
      looping: this.looping,
      common: false,
      place: 0,
      hashed: false,
      key1: 0,
      key2: 0,
      effort: this.effort,
      plain: this.plain,
      kept: this.kept,
      asleep: this.asleep,
      oi: this.oi,
      calls: this.calls,
      idleFires: this.idleFires,
      n: this.n,
      from: this.from,
      first: this.first,
      res: this.res,
      sig: this.sig,
      h1: this.h1,
      h2: this.h2,
      spinNext: this.spinNext,
      args: this.args,
      waitAddress: this.waitAddress,
      deadline: this.deadline,
      results: this.results,
      steps: this.steps,
      pure: this.pure,
      stale: this.stale,
      spinAddresses: this.spinAddresses,
      inbox: this.inbox,
      timers: this.timers,
      open: this.open,
      serial: this.serial,
      fires: this.fires,
      after1: this.after1,
      after2: this.after2,
      ends: this.ends,
      period: this.period,
      tick: this.tick,
      ticks: this.ticks,
      results1: 0,
      results2: 0,
      group: null,
      proved: 0,
    };
  }

  /** Restores what a state kept of it. */
  load(s: Snapshot): void {
    if (this.snapshot === s) return;
    this.snapshot = s;
    this.before = null;
    this.answer = undefined;
    this.status = s.status;
    this.oi = s.oi;
    this.n = s.n;
    this.from = s.from;
    this.first = s.first;
    this.res = s.res;
    this.sig = s.sig;
    this.h1 = s.h1;
    this.h2 = s.h2;
    this.invoked = s.invoked;
    this.spinNext = s.spinNext;
    this.kind = s.kind;
    this.calls = s.calls;
    this.args = s.args;
    this.target = s.target;
    this.index = s.index;
    this.a = s.a;
    this.b = s.b;
    this.address = s.address;
    this.size = s.size;
    this.timeout = s.timeout;
    this.waitAddress = s.waitAddress;
    this.deadline = s.deadline;
    this.results = s.results;
    this.steps = s.steps;
    this.pure = s.pure;
    this.stale = s.stale;
    this.spinAddresses = s.spinAddresses;
    this.inbox = s.inbox;
    this.timers = s.timers;
    this.open = s.open;
    this.serial = s.serial;
    this.idleFires = s.idleFires;
    this.fires = s.fires;
    this.after1 = s.after1;
    this.after2 = s.after2;
    this.ends = s.ends;
    this.period = s.period;
    this.leap = s.leap;
    this.effort = s.effort;
    this.looping = s.looping;
    this.tick = s.tick;
    this.ticks = s.ticks;
    this.plain = s.plain;
    this.kept = s.kept;
    this.asleep = s.asleep;
  }
}

/**
 * What a state keeps of an agent, and what is known to follow from that.
 *
 * @module
 */
import type { Call } from "../../model.ts";
import type { Target } from "../../platform/views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Everything that a state keeps of an agent, which is all but its program. */
export interface Snapshot {
  readonly status: number;
  readonly oi: number;
  readonly n: number;
  readonly from: number;
  readonly first: number;
  readonly res: Any[];
  readonly sig: number[];
  readonly args: number[];
  readonly calls: readonly Call[];
  readonly h1: number;
  readonly h2: number;
  readonly invoked: boolean;
  readonly spinNext: boolean;
  readonly kind: number;
  readonly target: Target | null;
  readonly index: number;
  readonly a: Any;
  readonly b: Any;
  readonly address: number;
  readonly size: number;
  readonly timeout: number;
  readonly waitAddress: number;
  readonly deadline: number;
  readonly results: readonly unknown[];
  readonly steps: number;
  readonly pure: number;
  readonly stale: number;
  readonly spinAddresses: readonly number[];
  readonly inbox: readonly Delivery[];
  readonly timers: readonly Timer[];
  readonly open: readonly number[];
  readonly serial: number;
  readonly idleFires: number;
  readonly fires: number;
  readonly after1: number[];
  readonly after2: number[];
  readonly ends: number;
  readonly period: number;
  readonly leap: number;
  readonly effort: number;
  readonly looping: boolean;
  readonly tick: boolean;
  readonly ticks: number;
  readonly plain: readonly Access[];
  readonly kept: readonly number[];
  readonly asleep: Hash | null;

  // ---- what is worked out later
  /** What followed from this state before. */
  edges: Edge[] | null;
  /** Whether the hashes below are known. */
  hashed: boolean;
  key1: number;
  key2: number;
  results1: number;
  results2: number;
  /** Whether its next operation is known to concern other agents. */
  common: boolean;
  /** Where it stands, as far as that is known: see `prospects.ts`. */
  place: number;
  /** The states with the same future, and how many edges were compared. */
  group: Group | null;
  proved: number;
}

/** Two hashes of what an agent has seen. */
export type Hash = readonly [h1: number, h2: number];

/** A plain access to memory. */
export interface Access {
  readonly kind: number;
  readonly address: number;
  readonly size: number;
}

/** No plain accesses. */
export const NO_ACCESS: readonly Access[] = [];

/** An operation, and the answer it has to give. */
export interface Check {
  readonly kind: number;
  readonly target: Target | null;
  readonly index: number;
  readonly a: Any;
  readonly b: Any;
  readonly result: Any;
}

/** Operations that all give these answers, or do not. */
export interface Guard {
  readonly checks: readonly Check[];
  readonly same: boolean;
}

/** What follows from a state of an agent. */
export interface Edge {
  /** What happened to the agent: an action, or one of the numbers below. */
  readonly cause: number;
  /** The answer it got, and the time at which it went on. */
  readonly value: unknown;
  readonly now: number;
  /** What memory must hold. */
  readonly guards: readonly Guard[];
  /** The state it came to. */
  readonly to: Snapshot;
  /** The calls that ended on the way. */
  readonly ended: readonly Ended[];
  /** How often the agent was run and did this. */
  runs: number;
}

/** What happens to an agent, the answer that it gets, and the time. */
export type Event = Pick<Edge, "cause" | "value" | "now">;

/** What an agent did. */
export interface Outcome {
  /** The state it came to; `null` if it threw or cannot be run from there. */
  readonly to: Snapshot | null;
  /** The calls that ended. */
  readonly ended: readonly Ended[];
  /** What it did instead of what is on its record. */
  readonly strayed?: string | undefined;
}

/** A state in a group. */
interface Member {
  readonly state: Snapshot;
  /** Whose state it is. */
  readonly agent: number;
  /** Before which operation the states were compared that made it a member. */
  readonly place: number;
}

/** An answer that an agent in a state of a group got, and what followed. */
export interface Label {
  readonly edge: Edge;
  readonly to: Group;
}

/** States with the same future. */
export interface Group {
  /** What found it. */
  readonly of: unknown;
  /** What others can see of its states. */
  readonly sight: string;
  readonly members: Member[];
  readonly labels: Label[];
  /** By agent: the state that stands for the group. */
  readonly faces: (Snapshot | undefined)[];
  readonly key1: number;
  readonly key2: number;
  /** The number of the last walk that came by. */
  sought: number;
  /** Whether it is a round of a loop. No other state may join it. */
  readonly round: boolean;
  /** If it leads to rounds alone: the number that says so, in its search. */
  closed: number;
  /** Whether the answers of its first state are among the labels. */
  begun: boolean;
}

/** A call that ended: what it returned, and how many steps it took. */
export interface Ended {
  readonly result: unknown;
  readonly steps: number;
}

/** An event that waits in an agent's event loop: a promise has settled. */
export interface Delivery {
  /** The promise's number. */
  readonly promise: number;
  readonly value: string;
}

/** A timer of an agent, or the end of a timed `waitAsync`. */
export interface Timer {
  readonly id: number;
  readonly due: number;
  /** Milliseconds between two firings of an interval, or -1. */
  readonly every: number;
  /** The promise that times out, or -1 if a function is to be called. */
  readonly promise: number;
}

/** Inserts a timer; timers are kept in the order in which they fire. */
export function addTimer<T extends { due: number }>(
  timers: readonly T[],
  timer: T,
): readonly T[] {
  let at = timers.length;
  while (at > 0 && timers[at - 1]!.due > timer.due) at--;
  return [...timers.slice(0, at), timer, ...timers.slice(at)];
}

/**
 * What agents saw in calls that have returned. Unless the user has said that
 * handles have state, the key of a state leaves this out: two histories of one
 * agent that differ only in it count as the same, and the search follows one of
 * them. A handle may have kept something of the other one. So some histories of
 * each place are kept here, and compared after the search: see
 * `equal/promises.ts`.
 *
 * @module
 */
import type { Agent } from "./agent/agent.ts";
import { roundOf } from "./agent/operation.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The most histories of a place that are kept. */
const MOST = 200;

/** The most values that are noted of a word. */
const VALUES = 64;

/** The beginning of a call, and histories that led to it. */
export interface Begun {
  readonly agent: Agent;
  readonly oi: number;
  readonly first: number;
  /** What stands for them. */
  readonly known: Set<number>;
  /** The answers that the agent had got, in order. */
  readonly histories: (readonly Any[])[];
}

/** The histories before calls. */
export class Between {
  /** Whether they are kept. */
  on = false;
  readonly places: Map<string, Begun> = new Map();
  /** The values that operations at an address have answered. */
  readonly values: Map<number, Any[]> = new Map();

  /** Forgets all. */
  begin(on: boolean): void {
    this.on = on;
    this.places.clear();
    this.values.clear();
  }

  /** Notes an answer. */
  answered(address: number, value: Any): void {
    const list = this.values.get(address);
    if (list === undefined) this.values.set(address, [value]);
    else if (list.length < VALUES && !list.includes(value)) list.push(value);
  }

  /** Notes what an agent has seen that has ended a call. */
  note(agent: Agent): void {
    const { like, oi, first, n, res, h1, h2, calls } = agent;
    if (!this.on || oi >= calls.length) return;
    const key = `${like} ${oi}`;
    let begun = this.places.get(key);
    if (begun === undefined) {
      begun = { agent, oi, first, known: new Set(), histories: [] };
      this.places.set(key, begun);
    }
    const { known, histories } = begun;
    const seen = roundOf(h1, h2);
    if (histories.length === MOST || known.has(seen)) return;
    known.add(seen);
    histories.push(res.slice(0, n));
  }
}

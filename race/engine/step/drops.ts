/**
 * What agents say that they keep: `race.forget(a, b)` promises that what an
 * agent does from there on depends on nothing that it saw before in its call,
 * but for `a` and `b`. Its state is then the place and these values. A round of
 * a loop that changed nothing stays a part of it, so that a loop that waits is
 * seen as one.
 *
 * The histories that were taken for one are kept, to be compared after the
 * search: see `equal/promises.ts`.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import { siteOf } from "../sites.ts";
import { bits, bits2, keyOf, mix1, mix2, show } from "../values.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The most histories of one place that are kept. */
const MOST = 12;

/** A place with what is kept there, and histories that led to it. */
export interface Dropped {
  readonly agent: Agent;
  readonly oi: number;
  /** The call in which the histories begin. */
  readonly first: number;
  /** The source line. */
  readonly site: string;
  /** The answers that the agent had got, in order. */
  readonly histories: (readonly Any[])[];
}

/** What the agents of one exploration say that they keep. */
export class Drops {
  /** Whether it is made use of. */
  on = false;
  /** By what is kept, and where. */
  readonly places: Map<string, Dropped> = new Map();
  /** The values that operations at an address have answered. */
  readonly values: Map<number, Any[]> = new Map();
  readonly #ids = new Map<string, number>();

  /** Whether an agent has said what it keeps. */
  get used(): boolean {
    return this.places.size > 0;
  }

  /** Forgets all. */
  begin(on: boolean): void {
    this.on = on;
    this.places.clear();
    this.values.clear();
    this.#ids.clear();
  }

  /** Notes an answer. */
  answered(address: number, value: Any): void {
    const list = this.values.get(address);
    if (list === undefined) this.values.set(address, [value]);
    else if (list.length < 64 && !list.includes(value)) list.push(value);
  }

  /**
   * The agent, at `place`, keeps these values and nothing else; `since` is the
   * length that its record had when it said so last, or -1.
   */
  drop(
    agent: Agent,
    place: string,
    kept: readonly unknown[],
    since: number,
  ): void {
    const { like, oi, first, n, res, sig, from, pure } = agent;
    const what = kept.map((value) =>
      Object(value) === value ? String(keyOf(value, true)) : show(value)
    );
    const key = `${like} ${oi} ${place} ${JSON.stringify(what)}`;
    const id = this.#ids.get(key) ?? this.#ids.size;
    this.#ids.set(key, id);
    let a = mix1(mix1(like * 7919 + oi, 0x5bd1e995), id);
    let b = mix2(mix2(like * 104729 + oi, 0x5bd1e995), id);
    // The last round of a loop that only looks tells that it goes round.
    if (since >= from && n > since && pure >= n - since) {
      for (let i = since; i < n; i++) {
        a = mix1(mix1(a, sig[i]!), bits(res[i]));
        b = mix2(mix2(b, sig[i]!), bits2(res[i]));
      }
    }
    agent.h1 = a;
    agent.h2 = b;
    const dropped = this.places.get(key);
    if (dropped === undefined) {
      const histories = [res.slice(0, n)];
      this.places.set(key, { agent, oi, first, site: siteOf(), histories });
    } else if (dropped.histories.length < MOST && dropped.first === first) {
      const { histories } = dropped;
      const same = (other: readonly Any[]) =>
        other.length === n &&
        other.every((value, i) => Object.is(value, res[i]));
      if (!histories.some(same)) histories.push(res.slice(0, n));
    }
  }
}

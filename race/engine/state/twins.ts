/**
 * Agents that do the same: the same calls of functions that do not ask which
 * agent they run in. If such agents change places, nothing else changes.
 *
 * @module
 */
import type { Snapshot } from "./agent/snapshot.ts";
import type { HintKeys } from "./hints.ts";
import type { Call } from "../model.ts";
import type { Scenario } from "../scenario.ts";

/** The most agents for which an order of theirs is a number. */
const MOST = 10;

/** Which agents do the same. */
export class Twins {
  readonly #order: number[];
  readonly #like: readonly number[];

  /** `likes`: for each agent the first one that does the same. */
  constructor(readonly likes: readonly number[]) {
    this.#order = likes.map((_, id) => id);
    this.#like = likes.map((like) =>
      likes.reduce((set, other, id) => set | (+(other === like) << id), 0)
    );
  }

  /** A set of agents, by their places in the order that `sort` gave last. */
  placesOf(agents: number): number {
    let places = 0;
    const order = this.#order;
    for (let i = 0; i < order.length; i++) {
      places |= (agents >> order[i]! & 1) << i;
    }
    return places;
  }

  /** The set of agents at `places` in the order that `sort` gave last. */
  agentsAt(places: number): number {
    let agents = 0;
    const order = this.#order;
    for (let i = 0; i < order.length; i++) {
      agents |= (places >> i & 1) << order[i]!;
    }
    return agents;
  }

  /** The agents that do the same as agent `id`, as a set of bits. */
  like(id: number): number {
    return this.#like[id] ?? 1 << id;
  }

  /** Whether others do the same as agent `id`. */
  has(id: number): boolean {
    return this.like(id) !== 1 << id;
  }

  /**
   * The agents, in an order that is the same if agents that do the same have
   * changed places.
   */
  sort(
    agents: readonly Snapshot[],
    hints: HintKeys | null,
  ): readonly number[] {
    const order = this.#order;
    // By insertion: there are few agents, and mostly they are in order.
    for (let i = 1; i < order.length; i++) {
      const id = order[i]!;
      let at = i;
      while (at > 0 && this.#isAfter(agents, hints, order[at - 1]!, id)) {
        order[at] = order[at - 1]!;
        at--;
      }
      order[at] = id;
    }
    return order;
  }

  #isAfter(
    agents: readonly Snapshot[],
    hints: HintKeys | null,
    one: number,
    two: number,
  ): boolean {
    const { likes } = this;
    if (likes[one] !== likes[two]) return likes[one]! > likes[two]!;
    const a = agents[one]!;
    const b = agents[two]!;
    if (a.key1 !== b.key1) return a.key1 > b.key1;
    if (a.key2 !== b.key2 || hints === null) return a.key2 > b.key2;
    const { agents1, agents2 } = hints;
    return agents1[one] !== agents1[two]
      ? agents1[one]! > agents1[two]!
      : agents2[one]! > agents2[two]!;
  }
}

const MINUS = {};

/** The agents of a program that do the same, or `null` if no two do. */
export function twinsOf(
  scenario: Scenario,
  programs: readonly (readonly Call[])[],
): Twins | null {
  const { operations, alike } = scenario;
  if (!alike || scenario.async || programs.length > MOST) return null;
  const numbers = new Map<unknown, number>();
  const numberOf = (given: unknown): number => {
    const value = Object.is(given, -0) ? MINUS : given; // a map takes it for 0
    if (!numbers.has(value)) numbers.set(value, numbers.size);
    return numbers.get(value)!;
  };
  const text = (calls: readonly Call[]): string | undefined => {
    let all = "";
    for (const { op, arg } of calls) {
      const same = operations.get(op)?.same ?? null;
      if (same === null) return undefined;
      all += `${numberOf(same)} ${numberOf(arg)}|`;
    }
    return all;
  };
  const texts = programs.map(text);
  const likes = texts.map((text, id) =>
    text === undefined ? id : texts.indexOf(text)
  );
  return likes.every((like, id) => like === id) ? null : new Twins(likes);
}

/**
 * Whether a function surely takes no more than `most` arguments. One that might
 * look at more, by a default or by `arguments`, does not count.
 */
export function takesAtMost(fn: unknown, most: number): boolean {
  if (typeof fn !== "function" || fn.length > most) return false;
  const text = Function.prototype.toString.call(fn);
  if (/\[native code\]|\barguments\b/.test(text)) return false;
  // Up to the body: a default or a rest would hide what comes after it.
  const head = /^[^=]*?(?:=>|\)\s*\{)/.exec(text)?.[0];
  return head !== undefined && !head.includes("...");
}

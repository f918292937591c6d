/**
 * Compares what an agent does after two histories of a call, by walks with the
 * same random answers.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Snapshot } from "../state/agent/snapshot.ts";
import { signature } from "../state/agent/operation.ts";
import * as k from "../kinds.ts";
import { keyOf, Random } from "../values.ts";
import { type Pending, STOP, walk, type Walker } from "../step/walk.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/**
 * The most operations of a walk; and of one in which operations have the same
 * answer each time, for loops that end after many rounds.
 */
const LENGTH = 300;
const LONG = 1000;

/** The values that operations at an address have answered. */
export type Values = Map<number, Any[]>;

/** Walks of one call of an agent. */
export class Trials {
  /** How often the agent was run. */
  runs = 0;
  readonly #engine: Walker;
  readonly #agent: Agent;
  readonly #start: Snapshot;
  readonly #values: Values;
  readonly #clocked: boolean;
  /** How many agents a notification may wake. */
  readonly #counts: readonly number[];
  #seed = 1;

  /**
   * For the call that `agent`, one of `count`, begins in the state `start`.
   * `values` are those that operations have answered so far. If it is
   * `clocked`, the clock stands still in a walk; otherwise a look at it ends
   * the walk.
   */
  constructor(
    engine: Walker,
    agent: Agent,
    count: number,
    start: Snapshot,
    values: Values,
    clocked = false,
  ) {
    this.#clocked = clocked;
    this.#engine = engine;
    this.#agent = agent;
    this.#counts = Array.from({ length: count }, (_, i) => i);
    this.#start = start;
    this.#values = values;
  }

  /** The answers that an operation may have. */
  answers({ kind, address, a, timeout }: Pending): readonly Any[] {
    if (kind === k.WAIT) {
      return timeout === Infinity
        ? ["ok", "not-equal"]
        : ["ok", "not-equal", "timed-out"];
    }
    if (kind === k.CLOCK) return [0];
    if (kind === k.NOTIFY) return this.#counts.filter((count) => count <= a);
    if (kind === k.WRITE) return [undefined];
    if (kind === k.STORE) return [a];
    return this.#values.get(address) ?? [];
  }

  /** Whether the agent does the same after both histories on `walks` walks. */
  agree(one: readonly Any[], two: readonly Any[], walks: number): boolean {
    for (let i = 0; i < walks; i++) {
      // An answer is the same each time, mostly the same, or any.
      if (!this.#agree(one, two, [0, 8, 1][i % 3]!)) return false;
    }
    return true;
  }

  /**
   * Whether two walks with the same random answers do the same; an operation
   * gets another answer one time out of `change`, or never.
   */
  #agree(one: readonly Any[], two: readonly Any[], change: number): boolean {
    const random = new Random(this.#seed++);
    const last = new Map<number, Any>();
    const answers: Any[] = [];
    const answer = (at: number, operation: Pending): Any => {
      if (at < answers.length) return answers[at];
      const list = this.answers(operation);
      if (list.length === 0) return STOP;
      const key = signature(operation.kind, operation.address);
      let value = last.get(key);
      const known = last.has(key) && list.includes(value);
      if (!known || change > 0 && random.below(change) === 0) {
        value = list[random.below(list.length)];
        last.set(key, value);
      }
      answers.push(value);
      return value;
    };
    const most = change === 0 ? LONG : LENGTH;
    const first = this.#walk(one, answer, most);
    const second = this.#walk(two, answer, most);
    return first.length === second.length &&
      first.every((value, i) => Object.is(value, second[i]));
  }

  /** What the agent does after `log` with made-up answers. */
  #walk(
    log: readonly Any[],
    answer: (at: number, operation: Pending) => Any,
    most: number,
  ): readonly unknown[] {
    const did: unknown[] = [];
    let at = 0;
    this.runs++;
    const walker = this.#engine;
    const { end, result } = walk(walker, this.#agent, this.#start, (next) => {
      if (at < log.length) return log[at++];
      did.push(signature(next.kind, next.address), next.a, next.b);
      did.push(next.timeout);
      const step = at++ - log.length;
      return step < most ? answer(step, next) : STOP;
    }, this.#clocked);
    did.push(end, keyOf(result));
    return did;
  }
}

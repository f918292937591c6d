/**
 * Functions and iterators that a caller passes to a server, which calls them
 * back: here they stay, and numbers go.
 *
 * @module
 */

import { type Codec, encoded, encodeWhole } from "../../_message/message.ts";
import { type Classes, ownOf } from "../../_message/own_errors.ts";
import { errorText, isError, unsendable } from "../../_message/thrown.ts";
import { writeUtf8 } from "../../_message/utf8.ts";
import { assertPlace } from "./requests.ts";
import {
  type AnyIterator,
  isIterator,
  iteratorOf,
  letReturn,
  stepOf,
} from "../hosts.ts";
import {
  ANSWER,
  ANSWER_AGENT,
  ANSWER_HEAD,
  ANSWER_NUMBER,
  ANSWER_TALK,
  CALL,
  DONE,
  ERROR,
  FUNCTION,
  isThenable,
  ITERATOR,
  LISTENS,
  NOTHING,
  putWord,
  RESULT,
  THROWN,
  TOKEN,
  VALUE,
} from "../wire.ts";

type AnyFunction = (...args: unknown[]) => unknown;

/** A call back. */
export interface CallBack {
  /** The agent that serves. */
  readonly agent: number;
  readonly number: number;
  /** The function. */
  readonly id: number;
  /** CALL, or a step of an iterator. */
  readonly what: number;
  readonly args: unknown[];
  /** The slot that this agent keeps for its answer; 0 if there is none. */
  readonly at: number;
}

/** How a function has ended, and how that is written. */
export interface Outcome {
  readonly what: number;
  write(into: Uint8Array): number;
}

/** Whether an argument stays here, and is called back. */
export const staysHere = (value: unknown): boolean =>
  typeof value === "function" || isIterator(value);

let clients = 0;

/** The functions of one `connect`. */
export class Functions {
  /** Tells the objects of this class in one agent apart. */
  readonly client: number = ++clients;
  readonly #codec: Codec<unknown>;
  readonly #classes: Classes;
  readonly #values: Map<number, AnyFunction | AnyIterator> = new Map();
  /** By agents that serve: the functions that they have kept. */
  readonly #kept: Map<number, Set<number>> = new Map();
  /** Those that were released before the answer came that they are kept. */
  readonly #early: Set<number> = new Set();
  #last = 0;

  constructor(codec: Codec<unknown>, classes: Classes) {
    this.#codec = codec;
    this.#classes = classes;
  }

  /**
   * Takes the functions among the arguments. Returns the other ones, the list
   * that follows the name in a request, and the numbers of the functions.
   */
  take(args: readonly unknown[]): [unknown[], Uint8Array, number[]] {
    assertPlace(args.findLastIndex(staysHere));
    const rest = args.slice();
    const ids: number[] = [];
    const list: number[] = [];
    try {
      for (const [i, arg] of args.entries()) {
        if (!staysHere(arg)) continue;
        const id = this.#last = this.#last + 1 | 0;
        const isFunction = typeof arg === "function";
        const value = isFunction ? arg : iteratorOf(arg as AnyIterator);
        this.#values.set(id, value as AnyFunction);
        ids.push(id);
        list.push(i, isFunction ? FUNCTION : ITERATOR, ...bytesOf(id));
        rest[i] = null;
      }
    } catch (error) { // an argument gives no iterator: nothing is sent
      this.end(ids);
      throw error;
    }
    const head = [...bytesOf(this.client), ids.length];
    return [rest, Uint8Array.from([...head, ...list]), ids];
  }

  /** An agent that serves has kept these. */
  keep(agent: number, ids: readonly number[]): void {
    const kept = this.#kept.get(agent) ?? new Set();
    for (const id of ids) if (!this.#early.delete(id)) kept.add(id);
    if (kept.size > 0) this.#kept.set(agent, kept);
  }

  /** Whether an agent that serves has kept any. */
  isKept(agent: number): boolean {
    return this.#kept.has(agent);
  }

  /** An agent has released some of those that it has kept, or all. */
  release(agent: number, ids?: readonly number[]): void {
    const kept = this.#kept.get(agent);
    for (const id of ids ?? [...kept ?? []]) {
      // Answers lie in several slots, and may be taken in another order.
      if (!kept?.delete(id) && this.#values.has(id)) this.#early.add(id);
      this.#forget(id);
    }
    if (kept?.size === 0) this.#kept.delete(agent); // it may not come again
  }

  /** The call of these is over: forgets those that nobody has kept. */
  end(ids: readonly number[]): void {
    const all = [...this.#kept.values()];
    for (const id of ids) {
      this.#early.delete(id);
      if (!all.some((kept) => kept.has(id))) this.#forget(id);
    }
  }

  #forget(id: number): void {
    const value = this.#values.get(id);
    this.#values.delete(id);
    if (typeof value === "object") letReturn(value);
  }

  /** Calls a function back. It never throws. */
  run({ id, what, args }: CallBack): Outcome | Promise<Outcome> {
    try {
      const value = this.#values.get(id);
      if (value === undefined) throw new TypeError("The function was released");
      const result = typeof value === "function"
        ? value(...args)
        : stepOf(what, value, args, () => this.#values.delete(id));
      if (!isThenable(result)) return this.#returned(what, result);
      return Promise.resolve(result).then(
        (result) => this.#returned(what, result),
        (error) => this.threw(error),
      );
    } catch (error) {
      return this.threw(error);
    }
  }

  #returned(what: number, result: unknown): Outcome {
    if (what === CALL) return this.#outcome(VALUE, result);
    const { done, value } = result as IteratorResult<unknown>;
    return this.#outcome(done ? DONE : VALUE, value);
  }

  #outcome(what: number, value: unknown): Outcome {
    if (value !== undefined) {
      return { what, write: (into) => encoded(this.#codec, value, into) };
    }
    return { what: what === VALUE ? NOTHING : what, write: () => 0 };
  }

  /** The outcome of a function that threw. */
  threw(thrown: unknown): Outcome {
    if (!isError(thrown)) {
      const outcome = this.#outcome(THROWN, thrown);
      try {
        outcome.write(new Uint8Array(0));
        return outcome;
      } catch {
        thrown = unsendable("The function", thrown);
      }
    }
    const text = errorText(thrown, ownOf(thrown as Error, this.#classes));
    return { what: ERROR, write: (into) => writeUtf8(text, into) };
  }

  /** The request that tells an outcome, or by which this agent waits on. */
  answer(
    { agent, number }: Pick<CallBack, "agent" | "number">,
    token: number,
    listens: number,
    talk: number,
    outcome?: Outcome,
  ): Uint8Array {
    const write = (of: Outcome | undefined) => (into: Uint8Array): number => {
      if (into.length < ANSWER_HEAD) return ANSWER_HEAD;
      into[0] = ANSWER;
      into[RESULT] = of?.what ?? 0;
      into[LISTENS] = listens;
      putWord(into, TOKEN, token);
      putWord(into, ANSWER_AGENT, agent);
      putWord(into, ANSWER_TALK, talk);
      putWord(into, ANSWER_NUMBER, number);
      return ANSWER_HEAD + (of?.write(into.subarray(ANSWER_HEAD)) ?? 0);
    };
    try {
      return encodeWhole(this.#codec.name, 64, write(outcome));
    } catch (error) { // the codec refuses the result
      return encodeWhole(this.#codec.name, 64, write(this.threw(error)));
    }
  }
}

/** The error of a function that returned a promise to an agent that blocks. */
export const BLOCKED = "The caller blocks: its function returned a promise, " +
  "which nobody can await there";

const bytesOf = (word: number): number[] => [
  word & 255,
  word >>> 8 & 255,
  word >>> 16 & 255,
  word >>> 24,
];

/**
 * Objects that stay where they are served, while others hold what stands for
 * them: instances of classes, and iterators.
 *
 * @module
 */

import { errorOf } from "../_message/thrown.ts";
import { homeOf } from "../_memory/memory.ts";
import { assertStep } from "../_memory/options.ts";
import { Region } from "../_memory/region.ts";
import type { End } from "./beside.ts";
import { DEAD, ENTRIES, ID_MASK } from "./ring/words.ts";
import { Desk } from "./talks.ts";
import { isThenable, NEXT, RETURN } from "./wire.ts";

/** An object that is kept. */
interface Hosted {
  readonly object: object;
  /** The agent that has its key. */
  readonly owner: number;
  /** Whether it is an iterator. */
  readonly iterates: boolean;
}

/** The objects that an agent serves to the callers of one ring. */
export class Hosts {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #objects = new Map<string, Hosted>();
  /** The entries of agents that were abandoned, as it saw them last. */
  readonly #dead = new Int32Array(ENTRIES);
  #last = 0;
  /** How many servers of this agent serve the ring now. */
  servers = 0;
  /** The calls by which they call back. */
  readonly desk: Desk = new Desk();
  /** The ends of the ports of these servers. */
  readonly ends: End[] = [];

  /** Makes those of the ring with these words. */
  constructor(words: Int32Array<SharedArrayBuffer>) {
    this.#words = words;
  }

  /**
   * Keeps an object for agent `owner`; returns its key. It looks for deaths
   * first: the owner may have the id of an agent that died before.
   */
  add(agent: number, hosted: Hosted): string {
    this.look();
    const key = `${agent}-${++this.#last}`;
    this.#objects.set(key, hosted);
    return key;
  }

  /** The object of a key; undefined if it was released. */
  get(key: string): object | undefined {
    return this.#objects.get(key)?.object;
  }

  /** Releases an object. An iterator that has not ended is told to return. */
  release(key: string): void {
    const hosted = this.#objects.get(key);
    this.#objects.delete(key);
    if (hosted?.iterates) letReturn(hosted.object);
  }

  /** Forgets an iterator that has ended. */
  delete(key: string): void {
    this.#objects.delete(key);
  }

  /** Whether it keeps any object. */
  get any(): boolean {
    return this.#objects.size > 0;
  }

  /** Releases the objects of agents that were abandoned since the last look. */
  look(): void {
    for (let i = 0; i < ENTRIES; i++) {
      const entry = Atomics.load(this.#words, DEAD + i);
      if (entry === this.#dead[i]) continue;
      this.#dead[i] = entry;
      for (const [key, { owner }] of this.#objects) {
        if (owner === (entry & ID_MASK)) this.release(key);
      }
    }
  }

  /**
   * A server has ended. After the last one, nobody can call the objects, and it
   * returns true.
   */
  end(): boolean {
    if (--this.servers > 0) return false;
    for (const key of [...this.#objects.keys()]) this.release(key);
    return true;
  }
}

/** An iterator, async or not. */
export type AnyIterator = Partial<
  & Record<"next" | "return" | "throw", (value?: unknown) => unknown>
  & AsyncIterable<unknown>
  & Iterable<unknown>
>;

/**
 * Whether a value is iterated where it is, instead of being copied: it is an
 * async iterable, or an iterator such as a generator has.
 */
export function isIterator(value: unknown): value is object & AnyIterator {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Region) return false; // a channel, say
  const it = value as AnyIterator;
  return typeof it[Symbol.asyncIterator] === "function" ||
    typeof it.next === "function" && typeof it[Symbol.iterator] === "function";
}

/** The iterator of such a value. */
export function iteratorOf(value: AnyIterator): AnyIterator {
  return (value[Symbol.asyncIterator]?.() ?? value[Symbol.iterator]!()) as
    & object
    & AnyIterator;
}

/** Tells an iterator that nobody goes on. Nobody is there for its errors. */
export function letReturn(iterator: AnyIterator): void {
  try {
    const end = iterator.return?.() as PromiseLike<unknown> | undefined;
    end?.then?.(undefined, () => {});
  } catch {
    // It has ended, in whatever way.
  }
}

const hosts: WeakMap<SharedArrayBuffer, Map<number, Hosts>> = new WeakMap();

/** Those of all servers of this agent for the ring with these words. */
export function hostsOf(words: Int32Array<SharedArrayBuffer>): Hosts {
  const { buffer, byteOffset } = words;
  const home = homeOf(buffer);
  let rings = hosts.get(home);
  if (rings === undefined) hosts.set(home, rings = new Map());
  let there = rings.get(byteOffset);
  if (there === undefined) rings.set(byteOffset, there = new Hosts(words));
  return there;
}

/**
 * Goes on with an iterator: NEXT, RETURN or THROW. `over` is called at its end.
 */
export function stepOf(
  what: number,
  iterator: AnyIterator,
  args: readonly unknown[],
  over: () => void,
): unknown {
  const end = (result: unknown): unknown => {
    assertStep(result);
    if ((result as { done?: unknown }).done) over();
    return result;
  };
  const fail = (error: unknown): never => {
    over();
    throw error;
  };
  try {
    const result = stepped(what, iterator, args);
    if (isThenable(result)) {
      return Promise.resolve(result).then(end).catch(fail);
    }
    const { value, done } = Object(result) as {
      value?: unknown;
      done?: unknown;
    };
    if (!isThenable(value)) return end(result);
    // It is not async, but its values are: `for await` awaits these, too.
    const awaited = Promise.resolve(value);
    return awaited.then((value) => end({ done, value }), (error) => {
      if (!done) letReturn(iterator);
      return fail(error);
    });
  } catch (error) {
    return fail(error);
  }
}

/** What the iterator itself gives. */
function stepped(
  what: number,
  iterator: AnyIterator,
  args: readonly unknown[],
): unknown {
  if (what === NEXT) return iterator.next!(...args as [unknown]);
  if (what === RETURN) {
    return iterator.return?.(args[0]) ?? { done: true, value: args[0] };
  }
  const [isText, thrown] = args;
  const error = isText ? errorOf(thrown as string) : thrown;
  if (iterator.throw !== undefined) return iterator.throw(error);
  letReturn(iterator); // nobody goes on with it
  throw error;
}

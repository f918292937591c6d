/**
 * Objects that stay where they are served, while others hold what stands for
 * them: instances of classes, and iterators.
 *
 * @module
 */

/** The objects that an agent serves to the callers of one ring. */
export class Hosts {
  readonly #objects = new Map<string, object>();
  #last = 0;
  /** How many servers of this agent serve the ring now. */
  servers = 0;

  /** Keeps `object`; returns its key. */
  add(agent: number, object: object): string {
    const key = `${agent}-${++this.#last}`;
    this.#objects.set(key, object);
    return key;
  }

  /** The object of a key; undefined if it was released. */
  get(key: string): object | undefined {
    return this.#objects.get(key);
  }

  /** Releases an object. An iterator that has not ended is told to return. */
  release(key: string): void {
    const object = this.#objects.get(key);
    this.#objects.delete(key);
    if (object !== undefined && isIterator(object)) letReturn(object);
  }

  /** Forgets an iterator that has ended. */
  delete(key: string): void {
    this.#objects.delete(key);
  }

  /** A server has ended; after the last one, nobody can call the objects. */
  end(): void {
    if (--this.servers > 0) return;
    for (const key of [...this.#objects.keys()]) this.release(key);
  }
}

/** The agent that made a key. */
export const agentOf = (key: string): number => parseInt(key, 10);

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
function letReturn(iterator: AnyIterator): void {
  try {
    const end = iterator.return?.() as PromiseLike<unknown> | undefined;
    end?.then?.(undefined, () => {});
  } catch {
    // It has ended, in whatever way.
  }
}

const hosts: WeakMap<SharedArrayBuffer, Map<number, Hosts>> = new WeakMap();

/** Those of all servers of this agent for the ring at a place. */
export function hostsOf(buffer: SharedArrayBuffer, byteOffset: number): Hosts {
  let rings = hosts.get(buffer);
  if (rings === undefined) hosts.set(buffer, rings = new Map());
  let there = rings.get(byteOffset);
  if (there === undefined) rings.set(byteOffset, there = new Hosts());
  return there;
}

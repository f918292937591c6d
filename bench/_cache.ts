// A cache for keys by Zipf's law: shared, or behind a thread that serves it.
import { type Handle, HashMap } from "../mod.ts";
import { keysOf, picks, TEXTS } from "./_hash_map.ts";
import type { Did, Run } from "./contest.ts";

/** The data of each thread that looks: it does `n` operations a turn. */
export interface Looking {
  readonly count: number;
  readonly zipf: number;
  readonly seed: number;
  readonly n: number;
  readonly handle?: Handle<"hash_map">;
  readonly port?: MessagePort;
}

/** The keys in the order in which a thread looks for them, again and again. */
function keysFor({ count, zipf, seed }: Looking): () => string {
  const keys = keysOf(count);
  const order = picks(count, zipf, seed);
  let at = 0;
  return () => {
    at = at + 1 & order.length - 1;
    return keys[order[at]!]!;
  };
}

/**
 * Looks into a cache that all threads share; a value that is missing is made.
 */
export function look(data: Looking): Run {
  const cache = HashMap.from(data.handle!, TEXTS);
  const next = keysFor(data);
  return (): Did => {
    for (let i = 0; i < data.n; i++) {
      const key = next();
      if (cache.get(key) === undefined) cache.set(key, key);
    }
    return { ops: data.n };
  };
}

/** Asks the thread that has the cache. */
export function ask(data: Looking): Run {
  const { port, n } = data;
  const next = keysFor(data);
  let over = (_value: string) => {};
  port!.onmessage = ({ data }) => over(data);
  return async (): Promise<Did> => {
    for (let i = 0; i < n; i++) {
      const key = next();
      const value = new Promise<string>((resolve) => over = resolve);
      port!.postMessage(key);
      if (await value !== key) throw new Error("another value");
    }
    return { ops: n };
  };
}

/** The data of the thread that has the cache: it serves `n` calls a turn. */
export interface Serving {
  readonly ports: readonly MessagePort[];
  readonly capacity: number;
  readonly n: number;
  readonly url: string;
}

/** What `lru-cache` has, as far as it is used here. */
interface Cache {
  get(key: string): string | undefined;
  set(key: string, value: string): unknown;
}

type CacheClass = new (options: { readonly max: number }) => Cache;

/** Has the cache, and makes the values that are missing. */
export async function serveCache(
  { ports, capacity, n, url }: Serving,
): Promise<Run> {
  const { LRUCache } = await import(url) as { LRUCache: CacheClass };
  const cache = new LRUCache({ max: capacity });
  let left = 0;
  let over = () => {};
  for (const port of ports) {
    port.onmessage = ({ data: key }) => {
      const value = cache.get(key);
      if (value === undefined) cache.set(key, key);
      port.postMessage(value ?? key);
      if (--left === 0) over();
    };
  }
  return async (): Promise<Did> => {
    left += n;
    if (left > 0) await new Promise<void>((resolve) => over = resolve);
    return { ops: 0 };
  };
}

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { codec, type Handle, HashMap } from "../mod.ts";
import type { Did, Run } from "./contest.ts";

/** What `sharedmap` has, as far as it is used here. */
export interface SharedMap {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

type SharedMapClass = new (
  most: number,
  keySize: number,
  valueSize: number,
) => SharedMap;

/** The class that the package at `url` exports. */
export const sharedMapOf = (url: string): SharedMapClass =>
  createRequire(import.meta.url)(fileURLToPath(url));

/** The codecs of the texts' map. */
export const TEXTS = { key: codec.text, value: codec.text };

/** Keys of nine letters. */
export const keysOf = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `wor${100_000 + i}`);

/** Numbers below `most`, all as likely, or by Zipf's law of this exponent. */
export function picks(most: number, zipf: number, seed: number): Int32Array {
  const sums = new Float64Array(most);
  for (let i = 0, sum = 0; i < most; i++) {
    sums[i] = sum += (i + 1) ** -zipf;
  }
  const all = sums[most - 1]!;
  let state = seed;
  return Int32Array.from({ length: 1 << 16 }, () => {
    state = Math.imul(state, 1664525) + 1013904223 | 0;
    const point = (state >>> 0) / 2 ** 32 * all;
    let [low, high] = [0, most - 1];
    while (low < high) {
      const half = low + high >> 1;
      if (sums[half]! < point) low = half + 1;
      else high = half;
    }
    // Popular keys must not be neighbours.
    return Math.imul(low, 7919) % most;
  });
}

/** The data of each thread: it does `n` operations a turn. */
export interface Mixed {
  readonly count: number;
  readonly zipf: number;
  readonly seed: number;
  readonly n: number;
  readonly handle?: Handle<"hash_map">;
  readonly shared?: SharedMap | undefined;
  readonly url?: string | undefined;
  readonly folder?: string;
}

/** Of 20 operations, one is a `set`, and the others are a `get`. */
function mixed(
  { count, zipf, seed, n }: Mixed,
  get: (key: string) => string | undefined,
  set: (key: string, value: string) => void,
): Run {
  const keys = keysOf(count);
  const order = picks(count, zipf, seed);
  let at = 0;
  return (): Did => {
    let missing = 0;
    for (let i = 0; i < n; i++) {
      at = at + 1 & order.length - 1;
      const key = keys[order[at]!]!;
      if (i % 20 === 0) set(key, key);
      else if (get(key) === undefined) missing++;
    }
    if (missing > 0) throw new Error(`${missing} keys are missing`);
    return { ops: n };
  };
}

export function mixedWeft(data: Mixed): Run {
  const map = HashMap.from(data.handle!, TEXTS);
  return mixed(data, (key) => map.get(key), (key, value) => {
    map.set(key, value);
  });
}

export function mixedSharedMap(data: Mixed): Run {
  const map = data.shared!;
  Object.setPrototypeOf(map, sharedMapOf(data.url!).prototype);
  return mixed(data, (key) => map.get(key), (key, value) => {
    map.set(key, value);
  });
}

/** What `lmdb` has, as far as it is used here. */
interface Lmdb {
  open(options: object): {
    get(key: string): string | undefined;
    /** Settles when the value is committed. */
    put(key: string, value: string): Promise<boolean>;
    close(): Promise<void>;
  };
}

/** The database in a folder. It waits for no disk, and caches what it read. */
function openLmdb(url: string, folder: string) {
  const { open } = createRequire(import.meta.url)(fileURLToPath(url)) as Lmdb;
  const cache = { validated: true, clearKeptInterval: 100 };
  return open({ path: folder, encoding: "string", noSync: true, cache });
}

/** Fills a database with all keys. */
export async function fillLmdb(
  url: string,
  folder: string,
  keys: readonly string[],
): Promise<void> {
  const database = openLmdb(url, folder);
  await Promise.all(keys.map((key) => database.put(key, key)));
  await database.close();
}

/** What was set in a turn is committed when it ends. */
export function mixedLmdb(data: Mixed): Run {
  const database = openLmdb(data.url!, data.folder!);
  let last: Promise<boolean> | undefined;
  const run = mixed(data, (key) => database.get(key), (key, value) => {
    last = database.put(key, value);
  });
  return async (turn) => {
    const did = await run(turn);
    await last;
    return did;
  };
}

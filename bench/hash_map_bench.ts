// What does a map cost that threads share? Floor: a Map of the agent's own, and
// the two exchanges that a lock needs in any case. Peers: sharedmap; for four
// agents lmdb, a database that threads of one machine share; and for a cache
// lru-cache in a thread that serves it.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { codec, HashMap } from "../mod.ts";
import {
  fillLmdb,
  keysOf,
  type Mixed,
  type SharedMap,
  sharedMapOf,
  TEXTS,
} from "./_hash_map.ts";
import type { Looking, Serving } from "./_cache.ts";
import { contest, ratio, type Row, threads, timed } from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_hash_map.ts", import.meta.url);
const CACHE = new URL("./_cache.ts", import.meta.url);

/** Entries of each map; half of a million calls go round them. */
const KEYS = 1024;

/** Words of nine letters. */
const WORDS = Array.from({ length: KEYS }, (_, i) => `word${10_000 + i}`);

/** The letters of a text that lies in a heap. */
const LONG = 1000;

/** The keys of the map that several agents use. */
const MANY = 100_000;

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const url = peer("sharedmap")?.href;
  return [
    ...await alone(url),
    ...await longValues(url),
    ...await together(url),
    ...await besideLmdb(),
    ...await caches(),
  ];
}

/** One agent. */
async function alone(url: string | undefined): Promise<Row[]> {
  const config = { capacity: 2 * KEYS, keySize: 12, valueSize: 12 };
  const texts = HashMap.create({
    ...config,
    key: codec.text,
    value: codec.text,
  });
  const ints = HashMap.create({
    key: codec.i32,
    value: codec.i32,
    capacity: 2 * KEYS,
  });
  const ownTexts = new Map<string, string>();
  const ownInts = new Map<number, number>();
  for (const [i, word] of WORDS.entries()) {
    texts.set(word, word);
    ownTexts.set(word, word);
    ints.set(i, i);
    ownInts.set(i, i);
  }
  const words = new Int32Array(new SharedArrayBuffer(4));
  const theirs = url && new (sharedMapOf(url))(2 * KEYS, 12, 12);
  if (theirs) { for (const word of WORDS) theirs.set(word, word); }
  let sum = 0;
  const results = await contest([
    timed("get text", (n) => {
      for (let i = 0; i < n; i++) {
        sum += texts.get(WORDS[i & KEYS - 1]!)!.length;
      }
    }),
    timed("set text", (n) => {
      for (let i = 0; i < n; i++) {
        texts.set(WORDS[i & KEYS - 1]!, WORDS[i + 1 & KEYS - 1]!);
      }
    }),
    timed("Map of texts", (n) => {
      for (let i = 0; i < n; i++) {
        sum += ownTexts.get(WORDS[i & KEYS - 1]!)!.length;
      }
    }),
    timed("get i32", (n) => {
      for (let i = 0; i < n; i++) sum += ints.get(i & KEYS - 1)!;
    }),
    timed("set i32", (n) => {
      for (let i = 0; i < n; i++) ints.set(i & KEYS - 1, i | 0);
    }),
    timed("add i32", (n) => {
      for (let i = 0; i < n; i++) ints.add(i & KEYS - 1, 1);
    }),
    timed("delete, set i32", (n) => {
      for (let i = 0; i < n; i++) {
        ints.delete(i & KEYS - 1);
        ints.set(i & KEYS - 1, i | 0);
      }
    }),
    timed("Map of numbers", (n) => {
      for (let i = 0; i < n; i++) sum += ownInts.get(i & KEYS - 1)!;
    }),
    timed("exchanges", (n) => {
      for (let i = 0; i < n; i++) {
        Atomics.compareExchange(words, 0, 0, 1);
        Atomics.compareExchange(words, 0, 1, 0);
      }
    }),
    ...theirs ? sharedMaps(theirs) : [],
  ]);
  if (Number.isNaN(sum)) throw new Error("no sum");
  const beside = nameOf("sharedmap");
  return [
    ...theirs
      ? [{
        name: `HashMap, get of a text of 9 letters: gets/s / ${beside}`,
        ...ratio(results, "get sharedmap", "get text"),
        target: { least: 10 },
      }, {
        name: `HashMap, set of such a text: sets/s / ${beside}`,
        ...ratio(results, "set sharedmap", "set text"),
        target: { least: 7 },
      }]
      : [],
    {
      name: "HashMap, get of a text of 9 letters by one: time / a local Map",
      ...ratio(results, "get text", "Map of texts"),
    },
    {
      name: "HashMap, set of such a text: time / two bare exchanges",
      ...ratio(results, "set text", "exchanges"),
    },
    {
      name: "HashMap, get of a number by a number: time / a local Map",
      ...ratio(results, "get i32", "Map of numbers"),
    },
    {
      name: "HashMap, set of a number: time / two bare exchanges",
      ...ratio(results, "set i32", "exchanges"),
    },
    {
      name: "HashMap, add to a number: time / two bare exchanges",
      ...ratio(results, "add i32", "exchanges"),
    },
    {
      name: "HashMap, delete and set of a number: time / two bare exchanges",
      ...ratio(results, "delete, set i32", "exchanges"),
    },
  ];
}

/**
 * One agent, and texts of 1,000 letters: in blocks of a heap, or in entries.
 * The views remember nothing, so that `get` makes each text anew.
 */
async function longValues(url: string | undefined): Promise<Row[]> {
  const codecs = { key: codec.text, value: codec.text, remember: false };
  const sizes = { keySize: 12, valueSize: LONG, capacity: 2 * KEYS };
  const heap = { bytes: 2 ** 21, blockSize: 256, inEntry: 32 };
  const texts = WORDS.map((word) => word.padEnd(LONG, "."));
  const theirs = url && new (sharedMapOf(url))(2 * KEYS, 12, LONG);
  let sum = 0;
  const uses = <Name extends string>(
    name: Name,
    map: SharedMap | HashMap<string, string>,
  ) => {
    for (const [i, word] of WORDS.entries()) map.set(word, texts[i]!);
    return [
      timed(`get, ${name}`, (n) => {
        for (let i = 0; i < n; i++) {
          sum += map.get(WORDS[i & KEYS - 1]!)!.length;
        }
      }),
      timed(`set, ${name}`, (n) => {
        for (let i = 0; i < n; i++) {
          map.set(WORDS[i & KEYS - 1]!, texts[i + 1 & KEYS - 1]!);
        }
      }),
    ] as const;
  };
  const results = await contest([
    ...uses("heap", HashMap.create({ ...codecs, ...sizes, heap })),
    ...uses("entry", HashMap.create({ ...codecs, ...sizes })),
    ...theirs ? uses("sharedmap", theirs) : [],
  ]);
  if (Number.isNaN(sum)) throw new Error("no sum");
  const name = (what: string) =>
    `HashMap, ${what} of a text of 1,000 letters in the heap: `;
  return [
    {
      name: `${name("get")}time / one in its entry`,
      ...ratio(results, "get, heap", "get, entry"),
    },
    {
      name: `${name("set")}time / one in its entry`,
      ...ratio(results, "set, heap", "set, entry"),
    },
    ...theirs
      ? [{
        name: `${name("get")}gets/s / ${nameOf("sharedmap")}`,
        ...ratio(results, "get, sharedmap", "get, heap"),
      }, {
        name: `${name("set")}sets/s / ${nameOf("sharedmap")}`,
        ...ratio(results, "set, sharedmap", "set, heap"),
      }]
      : [],
  ];
}

const sharedMaps = (map: SharedMap) => [
  timed("get sharedmap", (n) => {
    for (let i = 0; i < n; i++) {
      if (map.get(WORDS[i & KEYS - 1]!) === undefined) throw new Error("lost");
    }
  }),
  timed("set sharedmap", (n) => {
    for (let i = 0; i < n; i++) {
      map.set(WORDS[i & KEYS - 1]!, WORDS[i + 1 & KEYS - 1]!);
    }
  }),
];

/** Several agents, 95 % get and 5 % set. */
async function together(url: string | undefined): Promise<Row[]> {
  const keys = keysOf(MANY);
  const sizes = { keySize: 12, valueSize: 12 };
  const map = HashMap.create({ ...TEXTS, ...sizes, capacity: 1.25 * MANY });
  const theirs = url && new (sharedMapOf(url))(1.25 * MANY, 12, 12);
  for (const key of keys) {
    map.set(key, key);
    if (theirs) theirs.set(key, key);
  }
  const rows: Row[] = [];
  for (const zipf of [0, 0.99]) {
    const one =
      (make: string, more: Partial<Mixed>, n: number) => (k: number) => ({
        make,
        data: { count: MANY, zipf, seed: k + 1, n, ...more },
      });
    const ours = one("mixedWeft", { handle: map.handle }, 2000);
    // One agent's time is that of its processor, whose clock is coarse.
    const single = one("mixedWeft", { handle: map.handle }, 100_000);
    const others = one(
      "mixedSharedMap",
      { shared: theirs || undefined, url },
      200,
    );
    const agents = <Name extends string>(
      name: Name,
      count: number,
      role: typeof ours,
    ) =>
      threads(name, MODULE, Array.from({ length: count }, (_, k) => role(k)));
    for (const count of [2, 4]) {
      const results = await contest([
        await agents("weft", count, ours),
        await agents("one agent", 1, single),
        ...theirs ? [await agents("sharedmap", count, others)] : [],
      ]);
      const name = `HashMap, 95 % get, ${count} agents, 100,000 keys, ` +
        `${zipf === 0 ? "uniform" : "Zipf 0.99"}: throughput / `;
      if (theirs) {
        rows.push({
          name: name + nameOf("sharedmap"),
          ...ratio(results, "sharedmap", "weft"),
          target: { least: 10 },
        });
      }
      rows.push({
        name: `${name}one agent`,
        ...ratio(results, "one agent", "weft"),
        ...count === 2 ? { target: { least: 1.7 } } : {},
      });
    }
  }
  return rows;
}

/** Four agents use what lies in memory, or in a file that is mapped there. */
async function besideLmdb(): Promise<Row[]> {
  const url = peer("lmdb")?.href;
  if (url === undefined) return [];
  const folder = fs.mkdtempSync(`${tmpdir()}/weft-lmdb-`);
  try {
    const keys = keysOf(MANY);
    const sizes = { keySize: 12, valueSize: 12 };
    const map = HashMap.create({ ...TEXTS, ...sizes, capacity: 1.25 * MANY });
    for (const key of keys) map.set(key, key);
    await fillLmdb(url, folder, keys);
    const rows: Row[] = [];
    for (const zipf of [0, 0.99]) {
      const agents = (make: string, more: Partial<Mixed>) =>
        Array.from({ length: 4 }, (_, k) => ({
          make,
          data: { count: MANY, zipf, seed: k + 1, n: 2000, ...more },
        }));
      const results = await contest([
        await threads(
          "weft",
          MODULE,
          agents("mixedWeft", { handle: map.handle }),
        ),
        await threads("lmdb", MODULE, agents("mixedLmdb", { url, folder })),
      ]);
      rows.push({
        name: `HashMap, 95 % get, 4 agents, 100,000 keys, ${
          zipf === 0 ? "uniform" : "Zipf 0.99"
        }: throughput / ${nameOf("lmdb")}`,
        ...ratio(results, "lmdb", "weft"),
      });
    }
    return rows;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Several agents look into a cache with room for a tenth of the keys. */
async function caches(): Promise<Row[]> {
  const url = peer("lru-cache")?.href;
  if (url === undefined) return [];
  const rows: Row[] = [];
  const capacity = MANY / 10;
  const sizes = { keySize: 12, valueSize: 12, evict: "clock" } as const;
  for (const count of [1, 2, 4]) {
    const { handle } = HashMap.create({ ...TEXTS, ...sizes, capacity });
    const channels = Array.from({ length: count }, () => new MessageChannel());
    const looking = (k: number, more: Partial<Looking>): Looking => ({
      ...{ count: MANY, zipf: 0.99, seed: k + 1, n: 2000 },
      ...more,
    });
    const ports = channels.map(({ port1 }) => port1);
    const n = 100;
    const serving: Serving = { ports, capacity, n: n * count, url };
    const results = await contest([
      await threads(
        "weft",
        CACHE,
        channels.map((_, k) => ({
          make: "look",
          // As above: a clock that is coarse might say that it took no time.
          data: looking(k, { handle, ...count === 1 ? { n: 100_000 } : {} }),
        })),
      ),
      await threads("lru-cache", CACHE, [
        ...channels.map(({ port2: port }, k) => ({
          make: "ask",
          data: looking(k, { n, port }),
          ports: [port],
        })),
        { make: "serveCache", data: serving, ports },
      ]),
    ]);
    rows.push({
      name: `HashMap, a cache for a tenth of 100,000 keys, ${count} agent${
        count === 1 ? "" : "s"
      }, Zipf 0.99: throughput / ${nameOf("lru-cache")} in a thread`,
      ...ratio(results, "lru-cache", "weft"),
      target: { least: 10 },
    });
  }
  return rows;
}

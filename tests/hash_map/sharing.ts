/**
 * What the agents of the race scenarios do with one `HashMap`, the model that
 * it must obey, and what must be true of its words at the end.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import { type Codec, codec, HashMap, inspect } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { hashOf, heapFor, planFor } from "../../primitives/_map/plan.ts";
import { time } from "../../primitives/_map/time.ts";
import { LONG, TORN } from "./kind.ts";
import { enter, itsOwn, LOOKS, named, type Weft } from "../_run/scenario.ts";

export const HEAD = LAYOUT.hash_map.length;
export const SEED = 1;
/** The id of an agent that is dead. */
export const DEAD = 99;
export const CLAIMED = 1 << 31;
export const LINKED = 1 << 30;

/** The owner in the first word of a mutex. */
const OWNER = 0x0fff_ffff;

/** Whether two keys share a bucket of a map with two buckets. */
const sideOf = (key: number) => hashOf(SEED, ~SEED, Int32Array.of(key), 1) & 1;

/** Two keys of one bucket, and two of the other. */
export const [A, B] = [1, 2, 3, 4, 5, 6].filter((key) => sideOf(key) === 0) as [
  number,
  number,
];
export const [OTHER, ANOTHER] = [1, 2, 3, 4, 5, 6].filter((key) =>
  sideOf(key) === 1
) as [number, number];

/** Keys by their bucket in a map with four buckets, which holds six of them. */
const sides = [0, 1, 2].map((side) =>
  Array.from({ length: 30 }, (_, i) => i + 1).filter((key) =>
    (hashOf(SEED, ~SEED, Int32Array.of(key), 1) & 3) === side
  )
);
/** What is in such a map, and keys of two buckets that are not. */
export const [IN_FIRST, ALSO_IN_FIRST] = sides[0] as [number, number];
export const IN_FOUR: Readonly<Record<number, number>> = Object.fromEntries(
  [...sides[0]!.slice(0, 2), ...sides[1]!.slice(1, 3), ...sides[2]!.slice(1, 3)]
    .map((key) => [key, key]),
);
export const IN_SECOND = sides[1]![0]!, IN_THIRD = sides[2]![0]!;

/** A key of the other bucket than 2, 3, 7 and 8. */
export const FREED = 5;

/** Whether two long keys share a bucket of a map with two buckets. */
const longSideOf = (key: number) =>
  hashOf(SEED, ~SEED, Int32Array.of(8, key, key), 3) & 1;

/** Two long keys of one bucket, and one of the other. */
export const [LONG_A, LONG_B] = [100, 101, 102, 103, 104].filter((key) =>
  longSideOf(key) === 0
) as [number, number];
export const LONG_OTHER = [100, 101, 102].find((key) => longSideOf(key) === 1)!;
/** Two long keys with the same hash. */
export const SAME_HASH = [95_795, 132_877] as const;

/** How long a value counts by the clock of the scenarios. */
const TTL = 10;
/** Values from this on are set for a moment only. */
export const BRIEF = 100;

/**
 * A block of a scenario has one word of a value, and a long value two blocks.
 */
export const BLOCK = 3, BLOCKS = 2;

/** Numbers as one word or, from `LONG` on, as two words that are the same. */
const WORDS: Codec<number> = {
  name: "words",
  encode: (value, into) => {
    const words = Int32Array.of(value, value);
    const bytes = new Uint8Array(words.buffer, 0, value < LONG ? 4 : 8);
    if (bytes.length <= into.length) into.set(bytes);
    return bytes.length;
  },
  decode: (bytes) => {
    const [first, second = first] = new Int32Array(bytes.slice().buffer);
    return first === second ? first! : TORN;
  },
};

/** Why there are not as many states in C. */
export const HINTS = "the look for a late carry is a step of C only";
export const REMEMBERS =
  "only views of JavaScript remember where they found a key";

/** The model: values by their keys. */
type Model = Readonly<Record<number, number>>;

const sizeOf = (model: Model) => Object.keys(model).length;
const put = (model: Model, key: number, value: number): Model => ({
  ...model,
  [key]: value,
});
function without(model: Model, key: number): Model {
  const { [key]: _, ...rest } = model;
  return rest;
}

/** The arguments of an operation. */
type Pair = readonly [key: number, value: number];
type Triple = readonly [key: number, from: number, to: number];

interface Setting {
  readonly capacity?: number;
  /** Whether values have two words, and so two copies. */
  readonly long?: boolean;
  /** Whether views remember where they found keys. */
  readonly remember?: boolean;
  /** Whether it is a cache. */
  readonly evicts?: boolean;
  /** Whether entries expire; the model then knows no lack of room. */
  readonly expires?: boolean;
  /** How many blocks the heap has; 0 if there is none. */
  readonly blocks?: number;
  /** Whether keys are `WORDS`, too, and may lie in the heap. */
  readonly longKeys?: boolean;
  /** Whether values may not, if keys may. */
  readonly shortValues?: boolean;
  /** Whether agents may end while they write. */
  readonly ends?: boolean;
  /** What is in the map at first. */
  readonly first?: Model;
  /** Prepares the words. */
  readonly prepare?: (words: Int32Array, entries: number) => void;
}

/** A map of few entries, against the model of a Map. */
export function sharing(weft: Weft, setting: Setting = {}) {
  const { capacity = 2, long = false, first = {}, prepare } = setting;
  const { remember = false, evicts = false, ends = false } = setting;
  const { expires = false, blocks = 0 } = setting;
  const { longKeys = false, shortValues = false } = setting;
  const value = blocks > 0 ? WORDS : long ? codec.f64 : codec.i32;
  const key = longKeys ? WORDS : codec.i32;
  const codecs = { key, value, remember };
  const caches = evicts || expires;
  const isLong = long || blocks > 0;
  const plan = planFor(
    HEAD,
    capacity,
    longKeys ? 2 : 1,
    isLong ? 2 : 1,
    caches,
    expires,
  );
  const heap = heapFor(plan.length, blocks, BLOCK, 8, 8, 4);
  const heapConfig = blocks === 0 ? {} : {
    ...longKeys ? { keySize: 8 } : {},
    valueSize: shortValues ? 4 : 8,
    heap: {
      bytes: 4 * BLOCK * blocks,
      blockSize: 4 * BLOCK,
      inEntry: 4,
      keyInEntry: longKeys ? 4 : undefined,
    },
  };
  const evict = caches ? "clock" as const : undefined;
  const ttl = expires ? TTL : undefined;
  /** Where the clock is: a word behind the map. */
  const clock = blocks === 0 ? plan.length : heap.length;
  const pass = (memory: SharedArrayBuffer, ms: number) =>
    void Atomics.add(new Int32Array(memory), clock, ms);
  type View = InstanceType<typeof HashMap<number, number>>;
  const adding = (
    s: Model,
    key: number,
    value: number,
    done: unknown,
    full: unknown,
  ) =>
    blocks > 0
      ? addingLong(s, key, value, done, full)
      : key in s
      ? [put(s, key, value), done] as const
      : evicts
      ? evicting(s, key, value, done)
      : expires
      ? [put(s, key, value), done] as const
      : sizeOf(s) === capacity
      ? [s, full] as const
      : race.either(
        [put(s, key, value), done],
        race.contended([s, full]),
      );
  /** The same of a map with a heap. */
  const addingLong = (
    s: Model,
    key: number,
    value: number,
    done: unknown,
    full: unknown,
  ) => {
    const next = put(s, key, value);
    // A new value needs its blocks beside those of the old one.
    const numbers = [...Object.values(s), value];
    if (longKeys) numbers.push(...Object.keys(next).map(Number));
    const needed = BLOCKS * numbers.filter((number) => number >= LONG).length;
    const isFull = needed > blocks || sizeOf(next) > capacity;
    if (evicts) {
      const others = Object.keys(s).map(Number).filter((k) => k !== key);
      const left = others.map((other) => without(next, other));
      return race.either(
        ...isFull ? [] : [[next, done] as const],
        ...left.map((left) =>
          isFull ? [left, done] as const : race.contended<Model>([left, done])
        ),
        // It gave way itself.
        isFull
          ? [without(s, key), done] as const
          : race.contended<Model>([without(s, key), done]),
      );
    }
    return isFull
      ? [s, full] as const
      : race.either([next, done], race.contended([s, full]));
  };
  /** A cache may take out any entry, if it is full or others write as well. */
  const evicting = (s: Model, key: number, value: number, done: unknown) => {
    const next = put(s, key, value);
    const isFull = sizeOf(s) === capacity;
    const others = Object.keys(s).map((other) => without(next, Number(other)));
    return race.either(
      ...isFull ? [] : [[next, done] as const],
      ...others.map((left) =>
        // One that has expired may still take room.
        isFull || expires
          ? [left, done] as const
          : race.contended<Model>([left, done])
      ),
      race.contended([s, done]), // the new key gave way itself
      // Who ends after it took an entry out has not added its own.
      ...ends ? others.map((left) => [without(left, key), done] as const) : [],
    );
  };
  /** An entry may go before the new key is there. */
  const finding = <T>(s: Model, key: number, found: T, absent: T) =>
    evicts && key in s
      ? race.either(
        [s, found],
        race.contended([without(s, key), absent]),
      )
      : [s, key in s ? found : absent] as const;
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(4 * clock + (expires ? 4 : 0));
      const options = { seed: SEED, evict, ttl, ...heapConfig };
      const config = { ...codecs, capacity, ...options };
      const map = HashMap.init(memory, 0, config);
      const { now } = time;
      time.now = () => 0;
      for (const key in first) map.set(Number(key), first[key]!);
      time.now = now;
      prepare?.(new Int32Array(memory), plan.entries);
      return memory;
    },
    agent: (memory: SharedArrayBuffer, id: number): View => {
      enter(weft, id);
      if (expires) {
        weft.time.time.now = () => Atomics.load(new Int32Array(memory), clock);
      }
      return new weft.mod.HashMap(memory, 0, codecs);
    },
    words: {
      ...named(LAYOUT.hash_map),
      ...expires ? { clock: clock * 4 } : {},
      bits: plan.bits * 4,
      ...blocks > 0 ? { blockBits: heap.bits * 4, block: heap.blocks * 4 } : {},
      ...Object.fromEntries(
        ["lock", "starving", "version", "head"].map((
          name,
          i,
        ) => [name, (plan.buckets + i) * 4]),
      ),
    },
    init: first,
    ops: {
      get: {
        run: (map: View, key: number) => map.get(key),
        model: (s: Model, key: number) => finding(s, key, s[key], undefined),
        lockFree: true,
      },
      has: {
        run: (map: View, key: number) => map.has(key),
        model: (s: Model, key: number) => finding(s, key, true, false),
        lockFree: true,
      },
      set: {
        run: (map: View, [key, value]: Pair) => map.set(key, value),
        model: (s: Model, [key, value]: Pair) =>
          adding(s, key, value, true, false),
      },
      setIfAbsent: {
        run: (map: View, [key, value]: Pair) =>
          map.set(key, value, { ifAbsent: true }),
        model: (s: Model, [key, value]: Pair) =>
          key in s ? [s, false] : adding(s, key, value, true, false),
      },
      delete: {
        run: (map: View, key: number) => map.delete(key),
        model: (s: Model, key: number) => [without(s, key), key in s],
      },
      take: {
        run: (map: View, key: number) => map.take(key),
        model: (s: Model, key: number) => [without(s, key), s[key]],
      },
      add: {
        run: (map: View, [key, n]: Pair) => map.add(key, n),
        model: (s: Model, [key, n]: Pair) =>
          adding(s, key, (s[key] ?? 0) + n, s[key] ?? 0, undefined),
      },
      exchange: {
        run: (map: View, [key, from, to]: Triple) =>
          map.compareExchange(key, from, to),
        model: (s: Model, [key, from, to]: Triple) => [
          s[key] === from ? put(s, key, to) : s,
          s[key],
        ],
      },
      twice: {
        run: (map: View, key: number) =>
          map.update(key, (old) => (old ?? 0) * 2 || undefined),
        model: (s: Model, key: number) => [
          key in s ? put(s, key, s[key]! * 2) : s,
          true,
        ],
      },
      make: {
        run: (map: View, [key, value]: Pair) =>
          map.getOrInsert(key, () => value),
        model: (s: Model, [key, value]: Pair) =>
          key in s ? [s, s[key]] : adding(s, key, value, value, undefined),
      },
      waitFor: {
        run: (map: View, key: number) => map.waitFor(key),
        model: (s: Model, key: number) => key in s ? [s, s[key]] : null,
      },
      waitMs: {
        run: (map: View, key: number) => map.tryWaitFor(key, 5),
        model: (s: Model, key: number) =>
          key in s
            ? race.either([s, s[key]], race.timedOut<Model>([s, undefined]))
            : race.timedOut<Model>([s, undefined]),
      },
      spare: {
        // What was just used stays if another key needs room.
        run: (map: View, [used, fresh]: Pair) => {
          map.get(used);
          map.set(fresh, 1);
          return map.has(used);
        },
        model: (s: Model, [used, fresh]: Pair) =>
          race.either(
            ...Object.keys(s).map(Number).filter((key) => key !== used).map((
              key,
            ) => [without(put(s, fresh, 1), key), used in s] as const),
          ),
      },
      clear: {
        run: (map: View) => map.clear(),
        model: (_: Model) => [{}, undefined],
      },
      sum: {
        // Each pair that is seen belongs together: values are 10 times keys.
        run: (map: View) => {
          for (const [key, value] of map) if (value !== 10 * key) return key;
          return 0;
        },
        model: (s: Model) => [s, 0],
        lockFree: true,
      },
      size: {
        run: (map: View) => map.size,
        model: (s: Model) => [s, sizeOf(s)],
      },
      found: {
        // By the iterator, which remembers no places.
        run: (map: View, key: number) => new Map(map).get(key),
        model: (s: Model, key: number) => finding(s, key, s[key], undefined),
      },
      pass: {
        // Time passes, until nothing counts that was written before.
        run: (map: View) => pass(map.buffer, TTL),
        model: () => [{}, undefined],
      },
      renew: {
        // The old value would have expired, but not the new one.
        run: (map: View, [key, value]: Pair) => {
          pass(map.buffer, TTL - 1);
          map.set(key, value);
          pass(map.buffer, 1);
        },
        model: (s: Model, [key, value]: Pair) => [
          put(s, key, value),
          undefined,
        ],
      },
      setBriefly: {
        // Values from BRIEF on count for a moment, and others for longer.
        run: (map: View, [key, value]: Pair) => map.set(key, value, { ttl: 1 }),
        model: (s: Model, [key, value]: Pair) => [put(s, key, value), true],
      },
      moment: {
        run: (map: View) => pass(map.buffer, 1),
        model: (s: Model) => [
          Object.fromEntries(Object.entries(s).filter(([, n]) => n < BRIEF)),
          undefined,
        ],
      },
      die: {
        // As an agent that ended within delete, before it told readers.
        run: (map: View, _key: number) => {
          const words = new Int32Array(map.buffer);
          Atomics.store(words, plan.buckets, DEAD);
          Atomics.add(words, plan.buckets + 2, 1);
          Atomics.store(words, plan.buckets + 3, 0);
        },
        model: (s: Model, key: number) => [without(s, key), undefined],
      },
      abandon: {
        run: (map: View) => void map.abandon(DEAD),
        model: (s: Model) => [s, undefined],
      },
    },
    recover: (map: View, dead: number) => void map.abandon(dead + 1),
    final: (memory: SharedArrayBuffer) => {
      const map = new HashMap(memory, 0, codecs);
      time.now = () => new Int32Array(memory)[clock]!;
      const { problems } = inspect(map);
      if (problems.length > 0) return problems[0]!.text;
      const words = new Int32Array(memory);
      for (let i = 0; i < plan.bucketCount; i++) {
        const owner = words[plan.buckets + 4 * i]! & OWNER;
        if (owner !== 0) return `agent ${owner} holds bucket ${i}`;
      }
      let used = 0;
      for (let i = 0; i < capacity; i++) {
        const link = words[plan.entries + i * plan.stride]!;
        if (link < 0) return `entry ${i + 1} is being filled`;
        if (link !== 0) used |= 1 << i;
      }
      // A bit may be missing if the bucket was recovered: harmless.
      const maker = words[plan.flights]!;
      if (maker !== 0) return `agent ${maker} makes a value`;
      const bits = words[plan.bits]!;
      if (bits & ~used) return `bits ${bits}, used ${used}`;
      const isFull = (words[LAYOUT.hash_map.full]! & 1) !== 0;
      if (isFull && used + 1 !== 1 << capacity) return "it says it is full";
      let reached = 0;
      for (let i = 0; i < plan.bucketCount; i++) {
        let next = words[plan.buckets + 4 * i + 3]!;
        for (; next !== 0; reached++) {
          const link = words[plan.entries + (next - 1) * plan.stride]!;
          if (link < LINKED) return `entry ${next} is free, and in a chain`;
          if (reached > capacity) return `bucket ${i} is a circle`;
          next = link & ~LINKED;
        }
      }
      const leak = blocks > 0 && leakIn(words, plan, heap);
      if (leak) return leak;
      if (reached !== map.size) return `${reached} reached of ${map.size}`;
      const seen = [...map].length;
      if (seen !== map.size && !expires) return `${seen} found of ${map.size}`;
    },
  });
}

/**
 * What is wrong with the blocks: each is free, or of one value of its bucket.
 */
function leakIn(
  words: Int32Array,
  plan: ReturnType<typeof planFor>,
  heap: ReturnType<typeof heapFor>,
): string | undefined {
  const used = new Set<number>();
  for (let i = 0; i < plan.capacity; i++) {
    const at = plan.entries + i * plan.stride;
    if (words[at]! < LINKED) continue;
    const value = at + plan.key + plan.keyWords +
      (words[at + 2]! & 1) * plan.valueWords;
    const bucket = (words[at + 1]! & (plan.bucketCount - 1)) + 1;
    // A key of one word says nothing of blocks.
    const places = plan.keyWords > 1 ? [at + plan.key, value] : [value];
    for (const from of places) {
      let next = words[from]! > 4 ? words[from + 1]! : 0;
      for (; next !== 0; next = words[heap.blocks + (next - 1) * BLOCK + 1]!) {
        if (used.has(next)) return `block ${next} is of two values`;
        used.add(next);
        const owner = words[heap.blocks + (next - 1) * BLOCK];
        if (owner !== bucket) {
          return `block ${next} is of ${owner}, not ${bucket}`;
        }
      }
    }
  }
  for (let i = 1; i <= heap.count; i++) {
    const owner = words[heap.blocks + (i - 1) * BLOCK];
    if (owner !== 0 && !used.has(i)) return `block ${i} is lost`;
    // A bit may be missing if the bucket was recovered: harmless.
    const isSet = (words[heap.bits]! & 1 << i - 1) !== 0;
    if (owner === 0 && isSet) return `the bit of block ${i} is lost`;
  }
}

/** How often a value was made, and how many are making one, behind the map. */
const MADE = 0, MAKING = 1;

interface Making {
  /** How many tries fail. */
  readonly failures?: number;
  /** Whether a dead agent was making the value. */
  readonly abandoned?: boolean;
  /** Whether agents end while they make it. */
  readonly ends?: boolean;
}

/** A wait ended by its look after a second. */
function lost(): never {
  throw new RangeError("a wake was lost");
}

/** Agents that await a value which one of them makes. */
export function making(
  weft: Weft,
  { failures = 0, abandoned = false, ends = false }: Making,
) {
  const codecs = { key: codec.i32, value: codec.i32, remember: false };
  const capacity = abandoned ? 2 : 1; // a flight may be ended meanwhile
  const config = { ...codecs, capacity, seed: SEED };
  const length = HashMap.byteLength(config);
  const { flights } = planFor(HEAD, capacity, 1, 1);
  return race.spec({
    async: true,
    memory: () => {
      const memory = new SharedArrayBuffer(length + 8);
      HashMap.init(memory, 0, config);
      const words = new Int32Array(memory);
      if (abandoned) {
        words[flights] = DEAD;
        words[flights + 1] = hashOf(SEED, ~SEED, Int32Array.of(A), 1);
      }
      return memory;
    },
    ...itsOwn(weft, ({ mod, spin }, memory) => {
      spin.spinning.patience = 8;
      const map = new mod.HashMap<number, number>(memory, 0, codecs);
      return { map, counts: new Int32Array(memory, length, 2) };
    }),
    words: { ...named(LAYOUT.hash_map), made: length, making: length + 4 },
    init: 0, // how often it failed
    ops: {
      make: {
        run: async ({ map, counts }) => {
          const make = async () => {
            if (Atomics.add(counts, MAKING, 1) !== 0 && !ends) {
              throw new RangeError("two make one value");
            }
            const tries = Atomics.add(counts, MADE, 1) + 1;
            await undefined;
            Atomics.sub(counts, MAKING, 1);
            if (tries <= failures) throw new SyntaxError("no value");
            return 7;
          };
          try {
            return await map.getOrInsertAsync(A, make);
          } catch (error) {
            if ((error as Error).name !== "SyntaxError") throw error;
          } finally {
            // The time of the tester only goes on if all wait.
            if (performance.now() >= LOOKS && !ends) lost();
          }
        },
        model: (failed: number) =>
          failed < failures ? [failed + 1, undefined] : [failed, 7],
      },
      abandon: {
        run: ({ map }) => void map.abandon(DEAD),
        model: (failed: number) => [failed, undefined],
      },
    },
    recover: ({ map }, dead: number) => void map.abandon(dead + 1),
    final: (memory: SharedArrayBuffer) => {
      const [made, atOnce] = new Int32Array(memory, length, 2);
      const isRight = made === failures + 1 && atOnce === 0;
      if (!isRight && !ends) return `made ${made} times, ${atOnce} at once`;
      const map = new HashMap(memory, 0, codecs);
      if (map.get(A) !== 7) return "no value";
      const [owner, hash] = new Int32Array(memory, flights * 4, 2);
      if (owner !== 0 || hash !== 0) return `agent ${owner} makes ${hash}`;
    },
  });
}

// also: node, browsers
// Damaged memory, agents that end or meet at any step, and waits for a key.
import * as assert from "uvu/assert";
import {
  type Codec,
  codec,
  DamagedError,
  HashMap,
  inspect,
  recover,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { planFor } from "../../primitives/_map/plan.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  preemptedAnywhere,
  refuses,
  rejects,
  wordsOf,
} from "../_run/model.ts";
import { DEAD, ints, parts } from "./maps.ts";

const test = suite("agents at one HashMap");

test("damage is noticed, and loops end", () => {
  const wrongs: ((map: HashMap<number, number>) => void)[] = [
    (map) => {
      const { words, buckets } = parts(map);
      words[buckets + 3] = 9; // no such entry
    },
    (map) => {
      const { words, buckets } = parts(map);
      words[buckets + 3] = -1;
    },
    (map) => {
      const { words, entries } = parts(map);
      words[entries] = 1 << 30 | 1; // it leads to itself
    },
    (map) => {
      const { words, entries } = parts(map);
      words[entries] = 0; // free, and in a chain
    },
  ];
  for (const wrong of wrongs) {
    const map = HashMap.create({ ...ints, capacity: 1 });
    map.set(1, 2);
    wrong(map);
    const calls: (() => unknown)[] = [
      () => map.get(5),
      () => map.has(5),
      () => map.set(5, 1),
      () => map.delete(5),
      () => map.take(5),
      () => map.add(5, 1),
      () => map.compareExchange(5, 1, 2),
      () => map.update(5, () => 1),
      () => map.getOrInsert(5, () => 1),
      () => map.clear(),
    ];
    for (const call of calls) refuses(map.buffer, call, DamagedError, "map");
    asAgent(DEAD, () => new HashMap(map.buffer, 0, ints));
    const { words, buckets } = parts(map);
    words[buckets] = DEAD;
    refuses(map.buffer, () => map.abandon(DEAD), DamagedError, "map");
    assert.equal(recover(DEAD, map).map(({ what }) => what), ["damaged"]);
  }
});

test("a length that is impossible is noticed", () => {
  const texts = { key: codec.text, value: codec.text };
  const sizes = { keySize: 4, valueSize: 4 };
  const map = HashMap.create({ ...texts, ...sizes, capacity: 1 });
  map.set("a", "b");
  const { entries } = planFor(LAYOUT.hash_map.length, 1, 2, 2);
  for (const length of [-1, 5, 1 << 30]) {
    wordsOf(map)[entries + 5] = length;
    refuses(map.buffer, () => map.get("a"), DamagedError, "map");
    refuses(map.buffer, () => map.take("a"), DamagedError, "map");
    assert.ok(map.has("a"));
  }
});

test("inspect() tells what does not fit together", () => {
  const rows: [index: (map: HashMap<number, number>) => number, number][] = [
    [(map) => parts(map).buckets, -1],
    [(map) => parts(map).buckets + 3, 4],
    [(map) => parts(map).entries, 1],
    [(map) => parts(map).entries, 1 << 30 | 4],
    [(map) => parts(map).entries, 1 << 31],
  ];
  for (const [index, value] of rows) {
    const map = HashMap.create({ ...ints, capacity: 3 });
    assert.equal(inspect(map).problems, []);
    parts(map).words[index(map)] = value;
    const [problem] = inspect(map).problems;
    assert.is(problem?.index, index(map));
    assert.is(problem?.value, value);
    assert.is(problem?.what, "damaged");
  }
});

const operations: Record<string, (map: HashMap<number, number>) => unknown> = {
  "set a new key": (map) => map.set(3, 30),
  "overwrite": (map) => map.set(1, 11),
  delete: (map) => map.delete(1),
  "delete the other": (map) => map.delete(2),
  take: (map) => map.take(2),
  add: (map) => map.add(1, 1),
  update: (map) => map.update(2, (old) => (old ?? 0) + 1),
  get: (map) => map.get(2),
  iterate: (map) => [...map],
};

/** Thrown instead of the next step of an agent that ends. */
class Ended extends Error {}

test("an agent may end at any step", () => {
  for (const value of [codec.i32, codec.f64]) {
    const codecs = { key: codec.i32, value };
    for (const [name, operation] of Object.entries(operations)) {
      for (let at = 0, ended = true; ended; at++) {
        const [map, whole] = [filled(value), filled(value)];
        const before = sorted(map);
        operation(whole);
        const victim = asAgent(DEAD, () => new HashMap(map.buffer, 0, codecs));
        ended = endsAt(at, () => operation(victim));
        const path = `${name}, step ${at}`;
        const seen = sorted(map);
        assert.ok(
          seen === before || seen === sorted(whole),
          `${path}: ${seen}`,
        );
        const found = recover([DEAD], map);
        assert.ok(found.every(({ what }) => what === "writes ended"), path);
        assert.equal(recover([DEAD], map), [], path);
        assert.is(sorted(map), seen, path);
        assert.equal(inspect(map).problems, []);
        // Every entry can be used, and every bucket be written to.
        for (let n = 10; map.size < 4; n++) assert.ok(map.set(n, n), path);
        assert.not.ok(map.set(99, 1), path);
        map.clear();
        assert.is(map.size, 0, path);
        for (let n = 0; n < 4; n++) assert.ok(map.set(n, n), path);
      }
    }
  }
});

const sorted = (map: Iterable<[number, number]>) =>
  JSON.stringify([...map].toSorted(([a], [b]) => a - b));

/** A map of four entries with two keys. */
function filled(value: Codec<number>): HashMap<number, number> {
  const codecs = { key: codec.i32, value };
  const map = HashMap.create({ ...codecs, capacity: 4, seed: 1 });
  map.set(1, 10);
  map.set(2, 20);
  return map;
}

/** Ends an operation before its step number `at`; whether it came so far. */
function endsAt(at: number, operation: () => unknown): boolean {
  const names = [
    "load",
    "store",
    "add",
    "and",
    "or",
    "compareExchange",
    "notify",
  ] as const;
  const atomics = Atomics as unknown as Record<string, unknown>;
  const originals = names.map((name) => atomics[name]);
  let steps = 0;
  names.forEach((name, i) => {
    const original = originals[i] as (...args: never[]) => unknown;
    atomics[name] = (...args: never[]) => {
      if (steps++ >= at) throw new Ended();
      return original.apply(Atomics, args);
    };
  });
  try {
    operation();
    return false;
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return true;
  } finally {
    names.forEach((name, i) => atomics[name] = originals[i]);
  }
}

test("any two operations may meet at any step", () => {
  for (const value of [codec.i32, codec.f64]) {
    const codecs = { key: codec.i32, value };
    // The operation does not hold a lock while a reader comes.
    for (const [one, run] of Object.entries(operations)) {
      preemptedAnywhere(
        () => {
          const map = filled(value);
          const reader = asAgent(5, () => new HashMap(map.buffer, 0, codecs));
          const before = sorted(map);
          return { map, reader, before, seen: "" };
        },
        ({ map }) => void run(map),
        (it) => void (it.seen = sorted(it.reader)),
        ({ map, before, seen }, step) => {
          const after = sorted(map);
          assert.ok(seen === before || seen === after, `${one} at ${step}`);
        },
      );
    }
    for (const [one, run] of Object.entries(operations)) {
      if (one !== "get" && one !== "iterate") continue;
      for (const [two, meet] of Object.entries(operations)) {
        preemptedAnywhere(
          () => {
            const map = filled(value);
            const other = asAgent(5, () => new HashMap(map.buffer, 0, codecs));
            return { map, other, seen: new Map<number, number>() };
          },
          (it) => {
            if (one === "get") it.seen.set(2, run(it.map) as number);
            else it.seen = new Map(run(it.map) as [number, number][]);
          },
          ({ other }) => {
            meet(other);
            other.delete(8);
            other.set(8, 80); // what was freed is used again
            other.delete(8);
          },
          ({ seen }, step) => {
            const path = `${one}, ${two} at ${step}`;
            for (const [key, value] of seen) {
              const known = { 1: [10, 11], 2: [20, 21, undefined], 3: [30] }[
                key
              ];
              assert.ok(known?.includes(value as never), `${path}: ${value}`);
            }
          },
        );
      }
    }
  }
});

test("waitFor() and its forms wait until a key is there", async () => {
  const map = HashMap.create({
    key: codec.text,
    value: codec.i32,
    capacity: 4,
  });
  const other = HashMap.from(map.handle, { key: codec.text, value: codec.i32 });
  const waits = [
    map.waitForAsync("a"),
    map.getAsync("a"),
    map.tryWaitForAsync("a", { timeout: 1e4 }),
    other.waitForAsync("a"),
  ];
  const late = map.tryWaitForAsync("none", { timeout: 1 });
  other.set("b", 1);
  other.set("a", 7);
  assert.equal(await Promise.all(waits), [7, 7, 7, 7]);
  assert.is(await late, undefined);
  assert.is(map.waitFor("a"), 7);
  assert.is(map.tryWaitFor("a", 1), 7);
  assert.is(map.tryWaitFor("c"), undefined);
  assert.is(map.tryWaitFor("c", 1), undefined);
  const { buffer } = map;
  refuses(buffer, () => map.tryWaitFor("c", NaN), RangeError, "NaN");
  refuses(buffer, () => map.waitFor(7 as never), TypeError, "7");
  const signal = AbortSignal.abort(new Error("enough"));
  const wait = map.waitForAsync("c", { signal });
  await rejects(buffer, wait, Error, "enough");
  const unknown = map.waitForAsync("c", { timeout: 1 } as never);
  await rejects(buffer, unknown, TypeError, "timeout");
  assert.equal(inspect(map).problems, []);
});

test("a wait does not keep a key that the caller changes", async () => {
  const codecs = { key: codec.binary, value: codec.i32 };
  const map = HashMap.create({ ...codecs, capacity: 4 });
  const key = Uint8Array.of(1);
  const wait = map.waitForAsync(key);
  key[0] = 2;
  map.set(key, 2);
  map.set(Uint8Array.of(1), 1);
  assert.is(await wait, 1);
});

test("getOrInsertAsync() makes a value once", async () => {
  const map = HashMap.create({ ...ints, capacity: 2 });
  let made = 0;
  let go = () => {};
  const make = async (key: number) => {
    made++;
    await new Promise<void>((resolve) => go = resolve);
    if (made === 1) throw new Error("the first fails");
    return 10 * key;
  };
  const calls = [1, 2, 3].map(() => map.getOrInsertAsync(1, make));
  assert.is(await map.getOrInsertAsync(2, (key) => key), 2); // another key
  const late = map.getOrInsertAsync(1, make, {
    signal: AbortSignal.abort(new Error("enough")),
  });
  await rejects(map.buffer, late, Error, "enough");
  go();
  const failed = await calls[0]!.catch(({ message }) => message);
  assert.is(failed, "the first fails");
  while (made < 2) await pause();
  go();
  assert.equal(await Promise.all(calls.slice(1)), [10, 10]);
  assert.is(made, 2);
  assert.is(await map.getOrInsertAsync(3, () => 30), undefined); // it is full
  const no = map.getOrInsertAsync(1, 7 as never);
  await rejects(map.buffer, no, TypeError, "7");
  assert.equal(inspect(map).problems, []);
});

test("what is set while a value is made stays; what is deleted comes back", async () => {
  const map = HashMap.create({ ...ints, capacity: 2 });
  let go = () => {};
  let begun = 0;
  const make = async () => {
    begun++;
    await new Promise<void>((resolve) => go = resolve);
    return 10;
  };
  const calls = [1, 2].map(() => map.getOrInsertAsync(1, make));
  while (begun < 1) await pause();
  assert.is(map.set(1, 11), true);
  go();
  assert.equal(await Promise.all(calls), [11, 11]);
  assert.is(map.get(1), 11);
  map.delete(1);
  const late = map.getOrInsertAsync(1, make);
  while (begun < 2) await pause();
  assert.is(map.delete(1), false);
  go();
  assert.is(await late, 10);
  assert.is(map.get(1), 10);
});

test("a value whose maker is dead is made by another", async () => {
  const map = HashMap.create({ ...ints, capacity: 2 });
  const { words, flights } = parts(map);
  const dead = asAgent(DEAD, () => HashMap.from(map.handle, ints));
  const never = dead.getOrInsertAsync(1, () => new Promise<number>(() => {}));
  assert.ok(never instanceof Promise);
  while (words[flights] === 0) await pause();
  assert.is(words[flights], DEAD);
  const value = map.getOrInsertAsync(1, () => 5);
  assert.equal(
    recover([DEAD], map).map(({ what, count }) => [what, count]),
    [["writes ended", 1]],
  );
  assert.is(await value, 5);
  assert.is(words[flights], 0);
});

test("more values than flights may be made at once", async () => {
  const map = HashMap.create({ ...ints, capacity: 1 });
  const one = map.getOrInsertAsync(1, async () => (await undefined, 1));
  const two = map.getOrInsertAsync(2, async () => (await undefined, 2));
  assert.equal(await Promise.all([one, two]), [1, undefined]);
});

/** A moment: `make` may be called only in another turn of the event loop. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 1));

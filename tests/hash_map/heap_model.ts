/**
 * What the tests of maps with a heap have in common: steps, a model, and the
 * blocks that both use.
 *
 * @module
 */
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { DamagedError, HashMap, inspect } from "../../mod.ts";
import { heapIn, planOf } from "../../primitives/_map/config.ts";
import { refuses, wordsOf } from "../_run/model.ts";

/** The most entries of a map that {@linkcode obeysModel} plays with. */
export const ENTRIES = 16;

/** What is done to the entry of a key; a value has `length` letters. */
export interface Step<K> {
  readonly op: "set" | "update" | "delete" | "take";
  readonly key: K;
  readonly length: number;
}

/** Steps with these keys. */
export const stepsWith = <K>(key: fc.Arbitrary<K>): fc.Arbitrary<Step<K>[]> =>
  fc.array(
    fc.record({
      op: fc.constantFrom("set", "set", "set", "update", "delete", "take"),
      key,
      length: fc.oneof(fc.nat(40), fc.integer({ min: 25, max: 40 })),
    }),
    { maxLength: 60 },
  );

/** How many blocks of 8 bytes a key or value needs: 4 lie in the entry. */
const blocksOf = (one: string | number): number =>
  typeof one === "number" || one.length <= 4 ? 0 : Math.ceil(one.length / 8);

/** How many blocks keys and values need. */
export const blocksOfAll = (all: Iterable<string | number>): number =>
  [...all].reduce<number>((sum, one) => sum + blocksOf(one), 0);

/** How many blocks are not free: these name who owns them. */
export function usedIn<K, V>(map: HashMap<K, V>): number {
  const words = wordsOf(map);
  const { blocks, count, blockWords } = heapIn(words)!;
  let used = 0;
  for (let i = 0; i < count; i++) {
    if (words[blocks + i * blockWords] !== 0) used++;
  }
  return used;
}

/** Plays steps with a map of {@linkcode ENTRIES} entries that `other` sees. */
export function obeysModel<K extends string | number>(
  map: HashMap<K, string>,
  other: HashMap<K, string>,
  blocks: number,
  steps: readonly Step<K>[],
): void {
  const model = new Map<K, string>();
  let used = 0;
  for (const { op, key, length } of steps) {
    const old = model.get(key);
    const value = String.fromCharCode(97 + length % 26).repeat(length);
    const wanted = blocksOf(value) + (old === undefined ? blocksOf(key) : 0);
    const fits = used + wanted <= blocks &&
      (old !== undefined || model.size < ENTRIES);
    if (op === "set" || op === "update") {
      const done = op === "set"
        ? map.set(key, value)
        : map.update(key, () => value);
      assert.is(done, fits);
      if (fits) model.set(key, value);
    } else {
      if (op === "take") assert.is(map.take(key), old);
      else assert.is(map.delete(key), old !== undefined);
      model.delete(key);
    }
    used = blocksOfAll([...model].flat());
    assert.is(usedIn(map), used);
    assert.equal(new Map(other), model);
    for (const one of new Set(steps.map(({ key }) => key))) {
      assert.is(other.has(one), model.has(one));
    }
  }
  assert.equal(inspect(map).problems, []);
  map.clear();
  assert.is(usedIn(map), 0);
}

/** Expects that a configuration is refused, of which `common` is a part. */
export function refusing(common: object) {
  const memory = new SharedArrayBuffer(4096);
  return (
    config: object,
    type: new (message: string) => Error,
    text: string,
  ): void => {
    const whole = { capacity: 1, ...common, ...config } as never;
    refuses(memory, () => HashMap.init(memory, 0, whole), type, text);
    refuses(memory, () => HashMap.byteLength(whole), type, text);
  };
}

/**
 * Gives each word of the entries and of the heap impossible values, and does
 * each of `operations` to a map with one: it ends, and throws nothing but a
 * DamagedError. `attach` makes a map of a copy of the memory of `whole`.
 */
export function survivesDamage<M>(
  whole: HashMap<unknown, unknown>,
  attach: (memory: SharedArrayBuffer) => M,
  operations: Readonly<Record<string, (map: M) => unknown>>,
): void {
  const { length } = wordsOf(whole);
  const [, capacity, sizes] = wordsOf(whole);
  const { entries } = planOf(capacity!, sizes!);
  for (let index = entries; index < length; index++) {
    for (const value of [0, -1, 1, 2, 13, 1 << 30]) {
      for (const [name, operation] of Object.entries(operations)) {
        const memory = whole.buffer.slice(0);
        new Int32Array(memory)[index] = value;
        const map = attach(memory);
        try {
          operation(map);
        } catch (error) {
          assert.instance(error, DamagedError, `${name}, word ${index}`);
        }
      }
    }
  }
}

// What does a map cost that threads share? Floor: a Map of the agent's own, and
// the two exchanges that a lock needs in any case.
import { codec, HashMap } from "../mod.ts";
import { contest, ratio, type Row, timed } from "./contest.ts";

/** Entries of each map; half of a million calls go round them. */
const KEYS = 1024;

/** Words of nine letters. */
const WORDS = Array.from({ length: KEYS }, (_, i) => `word${10_000 + i}`);

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
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
  ]);
  if (Number.isNaN(sum)) throw new Error("no sum");
  return [{
    name: "HashMap, get of a text of 9 letters by one: time / a local Map",
    ...ratio(results, "get text", "Map of texts"),
  }, {
    name: "HashMap, set of such a text: time / two bare exchanges",
    ...ratio(results, "set text", "exchanges"),
  }, {
    name: "HashMap, get of a number by a number: time / a local Map",
    ...ratio(results, "get i32", "Map of numbers"),
  }, {
    name: "HashMap, set of a number: time / two bare exchanges",
    ...ratio(results, "set i32", "exchanges"),
  }, {
    name: "HashMap, add to a number: time / two bare exchanges",
    ...ratio(results, "add i32", "exchanges"),
  }, {
    name: "HashMap, delete and set of a number: time / two bare exchanges",
    ...ratio(results, "delete, set i32", "exchanges"),
  }];
}

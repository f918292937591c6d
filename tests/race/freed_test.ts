// Tests `race.free`: whoever uses memory that was given back is found, in every
// search, whichever access it makes.
import * as assert from "uvu/assert";
import { race, type RaceError } from "../../race/mod.ts";
import type { Options, Result } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race freed");

type Body = (words: Int32Array) => unknown;
const memory = () => new SharedArrayBuffer(8);

function agents(options: Options, ...bodies: Body[]): Result {
  const same = bodies.map((body) => (memory: SharedArrayBuffer) =>
    body(new Int32Array(memory))
  );
  try {
    return race.agents({ memory }, ...same, options);
  } catch (error) {
    return (error as RaceError).result;
  }
}

/** Waits for the signal, and gives all words back. */
const waits: Body = (words) => {
  while (Atomics.load(words, 0) === 0) Atomics.wait(words, 0, 0);
  race.free(words);
};
const signals: Body = (words) => {
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
};

const AFTER: Record<string, Body> = {
  "a load": (words) => Atomics.load(words, 1),
  "a store": (words) => Atomics.store(words, 1, 0),
  "an addition": (words) => Atomics.add(words, 1, 1),
  "an exchange that fails": (words) => Atomics.compareExchange(words, 1, 0, 1),
  "a wait": (words) => Atomics.wait(words, 1, 9),
};

for (const [what, access] of Object.entries(AFTER)) {
  for (const options of [{}, { reduce: false }, { memoryless: true }]) {
    const how = JSON.stringify(options);
    test(`${what} after the signal is found: ${how}`, () => {
      const result = agents(options, waits, (words) => {
        signals(words);
        access(words);
      });
      assert.is(result.failure?.kind, "use-after-free");
      assert.match(
        result.failure!.message,
        /agent 1's .* of \[4\] .*given back/,
      );
    });

    test(`${what} before the signal is none: ${how}`, () => {
      const result = agents(options, waits, (words) => {
        access(words);
        signals(words);
      });
      assert.is(result.failure, undefined, result.failure?.table);
      assert.ok(result.complete, result.summary);
    });
  }
}

test("a notification after the signal is none", () => {
  const result = agents({}, waits, signals, signals);
  assert.is(result.failure?.kind, "use-after-free", "the second one stores");
  const alone = agents({}, waits, signals);
  assert.is(alone.failure, undefined, alone.failure?.table);
  assert.ok(alone.complete);
});

test("memory is given back twice", () => {
  const frees: Body = (words) => race.free(words);
  assert.is(agents({}, frees, frees).failure?.kind, "use-after-free");
});

test("what is no Int32Array cannot be given back", () => {
  for (
    const words of [undefined, new Uint8Array(4), new SharedArrayBuffer(4)]
  ) {
    assert.throws(() => race.free(words as unknown as Int32Array), TypeError);
  }
});

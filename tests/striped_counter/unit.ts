// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { StripedCounter } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { preemptedAnywhere, refuses, wordsOf } from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const AGENT = new URL("./agent.ts", import.meta.url);
const LOW = LAYOUT.striped_counter.length;
const SECTOR = 2 ** 28;

/** Gives the first stripe this sum. */
function from(counter: StripedCounter, sum: number): StripedCounter {
  wordsOf(counter)[LOW] = Number(BigInt.asIntN(32, BigInt(sum)));
  wordsOf(counter)[LOW + 1] = Math.floor(sum / SECTOR);
  return counter;
}

const test = suite("StripedCounter");

test("add() and sum() obey the model, beyond 32 bits", () => {
  const n = fc.oneof(
    fc.integer({ min: -5, max: 5 }),
    fc.integer(), // any that add() takes
    fc.constantFrom(SECTOR, -SECTOR, SECTOR + 1, -(2 ** 31), 2 ** 31 - 1),
  );
  const starts = [0, 2 ** 31, 2 ** 32, 2 ** 52, 2 ** 53 - 2 ** 50]
    .flatMap((start) => [start, start - 1, -start, 1 - start]);
  const adds = fc.array(fc.tuple(n, fc.nat({ max: 3 })), { maxLength: 60 });
  const start = fc.constantFrom(...starts);
  const stripes = fc.integer({ min: 1, max: 3 });
  fc.assert(fc.property(start, stripes, adds, (start, stripes, adds) => {
    const counter = from(StripedCounter.create({ stripes }), start);
    assert.is(counter.stripes, stripes);
    const views = [0, 1, 2, 3].map(() => new StripedCounter(counter.buffer));
    let sum = start; // the model
    for (const [n, view] of adds) {
      views[view]!.add(n);
      sum += n;
      assert.is(counter.sum(), sum);
      assert.is(views[0]!.sum(), sum);
    }
  }));
});

test("a stripe counts on to 2^59, where it wraps", () => {
  const counter = from(StripedCounter.create({ stripes: 1 }), 0);
  wordsOf(counter)[LOW] = -1;
  wordsOf(counter)[LOW + 1] = 2 ** 31 - 1;
  assert.is(counter.sum(), 2 ** 59);
  counter.add(1);
  assert.is(counter.sum(), -(2 ** 59));
  counter.add(-1);
  assert.is(counter.sum(), 2 ** 59);
});

test("views take one stripe after the other, however often", () => {
  for (const first of [0, -2, 0x7fff_fffe]) {
    const counter = StripedCounter.create({ stripes: 3 });
    wordsOf(counter)[LAYOUT.striped_counter.claims] = first;
    const stripes = () => [0, 1, 2].map((i) => wordsOf(counter)[LOW + 32 * i]!);
    for (let i = 0; i < 9; i++) {
      const view = new StripedCounter(counter.buffer);
      view.add();
      view.add();
    }
    // When the claims wrap, one stripe may be left out and another doubled.
    const all = stripes();
    assert.is(all.reduce((a, b) => a + b), 18);
    if (first !== -2) assert.equal(all, [6, 6, 6]);
    assert.ok(Math.max(...all) - Math.min(...all) <= 4, `${all}`);
    assert.is(counter.sum(), 18);
  }
});

test("a StripedCounter refuses to add a value that is no integer", () => {
  const counter = StripedCounter.create();
  const { buffer } = counter;
  for (const n of [0.5, NaN, Infinity, 2 ** 31, -(2 ** 31) - 1, 2 ** 53]) {
    refuses(buffer, () => counter.add(n), RangeError, `received ${n}`);
  }
  for (const stripes of [0, -1, 1.5, 1025, NaN]) {
    const wrong = () => StripedCounter.init(buffer, 0, { stripes });
    refuses(buffer, wrong, RangeError, `received ${stripes}`);
  }
});

test("sum() is right however late the carries are, and add() does them", () => {
  for (const start of [0, -1, 3 * SECTOR - 1, 2 ** 32, -(2 ** 32), 2 ** 45]) {
    for (let late = -8; late <= 7; late++) {
      const counter = from(StripedCounter.create({ stripes: 1 }), start);
      const high = wordsOf(counter)[LOW + 1]! - late;
      wordsOf(counter)[LOW + 1] = high;
      assert.is(counter.sum(), start, `${late}`);
      counter.add(0);
      assert.is(wordsOf(counter)[LOW + 1], high + late);
      assert.is(counter.sum(), start, `${late}`);
    }
  }
});

test("two adds may meet at any step", () => {
  for (const one of [1, -1, SECTOR, -SECTOR, 2 ** 31 - 1]) {
    for (const other of [1, -1, SECTOR, -SECTOR]) {
      for (const start of [0, SECTOR - 1, 2 ** 32 - 1, -(2 ** 32)]) {
        preemptedAnywhere(
          () => from(StripedCounter.create({ stripes: 1 }), start),
          (counter) => counter.add(one),
          ({ buffer }) => new StripedCounter(buffer).add(other),
          (counter, at) =>
            assert.is(counter.sum(), start + one + other, `${at}`),
        );
      }
    }
  }
});

test("threads lose nothing, on one stripe or on many", async () => {
  const [threads, times] = [3, 20_000];
  for (const stripes of [1, 8]) {
    const counter = StripedCounter.create({ stripes });
    const { buffer: memory } = counter;
    const steps = [SECTOR, 1, -SECTOR, 2 ** 27, -3, SECTOR - 5];
    const started = await Promise.all(
      Array.from(
        { length: threads },
        () => spawn(AGENT, { memory, steps, times }),
      ),
    );
    for (const thread of started) assert.is(await thread.next(), "done");
    for (const thread of started) thread.stop();
    const each = steps.reduce((a, b) => a + b);
    assert.is(counter.sum(), threads * times * each);
  }
});

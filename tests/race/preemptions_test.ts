// it explores
// Tests that a search which does not end names a number of preemptions up to
// which it covered everything, and that it did.
import fc from "../_run/property.ts";
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import { explore } from "../../race/explore/runs/drive.ts";
import { search } from "../../race/explore/search/search.ts";
import type { Found } from "../../race/explore/runs/task.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race preemptions");

/** A step of a random program: what it does to a word, and with which value. */
type Step = readonly [op: number, at: number, value: number];

const WORDS = 2;

function perform(words: Int32Array, [op, at, value]: Step): number {
  if (op === 0) return Atomics.load(words, at);
  if (op === 1) return Atomics.exchange(words, at, value);
  return Atomics.add(words, at, value);
}

/** The ends of all interleavings, each with the fewest preemptions it takes. */
function allEnds(program: readonly (readonly Step[])[]): Map<string, number> {
  const ends = new Map<string, number>();
  const words = new Int32Array(WORDS);
  const seen: number[][] = program.map(() => []);
  const go = (last: number, preemptions: number): void => {
    let over = true;
    program.forEach((steps, id) => {
      const step = steps[seen[id]!.length];
      if (step === undefined) return;
      over = false;
      const before = words.slice();
      const runs = last >= 0 && seen[last]!.length < program[last]!.length;
      seen[id]!.push(perform(words, step));
      go(id, preemptions + (runs && last !== id ? 1 : 0));
      seen[id]!.pop();
      words.set(before);
    });
    if (!over) return;
    const end = JSON.stringify([seen, [...words]]);
    ends.set(end, Math.min(preemptions, ends.get(end) ?? Infinity));
  };
  go(-1, 0);
  return ends;
}

/** The ends that a search of at most `states` states meets. */
function endsOf(program: readonly (readonly Step[])[], states: number) {
  const { scenario } = race.spec({
    memory: () => new SharedArrayBuffer(4 * WORDS),
    agent: (memory) => new Int32Array(memory),
    ops: {
      run: {
        run: (words, at: number) =>
          program[at]!.map((step) => perform(words, step)),
      },
    },
  });
  const ends = new Set<string>();
  const calls = program.map((_, arg) => [{ op: "run", arg }]);
  const found = explore<Found>(scenario, calls, {}, (engine) =>
    search(engine, {
      states,
      time: 60_000,
      minimal: true,
      lockFree: "no",
      races: false,
      rescue: true,
      results: true,
      reduce: true,
      onEnd: ({ world: { agents, memory } }) => {
        const seen = agents.map(({ results }) => results[0]);
        ends.add(JSON.stringify([seen, [...memory.regions[0]!.words]]));
      },
    })) as Found;
  return { ends, found };
}

const step = fc.tuple(
  ...[fc.nat(2), fc.nat(WORDS - 1), fc.integer({ min: 1, max: 3 })],
) as unknown as fc.Arbitrary<Step>;
const steps = fc.array(step, { minLength: 1, maxLength: 4 });

test("random programs: no end within the bound is left out", () => {
  let bounded = 0;
  fc.assert(
    fc.property(
      fc.array(steps, { minLength: 2, maxLength: 3 }),
      fc.integer({ min: 2, max: 120 }),
      (program, states) => {
        const { ends, found } = endsOf(program, states);
        const all = allEnds(program);
        for (const [end, preemptions] of all) {
          if (preemptions > found.preemptions && !found.complete) continue;
          assert.ok(ends.has(end), `${end} takes ${preemptions}`);
        }
        for (const end of ends) assert.ok(all.has(end), end);
        if (!found.complete && found.preemptions >= 0) bounded++;
      },
    ),
    { numRuns: 300, seed: 1 },
  );
  assert.ok(bounded > 50, `${bounded}`);
});

const adding = race.spec({
  memory: () => new SharedArrayBuffer(8),
  agent: (memory) => new Int32Array(memory),
  ops: {
    add: {
      run: (w, times: number = 30) => {
        for (let i = 0; i < times; i++) Atomics.add(w, i & 1, 1);
      },
    },
  },
});

test("a result names the bound, and a complete one needs none", () => {
  const program = [[["add"]], [["add"]]] as const;
  const some = race.check(adding, ...program, { states: 500, runs: 1 });
  assert.is(some.complete, false);
  assert.ok(some.preemptions! >= 0, some.summary);
  assert.match(
    some.summary,
    /^sampled: 1 execution, after .* 500 states; complete up to \d preemption/,
  );
  const all = race.check(adding, [["add", 3]], [["add", 3]]);
  assert.is(all.preemptions, undefined);
  assert.ok(all.complete, all.summary);
});

test("programs of assert are complete up to the least of these bounds", () => {
  const { summary } = race.assert(adding, {
    ops: 1,
    states: 500,
    runs: 1,
    programs: 10,
    seed: 2,
  });
  assert.match(
    summary,
    /; the others up to 500 states, and complete up to \d preemptions?$/,
  );
});

test("a failure that takes one preemption is found though there are too many states", () => {
  const wrong = race.spec({
    memory: () => new SharedArrayBuffer(12),
    agent: (memory) => new Int32Array(memory),
    ops: {
      work: { run: (w) => void [1, 2, 3, 4].map(() => Atomics.add(w, 1, 1)) },
      lose: {
        run: (w) => {
          Atomics.store(w, 0, Atomics.load(w, 0) + 1);
        },
      },
    },
    final: (memory, results) => {
      const lost = results.flat().length;
      const [sum] = new Int32Array(memory);
      return lost === 6 && sum !== 2 ? `the sum is ${sum}` : undefined;
    },
  });
  const { failure, summary } = race.check(
    wrong,
    [["work"], ["lose"], ["work"]],
    [["work"], ["lose"], ["work"]],
    { states: 600, runs: 0 },
  );
  assert.is(failure?.kind, "invariant", summary);
});

// it is long
// The searches check each other.
import * as assert from "uvu/assert";
import { explore } from "../../race/explore/runs/drive.ts";
import { searchTraces, type Traces } from "../../race/explore/runs/dpor.ts";
import { race } from "../../race/mod.ts";
import { bits, bits2 } from "../../race/engine/values.ts";
import type { Result, Spec } from "../../race/mod.ts";
import type { Engine } from "../../race/engine/step/replay.ts";
import { search } from "../../race/explore/search/search.ts";
import { COMPARE, type Found } from "../../race/explore/runs/task.ts";
import { compare as compareReductions } from "../_run/compare.ts";
import { suite } from "../_run/harness.ts";
import { loadWeft, unload } from "../_run/mutant.ts";
import { mutantsOf } from "../_run/mutants.ts";
import { LOOKS, scenariosIn } from "../_run/scenario.ts";
import { BUGS } from "./corpus/bugs.ts";
import { type Case, FAMILIES, locks, queue } from "./corpus/families.ts";
import { load } from "./corpus/load.ts";

const right = await load();
const test = suite("race searches");

const callsOf = ({ program }: Case) =>
  program.map((calls) =>
    calls.map(([op, arg]) => arg === undefined ? { op } : { op, arg })
  );

/** Everything that can differ at the end of an execution. */
function outcome({ world }: Engine): string {
  return JSON.stringify([
    world.agents.map(({ status, results }) => [status, results.map(String)]),
    world.memory.regions.map(({ words }) => [...words]),
  ]);
}

/** The outcomes all interleavings of a case have, by one search. */
function outcomes(
  one: Case,
  reduce: "none" | "sleep" | "source" | "states" | "own",
  executions: number,
): { outcomes: Set<string>; found: Traces | Found } {
  const ends = new Set<string>();
  const time = 5_000;
  const onEnd = (engine: Engine) => void ends.add(outcome(engine));
  const { scenario } = one.spec;
  const free = {
    ...scenario,
    model: null,
    final: null,
    stateless: scenario.stateless ?? false,
  };
  const found = explore<Traces | Found>(
    free,
    callsOf(one),
    { races: false },
    (engine) => {
      engine.recalls = reduce === "own";
      return reduce === "states" || reduce === "own"
        ? search(engine, {
          states: 500_000,
          time: 60_000,
          minimal: false,
          lockFree: "no",
          races: false,
          rescue: true,
          results: true,
          reduce: reduce === "own",
          groups: reduce === "own",
          onEnd,
        })
        : searchTraces(engine, { reduce, time, executions, onEnd });
    },
  ) as Traces | Found;
  return { outcomes: ends, found };
}

const small = (one: Case) =>
  one.program.length === 2 && !one.name.includes("for");

async function compare(bugs: (typeof BUGS[number] | undefined)[]) {
  let compared = 0;
  for (const bug of bugs) {
    const module = bug === undefined ? right : await load(bug);
    for (const [family, cases] of Object.entries(FAMILIES)) {
      if (bug !== undefined && bug.family !== family) continue;
      for (const one of cases(module).filter(small)) {
        const naive = outcomes(one, "none", 600);
        if (!naive.found.complete || naive.found.fault !== null) continue;
        for (const way of ["sleep", "source", "states", "own"] as const) {
          const other = outcomes(one, way, 1500);
          if (!other.found.complete) continue;
          assert.equal(
            [...other.outcomes].sort(),
            [...naive.outcomes].sort(),
            `${bug?.id} ${family} ${one.name}, ${way}`,
          );
          compared++;
        }
      }
    }
  }
  assert.ok(compared > 20, `${compared} compared`);
}

test("all searches reach the same outcomes, of right programs", () =>
  compare([undefined]));

test("all searches reach the same outcomes, of wrong programs", () =>
  compare(BUGS.filter((_, i) => i % 6 === 0)));

test("one execution each trace, and the traces naive search finds", () => {
  let compared = 0;
  for (const cases of Object.values(FAMILIES)) {
    for (const one of cases(right).filter(small)) {
      const naive = outcomes(one, "none", 600).found as Traces;
      if (!naive.complete) continue;
      const source = outcomes(one, "source", 1500).found as Traces;
      assert.equal([...source.traces].sort(), [...naive.traces].sort());
      assert.is(source.executions, source.traces.size, one.name);
      compared++;
    }
  }
  assert.ok(compared > 5);
});

test("counts the states it should", () => {
  const lock = [["lock"], ["unlock"]] as const;
  const two = race.check(locks(right), lock, lock);
  assert.is(
    two.summary,
    "complete up to loops of 100000 operations: 64 states; such loops count " +
      "as endless, and how often they go round is tried, not proven",
  );
  assert.is(race.check(locks(right), lock, lock, lock).states, 7637);
  const q = queue(right);
  const pushes = [["push", 1], ["push", 2]] as const;
  assert.is(race.check(q, pushes, [["pop"], ["pop"]]).states, 109);
});

/** All right programs of at most 1000 states, explored with `options`. */
function exploreRight(options: { reduce?: false | "remembered" }): Result[] {
  return Object.values(FAMILIES).flatMap((cases) =>
    cases(right).map(({ spec, program, options: own }) =>
      race.check(spec, ...program, {
        ...own,
        states: 1000,
        runs: 0,
        ...options,
      }) as Result
    )
  );
}

test("sleep sets leave out steps, and no state", () => {
  const asleep = exploreRight({});
  COMPARE.asleep = false;
  try {
    let [fewer, complete] = [0, 0];
    exploreRight({}).forEach((awake, i) => {
      const { states, steps, summary } = asleep[i]!;
      assert.is(asleep[i]!.complete, awake.complete, summary);
      if (!awake.complete) return;
      complete++;
      assert.is(states, awake.states, summary);
      assert.ok(steps <= awake.steps, `${steps}, ${awake.steps}`);
      if (steps < awake.steps) fewer++;
    });
    assert.ok(complete > 10 && fewer > 0, `${fewer} of ${complete}`);
  } finally {
    COMPARE.asleep = true;
  }
});

test("remembered steps lead to the same states as agents that run", () => {
  const run = exploreRight({ reduce: false });
  exploreRight({ reduce: "remembered" }).forEach((remembered, i) => {
    const { complete, states, steps, executions, maxOpSteps } = run[i]!;
    assert.is(remembered.complete, complete);
    if (!complete) return;
    assert.equal(
      [remembered.states, remembered.steps, remembered.executions],
      [states, steps, executions],
    );
    assert.is(remembered.maxOpSteps, maxOpSteps);
  });
});

test("reductions give the same verdicts, of right and wrong programs", async () => {
  let compared = 0;
  for (const bug of [undefined, ...BUGS.filter((_, i) => i % 5 === 0)]) {
    const module = bug === undefined ? right : await load(bug);
    for (const [family, cases] of Object.entries(FAMILIES)) {
      if (bug !== undefined && bug.family !== family) continue;
      for (const { name, spec, program, options } of cases(module)) {
        const [count, different] = await compareReductions(
          (o) => race.check(spec, ...program, { ...options, ...o }),
          250,
        );
        assert.is(different, undefined, `${bug?.id} ${name}: ${different}`);
        compared += count;
      }
    }
  }
  assert.ok(compared > 50, `${compared} compared`);
});

test("reductions give the same verdicts, of mutants", async () => {
  const folder = "once";
  let compared = 0;
  for (const mutant of (await mutantsOf(folder, "ts")).slice(0, 5)) {
    const scenarios = await scenariosIn(folder);
    for (const one of scenarios(await loadWeft(mutant))) {
      const { name, spec, agents, options } = one;
      const usual = { looks: LOOKS, polls: false, ...options };
      const [count, different] = await compareReductions(
        (o) => race.check(spec, ...agents, { ...usual, ...o }),
        75,
        [true, "late"],
      );
      const title = `${mutant.what}, ${name}: ${different}`;
      assert.is(different, undefined, title);
      compared += count;
    }
  }
  assert.ok(compared > 3, `${compared} compared`);
});

test.after(unload);

test("steps that commute with all others are taken in one order", () => {
  const stores = (memory: SharedArrayBuffer, id: number) => {
    const words = new Int32Array(memory, id * 80, 20);
    for (let i = 0; i < 20; i++) Atomics.store(words, i, 1);
  };
  const check = (reduce: boolean, ...agents: (typeof stores)[]) =>
    race.agents(
      { memory: () => new SharedArrayBuffer(320) },
      ...agents,
      { reduce },
    );
  const four = check(true, stores, stores, stores, stores);
  assert.is(four.executions, 1);
  assert.is(four.states, 22);
  assert.is(check(false, stores, stores).states, 441);
});

test("a word that turns out to be shared is explored as such", () => {
  const seen = (reduce: boolean) => {
    const all = new Set<string>();
    race.agents(
      { memory: () => new SharedArrayBuffer(16) },
      (memory) => {
        const words = new Int32Array(memory);
        Atomics.store(words, 0, 1);
        Atomics.store(words, 1, 1);
        return Atomics.load(words, 0);
      },
      // It only reaches the first word in some orders.
      (memory) => {
        const words = new Int32Array(memory);
        if (Atomics.load(words, 1) === 1) return Atomics.load(words, 2);
        return Atomics.exchange(words, 0, 7);
      },
      {
        reduce,
        after: (memory, results) =>
          void all.add(`${[...new Int32Array(memory)]} ${results}`),
      },
    );
    return [...all].sort();
  };
  assert.equal(seen(true), seen(false));
  assert.ok(seen(true).length >= 3);
});

test("texts and bigints that one hash takes for the same differ in the other", () => {
  const MANY = 300_000;
  for (
    const make of [(i: number) => `text ${i}`, (i: number) => BigInt(i) ** 3n]
  ) {
    const firsts = new Map<number, unknown>();
    let alike = 0;
    for (let i = 0; i < MANY; i++) {
      const value = make(i);
      const hash = bits(value);
      const other = firsts.get(hash);
      if (firsts.has(hash)) {
        alike++;
        assert.is.not(bits2(value), bits2(other), `${value}, ${other}`);
      } else firsts.set(hash, value);
    }
    assert.ok(alike > 0, "none is alike");
  }
});

test("answers and results that look alike are told apart", () => {
  const big = (1n << 32n) + 31n;
  const pairs: [usual: unknown, rare: unknown][] = [
    ["Aa", "BB"],
    [17, ""],
    [0.5, "0.5"],
    [{ it: "Aa" }, { it: "BB" }],
    [0n, big],
    [0n, 1n << 64n],
    [0, -0],
  ];
  const memory = () => new SharedArrayBuffer(16);
  for (const reduce of [true, false]) {
    for (const [usual, rare] of pairs) {
      const program = race.spec({
        memory,
        agent: (memory) => new Int32Array(memory),
        ops: {
          look: { run: (w) => Atomics.load(w, 0) === 1 ? rare : usual },
          rest: { run: (w) => void Atomics.load(w, 0) },
          set: { run: (w) => void Atomics.store(w, 0, 1) },
        },
        final: (_, [[seen]]) => Object.is(seen, rare) ? "seen" : undefined,
      });
      const calls = [["look"], ["rest"]] as const;
      const { failure } = race.check(program, calls, [["set"]], { reduce });
      assert.is(failure?.message, "seen", String(rare));
    }
    const { failure } = race.check(
      race.spec({
        memory,
        agent: (memory) => new BigInt64Array(memory),
        ops: {
          look: {
            run: (w) => {
              const seen = Atomics.load(w, 0);
              Atomics.load(w, 1);
              if (seen !== 0n) throw new Error("seen");
            },
          },
          set: {
            run: (w) => {
              Atomics.store(w, 0, big);
              Atomics.store(w, 0, 0n);
            },
          },
        },
      }),
      [["look"]],
      [["set"]],
      { reduce },
    );
    assert.match(failure?.message ?? "", "seen");
  }
});

test("is the same each time", () => {
  const run = (seed: number): Result =>
    race.check(queue(right, 0, true), [["push", 1]], [["push", 2]], [
      ["pop"],
      ["pop"],
    ], { states: 1, seed });
  assert.is(run(7).failure?.schedule, run(7).failure?.schedule);
  assert.is(run(7).executions, run(7).executions);
});

test("samples where there are too many states, and says so", () => {
  const call = [["lock"], ["unlock"]] as const;
  const { complete, summary, executions } = race.check(
    locks(right),
    call,
    call,
    call,
    { states: 100, runs: 50 },
  );
  assert.not.ok(complete);
  assert.match(summary, /^sampled up to loops of 100000 operations: 50 exec/);
  assert.ok(executions >= 50);
});

test("50,000 samples of right programs: nothing", () => {
  for (const cases of Object.values(FAMILIES)) {
    for (const { spec, program } of cases(right)) {
      const { failure } = race.check(spec as Spec<false>, ...program, {
        states: 1,
        runs: 1500,
      });
      assert.is(failure, undefined, failure?.table);
    }
  }
});

// it explores
// Tests that states of an agent with the same future are taken for one, and
// that this changes no verdict and no result.
import fc from "../_run/property.ts";
import process from "node:process";
import * as assert from "uvu/assert";
import { race, type Result } from "../../race/mod.ts";
import { NotConstant } from "../../race/engine/signals.ts";
import { explore } from "../../race/explore/runs/drive.ts";
import { scout } from "../../race/explore/runs/rehearse.ts";
import { search } from "../../race/explore/search/search.ts";
import { COMPARE, type Found } from "../../race/explore/runs/task.ts";
import { compare, corpus, mutants } from "../_run/compare.ts";
import { all } from "../_run/depth.ts";
import { suite } from "../_run/harness.ts";
import { unload } from "../_run/mutant.ts";
import { WAYS } from "../_run/ways.ts";
import { BUGS } from "./corpus/bugs.ts";
import { REACH } from "./corpus/reach.ts";

const test = suite("race futures", 300_000);

/** Compares agents from the first state on, while `work` runs. */
function early<T>(work: () => T): T {
  const usual = { ...COMPARE };
  const always = { patience: Infinity, longest: Infinity, walks: 5 };
  Object.assign(COMPARE, { after: 1, soon: 0, ...always });
  try {
    return work();
  } finally {
    Object.assign(COMPARE, usual);
  }
}

type Words = Int32Array;
type Body = (words: Words) => unknown;

const LIMITS = {
  states: 20_000,
  time: 1e9,
  minimal: false,
  lockFree: "no",
  races: false,
  rescue: true,
} as const;

/** Everything that agents leave behind, in all interleavings. */
function ends(
  bodies: readonly Body[],
  merge: boolean,
  results: boolean,
  calls = 1,
): { all: string[]; found: Found } {
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(8),
    agent: (memory) => new Int32Array(memory),
    ops: {
      run: { run: (words, at: number) => bodies[at]!(words) },
    },
  });
  const program = bodies.map((_, at) =>
    Array(calls).fill({ op: "run", arg: at })
  );
  const all = new Set<string>();
  const found = early(() =>
    explore<Found>(spec.scenario, program, {}, (engine) => {
      engine.recalls = merge;
      return search(engine, {
        ...LIMITS,
        results,
        merge,
        onEnd: ({ world }) => {
          all.add(JSON.stringify([
            world.agents.map((agent) => [
              agent.status,
              results && agent.results.map(String),
            ]),
            world.memory.regions.map(({ words }) => [...words]),
          ]));
        },
      });
    })
  ) as Found;
  return { all: [...all].sort(), found };
}

test("random walks learn which words agents use, and remember no step", () => {
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(8),
    agent: (memory) => new Int32Array(memory),
    ops: {
      tell: { run: (words) => Atomics.store(words, 0, 1) },
      // Only after the other agent's step does it use word 1.
      ask: {
        run: (words) => Atomics.load(words, 0) && Atomics.add(words, 1, 1),
      },
    },
  });
  let surprises = 0;
  explore(spec.scenario, [[{ op: "ask" }], [{ op: "tell" }]], {}, (engine) => {
    engine.recalls = true;
    const { world: { memory } } = engine;
    function* walks() {
      for (;;) {
        try {
          return yield* scout(engine);
        } catch (error) {
          if (!(error instanceof NotConstant)) throw error;
          surprises++;
        }
      }
    }
    function* all() {
      const region = memory.regions[0]!;
      // The search would rely on it that agent 1 alone uses the word.
      assert.ok(memory.isOwn(region, 1, 4, 4, true));
      yield* walks();
      assert.is(memory.agentsAt(region, 4, 4, false), 1);
      assert.is(engine.walks, COMPARE.walks);
      assert.ok(engine.opening!.agents.every(({ edges }) => edges === null));
      return undefined as never;
    }
    return all();
  });
  assert.is(surprises, 1);
});

/** A line of a random program: an operation, a word, and three numbers. */
type Line = readonly [op: number, at: number, a: number, b: number, c: number];

/** What an agent does that runs `lines` in each of `rounds`. */
const bodyOf = (lines: readonly Line[], rounds: number): Body => (w) => {
  let last = 0;
  for (let round = 0; round < rounds; round++) {
    for (const [op, at, a, b, c] of lines) {
      if (op === 0) last = Atomics.load(w, at);
      if (op === 1) Atomics.store(w, at, a);
      if (op === 2) last = Atomics.compareExchange(w, at, a, b);
      if (op === 3) Atomics.add(w, at, 1);
      if (op === 4 && last === a) Atomics.wait(w, at, b, c < 2 ? 5 : Infinity);
      if (op === 5) Atomics.notify(w, at, c === 0 ? 1 : Infinity);
      if (op === 6) { while (Atomics.exchange(w, at, a) === b && last-- > 0); }
      if (op === 7) {
        for (let n = 0; n < c && Atomics.load(w, at) !== a;) n++;
      }
      if (op === 8) Atomics.load(w, at);
    }
  }
  return last;
};

const line = fc.tuple(
  ...[8, 1, 2, 2, 3].map((max) => fc.nat(max)),
) as unknown as fc.Arbitrary<Line>;
const body = fc.tuple(
  fc.array(line, { minLength: 2, maxLength: 4 }),
  fc.integer({ min: 1, max: 2 }),
);

test("random programs end in the same states and with the same results", () => {
  // WEFT_PROGRAMS tries more of them.
  const numRuns = Number(process.env.WEFT_PROGRAMS ?? 8);
  const programs = fc.sample(
    fc.tuple(
      fc.array(body, { minLength: 2, maxLength: 3 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 2 }),
    ),
    { numRuns, seed: Number(process.env.WEFT_SEED ?? 3) },
  );
  let fewer = 0;
  for (const [agents, results, calls] of programs) {
    const bodies = agents.map(([lines, rounds]) => bodyOf(lines, rounds));
    const whole = ends(bodies, false, results, calls);
    if (!whole.found.complete) continue;
    const merged = ends(bodies, true, results, calls);
    const text = JSON.stringify([agents, results, calls]);
    assert.ok(merged.found.complete, text);
    assert.equal(merged.all, whole.all, text);
    if (merged.found.states < whole.found.states) fewer++;
  }
  assert.ok(fewer > numRuns / 6, `${fewer} of ${numRuns} have fewer states`);
});

test("what an agent saw and does not use does not count", () => {
  const look: Body = (w) => {
    for (let i = 0; i < 4; i++) Atomics.load(w, 0);
    Atomics.add(w, 1, 1);
  };
  const write: Body = (w) => {
    for (let i = 1; i < 5; i++) Atomics.store(w, 0, i);
  };
  const whole = ends([look, write], false, false);
  const merged = ends([look, write], true, false);
  assert.equal(merged.all, whole.all);
  assert.ok(
    merged.found.states * 1.5 < whole.found.states,
    `${merged.found.states} of ${whole.found.states}`,
  );
});

test("what an agent uses much later counts", () => {
  const look: Body = (w) => {
    const first = Atomics.load(w, 0);
    for (let i = 0; i < 6; i++) Atomics.load(w, 1);
    return first === 3 ? Atomics.add(w, 1, 5) : 0;
  };
  const write: Body = (w) => {
    for (let i = 1; i < 5; i++) Atomics.store(w, 0, i);
    Atomics.store(w, 1, 1);
  };
  for (const results of [false, true]) {
    const whole = ends([look, write], false, results);
    const merged = ends([look, write], true, results);
    assert.equal(merged.all, whole.all);
  }
});

const verdict = ({ failure, complete }: Result) => [failure?.kind, complete];

test("a livelock is repeated, though more steps are counted then", () => {
  const restless = (then: Body) => (memory: SharedArrayBuffer) => {
    const w = new Int32Array(memory);
    Atomics.wait(w, 0, 0, 10);
    for (;;) then(w);
  };
  const changes = restless((w) => {
    Atomics.xor(w, 0, 1);
    Atomics.load(w, 0);
  });
  const looks = restless((w) => Atomics.xor(w, 0, 0));
  const memory = () => new SharedArrayBuffer(4);
  const o = { shorten: false };
  const run = () => early(() => race.agents({ memory }, changes, looks, o));
  assert.throws(run, /^livelock: /);
});

test("locks, queues and stacks: the same verdict", () => {
  const names = /ticket lock, 3|queue, 2|without/;
  for (const { name, kind, run } of REACH) {
    if (!names.test(name)) continue;
    const merged = early(() => run({ runs: 0, time: 1e9 }));
    assert.equal(verdict(merged), [kind, kind === undefined], name);
  }
});

/**
 * Compares programs with all reductions and with one alone, each program with
 * another one. `deno task race --compare` takes more programs and each way.
 */
async function agree(
  programs: ReturnType<typeof corpus>,
  states: number,
): Promise<number> {
  let all = 0;
  let at = 0;
  for await (const [name, check] of programs) {
    const ways = [WAYS[0]!, WAYS[1 + at++ % (WAYS.length - 1)]!];
    const [count, different] = await compare(check, states, ways);
    assert.is(different, undefined, `${name}: ${different}`);
    all += count;
  }
  return all;
}

test("right and wrong programs of the corpus: the same verdict", async () => {
  const every = all() ? 10 : 20;
  const bugs = BUGS.filter((_, i) => i % every === 1);
  const count = await agree(corpus(bugs), 300);
  assert.ok(count > 400 / every, `${count} searches`);
});

test("mutants of primitives: the same verdict", async () => {
  const stems = ["latch", "event", "once", "snapshot", "semaphore", "barrier"];
  const count = await agree(mutants(stems, 2), 300);
  assert.ok(count > 15, `${count} searches`);
});

test.after(unload);

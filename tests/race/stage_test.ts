// it explores
// Tests agents that are suspended without leaving the stack: they do what they
// do if they are run from the start for every step.
import * as assert from "uvu/assert";
import { Engine } from "../../race/engine/step/replay.ts";
import { race, type Result } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { Stage } from "../../race/engine/step/stage.ts";
import { FAMILIES } from "./corpus/families.ts";
import { load } from "./corpus/load.ts";

const right = await load();
const test = suite("race stage");

const memory = () => new SharedArrayBuffer(64);
const agent = (memory: SharedArrayBuffer) => new Int32Array(memory);

/** How often agents began to run while `explore` did its work. */
function runsOf(explore: () => Result): [Result, number] {
  const { activate } = Engine.prototype;
  let runs = 0;
  Engine.prototype.activate = function (...args) {
    runs++;
    activate.apply(this, args);
  };
  try {
    return [explore(), runs];
  } finally {
    Engine.prototype.activate = activate;
  }
}

/** The same, if agents leave the stack whenever they are suspended. */
function leaving(explore: () => Result): [Result, number] {
  const { pause } = Stage.prototype;
  Stage.prototype.pause = () => false;
  try {
    return runsOf(explore);
  } finally {
    Stage.prototype.pause = pause;
  }
}

const lock = () => {
  const spec = race.spec({
    memory,
    agent,
    ops: {
      add: {
        run: (w: Int32Array) => {
          while (Atomics.compareExchange(w, 0, 0, 1) !== 0) {
            Atomics.wait(w, 0, 1);
          }
          const value = w[1]!;
          w[1] = value + 1;
          Atomics.store(w, 0, 0);
          Atomics.notify(w, 0, 1);
        },
      },
    },
    final: (m: SharedArrayBuffer) => agent(m)[1] === 6 ? undefined : "lost",
  });
  return race.check(spec, [["add"], ["add"]], [["add"], ["add"]], [
    ["add"],
    ["add"],
  ]) as Result;
};

test("agents run less often, for the same states", () => {
  const [result, runs] = runsOf(lock);
  const [same, more] = leaving(lock);
  assert.is(result.failure, undefined, result.failure?.message);
  assert.is(result.summary, same.summary);
  assert.ok(10 * runs < 9 * more, `${runs} of ${more} runs`);
});

test("each program of the corpus has the same states and verdict", () => {
  for (const programs of Object.values(FAMILIES)) {
    for (const { name, spec, program, options } of programs(right)) {
      const explore = () =>
        race.check(spec, ...program, {
          ...options,
          states: 1_000,
          runs: 20,
        }) as Result;
      const [result] = runsOf(explore);
      const [same] = leaving(explore);
      assert.is(result.failure?.kind, same.failure?.kind, name);
      assert.is(result.summary, same.summary, name);
    }
  }
});

test("what a module keeps during a call does not mix agents up", () => {
  const scratch: number[] = [];
  const spec = race.spec({
    memory,
    agent,
    ops: {
      add: {
        run: (w: Int32Array, by: number) => {
          scratch[0] = by;
          Atomics.load(w, 1);
          Atomics.add(w, 0, scratch[0]!);
          Atomics.load(w, 1);
        },
      },
    },
    final: (m: SharedArrayBuffer) => agent(m)[0] === 5 ? undefined : "mixed",
  });
  const result = race.check(spec, [["add", 2]], [["add", 3]]) as Result;
  assert.is(result.failure, undefined, result.failure?.message);
  assert.ok(result.complete);
});

test("what an agent does as it leaves the stack has no effect", () => {
  const spec = race.spec({
    memory,
    agent,
    ops: {
      hold: {
        run: (w: Int32Array) => {
          Atomics.add(w, 0, 1);
          try {
            Atomics.load(w, 1);
            return Atomics.load(w, 2);
          } catch {
            return -1;
          } finally {
            Atomics.sub(w, 0, 1);
          }
        },
      },
      write: { run: (w: Int32Array) => void Atomics.store(w, 1, 1) },
    },
    final: (m: SharedArrayBuffer, results: unknown[][]) =>
      agent(m)[0] === 0 && results.flat().every((r) => r !== -1)
        ? undefined
        : "left",
  });
  const explore = () =>
    race.check(spec, [["hold"], ["hold"]], [["write"], ["hold"]]) as Result;
  const [result] = runsOf(explore);
  assert.is(result.failure, undefined, result.failure?.message);
  assert.is(result.states, leaving(explore)[0].states);
});

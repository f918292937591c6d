// Scenarios are explored as far as one is told.
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import { exploreFirst } from "./explore.ts";
import { suite } from "./harness.ts";
import { enter, type Scenario } from "./scenario.ts";
import { weft } from "./weft.ts";

const test = suite("explorations");

/** An agent in a loop, which writes a word if its rounds are `many`. */
function counting(many: (rounds: number) => boolean): Scenario {
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(8),
    agent: (memory: SharedArrayBuffer, id: number) => {
      enter(weft, id);
      return new Int32Array(memory);
    },
    ops: {
      wait: {
        run(words: Int32Array) {
          let n = 0;
          while (Atomics.load(words, 0) === 0) n++;
          if (many(n)) Atomics.store(words, 1, 1);
        },
      },
      let: { run: (words: Int32Array) => Atomics.store(words, 0, 1) },
    },
    final(memory: SharedArrayBuffer) {
      if (new Int32Array(memory)[1] !== 0) return "it counted";
    },
  });
  const agents: Scenario["agents"] = [[["wait"]], [["let"]]];
  return { name: "rounds", spec, agents, options: { polls: true } };
}

const COUNTING: Readonly<Record<string, (rounds: number) => boolean>> = {
  "3": (rounds) => rounds === 3,
  "20": (rounds) => rounds === 20,
  "more than 60": (rounds) => rounds > 60,
  "more than 110": (rounds) => rounds > 110,
};

for (const [many, is] of Object.entries(COUNTING)) {
  test(`a loop that counts to ${many} is found without --all`, async () => {
    let found = "";
    try {
      await exploreFirst(counting(is), "_run");
    } catch (error) {
      found = (error as Error).message;
    }
    assert.match(found, /it counted/);
  });
}

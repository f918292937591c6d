// Scenarios are explored as far as one is told.
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import { exploreFirst } from "./explore.ts";
import { suite } from "./harness.ts";
import { enter, type Scenario } from "./scenario.ts";
import { weft } from "./weft.ts";

const test = suite("explorations");

/** An agent in a loop, which writes a word if it took `rounds` rounds. */
function counting(rounds: number): Scenario {
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
          if (n === rounds) Atomics.store(words, 1, 1);
        },
      },
      let: { run: (words: Int32Array) => Atomics.store(words, 0, 1) },
    },
    final(memory: SharedArrayBuffer) {
      if (new Int32Array(memory)[1] !== 0) return "it counted";
    },
  });
  const agents: Scenario["agents"] = [[["wait"]], [["let"]]];
  return { name: `${rounds} rounds`, spec, agents, options: { polls: true } };
}

for (const rounds of [3, 20]) {
  test(`a loop that counts to ${rounds} is found without --all`, async () => {
    let found = "";
    try {
      await exploreFirst(counting(rounds), "_run");
    } catch (error) {
      found = (error as Error).message;
    }
    assert.match(found, /it counted/);
  });
}

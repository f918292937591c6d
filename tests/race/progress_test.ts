// Tests the line that says how far a search has come.
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import { explore } from "../../race/explore/runs/drive.ts";
import { Progress } from "../../race/explore/runs/progress.ts";
import { search } from "../../race/explore/search/search.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race progress");

test("shows nothing in the first two seconds, then two lines a second", () => {
  const lines: string[] = [];
  const progress = new Progress((text) => lines.push(text), 0);
  progress.tell(1999, 10, 0.1);
  assert.is(lines.length, 0);
  progress.clear();
  assert.is(lines.length, 0);
  progress.tell(2000, 1200, 0.25);
  progress.tell(2499, 1300, 0.3);
  progress.tell(2500, 1400, 0.5);
  assert.equal(lines, [
    "\r\x1b[Krace: 1,200 states in 2 s, about 25.0 % done, 6 s left",
    "\r\x1b[Krace: 1,400 states in 3 s, about 50.0 % done, 3 s left",
  ]);
  progress.tell(3000, 1500, 0);
  assert.match(lines[2]!, /about 0\.0 % done, more than a day left$/);
  progress.clear();
  progress.clear();
  assert.equal(lines.slice(3), ["\r\x1b[K"]);
});

test("the share that is done grows from 0 to 1", () => {
  const { scenario } = race.spec({
    memory: () => new SharedArrayBuffer(8),
    agent: (memory) => new Int32Array(memory),
    ops: {
      run: {
        run: (words) => {
          for (let i = 0; i < 6; i++) Atomics.add(words, i & 1, 1);
        },
      },
    },
  });
  const shares: number[] = [];
  let cleared = 0;
  const progress = {
    tell: (_: number, states: number, share: number) => {
      assert.ok(states > 0);
      shares.push(share);
    },
    clear: () => cleared++,
  };
  explore(
    scenario,
    [[{ op: "run" }], [{ op: "run" }]],
    {},
    (engine) =>
      search(engine, {
        states: 100_000,
        time: 60_000,
        minimal: false,
        lockFree: "no",
        races: false,
        rescue: true,
        results: true,
        progress: progress as unknown as Progress,
      }),
  );
  assert.ok(shares.length > 1);
  assert.is(shares[0], 0);
  shares.reduce((before, share) => {
    assert.ok(before <= share && share <= 1);
    return share;
  });
  assert.ok(shares.at(-1)! > 0.1, `${shares.at(-1)}`);
  assert.is(cleared, 1);
});

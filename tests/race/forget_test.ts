// it explores
// `race.forget(...)`: what an agent saw before it says what it keeps is no part
// of its state. The verdicts are the same, and promises are tried.
import fc from "../_run/property.ts";
import process from "node:process";
import * as assert from "uvu/assert";
import { race, RaceError, type Result } from "../../race/mod.ts";
import type { Options } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race forget", 60_000);

type Body = (words: Int32Array) => unknown;

/** Explores agents whose words begin with `first`. */
function explore(
  bodies: readonly Body[],
  options: Options = {},
  first: readonly number[] = [],
): Result {
  const known = new Map<Body, (memory: SharedArrayBuffer) => unknown>();
  for (const body of bodies) {
    known.set(body, (memory) => body(new Int32Array(memory)));
  }
  const memory = () => {
    const memory = new SharedArrayBuffer(16);
    new Int32Array(memory).set(first);
    return memory;
  };
  const agents = bodies.map((body) => known.get(body)!);
  const o = { runs: 0, shorten: false, ...options };
  try {
    return race.agents({ memory }, ...agents, o) as Result;
  } catch (error) {
    if (error instanceof RaceError) return error.result;
    throw error;
  }
}

const verdict = ({ failure, complete }: Result) => failure?.kind ?? complete;

/** A mutex of three states. Says what it keeps; `mark` is 2. */
const futex =
  (rounds: number, { mark = 2, early = false } = {}): Body => (w) => {
    for (let i = 0; i < rounds; i++) {
      race.forget(i);
      let state = Atomics.compareExchange(w, 0, 0, 1);
      if (state !== 0) {
        if (state !== 2) state = Atomics.exchange(w, 0, 2);
        while (state !== 0) {
          race.forget(i);
          Atomics.wait(w, 0, 2);
          state = Atomics.exchange(w, 0, mark);
        }
      }
      race.forget(i);
      w[1] = w[1]! + 1;
      if (Atomics.load(w, 0) === 2) {
        if (early) Atomics.notify(w, 0, 1);
        Atomics.store(w, 0, 0);
        if (!early) Atomics.notify(w, 0, 1);
      } else if (Atomics.exchange(w, 0, 0) === 2) Atomics.notify(w, 0, 1);
    }
  };

/** A barrier that turns its sense; with `late`, it counts again too late. */
const barrier = (agents: number, rounds: number, late = false): Body => (w) => {
  let sense = 1;
  for (let i = 0; i < rounds; i++) {
    race.forget(i, sense);
    if (Atomics.sub(w, 0, 1) === 1) {
      if (!late) Atomics.store(w, 0, agents);
      Atomics.store(w, 1, sense);
      if (late) Atomics.store(w, 0, agents);
      Atomics.notify(w, 1);
    } else {
      for (;;) {
        race.forget(i, sense);
        if (Atomics.load(w, 1) === sense) break;
        Atomics.wait(w, 1, 1 - sense);
      }
    }
    sense = 1 - sense;
  }
};

const times = (n: number, body: Body): Body[] => Array(n).fill(body);

test("a mutex that three agents use twice is covered", () => {
  const result = explore(times(3, futex(2)));
  assert.is(verdict(result), true, result.summary);
  assert.ok(result.states < 8000, result.summary);
  assert.match(
    result.summary,
    /^complete[^:]* if agents keep no more than they /,
  );
});

test("barriers of three and four agents are covered", () => {
  for (const agents of [3, 4]) {
    const result = explore(times(agents, barrier(agents, 2)), {}, [agents]);
    assert.is(verdict(result), true, result.summary);
    assert.ok(result.states < 1000, result.summary);
  }
});

const WRONG: Record<string, readonly [kind: string, Body[], number?]> = {
  "a mutex whose sleepers do not mark it": [
    "deadlock",
    times(3, futex(1, { mark: 1 })),
  ],
  "a mutex that notifies before it stores": [
    "deadlock",
    times(2, futex(1, { early: true })),
  ],
  "a barrier that counts again too late": [
    "deadlock",
    times(2, barrier(2, 2, true)),
    2,
  ],
  "agents that undo what the other has done": [
    "livelock",
    [1, 2].map((mine): Body => (w) => {
      do {
        race.forget();
        Atomics.store(w, 0, mine);
        race.forget();
      } while (Atomics.load(w, 0) !== 3);
    }),
  ],
  "an agent that waits for nobody": [
    "livelock",
    times(2, (w) => {
      do race.forget(); while (Atomics.load(w, 0) === 0);
    }),
  ],
};

for (const [name, [kind, bodies, first = 0]] of Object.entries(WRONG)) {
  test(`${name} is found`, () => {
    for (const reduce of [true, false]) {
      const result = explore(bodies, { reduce }, [first]);
      assert.is(verdict(result), kind, `${reduce}: ${result.summary}`);
    }
  });
}

/** An operation, a word, and three numbers. */
type Line = readonly [op: number, at: number, a: number, b: number, c: number];

/** What an agent does that runs `lines`, and says all that it keeps. */
const bodyOf = (lines: readonly Line[]): Body => (w) => {
  let last = 0;
  for (const [line, [op, at, a, b, c]] of lines.entries()) {
    for (let n = 0;; n++) {
      race.forget(line, last, op === 7 ? n : 0);
      if (op === 0) last = Atomics.load(w, at);
      if (op === 1) Atomics.store(w, at, a);
      if (op === 2) last = Atomics.compareExchange(w, at, a, b);
      if (op === 3) last += Atomics.add(w, at, 1);
      if (op === 4 && last === a) {
        last = Atomics.wait(w, at, b, c < 2 ? 10 + a : Infinity).length;
      }
      if (op === 5) Atomics.notify(w, at, c === 0 ? 1 : Infinity);
      if (op === 6 && Atomics.compareExchange(w, at, a, b) === b) continue;
      if (op === 7 && n < c && Atomics.load(w, at) === a) continue;
      if (op === 8 && Atomics.exchange(w, at, a) !== b) continue;
      break;
    }
  }
  if (last === 7) throw new Error("seven");
};

/** A barrier of three semaphores; word 3 counts the agents that are there. */
const turnstiles = (agents: number, rounds: number): Body => (w) => {
  const acquire = (at: number, i: number, part: number) => {
    for (;;) {
      race.forget(i, part);
      const free = Atomics.load(w, at);
      if (free === 0) Atomics.wait(w, at, 0);
      else if (Atomics.compareExchange(w, at, free, free - 1) === free) return;
    }
  };
  const release = (at: number, count: number) => {
    Atomics.add(w, at, count);
    Atomics.notify(w, at, count);
  };
  for (let i = 0; i < rounds; i++) {
    acquire(0, i, 0);
    w[3] = w[3]! + 1;
    if (w[3] === agents) release(1, agents);
    release(0, 1);
    acquire(1, i, 1);
    acquire(0, i, 2);
    w[3] = w[3]! - 1;
    if (w[3] === 0) release(2, agents);
    release(0, 1);
    acquire(2, i, 3);
  }
};

test("a barrier of semaphores is covered", () => {
  const body = turnstiles(2, 2);
  const result = explore([body, body], { lines: false }, [1]);
  assert.is(verdict(result), true, result.summary);
  assert.ok(result.states < 2000, result.summary);
  const few = turnstiles(3, 1);
  const stuck = explore([few, few], { lines: false }, [1]);
  assert.is(verdict(stuck), "deadlock", stuck.summary);
});

test("random programs: the same verdict with and without", () => {
  const line = fc.tuple(
    ...[8, 1, 2, 2, 3].map((max) => fc.nat(max)),
  ) as unknown as fc.Arbitrary<Line>;
  const lines = fc.array(line, { minLength: 2, maxLength: 4 });
  // WEFT_PROGRAMS tries more of them.
  const numRuns = Number(process.env.WEFT_PROGRAMS ?? 60);
  const programs = fc.sample(fc.tuple(lines, lines), { numRuns, seed: 5 });
  let said = 0;
  for (const [one, two] of programs) {
    const bodies = [bodyOf(one), bodyOf(two)];
    const o = { states: 50_000 };
    const kept = explore(bodies, o);
    const whole = explore(bodies, { ...o, reduce: false });
    const text = JSON.stringify([one, two]);
    if (kept.summary.includes("keep no more")) said++;
    if (!whole.complete && whole.ok) continue; // cut short
    // A program may fail in several ways; which one comes first may differ.
    assert.is(kept.ok, whole.ok, text);
    assert.is(kept.complete, whole.complete, text);
  }
  assert.ok(said > numRuns / 4, `${said}`);
});

/** Adds 1, and keeps how often it had to try again. */
const counts = (says: boolean): Body => (w) => {
  let tries = 0;
  for (;;) {
    race.forget(...says ? [tries] : []);
    const value = Atomics.load(w, 0);
    if (Atomics.compareExchange(w, 0, value, value + 1) === value) break;
    tries++;
  }
  if (tries === 2) Atomics.store(w, 1, 1);
};

test("an agent that keeps more than it says is found", () => {
  const result = explore(times(3, counts(false)));
  assert.is(verdict(result), "nondeterministic");
  assert.match(result.failure!.message, /race\.forget\(\) at forget_test\.ts:/);
  assert.match(result.failure!.message, "give what it keeps");
  const kept = explore(times(3, counts(true)));
  assert.is(verdict(kept), true, kept.summary);
});

test("where it has no effect", () => {
  race.forget(1); // outside agents
  const bodies = times(2, futex(1));
  const { states } = explore(bodies, { reduce: false });
  assert.ok(states > explore(bodies).states);
  for (const o of [{ polls: false }, { spurious: 1 }, { kill: true }]) {
    const { summary } = explore(bodies, o);
    assert.not.match(summary, "keep no more");
  }
});

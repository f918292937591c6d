// it is long
// Tests the promise that loops remember nothing: what ends only with it, and
// loops that break it.
import * as assert from "uvu/assert";
import { race, RaceError, type Result } from "../../race/mod.ts";
import type { Options } from "../../race/mod.ts";
import { COMPARE } from "../../race/explore/runs/task.ts";
import { corpus } from "../_run/compare.ts";
import { suite } from "../_run/harness.ts";
import { REACH } from "./corpus/reach.ts";

const test = suite("race memoryless", 600_000);

type Body = (words: Int32Array) => unknown;

/** Explores with the promise from the first states on, or without it. */
async function explore(
  check: (options: Options) => Result | Promise<Result>,
  memoryless: boolean,
): Promise<Result> {
  const { learn } = COMPARE;
  COMPARE.learn = 1;
  try {
    return await check({ memoryless, runs: 0 });
  } catch (error) {
    if (error instanceof RaceError) return error.result;
    throw error;
  } finally {
    COMPARE.learn = learn;
  }
}

const agents = (...bodies: readonly Body[]) => (options: Options): Result => {
  const all = bodies.map((body) => (memory: SharedArrayBuffer) =>
    body(new Int32Array(memory))
  );
  return race.agents(
    { memory: () => new SharedArrayBuffer(16) },
    ...all,
    options,
  ) as Result;
};

const verdict = ({ failure, complete }: Result) => failure?.kind ?? complete;

test("a futex mutex twice in one call, three agents, is complete", () => {
  const program = REACH.find(({ name }) =>
    name === "futex mutex twice, 3 agents, memoryless"
  )!;
  const result = program.run({ runs: 0, time: 1e9 });
  assert.is(verdict(result), true, result.summary);
  assert.ok(result.states < 5000, result.summary);
  assert.match(result.summary, /^complete[^:]* if loops remember nothing: /);
});

const lock: Body = (w) => {
  while (Atomics.compareExchange(w, 0, 0, 1) !== 0) Atomics.wait(w, 0, 1);
};
const unlock: Body = (w) => {
  Atomics.store(w, 0, 0);
  Atomics.notify(w, 0, 1);
};
const other: Body = (w) => {
  for (let i = 0; i < 3; i++) {
    lock(w);
    unlock(w);
  }
};

/** Takes the lock; `after` is told what its rounds were like. */
const counting = (
  after: (rounds: number, sleeps: number, answers: readonly number[]) => void,
): Body =>
(w) => {
  let rounds = 0;
  let sleeps = 0;
  const answers: number[] = [];
  for (;;) {
    const answer = Atomics.compareExchange(w, 0, 0, 1);
    answers.push(answer);
    if (answer === 0) break;
    rounds++;
    if (Atomics.wait(w, 0, 1) === "ok") sleeps++;
  }
  after(rounds, sleeps, answers);
  unlock(w);
};

const fail = (when: boolean) => {
  if (when) throw new Error("found");
};

const WRONG: readonly (readonly [string, readonly Body[]])[] = [
  ["one round", [counting((rounds) => fail(rounds === 1)), other]],
  ["two rounds", [counting((rounds) => fail(rounds === 2)), other]],
  ["three rounds", [counting((rounds) => fail(rounds === 3)), other]],
  ["an odd number", [counting((rounds) => fail(rounds % 2 === 1)), other]],
  ["two sleeps", [counting((_, sleeps) => fail(sleeps === 2)), other]],
  ["a round and a sleep", [
    counting((rounds, sleeps) => fail(rounds === 2 && sleeps === 1)),
    other,
  ]],
  ["the first answer", [
    counting((_rounds, _sleeps, answers) =>
      fail(answers.length === 3 && answers[0] === 1)
    ),
    other,
  ]],
  ["a loop that ends by count", [
    (w) => {
      for (let i = 0; i < 4; i++) if (Atomics.load(w, 0) === 0) return;
      throw new Error("found");
    },
    other,
  ]],
  ["a lost wake-up", [
    (w) => {
      while (Atomics.compareExchange(w, 0, 0, 1) !== 0) Atomics.wait(w, 0, 1);
      Atomics.notify(w, 0, 1);
      Atomics.store(w, 0, 0);
    },
    (w) => {
      while (Atomics.compareExchange(w, 0, 0, 1) !== 0) Atomics.wait(w, 0, 1);
      Atomics.notify(w, 0, 1);
      Atomics.store(w, 0, 0);
    },
  ]],
  ["a livelock of two", [
    (w) => {
      for (;;) {
        Atomics.store(w, 0, 1);
        if (Atomics.load(w, 1) === 0) return;
        Atomics.store(w, 0, 0);
      }
    },
    (w) => {
      for (;;) {
        Atomics.store(w, 1, 1);
        if (Atomics.load(w, 0) === 0) return;
        Atomics.store(w, 1, 0);
      }
    },
  ]],
  ["a data race behind a loop", [
    (w) => {
      while (Atomics.load(w, 1) === 0) Atomics.add(w, 2, 1);
      w[3] = 1;
    },
    (w) => {
      Atomics.store(w, 1, 1);
      w[3] = 2;
    },
  ]],
];

for (const [name, bodies] of WRONG) {
  test(`${name}: found with the promise and without it`, async () => {
    const plain = await explore(agents(...bodies), false);
    const promised = await explore(agents(...bodies), true);
    assert.ok(plain.failure, plain.summary);
    assert.is(promised.failure?.kind, plain.failure.kind, promised.summary);
    assert.is(promised.failure?.message, plain.failure.message);
  });
}

test("a loop that never ends is no lock", async () => {
  const both: Body = (w) => {
    while (Atomics.load(w, 0) === 0) Atomics.add(w, 1, 1);
  };
  const result = await explore(agents(both, both), true);
  assert.is(verdict(result), "livelock", result.summary);
});

test("a call ends if its loops forget, whatever it saw in them", async () => {
  const tries: Body = (w) => {
    lock(w);
    unlock(w);
    lock(w);
    unlock(w);
  };
  const bodies = [tries, tries, tries];
  const promised = await explore(agents(...bodies), true);
  assert.is(verdict(promised), true, promised.summary);
});

const programs: [string, (o: Options) => Result | Promise<Result>][] = [];
for await (const [name, check] of corpus()) programs.push([name, check]);

test("the verdicts of the corpus are the same with the promise", async () => {
  let compared = 0;
  for (const [i, [name, check]] of programs.entries()) {
    if (i % 10 !== 0) continue;
    const usual = { states: 20_000, time: 10_000, lines: false };
    const plain = await explore((o) => check({ ...o, ...usual }), false);
    const promised = await explore((o) => check({ ...o, ...usual }), true);
    const [mine, theirs] = [verdict(promised), verdict(plain)];
    if (mine === false || theirs === false) continue;
    assert.is(mine, theirs, `${name}: ${promised.summary}`);
    compared++;
  }
  assert.ok(compared >= 15, `only ${compared} programs were compared`);
});

// ---- where nobody gives the promise -----------------------------------------

/** Explores with few states, as if nobody had said how many. */
function unasked(options: Options, ...bodies: readonly Body[]): Result {
  const { learn, states } = COMPARE;
  Object.assign(COMPARE, { learn: 1, states: 10_000 });
  try {
    return agents(...bodies)(options);
  } catch (error) {
    if (error instanceof RaceError) return error.result;
    throw error;
  } finally {
    Object.assign(COMPARE, { learn, states });
  }
}

/** Two sections under a lock; the bodies of three agents. */
const sections = (lock: Body, inside: Body = () => {}): Body[] => {
  const body: Body = (w) => {
    for (let i = 0; i < 2; i++) {
      lock(w);
      inside(w);
      unlock(w);
    }
  };
  return [body, body, body];
};

/** Drepper's second mutex, with what the agent does after its sleeps. */
const mutex = (woken: (times: number, w: Int32Array) => void): Body => (w) => {
  if (Atomics.compareExchange(w, 0, 0, 1) === 0) return;
  for (let times = 0; Atomics.exchange(w, 0, 2) !== 0; times++) {
    Atomics.wait(w, 0, 2);
    woken(times, w);
  }
};

test("a search that did not end is made again as if it were given", () => {
  const result = unasked({}, ...sections(mutex(() => {})));
  assert.is(verdict(result), true, result.summary);
  assert.ok(result.bounds.includes("loops that remember nothing"));
  assert.match(
    result.summary,
    /^complete up to [^:]*, if loops remember nothing: \d+ states; \d+ runs /,
  );
});

test("it is not if options say how many states, or that loops remember", () => {
  const all = sections(mutex(() => {}));
  for (const options of [{ states: 10_000 }, { memoryless: false }]) {
    const { complete, bounds } = unasked({ ...options, runs: 5 }, ...all);
    assert.not(complete);
    assert.not(bounds.includes("loops that remember nothing"));
  }
});

test("a loop that counts how often it was woken is still explored as such", () => {
  const gives = mutex((times) => {
    if (times === 2) throw new Error("woken three times in vain");
  });
  assert.is(verdict(unasked({}, ...sections(gives))), "exception");
  const sets = mutex((times, w) => void Atomics.store(w, 2, times));
  const result = unasked({}, ...sections(sets));
  assert.is(result.failure, undefined, result.failure?.table);
});

test("a loop that counts its rounds exactly is found, too", () => {
  for (const exactly of [5, 17, 77]) {
    const spins = mutex(() => {});
    const counts: Body = (w) => {
      let rounds = 0;
      while (Atomics.load(w, 0) !== 0) rounds++;
      if (rounds === exactly) throw new Error(`after ${rounds} rounds`);
      spins(w);
    };
    assert.is(verdict(unasked({}, ...sections(counts))), "exception");
  }
});

test("the promise is not made use of where it says nothing", async () => {
  const counter = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => ({ words: new Int32Array(memory), mine: 0 }),
    init: 0,
    ops: {
      add: {
        run: (handle) => {
          handle.mine++;
          return Atomics.add(handle.words, 0, handle.mine > 2 ? 2 : 1);
        },
        model: (n) => [n + 1, n],
      },
    },
  });
  const program = [["add"], ["add"], ["add"]] as const;
  const result = await explore(
    (o) => race.check(counter, program, program, o),
    true,
  );
  assert.is(verdict(result), "not-linearizable");
});

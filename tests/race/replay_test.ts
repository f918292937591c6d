// Tests that a schedule is followed in a process that knows nothing of the
// program yet: each specification is made anew.
import * as assert from "uvu/assert";
import { codec, HashMap, Mutex } from "../../mod.ts";
import { race } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race replays");

/** Peterson's lock, with its first two lines in the wrong order. */
const racing = () =>
  race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory, id) => ({ w: new Int32Array(memory), id }),
    ops: {
      use: {
        run: ({ w, id }) => {
          const other = 1 - id;
          Atomics.store(w, 2, other);
          Atomics.store(w, id, 1);
          while (Atomics.load(w, other) === 1 && Atomics.load(w, 2) === other);
          w[3]! += 1;
          Atomics.store(w, id, 0);
        },
      },
    },
  });

test("a data race is found by a replay that knows no word's users", () => {
  const program = [[["use"]], [["use"]]] as const;
  const { failure } = race.check(racing(), ...program);
  assert.is(failure?.kind, "data-race");
  const again = race.replay(racing(), program, failure!.schedule);
  assert.is(again.failure?.message, failure!.message);
});

/** Agent 0 sleeps for ever if agent 1 is too early, and then writes nothing. */
const early = () =>
  race.spec({
    memory: () => new SharedArrayBuffer(12),
    agent: (memory) => new Int32Array(memory),
    ops: {
      sleep: {
        run: (w) => {
          const seen = w[1];
          Atomics.store(w, 0, 1);
          if (Atomics.load(w, 2) === 0) Atomics.wait(w, 2, 0);
          return seen;
        },
      },
      wake: {
        run: (w) => {
          if (Atomics.load(w, 0) === 0) return;
          Atomics.store(w, 2, 1);
          Atomics.notify(w, 2);
          w[1] = 5;
        },
      },
    },
  });

test("a replay knows which words are written in other interleavings", () => {
  const program = [[["sleep"]], [["wake"]]] as const;
  const { failure } = race.check(early(), ...program);
  assert.is(failure?.kind, "deadlock");
  const again = race.replay(early(), program, failure!.schedule);
  assert.is(again.failure?.message, failure!.message);
});

/** A ring whose consumer trusts a hint; the first failure is found soon. */
const trusting = () =>
  race.spec({
    memory: () => new SharedArrayBuffer(32),
    agent: (memory) => new Int32Array(memory),
    hints: [[0, 8]],
    init: [] as number[],
    ops: {
      push: {
        run: (w, value: number) => {
          const tail = Atomics.load(w, 1);
          if (tail - w[0]! === 2) return false;
          w[4 + tail % 2] = value;
          Atomics.store(w, 1, tail + 1);
          return true;
        },
        model: (list, value: number) =>
          list.length < 2 ? [[...list, value], true] : [list, false],
      },
      pop: {
        run: (w) => {
          const head = Atomics.load(w, 0);
          if (w[1] === head) return 0;
          const value = w[4 + head % 2]!;
          Atomics.store(w, 0, head + 1);
          return value;
        },
        model: (list) =>
          list.length > 0 ? [list.slice(1), list[0]!] : [list, 0],
      },
    },
  });

test("a replay learns as much as a search that failed soon", () => {
  const pushes = [["push", 1], ["push", 2], ["push", 3]] as const;
  const program = [pushes, [["pop"], ["pop"]]] as const;
  const { failure } = race.check(trusting(), ...program);
  assert.is(failure?.kind, "not-linearizable");
  const again = race.replay(trusting(), program, failure!.schedule);
  assert.is(again.failure?.kind, "not-linearizable");
});

/** Two writes that race, far apart in most executions. */
const apart = () =>
  race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory) => new Int32Array(memory),
    ops: {
      first: {
        run: (w) => {
          w[0] = 1;
          for (let i = 0; i < 6; i++) Atomics.store(w, 1, i);
        },
      },
      last: {
        run: (w) => {
          for (let i = 0; i < 6; i++) {
            Atomics.store(w, 2, i);
            Atomics.load(w, 3);
          }
          w[0] = 5;
        },
      },
      look: {
        run: (w) => {
          for (let i = 0; i < 6; i++) {
            Atomics.load(w, 1);
            Atomics.load(w, 2);
            Atomics.store(w, 3, i);
          }
        },
      },
    },
  });

test("a race that a sample found is in its replay, too", () => {
  const program = [[["first"]], [["last"]], [["look"]]] as const;
  for (const sample of ["random", "order", "pct"] as const) {
    const options = { sample, runs: 500, shorten: false };
    const { failure } = race.check(apart(), ...program, options);
    assert.is(failure?.kind, "data-race");
    const again = race.replay(apart(), program, failure!.schedule);
    assert.is(again.failure?.kind, "data-race", failure!.schedule);
  }
});

/** Two agents give way to each other. */
const polite = () =>
  race.spec({
    memory: () => new SharedArrayBuffer(12),
    agent: (memory, id) => ({ w: new Int32Array(memory), id }),
    ops: {
      use: {
        run: ({ w, id }) => {
          for (;;) {
            Atomics.store(w, id, 1);
            if (Atomics.load(w, 1 - id) === 0) break;
            Atomics.store(w, id, 0);
          }
          Atomics.add(w, 2, 1);
          Atomics.store(w, id, 0);
        },
      },
    },
  });

test("a livelock of agents that take turns is in its replay", () => {
  const program = [[["use"]], [["use"]]] as const;
  const { failure } = race.check(polite(), ...program);
  assert.is(failure?.kind, "livelock");
  const again = race.replay(polite(), program, failure!.schedule);
  assert.is(again.failure?.kind, "livelock");
  assert.ok(race.replay(polite(), program, "0*4 1*4").ok);
});

/** Agents read a word that another one may write, before they race. */
const behind = () =>
  race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory) => new Int32Array(memory),
    ops: {
      read: {
        run: (w) => {
          Atomics.add(w, 0, 1);
          w[2] = w[1]!;
          Atomics.load(w, 3);
          Atomics.add(w, 0, 1);
        },
      },
      write: {
        run: (w) => {
          while (Atomics.load(w, 0) !== 4);
          w[1] = 1;
        },
      },
    },
  });

test("an agent that may not poll is in the replay of its livelock", () => {
  const program = [[["take"]], [["put"]]] as const;
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    init: 0,
    ops: {
      take: {
        run: (w) => {
          while (Atomics.compareExchange(w, 0, 1, 0) !== 1);
        },
        model: (n: number) => n > 0 ? [n - 1, undefined] : null,
      },
      put: {
        run: (w) => void Atomics.store(w, 0, 1),
        model: (n: number) => [n + 1, undefined],
      },
    },
  });
  const { failure } = race.check(spec, ...program, { polls: false });
  assert.is(failure?.kind, "livelock");
  const { schedule, message } = failure!;
  const again = race.replay(spec, program, schedule, { polls: false });
  assert.is(again.failure?.message, message);
  const polls = race.replay(spec, program, schedule);
  assert.ok(polls.ok, polls.failure?.message);
});

test("a schedule with a termination needs no option", () => {
  const spec = race.spec({
    memory: () => Mutex.create().buffer as SharedArrayBuffer,
    agent: (memory) => new Mutex(memory),
    ops: {
      lock: {
        run: (mutex) => {
          mutex.lock();
          mutex.unlock();
        },
      },
    },
  });
  const program = [[["lock"]], [["lock"]]] as const;
  const { failure } = race.check(spec, ...program, { kill: true });
  assert.is(failure?.kind, "damaged-by-kill");
  for (const options of [{}, { kill: true }, { kill: false }]) {
    const again = race.replay(spec, program, failure!.schedule, options);
    assert.is(again.failure?.message, failure!.message);
  }
});

test("a schedule that ends too late is followed once more", () => {
  const program = [[["read"]], [["read"]], [["write"]]] as const;
  const { failure } = race.check(behind(), ...program);
  assert.is(failure?.kind, "data-race");
  const again = race.replay(behind(), program, failure!.schedule);
  assert.is(again.failure?.message, failure!.message);
});

/** Agent 0 goes round for ever, also while agent 1 sleeps for some time. */
const restless = () =>
  race.spec({
    memory: () => new SharedArrayBuffer(12),
    agent: (memory) => new Int32Array(memory),
    ops: {
      goRound: {
        run: (w) => {
          for (;;) {
            Atomics.store(w, 0, 1);
            Atomics.store(w, 0, 0);
          }
        },
      },
      goRoundLate: {
        run: (w) => {
          if (Atomics.load(w, 1) === 0) return;
          for (;;) {
            Atomics.store(w, 0, 1);
            Atomics.store(w, 0, 0);
          }
        },
      },
      sleep: { run: (w) => Atomics.wait(w, 2, 0, 10) },
      sleepThrice: {
        run: (w) => {
          Atomics.store(w, 1, 1);
          for (let i = 0; i < 3; i++) Atomics.wait(w, 2, 0, 10);
          Atomics.store(w, 1, 0);
        },
      },
    },
  });

test("a livelock beside timers is repeated, whatever the bound of timeouts", () => {
  for (
    const [goes, sleeps] of [["goRound", "sleep"], [
      "goRoundLate",
      "sleepThrice",
    ]] as const
  ) {
    const program = [[[goes]], [[sleeps]]] as const;
    for (const timeouts of [0, 1, 2, Infinity]) {
      const { failure } = race.check(restless(), ...program, { timeouts });
      assert.is(failure?.kind, "livelock", failure?.message);
      const { schedule } = failure!;
      const again = race.replay(restless(), program, schedule, { timeouts });
      assert.is(again.failure?.kind, "livelock");
    }
  }
});

test("memory is made with the same random numbers each time", () => {
  const words = { key: codec.text, value: codec.i32, capacity: 2 };
  const seeds: number[] = [];
  const random = () =>
    race.spec({
      memory: () => {
        seeds.push(Math.random());
        return HashMap.create(words).buffer as SharedArrayBuffer;
      },
      agent: (memory) => new HashMap<string, number>(memory, 0, words),
      ops: {
        set: { run: (map) => map.set("b", 3) },
        wait: { run: (map) => map.waitFor("a") },
      },
    });
  const program = [[["set"]], [["wait"]]] as const;
  const { failure, states } = race.check(random(), ...program);
  assert.is(failure?.kind, "deadlock");
  for (let i = 0; i < 3; i++) {
    const other = race.check(random(), ...program);
    assert.is(other.states, states);
    assert.is(other.failure!.schedule, failure!.schedule);
    const again = race.replay(random(), program, failure!.schedule);
    assert.is(again.failure?.message, failure!.message);
  }
  assert.is(new Set(seeds).size, 1);
});

// it explores
// What becomes of agents that are terminated, and of their recovery.
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { holds, words } from "./asserts.ts";

const test = suite("race kills");

const memory = () => new SharedArrayBuffer(64);

test("judges recovery by the model where there is one", () => {
  const build = (frees: boolean) =>
    race.spec({
      memory,
      agent: (memory, id) => ({ words: words(memory), id: id + 1 }),
      init: 0,
      ops: {
        lock: {
          run: ({ words, id }) => {
            for (;;) {
              const owner = Atomics.compareExchange(words, 0, 0, id);
              if (owner === 0) return;
              Atomics.wait(words, 0, owner);
            }
          },
          model: (owner: number, _, id) =>
            owner === 0 ? [id + 1, undefined] : null,
        },
        unlock: {
          run: ({ words }) => {
            Atomics.store(words, 0, 0);
            Atomics.notify(words, 0, 1);
          },
          model: () => [0, undefined],
        },
      },
      recover: ({ words }, dead) => {
        Atomics.compareExchange(words, 0, dead + 1, 0);
        // The agent that wrote it may not have reached its notify yet.
        if (frees) Atomics.notify(words, 0);
      },
      recovered: (owner: number, dead) => owner === dead + 1 ? 0 : owner,
    });
  const section = [["lock"], ["unlock"]] as const;
  holds(race.check(build(true), section, section, { kill: true }));
  const { failure } = race.check(build(false), section, section, {
    kill: true,
  });
  assert.is(failure?.kind, "damaged-by-kill");
  assert.match(failure!.message, /terminated/);
  assert.match(failure!.table, /recovers/);
});

test("looks at `final` after a kill, too", () => {
  const build = (recovers: boolean) =>
    race.spec({
      memory: () => new SharedArrayBuffer(4),
      agent: (memory) => new Int32Array(memory as SharedArrayBuffer),
      ops: {
        work: {
          run: (words) => {
            Atomics.add(words, 0, 1);
            Atomics.sub(words, 0, 1);
          },
        },
      },
      recover: (words) => {
        if (recovers) Atomics.store(words, 0, 0);
      },
      final: (memory) =>
        new Int32Array(memory as SharedArrayBuffer)[0] === 0
          ? undefined
          : "somebody is still at work",
    });
  const work = [["work"]] as const;
  holds(race.check(build(true), work, { kill: true }));
  const { failure } = race.check(build(false), work, { kill: true });
  assert.is(failure?.kind, "damaged-by-kill");
  assert.match(failure!.message, /still at work/);
});

test("what a terminated agent did is before its recovery, in samples, too", () => {
  const [OWNER, DATA] = [0, 1];
  const program = race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(8);
      new Int32Array(memory)[OWNER] = 1;
      return memory;
    },
    agent: (memory) => new Int32Array(memory as SharedArrayBuffer),
    ops: {
      own: {
        agents: [0],
        run: (words) => {
          words[DATA] = 1;
          Atomics.store(words, OWNER, 0);
        },
      },
      take: {
        agents: [1],
        run: (words) => {
          if (Atomics.load(words, OWNER) === 0) words[DATA] = 2;
        },
      },
    },
    recover: (words, dead) => {
      if (dead === 0) Atomics.store(words, OWNER, 0);
    },
  });
  const calls = [[["own"]], [["take"], ["take"]]] as const;
  holds(race.check(program, ...calls, { kill: true }));
  const { failure } = race.check(program, ...calls, {
    kill: true,
    states: 1,
    runs: 2000,
  });
  assert.is(failure, undefined);
});

test("the message says once who was terminated", () => {
  const program = race.spec({
    memory,
    agent: words,
    ops: {
      hold: {
        run: (words) => {
          Atomics.store(words, 0, 1);
          Atomics.store(words, 0, 0);
        },
      },
      // It counts its attempts, so that no state of it comes again.
      attempt: {
        run: (words) => {
          while (Atomics.load(words, 0) !== 0) Atomics.add(words, 1, 1);
        },
      },
    },
  });
  for (const options of [{}, { sample: "random", runs: 200 }] as const) {
    const { failure } = race.check(program, [["hold"]], [["attempt"]], {
      kill: true,
      maxSteps: 50,
      ...options,
    });
    assert.is(failure?.kind, "damaged-by-kill");
    const said = failure!.message.split("was terminated inside hold()");
    assert.is(said.length, 2, failure!.message);
  }
});

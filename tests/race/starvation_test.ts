// it explores
// The option `starvation`: which agents can be kept in a call for ever, though
// each that can go on does.
import * as assert from "uvu/assert";
import { Mutex } from "../../mod.ts";
import { race, type Result } from "../../race/mod.ts";
import type { CallTuple, Options } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { Mutex as Drepper } from "./corpus/mutex.ts";

const test = suite("race starvation");

type Words = Int32Array<SharedArrayBuffer>;
type Body = (words: Words, id: number) => unknown;

const memory = () => new SharedArrayBuffer(64);

/** What a program finds in which each of `count` agents repeats `body`. */
function all(count: number, body: Body, options: Options = {}): Result {
  const spec = race.spec({
    memory,
    agent: (memory) => new Int32Array(memory),
    ops: { use: { run: (words, _: undefined, id) => void body(words, id) } },
  });
  const program = Array<CallTuple[]>(count).fill([["use"]]);
  const result = race.check(spec, ...program, { starvation: true, ...options });
  if (result.failure === undefined) return result;
  const { failure } = result;
  const again = race.replay(spec, failure.program as Any, failure.schedule);
  const { kind } = failure;
  assert.is(again.failure?.kind, kind === "starvation" ? undefined : kind);
  return result;
}

// deno-lint-ignore no-explicit-any
type Any = any;

function starves(result: Result): void {
  const { failure } = result;
  assert.is(failure?.kind, "starvation", result.summary);
  assert.match(failure!.message, /agent \d starves in use\(\)/);
  assert.match(failure!.message, /the last \d+ steps can come again for ever/);
}

function passes(result: Result): void {
  const { failure } = result;
  assert.is(failure, undefined, `${failure?.message}\n${failure?.table}`);
  assert.ok(result.complete, result.summary);
  assert.match(result.summary, /; no agent starves in \d+ states of the prog/);
}

// ---- locks from the literature ----------------------------------------------

const testAndSet: Body = (w) => {
  while (Atomics.compareExchange(w, 0, 0, 1) !== 0);
  Atomics.store(w, 0, 0);
};

const drepper: Body = (w) => {
  const mutex = new Drepper(w.buffer);
  mutex.lock();
  mutex.unlock();
};

/** Burns and Lynch 1980: free of deadlocks; the last agent may starve. */
const oneBit: Body = (w, id) => {
  for (;;) {
    Atomics.store(w, id, 1);
    if (id === 0 || Atomics.load(w, 0) === 0) break;
    Atomics.store(w, id, 0);
    while (Atomics.load(w, 0) === 1);
  }
  if (id === 0) { while (Atomics.load(w, 1) === 1); }
  Atomics.store(w, id, 0);
};

/** Peterson 1981. */
const peterson: Body = (w, id) => {
  Atomics.store(w, id, 1);
  Atomics.store(w, 2, 1 - id);
  while (Atomics.load(w, 1 - id) === 1 && Atomics.load(w, 2) === 1 - id);
  Atomics.store(w, id, 0);
};

/** Dekker, in Dijkstra 1965. */
const dekker: Body = (w, id) => {
  Atomics.store(w, id, 1);
  while (Atomics.load(w, 1 - id) === 1) {
    if (Atomics.load(w, 2) === id) continue;
    Atomics.store(w, id, 0);
    while (Atomics.load(w, 2) !== id);
    Atomics.store(w, id, 1);
  }
  Atomics.store(w, 2, 1 - id);
  Atomics.store(w, id, 0);
};

for (const [name, lock] of Object.entries({ testAndSet, drepper, oneBit })) {
  test(`${name}: one agent can be kept out for ever`, () => {
    starves(all(2, lock));
  });
}

for (const [name, lock] of Object.entries({ peterson, dekker })) {
  test(`${name}: every agent gets in`, () => passes(all(2, lock)));
}

test("without the option, nobody asks for it", () => {
  assert.ok(all(2, testAndSet, { starvation: false }).ok);
});

// ---- what fairness means ----------------------------------------------------

test("an agent that could go on at every moment does go on", () => {
  // Agent 0 would wait for ever only if agent 1 never took its two steps.
  passes(all(2, (w, id) => {
    if (id === 1) Atomics.xor(w, 0, 1);
    else Atomics.add(w, 1, 0);
  }));
});

test("an agent that gives up after some tries does not starve", () => {
  passes(all(2, (w) => {
    for (let i = 0; i < 3; i++) {
      if (Atomics.compareExchange(w, 0, 0, 1) === 0) {
        Atomics.store(w, 0, 0);
        break;
      }
    }
  }));
});

test("where no call ends, nobody starves: that is a livelock", () => {
  const { failure } = all(2, (w, id) => {
    while (Atomics.load(w, id) === 0);
  });
  assert.is(failure?.kind, "livelock");
});

// ---- models -----------------------------------------------------------------

/** A box with room for one; `look` always ends. */
const box = race.spec({
  memory,
  agent: (memory) => new Int32Array(memory),
  init: false,
  ops: {
    take: {
      run: (w) => {
        while (Atomics.compareExchange(w, 0, 1, 0) !== 1);
      },
      model: (full: boolean) => full ? [false, undefined] : null,
    },
    put: {
      run: (w) => void Atomics.store(w, 0, 1),
      model: () => [true, undefined],
    },
    tryTake: {
      run: (w) => Atomics.compareExchange(w, 0, 1, 0) === 1,
      model: (full: boolean) => [false, full],
    },
    look: {
      run: (w) => Atomics.load(w, 0) === 1,
      model: (full: boolean) => [full, full],
    },
  },
});

const fair = (...program: CallTuple[][]): Result =>
  race.check(box, ...program as Any, { starvation: true });

test("an agent that waits for what its model waits for does not starve", () => {
  passes(fair([["take"]], [["look"]]));
});

test("an agent starves if its model would let it go on again and again", () => {
  const result = fair([["take"]], [["put"], ["tryTake"]]);
  assert.is(result.failure?.kind, "starvation", result.summary);
  assert.match(result.failure!.message, /agent 0 starves in take\(\)/);
  const { length } = result.failure!.program[1]!;
  assert.ok(length >= 2, "the calls of the program are repeated");
});

test("an agent that always finds what it takes does not starve", () => {
  passes(fair([["take"]], [["put"]]));
});

// ---- what cannot be judged --------------------------------------------------

test("memory that never comes back to an earlier state: the summary says so", () => {
  const result = all(2, (w) => Atomics.add(w, 0, 1), { states: 100 });
  assert.ok(result.ok);
  assert.not(result.complete);
  assert.match(
    result.summary,
    /^not complete: .*; no agent starves in the first 10\d states of the pro/,
  );
  assert.match(result.bounds.at(-1)!, /^no agent starves in the first/);
});

test("tickets that begin again after some time have an end", () => {
  const lock = race.spec({
    memory,
    agent: (memory) => new Uint8Array(memory),
    ops: {
      use: {
        run: (w) => {
          const ticket = Atomics.add(w, 0, 1);
          while (Atomics.load(w, 1) !== ticket);
          Atomics.add(w, 1, 1);
        },
      },
    },
  });
  const options = { starvation: true, time: 60_000, lines: false };
  const result = race.check(lock, [["use"]], [["use"]], options);
  assert.ok(result.ok && result.complete, result.summary);
  assert.match(result.summary, /no agent starves in \d+ states/);
});

test("a loop on the clock is not judged, and the summary says so", () => {
  const result = all(2, (w) => {
    const end = performance.now() + 5;
    while (Atomics.load(w, 0) === 0 && performance.now() < end);
  });
  assert.not(result.complete);
  assert.match(result.summary, /; starvation was not judged: agents look at/);
});

test("a mutex of this library hands itself over after a time: not judged", () => {
  const spec = race.spec({
    memory: () => Mutex.create().buffer,
    agent: (memory) => new Mutex(memory),
    ops: {
      use: {
        run: (mutex) => {
          mutex.lock();
          mutex.unlock();
        },
      },
    },
  });
  const use: CallTuple[] = [["use"]];
  const program = [use, use] as Any[];
  const result = race.check(spec, ...program, { starvation: true });
  assert.ok(result.ok);
  assert.match(result.summary, /; starvation was not judged: agents look at/);
});

test("handles with state are not judged, and the summary says so", () => {
  const spec = race.spec({
    memory,
    agent: (memory) => ({ w: new Int32Array(memory), calls: 0 }),
    ops: {
      use: { run: (self) => Atomics.exchange(self.w, 0, self.calls++ & 1) },
    },
  });
  const result = race.check(spec, [["use"]], [["use"]], { starvation: true });
  assert.match(result.summary, /not judged: handles have state of their own/);
});

test("asynchronous code is not judged, and the summary says so", async () => {
  const result = await race.agents(
    { memory },
    async (memory) => {
      await null;
      Atomics.add(new Int32Array(memory), 0, 1);
    },
    { starvation: true },
  );
  assert.match(result.summary, /not judged: the code is asynchronous/);
});

for (
  const [name, value] of Object.entries({
    kill: true,
    begin: 1,
    end: 1,
    sample: "random",
    primitives: "atomic",
  })
) {
  test(`it is refused beside ${name}`, () => {
    assert.throws(
      () => all(1, testAndSet, { [name]: value }),
      new RegExp(`"starvation" cannot be given with "${name}"`),
    );
  });
}

test("a failure of the repeated program is found", () => {
  const result = all(1, (w) => {
    if (Atomics.add(w, 0, 1) === 3) throw new Error("full");
  });
  assert.is(result.failure?.kind, "exception");
  assert.is(result.failure!.program[0]!.length, 4);
});

// it explores
// Tests asynchronous code: promises are the platform's, wakes and timers are
// simulated.
import * as assert from "uvu/assert";
import { Mutex } from "../../mod.ts";
import { race, RaceError } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { holds, words } from "./asserts.ts";

const test = suite("race async");

const memory = () => new SharedArrayBuffer(16);

/** A mutex whose lock awaits; `mistake` names what is wrong with it. */
class AsyncMutex {
  readonly #words: Int32Array;
  readonly #mistake: string;
  constructor(words: Int32Array, mistake: string) {
    this.#words = words;
    this.#mistake = mistake;
  }
  async lock(): Promise<void> {
    const w = this.#words;
    let c = Atomics.compareExchange(w, 0, 0, 1);
    if (c === 0) return;
    if (c !== 2) c = Atomics.exchange(w, 0, 2);
    while (c !== 0) {
      const wait = Atomics.waitAsync(w, 0, 2);
      if (wait.async || this.#mistake === "waits") await wait.value;
      if (this.#mistake === "trusts") return;
      c = Atomics.exchange(w, 0, this.#mistake === "forgets" ? 1 : 2);
    }
  }
  unlock(): void {
    const w = this.#words;
    if (Atomics.sub(w, 0, 1) === 1) return;
    if (this.#mistake === "early") Atomics.notify(w, 0, 1);
    Atomics.store(w, 0, 0);
    if (this.#mistake !== "early") Atomics.notify(w, 0, 1);
  }
}

function sections(mistake: string) {
  return race.spec({
    async: true,
    memory,
    agent: (memory) => ({
      mutex: new AsyncMutex(words(memory), mistake),
      total: new Int32Array(memory, 4, 1),
    }),
    words: { state: 0, total: 4 },
    init: 0,
    ops: {
      add: {
        run: async ({ mutex, total }) => {
          await mutex.lock();
          const before = total[0]!;
          await Promise.resolve();
          total[0] = before + 1;
          mutex.unlock();
          return before;
        },
        model: (n: number) => [n + 1, n],
      },
    },
  });
}

test("explores awaiting code completely", async () => {
  holds(await race.check(sections(""), [["add"]], [["add"]]));
  holds(await race.check(sections(""), [["add"], ["add"]], [["add"]]));
});

for (
  const [mistake, agents, kind] of [
    ["early", 2, "lost-wakeup"],
    ["forgets", 3, "lost-wakeup"],
    ["trusts", 3, "data-race"],
  ] as const
) {
  test(`finds a mutex that ${mistake}`, async () => {
    const calls = Array.from({ length: agents }, () => [["add"]] as const);
    const spec = sections(mistake);
    const { failure } = await race.check(spec, ...calls, { states: 50_000 });
    assert.is(failure?.kind, kind, failure?.message);
    const program = calls.map((c) => [...c]);
    const again = await race.replay(spec, program, failure!.schedule);
    assert.is(again.failure?.kind, kind);
  });
}

test("finds out that operations return promises", async () => {
  const program = race.spec({
    memory,
    agent: words,
    ops: { go: { run: (w) => Promise.resolve(Atomics.add(w, 0, 1)) } },
    final: (_, results) => {
      assert.equal(results.flat().toSorted(), [0, 1]);
    },
  });
  holds(await race.check(program, [["go"]], [["go"]]));
});

test("finds out that operations leave something to an event loop", async () => {
  const program = race.spec({
    memory,
    agent: words,
    ops: {
      later: {
        run: (w) => {
          setTimeout(() => {
            Atomics.store(w, 0, 1);
            Atomics.notify(w, 0);
          }, 5);
        },
      },
      wait: {
        run: (w) => {
          while (Atomics.load(w, 0) === 0) Atomics.wait(w, 0, 0);
        },
      },
    },
  });
  holds(await race.check(program, [["later"]], [["wait"]]));
});

test("runs agents of both kinds side by side", async () => {
  const result = await race.agents(
    { memory },
    (m) => {
      Atomics.store(words(m), 0, 1);
      Atomics.notify(words(m), 0);
    },
    async (m) => {
      const wait = Atomics.waitAsync(words(m), 0, 0);
      return await wait.value;
    },
    (m) => Atomics.wait(words(m), 0, 0),
    {
      after: (_, [, ...ended]) => {
        for (const how of ended) assert.ok(how === "ok" || how === "not-equal");
      },
    },
  );
  assert.ok(result.complete);
});

test("throws what goes wrong in an asynchronous agent", async () => {
  let error: unknown;
  try {
    await race.agents({ memory }, async (m) => {
      await Promise.resolve();
      if (Atomics.add(words(m), 0, 1) === 1) throw new Error("second");
    }, async (m) => {
      await Promise.resolve();
      if (Atomics.add(words(m), 0, 1) === 1) throw new Error("second");
    });
  } catch (thrown) {
    error = thrown;
  }
  assert.instance(error, RaceError);
  assert.is((error as RaceError).kind, "exception");
});

test("fires timers in virtual time, in order", async () => {
  const result = await race.agents({ memory }, async (m) => {
    const times: number[] = [];
    const note = () => times.push(performance.now());
    await new Promise<void>((resolve) => {
      setTimeout(note, 500);
      const never = setTimeout(note, 700);
      let ticks = 0;
      const interval = setInterval(() => {
        note();
        if (++ticks < 3) return;
        clearInterval(interval);
        clearTimeout(never);
        resolve();
      }, 200);
    });
    Atomics.add(words(m), 0, 1);
    return times;
  }, {
    after: (_, [times]) => assert.equal(times, [200, 400, 500, 600]),
  });
  assert.ok(result.complete);
});

test("clears the timer that is given, and no other one for null", async () => {
  // deno-lint-ignore no-explicit-any
  const none = null as any;
  const result = await race.agents({ memory }, async (m) => {
    const fired: string[] = [];
    await new Promise<void>((resolve) => {
      setTimeout(() => fired.push("first"), 5);
      for (const id of [none, undefined, 0]) clearTimeout(id);
      const second = setTimeout(() => fired.push("second"), 6);
      clearTimeout(Number(second));
      setTimeout(() => fired.push("at once"), Infinity);
      setTimeout(resolve, 10);
    });
    const { value } = Atomics.waitAsync(words(m), 0, 0, 5);
    clearTimeout(none);
    return [...fired, await value];
  }, {
    after: (_, [seen]) => assert.equal(seen, ["at once", "first", "timed-out"]),
  });
  assert.ok(result.complete);
});

test("tells calls apart by what they left to their event loop", async () => {
  const seen = new Set<number>();
  const result = await race.agents({ memory }, async (m) => {
    const found = Atomics.load(words(m), 0);
    setTimeout(() => Atomics.store(words(m), 1, found + 5), 0);
    await Promise.resolve();
  }, (m) => {
    Atomics.store(words(m), 0, 1);
  }, { after: (m) => void seen.add(words(m)[1]!) });
  assert.ok(result.complete);
  assert.ok(seen.has(5) && seen.has(6));
});

test("explores what a call leaves to reactions of promises", async () => {
  const turns = async (n: number) => {
    for (let i = 0; i < n; i++) await undefined;
  };
  for (const n of [0, 1, 2, 3, 9]) {
    const ends = new Set<string>();
    const program = race.spec({
      async: true,
      memory,
      agent: words,
      ops: {
        // It does not await what it began.
        add: {
          run: (w, turn: number) => {
            const found = Atomics.load(w, turn);
            void turns(n).then(() => {
              Atomics.add(w, 0, 1);
              Atomics.store(w, 2 + turn, found + 1);
            });
            return Promise.resolve();
          },
        },
      },
      final: (memory) => void ends.add(words(memory).join()),
    });
    const add = (turn: number) => ["add", turn] as [string, number];
    const one = await race.check(program, [add(0)], [add(1)]);
    assert.ok(one.complete);
    assert.equal([...ends], ["2,0,1,1", "2,0,2,1"], `${n} turns`);
    ends.clear();
    // The next call begins when all of the first one is done.
    const two = await race.check(program, [add(1), add(0)]);
    assert.ok(two.complete);
    assert.equal([...ends], ["2,0,2,1"], `${n} turns, two calls`);
  }
});

test("explores an operation that nobody awaits", async () => {
  const size = Mutex.byteLength();
  const memory = () => {
    const shared = new SharedArrayBuffer(size + 4);
    Mutex.init(shared, 0);
    return shared;
  };
  const adds = async (shared: SharedArrayBuffer) => {
    await undefined;
    const count = new Int32Array(shared, size);
    const mutex = new Mutex(shared);
    void mutex.lockAsync().then(() => {
      Atomics.store(count, 0, Atomics.load(count, 0) + 1);
      mutex.unlock();
    });
  };
  const ends = new Set<number>();
  const after = (shared: SharedArrayBuffer) =>
    void ends.add(new Int32Array(shared, size)[0]!);
  const found = await race.agents({ memory }, adds, adds, { after });
  assert.ok(found.complete);
  assert.equal([...ends], [2]);
});

test("ends a timed waitAsync, and aborts by a timer", async () => {
  const seen = new Set<string>();
  const result = await race.agents({ memory }, async (m) => {
    const wait = Atomics.waitAsync(words(m), 0, 0, 50);
    const aborted = new Promise<string>((resolve) => {
      const signal = AbortSignal.timeout(20);
      signal.addEventListener("abort", () => resolve(signal.reason.name));
    });
    return [await Promise.race([wait.value, aborted]), await wait.value];
  }, (m) => {
    Atomics.notify(words(m), 0);
  }, { after: (_, [how]) => void seen.add(String(how)) });
  assert.ok(result.complete);
  assert.equal(
    [...seen].sort(),
    [
      "TimeoutError,ok",
      "TimeoutError,timed-out",
      "ok,ok",
      "timed-out,timed-out",
    ].filter((how) => how !== "timed-out,timed-out"),
  );
});

test("hands a wake to whoever waits first, awaiting or asleep", async () => {
  const result = await race.agents(
    { memory },
    async (m) => {
      const w = words(m);
      const first = Atomics.waitAsync(w, 0, 0);
      Atomics.store(w, 1, 1);
      Atomics.notify(w, 1);
      return await first.value;
    },
    (m) => {
      const w = words(m);
      while (Atomics.load(w, 1) === 0) Atomics.wait(w, 1, 0);
      return Atomics.wait(w, 0, 0, 5);
    },
    (m) => {
      const w = words(m);
      while (Atomics.load(w, 1) === 0) Atomics.wait(w, 1, 0);
      return Atomics.notify(w, 0, 1);
    },
    {
      after: (_, [first, second, woken]) => {
        assert.equal([first, second, woken], ["ok", "timed-out", 1]);
      },
    },
  );
  assert.ok(result.complete);
});

// ---- loops that return to the event loop -----------------------------------

/** The event loop of the agent that asks. */
const loop = globalThis as unknown as {
  setImmediate(fn: () => void): unknown;
  clearImmediate(id: unknown): void;
};
const turn = () => new Promise<void>((resolve) => loop.setImmediate(resolve));

type Polls = (w: Int32Array) => unknown;

/** The verdict on an agent that polls, beside one that stores 1 in word 0. */
async function polled(polls: Polls, wrong?: number): Promise<string> {
  try {
    const result = await race.agents(
      { memory },
      async (memory) => {
        await polls(words(memory));
        return 0;
      },
      (memory) => {
        const w = words(memory);
        Atomics.store(w, 0, 1);
        Atomics.notify(w, 0);
      },
      {
        shorten: false,
        spins: 1000,
        after: (memory) => words(memory)[1] === wrong ? "wrong" : undefined,
      },
    );
    return result.complete ? "complete" : result.summary;
  } catch (error) {
    if (!(error instanceof RaceError)) throw error;
    return error.result.failure!.kind;
  }
}

const POLLS: Record<string, [verdict: string, polls: Polls, wrong?: number]> = {
  "a word that another agent stores": ["complete", async (w) => {
    while (Atomics.load(w, 0) === 0) await turn();
  }],
  "a word that nobody stores": ["livelock", async (w) => {
    while (Atomics.load(w, 2) === 0) await turn();
  }],
  "two words, in two reactions": ["complete", async (w) => {
    const polls = async (at: number) => {
      while (Atomics.load(w, at) === 0) await turn();
      Atomics.store(w, 1, 1);
    };
    await Promise.all([polls(0), polls(1)]);
  }],
  "a word, three times at most": ["invariant", async (w) => {
    let rounds = 0;
    while (rounds < 3 && Atomics.load(w, 0) === 0) {
      await turn().then(() => ++rounds);
    }
    Atomics.store(w, 1, rounds);
  }, 3],
  "a word, 50 times at most": ["invariant", async (w) => {
    let rounds = 0;
    while (rounds < 50 && Atomics.load(w, 0) === 0) {
      await turn().then(() => ++rounds);
    }
    Atomics.store(w, 1, rounds);
  }, 50],
  "a variable that a wake sets": ["complete", async (w) => {
    let woken = false;
    const wait = Atomics.waitAsync(w, 0, 0);
    if (wait.async) wait.value.then(() => woken = true);
    else woken = true;
    while (!woken) await turn();
  }],
  "a variable that a timer sets": ["complete", async (w) => {
    let fired = false;
    setTimeout(() => fired = true, 5);
    while (!fired) await turn().then(() => Atomics.load(w, 0));
  }],
  "a variable that a letter sets": ["complete", async (w) => {
    let came = false;
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => came = true;
    port1.postMessage(0);
    while (!came) await turn().then(() => Atomics.load(w, 0));
    port2.close();
  }],
};

for (const [what, [verdict, polls, wrong]] of Object.entries(POLLS)) {
  test(`an agent that returns to its event loop polls ${what}`, async () => {
    assert.is(await polled(polls, wrong), verdict);
  });
}

test("a cleared function of setImmediate does not run", async () => {
  const result = await race.agents({ memory }, async (memory) => {
    const w = words(memory);
    const first = loop.setImmediate(() => Atomics.store(w, 0, 9));
    loop.clearImmediate(first);
    const second = loop.setImmediate(() => Atomics.store(w, 1, 1));
    loop.clearImmediate(first);
    await turn();
    loop.clearImmediate(second);
    loop.setImmediate(() => Atomics.store(w, 2, 1));
    loop.clearImmediate(second);
    await turn();
  }, {
    after: (memory) => assert.equal([...words(memory)], [0, 1, 1, 0]),
  });
  holds(result);
});

test("explores one asynchronous program after the other", async () => {
  const run = () => race.check(sections(""), [["add"]], [["add"]]);
  const all = await Promise.all([run(), run(), run()]);
  assert.is(new Set(all.map(({ states }) => states)).size, 1);
});

test("says so if code keeps something outside", async () => {
  let calls = 0;
  const program = race.spec({
    async: true,
    memory,
    agent: words,
    ops: {
      go: {
        run: async (w) => {
          await Promise.resolve();
          if (calls++ % 2 === 0) Atomics.add(w, 0, 1);
          else Atomics.add(w, 1, 1);
        },
      },
    },
  });
  const { failure } = await race.check(program, [["go"]], [["go"]]);
  assert.is(failure?.kind, "nondeterministic");
});

test("a timed sleep of asynchronous code leaves nothing of itself behind", async () => {
  const sleeper = async (m: SharedArrayBuffer) => {
    const w = words(m);
    await null;
    Atomics.wait(w, 0, 2);
    await null;
    Atomics.wait(w, 1, 2);
    await null;
    Atomics.wait(w, 1, 0, 10);
  };
  const looker = async (m: SharedArrayBuffer) => {
    await null;
    Atomics.load(words(m), 1);
  };
  const changer = async (m: SharedArrayBuffer) => {
    await null;
    Atomics.add(words(m), 1, 4);
    await null;
    Atomics.compareExchange(words(m), 1, 0, 1);
  };
  const bodies = [looker, sleeper, changer] as const;
  for (let seed = 1; seed <= 40; seed++) {
    const options = { sample: "random", runs: 10, seed } as const;
    const { ok } = await race.agents({ memory }, ...bodies, options);
    assert.ok(ok);
  }
  assert.ok((await race.agents({ memory }, ...bodies)).complete);
});

// ---- functions that are not async, but return promises ----------------------

test("what a function returns a promise of is explored as if it were async", async () => {
  // The first try ends at the promise. Its reactions still run.
  for (const hops of [1, 3, 9]) {
    const hop = async () => {
      for (let i = 0; i < hops; i++) await null;
    };
    const add = (memory: SharedArrayBuffer) =>
      hop().then(() => {
        const before = words(memory)[0]!++;
        return Atomics.add(words(memory), 1, 1) + before;
      });
    const one = await race.agents({ memory }, (m) => add(m));
    holds(one);
    assert.is(one.states, 4);
    const [seen, both] = [new Set<string>(), { races: false }];
    const after = (_: SharedArrayBuffer, results: readonly unknown[]) =>
      void seen.add(results.join());
    const two = [(m: SharedArrayBuffer) => add(m), add] as const;
    holds(await race.agents({ memory }, ...two, { ...both, after }));
    assert.equal([...seen].sort(), ["0,1", "0,2", "1,0", "1,1", "2,0"]);
  }
});

// it explores
// Tests verdicts that were once wrong: on loops that end by their count, on
// fair programs that were called livelocks, on lock holders that die, and on
// loops on the clock.
import * as assert from "uvu/assert";
import { race, RaceError } from "../../race/mod.ts";
import type { CallTuple, Options, Result } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { fails, holds } from "./asserts.ts";
import { bodies } from "./corpus/known_bad.ts";

const test = suite("race verdicts");

type Body = (words: Int32Array) => unknown;

// deno-lint-ignore no-explicit-any
type Any = any;

// ---- loops that end by their count ------------------------------------------

const store: Body = (w) => Atomics.store(w, 0, 1);

test("a loop with an end is none without, which another call has", () => {
  const polls = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    ops: {
      poll: {
        run: (w, most: number) => {
          for (let i = 0; i < most; i++) if (Atomics.load(w, 0) === 1) return;
          throw new Error("given up");
        },
      },
      set: { run: (w) => void Atomics.store(w, 0, 1) },
    },
  });
  const [ever, some] = [[["poll", Infinity]], [["poll", 5000]]] as const;
  for (const reduce of [true, false]) {
    for (const [one, two] of [[ever, some], [some, ever]] as const) {
      fails(race.check(polls, one, two, [["set"]], { reduce }), "exception");
    }
  }
});

for (const rounds of [10, 620, 5000]) {
  const parks: Body = (w) => {
    for (let i = 0; i < rounds; i++) if (Atomics.load(w, 0) === 1) return;
    Atomics.wait(w, 0, 0);
  };

  test(`a sleep behind ${rounds} looks is found, and that nobody wakes it`, () => {
    fails(bodies({}, parks, store), "deadlock");
  });

  test(`an error behind ${rounds} looks is found`, () => {
    const throws: Body = (w) => {
      for (let i = 0; i < rounds; i++) if (Atomics.load(w, 0) === 1) return;
      throw new Error("given up");
    };
    fails(bodies({}, throws, store), "exception");
  });

  test(`${rounds} looks and a sleep that is woken: nothing`, () => {
    const result = bodies({}, parks, (w) => {
      Atomics.store(w, 0, 1);
      Atomics.notify(w, 0);
    });
    // Of a longer loop only the beginning and the end are explored.
    holds(result, rounds <= 2000);
    if (rounds > 2000) assert.match(result.summary, /not complete/);
  });
}

test("a signal that may be missed: the agent that looks for it spins", () => {
  const looks: Body = (w) => {
    while (Atomics.load(w, 0) === 0);
  };
  const signals: Body = (w) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 0, 0);
  };
  fails(bodies({}, looks, signals), "livelock");
  fails(bodies({ reduce: false }, looks, signals), "livelock");
});

test("a sleep behind 1999 looks is explored look by look", () => {
  holds(bodies({}, (w) => {
    for (let i = 0; i < 1999; i++) if (Atomics.load(w, 0) === 1) return;
    Atomics.wait(w, 0, 0);
  }, (w) => {
    Atomics.store(w, 0, 1);
    Atomics.notify(w, 0);
  }));
});

test("a loop of more looks than `spins` counts as endless, and is named", () => {
  const long: Body = (w) => {
    for (let i = 0; i < 3000; i++) if (Atomics.load(w, 0) === 1) return;
    throw new Error("given up");
  };
  const result = bodies({ spins: 2500 }, long, store);
  holds(result);
  assert.match(result.summary, /^complete up to loops of 2500 operations: /);
});

test("a schedule with a long loop replays to the same failure", () => {
  const program = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    ops: {
      park: {
        run: (w) => {
          for (let i = 0; i < 4000; i++) if (Atomics.load(w, 0) === 1) return;
          Atomics.wait(w, 0, 0);
        },
      },
      store: { run: (w) => void Atomics.store(w, 0, 1) },
    },
  });
  const calls: CallTuple[][] = [[["park"]], [["store"]]];
  const { failure } = race.check(program, ...calls);
  assert.is(failure?.kind, "deadlock");
  assert.match(failure!.schedule, /0\*\d{4}/);
  fails(race.replay(program, calls, failure!.schedule), "deadlock");
});

for (const rounds of [2, 40, 90]) {
  const looks: Body = (w) => {
    while (Atomics.load(w, 0) === 0) {
      for (let i = 0; i < rounds; i++) {
        Atomics.load(w, 1);
        Atomics.load(w, i & 1);
      }
    }
  };

  test(`a round that contains a loop of ${rounds} rounds is one round`, () => {
    holds(bodies({}, looks, store));
    fails(
      bodies({}, looks, (w) => {
        Atomics.store(w, 0, 1);
        Atomics.store(w, 0, 0);
      }),
      "livelock",
    );
  });
}

test("a round of very many operations keeps to `time`", () => {
  const began = performance.now();
  const { failure } = bodies({ time: 1000, runs: 5 }, (w) => {
    while (Atomics.load(w, 0) === 0) {
      for (let i = 0; i < 400; i++) Atomics.load(w, i & 1);
    }
  }, store);
  assert.is(failure, undefined, failure?.message);
  // Twenty times as long, because this machine may do something else.
  assert.ok(performance.now() - began < 40_000);
});

// ---- loops of asynchronous code, and loops that sleep -----------------------

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Ways to look again and again, and what happens between two looks. */
const BETWEEN: Record<string, [rounds: number, pause: (w: Int32Array) => Any]> =
  {
    "by promises": [60, () => Promise.resolve()],
    "by timers": [20, () => pause(5)],
    "by timed awaits": [20, (w) => Atomics.waitAsync(w, 1, 0, 5).value],
    "by timed sleeps": [40, (w) => void Atomics.wait(w, 1, 0, 5)],
  };

for (const [how, [rounds, between]] of Object.entries(BETWEEN)) {
  const sleeps = how.endsWith("sleeps");
  /** Looks `rounds` times for a signal, then does something else. */
  const looks = (then: (w: Int32Array) => unknown): Body =>
    sleeps
      ? (w) => {
        for (let i = 0; i < rounds; i++) {
          if (Atomics.load(w, 0) === 1) return;
          between(w);
        }
        return then(w);
      }
      : async (w) => {
        for (let i = 0; i < rounds; i++) {
          if (Atomics.load(w, 0) === 1) return;
          await between(w);
        }
        return then(w);
      };
  const gives: Body = (w) => void Atomics.load(w, 0);

  test(`an error behind ${rounds} looks ${how} is found`, async () => {
    const throws = looks(() => {
      throw new Error("given up");
    });
    fails(await bodies({}, throws, gives), "exception");
  });

  test(`a sleep for good behind ${rounds} looks ${how} is found`, async () => {
    const parks = looks((w) => void Atomics.wait(w, 2, 0));
    fails(await bodies({}, parks, gives), "deadlock");
  });

  test(`an agent that gives up after ${rounds} looks ${how}: nothing`, async () => {
    holds(await bodies({}, looks(() => "late"), gives));
  });
}

test("a loop of sleeps goes on while another agent sleeps longer", () => {
  const polls: Body = (w) => {
    while (Atomics.load(w, 0) !== 1) Atomics.wait(w, 1, 0, 5);
  };
  const result = bodies({}, polls, (w) => {
    Atomics.wait(w, 2, 0, 100);
    Atomics.store(w, 0, 1);
  });
  holds(result);
  assert.match(result.summary, /^complete up to .*loops of 1000 timeouts: /);
  fails(bodies({}, polls, (w) => Atomics.load(w, 0)), "deadlock");
});

test("a loop that sleeps and changes memory for ever is found at once", () => {
  const change = (w: Int32Array) => {
    Atomics.add(w, 0, 1);
    Atomics.sub(w, 0, 1);
  };
  const beats: Body = (w) => {
    while (Atomics.wait(w, 1, 0, 10) !== "ok") change(w);
  };
  const few = { states: 100, runs: 0 };
  for (const agents of [[beats], [beats, beats], [store, beats]]) {
    const result = bodies(few, ...agents);
    fails(result, "livelock");
    assert.is(result.summary, "every agent took its turn");
  }
  // One that another agent ends is none.
  const stops: Body = (w) => {
    while (Atomics.wait(w, 1, 0, 10) === "timed-out") change(w);
  };
  const ends: Body = (w) => {
    Atomics.store(w, 1, 1);
    Atomics.notify(w, 1);
  };
  holds(bodies({}, stops, ends));
});

test("a timer that a call leaves behind still fires", async () => {
  const leaves: Body = (w) => void setTimeout(() => Atomics.store(w, 0, 9), 5);
  const after = (w: Int32Array) => assert.is(w[0], 9);
  holds(await bodies({ after }, leaves, store));
});

// ---- fair programs ----------------------------------------------------------

const futex = {
  lock: (w: Int32Array) => {
    while (Atomics.compareExchange(w, 0, 0, 1) !== 0) Atomics.wait(w, 0, 1);
  },
  unlock: (w: Int32Array) => {
    Atomics.store(w, 0, 0);
    Atomics.notify(w, 0, 1);
  },
};
const spinlock = {
  lock: (w: Int32Array) => {
    while (Atomics.exchange(w, 0, 1) !== 0);
  },
  unlock: (w: Int32Array) => Atomics.store(w, 0, 0),
};

const polls =
  ({ lock, unlock }: typeof futex | typeof spinlock): Body => (w) => {
    for (;;) {
      lock(w);
      const seen = w[1];
      unlock(w);
      if (seen) return seen;
    }
  };
const sets =
  ({ lock, unlock }: typeof futex | typeof spinlock): Body => (w) => {
    lock(w);
    w[1] = 7;
    unlock(w);
  };

const FAIR: Record<string, [complete: boolean, ...agents: Body[]]> = {
  "polls under a spin lock": [true, polls(spinlock), sets(spinlock)],
  "polls by adding nothing": [true, (w) => {
    while (Atomics.add(w, 0, 0) === 0);
  }, store],
  "polls by an exchange": [true, (w) => {
    while (Atomics.exchange(w, 0, 0) !== 1);
  }, store],
  "tries a lock until it has it": [
    true,
    ...[0, 1].map((): Body => (w) => {
      while (Atomics.compareExchange(w, 0, 0, 1) !== 0) {
        Atomics.load(w, 1); // backs off
      }
      Atomics.store(w, 0, 0);
    }),
  ],
  "sleeps a little between looks": [true, (w) => {
    while (Atomics.load(w, 0) !== 1) Atomics.wait(w, 1, 0, 10);
  }, store],
  // Each round leaves another memory behind: too many states for any search.
  "counts its looks in shared memory": [false, (w) => {
    while (Atomics.load(w, 0) !== 1) Atomics.add(w, 2, 1);
  }, store],
  "counts its looks under a spin lock": [false, (w) => {
    for (;;) {
      spinlock.lock(w);
      const seen = w[1];
      w[2]!++;
      spinlock.unlock(w);
      if (seen) return seen;
    }
  }, sets(spinlock)],
};

for (const [name, [complete, ...agents]] of Object.entries(FAIR)) {
  test(`a fair program that ${name}: nothing`, () => {
    const limited = { states: 3_000, time: 20_000, runs: 20 };
    holds(bodies(limited, ...agents), complete);
  });
}

test("a fair program that polls under a lock that sleeps: nothing", () => {
  const limited = { states: 1_000, runs: 20 };
  const { failure } = bodies(limited, polls(futex), sets(futex));
  assert.is(failure, undefined, failure?.table);
});

test("agents that give way to each other for ever are still found", () => {
  const polite = (mine: number): Body => (w) => {
    for (;;) {
      Atomics.store(w, mine, 1);
      if (Atomics.load(w, 1 - mine) === 0) break;
      Atomics.store(w, mine, 0);
    }
    Atomics.store(w, mine, 0);
  };
  const result = bodies({}, polite(0), polite(1));
  fails(result, "livelock");
  // One round is proof enough.
  assert.ok(result.failure!.table.split("\n").length < 60);
});

test("polling for a word that nobody sets is a livelock, with effects or without", () => {
  fails(bodies({}, polls(spinlock), (w) => Atomics.load(w, 2)), "livelock");
  fails(
    bodies({}, (w) => {
      while (Atomics.load(w, 0) !== 1) Atomics.add(w, 2, 1);
    }, (w) => Atomics.load(w, 3)),
    "livelock",
  );
});

test("a loop that another agent's write lets change memory once is a livelock", () => {
  const goes: Body = (w) => {
    while (Atomics.load(w, 0) === 0) {
      Atomics.store(w, 1, 0);
      Atomics.store(w, 1, 0);
    }
  };
  const writes: Body = (w) => {
    Atomics.store(w, 2, 1);
    Atomics.store(w, 1, 2);
  };
  const apart: Body = (w) => {
    Atomics.add(w, 10, 1);
    while (Atomics.load(w, 8) === 0) {
      Atomics.store(w, 9, 1);
      Atomics.store(w, 9, 1);
    }
  };
  const spins: Body = (w) => {
    while (Atomics.load(w, 4) === 0);
  };
  for (const reduce of [true, false, "order"] as const) {
    const explore = (...agents: Body[]) => {
      const wrapped = agents.map((body) => (memory: SharedArrayBuffer) =>
        body(new Int32Array(memory))
      );
      const memory = () => new SharedArrayBuffer(64);
      try {
        race.agents({ memory }, ...wrapped, { reduce, runs: 0 });
      } catch (error) {
        if (error instanceof RaceError) return error.result.failure?.kind;
        throw error;
      }
    };
    for (const bodies of [[goes, writes, apart], [spins, goes, writes]]) {
      assert.is(explore(...bodies), "livelock", `reduce: ${reduce}`);
    }
  }
});

test("an agent that serves equal requests one after the other does not poll", () => {
  // 1: there is a request; 2: it is answered; 3: there are no more.
  const serves: Body = (w) => {
    for (;;) {
      const state = Atomics.load(w, 0);
      if (state === 3) return;
      if (state === 1) {
        Atomics.store(w, 0, 2);
        Atomics.notify(w, 0);
      } else Atomics.wait(w, 0, state);
    }
  };
  const asks: Body = (w) => {
    for (let i = 0; i < 3; i++) {
      Atomics.store(w, 0, 1);
      Atomics.notify(w, 0);
      for (;;) {
        const state = Atomics.load(w, 0);
        if (state === 2) break;
        Atomics.wait(w, 0, state);
      }
    }
    Atomics.store(w, 0, 3);
    Atomics.notify(w, 0);
  };
  holds(bodies({ polls: false }, serves, asks));
  const busy: Body = (w) => {
    while (Atomics.load(w, 1) === 0) {
      Atomics.store(w, 2, Atomics.load(w, 2) ^ 1);
    }
  };
  const ends: Body = (w) => Atomics.store(w, 1, 1);
  holds(bodies({}, busy, ends));
  fails(bodies({ polls: false }, busy, ends), "livelock");
});

test("an operation of many steps is no livelock", () => {
  const fill: Body = (w) => {
    for (let i = 0; i < 1500; i++) Atomics.add(w, i & 7, 1);
  };
  const { failure } = bodies({ runs: 5, states: 500 }, fill, fill);
  assert.is(failure, undefined, failure?.message);
});

// ---- holders that die -------------------------------------------------------

const SECTION: CallTuple[] = [["lock"], ["unlock"]];

for (const [name, { lock, unlock }] of Object.entries({ futex, spinlock })) {
  const locks = (modelled: boolean) =>
    race.spec({
      memory: () => new SharedArrayBuffer(4),
      agent: (memory) => new Int32Array(memory),
      ...modelled && { init: -1 },
      ops: {
        lock: {
          run: (w) => void lock(w),
          ...modelled && {
            model: (owner: number, _: unknown, id: number) =>
              owner < 0 ? [id, undefined] as const : null,
          },
        },
        unlock: {
          run: (w) => void unlock(w),
          ...modelled && { model: () => [-1, undefined] as const },
        },
      },
    });
  for (const modelled of [true, false]) {
    const how = `${name}, ${modelled ? "with" : "without"} a model`;

    test(`the owner dies between its calls: ${how}`, () => {
      const { failure } = race.check(locks(modelled), SECTION, SECTION, {
        kill: true,
      });
      assert.is(failure?.kind, "damaged-by-kill");
      assert.match(failure!.message, /before unlock\(\)/);
    });

    test(`the owner stops between its calls: ${how}`, () => {
      const { failure } = race.check(locks(modelled), SECTION, SECTION, {
        progress: "lock-free",
      });
      assert.is(failure?.kind, "not-lock-free");
    });
  }
}

test("a lock that looks again each second waits for its holder, too", () => {
  const second = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    init: -1,
    ops: {
      lock: {
        run: (w) => {
          while (Atomics.compareExchange(w, 0, 0, 1) !== 0) {
            Atomics.wait(w, 0, 1, 1000);
          }
        },
        model: (owner: number, _: unknown, id: number) =>
          owner < 0 ? [id, undefined] as const : null,
      },
      unlock: {
        run: (w) => void futex.unlock(w),
        model: () => [-1, undefined] as const,
      },
    },
  });
  const check = (options: Options) =>
    race.check(second, SECTION, SECTION, options) as Result;
  holds(check({}));
  fails(check({ kill: true }), "damaged-by-kill");
  fails(check({ progress: "lock-free" }), "not-lock-free");
});

test("an agent that recovers by doing nothing is judged", () => {
  const owned = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    init: -1,
    recover: () => {},
    recovered: (owner: number, dead: number) => owner === dead ? -1 : owner,
    ops: {
      lock: {
        run: (w) => void futex.lock(w),
        model: (owner: number, _: unknown, id: number) =>
          owner < 0 ? [id, undefined] as const : null,
      },
      unlock: {
        run: (w) => void futex.unlock(w),
        model: () => [-1, undefined] as const,
      },
    },
  });
  const { failure } = race.check(owned, SECTION, SECTION, { kill: true });
  assert.is(failure?.kind, "damaged-by-kill");
});

test("waiting for what a dead agent never did is no damage", () => {
  const event = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    init: 0,
    ops: {
      wait: {
        run: (w) => {
          while (Atomics.load(w, 0) === 0) Atomics.wait(w, 0, 0);
        },
        model: (n: number) => n === 0 ? null : [n, undefined],
      },
      look: { run: (w) => Atomics.load(w, 0), model: (n: number) => [n, n] },
      set: {
        run: (w) => {
          Atomics.store(w, 0, 1);
          Atomics.notify(w, 0);
        },
        model: () => [1, undefined],
      },
    },
  });
  const check = (options: Options) =>
    race.check(event, [["look"], ["set"]], [["wait"]], options) as Result;
  holds(check({ progress: "lock-free" }));
  holds(check({ kill: true }));
});

// ---- the clock --------------------------------------------------------------

test("time passes for a loop on the clock", () => {
  for (const ms of [1, 50, 3000]) {
    const result = bodies(
      { after: (_, [waited]) => assert.ok(Number(waited) >= ms) },
      () => {
        const begin = Date.now();
        while (Date.now() < begin + ms);
        return Date.now() - begin;
      },
      (w) => Atomics.add(w, 0, 1),
    );
    holds(result);
  }
});

test("time passes for a loop on the clock that looks at memory", () => {
  const seen = new Set<unknown>();
  const until = (end: number): Body => (w) => {
    while (Atomics.load(w, 0) === 0) {
      if (performance.now() > end) return "late";
    }
    return "seen";
  };
  const after = (_: Int32Array, [how]: unknown[]) => void seen.add(how);
  holds(bodies({ after }, until(100), store));
  assert.equal([...seen].sort(), ["late", "seen"]);
  seen.clear();
  holds(bodies({ after }, until(100), (w) => Atomics.load(w, 0)));
  assert.equal([...seen], ["late"]);
});

test("time passes for a loop that seldom looks at the clock", () => {
  holds(bodies({}, (w) => {
    const end = Date.now() + 5;
    for (let i = 1;; i++) {
      if (Atomics.load(w, 0) === 1) return;
      if (i % 40 === 0 && Date.now() > end) return;
    }
  }));
});

test("time passes for a loop on the clock that changes memory", () => {
  holds(bodies({}, (w) => {
    while (performance.now() < 20) {
      spinlock.lock(w);
      spinlock.unlock(w);
    }
  }, sets(spinlock)));
});

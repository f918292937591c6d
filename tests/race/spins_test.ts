// it explores
// Tests loops that seem to have no end: whether it makes a difference how many
// rounds they took, and what the tester then says.
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import type { CallTuple, Options, Result } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { bodies } from "./corpus/known_bad.ts";

const test = suite("race spins");

type Words = Int32Array;
type Body = (words: Words, id: number) => unknown;

/** What the tester must say: a kind of failure, or how far it looked. */
type Verdict = "complete" | "counts" | "exception" | "deadlock" | "data-race";

function says(result: Result, verdict: Verdict | string): void {
  const { failure, complete, summary } = result;
  if (verdict !== "complete" && verdict !== "counts") {
    assert.is(failure?.kind, verdict, summary);
    return;
  }
  assert.is(failure, undefined, `${failure?.message}\n${failure?.table}`);
  assert.is(complete, verdict === "complete", summary);
  if (!complete) assert.match(summary, /a loop that counts its rounds/);
}

const store: Body = (w) => void Atomics.store(w, 0, 1);
const wakes: Body = (w) => {
  Atomics.store(w, 0, 1);
  Atomics.notify(w, 0);
};

/** Spins until word `i` is set; returns the number of rounds. */
function spin(w: Words, i = 0): number {
  let rounds = 0;
  while (Atomics.load(w, i) === 0) rounds++;
  return rounds;
}

function bug(when: boolean): void {
  if (when) throw new Error("found");
}

/** Spins, and then does what depends on the number of rounds. */
const counting = (then: (rounds: number, w: Words) => unknown): Body => (w) =>
  void then(spin(w), w);

const twice = (body: Body): [Body, Body] => [body, body];

/** A lock with a spin; `inside` runs under the lock. */
const locks = (inside: (rounds: number, w: Words) => unknown): Body => (w) => {
  let rounds = 0;
  while (Atomics.exchange(w, 0, 1) !== 0) rounds++;
  inside(rounds, w);
  Atomics.store(w, 0, 0);
};

/** A mutex that sleeps and counts how often it was woken. */
const sleeps = (inside: (woken: number, w: Words) => unknown): Body => (w) => {
  let woken = 0;
  while (Atomics.compareExchange(w, 0, 0, 1) !== 0) {
    Atomics.wait(w, 0, 1);
    woken++;
  }
  inside(woken, w);
  Atomics.store(w, 0, 0);
  Atomics.notify(w, 0, 1);
};

/** Looks and sleeps a little until word 0 is set. */
const naps = (then: (rounds: number, w: Words) => unknown): Body => (w) => {
  let rounds = 0;
  while (Atomics.load(w, 0) !== 1) {
    Atomics.wait(w, 1, 0, 5);
    rounds++;
  }
  then(rounds, w);
};
const late: Body = (w) => {
  Atomics.wait(w, 2, 0, 60);
  Atomics.store(w, 0, 1);
};

const PROGRAMS: Record<string, [verdict: Verdict, ...agents: Body[]]> = {
  // ---- loops that do not count, or whose count makes no difference
  "spins": ["complete", counting(() => {}), store],
  "counts and drops the count": ["complete", counting((n) => n + 1), store],
  "returns a count that nobody judges": ["complete", (w) => spin(w), store],
  "spins by an exchange": ["complete", ...twice(locks(() => {}))],
  "spins and then adds": [
    "complete",
    counting((_, w) => Atomics.add(w, 1, 1)),
    store,
  ],
  "does the same for few rounds and for many": [
    "complete",
    counting((n, w) => Atomics.store(w, 1, n > 3 ? 5 : 2 + 3)),
    store,
  ],
  "looks at two words in turn": ["complete", (w) => {
    while (Atomics.load(w, 0) + Atomics.load(w, 1) === 0);
  }, store],
  "spins twice": ["complete", (w) => {
    spin(w, 0);
    spin(w, 1);
  }, (w) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 1, 1);
  }],
  "sleeps under contention": ["complete", ...twice(sleeps(() => {}))],
  "naps": ["complete", naps(() => {}), late],

  // ---- counts that end somewhere
  "remembers that it had to wait": [
    "complete",
    counting((n, w) => n > 0 && Atomics.add(w, 1, 1)),
    store,
  ],
  "counts up to three": [
    "complete",
    counting((n, w) => Atomics.store(w, 1, Math.min(n, 3))),
    store,
  ],
  "backs off up to 64": ["complete", (w) => {
    let delay = 1;
    while (Atomics.load(w, 0) === 0) delay = Math.min(delay * 2, 64);
    Atomics.store(w, 1, delay);
  }, store],
  "calls 100 rounds a long wait": [
    "complete",
    counting((n, w) => n >= 100 && Atomics.store(w, 1, 1)),
    store,
  ],
  "counts under a lock, up to two": [
    "complete",
    ...twice(locks((n, w) => n > 2 && Atomics.add(w, 1, 1))),
  ],
  "counts how often it was woken, up to one": [
    "complete",
    ...twice(sleeps((n, w) => n > 1 && Atomics.add(w, 1, 1))),
  ],
  "counts its naps up to two": [
    "complete",
    naps((n, w) => n > 2 && Atomics.add(w, 3, 1)),
    late,
  ],
  "sleeps after two rounds, and is woken": ["complete", (w) => {
    if (spin(w) === 2) Atomics.wait(w, 1, 0);
  }, (w) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 1, 1);
    Atomics.notify(w, 1);
  }],

  // ---- mistakes behind a number of rounds
  "fails after no round": ["exception", counting((n) => bug(n === 0)), store],
  "fails after one round": ["exception", counting((n) => bug(n === 1)), store],
  "fails after two rounds": ["exception", counting((n) => bug(n === 2)), store],
  "fails after seven rounds": [
    "exception",
    counting((n) => bug(n === 7)),
    store,
  ],
  "fails after 32 rounds": ["exception", counting((n) => bug(n === 32)), store],
  "fails from 100 rounds on": [
    "exception",
    counting((n) => bug(n >= 100)),
    store,
  ],
  "fails after an odd number of rounds": [
    "exception",
    counting((n) => bug(n % 2 === 1 && n > 2)),
    store,
  ],
  "fails after three rounds of each of two loops": ["exception", (w) => {
    const first = spin(w, 0);
    bug(first === 3 && spin(w, 1) === 3);
  }, (w) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 1, 1);
  }],
  "fails after four rounds of two loops together": ["exception", (w) => {
    const first = spin(w, 0);
    bug(first + spin(w, 1) === 4);
  }, (w) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 1, 1);
  }],
  "fails much later": ["exception", (w) => {
    const rounds = spin(w);
    for (let i = 0; i < 5; i++) Atomics.add(w, 2, 1);
    bug(rounds === 4);
  }, store],
  "fails under a lock": ["exception", ...twice(locks((n) => bug(n === 3)))],
  "sleeps for ever after two rounds": ["deadlock", (w) => {
    if (spin(w) === 2) Atomics.wait(w, 1, 0);
  }, store],
  "does not wake others after three rounds": ["deadlock", (w) => {
    if (spin(w) !== 3) wakes(w.subarray(1), 0);
  }, (w) => {
    Atomics.store(w, 0, 1);
    Atomics.wait(w, 1, 0);
  }],
  "writes plainly after five rounds": ["data-race", (w) => {
    const rounds = spin(w);
    if (rounds === 5) w[1] = 1;
  }, (w) => {
    Atomics.store(w, 0, 1);
    return w[1];
  }],
  "fails when woken twice": [
    "exception",
    ...twice(sleeps((n) => bug(n === 2))),
    sleeps(() => {}),
  ],
  "fails after four naps": ["exception", naps((n) => bug(n === 4)), late],
  "fails after eleven naps": ["exception", naps((n) => bug(n === 11)), late],
  "fails after three rounds of two looks": ["exception", (w) => {
    let rounds = 0;
    while (Atomics.load(w, 1) + Atomics.load(w, 0) === 0) rounds++;
    bug(rounds === 3);
  }, store],
  "fails when the word came and went twice": ["exception", (w) => {
    let rounds = 0;
    while (Atomics.compareExchange(w, 0, 1, 2) !== 1) rounds++;
    bug(rounds === 6);
  }, (w) => {
    for (let i = 0; i < 2; i++) {
      Atomics.store(w, 0, 3);
      Atomics.store(w, 0, 0);
    }
    Atomics.store(w, 0, 1);
  }],

  // ---- loops on the clock
  "looks at the clock until time is up": ["complete", (w) => {
    const end = Date.now() + 20;
    while (Date.now() < end);
    Atomics.add(w, 1, 1);
  }, store],
  "counts its looks at the clock": ["counts", (w) => {
    const end = Date.now() + 20;
    let looks = 0;
    while (Date.now() < end) looks++;
    if (looks > 5) Atomics.add(w, 1, 1);
  }, store],
  "looks at a word and at the clock": ["complete", (w) => {
    const end = Date.now() + 20;
    while (Atomics.load(w, 0) === 0 && Date.now() < end);
    Atomics.add(w, 1, 1);
  }, store],
  "fails after five looks at a word and at the clock": ["exception", (w) => {
    const end = Date.now() + 20;
    let looks = 0;
    while (Atomics.load(w, 0) === 0 && Date.now() < end) looks++;
    bug(looks === 5);
  }, store],

  "fails after exactly 77 rounds": [
    "exception",
    counting((n) => bug(n === 77)),
    store,
  ],
  ...Object.fromEntries([[2, 5], [7, 1], [0, 6]].map(([first, second]) => [
    `fails after ${first} rounds of one loop and ${second} of the next`,
    ["exception", (w) => {
      const rounds = spin(w, 0);
      const others = spin(w, 1);
      bug(rounds === first && others === second);
    }, (w) => {
      Atomics.store(w, 0, 1);
      Atomics.store(w, 1, 1);
    }] satisfies [Verdict, ...Body[]],
  ])),
  "sleeps for ever after three rounds at a lock and four at a flag": [
    "deadlock",
    (w) => {
      let rounds = 0;
      while (Atomics.exchange(w, 0, 1) !== 0) rounds++;
      Atomics.store(w, 0, 0);
      if (spin(w, 1) === 4 && rounds === 3) Atomics.wait(w, 2, 0);
    },
    (w) => {
      while (Atomics.exchange(w, 0, 1) !== 0);
      Atomics.store(w, 0, 0);
      Atomics.store(w, 1, 1);
    },
  ],

  // ---- counts without an end
  "adds its rounds to a sum": [
    "counts",
    counting((n, w) => Atomics.add(w, 1, n)),
    store,
  ],
  "stores its rounds plainly": ["counts", counting((n, w) => w[1] = n), store],
  "does something else after even rounds": [
    "counts",
    counting((n, w) => n % 2 === 0 && Atomics.add(w, 1, 1)),
    store,
  ],
  "asks whether there were 777 rounds or more": [
    "counts",
    counting((n, w) => n >= 777 && Atomics.add(w, 1, 1)),
    store,
  ],
};

/** A lock that looks at another word, or not, before it tries again. */
const backsOff: Body = (w) => {
  while (Atomics.exchange(w, 0, 1) !== 0) {
    if (Math.random() < 0.5) Atomics.load(w, 2);
  }
  w[1] = w[1]! + 1;
  Atomics.store(w, 0, 0);
};

test("a lock that backs off at random is explored completely", () => {
  const after = (w: Words) => assert.is(w[1], 3);
  const agents = [backsOff, backsOff, backsOff] as const;
  says(bodies({ after }, ...agents), "complete");
});

test("both ways are gone where a random number decides", () => {
  for (const way of [true, false]) {
    const draws: Body = (w) => {
      Atomics.add(w, 0, 1);
      for (let i = 0; i < 4; i++) bug(Math.random() < 0.5 === way);
    };
    says(bodies({}, draws), "exception");
  }
});

// Each replay begins with the handle, and with calls that have ended.
for (const stateless of [undefined, true, false] as const) {
  test(`a replay draws the same numbers, stateless: ${stateless}`, async () => {
    const spec = race.spec({
      memory: () => new SharedArrayBuffer(64),
      ...stateless === undefined ? {} : { stateless },
      agent: (memory: SharedArrayBuffer) => ({
        words: new Int32Array(memory),
        name: Math.random(),
      }),
      ops: {
        adds: {
          run: ({ words, name }) => {
            for (let i = 0; i < 3; i++) {
              Atomics.add(words, Math.floor(Math.random() * 4), 1);
            }
            Atomics.store(words, 8, Math.floor(name * 1000));
          },
        },
        waits: {
          run: async ({ words }) => {
            Atomics.store(words, 5, Math.floor(Math.random() * 1000));
            await undefined;
            Atomics.load(words, 5);
          },
        },
      },
    });
    says(
      await race.check(
        spec,
        [["waits"], ["adds"]],
        [["adds"], ["waits"]],
        { states: 3000, runs: 100 },
      ),
      "complete",
    );
  });
}

test("a call's first random numbers differ", () => {
  const draws: Body = () => {
    const drawn = Array.from({ length: 12 }, () => Math.random());
    bug(new Set(drawn).size < 12);
  };
  says(bodies({}, draws, draws), "complete");
});

for (const [name, [verdict, ...agents]] of Object.entries(PROGRAMS)) {
  test(`a program that ${name}: ${verdict}`, () => {
    says(bodies({}, ...agents), verdict);
  });
}

test("without reductions, the verdicts are the same", () => {
  for (const [verdict, ...agents] of Object.values(PROGRAMS)) {
    if (agents.length > 2) continue;
    says(bodies({ reduce: false }, ...agents), verdict);
  }
});

// ---- calls, handles and models ----------------------------------------------

/** Agents whose handles count all rounds of their calls. */
const counters = (then: (all: number, w: Words) => unknown) =>
  race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory) => ({ words: new Int32Array(memory), all: 0 }),
    ops: {
      spin: { run: (one) => void (one.all += spin(one.words)) },
      then: { run: (one) => void then(one.all, one.words) },
      store: { run: ({ words }) => store(words, 0) },
    },
  });

const CALLS: CallTuple[][] = [[["spin"], ["then"]], [["store"]]];

const HANDLES: [
  what: string,
  verdict: Verdict,
  (n: number, w: Words) => void,
][] = [
  ["is never used", "complete", () => {}],
  ["is used up to two", "complete", (n, w) => {
    if (n > 2) Atomics.add(w, 1, 1);
  }],
  ["must not be five", "exception", (n) => bug(n === 5)],
  ["is added to memory", "counts", (n, w) => void Atomics.add(w, 1, n)],
];

for (const [what, verdict, then] of HANDLES) {
  for (const reduce of [true, false]) {
    const how = reduce ? "" : ", without reductions";

    test(`a count in a handle that ${what}: ${verdict}${how}`, () => {
      const result = race.check(counters(then), ...CALLS, { reduce });
      says(result as Result, verdict);
    });
  }
}

/** A word to wait for; `answer` is what the wait returns. */
const event = (answer: (rounds: number) => number) =>
  race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    init: 0,
    ops: {
      wait: {
        run: (w) => answer(spin(w)),
        model: (n: number) => n === 0 ? null : [n, 1],
      },
      set: { run: (w) => void store(w, 0), model: () => [1, undefined] },
    },
  });

test("an answer that is wrong after three rounds is not linearizable", () => {
  const check = (answer: (rounds: number) => number, options: Options = {}) =>
    race.check(event(answer), [["wait"]], [["set"]], options) as Result;
  says(check(() => 1), "complete");
  says(check((n) => n === 3 ? 2 : 1), "not-linearizable");
  says(check((n) => n === 3 ? 2 : 1, { reduce: false }), "not-linearizable");
});

test("a schedule with several rounds replays to the same failure", () => {
  const late = () => counters((n) => bug(n === 5));
  const { failure } = race.check(late(), ...CALLS) as Result;
  assert.match(failure!.schedule, /0\*5/);
  const again = race.replay(late(), CALLS, failure!.schedule) as Result;
  assert.is(again.failure?.kind, "exception");
  assert.is(again.failure!.table.split("\n").length > 5, true);
});

test("a schedule that leaves its end out is an error, as ever", () => {
  assert.throws(
    () => race.replay(counters(() => {}), CALLS, "0*3 1 0*9"),
    /Cannot replay the schedule/,
  );
});

test("samples tell rounds apart, too", () => {
  const result = bodies(
    { states: 12, runs: 400 },
    counting((n) => bug(n === 2)),
    store,
    (w) => Atomics.add(w, 2, 1),
    (w) => Atomics.add(w, 2, 1),
  );
  assert.is(result.failure?.kind, "exception", result.summary);
});

test("a loop within a loop does not count the rounds of the inner one", () => {
  const waits: Body = (w) => {
    while (Atomics.load(w, 1) === 0) {
      Atomics.store(w, 2, 1);
      while (Atomics.load(w, 0) !== 0);
    }
  };
  const turns: Body = (w) => {
    for (let i = 0; i < 3; i++) {
      Atomics.store(w, 0, 3);
      Atomics.store(w, 0, 0);
    }
    Atomics.store(w, 1, 1);
  };
  says(bodies({}, ...twice(waits), turns), "complete");
});

// it explores
// The judge that watches executions agrees with a check of whole histories.
import * as assert from "uvu/assert";
import type { Answer, Call } from "../../race/engine/model.ts";
import { Either, type Model, type Outcome } from "../../race/engine/model.ts";
import { type Event, explains, Judge } from "../../race/judge/lin.ts";
import { Random } from "../../race/engine/values.ts";
import { race } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { fails, holds } from "./asserts.ts";

const test = suite("race judge");

interface Subject {
  readonly model: Model;
  call(random: Random): Call;
  result(call: Call, random: Random): unknown;
}

type Queue = readonly number[];

const queue: Subject = {
  model: {
    init: [],
    step(state, { op, arg }): Answer<unknown> {
      const s = state as Queue;
      if (op === "push") {
        return s.length < 2 ? [[...s, arg], true] : [s, false];
      }
      return s.length > 0 ? [s.slice(1), s[0]] : [s, -1];
    },
  },
  call: (random) =>
    random.below(2) === 1
      ? { op: "push", arg: random.below(2) }
      : { op: "pop" },
  result: ({ op }, random) =>
    op === "push" ? random.below(5) > 0 : random.below(3) - 1,
};

const register: Subject = {
  model: {
    init: 0,
    step: (state, { op, arg }): Answer<unknown> =>
      op === "set"
        ? [arg, null]
        : op === "get"
        ? [state, state]
        : state === 0
        ? [arg, true]
        : [state, false],
  },
  call: (random) =>
    [{ op: "set", arg: random.below(3) }, { op: "get" }, { op: "cas", arg: 2 }][
      random.below(3)
    ]!,
  result: ({ op }, random) =>
    op === "set" ? null : op === "get" ? random.below(3) : random.below(2) > 0,
};

/** A random history, which may be linearizable or not. */
function history({ call, result }: Subject, random: Random): Event[] {
  const agents = 2 + random.below(2);
  const left = Array<number>(agents).fill(2 + random.below(2));
  const open: ({ call: Call; begin: number } | undefined)[] = left
    .map(() => undefined);
  const events: Event[] = [];
  for (let now = 0; left.some((n) => n > 0) || open.some(Boolean); now++) {
    const agent = random.below(agents);
    const pending = open[agent];
    if (pending !== undefined) {
      const answer = result(pending.call, random);
      events.push({ ...pending, agent, result: answer, end: now });
      open[agent] = undefined;
    } else if (left[agent]! > 0) {
      left[agent]!--;
      open[agent] = { call: call(random), begin: now };
    }
  }
  return events;
}

/** Wing and Gong's check: tries every order. */
function bruteForce({ model }: Subject, events: readonly Event[]): boolean {
  const search = (left: readonly Event[], state: unknown): boolean => {
    if (left.length === 0) return true;
    const first = Math.min(...left.map(({ end }) => end));
    return left.some((event) => {
      if (event.begin > first) return false;
      const answer = model.step(state, event.call, event.agent);
      const outcomes: readonly Outcome<unknown>[] = answer === null
        ? []
        : answer instanceof Either
        ? answer.outcomes
        : [answer];
      const rest = left.filter((other) => other !== event);
      return outcomes.some(([next, result]) =>
        result === event.result && search(rest, next)
      );
    });
  };
  return search(events, model.init);
}

for (const [name, subject] of Object.entries({ queue, register })) {
  test(`judges 10,000 histories of a ${name} as brute force does`, () => {
    const judge = new Judge(subject.model, 3);
    let right = 0;
    for (let seed = 1; seed <= 10_000; seed++) {
      const events = history(subject, new Random(seed));
      const verdict = explains(judge, events);
      if (verdict) right++;
      if (verdict === bruteForce(subject, events)) continue;
      assert.unreachable(`seed ${seed}: ${JSON.stringify(events)}`);
    }
    assert.ok(right > 100 && right < 9_900);
  });
}

test("lets an operation wait only while the model does", () => {
  const model: Model = {
    init: 0,
    step: (n, { op }): Answer<unknown> =>
      op === "add"
        ? [n as number + 1, undefined]
        : n as number > 0
        ? [n as number - 1, undefined]
        : null,
  };
  const judge = new Judge(model, 2);
  const waiting = judge.invoke(judge.initial(), 0, { op: "take" });
  const sleeper = [{ agent: 0, timed: false }];
  assert.ok(judge.mayWait(waiting, sleeper, 0));
  const adding = judge.invoke(waiting, 1, { op: "add" });
  assert.ok(judge.mayWait(adding, sleeper, 0b10)); // not added yet
  const added = judge.answer(adding, 1, undefined);
  assert.not.ok(judge.mayWait(added, sleeper, 0));
  // An agent that is suspended in a call may have done it already.
  const taking = judge.invoke(added, 1, { op: "take" });
  assert.not.ok(judge.mayWait(taking, sleeper, 0));
  assert.ok(judge.mayWait(taking, sleeper, 0b10));
  assert.not.ok(judge.mayWait(taking, sleeper, 0b100));
});

/** `wait` ends once `n` is not 0; `put` makes it 1, and `take` 0. */
const gate = (init: number): Model => ({
  init,
  step: (n, { op }): Answer<unknown> =>
    op === "wait"
      ? n === 0 ? null : [n, true]
      : [op === "put" ? 1 : 0, undefined],
});

test("excuses no timed sleeper whose wake-up was lost", () => {
  const judge = new Judge(gate(0), 2);
  const putting = judge.invoke(judge.initial(), 1, { op: "put" });
  const put = judge.answer(putting, 1, undefined);
  const waiting = judge.invoke(put, 0, { op: "wait" });
  assert.not.ok(judge.mayWait(waiting, [{ agent: 0, timed: true }], 0));
  assert.not.ok(judge.regrets());
});

test("excuses no sleep without a limit in a call that never waits", () => {
  const look: Model = { init: 0, step: (n) => [n, n] };
  const judge = new Judge(look, 1);
  const waiting = judge.invoke(judge.initial(), 0, { op: "look" });
  assert.not.ok(judge.mayWait(waiting, [{ agent: 0, timed: false }], 0));
  assert.ok(judge.mayWait(waiting, [{ agent: 0, timed: true }], 0));
  assert.not.ok(judge.regrets());
});

/** A semaphore. `try` may give up, `look` never waits and changes nothing. */
const permits: Model = {
  init: 0,
  step(state, { op, arg }): Answer<unknown> {
    const n = state as number;
    if (op === "look") return [n, n];
    if (op === "release") return [n + 1, undefined];
    const [acquired, gaveUp]: Outcome<unknown>[] = [
      [n - Number(arg), true],
      [n, false, { timedOut: true }],
    ];
    if (op === "try") return n > 0 ? new Either([acquired!, gaveUp!]) : gaveUp!;
    return n < Number(arg) ? null : acquired!;
  },
};

/** How agent 0 stopped, and how agent 1 waits. */
interface Setting {
  /** The calls that agent 0 still had to make. */
  readonly calls: Call[];
  /** Whether the first of them has begun, and whether it took effect. */
  readonly begun: boolean;
  readonly done: boolean;
  readonly timed: boolean;
  /** How many permits agent 1 has released itself. */
  readonly own: number;
}

test("tells who holds up a sleeper from who only might have come", () => {
  const acquire = (arg: number) => ({ op: "acquire", arg });
  const [release, look] = [{ op: "release" }, { op: "look" }];
  const course = (agent: number, calls: Call[], begun = false) => ({
    agent,
    calls,
    begun,
  });
  /** Whether agent 1 waits in `call` for agent 0, which stopped so. */
  const held = (
    call: Call,
    { calls = [release], begun = false, done = begun, timed = false, own = 1 }:
      Partial<Setting>,
  ) => {
    const judge = new Judge(permits, 2);
    let now = judge.initial();
    if (begun) now = judge.invoke(now, 0, calls[0]!);
    // By the answer of agent 1, the call of agent 0 has taken effect.
    if (done) {
      now = judge.invoke(now, 1, acquire(1));
      now = judge.answer(now, 1, true);
    }
    now = judge.invoke(now, 1, call);
    // Without agent 0, agent 1 has only its own permits.
    const before = done ? [acquire(1)] : [];
    const mine = [...Array<Call>(own).fill(release), ...before, call];
    const others = [course(1, mine)];
    const stopped = calls.length > 0 ? [course(0, calls, begun)] : [];
    const verdict = judge.heldUp(now, [{ agent: 1, timed }], stopped, others);
    assert.is(
      judge.heldUp(now, [{ agent: 1, timed }], stopped, others),
      verdict,
    );
    return verdict;
  };
  assert.is(held(acquire(1), {}), true);
  assert.is(held(acquire(1), { calls: [look, look, release] }), true);
  assert.is(held(acquire(1), { calls: [] }), false); // all has ended
  assert.is(held(acquire(1), { calls: [look] }), false); // it would not help
  assert.is(held(acquire(2), {}), false); // nor would half of it
  assert.is(held(acquire(2), { calls: [release, release], own: 2 }), true);
  assert.is(held(acquire(1), { own: 0 }), false); // it needs agent 0 anyway
  // A call of agent 0 that took effect is not made once more.
  assert.is(held(acquire(1), { begun: true, own: 2 }), false);
  const more = { begun: true, calls: [release, release], own: 2 };
  assert.is(held(acquire(1), more), true);
  assert.is(held(acquire(1), { begun: true, done: false }), true);
  // A timed sleep ends by itself, if its call may end without success.
  assert.is(held({ op: "try", arg: 1 }, { timed: true }), false);
  assert.is(held(acquire(1), { timed: true }), true);
});

test("takes an excuse back when a state shows that the call waits", () => {
  const judge = new Judge(gate(1), 2);
  const waiting = judge.invoke(judge.initial(), 0, { op: "wait" });
  const sleeper = [{ agent: 0, timed: true }];
  assert.ok(judge.mayWait(waiting, sleeper, 0)); // it seems only to give up
  assert.not.ok(judge.regrets());
  assert.ok(judge.mayWait(waiting, sleeper, 0));
  const taking = judge.invoke(waiting, 1, { op: "take" });
  judge.answer(taking, 1, undefined);
  assert.ok(judge.regrets());
  assert.not.ok(judge.mayWait(waiting, sleeper, 0));
  assert.not.ok(judge.regrets());
});

// ---- what tells arguments and states apart ----------------------------------

test("two functions are two arguments, and -0 is not 0", () => {
  const words = (memory: SharedArrayBuffer) => new Int32Array(memory);
  const memory = () => new SharedArrayBuffer(4);
  type Change = (n: number) => number;
  const changes = race.spec({
    memory,
    agent: words,
    init: 0,
    ops: {
      change: {
        run: (w, { by }: { by: Change }) => {
          for (;;) {
            const n = Atomics.load(w, 0);
            const next = by(n);
            if (Atomics.compareExchange(w, 0, n, next) === n) return next;
          }
        },
        model: (n: number, { by }: { by: Change }) => [by(n), by(n)],
      },
    },
  });
  const by = (n: number) => ({ by: (old: number) => old + n });
  holds(race.check(changes, [["change", by(1)]], [["change", by(2)]]));
  const signs = race.spec({
    memory,
    agent: words,
    init: 0,
    ops: {
      go: {
        run: (w, n: number) => (Atomics.add(w, 0, 1), 1 / n),
        model: (state: number, n: number) => [state, 1 / n],
      },
    },
    final: (w) => words(w)[0] === 1 ? "one" : undefined,
  });
  const result = race.check(signs, [["go", 0]], [["go", -0]]);
  holds(result);
  const named = race.spec({
    memory,
    agent: words,
    ops: {
      go: {
        run: (w, n: number) => {
          Atomics.add(w, 0, 1);
          if (Object.is(n, -0)) throw new Error("negative");
        },
      },
    },
  });
  fails(race.check(named, [["go", 0]], [["go", -0]]), "exception");
});

test("0 and -0 are one answer, and two states of the model", () => {
  const register = (pack: (n: number) => unknown) =>
    race.spec({
      memory: () => new SharedArrayBuffer(16),
      agent: (memory) => ({
        floats: new Float64Array(memory, 0, 1),
        at: new Int32Array(memory, 8),
      }),
      init: 0,
      ops: {
        set: {
          run: ({ floats, at }, n: number) => {
            while (Atomics.compareExchange(at, 0, 0, 1) !== 0);
            floats[0] = n;
            Atomics.store(at, 0, 0);
          },
          model: (_: number, n: number) => [n, undefined],
        },
        get: {
          run: ({ floats, at }) => {
            while (Atomics.compareExchange(at, 0, 0, 1) !== 0);
            const n = floats[0]!;
            Atomics.store(at, 0, 0);
            return pack(n);
          },
          model: (n: number) => [n, pack(n)],
        },
      },
    });
  const sets = [["set", -0]] as const;
  const gets = [["get"], ["get"]] as const;
  for (
    const pack of [(n: number) => n, (n: number) => [n], (n: number) => 1 / n]
  ) {
    holds(race.check(register(pack), sets, gets));
  }
  const signless = (
    pack: (n: number) => unknown,
    loses: (n: number) => unknown,
  ) =>
    race.spec({
      memory: () => new SharedArrayBuffer(4),
      agent: (memory) => new Int32Array(memory),
      init: 0,
      ops: {
        flip: {
          run: (w) => loses(Atomics.load(w, 0)),
          model: (n: number) => [-n, pack(-n)],
        },
      },
    });
  const flips = [["flip"], ["flip"]] as const;
  holds(race.check(signless((n) => n, (n) => n), flips, flips));
  holds(race.check(signless((n) => [n], (n) => [n]), flips, flips));
  holds(race.check(signless((n) => ({ n }), (n) => ({ n })), flips, flips));
  const wrong = signless((n) => [n], (n) => [n + 1]);
  fails(race.check(wrong, flips, flips), "not-linearizable");
});

test("the order of a model's entries is a part of its state", () => {
  const list = race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory) => new Int32Array(memory),
    init: new Set<number>() as ReadonlySet<number>,
    ops: {
      touch: {
        run: (w, n: number) => {
          const others = [1, 2].map((i) => Atomics.load(w, i))
            .filter((other) => other !== n && other !== 0);
          [...others, n].forEach((value, i) => Atomics.store(w, 1 + i, value));
        },
        model: (state: ReadonlySet<number>, n: number) => {
          const next = new Set(state);
          next.delete(n);
          return [next.add(n), undefined];
        },
      },
      oldest: {
        run: (w) => Atomics.load(w, 1),
        model: (state: ReadonlySet<number>) => [state, [...state][0]],
      },
    },
  });
  holds(
    race.check(list, [["touch", 1], ["touch", 2], ["touch", 1], ["oldest"]]),
  );
});

test("tells calls, answers and orders apart, however many there are", () => {
  const echo: Model = {
    init: 0,
    step: (state, { arg }): Answer<unknown> => [state, arg],
  };
  const judge = new Judge(echo, 2);
  const start = judge.initial();
  const other = judge.invoke(start, 1, { op: "echo", arg: 0 });
  for (let arg = 1; arg <= 70_000; arg++) {
    const begun = judge.invoke(start, 0, { op: "echo", arg });
    if (arg !== 65_536) continue;
    assert.is.not(begun, other);
    assert.is(judge.allowed(begun, 0), "65536");
  }
  const two = judge.invoke(other, 0, { op: "echo", arg: 69_999 });
  assert.ok(judge.answer(two, 0, 69_999) >= 0);
  assert.is(judge.answer(two, 0, 70_000), -1);
  assert.ok(judge.answer(two, 1, 0) >= 0);

  const many = new Judge(echo, 14);
  const places = Array.from({ length: 14 }, (_, i) => i);
  let all = many.initial();
  for (const id of places) all = many.invoke(all, id, { op: "echo", arg: id });
  const orders = [12, 13].map((last) => {
    const order = [...places.slice(1, 12), 0, 25 - last, last];
    return many.arrange(all, order);
  });
  assert.is.not(orders[0], orders[1]);
});

// The judge that watches executions agrees with a check of whole histories.
import * as assert from "uvu/assert";
import type { Answer, Call } from "../../race/engine/model.ts";
import { Either, type Model, type Outcome } from "../../race/engine/model.ts";
import { type Event, explains, Judge } from "../../race/judge/lin.ts";
import { Random } from "../../race/engine/values.ts";
import { suite } from "../_run/harness.ts";

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

// it explores
// Tests that the search relies on what agents can still do from where they
// stand, and that this changes neither verdicts nor ends.
import * as assert from "uvu/assert";
import { Mutex } from "../../mod.ts";
import { type Options, race, type Result } from "../../race/mod.ts";
import { Prospects } from "../../race/engine/state/prospects.ts";
import { COMPARE } from "../../race/explore/runs/task.ts";
import { Visit } from "../../race/explore/search/visit.ts";
import { Futures } from "../../race/engine/equal/futures.ts";
import { suite } from "../_run/harness.ts";
import { comparing } from "../_run/ways.ts";
import { compareRandom, randomPrograms } from "./corpus/random.ts";
import { GOALS } from "./corpus/goals.ts";
import { REACH } from "./corpus/reach.ts";
import { endsSeen } from "./ends.ts";

const test = suite("race prospects", 120_000);

type Body = (words: Int32Array) => unknown;

/** What an exploration found: its verdict, its states, memory at each end. */
interface Explored {
  readonly verdict: string;
  readonly states: number;
  readonly ends: readonly string[];
}

function explore(bodies: readonly Body[], options: Options): Explored {
  const agents = bodies.map((body) => (memory: SharedArrayBuffer, _: number) =>
    body(new Int32Array(memory))
  );
  const memory = () => new SharedArrayBuffer(256);
  const [ends, { complete, failure, states }] = endsSeen((see) =>
    race.agents({ memory }, ...agents, {
      after: (memory) => void see(new Int32Array(memory).join()),
      runs: 0,
      ...options,
    }) as Result
  );
  const verdict = failure?.kind ?? `complete: ${complete}`;
  return { verdict, states, ends: [ends].flat() };
}

/** Does `work`; counts how often a search relied on what agents still do. */
async function counting<T>(
  work: () => T | Promise<T>,
): Promise<[result: T, relied: number, surprises: number]> {
  const { rely, begin } = Prospects.prototype;
  let [relied, surprises] = [0, 0];
  Prospects.prototype.rely = function (...args) {
    relied++;
    rely.apply(this, args);
  };
  Prospects.prototype.begin = function () {
    if (this.surprises > 0) surprises++;
    begin.apply(this);
  };
  try {
    const result = await work();
    return [result, relied, surprises];
  } finally {
    Object.assign(Prospects.prototype, { rely, begin });
  }
}

/** Relies on it from the first state on, and compares that with all orders. */
async function compare(
  ...bodies: readonly Body[]
): Promise<{ early: Explored; plain: Explored; relied: number }> {
  const plain = explore(bodies, { reduce: false });
  assert.is(plain.verdict, "complete: true");
  const [early, relied] = await counting(() =>
    comparing(Infinity, () => explore(bodies, {}))
  );
  assert.is(early.verdict, plain.verdict);
  assert.equal(early.ends, plain.ends);
  return { early, plain, relied };
}

/** Adds at two words, one after the other. */
const phases: Body = (w) => {
  for (let i = 0; i < 2; i++) Atomics.add(w, 0, 1);
  for (let i = 0; i < 2; i++) Atomics.add(w, 1, 1);
};
/** Does something with the first word until it has done what it does there. */
const first: Body = (w) => {
  for (let i = 0; i < 2; i++) Atomics.add(w, 0, 1);
};

test("an agent that is done with a word keeps nobody there waiting", async () => {
  const { early, relied } = await compare(phases, first, phases);
  assert.ok(relied > 0);
  const late = explore([phases, first, phases], {});
  assert.ok(early.states < late.states, `${early.states}, ${late.states}`);
});

test("an agent that seldom comes back to a word is waited for", async () => {
  const seldom: Body = (w) => {
    Atomics.add(w, 0, 1);
    if (Atomics.load(w, 2) === 3 && Atomics.load(w, 2) === 4) {
      Atomics.store(w, 0, 9);
    }
  };
  const counts: Body = (w) => {
    for (let i = 0; i < 4; i++) Atomics.add(w, 2, 1);
  };
  const looks: Body = (w) => {
    Atomics.store(w, 4, Atomics.load(w, 0));
    Atomics.store(w, 5, Atomics.load(w, 0));
  };
  const { relied } = await compare(looks, counts, seldom);
  assert.ok(relied > 0);
});

test("a word that is used again after a loop is still used", async () => {
  const again: Body = (w) => {
    for (let i = 0; i < 3; i++) {
      Atomics.add(w, 1, 1);
      if (Atomics.load(w, 2) === 1) Atomics.add(w, 0, 10);
    }
  };
  const sets: Body = (w) => {
    Atomics.store(w, 2, 1);
    Atomics.store(w, 2, 0);
  };
  const looks: Body = (w) => {
    for (let i = 0; i < 2; i++) Atomics.store(w, 4 + i, Atomics.add(w, 0, 1));
  };
  await compare(again, sets, looks);
  await compare(looks, again, sets);
  await compare(sets, looks, again);
});

test("a later call may use what this one does not", async () => {
  const add = (at: number) => ({
    run: (w: Int32Array) => Atomics.add(w, at, 1),
  });
  let ends = new Set<string>();
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(64),
    agent: (memory) => new Int32Array(memory),
    // "idle" does nothing that others could see.
    ops: { one: add(0), two: add(1), idle: { run: () => undefined } },
    final: (memory, results) => {
      ends.add(`${new Int32Array(memory)} ${results}`);
      return undefined;
    },
  });
  const search = (options: Options): [states: number, ends: string] => {
    ends = new Set();
    const { complete, states, summary } = race.check(
      spec,
      [["two"], ["idle"], ["one"]],
      [["one"], ["two"]],
      [["one"], ["idle"], ["one"]],
      { runs: 0, ...options },
    ) as Result;
    assert.ok(complete, summary);
    return [states, [...ends].sort().join("; ")];
  };
  const plain = search({ reduce: false });
  const [early, relied] = await counting(() =>
    comparing(Infinity, () => search({}))
  );
  assert.ok(relied > 0);
  assert.is(early[1], plain[1]);
  assert.ok(early[0] < plain[0], `${early[0]}, ${plain[0]}`);
});

test("where states leave out what was seen, it is not relied on", async () => {
  // A lock of which nobody waits: its states never lead back to themselves.
  const tries: Body = (w) => {
    const mutex = new Mutex(w.buffer as SharedArrayBuffer, 128);
    if (mutex.tryLock()) mutex.unlock();
    Atomics.add(w, 2, 1);
  };
  const { early, relied } = await compare(tries, tries, phases);
  assert.is(relied, 0);
  assert.is(early.verdict, "complete: true");
});

test("a queue's agents no longer use its tail when they take", async () => {
  const queue = REACH.find(({ name }) => name.startsWith("Michael"))!;
  const options = { runs: 0 };
  const late = queue.run(options).states;
  const early = await comparing(Infinity, () => queue.run(options).states);
  assert.ok(3 * early < 2 * late, `${early}, without ${late}`);
});

test("a search that ends soon by this compares no agents", () => {
  const queue = REACH.find(({ name }) =>
    name === "Michael-Scott queue, 3 agents"
  )!;
  const { settle } = Futures.prototype;
  const { soon } = COMPARE;
  let compared = 0;
  Futures.prototype.settle = function (...args) {
    compared++;
    return settle.apply(this, args);
  };
  try {
    const { complete, states } = queue.run({ runs: 0 });
    assert.ok(complete);
    assert.ok(states > COMPARE.after && states < soon, `${states} states`);
    assert.is(compared, 0);
    COMPARE.soon = 0;
    assert.ok(queue.run({ runs: 0 }).complete);
    assert.ok(compared > 0);
  } finally {
    COMPARE.soon = soon;
    Futures.prototype.settle = settle;
  }
});

test("a search that would not end soon by this compares agents sooner", () => {
  const lock = GOALS.find(({ name }) => name === "filter lock, 3 agents")!;
  const { run } = Visit.prototype;
  const { after, soon } = COMPARE;
  const visits: number[] = [];
  Visit.prototype.run = function* () {
    const found = yield* run.call(this);
    visits.push(found.states);
    return found;
  };
  try {
    Object.assign(COMPARE, { after: 1000, soon: 12_000 });
    lock.run({ runs: 0, states: 12_000 });
    assert.equal(visits.slice(0, 2), [1000, 2000]);
  } finally {
    Object.assign(COMPARE, { after, soon });
    Visit.prototype.run = run;
  }
});

test("random programs: often relied on, and sometimes wrongly", async () => {
  let searches = 0;
  const [, relied, surprises] = await counting(async () => {
    for (const random of randomPrograms(100, 7, false)) {
      const [compared, different] = await compareRandom(random, 1000, ["late"]);
      assert.is(different, undefined, different);
      searches += compared;
    }
  });
  assert.ok(searches > 90, `${searches} searches`);
  assert.ok(relied > 100, `${relied} times relied on`);
  assert.ok(surprises > 0, `${surprises} searches began again`);
});

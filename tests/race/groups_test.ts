// it explores
// Tests that groups of agents that concern no others take their steps first,
// and that this changes neither verdicts nor what memory holds at the end.
import fc from "../_run/property.ts";
import process from "node:process";
import * as assert from "uvu/assert";
import { type Options, race, type Result } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { endsSeen } from "./ends.ts";

const test = suite("race groups", 60_000);

type Words = Int32Array;
type Body = (words: Words) => unknown;

/** What an exploration found: its result, and memory at each end. */
interface Explored {
  readonly result: Result;
  readonly ends: readonly string[];
}

/** Explores agents that are told apart. */
function explore(bodies: readonly Body[], options: Options): Explored {
  const agents = bodies.map((body) => (memory: SharedArrayBuffer, _: number) =>
    body(new Int32Array(memory))
  );
  const memory = () => new SharedArrayBuffer(128);
  const [ends, result] = endsSeen((see) =>
    race.agents({ memory }, ...agents, {
      after: (memory) => void see(new Int32Array(memory).join()),
      runs: 0,
      ...options,
    }) as Result
  );
  return { result, ends: [ends].flat() };
}

const verdict = ({ failure, complete }: Result) => failure?.kind ?? complete;

/** Explores with groups alone, with all reductions, and without any. */
function compare(bodies: readonly Body[], options: Options = {}): Explored[] {
  const all = (["groups", true, false] as const).map((reduce) =>
    explore(bodies, { ...options, reduce })
  );
  const [groups, every, none] = all;
  for (const { result, ends } of [groups!, every!]) {
    assert.is(verdict(result), verdict(none!.result), none!.result.summary);
    if (result.ok) assert.equal(ends, none!.ends);
  }
  return all;
}

/** Locks the mutex at word `at`, adds 1 to the word behind it, and unlocks. */
const section = (at: number, notifies = true): Body => (w) => {
  if (Atomics.compareExchange(w, at, 0, 1) !== 0) {
    while (Atomics.exchange(w, at, 2) !== 0) Atomics.wait(w, at, 2);
  }
  w[at + 1]!++;
  if (Atomics.exchange(w, at, 0) === 2 && notifies) Atomics.notify(w, at, 1);
};

const one = section(0);
const other = section(8);

test("two locks cost the sum and not the product", () => {
  const alone = explore([one, one], { reduce: "groups" }).result.states;
  const [groups, , none] = compare([one, one, other, other]);
  const { states } = groups!.result;
  assert.ok(states < 3 * alone, `${states}, one lock ${alone}`);
  assert.ok(10 * states < none!.result.states, none!.result.summary);
});

test("groups are used where nobody asks for them", () => {
  const alone = explore([one, one], {}).result.states;
  const { states } = explore([one, one, other, other], {}).result;
  assert.ok(states < 3 * alone, `${states}, one lock ${alone}`);
});

test("a loop that changes memory ends groups that nobody asked for", () => {
  const round: Body = (w) => {
    while (Atomics.load(w, 16) === 0) {
      Atomics.store(w, 17, 1);
      Atomics.store(w, 17, 2);
    }
  };
  const ends: Body = (w) => Atomics.store(w, 16, 1);
  const [groups, every] = compare([one, one, round, ends]);
  const [few, all] = [groups!.result.states, every!.result.states];
  assert.ok(3 * few < all, `${few} with groups, ${all} without`);
});

test("so does an agent that says what it keeps", () => {
  const waits: Body = (w) => {
    for (;;) {
      race.forget();
      if (Atomics.add(w, 16, 1) > 2) return;
    }
  };
  const adds: Body = (w) => Atomics.add(w, 16, 2);
  const [groups, every] = compare([one, one, waits, adds]);
  const [few, all] = [groups!.result.states, every!.result.states];
  assert.ok(3 * few < all, `${few} with groups, ${all} without`);
});

test("a failure of the group that waits is found", () => {
  const wrong = section(8, false);
  const [groups] = compare([one, one, wrong, wrong]);
  assert.is(verdict(groups!.result), "deadlock");
  const throws: Body = (w) => {
    if (Atomics.add(w, 8, 1) === 1) throw new Error("second");
  };
  const [found] = compare([one, one, throws, throws]);
  assert.is(verdict(found!.result), "exception");
});

test("agents that share words only at the end are no groups before", () => {
  const late = (body: Body, id: number): Body => (w) => {
    body(w);
    if (Atomics.add(w, 16, 1) === 1) Atomics.store(w, 17, id);
  };
  const [groups, , none] = compare([
    late(one, 1),
    late(one, 2),
    late(other, 3),
  ]);
  assert.is(verdict(groups!.result), true);
  assert.is(groups!.ends.length, 3);
  assert.ok(groups!.result.states < none!.result.states);
});

test("a word that an agent uses in few interleavings is no group's own", () => {
  const seldom: Body = (w) => {
    if (Atomics.load(w, 0) === 2 && Atomics.load(w, 0) === 3) {
      Atomics.add(w, 8, 10);
    }
  };
  const counts: Body = (w) => {
    for (let i = 0; i < 3; i++) Atomics.add(w, 0, 1);
  };
  const reads: Body = (w) => {
    Atomics.store(w, 9, Atomics.add(w, 8, 1));
  };
  const [groups] = compare([reads, reads, counts, seldom]);
  assert.ok(groups!.ends.length > 2);
});

test("a group that goes round does not keep others from failing", () => {
  const round: Body = (w) => {
    while (Atomics.load(w, 0) === 0) {
      Atomics.store(w, 1, 1);
      Atomics.store(w, 1, 2);
    }
  };
  const ends: Body = (w) => Atomics.store(w, 0, 1);
  const throws: Body = (w) => {
    if (Atomics.add(w, 8, 1) === 1) throw new Error("second");
  };
  compare([round, ends, throws]);
  const [found] = compare([round, ends, throws, throws]);
  assert.is(verdict(found!.result), "exception");
});

test("a loop that leads to a state of its first round is a livelock", () => {
  const sleeps: Body = (w) => {
    Atomics.wait(w, 1, 2);
    Atomics.add(w, 0, 1);
  };
  const round: Body = (w) => {
    while (Atomics.load(w, 0) === 0) {
      Atomics.store(w, 1, 2);
      Atomics.store(w, 1, 0);
    }
  };
  const wakes: Body = (w) => {
    Atomics.notify(w, 0, 1);
    Atomics.store(w, 9, 1);
  };
  const [found] = compare([sleeps, round, wakes], { races: false });
  assert.is(verdict(found!.result), "livelock");
});

test("a model sees when calls of other groups begin", () => {
  const registers = race.spec({
    memory: () => new SharedArrayBuffer(64),
    agent: (memory): Words => new Int32Array(memory),
    init: 0,
    ops: {
      // The model has one register, but the code has two.
      set: {
        run: (w, at: number) => Atomics.add(w, 8 * at, 1),
        model: (n: number, _: number) => [n + 1, n],
      },
    },
  });
  for (const reduce of ["groups", true, false] as const) {
    const options = { reduce, runs: 0 };
    const [first, second] = [[["set", 0]], [["set", 1]]] as const;
    const wrong = race.check(registers, first, second, options) as Result;
    assert.is(verdict(wrong), "not-linearizable");
    const right = race.check(registers, first, first, options) as Result;
    assert.is(verdict(right), true);
  }
});

test("a data race shows before the next operations of its agents", () => {
  const adds = (memory: SharedArrayBuffer) => {
    const w = new Int32Array(memory);
    Atomics.notify(w, 8, 2);
    w[8] = w[8]! + 1;
    for (let n = 0; n < 3 && Atomics.load(w, 9) === 1;) n++;
  };
  const other = (memory: SharedArrayBuffer) => {
    const w = new Int32Array(memory);
    Atomics.wait(w, 9, 2, 10);
    Atomics.exchange(w, 1, 1);
  };
  const memory = () => new SharedArrayBuffer(40);
  for (const reduce of ["groups", true, false] as const) {
    // Where two agents do the same, any operation ends the accesses before it.
    const search = () =>
      race.agents({ memory }, adds, other, adds, { reduce, runs: 0 });
    assert.throws(search, /data-race|unordered/, `${reduce}`);
  }
});

// ---- random programs --------------------------------------------------------

/** A line of a random program: an operation, a word, and two numbers. */
type Line = readonly [op: number, at: number, a: number, b: number];

const bodyOf = (lines: readonly Line[]): Body => (w) => {
  let last = 0;
  for (const [op, at, a, b] of lines) {
    if (op === 0) last = Atomics.load(w, at);
    if (op === 1) Atomics.store(w, at, a);
    if (op === 2) last = Atomics.compareExchange(w, at, a, b);
    if (op === 3) last += Atomics.add(w, at, 1);
    if (op === 4 && last === a) last = Atomics.wait(w, at, b).length;
    if (op === 5) Atomics.notify(w, at, b === 0 ? 1 : Infinity);
    if (op === 6 && last === a) w[at] = b;
    if (op === 7) { for (let n = 0; n < b && Atomics.load(w, at) === a;) n++; }
    if (op === 8) { while (Atomics.load(w, at) === 0); }
    if (op === 9) {
      while (Atomics.load(w, at) === 0) {
        Atomics.store(w, at + 1, a);
        Atomics.store(w, at + 1, b);
      }
    }
    if (op === 10 && last === 3) throw new Error("three");
  }
};

test("random programs: the same verdicts and ends", () => {
  // Most lines of an agent are about words of its own half of memory.
  const line = fc.tuple(
    fc.nat(10),
    fc.tuple(fc.nat(2), fc.nat(9)),
    fc.nat(2),
    fc.nat(2),
  );
  const lines = fc.array(line, { minLength: 1, maxLength: 4 });
  // WEFT_PROGRAMS tries more of them.
  const numRuns = Number(process.env.WEFT_PROGRAMS ?? 30);
  const agents = fc.tuple(lines, lines, lines);
  let grouped = 0;
  for (const program of fc.sample(agents, { numRuns, seed: 1 })) {
    const bodies = program.map((lines, id) =>
      bodyOf(lines.map(([op, [word, far], a, b]): Line => {
        const half = far === 0 ? 1 - (id >> 1) : id >> 1;
        return [op, 8 * half + word, a, b];
      }))
    );
    const all = ([["groups"], [true], [false]] as const).map(([reduce]) =>
      explore(bodies, { reduce, races: false })
    );
    const [groups, every, none] = all;
    const text = JSON.stringify(program);
    for (const { result, ends } of [groups!, every!]) {
      assert.is(result.ok, none!.result.ok, text);
      assert.is(result.complete, none!.result.complete, text);
      if (result.ok) assert.equal(ends, none!.ends, text);
    }
    if (groups!.result.states < none!.result.states) grouped++;
  }
  assert.ok(grouped > numRuns / 10, `${grouped} programs had groups`);
});

// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  DamagedError,
  type WorkConfig,
  WorkCounter,
  type WorkRange,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  endsBefore,
  nowOf,
  preemptedAnywhere,
  refuses,
  rejects,
  wordsOf,
} from "../_run/model.ts";

const { next: NEXT } = LAYOUT.work_counter;
const MAX = 2 ** 30;

const config: fc.Arbitrary<WorkConfig> = fc.oneof(
  fc.constant({}),
  fc.constant({ schedule: "single" } as const),
  fc.record({ chunk: fc.integer({ min: 1, max: 9 }) }),
  fc.record({
    schedule: fc.constant("chunk" as const),
    chunk: fc.constantFrom(1, 2, 64, MAX),
  }),
  fc.record({
    schedule: fc.constant("guided" as const),
    agents: fc.integer({ min: 1, max: 5 }),
  }),
);

/** The ranges a schedule hands out one after the other. */
function rangesOf(total: number, config: WorkConfig): [number, number][] {
  const { chunk = 1, schedule = "chunk", agents = 2 } = config;
  const ranges: [number, number][] = [];
  for (let start = 0; start < total;) {
    const share = schedule === "guided"
      ? Math.max(1, Math.floor((total - start) / (2 * agents)))
      : schedule === "single"
      ? 1
      : chunk;
    const end = Math.min(start + share, total);
    ranges.push([start, end]);
    start = end;
  }
  return ranges;
}

const test = suite("WorkCounter");

test("a tracked counter knows what each agent took and has not done", () => {
  const op = fc.constantFrom(
    ...["take", "take", "done", "done", "die"] as const,
  );
  const calls = fc.array(
    fc.record({
      op,
      who: fc.nat({ max: 2 }),
      n: fc.integer({ min: 1, max: 4 }),
    }),
    { maxLength: 60 },
  );
  fc.assert(fc.property(
    fc.nat({ max: 30 }),
    config,
    calls,
    fc.boolean(),
    (total, config, calls, cancels) => {
      const work = WorkCounter.create(total, { ...config, tracked: 3 });
      const attach = (id: number) =>
        asAgent(id, () => new WorkCounter(work.buffer));
      const ids = [11, 12, 13];
      const views = ids.map(attach);
      const fresh = rangesOf(total, config); // the model
      const orphans: WorkRange[] = [];
      const held: (WorkRange | undefined)[] = [undefined, undefined, undefined];
      let done = 0;
      const step = ({ op, who, n }: (typeof calls)[number]) => {
        const view = views[who]!;
        const mine = held[who];
        if (op === "take") {
          if (mine !== undefined) {
            const text = `has not done ${mine.start} to ${mine.end - 1}`;
            refuses(work.buffer, () => view.nextRange(), TypeError, text);
            return;
          }
          const range = view.nextRange();
          held[who] = range;
          if (range === undefined) {
            assert.is(fresh.length + orphans.length, 0);
            return;
          }
          const at = orphans.findIndex(({ start, end }) =>
            start === range.start && end === range.end
          );
          if (at >= 0) orphans.splice(at, 1);
          else assert.equal([range.start, range.end], fresh.shift());
        } else if (op === "done") {
          const most = mine === undefined ? 0 : mine.end - mine.start;
          if (n > most) {
            refuses(
              work.buffer,
              () => view.done(n),
              RangeError,
              `took ${most}`,
            );
            return;
          }
          view.done(n);
          done += n;
          const start = mine!.start + n;
          held[who] = n === most ? undefined : { start, end: mine!.end };
        } else {
          const ranges = mine === undefined ? [] : [mine];
          assert.equal(work.abandonRanges(ids[who]!), ranges);
          assert.is(work.abandon(ids[who]!), 0);
          orphans.push(...ranges);
          held[who] = undefined;
          views[who] = attach(ids[who] = ids[who]! + 10);
        }
        assert.is(work.completed, done);
        assert.is(
          work.remaining,
          fresh.reduce((sum, [start, end]) => sum + end - start, 0),
        );
      };
      for (const call of calls) step(call);
      if (cancels) {
        views[0]!.cancel();
        fresh.splice(0);
        total = done + [...orphans, ...held]
          .reduce((n, range) => n + (range ? range.end - range.start : 0), 0);
      }
      for (let i = 0; done < total; i++) {
        assert.not(work.tryWait());
        const who = i % 3;
        const mine = held[who];
        if (mine === undefined) step({ op: "take", who, n: 1 });
        else step({ op: "done", who, n: mine.end - mine.start });
      }
      assert.ok(work.tryWait());
      assert.is(views[1]!.nextRange(), undefined);
    },
  ));
});

test("a tracked counter refuses one agent more than it has rows", () => {
  const work = WorkCounter.create(9, { chunk: 2, tracked: 2 });
  const { buffer } = work;
  assert.is(work.byteLength, WorkCounter.byteLength(9, { tracked: 2 }));
  assert.is(work.byteLength, 4 * (104 + 2 * 32));
  assert.is(work.tracked, 2);
  assert.is(WorkCounter.create(9).tracked, 0);
  const [one, two, three] = [21, 22, 23].map((id) =>
    asAgent(id, () => new WorkCounter(buffer))
  ) as [WorkCounter, WorkCounter, WorkCounter];
  assert.is(one.next(), 0);
  assert.is(one.next(), 1);
  refuses(buffer, () => one.next(), TypeError, "21", "0 to 1");
  one.done();
  refuses(buffer, () => one.next(), TypeError, "1 to 1");
  two.nextRange();
  refuses(buffer, () => three.next(), RangeError, "23", "2 agents");
  refuses(buffer, () => three.done(), RangeError, "took 0");
  assert.equal(work.abandonRanges(21), [{ start: 1, end: 2 }]);
  assert.is(three.next(), 1); // with the row come its tasks
  three.done();
  assert.is(three.next(), 4);
  for (const tracked of [-1, 256, 1.5, NaN]) {
    const wrong = () => WorkCounter.init(buffer, 0, 1, { tracked });
    refuses(buffer, wrong, RangeError, `received ${tracked}`);
  }
  const many = () => WorkCounter.init(buffer, 0, 2 ** 24, { tracked: 2 });
  refuses(buffer, many, RangeError, `${2 ** 24}`);
  assert.is(work.abandon(0), 0);
  assert.is(WorkCounter.create(9).abandon(5), 0);
  wordsOf(work)[LAYOUT.work_counter.tracked]! ^= 1;
  refuses(buffer, () => new WorkCounter(buffer), TypeError, "tracked");
});

test("damaged rows of a counter throw", () => {
  const made = () => {
    const work = WorkCounter.create(9, { chunk: 3, tracked: 2 });
    asAgent(51, () => new WorkCounter(work.buffer)).next();
    return work;
  };
  const named = made();
  wordsOf(named)[NEXT]! |= 200; // a row that is none
  const theirs = asAgent(52, () => new WorkCounter(named.buffer));
  for (const wrong of [() => named.abandon(51), () => theirs.next()]) {
    assert.throws(wrong, (error: unknown) => error instanceof DamagedError);
  }
  for (const wrong of [-1, 99, 2 ** 31 - 1]) {
    const work = made();
    const at = [0, 1].map((row) => 104 + 32 * row)
      .find((at) => wordsOf(work)[at] === 51)!;
    wordsOf(work)[at + 2] = wrong;
    refuses(work.buffer, () => work.abandon(51), DamagedError, "counter");
  }
});

test("an agent that took tasks may be terminated at any step", () => {
  for (const config of [{ chunk: 2 }, { schedule: "guided" }] as const) {
    for (let at = 0, ended = false; !ended; at++) {
      const work = WorkCounter.create(8, { ...config, tracked: 2 });
      const theirs = asAgent(31, () => new WorkCounter(work.buffer));
      ended = endsBefore(at, () => {
        theirs.nextRange();
        theirs.done(1);
        theirs.done(1);
        theirs.nextRange();
        theirs.done(1);
      });
      const out = 8 - work.remaining;
      const undone = out - work.completed;
      assert.is(work.abandon(31), undone, `at ${at}`);
      const tasks: number[] = [];
      for (const task of work) {
        tasks.push(task);
        work.done();
      }
      assert.is(tasks.length, 8 - out + undone, `at ${at}`);
      assert.is(new Set(tasks).size, tasks.length);
      assert.ok(work.tryWait(), `at ${at}`);
    }
  }
});

test("next(), nextRange(), done() and cancel() obey the model", () => {
  const op = fc.constantFrom(...["next", "range", "done"] as const);
  const weighted = fc.oneof(
    { arbitrary: op, weight: 20 },
    { arbitrary: fc.constant("cancel" as const), weight: 1 },
  );
  const calls = fc.array(
    fc.record({ op: weighted, who: fc.nat({ max: 2 }), n: fc.nat({ max: 4 }) }),
    { maxLength: 80 },
  );
  const total = fc.nat({ max: 40 });
  fc.assert(fc.property(total, config, calls, (total, config, calls) => {
    const first = WorkCounter.create(total, config);
    const { buffer } = first;
    const views = [
      first,
      new WorkCounter(buffer),
      WorkCounter.from(first.handle),
    ];
    const ranges = rangesOf(total, config); // the model: what is left
    const held: [number, number][] = [[0, 0], [0, 0], [0, 0]];
    const out = () => ranges[0]?.[0] ?? end;
    let end = total;
    let done = 0;
    for (const { op, who, n } of calls) {
      const view = views[who]!;
      const mine = held[who]!;
      if (op === "next" || op === "range") {
        if (mine[0] === mine[1]) [mine[0], mine[1]] = ranges.shift() ?? mine;
        const some = mine[0] < mine[1];
        if (op === "next") assert.is(view.next(), some ? mine[0]++ : -1);
        else {
          const [start, end] = mine;
          assert.equal(view.nextRange(), some ? { start, end } : undefined);
          mine[0] = end;
        }
      } else if (op === "cancel") {
        end = out();
        ranges.length = 0;
        view.cancel();
      } else if (done + n > end) {
        refuses(
          buffer,
          () => view.done(n),
          RangeError,
          `${n} tasks`,
          `${done}`,
        );
      } else if (done + n <= out()) {
        view.done(n);
        done += n;
      }
      assert.is(view.completed, done);
      assert.is(view.remaining, end - out());
      assert.is(view.cancelled, end < total);
      assert.is(view.tryWait(0.01), done === end);
    }
  }));
});

test("guided hands out half an agent's share of what remains", () => {
  const work = WorkCounter.create(100, { schedule: "guided", agents: 4 });
  const lengths: number[] = [];
  for (let r; (r = work.nextRange());) lengths.push(r.end - r.start);
  assert.equal(lengths.slice(0, 5), [12, 11, 9, 8, 7]);
  assert.is(lengths.reduce((a, b) => a + b), 100);
  assert.is(lengths.at(-1), 1);
});

test("after the end there is never another task, and nothing wraps", () => {
  const configs: WorkConfig[] = [
    {},
    { chunk: 7 },
    { chunk: MAX },
    { schedule: "guided", agents: 3 },
  ];
  for (const total of [0, 1, 50, MAX - 1, MAX]) {
    for (const config of configs) {
      const work = WorkCounter.create(total, config);
      const words = wordsOf(work);
      const last = rangeCount(total, config);
      for (const before of [1, 0]) {
        words[NEXT] = Math.max(last - before, 0);
        const view = new WorkCounter(work.buffer);
        while (view.nextRange() !== undefined);
        for (let i = 0; i < 1000; i++) {
          assert.is(view.next(), -1);
          assert.is(view.nextRange(), undefined);
          assert.is(view.remaining, 0);
        }
        assert.ok(words[NEXT]! >= 0 && words[NEXT]! <= last + 2, "ran on");
      }
    }
  }
});

/** The value of the word `next` at the end. */
function rangeCount(total: number, { chunk = 1, schedule }: WorkConfig) {
  return schedule === "guided" ? total : Math.ceil(total / chunk);
}

test("a counter of 2^30 tasks counts its last ones", async () => {
  for (const config of [{}, { chunk: 3 }, { schedule: "guided" }] as const) {
    const work = WorkCounter.create(MAX, config);
    wordsOf(work)[NEXT] = rangeCount(MAX, config) - 1;
    let last = -1;
    for (let task; (task = work.next()) >= 0;) last = task;
    assert.is(last, MAX - 1);
    work.done(MAX - 1);
    const wait = work.waitAsync();
    assert.is(await nowOf(wait), "pending");
    work.done();
    await wait;
    refuses(work.buffer, () => work.done(), RangeError, `${MAX} of ${MAX}`);
    refuses(work.buffer, () => work.done(MAX), RangeError, `${MAX} tasks`);
  }
});

test("a configuration out of range is refused, by value", async () => {
  const memory = WorkCounter.create(3).buffer;
  const init = (total: number, config?: WorkConfig) => () =>
    WorkCounter.init(memory, 0, total, config);
  for (const n of [-1, 1.5, NaN, Infinity, MAX + 1]) {
    refuses(memory, init(n), RangeError, `received ${n}`);
  }
  for (const n of [0, -1, 1.5, NaN, MAX + 1]) {
    refuses(memory, init(1, { chunk: n }), RangeError, `received ${n}`);
    const guided = init(1, { schedule: "guided", agents: n });
    refuses(memory, guided, RangeError, `received ${n}`);
  }
  const fair = init(1, { schedule: "fair" as "single" });
  refuses(memory, fair, TypeError, 'received "fair"');
  for (const name of ["schedule", "tracked"]) {
    const wrong = init(1, { [name]: null });
    refuses(memory, wrong, TypeError, "received null");
  }
  const work = new WorkCounter(memory);
  for (const n of [-1, 0.5, NaN, Infinity, MAX + 1]) {
    refuses(memory, () => work.done(n), RangeError, `received ${n}`);
  }
  for (const timeout of [NaN, -1]) {
    const text = `received ${timeout}`;
    refuses(memory, () => work.tryWait(timeout), RangeError, text);
    await rejects(memory, work.tryWaitAsync({ timeout }), RangeError, text);
  }
});

test(
  "done() wakes every wait, wherever it meets cancel() and next()",
  async () => {
    type Op = (work: WorkCounter) => void;
    const finish: Op = (work) => {
      let n = 0;
      while (work.next() >= 0) n++;
      work.done(n);
    };
    const ops: Record<string, Op> = {
      "done(1)": (work) => work.done(),
      "cancel()": (work) => work.cancel(),
      "the rest": finish,
    };
    const ends: { path: string; wait: Promise<void> }[] = [];
    for (const config of [{}, { chunk: 2 }, { schedule: "guided" }] as const) {
      for (const [one, run] of Object.entries(ops)) {
        for (const [two, meet] of Object.entries(ops)) {
          preemptedAnywhere(
            () => {
              const work = WorkCounter.create(7, config);
              const { start, end } = work.nextRange()!;
              for (let n = end - start - 1; n > 0; n--) work.done();
              const twice = one === two && one === "done(1)";
              if (twice) work.done(work.nextRange()!.end - end - 1);
              return { work, wait: work.waitAsync() };
            },
            ({ work }) => run(work),
            ({ work }) => meet(new WorkCounter(work.buffer)),
            ({ work, wait }, at) => {
              const path = `${one}, ${two} at ${at}`;
              if (one !== "done(1)" && two !== "done(1)") work.done();
              finish(work);
              assert.is(work.remaining, 0, path);
              assert.ok(work.tryWait(), `${path}: not over`);
              assert.is(work.next(), -1, path);
              assert.throws(() => work.done(), /Cannot count 1 tasks/, path);
              ends.push({ path, wait });
            },
          );
        }
      }
    }
    for (const { path, wait } of ends) {
      assert.is(await nowOf(wait), undefined, path);
    }
  },
  60_000,
);

test("tryWait(), tryWaitAsync() and waitAsync() end by time or abort", async () => {
  const work = WorkCounter.create(1);
  assert.is(work.tryWait(20), false);
  assert.is(await work.tryWaitAsync({ timeout: 5 }), false);
  assert.is(await work.tryWaitAsync({ timeout: 0 }), false);
  const abort = new AbortController();
  const waits = [
    work.waitAsync({ signal: abort.signal }),
    work.waitAsync(),
    work.waitAsync(),
  ];
  assert.is(await nowOf(Promise.race(waits)), "pending");
  abort.abort("enough");
  assert.is(await waits[0]!.catch((reason) => reason), "enough");
  work.done();
  await Promise.all(waits.slice(1));
  work.wait();
});

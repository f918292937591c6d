// also: node, browsers
import * as assert from "uvu/assert";
import fc from "fast-check";
import { type WorkConfig, WorkCounter } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { suite } from "../_run/harness.ts";
import {
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

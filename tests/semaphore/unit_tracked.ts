// also: node, browsers
// it waits
// Semaphores that know who holds their permits.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { DamagedError, Semaphore } from "../../mod.ts";
import { spinning } from "../../primitives/_wait/spin.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  endsBefore,
  NEAR_WRAP,
  refuses,
  turns,
  until,
  wordsOf,
} from "../_run/model.ts";
import { state, wait } from "./waits.ts";

const { permits, claimant } = LAYOUT.semaphore;

const test = suite("Semaphore, tracked");

/** What the agents of a tracked semaphore of `n` permits do. */
const TRACKED_CALLS = fc.array(
  fc.record({
    op: fc.constantFrom(
      ...[
        "take",
        "acquire",
        "drain",
        "release",
        "die",
        "wait",
        "abort",
      ] as const,
    ),
    agent: fc.nat({ max: 2 }),
    n: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 40 },
);

test("a tracked semaphore knows what each agent holds", async () => {
  const turned = fc.constantFrom(0, 4094, ...NEAR_WRAP);
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 5 }),
      TRACKED_CALLS,
      turned,
      async (start, calls, sequence) => {
        const semaphore = Semaphore.create(start, { tracked: 3 });
        wordsOf(semaphore)[permits]! |= sequence & 0xfff; // row 0 made it
        wordsOf(semaphore)[41] = sequence;
        const attach = (id: number) =>
          asAgent(id, () => new Semaphore(semaphore.buffer));
        const ids = [11, 12, 13];
        const views = ids.map(attach);
        const held = [0, 0, 0]; // the model
        let free = start;
        for (const { op, agent, n } of calls) {
          const view = views[agent]!;
          if (op === "take" || op === "acquire") {
            const taken = op === "take"
              ? view.tryAcquire(n)
              : view.tryAcquire(n, 0.01);
            assert.is(taken, n <= free);
            if (!taken) continue;
            free -= n;
            held[agent]! += n;
          } else if (op === "drain") {
            assert.is(view.drain(), free);
            held[agent]! += free;
            free = 0;
          } else if (op === "release") {
            if (held[agent]! < n) {
              const wrong = () => view.release(n);
              refuses(view.buffer, wrong, TypeError, `holds ${held[agent]}`);
              continue;
            }
            view.release(n);
            free += n;
            held[agent]! -= n;
          } else if (op === "die") {
            assert.is(semaphore.abandon(ids[agent]!), held[agent]);
            assert.is(semaphore.abandon(ids[agent]!), 0);
            free += held[agent]!;
            held[agent] = 0;
            views[agent] = attach(ids[agent] = ids[agent]! + 10);
          } else {
            const pending = wait(view, n);
            if (op === "abort") pending.abort.abort();
            await turns(1);
            pending.abort.abort(); // a wait that is served stays so
            await until(() => pending.result !== undefined);
            if (pending.result !== true) continue;
            free -= n;
            held[agent]! += n;
          }
          assert.is(semaphore.available, free);
          assert.equal(views.map((view) => view.held), held);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test("a tracked semaphore refuses one agent more than it has rows", () => {
  const semaphore = Semaphore.create(9, { tracked: 2 });
  const { buffer } = semaphore;
  assert.is(semaphore.byteLength, Semaphore.byteLength(9, { tracked: 2 }));
  assert.is(semaphore.byteLength, 4 * (40 + 2 * 32));
  assert.is(semaphore.tracked, 2);
  assert.is(Semaphore.create(9).tracked, 0);
  const [one, two, three] = [21, 22, 23].map((id) =>
    asAgent(id, () => new Semaphore(buffer))
  ) as [Semaphore, Semaphore, Semaphore];
  one.acquire(2);
  two.acquire(3);
  asAgent(21, () => new Semaphore(buffer)).acquire(1); // it has a row already
  assert.equal([one.held, two.held, three.held], [3, 3, 0]);
  refuses(buffer, () => three.tryAcquire(), RangeError, "23", "2 agents");
  refuses(buffer, () => three.drain(), RangeError, "23", "2 agents");
  refuses(buffer, () => three.release(), TypeError, "holds 0");
  refuses(buffer, () => one.release(4), TypeError, "holds 3");
  assert.is(semaphore.abandon(21), 3);
  three.acquire(6);
  assert.is(semaphore.available, 0);
  assert.equal([one.held, two.held, three.held], [0, 3, 6]);
  for (const tracked of [-1, 256, 1.5, NaN]) {
    const wrong = () => Semaphore.init(buffer, 0, 1, { tracked });
    refuses(buffer, wrong, RangeError, `received ${tracked}`);
  }
  assert.is(Semaphore.create(2047, { tracked: 2 }).available, 2047);
  const many = () => Semaphore.init(buffer, 0, 2048, { tracked: 2 });
  refuses(buffer, many, RangeError, "received 2048");
  const misspelt = () => Semaphore.init(buffer, 0, 1, { track: 2 } as never);
  refuses(buffer, misspelt, TypeError, "track");
  for (const n of [0, 2048]) {
    refuses(buffer, () => one.acquire(n), RangeError, `received ${n}`);
    refuses(buffer, () => one.release(n), RangeError, `received ${n}`);
  }
});

test("an agent may be terminated at any step, and is recovered exactly", () => {
  const ops: Record<string, (view: Semaphore) => void> = {
    "tryAcquire(2)": (view) => void view.tryAcquire(2),
    "drain()": (view) => void view.drain(),
    "release(1)": (view) => view.release(1),
  };
  for (const [name, run] of Object.entries(ops)) {
    for (let at = 0, ended = false; !ended; at++) {
      const semaphore = Semaphore.create(4, { tracked: 2 });
      const theirs = asAgent(31, () => new Semaphore(semaphore.buffer));
      theirs.acquire(1);
      ended = endsBefore(at, () => run(theirs));
      const before = semaphore.available;
      assert.is(semaphore.abandon(31), 4 - before, `${name} at ${at}`);
      assert.is(semaphore.available, 4, `${name} at ${at}`);
      assert.ok(semaphore.tryAcquire(4));
    }
  }
});

test("abandon() of a tracked claimant pays the debt", async () => {
  const semaphore = Semaphore.create(2, { tracked: 2 });
  semaphore.acquire(2);
  const theirs = asAgent(41, () => new Semaphore(semaphore.buffer));
  wait(theirs, 2);
  for (let i = 0; i < 9; i++) {
    semaphore.release(1); // newcomers pass it over, until it claims
    await turns();
    if (!semaphore.tryAcquire(1)) break;
  }
  assert.is(semaphore.available, 0);
  assert.is(theirs.held, 2);
  assert.is(semaphore.abandon(41), 2);
  assert.is(wordsOf(semaphore)[claimant], 0);
  assert.is(semaphore.available + semaphore.held, 2);
});

test("damaged rows throw, and change nothing", () => {
  const made = () => {
    const semaphore = Semaphore.create(3, { tracked: 2 });
    asAgent(51, () => new Semaphore(semaphore.buffer)).acquire(1);
    return semaphore;
  };
  const { buffer } = made();
  const named = made();
  wordsOf(named)[permits]! |= 200 << 12; // a row that is none
  const calls = [
    () => named.abandon(51),
    () => named.tryAcquire(),
    () => named.drain(),
  ];
  for (const wrong of calls) {
    assert.throws(wrong, (error: unknown) => error instanceof DamagedError);
  }
  for (const held of [-1, 2047, 2 ** 31 - 1, -(2 ** 31)]) {
    const semaphore = new Semaphore(buffer);
    const at = [0, 1].map((row) => 40 + 32 * row)
      .find((at) => wordsOf(semaphore)[at] === 51)!;
    wordsOf(semaphore).fill(held, at + 2, at + 4);
    refuses(buffer, () => semaphore.abandon(51), DamagedError, "semaphore");
  }
});

test("an agent that finds damage while it claims lets others claim", async () => {
  const semaphore = Semaphore.create(0, { tracked: 2 });
  const words = wordsOf(semaphore);
  const { patience } = spinning;
  spinning.patience = -1; // it claims before its first sleep
  try {
    words[permits] = 200 << 12; // a row that is none
    const wrong = await semaphore.acquireAsync().catch((error) => error);
    assert.instance(wrong, DamagedError);
  } finally {
    spinning.patience = patience;
  }
  assert.equal(state(semaphore).slice(1), [0, 0, 0, 0]);
});

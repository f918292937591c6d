// about: mutex, semaphore, work_counter
// also: node
import * as assert from "uvu/assert";
import { agentId, Mutex, Semaphore, WorkCounter } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { NUMBERS, PLAY } from "./plays.ts";
import { type Player, Stage } from "./stage.ts";

const stage = await Stage.open();
const { memory } = stage;

const test = suite("Locks shared with C");

test.beforeEach(() => stage.clear());

/** Who takes part: threads of C and of TypeScript, and this agent. */
const CASTS: Record<string, Player[]> = {
  "C and workers": ["C", "C", "JS", "JS awaiting"],
  "C and this agent": ["C", "C", "main", "main"],
  "all": ["C", "C", "JS", "JS awaiting", "main", "main"],
};

for (const [title, cast] of Object.entries(CASTS)) {
  test(`a mutex excludes: ${title}`, async () => {
    const at = stage.place(Mutex.byteLength());
    const extra = stage.place(4);
    const played = await stage.perform(
      cast.map((by) => ({ by, role: "mutex add", at, extra, count: 1500 })),
    );
    const locked = played.reduce((n, { words }) => n + words[PLAY.result]!, 0);
    assert.is(stage.heap[extra / 4], locked);
    assert.ok(locked > cast.length * 500, `only ${locked}`);
    const mutex = new Mutex(memory, at);
    assert.is(mutex.owner, 0);
    assert.ok(mutex.tryLock());
  });

  for (const most of [3, 2 ** 30 - 1]) {
    test(`a semaphore keeps its permits: ${title}, at most ${most}`, async () => {
      const at = stage.place(Semaphore.byteLength());
      const permits = 3;
      Semaphore.init(memory, at, permits, { max: most });
      const { waiters, bulk, claimant, claim, length } = LAYOUT.semaphore;
      const words = stage.heap.subarray(at / 4, at / 4 + length);
      const extra = stage.place(8);
      stage.heap[extra / 4 + 1] = permits;
      await stage.perform(
        cast.map((by) => ({
          by,
          role: "semaphore use",
          at,
          extra,
          count: 500,
        })),
      );
      assert.is(new Semaphore(memory, at).available, permits);
      assert.is(stage.heap[extra / 4], 0);
      for (const word of [waiters, bulk, claimant, claim]) {
        assert.is(words[word], 0);
      }
    });
  }
}

/** Lets `dead` keep the mutex while `heirs` wait for it. */
async function inherit(dead: Player, heirs: Player[]) {
  const at = stage.place(Mutex.byteLength());
  const mutex = new Mutex(memory, at);
  const [last] = await stage.perform([{ by: dead, role: "mutex keep", at }]);
  const id = last!.words[PLAY.id]!;
  assert.is(mutex.owner, id);
  if (dead !== "main") assert.is.not(id, agentId());
  const waiting = await Promise.all(
    heirs.map((by) => stage.start({ by, role: "mutex inherit", at })),
  );
  await new Promise((resolve) => setTimeout(resolve, 20)); // they sleep
  return { at, id, mutex, waiting };
}

for (const dead of ["C", "JS"] as const) {
  for (const by of ["C", "TypeScript"] as const) {
    test(`what ${dead} held is given back once, by ${by}`, async () => {
      const cast: Player[] = ["C", "C", "JS", "main"];
      const { at, id, mutex, waiting } = await inherit(dead, cast);
      if (by === "C") {
        assert.is(stage.c.weft_mutex_abandon!(at, id + 1), 0);
        assert.is(stage.c.weft_mutex_abandon!(at, id), 1);
      } else {
        assert.is(mutex.abandon(id + 1), 0);
        assert.is(mutex.abandon(id), 1);
      }
      await Promise.all(waiting.map(({ over }) => over));
      const results = waiting.map(({ words }) => words[PLAY.result]);
      assert.equal(results.sort(), [0, 0, 0, NUMBERS.EOWNERDEAD]);
      assert.is(mutex.owner, 0);
    });
  }
}

const SCHEDULES = [
  { schedule: "single" },
  { chunk: 16 },
  { schedule: "guided", agents: 6 },
] as const;

for (const config of SCHEDULES) {
  for (const cancelled of [false, true]) {
    const title = `${JSON.stringify(config)}${cancelled ? ", cancelled" : ""}`;
    test(`work is done once: ${title}`, async () => {
      const total = 20_000;
      const at = stage.place(WorkCounter.byteLength());
      const work = WorkCounter.init(memory, at, total, config);
      const extra = stage.place(4 * total);
      const waits = await Promise.all(
        (["C", "main"] as const).map((by) =>
          stage.start({ by, role: "work wait", at })
        ),
      );
      const count = cancelled ? total / 2 : total;
      const played = await stage.perform(
        CASTS.all!.map((by) => ({ by, role: "work", at, extra, count })),
      );
      for (const { over, words } of waits) {
        await over;
        assert.is(words[PLAY.result], 0);
      }
      const done = played.reduce((n, { words }) => n + words[PLAY.result]!, 0);
      assert.is(work.completed, done);
      assert.is(work.remaining, 0);
      assert.is(work.cancelled, done < total);
      if (!cancelled) assert.is(done, total);
      const marks = stage.heap.subarray(extra / 4, extra / 4 + total);
      assert.ok(marks.every((mark, i) => mark === (i < done ? 1 : 0)));
    });
  }
}

// it explores
// Without a model, a timed sleep has missed its wake if the agent would go on
// if it looked at memory. That its word has changed is not enough: a word may
// count those who wait.
import * as assert from "uvu/assert";
import {
  Barrier,
  Condition,
  Event,
  Latch,
  Mutex,
  Semaphore,
} from "../../mod.ts";
import { race } from "../../race/mod.ts";
import type { RaceError } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race missed wakes", 60_000);

type Memory = SharedArrayBuffer;
type Agent = (memory: Memory) => unknown;

const words = (memory: Memory) => new Int32Array(memory);

/** The kind of failure, or "" where all is explored and right. */
function verdict(init: (memory: Memory) => unknown, ...agents: Agent[]) {
  const memory = () => {
    const memory = new SharedArrayBuffer(512);
    init(memory);
    return memory;
  };
  try {
    const { complete, summary } = race.agents({ memory }, ...agents);
    return complete ? "" : summary;
  } catch (error) {
    return (error as RaceError).kind ?? error;
  }
}

const nothing = () => {};

test("agents that count themselves in the word they sleep on", () => {
  const waits: Agent = (memory) => {
    const waiting = Atomics.add(words(memory), 0, 1) + 1;
    Atomics.wait(words(memory), 0, waiting, 10);
    Atomics.sub(words(memory), 0, 1);
  };
  const again: Agent = (memory) => {
    const w = words(memory);
    const until = performance.now() + 10;
    Atomics.add(w, 0, 1);
    while (Atomics.load(w, 1) === 0) {
      const left = until - performance.now();
      const asleep = Atomics.wait(w, 0, Atomics.load(w, 0), left);
      if (asleep === "timed-out") return false;
    }
    return true;
  };
  assert.is(verdict(nothing, again, again), "");
  // This one does not look whether it may go on: it goes on.
  assert.is(verdict(nothing, waits, waits), "lost-wakeup");
});

test("primitives that nobody uses until the time is over", () => {
  const both = (agent: Agent) => [agent, agent] as const;
  const conditionWait: Agent = (memory) => {
    const mutex = new Mutex(memory);
    return mutex.run(() => new Condition(memory, 256).tryWait(mutex, 10));
  };
  assert.is(verdict(nothing, ...both(conditionWait)), "");
  assert.is(
    verdict(
      (memory) => Latch.init(memory, 0, 5),
      ...both((memory) => new Latch(memory).tryArriveAndWait(10)),
    ),
    "",
  );
  assert.is(
    verdict(
      (memory) => Barrier.init(memory, 0, 3),
      ...both((memory) => new Barrier(memory).tryArriveAndWait(10)),
    ),
    "",
  );
  assert.is(
    verdict(
      (memory) => Semaphore.init(memory, 0, 0),
      ...both((memory) => new Semaphore(memory).tryAcquire(1, 10)),
    ),
    "",
  );
  assert.is(
    verdict(
      (memory) => Event.init(memory, 0, { autoReset: true }),
      (memory) => new Event(memory).set(),
      ...both((memory) => new Event(memory).tryWait(10)),
    ),
    "",
  );
});

test("a wake that is forgotten, or passed on by an agent that sleeps", () => {
  const waits = (at: number): Agent => (memory) => {
    const w = words(memory);
    while (Atomics.load(w, at) === 0) Atomics.wait(w, 0, 0, 10);
  };
  const tells = (notifies: boolean): Agent => (memory) => {
    const w = words(memory);
    Atomics.store(w, 1, 1);
    Atomics.store(w, 0, 1);
    if (notifies) Atomics.notify(w, 0);
  };
  assert.is(verdict(nothing, waits(1), tells(true)), "");
  assert.is(verdict(nothing, waits(1), tells(false)), "lost-wakeup");

  // The one that sleeps on word 0 would wake the other, and then sleep again.
  const passes: Agent = (memory) => {
    const w = words(memory);
    for (let state = Atomics.load(w, 0);; state = Atomics.load(w, 0)) {
      if (state === 1) Atomics.notify(w, 2);
      if (Atomics.wait(w, 0, state, 10) === "timed-out") return;
    }
  };
  const other: Agent = (memory) => {
    Atomics.wait(words(memory), 2, 0, 20);
  };
  const changes: Agent = (memory) => void Atomics.store(words(memory), 0, 1);
  assert.is(verdict(nothing, passes, other, changes), "lost-wakeup");
});

test("a condition for two purposes is a deadlock, not a lost wake", () => {
  const section = (memory: Memory, mine: number) => {
    const mutex = new Mutex(memory);
    const condition = new Condition(memory, 256);
    const full = new Int32Array(memory, 128, 1);
    mutex.run(() => {
      while (full[0] === mine) condition.wait(mutex);
      full[0] = mine;
      condition.notify();
    });
  };
  const puts: Agent = (memory) => (section(memory, 1), section(memory, 1));
  const takes: Agent = (memory) => section(memory, 0);
  assert.is(verdict(nothing, puts, takes, takes), "deadlock");
});

test("an agent that looks by a DataView has looked", () => {
  const waits = (read: (memory: Memory) => number): Agent => (memory) => {
    const w = words(memory);
    for (;;) {
      const state = Atomics.load(w, 0);
      if (read(memory) === 1) return;
      if (Atomics.wait(w, 0, state, 10) === "timed-out") return;
    }
  };
  const reads = [
    (memory: Memory) => words(memory)[1]!,
    (memory: Memory) => new DataView(memory).getInt32(4, true),
  ];
  const tells = (value: number): Agent => (memory) => {
    words(memory)[1] = value;
    Atomics.store(words(memory), 0, 1);
  };
  for (const read of reads) {
    const told = (value: number) => {
      const races = { races: false };
      try {
        race.agents(
          { memory: () => new SharedArrayBuffer(8) },
          waits(read),
          tells(value),
          races,
        );
        return "";
      } catch (error) {
        return (error as RaceError).kind;
      }
    };
    assert.is(told(2), "", "it would sleep again");
    assert.is(told(1), "lost-wakeup", "it would go on");
  }
});

test("what an agent would do until it sleeps again is done for trial only", () => {
  const sets = (place: number) => (memory: Memory) => {
    Atomics.store(words(memory), place, 1);
  };
  const sleepsTwice = (again: number): Agent => (memory) => {
    const w = words(memory);
    Atomics.wait(w, 0, 0, 10);
    if (Atomics.add(w, 2, 1) !== 0) throw new Error("it was done before");
    Atomics.wait(w, 1, 0, again);
  };
  // It would go on until it sleeps again, where nobody has woken it.
  assert.is(verdict(nothing, sleepsTwice(10), sets(0)), "");
  // It would not sleep again, as that word is not 0, or for no time.
  assert.is(verdict(sets(1), sleepsTwice(10), sets(0)), "lost-wakeup");
  assert.is(verdict(nothing, sleepsTwice(0), sets(0)), "lost-wakeup");
});

/**
 * Waits of every primitive, and what others do meanwhile: after each of their
 * steps the wait is in its next stage, and after the last one it is served.
 *
 * @module
 */

import {
  Barrier,
  codec,
  Condition,
  Event,
  HashMap,
  Latch,
  Mutex,
  Once,
  RwLock,
  Semaphore,
  SemaphorePermit,
  waitAny,
  WaitGroup,
  WorkCounter,
} from "../../mod.ts";
import { spinning } from "../../primitives/_wait/spin.ts";
import { asAgent } from "../_run/model.ts";
import {
  fails,
  OTHER,
  type Row,
  type Scene,
  seenBy,
  THIRD,
  unlock,
  wrongIf,
} from "./scene.ts";
import { QUEUES } from "./stages_queues.ts";
import { CALLS } from "./stages_calls.ts";

function mutexScene(end: "unlock" | "abandon") {
  return (method: string): Scene => {
    const mutex = Mutex.create();
    const other = seenBy(OTHER, Mutex, mutex);
    other.lock();
    return {
      on: mutex,
      with: method === "runAsync" ? [fails] : [],
      steps: [() => end === "unlock" ? other.unlock() : mutex.abandon(OTHER)],
      release: unlock,
      check: () => wrongIf(!mutex.tryLock(), "it stays locked"),
    };
  };
}

/** An RwLock that agent 7 reads or writes, and that agent 8 waits to write. */
function rwLock(held: "read" | "write", tracked: number) {
  const lock = RwLock.create({ tracked });
  const guard = seenBy(OTHER, RwLock, lock)[held]();
  const ahead = new AbortController();
  const third = seenBy(THIRD, RwLock, lock);
  third.writeAsync({ signal: ahead.signal }).then(unlock, fails);
  return { lock, guard, ahead };
}

/**
 * Behind a writer that waits, and gives up; then for the agent that holds the
 * lock, unless both read.
 */
const rwScene = (
  held: "read" | "write",
  end: "unlock" | "dies",
  tracked: number,
) =>
(method: string): Scene => {
  const { lock, guard, ahead } = rwLock(held, tracked);
  const last = () => end === "dies" ? lock.abandon(OTHER) : guard.unlock();
  const isLet = held === "read" && method.startsWith("read");
  return {
    on: lock,
    with: method.endsWith("ingAsync") ? [fails] : [],
    steps: isLet ? [() => ahead.abort()] : [() => ahead.abort(), last],
    release: unlock,
    check: () => {
      if (isLet) last();
      return wrongIf(!lock.tryWrite(), "no writer gets in");
    },
  };
};

function conditionScene(): Scene {
  const mutex = Mutex.create();
  const condition = Condition.create();
  mutex.lock();
  const [others, called] = asAgent(OTHER, () => [
    new Mutex(mutex.buffer),
    new Condition(condition.buffer),
  ]);
  let held: ReturnType<Mutex["tryLock"]>;
  return {
    on: condition,
    with: [mutex],
    // It is called, and then it waits for the mutex.
    steps: [
      () => held = others.tryLock(), // not if it was aborted before
      () => called.notify(),
      () => held?.unlock(),
    ],
    patient: true,
    check: () => mutex.unlock(), // it throws if this agent does not hold it
  };
}

const PATIENCE = spinning.patience;

function semaphoreScene(n: number, tracked: number, patience: number) {
  return (method: string): Scene => {
    const semaphore = Semaphore.create(3, { tracked });
    const other = seenBy(OTHER, Semaphore, semaphore);
    other.acquire(3);
    spinning.patience = patience; // with 0, it claims the permits at once
    return {
      on: semaphore,
      with: method === "runAsync" ? [fails, n] : [n],
      steps: Array.from({ length: n }, () => () => other.release()),
      release: (permit) => {
        if (permit instanceof SemaphorePermit) permit.release();
        else if (method !== "runAsync") semaphore.release(n);
      },
      check: () => {
        spinning.patience = PATIENCE;
        if (n < 3) other.release(3 - n);
        const { available } = semaphore;
        return wrongIf(available !== 3, `${available} of 3 permits`);
      },
    };
  };
}

const eventScene = (autoReset: boolean) => (): Scene => {
  const event = Event.create({ autoReset });
  return { on: event, steps: [() => event.set()] };
};

function latchScene(method: string): Scene {
  const latch = Latch.create(3);
  const steps = method === "arriveAndWaitAsync" ? 2 : 3;
  return {
    on: latch,
    steps: Array.from({ length: steps }, () => () => latch.countDown()),
    check: () => wrongIf(latch.count !== 0, `its count is ${latch.count}`),
  };
}

function groupScene(): Scene {
  const group = WaitGroup.create();
  group.add(2);
  return {
    on: group,
    steps: [() => group.done(), () => group.done()],
    check: () => wrongIf(group.count !== 0, `its count is ${group.count}`),
  };
}

const barrierScene = (tracked: number) => (): Scene => {
  const barrier = Barrier.create(3, { tracked });
  const others = [OTHER, THIRD].map((id) => seenBy(id, Barrier, barrier));
  const rest: Promise<unknown>[] = [];
  return {
    on: barrier,
    steps: others.map((other) => () => {
      rest.push(other.arriveAndWaitAsync());
    }),
    check: () => {
      // If this one gave up, the others wait for it.
      if (barrier.arrived === 2) rest.push(barrier.arriveAndWaitAsync());
      return Promise.all(rest).then(() =>
        wrongIf(barrier.arrived !== 0, `${barrier.arrived} arrived`)
      );
    },
  };
};

const onceScene = (end: "fail" | "abandon") => (): Scene => {
  const once = Once.create();
  const other = seenBy(OTHER, Once, once);
  let fail = fails;
  other.runAsync(() => new Promise((_, reject) => fail = reject))
    .catch(fails);
  return {
    on: once,
    with: [fails],
    steps: [() => end === "fail" ? fail() : once.abandon(OTHER)],
    check: () => wrongIf(!once.tryRun(fails), "nobody can run it"),
  };
};

function counterScene(): Scene {
  const counter = WorkCounter.create(2);
  while (counter.next() >= 0);
  return {
    on: counter,
    steps: [() => counter.done(), () => counter.done()],
  };
}

const codecs = { key: codec.text, value: codec.i32 };

function mapScene(): Scene {
  const map = HashMap.create({ ...codecs, capacity: 4 });
  return {
    on: map,
    with: ["key"],
    steps: [() => map.set("other", 1), () => map.set("key", 1)],
    check: () => wrongIf(map.get("key") !== 1, "the key is not there"),
  };
}

/** Another call makes the value, and fails if `end` says so. */
const makingScene = (end: "made" | "fails") => (): Scene => {
  const map = HashMap.create({ ...codecs, capacity: 4 });
  let settle = (_value: number | PromiseLike<number>) => {};
  const made = new Promise<number>((resolve) => settle = resolve);
  map.getOrInsertAsync("key", () => made).then(fails, fails);
  return {
    on: map,
    with: ["key", () => 2],
    steps: [
      () => settle(end === "made" ? 1 : Promise.reject(new Error("not made"))),
    ],
    check: () => {
      const value = map.get("key");
      const right = end === "made" ? value === 1 : value !== 1;
      return wrongIf(!right, `the value is ${value}`);
    },
  };
};

function anyScene(): Scene {
  const event = Event.create();
  const latch = Latch.create(2);
  const semaphore = Semaphore.create();
  return {
    on: event,
    begin: (limits) => waitAny([event, latch, semaphore], limits),
    steps: [() => latch.countDown(), () => semaphore.release()],
    check: () =>
      wrongIf(semaphore.available > 1, `${semaphore.available} permits`),
  };
}

const LOCKS: Row[] = [{
  waits: ["Mutex.lockAsync", "Mutex.runAsync", "Mutex.waitForUnlockAsync"],
  scene: mutexScene("unlock"),
}, {
  waits: ["Mutex.lockAsync", "Mutex.waitForUnlockAsync"],
  what: "its owner dies",
  scene: mutexScene("abandon"),
}, {
  waits: [
    "RwLock.readAsync",
    "RwLock.writeAsync",
    "RwLock.readingAsync",
    "RwLock.writingAsync",
  ],
  scene: rwScene("read", "unlock", 0),
}, {
  waits: ["RwLock.readAsync", "RwLock.writeAsync"],
  what: "tracked",
  scene: rwScene("read", "unlock", 4),
}, {
  waits: ["RwLock.readAsync", "RwLock.writeAsync"],
  what: "a reader dies",
  scene: rwScene("read", "dies", 4),
}, {
  waits: ["RwLock.readAsync", "RwLock.writeAsync"],
  what: "a writer dies",
  scene: rwScene("write", "dies", 4),
}, {
  waits: ["Condition.waitAsync"],
  scene: conditionScene,
}];

const PERMITS: Row[] = [1, 3].flatMap((n) =>
  [0, 4].flatMap((tracked) =>
    [8, 0].map((patience): Row => ({
      waits: [
        "Semaphore.acquireAsync",
        ...tracked === 0 && n === 3
          ? ["Semaphore.permitAsync", "Semaphore.runAsync"]
          : [],
      ],
      what: `${n} of 3${tracked ? ", tracked" : ""}${
        patience ? "" : ", by a claim"
      }`,
      scene: semaphoreScene(n, tracked, patience),
    }))
  )
);

const OTHERS: Row[] = [{
  waits: ["Event.waitAsync"],
  scene: eventScene(false),
}, {
  waits: ["Event.waitAsync"],
  what: "auto-reset",
  scene: eventScene(true),
}, {
  waits: ["Latch.waitAsync", "Latch.arriveAndWaitAsync"],
  scene: latchScene,
}, {
  waits: ["WaitGroup.waitAsync"],
  scene: groupScene,
}, {
  waits: ["Barrier.arriveAndWaitAsync"],
  scene: barrierScene(0),
}, {
  waits: ["Barrier.arriveAndWaitAsync"],
  what: "tracked",
  scene: barrierScene(3),
}, {
  waits: ["Once.runAsync"],
  scene: onceScene("fail"),
}, {
  waits: ["Once.runAsync"],
  what: "its runner dies",
  scene: onceScene("abandon"),
}, {
  waits: ["WorkCounter.waitAsync"],
  scene: counterScene,
}, {
  waits: ["waitAny"],
  scene: anyScene,
}, {
  waits: ["HashMap.waitForAsync", "HashMap.getAsync"],
  scene: mapScene,
}, {
  waits: ["HashMap.getOrInsertAsync"],
  scene: makingScene("made"),
}, {
  waits: ["HashMap.getOrInsertAsync"],
  what: "the maker fails",
  scene: makingScene("fails"),
}];

/** All waits. */
export const ROWS: readonly Row[] = [
  ...LOCKS,
  ...PERMITS,
  ...OTHERS,
  ...QUEUES,
  ...CALLS,
];

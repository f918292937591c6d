/**
 * Waits of every primitive, and what others do meanwhile: after each of their
 * steps the wait is in its next stage, and after the last one it is served.
 *
 * @module
 */

import {
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  codec,
  Condition,
  connect,
  Event,
  HashMap,
  Latch,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  Once,
  RecordRing,
  RwLock,
  Semaphore,
  SemaphorePermit,
  serve,
  SpscQueue,
  struct,
  waitAny,
  WaitGroup,
  WorkCounter,
} from "../../mod.ts";
import { spinning } from "../../primitives/_wait/spin.ts";
import { asAgent } from "../_run/model.ts";

/** How a wait is limited. */
export interface Limits {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

/** A wait that is about to begin. */
export interface Scene {
  /** The object whose method waits. */
  readonly on: object;
  /** The arguments before the options. */
  readonly with?: readonly unknown[];
  /** Begins the wait, if it is not a method that takes options. */
  begin?(limits: Limits): Promise<unknown>;
  /** What others do. */
  readonly steps: readonly (() => unknown)[];
  /** Gives back what the wait got, if it was served. */
  release?(got: unknown): void;
  /** What is wrong once all is over, if anything is. */
  check?(): unknown;
  /** The wait cannot end before all steps: it must lock a mutex again. */
  readonly patient?: boolean;
}

/** Waits by one method, such as `["Mutex.lockAsync"]`, or by equal ones. */
export interface Row {
  readonly waits: readonly string[];
  readonly what?: string;
  readonly scene: (method: string) => Scene;
}

const OTHER = 7, THIRD = 8;

type Place = { buffer: SharedArrayBuffer };

/** The same primitive as another agent sees it. */
const seenBy = <T>(
  id: number,
  Class: new (at: SharedArrayBuffer) => T,
  at: Place,
) => asAgent(id, () => new Class(at.buffer));

const unlock = (guard: unknown) => (guard as { unlock?(): void })?.unlock?.();
const fails = () => {};
const wrongIf = (wrong: boolean, text: string) => wrong ? text : undefined;

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

// ---- queues -----------------------------------------------------------------

const ELEMENT = Uint32Array.of(1);
const Element = struct({ id: "u32" });

/** The arguments of each method of a queue, but for the options. */
const argumentsOf = (method: string, element: unknown = ELEMENT) =>
  method.startsWith("pushInt")
    ? [1]
    : method.startsWith("push")
    ? [element]
    : /Into/.test(method)
    ? [new Uint32Array(4)]
    : [];

interface AnyQueue {
  readonly size: number;
  close(): void;
  tryPush(element: never): boolean;
  tryPop(): unknown;
}

/** A full queue that another agent pops from, or an empty one it pushes to. */
function queueScene(
  make: () => AnyQueue,
  element: unknown,
  end: "serve" | "close",
) {
  return (method: string): Scene => {
    const queue = make();
    const pushes = method.startsWith("push");
    while (pushes && queue.tryPush(element as never));
    const { size } = queue;
    const serves = () =>
      pushes ? queue.tryPop() : queue.tryPush(element as never);
    let served = false;
    return {
      on: queue,
      with: argumentsOf(method, element),
      steps: [end === "serve" ? serves : () => queue.close()],
      release: () => served = true,
      check: () => {
        const left = pushes ? size - 1 + (served ? 1 : 0) : served ? 0 : 1;
        const wanted = end === "close" ? size : left;
        return wrongIf(queue.size !== wanted, `${queue.size} for ${wanted}`);
      },
    };
  };
}

const INTS = ["pushInt", "popInt"];
const BYTES = ["push", "pop", "popInto"];

const queueRows = (
  name: string,
  operations: readonly string[],
  make: () => unknown,
  element: unknown = ELEMENT,
): Row[] =>
  (["serve", "close"] as const).map((end) => ({
    waits: operations.map((operation) => `${name}.${operation}Async`),
    what: end,
    scene: queueScene(make as () => AnyQueue, element, end),
  }));

const broadcastScene = (end: "serve" | "close") => (method: string): Scene => {
  const broadcast = Broadcast.create({ capacity: 2 });
  const one = broadcast.subscribe();
  while (broadcast.tryPush(ELEMENT));
  return {
    on: broadcast,
    with: argumentsOf(method),
    steps: [() => end === "serve" ? one.tryPop() : broadcast.close()],
    check: () => one.leave(),
  };
};

const subscriptionScene =
  (end: "serve" | "close") => (method: string): Scene => {
    const broadcast = Broadcast.create({ capacity: 2 });
    const one = broadcast.subscribe();
    return {
      on: one,
      with: argumentsOf(method),
      steps: [
        () => end === "serve" ? broadcast.tryPush(ELEMENT) : broadcast.close(),
      ],
      check: () => one.leave(),
    };
  };

const CHANNELS: Record<string, () => unknown> = {
  "a number": () => Channel.create({ codec: codec.i32, capacity: 2 }),
  "a record": () =>
    Channel.create({ codec: codec.record(Element), capacity: 2 }),
  JSON: () => Channel.create({ codec: codec.json, capacity: 2 }),
};

const channelScene =
  (make: () => unknown, end: "serve" | "close") => (method: string): Scene => {
    const channel = make() as Channel<unknown>;
    const value = channel.codec === codec.i32 ? 1 : { id: 1 };
    const sends = method === "sendAsync";
    const send = () => channel.trySend(value);
    while (sends && send());
    return {
      on: channel,
      with: sends ? [value] : [],
      steps: [
        () =>
          end === "close"
            ? channel.close()
            : sends
            ? channel.tryReceive()
            : send(),
      ],
    };
  };

const BINARY: Row[] = (["serve", "close"] as const).flatMap((end) => {
  const make = () => Channel.create({ codec: codec.binary, capacity: 2 });
  const message = Uint8Array.of(1);
  return [{
    waits: ["Channel.receiveIntoAsync", "Channel.peekAsync"],
    what: `bytes, ${end}`,
    scene: (method) => {
      const channel = make();
      return {
        on: channel,
        with: method === "receiveIntoAsync" ? [new Uint8Array(4)] : [],
        steps: [
          () => end === "serve" ? channel.trySend(message) : channel.close(),
        ],
        release: (got) => (got as { release?(): void })?.release?.(),
      };
    },
  }, {
    waits: ["Channel.reserveAsync"],
    what: `bytes, ${end}`,
    scene: () => {
      const channel = make();
      while (channel.trySend(message));
      const other = asAgent(
        OTHER,
        () => Channel.from(channel.handle, { codec: codec.binary }),
      );
      return {
        on: channel,
        with: [1],
        steps: [() => {
          if (end === "close") return channel.close();
          while (other.tryReceive());
        }],
        release: (got) => (got as { cancel(): void }).cancel(),
      };
    },
  }] satisfies Row[];
});

// ---- calls ------------------------------------------------------------------

const REQUEST = Uint8Array.of(1, 2, 3);

/** Calls of 1 slot, which another agent uses at first. */
function calls(request = 8, reply = 8) {
  const ring = CallRing.create({ slots: 1, request, reply });
  const other = asAgent(OTHER, () => new CallRing(ring.buffer));
  return { ring, other, posted: other.tryPost(REQUEST)! };
}

const freed = (ring: CallRing) =>
  wrongIf(ring.pending !== 0, `${ring.pending} slots stay taken`);

/** It waits for a slot, for a server, and for its answer. */
const callScene =
  (end: "reply" | "fail" | "abandon") => (method: string): Scene => {
    const { ring, other, posted } = calls();
    let taken: ReturnType<CallRing["tryTake"]>;
    return {
      on: ring,
      with: method.startsWith("callInto")
        ? [REQUEST, new Uint8Array(8)]
        : [REQUEST],
      steps: [
        () => posted.cancel(),
        () => taken = other.tryTake(),
        () =>
          end === "reply"
            ? taken?.reply(REQUEST)
            : end === "fail"
            ? taken?.fail(new Error("no"))
            : ring.abandon(OTHER),
      ],
      check: () => freed(ring),
    };
  };

const postScene = (end: "free" | "close") => (): Scene => {
  const { ring, posted } = calls();
  return {
    on: ring,
    with: [REQUEST],
    steps: [() => end === "free" ? posted.cancel() : ring.close()],
    release: (call) => (call as { cancel(): void }).cancel(),
    check: () => {
      posted.cancel();
      return freed(ring);
    },
  };
};

const takeScene = (end: "post" | "close") => (method: string): Scene => {
  const { ring, other, posted } = calls();
  posted.cancel();
  return {
    on: ring,
    with: method === "serveAsync" ? [() => {}] : [],
    // A server that was not aborted serves until the end.
    steps: [
      () => end === "post" ? other.tryPost(REQUEST) : ring.close(),
      () => ring.close(),
    ].slice(0, method === "serveAsync" && end === "post" ? 2 : 1),
    release: (call) => (call as { reply?(): void }).reply?.(),
    check: () => {
      ring.abandon(OTHER);
      return freed(ring);
    },
  };
};

const pendingScene = (end: "reply" | "cancel") => (method: string): Scene => {
  const { ring, other, posted: call } = calls();
  const taken = other.tryTake()!;
  return {
    on: call,
    with: method === "receiveIntoAsync" ? [new Uint8Array(8)] : [],
    steps: [() => end === "reply" ? taken.reply(REQUEST) : call.cancel()],
    check: () => {
      call.cancel();
      if (end === "cancel") taken.reply(REQUEST);
      return freed(ring);
    },
  };
};

/** A method that is served, whose request and result may have pieces. */
const remoteScene = (letters: number) => (): Scene => {
  const { ring, posted } = calls(64, 64);
  let answer: (text: string) => void = fails;
  const answered = new Promise<string>((resolve) => answer = resolve);
  let served: Promise<unknown> | undefined;
  const api = { wait: (_text: string, _signal?: AbortSignal) => answered };
  return {
    on: ring,
    begin: ({ signal, timeout = Infinity }) =>
      connect<typeof api>(ring, { timeout })
        .wait("x".repeat(letters), ...signal ? [signal] : []),
    steps: [
      () => posted.cancel(),
      () => void (served = serve(ring, api)),
      () => answer("y".repeat(letters)),
    ],
    check: async () => {
      ring.close();
      await served;
      return freed(ring);
    },
  };
};

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

const config = { capacity: 2 };
const QUEUES: Row[] = [
  ...queueRows(
    "SpscQueue",
    [...INTS, ...BYTES],
    () => SpscQueue.create(config),
  ),
  ...queueRows(
    "MpmcQueue",
    [...INTS, ...BYTES],
    () => MpmcQueue.create(config),
  ),
  ...queueRows(
    "LockFreeQueue",
    [...INTS, ...BYTES],
    () => LockFreeQueue.create(config),
  ),
  ...queueRows(
    "TypedQueue",
    ["push", "pop"],
    () => MpmcQueue.create({ capacity: 2, element: Element }),
    { id: 1 },
  ),
  ...queueRows("RecordRing", BYTES, () => RecordRing.create({ capacity: 64 })),
  ...(["serve", "close"] as const).flatMap((end): Row[] => [
    {
      waits: ["Broadcast.pushAsync", "Broadcast.pushIntAsync"],
      what: end,
      scene: broadcastScene(end),
    },
    {
      waits: [...INTS, ...BYTES].filter((name) => name.startsWith("pop"))
        .map((name) => `Subscription.${name}Async`),
      what: end,
      scene: subscriptionScene(end),
    },
    ...Object.entries(CHANNELS).map(([name, make]): Row => ({
      waits: ["Channel.sendAsync", "Channel.receiveAsync"],
      what: `${name}, ${end}`,
      scene: channelScene(make, end),
    })),
  ]),
  ...BINARY,
];

const CALLS: Row[] = [
  ...(["reply", "fail", "abandon"] as const).map((end): Row => ({
    waits: ["CallRing.callAsync", "CallRing.callIntoAsync"],
    what: end,
    scene: callScene(end),
  })),
  ...(["free", "close"] as const).map((end): Row => ({
    waits: ["CallRing.postAsync"],
    what: end,
    scene: postScene(end),
  })),
  ...(["post", "close"] as const).map((end): Row => ({
    waits: ["CallRing.takeAsync", "CallRing.serveAsync"],
    what: end,
    scene: takeScene(end),
  })),
  ...(["reply", "cancel"] as const).map((end): Row => ({
    waits: ["PendingCall.receiveAsync", "PendingCall.receiveIntoAsync"],
    what: end,
    scene: pendingScene(end),
  })),
  ...[3, 200].map((letters): Row => ({
    waits: ["connect"],
    what: `${letters} letters`,
    scene: remoteScene(letters),
  })),
];

/** All waits. */
export const ROWS: readonly Row[] = [
  ...LOCKS,
  ...PERMITS,
  ...OTHERS,
  ...QUEUES,
  ...CALLS,
];

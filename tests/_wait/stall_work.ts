// The work of the agents of `stall.ts`, and the primitives they work on.
import * as weft from "../../mod.ts";

type Step = () => unknown;
/** Makes the function that one agent calls again and again. */
export type Work = (handles: readonly weft.Handle[], agent: number) => Step;

/** How many agents work on one primitive. */
export const AGENTS = 4;

let noise = 1;
/** Passes up to a few microseconds, so that the agents fall into no rhythm. */
export function dawdle(): void {
  noise = Math.imul(noise, 1664525) + 1013904223 | 0;
  for (let i = (noise >>> 20) & 1023; i > 0; i--) noise ^= i;
}

const mutexOf = (at: readonly weft.Handle[]) =>
  weft.Mutex.from(at[0] as weft.Handle<"mutex">);
const rwLockOf = (at: readonly weft.Handle[]) =>
  weft.RwLock.from(at[0] as weft.Handle<"rw_lock">);
const semaphoreOf = (at: readonly weft.Handle[], i = 0) =>
  weft.Semaphore.from(at[i] as weft.Handle<"semaphore">);

const channelOf = (at: readonly weft.Handle[]) =>
  weft.Channel.from(at[0] as weft.Handle<"channel">, {
    codec: weft.codec.text,
  });

/** The even agents push, the odd ones pop. */
function moving(
  agent: number,
  push: () => unknown,
  pop: () => unknown,
): Step {
  return agent % 2 === 0 ? push : pop;
}

/** How many primitives that serve once are in use by turns. */
const ROUNDS = 8;
/** Their distance in bytes: room for any of them. */
const STRIDE = 512;

/**
 * Work on a primitive that serves once: a fresh one in every round. `make`
 * makes the one at a place, and `use` uses it. All agents meet after each
 * round, so nobody uses one that is made again.
 */
function byRounds<T>(
  at: readonly weft.Handle[],
  agent: number,
  make: (memory: weft.Memory, place: number) => T,
  use: (memory: weft.Memory, place: number) => void,
): Step {
  const memory = at[0]!.buffer;
  const barrier = weft.Barrier.from(at[1] as weft.Handle<"barrier">);
  const placeOf = (round: number) => round % ROUNDS * STRIDE;
  let round = 0;
  if (agent === 0) make(memory, placeOf(0));
  barrier.arriveAndWait();
  return () => {
    if (agent === 0) make(memory, placeOf(round + 1));
    use(memory, placeOf(round++));
    barrier.arriveAndWait();
  };
}

/** The agents' work, by the name of its kind. */
export const WORK: Record<string, Work> = {
  "mutex, lock": (at) => {
    const mutex = mutexOf(at);
    return () => {
      const guard = mutex.lock();
      dawdle();
      guard.unlock();
    };
  },
  "mutex, lockAsync": (at) => {
    const mutex = mutexOf(at);
    return async () => {
      const guard = await mutex.lockAsync();
      dawdle();
      guard.unlock();
    };
  },
  "mutex, both": (at, agent) =>
    WORK[agent % 2 ? "mutex, lock" : "mutex, lockAsync"]!(at, agent),
  "mutex, aborts": (at, agent) => {
    const mutex = mutexOf(at);
    const lock = WORK["mutex, lockAsync"]!(at, agent);
    return async () => {
      const abort = new AbortController();
      const wait = mutex.lockAsync({ signal: abort.signal })
        .then((guard) => guard!.unlock(), () => {});
      if (noise & 1) await null;
      abort.abort();
      await wait;
      await lock();
    };
  },
  "rw_lock": (at, agent) => {
    const lock = rwLockOf(at);
    return () => {
      const guard = agent === 0 ? lock.write() : lock.read();
      dawdle();
      guard.unlock();
    };
  },
  "rw_lock, writers": (at) => {
    const lock = rwLockOf(at);
    return () => {
      const guard = lock.write();
      dawdle();
      guard.unlock();
    };
  },
  "rw_lock, async": (at, agent) => {
    const lock = rwLockOf(at);
    return async () => {
      const guard = agent % 2
        ? await lock.readAsync()
        : await lock.writeAsync();
      dawdle();
      guard.unlock();
    };
  },
  "condition": (at, agent) => {
    const mutex = mutexOf(at);
    const condition = weft.Condition.from(
      at[1] as weft.Handle<"condition">,
    );
    const words = new Int32Array(at[2]!.buffer as SharedArrayBuffer);
    return () => {
      const guard = mutex.lock();
      while (words[0] !== agent) condition.wait(mutex);
      words[0] = (agent + 1) % AGENTS; // whose turn it is
      condition.notifyAll();
      guard.unlock();
    };
  },
  "semaphore": (at, agent) => {
    const semaphore = semaphoreOf(at);
    const n = agent === 0 ? 2 : 1;
    return () => {
      semaphore.acquire(n);
      dawdle();
      semaphore.release(n);
    };
  },
  "semaphore, async": (at, agent) => {
    const semaphore = semaphoreOf(at);
    const n = agent === 0 ? 2 : 1;
    return async () => {
      await semaphore.acquireAsync(n);
      dawdle();
      semaphore.release(n);
    };
  },
  "event": (at, agent) => {
    const events = at.map((handle) =>
      weft.Event.from(handle as weft.Handle<"event">)
    );
    return () => {
      events[agent]!.wait();
      dawdle();
      events[(agent + 1) % AGENTS]!.set();
    };
  },
  "barrier": (at) => {
    const barrier = weft.Barrier.from(at[0] as weft.Handle<"barrier">);
    return () => {
      dawdle();
      barrier.arriveAndWait();
    };
  },
  "barrier, async": (at) => {
    const barrier = weft.Barrier.from(at[0] as weft.Handle<"barrier">);
    return async () => {
      dawdle();
      await barrier.arriveAndWaitAsync();
    };
  },
  "spsc_queue": (at, agent) => {
    const queue = weft.SpscQueue.from(at[0] as weft.Handle<"spsc_queue">);
    return moving(agent, () => queue.pushInt(1), () => queue.popInt());
  },
  "spsc_queue, async": (at, agent) => {
    const queue = weft.SpscQueue.from(at[0] as weft.Handle<"spsc_queue">);
    return moving(
      agent,
      () => queue.pushIntAsync(1),
      () => queue.popIntAsync(),
    );
  },
  "mpmc_queue": (at, agent) => {
    const queue = weft.MpmcQueue.from(at[0] as weft.Handle<"mpmc_queue">);
    return moving(agent, () => queue.pushInt(1), () => queue.popInt());
  },
  "mpmc_queue, async": (at, agent) => {
    const queue = weft.MpmcQueue.from(at[0] as weft.Handle<"mpmc_queue">);
    return moving(
      agent,
      () => queue.pushIntAsync(1),
      () => queue.popIntAsync(),
    );
  },
  "lock_free_queue": (at, agent) => {
    const queue = weft.LockFreeQueue.from(
      at[0] as weft.Handle<"lock_free_queue">,
    );
    return moving(agent, () => queue.pushInt(1), () => queue.popInt());
  },
  "record_ring": (at, agent) => {
    const ring = weft.RecordRing.from(at[0] as weft.Handle<"record_ring">);
    const bytes = new Uint8Array(12);
    // One consumer only.
    return agent === 0 ? () => ring.pop() : () => ring.push(bytes);
  },
  "record_ring, async": (at, agent) => {
    const ring = weft.RecordRing.from(at[0] as weft.Handle<"record_ring">);
    const bytes = new Uint8Array(12);
    return agent === 0 ? () => ring.popAsync() : () => ring.pushAsync(bytes);
  },
  "once": (at, agent) =>
    byRounds(
      at,
      agent,
      (memory, place) => weft.Once.init(memory, place),
      (memory, place) => new weft.Once(memory, place).run(dawdle),
    ),
  "latch": (at, agent) =>
    byRounds(
      at,
      agent,
      (memory, place) => weft.Latch.init(memory, place, AGENTS),
      (memory, place) => {
        dawdle();
        new weft.Latch(memory, place).arriveAndWait();
      },
    ),
  "wait_group": (at, agent) =>
    byRounds(
      at,
      agent,
      (memory, place) => weft.WaitGroup.init(memory, place).add(AGENTS),
      (memory, place) => {
        const group = new weft.WaitGroup(memory, place);
        dawdle();
        group.done();
        group.wait();
      },
    ),
  "work_counter": (at, agent) =>
    byRounds(
      at,
      agent,
      (memory, place) => weft.WorkCounter.init(memory, place, 8),
      (memory, place) => {
        const work = new weft.WorkCounter(memory, place);
        while (work.next() >= 0) {
          dawdle();
          work.done();
        }
        work.wait();
      },
    ),
  "broadcast": (at, agent) => {
    const broadcast = weft.Broadcast.from(at[0] as weft.Handle<"broadcast">);
    if (agent === 0) return () => broadcast.pushInt(1);
    const seat = broadcast.subscribe();
    return () => seat.popInt();
  },
  "broadcast, async": (at, agent) => {
    const broadcast = weft.Broadcast.from(at[0] as weft.Handle<"broadcast">);
    if (agent === 0) return () => broadcast.pushIntAsync(1);
    const seat = broadcast.subscribe();
    return () => seat.popIntAsync();
  },
  "channel": (at, agent) => {
    const channel = channelOf(at);
    // One receiver only: a ring carries the messages.
    return agent === 0
      ? () => channel.receive()
      : () => channel.send(TEXTS[agent]!);
  },
  "channel, async": (at, agent) => {
    const channel = channelOf(at);
    return agent === 0
      ? () => channel.receiveAsync()
      : () => channel.sendAsync(TEXTS[agent]!);
  },
  "call_ring": (at, agent) => {
    const ring = weft.CallRing.from(at[0] as weft.Handle<"call_ring">);
    return agent % 2 === 0
      ? () => ring.take().reply(1)
      : () => ring.call(Uint8Array.of(agent));
  },
  "call_ring, async": (at, agent) => {
    const ring = weft.CallRing.from(at[0] as weft.Handle<"call_ring">);
    return agent % 2 === 0
      ? async () => (await ring.takeAsync()).reply(1)
      : () => ring.callAsync(Uint8Array.of(agent));
  },
};

const TEXTS = ["", "one", "the second of them", "three ".repeat(6)];

/** Places for primitives that serve once, and the barrier between rounds. */
const rounds = (): weft.Handle[] => [
  {
    kind: "words",
    buffer: new SharedArrayBuffer(ROUNDS * STRIDE),
    byteOffset: 0,
  },
  ...handlesOf(weft.Barrier.create(AGENTS)),
];

const handlesOf = (...all: { handle: weft.Handle }[]) =>
  all.map(({ handle }) => handle);

/** The primitives that the agents work on, by the first word of the kind. */
export const MADE: Record<string, () => weft.Handle[]> = {
  mutex: () => handlesOf(weft.Mutex.create()),
  rw_lock: () => handlesOf(weft.RwLock.create()),
  condition: () => [
    ...handlesOf(weft.Mutex.create(), weft.Condition.create()),
    { kind: "words", buffer: new SharedArrayBuffer(4), byteOffset: 0 },
  ],
  semaphore: () => handlesOf(weft.Semaphore.create(2)),
  event: () => {
    const events = Array.from(
      { length: AGENTS },
      () => weft.Event.create({ autoReset: true }),
    );
    events[0]!.set();
    return handlesOf(...events);
  },
  barrier: () => handlesOf(weft.Barrier.create(AGENTS)),
  spsc_queue: () => handlesOf(weft.SpscQueue.create({ capacity: 4 })),
  mpmc_queue: () => handlesOf(weft.MpmcQueue.create({ capacity: 4 })),
  lock_free_queue: () => handlesOf(weft.LockFreeQueue.create({ capacity: 4 })),
  record_ring: () => handlesOf(weft.RecordRing.create({ capacity: 128 })),
  once: rounds,
  latch: rounds,
  wait_group: rounds,
  work_counter: rounds,
  broadcast: () => handlesOf(weft.Broadcast.create({ capacity: 4 })),
  channel: () =>
    handlesOf(
      weft.Channel.create({
        codec: weft.codec.text,
        capacity: 4,
        messageSize: 32,
      }),
    ),
  call_ring: () =>
    handlesOf(weft.CallRing.create({ slots: 1, request: 4, reply: 4 })),
};

import {
  Barrier,
  Condition,
  Event,
  type Handle,
  Latch,
  Mutex,
  RwLock,
  StripedCounter,
  waitAny,
  WaitGroup,
} from "../mod.ts";
import { LAYOUT } from "../primitives/_memory/layout.ts";
import { work } from "./_mutex.ts";
import { type Did, OVER, type Run } from "./contest.ts";

/** One side of round trips. */
interface Side {
  memory: SharedArrayBuffer;
  /** Round trips a turn. */
  n: number;
  /** Whether this side sends first. */
  first: boolean;
}

function counted(n: number, first: boolean): Did {
  return { ops: first ? n : 0 };
}

/** Words that are 128 bytes apart, for the two directions. */
export const THERE = 0, BACK = 128, TURN = 256;

export function events({ memory, n, first }: Side): Run {
  const send = new Event(memory, first ? THERE : BACK);
  const receive = new Event(memory, first ? BACK : THERE);
  return () => {
    for (let i = 0; i < n; i++) {
      if (first) send.set();
      receive.wait();
      if (!first) send.set();
    }
    return counted(n, first);
  };
}

export function eventsAsync({ memory, n, first }: Side): Run {
  const send = new Event(memory, first ? THERE : BACK);
  const receive = new Event(memory, first ? BACK : THERE);
  return async () => {
    for (let i = 0; i < n; i++) {
      if (first) send.set();
      await receive.waitAsync();
      if (!first) send.set();
    }
    return counted(n, first);
  };
}

/**
 * A latch opens only once, so the agent that passed it shuts it again by its
 * word.
 */
export function latches({ memory, n, first }: Side): Run {
  const send = new Latch(memory, first ? THERE : BACK);
  const receive = new Latch(memory, first ? BACK : THERE);
  const state = LAYOUT.latch.state;
  const words = new Int32Array(memory, receive.byteOffset, state + 1);
  return () => {
    for (let i = 0; i < n; i++) {
      if (first) send.countDown();
      receive.wait();
      Atomics.store(words, state, 2);
      if (!first) send.countDown();
    }
    return counted(n, first);
  };
}

/** The agent that waited raises the count again, before it sends. */
export function groups({ memory, n, first }: Side): Run {
  const send = new WaitGroup(memory, first ? THERE : BACK);
  const receive = new WaitGroup(memory, first ? BACK : THERE);
  return () => {
    for (let i = 0; i < n; i++) {
      if (first) send.done();
      receive.wait();
      receive.add();
      if (!first) send.done();
    }
    return counted(n, first);
  };
}

/** A word under a mutex says whose turn it is. */
export function conditions({ memory, n, first }: Side): Run {
  const mutex = new Mutex(memory, THERE);
  const condition = new Condition(memory, BACK);
  const turn = new Int32Array(memory, TURN, 1);
  const [mine, other] = first ? [0, 1] : [1, 0];
  return () => {
    const guard = mutex.lock();
    for (let i = 0; i < n; i++) {
      while (turn[0] !== mine) condition.wait(mutex);
      turn[0] = other;
      condition.notify();
    }
    guard.unlock();
    return counted(n, first);
  };
}

export function conditionsAsync({ memory, n, first }: Side): Run {
  const mutex = new Mutex(memory, THERE);
  const condition = new Condition(memory, BACK);
  const turn = new Int32Array(memory, TURN, 1);
  const [mine, other] = first ? [0, 1] : [1, 0];
  return async () => {
    const guard = await mutex.lockAsync();
    for (let i = 0; i < n; i++) {
      while (turn[0] !== mine) await condition.waitAsync(mutex);
      turn[0] = other;
      condition.notify();
    }
    guard.unlock();
    return counted(n, first);
  };
}

/** Waits for two at once, and takes from the one that is ready. */
export function eventsAny({ memory, n, first }: Side): Run {
  const send = new Event(memory, first ? THERE : BACK);
  const receive = new Event(memory, first ? BACK : THERE);
  const never = Event.create();
  return async () => {
    for (let i = 0; i < n; i++) {
      if (first) send.set();
      while (!receive.tryWait()) await waitAny([never, receive]);
      if (!first) send.set();
    }
    return counted(n, first);
  };
}

// ---- rounds -----------------------------------------------------------------

interface Rounds {
  /** Rounds a turn. */
  n: number;
  /** One of the parties counts them. */
  first: boolean;
}

export function barriers(
  { barrier, n, first }: Rounds & { barrier: Handle<"barrier"> },
): Run {
  const own = Barrier.from(barrier);
  return () => {
    for (let i = 0; i < n; i++) own.arriveAndWait();
    return counted(n, first);
  };
}

/** The least that a barrier must do: count the arrived agents and wake them. */
export function barriersBare(
  { words, parties, n, first }: Rounds & {
    words: Int32Array<SharedArrayBuffer>;
    parties: number;
  },
): Run {
  return () => {
    for (let i = 0; i < n; i++) {
      const round = Atomics.load(words, 1);
      if (Atomics.add(words, 0, 1) === parties - 1) {
        Atomics.store(words, 0, 0);
        Atomics.add(words, 1, 1);
        Atomics.notify(words, 1);
      } else {while (Atomics.load(words, 1) === round) {
          Atomics.wait(words, 1, round);
        }}
    }
    return counted(n, first);
  };
}

export async function barriersPeer(
  { url, shared, end, n, first }: Rounds & {
    url: string;
    shared: string;
    end: unknown;
  },
): Promise<Run> {
  await import(url);
  const { deserialize } = await import(shared);
  const barrier = deserialize(end);
  return () => {
    for (let i = 0; i < n; i++) barrier.blockingWait();
    return counted(n, first);
  };
}

// ---- counters ---------------------------------------------------------------

export function striped(
  { counter, n }: { counter: Handle<"striped_counter">; n: number },
): Run {
  const own = StripedCounter.from(counter);
  return () => {
    for (let i = 0; i < n; i++) own.add(1);
    return { ops: n };
  };
}

export function shared({ words, n }: { words: Int32Array; n: number }): Run {
  return () => {
    for (let i = 0; i < n; i++) Atomics.add(words, 0, 1);
    return { ops: n };
  };
}

/** The floor: each thread adds to a word that no other thread touches. */
export function alone({ n }: { n: number }): Run {
  const words = new Int32Array(new SharedArrayBuffer(256));
  return () => {
    for (let i = 0; i < n; i++) Atomics.add(words, 32, 1);
    return { ops: n };
  };
}

// ---- sections that read -----------------------------------------------------

interface Reading {
  lock: Handle<never>;
  inside: number;
  n: number;
}

export function readMutex({ lock, inside, n }: Reading): Run {
  const mutex = Mutex.from(lock);
  return ({ words }): Did => {
    let ops = 0;
    while (words[OVER] === 0) {
      const guard = mutex.lock();
      work(inside);
      guard.unlock();
      if (++ops === n) Atomics.store(words, OVER, 1);
    }
    return { ops };
  };
}

export function readRwLock({ lock, inside, n }: Reading): Run {
  const own = RwLock.from(lock);
  return ({ words }): Did => {
    let ops = 0;
    while (words[OVER] === 0) {
      const guard = own.read();
      work(inside);
      guard.unlock();
      if (++ops === n) Atomics.store(words, OVER, 1);
    }
    return { ops };
  };
}

import { Mutex } from "../mod.ts";
import type { Handle } from "../mod.ts";
import { short } from "./beats.ts";
import { type Did, OVER, type Run } from "./contest.ts";

/** The data of a thread of the contended bench. */
export interface Contended {
  lock: Handle<"mutex">;
  /** Counts the sections of all threads, plainly. */
  count: Int32Array;
  /** Rounds of {@linkcode work} inside and outside of the section. */
  inside: number;
  outside: number;
  /**
   * After this many sections of this thread the lap is over for all threads.
   */
  n: number;
}

let sink = 1;

/** Computes on private memory. */
export function work(rounds: number): void {
  let x = sink;
  for (let i = 0; i < rounds; i++) x = Math.imul(x, 5) + 1 | 0;
  sink = x;
}

/**
 * The floor and the rival: a lock with two states that notifies at each unlock.
 */
class Plain {
  readonly words: Int32Array;
  constructor(words: Int32Array) {
    this.words = words;
  }
  lock() {
    while (Atomics.compareExchange(this.words, 0, 0, 1) !== 0) {
      Atomics.wait(this.words, 0, 1);
    }
  }
  unlock() {
    Atomics.compareExchange(this.words, 0, 1, 0);
    Atomics.notify(this.words, 0, 1);
  }
}

export function contendedWeft(
  { lock, count, inside, outside, n }: Contended,
): Run {
  const mutex = Mutex.from(lock);
  return ({ words }): Did => {
    let ops = 0;
    while (words[OVER] === 0) {
      const guard = mutex.lock();
      count[0]!++;
      if (inside > 0) work(inside);
      guard.unlock();
      if (++ops === n) Atomics.store(words, OVER, 1);
      if (outside > 0) work(outside);
    }
    return { ops };
  };
}

export function contendedPlain(
  { lock, count, inside, outside, n }: Contended,
): Run {
  const plain = new Plain(new Int32Array(lock.buffer as SharedArrayBuffer));
  return ({ words }): Did => {
    let ops = 0;
    while (words[OVER] === 0) {
      plain.lock();
      count[0]!++;
      if (inside > 0) work(inside);
      plain.unlock();
      if (++ops === n) Atomics.store(words, OVER, 1);
      if (outside > 0) work(outside);
    }
    return { ops };
  };
}

/** How long the longest wait for the lock was, in ms. */
export function longestWeft({ lock, count, inside }: Contended): Run {
  const mutex = Mutex.from(lock);
  return ({ words }): Did => {
    let ops = 0, longest = 0;
    while (words[OVER] === 0) {
      const begin = performance.now();
      const guard = mutex.lock();
      longest = Math.max(longest, performance.now() - begin);
      count[0]!++;
      work(inside);
      guard.unlock();
      ops++;
    }
    return { ops, longest };
  };
}

export function longestPlain({ lock, count, inside }: Contended): Run {
  const plain = new Plain(new Int32Array(lock.buffer as SharedArrayBuffer));
  return ({ words }): Did => {
    let ops = 0, longest = 0;
    while (words[OVER] === 0) {
      const begin = performance.now();
      plain.lock();
      longest = Math.max(longest, performance.now() - begin);
      count[0]!++;
      work(inside);
      plain.unlock();
      ops++;
    }
    return { ops, longest };
  };
}

// ---- one thread alone -------------------------------------------------------

export function aloneWeft(): Run {
  const mutex = Mutex.create();
  return short((n) => {
    for (let i = 0; i < n; i++) {
      const guard = mutex.lock();
      guard.unlock();
    }
  });
}

export function aloneUsing(): Run {
  const mutex = Mutex.create();
  return short((n) => {
    for (let i = 0; i < n; i++) {
      using _lock = mutex.lock();
    }
  });
}

export function aloneBare(): Run {
  const words = new Int32Array(new SharedArrayBuffer(8));
  return short((n) => {
    for (let i = 0; i < n; i++) {
      Atomics.compareExchange(words, 0, 0, 1);
      Atomics.compareExchange(words, 0, 1, 0);
    }
  });
}

/** The cost of `using` itself, which no engine here optimizes yet. */
export function aloneBareUsing(): Run {
  const words = new Int32Array(new SharedArrayBuffer(8));
  const guard = {
    [Symbol.dispose]() {
      Atomics.compareExchange(words, 0, 1, 0);
    },
  };
  const lock = () => {
    Atomics.compareExchange(words, 0, 0, 1);
    return guard;
  };
  return short((n) => {
    for (let i = 0; i < n; i++) {
      using _lock = lock();
    }
  });
}

export async function alonePeer({ url }: { url: string }): Promise<Run> {
  const { Mutex } = await import(url);
  const mutex = new Mutex();
  // Each takes a hundred times as long, so a turn has fewer of them.
  return short((n) => {
    for (let i = 0; i < n; i++) {
      const guard = mutex.blockingLock();
      guard.dispose ? guard.dispose() : guard[Symbol.dispose]();
    }
  }, 200);
}

/** ns that a thousand rounds of {@linkcode work} take. */
export function timeWork(): Run {
  return (): Did => {
    work(1e7);
    return { ops: 1e7 };
  };
}

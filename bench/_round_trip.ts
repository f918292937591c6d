import { type Handle, MpmcQueue, Semaphore } from "../mod.ts";
import type { Did, Run } from "./contest.ts";

/** Two words, one for each direction. One side serves, the other waits. */
export interface Side {
  there: Handle<"semaphore"> | Handle<"mpmc_queue">;
  back: Handle<"semaphore"> | Handle<"mpmc_queue">;
  /** Round trips a turn. */
  n: number;
  /** Whether this side sends first. */
  first: boolean;
}

function counted(n: number, first: boolean): Did {
  return { ops: first ? n : 0 };
}

export function semaphores({ there, back, n, first }: Side): Run {
  const send = new Semaphore((first ? there : back).buffer);
  const receive = new Semaphore((first ? back : there).buffer);
  return () => {
    for (let i = 0; i < n; i++) {
      if (first) send.release();
      receive.acquire();
      if (!first) send.release();
    }
    return counted(n, first);
  };
}

export function semaphoresAsync({ there, back, n, first }: Side): Run {
  const send = new Semaphore((first ? there : back).buffer);
  const receive = new Semaphore((first ? back : there).buffer);
  return async () => {
    for (let i = 0; i < n; i++) {
      if (first) send.release();
      await receive.acquireAsync();
      if (!first) send.release();
    }
    return counted(n, first);
  };
}

export function queues({ there, back, n, first }: Side): Run {
  const send = new MpmcQueue((first ? there : back).buffer);
  const receive = new MpmcQueue((first ? back : there).buffer);
  return () => {
    for (let i = 0; i < n; i++) {
      if (first) send.pushInt(i);
      if (receive.popInt() !== i) throw new Error("out of order");
      if (!first) send.pushInt(i);
    }
    return counted(n, first);
  };
}

export function queuesAsync({ there, back, n, first }: Side): Run {
  const send = new MpmcQueue((first ? there : back).buffer);
  const receive = new MpmcQueue((first ? back : there).buffer);
  return async () => {
    for (let i = 0; i < n; i++) {
      if (first) send.tryPushInt(i);
      if (await receive.popIntAsync() !== i) throw new Error("out of order");
      if (!first) send.tryPushInt(i);
    }
    return counted(n, first);
  };
}

// ---- the floor: a word each way, wait and notify ----------------------------

interface BareSide {
  words: Int32Array<SharedArrayBuffer>;
  n: number;
  first: boolean;
}

export function bare({ words, n, first }: BareSide): Run {
  const [send, receive] = first ? [0, 32] : [32, 0];
  let seen = 0;
  return () => {
    for (let i = 0; i < n; i++) {
      if (first) give(words, send);
      while (Atomics.load(words, receive) === seen) {
        Atomics.wait(words, receive, seen);
      }
      seen++;
      if (!first) give(words, send);
    }
    return counted(n, first);
  };
}

export function bareAsync({ words, n, first }: BareSide): Run {
  const [send, receive] = first ? [0, 32] : [32, 0];
  let seen = 0;
  return async () => {
    // A pending waitAsync does not keep the thread alive.
    const alive = setInterval(() => {}, 1000);
    for (let i = 0; i < n; i++) {
      if (first) give(words, send);
      while (Atomics.load(words, receive) === seen) {
        const wait = Atomics.waitAsync(words, receive, seen);
        if (wait.async) await wait.value;
      }
      seen++;
      if (!first) give(words, send);
    }
    clearInterval(alive);
    return counted(n, first);
  };
}

function give(words: Int32Array, index: number) {
  Atomics.add(words, index, 1);
  Atomics.notify(words, index, 1);
}

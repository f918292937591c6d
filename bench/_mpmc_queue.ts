import { type Handle, MpmcQueue } from "../mod.ts";
import * as kernel from "../primitives/kernel/kernel.ts";
import type { Did, Run } from "./contest.ts";

/** The data of each thread. */
export interface End {
  queue: Handle<"mpmc_queue">;
  /** Elements this thread pushes, or pops, each turn. */
  n: number;
  /** Whether the operations run in the kernel. */
  kernel?: boolean;
}

function attach({ queue, kernel: inKernel }: End): MpmcQueue<number> {
  if (!inKernel) return MpmcQueue.from(queue);
  const made = kernel.MpmcQueue.from(queue);
  if (!made.inKernel) throw new Error("it does not run in the kernel");
  return made as unknown as MpmcQueue<number>;
}

export function push(end: End): Run {
  const { n } = end;
  const q = attach(end);
  return (): Did => {
    for (let i = 0; i < n; i++) q.pushInt(i);
    return { ops: n };
  };
}

export function pop(end: End): Run {
  const { n } = end;
  const q = attach(end);
  return (): Did => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum = sum + q.popInt()! | 0;
    return { ops: 0, sum };
  };
}

// ---- npm multithreading -----------------------------------------------------

interface PeerEnd {
  url: string;
  shared: string;
  end: unknown;
  n: number;
}

async function open({ url, shared, end }: PeerEnd) {
  await import(url);
  const { deserialize } = await import(shared);
  return deserialize(end);
}

export async function pushPeer(data: PeerEnd): Promise<Run> {
  const sender = await open(data);
  const { n } = data;
  return (): Did => {
    for (let i = 0; i < n; i++) {
      const { ok, error } = sender.blockingSend(i);
      if (!ok) throw error;
    }
    return { ops: n };
  };
}

export async function popPeer(data: PeerEnd): Promise<Run> {
  const receiver = await open(data);
  const { n } = data;
  return (): Did => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const { ok, value, error } = receiver.blockingRecv();
      if (!ok) throw error;
      sum = sum + value | 0;
    }
    return { ops: 0, sum };
  };
}

// ---- postMessage ------------------------------------------------------------

interface PortEnd {
  port: MessagePort;
  n: number;
}

/**
 * As a program would do it: one message for each element, at most as many ahead
 * as a queue holds.
 */
export function pushPort({ port, n }: PortEnd): Run {
  let credit = 1024;
  let more: (() => void) | undefined;
  port.onmessage = ({ data }) => {
    credit += data;
    more?.();
  };
  return async (): Promise<Did> => {
    for (let i = 0; i < n; i++) {
      if (credit === 0) {
        await new Promise<void>((resolve) => more = resolve);
        more = undefined;
      }
      credit--;
      port.postMessage(i);
    }
    return { ops: n };
  };
}

export function popPort({ port, n }: PortEnd): Run {
  let left = 0, sum = 0, owed = 0;
  let finish: (() => void) | undefined;
  port.onmessage = ({ data }) => {
    sum = sum + data | 0;
    if (++owed === 256) {
      port.postMessage(owed);
      owed = 0;
    }
    if (--left === 0) finish?.();
  };
  return async (): Promise<Did> => {
    left += n;
    if (left > 0) await new Promise<void>((resolve) => finish = resolve);
    finish = undefined;
    const result = sum;
    sum = 0;
    return { ops: 0, sum: result };
  };
}

// ---- the floor: bare atomics ------------------------------------------------

interface BareEnd {
  words: Int32Array;
  n: number;
}

/** Only Vyukov's queue: without sleeping, closing and checks. */
export function pushBare({ words, n }: BareEnd): Run {
  const mask = (words.length - 64) / 2 - 1;
  return (): Did => {
    for (let i = 0; i < n; i++) {
      for (let tail = words[0]!;;) {
        const slot = 64 + (tail & mask) * 2;
        const ahead = Atomics.load(words, slot) - tail | 0;
        if (ahead === 0) {
          const seen = Atomics.compareExchange(words, 0, tail, tail + 1 | 0);
          if (seen === tail) {
            words[slot + 1] = i;
            Atomics.store(words, slot, tail + 1 | 0);
            break;
          }
          tail = seen;
        } else tail = words[0]!;
      }
    }
    return { ops: n };
  };
}

export function popBare({ words, n }: BareEnd): Run {
  const mask = (words.length - 64) / 2 - 1;
  return (): Did => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      for (let head = words[32]!;;) {
        const slot = 64 + (head & mask) * 2;
        const ahead = Atomics.load(words, slot) - head - 1 | 0;
        if (ahead === 0) {
          const seen = Atomics.compareExchange(words, 32, head, head + 1 | 0);
          if (seen === head) {
            sum = sum + words[slot + 1]! | 0;
            Atomics.store(words, slot, head + mask + 1 | 0);
            break;
          }
          head = seen;
        } else head = words[32]!;
      }
    }
    return { ops: 0, sum };
  };
}

import { type Handle, LockFreeQueue, MpmcQueue, type Queue } from "../mod.ts";
import type { Did, Run } from "./contest.ts";

/** The data of each thread. */
interface End {
  queue: Handle;
  /** Elements this thread pushes, or pops, each turn. */
  n: number;
}

const open = ({ kind, buffer }: Handle): Queue =>
  kind === "mpmc_queue" ? new MpmcQueue(buffer) : new LockFreeQueue(buffer);

export function push({ queue, n }: End): Run {
  const q = open(queue);
  return (): Did => {
    for (let i = 0; i < n; i++) q.pushInt(i);
    return { ops: n };
  };
}

export function pop({ queue, n }: End): Run {
  const q = open(queue);
  return (): Did => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum = sum + q.popInt()! | 0;
    return { ops: 0, sum };
  };
}

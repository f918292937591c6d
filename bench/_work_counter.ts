import { type Handle, WorkCounter } from "../mod.ts";
import type { Did, Run } from "./contest.ts";

/** The data of each thread. */
export interface Chunks {
  /** Tasks this thread takes each turn. */
  n: number;
  /** Tasks handed out at a time. */
  chunk: number;
  counter?: Handle<"work_counter">;
  words?: Int32Array;
}

export function next({ counter, n }: Chunks): Run {
  const own = WorkCounter.from(counter!);
  return (): Did => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum = sum + own.next() | 0;
    return { ops: n, sum };
  };
}

export function bare({ words, n, chunk }: Chunks): Run {
  const next = words!;
  let [task, end] = [0, 0];
  return (): Did => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      if (task === end) {
        task = Atomics.add(next, 0, chunk);
        end = task + chunk;
      }
      sum = sum + task++ | 0;
    }
    return { ops: n, sum };
  };
}

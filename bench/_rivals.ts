import * as fs from "node:fs";
import { CallRing, connect, type Handle } from "../mod.ts";
import { hello } from "../tests/_run/workers.ts";
import { comlinkServed, type PortSide, served, type Side } from "./_calls.ts";
import type { Run } from "./contest.ts";

// ---- the processor time of a call -------------------------------------------

/** Nanoseconds that this thread has run so far; only Linux tells. */
function running(): number {
  const text = fs.readFileSync("/proc/thread-self/schedstat", "utf8");
  return Number(text.split(" ", 1)[0]);
}

/** The same run, which also says how many us of its thread a call takes. */
function timed(run: Run, n: number): Run {
  return async (turn) => {
    const before = running();
    const did = await run(turn);
    return { ...did, cpu: (running() - before) / n / 1000 };
  };
}

export { called, comlinkCalled } from "./_calls.ts";

export const servedTimed = (side: Side): Run => timed(served(side), side.n);

export const comlinkServedTimed = async (side: PortSide): Promise<Run> =>
  timed(await comlinkServed(side), side.n);

/** Two words, each awaited by one side, in lines of their own. */
export interface Bare {
  words: Int32Array<SharedArrayBuffer>;
  n: number;
}

const THERE = 0, BACK = 32;

async function awaitChange(words: Int32Array<SharedArrayBuffer>, at: number) {
  const was = words[at + 1]!;
  while (Atomics.load(words, at) === was) {
    const { async, value } = Atomics.waitAsync(words, at, was);
    if (async) await value;
  }
  words[at + 1] = Atomics.load(words, at);
}

function change(words: Int32Array<SharedArrayBuffer>, at: number) {
  Atomics.add(words, at, 1);
  Atomics.notify(words, at);
}

/** Keeps the event loop running: a bare `waitAsync` does not. */
const kept = (run: Run): Run => async (turn) => {
  const timer = setInterval(() => {}, 1000);
  try {
    return await run(turn);
  } finally {
    clearInterval(timer);
  }
};

export const bareServed = ({ words, n }: Bare): Run =>
  kept(timed(async () => {
    for (let i = 0; i < n; i++) {
      await awaitChange(words, THERE);
      change(words, BACK);
    }
    return { ops: 0 };
  }, n));

export const bareCalled = ({ words, n }: Bare): Run =>
  kept(async () => {
    for (let i = 0; i < n; i++) {
      change(words, THERE);
      await awaitChange(words, BACK);
    }
    return { ops: n };
  });

// ---- a worker that asks the thread that has made it -------------------------

/** What the maker of the worker answers. */
export const asked = {
  add: async (a: number, b: number): Promise<number> => {
    await undefined;
    return a + b;
  },
};

/** The us of the median call of a turn. */
export function medianCall(call: (a: number, b: number) => number): number {
  const times: number[] = [];
  for (let i = 0; i < 220; i++) {
    const begin = performance.now();
    if (call(i, 0.5) !== i + 0.5) throw new Error("another's reply");
    if (i >= 20) times.push((performance.now() - begin) * 1000);
  }
  return times.sort((a, b) => a - b)[100]!;
}

/** A worker over a ring: it asks a turn's calls for each message. */
export async function asker(): Promise<void> {
  const { data, post, next } = await hello<Handle<"call_ring">>();
  const { add } = connect.blocking<typeof asked>(CallRing.from(data));
  post("ready");
  while (await next() === "go") {
    post(medianCall(add as (a: number, b: number) => number));
  }
}

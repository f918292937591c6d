// Takes a mutex, or permits, again and again, and checks how many others are
// inside.
import type { Handle, MutexGuard, TryAsyncOptions } from "../../mod.ts";
import { Mutex } from "../../primitives/mutex.ts";
import { Semaphore } from "../../primitives/semaphore.ts";
import { hello } from "../_run/workers.ts";

/** How an agent waits for its turn. */
export type Manner = "block" | "async" | "hasty" | "try" | "mixed";

/** The orders of an agent. */
export interface HolderJob {
  handle: Handle;
  manner: Manner;
  /** Turns to get. */
  count: number;
  /** How much there may be inside at a time; for a mutex 1. */
  limit: number;
  /** Words: agents or permits inside, and a count changed without atomics. */
  inside: SharedArrayBuffer;
}

/** The results of an agent. */
export interface HolderResult {
  /** Turns that it got, which is `count`, and attempts that it gave up. */
  turns: number;
  gaveUp: number;
  /** Waits longer than nine tenths of a second: a wake was lost. */
  long: number;
}

type Release = () => void;

/** A way to get `n` permits: by trying, blocking or awaiting. */
interface Lock {
  try(n: number): Release | undefined;
  block(n: number, timeout?: number): Release | undefined;
  await(n: number, options?: TryAsyncOptions): Promise<Release | undefined>;
}

function lockOf(handle: Handle): Lock {
  if (handle.kind === "mutex") {
    const mutex = Mutex.from(handle as Handle<"mutex">);
    // WebKit has no Symbol.dispose.
    const opener = (guard: MutexGuard | undefined) =>
      guard && (() => guard.unlock());
    return {
      try: () => opener(mutex.tryLock()),
      block: (_, timeout = Infinity) => opener(mutex.tryLock(timeout)),
      await: async (_, options) =>
        opener(await mutex.tryLockAsync({ timeout: Infinity, ...options })),
    };
  }
  const semaphore = Semaphore.from(handle as Handle<"semaphore">);
  const opener = (n: number, done: boolean) =>
    done ? () => semaphore.release(n) : undefined;
  return {
    try: (n) => opener(n, semaphore.tryAcquire(n)),
    block: (n, timeout = Infinity) =>
      opener(n, semaphore.tryAcquire(n, timeout)),
    await: async (n, options) => {
      const limits = { timeout: Infinity, ...options };
      return opener(n, await semaphore.tryAcquireAsync(n, limits));
    },
  };
}

/** Waits in the manner given; undefined if it gave up. */
function take(
  lock: Lock,
  n: number,
  manner: Manner,
): Promise<Release | undefined> | Release | undefined {
  const dice = Math.random();
  switch (manner) {
    case "block":
      return lock.block(n);
    case "async":
      return lock.await(n);
    case "try":
      return lock.try(n);
    case "mixed":
      return dice < 0.5 ? lock.block(n) : lock.await(n);
    case "hasty":
      if (dice < 0.3) return lock.block(n, dice);
      if (dice < 0.6) return lock.await(n, { timeout: dice * 3 });
      return aborted(lock, n, dice);
  }
}

async function aborted(
  lock: Lock,
  n: number,
  dice: number,
): Promise<Release | undefined> {
  const abort = new AbortController();
  const wait = lock.await(n, { signal: abort.signal });
  if (dice < 0.8) abort.abort("hurry");
  else setTimeout(() => abort.abort("hurry"), dice * 2);
  try {
    return await wait;
  } catch (error) {
    if (error !== "hurry") throw error;
    return undefined;
  }
}

/** Does a job, once all agents are up. */
async function hold(job: HolderJob): Promise<HolderResult> {
  const { handle, manner, count, limit } = job;
  const inside = new Int32Array(job.inside);
  const lock = lockOf(handle);
  post("up");
  await next(); // go

  const result: HolderResult = { turns: 0, gaveUp: 0, long: 0 };
  while (result.turns < count) {
    const n = limit === 1 ? 1 : 1 + Math.floor(Math.random() * limit);
    const begin = performance.now();
    const release = await take(lock, n, manner);
    if (performance.now() - begin > 900) result.long++;
    if (release === undefined) {
      result.gaveUp++;
      continue;
    }
    const now = Atomics.add(inside, 0, n) + n;
    if (now > limit) throw new Error(`${now} inside, and ${limit} may be`);
    if (limit === 1) {
      const seen = inside[1]!;
      for (let i = Math.random() * 200; i > 0; i--);
      inside[1] = seen + 1; // lost, if anybody else is inside
    } else for (let i = Math.random() * 200; i > 0; i--);
    Atomics.sub(inside, 0, n);
    release();
    result.turns++;
  }
  return result;
}

const { data, post, next } = await hello<HolderJob>();
for (let job = data;; job = await next<HolderJob>()) post(await hold(job));

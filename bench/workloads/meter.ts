/**
 * Measures what threads did in a round, as far as the system tells.
 *
 * @module
 */

import * as fs from "node:fs";
import { performance } from "node:perf_hooks";

/** What one worker did in a round; times in ms. */
export interface Share {
  tasks: number;
  /** From the begin to the end of its tasks. */
  busy: number;
  /** Processor time. */
  cpu: number;
  /** The share of time for which its event loop was busy; only Node tells. */
  utilization: number | undefined;
}

/**
 * Words of a thread: 256 bytes, so that no other thread's words lie beside
 * them.
 */
const WORDS = 32;
const ROUND = 0, TASKS = 1, BUSY = 2, FIRST = 3, LAST = 6;

/** How often a worker looks at its clocks, in ms. */
const OFTEN = 20;

/** Memory for the meters of up to `workers` threads. */
export function meters(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer((1 + workers) * WORDS * 8);
}

/** A worker's own account. */
export class Meter {
  readonly #rounds: Int32Array;
  readonly #own: Float64Array;
  #looked = 0;

  /** The first thread that asks has row 0, and so on. */
  constructor(memory: SharedArrayBuffer) {
    this.#rounds = new Int32Array(memory, 0, 2);
    const row = 1 + Atomics.add(this.#rounds, 1, 1);
    this.#own = new Float64Array(memory, row * WORDS * 8, WORDS);
  }

  /** Does a task, and accounts for it. */
  measure<T>(task: () => T): T {
    const own = this.#own;
    const begin = performance.now();
    if (own[ROUND] !== this.#rounds[0]) {
      own.fill(0);
      own[ROUND] = this.#rounds[0]!;
      own.set(clocks(), FIRST);
      this.#looked = begin;
    }
    const result = task();
    const end = performance.now();
    own[TASKS]! += 1;
    own[BUSY]! += end - begin;
    if (end - this.#looked > OFTEN) {
      own.set(clocks(), LAST);
      this.#looked = end;
    }
    return result;
  }
}

/** ms of processor time, and of the event loop: active and idle. */
function clocks(): number[] {
  const loop = performance.eventLoopUtilization?.();
  return [threadCpu("thread-self") ?? 0, loop?.active ?? 0, loop?.idle ?? 0];
}

function threadCpu(thread: string): number | undefined {
  try {
    const text = fs.readFileSync(`/proc/${thread}/schedstat`, "utf8");
    return Number(text.split(" ", 1)[0]) / 1e6;
  } catch {
    return undefined; // not Linux, or the thread has ended
  }
}

/** Processor time of all threads, in ms. */
function processCpu(): number {
  try {
    const threads = fs.readdirSync("/proc/self/task");
    return threads.reduce(
      (sum, thread) => sum + (threadCpu(`self/task/${thread}`) ?? 0),
      0,
    );
  } catch {
    return 0;
  }
}

/** The cost of a round. */
export interface Round {
  /** From the first task given to the last result seen, in ms. */
  wall: number;
  /** Processor time of all threads, and of the main thread, in ms. */
  cpu: number;
  mainCpu: number;
  /** The longest time the main thread's timers had to wait, in ms. */
  pause: number;
  shares: Share[];
}

const BEAT = 2;

/** Runs one round in this, the main thread. */
export async function round(
  memory: SharedArrayBuffer,
  workers: number,
  run: () => unknown,
): Promise<Round> {
  Atomics.add(new Int32Array(memory), 0, 1);
  const [cpu, mainCpu] = [processCpu(), threadCpu("thread-self") ?? 0];
  const begin = performance.now();
  let beat = begin, pause = 0;
  const felt = () => {
    const now = performance.now();
    pause = Math.max(pause, now - beat - BEAT);
    beat = now;
  };
  const timer = setInterval(felt, BEAT);
  await run();
  const wall = performance.now() - begin;
  felt();
  clearInterval(timer);
  return {
    wall,
    cpu: processCpu() - cpu,
    mainCpu: (threadCpu("thread-self") ?? 0) - mainCpu,
    pause,
    shares: Array.from({ length: workers }, (_, i) => shareOf(memory, 1 + i)),
  };
}

function shareOf(memory: SharedArrayBuffer, row: number): Share {
  const it = new Float64Array(memory, row * WORDS * 8, WORDS);
  if (it[ROUND] !== new Int32Array(memory)[0]) {
    return { tasks: 0, busy: 0, cpu: 0, utilization: undefined };
  }
  const [cpu, active, idle] = [0, 1, 2].map((k) =>
    Math.max(it[LAST + k]! - it[FIRST + k]!, 0)
  );
  const loop = active! + idle!;
  return {
    tasks: it[TASKS]!,
    busy: it[BUSY]!,
    cpu: cpu!,
    utilization: loop > 0 ? active! / loop : undefined,
  };
}

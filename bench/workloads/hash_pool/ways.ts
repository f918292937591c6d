/**
 * The ways to have tasks done by workers, from the main thread's side; the
 * workers' side is `worker.ts`.
 *
 * @module
 */

import {
  CallRing,
  Event,
  MpmcQueue,
  Semaphore,
  WorkCounter,
} from "../../../mod.ts";
import type { WorkConfig } from "../../../mod.ts";
import { Pool } from "../../../primitives/pool.ts";
import { type Hand, hire } from "../crew.ts";
import { Meter } from "../meter.ts";
import { load } from "./hash_thread.ts";
import { peers } from "./peers.ts";
import type { Crew, Setting, Way } from "./setting.ts";
import { pooled as poolTasks, RESULT, solve, type Tasks } from "./tasks.ts";
import type { Order } from "./worker.ts";

/** The way that has no workers. */
export const ALONE = "no workers";

/**
 * The same, but first it copies the data to shared memory, as every pool does.
 */
const COPIED = "no workers, data copied";

/** The ways that have no workers. */
export const SINGLE: readonly string[] = [ALONE, COPIED];

/** The way of the study, which hangs now and then. */
export const STUDY = "slots, the study's own";

/** The way that has workers without a meter. */
export const MIXED = "pool, half of it C";

const WORKER = new URL("./worker.ts", import.meta.url);

/** Starts workers in a role, and waits until all are there. */
async function start(
  { tasks, results, workers, meters }: Setting,
  orders: (worker: number) => Omit<Order, keyof Common>,
  hear: (message: [task: number, result: Uint8Array]) => void = () => {},
): Promise<Hand[]> {
  const common: Common = { tasks, results, meters };
  const hands: Hand[] = [];
  for (let worker = 0; worker < workers; worker++) {
    await new Promise<void>((ready) => {
      const heard = (message: "ready" | [number, Uint8Array]) =>
        message === "ready" ? ready() : hear(message);
      const hand = hire(WORKER, heard as (message: never) => void);
      hand.post({ ...common, ...orders(worker) });
      hands.push(hand);
    });
  }
  return hands;
}

type Common = Pick<Order, "tasks" | "results" | "meters">;

/** Collects results that come as messages. */
class Replies {
  #left = 0;
  #all = () => {};

  constructor(readonly setting: Setting) {}

  readonly hear = ([task, result]: [number, Uint8Array]) => {
    this.setting.results.set(result, task * RESULT);
    if (--this.#left === 0) this.#all();
  };

  expect(): Promise<void> {
    this.#left = this.setting.tasks.count;
    return new Promise((resolve) => this.#all = resolve);
  }
}

function stopAll(hands: readonly Hand[]) {
  for (const hand of hands) hand.stop();
}

/** One for all crews of a process: there may be a quarter of a gigabyte. */
let place = new Uint8Array(new SharedArrayBuffer(0));

/** All messages in one piece of shared memory. */
function placed({ messages, tasks }: Setting) {
  const bytes = tasks.count * tasks.size;
  if (place.length !== bytes) {
    place = new Uint8Array(new SharedArrayBuffer(bytes));
  }
  const data = place;
  const fill = () => messages.forEach((it, i) => data.set(it, i * tasks.size));
  return { data, fill };
}

/** The main thread does all tasks, in place or each in a slot of its own. */
const alone = (copied: boolean): Way => (setting) => {
  const { tasks: { kind, size }, messages, results, meters } = setting;
  const meter = new Meter(meters);
  const count = slotsFor(setting.tasks);
  const slots = new Uint8Array(new SharedArrayBuffer(count * size));
  const taken = (message: Uint8Array, i: number) => {
    if (!copied) return message;
    const at = i % count * size;
    slots.set(message, at);
    return slots.subarray(at, at + size);
  };
  const run = () =>
    messages.forEach((message, i) => {
      const result = meter.measure(() => solve(kind, taken(message, i)));
      results.set(result, i * RESULT);
    });
  return { run };
};

/** Workers take numbers from a shared counter, and post the results. */
const counter = (copy: boolean): Way => async (setting) => {
  const { data, fill } = placed(setting);
  const next = new Int32Array(new SharedArrayBuffer(4));
  const replies = new Replies(setting);
  const order = { role: "counter", data, next, copy } as const;
  const hands = await start(setting, () => order, replies.hear);
  const run = () => {
    const all = replies.expect();
    Atomics.store(next, 0, 0);
    fill();
    for (const hand of hands) hand.post("go");
    return all;
  };
  return { run, stop: () => stopAll(hands) };
};

/** Messages there and back, to each worker in turn. */
const roundRobin: Way = async (setting) => {
  const replies = new Replies(setting);
  const role = { role: "messages" } as const;
  const hands = await start(setting, () => role, replies.hear);
  const run = () => {
    const all = replies.expect();
    setting.messages.forEach((message, i) => {
      // Make a copy, or all the memory behind it would be cloned.
      hands[i % hands.length]!.post([i, message.slice()]);
    });
    return all;
  };
  return { run, stop: () => stopAll(hands) };
};

/** The value of a lock word that holds no task. */
const FREE = -1;

/**
 * Each worker has a slot and a lock word, as in the study. Do not copy this: a
 * worker announces its result before it frees the slot, which may undo the next
 * task. A late wake-up also ends a wait that it is not meant for, and nobody
 * looks again.
 */
const study: Way = async (setting) => {
  const { tasks, messages, workers } = setting;
  const lanes = Array.from({ length: workers }, () => ({
    data: new Uint8Array(new SharedArrayBuffer(tasks.size)),
    lock: new Int32Array(new SharedArrayBuffer(4)).fill(FREE),
  }));
  const replies = new Replies(setting);
  const role = (worker: number) =>
    ({ role: "study", ...lanes[worker]! }) as const;
  const hands = await start(setting, role, replies.hear);
  let next = 0;
  const share = ({ data, lock }: typeof lanes[number], task: number) => {
    data.set(messages[task]!);
    lock[0] = task;
    Atomics.notify(lock, 0, 1);
    const { async, value } = Atomics.waitAsync(lock, 0, task);
    if (async) value.then(() => feed({ data, lock }));
    else feed({ data, lock });
  };
  const feed = (lane: typeof lanes[number]) => {
    if (next < tasks.count) share(lane, next++);
  };
  const run = async () => {
    // The results of the last round may have come before all slots were free.
    const isFree = () => lanes.every(({ lock }) => lock[0] === FREE);
    while (!isFree()) await new Promise((resolve) => setTimeout(resolve));
    const all = replies.expect();
    next = 0;
    lanes.forEach(feed);
    return all;
  };
  return { run, stop: () => stopAll(hands) };
};

/** Each worker has `depth` slots of its own, with two events each. */
const slots = (depth: number): Way => async (setting) => {
  const { tasks, messages, workers } = setting;
  const lanes = Array.from({ length: workers }, () => {
    const events = () =>
      Array.from({ length: depth }, () => Event.create({ autoReset: true }));
    const data = new Uint8Array(new SharedArrayBuffer(depth * tasks.size));
    const numbers = new Int32Array(new SharedArrayBuffer(depth * 4));
    // In every round the worker goes on with the next slot.
    return { full: events(), free: events(), data, numbers, slot: 0 };
  });
  await start(setting, (worker) => {
    const { full, free, data, numbers } = lanes[worker]!;
    const handles = (events: Event[]) => events.map(({ handle }) => handle);
    const [from, to] = [handles(full), handles(free)];
    return { role: "slots", full: from, free: to, data, numbers };
  });
  let next = 0;
  const feed = async (lane: typeof lanes[number]) => {
    const { full, free, data, numbers } = lane;
    for (const event of free) event.set();
    while (next < tasks.count) {
      const { slot } = lane;
      await free[slot]!.waitAsync();
      const task = next++; // another lane may have taken the last one
      if (task >= tasks.count) {
        free[slot]!.set();
        break;
      }
      data.set(messages[task]!, slot * tasks.size);
      numbers[slot] = task; // published by the event
      full[slot]!.set();
      lane.slot = (slot + 1) % depth;
    }
    for (const event of free) await event.waitAsync();
  };
  const run = async () => {
    next = 0;
    await Promise.all(lanes.map(feed));
  };
  const stop = () => {
    for (const { full, numbers } of lanes) {
      numbers.fill(-1);
      for (const event of full) event.set();
    }
  };
  return { run, stop };
};

/** The most rounds that a crew can be asked for. */
const ROUNDS = 64;

/** All data are in place; a {@linkcode WorkCounter} hands out numbers. */
const counted = (config: WorkConfig): Way => async (setting) => {
  const { data, fill } = placed(setting);
  const { tasks, workers } = setting;
  const bytes = WorkCounter.byteLength();
  const counters = new SharedArrayBuffer(ROUNDS * bytes);
  // Each worker has its own, because a fast one could take a slow one's permit.
  const begins = Array.from({ length: workers }, () => Semaphore.create());
  await start(setting, (worker) => {
    const begin = begins[worker]!.handle;
    return { role: "counted", data, counters, begin };
  });
  let round = 0;
  const run = () => {
    // Make a new one each time: a slow worker may still use the last one.
    const at = round++ * bytes;
    const shape = { ...config, agents: workers };
    const work = WorkCounter.init(counters, at, tasks.count, shape);
    fill();
    for (const begin of begins) begin.release();
    return work.waitAsync();
  };
  const stop = () => {
    WorkCounter.init(counters, round * bytes, 0);
    for (const begin of begins) begin.release();
  };
  return { run, stop };
};

/** Slots for all workers, whose numbers go round in two queues. */
const queued: Way = async (setting) => {
  const { tasks, messages } = setting;
  const count = slotsFor(tasks);
  const data = new Uint8Array(new SharedArrayBuffer(count * tasks.size));
  const numbers = new Int32Array(new SharedArrayBuffer(count * 4));
  const jobs = MpmcQueue.create({ capacity: count });
  const free = MpmcQueue.create({ capacity: count });
  const permits = Semaphore.create(count);
  for (let slot = 0; slot < count; slot++) free.pushInt(slot);
  const [from, to] = [jobs.handle, free.handle];
  const order = { role: "queued", data, numbers, jobs: from, done: to };
  const both = { ...order, permits: permits.handle };
  await start(setting, () => both as Omit<Order, keyof Common>);
  const run = async () => {
    // Use half of the slots at a time, so that one wake-up of this thread
    // serves many tasks.
    const most = count / 2;
    for (let task = 0; task < tasks.count;) {
      const end = Math.min(task + most, tasks.count);
      await permits.acquireAsync(end - task);
      for (; task < end; task++) {
        const slot = free.tryPopInt() ?? (await free.popIntAsync())!;
        data.set(messages[task]!, slot * tasks.size);
        numbers[slot] = task; // published by the push
        jobs.pushInt(slot);
      }
    }
    await permits.acquireAsync(count); // all slots are free: all is done
    permits.release(count);
  };
  return { run, stop: () => jobs.close() };
};

/** This many in flight keep workers busy while the main thread sleeps. */
function slotsFor({ kind, count }: Tasks): number {
  return Math.min(kind === "hash" ? 64 : 256, count);
}

/** Calls, `depth` of them under way for each worker. */
const calls = (depth: number): Way => async (setting) => {
  const { tasks, messages, results, workers } = setting;
  const slots = workers * depth;
  const config = { slots, request: tasks.size, reply: RESULT };
  const ring = CallRing.create(config);
  await start(setting, () => ({ role: "calls", ring: ring.handle }));
  let next = 0;
  const caller = async () => {
    for (let task; (task = next++) < tasks.count;) {
      const reply = await ring.callAsync(messages[task]!);
      results.set(reply!, task * RESULT);
    }
  };
  const run = () => {
    next = 0;
    return Promise.all(Array.from({ length: slots }, caller));
  };
  return { run, stop: () => ring.close() };
};

/** How a pool is made for a setting. */
function poolFor({ tasks, results, meters }: Setting) {
  const make = () => {
    const hand = hire(WORKER, () => {});
    hand.post({ tasks, results, meters, role: "pooled" });
    return hand.worker;
  };
  const bytes = Math.max(tasks.size, RESULT);
  return { tasks: poolTasks, make, slots: slotsFor(tasks), bytes };
}

/** Submits a task whenever there is room: else the pool would keep a copy. */
function crewOf(pool: Pool<typeof poolTasks>, setting: Setting): Crew {
  const { messages, results } = setting;
  const run = async () => {
    let next = 0;
    for await (const result of pool.map("solve", messages)) {
      results.set(result, next++ * RESULT);
    }
  };
  return { run, stop: () => pool.close() };
}

/** The package's pool. */
const pooled: Way = async (setting) => {
  const pool = new Pool({ ...poolFor(setting), workers: setting.workers });
  await pool.ready;
  return crewOf(pool, setting);
};

/** The same pool, in the memory of a module; half of the workers are C's. */
const mixed: Way = async (setting) => {
  const { tasks, workers } = setting;
  const module = await load();
  const options = poolFor(setting);
  const byteOffset = module._reserve(Pool.byteLength(options)) >>> 0;
  const scripts = workers >> 1;
  const pool = new Pool({
    ...options,
    memory: module.wasmMemory,
    byteOffset,
    workers: scripts,
    guests: workers - scripts,
  });
  for (let thread = scripts; thread < workers; thread++) {
    const error = module._begin(byteOffset, tasks.kind !== "hash");
    if (error !== 0) throw new Error("a thread did not start");
  }
  await pool.ready;
  return { ...crewOf(pool, setting), elsewhere: () => module._counted() };
};

/** All ways, by their names. */
export const WAYS: Readonly<Record<string, Way>> = {
  [ALONE]: alone(false),
  [COPIED]: alone(true),
  "shared counter, views": counter(false),
  "shared counter, copies": counter(true),
  "messages, round robin": roundRobin,
  [STUDY]: study,
  "slots, 1 in flight": slots(1),
  "slots, 2 in flight": slots(2),
  "slots, 4 in flight": slots(4),
  "slots, 8 in flight": slots(8),
  "CallRing, 1 in flight": calls(1),
  "CallRing, 2 in flight": calls(2),
  "CallRing, 4 in flight": calls(4),
  "CallRing, 8 in flight": calls(8),
  "WorkCounter, single": counted({}),
  "WorkCounter, chunk 16": counted({ chunk: 16 }),
  "WorkCounter, guided": counted({ schedule: "guided" }),
  "MpmcQueue of slots": queued,
  "pool": pooled,
  [MIXED]: mixed,
  ...peers,
};

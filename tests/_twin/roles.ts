/**
 * The parts of `twin.c`, played by JavaScript: blocking in a worker, awaiting
 * there or in the main thread.
 *
 * @module
 */

import {
  agentId,
  Barrier,
  ClosedError,
  Condition,
  Event,
  Latch,
  MpmcQueue,
  Mutex,
  type MutexGuard,
  Once,
  RwLock,
  select,
  Semaphore,
  SpscQueue,
  StripedCounter,
  type TryAsyncOptions,
  WaitGroup,
  WorkCounter,
} from "../../mod.ts";
import { BEGUN, NUMBERS, OVER, PLAY, ROLES } from "./plays.ts";

/** Whether an agent blocks or awaits. */
export type How = "blocking" | "awaiting";

/** A play as its agent sees it. */
interface Part {
  memory: WebAssembly.Memory;
  /** All of the memory. */
  heap: Int32Array<SharedArrayBuffer>;
  /** Its own words. */
  words: Int32Array<SharedArrayBuffer>;
  at: number;
  /** The word at `extra`. */
  extra: number;
  count: number;
  awaits: boolean;
}

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

function randomNext({ words }: Part): number {
  let seed = words[PLAY.seed]!;
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  words[PLAY.seed] = seed;
  return seed >>> 0;
}

const randomBelow = (part: Part, n: number): number => randomNext(part) % n;

/** A duration in ms that ends soon, at once, or never. */
function someTimeout(part: Part): number {
  switch (randomBelow(part, 4)) {
    case 0:
      return 0;
    case 1:
      return randomBelow(part, 500) / 1000;
    default:
      return Infinity;
  }
}

const some = (part: Part): TryAsyncOptions => ({ timeout: someTimeout(part) });

async function mutexAdd(part: Part) {
  const { memory, at, heap, extra, count, words, awaits } = part;
  const mutex = new Mutex(memory, at);
  for (let i = 0; i < count; i++) {
    const guard = randomBelow(part, 8) === 0
      ? mutex.tryLock()
      : awaits
      ? await mutex.tryLockAsync(some(part))
      : mutex.tryLock(someTimeout(part));
    if (guard === undefined) continue;
    check(!guard.abandoned, "abandoned by nobody");
    check(mutex.owner === agentId(), `held by ${mutex.owner}`);
    const before = heap[extra]!; // not atomic: the mutex guards it
    if (awaits && i % 16 === 0) await null;
    heap[extra] = before + 1;
    words[PLAY.result]!++;
    guard.unlock();
  }
}

/** Guards that are never released, kept here so that they are not collected. */
const kept: MutexGuard[] = [];

async function mutexKeep({ memory, at, awaits }: Part) {
  const mutex = new Mutex(memory, at);
  kept.push(awaits ? await mutex.lockAsync() : mutex.lock());
}

async function mutexInherit({ memory, at, words, awaits }: Part) {
  const mutex = new Mutex(memory, at);
  using guard = awaits ? await mutex.lockAsync() : mutex.lock();
  words[PLAY.result] = guard.abandoned ? NUMBERS.EOWNERDEAD : 0;
}

async function semaphoreUse(part: Part) {
  const { memory, at, heap, extra, count, words, awaits } = part;
  const semaphore = new Semaphore(memory, at);
  const permits = heap[extra + 1]!;
  for (let i = 0; i < count; i++) {
    const n = 1 + randomBelow(part, permits);
    const taken = randomBelow(part, 8) === 0
      ? semaphore.tryAcquire(n)
      : awaits
      ? await semaphore.tryAcquireAsync(n, some(part))
      : semaphore.tryAcquire(n, someTimeout(part));
    if (!taken) continue;
    check(Atomics.add(heap, extra, n) + n <= permits, "too many permits");
    if (awaits && i % 16 === 0) await null;
    Atomics.sub(heap, extra, n);
    words[PLAY.result]! += n;
    semaphore.release(n);
  }
}

const BATCH = 5;

function fill(to: Int32Array, from: number, words: number, first: number) {
  for (let i = 0; i < words; i++) to[from + i] = first + i * 1000003;
}

/** The words of an element in place. */
const wordsOf = ({ buffer, byteOffset, length }: Uint8Array) =>
  new Int32Array(buffer, byteOffset, length / 4);

async function produce(
  part: Part,
  queue: SpscQueue<unknown> | MpmcQueue<unknown>,
) {
  const { count, words, awaits } = part;
  const each = queue.elementSize / 4;
  const base = words[PLAY.number]! * count;
  const elements = new Int32Array(BATCH * each);
  const one = elements.subarray(0, each);
  for (let next = 0; next < count;) {
    const value = base + next;
    fill(elements, 0, each, value);
    let pushed: boolean | number = false;
    switch (randomBelow(part, 5)) {
      case 0:
        pushed = awaits
          ? await queue.tryPushAsync(one, some(part))
          : queue.tryPush(one, someTimeout(part));
        break;
      case 1:
        pushed = queue.tryPush(one);
        break;
      case 2: {
        const n = Math.min(1 + randomBelow(part, BATCH), count - next);
        for (let i = 0; i < n; i++) fill(elements, i * each, each, value + i);
        pushed = queue.tryPushMany(elements, n);
        break;
      }
      case 3: {
        const place = queue.reserve();
        if (place === undefined) break;
        fill(wordsOf(place), 0, each, value);
        queue.commit();
        pushed = true;
        break;
      }
      default:
        if (each > 1) break;
        pushed = awaits
          ? await queue.tryPushIntAsync(value, some(part))
          : queue.tryPushInt(value, someTimeout(part));
    }
    next += Number(pushed);
    if (awaits && !pushed) await null;
  }
  words[PLAY.result] = count;
}

/** Takes ints from two queues, one behind the other, until both are closed. */
async function selectConsume(part: Part) {
  const { memory, at, heap, extra, words, awaits } = part;
  const first = new MpmcQueue(memory, at);
  const open = [first, new MpmcQueue(memory, at + first.byteLength)];
  while (open.length > 0) {
    const got = awaits
      ? await select(open, some(part))
      : select.blocking(open, some(part));
    if (got === undefined) continue;
    if (got.done) open.splice(got.index, 1);
    else {
      const before = Atomics.add(heap, extra + (got.value as number), 1);
      check(before === 0, `${got.value} came ${before + 1} times`);
      words[PLAY.result]!++;
    }
  }
}

async function consume(
  part: Part,
  queue: SpscQueue<unknown> | MpmcQueue<unknown>,
) {
  const { heap, extra, count, words, awaits } = part;
  const each = queue.elementSize / 4;
  const elements = new Int32Array(BATCH * each);
  const one = elements.subarray(0, each);
  const last = [-1, -1, -1, -1];
  const take = (from: number) => {
    const value = elements[from]!;
    for (let i = 1; i < each; i++) {
      const whole = elements[from + i] === (value + i * 1000003 | 0);
      check(whole, `${value} is torn`);
    }
    const producer = Math.floor(value / count);
    check(value % count > last[producer]!, `${value} after ${last}`);
    last[producer] = value % count;
    const before = Atomics.add(heap, extra + value, 1);
    check(before === 0, `${value} came ${before + 1} times`);
    words[PLAY.result]!++;
  };
  try {
    for (;;) {
      let popped: boolean | number = false;
      switch (randomBelow(part, 5)) {
        case 0:
          popped = awaits
            ? await queue.tryPopIntoAsync(one, some(part))
            : queue.tryPopInto(one, someTimeout(part));
          break;
        case 1:
          popped = queue.tryPopInto(one);
          break;
        case 2:
          popped = queue.tryPopMany(elements, 1 + randomBelow(part, BATCH));
          break;
        case 3: {
          const place = queue.peek();
          if (place === undefined) break;
          one.set(wordsOf(place));
          queue.consume();
          popped = true;
          break;
        }
        default: {
          if (each > 1) break;
          const value = awaits
            ? await queue.tryPopIntAsync(some(part))
            : queue.tryPopInt(someTimeout(part));
          popped = value !== undefined;
          if (popped) elements[0] = value!;
        }
      }
      for (let i = 0; i < Number(popped); i++) take(i * each);
      if (awaits && !popped) await null;
    }
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
}

/** Waits in a queue until it closes, or an element or room comes. */
async function sleepIn(
  part: Part,
  queue: SpscQueue<unknown> | MpmcQueue<unknown>,
  end: string,
) {
  const { words, awaits } = part;
  try {
    if (end === "pop") awaits ? await queue.popIntAsync() : queue.popInt();
    else awaits ? await queue.pushIntAsync(1) : queue.pushInt(1);
    words[PLAY.result] = 0;
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
    words[PLAY.result] = NUMBERS.EPIPE;
  }
}

async function work(part: Part) {
  const { memory, at, heap, extra, count, words, awaits } = part;
  const counter = new WorkCounter(memory, at);
  for (;;) {
    let [start, end] = [0, 0];
    if (randomBelow(part, 2) === 0) {
      start = counter.next();
      if (start < 0) break;
      end = start + 1;
    } else {
      const range = counter.nextRange();
      if (range === undefined) break;
      ({ start, end } = range);
    }
    for (let i = start; i < end; i++) {
      const before = Atomics.add(heap, extra + i, 1);
      check(before === 0, `task ${i} was handed out twice`);
    }
    words[PLAY.result]! += end - start;
    if (end > count) counter.cancel();
    counter.done(end - start);
    if (awaits) await null;
  }
  if (awaits) await counter.waitAsync();
  else counter.wait();
}

async function workWait({ memory, at, words, awaits }: Part) {
  const counter = new WorkCounter(memory, at);
  if (awaits) await counter.waitAsync();
  else counter.wait();
  words[PLAY.result] = 0;
}

/** What {@linkcode synchronizersUse} shares: words at `at`, as in `twin.c`. */
const SHARED = {
  rwLock: 0,
  pair: 40,
  mutex: 6,
  filled: 8,
  emptied: 11,
  items: 14,
  taken: 15,
  barrier: 44,
  latch: 20,
  once: 23,
  made: 24,
  go: 25,
  token: 26,
  held: 27,
  parties: 28,
  group: 29,
  rounds: 32,
  striped_counter: 64,
} as const;

/** Uses all synchronizers besides mutex and semaphore, one after the other. */
async function synchronizersUse(part: Part) {
  const { memory, at, count, words, awaits } = part;
  const place = (name: keyof typeof SHARED) => at + SHARED[name] * 4;
  const w = part.heap.subarray(at / 4, at / 4 + 64);
  const lock = new RwLock(memory, place("rwLock"));
  const mutex = new Mutex(memory, place("mutex"));
  const filled = new Condition(memory, place("filled"));
  const emptied = new Condition(memory, place("emptied"));
  const barrier = new Barrier(memory, place("barrier"));
  const latch = new Latch(memory, place("latch"));
  const once = new Once(memory, place("once"));
  const token = new Event(memory, place("token"));
  const counter = new StripedCounter(memory, place("striped_counter"));
  const go = new Event(memory, place("go"));
  if (awaits) await go.waitAsync();
  else go.wait();
  for (let i = 0; i < count; i++) {
    const options = some(part);
    if (randomBelow(part, 3) === 0) {
      const guard = awaits
        ? await lock.tryWriteAsync(options)
        : lock.tryWrite(options.timeout!);
      if (guard !== undefined) {
        w[SHARED.pair]!++; // not atomic: the lock guards both
        if (awaits && i % 16 === 0) await null;
        w[SHARED.pair + 1]!++;
        if (i % 2 === 0) guard.unlock();
        else {
          const reading = guard.downgrade();
          check(w[SHARED.pair] === w[SHARED.pair + 1], "torn");
          reading.unlock();
        }
      }
    } else {
      const guard = awaits
        ? await lock.tryReadAsync(options)
        : lock.tryRead(options.timeout!);
      if (guard !== undefined) {
        check(w[SHARED.pair] === w[SHARED.pair + 1], "torn");
        guard.unlock();
      }
    }
    counter.add(i % 2 ? 2 ** 28 : 3 - 2 ** 28);
  }
  const number = words[PLAY.number]!;
  const puts = number % 2 === 0;
  const [own, other] = puts ? [emptied, filled] : [filled, emptied];
  for (let i = 0; i < count; i++) {
    const guard = awaits ? await mutex.lockAsync() : mutex.lock();
    while (w[SHARED.items] === (puts ? 3 : 0)) {
      const options = some(part);
      if (awaits) await own.tryWaitAsync(mutex, options);
      else own.tryWait(mutex, options.timeout!);
      check(mutex.owner === agentId(), `held by ${mutex.owner}`);
    }
    w[SHARED.items]! += puts ? 1 : -1;
    if (!puts) w[SHARED.taken]!++;
    if (i % 3 === 0) other.notifyAll();
    guard.unlock();
    if (i % 3 !== 0) other.notify();
  }
  for (let i = 0; i < count;) {
    const options = some(part);
    const taken = awaits
      ? await token.tryWaitAsync(options)
      : token.tryWait(options.timeout!);
    if (!taken) continue;
    w[SHARED.held]!++; // not atomic: there is one token
    token.set();
    i++;
  }
  const make = () => {
    if (++w[SHARED.made]! < 3) throw new Error("not yet");
  };
  for (let done = false; !done;) {
    try {
      if (awaits) await once.runAsync(make);
      else once.run(make);
      done = true;
    } catch { /* this call made it fail */ }
  }
  check(w[SHARED.made] === 3, `made ${w[SHARED.made]} times`);
  for (let round = 1; round <= count; round++) {
    w[SHARED.rounds + number] = round;
    let passage;
    while (passage === undefined) {
      const options = some(part);
      passage = awaits
        ? await barrier.tryArriveAndWaitAsync(options)
        : barrier.tryArriveAndWait(options.timeout!);
    }
    words[PLAY.result]! += passage.leader ? 1 : 0;
    for (let i = 0; i < w[SHARED.parties]!; i++) {
      check(w[SHARED.rounds + i] === round, `${i} is not in round ${round}`);
    }
    if (awaits) await barrier.arriveAndWaitAsync();
    else barrier.arriveAndWait();
  }
  const group = new WaitGroup(memory, place("group"));
  group.add(2);
  group.done(3);
  if (awaits) await group.waitAsync();
  else group.wait();
  if (awaits) await latch.arriveAndWaitAsync();
  else latch.arriveAndWait();
}

/** Plays the part whose words lie at `place`, to its end. */
export async function play(
  memory: WebAssembly.Memory,
  place: number,
  how: How,
): Promise<void> {
  const buffer = memory.buffer as unknown as SharedArrayBuffer;
  const words = new Int32Array(buffer, place, PLAY.length);
  const at = words[PLAY.at]! >>> 0;
  const part: Part = {
    memory,
    heap: new Int32Array(buffer),
    words,
    at,
    extra: words[PLAY.extra]! >>> 2,
    count: words[PLAY.count]!,
    awaits: how === "awaiting",
  };
  words[PLAY.id] = agentId();
  Atomics.store(words, PLAY.state, BEGUN);
  const [stem, ...rest] = ROLES[words[PLAY.role]!]!.split(" ");
  const queue = stem === "spsc"
    ? new SpscQueue(memory, at)
    : stem === "mpmc"
    ? new MpmcQueue(memory, at)
    : undefined;
  switch (rest[0] ?? stem) {
    case "add":
      await mutexAdd(part);
      break;
    case "keep":
      await mutexKeep(part);
      break;
    case "inherit":
      await mutexInherit(part);
      break;
    case "use":
      if (stem === "semaphore") await semaphoreUse(part);
      else await synchronizersUse(part);
      break;
    case "produce":
      await produce(part, queue!);
      break;
    case "consume":
      if (stem === "select") await selectConsume(part);
      else await consume(part, queue!);
      break;
    case "sleep":
      await sleepIn(part, queue!, rest[1]!);
      break;
    case "work":
      await work(part);
      break;
    case "wait":
      await workWait(part);
      break;
    default:
      throw new Error(`no role ${words[PLAY.role]}`);
  }
  Atomics.store(words, PLAY.state, OVER);
  Atomics.notify(words, PLAY.state);
}

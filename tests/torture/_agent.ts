/**
 * A thread of the torture: it plays one role until it is stopped, at whatever
 * step. It notes in its seat what it did.
 */
import {
  Barrier,
  Broadcast,
  Channel,
  codec,
  type Handle,
  HashMap,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  RecordRing,
  recover,
  RwLock,
  Semaphore,
  setAgentId,
  SlabPool,
  Snapshot,
  SpscQueue,
  type View,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import {
  CODECS,
  keysOf,
  numberOf,
  numberOfKey,
  OWNED,
  pick,
  randomBelow,
  valueOf,
} from "./_maps.ts";
import {
  ARRIVED,
  BARRIER_BYTES,
  BEGUN,
  COUNTER_BYTES,
  NUMBER,
  OPERATIONS,
  PASSED,
  PLACES,
  PROBLEMS,
  RECEIVED,
  REPEATED,
  ROUND,
  SEATS,
  STOP,
  TASKS,
  TELLERS,
} from "./_seats.ts";

/** What a thread is told. */
export interface Order {
  readonly role: keyof typeof ROLES;
  readonly id: number;
  /** Which of the seats is this thread's. */
  readonly seat: number;
  readonly notes: SharedArrayBuffer;
  /** A bit for each item that was received. */
  readonly seen: SharedArrayBuffer;
  readonly handle: Handle;
}

const { data, post, next } = await hello<Order>();
const notes = new Int32Array(data.notes);
const seen = new Int32Array(data.seen);
const base = SEATS + data.seat * 32;
const ITEMS = 2 ** 22;
const TIME = 3; // ms that a wait takes at most, so that a stop is noticed

function problem(what: string): void {
  if (Atomics.add(notes, PROBLEMS, 1) < 5) post({ problem: what });
}

/** Where the bit of an item lies among those that were received. */
const wordOf = (seat: number, number: number): number =>
  seat * (ITEMS / 32) + (number >> 5);

/** The next item: its producer's seat, and its number. */
function nextItem(): number {
  const number = notes[base + BEGUN]! % ITEMS;
  // Numbers come again in the end. All items sent half of them ago have come
  // or are lost, so their bits are free long before.
  if (number % 32 === 0) {
    Atomics.store(seen, wordOf(data.seat, (number + ITEMS / 2) % ITEMS), 0);
  }
  Atomics.add(notes, base + BEGUN, 1);
  return data.seat << 24 | number;
}

function notSent(): void {
  Atomics.sub(notes, base + BEGUN, 1);
}

function receive(item: number | undefined): void {
  if (item === undefined) return;
  const number = item & 0xffffff;
  if (item >> 24 > 7 || item < 0 || number >= ITEMS) {
    return problem(`${item} was never sent`);
  }
  const bit = 1 << (number & 31);
  const at = wordOf(item >> 24, number);
  if (Atomics.or(seen, at, bit) & bit) problem(`${item} came twice`);
  Atomics.add(notes, base + RECEIVED, 1);
}

let noise = 1;
const INSIDE = 8; // a word of the notes: who is in the section

function timedOut(error: Error): undefined {
  if (error.name !== "TimeoutError") throw error;
}

/** The classes of the primitives whose users are recovered. */
const CLASSES: Readonly<
  Record<string, { from(handle: never, options?: never): View }>
> = {
  broadcast: Broadcast,
  channel: Channel,
  hash_map: HashMap,
  lock_free_queue: LockFreeQueue,
  mutex: Mutex,
  record_ring: RecordRing,
  rw_lock: RwLock,
  semaphore: Semaphore,
  slab_pool: SlabPool,
  snapshot: Snapshot,
  spsc_queue: SpscQueue,
  work_deque: WorkDeque,
};

/** The codecs of those that have any. */
const OPTIONS: Readonly<Record<string, object>> = {
  channel: { codec: codec.i32 },
  hash_map: CODECS,
};

const ROLES = {
  lock(handle: Handle) {
    const mutex = Mutex.from(handle as Handle<"mutex">);
    return () => {
      const guard = mutex.tryLock(TIME);
      if (guard === undefined) return;
      if (guard.abandoned) notes[INSIDE] = 0;
      if (notes[INSIDE] !== 0) problem("two are in one section");
      notes[INSIDE] = data.id;
      for (let i = 0; i < 20; i++) Math.imul(i, i);
      if (notes[INSIDE] !== data.id) problem("another one came in");
      notes[INSIDE] = 0;
      guard.unlock();
    };
  },
  share(handle: Handle) {
    const lock = RwLock.from(handle as Handle<"rw_lock">);
    let turn = 0;
    return () => {
      if (turn++ % 4 > 0) {
        const guard = lock.tryRead(TIME);
        if (guard === undefined) return;
        const written = notes[INSIDE] !== 0 && !guard.abandoned;
        if (written) problem("one writes while another reads");
        return guard.unlock();
      }
      const guard = lock.tryWrite(TIME);
      if (guard === undefined) return;
      if (guard.abandoned) notes[INSIDE] = 0;
      if (notes[INSIDE] !== 0) problem("two write");
      notes[INSIDE] = data.id;
      for (let i = 0; i < 20; i++) Math.imul(i, i);
      if (notes[INSIDE] !== data.id) problem("another one came in");
      notes[INSIDE] = 0;
      guard.unlock();
    };
  },
  permit(handle: Handle) {
    const semaphore = Semaphore.from(handle as Handle<"semaphore">);
    return () => {
      if (semaphore.tryAcquire(1, TIME)) semaphore.release();
    };
  },
  party({ buffer }: Handle) {
    let round = -1;
    let number = 0; // of the arrival, in this round
    let barrier: Barrier;
    return () => {
      const now = Atomics.load(notes, ROUND);
      if (now !== round) {
        round = now;
        number = 1;
        barrier = new Barrier(buffer, round % PLACES * BARRIER_BYTES);
      }
      const arrival = round << 16 | number;
      Atomics.store(notes, base + ARRIVED, arrival);
      if (barrier.tryArriveAndWait(TIME) === undefined) return;
      for (const seat of [0, 1, 2]) {
        const other = Atomics.load(notes, SEATS + 32 * seat + ARRIVED);
        if (other < arrival) problem(`passed before party ${seat} arrived`);
      }
      Atomics.add(notes, base + PASSED, 1);
      number++;
    };
  },
  worker({ buffer }: Handle) {
    let round = -1;
    let work: WorkCounter;
    let marks: Uint8Array;
    return () => {
      const now = Atomics.load(notes, ROUND);
      if (now !== round) {
        round = now;
        work = new WorkCounter(buffer, round % PLACES * COUNTER_BYTES);
        const at = work.byteOffset + work.byteLength;
        marks = new Uint8Array(work.buffer, at, TASKS);
      }
      const range = work.nextRange();
      if (range === undefined) return;
      for (let i = range.start; i < range.end; i++) {
        if (Atomics.exchange(marks, i, 1)) {
          Atomics.add(notes, base + REPEATED, 1);
        }
      }
      // About 100 us: so most threads die with tasks in their hands.
      for (let i = 0; i < 1e5; i++) noise = Math.imul(noise, 5) + i | 0;
      work.done(range.end - range.start);
    };
  },
  handSend(handle: Handle) {
    const to = Channel.from(handle as Handle<"channel">, { codec: codec.i32 });
    return () => {
      if (!to.trySend(nextItem(), TIME)) notSent();
    };
  },
  handReceive(handle: Handle) {
    const from = Channel.from(handle as Handle<"channel">, {
      codec: codec.i32,
    });
    return () => receive(from.tryReceive(TIME));
  },
  lockFreePush(handle: Handle) {
    const queue = LockFreeQueue.from(handle as Handle<"lock_free_queue">);
    return () => {
      if (!queue.tryPushInt(nextItem(), TIME)) notSent();
    };
  },
  lockFreePop(handle: Handle) {
    const queue = LockFreeQueue.from(handle as Handle<"lock_free_queue">);
    return () => receive(queue.tryPopInt(TIME));
  },
  mpmcPush(handle: Handle) {
    const queue = MpmcQueue.from(handle as Handle<"mpmc_queue">);
    return () => {
      if (!queue.tryPushInt(nextItem(), TIME)) notSent();
    };
  },
  mpmcPop(handle: Handle) {
    const queue = MpmcQueue.from(handle as Handle<"mpmc_queue">);
    return () => receive(queue.tryPopInt(TIME));
  },
  spscPush(handle: Handle) {
    const queue = SpscQueue.from(handle as Handle<"spsc_queue">);
    return () => {
      if (!queue.tryPushInt(nextItem(), TIME)) notSent();
    };
  },
  spscPop(handle: Handle) {
    const queue = SpscQueue.from(handle as Handle<"spsc_queue">);
    return () => receive(queue.tryPopInt(TIME));
  },
  recordPush(handle: Handle) {
    const ring = RecordRing.from(handle as Handle<"record_ring">);
    return () => {
      const item = nextItem();
      const record = new Int32Array(1 + (item * 7 & 15)).fill(item);
      if (!ring.tryPush(record, TIME)) notSent();
    };
  },
  recordPop(handle: Handle) {
    const ring = RecordRing.from(handle as Handle<"record_ring">);
    const into = new Int32Array(16);
    return () => {
      const length = ring.tryPopInto(into, TIME);
      if (length === undefined || length < 0) return;
      const item = into[0]!;
      if (length !== 4 + 4 * (item * 7 & 15)) problem("a torn record");
      for (let i = 0; i < length / 4; i++) {
        if (into[i] !== item) problem("a wrong word");
      }
      receive(item);
    };
  },
  block(handle: Handle) {
    const pool = SlabPool.from(handle as Handle<"slab_pool">);
    const words = new Int32Array(pool.buffer, pool.byteOffset);
    return () => {
      const at = pool.allocate();
      if (at < 0) return;
      words[at / 4] = data.id;
      for (let i = 0; i < 20; i++) Math.imul(i, i);
      if (words[at / 4] !== data.id) problem("a block has two owners");
      pool.free(at);
    };
  },
  own(handle: Handle) {
    const deque = WorkDeque.from(handle as Handle<"work_deque">);
    deque.adopt();
    let turn = 0;
    return () => {
      if (turn++ % 16 > 8) return receive(deque.pop());
      if (!deque.push(nextItem())) notSent();
    };
  },
  steal(handle: Handle) {
    const deque = WorkDeque.from(handle as Handle<"work_deque">);
    return () => receive(deque.steal());
  },
  tell(handle: Handle) {
    const ticks = Broadcast.from(handle as Handle<"broadcast">);
    return () => {
      const number = Atomics.add(notes, NUMBER, 1);
      if (!ticks.tryPushInt(number, TIME)) Atomics.sub(notes, NUMBER, 1);
    };
  },
  hear(handle: Handle) {
    const ticks = Broadcast.from(handle as Handle<"broadcast">);
    let seat = ticks.subscribe();
    let last = -1;
    let missed = 0;
    let turn = 0;
    return () => {
      if (++turn % 1000 === 0) {
        seat.leave();
        seat = ticks.subscribe();
        last = -1;
      }
      const number = seat.tryPopInt(TIME);
      if (number === undefined) return;
      if (last >= 0) missed += number - last - 1;
      if (number <= last) problem(`${number} was told after ${last}`);
      // Who is killed as it tells one leaves this one out.
      if (missed > Atomics.load(notes, TELLERS) + 1) {
        problem(`${missed} numbers were not told, the last before ${number}`);
      }
      last = number;
    };
  },
  write(handle: Handle) {
    const latest = Snapshot.from(handle as Handle<"snapshot">);
    const words = new Int32Array(latest.size / 4);
    return () => latest.write(words.fill(Atomics.add(notes, NUMBER, 1)));
  },
  look(handle: Handle) {
    const latest = Snapshot.from(handle as Handle<"snapshot">);
    const words = new Int32Array(latest.size / 4);
    let last = 0;
    return () => {
      latest.read(words);
      const now = words[0]!;
      if (words.some((word) => word !== now)) problem(`parts of two: ${words}`);
      if (now < last) problem(`${now} came after ${last}`);
      last = now;
    };
  },
  awaited(handle: Handle) {
    const map = HashMap.from<string, string>(handle as Handle<never>, CODECS);
    const nameOf = keysOf(map);
    const seed = { now: data.id };
    const check = (key: number, value: string | undefined) => {
      if (value === undefined || numberOf(key, value) !== undefined) return;
      problem(`a torn value of ${key}: ${value}`);
    };
    const one = async () => {
      const key = OWNED + randomBelow(seed, 4); // of nobody
      const name = nameOf(key);
      const value = () => valueOf(key, randomBelow(seed, 1 << 20));
      const what = randomBelow(seed, 8);
      if (what === 0) map.set(name, value());
      else if (what === 1) map.delete(name);
      else if (what < 5) {
        const make = () =>
          new Promise<string>((made) => {
            setTimeout(() => made(value()), 1);
          });
        check(key, await map.getOrInsertAsync(name, make));
      } else if (what < 7) {
        const signal = AbortSignal.timeout(TIME);
        check(key, await map.waitForAsync(name, { signal }).catch(timedOut));
      } else check(key, map.tryWaitFor(name, 1));
    };
    return () => Promise.all([one(), one(), one()]);
  },
  /** Recovers agents beside the supervisor, until it is killed itself. */
  recover(handle: Handle) {
    const { kind } = handle;
    const view = CLASSES[kind]!.from(handle as never, OPTIONS[kind] as never);
    return async () => void recover(await next<number[]>(), view);
  },
  mapped(handle: Handle) {
    const map = HashMap.from<string, string>(handle as Handle<never>, CODECS);
    const isCache = map.capacity < OWNED;
    const nameOf = keysOf(map);
    const seed = { now: data.id };
    /** The numbers of the values of its own keys; -1 for one that is absent. */
    const known = new Map<number, number>();
    const check = (key: number, value: string | undefined) => {
      const n = value === undefined ? -1 : numberOf(key, value);
      if (n === undefined) return problem(`a torn value of ${key}: ${value}`);
      const wanted = known.get(key);
      if (wanted === undefined || wanted === n || isCache && n < 0) return;
      problem(`key ${key} has value ${n} instead of ${wanted}`);
    };
    return () => {
      const what = randomBelow(seed, 64);
      let key = pick(seed, OWNED);
      if (what < 32) key += data.seat - key % 4; // one of its own
      const name = nameOf(key);
      if (what < 8) {
        const n = randomBelow(seed, 1 << 20);
        // While others add and delete, it may seem to be full.
        if (map.set(name, valueOf(key, n))) known.set(key, n);
      } else if (what < 12) {
        check(key, map.take(name));
        known.set(key, -1);
      } else if (what === 63) {
        for (const [name, value] of map) {
          const key = numberOfKey(name, nameOf);
          if (key === undefined) problem(`a torn key: ${name}`);
          else if (numberOf(key, value) === undefined) {
            problem(`torn: ${value}`);
          }
        }
      } else check(key, map.get(name));
    };
  },
};

setAgentId(data.id);
const step = ROLES[data.role](data.handle);
post({ started: true });
while (Atomics.load(notes, STOP) === 0) {
  for (let i = 0; i < 100 && Atomics.load(notes, STOP) === 0; i++) {
    const end: unknown = step();
    if (end !== undefined) await end;
  }
  Atomics.add(notes, base + OPERATIONS, 100);
}
post({ ended: true });

/**
 * The primitives whose users are killed, what survivors do then, and what must
 * be true in the end.
 *
 * @module
 */
import {
  Barrier,
  Broadcast,
  Channel,
  codec,
  type Handle,
  HashMap,
  inspect,
  LockFreeQueue,
  Mutex,
  RecordRing,
  recover,
  RwLock,
  Semaphore,
  SlabPool,
  Snapshot,
  SpscQueue,
  type View,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";
import type { Order } from "./_agent.ts";
import {
  blocksUsed,
  CODECS,
  heapFor,
  heapForKeys,
  keysOf,
  LONGEST,
  OWNED,
  valueOf,
} from "./_maps.ts";
import {
  ARRIVED,
  BARRIER_BYTES,
  CHUNK,
  COUNTER_BYTES,
  PASSED,
  PLACES,
  REPEATED,
  ROUND,
  SEATS,
  TASKS,
  TELLERS,
} from "./_seats.ts";

/** The longest time a survivor may need to go on, in ms. */
const HANGS = 30_000;

/** A primitive whose users are killed. */
export interface Victim {
  readonly name: string;
  readonly view: View & { readonly handle: Handle };
  /** The roles of the threads, a seat each. */
  readonly roles: readonly Order["role"][];
  /** Set if only one user dies at a time, and one agent recovers it. */
  readonly isAlone?: boolean;
  /**
   * What survivors do for a dead agent beside `recover`; what is wrong then, if
   * anything.
   */
  after?(
    id: number,
    seat: number,
    notes: Int32Array,
  ): Promise<string | void> | string | void;
  /** Takes what is left; whether it finds that all works. */
  drain?(): number | undefined;
  /**
   * What is wrong at the end, when these agents, the last ones, have ended and
   * are recovered. On a busy machine, they are terminated at any step, too.
   */
  check?(ids: readonly number[], notes: Int32Array): string | undefined;
}

/** The roles of agents that wait for the keys of a map. */
const WAITS = ["awaited", "awaited", "awaited", "mapped"] as const;

/** All primitives whose users are killed. */
export function victims(): Victim[] {
  const queue = { capacity: 64 };
  const mutex = Mutex.create();
  const permits = Semaphore.create(2, { tracked: 4 });
  const shared = RwLock.create({ tracked: 4 });
  const lockFree = LockFreeQueue.create(queue);
  const spsc = SpscQueue.create(queue);
  const ring = RecordRing.create({ capacity: 4096 });
  const pool = SlabPool.create({ capacity: 16, blockSize: 64 });
  const deque = WorkDeque.create(queue);
  const ticks = Broadcast.create({ capacity: 16, subscribers: 4 });
  const latest = Snapshot.create({ size: 40 });
  const latestForOne = Snapshot.create({ size: 40, singleReader: true });
  const hands = Channel.create({ codec: codec.i32, capacity: 0 });
  return [
    {
      name: "Mutex",
      view: mutex,
      roles: ["lock", "lock", "lock"],
      check: () => mutex.tryLock() ? undefined : "the mutex is still locked",
    },
    {
      name: "Semaphore, tracked",
      view: permits,
      roles: ["permit", "permit", "permit"],
      check() {
        const { available } = permits;
        return available === 2 ? undefined : `${available} permits of 2`;
      },
    },
    {
      name: "RwLock, tracked",
      view: shared,
      roles: ["share", "share", "share"],
      check: () => shared.tryWrite() ? undefined : "the lock is still held",
    },
    barriers(),
    counters(),
    {
      name: "LockFreeQueue",
      view: lockFree,
      roles: ["lockFreePush", "lockFreePop", "lockFreePush", "lockFreePop"],
      drain: () => lockFree.tryPopInt(),
      check() {
        lockFree.repair();
        let count = 0;
        while (lockFree.tryPushInt(0)) count++;
        return count === 64 ? undefined : `${count} elements of 64 fit`;
      },
    },
    {
      name: "SpscQueue",
      view: spsc,
      roles: ["spscPush", "spscPop"],
      drain: () => spsc.tryPopInt(),
    },
    {
      name: "RecordRing",
      view: ring,
      roles: ["recordPush", "recordPop", "recordPush"],
      drain() {
        const record = ring.tryPop();
        return record && new Int32Array(record.buffer)[0];
      },
    },
    {
      name: "Channel of capacity 0",
      view: hands,
      roles: ["handSend", "handReceive", "handSend", "handReceive"],
      drain: () => hands.tryReceive(),
      check() {
        const { writer } = inspect(hands).words;
        if (writer !== 0) return `agent ${writer} is still the writer`;
        if (hands.trySend(0)) return "a receiver that has ended still offers";
      },
    },
    {
      name: "SlabPool",
      view: pool,
      roles: ["block", "block", "block"],
      after: (id) => void pool.abandon(id, true),
      check(ids) {
        for (const id of ids) pool.abandon(id, true);
        const { available } = pool;
        return available === 16 ? undefined : `${available} blocks of 16`;
      },
    },
    {
      name: "WorkDeque",
      view: deque,
      roles: ["own", "steal", "steal"],
      drain() {
        deque.adopt();
        return deque.pop();
      },
      check() {
        for (let i = 0; i < deque.capacity; i++) {
          if (!deque.push(i)) return `${i} items of ${deque.capacity} fit`;
        }
      },
    },
    {
      name: "Broadcast",
      view: ticks,
      roles: ["tell", "hear", "hear"],
      after(_, seat, notes) {
        if (seat === 0) Atomics.add(notes, TELLERS, 1);
      },
      check() {
        const { subscribers } = ticks;
        return subscribers === 0 ? undefined : `${subscribers} subscribers`;
      },
    },
    {
      name: "Snapshot",
      view: latest,
      roles: ["write", "look", "look"],
    },
    {
      name: "Snapshot, one reader",
      view: latestForOne,
      roles: ["write", "look"],
    },
    maps("HashMap", {}),
    maps("HashMap, a cache", { evict: "clock", ttl: 3 }),
    maps("HashMap, long values", {}, 25),
    maps("HashMap, a cache of long values", { evict: "clock", ttl: 3 }, 9),
    { ...maps("HashMap, waits", {}), roles: WAITS },
    {
      ...maps("HashMap, waits for a cache", { evict: "clock", ttl: 2 }),
      roles: WAITS,
    },
    maps("HashMap, long keys", {}, 25, 80),
    maps("HashMap, a cache of long keys", { evict: "clock", ttl: 3 }, 9, 40),
  ];
}

/**
 * A map in which each agent has keys of its own, or a cache that has room for
 * some of them; with a heap, if that has room for some of the `longest` values,
 * and for keys in `more` blocks. In the end no key is there twice, and no entry
 * and no block is out of use.
 */
function maps(
  name: string,
  caches: { readonly evict?: "clock"; readonly ttl?: number },
  longest = 0,
  more = 0,
): Victim {
  const capacity = caches.evict === undefined ? OWNED + 8 : OWNED / 2;
  const heap = more > 0
    ? heapForKeys(longest, more)
    : longest > 0
    ? heapFor(longest)
    : {};
  const map = HashMap.create({ ...CODECS, ...caches, ...heap, capacity });
  const nameOf = keysOf(map);
  const filled = more > 0 ? 4 : longest;
  return {
    name,
    view: map,
    roles: ["mapped", "mapped", "mapped", "mapped"],
    check() {
      const names = [...map.keys()];
      if (new Set(names).size < names.length) return "a key is there twice";
      map.clear();
      const used = blocksUsed(map);
      if (used !== 0) return `${used} blocks are out of use`;
      const { evictions } = map;
      for (let key = 0; key < capacity; key++) {
        const value = longest === 0
          ? valueOf(key, key)
          : "x".repeat(key < filled ? LONGEST : 1);
        if (!map.set(nameOf(key), value)) return "it is full";
      }
      if (map.size !== capacity || map.evictions !== evictions) {
        return `${map.size} entries of ${capacity} are in use`;
      }
    },
  };
}

/**
 * Barriers of three parties, one after the other. After each kill, the
 * survivors must pass without the dead party; then all begin with the next
 * barrier.
 */
function barriers(): Victim {
  const buffer = new SharedArrayBuffer(PLACES * BARRIER_BYTES);
  const make = (round: number) =>
    Barrier.init(buffer, round % PLACES * BARRIER_BYTES, 3, { tracked: 3 });
  let barrier = make(0);
  const roles = ["party", "party", "party"] as const;
  return {
    name: "Barrier, tracked",
    view: barrier,
    isAlone: true,
    roles,
    async after(id, dead, notes) {
      const at = (seat: number, word: number) => SEATS + 32 * seat + word;
      Atomics.store(notes, at(dead, ARRIVED), 0x7fff_ffff); // wait for it no more
      const found = recover(id, barrier);
      // If it had not arrived for the first time, the barrier waits for it.
      const seats = found.length > 0 ? [0, 1, 2].filter((i) => i !== dead) : [];
      const passed = seats.map((seat) => notes[at(seat, PASSED)]!);
      const end = performance.now() + HANGS;
      const goesOn = (seat: number, i: number) =>
        Atomics.load(notes, at(seat, PASSED)) - passed[i]! >= 2;
      while (!seats.every(goesOn) && performance.now() < end) {
        await new Promise((done) => setTimeout(done, 1));
      }
      if (!seats.every(goesOn)) return "the survivors of a barrier wait";
      const round = notes[ROUND]! + 1;
      barrier = make(round);
      Atomics.store(notes, at(dead, ARRIVED), round << 16);
      Atomics.store(notes, ROUND, round);
    },
  };
}

/**
 * Counters of tasks, one after the other. All tasks of each must be done, and
 * none twice but those that a dead agent had begun.
 */
function counters(): Victim {
  const buffer = new SharedArrayBuffer(PLACES * COUNTER_BYTES);
  const config = { tracked: 4, chunk: CHUNK };
  const make = (round: number) => {
    const at = round % PLACES * COUNTER_BYTES;
    const counter = WorkCounter.init(buffer, at, TASKS, config);
    new Uint8Array(buffer, at + counter.byteLength, TASKS).fill(0);
    return counter;
  };
  let work = make(0);
  let kills = 0;
  const roles = ["worker", "worker", "worker"] as const;
  /** Does what is left; all tasks must be done then. */
  const finish = (notes: Int32Array): string | undefined => {
    const marks = new Uint8Array(
      buffer,
      work.byteOffset + work.byteLength,
      TASKS,
    );
    for (let range; (range = work.nextRange()) !== undefined;) {
      marks.fill(1, range.start, range.end);
      work.done(range.end - range.start);
    }
    if (!work.tryWait(HANGS)) {
      return `${work.completed} of ${TASKS} tasks are done`;
    }
    if (marks.includes(0)) return `task ${marks.indexOf(0)} was left out`;
    const repeated = roles.reduce(
      (sum, _, seat) => sum + notes[SEATS + 32 * seat + REPEATED]!,
      0,
    );
    if (repeated > kills * CHUNK) {
      return `${repeated} tasks came twice, and ${kills} kills`;
    }
  };
  return {
    name: "WorkCounter, tracked",
    view: work,
    isAlone: true,
    roles,
    after(id, _, notes) {
      kills++;
      recover(id, work);
      if (work.remaining > 0) return;
      const wrong = finish(notes);
      const round = notes[ROUND]! + 1;
      work = make(round);
      Atomics.store(notes, ROUND, round);
      return wrong;
    },
    check(ids, notes) {
      kills += ids.length;
      recover(ids, work);
      return finish(notes);
    },
  };
}

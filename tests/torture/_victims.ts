/**
 * The primitives whose users are killed, what survivors do then, and what must
 * be true in the end.
 *
 * @module
 */
import {
  agentId,
  Barrier,
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
  SpscQueue,
  WorkCounter,
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
} from "./_seats.ts";

/** The longest time a survivor may need to go on, in ms. */
const HANGS = 30_000;

/** A primitive whose users are killed. */
export interface Victim {
  readonly name: string;
  readonly handle: Handle;
  /** The roles of the threads, a seat each. */
  readonly roles: readonly Order["role"][];
  /** What survivors do for a dead agent; what is wrong then, if anything. */
  recover?(
    id: number,
    seat: number,
    notes: Int32Array,
  ): Promise<string | void> | string | void;
  /** Takes what is left; whether it finds that all works. */
  drain?(): number | undefined;
  /**
   * What is wrong at the end, when these agents, the last ones, have ended. On
   * a busy machine, they are terminated at any step, too.
   */
  check?(ids: readonly number[], notes: Int32Array): string | undefined;
}

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
  const hands = Channel.create({ codec: codec.i32, capacity: 0 });
  return [
    {
      name: "Mutex",
      handle: mutex.handle,
      roles: ["lock", "lock", "lock"],
      recover: (id) => void mutex.abandon(id),
      check(ids) {
        for (const id of ids) mutex.abandon(id);
        return mutex.tryLock() ? undefined : "the mutex is still locked";
      },
    },
    {
      name: "Semaphore, tracked",
      handle: permits.handle,
      roles: ["permit", "permit", "permit"],
      recover: (id) => void permits.abandon(id),
      check(ids) {
        for (const id of ids) permits.abandon(id);
        const { available } = permits;
        return available === 2 ? undefined : `${available} permits of 2`;
      },
    },
    {
      name: "RwLock, tracked",
      handle: shared.handle,
      roles: ["share", "share", "share"],
      recover: (id) => void shared.abandon(id),
      check(ids) {
        for (const id of ids) shared.abandon(id);
        return shared.tryWrite() ? undefined : "the lock is still held";
      },
    },
    barriers(),
    counters(),
    {
      name: "LockFreeQueue",
      handle: lockFree.handle,
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
      handle: spsc.handle,
      roles: ["spscPush", "spscPop"],
      recover: (id) => void spsc.abandon(id),
      drain() {
        // A consumer that ended by itself is still the one that may pop.
        const { consumer } = inspect(spsc).words;
        if (consumer !== agentId()) spsc.abandon(consumer!);
        return spsc.tryPopInt();
      },
    },
    {
      name: "RecordRing",
      handle: ring.handle,
      roles: ["recordPush", "recordPop", "recordPush"],
      recover(id) {
        for (let i = 0; i < 1e6 && ring.abandon(id) < 0; i++);
      },
      drain() {
        // A consumer that ended by itself is still the one that may pop.
        const { consumer } = inspect(ring).words;
        if (consumer !== agentId()) ring.abandon(consumer!);
        const record = ring.tryPop();
        return record && new Int32Array(record.buffer)[0];
      },
    },
    {
      name: "Channel of capacity 0",
      handle: hands.handle,
      roles: ["handSend", "handReceive", "handSend", "handReceive"],
      recover: (id) => void hands.abandon(id),
      drain: () => hands.tryReceive(),
      check(ids) {
        for (const id of ids) hands.abandon(id);
        const { writer } = inspect(hands).words;
        if (writer !== 0) return `agent ${writer} is still the writer`;
        if (hands.trySend(0)) return "a receiver that has ended still offers";
      },
    },
    {
      name: "SlabPool",
      handle: pool.handle,
      roles: ["block", "block", "block"],
      recover: (id) => void pool.abandon(id, true),
      check(ids) {
        for (const id of ids) pool.abandon(id, true);
        const { available } = pool;
        return available === 16 ? undefined : `${available} blocks of 16`;
      },
    },
    maps("HashMap", {}),
    maps("HashMap, a cache", { evict: "clock", ttl: 3 }),
    maps("HashMap, long values", {}, 25),
    maps("HashMap, a cache of long values", { evict: "clock", ttl: 3 }, 9),
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
    handle: map.handle,
    roles: ["mapped", "mapped", "mapped", "mapped"],
    recover: (id) => void map.abandon(id),
    check(ids) {
      for (const id of ids) map.abandon(id);
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
    handle: barrier.handle,
    roles,
    async recover(id, dead, notes) {
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
    handle: work.handle,
    roles,
    recover(id, _, notes) {
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

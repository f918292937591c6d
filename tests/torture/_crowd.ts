/**
 * One of many threads that use one primitive after the other, and note the
 * longest time between two of their turns.
 */
import {
  CallRing,
  ClosedError,
  type Handle,
  HashMap,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  RecordRing,
  RwLock,
  Semaphore,
} from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { CODECS, keysOf, numberOf, pick, SHARED, valueOf } from "./_maps.ts";

/** What a thread is told to do next. */
export interface Round {
  /** The primitive, such as `"mutex"`, or `"control"` for none. */
  readonly kind: string;
  readonly handle: Handle;
  /** The number of this thread, from 0. */
  readonly seat: number;
  /** A word that is not 0 once the round is over. */
  readonly over: SharedArrayBuffer;
  /** For each seat, the number of turns and the longest time without, in ms. */
  readonly notes: SharedArrayBuffer;
}

/** Makes the function that one agent calls for each turn. */
type Player = (handle: Handle, seat: number) => () => unknown;

/** Works for about a microsecond. */
let noise = 1;
function work(): void {
  for (let i = 0; i < 300; i++) noise = Math.imul(noise, 5) + i | 0;
}

const bytes = new Uint8Array(32);

/** Of 8 agents that use a map, one writes. */
function usesMap(handle: Handle, seat: number) {
  const map = HashMap.from<string, string>(handle as Handle<never>, CODECS);
  const nameOf = keysOf(map);
  const seed = { now: seat };
  return () => {
    const key = pick(seed, SHARED);
    if (seat % 8 === 0) {
      return map.set(nameOf(key), valueOf(key, seed.now & 7));
    }
    const value = map.get(nameOf(key));
    if (value !== undefined && numberOf(key, value) === undefined) {
      throw new Error(`a torn value: ${value}`);
    }
  };
}

const PLAYERS: Readonly<Record<string, Player>> = {
  mutex(handle) {
    const mutex = Mutex.from(handle as Handle<"mutex">);
    return () => {
      const guard = mutex.lock();
      work();
      guard.unlock();
    };
  },
  rw_lock(handle, seat) {
    const lock = RwLock.from(handle as Handle<"rw_lock">);
    return () => {
      const guard = seat % 8 === 0 ? lock.write() : lock.read();
      work();
      guard.unlock();
    };
  },
  semaphore(handle, seat) {
    const semaphore = Semaphore.from(handle as Handle<"semaphore">);
    const n = seat % 8 === 0 ? 4 : 1;
    return () => {
      semaphore.acquire(n);
      work();
      semaphore.release(n);
    };
  },
  mpmc_queue(handle, seat) {
    const queue = MpmcQueue.from(handle as Handle<"mpmc_queue">);
    return seat % 2 ? () => queue.popInt() : () => queue.pushInt(seat);
  },
  lock_free_queue(handle, seat) {
    const queue = LockFreeQueue.from(handle as Handle<"lock_free_queue">);
    return seat % 2 ? () => queue.popInt() : () => queue.pushInt(seat);
  },
  record_ring(handle, seat) {
    const ring = RecordRing.from(handle as Handle<"record_ring">);
    return seat === 0 ? () => ring.pop() : () => ring.push(bytes);
  },
  call_ring(handle, seat) {
    const ring = CallRing.from(handle as Handle<"call_ring">);
    return seat < 2
      ? () => ring.take().reply(1)
      : () => ring.call(bytes.subarray(0, 4));
  },
  hash_map: usesMap,
  hash_map_long: usesMap,
  hash_map_long_keys: usesMap,
  control(_, seat) {
    const word = new Int32Array(new SharedArrayBuffer(4));
    return () => {
      if (seat % 2 === 0) Atomics.wait(word, 0, 0, 0.2);
      for (let i = 0; i < 60; i++) work();
    };
  },
};

const { data, post, next } = await hello<Round>();
for (let round = data;; round = await next<Round>()) {
  const over = new Int32Array(round.over);
  const notes = new Float64Array(round.notes, round.seat * 16, 2);
  const step = PLAYERS[round.kind]!(round.handle, round.seat);
  let before = performance.now();
  // Of two servers, one may have nothing to do. Both serve until the end.
  const serves = round.kind === "call_ring" && round.seat < 2;
  if (serves) notes[0] = 1;
  const note = () => {
    if (serves) return;
    const now = performance.now();
    notes[1] = Math.max(notes[1]!, now - before);
    before = now;
  };
  try {
    while (serves || Atomics.load(over, 0) === 0) {
      step();
      notes[0]!++;
      note();
    }
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
    note(); // the round is over
  }
  post("over");
}

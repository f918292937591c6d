/**
 * What agents of the storm on a shop do: each job locks a mutex, reads or
 * writes under a lock, holds permits, or changes a map. Jobs come by a channel,
 * or as calls.
 */
import {
  CallRing,
  Channel,
  codec,
  type Handle,
  HashMap,
  Mutex,
  RwLock,
  Semaphore,
  valueCodec,
} from "../../mod.ts";

/** One job. */
export interface Job {
  /** Which job it is, of all. */
  readonly id: number;
  readonly what: "mutex" | "read" | "write" | "permits" | "map";
  /** The permits, the key, and whether something is held for a while. */
  readonly n: number;
}

/** What an agent is told. */
export interface Orders {
  readonly handles: Handles;
  /** Whether it serves calls, and takes no jobs of the channel. */
  readonly serves: boolean;
  readonly blocks: boolean;
  /** How many jobs it does at a time, unless it blocks. */
  readonly limit: number;
  /** Its place in `held`. */
  readonly seat: number;
  readonly held: Int32Array<SharedArrayBuffer>;
  /** How often each job was begun, and done. */
  readonly begun: Int32Array<SharedArrayBuffer>;
  readonly done: Int32Array<SharedArrayBuffer>;
}

/** The memory of all that is shared. */
export interface Handles {
  readonly mutex: Handle<"mutex">;
  readonly lock: Handle<"rw_lock">;
  readonly permits: Handle<"semaphore">;
  readonly map: Handle<"hash_map">;
  readonly jobs: Handle<"channel">;
  readonly results: Handle<"channel">;
  readonly ring: Handle<"call_ring">;
}

/** The greatest number of agents at a time, and of permits. */
export const SEATS = 4, PERMITS = 2;
/** In `held`: where the seats of each begin. */
const IN_MUTEX = 0, READS = 8, WRITES = 16, OUT = 24;
/** All of these, for a seat that is empty now. */
export const HELD = [IN_MUTEX, READS, WRITES, OUT] as const;
/** The number of words. */
export const WORDS = 32;

/** The map's codecs. */
export const CODECS = { key: codec.text, value: codec.i32 };
/** What calls go by. */
export const BY = { codec: codec.json };

/** What all agents use. */
export const viewsOf = (handles: Handles) => ({
  mutex: Mutex.from(handles.mutex),
  lock: RwLock.from(handles.lock),
  permits: Semaphore.from(handles.permits),
  map: HashMap.from<string, number>(handles.map, CODECS),
  jobs: Channel.from<Job>(handles.jobs, { codec: valueCodec }),
  results: Channel.from<number>(handles.results, { codec: valueCodec }),
  ring: CallRing.from(handles.ring),
});

const NEVER = new Int32Array(new SharedArrayBuffer(4));

/** Does jobs, for one agent. */
export class Shop {
  readonly views: ReturnType<typeof viewsOf>;
  readonly #orders: Orders;

  constructor(orders: Orders) {
    this.#orders = orders;
    this.views = viewsOf(orders.handles);
  }

  /** Does a job, and blocks. */
  block({ id, what, n }: Job): number {
    const { mutex, lock, permits, map } = this.views;
    const count = n % PERMITS + 1;
    Atomics.add(this.#orders.begun, id, 1);
    switch (what) {
      case "mutex": {
        const guard = mutex.lock();
        this.#enter(IN_MUTEX, 1);
        this.#hold(n);
        this.#leave(IN_MUTEX, 1);
        guard.unlock();
        break;
      }
      case "read":
      case "write": {
        const guard = what === "read" ? lock.read() : lock.write();
        this.#enter(what === "read" ? READS : WRITES, 1);
        this.#hold(n);
        this.#leave(what === "read" ? READS : WRITES, 1);
        guard.unlock();
        break;
      }
      case "permits":
        permits.acquire(count);
        this.#enter(OUT, count);
        this.#hold(n);
        this.#leave(OUT, count);
        permits.release(count);
        break;
      case "map":
        map.getOrInsert(keyOf(n), () => n);
        map.delete(keyOf(n + 1));
    }
    return this.#done(id);
  }

  /** Does a job, and awaits. */
  async wait({ id, what, n }: Job, signal?: AbortSignal): Promise<number> {
    const { mutex, lock, permits, map } = this.views;
    const count = n % PERMITS + 1;
    Atomics.add(this.#orders.begun, id, 1);
    switch (what) {
      case "mutex": {
        const guard = await mutex.lockAsync({ priority: n % 3, signal });
        this.#enter(IN_MUTEX, 1);
        await this.#holdAsync(n);
        this.#leave(IN_MUTEX, 1);
        guard.unlock();
        break;
      }
      case "read":
      case "write": {
        const reads = what === "read";
        const guard = reads
          ? await lock.readAsync({ signal })
          : await lock.writeAsync({ signal });
        this.#enter(reads ? READS : WRITES, 1);
        await this.#holdAsync(n);
        this.#leave(reads ? READS : WRITES, 1);
        guard.unlock();
        break;
      }
      case "permits":
        await permits.acquireAsync(count, { priority: n % 3, signal });
        this.#enter(OUT, count);
        await this.#holdAsync(n);
        this.#leave(OUT, count);
        permits.release(count);
        break;
      case "map": {
        const make = async () => {
          await this.#holdAsync(n);
          return n;
        };
        await map.getOrInsertAsync(keyOf(n), make, { signal });
        map.delete(keyOf(n + 1));
      }
    }
    return this.#done(id);
  }

  #done(id: number): number {
    Atomics.add(this.#orders.done, id, 1);
    return id;
  }

  #hold(n: number): void {
    if (n % 7 === 0) Atomics.wait(NEVER, 0, 0, 1);
  }

  async #holdAsync(n: number): Promise<void> {
    if (n % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    else await undefined;
  }

  /** Notes what this agent holds, and looks at what all of them hold. */
  #enter(at: number, n: number): void {
    const { held, seat } = this.#orders;
    Atomics.add(held, at + seat, n);
    const [locked, reads, writes, out] = HELD.map((at) => {
      let sum = 0;
      for (let i = 0; i < SEATS; i++) sum += Atomics.load(held, at + i);
      return sum;
    }) as [number, number, number, number];
    if (at === IN_MUTEX && locked > 1) throw new Error(`${locked} locked it`);
    if (out > PERMITS) throw new Error(`${out} permits are held`);
    if (
      writes > 1 || at === READS && writes > 0 || at === WRITES && reads > 0
    ) {
      throw new Error(`${writes} write beside ${reads} that read`);
    }
  }

  #leave(at: number, n: number): void {
    const { held, seat } = this.#orders;
    Atomics.sub(held, at + seat, n);
  }
}

const keyOf = (n: number): string => `${n % 12}`.padEnd(n % 3 * 20, "x");

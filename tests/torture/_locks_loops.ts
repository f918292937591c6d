/**
 * What agents of the storm on locks do, in a thread of their own or as one of
 * several loops of the main thread: they lock a mutex, take permits of a
 * semaphore, and wait for keys of a map.
 */
import { codec, HashMap, Mutex, Semaphore } from "../../mod.ts";
import type { Ends } from "./_channel_loops.ts";

/** One operation, or several that a loop which awaits begins at a time. */
export interface Step {
  /**
   * `free` waits until nobody holds the mutex, `drain` takes all permits, `key`
   * waits for a key, `set` adds a key, `make` waits for one or makes it,
   * `cancel` ends what the agent awaits of both locks.
   */
  readonly what:
    | "mutex"
    | "semaphore"
    | "free"
    | "drain"
    | "key"
    | "set"
    | "make"
    | "cancel";
  /** How many begin at a time, in a loop that awaits. */
  readonly count: number;
  /** Permits, or a key. */
  readonly n: number;
  readonly tries: boolean;
  readonly timeout: number;
  readonly priority: number;
  /**
   * When each call is aborted: in microtasks, or from 6 on in ms; -1: never.
   */
  readonly abort: number;
  /** How long a lock is held, in ms; -1: for two microtasks, or not at all. */
  readonly hold: number;
  /** Whether it waits for what it began before the next step. */
  readonly waits: boolean;
}

/** What a loop is told. */
export interface Orders {
  readonly buffer: SharedArrayBuffer;
  readonly places: Readonly<Record<"mutex" | "semaphore" | "map", number>>;
  readonly permits: number;
  readonly blocks: boolean;
  readonly steps: readonly Step[];
  /** How often each lock is held now, and how many permits were drained. */
  readonly held: Int32Array<SharedArrayBuffer>;
}

/** In `held`: agents in the mutex, and permits. */
const IN_MUTEX = 0, OUT = 1;

/** The number of keys. */
export const KEYS = 64;
const codecs = { key: codec.i32, value: codec.i32 };
/** The map's configuration. */
export const MAP = { ...codecs, capacity: 2 * KEYS };

/** The value of a key, whoever makes it. */
export const valueOf = (key: number): number => key * 7 + 1;

/** What all loops use. */
export function viewsOf({ buffer, places }: Pick<Orders, "buffer" | "places">) {
  const mutex = new Mutex(buffer, places.mutex);
  const semaphore = new Semaphore(buffer, places.semaphore);
  const map = new HashMap<number, number>(buffer, places.map, codecs);
  return { mutex, semaphore, map };
}

/** Notes a promise, in the main thread; what it returns has been noted. */
type Note = <T>(what: string, promise: Promise<T>) => Promise<T>;

/** Who gave the reason by which a call ended. */
const CANCELLED = "cancelled";

/** One loop. */
export class Loop {
  readonly #orders: Orders;
  readonly #note: Note;
  readonly #views: ReturnType<typeof viewsOf>;
  readonly #ends: Ends = {};

  constructor(orders: Orders, note: Note = (_, promise) => promise) {
    this.#orders = orders;
    this.#note = note;
    this.#views = viewsOf(orders);
  }

  /** Does all steps. */
  async run(): Promise<Ends> {
    const begun: Promise<void>[] = [];
    for (const step of this.#orders.steps) {
      const count = this.#orders.blocks ? 1 : step.count;
      for (let i = 0; i < count; i++) {
        if (this.#orders.blocks) this.#block(step);
        else begun.push(this.#wait(step));
      }
      if (step.waits) await Promise.all(begun.splice(0));
    }
    await Promise.all(begun);
    return this.#ends;
  }

  #end(name: string): void {
    this.#ends[name] = (this.#ends[name] ?? 0) + 1;
  }

  // ---- a loop that blocks ---------------------------------------------------

  #block(step: Step): void {
    const { mutex, semaphore, map } = this.#views;
    const { what, tries, timeout, hold } = step;
    const n = this.#permitsOf(step), key = step.n % KEYS;
    const pause = () => {
      if (hold >= 0) Atomics.wait(NEVER, 0, 0, hold);
    };
    switch (what) {
      case "mutex":
      case "free": {
        const guard = tries ? mutex.tryLock(timeout) : mutex.lock();
        if (guard === undefined) return this.#end("late");
        this.#enter(IN_MUTEX, 1);
        pause();
        this.#leave(IN_MUTEX, 1);
        guard.unlock();
        return this.#end("locked");
      }
      case "semaphore":
        if (tries && !semaphore.tryAcquire(n, timeout)) {
          return this.#end("late");
        }
        if (!tries) semaphore.acquire(n);
        this.#enter(OUT, n);
        pause();
        this.#leave(OUT, n);
        semaphore.release(n);
        return this.#end("acquired");
      case "key":
        return this.#found(
          key,
          tries ? map.tryWaitFor(key, timeout) : map.waitFor(key),
          tries,
        );
      case "make":
        return this.#found(key, map.getOrInsert(key, valueOf), false);
      default:
        return this.#atOnce(step);
    }
  }

  // ---- a loop that awaits ---------------------------------------------------

  async #wait(step: Step): Promise<void> {
    const { what, tries, timeout, priority } = step;
    const { mutex, semaphore, map } = this.#views;
    const n = this.#permitsOf(step), key = step.n % KEYS;
    switch (what) {
      case "mutex": {
        const guard = await this.#call(
          what,
          step,
          (signal) =>
            tries
              ? mutex.tryLockAsync({ timeout, priority, signal })
              : mutex.lockAsync({ priority, signal }),
        );
        if (guard === undefined) return;
        this.#enter(IN_MUTEX, 1);
        await this.#pause(step);
        this.#leave(IN_MUTEX, 1);
        guard.unlock();
        return this.#end("locked");
      }
      case "semaphore": {
        const acquired = await this.#call(what, step, async (signal) => {
          const options = { priority, signal };
          if (!tries) return (await semaphore.acquireAsync(n, options), true);
          return await semaphore.tryAcquireAsync(n, { timeout, ...options }) ||
            undefined;
        });
        if (acquired === undefined) return;
        this.#enter(OUT, n);
        await this.#pause(step);
        this.#leave(OUT, n);
        semaphore.release(n);
        return this.#end("acquired");
      }
      case "free": {
        const free = async (signal: AbortSignal) => {
          await mutex.waitForUnlockAsync({ priority, signal });
          return true;
        };
        if (await this.#call(what, step, free)) this.#end("free");
        return;
      }
      case "key": {
        const value = await this.#call(
          what,
          step,
          (signal) =>
            tries
              ? map.tryWaitForAsync(key, { timeout, signal })
              : map.waitForAsync(key, { signal }),
        );
        if (value !== undefined) this.#found(key, value, true);
        return;
      }
      case "make": {
        const make = async (key: number) => {
          await this.#pause(step);
          return valueOf(key);
        };
        const value = await this.#call(
          what,
          step,
          (signal) => map.getOrInsertAsync(key, make, { signal }),
        );
        if (value !== undefined) this.#found(key, value, false);
        return;
      }
      default:
        return this.#atOnce(step);
    }
  }

  /** Awaits one call; undefined if it has ended in another way. */
  async #call<T>(
    what: string,
    { abort }: Step,
    wait: (signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const reason = new Error(`abort of ${what}`);
    const control = new AbortController();
    try {
      const promise = wait(control.signal);
      if (abort >= 0) void abortAfter(abort, () => control.abort(reason));
      const value = await this.#note(what, promise);
      if (value === undefined) this.#end("late");
      return value;
    } catch (error) {
      if (error === reason) this.#end("aborted");
      else if (error === CANCELLED) this.#end("cancelled");
      else throw error;
      return undefined;
    }
  }

  async #pause({ hold }: Step): Promise<void> {
    if (hold < 0) { for (let i = 0; i < 2; i++) await undefined; }
    else await new Promise((resolve) => setTimeout(resolve, hold));
  }

  // ---- what never waits -----------------------------------------------------

  #atOnce({ what, n }: Step): void {
    const { mutex, semaphore, map } = this.#views;
    if (what === "set") {
      map.set(n % KEYS, valueOf(n % KEYS));
      return this.#end("set");
    }
    if (what === "drain") {
      const taken = semaphore.drain();
      this.#enter(OUT, taken);
      this.#leave(OUT, taken);
      if (taken > 0) semaphore.release(taken);
      return this.#end("drained");
    }
    for (const lock of [mutex, semaphore]) {
      const { awaiting } = lock;
      const count = lock.cancel(CANCELLED);
      if (count !== awaiting) {
        throw new Error(`cancelled ${count} of ${awaiting}`);
      }
      if (lock.awaiting === 0) continue;
      throw new Error(`${lock.awaiting} calls await after cancel`);
    }
    this.#end("cancels");
  }

  #permitsOf({ n }: Step): number {
    return n % this.#orders.permits + 1;
  }

  /** Notes that permits, or the mutex, are held. */
  #enter(at: number, n: number): void {
    const { held, permits } = this.#orders;
    const before = Atomics.add(held, at, n);
    const most = at === IN_MUTEX ? 1 : permits;
    if (before + n <= most) return;
    throw new Error(`${before + n} are held, of ${most}`);
  }

  #leave(at: number, n: number): void {
    Atomics.sub(this.#orders.held, at, n);
  }

  #found(key: number, value: number | undefined, mayMiss: boolean): void {
    if (value === undefined && mayMiss) return this.#end("late");
    if (value !== valueOf(key)) {
      throw new Error(`another value: key ${key} has ${value}`);
    }
    this.#end("found");
  }
}

const NEVER = new Int32Array(new SharedArrayBuffer(4));

async function abortAfter(when: number, abort: () => void): Promise<void> {
  if (when > 5) await new Promise((done) => setTimeout(done, when - 6));
  else for (let i = 0; i < when; i++) await undefined;
  abort();
}

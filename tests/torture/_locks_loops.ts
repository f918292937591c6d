/**
 * What agents of the storm on locks do, in a thread of their own or as one of
 * several loops of the main thread: they lock a mutex, take permits of a
 * semaphore, and wait for keys of a map.
 */
import { codec, type Memory } from "../../mod.ts";
import { classes, isInKernel } from "./_kernels.ts";
import { type Note, StormLoop, type Timed } from "./_loop.ts";

/** One operation, or several that a loop which awaits begins at a time. */
export interface Step extends Timed {
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
  /** Permits, or a key. */
  readonly n: number;
  readonly tries: boolean;
  readonly timeout: number;
  readonly priority: number;
}

/** What a loop is told. */
export interface Orders {
  readonly memory: Memory;
  /** Whether it uses the kernel. */
  readonly inKernel: boolean;
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
export function viewsOf(
  { memory, inKernel, places }: Pick<Orders, "memory" | "inKernel" | "places">,
) {
  const { HashMap, Mutex, Semaphore } = classes(inKernel);
  const mutex = new Mutex(memory, places.mutex);
  const semaphore = new Semaphore(memory, places.semaphore);
  const map = new HashMap<number, number>(memory, places.map, codecs);
  return { mutex, semaphore, map };
}

/** Who gave the reason by which a call ended. */
const CANCELLED = "cancelled";

/** One loop. */
export class Loop extends StormLoop<Step> {
  readonly #orders: Orders;
  readonly #views: ReturnType<typeof viewsOf>;

  constructor(orders: Orders, note?: Note) {
    super(orders, note);
    this.#orders = orders;
    this.#views = viewsOf(orders);
    if (isInKernel(this.#views.mutex)) this.end("in the kernel");
  }

  // ---- a loop that blocks ---------------------------------------------------

  protected override block(step: Step): void {
    const { mutex, semaphore, map } = this.#views;
    const { what, tries, timeout } = step;
    const n = this.#permitsOf(step), key = step.n % KEYS;
    switch (what) {
      case "mutex":
      case "free": {
        const guard = tries ? mutex.tryLock(timeout) : mutex.lock();
        if (guard === undefined) return this.end("late");
        this.#enter(IN_MUTEX, 1);
        this.hold(step);
        this.#leave(IN_MUTEX, 1);
        guard.unlock();
        return this.end("locked");
      }
      case "semaphore":
        if (tries && !semaphore.tryAcquire(n, timeout)) {
          return this.end("late");
        }
        if (!tries) semaphore.acquire(n);
        this.#enter(OUT, n);
        this.hold(step);
        this.#leave(OUT, n);
        semaphore.release(n);
        return this.end("acquired");
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

  protected override async wait(step: Step): Promise<void> {
    const { what, tries, timeout, priority } = step;
    const { mutex, semaphore, map } = this.#views;
    const n = this.#permitsOf(step), key = step.n % KEYS;
    switch (what) {
      case "mutex": {
        const guard = await this.#call(
          step,
          (signal) =>
            tries
              ? mutex.tryLockAsync({ timeout, priority, signal })
              : mutex.lockAsync({ priority, signal }),
        );
        if (guard === undefined) return;
        this.#enter(IN_MUTEX, 1);
        await this.holdAsync(step);
        this.#leave(IN_MUTEX, 1);
        guard.unlock();
        return this.end("locked");
      }
      case "semaphore": {
        const acquired = await this.#call(step, async (signal) => {
          const options = { priority, signal };
          if (!tries) return (await semaphore.acquireAsync(n, options), true);
          return await semaphore.tryAcquireAsync(n, { timeout, ...options }) ||
            undefined;
        });
        if (acquired === undefined) return;
        this.#enter(OUT, n);
        await this.holdAsync(step);
        this.#leave(OUT, n);
        semaphore.release(n);
        return this.end("acquired");
      }
      case "free": {
        const free = async (signal: AbortSignal) => {
          await mutex.waitForUnlockAsync({ priority, signal });
          return true;
        };
        if (await this.#call(step, free)) this.end("free");
        return;
      }
      case "key": {
        const value = await this.#call(
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
          await this.holdAsync(step);
          return valueOf(key);
        };
        const value = await this.#call(
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

  /** As `call`; who cancels ends a call, too. */
  async #call<T>(
    step: Step,
    wait: (signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    try {
      return await this.call(step, wait);
    } catch (error) {
      if (error !== CANCELLED) throw error;
      this.end("cancelled");
      return undefined;
    }
  }

  // ---- what never waits -----------------------------------------------------

  #atOnce({ what, n }: Step): void {
    const { mutex, semaphore, map } = this.#views;
    if (what === "set") {
      map.set(n % KEYS, valueOf(n % KEYS));
      return this.end("set");
    }
    if (what === "drain") {
      const taken = semaphore.drain();
      this.#enter(OUT, taken);
      this.#leave(OUT, taken);
      if (taken > 0) semaphore.release(taken);
      return this.end("drained");
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
    this.end("cancels");
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
    if (value === undefined && mayMiss) return this.end("late");
    if (value !== valueOf(key)) {
      throw new Error(`another value: key ${key} has ${value}`);
    }
    this.end("found");
  }
}

/**
 * Locks, events and latches whose hot operations run in the kernel.
 *
 * @module
 */

import { assertMayBlock, mayBlock } from "../_wait/wait.ts";
import { agentId } from "../agent.ts";
import { Event as AnyEvent, type EventConfig } from "../event.ts";
import { Latch as AnyLatch } from "../latch.ts";
import { Mutex as AnyMutex, MutexGuard } from "../mutex.ts";
import {
  RwLock as AnyRwLock,
  type RwLockConfig,
  RwReadGuard,
  RwWriteGuard,
} from "../rw_lock.ts";
import {
  Semaphore as AnySemaphore,
  type SemaphoreConfig,
} from "../semaphore.ts";
import {
  type InKernel,
  inMemory,
  isWord,
  type KernelClass,
  kernelClass,
} from "./_class.ts";
import { EBUSY, EOWNERDEAD } from "./_instance.ts";
import * as TEXT from "./_text.ts";

class MutexInKernel extends /* @__PURE__ */ inMemory(
  "mutex",
  TEXT.MUTEX,
  AnyMutex,
) {
  readonly #id = agentId();

  override lock(): MutexGuard {
    const kernel = this.kernel;
    if (kernel !== undefined) {
      assertMayBlock("lock");
      if (kernel.lock(this.at, this.#id) === 0) {
        return new MutexGuard(this, false);
      }
    }
    return super.lock();
  }

  override tryLock(timeout = 0): MutexGuard | undefined {
    const kernel = this.kernel;
    if (kernel === undefined || timeout !== 0) {
      return super.tryLock(timeout);
    }
    const error = kernel.try_lock(this.at, this.#id);
    return error === EBUSY
      ? undefined
      : new MutexGuard(this, error === EOWNERDEAD);
  }

  override unlock(): void {
    if (this.kernel?.unlock(this.at, this.#id) !== 0) super.unlock();
  }
}

/** An object of the class {@linkcode Mutex}. */
export interface Mutex extends AnyMutex, InKernel {}

/**
 * A lock that one agent holds at a time. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const Mutex: KernelClass<Mutex, []> = /* @__PURE__ */ kernelClass(
  MutexInKernel,
);

class RwLockInKernel extends /* @__PURE__ */ inMemory(
  "rw_lock",
  TEXT.RW_LOCK,
  AnyRwLock,
) {
  readonly #id = agentId();

  override tryRead(timeout = 0): RwReadGuard | undefined {
    const error = timeout === 0 ? this.kernel?.try_read(this.at) : undefined;
    if (error === EBUSY) return undefined;
    if (error === 0 || error === EOWNERDEAD) {
      return new RwReadGuard(this, error !== 0);
    }
    return super.tryRead(timeout);
  }

  override tryWrite(timeout = 0): RwWriteGuard | undefined {
    const error = timeout === 0
      ? this.kernel?.try_write(this.at, this.#id)
      : undefined;
    if (error === EBUSY) return undefined;
    if (error === 0 || error === EOWNERDEAD) {
      return new RwWriteGuard(this, error !== 0);
    }
    return super.tryWrite(timeout);
  }

  override unlockRead(): void {
    if (this.kernel?.unlock_read(this.at) !== 0) super.unlockRead();
  }

  override unlockWrite(): void {
    if (this.kernel?.unlock_write(this.at, this.#id) !== 0) {
      super.unlockWrite();
    }
  }
}

/** An object of the class {@linkcode RwLock}. */
export interface RwLock extends AnyRwLock, InKernel {}

/**
 * A lock that many agents hold to read, or one to write. Its hot operations run
 * in the kernel; otherwise it is the class of `@weft/sync`.
 */
export const RwLock: KernelClass<RwLock, [config?: RwLockConfig]> =
  /* @__PURE__ */ kernelClass(RwLockInKernel);

class SemaphoreInKernel extends /* @__PURE__ */ inMemory(
  "semaphore",
  TEXT.SEMAPHORE,
  AnySemaphore,
) {
  override acquire(n = 1): void {
    const kernel = this.kernel;
    if (
      kernel !== undefined && isWord(n) && mayBlock() &&
      kernel.try_acquire(this.at, n) === 0
    ) return;
    super.acquire(n); // it says of a wrong number first what is wrong
  }

  override tryAcquire(n = 1, timeout = 0): boolean {
    const kernel = this.kernel;
    if (kernel !== undefined && isWord(n) && timeout === 0) {
      const error = kernel.try_acquire(this.at, n);
      if (error === 0) return true;
      if (error === EBUSY) return false;
    }
    return super.tryAcquire(n, timeout);
  }

  override release(n = 1): void {
    if (isWord(n) && this.kernel?.release(this.at, n) === 0) return;
    super.release(n);
  }
}

/** An object of the class {@linkcode Semaphore}. */
export interface Semaphore extends AnySemaphore, InKernel {}

/**
 * A number of permits. Its hot operations run in the kernel; otherwise it is
 * the class of `@weft/sync`.
 */
export const Semaphore: KernelClass<
  Semaphore,
  [permits?: number, config?: SemaphoreConfig]
> = /* @__PURE__ */ kernelClass(SemaphoreInKernel);

class EventInKernel extends /* @__PURE__ */ inMemory(
  "event",
  TEXT.EVENT,
  AnyEvent,
) {
  override set(): void {
    const kernel = this.kernel;
    if (kernel === undefined) super.set();
    else kernel.set(this.at);
  }

  override reset(): void {
    const kernel = this.kernel;
    if (kernel === undefined) super.reset();
    else kernel.reset(this.at);
  }

  override tryWait(timeout = 0): boolean {
    const kernel = this.kernel;
    if (kernel === undefined || timeout !== 0) {
      return super.tryWait(timeout);
    }
    return kernel.try_wait(this.at) === 0;
  }
}

/** An object of the class {@linkcode Event}. */
export interface Event extends AnyEvent, InKernel {}

/**
 * An event that agents wait for. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const Event: KernelClass<Event, [config?: EventConfig], []> =
  /* @__PURE__ */ kernelClass(EventInKernel);

class LatchInKernel extends /* @__PURE__ */ inMemory(
  "latch",
  TEXT.LATCH,
  AnyLatch,
) {
  override countDown(n = 1): void {
    if (isWord(n) && this.kernel?.count_down(this.at, n) === 0) return;
    super.countDown(n);
  }
}

/** An object of the class {@linkcode Latch}. */
export interface Latch extends AnyLatch, InKernel {}

/**
 * A count that agents bring down to 0. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const Latch: KernelClass<Latch, [count: number], []> =
  /* @__PURE__ */ kernelClass(LatchInKernel);

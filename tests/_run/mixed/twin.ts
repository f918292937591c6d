/**
 * What the classes over functions of C share, by which agents that are C play
 * the race scenarios: see `kind.ts` in the folders.
 *
 * @module
 */
import type { WasmExports } from "../../../race/mod.ts";

/** What the twins share: an agent's functions, and how it is to spin. */
export interface Agent {
  readonly c: WasmExports;
  /** The address of byte 0 of the simulated memory. */
  readonly base: number;
  readonly spinning: { rounds: number; patience: number; tells: boolean };
  readonly ClosedError: new () => Error;
  readonly DamagedError: new (subject: string) => Error;
  readonly CallError: new (message: string, abandoned?: boolean) => Error;
}

// Of memory that only one agent sees: none of the tester's stand-ins.
export const { Int32Array: Words, Uint8Array: Bytes } = globalThis;

export const EBUSY = 10;
const EDEADLK = 16;
export const EINVAL = 28;
export const EIO = 29;
export const EOWNERDEAD = 62;
const ENOTRECOVERABLE = 56;
const EPERM = 63;
export const EPIPE = 64;
export const ETIMEDOUT = 73;

/** Nanoseconds of C. */
export const ns = (ms = Infinity): bigint =>
  ms === Infinity ? -1n : BigInt(Math.round(ms * 1e6));

/** A primitive at an address. */
export class Twin {
  /** Its address. */
  readonly at: number;
  /** What its functions are named by: of a `RecordRing`, `record_ring`. */
  readonly kind: string = this.constructor.name.replace(/InC$/, "")
    .replace(/\B[A-Z]/g, "_$&").toLowerCase();

  /** Where the views of scenarios expect it. */
  readonly buffer: SharedArrayBuffer;
  readonly byteOffset: number;

  constructor(
    readonly agent: Agent,
    buffer: SharedArrayBuffer,
    byteOffset = 0,
  ) {
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.at = agent.base + byteOffset;
  }

  /** The functions, told how to spin. */
  get c(): WasmExports {
    const { c, spinning: { rounds, patience, tells } } = this.agent;
    c.race_spin!(rounds, patience, tells ? 1 : 0);
    return c;
  }

  /** Words that C reads by a pointer, and writes by one. */
  get scratch(): { at: number; words: Int32Array } {
    const { race_scratch, memory } = this.agent.c as unknown as {
      race_scratch: WebAssembly.Global;
      memory: WebAssembly.Memory;
    };
    const at = race_scratch.value as number;
    return { at, words: new Words(memory.buffer, at, 64) };
  }

  /** The bytes of {@linkcode scratch}. */
  protected get bytesOfScratch(): Uint8Array {
    const { words } = this.scratch;
    return new Bytes(words.buffer, words.byteOffset, words.byteLength);
  }

  /** Calls a function: of a mutex, `weft_mutex_unlock` for `unlock`. */
  invoke(name: string, ...args: unknown[]): number {
    return this.c[`weft_${this.kind}_${name}`]!(this.at, ...args);
  }

  /** Calls one that takes a timeout, or its `try_` form if that is 0. */
  invokeFor(name: string, timeout: number, ...args: unknown[]): number {
    return timeout === 0
      ? this.invoke(`try_${name}`, ...args)
      : this.invoke(name, ...args, ns(timeout));
  }

  abandon(id: number): number {
    return this.invoke("abandon", id);
  }

  close(): void {
    this.invoke("close");
  }

  /** Whether it was done; throws what is neither a yes nor a no. */
  succeeded(result: number): boolean {
    if (result === 0) return true;
    if (result === EBUSY || result === ETIMEDOUT) return false;
    if (result === EPIPE) throw new this.agent.ClosedError();
    if (result === ENOTRECOVERABLE) {
      throw new this.agent.DamagedError(this.kind);
    }
    if (result === EPERM || result === EDEADLK) {
      throw new TypeError(`errno ${result}`);
    }
    throw new RangeError(`errno ${result}`);
  }

  /** Calls a function, and says whether it was done. */
  protected does(name: string, ...args: unknown[]): boolean {
    return this.succeeded(this.invoke(name, ...args));
  }

  /** The same with a timeout. */
  protected doesFor(
    name: string,
    timeout: number,
    ...args: unknown[]
  ): boolean {
    return this.succeeded(this.invokeFor(name, timeout, ...args));
  }

  /** What came out into the first word, if it was done. */
  protected out(result: number): number | undefined {
    return this.succeeded(result) ? this.scratch.words[0] : undefined;
  }
}

/** A lock, whose guards say whether its last holder died. */
export class LockTwin extends Twin {
  protected guarded<G extends Guard>(
    result: number,
    guard: (abandoned: boolean) => G,
  ): G | undefined {
    const abandoned = result === EOWNERDEAD;
    return abandoned || this.succeeded(result) ? guard(abandoned) : undefined;
  }
}

export class Guard {
  constructor(readonly end: () => void, readonly abandoned = false) {}

  unlock(): void {
    this.end();
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

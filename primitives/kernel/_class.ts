/**
 * What makes a class whose hot operations run in the kernel.
 *
 * @module
 */

import {
  fromHandle,
  type Handle,
  type Memory,
  type Region,
} from "../_memory/region.ts";
import type { Elements } from "../_queue/elements.ts";
import type { Kernels } from "./_functions.ts";
import { allocateForKernel, kernelOf } from "./_instance.ts";

/** The member that every object here has in addition. */
export interface InKernel {
  /** Whether the hot operations run in the kernel. */
  readonly inKernel: boolean;
}

/**
 * A class of this module. `Config` is what `create` and `init` take, and `Size`
 * is what `byteLength` takes of it.
 */
export interface KernelClass<
  T extends Region,
  Config extends readonly unknown[],
  Size extends readonly unknown[] = Config,
> {
  /** Attaches, as the class of `@weft/sync` does. */
  new (memory: Memory, byteOffset?: number | bigint): T;
  /** How many bytes it occupies. */
  byteLength(...config: Size): number;
  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  create(...config: Config): T;
  /** Initializes one in unused memory. */
  init(memory: Memory, byteOffset: number | bigint, ...config: Config): T;
  /** Attaches to the one whose handle came in a message. */
  from(handle: T["handle"]): T;
}

/** What an object here has in addition to that of `@weft/sync`. */
export interface Parts<Functions> {
  /** The functions of the kernel; undefined if JavaScript does everything. */
  readonly kernel: Functions | undefined;
  /** The address of the primitive in the kernel's memory. */
  readonly at: number;
}

/** The class `Whole` with the {@linkcode Parts}. */
export interface InMemory<Whole, Functions> {
  readonly kind: string;
  new (memory: Memory, ...place: unknown[]): Whole & Parts<Functions>;
}

/** The class `Whole`, whose objects know their memory and its kernel. */
export function inMemory<Whole, Kind extends keyof Kernels>(
  kind: Kind,
  text: string,
  Whole: abstract new (...place: never) => Whole,
): InMemory<Whole, Kernels[Kind]> {
  class Made extends (Whole as unknown as typeof AnyRegion) {
    static readonly kind = kind;
    readonly #memory: Memory;
    readonly kernel: unknown;
    readonly at: number;

    constructor(memory: Memory, ...place: unknown[]) {
      super(memory, ...place);
      const kernel = kernelOf(kind, text, memory);
      this.#memory = memory;
      this.kernel = kernel?.functions;
      this.at = (kernel?.base ?? 0) + this.byteOffset;
    }

    get inKernel(): boolean {
      return this.kernel !== undefined;
    }

    // Other agents need the memory for their kernels, not only its buffer.
    override get handle(): Handle {
      return { ...super.handle, buffer: this.#memory };
    }
  }
  return Made as unknown as InMemory<Whole, Kernels[Kind]>;
}

/** Whatever is extended here. */
declare class AnyRegion extends Region {
  constructor(memory: Memory, ...place: unknown[]);
  protected inspected(): never;
}

/** The class `Hot` with the functions that make its objects. */
export function kernelClass<
  T extends Region,
  Config extends readonly unknown[],
>(
  Hot: InMemory<Region, unknown>,
): KernelClass<T, Config, never> {
  const Whole = Hot as unknown as
    & KernelClass<Region, Config>
    & Pick<typeof Hot, "kind">;
  class Made extends Whole {
    static override create(...config: Config): Region {
      const memory = allocateForKernel(super.byteLength(...config));
      return this.init(memory, 0, ...config);
    }
    static override init(
      memory: Memory,
      byteOffset: number | bigint,
      ...config: Config
    ): Region {
      super.init(memory, byteOffset, ...config);
      return new this(memory, byteOffset);
    }
    static override from(handle: Handle): Region {
      return new this(...fromHandle(this.kind, handle));
    }
  }
  return Made as unknown as KernelClass<T, Config, never>;
}

/** Whether `n` is a number that can be passed as an integer of C. */
export function isWord(n: unknown): n is number {
  // A BigInt has no bits to combine with 0, and an object may run code.
  return typeof n === "number" && n === (n | 0);
}

/** A word of a primitive that never changes. */
export function wordOf({ buffer, byteOffset }: Region, index: number): number {
  // Not all of the buffer: that may end in the middle of a word.
  return new Int32Array(buffer, byteOffset, index + 1)[index]!;
}

/**
 * Where the callers' arrays lie in the memory of a primitive. It remembers the
 * last array, because in Node 20 the getters of an array take long.
 */
export class Places {
  readonly #buffer: SharedArrayBuffer;
  readonly #base: number;
  #array: Elements | undefined;
  #address = -1;

  constructor(region: Region & Parts<unknown>) {
    this.#buffer = region.buffer;
    this.#base = region.at - region.byteOffset;
  }

  /** The address of `array`, or -1 if it lies in other memory. */
  addressOf(array: Elements): number {
    if (array !== this.#array) this.#find(array);
    return this.#address;
  }

  #find(array: Elements): void {
    const isHere = ArrayBuffer.isView(array) && array.buffer === this.#buffer;
    this.#address = isHere ? array.byteOffset + this.#base : -1;
    this.#array = array;
  }
}

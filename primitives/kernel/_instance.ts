/**
 * Instances of the kernel. A kernel is `wasm/kernel.c`, instantiated with a
 * WebAssembly memory.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import { explorer } from "../_memory/explored.ts";
import { allocate, inRange, type Memory } from "../_memory/memory.ts";

/** The answer of C if there is nothing to take, or no room. */
export const EBUSY = 10;
/** The answer of C if it took a lock that its dead owner did not unlock. */
export const EOWNERDEAD = 62;
/** An answer below this is a value; any other answer is an errno. */
export const NO_VALUE = 0x8000_0000; // 2^31

const PAGE = 65536;
const MAX_PAGES = 65536;
/** The section of a WebAssembly module that lists its exports. */
const EXPORTS = 7;
/** The bytes that an arena hands out begin at multiples of this. */
const LINE = 128;

/**
 * The functions of a kernel in one memory, and where that memory begins for
 * them.
 */
export interface Kernel<Functions> {
  /** The exports of the instance. */
  readonly functions: Functions;
  /** The address of the memory's first byte. */
  readonly base: number;
}

/** The exports of a module of C. */
// deno-lint-ignore no-explicit-any
type Exports = Readonly<Record<string, any>>;

/**
 * By memory: the exports that a program gave. By memory and stem: the kernels
 * that were made here.
 */
const given = /* @__PURE__ */ new WeakMap<object, Exports>();
const made = /* @__PURE__ */ new WeakMap<object, Map<string, unknown>>();
/** The compiled modules by stem; each is compiled once in a realm. */
const modules = /* @__PURE__ */ new Map<string, WebAssembly.Module>();

const isWasm = (memory: unknown): memory is WebAssembly.Memory =>
  Object.prototype.toString.call(memory) === "[object WebAssembly.Memory]";

/**
 * Where kernels and their memory come from. Tests put other functions here,
 * whose steps the race tester sees.
 */
export const source: {
  find(stem: string, text: string, memory: Memory): unknown;
  allocate(bytes: number): Memory;
} = { find, allocate: wasmMemory };

/**
 * The kernel of the primitive `stem` in `memory`; undefined if `memory` is not
 * a WebAssembly.Memory, or this realm may not compile WebAssembly.
 */
export function kernelOf<Functions>(
  stem: string,
  text: string,
  memory: Memory,
): Kernel<Functions> | undefined {
  return source.find(stem, text, memory) as Kernel<Functions> | undefined;
}

function find(stem: string, text: string, memory: Memory): unknown {
  // The race tester cannot see what a kernel does. In explored code the class
  // of `@weft/sync` does all: it is the same algorithm.
  if (!isWasm(memory) || explorer() !== undefined) return undefined;
  let kernels = made.get(memory);
  if (kernels === undefined) made.set(memory, kernels = new Map());
  if (!kernels.has(stem)) {
    kernels.set(stem, take(stem, text, memory) ?? make(stem, text, memory));
  }
  return kernels.get(stem);
}

/**
 * The functions of `stem` in the exports that the program gave for `memory`, if
 * all are there. Functions of two modules are not mixed: some leave a second
 * result in their module.
 */
function take(
  stem: string,
  text: string,
  memory: WebAssembly.Memory,
): Kernel<Exports> | undefined {
  const exports = given.get(memory);
  if (exports === undefined) return undefined;
  const functions: Record<string, unknown> = {};
  for (const name of exportsOf(decode(text))) {
    const value = exports[`weft_kernel_${stem}_${name}`];
    if (typeof value !== "function") return undefined;
    functions[name] = value;
  }
  return { functions, base: 0 };
}

/** The names that a module of ours exports; it is not compiled for that. */
function exportsOf(bytes: Uint8Array<ArrayBuffer>): string[] {
  let at = 8; // behind the magic number and the version
  const number = (): number => {
    const byte = bytes[at++]!;
    return byte < 128 ? byte : byte - 128 + 128 * number();
  };
  while (bytes[at++] !== EXPORTS) {
    const length = number();
    at += length;
  }
  number(); // the length of the section
  return Array.from({ length: number() }, () => {
    const length = number();
    const name = String.fromCharCode(...bytes.subarray(at, at + length));
    at += length + 1; // and the kind
    number(); // the index
    return name;
  });
}

function make(
  stem: string,
  text: string,
  memory: WebAssembly.Memory,
): Kernel<Exports> | undefined {
  try {
    let module = modules.get(stem);
    if (module === undefined) {
      modules.set(stem, module = new WebAssembly.Module(decode(text)));
    }
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    // Copy them, because engines look up each property of `exports` itself by
    // name.
    return { functions: { ...exports }, base: 0 };
  } catch {
    return undefined; // a Content-Security-Policy without 'wasm-unsafe-eval'
  }
}

/** The bytes of a text in base64: an AudioWorklet has no `atob`. */
function decode(text: string): Uint8Array<ArrayBuffer> {
  const digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array(text.length / 4 * 3 - padding);
  for (let i = 0, bits = 0; i < text.length - padding; i++) {
    bits = bits << 6 | digits.indexOf(text[i]!);
    if (i % 4 > 0) bytes[(i >> 2) * 3 + i % 4 - 1] = bits >> 6 - i % 4 * 2;
  }
  return bytes;
}

/**
 * Uses the exports of your WebAssembly module as the kernel for its memory, so
 * that no other module is compiled. The module must contain `wasm/kernel.c`.
 * Call this in each realm before you attach primitives to `memory`. A class of
 * which the exports lack any function uses the kernel of this library. With a
 * 64-bit memory, everything runs in JavaScript.
 *
 * @example A program with an Emscripten module
 * ```ts ignore
 * import { Mutex, useKernel } from "@weft/sync/kernel";
 *
 * const module = await createModule(); // emcc app.c weft/kernel.c …
 * useKernel(module.wasmMemory, module.wasmExports);
 * const lock = new Mutex(module.wasmMemory, module._lock());
 * ```
 *
 * @throws {TypeError} If `memory` is not a WebAssembly.Memory, or `exports` is
 * not an object.
 */
export function useKernel(
  memory: Exclude<Memory, SharedArrayBuffer>,
  exports: Readonly<Record<string, unknown>>,
): void {
  if (!isWasm(memory)) {
    throw new TypeError(
      `A kernel needs a WebAssembly.Memory: received ${describe(memory)}`,
    );
  }
  if (typeof exports !== "object" || exports === null) {
    throw new TypeError(
      `The exports of a kernel must be an object: received ${
        describe(exports)
      }`,
    );
  }
  // The functions of a 64-bit module take addresses as BigInts.
  if (has64Bits(memory)) return;
  given.set(memory, exports);
  made.delete(memory);
}

/** Whether a memory has 64-bit addresses, and so counts pages by BigInts. */
function has64Bits(memory: WebAssembly.Memory): boolean {
  try {
    memory.grow(0n as unknown as number);
    return true;
  } catch {
    return false; // it counts by numbers; nothing has changed
  }
}

/** A class of which an arena can make an object. */
export interface Arenable<T, Config extends readonly unknown[]> {
  /** How many bytes the primitive occupies. */
  byteLength(...config: never[]): number;
  /** Initializes a primitive in unused memory. */
  init(memory: Memory, byteOffset: number | bigint, ...config: Config): T;
}

/** What a memory of many primitives has besides. */
interface HandingOut extends Exclude<Memory, SharedArrayBuffer> {
  allocate(bytes: number): number;
  create<T, Config extends readonly unknown[]>(
    type: Arenable<T, Config>,
    ...config: Config
  ): T;
}

/** Makes a memory of at least `bytes` bytes that hands them out. */
export function handingOut(bytes: number): HandingOut {
  inRange("An arena's size", bytes, 1, MAX_PAGES * PAGE);
  if (typeof WebAssembly === "undefined") {
    throw new TypeError("Cannot make an arena: there is no WebAssembly here");
  }
  allocate(0); // throws where memory cannot be shared
  let end = 0;
  return Object.assign(wasmMemory(bytes), {
    allocate(size: number): number {
      const at = end;
      inRange("The bytes to allocate", size, 0, bytes - at);
      end = Math.ceil((at + size) / LINE) * LINE;
      return at;
    },
    create<T, Config extends readonly unknown[]>(
      this: HandingOut,
      type: Arenable<T, Config>,
      ...config: Config
    ): T {
      if (
        typeof type?.byteLength !== "function" ||
        typeof type.init !== "function"
      ) {
        throw new TypeError(
          "An arena makes objects of a class that has byteLength and init: " +
            `received ${describe(type)}`,
        );
      }
      const before = end;
      const at = this.allocate(
        type.byteLength(...config as unknown as never[]),
      );
      try {
        return type.init(this, at, ...config);
      } catch (error) {
        end = before; // `config` is out of range, and nobody has these bytes
        throw error;
      }
    },
  });
}

function wasmMemory(bytes: number): WebAssembly.Memory {
  const pages = Math.max(Math.ceil(bytes / PAGE), 1);
  const size = { initial: pages, maximum: pages };
  return new WebAssembly.Memory({ ...size, shared: true });
}

/**
 * Allocates memory for one primitive that runs in the kernel. Each such memory
 * reserves addresses, so the platform may run out of them.
 */
export function allocateForKernel(bytes: number): Memory {
  try {
    return source.allocate(bytes);
  } catch {
    return allocate(bytes);
  }
}

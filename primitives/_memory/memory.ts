import { brief, describe } from "./describe.ts";

/**
 * Memory that agents can share: a `SharedArrayBuffer`, or a shared
 * `WebAssembly.Memory`; anything else is refused with a TypeError.
 */
export type Memory =
  | SharedArrayBuffer
  // The types of a program for Node alone have no name `WebAssembly`.
  | (typeof globalThis extends {
    WebAssembly: { Memory: { prototype: infer Wasm extends object } };
  } ? Wasm
    : { readonly buffer: ArrayBufferLike; grow(delta: number): number });

/**
 * Whether this realm can share memory, and if not, why.
 *
 * @example Why it cannot work here
 * ```ts
 * import { isSupported, Mutex } from "@weft/sync";
 *
 * const { ok, reason } = isSupported();
 * if (!ok) console.error(reason);
 * else Mutex.create();
 * ```
 */
export function isSupported(): { ok: boolean; reason?: string } {
  const reason = whyAlone() ??
    (typeof SharedArrayBuffer === "undefined" ? whyMissing() : undefined);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}

function whyMissing(): string {
  const { crossOriginIsolated } = globalThis as {
    crossOriginIsolated?: boolean;
  };
  return crossOriginIsolated === true
    ? "SharedArrayBuffer is missing, although this page is cross-origin " +
      "isolated: this browser does not have it, or it is switched off"
    : "SharedArrayBuffer is missing: a page needs the headers " +
      "Cross-Origin-Opener-Policy: same-origin and " +
      "Cross-Origin-Embedder-Policy: require-corp; a frame, also " +
      'allow="cross-origin-isolated"';
}

/** Says why this realm cannot receive shared memory; undefined if it can. */
function whyAlone(): string | undefined {
  const kind = ["SharedWorker", "ServiceWorker"]
    .find((kind) => `${kind}GlobalScope` in globalThis);
  return kind && `a ${kind} cannot receive shared memory from a page or ` +
      "another worker: use a Worker";
}

function assertSupported(): void {
  if (typeof SharedArrayBuffer !== "undefined") return;
  throw new TypeError(`Cannot share memory: ${whyMissing()}`);
}

// The tag is used because `instanceof` fails for objects of another realm.
const tagOf = (value: unknown): string =>
  Object.prototype.toString.call(value).slice(8, -1);

// Each growth of a WebAssembly.Memory makes another buffer of it. Its first
// known buffer is the home of the others.
const homes = new WeakMap<SharedArrayBuffer, SharedArrayBuffer>();
const homesOf = new WeakMap<WebAssembly.Memory, SharedArrayBuffer>();
const memories = new WeakMap<SharedArrayBuffer, WebAssembly.Memory>();

/**
 * What all known buffers of one memory have in common, to tell them apart. For
 * a buffer, it never changes.
 */
export function homeOf(buffer: SharedArrayBuffer): SharedArrayBuffer {
  let home = homes.get(buffer);
  if (home === undefined) homes.set(buffer, home = buffer);
  return home;
}

/** Whether both are known as buffers of one memory, or `a` is its newest. */
export function isOneMemory(
  a: ArrayBufferLike,
  b: SharedArrayBuffer,
): boolean {
  if (a === b) return true;
  const home = homeOf(b);
  return homes.get(a as SharedArrayBuffer) === home ||
    memories.get(home)?.buffer === a;
}

/** Takes note of the buffer that a memory has now. */
function note(memory: WebAssembly.Memory, buffer: SharedArrayBuffer): void {
  const home = homesOf.get(memory);
  if (home === undefined) {
    homesOf.set(memory, homeOf(buffer));
    memories.set(homeOf(buffer), memory);
  } else if (!homes.has(buffer)) homes.set(buffer, home);
}

/** The current buffer of `memory`; a TypeError if it is not shared. */
export function bufferOf(memory: Memory): SharedArrayBuffer {
  assertSupported();
  const isGrowing = tagOf(memory) === "WebAssembly.Memory";
  const buffer = isGrowing ? (memory as WebAssembly.Memory).buffer : memory;
  if (tagOf(buffer) === "SharedArrayBuffer") {
    if (isGrowing) {
      note(memory as WebAssembly.Memory, buffer as SharedArrayBuffer);
    }
    return buffer as SharedArrayBuffer;
  }
  throw new TypeError(
    `Cannot use ${brief(tagOf(memory))} as shared memory: expected a ` +
      "SharedArrayBuffer or a shared WebAssembly.Memory",
  );
}

/**
 * Returns `value` if it is an integer from `low` to `high`.
 *
 * @throws {TypeError} If it is not a number.
 * @throws {RangeError} If it is a number outside that range, or not an integer.
 */
export function inRange(
  what: string,
  value: number,
  low: number,
  high: number,
): number {
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw outOfRange(what, value, low, high);
}

// This is not part of `inRange`, because engines inline `inRange` only while it
// is short.
function outOfRange(
  what: string,
  value: unknown,
  low: number,
  high: number,
): Error {
  const Failure = typeof value === "number" ? RangeError : TypeError;
  const received = describe(value);
  return new Failure(
    `${what} must be an integer from ${low} to ${high}: received ${received}`,
  );
}

/** Allocates shared memory of `byteLength` bytes, all zero. */
export function allocate(byteLength: number): SharedArrayBuffer {
  assertSupported();
  return new SharedArrayBuffer(byteLength);
}

let fresh: SharedArrayBuffer | undefined;

/**
 * What `init` makes in new memory, all of which is 0. So the system gives a
 * large region room only where it is used.
 */
export function inNewMemory<T>(
  byteLength: number,
  init: (memory: SharedArrayBuffer) => T,
): T {
  fresh = allocate(byteLength);
  try {
    return init(fresh);
  } finally {
    fresh = undefined;
  }
}

/** Whether nobody has written to that memory yet. */
export const isNew = (buffer: SharedArrayBuffer): boolean => buffer === fresh;

/** A place as a number: an address of wasm64 comes as a bigint. */
export function offsetOf(byteOffset: number | bigint): number {
  return typeof byteOffset === "bigint" ? Number(byteOffset) : byteOffset;
}

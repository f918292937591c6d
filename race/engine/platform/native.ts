/**
 * The platform as it was when this module was loaded. While the explorer runs
 * code under test, some globals are replaced by stand-ins, so the explorer
 * itself must use the functions from here.
 *
 * @module
 */

// deno-lint-ignore no-explicit-any
type Any = any;

/** The real `Atomics` object, to be put back. */
export const RealAtomics: typeof Atomics = globalThis.Atomics;

/** The real functions of `Atomics`. */
export const native: {
  load(view: Any, index: number): Any;
  store(view: Any, index: number, value: Any): Any;
  add(view: Any, index: number, value: Any): Any;
  sub(view: Any, index: number, value: Any): Any;
  and(view: Any, index: number, value: Any): Any;
  or(view: Any, index: number, value: Any): Any;
  xor(view: Any, index: number, value: Any): Any;
  exchange(view: Any, index: number, value: Any): Any;
  compareExchange(view: Any, index: number, expected: Any, value: Any): Any;
  wait(view: Any, index: number, value: Any, timeout?: number): string;
  waitAsync(view: Any, index: number, value: Any, timeout?: number): Any;
  notify(view: Any, index: number, count?: number): number;
  isLockFree(size: number): boolean;
} = {
  load: RealAtomics.load,
  store: RealAtomics.store,
  add: RealAtomics.add,
  sub: RealAtomics.sub,
  and: RealAtomics.and,
  or: RealAtomics.or,
  xor: RealAtomics.xor,
  exchange: RealAtomics.exchange,
  compareExchange: RealAtomics.compareExchange,
  wait: RealAtomics.wait as Any,
  waitAsync: (RealAtomics as Any).waitAsync,
  notify: RealAtomics.notify,
  isLockFree: RealAtomics.isLockFree,
};

/** The names of the typed arrays there are. */
export const VIEW_NAMES: readonly string[] = [
  "Int8Array",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int16Array",
  "Uint16Array",
  "Int32Array",
  "Uint32Array",
  "Float16Array",
  "Float32Array",
  "Float64Array",
  "BigInt64Array",
  "BigUint64Array",
].filter((name) => name in globalThis);

/** The real constructors of typed arrays, by name. */
export const RealViews: Record<string, Any> = {};
for (const name of VIEW_NAMES) RealViews[name] = (globalThis as Any)[name];

/** The real constructors the engine itself needs. */
export const I32: Int32ArrayConstructor = globalThis.Int32Array;
/** The real `Uint8Array`. */
export const U8: Uint8ArrayConstructor = globalThis.Uint8Array;
/** The real `Float64Array`. */
export const F64: Float64ArrayConstructor = globalThis.Float64Array;
/** The real `SharedArrayBuffer`. */
export const RealShared: SharedArrayBufferConstructor =
  globalThis.SharedArrayBuffer;
/** The real clock. */
export const RealPerformance: Performance = globalThis.performance;
/** Milliseconds by the real clock. */
export const realNow: () => number = RealPerformance.now.bind(RealPerformance);
/** The real `Date`. */
export const RealDate: DateConstructor = globalThis.Date;
/** The real `setTimeout`. */
export const realSetTimeout: typeof setTimeout = globalThis.setTimeout;

/** Whether `value` is shared memory. */
export function isShared(value: unknown): value is SharedArrayBuffer {
  return value instanceof RealShared;
}

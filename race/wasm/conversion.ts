/**
 * What stands for an access of a module in the engine: the kind of operation,
 * the view, and the values.
 *
 * @module
 */
import * as k from "../engine/kinds.ts";
import type { Access } from "./access.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The kinds of operations. */
export const KINDS: Readonly<Record<string, number>> = {
  load: k.LOAD,
  store: k.STORE,
  add: k.ADD,
  sub: k.SUB,
  and: k.AND,
  or: k.OR,
  xor: k.XOR,
  exchange: k.EXCHANGE,
  compareExchange: k.CAS,
  "plain load": k.READ,
  "plain store": k.WRITE,
};

const VIEWS: Readonly<Record<string, string>> = {
  i32: "Int32Array",
  i64: "BigInt64Array",
  f32: "Float32Array",
  f64: "Float64Array",
};

/** The name of the view that an access goes through. */
export function viewOf({ type, size, signed }: Access): string {
  const whole = type === "i64" || type === "f64" ? 8 : 4;
  return size === whole
    ? VIEWS[type]!
    : `${signed ? "Int" : "Uint"}${size * 8}Array`;
}

interface Conversion {
  /** Converts a value of wasm to an element of a view. */
  readonly into: (value: Any) => Any;
  /** Converts an element of a view to a value of wasm. */
  readonly out: (element: Any) => Any;
}

const SAME = (value: Any): Any => value;

/** How values of an access are converted. */
export function conversion({ type, size, signed, what }: Access): Conversion {
  if (type === "i64" && size < 8) {
    const bits = size * 8;
    const wrap = signed ? BigInt.asIntN : BigInt.asUintN;
    return {
      into: (value) => Number(wrap(bits, value)),
      // A store returns nothing.
      out: what.endsWith("store") ? () => undefined : (n) => BigInt(n),
    };
  }
  if (type === "i32" && size < 4) {
    const mask = size === 1 ? 0xff : 0xffff;
    return { into: (value) => value & mask, out: SAME };
  }
  return { into: SAME, out: SAME };
}

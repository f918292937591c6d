/**
 * The instructions that use memory, and the imports that take their place.
 *
 * @module
 */
import { BadModule, type Instruction } from "./binary.ts";

/** What an instruction does to memory. */
export interface Access {
  /** "load", "store", "add" ...; "plain load" and "plain store". */
  readonly what: string;
  /** The type of its value. */
  readonly type: "i32" | "i64" | "f32" | "f64";
  /** Bytes it touches. */
  readonly size: 1 | 2 | 4 | 8;
  /** Whether a narrow plain load extends the sign. */
  readonly signed: boolean;
}

/** The codes of types. */
export const TYPES = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c } as const;

/** Atomic instructions come in groups of seven. */
const SEVEN: readonly (readonly ["i32" | "i64", 1 | 2 | 4 | 8])[] = [
  ["i32", 4],
  ["i64", 8],
  ["i32", 1],
  ["i32", 2],
  ["i64", 1],
  ["i64", 2],
  ["i64", 4],
];
const ATOMIC = [
  "load",
  "store",
  "add",
  "sub",
  "and",
  "or",
  "xor",
  "exchange",
  "compareExchange",
];

const plain = (
  code: number,
  type: Access["type"],
  size: Access["size"],
  signed = false,
): [number, Access] => {
  const what = code < 0x36 ? "plain load" : "plain store";
  return [code, { what, type, size, signed }];
};
const PLAIN = new Map<number, Access>([
  plain(0x28, "i32", 4),
  plain(0x29, "i64", 8),
  plain(0x2a, "f32", 4),
  plain(0x2b, "f64", 8),
  plain(0x2c, "i32", 1, true),
  plain(0x2d, "i32", 1),
  plain(0x2e, "i32", 2, true),
  plain(0x2f, "i32", 2),
  plain(0x30, "i64", 1, true),
  plain(0x31, "i64", 1),
  plain(0x32, "i64", 2, true),
  plain(0x33, "i64", 2),
  plain(0x34, "i64", 4, true),
  plain(0x35, "i64", 4),
  plain(0x36, "i32", 4),
  plain(0x37, "i64", 8),
  plain(0x38, "f32", 4),
  plain(0x39, "f64", 8),
  plain(0x3a, "i32", 1),
  plain(0x3b, "i32", 2),
  plain(0x3c, "i64", 1),
  plain(0x3d, "i64", 2),
  plain(0x3e, "i64", 4),
]);

/** Whether an instruction asks how large memory is. */
export const asksSize = ({ code }: Instruction): boolean => code === 0x3f;

/** The access that an instruction makes to memory, if any. */
export function accessOf({ code, sub }: Instruction): Access | undefined {
  const i32 = { type: "i32", size: 4, signed: false } as const;
  const i64 = { type: "i64", size: 8, signed: false } as const;
  if (code === 0x3f || code === 0x40) return { ...i32, what: "grow" };
  if (code < 0xfc) return PLAIN.get(code);
  if (code === 0xfc && sub === 10) return { ...i32, what: "copy" };
  if (code === 0xfc && sub === 11) return { ...i32, what: "fill" };
  if (code === 0xfd && (sub <= 11 || (sub >= 84 && sub <= 93))) {
    throw new BadModule(
      "Cannot explore vectors in memory: compile without -msimd128",
    );
  }
  if (code !== 0xfe || sub === 3) return undefined;
  if (sub === 0) return { ...i32, what: "notify" };
  if (sub === 1) return { ...i32, what: "wait" };
  if (sub === 2) return { ...i64, what: "wait" };
  const what = ATOMIC[Math.floor((sub - 0x10) / 7)];
  if (what === undefined) throw new BadModule(`An unknown atomic: ${sub}`);
  const [type, size] = SEVEN[(sub - 0x10) % 7]!;
  return { what, type, size, signed: false };
}

/** The types that the import takes, without address and offset, and returns. */
export function typeOf(
  { what, type }: Access,
): [takes: number[], gives: number[]] {
  const value = TYPES[type];
  switch (what) {
    case "load":
    case "plain load":
    case "grow":
      return [[], [value]];
    case "store":
    case "plain store":
      return [[value], []];
    case "compareExchange":
      return [[value, value], [value]];
    case "wait":
      return [[value, TYPES.i64], [TYPES.i32]];
    case "notify":
      return [[TYPES.i32], [TYPES.i32]];
    case "copy":
    case "fill":
      return [[TYPES.i32, TYPES.i32], []];
    default:
      return [[value], [value]];
  }
}

/** The name of the import for an access. */
export const nameOf = ({ what, type, size, signed }: Access): string =>
  `${type} ${what} ${size * 8}${signed ? " signed" : ""}`;

/** Whether it is no atomic access. */
export const isPlain = (access: Access): boolean =>
  access.what.startsWith("plain");

/**
 * The first bytes of the parts of a value: docs/value_format.md.
 *
 * A byte below 0x40 is that number. The others up to 0xdf have a small number
 * in their low bits.
 *
 * @module
 */

/** The first byte of a message without references; with some, it is 1. */
export const PLAIN = 0;
export const REFERRING = 1;

/** With the length, below 64, of a string of Latin-1. */
export const SHORT = 0x40;
/** With the number, below 64, of a shape in the table. */
export const SHARED_SHAPE = 0x80;
/** With the length, below 16, of an array. */
export const FEW = 0xc0;
/** With the number, below 16, of a shape in this message. */
export const OWN_SHAPE = 0xd0;

export const UNDEFINED = 0xe0;
export const NULL = 0xe1;
export const FALSE = 0xe2;
export const TRUE = 0xe3;
export const INT = 0xe4;
export const DOUBLE = 0xe5;
export const UTF8 = 0xe6;
export const UTF16 = 0xe7;
export const ARRAY = 0xe8;
export const NUMBERS_1 = 0xe9;
export const NUMBERS_4 = 0xea;
export const NUMBERS_8 = 0xeb;
export const HOLES = 0xec;
export const MORE_SHAPES = 0xed;
export const KEYS = 0xee;
export const PAIRS = 0xef;
export const REFERENCE = 0xf0;
export const BIGINT = 0xf1;
export const DATE = 0xf2;
export const REGEXP = 0xf3;
export const MAP = 0xf4;
export const SET = 0xf5;
export const BUFFER = 0xf6;
export const VIEW = 0xf7;
export const ERROR = 0xf8;
export const BOXED = 0xf9;
export const LATIN1 = 0xfa;
export const RESIZABLE = 0xfb;
/** A property that a getter deleted; no message that is sent has it. */
export const DELETED = 0xff;

/** Values that are nested deeper are refused. */
export const DEEPEST = 1000;

/** The most keys of a shape, and the most bytes of their text. */
export const MOST_KEYS = 64;
export const MOST_TEXT = 1024;

/**
 * The most bytes of memory that the resizable buffers of a message may reserve
 * for their growth, and what each of them counts as at least: the system has
 * few mappings.
 */
export const MOST_RESERVED = 2 ** 28;
export const LEAST_RESERVED = 2 ** 16;

/** Added to the type of a view that is as long as its buffer. */
export const FOLLOWS = 0x80;

/** The types of views, by their numbers in messages. */
export const VIEWS = [
  "DataView",
  "Int8Array",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int16Array",
  "Uint16Array",
  "Int32Array",
  "Uint32Array",
  "Float32Array",
  "Float64Array",
  "BigInt64Array",
  "BigUint64Array",
  "Float16Array",
] as const;

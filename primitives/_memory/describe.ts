/** The most letters of a value that an error message shows. */
const MOST = 100;

/** The most bits of a bigint that is written out: digits take time. */
const MOST_BITS = 300;

/** The beginning of a text that may be long, for an error message. */
export function brief(text: string, most: number = MOST): string {
  return text.length > most ? `${text.slice(0, most)}...` : text;
}

/** The name of a kind with its article: `an event`, `an spsc_queue`. */
export const aKind = (kind: string): string =>
  `${/^(a|e|mpmc|rw|spsc)/.test(kind) ? "an" : "a"} ${kind}`;

/**
 * Names a value in an error message: `50n`, `"50"`, `[object Array]`. Of a long
 * one it shows the beginning. It calls no method of the value. Only a hostile
 * value makes it throw: one whose tag is a getter that throws, or a revoked
 * proxy.
 */
export const describe = (value: unknown): string => brief(textOf(value));

/** The same, but a primitive is named by its kind: `a mutex`. */
export function describeAny(value: unknown): string {
  const kind = (value as { readonly kind?: unknown } | undefined)?.kind;
  return typeof kind === "string" ? aKind(brief(kind)) : describe(value);
}

function textOf(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.slice(0, MOST));
    case "bigint":
      return BigInt.asIntN(MOST_BITS, value) === value
        ? `${value}n`
        : `a bigint of more than ${MOST_BITS} bits`;
    case "function":
      return "a function";
    case "object":
      if (value !== null) return Object.prototype.toString.call(value);
  }
  return Object.is(value, -0) ? "-0" : String(value);
}

/**
 * Whether it is a Uint8Array. `instanceof` fails for one of another realm, such
 * as tests run in.
 */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array ||
    ArrayBuffer.isView(value) && describe(value) === "[object Uint8Array]";
}

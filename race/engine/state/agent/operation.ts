/**
 * What an operation does to memory, and the numbers by which it stands in a
 * record.
 *
 * @module
 */
import type { Snapshot } from "./snapshot.ts";
import * as k from "../../kinds.ts";
import { Unsupported } from "../../kinds.ts";
import type { Call } from "../../model.ts";
import { native } from "../../platform/native.ts";
import { bits, mix1, mix2, show } from "../../values.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** What `perform` returns for an operation that puts the agent to sleep. */
export const BLOCK: unique symbol = Symbol("block");

/** Does an operation that neither waits nor notifies. */
export function execute(
  kind: number,
  view: Any,
  i: number,
  a: Any,
  b: Any,
): Any {
  switch (kind) {
    case k.LOAD:
      return native.load(view, i);
    case k.STORE:
      return native.store(view, i, a);
    case k.ADD:
      return native.add(view, i, a);
    case k.SUB:
      return native.sub(view, i, a);
    case k.AND:
      return native.and(view, i, a);
    case k.OR:
      return native.or(view, i, a);
    case k.XOR:
      return native.xor(view, i, a);
    case k.EXCHANGE:
      return native.exchange(view, i, a);
    case k.CAS:
      return native.compareExchange(view, i, a, b);
    case k.READ:
      return view[i];
    case k.WRITE:
      view[i] = a;
      return undefined;
    default:
      throw new Unsupported(`Cannot do this here: ${k.OP_NAMES[kind]}`);
  }
}

/** The number that stands for a state of an agent in a loop. */
export function roundOf(h1: number, h2: number): number {
  return (h1 >>> 0) * 0x200000 + (h2 >>> 11);
}

/** The number that stands for an operation in a record. */
export function signature(kind: number, address: number): number {
  return kind + address * 32;
}

/** The number that stands for an operation's arguments in a record. */
export function argBits(a: unknown, b: unknown): number {
  const first = typeof a === "number" && (a | 0) === a ? a : bits(a);
  return b === 0 ? first : mix1(mix2(first, 31), bits(b));
}

/** The address in a signature. */
export function signedAddress(signature: number): number {
  return Math.floor(signature / 32);
}

/** The words that a call has written: they say what kind of failure it is. */
export function writtenIn(
  { from, n, sig }: Pick<Snapshot, "from" | "n" | "sig">,
): string {
  const written = new Set<number>();
  for (let i = from; i < n; i++) {
    if (k.writes(sig[i]! % 32)) written.add(signedAddress(sig[i]!));
  }
  return [...written].sort().join();
}

/** A call as text. */
export function callText({ op, arg }: Call): string {
  return `${op}(${arg === undefined ? "" : show(arg)})`;
}

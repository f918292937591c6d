import { EPIPE, ns, Twin } from "../_run/mixed/twin.ts";

/** What writes the arm that takes from it, and the one that adds to it. */
const ENDS: Readonly<Record<string, readonly [string, string]>> = {
  channel: ["receiving", "sending"],
};

/** An arm as a scenario gives it: to take from a queue, or to add to one. */
type Arm = Twin | {
  readonly sink: Twin;
  /** Of a ring, a record of one byte. */
  readonly value: number | Uint8Array;
};

interface Limits {
  readonly timeout?: number;
}

/** Words of a `weft_arm`, and where the arms and the lengths of records lie. */
const WORDS = 12;
const ARMS = 16, LENGTHS = 8;

/**
 * Calls a function of C with these arms; the result, the index and the value.
 */
function call(
  name: string,
  { c, scratch: { at, words } }: Twin,
  arms: readonly Arm[],
  { timeout }: Limits = {},
): [result: number, index: number, value: number] {
  arms.forEach((arm, i) => {
    const takes = arm instanceof Twin;
    const queue = takes ? arm : arm.sink;
    words[1 + i] = takes
      ? 0
      : typeof arm.value === "number"
      ? arm.value
      : arm.value[0]!;
    words[LENGTHS + i] = 4;
    const value = at + 4 * (1 + i), length = at + 4 * (LENGTHS + i);
    const place = at + 4 * (ARMS + i * WORDS);
    const [takesIt, addsIt] = ENDS[queue.kind] ?? ["popping", "pushing"];
    const make = c[`weft_${queue.kind}_${takes ? takesIt : addsIt}`]!;
    // Only a record has a length: one to push has a byte.
    const more = queue.kind === "record_ring" ? [takes ? length : 1] : [];
    make(place, queue.at, value, ...more);
  });
  const result = c[name]!(at + 4 * ARMS, arms.length, ns(timeout), at);
  const index = words[0]!;
  return [result, index, words[1 + index]!];
}

/** `select.blocking` of an agent that is C. */
function select(twin: Twin, arms: readonly Arm[], limits?: Limits) {
  const [result, index, value] = call("weft_select_first", twin, arms, limits);
  if (result === EPIPE) return { index, done: true, value: undefined };
  if (!twin.succeeded(result)) return undefined;
  const takes = arms[index] instanceof Twin;
  return { index, done: false, value: takes ? value : undefined };
}

/** `waitAny.blocking`, the same way. */
function waitAny(twin: Twin, sources: readonly Twin[], limits?: Limits) {
  const [result, index] = call("weft_wait_any", twin, sources, limits);
  return twin.succeeded(result) ? index : undefined;
}

/** An arm that adds to a queue of C. */
const sending = (_: Twin, sink: Twin, value: number | Uint8Array) => ({
  sink,
  value,
});

/** The functions of C, by the names of those that they stand for. */
export const functions = { select, waitAny, sending };

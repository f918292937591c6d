import { EPIPE, ns, Twin } from "../_run/mixed/twin.ts";

/**
 * Which arms there are, in `select_blocking.h`. A channel has a capacity of 0.
 */
const WHAT = {
  SpscQueueInC: 1,
  MpmcQueueInC: 3,
  ChannelInC: 5,
  LockFreeQueueInC: 7,
  RecordRingInC: 9,
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

/** Words of an arm, and where the arms and the lengths of records lie. */
const WORDS = 8;
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
    const what = WHAT[queue.constructor.name as keyof typeof WHAT];
    words[1 + i] = takes
      ? 0
      : typeof arm.value === "number"
      ? arm.value
      : arm.value[0]!;
    const bytes = !takes && typeof arm.value !== "number" ? 1 : 4;
    words[LENGTHS + i] = 4;
    const value = at + 4 * (1 + i), length = at + 4 * (LENGTHS + i);
    words.set(
      takes
        ? [what, queue.at, value, 0, -1, -1, 0, length]
        : [what + 1, queue.at, 0, value, -1, -1, bytes, 0],
      ARMS + i * WORDS,
    );
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

import { EPIPE, ns, Twin } from "../_run/mixed/twin.ts";

/**
 * Writes the arm of an end of a queue of C. `length` is where the length of a
 * record to pop lies, `bytes` that of one to push.
 */
const MAKES = {
  SpscQueueInC: (c, arm, { takes, queue, value }) =>
    takes
      ? c.weft_spsc_queue_popping!(arm, queue, value)
      : c.weft_spsc_queue_pushing!(arm, queue, value),
  MpmcQueueInC: (c, arm, { takes, queue, value }) =>
    takes
      ? c.weft_mpmc_queue_popping!(arm, queue, value)
      : c.weft_mpmc_queue_pushing!(arm, queue, value),
  LockFreeQueueInC: (c, arm, { takes, queue, value }) =>
    takes
      ? c.weft_lock_free_queue_popping!(arm, queue, value)
      : c.weft_lock_free_queue_pushing!(arm, queue, value),
  RecordRingInC: (c, arm, { takes, queue, value, length, bytes }) =>
    takes
      ? c.weft_record_ring_popping!(arm, queue, value, length)
      : c.weft_record_ring_pushing!(arm, queue, value, bytes),
  ChannelInC: (c, arm, { takes, queue, value }) =>
    takes
      ? c.weft_channel_receiving!(arm, queue, value)
      : c.weft_channel_sending!(arm, queue, value),
} satisfies Record<string, (c: Twin["c"], arm: number, end: End) => unknown>;

interface End {
  readonly takes: boolean;
  readonly queue: number;
  readonly value: number;
  readonly length: number;
  readonly bytes: number;
}

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
    const bytes = !takes && typeof arm.value !== "number" ? 1 : 4;
    words[LENGTHS + i] = 4;
    const value = at + 4 * (1 + i), length = at + 4 * (LENGTHS + i);
    const make = MAKES[queue.constructor.name as keyof typeof MAKES];
    const place = at + 4 * (ARMS + i * WORDS);
    make(c, place, { takes, queue: queue.at, value, length, bytes });
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

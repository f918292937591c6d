import { type Codec, codec, inPlace, task } from "../../primitives/pool.ts";
import { field, struct } from "../../primitives/struct.ts";

/** A record that travels as its bytes. */
const Pair = struct({ a: "i32", b: "f64" });

/** A record that has bytes in it. */
const Marked = struct({ mark: field.bytes(4), n: "u32" });

/** A codec that always asks for one byte more. */
const greedy: Codec<number> = {
  name: "greedy",
  encode: (_, into) => into.length + 1,
  decode: () => 0,
};

/** A codec of one's own: a date. */
const date: Codec<Date> = {
  name: "date.v1",
  encode(value, into) {
    if (!(value instanceof Date)) throw new TypeError("it is no Date");
    if (into.length >= 8) {
      new DataView(into.buffer, into.byteOffset).setFloat64(0, +value);
    }
    return 8;
  },
  decode: ({ buffer, byteOffset }) =>
    new Date(new DataView(buffer, byteOffset).getFloat64(0)),
};

/** What is moved to a task, and back. */
export interface Moving {
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly port?: MessagePort;
  readonly shared?: Int32Array;
  readonly how?: "copy" | "exit" | "throw" | "wrong" | "wait";
}

/** The tasks of these tests. */
export const tasks = {
  /** The bytes, each one more. */
  add: task({ request: codec.binary, reply: codec.binary }),
  sum: task({ request: codec.record(Pair), reply: codec.f64 }),
  /** The same bytes, each one more. */
  increment: task({ request: inPlace, reply: inPlace }),
  tomorrow: task({ request: date, reply: date }),
  echo: task(),
  /** The same in JSON. */
  text: task({ request: codec.json, reply: codec.json }),
  /** Returns nothing, after `ms`. */
  sleep: task<number | undefined, undefined>(),
  fail: task<string, never>(),
  throwValue: task<{ text: string }, never>(),
  /** Sets a word of shared memory that `share` was given. */
  repeat: task<{ text: string; n: number }, string>({ idempotent: true }),
  /** Ends the worker at the first time. */
  die: task<"exit" | "throw", number>(),
  dieOnce: task<number, number>({ idempotent: true }),
  sumOnce: task({
    request: codec.record(Pair),
    reply: codec.f64,
    idempotent: true,
  }),
  dieLong: task<string, string>({ idempotent: true }),
  dieAlways: task<undefined, number>({ idempotent: true }),
  /** Runs until nobody wants it; then leaves a mark. */
  spin: task<undefined, number>(),
  wait: task<undefined, number>(),
  /** Counts calls of `then`; at the second time, returns the most. */
  thens: task<undefined, number | undefined>(),
  /** How often `spin` and `wait` ended in this worker. */
  ended: task<undefined, number>(),
  /** Reports the numbers below `count`; returns, or throws, `end`. */
  report: task<{ count: number; end: unknown; throws?: boolean }, unknown>(),
  /** Returns the messages that it hears up to "end". */
  listen: task<undefined, unknown[]>({ idempotent: true }),
  /** Adds to the bytes of a {@linkcode Moving}, and moves it back. */
  move: task({ idempotent: true }),
  /** Waits in a loop of 1 ms until the gate is open, and notes its number. */
  gate: task<number, number>(),
  /** Waits there, and ends its worker. */
  dieAtGate: task<number, number>(),
  /** The mark of a record. */
  mark: task({ request: codec.record(Marked), reply: codec.binary }),
  /** Its result can never be sent. */
  greedy: task({ request: codec.binary, reply: greedy }),
  /** A task that no worker has a function for. */
  missing: task(),
};

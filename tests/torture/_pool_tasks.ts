import { codec, task } from "../../primitives/pool.ts";

/** What each task of the storm is asked for. */
export interface Ask {
  /** Which task it is. */
  readonly at: number;
  /** A length, or a time in ms. */
  readonly n: number;
  /** How many numbers it reports before. */
  readonly reports?: number;
  /** Whether it returns the message that it hears. */
  readonly hears?: boolean;
}

/** The tasks of the storm on a pool. */
export const tasks = {
  /** Returns a text of `n` characters; a long one comes in a message. */
  text: task<Ask, string>(),
  /** The bytes, each of them one more. */
  bytes: task({ request: codec.binary, reply: codec.binary }),
  /** Returns after `n` ms, and leaves the thread to others meanwhile. */
  nap: task<Ask, number>(),
  /** Keeps its thread busy for `n` ms. */
  spin: task<Ask, number>(),
  /** As `text`, and it may be done again. */
  again: task<Ask, string>({ idempotent: true }),
  /** Throws an error whose message has `n` characters. */
  fail: task<Ask, never>(),
  /** Returns something odd. */
  odd: task<Ask, unknown>(),
  /** Throws something odd. */
  oddly: task<Ask, never>(),
  /** Returns when nobody waits for it. */
  wait: task<Ask, null>(),
  /** Ends its worker. */
  die: task<Ask, null>(),
  dieAgain: task<Ask, null>({ idempotent: true }),
};

/** What `odd` returns and `oddly` throws; the last one cannot be sent. */
export const ODD_VALUES: readonly unknown[] = [
  undefined,
  null,
  { a: [1, "ü", new Map([[new Date(5), Uint8Array.of(1)]])] },
  10n,
  () => {},
];

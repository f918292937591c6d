/**
 * What a view of a primitive keeps between its operations: its fields that
 * change. The views of most kinds in `RETURNS` keep nothing; those of others
 * tell it by a method `explored`.
 *
 * @module
 */

// deno-lint-ignore no-explicit-any
type Any = any;

/** How many classes a view has before the one of all primitives; else 1. */
const LAYERS: Readonly<Record<string, number>> = {
  mpmc_queue: 5,
  lock_free_queue: 5,
  record_ring: 6,
  channel: 5,
  broadcast: 3,
  subscription: 3,
};

/** Codecs that only look at a plain value, and keep nothing. */
const CODECS = ["i32", "f64", "text", "json", "value"];

/**
 * Whether all is known that a view of a kind in `RETURNS` keeps, after an
 * operation with these arguments, too: its class is the library's, and no
 * user's class over it. A tracked barrier's view keeps which row is its own.
 */
export function mayTell(view: Any, args: readonly unknown[]): boolean {
  const { kind, tracked } = view;
  const rows = kind === "barrier" || kind === "rw_lock";
  if (rows && tracked !== 0) return false;
  if (kind === "channel" && !maySend(view, args)) return false;
  let base = Object.getPrototypeOf(view);
  if (Object.hasOwn(base, "asyncAt")) return true; // it carries a channel
  for (let i = LAYERS[kind] ?? 1; i > 0 && base !== null; i--) {
    base = Object.getPrototypeOf(base);
  }
  return base !== null && Object.hasOwn(base, "kind");
}

/**
 * The codec of a channel may keep what it knows of objects, and a port how long
 * the messages of a single sender were. A channel of capacity 0 keeps what its
 * waits have offered.
 */
function maySend(
  { codec, capacity, port }: Any,
  args: readonly unknown[],
): boolean {
  return CODECS.includes(codec.name) && capacity > 0 &&
    QUEUES.includes(port.queue.kind) && port.queue.singleProducer !== true &&
    args.every((arg) => Object(arg) !== arg);
}

/** What carries the messages of a channel. */
const QUEUES = ["mpmc_queue", "lock_free_queue", "record_ring"];

/** What a view keeps, as text. */
export function keptBy(view: Any): string {
  const { kind } = view;
  if (kind === "channel") return keptBy(view.port.queue);
  return view.explored === undefined ? "" : `${view.explored()}`;
}

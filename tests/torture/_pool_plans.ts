/**
 * The plans of the storm on a `Pool`: data that says what clients do to it.
 *
 * @module
 */
import fc from "../_run/property.ts";
import { mostly } from "./_storm.ts";

const WELL = ["text", "again", "bytes", "nap", "spin"] as const;
const ODD = ["fail", "odd", "oddly", "wait"] as const;
const DEADLY = ["die", "dieAgain"] as const;

/** The client goes on after this many ms; -1: at once. */
const then = mostly(-1, fc.nat(3));

const run = fc.record({
  what: fc.constant("run" as const),
  kind: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...WELL) },
    { weight: 12, arbitrary: fc.constantFrom(...ODD) },
    { weight: 3, arbitrary: fc.constantFrom(...DEADLY) },
  ),
  n: fc.oneof(fc.nat(8), fc.nat(300), fc.constant(20_000)),
  priority: fc.nat(3),
  /** After this many ms it is aborted; -1: never. */
  abort: mostly(-1, fc.nat(6)),
  timeout: mostly(Infinity, fc.nat(6)),
  terminate: mostly(false, fc.constant(true)),
  then,
});

const map = fc.record({
  what: fc.constant("map" as const),
  count: fc.nat(12),
  limit: fc.integer({ min: 1, max: 6 }),
  ordered: fc.boolean(),
  /** The loop is left after this many results. */
  leave: mostly(Infinity, fc.nat(6)),
  then,
});

const resize = fc.record({
  what: fc.constant("resize" as const),
  workers: fc.nat(4),
  then,
});

/** Ends one of the workers from outside. */
const kill = fc.record({
  what: fc.constant("kill" as const),
  which: fc.nat(9),
  then,
});

const room = fc.record({ what: fc.constant("room" as const), then });

/** Writes a length that no reply has to a slot with a result. */
const damage = fc.record({
  what: fc.constant("damage" as const),
  length: fc.constantFrom(-1, 31, 6000),
  then,
});

const steps = fc.oneof(
  { weight: 24, arbitrary: run },
  { weight: 2, arbitrary: map },
  { weight: 2, arbitrary: resize },
  { weight: 3, arbitrary: kill },
  { weight: 1, arbitrary: room },
  { weight: 1, arbitrary: damage },
);

/** What is done to a pool. */
export const plans = fc.record({
  workers: fc.integer({ min: 1, max: 3 }),
  slots: fc.integer({ min: 1, max: 8 }),
  ahead: fc.option(fc.nat(3), { nil: undefined }),
  bytes: fc.constantFrom(128, 5000),
  blocking: fc.boolean(),
  limit: fc.integer({ min: 1, max: 3 }),
  /** Whether the clients wait until the workers have started. */
  ready: mostly(true, fc.boolean()),
  clients: fc.array(
    fc.array(steps, { minLength: 1, maxLength: 40, size: "max" }),
    { minLength: 1, maxLength: 3 },
  ),
  /** How it ends, and whether that comes before all tasks are over. */
  end: fc.constantFrom("close", "terminate"),
  early: mostly(false, fc.constant(true)),
  // What came later stands last, so that a seed has the plans that it had.
  maxQueue: mostly<number | undefined>(undefined, fc.nat(6)),
  /** How it is closed, and the timeout in ms. */
  close: mostly<"" | "force" | "timeout">(
    "",
    fc.constantFrom("force", "timeout"),
  ),
  within: fc.nat(6),
  /**
   * How many workers there may be besides `workers`, and for how long, in ms.
   */
  more: mostly(0, fc.nat(3)),
  idle: fc.nat(8),
  /** After this many tasks a worker is replaced. */
  recycle: mostly<number | undefined>(
    undefined,
    fc.integer({ min: 1, max: 5 }),
  ),
  /** Whether tasks report, and are sent messages. */
  talks: fc.boolean(),
});

type Of<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
/** A task, and how it is to be done. */
export type Run = Of<typeof run>;
/** Tasks of `map` or `mapSettled`. */
export type Map = Of<typeof map>;
/** What one client does. */
export type Step = Of<typeof steps>;
/** What is done to a pool. */
export type Plan = Of<typeof plans>;

/** Whether it is `map`, or `mapSettled` of tasks that end well or fail. */
export const howOf = ({ count }: Map): "map" | "settled" | "failing" =>
  (["map", "settled", "map", "failing"] as const)[count % 4]!;

/**
 * Tells from time to time what has changed in primitives.
 *
 * @module
 */

import { assertFunction, inRange } from "../_memory/region.ts";
import { type Facts, factsOf, factText, lineOf } from "./_facts.ts";
import { assertOptions, assertSignal } from "../_memory/options.ts";
import { namedViews, type View, type Views } from "./_parts.ts";
import { offAbort, onAbort } from "../_wait/aborts.ts";
import { refer } from "../_wait/times.ts";
import { inspect, type Problem } from "./inspect.ts";

export type { Facts } from "./_facts.ts";
export type { View, Views } from "./_parts.ts";
export type { Problem } from "./inspect.ts";

/** The longest time between two looks, in ms: timers have 31 bits. */
const MOST_MS = 0x7fff_ffff;

/** The state of one primitive at one moment. */
export interface State {
  /** Owner, waiters, size and the like. */
  readonly facts: Facts;
  /** Its words, by name. */
  readonly words: Readonly<Record<string, number>>;
  /** What does not fit together. */
  readonly problems: readonly Problem[];
}

/** A change of one primitive. */
export interface Change {
  /** Its name in the layout, or "". */
  readonly name: string;
  /** Its view. */
  readonly primitive: View;
  /** What it was at the last look; undefined at the first one. */
  readonly before: State | undefined;
  /** What it is now. */
  readonly after: State;
}

/** How {@linkcode watch} looks, and what it does then. */
export interface WatchOptions {
  /** The milliseconds from one look to the next; 1000 unless given. */
  readonly every?: number | undefined;
  /**
   * Gets the lines that tell the changes, and the changes themselves. Unless
   * given, `console.log` prints the lines. It is not called if nothing changed.
   */
  readonly write?:
    | ((text: string, changes: readonly Change[]) => void)
    | undefined;
  /** An abort ends the watch. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Looks at `primitives` every second, and writes a line for each that has
 * changed: in a terminal, or wherever `write` puts it. The first look, which is
 * at once, tells all. `primitives` is what a `layout` gave, a list of views, or
 * one view; an `AgentTable` among them is left out. The words are read by
 * `inspect`: nothing is written there, and no agent is slowed down.
 *
 * Returns a function that ends the watch. A watch does not keep the process
 * alive. It needs an event loop: an agent that blocks does not look.
 *
 * C twin: none; it reads what C has changed, too.
 *
 * @example What happens to a lock and its queue?
 * ```ts
 * import { layout, MpmcQueue, Mutex } from "@weft/sync";
 * import { watch } from "@weft/sync/watch";
 *
 * const shared = layout({ lock: Mutex, jobs: [MpmcQueue, { capacity: 8 }] });
 * const stop = watch(shared.create(), { every: 500 });
 * // lock: Mutex { owner 0, waiters 0 }
 * // jobs: MpmcQueue { size 0, capacity 8, waiters 0 }
 * // and later, such as: jobs: MpmcQueue { size 0 -> 3, … } tail 0 -> 6
 * stop();
 * ```
 *
 * @throws {TypeError} If one of `primitives` is not a primitive, or an option
 * is unknown or of a wrong type.
 * @throws {RangeError} If `every` is not from 1 to 2^31 - 1.
 */
export function watch(
  primitives: View | Iterable<View> | Views,
  options: WatchOptions = {},
): () => void {
  const views = namedViews(primitives, "watch")
    .filter(([, { kind }]) => kind !== "agent_table");
  assertOptions(options, ["every", "write", "signal"]);
  const { every = 1000, write = print, signal } = options;
  inRange("every", every, 1, MOST_MS);
  assertFunction(write);
  assertSignal(signal);
  if (signal?.aborted) return () => {};
  const states: State[] = [];
  const look = () => {
    const changes: Change[] = [];
    for (const [i, [name, primitive]] of views.entries()) {
      const before = states[i];
      const after = states[i] = stateOf(primitive);
      if (before !== undefined && isSame(before, after)) continue;
      changes.push({ name, primitive, before, after });
    }
    if (changes.length > 0) write(changes.map(textOf).join("\n"), changes);
  };
  look(); // if it throws, there is no watch
  if (signal?.aborted) return () => {};
  const timer = setInterval(look, every);
  refer(timer, false);
  const stop = () => {
    clearInterval(timer);
    if (signal !== undefined) offAbort(signal, stop);
  };
  if (signal !== undefined) onAbort(signal, stop, stop);
  return stop;
}

// deno-lint-ignore no-console -- to print is what it is for
const print = (text: string): void => console.log(text);

function stateOf(view: View): State {
  const { words, problems, ...told } = inspect(view);
  return { facts: factsOf(view, told), words, problems };
}

/** Whether nothing has changed. */
const isSame = (before: State, after: State): boolean =>
  changed(before.words, after.words).length === 0 &&
  changed(before.facts, after.facts).length === 0 &&
  before.problems.map(textOfProblem).join() ===
    after.problems.map(textOfProblem).join();

const textOfProblem = ({ word, value, text }: Problem): string =>
  `\n  ${word} is ${value}: ${text}`;

/** The names of the facts, or words, that differ. */
function changed(before: Facts, after: Facts): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]);
}

/** A line, such as `lock: Mutex { owner 0 -> 7, waiters 0 } state 0 -> 7`. */
function textOf({ name, primitive, before, after }: Change): string {
  const { facts, words, problems } = after;
  const parts = Object.entries(facts).map(([fact, value]) =>
    typeof value === "number" && before?.facts[fact] !== undefined &&
      before.facts[fact] !== value
      ? `${fact} ${before.facts[fact]} -> ${value}`
      : factText(fact, value)
  );
  const label = name === "" ? "" : `${name}: `;
  const moved = changed(before?.words ?? words, words).map((word) =>
    ` ${word} ${before!.words[word]} -> ${words[word]}`
  );
  return `${label}${lineOf(primitive.kind, parts)}${moved.join(",")}` +
    problems.map(textOfProblem).join("");
}

/**
 * The order of the operations of this agent that await the same word, and the
 * end of all of them.
 *
 * @module
 */

import {
  priorityOf,
  TRY_TURN,
  type TryTurnOptions,
  TURN,
  type TurnOptions,
} from "../_memory/options.ts";
import { endAt } from "./line.ts";
import { runsOf } from "./runs.ts";
import { abort, blockAsync, tryBlockAsync, type Waiting } from "./wait.ts";
import type { Waiter } from "./waiter.ts";

/** Where operations await their turn. */
interface Place {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly index: number;
}

/**
 * As `blockAsync`, in the order of priorities. All sleeps of the path are at
 * `place`, so that it keeps its turn.
 *
 * @throws {TypeError} If an option is unknown or of a wrong type.
 * @throws {RangeError} If the priority is NaN.
 */
export function blockInTurn<T>(
  place: Place,
  start: () => Waiting<T>,
  options: TurnOptions | undefined,
): Promise<T> {
  return inTurn(place, start, options, blockAsync, TURN);
}

/** As `tryBlockAsync`, in the order of priorities. */
export function tryBlockInTurn<T>(
  place: Place,
  start: () => Waiting<T>,
  options: TryTurnOptions | undefined,
): Promise<T> {
  return inTurn(place, start, options, tryBlockAsync, TRY_TURN);
}

function inTurn<T>(
  { words, index }: Place,
  start: () => Waiting<T>,
  options: TurnOptions | undefined,
  run: typeof blockAsync<T>,
  known: readonly string[],
): Promise<T> {
  const priority = priorityOf(options);
  let path: Waiting<T> | undefined;
  const result = run(() => path = start(), options, known);
  const waiter = endAt(words, index)?.before;
  // It is in line, as the last one, unless it has ended already. A call whose
  // signal was aborted has no path, and neither has the mark of an empty line.
  if (!path || waiter?.waiting !== path) return result;
  runsOf(waiter.line!).enter(waiter, priority);
  return result;
}

/** The operations of this agent that await there, and can be ended. */
export function awaitingAt({ words, index }: Place): Waiter[] {
  const end = endAt(words, index);
  const waiters: Waiter[] = [];
  if (end === undefined) return waiters;
  for (let { behind } = end; behind !== end; behind = behind.behind) {
    if (!behind.sleep.patient) waiters.push(behind);
  }
  return waiters;
}

/**
 * Ends these operations as an abort does: what is served already is not lost.
 * Returns how many those were.
 */
export function cancelAt(place: Place, reason: unknown): number {
  const waiters = awaitingAt(place);
  for (const waiter of waiters) {
    const { reject } = waiter;
    waiter.reject = () => reject(reason);
    abort(waiter);
  }
  return waiters.length;
}

/**
 * One execution, from the start to its end.
 *
 * @module
 */
import { Choices, choices } from "../engine/choices.ts";
import * as k from "../engine/kinds.ts";
import type { Fault } from "../engine/kinds.ts";
import type { Chooser, Engine, Steps } from "../engine/replay.ts";
import { apply, begin } from "../engine/steps.ts";
import { judgeEnd, judgeLockFree, judgeQuiet } from "../judge/progress.ts";
import type { SearchOptions } from "./search.ts";

/** What can be chosen now. */
const here = new Choices();

/** A given schedule. */
export class Fixed implements Chooser {
  #at = 0;
  readonly #codes: readonly number[];

  /** The schedule `codes`. */
  constructor(codes: readonly number[]) {
    this.#codes = codes;
  }

  /** The next of the schedule. */
  choose(): number {
    return this.#codes[this.#at++] ?? k.END;
  }
}

/** What an execution is checked for. */
export type RunOptions = Pick<
  SearchOptions,
  "lockFree" | "rescue" | "looks" | "onEnd"
>;

/** One execution, from the start to its end. */
export function* run(
  engine: Engine,
  chooser: Chooser,
  o: RunOptions,
): Steps<Fault | null> {
  const { world } = engine;
  engine.chooser = chooser;
  yield* begin(engine);
  while (world.fault === null) {
    let code = engine.next;
    engine.next = k.END;
    if (code === k.END) {
      if (choices(engine, here) === 0) {
        judgeQuiet(engine, o);
        if (world.fault !== null) break;
      }
      code = chooser.choose(engine);
    }
    if (code < 0) break;
    if (chooser instanceof Fixed && !isPossible(engine, code, here)) continue;
    yield* apply(engine, code, true);
    if (o.lockFree !== "no" && world.fault === null) {
      judgeLockFree(engine, o.lockFree === "all");
    }
  }
  if (world.fault === null && choices(engine, here) === 0) {
    if (here.over) {
      judgeEnd(engine);
      o.onEnd?.(engine);
    }
  }
  return world.fault;
}

/** A schedule that cannot be followed. */
export class Impossible extends RangeError {}

/** A schedule from outside may name what cannot happen. */
function isPossible(engine: Engine, code: number, here: Choices): boolean {
  const { agents, schedule } = engine.world;
  choices(engine, here);
  if (here.has(code)) return true;
  // More steps than an agent has left are no harm.
  if (agents[k.agentOf(code)]?.status === k.DONE) return false;
  throw new Impossible(
    `Cannot replay the schedule: step ${schedule.length + 1}, ` +
      `"${k.scheduleText([code])}", is not possible`,
  );
}

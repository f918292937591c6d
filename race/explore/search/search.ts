/**
 * The exhaustive search. It visits every reachable state once, first with all
 * states told apart, and then, if there are many, with those of agents that
 * have the same future taken for one.
 *
 * @module
 */
import { Choices, choices } from "../../engine/step/choices.ts";
import { realNow } from "../../engine/platform/native.ts";
import { EACH, failBusy, rotate } from "../../judge/fair.ts";
import * as k from "../../engine/kinds.ts";
import { Endless } from "../../engine/equal/automaton.ts";
import { Classes } from "../../engine/equal/classes.ts";
import { Apart, Futures, HOPELESS } from "../../engine/equal/futures.ts";
import type { Engine, Steps } from "../../engine/step/replay.ts";
import { apply, begin } from "../../engine/step/steps.ts";
import { scout } from "../runs/rehearse.ts";
import { COMPARE, type Found, type SearchOptions } from "../runs/task.ts";
import { isBusy, judgeHere } from "./here.ts";
import { Visit } from "./visit.ts";

/**
 * A search that took two different states for one begins again, and the steps
 * it had made are lost. `MOST_WASTED` is how many steps may be lost in all;
 * `WASTED` is what each new beginning counts as, besides its steps.
 */
const MOST_WASTED = 200_000;
const WASTED = 5000;

/**
 * How many searches in a row may end at one step. Each wrong comparison counts,
 * and after some there are no more at that place; further ones learn nothing.
 */
const SAME = 6;

/** The most runs of agents to make use of a promise that nobody gave. */
const UNASKED = 200_000;

/** Visits every state. */
export function* search(engine: Engine, o: SearchOptions): Steps<Found> {
  try {
    for (;;) {
      const found = mayForget(engine, o)
        ? yield* memoryless(engine, o)
        : yield* merged(engine, o);
      const { judge } = engine.world;
      // After each round, the judge knows one more operation that may wait.
      if (found.fault !== null || judge === null || !judge.regrets()) {
        return found;
      }
    }
  } finally {
    o.progress?.clear();
  }
}

/** Visits every state; those that differ only in rounds of loops are one. */
function* memoryless(engine: Engine, o: SearchOptions): Steps<Found> {
  countRounds(engine, true);
  const end = realNow() + o.time;
  const polls = o.polls !== false;
  // If this takes too long, the promise is not made use of.
  const until = realNow() + (o.only === true ? o.time : o.time / 2);
  const most = o.only === true ? UNASKED : Infinity;
  const classes = new Classes(engine, o.results, polls, until, most);
  const few = { ...o, states: Math.min(o.states, COMPARE.learn) };
  const first = yield* new Visit(engine, few, classes, end).run();
  if (first.complete || first.fault !== null) return first;
  engine.forgets = true;
  try {
    // Each time, there are answers that were not known before.
    for (let known = -1; known !== classes.known;) {
      known = classes.known;
      try {
        classes.prepare();
        const found = yield* new Visit(engine, o, classes, end).run();
        engine.believed = classes.runs;
        if (found.fault === null) return found;
        if (yield* isReal(engine, o, found)) return found;
        break;
      } catch (error) {
        if (error instanceof Endless) break;
        if (!(error instanceof Apart)) throw error;
      }
    }
  } finally {
    engine.forgets = false;
    engine.forget();
  }
  engine.believed = 0;
  if (o.only === true) return { ...first, complete: false };
  return yield* merged(engine, { ...o, time: end - realNow() });
}

/** Visits every state; those of agents that have the same future are one. */
function* merged(engine: Engine, o: SearchOptions): Steps<Found> {
  const began = realNow();
  const end = began + o.time;
  const few = Math.min(o.states, COMPARE.after);
  // What agents may still read tells most states apart where there are hints:
  // to compare agents takes longer there than it saves.
  const inVain = engine.world.hints !== null && o.compares !== true;
  const compares = !engine.gaveUp && !inVain && mayMerge(engine, o);
  const most = compares ? { ...o, states: few, learns: COMPARE.relies > 0 } : o;
  const turning = engine.returns.on && !o.minimal && o.lockFree === "no";
  countRounds(engine, !turning);
  // Most programs have so few states that comparing agents takes longer.
  let first = yield* new Visit(engine, most, null, end).run();
  if (!compares) return first;
  if (engine.returns.turns && first.fault === null && !first.complete) {
    // Agents are only compared where states do not lead back to themselves.
    countRounds(engine, true);
    first = yield* new Visit(engine, most, null, end).run();
  }
  if (few === o.states || first.states < few || first.fault !== null) {
    return first;
  }
  yield* scout(engine);
  // Some more states are all, if agents can do little from where they stand.
  const soon = { ...o, soon: true, states: Math.min(o.states, COMPARE.soon) };
  const next = yield* new Visit(engine, soon, null, end).run();
  if (!next.limits.includes("states")) return next;
  engine.forget();
  let wasted = 0;
  let [last, same] = [0, 0];
  let futures: Futures | null = null;
  const work = COMPARE.patience * first.steps;
  // An agent whose calls are long may take longer than the work tells.
  const now = realNow();
  const until = Math.min(
    end - (end - now) / 4,
    now + COMPARE.longest * Math.max(1, now - began),
  );
  while (wasted < MOST_WASTED && mayMerge(engine, o)) {
    futures = new Futures(engine, o.results, work, until, futures);
    try {
      const found = yield* new Visit(engine, o, futures, end).run();
      if (found.fault === null || (yield* isReal(engine, o, found))) {
        return found;
      }
      break;
    } catch (error) {
      if (error instanceof RangeError) break; // the stack was too small
      if (!(error instanceof Apart)) throw error;
      if (error === HOPELESS) break;
      wasted += WASTED + futures.steps;
      same = futures.steps === last ? same + 1 : 1;
      last = futures.steps;
      if (same === SAME) break;
    }
  }
  engine.gaveUp = true;
  // The states now have the hashes of their groups.
  engine.forget();
  countRounds(engine, !turning);
  return yield* new Visit(engine, o, null, end).run();
}

/**
 * Tells apart from now on, or no longer, how often a waiting operation of a
 * primitive has gone round.
 */
function countRounds(engine: Engine, counts: boolean): void {
  if (engine.returns.count(counts)) engine.forget();
}

/** Whether what an agent does depends on nothing but the answers it gets. */
function mayMerge(engine: Engine, o: SearchOptions): boolean {
  const { scenario, clocked, apart, recoverer, whole, drops } = engine;
  return o.merge === true && !o.minimal && engine.remembers && !whole.on &&
    !drops.used &&
    !scenario.async && !clocked && !apart && recoverer === null;
}

/** Whether it can be tried out what loops of agents remember. */
export const mayForget = (engine: Engine, o: SearchOptions): boolean =>
  o.memoryless === true && mayMerge(engine, o) && o.lockFree === "no" &&
  engine.scenario.stateless !== false;

/** Whether a fault that was found is there without merged states, too. */
export function* isReal(
  engine: Engine,
  o: SearchOptions,
  found: Found,
): Steps<boolean> {
  const { world } = engine;
  const here = new Choices();
  engine.forgets = false;
  engine.forget();
  yield* begin(engine);
  for (const code of found.schedule) {
    if (world.fault !== null) break;
    choices(engine, here);
    if (!here.has(code)) return false;
    yield* apply(engine, code, false);
  }
  if (world.fault === null) judgeHere(engine, o, here);
  const last = found.schedule.at(-1);
  if (world.fault === null && o.polls === false && last !== undefined) {
    const agent = world.agents[k.agentOf(last)]!;
    if (yield* isBusy(engine, agent)) failBusy(engine, agent);
  }
  if (world.fault === null && found.fault!.kind === "livelock") {
    yield* rotate(engine, EACH, new Set());
  }
  return world.fault?.kind === found.fault!.kind;
}

/**
 * A search that relies on what it has learned so far, such as that nobody
 * writes a word, or that an agent forgets what it saw. If something of that
 * does not hold, it begins again without.
 *
 * @module
 */
import { Fault } from "../engine/kinds.ts";
import { realNow } from "../engine/platform/native.ts";
import type { Engine, Steps } from "../engine/step/replay.ts";
import { NotConstant, StatefulHandle } from "../engine/signals.ts";
import { keepsNothing, tryPromises } from "../engine/equal/promises.ts";
import { shadow } from "../engine/equal/shadow.ts";
import type { Tester } from "../engine/step/loops/spins.ts";
import { isReal, search } from "./search/search.ts";
import type { Found, SearchOptions } from "./runs/task.ts";

/**
 * The histories of agents in which loops that count their rounds are looked for
 * if a search is not complete.
 */
const HISTORIES = 100;

/**
 * Searches, and begins again as often as it turns out that the search relied on
 * something that does not hold, such as that nobody writes a word.
 */
export function* surely(engine: Engine, o: SearchOptions): Steps<Found> {
  const { world, scenario } = engine;
  engine.gaveUp = false;
  for (;;) {
    const reduce = o.reduce === true;
    engine.until = realNow() + o.time;
    engine.late = engine.resumed = false;
    engine.setTwins(o.twins === true && o.start?.length === 0);
    world.keepsPlain = reduce && o.races && !scenario.async &&
      !engine.clocked && world.lead + world.tail === 0;
    engine.spins.begin(!o.minimal && !scenario.async);
    engine.between.begin(
      scenario.stateless === undefined &&
        world.agents.some(({ calls }) => calls.length > 1),
    );
    try {
      const searched = yield* search(engine, o);
      if (searched.fault === null) findState(engine);
      const found = keepsPromises(engine, searched);
      const again = searched.fault === null && readsTooMany(engine) ||
        keepsInside(engine) ||
        !(yield* happens(engine, o, searched)) ||
        !(yield* repeats(engine, o, searched)) ||
        found.fault === null && !o.minimal && counts(engine, found);
      if (!again) {
        if (!engine.late) return found;
        const limits = [...new Set([...found.limits, "time" as const])];
        return { ...found, complete: false, limits };
      }
    } catch (error) {
      if (!(error instanceof NotConstant)) throw error;
      readsTooMany(engine);
    }
    engine.forget();
    engine.futures.clear();
    engine.rounds.clear();
  }
}

/**
 * Begins the exploration again with all histories told apart, if handles turn
 * out to have state.
 */
function findState(engine: Engine): void {
  const { between, scenario } = engine;
  if (!between.on || keepsNothing(engine)) return;
  scenario.stateless = false;
  throw new StatefulHandle();
}

/** The same, or a fault: an agent kept more than it said. */
function keepsPromises(engine: Engine, found: Found): Found {
  if (!engine.drops.used || found.fault !== null) return found;
  const { broken, runs } = tryPromises(engine, engine.drops);
  engine.tried = runs;
  if (broken === undefined) return found;
  return {
    ...found,
    fault: new Fault("nondeterministic", broken),
    schedule: [],
  };
}

/**
 * Whether an agent has read as many old values of hints as it may, and states
 * did not tell apart how many. Then the search begins again, and they do.
 */
function readsTooMany(engine: Engine): boolean {
  const { world } = engine;
  if (!world.cuts.stale || world.countsOld) return false;
  world.cuts.stale = false;
  return engine.countsOld = true;
}

/**
 * Whether it was found that an agent depends on what it saw in an operation of
 * a primitive that has returned. Then the search begins again, and takes none
 * of its states for one that differ in that.
 */
function keepsInside(engine: Engine): boolean {
  const { returns } = engine;
  if (!returns.used) return false;
  const { places, inside, values } = returns;
  const isKept = [places, inside].every((places) =>
    tryPromises(engine, { places, values }).broken === undefined
  );
  if (isKept) return false;
  returns.begin(false);
  return true;
}

/**
 * Whether a fault happens, too, if agents keep what they saw in operations of
 * primitives. If not, the search begins again, and leaves nothing out.
 */
function* happens(
  engine: Engine,
  o: SearchOptions,
  found: Found,
): Steps<boolean> {
  const { returns } = engine;
  if (found.fault === null || !returns.used) return true;
  if (yield* isReal(engine, o, found)) return true;
  returns.begin(false);
  return false;
}

/**
 * Whether a fault happens, too, if no agent is suspended on the stack. If not,
 * the search begins again without that.
 */
function* repeats(
  engine: Engine,
  o: SearchOptions,
  found: Found,
): Steps<boolean> {
  if (found.fault === null || !engine.resumed) return true;
  engine.keepsStacks = false;
  return engine.keepsStacks = yield* isReal(engine, o, found);
}

/**
 * Whether a loop was found to count its rounds, and the search must begin again
 * to tell them apart. Samples tell them apart, too.
 */
export function counts(engine: Engine, { complete }: Found): boolean {
  const { world, scenario, spins } = engine;
  const tester: Tester = {
    world,
    scenario,
    tryOut: (agent, state, event) => shadow(engine, agent, state, event, null),
  };
  if (complete) return spins.check(tester);
  spins.check(tester, HISTORIES);
  return false;
}

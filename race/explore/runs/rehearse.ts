/**
 * Checks, before an exploration, that the program can be explored. Before a
 * long search, random walks learn which words its agents use.
 *
 * @module
 */
import { Choices, choices } from "../../engine/step/choices.ts";
import * as k from "../../engine/kinds.ts";
import { Fault } from "../../engine/kinds.ts";
import { NotConstant } from "../../engine/signals.ts";
import type { Chooser } from "../../engine/step/operations.ts";
import type { Engine, Steps } from "../../engine/step/replay.ts";
import type { Options } from "../../report/result.ts";
import { run } from "./run.ts";
import { sampler } from "./sample.ts";
import { apply, begin } from "../../engine/step/steps.ts";
import { Random, show } from "../../engine/values.ts";
import { COMPARE } from "./task.ts";

/** The most steps of a random walk. */
const LONGEST = 300;

const here = new Choices();

const OFF = { timeouts: 0, spurious: 0, kills: 0 };

/**
 * Runs the agents one after the other, once without suspending them and once
 * suspending them before every operation. If the results differ, the code has
 * effects that a replay repeats. Then some random executions show whether
 * handles have state.
 */
export function* rehearse(engine: Engine, o: Options): Steps<void> {
  const { world } = engine;
  const { tail } = world;
  const first = world.agents[0]!;
  const { calls } = first;
  if (tail > 0) { // its last calls come after all other agents
    first.calls = calls.slice(0, calls.length - tail);
    world.tail = 0;
  }
  world.startBudget = OFF;
  try {
    yield* oneByOne(engine, tail === 0);
  } finally {
    if (tail > 0) {
      first.calls = calls;
      world.tail = tail;
      engine.opening = null;
    }
  }
  if (world.fault !== null || engine.scenario.stateless !== undefined) return;
  for (let i = 0; i < 12; i++) {
    const chooser = sampler({ seed: o.seed }, i, engine.count, 20);
    yield* run(engine, chooser, { lockFree: "no", rescue: true });
  }
  world.fault = null;
}

/** Leaves a fault if the code has effects that a replay repeats. */
function* oneByOne(engine: Engine, whole: boolean): Steps<void> {
  const { world } = engine;
  world.clocks = null;
  const { final } = engine.scenario;
  const outcome = () => {
    const { agents, fault } = world;
    const done = agents.every(({ status }) => status === k.DONE);
    const ends = whole &&
      !agents.some((a) => world.hasEvent(a) || a.timers.length > 0);
    const results = agents.slice(0, engine.count).map((a) => [...a.results]);
    const end = done && ends && fault === null && final !== null
      ? engine.unwatched(() => final(engine.memory, results))
      : null;
    return {
      done,
      text: show([results, fault?.kind, end?.message]),
      memory: world.memory.regions.map(({ words }) => words.slice()),
    };
  };
  const serial: Chooser = {
    choose: () => {
      const next = world.agents.find(({ status }) => status === k.READY);
      if (next === undefined) return k.END;
      return next.leap > 0 ? next.id | k.LEAP | next.leap << 12 : next.id;
    },
  };
  // Stop an agent that waits for agents that come after it.
  engine.overdue = () => world.fail("livelock", "");
  world.reset();
  for (const agent of world.agents) {
    if (agent === engine.recoverer) agent.calls = [];
    engine.inline = true;
    engine.next = k.END;
    engine.grant = null;
    engine.performed = false;
    engine.chooser = {
      choose: () => engine.isLate(agent.n) ? k.END : agent.id,
    };
    yield agent;
    if (agent.status !== k.DONE || world.fault !== null) break;
  }
  const direct = outcome();
  world.fault = null;
  yield* begin(engine);
  for (let step = 0;; step++) {
    const code = serial.choose(engine);
    if (code < 0 || world.fault !== null || engine.isLate(step)) break;
    yield* apply(engine, code, false);
  }
  const { fault } = world;
  const stray = world.memory.strayWrite();
  if (stray >= 0) {
    engine.refuse(
      `Cannot explore: memory at ${world.memory.nameOf(stray)} is changed by ` +
        `something that cannot be seen, such as a view of it made before ` +
        `the exploration, or wasm code`,
    );
  }
  // What was cut short by the clock is no other thing.
  if (direct.done && !engine.late) {
    const suspended = outcome();
    const sameMemory = direct.memory.every((words, i) =>
      words.every((word, w) => word === suspended.memory[i]?.[w])
    );
    if (direct.text !== suspended.text || !sameMemory) {
      world.fault = new Fault(
        "nondeterministic",
        `run one after the other, the agents do something else when each is ` +
          `suspended before every operation and run again: the code under ` +
          `test has effects outside shared memory (it may change only ` +
          `memory and results). Without: ${direct.text}, with: ` +
          suspended.text,
      );
      return;
    }
  }
  if ((fault as Fault | null)?.kind === "nondeterministic") return;
  world.fault = null;
}

/**
 * Takes the random walks that were not taken yet. If a search relied on
 * something else than they find, a throw ends a walk, and the search begins
 * again after the last one: the sooner, the less of it is lost. Walks remember
 * no step, since what the search compares must not depend on them.
 */
export function* scout(engine: Engine): Steps<void> {
  const { world, recalls } = engine;
  engine.recalls = false;
  engine.overdue = null;
  world.clocks = null;
  try {
    let again = false;
    while (engine.walks < COMPARE.walks) {
      try {
        yield* walk(engine, new Random(++engine.walks));
      } catch (error) {
        if (!(error instanceof NotConstant)) throw error;
        again = true;
      }
    }
    // Once only, when the walks have learned all that they can.
    if (again) throw new NotConstant();
  } finally {
    engine.recalls = recalls;
  }
}

function* walk(engine: Engine, random: Random): Steps<void> {
  const { world } = engine;
  yield* begin(engine);
  for (let i = 0; i < LONGEST && world.fault === null; i++) {
    choices(engine, here);
    if (here.count === 0) break;
    const among = here.live === 0 ? here.count : here.live;
    yield* apply(engine, here.codes[random.below(among)]!, false);
  }
  world.fault = null; // the search finds it, too
}

/**
 * Fair executions: every agent that can go on gets its turn. An operation that
 * does not end in a fair execution is in a livelock.
 *
 * @module
 */
import type { Agent } from "../engine/state/agent/agent.ts";
import { Choices, choices, timerOf } from "../engine/step/choices.ts";
import { callText, roundOf } from "../engine/state/agent/operation.ts";
import * as k from "../engine/kinds.ts";
import { I32 } from "../engine/platform/native.ts";
import type { Engine, Steps } from "../engine/step/replay.ts";
import { apply, fail } from "../engine/step/steps.ts";
import { mix1, mix2 } from "../engine/values.ts";

/** The choices in the present state. */
const here = new Choices();

/** An operation may take this many times `maxSteps` in a fair execution. */
export const FAIR = 2;

/** The most steps of a fair execution in which no state comes again. */
const LENGTH = 20_000;

/**
 * How many timers of an agent fire while others only go round their loops. The
 * others may change memory in each round, so no timer is known to be useless.
 */
const FIRES = 64;

/** How many steps of a fair execution may lead to states that it has met. */
const AGAIN = 1000;

/** A multiple of how many things wait in an event loop, as a rule. */
const TURNS = 12;

/** Turns of `turn` steps each, after `lead` turns of one step. */
export interface Turns {
  readonly turn: number;
  readonly lead: number;
}

/** One agent after the other takes one step. */
export const EACH: Turns = { turn: 1, lead: 0 };

/**
 * A choice of the same agent. What waits in its event loop comes in turn: what
 * it posts to itself again and again keeps no letter out. `settled` counts, by
 * agent, how often there were several.
 */
function inTurn(
  { codes, live }: Choices,
  code: number,
  settled: number[],
): number {
  if (k.actionOf(code) !== k.SETTLE) return code;
  const agent = k.agentOf(code);
  const all = codes.subarray(0, live).filter((other) =>
    k.actionOf(other) === k.SETTLE && k.agentOf(other) === agent
  );
  if (all.length < 2) return code;
  const turn = settled[agent]!;
  settled[agent] = (turn + 1) % TURNS;
  return all[turn % all.length]!;
}

/** Reports an operation that does not end. */
export function failLivelock(engine: Engine, agent: Agent): void {
  const { maxSteps } = engine;
  const isLong = agent.effort > maxSteps * FAIR;
  fail(
    engine,
    "livelock",
    `agent ${agent.id} took ${agent.steps} steps in ${callText(agent.told)}, ` +
      `which does not end, though every agent gets its turn` +
      (isLong ? `; if it is only long, raise maxSteps (${maxSteps})` : ""),
  );
}

/** Reports an operation that waits without sleeping, if that is not allowed. */
export function failBusy(engine: Engine, agent: Agent): void {
  fail(
    engine,
    "livelock",
    `agent ${agent.id} waits for another agent in ${callText(agent.told)} ` +
      `by looking again and again, and never sleeps`,
  );
}

/**
 * Goes on fairly from the present state, until all agents are done, until a
 * state is in `known`, or until a cycle shows that no call ever ends. Where no
 * agent can run, `mayPass` says whether time passes; otherwise that is the end.
 */
export function* rotate(
  engine: Engine,
  turns: Turns,
  known: Set<number>,
  mayPass: () => boolean = () => false,
): Steps<void> {
  const { world } = engine;
  const { turn } = turns;
  let { lead } = turns;
  const forgets = engine.mayTurn;
  const path: number[] = [];
  const mine = new Set<number>();
  const key = new I32(2);
  let last = world.agents.length - 1;
  let left = 0;
  let fire = false;
  let again = 0;
  const fires = world.agents.map(() => 0);
  const settled = world.agents.map(() => 0);
  for (let step = 0; step < LENGTH && world.fault === null; step++) {
    const waits = choices(engine, here) === 0;
    if (waits && (here.count === 0 || !mayPass()) || engine.isLate(step)) break;
    // An agent that only goes round a loop does not keep time from passing.
    const timers: number[] = [];
    for (const agent of world.agents) {
      if (agent.tired || fires[agent.id]! >= FIRES) continue;
      const code = timerOf(agent);
      if (code >= 0) timers.push(code);
    }
    const passes = fire && timers.length > 0;
    if (passes) {
      mine.clear();
      fire = false;
    }
    // Where all wait, the timer that is due first fires.
    const fired = passes && !waits;
    const codes = fired ? timers : here.codes;
    const count = fired ? timers.length : waits ? here.count : here.live;
    let code = -1;
    let next = -1;
    for (let i = count - 1; i >= 0; i--) {
      const agent = k.agentOf(codes[i]!);
      if (agent === last) code = codes[i]!;
      if (agent > last) next = codes[i]!;
    }
    if (code < 0 || left-- <= 0) {
      left = (lead-- > 0 ? 1 : turn) - 1;
      code = next < 0 ? codes[0]! : next;
      last = k.agentOf(code);
    }
    code = inTurn(here, code, settled);
    if (fired) fires[last]!++;
    yield* apply(engine, code, false);
    if (world.fault !== null) return;
    const agent = world.agents[last]!;
    if (agent.effort > engine.maxSteps * FAIR) {
      if (turn > 1 && (yield* endsInShortTurns(engine, agent))) return;
      return failLivelock(engine, agent);
    }
    if (lead > 0) continue;
    world.key(key, true);
    const next1 = settled.reduce(mix1, mix1(mix1(key[0]!, last), left));
    const place = roundOf(mix1(next1, turn), mix2(key[1]!, turn));
    if (known.has(place)) break;
    if (mine.has(place)) {
      const going = world.agents.find(({ looping, invoked, status }) =>
        invoked && (looping || forgets && status === k.READY)
      );
      // An agent that no longer changes memory may be about to spin.
      if (going === undefined && ++again > AGAIN) break;
      if (going === undefined) continue;
      if (turn > 1 && (yield* endsInShortTurns(engine, going))) return;
      // A timer fires when its agent is back in its event loop.
      const awaits = world.agents.some((agent) =>
        agent.timers.length > 0 && !agent.tired && fires[agent.id]! < FIRES
      );
      if (timers.length === 0 && (fire || !awaits)) {
        return failLivelock(engine, going);
      }
      mine.clear();
      fire = true;
    }
    mine.add(place);
    path.push(place);
  }
  if (world.fault === null) path.forEach((place) => known.add(place));
}

/**
 * Whether an agent that is in a loop goes on in it, and never sleeps, while all
 * others stand still. If not, the rounds before were work that others gave it.
 */
export function* goesRound(
  engine: Engine,
  { id, oi, period }: Agent,
): Steps<boolean> {
  const { world } = engine;
  const { schedule, changed, began, ended } = world;
  const state = world.save();
  const agents = world.agents.map((agent) => agent.save());
  const agent = world.agents[id]!;
  const goesOn = () =>
    agent.oi === oi && agent.status === k.READY && world.fault === null;
  world.schedule = [];
  for (let step = 0; step < 2 * period && goesOn(); step++) {
    yield* apply(engine, k.STEP + id, false);
  }
  const goes = agent.oi === oi &&
    (agent.status === k.SPINNING || agent.status === k.READY && agent.looping);
  world.load(state);
  agents.forEach((saved, at) => world.agents[at]!.load(saved));
  Object.assign(world, { schedule, changed, began, ended });
  return goes;
}

/**
 * Whether the agent's call ends if each turn is one step, as far as the time
 * lets that be seen. Longer turns can coincide with the rounds of a loop and so
 * keep all others out.
 */
function* endsInShortTurns(engine: Engine, { id, oi }: Agent): Steps<boolean> {
  const { world } = engine;
  const { schedule } = world;
  const state = world.save();
  const agents = world.agents.map((agent) => agent.save());
  world.schedule = [];
  let last = id;
  let ends = false;
  for (let step = 0; step < LENGTH && !ends && world.fault === null; step++) {
    if (choices(engine, here) === 0) break;
    ends = engine.isLate(step);
    if (ends) break;
    const codes = here.codes.slice(0, here.live);
    const code = codes.find((code) => k.agentOf(code) > last) ?? codes[0]!;
    last = k.agentOf(code);
    yield* apply(engine, code, false);
    ends = world.agents[id]!.oi > oi;
    if (world.agents[id]!.effort > 2 * FAIR * engine.maxSteps) break;
  }
  world.load(state);
  agents.forEach((saved, at) => world.agents[at]!.load(saved));
  world.schedule = schedule;
  return ends;
}

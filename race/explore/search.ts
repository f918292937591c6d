/**
 * The exhaustive search. It visits every reachable state once. A state consists
 * of memory, the sleepers, what each agent has seen in its call, and the
 * judge's frontier. To return to a state, memory is copied and records are cut
 * short; nothing is executed again.
 *
 * @module
 */
import type { Agent } from "../engine/agent.ts";
import type { Snapshot } from "../engine/agent.ts";
import { Choices, choices, ownStep } from "../engine/choices.ts";
import * as k from "../engine/kinds.ts";
import type { Fault } from "../engine/kinds.ts";
import { realNow } from "../engine/native.ts";
import {
  judgeEnd,
  judgeLockFree,
  judgeQuiet,
  type Patience,
} from "../judge/progress.ts";
import { judgeRaces, raceAmong } from "../judge/races.ts";
import { Classes } from "../engine/classes.ts";
import { Endless } from "../engine/automaton.ts";
import { Apart, Futures, HOPELESS } from "../engine/futures.ts";
import type { Engine, Steps } from "../engine/replay.ts";
import { apply, begin, finish, start as startStep } from "../engine/steps.ts";
import type { Progress } from "./progress.ts";
import { Quick, type Start } from "./quick.ts";
import { EACH, failBusy, rotate } from "./fair.ts";
import { States } from "./store.ts";

/** How to search. */
export interface SearchOptions extends Patience {
  /** The most states to visit. */
  readonly states: number;
  /** The most milliseconds the search may take. */
  readonly time: number;
  /** Whether to report a failure with the fewest preemptions. */
  readonly minimal: boolean;
  /** Which operations must be lock-free: all, the declared ones, or none. */
  readonly lockFree: "all" | "declared" | "no";
  readonly races: boolean;
  /** Whether steps that commute with all others are taken in one order only. */
  readonly reduce?: boolean | undefined;
  /** Whether agents that do the same are taken for equal. */
  readonly twins?: boolean | undefined;
  /** Whether states of agents with the same future are one. */
  readonly merge?: boolean | undefined;
  /** Whether loops of agents remember nothing. */
  readonly memoryless?: boolean | undefined;
  /** Shows how far the search has come. */
  readonly progress?: Progress | null | undefined;
  /** The steps that lead to the state to begin with. */
  readonly start?: readonly number[] | undefined;
  /** Whether results are part of a state. */
  readonly results: boolean;
  /**
   * Called at each end of an execution, also at a deadlock. Tests compare
   * these.
   */
  readonly onEnd?: ((engine: Engine) => void) | undefined;
}

/** What a search found. */
export interface Found {
  readonly fault: Fault | null;
  readonly schedule: readonly number[];
  /** Whether nothing was left out. */
  readonly complete: boolean;
  readonly states: number;
  /**
   * How many ends of executions were met, and how many steps between states.
   */
  readonly executions: number;
  readonly steps: number;
  /** The most steps of its own that an operation took. */
  readonly maxOpSteps: number;
}

/** Takes states of agents for the same. */
interface Settler {
  settle(before: readonly Snapshot[] | null): void;
}

/** All agents. */
const ALL = -1;

/** How many operations that go on and on are examined. */
const PROBES = 8;

/** A state whose successors are still to be visited. */
interface Open extends Start {
  readonly id: number;
  readonly last: number;
  readonly cost: number;
  /**
   * The agents whose steps need not be taken, and those whose steps are left.
   */
  readonly asleep: number;
  readonly left: number;
  /** Its share of the tree of states. */
  share: number;
}

/**
 * When agents are compared: after so many states, because fewer are searched in
 * less time without that; and for six times the time of those, but at least
 * so many milliseconds. Loops are tried after `learn` states. Tests also search
 * without sleep sets.
 */
export const COMPARE = {
  after: 50_000,
  least: 100,
  learn: 20_000,
  asleep: true,
};

/**
 * So many steps may be lost by searches that took different states for the same
 * and begin again; beginning again counts as so many steps, too.
 */
const MOST_WASTED = 200_000;
const WASTED = 5000;

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
  const end = realNow() + o.time;
  const polls = o.polls !== false;
  const until = realNow() + o.time / 2;
  const classes = new Classes(engine, o.results, polls, until);
  const few = { ...o, states: Math.min(o.states, COMPARE.learn) };
  const first = yield* explore(engine, few, classes, end);
  if (first.complete || first.fault !== null) return first;
  engine.forgets = true;
  try {
    for (;;) {
      try {
        classes.prepare();
        const found = yield* explore(engine, o, classes, end);
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
  return yield* merged(engine, { ...o, time: end - realNow() });
}

/** Visits every state; those of agents that have the same future are one. */
function* merged(engine: Engine, o: SearchOptions): Steps<Found> {
  const began = realNow();
  const end = began + o.time;
  const few = Math.min(o.states, COMPARE.after);
  if (!mayMerge(engine, o)) return yield* explore(engine, o, null, end);
  // Most programs have so few states that comparing agents takes longer.
  const first = yield* explore(engine, { ...o, states: few }, null, end);
  if (few === o.states || first.states < few || first.fault !== null) {
    return first;
  }
  let wasted = 0;
  let futures: Futures | null = null;
  const now = realNow();
  const patience = Math.max(COMPARE.least, 6 * (now - began));
  const until = Math.min((now + end) / 2, now + patience);
  while (wasted < MOST_WASTED && mayMerge(engine, o)) {
    futures = new Futures(engine, o.results, until, futures);
    try {
      const found = yield* explore(engine, o, futures, end);
      if (found.fault === null || (yield* isReal(engine, o, found))) {
        return found;
      }
      break;
    } catch (error) {
      if (error instanceof RangeError) break; // the stack was too small
      if (!(error instanceof Apart)) throw error;
      if (error === HOPELESS) break;
      wasted += WASTED + futures.steps;
    }
  }
  // The states now have the hashes of their groups.
  engine.forget();
  return yield* explore(engine, o, null, end);
}

/** Whether what an agent does depends on nothing but the answers it gets. */
function mayMerge(engine: Engine, o: SearchOptions): boolean {
  const { world, scenario, clocked, apart, recoverer } = engine;
  return o.merge === true && !o.minimal && engine.remembers &&
    !scenario.async && !clocked && !apart && recoverer === null &&
    world.hints === null;
}

/** Whether it can be tried out what loops of agents remember. */
const mayForget = (engine: Engine, o: SearchOptions): boolean =>
  o.memoryless === true && mayMerge(engine, o) && o.lockFree === "no" &&
  engine.scenario.stateless !== false;

/** Whether a fault that was found is there without merged states, too. */
function* isReal(
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
  if (world.fault === null && found.fault!.kind === "livelock") {
    yield* rotate(engine, EACH, new Set());
  }
  return world.fault?.kind === found.fault!.kind;
}

/** Judges the present state. */
function judgeHere(engine: Engine, o: SearchOptions, here: Choices): boolean {
  const { world } = engine;
  const live = choices(engine, here);
  if (o.races && live > 0) judgeRaces(engine);
  if (o.lockFree !== "no") judgeLockFree(engine, o.lockFree === "all");
  if (live > 0 || world.fault !== null) return false;
  if (o.onEnd === undefined) judgeQuiet(engine, o);
  if (!here.over) return false;
  if (world.fault === null) {
    judgeEnd(engine);
    o.onEnd?.(engine);
  }
  return true;
}

function* explore(
  engine: Engine,
  o: SearchOptions,
  futures: Settler | null,
  end: number,
): Steps<Found> {
  const { world } = engine;
  const { start = [] } = o;
  const states = new States();
  const buckets: Open[][] = [[]];
  const key: [number, number] = [0, 0];
  const content: [number, number] = [0, 0];
  const here = new Choices();
  const next = new Choices();
  /** The steps from the open state to the one that comes next. */
  const passed: number[] = [];
  const fair = new Set<string>();
  let probes = 0;
  let steps = 0;
  let executions = 0;
  let complete = true;
  let done = 0;
  /** The states that the world and the agents are in, if they were kept. */
  let present: Open | null = null;
  let settled: Open | null = null;
  engine.overdue = null;
  world.maxOpSteps = 0;
  world.clocks = null; // they depend on the path

  const found = (
    id: number,
    code: number,
    then: readonly number[] = [],
  ): Found => ({
    fault: world.fault,
    schedule: [
      ...start,
      ...states.path(id),
      ...code < 0 ? [] : [code],
      ...then,
    ],
    complete,
    states: states.size,
    executions,
    steps,
    maxOpSteps: world.maxOpSteps,
  });
  const keep = (
    id: number,
    last: number,
    cost: number,
    share: number,
    left = ALL,
  ): void => {
    const agents: Snapshot[] = [];
    for (const agent of world.agents) agents.push(agent.save());
    const bucket = o.minimal ? cost : 0;
    world.memory.hash(content);
    const [memory1, memory2] = content;
    const saved = world.save();
    const hashes = { memory1, memory2 };
    const sets = { asleep: 0, left };
    present = {
      id,
      world: saved,
      agents,
      last,
      cost,
      share,
      ...hashes,
      ...sets,
    };
    settled = present;
    (buckets[bucket] ??= []).push(present);
  };
  const enter = (open: Open): void => {
    if (open !== present) world.load(open.world);
    present = open;
  };
  const load = (open: Open): void => {
    enter(open);
    if (open === settled) return;
    const { agents } = open;
    for (let i = 0; i < agents.length; i++) world.agents[i]!.load(agents[i]!);
    settled = open;
  };
  // A failure is looked for again with the agents told apart, since its
  // picture shows them.
  const twins = o.minimal ? null : world.twins;
  const hash = (last: number): void => {
    world.key(key, o.results, twins);
    if (o.minimal) key[0] = Math.imul(key[0] ^ (last + 2), 0x9e3779b1);
  };

  const pass = (id: number): number => {
    for (const code of passed) id = states.pass(id, code);
    return id;
  };
  const mayReduce = o.reduce === true;
  const sleeps = mayReduce && COMPARE.asleep;
  const quick = futures === null && isUsual(engine, o)
    ? new Quick(engine, {
      reduces: mayReduce,
      races: o.races,
      polls: o.polls !== false,
    })
    : null;

  /**
   * Keeps the state that quick steps from `open` have led to, the last of them
   * `code`, unless it is known; returns whether it is new.
   */
  const arrive = (quick: Quick, open: Open, code: number): boolean => {
    const { agents, passed, memory1, memory2 } = quick;
    key[0] = memory1;
    key[1] = memory2;
    world.keyOf(key, agents, world.frontier, o.results, twins);
    let asleep = twins === null ? quick.asleep : twins.placesOf(quick.asleep);
    let left = ALL;
    let id = states.find(key[0], key[1]);
    const fresh = id < 0;
    if (fresh) {
      let from = open.id;
      for (const code of passed) from = states.pass(from, code);
      id = states.add(key[0], key[1], from, code);
    } else {
      // What slept before, and need not sleep now, must still be taken.
      const before = states.asleep(id);
      left = before & ~asleep;
      if (left === 0) return false;
      asleep &= before;
      if (twins !== null) left = twins.agentsAt(left);
    }
    states.setAsleep(id, asleep);
    if (twins !== null) asleep = twins.agentsAt(asleep);
    const { waiters, frontier, now, budget } = world;
    const memory = quick.wrote ? world.memory.save() : open.world.memory;
    buckets[0]!.push({
      id,
      agents: agents.slice(),
      world: { memory, waiters, frontier, now, budget, hints: null },
      last: k.agentOf(code),
      cost: 0,
      share: fresh ? open.share : 0,
      memory1,
      memory2,
      asleep,
      left,
    });
    return fresh;
  };

  yield* begin(engine);
  for (const code of start) yield* apply(engine, code, false);
  if (world.fault === null) futures?.settle(null);
  hash(-1);
  const root = states.add(key[0], key[1], -1, -1);
  if (world.fault !== null) return found(root, -1);
  keep(root, -1, 0, 1);
  for (let bucket = 0; bucket < buckets.length;) {
    const open = buckets[bucket]?.pop();
    if (open === undefined) {
      bucket++;
      continue;
    }
    let late = false;
    if ((steps & 63) === 0) {
      const now = realNow();
      late = now > end;
      o.progress?.tell(now, states.size, done);
    }
    if (states.size >= o.states || late) {
      complete = false;
      break;
    }
    if (o.minimal && states.cost(open.id) < open.cost) continue;
    if (quick !== null) enter(open);
    if (quick === null || !goesOn(engine, o, here, open.agents)) {
      load(open);
      if (judgeHere(engine, o, here)) executions++;
    }
    if (engine.forgets && world.fault === null) {
      // Rounds that were left out do not show that a loop has no end.
      world.schedule = [];
      yield* rotate(engine, EACH, fair);
      if (world.fault !== null) return found(open.id, -1, world.schedule);
      present = settled = null;
      load(open);
      choices(engine, here);
    }
    const { codes, live } = here;
    const own = mayReduce && live > 0
      ? ownStep(engine, here, o.minimal ? open.last : -1, open.agents)
      : -1;
    const count = own >= 0 ? 1 : here.count;
    if (own >= 0) codes[0] = own;
    if (world.fault !== null) return found(open.id, -1);
    const top = buckets[0]!.length;
    let kept = 0;
    let { asleep } = open;
    const running = open.last >= 0 &&
      open.agents[open.last]!.status === k.READY;
    // Push in reverse, so that the first agent's step comes next.
    for (let i = count - 1; i >= 0; i--) {
      const first = codes[i]!;
      const isStep = k.actionOf(first) === k.STEP;
      const unusual = !isStep && k.actionOf(first) !== k.SETTLE;
      const preempts = running && k.agentOf(first) !== open.last;
      const cost = open.cost + (preempts || unusual ? 1 : 0);
      const bit = 1 << k.agentOf(first);
      if (own < 0 && (isStep ? open.asleep & bit : open.left !== ALL)) continue;
      if (own < 0 && (open.left & bit) === 0) continue;
      if (quick !== null && isStep) {
        enter(open);
        const code = quick.take(open, first, asleep);
        if (code >= 0) {
          steps += quick.passed.length + 1;
          if (arrive(quick, open, code)) kept++;
          if (quick.simple && sleeps) asleep |= bit;
          quick.undo(open);
          continue;
        }
      }
      load(open);
      present = settled = null;
      let { agents } = open;
      let code = first;
      let who: number;
      let overdue: boolean;
      let looping: boolean;
      passed.length = 0;
      for (;;) {
        if (!startStep(engine, code, false)) yield* finish(engine);
        steps++;
        if (world.fault !== null) return found(pass(open.id), code);
        who = k.agentOf(code);
        const agent = world.agents[who]!;
        overdue = agent.effort > engine.maxSteps;
        if (o.polls === false && isBusy(agent)) {
          failBusy(engine, agent);
          return found(pass(open.id), code);
        }
        looping = agent.looping;
        futures?.settle(agents);
        if (!mayReduce || o.minimal || looping || overdue) break;
        choices(engine, next);
        const own = ownStep(engine, next, -1);
        if (own < 0) break;
        // Go on at once: nothing that others do can make a difference.
        passed.push(code);
        if (o.races) judgeRaces(engine);
        if (world.fault !== null) return found(pass(open.id), -1);
        if (futures !== null) {
          agents = world.agents.map((agent) => agent.save());
        }
        code = own;
      }
      hash(who);
      const known = states.find(key[0], key[1]);
      if (known < 0) {
        const from = pass(open.id);
        const id = states.add(key[0], key[1], from, code);
        states.via(id, from, code, cost);
        // Do not follow an operation for ever that goes on and on.
        if (!overdue) {
          keep(id, who, cost, open.share);
          kept++;
        } else complete = false;
        if (looping || (overdue && probes++ < PROBES)) {
          world.schedule = [];
          present = settled = null;
          yield* rotate(engine, EACH, fair);
          if (world.fault !== null) {
            return found(from, code, world.schedule);
          }
        }
      } else if (states.asleep(known) !== 0) {
        const left = states.asleep(known);
        states.setAsleep(known, 0);
        keep(known, who, 0, 0, twins === null ? left : twins.agentsAt(left));
      } else if (o.minimal && cost < states.cost(known)) {
        states.via(known, open.id, first, cost);
        keep(known, who, cost, 0);
        bucket = Math.min(bucket, cost);
      }
    }
    if (kept === 0) done += open.share;
    else if (!o.minimal) {
      const list = buckets[0]!;
      for (let i = top; i < list.length; i++) list[i]!.share /= kept;
    }
  }
  return found(root, -1);
}

/** Whether states may be followed without the agents, as `Quick` does. */
function isUsual(engine: Engine, o: SearchOptions): boolean {
  const { world, scenario } = engine;
  return engine.remembers && !o.minimal && !scenario.async &&
    world.hints === null && world.clocks === null &&
    world.lead + world.tail === 0;
}

/** Whether there is nothing to judge in this state but that it goes on. */
function goesOn(
  engine: Engine,
  o: SearchOptions,
  here: Choices,
  agents: readonly Snapshot[],
): boolean {
  return o.lockFree === "no" && choices(engine, here, agents) > 0 &&
    !(o.races && raceAmong(engine, agents) !== null);
}

/** Whether an agent is in an endless loop in which it never sleeps. */
function isBusy(agent: Agent): boolean {
  if (agent.status === k.SPINNING) return true;
  if (!agent.looping) return false;
  for (let i = agent.n - agent.period; i < agent.n; i++) {
    if (agent.sig[i]! % 32 === k.WAIT && agent.res[i] !== "not-equal") {
      return false;
    }
  }
  return true;
}

/**
 * Loops. If an agent repeats the same operations with the same answers, the
 * engine runs it ahead, alone and without effect, to learn whether it would do
 * so for ever. If it would, and the loop changes nothing, the agent spins: it
 * does not run until a word it reads changes. If the loop changes memory, every
 * further round leaves the agent in the same state as the round before.
 *
 * @module
 */
import type { Agent } from "../../state/agent/agent.ts";
import type { Check, Guard } from "../../state/agent/snapshot.ts";
import type { World } from "../../state/core.ts";
import {
  argBits,
  callText,
  roundOf,
  signature,
  signedAddress,
} from "../../state/agent/operation.ts";
import { isAnswer, isSupposed } from "../../state/agent/guard.ts";
import * as k from "../../kinds.ts";
import type { Scenario } from "../../scenario.ts";
import { placeOf } from "../../sites.ts";
import { MESSAGE } from "../../state/timers.ts";
import type { Spins } from "./spins.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/**
 * How many operations of a loop are followed if it is already known to have no
 * end.
 */
const KNOWN_AHEAD = 600;

/** The fewest operations by which a loop is recognized. */
const LEAST = 2;

/** The most operations a round of a loop may have. */
const PERIOD = 200;

/** How many equal rounds make a loop in asynchronous code. */
export const ROUNDS = 32;

/**
 * A loop that changes nothing is explored step by step up to this many steps.
 */
export const ONE_BY_ONE = 2000;

/** A loop that an agent is run ahead in. */
export interface Look {
  /** How many operations were followed so far, and how many may be. */
  done: number;
  readonly limit: number;
  /** How many reads of constants are still allowed. They are not operations. */
  constants: number;
  readonly period: number;
  /** Whether the first round is compared with memory as it is now. */
  readonly compares: boolean;
  /** The operations that were compared. */
  readonly checks: Check[];
  /** Whether memory now gives other answers. */
  differs: boolean;
  /** Whether the agent has left the loop. */
  escaped: boolean;
}

/** A loop in asynchronous code, whose agent must be run ahead. */
export interface Asked {
  readonly period: number;
  readonly pure: boolean;
}

/** The parts of the engine that are needed to follow a loop. */
export interface Runner {
  readonly world: World;
  readonly scenario: Scenario;
  /** The loop being followed, if any. */
  look: Look | null;
  /** The loop that must be followed before the agent goes on. */
  asked: Asked | null;
  /** Whether a token is being thrown through the agent's frames. */
  unwinding: boolean;
  /** What memory had to hold since the agent on the stack was run. */
  guards: Guard[];
  /** What memory is supposed to hold, if the agent is only tried out. */
  readonly forced: readonly Guard[] | null;
  /** How many operations a loop may have before it counts as endless. */
  endless: number;
  /** Loops that count as endless, by place and answers. */
  readonly loops: Set<string>;
  /** Whether an agent has met one of them. */
  held: boolean;
  /**
   * How many operations are left of a loop, by what the agent in it has seen.
   */
  readonly futures: Map<string, number>;
  /** Loops that were not explored round by round, by place and answers. */
  readonly leapt: Set<string>;
  /** The states of agents that are rounds of a loop that changes memory. */
  readonly rounds: Set<number>;
  /** Loops that count their rounds. */
  readonly spins: Spins;
  /** Prepares the agent for a replay. */
  rewind(agent: Agent): void;
  /** Runs an agent from where its record begins. */
  run(agent: Agent): void;
  /** Suspends the agent on the stack. */
  suspend(): unknown;
}

/**
 * What is known about an agent that has done an operation: it simply goes on.
 */
const ON = 0;
/** The agent is in a loop that changes nothing and has no end. */
export const SPINS = 1;

/** Whether the agent is in a loop, judged by the end of its record. */
export function follow(engine: Runner, agent: Agent): number {
  const { n } = agent;
  if (agent.leap > 0) agent.leap--;
  if (agent.ends > 0 || agent.looping) {
    if (repeats(agent, agent.period, agent.period + 1)) {
      if (agent.ends > n) return ON;
    } else agent.ends = agent.leap = 0;
    agent.looping = false;
  }
  const rounds = engine.scenario.async ? ROUNDS : 2;
  const most = Math.min(Math.floor((n - agent.from) / rounds), PERIOD);
  for (let period = 1; period <= most; period++) {
    // A loop of one or two operations is only recognized after four operations.
    if (n - agent.from < LEAST) break;
    if (!repeats(agent, period, period * rounds)) continue;
    const pure = agent.pure >= Math.max(LEAST, period * rounds);
    if (pure || agent.pure < period * (rounds - 1)) {
      return inLoop(engine, agent, period, pure);
    }
  }
  return ON;
}

/** Whether the last `length` operations repeat with this `period`. */
function repeats(agent: Agent, period: number, length: number): boolean {
  const { n, sig, args, res } = agent;
  const end = Math.max(agent.from + period, n - length + period);
  for (let i = n - 1; i >= end; i--) {
    const j = i - period;
    if (sig[i] !== sig[j] || args[i] !== args[j] || res[i] !== res[j]) {
      return false;
    }
  }
  return true;
}

/** Decides about an agent that has done the same round twice. */
function inLoop(
  engine: Runner,
  agent: Agent,
  period: number,
  pure: boolean,
): number {
  agent.period = period;
  if (engine.scenario.async) {
    // It can only be run ahead when its event loop is empty.
    const waits = pure && !mayHear(engine, agent, period);
    engine.asked = { period, pure: waits };
    throw engine.suspend();
  }
  // What it does next depends only on what it has seen.
  const past = pastOf(agent, period);
  const known = engine.futures.get(past);
  const key = known === undefined ? keyOf(agent, period, pure) : "";
  const limit = known === Infinity
    ? pure ? period : 0
    : engine.loops.has(key)
    ? KNOWN_AHEAD
    : engine.endless;
  const look = ahead(engine, agent, period, limit, pure);
  if (pure && look.differs && isOld(engine, look)) {
    return stays(engine, agent, look, past, key);
  }
  return conclude(engine, agent, look, pure, past, key);
}

/** Whether an operation on the record runs what the agent posted to itself. */
export const isPosted = ({ sig, res }: Agent, at: number): boolean =>
  sig[at]! % 32 === k.EVENT && res[at] === MESSAGE;

/**
 * Whether an agent's loop returns to the event loop, where it may meet more
 * than what it posted itself: a wake, a timer, a letter.
 */
function mayHear({ world }: Runner, agent: Agent, period: number): boolean {
  const { id, n, timers, open } = agent;
  let returns = false;
  for (let at = n - period; at < n; at++) returns ||= isPosted(agent, at);
  return returns && (timers.length + open.length > 0 ||
    world.waiters.some((waiter) => waiter.agent === id));
}

/** The next operation of a loop that concerns nobody else. */
export function peekLocal(engine: Runner, agent: Agent, kind: number): Any {
  const look = engine.look!;
  const at = agent.n - look.period + look.done % look.period;
  if (look.done >= look.limit) throw engine.suspend();
  if (kind !== k.POST || agent.sig[at] !== signature(kind, k.NOWHERE)) {
    look.escaped = true;
    throw engine.suspend();
  }
  look.done++;
  return agent.res[at];
}

/** Whether the answer that memory does not give now is an old one of a hint. */
function isOld({ world }: Runner, { checks }: Look): boolean {
  const { kind, target, index, result } = checks[checks.length - 1]!;
  if (kind !== k.READ || target === null) return false;
  return world.hints?.isOld(target.base + index * target.size, result) ?? false;
}

/** How many answers of the agent's last round are old values of hints. */
function oldIn({ world: { hints } }: Runner, agent: Agent): number {
  const { n, period, sig, res } = agent;
  let count = 0;
  for (let i = n - period; i < n; i++) {
    if (sig[i]! % 32 !== k.READ) continue;
    if (hints!.isOld(signedAddress(sig[i]!), res[i])) count++;
  }
  return count;
}

/**
 * An agent goes round on old values of hints. Where nothing but newer values
 * ends that, further rounds leave it in the state that it had before.
 */
function stays(
  engine: Runner,
  agent: Agent,
  { period, limit }: Look,
  past: string,
  key: string,
): number {
  if (engine.futures.get(past) !== Infinity) {
    const look = ahead(engine, agent, period, limit, false);
    engine.futures.set(past, look.escaped ? look.done : Infinity);
    if (look.escaped) return ON;
    engine.loops.add(key);
  }
  engine.held = true;
  if (engine.spins.tellsApart(agent, period)) return ON;
  agent.stale = Math.max(0, agent.stale - oldIn(engine, agent));
  merge(engine, agent, period);
  return ON;
}

/** Runs an agent of asynchronous code ahead, if a loop asked for it. */
export async function followAsync(
  engine: Runner,
  agent: Agent,
  run: () => Promise<void>,
): Promise<void> {
  const { period, pure } = engine.asked!;
  engine.asked = null;
  const past = pastOf(agent, period);
  // Only the place is left out of the key: the stack is that of the tester.
  const key = keyOf(agent, period, pure, "");
  const limit = engine.loops.has(key) ? KNOWN_AHEAD : engine.endless;
  const look = lookOf(limit, period, pure);
  const kept = stateOf(agent);
  engine.look = look;
  try {
    await run();
  } finally {
    finishLook(engine, agent, look, kept);
  }
  if (conclude(engine, agent, look, pure, past, key) === SPINS) {
    agent.spinNext = true;
  }
}

/** Decides about a loop that an agent was run ahead in. */
function conclude(
  engine: Runner,
  agent: Agent,
  look: Look,
  pure: boolean,
  past: string,
  key: string,
): number {
  const { n, sig } = agent;
  const { period } = look;
  const round = sig.slice(n - period, n).filter((signature) =>
    signature % 32 !== k.POST && signature % 32 !== k.EVENT
  );
  const clock = round.some((signature) => signature % 32 === k.CLOCK);
  if (look.differs) return ON;
  const known = engine.futures.get(past);
  engine.futures.set(past, look.escaped ? look.done : Infinity);
  if (look.escaped) {
    agent.ends = n + look.done;
    const short = look.done <= ONE_BY_ONE || round.length < period;
    if (!pure || short || clock) return ON;
    engine.leapt.add(key);
    agent.leap = look.done;
    agent.spinAddresses = [...new Set(round.map(signedAddress))];
    return ON;
  }
  engine.held = true;
  if (known === undefined) engine.loops.add(key);
  if (!engine.scenario.async && engine.spins.tellsApart(agent, period)) {
    return ON;
  }
  if (pure) {
    agent.spinAddresses = [...new Set(round.map(signedAddress))];
    agent.tick = clock;
    if (engine.scenario.async) return SPINS;
    if (clock) engine.spins.enter(agent, period);
    else merge(engine, agent, period);
    return SPINS;
  }
  if (clock) agent.tick = true;
  else {
    agent.looping = true;
    const { after1, after2 } = agent;
    for (let i = n - 1 - period; i < n - 1; i++) {
      engine.rounds.add(roundOf(after1[i]!, after2[i]!));
    }
    merge(engine, agent, period);
  }
  return ON;
}

/** Gives the agent the hashes that it had before the last round. */
function merge({ spins }: Runner, agent: Agent, period: number): void {
  const { n, after1, after2 } = agent;
  agent.h1 = after1[n - 1] = after1[n - 1 - period]!;
  agent.h2 = after2[n - 1] = after2[n - 1 - period]!;
  agent.merged = n;
  agent.kept = agent.kept.filter((at) => at <= n - period);
  spins.enter(agent, period);
}

/**
 * A key that distinguishes loops: the place and, if the loop changes nothing,
 * its operations and answers, and the call's argument, which may say how often
 * it goes round.
 */
function keyOf(
  agent: Agent,
  period: number,
  pure: boolean,
  place = placeOf(),
): string {
  const { n, sig, args, res, call } = agent;
  let key = `${pure ? callText(call) : call.op}|${place}`;
  if (!pure && place !== "") return key;
  for (let i = n - period; i < n; i++) {
    key += `|${sig[i]},${args[i]},${String(res[i])}`;
  }
  return key;
}

/** Runs the agent alone, with the answers of its last round. */
function ahead(
  engine: Runner,
  agent: Agent,
  period: number,
  limit: number,
  compares: boolean,
): Look {
  const look = lookOf(limit, period, compares);
  if (limit === 0) return look;
  const kept = stateOf(agent);
  engine.look = look;
  try {
    engine.rewind(agent);
    engine.run(agent);
    look.escaped = true;
  } catch {
    if (!engine.unwinding) look.escaped = true;
  } finally {
    finishLook(engine, agent, look, kept);
  }
  return look;
}

function lookOf(limit: number, period: number, compares: boolean): Look {
  return {
    done: 0,
    limit,
    constants: 4 * limit,
    period,
    compares,
    checks: [],
    differs: false,
    escaped: false,
  };
}

/** What a look changes of an agent. */
function stateOf(agent: Agent): Partial<Agent> {
  const { pos, drawn, begun, allocations, dropped } = agent;
  const { depth, within, wholes, going, entered, keeper } = agent;
  const here = { pos, drawn, begun, allocations, dropped };
  const inside = { depth, within, wholes, going, entered, keeper };
  const { kind, target, index, a, b, address, size, timeout } = agent;
  const operation = { kind, target, index, a, b, address, size, timeout };
  return { ...here, ...inside, ...operation };
}

function finishLook(
  engine: Runner,
  agent: Agent,
  look: Look,
  kept: Partial<Agent>,
): void {
  engine.look = null;
  engine.unwinding = false;
  Object.assign(agent, kept);
  const { compares, checks, differs } = look;
  if (compares) engine.guards.push({ checks, same: !differs });
}

/** What an agent has seen, as a key. */
const pastOf = ({ id, oi, h1, h2 }: Agent, period: number): string =>
  `${id},${oi},${h1},${h2},${period}`;

/** The answer that an operation gives to an agent that is run ahead. */
export function peek(engine: Runner, agent: Agent): Any {
  const look = engine.look!;
  if (look.done >= look.limit) throw engine.suspend();
  const { kind, address, a, b, n, target, index } = agent;
  const before = n - look.period + look.done % look.period;
  if (
    agent.sig[before] !== signature(kind, address) ||
    agent.args[before] !== argBits(a, b)
  ) {
    look.escaped = true;
    throw engine.suspend();
  }
  const result = agent.res[before];
  if (look.compares && look.done < look.period) {
    const check = { kind, target, index, a, b, result };
    look.checks.push(check);
    const { forced, guards, world: { now } } = engine;
    const holds = forced === null
      ? isAnswer(check, now)
      : isSupposed(forced[guards.length], look.checks.length);
    if (!holds) {
      look.differs = true;
      throw engine.suspend();
    }
  }
  look.done++;
  return result;
}

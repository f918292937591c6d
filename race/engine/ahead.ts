/**
 * Loops. An agent that repeats the same operations with the same answers is
 * run ahead, alone and without effect, to learn whether it would do so for
 * ever. If it would, and the loop changes nothing, the agent spins: it does not
 * run until a word it reads changes. If the loop changes memory, each further
 * round is the same state of the agent as the round before.
 *
 * @module
 */
import type { Agent } from "./agent.ts";
import { argBits, signature, signedAddress, type World } from "./core.ts";
import * as k from "./kinds.ts";
import { native } from "./native.ts";
import type { Scenario } from "./scenario.ts";
import { placeOf } from "./sites.ts";
import type { Target } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A loop known to have no end is followed this far when met again. */
const KNOWN_AHEAD = 600;

/** Operations in a round of a loop, at most. */
const PERIOD = 24;

/** In asynchronous code, where one cannot look ahead: equal rounds. */
const ROUNDS = 32;

/** Steps of a loop that changes nothing, to be explored one by one. */
export const ONE_BY_ONE = 2000;

/** A loop that is followed ahead. */
export interface Look {
  /** Operations followed so far, and at most. */
  done: number;
  readonly limit: number;
  /** Reads of constants, which are no operations, that are left. */
  constants: number;
  readonly period: number;
  /** The first round is compared with memory as it is now. */
  readonly compares: boolean;
  /** Memory now gives other answers. */
  differs: boolean;
  /** The agent has left the loop. */
  escaped: boolean;
}

/** What it takes to follow a loop. */
export interface Runner {
  readonly world: World;
  readonly scenario: Scenario;
  /** The loop being followed, if any. */
  look: Look | null;
  /** A token is under way. */
  unwinding: boolean;
  /** Operations after which a loop is held to have no end. */
  endless: number;
  /** Loops that are held to have no end, by place and answers. */
  readonly loops: Set<string>;
  /** By what an agent has seen: operations left of the loop it is in. */
  readonly futures: Map<string, number>;
  /** Loops that were not explored round by round, by place and answers. */
  readonly leapt: Set<string>;
  /** Before a replay. */
  rewind(agent: Agent): void;
  /** Runs an agent from where its record begins. */
  run(agent: Agent): void;
  /** Makes the agent on the stack stop. */
  suspend(): unknown;
}

/** What is known of an agent that has done an operation. */
export const ON = 0;
/** It goes round a loop that changes nothing and has no end. */
export const SPINS = 1;

/** Looks at the end of an agent's record: is it in a loop? */
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
    // A loop of one or two operations is looked at after four.
    if (n - agent.from < 4) break;
    if (!repeats(agent, period, period * rounds)) continue;
    const pure = agent.pure >= Math.max(4, period * rounds);
    if (pure || agent.pure < period * (rounds - 1)) {
      return inLoop(engine, agent, period, pure);
    }
  }
  return ON;
}

/** Whether the last operations, `length` of them, go round in `period`. */
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

/** The agent has done the same rounds twice. */
function inLoop(
  engine: Runner,
  agent: Agent,
  period: number,
  pure: boolean,
): number {
  const { n, sig } = agent;
  const round = sig.slice(n - period, n);
  const clock = round.some((signature) => signature % 32 === k.CLOCK);
  agent.period = period;
  if (!engine.scenario.async) {
    // What it does next depends on what it has seen, and on nothing else.
    const past = `${agent.id},${agent.oi},${agent.h1},${agent.h2},${period}`;
    const known = engine.futures.get(past);
    const key = known === undefined ? keyOf(agent, period, pure) : "";
    const limit = known === Infinity
      ? pure ? period : 0
      : engine.loops.has(key)
      ? KNOWN_AHEAD
      : engine.endless;
    const look = ahead(engine, agent, period, limit, pure);
    if (look.differs) return ON;
    engine.futures.set(past, look.escaped ? look.done : Infinity);
    if (look.escaped) {
      agent.ends = n + look.done;
      if (!pure || look.done <= ONE_BY_ONE || clock) return ON;
      engine.leapt.add(key);
      agent.leap = look.done;
      agent.spinAddresses = [...new Set(round.map(signedAddress))];
      return ON;
    }
    if (known === undefined) engine.loops.add(key);
  }
  if (pure) {
    agent.spinAddresses = [...new Set(round.map(signedAddress))];
    agent.tick = clock;
    return SPINS;
  }
  if (clock) agent.tick = true;
  else {
    agent.looping = true;
    merge(agent, period);
  }
  return ON;
}

/** After a round the agent is what it was before it. */
function merge(agent: Agent, period: number): void {
  const { n, after1, after2 } = agent;
  agent.h1 = after1[n - 1] = after1[n - 1 - period]!;
  agent.h2 = after2[n - 1] = after2[n - 1 - period]!;
}

/**
 * What tells a loop from others: its place and, if it changes nothing, its
 * operations and answers.
 */
function keyOf(agent: Agent, period: number, pure: boolean): string {
  const { n, sig, args, res, call } = agent;
  let key = `${call.op}|${placeOf()}`;
  if (!pure) return key;
  for (let i = n - period; i < n; i++) {
    key += `|${sig[i]},${args[i]},${String(res[i])}`;
  }
  return key;
}

/** Lets the agent run alone, with the answers of its last round. */
function ahead(
  engine: Runner,
  agent: Agent,
  period: number,
  limit: number,
  compares: boolean,
): Look {
  const { pos, drawn, allocations } = agent;
  const { kind, target, index, a, b, address, size, timeout } = agent;
  const look: Look = {
    done: 0,
    limit,
    constants: 4 * limit,
    period,
    compares,
    differs: false,
    escaped: false,
  };
  if (limit === 0) return look;
  engine.look = look;
  try {
    engine.rewind(agent);
    engine.run(agent);
    look.escaped = true;
  } catch {
    if (!engine.unwinding) look.escaped = true;
  } finally {
    engine.look = null;
    engine.unwinding = false;
    Object.assign(agent, { pos, drawn, allocations });
    Object.assign(agent, { kind, target, index, a, b, address, size, timeout });
  }
  return look;
}

/** What an operation answers to an agent that is run ahead. */
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
    const now = effectless(kind, target, index, a, engine.world.now);
    if (now === undefined || now !== result) {
      look.differs = true;
      throw engine.suspend();
    }
  }
  look.done++;
  return result;
}

/** What an operation answers, if it changes nothing; else `undefined`. */
function effectless(
  kind: number,
  target: Target | null,
  index: number,
  a: Any,
  now: number,
): Any {
  if (kind === k.CLOCK) return now;
  if (target === null) return undefined;
  const { view } = target;
  const value = kind === k.READ ? view[index] : native.load(view, index);
  switch (kind) {
    case k.LOAD:
    case k.READ:
      return value;
    case k.CAS:
      return value === a ? undefined : value;
    case k.WAIT:
      return value === a ? undefined : "not-equal";
    case k.STORE:
    case k.EXCHANGE:
      return value === a ? value : undefined;
    case k.ADD:
    case k.SUB:
    case k.XOR:
      return Number(a) === 0 ? value : undefined;
    case k.OR:
      return (value | a) === value ? value : undefined;
    case k.AND:
      return (value & a) === value ? value : undefined;
    default:
      return undefined;
  }
}

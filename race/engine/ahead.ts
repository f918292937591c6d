/**
 * Loops that change nothing. An agent that goes round in one is not let run
 * until a word it reads changes; whether a loop is one, and ends by itself or
 * not, is seen by following it ahead, alone and without effect.
 *
 * @module
 */
import type { Agent } from "./agent.ts";
import { argBits, signature, signedAddress, type World } from "./core.ts";
import * as k from "./kinds.ts";
import { native } from "./native.ts";
import type { Scenario } from "./scenario.ts";
import type { Target } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A loop is followed this far alone before it is held to be endless. */
const LOOK_AHEAD = 600;

/** In asynchronous code, where one cannot look ahead: rounds without effect. */
const ROUNDS = 32;

/** A loop followed ahead. */
export interface Look {
  left: number;
  readonly period: number;
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
  /** Before a replay. */
  rewind(agent: Agent): void;
  /** Runs an agent from where its record begins. */
  run(agent: Agent): void;
  /** Makes the agent on the stack stop. */
  suspend(): unknown;
}

/** Whether the end of the record repeats, and would do so for ever. */
export function spins(engine: Runner, agent: Agent): boolean {
  const { n, sig, res, args } = agent;
  const rounds = engine.scenario.async ? ROUNDS : 2;
  const most = Math.min(Math.floor(agent.pure / rounds), 8);
  search: for (let period = 1; period <= most; period++) {
    for (let i = n - 1; i >= n - period * (rounds - 1); i--) {
      const j = i - period;
      if (sig[i] !== sig[j] || args[i] !== args[j] || res[i] !== res[j]) {
        continue search;
      }
    }
    // "The same answers twice" is no proof: others may have changed memory
    // in between. What counts is what it does on memory as it is now.
    if (!engine.scenario.async && !loops(engine, agent, period)) return false;
    const places = sig.slice(n - period, n).map(signedAddress);
    agent.spinAddresses = [...new Set(places)];
    return true;
  }
  return false;
}

/** Lets the agent run alone, without effect: does it leave the loop? */
function loops(engine: Runner, agent: Agent, period: number): boolean {
  const { n, res, sig, args, pos, drawn, allocations } = agent;
  const look: Look = { left: LOOK_AHEAD, period, escaped: false };
  engine.look = look;
  agent.res = res.slice(0, n);
  agent.sig = sig.slice(0, n);
  agent.args = args.slice(0, n);
  try {
    engine.rewind(agent);
    engine.run(agent);
    look.escaped = true;
  } catch {
    if (!engine.unwinding) look.escaped = true;
  } finally {
    engine.look = null;
    engine.unwinding = false;
    Object.assign(agent, { n, res, sig, args, pos, drawn, allocations });
  }
  return !look.escaped;
}

/** What an operation would answer now, if it changes nothing. */
export function peek(engine: Runner, agent: Agent): Any {
  const look = engine.look!;
  if (look.left-- <= 0) throw engine.suspend();
  const { kind, address, a, b, n, target, index } = agent;
  const before = n - look.period;
  const result = effectless(kind, target, index, a, engine.world.now);
  if (
    result === undefined || agent.res[before] !== result ||
    agent.sig[before] !== signature(kind, address) ||
    agent.args[before] !== argBits(a, b)
  ) {
    look.escaped = true;
    throw engine.suspend();
  }
  agent.record(agent.sig[before]!, agent.args[before]!, result);
  agent.pos = agent.n;
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
    case k.OR:
      return (value | a) === value ? value : undefined;
    case k.AND:
      return (value & a) === value ? value : undefined;
    default:
      return undefined;
  }
}

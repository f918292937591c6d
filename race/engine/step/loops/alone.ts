/**
 * Loops that sleep. If only time goes on, an agent may sleep with a timeout,
 * look at memory, and sleep again. The engine then runs it on, alone and
 * without effect, to learn whether it does something else in the end: it
 * returns, throws, changes memory, or sleeps without a timeout.
 *
 * @module
 */
import type { Agent } from "../../state/agent/agent.ts";
import { addTimer } from "../../state/agent/snapshot.ts";
import type { World } from "../../state/core.ts";
import { effectless } from "../../state/agent/guard.ts";
import {
  argBits,
  BLOCK,
  callText,
  signature,
} from "../../state/agent/operation.ts";
import * as k from "../../kinds.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** How many timeouts and timers in a row are followed. */
export const FIRES = 1000;

/** The same, if a loop at this place is known to have no end. */
const KNOWN = 200;

/** How many operations without a timeout may belong to the same loop. */
const OPERATIONS = 20_000;

/** An agent that is run on alone. */
export interface Alone {
  /** How many timeouts and timers have ended a sleep, and how many may. */
  fires: number;
  readonly limit: number;
  /** How many operations there were since the last of them. */
  operations: number;
  /** Whether the agent has left its loop. */
  ended: boolean;
}

/** The parts of the engine that are needed to run an agent on. */
export interface Loner {
  readonly world: World;
  /** Loops that seem to have no end, by call and place. */
  readonly loops: Set<string>;
  readonly verifying: boolean;
  alone: Alone | null;
  /** Whether a loop of sleeps was met that seems to have no end. */
  sleepless: boolean;
  /** Does something that concerns one agent only. */
  local(kind: number, a: number, perform: (agent: Agent) => Any): Any;
  /** Suspends the agent on the stack. */
  suspend(): unknown;
}

/** Whether it must be found out how long an agent goes on sleeping. */
export function mustGoOn({ world, verifying }: Loner, agent: Agent): boolean {
  const { status, timers } = agent;
  if (!agent.tired || world.fault !== null || verifying) return false;
  return status === k.READY || status === k.IDLE && timers.length > 0;
}

/**
 * Prepares for running an agent on. Returns a function that restores everything
 * and notes how many more timers may fire for the agent.
 */
export function goOn(engine: Loner, agent: Agent): () => void {
  const { world, loops } = engine;
  const { call, kind, address } = agent;
  const key = `sleeps ${callText(call)} ${kind} ${address}`;
  const saved = world.save();
  const snapshot = agent.save();
  const { trace, clocks, steps, woken, maxOpSteps, began, ended } = world;
  const { pos, drawn, begun, allocations } = agent;
  const alone: Alone = {
    fires: 0,
    limit: loops.has(key) ? KNOWN : FIRES,
    operations: 0,
    ended: false,
  };
  engine.alone = alone;
  world.trace = world.clocks = null;
  return () => {
    engine.alone = null;
    world.load(saved);
    agent.load(snapshot);
    Object.assign(world, { trace, clocks, steps, woken, maxOpSteps });
    Object.assign(world, { began, ended, volatile: true });
    Object.assign(agent, { pos, drawn, begun, allocations });
    if (!alone.ended) {
      loops.add(key);
      engine.sleepless = true;
      return;
    }
    agent.snapshot = null;
    agent.fires = agent.idleFires + alone.fires + 1;
  };
}

/** Does an operation of an agent that runs on alone. */
export function doAlone(engine: Loner, agent: Agent): Any {
  const { world } = engine;
  const alone = engine.alone!;
  if (alone.operations++ > OPERATIONS || changes(world, agent)) {
    alone.ended = true;
    throw engine.suspend();
  }
  if (agent.kind === k.CLOCK) {
    return engine.local(k.CLOCK, 0, () => world.now);
  }
  let result = world.perform(agent, 0);
  if (result === BLOCK) {
    const { deadline } = agent;
    if (deadline === Infinity) {
      alone.ended = true;
      throw engine.suspend();
    }
    world.now = Math.max(world.now, deadline);
    world.leave(agent);
    agent.status = k.READY;
    agent.waitAddress = -1;
    agent.deadline = Infinity;
    if (!mayFire(alone)) throw engine.suspend();
    result = "timed-out";
  }
  agent.record(
    signature(agent.kind, agent.address),
    argBits(agent.a, agent.b),
    result,
  );
  agent.pos = agent.n;
  return result;
}

/**
 * Records the next event of an agent that awaits something. False if there is
 * none, or if there were too many.
 */
export function fireAlone(engine: Loner, agent: Agent): boolean {
  const { world, alone } = engine;
  const [message] = agent.inbox;
  if (message !== undefined) {
    agent.inbox = agent.inbox.slice(1);
    agent.record(signature(k.EVENT, message.promise), 0, message.value);
    return alone!.operations++ <= OPERATIONS;
  }
  const [timer] = agent.timers;
  if (timer === undefined || world.hasEvent(agent)) {
    alone!.ended = true;
    return false;
  }
  agent.timers = agent.timers.slice(1);
  world.now = Math.max(world.now, timer.due);
  if (timer.promise >= 0) {
    world.expire(agent, timer.promise);
    return mayFire(alone!) && fireAlone(engine, agent);
  }
  if (timer.every > 0) {
    const due = timer.due + timer.every;
    agent.timers = addTimer(agent.timers, { ...timer, due });
  }
  agent.record(signature(k.EVENT, timer.id), 0, undefined);
  return mayFire(alone!);
}

function mayFire(alone: Alone): boolean {
  alone.operations = 0;
  return ++alone.fires <= alone.limit;
}

/** Whether an operation would change memory or wake somebody. */
function changes({ waiters }: World, agent: Agent): boolean {
  const { kind, target, index, a, b, address } = agent;
  if (kind === k.NOTIFY) {
    return a > 0 && waiters.some((waiter) => waiter.address === address);
  }
  if (!k.writes(kind)) return false;
  return kind === k.WRITE
    ? !Object.is(target!.view[index], a)
    : effectless(kind, target, index, a, b, 0) === undefined;
}

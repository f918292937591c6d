/**
 * Runs an agent from another state than its own, alone and without effect, to
 * see what it would do there.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type {
  Event,
  Guard,
  Outcome,
  Snapshot,
} from "../state/agent/snapshot.ts";
import { BLOCK } from "../state/agent/operation.ts";
import { sameGuards } from "../state/agent/guard.ts";
import * as k from "../kinds.ts";
import type { Fault } from "../kinds.ts";
import { CHANGED, RESUMED, STALE_READ, WOKEN } from "../state/agent/memo.ts";
import { toil } from "../step/operations.ts";
import type { Engine } from "../step/replay.ts";

/**
 * Runs an agent in `state` as if `event` happened there. Loops that it meets
 * go on or end as `forced` says; with `null` they are not followed.
 */
export function shadow(
  engine: Engine,
  agent: Agent,
  state: Snapshot,
  event: Event,
  forced: readonly Guard[] | null,
): Outcome {
  const { world } = engine;
  const { cause, value, now } = event;
  const asleep = state.status === k.BLOCKED;
  const steps = (cause & ~(CHANGED | STALE_READ)) === 0;
  const wakes = cause === WOKEN || cause === k.TIMEOUT;
  const looks = cause === k.TIMEOUT && state.status === k.SPINNING;
  if (!steps && cause !== RESUMED && !looks && !(wakes && asleep)) {
    return { to: null, ended: [] };
  }
  const present = agent.save();
  // Each by its name: to copy objects would take longer than to run the agent.
  const { frontier, fault, woken, changed, began, ended: over } = world;
  const { volatile, maxOpSteps, now: time } = world;
  const { job, grant, performed, result, inline, ended, guards, age } = engine;
  const { refused, blind } = engine;
  world.frontier = -1;
  world.fault = null;
  world.woken = [];
  world.now = now;
  engine.inline = engine.performed = false;
  engine.grant = null;
  engine.ended = [];
  engine.guards = [];
  engine.forced = forced ?? [];
  engine.blind = forced === null;
  engine.strayed = undefined;
  agent.load(state);
  try {
    if (cause === RESUMED) world.resume(agent);
    else if (steps) step(engine, agent, event);
    else if (looks) {
      agent.idleFires++;
      agent.snapshot = null;
      agent.kind = k.CLOCK;
      world.resume(agent);
      agent.before = null;
    } else {
      if (cause === k.TIMEOUT) agent.idleFires++;
      agent.snapshot = null;
      world.wake(agent, value as string);
      world.receive(agent);
      agent.before = null;
    }
    if (cause !== RESUMED && value !== BLOCK) engine.activate(agent);
    const meant = sameGuards(engine.guards, forced ?? []);
    const wrong = world.fault as Fault | null;
    return wrong === null && engine.refused === null && meant
      ? { to: agent.save(), ended: engine.ended }
      : { to: null, ended: [], strayed: engine.strayed ?? wrong?.kind };
  } finally {
    world.frontier = frontier;
    world.fault = fault;
    world.woken = woken;
    world.changed = changed;
    world.began = began;
    world.ended = over;
    world.now = time;
    world.volatile = volatile;
    world.maxOpSteps = maxOpSteps;
    engine.job = job;
    engine.grant = grant;
    engine.performed = performed;
    engine.result = result;
    engine.inline = inline;
    engine.ended = ended;
    engine.guards = guards;
    engine.age = age;
    engine.refused = refused;
    engine.blind = blind;
    engine.forced = null;
    agent.load(present);
  }
}

/** Prepares the agent for going on after the answer of its operation. */
function step(engine: Engine, agent: Agent, { cause, value }: Event): void {
  const { world } = engine;
  agent.snapshot = null;
  agent.steps++;
  if ((cause & STALE_READ) !== 0) agent.stale++;
  if (!agent.invoked) world.begin(agent);
  toil(engine, agent);
  if (value === BLOCK) world.sleep(agent);
  world.absorb(agent, value, (cause & CHANGED) !== 0);
  engine.grant = agent;
  engine.performed = true;
  engine.result = value;
  engine.age = 0;
}

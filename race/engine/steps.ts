/**
 * Carries out the scheduler's choices: a step of an agent, the end of a sleep,
 * an event, a kill.
 *
 * @module
 */
import type { Agent } from "./agent.ts";
import { addTimer, callText, signature, type World } from "./core.ts";
import * as k from "./kinds.ts";
import { type FailureKind, Fault } from "./kinds.ts";
import type { Engine, Steps } from "./replay.ts";
import { MESSAGE } from "./timers.ts";
import { RECOVER } from "./scenario.ts";

/** Runs every agent to its first operation. */
export function* begin(engine: Engine): Steps<void> {
  const { world, opening } = engine;
  world.reset();
  engine.inline = false;
  engine.grant = null;
  engine.next = k.END;
  if (opening !== null && world.trace === null) {
    // The state before the first choice is always the same.
    const { budget } = world;
    world.load(opening.world);
    world.budget = budget;
    opening.agents.forEach((agent, id) => world.agents[id]!.load(agent));
    return;
  }
  for (const agent of world.agents) {
    if (agent === engine.recoverer) agent.calls = [];
    yield agent;
  }
  if (world.fault === null) engine.checkInvariant();
  if (world.fault !== null) return;
  const agents = world.agents.map((agent) => agent.save());
  engine.opening = { world: world.save(), agents };
}

/** Carries out a choice of the scheduler. */
export function* apply(
  engine: Engine,
  code: number,
  inline: boolean,
): Steps<void> {
  const { world } = engine;
  const agent = world.agents[k.agentOf(code)]!;
  world.schedule.push(code);
  engine.inline = inline;
  world.began = world.ended = false;
  const action = k.actionOf(code);
  if (action === k.STEP || action === k.STALE || action === k.LEAP) {
    engine.grant = agent;
    engine.age = action === k.STALE ? k.numberOf(code) : 0;
    engine.leaping = action === k.LEAP ? k.numberOf(code) - 1 : 0;
    yield agent;
    engine.grant = null;
  } else unusual(engine, agent, action);
  while (world.woken.length > 0) {
    engine.inline = false;
    yield world.woken.shift()!;
  }
  blame(engine);
}

function unusual(engine: Engine, agent: Agent, action: number): void {
  const { world } = engine;
  agent.snapshot = null;
  const free = isQuiet(world);
  if (action === k.KILL) return kill(engine, agent);
  if (action === k.SPURIOUS) {
    const { budget } = world;
    world.budget = { ...budget, spurious: budget.spurious - 1 };
    world.leave(agent);
    world.trace?.row(world, agent, "event", "(wakes without a reason)");
    return world.wake(agent, "ok");
  }
  if (action === k.SETTLE) {
    const { promise, value } = agent.inbox[0]!;
    agent.inbox = agent.inbox.slice(1);
    world.trace?.row(
      world,
      agent,
      "event",
      value === MESSAGE
        ? "(a message arrives)"
        : `(promise ${promise} settles: ${value})`,
    );
    return event(engine, agent, promise, value);
  }
  const { budget } = world;
  if (!free && budget.timeouts > 0) {
    world.budget = { ...budget, timeouts: budget.timeouts - 1 };
  }
  agent.idleFires++;
  if (action === k.TIMEOUT) {
    world.now = Math.max(world.now, agent.deadline);
    if (agent.status === k.SPINNING) {
      world.trace?.row(world, agent, "event", `(it is ${world.now} ms)`);
      agent.kind = k.CLOCK;
      return world.resume(agent);
    }
    world.leave(agent);
    world.trace?.row(
      world,
      agent,
      "event",
      `(the wait times out at ${world.now} ms)`,
    );
    return world.wake(agent, "timed-out");
  }
  const timer = agent.timers[0]!;
  agent.timers = agent.timers.slice(1);
  world.now = Math.max(world.now, timer.due);
  world.trace?.row(world, agent, "event", `(a timer fires at ${world.now} ms)`);
  if (timer.promise >= 0) return world.expire(agent, timer.promise);
  if (timer.every > 0) {
    const due = timer.due + timer.every;
    agent.timers = addTimer(agent.timers, { ...timer, due });
  }
  event(engine, agent, timer.id, undefined);
}

/**
 * Runs an event of the agent's loop, which replays then take from the record.
 */
function event(
  { world }: Engine,
  agent: Agent,
  id: number,
  value: unknown,
): void {
  agent.kind = k.EVENT;
  agent.address = id;
  world.note(agent, value);
  agent.record(signature(k.EVENT, id), 0, value);
  world.woken.push(agent);
}

function kill(engine: Engine, agent: Agent): void {
  const { world, recoverer, scenario } = engine;
  const { budget } = world;
  world.budget = { ...budget, kills: budget.kills - 1 };
  world.leave(agent);
  agent.status = k.KILLED;
  agent.inbox = [];
  agent.timers = [];
  agent.deadline = Infinity;
  world.trace?.row(world, agent, "event", "(terminated here)");
  if (recoverer !== null) {
    recoverer.snapshot = null;
    recoverer.calls = [{ op: RECOVER, arg: agent.id }];
    recoverer.status = k.READY;
    // From here on, the model does not know its state.
    if (!scenario.recoverModelled) world.frontier = -1;
    world.woken.push(recoverer);
  } else engine.checkInvariant();
}

/** After a kill, every fault is reported as damage. */
function blame(engine: Engine): void {
  const { fault, agents } = engine.world;
  if (fault === null) return;
  const dead = agents.find(({ status }) => status === k.KILLED);
  if (dead === undefined) return;
  if (fault.kind === "nondeterministic" || fault.kind === "data-race") return;
  const where = dead.invoked
    ? `inside ${callText(dead.call)}`
    : `before ${dead.oi < dead.calls.length ? callText(dead.call) : "its end"}`;
  engine.world.fault = new Fault(
    "damaged-by-kill",
    `agent ${dead.id} was terminated ${where}; then ${fault.kind}: ` +
      fault.message,
  );
}

/** Reports a fault, as damage if an agent was killed. */
export function fail(
  engine: Engine,
  kind: FailureKind,
  message: string,
): void {
  engine.world.fail(kind, message);
  blame(engine);
}

/** Whether nothing can happen any more unless time passes. */
export function isQuiet(world: World): boolean {
  for (const { status, inbox } of world.agents) {
    if (status === k.READY) return false;
    if (inbox.length > 0 && (status === k.IDLE || status === k.DONE)) {
      return false;
    }
  }
  return true;
}

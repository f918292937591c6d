/**
 * Carries out the scheduler's choices: a step of an agent, the end of a sleep,
 * an event, a kill.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Edge, Snapshot } from "../state/agent/snapshot.ts";
import { addTimer } from "../state/agent/snapshot.ts";
import type { World } from "../state/core.ts";
import { BLOCK, callText, signature } from "../state/agent/operation.ts";
import * as k from "../kinds.ts";
import { type FailureKind, Fault } from "../kinds.ts";
import type { Hints } from "../state/hints.ts";
import type { Engine, Steps } from "./replay.ts";
import {
  agrees,
  ARRIVES,
  CHANGED,
  ENOUGH,
  isSame,
  type Memo,
  RECOVERS,
  STALE_READ,
} from "../state/agent/memo.ts";
import type { Letter } from "../state/mail.ts";
import { MESSAGE } from "../state/timers.ts";
import { show } from "../values.ts";
import { RECOVER } from "../scenario.ts";

/** Runs every agent to its first operation. */
export function* begin(engine: Engine): Steps<void> {
  const { world, opening } = engine;
  world.reset();
  engine.inline = engine.performed = false;
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
  for (const agent of world.agents) join(agent, world.agents[agent.like]!);
  for (const agent of world.agents) world.hints?.arrive(agent.id, agent);
  const agents = world.agents.map((agent) => agent.save());
  engine.opening = { world: world.save(), agents };
}

/**
 * Gives an agent that has done nothing the state of another one that does the
 * same. What follows from a state is then remembered for both.
 */
function join(agent: Agent, like: Agent): void {
  if (agent === like || agent.n + like.n > 0) return;
  const mine = agent.save();
  const other = like.save();
  const same = agent.kind === like.kind && agent.address === like.address &&
    agent.status === like.status && agent.h1 === like.h1 &&
    agent.h2 === like.h2 && agent.oi === like.oi;
  if (
    same && isSame({ ...mine, calls: other.calls, target: other.target }, other)
  ) {
    agent.load(other);
  }
}

/** Carries out a choice of the scheduler. */
export function* apply(
  engine: Engine,
  code: number,
  inline: boolean,
): Steps<void> {
  if (!start(engine, code, inline)) yield* finish(engine);
}

/**
 * Carries out a choice of the scheduler as far as no agent must be run. If one
 * must, `finish` does the rest, and the answer is false.
 */
export function start(engine: Engine, code: number, inline: boolean): boolean {
  const { world } = engine;
  const agent = world.agents[k.agentOf(code)]!;
  const action = k.actionOf(code);
  const memo = world.memo = engine.remembers ? engine.memo : null;
  world.notes = engine.spins.notes;
  world.schedule.push(code);
  // Where time passes, or an agent ends, nobody's reads are moved before that.
  world.came = isStep(action) || action === k.LEAP ? 1 << agent.id : ~0;
  world.began = world.ended = world.volatile = false;
  engine.inline = inline;
  // A given schedule may let an agent go round its loop once more.
  if (agent.status === k.SPINNING && isStep(action)) world.resume(agent);
  if (action === k.LEAP || memo === null && isStep(action)) {
    engine.age = action === k.STALE ? k.numberOf(code) : 0;
    engine.leaping = action === k.LEAP ? k.numberOf(code) - 1 : 0;
    engine.grant = agent;
    const before = world.notes && isStep(action) ? agent.save() : null;
    engine.job = { ...NOTHING, agent, before };
    engine.ended = [];
    return false;
  }
  if (memo !== null && isStep(action)) {
    const age = action === k.STALE ? k.numberOf(code) : 0;
    return step(engine, memo, agent, age) && wake(engine);
  }
  const letter = action === k.SETTLE && k.numberOf(code) > 0
    ? world.arrive(agent, agent.open[k.numberOf(code) - 1]!)
    : undefined;
  const cause = letter === undefined ? action : causeOf(letter);
  world.prepare(agent, cause);
  if (letter !== undefined) arrive(engine, agent, letter);
  else unusual(engine, agent, action);
  const from = agent.before;
  if (from !== null && !world.woken.includes(agent)) {
    // The agent has changed without being run.
    agent.before = null;
    const edge = memo?.find(from, action, undefined, world.now);
    if (edge !== undefined) agent.load(edge.to);
    else memo?.add(from, action, undefined, world.now, agent, [], [], true);
  }
  return wake(engine);
}

/** Runs agents until a choice is carried out. */
export function* finish(engine: Engine): Steps<void> {
  do yield engine.job!.agent; while (!settle(engine) || !wake(engine));
}

const isStep = (action: number): boolean =>
  action === k.STEP || action === k.STALE;

const NOTHING = {
  from: null,
  before: null,
  cause: 0,
  value: undefined,
  now: 0,
  edge: undefined,
};

/** A step of `agent`; false if it must be run. */
function step(engine: Engine, memo: Memo, agent: Agent, age: number): boolean {
  const { world } = engine;
  const from = agent.save();
  const value = engine.perform(agent, age);
  if (world.fault !== null) return true;
  const { changed, volatile, now } = world;
  const cause = (changed ? CHANGED : 0) | (age > 0 ? STALE_READ : 0);
  const edge = volatile ? undefined : memo.find(from, cause, value, now);
  if (edge !== undefined && edge.runs >= ENOUGH) {
    follow(engine, agent, from, edge);
    return true;
  }
  world.absorb(agent, value, changed);
  if (value === BLOCK) {
    engine.returns.slept(agent);
    if (!volatile) memo.add(from, cause, value, now, agent, [], [], true);
    return true;
  }
  engine.age = age;
  engine.grant = agent;
  engine.performed = true;
  engine.result = value;
  // If the agent goes on to further steps, what follows is not kept.
  const kept = volatile || engine.inline ? null : from;
  const before = engine.inline ? null : from;
  engine.job = { agent, from: kept, before, cause, value, now, edge };
  engine.ended = [];
  engine.guards = [];
  return false;
}

/** Lets the agents go on that were woken; false if one of them must be run. */
function wake(engine: Engine): boolean {
  const { world } = engine;
  const { memo, woken } = world;
  while (woken.length > 0) {
    const agent = woken.shift()!;
    world.came |= 1 << agent.id;
    const { before: from, cause, answer: value } = agent;
    const { now } = world;
    agent.before = null;
    let edge: Edge | undefined;
    if (memo !== null && from !== null) {
      edge = memo.find(from, cause, value, now);
      if (edge !== undefined && edge.runs >= ENOUGH) {
        follow(engine, agent, from, edge);
        continue;
      }
    }
    world.receive(agent);
    world.volatile = false;
    engine.inline = false;
    engine.job = { agent, from, before: from, cause, value, now, edge };
    engine.ended = [];
    engine.guards = [];
    return false;
  }
  if (world.hints !== null) noteReads(world, world.hints);
  blame(engine);
  return true;
}

/** Tells the hints which agents have come to an operation. */
function noteReads({ agents, came }: World, hints: Hints): void {
  for (const agent of agents) {
    if (came >> agent.id & 1) hints.arrive(agent.id, agent);
  }
}

/** The agent of the present job has run. */
function settle(engine: Engine): true {
  const { world, memo, job } = engine;
  const { agent, from, cause, value, now, edge } = job!;
  if (world.notes && edge === undefined) engine.noteRun();
  engine.job = engine.grant = null;
  engine.performed = false;
  const lasts = world.memo !== null && world.fault === null &&
    !world.volatile && world.now === now;
  if (from === null || !lasts) return true;
  if (agent.returned === agent.n) memo.join(agent);
  if (edge === undefined) {
    const { ended, guards } = engine;
    memo.add(from, cause, value, now, agent, ended, guards, false);
  } else if (agrees(agent, edge)) {
    edge.runs++;
    agent.load(edge.to);
  } else engine.differs(agent, edge.to);
  return true;
}

/** Lets the agent go on as it did before. */
function follow(
  engine: Engine,
  agent: Agent,
  from: Snapshot,
  { to, ended }: Edge,
): void {
  const { world } = engine;
  let { invoked } = agent;
  agent.load(to);
  for (let i = 0; i < ended.length; i++) {
    // Before it recovers, the recoverer has no calls.
    const call = to.calls[from.oi + i]!;
    const { result, steps } = ended[i]!;
    if (!invoked) world.invoke(agent, call);
    invoked = false;
    world.answer(agent, call, result);
    if (steps > world.maxOpSteps) world.maxOpSteps = steps;
    if (world.fault === null) engine.checkInvariant();
    if (world.fault !== null) return;
  }
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
    engine.coverage?.timedOut(agent);
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

const causeOf = ({ message }: Letter): number => ARRIVES + message.id * 0x1000;

/** A message arrives at an agent. */
function arrive({ world }: Engine, agent: Agent, { message }: Letter): void {
  const { id, port, data } = message;
  agent.snapshot = null;
  const text = `(${world.mail.nameOf(port)} receives ${show(data)})`;
  world.trace?.row(world, agent, "event", text);
  agent.kind = k.ARRIVE;
  agent.address = port;
  world.note(agent, id);
  agent.record(signature(k.ARRIVE, port), 0, id);
  world.woken.push(agent);
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
  if (value === MESSAGE) agent.pure++;
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
  agent.open = [];
  agent.timers = [];
  agent.deadline = Infinity;
  world.trace?.row(world, agent, "event", "(terminated here)");
  if (recoverer !== null) {
    world.prepare(recoverer, RECOVERS + agent.id);
    recoverer.snapshot = null;
    recoverer.calls = engine.recoveries[agent.id] ??= [
      { op: RECOVER, arg: agent.id },
    ];
    recoverer.status = k.READY;
    // Who recovers has been told that the agent has ended.
    world.clocks?.wake(agent, recoverer);
    world.hints?.wake(agent.id, recoverer.id);
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
  const { kind } = fault;
  if (kind === "nondeterministic" || kind === "data-race") return;
  if (kind === "damaged-by-kill") return; // it was reported as damage before
  const where = dead.invoked
    ? `inside ${callText(dead.told)}`
    : `before ${dead.oi < dead.calls.length ? callText(dead.told) : "its end"}`;
  engine.world.fault = new Fault(
    "damaged-by-kill",
    `agent ${dead.id} was terminated ${where}; then ${kind}: ` +
      fault.message,
    fault.cause,
  );
}

/** Reports a fault, as damage if an agent was killed. */
export function fail(
  engine: Engine,
  kind: FailureKind,
  message: string,
  cause?: unknown,
): void {
  engine.world.fail(kind, message, cause);
  blame(engine);
}

/** Whether nothing can happen any more unless time passes. */
function isQuiet(world: World): boolean {
  for (const agent of world.agents) {
    const { status } = agent;
    if (status === k.READY) return false;
    if (status !== k.IDLE && status !== k.DONE) continue;
    if (world.hasEvent(agent)) return false;
  }
  return true;
}

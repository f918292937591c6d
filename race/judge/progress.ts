/**
 * Judges states in which an agent cannot go on.
 *
 * @module
 */
import type { Agent } from "../engine/state/agent/agent.ts";
import { isOver, setsOff, timerOf } from "../engine/step/choices.ts";
import type { World } from "../engine/state/core.ts";
import { callText } from "../engine/state/agent/operation.ts";
import type { Sleeper } from "../engine/state/watch.ts";
import * as k from "../engine/kinds.ts";
import type { Engine } from "../engine/step/replay.ts";
import { missedWake } from "./missed.ts";
import { RECOVER } from "../engine/scenario.ts";
import { fail } from "../engine/step/steps.ts";

/** The agents that cannot go on by themselves. */
function stuckAgents(world: World): Agent[] {
  return world.agents.filter((agent) =>
    agent.status === k.BLOCKED || agent.status === k.SPINNING ||
    (agent.status === k.IDLE && !world.hasEvent(agent))
  );
}

/** The options that say which waits are excused. */
export interface Patience {
  /** Whether a timeout excuses a lost wake-up. */
  readonly rescue: boolean;
  /** The milliseconds of a sleep after which an agent only looks again. */
  readonly looks?: number | undefined;
  /** Whether an agent may wait without sleeping. */
  readonly polls?: boolean | undefined;
}

/**
 * Judges a state in which no agent can run unless time passes: may the waiting
 * agents wait? A timer does not excuse them: if only a timeout helps, a wake-up
 * was lost.
 */
export function judgeQuiet(
  engine: Engine,
  { rescue: always, looks }: Patience,
): void {
  const { world } = engine;
  const stuck = stuckAgents(world);
  if (stuck.length === 0) return;
  const rescue = always || engine.looksAfterKill &&
      world.agents.some(({ status }) => status === k.KILLED);
  const { judge, frontier } = world;
  if (judge !== null && frontier >= 0) {
    const sleepers = stuck.map(sleeper);
    const dead = world.agents.filter(({ status }) => status === k.KILLED);
    if (judge.mayWait(frontier, sleepers, maskOf(dead))) {
      if (holdsUp(engine, stuck, dead)) failHeldUp(engine, stuck, dead);
      return;
    }
    if (rescue && stuck.some(({ timed }) => timed)) return;
    const kind = stuck.every(({ status }) => status === k.SPINNING)
      ? "livelock"
      : holdsAndWaits(stuck)
      ? "deadlock"
      : "lost-wakeup";
    return fail(
      engine,
      kind,
      `${stuck.map((agent) => waitText(world, agent)).join("; ")}, though ` +
        `the model says it can complete: ${judge.explain(frontier)}`,
    );
  }
  // A timer that a finished call has set still has to fire.
  if (world.agents.some((agent) => agent.status === k.DONE && setsOff(agent))) {
    return;
  }
  const firing = stuck.filter((agent) => mayFire(agent));
  if (rescue && firing.length > 0) return;
  const timed = firing.filter((agent) => !onlyLooks(agent, looks));
  const text = stuck.map((agent) => waitText(world, agent)).join("; ") +
    leftText(world);
  if (timed.length > 0) {
    const missed = timed.filter((agent) => missedWake(engine, agent));
    if (missed.length === 0) return;
    const names = missed.map(({ id }) => `agent ${id}`).join(", ");
    return fail(
      engine,
      "lost-wakeup",
      `${text}: the word that ${names} sleeps on has changed, and only a ` +
        `timeout would wake it`,
    );
  }
  const spins = stuck.every(({ status }) => status === k.SPINNING);
  fail(engine, spins ? "livelock" : "deadlock", text);
}

/** Which messages nobody can receive, as text. */
function leftText({ agents, letters, mail }: World): string {
  const ports = letters.map(({ message }) => message.port);
  const closed = [...new Set(ports)].filter((port) =>
    !agents.some(({ open }) => open.includes(port))
  );
  if (closed.length === 0) return "";
  const names = closed.map((port) => mail.nameOf(port)).join(", ");
  return `; a message lies at ${names}, which nobody has opened`;
}

/** Whether, by the model, the agents `stuck` wait for one of `stopped`. */
function holdsUp(
  { world, scenario, count }: Engine,
  stuck: readonly Agent[],
  stopped: readonly Agent[],
): boolean {
  if (scenario.recoverModelled) return false;
  const rest = stopped.filter(({ id, oi, calls }) =>
    id < count && oi < calls.length
  ).map(({ id, oi, calls, invoked }) => ({
    agent: id,
    calls: calls.slice(oi),
    begun: invoked,
  }));
  const others = world.agents
    .filter((agent) => agent.id < count && !stopped.includes(agent))
    .map(({ id, oi, calls, invoked }) => ({
      agent: id,
      calls: calls.slice(0, invoked ? oi + 1 : oi),
      begun: invoked,
    }));
  const { judge, frontier } = world;
  return judge!.heldUp(frontier, stuck.map(sleeper), rest, others);
}

function failHeldUp(
  engine: Engine,
  stuck: readonly Agent[],
  stopped: readonly Agent[],
): void {
  const waits = stuck.map((agent) => waitText(engine.world, agent)).join("; ");
  const names = stopped.map(({ id }) => `agent ${id}`).join(", ");
  fail(engine, "deadlock", `${waits}, and only ${names} could let it go on`);
}

const mayFire = (agent: Agent): boolean => timerOf(agent) >= 0 && !agent.tired;

const onlyLooks = (agent: Agent, looks: number | undefined): boolean =>
  agent.status === k.BLOCKED && agent.timeout === looks;

/** Whether the word that an agent sleeps on has another value by now. */
function sleepsOnOther({ status, target, index, a }: Agent): boolean {
  return status === k.BLOCKED && target!.view[index] !== a;
}

/**
 * Whether agents wait in a circle, each for a word that another agent changed
 * in the call in which that one waits. A circle is the sign of a deadlock;
 * after a lost wake-up, nobody holds up the sleepers.
 */
function holdsAndWaits(stuck: readonly Agent[]): boolean {
  const sleepers = stuck.filter(({ waitAddress }) => waitAddress >= 0);
  const holds = (agent: Agent, address: number): boolean => {
    if (agent.waitAddress === address) return false;
    for (let i = agent.from; i < agent.n; i++) {
      const kind = agent.sig[i]! % 32;
      const at = Math.floor(agent.sig[i]! / 32);
      if (at === address && k.writes(kind)) return true;
    }
    return false;
  };
  const next = (agent: Agent): Agent | undefined =>
    sleepers.find((other) =>
      other !== agent && holds(other, agent.waitAddress) &&
      !sleepsOnOther(agent)
    );
  return sleepers.some((start) => {
    let at: Agent | undefined = start;
    for (let i = 0; i <= sleepers.length && at !== undefined; i++) {
      at = next(at);
      if (at === start) return true;
    }
    return false;
  });
}

/**
 * Judges lock-freedom. There must be no state in which an agent waits or spins
 * although the model would let its operation complete: in such a state the
 * other agents may stop for ever. Their operations may have taken effect or
 * not.
 */
export function judgeLockFree(engine: Engine, all: boolean): void {
  const { world, scenario } = engine;
  const stuck = stuckAgents(world).filter(({ call: { op }, oi, calls }) =>
    oi < calls.length && op !== RECOVER &&
    (all || scenario.operations.get(op)!.lockFree)
  );
  if (stuck.length === 0) return;
  const { judge, frontier } = world;
  const others = world.agents.filter((agent) =>
    agent.invoked && !stuck.includes(agent)
  );
  if (judge !== null && frontier >= 0) {
    const sleepers = stuck.map(sleeper);
    if (
      judge.mayWait(frontier, sleepers, maskOf(others)) &&
      !holdsUp(engine, stuck, world.agents.filter((a) => !stuck.includes(a)))
    ) return;
  }
  const waits = stuck.map((agent) => waitText(world, agent)).join("; ");
  const between = world.agents.filter(({ invoked, oi, calls, status }) =>
    !invoked && oi > 0 && oi < calls.length && status !== k.KILLED
  ).map(({ id, told }) => `agent ${id} is suspended before ${callText(told)}`);
  const inside = others.map(({ id, told, status }) =>
    `agent ${id} is ${status === k.KILLED ? "dead" : "suspended"} inside ` +
    callText(told)
  );
  const held = [...inside, ...between].join("; ");
  fail(
    engine,
    "not-lock-free",
    `${waits}, while ${held === "" ? "nobody else is at work" : held}`,
  );
}

/** Judges the end of an execution: the invariant and `final`. */
export function judgeEnd(engine: Engine): void {
  const { world, scenario: { final } } = engine;
  if (final === null || !world.agents.every(isOver)) return;
  const results = world.agents.slice(0, engine.count)
    .map((agent) => [...agent.results]);
  const wrong = engine.unwatched(() => final(engine.memory, results));
  if (wrong === undefined) return;
  fail(engine, "invariant", wrong.message, wrong.cause);
}

const maskOf = (agents: readonly Agent[]): number =>
  agents.reduce((mask, { id, invoked }) => invoked ? mask | 1 << id : mask, 0);

const sleeper = (agent: Agent): Sleeper => ({
  agent: agent.id,
  // Nobody waits for the end of a loop of sleeps that has none.
  timed: agent.timed && !agent.tired,
});

/** How and where an agent waits, as text. */
export function waitText(world: World, agent: Agent): string {
  const { id, status, told, waitAddress, spinAddresses, open } = agent;
  const named = (addresses: readonly number[]): string =>
    addresses.filter((address) => address >= 0)
      .map((address) => world.memory.nameOf(address))
      .filter((name) => name !== "")
      .join(", ");
  const where = `in ${callText(told)}`;
  if (status === k.SPINNING || status === k.BLOCKED) {
    const [how, places] = status === k.SPINNING
      ? ["spins for ever", named(spinAddresses)]
      : ["sleeps", named([waitAddress])];
    return `agent ${id} ${how} ${where}${places && ` on ${places}`}`;
  }
  const awaited = world.waiters.filter((waiter) => waiter.agent === id);
  const words = named([...new Set(awaited.map(({ address }) => address))]);
  if (status === k.IDLE && open.length > 0) {
    const ports = open.map((port) => world.mail.nameOf(port)).join(", ");
    return `agent ${id} waits for a message ${where} on ${ports}` +
      (words && `, or for a wake on ${words}`);
  }
  const what = words && `, which awaits a wake on ${words}`;
  return `agent ${id} never resumes ${where}${what}`;
}

/**
 * What the scheduler may choose in a state, and what is wrong with a state in
 * which an agent cannot go on.
 *
 * @module
 */
import type { Agent } from "../engine/agent.ts";
import { callText, type World } from "../engine/core.ts";
import * as k from "../engine/kinds.ts";
import type { Sleeper } from "./lin.ts";
import { I32 } from "../engine/native.ts";
import type { Engine } from "../engine/replay.ts";
import { RECOVER } from "../engine/scenario.ts";
import type { SearchOptions } from "../explore/search.ts";
import { fail } from "../engine/steps.ts";

/** Timers in a row that may change nothing, before time is over. */
const IDLE_FIRES = 8;
/** Old values an agent may read in one call. */
const STALE_READS = 4;

/** What the scheduler may choose: first what goes without time passing. */
export class Choices {
  /** The choices; those from `count` on do not count. */
  readonly codes: Int32Array = new I32(512);
  /** How many there are. */
  count = 0;
  /** How many of them go without time passing, and are nothing unusual. */
  live = 0;

  /** Adds one. */
  add(code: number): void {
    this.codes[this.count++] = code;
  }

  /** Whether `code` is one. */
  has(code: number): boolean {
    return this.codes.subarray(0, this.count).includes(code);
  }

  /** Whether nothing is left but to terminate somebody. */
  get over(): boolean {
    for (let i = 0; i < this.count; i++) {
      if (k.actionOf(this.codes[i]!) !== k.KILL) return false;
    }
    return true;
  }
}

/** Fills `out` with the choices there are; how many are live. */
export function choices(engine: Engine, out: Choices): number {
  const { world, count } = engine;
  const { agents, budget, hints } = world;
  out.count = 0;
  for (let i = 0; i < agents.length; i++) {
    const agent = agents[i]!;
    const { id, status } = agent;
    if (status === k.READY) {
      out.add(id | k.STEP);
      if (hints !== null && agent.stale < STALE_READS) {
        const older = hints.older(agent).length;
        for (let n = 1; n <= older; n++) out.add(id | k.STALE | n << 12);
      }
    } else if (status === k.IDLE || status === k.DONE) {
      if (agent.inbox.length > 0) out.add(id | k.SETTLE);
    }
  }
  out.live = out.count;
  if (out.live === 0) passTime(world, out);
  else if (budget.timeouts > 0) {
    for (const agent of agents) {
      const code = timerOf(agent);
      if (code >= 0 && agent.status !== k.DONE) out.add(code);
    }
  }
  if (budget.spurious > 0) {
    for (const { id, status } of agents) {
      if (status === k.BLOCKED) out.add(id | k.SPURIOUS);
    }
  }
  if (budget.kills > 0) {
    for (const { id, status, invoked, oi } of agents) {
      const alive = status !== k.DONE && status !== k.KILLED;
      if (alive && id < count && (invoked || oi > 0)) out.add(id | k.KILL);
    }
  }
  return out.live;
}

/** What time does to an agent, or -1. */
function timerOf({ id, status, deadline, timers }: Agent): number {
  if (status === k.BLOCKED && deadline !== Infinity) return id | k.TIMEOUT;
  const awaits = status === k.IDLE || status === k.DONE;
  return awaits && timers.length > 0 ? id | k.TIMER : -1;
}

/** Nobody can run: the timers that fire first. */
function passTime({ agents }: World, out: Choices): void {
  if (agents.every(isOver)) {
    return;
  }
  let first = Infinity;
  for (const agent of agents) {
    if (timerOf(agent) < 0 || agent.idleFires >= IDLE_FIRES) continue;
    const due = dueOf(agent);
    if (due < first) out.count = 0;
    if (due > first) continue;
    first = due;
    out.add(timerOf(agent));
  }
}

const dueOf = ({ status, deadline, timers }: Agent): number =>
  status === k.BLOCKED ? deadline : timers[0]!.due;

/** Agents that cannot go on by themselves. */
export function stuckAgents({ agents }: World): Agent[] {
  return agents.filter(({ status, inbox }) =>
    status === k.BLOCKED || status === k.SPINNING ||
    (status === k.IDLE && inbox.length === 0)
  );
}

/**
 * In a state where nobody can run unless time passes: whether those that wait
 * may do so. A timer is no excuse: a wake-up that only a timeout makes good
 * was lost.
 */
export function judgeQuiet(
  engine: Engine,
  { rescue, looks }: Pick<SearchOptions, "rescue" | "looks">,
): void {
  const { world } = engine;
  const stuck = stuckAgents(world);
  if (stuck.length === 0) return;
  const { judge, frontier } = world;
  if (judge !== null && frontier >= 0) {
    const sleepers = stuck.map(sleeper);
    const dead = world.agents.filter(({ status }) => status === k.KILLED);
    if (judge.mayWait(frontier, sleepers, maskOf(dead))) return;
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
  // A timer set once, by a call that is over, has yet to do its work.
  if (world.agents.some((agent) => isDone(agent) && setsOff(agent))) return;
  const firing = stuck.filter((agent) => mayFire(agent));
  if (rescue && firing.length > 0) return;
  const timed = firing.filter((agent) => !onlyLooks(agent, looks));
  const text = stuck.map((agent) => waitText(world, agent)).join("; ");
  if (timed.length > 0) {
    const missed = timed.filter((agent) => sleepsOnOther(agent));
    if (missed.length === 0) return;
    const names = missed.map(({ id }) => `agent ${id}`).join(", ");
    return fail(
      engine,
      "lost-wakeup",
      `${text}: the word ${names} waits on has changed, and only a timeout ` +
        `will tell`,
    );
  }
  const spins = stuck.every(({ status }) => status === k.SPINNING);
  fail(engine, spins ? "livelock" : "deadlock", text);
}

const mayFire = (agent: Agent): boolean =>
  timerOf(agent) >= 0 && agent.idleFires < IDLE_FIRES;

const onlyLooks = (agent: Agent, looks: number | undefined): boolean =>
  agent.status === k.BLOCKED && agent.timeout === looks;

const setsOff = ({ timers, idleFires }: Agent): boolean =>
  idleFires < IDLE_FIRES && timers.some(({ every }) => every < 0);

/** Whether the word an agent sleeps on is no longer what it went to sleep on. */
function sleepsOnOther({ status, target, index, a }: Agent): boolean {
  return status === k.BLOCKED && target!.view[index] !== a;
}

/**
 * Whether agents wait in a circle, each for a word that another one changed in
 * the call in which it waits: the sign of a deadlock, where a lost wake-up
 * leaves agents asleep that nobody holds up.
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
 * Lock-freedom asks that no state holds an agent that waits, or goes round for
 * nothing, though the model would let its operation complete: in such a state
 * the others may stop for ever. Their operations may have taken effect or not.
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
    if (judge.mayWait(frontier, sleepers, maskOf(others))) return;
  }
  const waits = stuck.map((agent) => waitText(world, agent)).join("; ");
  const held = others.map(({ id, call, status }) =>
    `agent ${id} is ${status === k.KILLED ? "dead" : "suspended"} inside ` +
    callText(call)
  ).join("; ");
  fail(
    engine,
    "not-lock-free",
    `${waits}, while ${held === "" ? "nobody else is at work" : held}`,
  );
}

/** At the end of an execution: what was promised of its result. */
export function judgeEnd(engine: Engine): void {
  const { world, scenario: { final } } = engine;
  if (final === null || !world.agents.every(isOver)) return;
  const results = world.agents.slice(0, engine.count)
    .map((agent) => agent.results);
  const message = engine.unwatched(() => final(engine.memory, results));
  if (message !== undefined) fail(engine, "invariant", message);
}

const isDone = ({ status }: Agent): boolean => status === k.DONE;

/** Done, or terminated: nothing more comes of it. */
const isOver = (agent: Agent): boolean =>
  isDone(agent) || agent.status === k.KILLED;

const maskOf = (agents: readonly Agent[]): number =>
  agents.reduce((mask, { id, invoked }) => invoked ? mask | 1 << id : mask, 0);

const sleeper = (agent: Agent): Sleeper => ({
  agent: agent.id,
  timed: agent.timed,
});

/** What an agent waits for, as text. */
export function waitText(world: World, agent: Agent): string {
  const { id, status, call, waitAddress, spinAddresses } = agent;
  const places = (status === k.SPINNING ? spinAddresses : [waitAddress])
    .filter((address) => address >= 0)
    .map((address) => world.memory.nameOf(address))
    .filter((name) => name !== "");
  const how = status === k.SPINNING
    ? "spins for ever"
    : status === k.BLOCKED
    ? "sleeps"
    : "never resumes";
  const on = places.length === 0 ? "" : ` on ${places.join(", ")}`;
  return `agent ${id} ${how} in ${callText(call)}${on}`;
}

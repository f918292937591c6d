/**
 * The choices that the scheduler has in a state.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Snapshot } from "../state/agent/snapshot.ts";
import type { World } from "../state/core.ts";
import * as k from "../kinds.ts";
import { nextTo } from "../state/mail.ts";
import { I32 } from "../platform/native.ts";
import type { Told } from "./told.ts";

/** How many old values an agent may read in one call. */
export const STALE_READS = 4;

/** A list of choices. Those for which no time must pass come first. */
export class Choices {
  /** The choices. Entries from `count` on mean nothing. */
  readonly codes: Int32Array = new I32(512);
  /** How many choices there are. */
  count = 0;
  /** How many of them are usual and need no time to pass. */
  live = 0;

  /** Adds a choice. */
  add(code: number): void {
    this.codes[this.count++] = code;
  }

  /** Whether `code` is a choice. */
  has(code: number): boolean {
    return this.codes.subarray(0, this.count).includes(code);
  }

  /** Whether the only choices left are to terminate an agent. */
  get over(): boolean {
    for (let i = 0; i < this.count; i++) {
      if (k.actionOf(this.codes[i]!) !== k.KILL) return false;
    }
    return true;
  }
}

/** What decides how an agent may go on: it, or a state that it was in. */
type Doing = Agent | Snapshot;

/**
 * Fills `out` with the choices in the present state; returns how many are live.
 * For other `agents`, those that need time to pass are left out; nobody may
 * have to wait for agent 0 then. If the state is only `passed`, and not one to
 * go on from, no old value of a hint is left out there.
 */
export function choices(
  engine: Told,
  out: Choices,
  agents: readonly Doing[] = engine.world.agents,
  passed = false,
): number {
  const { world, count } = engine;
  const { budget, startBudget, hints, cuts } = world;
  out.count = 0;
  const alone = aloneIn(engine);
  for (let id = 0; id < agents.length; id++) {
    const agent = agents[id]!;
    const { status } = agent;
    if (alone !== EVERYONE && (alone === FIRST) !== (id === 0)) continue;
    if (status === k.READY) {
      if (agent.leap > 0) out.add(id | k.LEAP | agent.leap << 12);
      else out.add(id | k.STEP);
      if (hints !== null) {
        const older = hints.older(id, agent);
        const mayMove = mayReadSooner(engine, agent);
        const from = hints.offered(id, agent, older, mayMove);
        const { length } = older;
        if (agent.stale >= STALE_READS) {
          cuts.stale ||= length > from && !passed;
        } else {
          for (let n = from + 1; n <= length; n++) {
            out.add(id | k.STALE | n << 12);
          }
        }
      }
    } else if (status === k.IDLE || status === k.DONE) {
      if (agent.inbox.length > 0) out.add(id | k.SETTLE);
      const { open } = agent;
      for (let i = 0; i < open.length; i++) {
        const some = nextTo(world.letters, open[i]!) !== undefined;
        if (some) out.add(id | k.SETTLE | i + 1 << 12);
      }
    }
  }
  out.live = out.count;
  if (out.live === 0) {
    // Whether time may pass is for the agents themselves to say.
    if (agents === world.agents) passTime(world, out);
  } else if (budget.timeouts > 0 || !cuts.timeouts) {
    for (let id = 0; id < agents.length; id++) {
      const agent = agents[id]!;
      if (agent.status === k.READY || agent.status === k.DONE) continue;
      const code = timer(agent, id);
      if (code < 0) continue;
      if (budget.timeouts > 0) out.add(code);
      else cuts.timeouts = true;
    }
  }
  if (budget.spurious > 0) {
    for (let id = 0; id < agents.length; id++) {
      if (agents[id]!.status === k.BLOCKED) out.add(id | k.SPURIOUS);
    }
  } else if (startBudget.spurious > 0 && !cuts.spurious) {
    cuts.spurious = agents.some(({ status }) => status === k.BLOCKED);
  }
  if (budget.kills > 0) {
    for (let id = 0; id < agents.length; id++) {
      const { status, invoked, oi } = agents[id]!;
      const alive = status !== k.DONE && status !== k.KILLED;
      if (alive && id < count && (invoked || oi > 0)) out.add(id | k.KILL);
    }
  } else if (startBudget.kills > 0) cuts.kills = true;
  return out.live;
}

/**
 * Whether an agent's read of a hint might as well come sooner: it is not the
 * first operation of a call whose beginning is observed, nor of a loop or of a
 * larger step.
 */
function mayReadSooner(
  engine: Told,
  { looping, invoked, target, address }: Doing,
): boolean {
  if (looping || engine.scenario.async || engine.whole.holds(target, address)) {
    return false;
  }
  return invoked || !isObserved(engine);
}

/** Who may go on: all agents, agent 0 alone, or all but agent 0. */
export const EVERYONE = 0;
const FIRST = 1, OTHERS = 2;

/** Who may go on, if agent 0 begins or ends alone. */
export function aloneIn({ world, count }: Told): number {
  const { lead, tail, agents } = world;
  if (lead + tail === 0) return EVERYONE;
  const first = agents[0]!;
  if (isOver(first)) return EVERYONE;
  if (first.oi < lead) return FIRST;
  if (first.invoked || first.oi !== first.calls.length - tail) return EVERYONE;
  for (let id = 1; id < count; id++) if (!isOver(agents[id]!)) return OTHERS;
  return EVERYONE;
}

/**
 * A step that commutes with everything that the other agents can do until they
 * learn of it, or -1. Nothing is lost if it is taken first and alone. It is one
 * of these:
 *
 * - a write to a word that no other agent uses, or a read of a word that no
 *   other agent writes;
 * - a plain access, which commutes with all others unless there is a data race.
 *   `judgeRaces` compares what the other agents do next with the plain accesses
 *   that an agent has made since others could last learn of them.
 *
 * The first step of a call is not such a step if a model or an invariant
 * observes when calls begin. A call that ends earlier is judged more strictly,
 * so its last step may come first. With `only` at least 0, the step must be of
 * that agent.
 */
export function ownStep(
  engine: Told,
  out: Choices,
  only: number,
  agents: readonly Doing[] = engine.world.agents,
): number {
  const { world, scenario, clocked, whole } = engine;
  const { hints, memory } = world;
  if (out.live === 0 || out.count < 2 || clocked || scenario.async) return -1;
  const observed = isObserved(engine);
  for (let i = 0; i < out.live; i++) {
    const code = out.codes[i]!;
    const id = k.agentOf(code);
    const { kind, target, looping, address, size, status, invoked } =
      agents[id]!;
    if (k.actionOf(code) !== k.STEP || status !== k.READY || looping) continue;
    if (only >= 0 && id !== only) continue;
    if (target === null || kind > k.WRITE || observed && !invoked) continue;
    if (kind === k.WAIT || kind === k.NOTIFY) continue;
    if (whole.holds(target, address)) continue; // it may be the first of many
    const plain = k.isPlain(kind);
    if (plain && hints?.isHint(address)) continue;
    if (plain && world.keepsPlain && engine.racy(address)) return code;
    if (world.twins?.has(id)) continue;
    const writes = k.writes(kind);
    if (memory.isOwn(target.region, id, address, size, writes)) return code;
  }
  return -1;
}

/** Whether a model or an invariant observes when calls begin. */
export const isObserved = ({ world, scenario }: Told): boolean =>
  world.judge !== null || scenario.invariant !== null;

/** What the passing of time does to an agent: a choice, or -1. */
export const timerOf = (agent: Agent): number => timer(agent, agent.id);

function timer({ status, deadline, timers }: Doing, id: number): number {
  if (status === k.BLOCKED || status === k.SPINNING) {
    return deadline !== Infinity ? id | k.TIMEOUT : -1;
  }
  const awaits = status === k.IDLE || status === k.DONE;
  return awaits && timers.length > 0 ? id | k.TIMER : -1;
}

/** Adds the timers that fire first, when no agent can run. */
function passTime({ agents, cuts }: World, out: Choices): void {
  const over = agents.every(isOver);
  let first = Infinity;
  for (const agent of agents) {
    if (timerOf(agent) < 0 || agent.tired) continue;
    if (over && !setsOff(agent)) {
      cuts.intervals = true;
      continue;
    }
    const due = dueOf(agent);
    if (due < first) out.count = 0;
    if (due > first) continue;
    first = due;
    out.add(timerOf(agent));
  }
}

/** Whether a finished call has set a timer that fires once. */
export const setsOff = (agent: Agent): boolean =>
  !agent.tired && agent.timers.some(({ every }) => every < 0);

const dueOf = ({ status, deadline, timers }: Agent): number =>
  status === k.BLOCKED || status === k.SPINNING ? deadline : timers[0]!.due;

/** Whether the agent is done or terminated. */
export const isOver = (agent: Agent): boolean =>
  agent.status === k.DONE || agent.status === k.KILLED;

/**
 * Groups of agents that concern no others. If what the agents of a group do
 * next commutes with all that the others can still do, only the group's steps
 * need be taken from a state: the others' steps come later. Such a set of steps
 * is a persistent set (Godefroid 1996).
 *
 * Which words an agent uses is learned while the search goes on. If an agent
 * uses a word that the search relied on to be left alone, the search starts
 * again.
 *
 * @module
 */
import type { Snapshot } from "../state/agent/snapshot.ts";
import * as k from "../kinds.ts";
import type { Memory } from "../state/memory.ts";

/** All agents. */
export const ALL = -1;

/** The most bytes that an agent looks at in one operation. */
const WIDEST = 8;

/** What decides about groups. */
export interface Ground {
  readonly memory: Memory;
  /** Whether a model or an invariant observes when calls begin. */
  readonly observed: boolean;
}

/**
 * The smallest group of agents whose steps alone need be taken in a state, as a
 * set of bits, or `ALL`.
 *
 * A cycle of states contains a state in which an agent is in a loop that
 * changes memory. There is no group in such a state, so that no agent waits for
 * ever for a group that goes round.
 */
export function groupOf(
  ground: Ground,
  agents: readonly Snapshot[],
): number {
  let alive = 0;
  for (let id = 0; id < agents.length; id++) {
    const { status, looping, leap, idleFires, deadline } = agents[id]!;
    if (looping || leap > 0 || idleFires > 0 || deadline !== Infinity) {
      return ALL;
    }
    if (status !== k.DONE) alive |= 1 << id;
  }
  let best = ALL;
  let least = countOf(alive);
  for (let id = 0; id < agents.length; id++) {
    if (agents[id]!.status !== k.READY) continue;
    const group = closed(ground, agents, 1 << id, alive);
    const count = countOf(group);
    if (count >= least) continue;
    best = group;
    least = count;
  }
  if (best === ALL) return ALL;
  for (let id = 0; id < agents.length; id++) {
    if ((best >> id & 1) === 1) concernedBy(ground, agents[id]!, best | ~alive);
  }
  return best;
}

/** How many agents a set has. */
function countOf(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** A set of agents, with all those that they concern. */
function closed(
  ground: Ground,
  agents: readonly Snapshot[],
  first: number,
  alive: number,
): number {
  let group = first;
  for (let todo = first; todo !== 0;) {
    const id = 31 - Math.clz32(todo);
    const more = concernedBy(ground, agents[id]!) & alive & ~group;
    group |= more;
    if (group === alive) return alive;
    todo = todo & ~(1 << id) | more;
  }
  return group;
}

/**
 * The agents that were seen to do something that does not commute with what an
 * agent does next, or that can let it go on. The search relies on it that these
 * are among `only`.
 */
function concernedBy(
  { memory, observed }: Ground,
  agent: Snapshot,
  only = ALL,
): number {
  const { status, kind, target, address, size, timeout, invoked } = agent;
  if (status === k.DONE) return 0;
  if (status === k.SPINNING) {
    let writers = 0;
    for (const at of agent.spinAddresses) {
      const region = memory.regionAt(at);
      writers |= memory.agentsAt(region, at, WIDEST, true);
      if (only !== ALL) memory.rely(region, only, at, WIDEST, true);
    }
    return writers;
  }
  if (target === null || kind > k.WRITE) return ALL;
  if (kind === k.WAIT && timeout !== Infinity) return ALL;
  if (status === k.READY && observed && !invoked) return ALL;
  const reads = kind === k.LOAD || kind === k.READ;
  if (only !== ALL) memory.rely(target.region, only, address, size, reads);
  const users = memory.agentsAt(target.region, address, size, reads);
  return users | racing(memory, agent, only);
}

/**
 * The agents that were seen to use what an agent has accessed plainly: they may
 * be in a data race with it, which only shows before its next operation.
 */
function racing(memory: Memory, { plain }: Snapshot, only: number): number {
  let agents = 0;
  for (const { kind, address, size } of plain) {
    const region = memory.regionAt(address);
    const reads = kind === k.READ;
    if (only !== ALL) memory.rely(region, only, address, size, reads);
    agents |= memory.agentsAt(region, address, size, reads);
  }
  return agents;
}

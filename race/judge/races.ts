/**
 * Finds data races between two operations that both come next.
 *
 * @module
 */
import type { Agent } from "../engine/agent.ts";
import { aloneIn, EVERYONE } from "../engine/choices.ts";
import * as k from "../engine/kinds.ts";
import type { Engine } from "../engine/replay.ts";

/**
 * Reports a data race if the next operations of two agents conflict. This finds
 * every race: by the theorem on data-race freedom of ECMAScript's memory model,
 * a program with a race has an execution in which two conflicting accesses come
 * next to each other.
 */
export function judgeRaces(engine: Engine): void {
  const { world } = engine;
  const { agents } = world;
  if (world.lead + world.tail > 0 && aloneIn(engine) !== EVERYONE) {
    // Agent 0 runs alone, or what it does next comes after all others.
    return judgeAmong(
      engine,
      agents.slice(1).filter((a) => a.oi > 0 || a.invoked),
    );
  }
  judgeAmong(engine, agents);
}

function judgeAmong(engine: Engine, agents: readonly Agent[]): void {
  const { world } = engine;
  for (let i = 0; i < agents.length; i++) {
    const first = agents[i]!;
    if (first.status !== k.READY) continue;
    for (let j = i + 1; j < agents.length; j++) {
      const second = agents[j]!;
      if (second.status !== k.READY || !conflict(engine, first, second)) {
        continue;
      }
      const how = (agent: Agent) =>
        `agent ${agent.id}'s ${k.OP_NAMES[agent.kind]}`;
      const wide = first.address === second.address &&
          first.size === second.size
        ? ""
        : `, ${first.size} and ${second.size} bytes wide`;
      return world.fail(
        "data-race",
        `${how(first)} and ${how(second)} of ` +
          `${world.memory.nameOf(first.address)}${wide} are unordered: they ` +
          `can happen at the same time`,
      );
    }
  }
}

function conflict({ world, racy }: Engine, a: Agent, b: Agent): boolean {
  if (a.address >= b.address + b.size || b.address >= a.address + a.size) {
    return false;
  }
  if (a.kind === k.NOTIFY || b.kind === k.NOTIFY) return false;
  if (!k.writes(a.kind) && !k.writes(b.kind)) return false;
  if (!racy(Math.max(a.address, b.address))) return false;
  const same = a.address === b.address && a.size === b.size;
  const plain = k.isPlain(a.kind) || k.isPlain(b.kind);
  if (same && !plain) return false;
  if (same && world.hints !== null) {
    // A plain read of a hint may race with atomic writes, and with plain writes
    // if the hint says so.
    const { hints } = world;
    const hinted = (x: Agent, y: Agent) =>
      x.kind === k.READ &&
      (k.isPlain(y.kind)
        ? hints.isWritten(x.address)
        : hints.isHint(x.address));
    if (hinted(a, b) || hinted(b, a)) return false;
  }
  return true;
}

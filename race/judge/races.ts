/**
 * Finds data races between two operations that both come next.
 *
 * @module
 */
import type { Access, Snapshot } from "../engine/state/agent/snapshot.ts";
import type { Agent } from "../engine/state/agent/agent.ts";
import { aloneIn, EVERYONE } from "../engine/step/choices.ts";
import * as k from "../engine/kinds.ts";
import type { Engine } from "../engine/step/replay.ts";
import { NotConstant } from "../engine/signals.ts";
import { native } from "../engine/platform/native.ts";

/**
 * Reports a data race if the next operations of two agents conflict. This finds
 * every race: by the theorem on data-race freedom of ECMAScript's memory model,
 * a program with a race has an execution in which two conflicting accesses come
 * next to each other. If plain accesses are explored in one order only, one of
 * the two may have been made already: its agent keeps it until others can learn
 * of it.
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
  const race = raceAmong(engine, agents);
  if (race === null) return;
  const [one, first, other, second] = race;
  for (const [a, b] of [[first, second], [second, first]] as const) {
    const exact = a.address === b.address && a.size === b.size;
    const reads = a.kind === k.READ && k.writes(b.kind) && b.kind !== k.WRITE;
    if (exact && reads && engine.learn(a.address)) throw new NotConstant();
  }
  failRace(engine, agents[one]!.id, first, agents[other]!.id, second);
}

/** Two accesses that race, each after the place of its agent, or `null`. */
type Race = readonly [one: number, Access, other: number, Access];

/** A data race between what agents do next, or have done, in this state. */
export function raceAmong(
  engine: Engine,
  agents: readonly (Agent | Snapshot)[],
): Race | null {
  if (agents.every(isUsual)) return null;
  for (let i = 0; i < agents.length; i++) {
    const first = agents[i]!;
    if (first.status !== k.READY) continue;
    for (let j = i + 1; j < agents.length; j++) {
      const second = agents[j]!;
      if (second.status !== k.READY || !conflict(engine, first, second)) {
        continue;
      }
      return [i, first, j, second];
    }
  }
  for (let i = 0; i < agents.length; i++) {
    const { plain } = agents[i]!;
    for (let n = 0; n < plain.length; n++) {
      const done = plain[n]!;
      for (let j = 0; j < agents.length; j++) {
        const next = agents[j]!;
        if (j === i || next.status !== k.READY) continue;
        if (conflict(engine, done, next)) return [i, done, j, next];
      }
    }
  }
  return null;
}

/** Whether an access is atomic and four bytes wide: two such never race. */
const isUsual = ({ kind, size, plain }: Agent | Snapshot): boolean =>
  size === 4 && !k.isPlain(kind) && plain.length === 0;

function failRace(
  { world }: Engine,
  id: number,
  first: Access,
  otherId: number,
  other: Access,
): void {
  const how = (id: number, { kind }: Access) =>
    `agent ${id}'s ${k.OP_NAMES[kind]}`;
  const wide = first.address === other.address && first.size === other.size
    ? ""
    : `, ${first.size} and ${other.size} bytes wide`;
  world.fail(
    "data-race",
    `${how(id, first)} and ${how(otherId, other)} of ` +
      `${world.memory.nameOf(first.address)}${wide} are unordered: they ` +
      `can happen at the same time`,
  );
}

/**
 * Whether an access that comes next, or was made, is a write: an exchange that
 * finds another value than it expects only reads.
 */
function mayWrite(access: Access | Agent | Snapshot): boolean {
  const { kind } = access;
  if (kind !== k.CAS || !("target" in access)) return k.writes(kind);
  const { target, index, a } = access;
  return native.load(target!.view, index) === a;
}

function conflict({ world, racy }: Engine, a: Access, b: Access): boolean {
  if (a.address >= b.address + b.size || b.address >= a.address + a.size) {
    return false;
  }
  if (a.kind === k.NOTIFY || b.kind === k.NOTIFY) return false;
  if (!mayWrite(a) && !mayWrite(b)) return false;
  if (!racy(Math.max(a.address, b.address))) return false;
  const same = a.address === b.address && a.size === b.size;
  const plain = k.isPlain(a.kind) || k.isPlain(b.kind);
  if (same && !plain) return false;
  if (same && world.hints !== null) {
    // A plain read of a hint may race with atomic writes, and with plain writes
    // if the hint says so.
    const { hints } = world;
    const hinted = (x: Access, y: Access) =>
      x.kind === k.READ &&
      (k.isPlain(y.kind)
        ? hints.isWritten(x.address)
        : hints.isHint(x.address));
    if (hinted(a, b) || hinted(b, a)) return false;
  }
  return true;
}

/**
 * The hashes of a state.
 *
 * @module
 */
import type { Snapshot } from "./agent/snapshot.ts";
import type { Hints } from "./hints.ts";
import type { Monitor } from "./watch.ts";
import type { Twins } from "./twins.ts";
import { signature } from "./agent/operation.ts";
import { bits, bits2, mix1, mix2 } from "../values.ts";

/** Makes hashes of everything an agent's future depends on. */
export function hashAgent(agent: Snapshot): void {
  const place = agent.status | agent.oi << 4;
  let a = mix1(agent.h1, place);
  let b = mix2(agent.h2, place);
  for (const { promise, value } of agent.inbox) {
    a = mix1(a, promise + 7);
    b = mix2(b, promise + bits2(value));
  }
  for (const port of agent.open) {
    a = mix1(a, port + 3);
    b = mix2(b, port + 3);
  }
  for (const { id, due } of agent.timers) {
    a = mix1(mix1(a, id), bits(due));
    b = mix2(mix2(b, id), bits2(due));
  }
  if (agent.deadline !== Infinity) {
    a = mix1(a, bits(agent.deadline));
    b = mix2(b, bits2(agent.deadline));
  }
  for (const { kind, address, size } of agent.plain) {
    a = mix1(a, signature(kind, address) + (size << 24));
    b = mix2(b, signature(kind, address) + (size << 24));
  }
  agent.key1 = a;
  agent.key2 = b;
  a = b = 17;
  for (const result of agent.results) {
    a = mix1(a, bits(result));
    b = mix2(b, bits2(result));
  }
  agent.results1 = a;
  agent.results2 = b;
  agent.hashed = true;
}

/** An agent in the list of those that wait at an address. */
export interface Waiter {
  readonly agent: number;
  readonly address: number;
  /** The promise of a `waitAsync`, or -1. */
  readonly promise: number;
  /** What it knew when it began to wait, for data races. */
  clock: Int32Array | null;
}

/** How many unusual events of each sort the scheduler may still choose. */
export interface Budget {
  readonly timeouts: number;
  readonly spurious: number;
  readonly kills: number;
}

/** What the hashes of a state are made of, besides memory and the agents. */
export interface Hashed {
  readonly judge: Monitor | null;
  readonly hints: Hints | null;
  readonly waiters: readonly Waiter[];
  readonly now: number;
  readonly budget: Budget;
  /** Whether states differ by how many old values of hints agents have read. */
  readonly countsOld: boolean;
}

/**
 * Turns the hashes of memory in `out` into those of the state in which the
 * agents are in `states` and the judge has the frontier `reached`.
 */
export function hashState(
  world: Hashed,
  out: Int32Array,
  states: readonly Snapshot[],
  reached: number,
  withResults: boolean,
  twins: Twins | null,
): void {
  const { judge } = world;
  for (let i = 0; i < states.length; i++) {
    if (!states[i]!.hashed) hashAgent(states[i]!);
  }
  const hints = world.hints === null ? null : world.hints.keys;
  const order = twins?.sort(states, hints);
  const frontier = order === undefined || judge === null
    ? reached
    : judge.arrange(reached, order);
  let a = mix1(frontier, out[0]!);
  let b = mix2(frontier ^ 0x5bd1e995, out[1]!);
  for (let i = 0; i < states.length; i++) {
    const id = order === undefined ? i : order[i]!;
    const agent = states[id]!;
    a = mix1(a, agent.key1);
    b = mix2(b, agent.key2);
    if (hints !== null) {
      const old = world.countsOld ? agent.stale : 0;
      a = mix1(a, hints.agents1[id]! + old);
      b = mix2(b, hints.agents2[id]! + old);
    }
    if (!withResults) continue;
    a = mix1(a, agent.results1);
    b = mix2(b, agent.results2);
  }
  for (const { agent, address } of world.waiters) {
    let { key1, key2 } = states[agent]!;
    if (hints !== null) {
      key1 ^= hints.agents1[agent]!;
      key2 ^= hints.agents2[agent]!;
    }
    a = mix1(a, (twins === null ? agent : key1) ^ address << 5);
    b = mix2(b, (twins === null ? agent : key2) ^ address << 5);
  }
  if (hints !== null) {
    a = mix1(a, hints.hash1);
    b = mix2(b, hints.hash2);
  }
  if (world.now !== 0) {
    a = mix1(a, bits(world.now));
    b = mix2(b, bits2(world.now));
  }
  const { timeouts, spurious, kills } = world.budget;
  if (timeouts + spurious + kills > 0) {
    const left = timeouts << 16 ^ spurious << 8 ^ kills;
    a = mix1(a, left);
    b = mix2(b, left);
  }
  out[0] = a;
  out[1] = b;
}

/**
 * What an agent's record says of its looks at the clock.
 *
 * @module
 */
import type { Agent } from "../../state/agent/agent.ts";
import * as k from "../../kinds.ts";

/** The most milliseconds that pass at once for a loop on the clock. */
export const LONGEST = 1e7;

/**
 * The looks at the clock in one call after which time passes. So a loop on the
 * clock ends even if its rounds are too long for it to be seen as a loop.
 */
export const LOOKS = 8;

/**
 * How often an agent has looked at the clock since time has passed, and since
 * it last changed memory.
 */
export function looksAtClock({ n, from, pure, sig, res }: Agent): number {
  let looks = 0;
  for (let i = n - 1; i >= Math.max(from, n - pure) && looks < LOOKS; i--) {
    if (sig[i]! % 32 !== k.CLOCK) continue;
    if (res[i] !== res[n - 1]) break;
    looks++;
  }
  return looks;
}

/**
 * What its state keeps besides what it saw: how often it has looked at the
 * clock, which decides when time passes.
 */
export const countsOf = (agent: Agent): string =>
  `${looksAtClock(agent)} ${agent.tick} ${agent.ticks}`;

/** What an agent saw on the clock since its record had `begin` operations. */
export function timesIn({ n, sig, res }: Agent, begin: number): string {
  const times = new Set<unknown>();
  for (let i = begin; i < n; i++) {
    if (sig[i]! % 32 === k.CLOCK) times.add(res[i]);
  }
  return [...times].join();
}

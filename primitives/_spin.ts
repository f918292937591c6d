/**
 * Bounded spinning before a sleep. A sequentially consistent store costs a
 * cache miss for each agent that polls its line, so the loop between two looks
 * runs on local state alone, for about a microsecond.
 */

/**
 * How long a blocking call looks for itself before it sleeps, and how often a
 * waiter lets newcomers pass. The race tester sets both to 0: no schedule is
 * lost by sleeping at once, and what the patience puts off comes soon.
 */
export const spinning = { rounds: 20, patience: 8 };

type Pausing = typeof Atomics & { pause?: () => void };

let local = 0;

/** Passes about a microsecond without touching shared memory. */
export function relax(): void {
  if ((Atomics as Pausing).pause !== undefined) {
    for (let i = 0; i < 60; i++) (Atomics as Pausing).pause!();
    return;
  }
  let x = local;
  for (let i = 0; i < 700; i++) x = Math.imul(x, 5) + 1 | 0;
  local = x; // or the loop could be thought useless
}

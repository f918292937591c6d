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
/** Pauses that take a microsecond, and how many spins that holds for. */
let pauses = 60;
let counted = 0;

/** Passes about a microsecond without touching shared memory. */
export function relax(): void {
  if ((Atomics as Pausing).pause !== undefined) return pause(pauses);
  let x = local;
  for (let i = 0; i < 700; i++) x = Math.imul(x, 5) + 1 | 0;
  local = x; // or the loop could be thought useless
}

function pause(n: number): void {
  for (let i = 0; i < n; i++) (Atomics as Pausing).pause!();
}

/** One takes 10 to 60 ns, by processor, and longer until it is compiled. */
function countPauses(): void {
  if ((Atomics as Pausing).pause === undefined) return;
  const begin = performance.now();
  pause(200);
  const took = (performance.now() - begin) * 1000;
  if (took > 0) pauses = Math.max(12, Math.min(Math.round(200 / took), 100));
}

/** Rounds that a call is spared, as spinning did not pay off of late. */
let spared = 0;
let calls = 0;
/** One call in so many spins for all its rounds, to see whether it pays off. */
const PROBE = 32;
/** A call spins for at least as long as a sleep and a wake would take. */
const FEWEST = 2;
/** Elements come in a stream if an index moved so far since the last spin. */
export const STREAM = 32;
/** The most rounds of spinning before the first look. */
export const LONGEST_LULL = 16;

/**
 * Tries `attempt` about every microsecond, first after `lull` of them: its
 * result, or `undefined` once it is better to sleep, as `null` says at once.
 * Where the other side has no core to run on, spinning only keeps it waiting;
 * so each call in vain halves the rounds of the next, and one that paid off
 * allows for twice what it took.
 */
export function spin<T>(
  attempt: () => T | false | undefined | null,
  lull = 1,
): T | undefined {
  const { rounds } = spinning;
  if (rounds > FEWEST && counted-- === 0) {
    counted = 256;
    countPauses();
  }
  const most = ++calls % PROBE === 0 ? rounds : rounds - spared;
  for (let round = 1; round <= most; round++) {
    relax();
    if (round < lull && round < most) continue;
    const result = attempt();
    if (result === null) break;
    if (result === false || result === undefined) continue;
    spared = Math.min(spared, Math.max(rounds - 2 * round - 2, 0));
    return result;
  }
  spared = Math.max(rounds - Math.max((rounds - spared) >> 1, FEWEST), 0);
  return undefined;
}

/** Passes a tenth of a microsecond: for what is done in a few steps. */
export function relaxBriefly(): void {
  if ((Atomics as Pausing).pause !== undefined) return pause(pauses / 10);
  let x = local;
  for (let i = 0; i < 70; i++) x = Math.imul(x, 5) + 1 | 0;
  local = x;
}

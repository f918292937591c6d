/**
 * Bounded spinning before a sleep. Each agent that polls a cache line makes a
 * store to that line slower by a cache miss. So between two looks the loop runs
 * on local state only, for about a microsecond.
 */

/**
 * `rounds` says how long a blocking call spins before it sleeps; `patience`
 * says how often a waiter lets newcomers pass. The race tester sets both to 0:
 * sleeping at once loses no interleaving, and without patience a claim comes
 * sooner. `tells` says whether an agent counts as dead if it stands still for a
 * second within an operation; the race tester sets it to false.
 */
export const spinning = { rounds: 20, patience: 8, tells: true };

type Pausing = typeof Atomics & { pause?: () => void };

let local = 0;
/**
 * How many pauses take a microsecond. The next variable counts the spins until
 * they are measured again.
 */
let pauses = 60;
let counted = 0;

/** Passes about a microsecond without touching shared memory. */
export function relax(): void {
  if ((Atomics as Pausing).pause !== undefined) return pause(pauses);
  let x = local;
  for (let i = 0; i < 700; i++) x = Math.imul(x, 5) + 1 | 0;
  local = x; // otherwise a compiler could drop the loop
}

function pause(n: number): void {
  for (let i = 0; i < n; i++) (Atomics as Pausing).pause!();
}

/**
 * Measures the pauses. One takes 10 to 60 ns, depending on the processor, and
 * longer before it is compiled.
 */
function countPauses(): void {
  if ((Atomics as Pausing).pause === undefined) return;
  const begin = performance.now();
  pause(200);
  const took = (performance.now() - begin) * 1000;
  if (took > 0) pauses = Math.max(12, Math.min(Math.round(200 / took), 100));
}

/**
 * How many rounds a call leaves out, because spinning did not help recently.
 */
let spared = 0;
let calls = 0;
/** One call in this many spins for all its rounds, to see if that helps. */
const PROBE = 32;
/** The fewest rounds: a call spins for as long as a sleep and a wake take. */
const FEWEST = 2;
/** Elements stream if an index moved by this much since the last spin. */
export const STREAM = 32;
/** The most rounds of spinning before the first look. */
export const LONGEST_DELAY = 16;

/**
 * Tries `attempt` about every microsecond, first after `initialDelay` of them.
 * Returns its result, or `undefined` when it is better to sleep. If `attempt`
 * returns `null`, it is better to sleep at once. If the other side has no core
 * to run on, spinning only keeps it waiting. So each call that spins without
 * success halves the rounds of the next, and a call that succeeds allows the
 * next one twice the rounds it needed.
 */
export function spin<T>(
  attempt: () => T | false | undefined | null,
  initialDelay = 1,
): T | undefined {
  const { rounds } = spinning;
  if (rounds > FEWEST && counted-- === 0) {
    counted = 256;
    countPauses();
  }
  const most = ++calls % PROBE === 0 ? rounds : rounds - spared;
  for (let round = 1; round <= most; round++) {
    relax();
    if (round < initialDelay && round < most) continue;
    const result = attempt();
    if (result === null) break;
    if (result === false || result === undefined) continue;
    spared = Math.min(spared, Math.max(rounds - 2 * round - 2, 0));
    return result;
  }
  spared = Math.max(rounds - Math.max((rounds - spared) >> 1, FEWEST), 0);
  return undefined;
}

/** A patient spin lasts for so many rounds: longer than a wake takes. */
export const PATIENT = 50;
/** So many microseconds a sleep lasts at most if the other side was at work. */
export const SHORT_SLEEP = 100;
/** After n useless patient spins, the next comes after 2^n sleeps; n at most. */
export const MOST_DOUBTS = 6;
/** Short sleeps since the last long one, or the last useless patient spin. */
let shortSleeps = 0;
/** How many more patient spins were useless than helped, lately. */
let doubts = 0;

/**
 * As {@linkcode spin}, to wait for an agent that works for this one. To wake an
 * agent may take longer than a spin lasts. Two agents that work in turn would
 * then both sleep at each step, for ever. So after a short sleep this spins for
 * longer than a wake takes, as long as that helps. After a long sleep it does
 * not, so an idle agent needs no core. Where it finds nothing, call
 * {@linkcode timed}.
 */
export function spinPatiently<T>(
  attempt: () => T | false | undefined,
): T | undefined {
  if (shortSleeps >> doubts === 0 || spinning.rounds === 0) {
    return spin(attempt);
  }
  for (let round = 0; round < PATIENT; round++) {
    relax();
    const result = attempt();
    if (result === false || result === undefined) continue;
    if (doubts > 0) doubts--;
    return result;
  }
  shortSleeps = 0;
  doubts = Math.min(doubts + 1, MOST_DOUBTS);
  return undefined;
}

/** Sleeps after {@linkcode spinPatiently}, and notes for how long. */
export function timed<T>(sleep: () => T): T {
  if (spinning.rounds === 0) return sleep();
  const begin = performance.now();
  const result = sleep();
  const took = (performance.now() - begin) * 1000;
  shortSleeps = took <= SHORT_SLEEP ? shortSleeps + 1 : 0;
  return result;
}

/** Passes a tenth of a microsecond, for waits that end after a few steps. */
export function relaxBriefly(): void {
  if ((Atomics as Pausing).pause !== undefined) return pause(pauses / 10);
  let x = local;
  for (let i = 0; i < 70; i++) x = Math.imul(x, 5) + 1 | 0;
  local = x;
}

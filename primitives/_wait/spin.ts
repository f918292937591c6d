/**
 * Bounded spinning before a sleep. Each agent that polls a cache line makes a
 * store to that line slower by a cache miss. So between two looks the loop runs
 * on local state only, for about a microsecond.
 */

import { setting } from "../_memory/explored.ts";

/**
 * `rounds` says how long a blocking call spins before it sleeps; `patience`
 * says how often a waiter lets newcomers pass. In explored code both are 0:
 * sleeping at once loses no interleaving, and without patience a claim comes
 * sooner. `nap` is the number of ms for which an awaiting server may block
 * before it awaits. It is 0, unless the agent has nothing else to do. `tells`
 * says whether an agent counts as dead if it stands still for a second within
 * an operation. In explored code agents may stand still for any time.
 */
export const spinning = /* @__PURE__ */ setting(
  { rounds: 20, patience: 8, nap: 0, tells: true },
  { rounds: 0, patience: 0, nap: 0, tells: false },
);

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

/** The first looks of a patient spin, a fifth of a microsecond apart. */
const EAGER = 40;
/** The looks after them, a microsecond apart: a wake takes less. */
const PATIENT = 40;
/** The waits of one trial: they wait in one way, and are timed together. */
const TRIAL = 16;
/** The most, in microseconds, that a trial counts from wait to wait. */
const LONGEST_STEP = 64;
/** The other way is tried again after at most 2^n trials of the better one. */
const MOST_TRUST = 5;

/** The two ways to wait. */
const SPINNING = 0, SLEEPING = 1;
type Way = typeof SPINNING | typeof SLEEPING;

/** The way that was better lately, and the one that is timed now. */
let better: Way = SPINNING, tried: Way = SPINNING;
/** The waits of this trial, and the microseconds from the first to the last. */
let waits = 0, spent = 0;
/** How long the last trial of each way took. */
const costs: [spinning: number, sleeping: number] = [0, 0];
/**
 * The trials since the other way was tried, and how often that one has lost.
 */
let trials = 0, trust = 0;
/** When the last wait began. */
let began = 0;

/**
 * Whether spinning is faster by an eighth: an agent that sleeps leaves its core
 * to others.
 */
const spins = () => costs[SPINNING] * 9 < costs[SLEEPING] * 8;

/** Notes that a wait begins. Perhaps a trial ends so. */
function noteWait(): void {
  const now = performance.now();
  const before = costs[tried];
  spent += Math.min((now - began) * 1000, LONGEST_STEP);
  began = now;
  waits++;
  if (tried === better) {
    if (waits < TRIAL) return;
    costs[tried] = spent;
    if (spent > 2 * before) trust >>= 1; // something has changed
    if (++trials >> trust > 0) {
      tried = better === SPINNING ? SLEEPING : SPINNING;
    }
  } else {
    costs[tried] = spent;
    const winner = spins() ? SPINNING : SLEEPING;
    // It goes on while it can still win.
    if (waits < TRIAL && winner === tried) return;
    trust = winner === better ? Math.min(trust + 1, MOST_TRUST) : 0;
    better = tried = winner;
    trials = 0;
  }
  waits = spent = 0;
}

/**
 * As {@linkcode spin}, to wait for an agent that works for this one. If each of
 * both has a core, it is fastest if both spin for longer than a wake takes. If
 * they share a core, or answers are slow, it is best to sleep at once. An agent
 * cannot know which is the case. So it times both ways, from wait to wait, and
 * tries the other way again from time to time.
 */
export function spinPatiently<T>(
  attempt: () => T | false | undefined,
): T | undefined {
  if (spinning.rounds === 0) return undefined;
  noteWait();
  if (tried === SLEEPING) return undefined;
  for (let round = 0; round < EAGER + PATIENT; round++) {
    if (round < EAGER) {
      relaxBriefly();
      relaxBriefly();
    } else relax();
    const result = attempt();
    if (result !== false && result !== undefined) return result;
  }
  return undefined;
}

/** Passes a tenth of a microsecond, for waits that end after a few steps. */
export function relaxBriefly(): void {
  if ((Atomics as Pausing).pause !== undefined) return pause(pauses / 10);
  let x = local;
  for (let i = 0; i < 70; i++) x = Math.imul(x, 5) + 1 | 0;
  local = x;
}

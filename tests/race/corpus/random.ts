/**
 * Random programs, each searched without reductions and with each of them.
 *
 * @module
 */
import fc from "../../_run/property.ts";
import { race, type Result } from "../../../race/mod.ts";
import type { Options } from "../../../race/mod.ts";
import { endsSeen } from "../ends.ts";
import { comparing, decided, type Way, WAYS } from "../../_run/ways.ts";

type Words = Int32Array;
type Body = (memory: SharedArrayBuffer) => unknown;

/** A line of a program: an operation, a word, and three numbers. */
type Line = readonly [op: number, at: number, a: number, b: number, c: number];

/**
 * Words: two that all lines use, a lock, what it protects, what agents saw
 * last, and two far ones.
 */
const LOCK = 2, SUM = 3, SEEN = 4, FAR = 8, WORDS = 10;

/**
 * What a line does; it is given what the last look saw, and returns the same.
 */
const OPERATIONS: readonly ((
  w: Words,
  last: number,
  line: Line,
) => number)[] = [
  (w, _, [, at]) => Atomics.load(w, at),
  (w, last, [, at, a]) => (Atomics.store(w, at, a), last),
  (w, _, [, at, a, b]) => Atomics.compareExchange(w, at, a, b),
  (w, last, [, at]) => last + Atomics.add(w, at, 1),
  // A sleep, if the last look saw `a`; it may end by a timeout.
  (w, last, [, at, a, b, c]) =>
    last === a
      ? Atomics.wait(w, at, b, c < 2 ? 10 + a : Infinity).length
      : last,
  (w, last, [, at, , , c]) => (Atomics.notify(w, at, c || Infinity), last),
  // A plain write and a plain read, if the last look saw `a`.
  (w, last, [, at, a, b]) => last === a ? w[at] = w[at]! + b : last,
  // Loops: one that ends by itself, one that looks, one that changes memory.
  (w, last, [, at, a, , c]) => {
    for (let n = 0; n < c && Atomics.load(w, at) === a;) n++;
    return last;
  },
  (w, last, [, at, a]) => {
    while (Atomics.load(w, at) === a);
    return last;
  },
  (w, last, [, at, a, b]) => {
    while (Atomics.exchange(w, at, a) === b && last-- > 0);
    return last;
  },
  // A critical section: agents that wait for the lock sleep.
  (w, last) => {
    while (Atomics.exchange(w, LOCK, 1) !== 0) Atomics.wait(w, LOCK, 1);
    w[SUM] = w[SUM]! + 1;
    Atomics.store(w, LOCK, 0);
    Atomics.notify(w, LOCK);
    return last;
  },
  (_, last) => {
    if (last === 3) throw new Error("three");
    return last;
  },
];

/** The same with reads of hints, and looks at the clock. */
const ALL: typeof OPERATIONS = [
  ...OPERATIONS,
  (w, last, [, at]) => 2 * last + w[at & 1]!,
  (w, _, [, at]) => w[at & 1]!,
  (w, last, [, at, a]) => (Atomics.store(w, at & 1, a + last % 2), last),
  // Loops on a hint: one that ends by itself, one that looks.
  (w, last, [, at, a, , c]) => {
    let n = 0;
    while (n < c && w[at & 1] !== a) n++;
    return last + n;
  },
  (w, last, [, at, a]) => {
    while (w[at & 1] === a);
    return last;
  },
  (_, last, [, , a]) => last + +(performance.now() > 10 * a),
];

const linesOf = (operations: typeof OPERATIONS) => {
  const line = fc.tuple(
    fc.nat(operations.length - 1),
    fc.constantFrom(0, 0, 1, 1, FAR, FAR + 1),
    ...[2, 2, 3].map((max) => fc.nat(max)),
  ) as unknown as fc.Arbitrary<Line>;
  return fc.array(line, { minLength: 1, maxLength: 4 });
};

/** A random program. */
export interface Random {
  /** What the agents do; two of them do the same if `twins`. */
  readonly agents: readonly (readonly Line[])[];
  readonly twins: boolean;
  /** Whether data races are failures. */
  readonly races: boolean;
  /**
   * Whether words 0 and 1 are hints. Then agents also look at the clock, and
   * tell at their end what they saw last.
   */
  readonly hints: boolean;
}

const programs = (hints: boolean): fc.Arbitrary<Random> =>
  fc.record({
    agents: fc.array(linesOf(hints ? ALL : OPERATIONS), {
      minLength: 1,
      maxLength: 2,
    }),
    twins: fc.boolean(),
    races: fc.boolean(),
    hints: fc.constant(hints),
  }).map((one) => ({ ...one, twins: one.twins || one.agents.length === 1 }));

/** The first `count` programs of `seed`, with hints or without. */
export const randomPrograms = (
  count: number,
  seed: number,
  hints = false,
): Random[] => fc.sample(programs(hints), { numRuns: count, seed });

const bodyOf = (lines: readonly Line[], hints: boolean): Body => (memory) => {
  const words = new Int32Array(memory);
  let last = 0;
  for (const line of lines) last = ALL[line[0]]!(words, last, line);
  // How many agents saw what, without a word of who it was.
  if (hints) Atomics.add(words, SEEN, 4 ** Math.min(last, 9));
};

/** What a search says, and what memory held at each end that it met. */
interface Explored {
  readonly result: Result;
  readonly ends: string;
}

function explore(
  { agents, twins, races, hints }: Random,
  options: Options,
): Explored {
  const bodies = agents.map((lines) => bodyOf(lines, hints));
  if (twins) bodies.push(bodies[0]!);
  const memory = () => new SharedArrayBuffer(4 * WORDS);
  const usual = { races, runs: 0, lines: false, shorten: false };
  const [ends, result] = endsSeen((see) =>
    race.agents(
      { memory, ...hints && { hints: [[0, 8]] } },
      ...bodies,
      {
        ...usual,
        after: (memory) => void see(new Int32Array(memory).join()),
        ...options,
      },
    ) as Result
  );
  return { result, ends: [ends].flat().join(" ") };
}

/** A way, or all reductions, but agents are compared after some states. */
type RandomWay = Way | "soon";

/** How many states these are. */
const SOON = 50;

/** The ways to search random programs: their loops may remember something. */
const RANDOM_WAYS: readonly RandomWay[] = [
  ...WAYS.filter((way) => way !== "memoryless"),
  "soon",
];

/**
 * Searches a program in each way, and without reductions in four times as many
 * states. Returns how many searches were compared, and the first that says
 * something else: whether the program fails, or which memory it can end with.
 * A program may fail in several ways, and each search may find another failure.
 */
export async function compareRandom(
  random: Random,
  states: number,
  ways: readonly RandomWay[] = RANDOM_WAYS,
): Promise<[compared: number, different?: string]> {
  const plain = explore(random, { states: 4 * states, reduce: false });
  if (!decided(plain.result)) return [0];
  let compared = 0;
  for (const way of ways) {
    const all = way === "late" || way === "memoryless" || way === "soon";
    const reduce = all || way;
    const { result, ends } = await comparing(
      way === "late" ? Infinity : 1,
      () => explore(random, { states, reduce }),
      way === "soon" ? SOON : 0,
    );
    if (!decided(result)) continue;
    compared++;
    const text = `${way}: ${JSON.stringify(random)}: ${result.summary}`;
    if (result.ok !== plain.result.ok) {
      return [compared, `${text}, without: ${plain.result.summary}`];
    }
    if (result.ok && ends !== plain.ends) {
      return [compared, `${text}, ends ${ends}, without ${plain.ends}`];
    }
  }
  return [compared];
}

/**
 * Storms: programs of random steps, played on a layer above the words. A ledger
 * accounts for every promise that the layer gave.
 *
 * fast-check makes the plans, each of them from a seed that is printed. If one
 * fails, fast-check looks for a shorter one that fails, too. A race does not
 * happen each time, so each shorter plan is played several times.
 *
 * @module
 */
import process from "node:process";
import fc from "../_run/property.ts";
import type { Row } from "./_row.ts";
import { say } from "./_watchman.ts";

/** Ends after this many ms. */
export const pause = (ms: number): Promise<unknown> =>
  new Promise((done) => setTimeout(done, ms));

/** In a plan: mostly `usual`, and now and then one of `others`. */
export const mostly = <T>(usual: T, others: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, others);

/** Words that threads share. */
export const words = (length: number): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(length * 4));

/** Plays random plans on one layer. */
export interface Storm<Plan> {
  /** Names the layer in the table. */
  readonly name: string;
  /** Makes the plans: data that says what to do, and when. */
  readonly plans: fc.Arbitrary<Plan>;
  /**
   * Does what a plan says, on a layer that is new, and ends it. It gives each
   * promise to the ledger. What it throws is a problem, too.
   */
  play(plan: Plan, ledger: Ledger): Promise<void>;
}

/** How a promise has ended. */
export type End<T> =
  | { readonly value: T; readonly reason?: undefined; readonly failed: false }
  | { readonly reason: unknown; readonly failed: true };

/**
 * Says which of the ends that the model allows this one is, such as
 * `"aborted"`; throws if the model does not allow it.
 */
export type Judge<T> = (end: End<T>) => string;

/** How a storm is played. */
export interface Limits {
  /** How much longer than others a promise may take, in ms. */
  readonly patience: number;
  /** Whether a shorter plan is looked for if one fails. */
  readonly shrinks: boolean;
  /** The one plan that is played, if not random ones. */
  readonly plan?: unknown;
}

/** The limits on a busy machine. */
const USUAL: Limits = { patience: 30_000, shrinks: true };
/** A play may take this many times as long as a promise may take. */
const PLAYS = 8;

/** Accounts for the promises of one play. */
export class Ledger {
  /** What the model does not allow. */
  readonly problems: string[] = [];
  /** How many promises have ended in which way. */
  readonly ends = new Map<string, number>();
  /** The promises that have not ended, by a number. */
  readonly #open = new Map<number, string>();
  readonly #patience: number;
  readonly #onProblem: (text: string) => void;
  #promises = 0;
  /** Words that change while the play goes on, and what they were. */
  readonly #watched: { words: Int32Array; were: Int32Array }[] = [];
  #state: () => string = () => "";
  /** Those that have ended must be given back. */
  #kept: { it: WeakRef<object>; what: string }[] = [];
  #tell: (() => void) | undefined;

  /**
   * A promise may take `patience` ms longer than others; `onProblem` is told
   * what the model does not allow.
   */
  constructor(patience: number, onProblem: (text: string) => void) {
    this.#patience = patience;
    this.#onProblem = onProblem;
  }

  /** How many promises there were. */
  get promises(): number {
    return this.#promises;
  }

  /** Notes a promise: it must settle, in a way that `judge` allows. */
  expect<T>(what: string, promise: Promise<T>, judge: Judge<T>): void {
    const number = this.#promises++;
    this.#open.set(number, what);
    this.lend(promise, what);
    const settle = (end: End<T>) => {
      this.#open.delete(number);
      try {
        const name = judge(end);
        this.ends.set(name, (this.ends.get(name) ?? 0) + 1);
      } catch (error) {
        this.problem(`${what}: ${(error as Error).message}`);
      }
      this.#tell?.();
    };
    promise.then(
      (value) => settle({ value, failed: false }),
      (reason) => settle({ reason, failed: true }),
    );
  }

  /** Notes what the layer must let go once all promises have ended. */
  lend(it: object, what: string): void {
    this.#kept.push({ it: new WeakRef(it), what });
  }

  /** Notes something that the model does not allow. */
  problem(text: string): void {
    this.problems.push(text);
    this.#onProblem(text);
  }

  /**
   * Notes words that change while a thread goes on, whose promise is the only
   * one of many steps: as long as they change, nothing is late. On a busy
   * machine, such a thread takes any time. `state` is told with a problem. A
   * mistake may let threads go round for ever, so who looks for mistakes, and
   * has less patience, does not wait for that.
   */
  watch(words: Int32Array, state: () => string = this.#state): void {
    this.#watched.push({ words, were: words.slice() });
    this.#state = state;
  }

  /** Whether words have changed since this was called last. */
  #hasMoved(): boolean {
    if (this.#patience < USUAL.patience) return false;
    let hasMoved = false;
    for (const { words, were } of this.#watched) {
      if (words.every((word, i) => word === were[i])) continue;
      hasMoved = true;
      were.set(words);
    }
    return hasMoved;
  }

  /** Waits until all promises have ended; one that never does is a problem. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) {
      this.#hasMoved();
      let timer;
      const late = new Promise<boolean>((resolve) => {
        timer = setTimeout(resolve, this.#patience, true);
      });
      const next = new Promise<boolean>((resolve) => {
        this.#tell = () => resolve(false);
      });
      const isLate = await Promise.race([late, next]);
      clearTimeout(timer);
      if (!isLate || this.#hasMoved()) continue;
      const state = this.#state();
      for (const what of this.#open.values()) {
        this.problem(`${what}: never ended${state}`);
      }
      this.#open.clear();
    }
  }

  /**
   * Waits until `isSo`, as long as a promise may take; returns whether it was.
   * The caller must not look again: it may be over.
   */
  async until(isSo: () => boolean): Promise<boolean> {
    const end = performance.now() + this.#patience;
    for (let i = 0; !isSo(); i++) {
      if (performance.now() >= end) return false;
      await new Promise((resolve) => setTimeout(resolve, Math.min(i, 100)));
    }
    return true;
  }

  /**
   * Collects garbage, and asserts that nobody keeps a promise that has ended,
   * or what was lent. Call it when all promises have ended, while the layer is
   * still in use: who leaks a promise keeps a task, its request or its result.
   * `most` of them may stay, such as those of the task that was done last.
   */
  async assertGivenBack(most = 0): Promise<void> {
    const lent = this.#kept.length;
    // What is released by a call, once it is garbage, may take a while.
    const isBack = () => {
      collectGarbage!();
      this.#kept = this.#kept.filter(({ it }) => it.deref() !== undefined);
      return this.#kept.length <= most;
    };
    if (collectGarbage === undefined || await this.until(isBack)) return;
    const whats = this.#kept.map(({ what }) => what);
    this.problem(
      `${whats.length} of ${lent} promises or objects are kept: ` +
        whats.slice(0, 5).join("; "),
    );
  }
}

/** Collects garbage; undefined where the program may not. */
export const collectGarbage: (() => void) | undefined =
  (globalThis as { gc?: () => void }).gc;

/** Bytes of this thread that are in use. */
function memory(): number {
  for (let i = 0; i < 3; i++) collectGarbage?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Plans from one seed; the next ones come from the next seed. */
const BATCH = 4;
/** The engine compiles while this share of the time goes by. */
const WARM_UP = 0.2;
/** The number of bytes by which the memory may grow. */
const GROWTH = 24e6;
/** How many times a plan that may fail is played. */
const TRIES = 4;
/** How long a shorter plan that fails is looked for, in ms. */
const SHRINKING = 60_000;

/**
 * Plays plans for `ms`, from `seed` on. The first plan that fails ends it.
 * Returns what was done, for the table.
 */
export async function storm<Plan>(
  { name, plans: random, play }: Storm<Plan>,
  ms: number,
  seed: number,
  { patience, shrinks, plan }: Limits = USUAL,
): Promise<Row> {
  const [plans, numRuns] = plan === undefined
    ? [random, BATCH]
    : [fc.constant(plan as Plan), 1];
  const problems: string[] = [];
  const ends = new Map<string, number>();
  let promises = 0;
  let played = 0;
  let late = "";
  const note = (what: string) => (error: unknown) => {
    late = `${what}: ${(error as Error)?.stack ?? error}`;
  };
  const uncaught = note("uncaught");
  const unhandled = note("unhandled rejection");
  process.on("uncaughtException", uncaught);
  process.on("unhandledRejection", unhandled);
  const one = async (plan: Plan) => {
    let fail!: (error: Error) => void;
    const failed = new Promise<never>((_, reject) => fail = reject);
    failed.catch(() => {});
    // Without a shorter plan to look for, the first problem ends the play.
    const ledger = new Ledger(patience, (text) => {
      if (!shrinks) fail(new Error(text));
    });
    late = "";
    say(`${name}, seed ${next}: ${fc.stringify(plan)}`);
    const never = new Error("the play never ended");
    const timer = setTimeout(() => fail(never), patience * PLAYS);
    try {
      await Promise.race([play(plan, ledger), failed]);
      await ledger.settled();
    } catch (error) {
      ledger.problem((error as Error).stack ?? `${error}`);
    }
    clearTimeout(timer);
    if (late !== "") ledger.problem(late);
    played++;
    promises += ledger.promises;
    for (const [end, n] of ledger.ends) ends.set(end, (ends.get(end) ?? 0) + n);
    if (ledger.problems.length === 0) return;
    throw new Error(ledger.problems.slice(0, 5).join("\n"));
  };
  const begin = performance.now();
  const end = begin + ms;
  const isWarm = () => performance.now() > begin + ms * WARM_UP;
  let from = 0;
  let next = seed;
  while (problems.length === 0 && (performance.now() < end || next === seed)) {
    if (from === 0 && isWarm()) from = memory();
    const property = fc.asyncProperty(plans, async (plan) => {
      if (performance.now() < end || next === seed) await one(plan);
    });
    const options = { seed: next, numRuns, endOnFailure: true };
    const found = await fc.check(property, options);
    if (found.failed && !shrinks) {
      problems.push(`${(found.errorInstance as Error).message}`);
    } else if (found.failed) {
      const { message } = found.errorInstance as Error;
      const path = found.counterexamplePath!;
      problems.push(await shrunk(plans, one, path, next, message));
    }
    next++;
  }
  const grown = from === 0 || collectGarbage === undefined
    ? 0
    : memory() - from;
  if (grown > GROWTH) {
    problems.push(`the memory has grown by ${(grown / 1e6).toFixed(1)} MB`);
  }
  process.off("uncaughtException", uncaught);
  process.off("unhandledRejection", unhandled);
  const how = [...ends].sort().map(([end, n]) => `${n} ${end}`).join(", ");
  return {
    what: `${name}: promises of a storm`,
    volume: promises,
    unit: "promises",
    note: `${played} plans, seeds ${seed} to ${next - 1}: ${how}`,
    problems,
  };
}

/**
 * Looks for a shorter plan that fails; tells of the shortest, or of the failure
 * that there was.
 */
async function shrunk<Plan>(
  plans: fc.Arbitrary<Plan>,
  one: (plan: Plan) => Promise<void>,
  path: string,
  seed: number,
  message: string,
): Promise<string> {
  const end = performance.now() + SHRINKING;
  let isFirst = true;
  const property = fc.asyncProperty(plans, async (plan) => {
    const tries = isFirst ? TRIES * 2 : TRIES;
    isFirst = false;
    for (let i = 0; i < tries && performance.now() < end; i++) await one(plan);
  });
  const found = await fc.check(property, { seed, path });
  const again = `again: --seed ${seed}, path ${path}`;
  if (!found.failed) {
    const [plan] = fc.sample(plans, { seed, path, numRuns: 1 });
    return `it failed once, and not again: ${message}\n${again}\n` +
      fc.stringify(plan);
  }
  const { counterexample, errorInstance } = found;
  return `${(errorInstance as Error).message}\n${again}\n` +
    fc.stringify(counterexample![0]);
}

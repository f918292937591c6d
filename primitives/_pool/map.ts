/**
 * Goes through many requests, a limited number at a time, and through their
 * results.
 *
 * A request of a `map` has no promise, no signal and no async function of its
 * own: what is done for each of them must be little, so that the compilers have
 * little to do, too. The pool calls {@linkcode MapRun.feed} when it has room.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import { assertOptions, assertSignal, assertStep } from "../_memory/options.ts";
import { assertBoolean, inRange } from "../_memory/region.ts";
import { onGarbage } from "../_message/garbage.ts";
import { offAbort, onAbort } from "../_wait/aborts.ts";
import { boundHere } from "./events.ts";
import type { Job, JobEnd, Jobs, Spec } from "./jobs.ts";
import {
  checkedHow,
  type How,
  type MapOptions,
  RUN,
  type RunOptions,
} from "./options.ts";

/** How to go through the requests. */
interface MapConfig {
  readonly ordered: boolean;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
  /** Whether it goes on when a task has failed, or a request is refused. */
  readonly goesOn: boolean;
}

/** A request's result, or why there is none. */
interface Outcome {
  /** Whether it is known. */
  readonly over: boolean;
  failed: boolean;
  result: unknown;
  /** Whether the loop ends here in any case. */
  readonly fatal?: boolean;
}

/** The pool that does the tasks, as its runs see it. `Plan` says what to do. */
interface Doer<Plan> {
  /** Whether requests are accepted at all. */
  isOpen(): boolean;
  /** Whether a request may be submitted now. */
  hasRoom(): boolean;
  /** Has a request done; the run is told of its end. */
  submit(request: unknown, run: MapRun<Plan>): Outcome;
  /** Lets the run take requests whenever there is room, and at once. */
  join(run: MapRun<Plan>): void;
  /** Lets a run take requests if there is room. */
  fill(): void;
  /** Ends what the run has begun. */
  drop(run: MapRun<Plan>, reason: unknown): void;
  /** Forgets the run. */
  leave(run: MapRun<Plan>): void;
}

/** Throws a TypeError unless `requests` can be iterated. */
function assertIterable(requests: unknown): void {
  const it = requests as Partial<Iterable<unknown> & AsyncIterable<unknown>>;
  if (
    requests !== undefined && requests !== null &&
    (it[Symbol.iterator] ?? it[Symbol.asyncIterator]) !== undefined
  ) return;
  throw new TypeError(
    `Expected requests to iterate over: received ${describe(requests)}`,
  );
}

type Requests = Iterable<unknown> | AsyncIterable<unknown>;
type Step = IteratorResult<unknown, unknown>;
type Steps = Iterator<unknown> | AsyncIterator<unknown>;

/** The number of results that are taken out of the line together. */
const YIELDED = 256;
/** With a limit below this, each result lets the next request be taken. */
const SMALL = 32;

/** One use of `map`. */
class MapRun<Plan> {
  readonly #makePlan: () => Plan;
  #plan: Plan | undefined;
  readonly #requests: Requests;
  readonly #config: MapConfig;
  readonly #doer: Doer<Plan>;
  /** Results in the order in which they are yielded, from the head on. */
  readonly #line: Outcome[] = [];
  #head = 0;
  /** Requests that were taken, and whose results were not. */
  #underway = 0;
  /** Whether the limit is reached, and below which number it is not. */
  #full = false;
  readonly #resume: number;
  #steps: Steps | undefined;
  #isAsync = false;
  /** Takes requests while there is room for them, in the loop's context. */
  feed = (): void => {};
  /** Whether a request is on its way. */
  #busy = false;
  /** Why no more requests are taken: an abort, or the end of the loop. */
  #stop: { readonly reason: unknown } | undefined;
  /** Tells the loop that it should look again. */
  #tell: (() => void) | undefined;

  /**
   * `config` says how to go through `requests`, which `doer` does; `makePlan`
   * is called for the first of them.
   */
  constructor(
    requests: Requests,
    config: MapConfig,
    doer: Doer<Plan>,
    makePlan: () => Plan,
  ) {
    const { limit } = config;
    this.#makePlan = makePlan;
    this.#requests = requests;
    this.#config = config;
    this.#doer = doer;
    this.#resume = limit < SMALL ? limit : limit - (limit >> 3);
  }

  /** What to do with each request. */
  get plan(): Plan {
    return this.#plan ??= this.#makePlan();
  }

  /** Begins to take requests. */
  begin(): void {
    this.feed = boundHere(() => this.#take());
    const { signal } = this.#config;
    if (signal?.aborted) throw signal.reason;
    if (signal !== undefined) onAbort(signal, this, MapRun.#abort);
    const requests = this.#requests as
      & Partial<AsyncIterable<unknown>>
      & Iterable<unknown>;
    this.#isAsync = typeof requests[Symbol.asyncIterator] === "function";
    try {
      this.#steps = this.#isAsync
        ? requests[Symbol.asyncIterator]!()
        : requests[Symbol.iterator]();
    } catch (error) {
      return this.#break(error);
    }
    this.#doer.join(this);
  }

  #take(): void {
    const { limit } = this.#config;
    const doer = this.#doer;
    while (
      this.#steps !== undefined && !this.#busy && this.#stop === undefined &&
      doer.hasRoom()
    ) {
      this.#full = this.#underway >= limit;
      if (this.#full) return;
      this.#busy = true; // the iterator may call the pool
      let done, value;
      try {
        const step = this.#steps.next();
        if (this.#isAsync) return void this.#await(step);
        assertStep(step);
        ({ done, value } = step as Step);
        if (isThenable(value)) return void this.#await(step);
      } catch (error) {
        return this.#break(error);
      }
      this.#busy = false;
      // The iterator itself has ended the loop.
      if (this.#stop !== undefined && !done) return this.#return();
      this.#put(Boolean(done), value);
    }
  }

  async #await(coming: Step | Promise<Step>): Promise<void> {
    try {
      const step = await coming;
      assertStep(step);
      // A loop over the requests would await promises among them, too.
      const value = this.#isAsync || step.done ? step.value : await step.value;
      this.#busy = false;
      if (this.#stop !== undefined && !step.done) return this.#return();
      this.#put(Boolean(step.done), value);
    } catch (error) {
      this.#busy = false;
      if (!this.#isAsync) this.#return(); // one of its promises has failed
      return this.#break(error);
    }
    this.#doer.fill();
  }

  #put(done: boolean, value: unknown): void {
    if (done) {
      this.#steps = undefined;
      return this.#tell?.();
    }
    let outcome;
    try {
      outcome = this.#doer.submit(value, this);
    } catch (error) {
      // Without a plan, or a pool, each request would be refused.
      const fatal = !this.#config.goesOn || this.#plan === undefined ||
        !this.#doer.isOpen();
      this.#line.push({ over: true, failed: true, result: error, fatal });
      this.#underway++;
      if (fatal) this.#return();
      return this.#tell?.();
    }
    this.#underway++;
    if (this.#config.ordered) this.#line.push(outcome);
  }

  /** The requests have failed. */
  #break(error: unknown): void {
    this.#busy = false;
    this.#steps = undefined;
    const fatal = true;
    this.#line.push({ over: true, failed: true, result: error, fatal });
    this.#underway++;
    this.#tell?.();
  }

  /** A task has ended with a result. */
  resolve(result: unknown, outcome: Outcome): void {
    outcome.result = result;
    this.#arrive(outcome);
  }

  /** A task has failed. */
  reject(reason: unknown, outcome: Outcome): void {
    outcome.failed = true;
    outcome.result = reason;
    this.#arrive(outcome);
  }

  #arrive(outcome: Outcome): void {
    if (!this.#config.ordered) this.#line.push(outcome);
    if (this.#tell !== undefined && this.#line[this.#head]!.over) this.#tell();
  }

  /** Takes the next result, if it is there. */
  take(): Outcome | undefined {
    const line = this.#line;
    const outcome = line[this.#head];
    if (outcome === undefined || !outcome.over) return undefined;
    if (++this.#head >= YIELDED) {
      line.splice(0, this.#head);
      this.#head = 0;
    }
    this.#underway--;
    if (this.#full && this.#underway < this.#resume) {
      this.#full = false;
      this.#doer.fill();
    }
    return outcome;
  }

  /** Awaits the next result; undefined if all were taken. */
  async next(): Promise<Outcome | undefined> {
    for (;;) {
      const outcome = this.take();
      if (outcome !== undefined) return outcome;
      if (this.#head === this.#line.length) {
        if (this.#stop !== undefined) throw this.#stop.reason;
        if (this.#steps === undefined && this.#underway === 0) return;
      }
      await new Promise<void>((resolve) => this.#tell = resolve);
      this.#tell = undefined;
    }
  }

  /** Throws why no more requests are taken, if that is so. */
  assertGoing(): void {
    if (this.#stop !== undefined) throw this.#stop.reason;
  }

  static #abort<Plan>(run: MapRun<Plan>): void {
    run.#halt(run.#config.signal!.reason);
  }

  #halt(reason: unknown): void {
    if (this.#stop !== undefined) return;
    this.#stop = { reason };
    this.#return();
    this.#doer.drop(this, reason);
    this.#tell?.();
  }

  /** Closes the iterator, which was not at its end. */
  #return(): void {
    const steps = this.#steps;
    if (steps === undefined || this.#busy) return;
    this.#steps = undefined;
    try {
      const ended = steps.return?.();
      if (this.#isAsync) Promise.resolve(ended).catch(() => {});
    } catch {
      // The loop ends anyway.
    }
  }

  /** Ends it: nobody takes results any more. */
  end(): void {
    const { signal } = this.#config;
    if (signal !== undefined) offAbort(signal, this);
    this.#doer.leave(this);
    this.#halt(
      new DOMException("The loop over the results was left", "AbortError"),
    );
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null &&
  typeof (value as Partial<PromiseLike<unknown>>).then === "function";

/** Yields the results of a run, which ends when nobody goes on with them. */
export const mapped = <Plan, Out>(
  run: MapRun<Plan>,
): AsyncGenerator<Out, void, void> => ending(run, yieldResults<Plan, Out>(run));

/** The same for how each request of a run has ended. */
export const settled = <Plan, Out>(
  run: MapRun<Plan>,
): AsyncGenerator<PromiseSettledResult<Out>, void, void> =>
  ending(run, yieldEnds<Plan, Out>(run));

function ending<Loop extends object>(run: { end(): void }, loop: Loop): Loop {
  onGarbage(loop, (run) => run.end(), run);
  return loop;
}

async function* yieldResults<Plan, Out>(
  run: MapRun<Plan>,
): AsyncGenerator<Out, void, void> {
  run.begin();
  try {
    for (;;) {
      const outcome = run.take() ?? await run.next();
      if (outcome === undefined) return;
      if (outcome.failed) throw outcome.result;
      yield outcome.result as Out;
    }
  } finally {
    run.end();
  }
}

async function* yieldEnds<Plan, Out>(
  run: MapRun<Plan>,
): AsyncGenerator<PromiseSettledResult<Out>, void, void> {
  run.begin();
  try {
    for (;;) {
      const outcome = run.take() ?? await run.next();
      if (outcome === undefined) return;
      run.assertGoing(); // what was aborted has failed, too
      const { failed, fatal, result } = outcome;
      if (fatal) throw result;
      yield failed
        ? { status: "rejected", reason: result }
        : { status: "fulfilled", value: result as Out };
    }
  } finally {
    run.end();
  }
}

/** What is done with each request. */
interface Plan {
  readonly spec: Spec;
  readonly how: How | undefined;
}

/** What the runs have to know of a pool, and to have done. */
interface Mapping {
  readonly jobs: Jobs;
  /** How many requests a run has underway at most, unless told otherwise. */
  readonly limit: number;
  /** Whether requests are accepted at all. */
  isOpen(): boolean;
  /** Whether a request may be submitted now, or a run is to be told why not. */
  hasRoom(): boolean;
  /** The task of that name; throws if there is none. */
  specOf(name: string): Spec;
  submit(
    spec: Spec,
    request: unknown,
    how: How | undefined,
    end: JobEnd,
  ): Job;
  /** Posts what waits, and lets the runs take requests. */
  fill(): void;
  /** Ends a job before its result is there. */
  drop(job: Job, reason: unknown): void;
}

/** The runs of `map`. */
export class Maps {
  readonly #it: Mapping;
  /** Those that may take requests. */
  #runs: readonly MapRun<Plan>[] = [];
  /** Has the requests done. */
  readonly #doer: Doer<Plan>;

  /** Makes a list of no runs. */
  constructor(mapping: Mapping) {
    this.#it = mapping;
    this.#doer = {
      isOpen: mapping.isOpen,
      hasRoom: mapping.hasRoom,
      submit: (request, run) => {
        const { spec, how } = run.plan;
        return mapping.submit(spec, request, how, run);
      },
      join: (run) => {
        this.#runs = [...this.#runs, run];
        mapping.fill();
      },
      fill: mapping.fill,
      drop: (run, reason) => {
        for (const job of mapping.jobs.all()) {
          if (job.end === run) mapping.drop(job, reason);
        }
      },
      leave: (run) => {
        this.#runs = this.#runs.filter((it) => it !== run);
      },
    };
  }

  /** Whether some run may take requests. */
  get any(): boolean {
    return this.#runs.length > 0;
  }

  /** Makes a run, which begins to take requests by itself. */
  run(
    name: string,
    requests: Iterable<unknown> | AsyncIterable<unknown>,
    options: MapOptions | undefined,
    goesOn: boolean,
  ): MapRun<Plan> {
    assertOptions(options, [...RUN, "ordered", "limit"]);
    const { ordered = true, limit = this.#it.limit, ...rest } = options ?? {};
    inRange("limit", limit, 1, 2 ** 30);
    assertBoolean("ordered", ordered);
    assertIterable(requests);
    const { signal, ...how } = rest;
    assertSignal(signal);
    const config = { ordered, limit, signal, goesOn };
    const plan = () => this.#planOf(name, how);
    return new MapRun(requests, config, this.#doer, plan);
  }

  #planOf(name: string, options: RunOptions): Plan {
    const spec = this.#it.specOf(name);
    const given = Object.values(options).some((it) => it !== undefined);
    return { spec, how: given ? checkedHow(options) : undefined };
  }

  /** Lets the runs take requests, each of them first in its turn. */
  readonly feed = (): void => {
    const runs = this.#runs;
    if (runs.length > 1) this.#runs = [...runs.slice(1), runs[0]!];
    for (const run of runs) run.feed();
  };
}

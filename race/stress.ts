/**
 * Runs the code under test in real workers at full speed, and checks the
 * histories afterwards. It can neither explain a failure nor repeat it, but it
 * tests the real machine, with its compilers and caches.
 *
 * @module
 */
import fc from "fast-check";
import { callText } from "./engine/state/agent/operation.ts";
import { RaceError } from "./report/error.ts";
import type { FailureKind } from "./engine/kinds.ts";
import { Either, type Model } from "./engine/model.ts";
import { type Event, explains, Judge } from "./judge/lin.ts";
import { wrongBy } from "./engine/step/replay.ts";
import { realNow } from "./engine/platform/native.ts";
import { checkOptions, STRESS } from "./options.ts";
import { programText } from "./report/print.ts";
import { programs } from "./property.ts";
import { type Failure, type Program, withCause } from "./report/result.ts";
import type { Spec } from "./spec.ts";
import { keyOf, show } from "./engine/values.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** How to run a stress test. */
export interface StressOptions {
  /** Seconds to run; 5 by default. */
  readonly seconds?: number | undefined;
  /** How many workers run; 2 by default. */
  readonly agents?: number | undefined;
  /** The most calls one agent may make in a program; 3 by default. */
  readonly ops?: number | undefined;
  /** The seed of the generated programs; 1 by default. */
  readonly seed?: number | undefined;
  /** The name of the export that is the specification; "default" by default. */
  readonly name?: string | undefined;
}

/** What a stress test did. */
export interface StressResult {
  /** Always true: a failure is thrown. */
  readonly ok: boolean;
  /** How many histories were checked. */
  readonly histories: number;
  /**
   * How many of them differed. In tests of hours, one may be counted again.
   */
  readonly distinct: number;
  /** How many had operations that overlapped. */
  readonly overlapping: number;
}

const INSTANCES = 256; // histories a round
const STUCK = 10_000; // ms after which a round counts as stuck
const START = 60_000; // ms after which workers do not begin any more
const MOST = 200_000; // histories that are remembered

/** What the barrier counts from when the test is over: no round gets to 0. */
const OVER = -0x4000_0000;

// The code of a worker. Each instance begins behind a barrier that spins, until
// the test is over: Deno cannot terminate a worker in a loop.
const WORKER = `
import { parentPort, workerData } from "node:worker_threads";
const { url, name, id, agents, control, memories } = workerData;
const { definition } = (await import(url))[name];
parentPort.on("message", async (program) => {
  try {
    const events = [];
    for (let i = 0; i < memories.length; i++) {
      const handle = definition.agent(memories[i], id);
      Atomics.add(control, 1, 1);
      for (let come; (come = Atomics.load(control, 1)) < (i + 1) * agents;) {
        if (come < 0) return;
      }
      for (const { op, arg } of program) {
        const begin = Atomics.add(control, 0, 1);
        const result = await definition.ops[op].run(handle, arg, id);
        events.push([i, begin, Atomics.add(control, 0, 1), result]);
      }
    }
    parentPort.postMessage({ events });
  } catch (error) {
    parentPort.postMessage({ error: String(error?.stack ?? error) });
  }
});
parentPort.postMessage({ ready: true });
`;

/** Whether the model lets every call end, in whatever order they run. */
function alwaysEnds(model: Model, program: Program): boolean {
  const seen = new Set<string>();
  const search = (state: unknown, at: readonly number[]): boolean => {
    const key = `${String(keyOf(state, true))}|${at}`;
    if (seen.has(key)) return true;
    seen.add(key);
    let left = false;
    let moved = false;
    for (let id = 0; id < program.length; id++) {
      const call = program[id]![at[id]!];
      if (call === undefined) continue;
      left = true;
      const answer = model.step(state, call, id);
      if (answer === null || answer === undefined) continue;
      moved = true;
      const next = at.map((n, other) => other === id ? n + 1 : n);
      const outcomes = answer instanceof Either ? answer.outcomes : [answer];
      if (!outcomes.every(([after]) => search(after, next))) return false;
    }
    return moved || !left;
  };
  return search(model.init, program.map(() => 0));
}

/** A worker, with the promise of its next answer. */
class Hand {
  readonly #worker: Any;
  #resolve: (message: Any) => void = () => {};

  constructor(Worker: Any, workerData: Any) {
    const code = `data:text/javascript,${encodeURIComponent(WORKER)}`;
    this.#worker = new Worker(new URL(code), { workerData });
    this.#worker.on("message", (message: Any) => this.#resolve(message));
    this.#worker.on(
      "error",
      (error: Any) => this.#resolve({ error: String(error?.stack ?? error) }),
    );
    this.#worker.on("exit", (code: Any) => {
      const { id } = workerData;
      this.#resolve({ error: `the worker of agent ${id} ended: code ${code}` });
    });
  }

  answer(): Promise<Any> {
    return new Promise((resolve) => this.#resolve = resolve);
  }

  ask(message: Any): Promise<Any> {
    const answer = this.answer();
    this.#worker.postMessage(message);
    return answer;
  }

  end(): Promise<unknown> {
    return this.#worker.terminate();
  }
}

/**
 * Runs the specification that a module exports in real workers, at full speed,
 * with generated programs, and checks the histories and `final`. Programs that
 * might wait for ever by the model are left out.
 *
 * @throws {RaceError} If no sequential order explains a history, if `final`
 * finds something wrong, or if the workers do not finish within 10 seconds.
 * @throws {TypeError} If `module` is no URL, or an option is wrong.
 * @throws {Error} If the module cannot be imported, if a worker does not begin,
 * or if every generated program might wait for ever by the model.
 *
 * @example A module `counter.ts` has a specification as its default export
 * ```ts ignore
 * import { race } from "@weft/sync/race";
 *
 * const url = new URL("./counter.ts", import.meta.url);
 * const { histories } = await race.stress(url, { seconds: 10, agents: 2 });
 * ```
 */
export async function stress(
  module: URL,
  options: StressOptions = {},
): Promise<StressResult> {
  checkOptions(options, STRESS);
  if (typeof (module as URL | null)?.href !== "string") {
    throw new TypeError(
      `The module must be a URL, such as new URL("./counter.ts", ` +
        `import.meta.url): received ${show(module)}`,
    );
  }
  const { seconds = 5, agents = 2, seed = 1, name = "default" } = options;
  const { Worker } = await import("node:worker_threads");
  const spec: Spec = (await import(module.href))[name];
  if (spec?.scenario === undefined) {
    throw new TypeError(`The export "${name}" must be a result of race.spec()`);
  }
  const { scenario, definition } = spec;
  const model = scenario.model;
  let judge = model === null ? null : new Judge(model, agents);
  const memories = Array.from({ length: INSTANCES }, () => scenario.memory());
  const bytes = memories.map((memory: Any) =>
    new Uint8Array(memory.buffer ?? memory)
  );
  const initial = bytes.map((b) => b.slice());
  const control = new Int32Array(new SharedArrayBuffer(8));
  const hands = Array.from({ length: agents }, (_, id) => {
    const data = { url: module.href, name, id, agents, control, memories };
    return new Hand(Worker, data);
  });
  const generator = programs(spec, { ...options, agents });
  const results = new Map<string, boolean>();
  let histories = 0;
  let overlapping = 0;
  let distinct = 0;
  let leftOut = 0;
  try {
    const begun = await within(START, allOrError(hands.map((h) => h.answer())));
    if (begun === undefined) {
      throw new Error(`the workers did not begin in ${START} ms`);
    }
    for (const { error } of begun) {
      if (error !== undefined) throw new Error(error);
    }
    const end = realNow() + seconds * 1000;
    for (let round = 0; realNow() < end; round++) {
      const [generated] = fc.sample(generator, {
        numRuns: 1,
        seed: seed + round,
      });
      const program = generated!.calls;
      if (program.every(({ length }) => length === 0)) continue;
      if (model !== null && !alwaysEnds(model, program)) {
        leftOut++;
        continue;
      }
      // A test of hours meets more than memory can hold.
      if (results.size > MOST) {
        results.clear();
        judge = judge && new Judge(model!, agents);
      }
      bytes.forEach((b, i) => b.set(initial[i]!));
      Atomics.store(control, 0, 0);
      Atomics.store(control, 1, 0);
      const asked = hands.map((hand, id) => hand.ask(program[id]));
      const answers = await within(STUCK, allOrError(asked));
      if (answers === undefined) {
        throw broken("lost-wakeup", `stuck for ${STUCK} ms`, program, []);
      }
      const rounds = collect(answers, program);
      for (let i = 0; i < INSTANCES; i++) {
        const events = rounds[i]!;
        histories++;
        if (overlap(events)) overlapping++;
        const key = keyOfHistory(events);
        if (results.has(key)) continue;
        distinct++;
        const right = judge === null || explains(judge, events);
        results.set(key, right);
        const text = "no sequential order of operations explains the history";
        if (!right) throw broken("not-linearizable", text, program, events);
      }
      const final = definition.final;
      for (const [i, memory] of memories.entries()) {
        if (final === undefined) break;
        const byAgent = program.map((_, id) =>
          rounds[i]!.filter((e) => e.agent === id).map((e) => e.result)
        );
        const wrong = wrongBy(() => final(memory, byAgent));
        if (wrong === undefined) continue;
        const { message, cause } = wrong;
        throw broken("invariant", message, program, rounds[i]!, cause);
      }
    }
  } finally {
    Atomics.store(control, 1, OVER);
    await Promise.all(hands.map((hand) => hand.end()));
  }
  if (histories === 0 && leftOut > 0) {
    throw new Error(
      "By the model, every generated program might wait for ever: none was run",
    );
  }
  return { ok: true, histories, distinct, overlapping };
}

/** All answers, or only the first error: the other workers may wait for it. */
function allOrError(asked: readonly Promise<Any>[]): Promise<Any[]> {
  const failed = asked.map((answer) =>
    new Promise<Any[]>((resolve) => {
      answer.then((told) => {
        if (told.error !== undefined) resolve([told]);
      });
    })
  );
  return Promise.race([Promise.all(asked), ...failed]);
}

/** The promise's value, or `undefined` if it takes longer than `ms`. */
async function within<T>(
  ms: number,
  promise: Promise<T>,
): Promise<T | undefined> {
  let timer;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  const value = await Promise.race([promise, late]);
  clearTimeout(timer);
  return value;
}

/** The events of each instance, collected from all workers. */
function collect(answers: readonly Any[], program: Program): Event[][] {
  const rounds: Event[][] = Array.from({ length: INSTANCES }, () => []);
  answers.forEach(({ events, error }, agent) => {
    if (error !== undefined) throw broken("exception", error, program, []);
    const calls = program[agent]!;
    (events as Any[]).forEach(([i, begin, end, result], nth) => {
      const call = calls[nth % calls.length]!;
      rounds[i]!.push({ agent, call, begin, end, result });
    });
  });
  return rounds;
}

function overlap(events: readonly Event[]): boolean {
  return events.some((a) =>
    events.some((b) => a.agent < b.agent && a.begin < b.end && b.begin < a.end)
  );
}

/** A key that is equal for histories of the same order, calls and answers. */
function keyOfHistory(events: readonly Event[]): string {
  const moments = events.flatMap((e) => [
    [e.begin, `${e.agent}${callText(e.call)}`] as const,
    [e.end, `${e.agent}=${show(e.result)}`] as const,
  ]);
  return moments.sort((a, b) => a[0] - b[0]).map(([, text]) => text).join();
}

function broken(
  kind: FailureKind,
  message: string,
  program: Program,
  events: readonly Event[],
  cause?: unknown,
): RaceError {
  const rows = events.toSorted((a, b) => a.begin - b.begin).map((e) =>
    `agent ${e.agent}: ${callText(e.call)} = ${show(e.result)}   ` +
    `(from ${e.begin} to ${e.end})`
  );
  const picture = () => {
    throw new Error("A history of real workers has no picture");
  };
  const failure: Failure = {
    kind,
    message,
    table: `${programText(program)}\n${rows.join("\n")}`,
    program: program.map((calls) =>
      calls.map(({ op, arg }) => arg === undefined ? [op] : [op, arg])
    ),
    schedule: "",
    svg: picture,
    page: picture,
  };
  const result = {
    ok: false,
    complete: false,
    bounds: [],
    states: 0,
    executions: 1,
    steps: 0,
    maxOpSteps: 0,
    summary: "in real workers",
    failure: withCause(failure, cause),
  };
  return new RaceError(result, programText(program));
}

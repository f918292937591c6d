/**
 * Explores one program: exhaustively where the states can be counted, by
 * samples where not; and makes a report of what it finds.
 *
 * @module
 */
import { Clocks } from "./clocks.ts";
import type { World } from "./core.ts";
import { Hints } from "./hints.ts";
import { type FailureKind, Fault, scheduleText } from "./kinds.ts";
import * as k from "./kinds.ts";
import { type Call, Judge } from "./lin.ts";
import { type Picture, pictureOf, programText, tableOf } from "./print.ts";
import {
  type Chooser,
  Engine,
  NeedsAsync,
  StatefulHandle,
  type Steps,
} from "./replay.ts";
import { activateAsync, rejections } from "./async.ts";
import { Fixed, Impossible, run, sampler } from "./sample.ts";
import type { Scenario } from "./scenario.ts";
import {
  type Found,
  judgeRaces,
  search,
  type SearchOptions,
} from "./search.ts";
import { install, isInstalled, uninstall } from "./shim.ts";
import { pageOf, svgOf } from "./svg.ts";
import { show } from "./values.ts";

/** How to explore. */
export interface Options {
  /** Every operation must be lock-free. */
  readonly progress?: "lock-free" | undefined;
  /** Any one agent may be terminated, at any step. */
  readonly kill?: boolean | undefined;
  /** Sleeps may end without a reason, this often at most; `true`: once. */
  readonly spurious?: boolean | number | undefined;
  /** Timed waits may time out at any step, this often; `true`: twice. */
  readonly timeouts?: boolean | number | undefined;
  /** States to look at before sampling instead; 200,000 unless given. */
  readonly states?: number | undefined;
  /** Executions to sample where there are more states; 300 unless given. */
  readonly runs?: number | undefined;
  /** Where the samples begin. */
  readonly seed?: number | undefined;
  /** Milliseconds to search exhaustively, at most; 20,000 unless given. */
  readonly time?: number | undefined;
  /** `false`: data races are not looked for. */
  readonly races?: boolean | undefined;
  /** A timeout may make a lost wake-up good. */
  readonly rescue?: boolean | undefined;
  /** Steps in one operation that are held to be a livelock; 1,000. */
  readonly maxSteps?: number | undefined;
}

/** Something wrong with the code under test, and the interleaving. */
export interface Failure {
  readonly kind: FailureKind;
  /** What is wrong. */
  readonly message: string;
  /** The interleaving: a column an agent, a row a step. */
  readonly table: string;
  /** The interleaving for `race.replay`. */
  readonly schedule: string;
  /** The interleaving as a picture. */
  svg(): string;
  /** The interleaving as a page that stands alone. */
  page(): string;
}

/** What an exploration found. */
export interface Result {
  /** Nothing is wrong, as far as was looked. */
  readonly ok: boolean;
  /** Every interleaving was covered. */
  readonly complete: boolean;
  /** States that were looked at. */
  readonly states: number;
  /** Executions that came to their end. */
  readonly executions: number;
  /** Steps that were taken. */
  readonly steps: number;
  /** Own steps of one operation, at most. */
  readonly maxOpSteps: number;
  /** How far was looked, as text. */
  readonly summary: string;
  /** The interleaving, where one was asked for. */
  readonly table?: string;
  /** What is wrong. */
  readonly failure?: Failure;
}

/** A program: the calls of each agent. */
export type Program = readonly (readonly Call[])[];

const OFF = { timeouts: 0, spurious: 0, kills: 0 };

const times = (value: boolean | number | undefined, many: number): number =>
  value === true ? many : value === false ? 0 : value ?? 0;

function searchOptions(
  { scenario }: Engine,
  o: Options,
  minimal: boolean,
): SearchOptions {
  const declared = [...scenario.operations.values()]
    .some(({ lockFree }) => lockFree);
  return {
    states: minimal ? 200_000 : o.states ?? 200_000,
    time: minimal ? 4_000 : o.time ?? 20_000,
    minimal,
    lockFree: o.progress === "lock-free" ? "all" : declared ? "declared" : "no",
    races: o.races !== false,
    rescue: o.rescue === true,
    results: scenario.final !== null,
  };
}

/** Explores the engine's program. */
function* examine(engine: Engine, o: Options): Steps<Result> {
  const { world } = engine;
  const unusual = {
    timeouts: times(o.timeouts ?? true, 2),
    spurious: times(o.spurious, 1),
    kills: 0,
  };
  yield* rehearse(engine, o);
  if (world.fault !== null) {
    return yield* report(engine, o, nothing(world), "in rehearsal");
  }
  const budgets = [unusual];
  if (o.kill === true) budgets.push({ ...unusual, kills: 1 });
  let total = nothing(world);
  for (const budget of budgets) {
    world.startBudget = budget;
    const full = searchOptions(engine, o, false);
    const found = yield* search(engine, full);
    total = sum(total, found);
    if (found.fault !== null) {
      const minimal = searchOptions(engine, o, true);
      const least = yield* search(engine, minimal);
      const best = least.fault === null ? found : least;
      return yield* report(engine, o, { ...total, ...faultOf(best) });
    }
  }
  if (total.complete) {
    return resultOf(total, `complete: ${total.states} states`);
  }
  return yield* sample(engine, o, total);
}

const faultOf = ({ fault, schedule }: Found): Partial<Found> => ({
  fault,
  schedule,
});

const nothing = ({ fault, schedule }: World): Found => ({
  fault,
  schedule,
  complete: true,
  states: 0,
  executions: 0,
  steps: 0,
  maxOpSteps: 0,
});

const sum = (a: Found, b: Found): Found => ({
  fault: b.fault,
  schedule: b.schedule,
  complete: a.complete && b.complete,
  states: a.states + b.states,
  executions: a.executions + b.executions,
  steps: a.steps + b.steps,
  maxOpSteps: Math.max(a.maxOpSteps, b.maxOpSteps),
});

function resultOf(found: Found, summary: string, failure?: Failure): Result {
  const { complete, states, executions, steps, maxOpSteps } = found;
  return {
    ok: failure === undefined,
    complete: complete && failure === undefined,
    states,
    executions,
    steps,
    maxOpSteps,
    summary,
    ...failure && { failure },
  };
}

/** Samples executions. */
function* sample(engine: Engine, o: Options, before: Found): Steps<Result> {
  const { world } = engine;
  const options = searchOptions(engine, o, false);
  const runs = o.runs ?? 300;
  let total = { ...before, complete: false };
  for (let i = 0; i < runs; i++) {
    if (options.races) {
      world.clocks ??= new Clocks(
        world.agents,
        (address) => world.hints?.isHint(address) ?? false,
      );
    }
    const length = Math.max(20, world.steps);
    const chooser = sampler(o.seed ?? 1, i, engine.count, length);
    yield* run(engine, chooser, options);
    total = {
      ...total,
      executions: total.executions + 1,
      steps: total.steps + world.steps,
    };
    if (world.fault === null) continue;
    const { fault, schedule } = world;
    const how = `sampled, execution ${i + 1}`;
    return yield* report(engine, o, { ...total, fault, schedule }, how);
  }
  return resultOf(
    total,
    `sampled: ${runs} executions, after ${total.states} states of more`,
  );
}

/**
 * Runs the agents one after the other, once without suspending them and once
 * suspending them before every operation. If that makes a difference, the code
 * does something besides that is not undone. Some executions at random follow,
 * to see whether handles have state.
 */
function* rehearse(engine: Engine, o: Options): Steps<void> {
  const { world } = engine;
  world.startBudget = OFF;
  world.clocks = null;
  const { final } = engine.scenario;
  const outcome = () => {
    const done = world.agents.every(({ status }) => status === k.DONE);
    const results = world.agents.slice(0, engine.count).map((a) => a.results);
    const end = done && world.fault === null && final !== null
      ? engine.unwatched(() => final(engine.memory, results))
      : null;
    return {
      done,
      text: show([results, world.fault?.kind, end]),
      memory: world.regions.map(({ words }) => words.slice()),
    };
  };
  const serial: Chooser = {
    choose: () =>
      world.agents.find(({ status }) => status === k.READY)?.id ?? k.END,
  };
  world.reset();
  for (const agent of world.agents) {
    if (agent === engine.recoverer) agent.calls = [];
    engine.inline = true;
    engine.next = k.END;
    engine.grant = null;
    engine.chooser = { choose: () => agent.id };
    yield agent;
    if (agent.status !== k.DONE || world.fault !== null) break;
  }
  const direct = outcome();
  world.fault = null;
  yield* engine.begin();
  for (;;) {
    const code = serial.choose(engine);
    if (code < 0 || world.fault !== null) break;
    yield* engine.apply(code, false);
  }
  const { fault } = world;
  const stray = world.strayWrite();
  if (stray >= 0) {
    engine.refuse(
      `Cannot explore: memory at ${world.addressName(stray)} is changed by ` +
        `something that cannot be seen, such as a view of it made before ` +
        `the exploration, or wasm code`,
    );
  }
  if (direct.done) {
    const suspended = outcome();
    const sameMemory = direct.memory.every((words, i) =>
      words.every((word, w) => word === suspended.memory[i]?.[w])
    );
    if (direct.text !== suspended.text || !sameMemory) {
      world.fault = new Fault(
        "nondeterministic",
        `the agents one after the other do not do the same when each is ` +
          `suspended before every operation and run again: the code under ` +
          `test has effects outside shared memory (results and memory must ` +
          `be all it changes). Without: ${direct.text}, with: ` +
          suspended.text,
      );
      return;
    }
  }
  if ((fault as Fault | null)?.kind === "nondeterministic") return;
  world.fault = null;
  if (engine.scenario.stateless !== undefined) return;
  for (let i = 0; i < 12; i++) {
    const chooser = sampler(o.seed ?? 1, i, engine.count, 20);
    yield* run(engine, chooser, { lockFree: "no", rescue: true });
  }
  world.fault = null;
}

/** Replays a failure and describes it. */
function* report(
  engine: Engine,
  o: Options,
  found: Found,
  how?: string,
): Steps<Result> {
  try {
    return yield* describe(engine, o, found, how);
  } catch (error) {
    if (!(error instanceof Impossible)) throw error;
    const fault = new Fault(
      "nondeterministic",
      `an interleaving that ended in "${found.fault!.kind}: ` +
        `${found.fault!.message}" cannot be repeated: the code under test ` +
        `keeps something outside shared memory, such as in a module; make ` +
        `it anew in agent()`,
    );
    return yield* describe(engine, o, { ...found, fault, schedule: [] }, how);
  }
}

function* describe(
  engine: Engine,
  o: Options,
  found: Found,
  how: string | undefined,
): Steps<Result> {
  const { fault } = found;
  const schedule = [...found.schedule];
  const program = engine.world.agents.slice(0, engine.count)
    .map(({ calls }) => calls);
  const extent = how ?? `exhaustive, ${found.states} states`;
  const picture = yield* replayPicture(
    engine,
    schedule,
    o,
    `${fault!.kind}: ${fault!.message}`,
    `${extent}; ${switches(schedule)} context switches; program ` +
      `${programText(program)}; schedule "${scheduleText(schedule)}"`,
  );
  return resultOf(found, extent, failureOf(fault!, schedule, picture));
}

function failureOf(
  { kind, message }: Fault,
  schedule: readonly number[],
  picture: Picture,
): Failure {
  return {
    kind,
    message,
    table: `${tableOf(picture)}\n(${picture.footer})`,
    schedule: scheduleText(schedule),
    svg: () => svgOf(picture),
    page: () => pageOf(picture),
  };
}

function* replayPicture(
  engine: Engine,
  schedule: readonly number[],
  o: Options,
  title: string,
  footer: string,
): Steps<Picture> {
  const { world } = engine;
  world.trace = [];
  engine.sites = true;
  try {
    yield* run(
      engine,
      new Fixed(schedule),
      searchOptions(engine, o, false),
    );
    return pictureOf(world, engine.count, title, footer);
  } finally {
    world.trace = null;
    engine.sites = false;
  }
}

function switches(schedule: readonly number[]): number {
  let n = 0;
  for (let i = 1; i < schedule.length; i++) {
    if (k.agentOf(schedule[i]!) !== k.agentOf(schedule[i - 1]!)) n++;
  }
  return n;
}

/** Replays one interleaving and reports what it comes to. */
function* replayOnce(
  engine: Engine,
  schedule: readonly number[],
  o: Options,
): Steps<Result> {
  const { world } = engine;
  const kills = schedule.filter((code) => k.actionOf(code) === k.KILL).length;
  world.startBudget = {
    timeouts: times(o.timeouts ?? true, 2),
    spurious: times(o.spurious, 1),
    kills: o.kill === true || kills > 0 ? 1 : 0,
  };
  const options = searchOptions(engine, o, false);
  world.clocks = null;
  const title = `schedule "${scheduleText(schedule)}"`;
  const picture = yield* replayPicture(engine, schedule, o, title, title);
  if (world.fault === null && options.races) judgeRaces(engine);
  const found = { ...nothing(world), steps: world.steps, complete: false };
  const { fault } = found;
  const failure = fault === null ? undefined : failureOf(fault, schedule, {
    ...picture,
    title: `${fault.kind}: ${fault.message}`,
  });
  const result = resultOf(found, title, failure);
  return { ...result, table: tableOf(picture) };
}

// ---- running it all -------------------------------------------------------------

const engines = new WeakMap<Scenario, Map<number, Engine>>();

/** The engine of a scenario, set to run `program`. */
function engineFor(scenario: Scenario, program: Program, o: Options): Engine {
  let known = engines.get(scenario);
  if (known === undefined) engines.set(scenario, known = new Map());
  let engine = known.get(program.length);
  if (engine === undefined) {
    engine = new Engine(scenario, program.length);
    const { world } = engine;
    if (scenario.model !== null) {
      world.judge = new Judge(scenario.model, world.agents.length);
    }
    if (scenario.hints !== null) {
      world.hints = new Hints(world.agents, scenario.hints);
    }
    known.set(program.length, engine);
  } else install(engine);
  program.forEach((calls, id) => {
    for (const { op } of calls) {
      if (scenario.operations.has(op)) continue;
      throw new TypeError(`The specification has no operation "${op}"`);
    }
    engine.world.agents[id]!.calls = calls;
  });
  engine.maxSteps = o.maxSteps ?? 1000;
  return engine;
}

/** Puts memory and globals back as they were. */
function close(scenario: Scenario, program: Program): void {
  const engine = engines.get(scenario)?.get(program.length);
  if (engine !== undefined) {
    engine.world.reset();
    engine.world.clocks = null;
    if (engine.refused !== null) engines.delete(scenario);
  }
  if (isInstalled()) uninstall();
}

type Work<T> = (engine: Engine) => Steps<T>;

function drive<T>(engine: Engine, steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    engine.activate(value);
  }
}

async function driveAsync<T>(engine: Engine, steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await activateAsync(engine, value);
  }
}

let queue: Promise<unknown> = Promise.resolve();
let busy = false;

/** Does `work` on the program, at once or, for asynchronous code, in turn. */
function within<T>(
  scenario: Scenario,
  program: Program,
  o: Options,
  work: Work<T>,
): T | Promise<T> {
  if (program.length > 16) throw new RangeError("More than 16 agents");
  if (scenario.async) {
    const turn = queue.then(() => workAsync(scenario, program, o, work));
    queue = turn.catch(() => {});
    return turn;
  }
  if (busy) {
    throw new Error(
      "Another exploration is under way: await it before the next",
    );
  }
  for (;;) {
    try {
      const engine = engineFor(scenario, program, o);
      return drive(engine, work(engine));
    } catch (error) {
      if (error instanceof StatefulHandle) continue;
      if (!(error instanceof NeedsAsync)) throw error;
      scenario.async = true;
    } finally {
      close(scenario, program);
    }
    return within(scenario, program, o, work);
  }
}

async function workAsync<T>(
  scenario: Scenario,
  program: Program,
  o: Options,
  work: Work<T>,
): Promise<T> {
  busy = true;
  const release = rejections();
  // Handles cannot be compared while promises are under way.
  scenario.stateless ??= false;
  try {
    const engine = engineFor(scenario, program, o);
    return await driveAsync(engine, work(engine));
  } finally {
    close(scenario, program);
    release();
    busy = false;
  }
}

/**
 * Does work of one's own on a program: for tests of the explorer, and for
 * comparing its searches.
 */
export function explore<T>(
  scenario: Scenario,
  program: Program,
  o: Options,
  work: (engine: Engine) => Steps<T>,
): T | Promise<T> {
  return within(scenario, program, o, work);
}

/** Explores a program. */
export function check(
  scenario: Scenario,
  program: Program,
  o: Options,
): Result | Promise<Result> {
  return within(scenario, program, o, (engine) => examine(engine, o));
}

/** Replays one interleaving of a program. */
export function replay(
  scenario: Scenario,
  program: Program,
  schedule: readonly number[],
  o: Options,
): Result | Promise<Result> {
  const work: Work<Result> = (engine) => replayOnce(engine, schedule, o);
  return within(scenario, program, o, work);
}

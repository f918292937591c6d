/**
 * Runs explorations: makes the engine, replaces globals, gives agents turns.
 *
 * @module
 */
import {
  activateAsync,
  INNER,
  rejections,
  settled,
} from "../../engine/step/async.ts";
import { IDLE_FIRES } from "../../engine/state/agent/agent.ts";
import { noCuts } from "../../engine/state/machine.ts";
import { callText } from "../../engine/state/agent/operation.ts";
import { Hints } from "../../engine/state/hints.ts";
import { Judge } from "../../judge/lin.ts";
import { Misuse } from "../../engine/kinds.ts";
import { Engine, type Steps } from "../../engine/step/replay.ts";
import { Stage } from "../../engine/step/stage.ts";
import { type Options, type Program, reduces } from "../../report/result.ts";
import type { Scenario } from "../../engine/scenario.ts";
import type { Told } from "../../engine/platform/guests.ts";
import { install, isInstalled, uninstall } from "../../engine/platform/shim.ts";
import {
  NeedsAsync,
  NotConstant,
  StatefulHandle,
} from "../../engine/signals.ts";

const engines = new WeakMap<Scenario, Map<number, Engine>>();

const loops = new WeakMap<Scenario, Map<string, Set<string>>>();
const opened = new WeakMap<Scenario, Map<string, Set<Told>>>();

/** What `all` has for programs of the same calls. */
function setOf<T>(
  all: WeakMap<Scenario, Map<string, Set<T>>>,
  scenario: Scenario,
  program: Program,
  prefix = "",
): Set<T> {
  let some = all.get(scenario);
  if (some === undefined) all.set(scenario, some = new Map());
  const calls = new Set(program.flat().map((call) => callText(call)));
  const key = `${prefix} ${[...calls].sort().join()}`;
  let known = some.get(key);
  if (known === undefined) some.set(key, known = new Set());
  return known;
}

/** Makes an engine for a scenario and a program. */
function engineFor(scenario: Scenario, program: Program, o: Options): Engine {
  let known = engines.get(scenario);
  if (known === undefined) engines.set(scenario, known = new Map());
  let engine = known.get(program.length);
  if (engine === undefined) {
    engine = new Engine(scenario, program.length, o.looks, o.kill === true);
    const { world } = engine;
    if (scenario.model !== null) {
      world.judge = new Judge(scenario.model, world.agents.length);
    }
    const { hints } = scenario;
    if (hints !== null) {
      world.hints = new Hints(
        world.agents,
        (address) => hints(world.memory.offsetOf(address)),
      );
    }
    known.set(program.length, engine);
  } else {
    engine.looks = o.looks;
    engine.looksAfterKill = false;
    engine.mayKill = o.kill === true;
    install(engine);
  }
  program.forEach((calls, id) => {
    for (const { op } of calls) {
      if (scenario.operations.has(op)) continue;
      throw new TypeError(`The specification has no operation "${op}"`);
    }
    const agent = engine.world.agents[id]!;
    agent.calls = agent.own = calls;
    agent.patience = IDLE_FIRES;
  });
  engine.world.cuts = noCuts();
  engine.setTwins(false);
  engine.opening = null;
  engine.memo.begin();
  engine.world.prospects.clear();
  engine.recalls = engine.world.keepsPlain = false;
  engine.maxSteps = o.maxSteps ?? 1000;
  const { races } = o;
  engine.racy = typeof races === "function"
    ? (address) => races(engine.world.memory.offsetOf(address))
    : () => true;
  engine.world.lead = o.begin ?? 0;
  engine.world.tail = o.end ?? 0;
  engine.endless = o.spins ?? 100_000;
  // To follow endless loops again takes longer than most searches.
  engine.loops = setOf(loops, scenario, program, `${engine.endless}`);
  const whole = o.primitives === "atomic" && !scenario.async;
  const usual = o.kill !== true && !o.spurious && o.polls !== false &&
    o.progress === undefined;
  engine.drops.begin(usual && o.reduce !== false && !scenario.async);
  engine.tried = 0;
  engine.between.begin(false);
  engine.returns.begin(
    usual && reduces(o, "unused") && !scenario.async && o.starvation !== true,
  );
  const { on } = engine.returns;
  const used = whole ? setOf(opened, scenario, program) : new Set<Told>();
  engine.whole.begin(whole, on, used);
  engine.resumed = engine.trusts = false;
  engine.held = engine.sleepless = engine.learned = false;
  engine.forgets = false;
  engine.countsOld = false;
  engine.mayGroup = true;
  engine.walks = 0;
  engine.believed = 0;
  engine.asked = null;
  engine.coverage = null;
  engine.sites = false;
  engine.futures.clear();
  engine.leapt.clear();
  engine.rounds.clear();
  engine.spins.clear();
  return engine;
}

/** Restores memory and globals. */
function close(scenario: Scenario, program: Program): void {
  const engine = engines.get(scenario)?.get(program.length);
  if (engine !== undefined) {
    engine.world.reset();
    engine.world.clocks = null;
    engine.whole.end();
    // The next exploration may be of another scenario.
    engine.forget();
    engine.futures.clear();
    engine.rounds.clear();
    engine.spins.clear();
    engine.returns.begin(false);
    engine.drops.begin(false);
    engine.between.begin(false);
    engine.job = null;
    engine.ended = [];
    engine.guards = [];
    if (engine.refused !== null) engines.delete(scenario);
  }
  if (isInstalled()) uninstall();
}

type Work<T> = (engine: Engine) => Steps<T>;

async function driveAsync<T>(engine: Engine, steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await activateAsync(engine, value);
  }
}

let queue: Promise<unknown> = Promise.resolve();
/** The engine of the asynchronous exploration that is under way. */
let active: Engine | null = null;
/** Whether an exploration is on the stack. */
let within = false;
/** Whether agents that an exploration gave up may have left reactions. */
let loose = false;

/** Does `work` on a program. Asynchronous code makes it return a promise. */
export function explore<T>(
  scenario: Scenario,
  program: Program,
  o: Options,
  work: Work<T>,
): T | Promise<T> {
  mustFit(scenario, o);
  if (!scenario.async) {
    const done = exploreNow(scenario, program, o, work);
    if (!scenario.async) return done as T;
  }
  if (active !== null) active.asksAgain = active.running;
  const turn = queue.then(() => workAsync(scenario, program, o, work));
  queue = turn.catch(() => {});
  return turn;
}

/** Throws if a scenario cannot be explored with these options, or not now. */
function mustFit(scenario: Scenario, o: Options): void {
  const lockFree = [...scenario.operations.values()]
    .some((operation) => operation.lockFree);
  if (o.primitives === "atomic" && lockFree) {
    throw new TypeError(
      'The option "primitives" cannot be given with operations that are ' +
        "lockFree: it lets no agent stop within an operation of a primitive",
    );
  }
  // The end of an inner one would put the real globals back.
  if (within || active?.calls === true) throw new Misuse(INNER);
}

/**
 * Does `work` at once. If operations turn out to be asynchronous, the scenario
 * says so then, and there is no result.
 */
export function exploreNow<T>(
  scenario: Scenario,
  program: Program,
  o: Options,
  work: Work<T>,
): T | undefined {
  mustFit(scenario, o);
  if (active !== null) {
    throw new Error(
      "Another exploration is under way: await it before the next",
    );
  }
  for (;;) {
    within = true;
    try {
      const engine = engineFor(scenario, program, o);
      return new Stage(engine, work(engine)).play();
    } catch (error) {
      if (error instanceof StatefulHandle) continue;
      if (error instanceof NotConstant) continue;
      if (!(error instanceof NeedsAsync)) throw error;
      scenario.async = loose = true;
      return undefined;
    } finally {
      close(scenario, program);
      // What is left to promises still uses its memory.
      if (scenario.async) engines.delete(scenario);
      within = false;
    }
  }
}

async function workAsync<T>(
  scenario: Scenario,
  program: Program,
  o: Options,
  work: Work<T>,
): Promise<T> {
  const release = rejections();
  if (loose) await settled();
  loose = false;
  // Handles cannot be compared while promises are pending.
  scenario.stateless ??= false;
  try {
    for (;;) {
      try {
        within = true; // the user's memory() and agent() are on the stack
        try {
          active = engineFor(scenario, program, o);
        } finally {
          within = false;
        }
        return await driveAsync(active, work(active));
      } catch (error) {
        if (!(error instanceof NotConstant)) throw error;
      } finally {
        close(scenario, program);
      }
    }
  } finally {
    release();
    active = null;
  }
}

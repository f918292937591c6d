/**
 * One execution, from the start to its end.
 *
 * @module
 */
import { Choices, choices } from "../../engine/step/choices.ts";
import * as k from "../../engine/kinds.ts";
import type { Fault } from "../../engine/kinds.ts";
import type { Chooser, Operations } from "../../engine/step/operations.ts";
import type { Engine, Steps } from "../../engine/step/replay.ts";
import { apply, begin } from "../../engine/step/steps.ts";
import { judgeEnd, judgeLockFree, judgeQuiet } from "../../judge/progress.ts";
import { failLivelock, FAIR } from "../../judge/fair.ts";
import type { SearchOptions } from "./task.ts";

/** The choices in the present state. */
const here = new Choices();
/** The same, for choosers. */
const scratch = new Choices();

/**
 * Gives each agent a turn of `turn` steps, after `lead` turns of one step each.
 * The short turns bring out agents that chase each other.
 */
export class Rotation implements Chooser {
  readonly #turn: number;
  #lead: number;
  #last = 0;
  #left: number;

  /** Turns of `turn` steps, after `lead` of one step. */
  constructor(turn: number, lead: number) {
    this.#turn = turn;
    this.#lead = lead;
    this.#left = this.#length();
  }

  #length(): number {
    return this.#lead-- > 0 ? 1 : this.#turn;
  }

  /** A choice. */
  choose(engine: Operations): number {
    const { count, live, codes: all } = refill(scratch, engine);
    if (count === 0) return k.END;
    const codes = all.subarray(0, live === 0 ? count : live);
    const mine = codes.find((code) => k.agentOf(code) === this.#last);
    if (mine !== undefined && this.#left-- > 0) return mine;
    this.#left = this.#length() - 1;
    const next = codes.find((code) => k.agentOf(code) > this.#last) ??
      codes[0]!;
    this.#last = k.agentOf(next);
    return next;
  }
}

/**
 * Follows a given schedule as far as possible and leaves out impossible steps.
 * Then the agent that runs goes on until it cannot.
 */
export class Loose implements Chooser {
  readonly #codes: readonly number[];
  #at = 0;
  #last = 0;

  /** The schedule `codes`. */
  constructor(codes: readonly number[]) {
    this.#codes = codes;
  }

  /** The next possible step of the schedule. */
  choose(engine: Operations): number {
    const { count, live } = refill(scratch, engine);
    if (count === 0) return k.END;
    while (this.#at < this.#codes.length) {
      const code = this.#codes[this.#at++]!;
      if (!scratch.has(code)) continue;
      this.#last = k.agentOf(code);
      return code;
    }
    const codes = [...scratch.codes.subarray(0, live)];
    if (codes.length === 0) return scratch.codes[0]!;
    const next = codes.find((code) => k.agentOf(code) === this.#last) ??
      codes[0]!;
    this.#last = k.agentOf(next);
    return next;
  }
}

/** Fills `to` with the choices there are. */
export function refill(to: Choices, engine: Operations): Choices {
  choices(engine, to);
  return to;
}

/** Follows a given schedule exactly. */
export class Fixed implements Chooser {
  #at = 0;
  readonly #codes: readonly number[];

  /** The schedule `codes`. */
  constructor(codes: readonly number[]) {
    this.#codes = codes;
  }

  /** How many steps are not done yet. */
  get left(): number {
    return Math.max(0, this.#codes.length - this.#at);
  }

  /** The next step of the schedule. */
  choose(): number {
    return this.#codes[this.#at++] ?? k.END;
  }
}

/** The options that say what an execution is checked for. */
export type RunOptions = Pick<
  SearchOptions,
  "lockFree" | "rescue" | "looks" | "polls" | "onEnd"
>;

/** One execution, from the start to its end. */
export function* run(
  engine: Engine,
  chooser: Chooser,
  o: RunOptions,
): Steps<Fault | null> {
  const { world } = engine;
  const fixed = chooser instanceof Fixed;
  if (world.hints !== null) world.hints.reduces = false;
  const rotation = new Rotation(1, 0);
  engine.chooser = chooser;
  engine.overdue = (agent) => {
    if (agent.effort > engine.maxSteps * FAIR) failLivelock(engine, agent);
    // From now on every agent gets its turns; perhaps then the call ends.
    else if (!fixed) engine.chooser = rotation;
  };
  yield* begin(engine);
  for (let step = 0; world.fault === null; step++) {
    if (!fixed && (engine.late || engine.isLate(step))) break;
    let code = engine.next;
    engine.next = k.END;
    if (code === k.END) {
      if (choices(engine, here) === 0) {
        judgeQuiet(engine, o);
        if (world.fault !== null) break;
      }
      code = engine.chooser.choose(engine);
    }
    if (code < 0) break;
    if (fixed) mustBePossible(engine, code);
    yield* apply(engine, code, true);
    if (o.lockFree !== "no" && world.fault === null) {
      judgeLockFree(engine, o.lockFree === "all");
    }
  }
  // Where states are one, an agent may have taken more steps than were counted.
  const isLong = world.fault?.kind === "livelock";
  if (chooser instanceof Fixed && chooser.left > 0 && !isLong) {
    throw new Impossible(
      `Cannot replay the schedule: it goes on for ${chooser.left} ` +
        `${chooser.left === 1 ? "step" : "steps"} after ` +
        (world.fault === null ? "its end" : `"${world.fault.kind}"`),
    );
  }
  if (world.fault === null && choices(engine, here) === 0) {
    if (here.over) {
      judgeEnd(engine);
      o.onEnd?.(engine);
    }
  }
  return world.fault;
}

/** Thrown for a schedule that cannot be followed. */
export class Impossible extends RangeError {}

/** Throws if `code` is impossible now: a user's schedule may be wrong. */
function mustBePossible(engine: Engine, code: number): void {
  const { world: { agents, schedule }, spins } = engine;
  choices(engine, here);
  if (here.has(code)) return;
  const agent = agents[k.agentOf(code)];
  const { status, kind } = agent ?? {};
  const looks = spins.looks && status === k.SPINNING && kind !== k.CLOCK;
  const goes = status === k.READY || looks;
  if (k.actionOf(code) === k.STEP && goes) return;
  const why = agent === undefined
    ? `there is no agent ${k.agentOf(code)}`
    : k.actionOf(code) === k.STEP
    ? `agent ${agent.id} ${DOES[agent.status] ?? "cannot go on"}`
    : "nothing of this kind can happen then";
  throw new Impossible(
    `Cannot replay the schedule: step ${schedule.length + 1}, ` +
      `"${k.scheduleText([code])}", is not possible: ${why}`,
  );
}

/** Why an agent takes no step, by its status. */
const DOES: Readonly<Record<number, string>> = {
  [k.BLOCKED]: "sleeps",
  [k.SPINNING]: "spins until a word changes",
  [k.DONE]: "is done",
  [k.KILLED]: "was terminated",
  [k.IDLE]: "awaits something",
};

/**
 * Says what a search came to: whether it is complete, and which bounds left
 * something out.
 *
 * @module
 */
import { ONE_BY_ONE, ROUNDS } from "../engine/step/loops/ahead.ts";
import { FIRES } from "../engine/step/loops/alone.ts";
import { STALE_READS } from "../engine/step/choices.ts";
import type { World } from "../engine/state/core.ts";
import type { Engine } from "../engine/step/replay.ts";
import type { Failure, Options, Result } from "../report/result.ts";
import { DEPTH } from "./runs/sample.ts";
import { COMPARE, type Found } from "./runs/task.ts";

/** The most milliseconds of a search, if the options do not say it. */
export const TIME = 20_000;

/** As in `1 state`, `2 states`. */
export const counted = (n: number, what: string, plural = "s"): string =>
  `${n} ${what}${n === 1 ? "" : plural}`;

/** How often something unusual may happen; `many` times if it just may. */
export const times = (
  value: boolean | number | undefined,
  many: number,
): number => value === true ? many : value === false ? 0 : value ?? 0;

/** The result of a search that left out no state. */
export function covered(engine: Engine, o: Options, total: Found): Result {
  const { held, sleepless, leapt, spins, believed } = engine;
  const states = counted(total.states, "state");
  const bounds = boundsOf(engine, o, total);
  if (leapt.size > 0) {
    return resultOf(
      { ...total, complete: false },
      `not complete: ${states}, and a loop of more than ${ONE_BY_ONE} ` +
        `operations of which only the beginning and the end were explored`,
      bounds,
    );
  }
  if (spins.limit < Infinity) {
    return resultOf(
      { ...total, complete: false },
      `not complete: ${states}, and a loop that counts its rounds: only the ` +
        `first ${spins.limit} were told apart`,
      bounds,
    );
  }
  const note = !held && !sleepless ? "" : `; such loops count as endless` +
    (!held
      ? ""
      : engine.scenario.async
      ? `, and only their first ${ROUNDS - 1} rounds are told apart`
      : ", and how often they go round is tried, not proven");
  const [belief, runs] = engine.drops.used
    ? ["agents keep no more than they say", engine.tried]
    : [believed > 0 ? "loops remember nothing" : undefined, believed];
  const others = bounds.filter((bound) => bound !== FORGETFUL);
  const most = upTo(others);
  const given = belief && `${most && ","} if ${belief}`;
  const tries = belief && `; ${runs} runs found none that does`;
  const summary = `complete${most}${given ?? ""}: ${states}` +
    `${wholeText(engine)}${tries ?? ""}${note}`;
  return resultOf(total, summary, bounds);
}

/** Which operations were one step, as far as that was asked for. */
function wholeText({ whole: { kinds, opened } }: Engine): string {
  const mixed = opened.size > 0;
  if (kinds.size === 0) {
    return mixed ? ", with primitives step by step: see the reference" : "";
  }
  return `, with operations of ${[...kinds].sort().join(", ")} as one step ` +
    `each${mixed ? ", where no other code uses their words" : ""}`;
}

/** The ways of sampling, in words. */
const WAYS = {
  random: "at random",
  order: "by partial order sampling",
  pct: "by PCT",
} as const;

/** The result of a search from a schedule on that left something out. */
export function begunOnly(engine: Engine, o: Options, total: Found): Result {
  const states = counted(total.states, "state");
  const bounds = boundsOf(engine, o, total);
  return resultOf(total, `not complete: the first ${states}`, bounds);
}

/**
 * The result of a search that left something out, and then of `ran` samples.
 */
export function sampled(
  engine: Engine,
  o: Options,
  total: Found,
  ran: number,
  isLate: boolean,
): Result {
  const seconds = counted((o.time ?? TIME) / 1000, "second");
  const late = isLate ? ` in ${seconds}` : "";
  const { limits } = total;
  const why = [
    ...limits.includes("time") ? [`, for which the search had ${seconds}`] : [],
    ...limits.includes("steps")
      ? [`; calls were followed for ${engine.maxSteps} steps`]
      : [],
  ];
  const bounds = boundsOf(engine, o, total);
  const others = bounds.filter((bound) =>
    !/^[\d.]+ (state|second)/.test(bound)
  );
  const { preemptions } = total;
  const bounded = preemptions < 0
    ? ""
    : `; complete up to ${counted(preemptions, "preemption")}`;
  const first = o.sample === undefined
    ? `, after the first ${counted(total.states, "state")}`
    : `, ${WAYS[o.sample]}` +
      (o.sample === "pct" ? ` of depth ${o.depth ?? DEPTH}` : "");
  return resultOf(
    total,
    `sampled${upTo(others)}: ${counted(ran, "execution")}${late}${first}` +
      `${why.join("")}${bounded}${wholeText(engine)}`,
    bounds,
  );
}

/** The bound of a search that nobody has asked for. */
const FORGETFUL = "loops that remember nothing";

const upTo = (bounds: readonly string[]): string =>
  bounds.length === 0 ? "" : ` up to ${bounds.join(", ")}`;

/** The bounds that left something out, as text. */
function boundsOf(engine: Engine, o: Options, { limits }: Found): string[] {
  const { held, sleepless, leapt, endless, spins, maxSteps, hurried } = engine;
  const { cuts } = engine.world;
  const timeouts = times(o.timeouts ?? true, 2);
  const spurious = times(o.spurious, 1);
  const seconds = counted((o.time ?? TIME) / 1000, "second");
  return [
    ...limits.includes("states")
      ? [counted(o.states ?? COMPARE.states, "state")]
      : [],
    ...limits.includes("time") ? [seconds] : [],
    ...hurried && limits.length > 0 ? ["the time to compare agents"] : [],
    ...limits.includes("steps")
      ? [`${counted(maxSteps, "step")} of a call`]
      : [],
    ...cuts.timeouts ? [counted(timeouts, "timeout")] : [],
    ...cuts.spurious ? [counted(spurious, "spurious wake")] : [],
    ...cuts.kills ? ["1 terminated agent"] : [],
    ...cuts.stale ? [`${STALE_READS} old values read in a call`] : [],
    ...leapt.size > 0 ? [`the ends of loops of ${ONE_BY_ONE} operations`] : [],
    ...spins.limit < Infinity ? [`${spins.limit} rounds of a loop`] : [],
    ...engine.believed > 0 && o.memoryless !== true ? [FORGETFUL] : [],
    ...cuts.intervals ? ["intervals that outlive their calls"] : [],
    ...held ? [`loops of ${endless} operations`] : [],
    ...sleepless ? [`loops of ${FIRES} timeouts`] : [],
  ];
}

/** Nothing was searched yet. */
export const nothing = ({ fault, schedule }: World): Found => ({
  fault,
  schedule,
  complete: true,
  limits: [],
  states: 0,
  executions: 0,
  steps: 0,
  maxOpSteps: 0,
  preemptions: -1,
});

/** Both together. */
export const sum = (a: Found, b: Found): Found => ({
  fault: b.fault,
  schedule: b.schedule,
  complete: a.complete && b.complete,
  limits: [...new Set([...a.limits, ...b.limits])],
  states: a.states + b.states,
  executions: a.executions + b.executions,
  steps: a.steps + b.steps,
  maxOpSteps: Math.max(a.maxOpSteps, b.maxOpSteps),
  preemptions: -1,
});

/** The result of what was found. */
export function resultOf(
  found: Found,
  summary: string,
  bounds: readonly string[] = [],
  failure?: Failure,
): Result {
  const { complete, states, executions, steps, maxOpSteps } = found;
  const { preemptions } = found;
  return {
    ok: failure === undefined,
    complete: complete && failure === undefined,
    bounds,
    ...preemptions >= 0 && failure === undefined && { preemptions },
    states,
    executions,
    steps,
    maxOpSteps,
    summary,
    ...failure && { failure },
  };
}

/** What a search says of the failure that it found. */
export const faultOf = (
  { fault, schedule }: Pick<Found, "fault" | "schedule">,
): Pick<Found, "fault" | "schedule"> => ({
  fault,
  schedule,
});

// limit: 300 s
// The same scenario of the header and of TypeScript has as many states: they
// do the same, step by step. Where not, it is said here why.
import * as k from "../race/kinds.ts";
import { race } from "../race/mod.ts";
import { Engine } from "../race/replay.ts";
import { suite } from "./harness.ts";
import { scenariosOf, STEMS } from "./mixed/explore.ts";
import type { Scenario } from "./scenarios/_scenario.ts";

const test = suite("weft.h as TypeScript, step by step", 60_000);

const TRIES_AGAIN = "TypeScript tries once more before it sleeps: its slow " +
  "path is that of the async form, too";

/** Where one side takes steps that the other does not. */
const WHY: Readonly<Record<string, string>> = {
  rw_lock: "a reader that is let in loads the state once more in TypeScript, " +
    "to see whether a writer was abandoned",
  semaphore: TRIES_AGAIN,
  once: "C looks whether it is done before it tries to be the one; a view in " +
    "TypeScript remembers that it was",
  spsc_queue: TRIES_AGAIN,
  mpmc_queue: `${TRIES_AGAIN}; a view remembers the ticket that it reserved, ` +
    "which C loads from the slot",
  lock_free_queue: TRIES_AGAIN,
  record_ring: `${TRIES_AGAIN}; a view remembers what it reserved`,
  broadcast: "a subscription in TypeScript sees whether its seat is its own " +
    "before it pops",
  channel: "TypeScript reads a record's length once more when it takes it",
  call_ring: `${TRIES_AGAIN}; where servers look first is a word of the ring ` +
    "in C, and in TypeScript each view's own",
  work_deque: "C loads top at each push, where TypeScript remembers one",
  counter: "a view in TypeScript knows how many stripes there are",
};
/**
 * C knows no hints: what TypeScript reads plainly, where an exchange checks it,
 * is an atomic load in wasm. Here it is in TypeScript, too.
 */
let isHint: ((address: number) => boolean) | null = null;
const { operate } = Engine.prototype;
Engine.prototype.operate = function (kind, target, index, a, b, timeout) {
  const hint = kind === k.READ && target !== null && isHint !== null &&
    isHint(target.base + index * target.size);
  return operate.call(this, hint ? k.LOAD : kind, target, index, a, b, timeout);
};

/** How many states there are; nothing if they are too many. */
function statesOf({ spec, agents, options }: Scenario): number | undefined {
  const { hints: _, ...definition } = spec.definition;
  isHint = spec.scenario.hints;
  try {
    const result = race.check(race.spec(definition), ...agents, {
      ...options,
      states: 5_000,
      races: false,
      runs: 0,
    });
    if (result instanceof Promise) throw new Error("it awaits");
    if (result.failure !== undefined) throw new Error(result.failure.message);
    return result.complete ? result.states : undefined;
  } finally {
    isHint = null;
  }
}

let compared = 0;
for (const stem of STEMS) {
  test(stem, () => {
    const theirs = scenariosOf("C+C", [stem]);
    const differences: string[] = [];
    scenariosOf("JS+JS", [stem]).forEach(([, scenario], i) => {
      if (scenario.sampled) return;
      const here = statesOf(scenario);
      const there = statesOf(theirs[i]![1]);
      if (here === undefined || there === undefined) return;
      compared++;
      if (here === there) return;
      differences.push(`${scenario.name}: TypeScript ${here}, C ${there}`);
    });
    const expected = stem in WHY;
    if (expected === differences.length > 0) return;
    throw new Error(
      expected
        ? `there is no difference left that "${WHY[stem]}" would explain`
        : differences.join("\n"),
    );
  });
}

test("most scenarios are compared", () => {
  if (compared < 80) throw new Error(`${compared} were`);
});

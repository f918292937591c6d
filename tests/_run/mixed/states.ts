// limit: 1800 s
// A scenario has as many states in C as in TypeScript: both take the same steps.
// Where they do not, the scenario's `differs` says why.
import * as k from "../../../race/engine/kinds.ts";
import { race } from "../../../race/mod.ts";
import { Engine } from "../../../race/engine/replay.ts";
import { thisFolder } from "../folders.ts";
import { suite } from "../harness.ts";
import { scenariosOf } from "../mixed/explore.ts";
import type { Scenario } from "../scenario.ts";

/** Only a hanging test takes this long: the machine may be busy. */
const LIMIT = 900_000;

const folder = thisFolder();
const test = suite(`${folder}, C as TypeScript, step by step`, LIMIT);

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
      states: 6_000,
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

test(`scenarios of ${folder} have as many states in C`, async () => {
  const theirs = await scenariosOf("C+C", folder);
  const wrong: string[] = [];
  let compared = 0;
  (await scenariosOf("JS+JS", folder)).forEach((scenario, i) => {
    const { name, differs, sampled } = scenario;
    if (sampled) {
      if (differs !== undefined) wrong.push(`${name}: not compared`);
      return;
    }
    const here = statesOf(scenario);
    const there = here && statesOf(theirs[i]!);
    if (here === undefined || there === undefined) {
      if (differs !== undefined) wrong.push(`${name}: not compared`);
      return;
    }
    compared++;
    if (here !== there && differs === undefined) {
      wrong.push(`${name}: TypeScript ${here}, C ${there}`);
    } else if (here === there && differs !== undefined) {
      wrong.push(`${name}: no difference that "${differs}" would explain`);
    }
  });
  if (compared === 0) wrong.push("no scenario was compared");
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
});

/**
 * Compares what explorations say with and without each reduction, on the
 * corpus, on scenarios and on mutants: `deno task race --compare`.
 *
 * @module
 */
import type { Options, Reduction, Result } from "../../race/mod.ts";
import { race } from "../../race/mod.ts";
import { COMPARE } from "../../race/explore/task.ts";
import { BUGS } from "../race/corpus/bugs.ts";
import { FAMILIES } from "../race/corpus/families.ts";
import { load } from "../race/corpus/load.ts";
import { foldersWith } from "./folders.ts";
import { loadWeft } from "./mutant.ts";
import { judge, mutantsOf } from "./mutants.ts";
import { LOOKS, scenariosIn } from "./scenario.ts";
import { weft } from "./weft.ts";

/**
 * A reduction; `true` stands for all of them, "late" for all but "unused". With
 * "memoryless", loops are promised to remember nothing, and all are used.
 */
export type Way = true | Reduction | "late" | "memoryless";

/** All reductions together, those of most searches, and each alone. */
export const WAYS: readonly Way[] = [
  true,
  "late",
  "order",
  "groups",
  "alike",
  "unused",
  "remembered",
  "memoryless",
];

/** Explores one program. */
export type Check = (options: Options) => Result | Promise<Result>;

/** Explores with agents that are compared from the state `after` on. */
async function comparing(
  after: number,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const usual = { ...COMPARE };
  Object.assign(COMPARE, { after, patience: Infinity, learn: 1 });
  try {
    return await work();
  } finally {
    Object.assign(COMPARE, usual);
  }
}

/** Whether an exploration came to a verdict within its limits. */
const decided = ({ ok, complete }: Result): boolean => !ok || complete;

const isRace = ({ failure }: Result): boolean => failure?.kind === "data-race";

/**
 * Compares explorations of one program that visit at most `states` states with
 * a reduction, and four times as many without. Returns how many were compared,
 * and the first reduction by which the verdict is another one. A program with a
 * data race may also be wrong in another way, and each search may find another
 * failure first; then the other failures are compared.
 */
export async function compare(
  check: Check,
  states: number,
  ways: readonly Way[] = WAYS,
): Promise<[compared: number, different?: string]> {
  let compared = 0;
  const run = (way: false | Way, races?: false) =>
    comparing(way === "late" ? Infinity : 1, () =>
      check({
        states: way === false ? 4 * states : states,
        runs: 0,
        lines: false,
        reduce: way === "late" || way === "memoryless" || way,
        memoryless: way === "memoryless",
        ...races === false && { races },
      }));
  const plain = await run(false);
  if (!decided(plain)) return [0];
  for (const way of ways) {
    let [one, other] = [await run(way), plain];
    if (!decided(one)) continue;
    compared++;
    if (!one.ok && !other.ok && isRace(one) !== isRace(other)) {
      [one, other] = [await run(way, false), await run(false, false)];
      if (!decided(one) || !decided(other)) continue;
    }
    const [mine, theirs] = [one.failure?.kind, other.failure?.kind];
    if (one.ok === other.ok && mine === theirs) continue;
    return [compared, `${way}: ${mine ?? "ok"}, without: ${theirs ?? "ok"}`];
  }
  return [compared];
}

/** Programs with their names. */
type Programs = AsyncGenerator<readonly [name: string, check: Check]>;

/** Programs of the corpus: right ones, and those with `bugs`. */
export async function* corpus(bugs: typeof BUGS = BUGS): Programs {
  for (const bug of [undefined, ...bugs]) {
    const module = await load(bug);
    for (const [family, cases] of Object.entries(FAMILIES)) {
      if (bug !== undefined && bug.family !== family) continue;
      for (const { name, spec, program, options } of cases(module)) {
        const title = `corpus: ${bug?.id ?? "right"}, ${family} ${name}`;
        yield [
          title,
          (o) => race.check(spec, ...program, { ...options, ...o }) as Result,
        ];
      }
    }
  }
}

async function* scenarios(
  stems: readonly string[] = foldersWith("scenarios.ts"),
): Programs {
  for (const stem of stems) {
    for (const one of (await scenariosIn(stem))(weft)) {
      const { name, spec, agents, options, deep } = one;
      if (deep) continue;
      const usual = { looks: LOOKS, polls: false, ...options };
      yield [
        `${stem}: ${name}`,
        (o) => race.check(spec, ...agents, { ...usual, ...o }),
      ];
    }
  }
}

/**
 * Mutants, each in the scenario that finds it: of each of `stems` the first
 * `most` ones whose names contain `filter`.
 */
export async function* mutants(
  stems: readonly string[] = foldersWith("mutants.ts"),
  most = Infinity,
  filter = "",
): Programs {
  for (const stem of stems) {
    for (const mutant of (await mutantsOf(stem, "ts")).slice(0, most)) {
      const name = `mutant: ${stem}, ${mutant.what}`;
      if (!name.includes(filter)) continue;
      const { by } = await judge(mutant, true);
      if (by === undefined) continue;
      const [folder, ...words] = by.split(": ");
      const all = (await scenariosIn(folder!))(await loadWeft(mutant));
      const { spec, agents, options } = all.find(({ name }) =>
        name === words.join(": ")
      )!;
      const usual = { looks: LOOKS, polls: false, ...options };
      yield [
        name,
        (o) => race.check(spec, ...agents, { ...usual, ...o }),
      ];
    }
  }
}

/**
 * Compares all programs whose names contain `filter`, or the scenarios and
 * mutants of the stem `filter`; says what it found.
 */
export async function compareAll(filter: string): Promise<boolean> {
  let right = true;
  const stems = foldersWith("mutants.ts").filter((stem) => stem === filter);
  const all: [what: string, programs: Programs, states: number][] =
    stems.length > 0
      ? [
        ["scenarios", scenarios(stems), 2_000],
        ["mutants", mutants(stems), 3_000],
      ]
      : [
        ["corpus", corpus(), 3_000],
        ["scenarios", scenarios(), 2_000],
        ["mutants", mutants(undefined, undefined, filter), 3_000],
      ];
  for (const [what, programs, states] of all) {
    let [count, searches, wrong] = [0, 0, 0];
    const begin = performance.now();
    for await (const [name, check] of programs) {
      if (stems.length === 0 && !name.includes(filter)) continue;
      const [compared, different] = await compare(check, states);
      if (compared > 0) count++;
      searches += compared;
      if (different === undefined) continue;
      wrong++;
      console.log(`FAIL ${name}: ${different}`);
    }
    const s = Math.round((performance.now() - begin) / 1000);
    console.log(
      `${what}: ${count} programs, ${searches} searches compared, ${wrong} ` +
        `different, ${s} s`,
    );
    right &&= wrong === 0;
  }
  return right;
}

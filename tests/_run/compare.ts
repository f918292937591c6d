/**
 * Compares what explorations say with and without each reduction, on the
 * corpus, on random programs, on scenarios and on mutants:
 * `deno task race --compare`.
 *
 * @module
 */
import process from "node:process";
import type { Options, Result } from "../../race/mod.ts";
import { race } from "../../race/mod.ts";
import { BUGS } from "../race/corpus/bugs.ts";
import { FAMILIES } from "../race/corpus/families.ts";
import { load } from "../race/corpus/load.ts";
import { compareRandom, randomPrograms } from "../race/corpus/random.ts";
import { foldersWith } from "./folders.ts";
import { loadWeft } from "./mutant.ts";
import { judge, mutantsOf } from "./mutants.ts";
import { LOOKS, scenariosIn } from "./scenario.ts";
import { comparing, decided, type Way, WAYS } from "./ways.ts";
import { weft } from "./weft.ts";

/** Explores one program. */
export type Check = (options: Options) => Result | Promise<Result>;

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
      const { name, spec, agents, options } = one;
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

/** What is compared: programs, and how one of them is. */
interface Part {
  readonly what: string;
  readonly comparisons: AsyncGenerator<
    readonly [name: string, compare: () => ReturnType<typeof compare>]
  >;
}

/** Compares programs whose names contain `filter`, up to `states` states. */
async function* comparisons(
  programs: Programs,
  states: number,
  filter = "",
): Part["comparisons"] {
  for await (const [name, check] of programs) {
    if (name.includes(filter)) yield [name, () => compare(check, states)];
  }
}

/** Compares so many random programs, with hints or without. */
async function* random(count: number, hints: boolean): Part["comparisons"] {
  for (const [at, program] of randomPrograms(count, 2, hints).entries()) {
    yield [`random ${at}`, () => compareRandom(program, 1_000)];
  }
}

/** The parts that `filter` names: a stem, "random", or words of a name. */
function* partsOf(filter: string): Generator<Part> {
  const stems = foldersWith("mutants.ts").filter((stem) => stem === filter);
  const some = stems.length > 0 ? stems : undefined;
  const words = some ? "" : filter;
  const count = Number(process.env.WEFT_PROGRAMS ?? 1000);
  if (filter === "" || filter === "random") {
    yield { what: "random programs", comparisons: random(count, false) };
  }
  if (filter === "" || filter === "random" || filter === "hints") {
    const what = "random programs with hints";
    yield { what, comparisons: random(count, true) };
  }
  if (filter === "random" || filter === "hints") return;
  if (!some) {
    const comparisonsOf = comparisons(corpus(), 3_000, words);
    yield { what: "corpus", comparisons: comparisonsOf };
  }
  yield {
    what: "scenarios",
    comparisons: comparisons(scenarios(some), 2_000, words),
  };
  yield {
    what: "mutants",
    comparisons: comparisons(mutants(some, undefined, words), 3_000),
  };
}

/**
 * Compares all programs whose names contain `filter`, the random ones, or the
 * scenarios and mutants of the stem `filter`; says what it found.
 */
export async function compareAll(filter: string): Promise<boolean> {
  let right = true;
  for (const { what, comparisons } of partsOf(filter)) {
    let [count, searches, wrong] = [0, 0, 0];
    const begin = performance.now();
    for await (const [name, compare] of comparisons) {
      const [compared, different] = await compare();
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

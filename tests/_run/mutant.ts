/**
 * Mutants: one mistake, made in the TypeScript and in the C of a primitive.
 * Nothing is written to the sources: `edits.ts` edits them.
 *
 * @module
 */
import * as esbuild from "esbuild";
import { amalgamation } from "../../wasm/_amalgamation.ts";
import {
  changesOf,
  edited,
  editedSource,
  type Edits,
  fileOf,
  type None,
} from "./edits.ts";
import { headerFiles } from "./header.ts";
import { Sources } from "./realm.ts";
import { MODULES, type Modules, tellNothing, type Weft } from "./scenario.ts";

export { changesOf, none } from "./edits.ts";

/** A mistake. */
export interface Row {
  /** What the mistake is. */
  readonly what: string;
  /** The edits of the TypeScript, or why it has none. */
  readonly ts: Edits | None;
  /**
   * The edits of the C, or why it has none; an equivalent one needs neither.
   */
  readonly c?: Edits | None;
  /** The C file, if it is not that of the list: see {@linkcode Place}. */
  readonly header?: string;
  /**
   * The name of the scenario that finds it; in C it is explored first. Of an
   * equivalent one, that which would find it: `--all` explores the others, too.
   */
  readonly by?: string;
  /** The name of the scenario that finds it in C, if that is another one. */
  readonly inC?: string;
  /** Why no scenario can observe the mistake. */
  readonly equivalent?: string;
}

/**
 * The file in which a list of mistakes is made, and the scenarios that notice.
 */
export interface Place {
  /** The file in `primitives/`, without `.ts`. */
  readonly source: string;
  /**
   * The file in `wasm/weft/`, without `.h`. Unless said, that of `_room/x` is
   * `_x`, that of `tools/x` is `x`, and all others have the same name.
   */
  readonly header?: string;
  /** The folders of `tests/` whose scenarios notice. */
  readonly scenarios: readonly string[];
}

/** A mistake, and the file in which it is made. */
export interface Mutant extends Omit<Row, "header">, Required<Place> {}

/** A list of mistakes in the file `place`, or in several of them. */
export function mutants(place: string | Place, ...rows: Row[]): Mutant[] {
  const { source, header = headerOfModule(source), scenarios } =
    typeof place === "string" ? { source: place, scenarios: [place] } : place;
  return rows.map((row) => ({ header, ...row, source, scenarios }));
}

/** The header that has the C twin of the module `source`. */
const headerOfModule = (source: string) =>
  source.replace(/^_\w+\//, "_").replace(/^tools\//, "");

/** All headers, which do not change while this process runs. */
let headers: Readonly<Record<string, string>> | undefined;

/** The header of each stem and those it includes as one. */
const ofStem = new Map<string, string>();

/** The header of `stem` and those it includes as one. */
export function headerOf(stem: string): string {
  let text = ofStem.get(stem);
  if (text === undefined) ofStem.set(stem, text = headerWith(stem, {}));
  return text;
}

/** The same, where some of them are changed. */
function headerWith(
  stem: string,
  changed: Readonly<Record<string, string>>,
): string {
  headers ??= headerFiles();
  const outer = `#include "weft/${stem}.h"\n\n`;
  return amalgamation({ ...headers, ...changed, "weft.h": outer });
}

/**
 * The header of `stem` and those it includes as one, with the mistake in it.
 */
export function mutatedHeader({ header, c }: Mutant, stem: string): string {
  const name = `weft/${header}.h`;
  const files = headers ??= headerFiles();
  if (!(name in files)) throw new Error(`there is no ${name}`);
  // A line of a macro ends in a backslash.
  const text = edited(name, files[name]!, c as Edits, "(?:\\s|\\\\\\n)+");
  const whole = headerWith(stem, { [name]: text });
  if (whole === headerOf(stem)) {
    throw new Error(`weft/${stem}.h does not include ${name}`);
  }
  return whole;
}

/** The mistake in one of the languages, as a difference of texts. */
export function diffOf(mutant: Mutant, language: "ts" | "c"): string {
  const file = language === "ts"
    ? `primitives/${mutant.source}.ts`
    : `wasm/weft/${mutant.header}.h`;
  const marked = (text: string, mark: string) =>
    text.split("\n").map((line) => `  ${mark} ${line}`);
  return [
    `${file}: ${mutant.what}`,
    ...(changesOf(mutant[language]) ?? []).flatMap(([from, to]) => [
      ...marked(from, "-"),
      ...marked(to, "+"),
    ]),
  ].join("\n");
}

const sources = await Sources.of<Modules>(MODULES);

/** The library with a mistake in it, if one is given. */
export async function loadWeft(mutant?: Mutant): Promise<Weft> {
  const changed = mutant === undefined ? sources : await sources.with(
    fileOf(mutant.source),
    editedSource(mutant.source, mutant.ts as Edits),
  );
  return {
    ...tellNothing(changed.evaluated()),
    realm: () => tellNothing(changed.realm()),
    renewed: (agent) => tellNothing(changed.renewed(agent)),
  };
}

/** Ends the compiler that {@linkcode loadWeft} started. */
export async function unload(): Promise<void> {
  await esbuild.stop();
}

/**
 * Mutants: the library with one mistake in it, put there on the fly. Nothing
 * is written: sources are edited on their way into a bundle, of which fresh
 * instances can be made.
 *
 * @module
 */
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import type { Modules, Weft } from "./scenario.ts";

/** Text that stands once in a source, and what to put there instead. */
export type Edit = readonly [from: string, to: string];

/** A mistake in a source of `primitives/`. */
export interface Mutant {
  /** The source. */
  readonly file: string;
  /** What is wrong with it. */
  readonly what: string;
  /** White space in what they look for is any white space. */
  readonly edits: readonly Edit[];
  /** The scenario that is explored first: `"stem: name"`. */
  readonly by?: string;
  /** Why nothing that can be observed is wrong with it. */
  readonly equivalent?: string;
}

/** What a list of mutants says of each, besides the mistake. */
type More = Pick<Mutant, "by" | "equivalent"> & { readonly also?: Edit };

/** A list of mutants of one source. */
export function mutants(
  file: string,
  ...list: readonly [what: string, from: string, to: string, more?: More][]
): Mutant[] {
  return list.map(([what, from, to, { also, ...more } = {}]) => ({
    file,
    what,
    edits: also === undefined ? [[from, to]] : [[from, to], also],
    ...more,
  }));
}

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const PRIMITIVES = path.resolve(FOLDER, "../../primitives");

/** The source with the mistake in it. */
export function mutated({ file, edits }: Mutant): string {
  let text = fs.readFileSync(path.join(PRIMITIVES, file), "utf8");
  for (const [from, to] of edits) {
    const words = from.trim().split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const parts = text.split(new RegExp(words.join("\\s+")));
    if (parts.length !== 2) {
      throw new Error(`${file}: fits ${parts.length - 1} times: ${from}`);
    }
    text = parts.join(to);
  }
  return text;
}

/** The mistake as a difference of texts. */
export function diffOf({ file, what, edits }: Mutant): string {
  const marked = (text: string, mark: string) =>
    text.split("\n").map((line) => `  ${mark} ${line}`);
  return [
    `primitives/${file}: ${what}`,
    ...edits.flatMap(([from, to]) => [
      ...marked(from, "-"),
      ...marked(to, "+"),
    ]),
  ].join("\n");
}

let edited: { file: string; contents: string } | undefined;
let building: Promise<esbuild.BuildContext> | undefined;

/** Bundles again and again; what did not change is not parsed again. */
const builder = () =>
  building ??= esbuild.context({
    stdin: {
      contents: `export * as mod from "../../mod.ts";
        export * as spin from "../../primitives/_spin.ts";`,
      resolveDir: FOLDER,
    },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "exports",
    target: "esnext",
    logLevel: "silent",
    plugins: [{
      name: "mutant",
      setup: ({ onLoad }) =>
        onLoad(
          { filter: /[\\/]primitives[\\/]/ },
          (args) =>
            path.basename(args.path) === edited?.file
              ? { contents: edited.contents, loader: "ts" }
              : undefined,
        ),
    }],
  });

/** The library, with a mistake in it if one is given. */
export async function load(mutant?: Mutant): Promise<Weft> {
  edited = mutant && { file: mutant.file, contents: mutated(mutant) };
  const { outputFiles } = await (await builder()).rebuild();
  const realm = new Function(
    `${outputFiles![0]!.text}\nreturn exports;\n//# sourceURL=weft.js`,
  ) as () => Modules;
  return { ...realm(), realm };
}

/** Ends what `load` began. */
export async function unload(): Promise<void> {
  await (await building)?.dispose();
  building = undefined;
  await esbuild.stop();
}

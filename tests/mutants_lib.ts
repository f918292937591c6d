/**
 * Mutants: the library with one mistake in it, put there on the fly.
 *
 * @module
 */
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import type { Modules, Weft } from "./scenarios/_scenario.ts";

/** A mistake in a source of `primitives/`. */
export interface Mutant {
  /** The source. */
  readonly file: string;
  /** What is wrong with it. */
  readonly what: string;
  /** Text that occurs once in the source, and what stands there instead. */
  readonly from: string;
  readonly to: string;
  /** The scenario that is explored first: `"stem: name"`. */
  readonly by?: string;
  /** Why nothing that can be observed is wrong with it. */
  readonly equivalent?: string;
}

const TESTS = fileURLToPath(new URL(".", import.meta.url));
const PRIMITIVES = path.resolve(TESTS, "../primitives");
const ENTRIES = { mod: "../mod.ts", spin: "../primitives/_spin.ts" };

/** The source with the mistake in it. */
export function mutated({ file, from, to }: Mutant): string {
  const parts = fs.readFileSync(path.join(PRIMITIVES, file), "utf8")
    .split(from);
  if (parts.length === 2) return parts.join(to);
  throw new Error(`${file}: fits ${parts.length - 1} times: ${from}`);
}

/** The mistake as a difference of texts. */
export function diffOf({ file, what, from, to }: Mutant): string {
  const marked = (text: string, mark: string) =>
    text.split("\n").map((line) => `  ${mark} ${line}`);
  return [
    `primitives/${file}: ${what}`,
    ...marked(from, "-"),
    ...marked(to, "+"),
  ].join("\n");
}

let edited: { file: string; contents: string } | undefined;
let building: Promise<esbuild.BuildContext> | undefined;

/** Bundles again and again; what did not change is not read again. */
const builder = () =>
  building ??= esbuild.context({
    stdin: {
      contents: Object.entries(ENTRIES)
        .map(([name, url]) => `export * as ${name} from "${url}";`).join("\n"),
      resolveDir: TESTS,
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
        onLoad({ filter: /[\\/]primitives[\\/]/ }, (args) =>
          path.basename(args.path) === edited?.file
            ? { contents: edited.contents, loader: "ts" }
            : undefined),
    }],
  });

/** The library, with a mistake in it if one is given. */
export async function load(mutant?: Mutant): Promise<Weft> {
  edited = mutant && { file: mutant.file, contents: mutated(mutant) };
  const { outputFiles } = await (await builder()).rebuild();
  const text = outputFiles![0]!.text;
  const realm = new Function(
    `${text}\nreturn exports;\n//# sourceURL=weft.js`,
  ) as () => Modules;
  return { ...realm(), realm };
}

/** Ends what `load` began. */
export async function unload(): Promise<void> {
  await (await building)?.dispose();
  building = undefined;
  await esbuild.stop();
}

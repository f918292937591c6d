/**
 * The headers compiled for agents of the race tester.
 *
 * @module
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { race } from "../../../race/mod.ts";
import type { Wasm } from "../../../race/mod.ts";
import { wasmClang } from "../../../wasm/emcc.ts";
import { folders, foldersWith, TESTS } from "../folders.ts";
import { headerText } from "../header.ts";
import { imports } from "./twins.ts";
import { Variants } from "./variants.ts";

const AGENT = fileURLToPath(new URL("./agent.h", import.meta.url));
const BUILT = fileURLToPath(new URL("../../../.weft/mixed", import.meta.url));

/**
 * A bare module with a small stack, in memory that it is given. As that is not
 * declared as shared, Binaryen's optimizer, which clang calls, would think that
 * nobody sees in what order its atomic loads come.
 */
const FLAGS = [
  "-O1",
  "-fno-inline", // compiles in half the time, to the same steps
  "--no-wasm-opt",
  "-matomics",
  "-mbulk-memory",
  "-nostdlib",
  "-Wl,--no-entry,--export-dynamic,--import-memory,--export-memory",
  "-Wl,--export=__heap_base,-z,stack-size=8192",
];

/** The functions of a header. */
const HEADS = /^static inline (?=[\w ]+?\*?(weft_[a-z]\w*)\()/gm;

/** The modules that call functions of C: classes over them, and who casts. */
const CALLERS: string = folders().flatMap((folder) =>
  fs.readdirSync(path.join(TESTS, folder))
    .filter((name) => /^kind\.ts$|in_c\.ts$/.test(name))
    .map((name) => path.join(TESTS, folder, name))
).concat(
  ["twin.ts", "cast.ts"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url))
  ),
)
  .map((file) => fs.readFileSync(file, "utf8"))
  .join("\n");

const NAMED = new Set(CALLERS.match(/\bweft_\w+/g));

/** Of names that are put together, the last part. */
const ENDS = [...CALLERS.matchAll(/"([a-z]\w*)"/g)].map(([, end]) => `_${end}`);

/** Whether a test calls a function. Others cost time to compile. */
const isCalled = (name: string): boolean =>
  NAMED.has(name) || ENDS.some((end) => name.endsWith(end));

/** The source of a module: `text` is a header that includes no other. */
function sourceOf(text: string): string {
  // What a folder adds needs its header, which a mutant may leave out.
  const added = foldersWith("in_c.c")
    .filter((stem) => text.includes(`} weft_${stem};`))
    .map((stem) => fs.readFileSync(path.join(TESTS, stem, "in_c.c"), "utf8"));
  return [
    fs.readFileSync(AGENT, "utf8"),
    text.replace(HEADS, (head, name) => isCalled(name) ? "EXPORT " : head),
    ...added,
  ].join("\n");
}

/**
 * Compiles `text`, a header that includes no other, with the functions that
 * tests call. A module is kept under `.weft/mixed` until its source changes.
 */
export async function compile(name: string, text: string): Promise<Wasm> {
  const source = path.join(BUILT, `${name}.c`);
  const whole = sourceOf(text);
  fs.mkdirSync(BUILT, { recursive: true });
  if (!fs.existsSync(source) || fs.readFileSync(source, "utf8") !== whole) {
    fs.writeFileSync(source, whole);
  }
  const out = path.join(BUILT, `${name}.wasm`);
  const sources = [source];
  await wasmClang({ sources, args: FLAGS, out, quiet: true, alone: true });
  return race.wasm(fs.readFileSync(out), { imports: { env: imports } });
}

/** A module that agents can enter. */
export type Module = Pick<Wasm, "at" | "enter">;

/** A text with a mistake; `stem` is the header that it stands for. */
export interface Mistaken {
  readonly stem: string;
  readonly name: string;
  readonly text: string;
}

/**
 * Prepares to compile texts with a mistake each, where `right` is the text of a
 * stem without one. Those that differ within functions share one module, which
 * takes a tenth of the time. The others have a module each.
 */
export function compileMutants<Key>(
  mutants: ReadonlyMap<Key, Mistaken>,
  right: (stem: string) => string,
): (mutant: Key) => Promise<Module> {
  const shared = new Map<string, Variants>();
  const numbers = new Map<Key, number>();
  for (const [key, { stem, text }] of mutants) {
    const number = numbers.size + 1;
    let variants = shared.get(stem);
    if (variants === undefined) {
      shared.set(stem, variants = new Variants(right(stem)));
    }
    if (variants.add(number, text)) numbers.set(key, number);
  }
  const modules = new Map<string, Promise<Wasm | undefined>>();
  return async (key) => {
    const { stem, name, text } = mutants.get(key)!;
    const number = numbers.get(key);
    if (number === undefined) return await compile(name, text);
    let module = modules.get(stem);
    if (module === undefined) {
      const text = shared.get(stem)!.text();
      // If it fails, the mutant that is no C fails by itself.
      module = compile(`mutants_${stem}`, text).catch(() => undefined);
      modules.set(stem, module);
    }
    const wasm = await module;
    if (wasm === undefined) return await compile(name, text);
    return {
      at: wasm.at,
      enter(memory, agent) {
        const functions = wasm.enter(memory, agent);
        functions.race_choose!(number);
        return functions;
      },
    };
  };
}

/** Compiles all headers as they are. */
export const compileAll = (): Promise<Wasm> => compile("agent", headerText());

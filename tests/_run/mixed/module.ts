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

/** The modules that call functions of C: classes over them, and the cast. */
const CALLERS: string = folders().flatMap((folder) =>
  fs.readdirSync(path.join(TESTS, folder))
    .filter((name) => name.endsWith("in_c.ts"))
    .map((name) => path.join(TESTS, folder, name))
).concat(fileURLToPath(new URL("./cast.ts", import.meta.url)))
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
 * Compiles `text`, a header that includes no other, with the functions
 * that tests call. A module is kept under `.weft/mixed` until its source changes.
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

/** Compiles all headers as they are. */
export const compileAll = (): Promise<Wasm> => compile("agent", headerText());

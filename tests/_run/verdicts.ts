/**
 * Verdicts of the race tester, kept in `.weft/verdicts` by the content of all
 * that they depend on: an exploration of the same text ends the same way. Only
 * explorations have them; tests with real threads run each time.
 *
 * @module
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findCompiler } from "../../wasm/emcc.ts";
import { bareC, bareCode } from "./bare.ts";
import { all } from "./depth.ts";
import type { File } from "./files.ts";
import { folders, TESTS } from "./folders.ts";
import { headerText } from "./header.ts";
import { CHILD, type Outcome } from "./process.ts";
import { MODULES } from "./scenario.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const KEPT = path.join(PROJECT, ".weft", "verdicts");
const MOD = path.join(PROJECT, "mod.ts");
/** Imports all modules, of which a scenario uses a few. */
const WEFT = path.join(TESTS, "_run", "weft.ts");
/** Gives agents modules of their own. */
const REALM = path.join(TESTS, "_run", "realm.ts");

/** The parts of tests that explore. */
const EXPLORES = /^(scenarios|mutants)(_c)?\.ts$/;

/** Whether a test file explores, and starts no thread. */
export const explores = ({ path: file }: File): boolean =>
  EXPLORES.test(path.basename(file));

/** Comments, and texts in quotes. */
const PROSE = /\/\*[^]*?\*\/|\/\/.*|"(?:\\.|[^"\\\n])*"/g;

/** What is known of a row. */
interface Verdict {
  readonly key: string;
  readonly passed: number;
  readonly cut: number;
}

const known = new Map<string, string>();

/** The text of a file, which does not change while this process runs. */
function read(file: string): string {
  let text = known.get(file);
  if (text === undefined) known.set(file, text = fs.readFileSync(file, "utf8"));
  return text;
}

const within = (...names: string[]): string => path.join(PROJECT, ...names);

/** The texts of `file` and of what it imports, but for `mod.ts`. */
function add(file: string, texts: Map<string, string>): void {
  if (texts.has(file) || file === MOD || !fs.existsSync(file)) return;
  const text = read(file);
  texts.set(file, text);
  if (file === WEFT) return;
  const imports = text.matchAll(
    /^(?:import|export)\s(?!type\b)[^;]*?\bfrom "(\.[^"]+)"/gm,
  );
  for (const [, reference] of imports) {
    add(path.resolve(path.dirname(file), reference!), texts);
  }
}

/** The modules of the library by the words that stand for what they export. */
function modulesByWord(): Map<string, string> {
  const modules = new Map<string, string>();
  for (const name of ["pool", "deadlocks"] as const) {
    modules.set(name, fileURLToPath(MODULES[name]));
  }
  const exported = /^export \{([^}]*)\} from "(\.[^"]+)"/gm;
  for (const [, names, reference] of read(MOD).matchAll(exported)) {
    for (const [word] of names!.matchAll(/(?<!type )\b\w+/g)) {
      if (word !== "type") modules.set(word, within(reference!));
    }
  }
  return modules;
}

const byWord = modulesByWord();

/** All texts that decide what an exploration finds, by their files. */
export function textsOf({ path: part, folder }: File): Map<string, string> {
  const texts = new Map<string, string>();
  for (const file of [part, CHILD, REALM]) add(file, texts);
  for (const name of ["explored", "spin", "utf8", "turn"] as const) {
    add(fileURLToPath(MODULES[name]), texts);
  }
  const [kind] = path.basename(part).split(/[_.]/);
  const list = path.join(TESTS, folder, `${kind}.ts`);
  add(list, texts);
  if (kind === "mutants") {
    // One names its file, and the folders whose scenarios notice it.
    const lists = [...texts.keys()].filter((file) =>
      file.startsWith(path.join(TESTS, folder, kind))
    );
    const names = lists.flatMap((file) => [
      ...read(file).matchAll(/"([\w/]+)"/g),
    ]);
    for (const [, name] of names) {
      add(within("primitives", `${name}.ts`), texts);
      add(path.join(TESTS, name!, "scenarios.ts"), texts);
    }
  }
  // A scenario names the classes that it uses, and its helpers do.
  const own = [...texts].filter(([file]) =>
    file.startsWith(TESTS) && !file.startsWith(path.join(TESTS, "_run"))
  );
  for (const [, text] of own) {
    for (const [word] of text.replace(PROSE, " ").matchAll(/\w+/g)) {
      const module = byWord.get(word);
      if (module !== undefined) add(module, texts);
    }
  }
  if (path.basename(part).endsWith("_c.ts")) addC(texts);
  return texts;
}

/** Adds what agents of C are compiled from, and called by. */
function addC(texts: Map<string, string>): void {
  texts.set("weft.h", headerText());
  for (const folder of folders()) {
    for (const name of fs.readdirSync(path.join(TESTS, folder))) {
      if (!/^kind\.ts$|in_c\.(ts|c)$/.test(name)) continue;
      add(path.join(TESTS, folder, name), texts);
    }
  }
  for (const name of fs.readdirSync(path.join(TESTS, "_run", "mixed"))) {
    add(path.join(TESTS, "_run", "mixed", name), texts);
  }
}

/** Whether a mistake is made in this text, as its row quotes it. */
const isEdited = (part: File, file: string): boolean =>
  /^mutants/.test(path.basename(part.path)) &&
  (file === "weft.h" || file.startsWith(within("primitives")));

/**
 * What decides in a text: not its comments and types, unless mistakes quote it.
 */
async function decisive(part: File, file: string, text: string) {
  if (isEdited(part, file)) return text;
  return /\.(h|c)$/.test(file) ? bareC(text) : await bareCode(text);
}

/** Names the content of all that a row depends on. */
export async function keyOf(
  file: File,
  texts: ReadonlyMap<string, string> = textsOf(file),
): Promise<string> {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([process.versions, all()]));
  hash.update(read(within(".ci", "deno.lock")));
  if (file.needsCompiler) {
    hash.update(JSON.stringify(await findCompiler(true)));
  }
  const sorted = [...texts].sort(([a], [b]) => a < b ? -1 : 1);
  const parts = await Promise.all(
    sorted.map(async ([name, text]) =>
      `${name}\0${await decisive(file, name, text)}\0`
    ),
  );
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** What is known of a test file, or why it must run. */
export interface Known {
  /** The outcome that it had, and will have. */
  readonly outcome?: Outcome;
  /** Keeps the outcome of a run, if every test has passed. */
  keep(outcome: Outcome): void;
}

/** Only explorations end the same way again. */
const UNKNOWN: Known = { keep() {} };

/** What is known of a test file, by what lies in `folder`. */
export async function knownOf(
  file: File,
  folder: string = KEPT,
): Promise<Known> {
  if (!explores(file)) return UNKNOWN;
  const name = `${file.name.replace("/", "-")}${all() ? "-all" : ""}.json`;
  const kept = path.join(folder, name);
  const key = await keyOf(file).catch(() => undefined); // the run says why
  if (key === undefined) return UNKNOWN;
  const keep = ({ passed, cut, failed, skipped }: Outcome) => {
    if (failed > 0 || skipped > 0) return;
    fs.mkdirSync(folder, { recursive: true });
    const text = JSON.stringify({ key, passed, cut });
    fs.writeFileSync(`${kept}.${process.pid}`, text);
    fs.renameSync(`${kept}.${process.pid}`, kept);
  };
  if (!fs.existsSync(kept)) return { keep };
  const verdict = JSON.parse(fs.readFileSync(kept, "utf8")) as Verdict;
  if (verdict.key !== key) return { keep };
  const { passed, cut } = verdict;
  const nothing = { failed: 0, skipped: 0, reasons: {}, problem: "" };
  return {
    outcome: { ...nothing, passed, cut, known: true, output: "" },
    keep,
  };
}

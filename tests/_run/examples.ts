/**
 * The examples in documents and comments, and how a test runs them with more
 * items than their queues hold. What people copy must work for any N, so an
 * example that counts calls the number N: `const N = 1000;` in JavaScript,
 * `enum { N = 1000 };` in C.
 *
 * @module
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** Where an example says its N. */
const NAMED = /^((?:const|enum \{) N = )(\d+)/gm;

/** The capacities that an example gives to what it makes. */
const CAPACITIES = /\b(?:capacity|slots|SLOTS)(?::| =) (\d+)(?: << (\d+))?/g;

/**
 * A loop that counts up to a number, or to a constant that is not N, and the
 * line that it repeats.
 */
const COUNTING =
  /\bfor \([^\n]*?[<>]=? (\d[\d_]*|(?!N\b)[A-Z]+)(?:[;)]| &&)[^\n]*\n?[^\n]*/g;

/** What must be waited for if a queue is full, or empty. */
const WAITS =
  /^(?![^]*(?:pthread_|start\())[^]*(push|pop|send|receive|allocate|log_line)/i;

/** As many workers, threads or phases as one counts by hand. */
const FEW = 4;

const capacitiesIn = (text: string) =>
  [...text.matchAll(CAPACITIES)].map(([, n, shift = "0"]) =>
    Number(n) * 2 ** Number(shift)
  );

/** The N that a file says, if it says one. */
export function countOf(text: string): number | undefined {
  const [found] = text.matchAll(NAMED);
  return found && Number(found[2]);
}

/**
 * The files of one example, with an N that is larger than all capacities in
 * them together; as they are, if they name none.
 */
export function raised(texts: readonly string[]): string[] {
  const room = texts.flatMap(capacitiesIn).reduce((sum, n) => sum + n, 0);
  const raise = (n: string) => Math.max(Number(n), 2 * room + 3);
  return texts.map((text) =>
    text.replace(NAMED, (_, before, n) => `${before}${raise(n)}`)
  );
}

/**
 * Writes the program of a page into `folder`: its blocks whose first lines name
 * files. `deno test --doc` runs the others.
 */
export function writeProgram(page: string, folder: string): string[] {
  const named = /^```ts ignore\n(\/\/ (\w+\.ts)[^\n]*\n.*?)^```$/gms;
  const blocks = [...page.matchAll(named)];
  if (blocks.length > 0) fs.mkdirSync(folder, { recursive: true });
  const texts = raised(blocks.map(([, text]) => text!));
  return blocks.map(([, , name], i) => {
    const file = path.join(folder, name!);
    fs.writeFileSync(file, texts[i]!);
    return file;
  });
}

/** The numbers up to which an example with capacities counts, beside N. */
export function unnamed(texts: readonly string[]): string[] {
  if (!texts.some((text) => capacitiesIn(text).length > 0)) return [];
  return texts.flatMap((text) => [...text.matchAll(COUNTING)])
    .filter(([loop, n]) => Number(n) > FEW || WAITS.test(loop))
    .map(([, n]) => n!);
}

/** A block of code in a document, or in a comment. */
export interface Block {
  readonly language: string;
  /** Whether `deno test --doc` runs it. */
  readonly alone: boolean;
  readonly text: string;
}

/** The blocks of code in `file`, whose name is relative to the project. */
export function blocksOf(file: string): Block[] {
  const all = fs.readFileSync(path.join(PROJECT, file), "utf8");
  const text = file.endsWith(".md") ? all : all.replace(/^ *\* ?/gm, "");
  return [...text.matchAll(/^ *```(\w+)( ignore)?\n([^]*?)^ *```$/gm)]
    .map(([, language, ignore, text]) => ({
      language: language!,
      alone: language === "ts" && ignore === undefined,
      text: text!,
    }));
}

/** All documents, and the files whose comments have examples. */
export function places(): string[] {
  const below = (folder: string) =>
    fs.readdirSync(path.join(PROJECT, folder), {
      recursive: true,
      encoding: "utf8",
    }).map((name) => `${folder}/${name}`);
  return [
    "README.md",
    "mod.ts",
    ...below("docs").filter((name) => name.endsWith(".md")),
    ...below("primitives").filter((name) => name.endsWith(".ts")),
    ...below("race").filter((name) => name.endsWith(".ts")),
  ];
}

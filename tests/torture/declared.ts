/**
 * Reads the public functions of `weft.h`, and writes a call of each in C: the
 * calls that `arguments.c` makes. A function with a parameter of a new type is
 * left out, and named, until `arguments.c` says how to make one.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";

const CALLER = new URL("./arguments.c", import.meta.url);
const HEADERS = new URL("../../wasm/weft/", import.meta.url);

/** A function of `weft.h`. */
export interface Declared {
  readonly name: string;
  /** The type of the result, without attributes. */
  readonly result: string;
  readonly parameters: readonly Parameter[];
}

interface Parameter {
  readonly type: string;
  readonly name: string;
}

/** These print, or need a program around them. */
const LEFT_OUT = /^weft_(inspect|inspect_as|recover)$/;

const FUNCTION =
  /static inline\s+((?:[A-Za-z_]\w*[\s*]+)+?)(weft_[a-z]\w*)\s*\(((?:[^()]|\([^()]*\))*)\)\s*\{/g;

/** Splits at the commas that stand in no brackets. */
function split(text: string): string[] {
  return text.split(/,(?![^(]*\))/).map((part) => part.trim());
}

function parameterOf(text: string): Parameter {
  const whole = text.replace(/\s+/g, " ");
  const callback = /^(\w+) \(\*(\w+)\)/.exec(whole);
  if (callback) return { type: `${callback[1]} callback`, name: callback[2]! };
  const [, type, name] = /^(.*?)(\w+)$/.exec(whole)!;
  return { type: type!.replace("const ", "").trim(), name: name! };
}

/** All public functions, in the order of the files. */
export async function declared(): Promise<Declared[]> {
  const found: Declared[] = [];
  for (const file of (await readdir(HEADERS)).sort()) {
    const text = await readFile(new URL(file, HEADERS), "utf8");
    const code = text.replace(/\/\*[^]*?\*\//g, "");
    for (const [, result, name, list] of code.matchAll(FUNCTION)) {
      if (LEFT_OUT.test(name!)) continue;
      const words = list!.trim() === "void" ? [] : split(list!);
      found.push({
        name: name!,
        result: result!.replace(/WEFT__\w+|const /g, "").trim(),
        parameters: words.map(parameterOf),
      });
    }
  }
  return found;
}

/** Parameters of type `void *` for which any bytes will do. */
const BYTES =
  /^(bytes|context|dst|into|key|memory|message|reply|request|result|src|text|value)$/;

/** The name of the maker of an argument: `int32_t *` is made by `int32_t_p`. */
function makerOf({ name }: Declared, { type, name: as }: Parameter): string {
  const maker = type.replaceAll(" ", "_").replaceAll("*", "p");
  if (name.endsWith("_release") && as === "cache") return "own_cache";
  if (type !== "void *" && as !== "seat") return maker;
  const [, stem] = /^weft_(.*)_\w+$/.exec(name)!;
  if (as === "seat") return "seat";
  if (as === "slot") return `slot_of_${stem}`;
  if (as === "block") return "block";
  if (as === "at") {
    return /_(commit|cancel)$/.test(name) ? `slot_of_${stem}` : "place";
  }
  if (BYTES.test(as)) return "bytes";
  throw new Error(`${name} has a void * named ${as}: what belongs there?`);
}

/**
 * These look at an element before they refuse, and note how far they looked.
 */
const LOOKS_FIRST = /_(pop|receive)$/;

/** What of the result says that the call was refused. */
const REFUSED: Readonly<Record<string, string>> = {
  int: "result == EINVAL",
  int32_t: "result == -EINVAL",
};

function callOf(it: Declared, number: number): string {
  const { name, result, parameters } = it;
  const places = parameters.map((parameter, i) => {
    const maker = makerOf(it, parameter);
    const argument = `      ARGUMENT(a${i}, ${maker})\n`;
    if (!maker.startsWith("slot_of")) return argument;
    return `      consumes = ${name.endsWith("_consume")};\n${argument}` +
      "      if (no_slot) break;\n";
  });
  const call = `${name}(${parameters.map((_, i) => `a${i}`).join(", ")})`;
  const refused = REFUSED[result];
  const body = result === "void"
    ? `      ${call};\n`
    : refused === undefined || LOOKS_FIRST.test(name)
    ? `      RESULT(${call})\n`
    : `      ${result} result = ${call};\n` +
      `      if (${refused}) refused();\n      else forget();\n`;
  return `    case ${number}: {\n      name("${name}");\n` +
    `${places.join("")}${body}      break;\n    }\n`;
}

/** What {@linkcode writtenCalls} wrote. */
export interface Written {
  /** The text that `arguments.c` includes. */
  readonly text: string;
  /** How many functions it calls. */
  readonly count: number;
  /** The functions that it does not call. */
  readonly leftOut: readonly string[];
}

/** The names of all makers of arguments in `arguments.c`. */
async function makers(): Promise<Set<string>> {
  const text = await readFile(CALLER, "utf8");
  const named = [...text.matchAll(/\bmake_(\w+)\(/g)].map(([, it]) => it!);
  const kinds = [...text.matchAll(/\beach\((\w+)\)/g)]
    .map(([, stem]) => `weft_${stem}_p`);
  return new Set([...named, ...kinds]);
}

/** Writes a call of each function. */
export async function writtenCalls(): Promise<Written> {
  const known = await makers();
  const all = await declared();
  const functions = all.filter((it) =>
    it.parameters.every((parameter) => known.has(makerOf(it, parameter)))
  );
  const cases = functions.map(callOf).join("");
  const text = `enum { FUNCTIONS = ${functions.length} };\n\n` +
    `static void call_function(int number) {\n  switch (number) {\n` +
    `${cases}    default:\n      break;\n  }\n}\n`;
  const leftOut = all.filter((it) => !functions.includes(it))
    .map(({ name }) => name);
  return { text, count: functions.length, leftOut };
}

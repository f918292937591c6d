/**
 * The rules of `_rules.ts` in both languages.
 *
 * @module
 */

import { LAYOUT, type Stem } from "../../primitives/_memory/layout.ts";
import { inC, inTypeScript, measured } from "./_bits.ts";
import { RULES, type Rules } from "./_rules.ts";

/** How one language writes what the other one writes in another way. */
interface Language {
  readonly number: typeof inC;
  name(name: string): string;
  minus(a: string, b: string): string;
  part(word: string, mask: string, shift: string): string;
}

const TYPESCRIPT: Language = {
  number: inTypeScript,
  name: (name) =>
    name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
  minus: (a, b) => `${a} - ${b} | 0`,
  part: (word, mask, shift) => `(${word} & ${mask}) >>> ${shift}`,
};

const C: Language = {
  number: inC,
  name: (name) => name,
  minus: (a, b) => `weft__minus(${a}, ${b})`,
  part: (word, mask, shift) =>
    `(int32_t)((uint32_t)(${word} & ${mask}) >> ${shift})`,
};

/** The expression `text` about the words of `stem`, in a language. */
function translated(text: string, stem: Stem, to: Language): string {
  const bits = (fields: string, what: string) => {
    const [field, row = stem.toUpperCase()] = fields.split(".").reverse();
    return to.number(measured(what, row!, field!));
  };
  return text.replace(
    /(\w+)\((\w+)(?:, ([\w.]+))?\)|\b[A-Z][A-Z_]*(?:\.[A-Z_]+)?\b|\b[a-z]\w*/g,
    (whole, call, first, second) => {
      switch (call) {
        case "one":
          return bits(first, "ONE");
        case "most":
          return bits(first, "MAX");
        case "minus":
          return to.minus(to.name(first), to.name(second));
        case "part":
          return to.part(
            to.name(first),
            bits(second, "MASK"),
            bits(second, "SHIFT"),
          );
        case undefined:
          return /^[A-Z]/.test(whole) ? bits(whole, "MASK") : to.name(whole);
      }
      throw new Error(`_rules.ts: ${stem}: no function ${call}`);
    },
  );
}

/** The words of `stem` that its rules name. */
function wordsOf(stem: Stem, { values = {}, rules }: Rules): string[] {
  const named = new Set(
    [...Object.values(values), ...rules.map(([, wrong]) => wrong)].join(" ")
      .match(/\b[a-z]\w*/g),
  );
  const names = Object.keys(LAYOUT[stem]).filter((name) => name !== "length");
  const [clash] = Object.keys(values).filter((name) => names.includes(name));
  if (clash !== undefined) {
    throw new Error(`_rules.ts: ${stem}: ${clash} is a word`);
  }
  return names.filter((name) => named.has(name));
}

/** The rules of a table, by the primitive. */
type Table = typeof RULES;

const rowsOf = (table: Table) => Object.entries(table) as [Stem, Rules][];

const indexOf = (stem: Stem, word: string): number => {
  const index = (LAYOUT[stem] as Record<string, number>)[word];
  if (index !== undefined) return index;
  throw new Error(`_rules.ts: ${stem} has no word ${word}`);
};

/** The module of TypeScript, before it is formatted. */
export function tsRules(table: Table = RULES): string {
  const functions = rowsOf(table).map(([stem, rules]) => {
    const lines = wordsOf(stem, rules).map((word) =>
      `const ${TYPESCRIPT.name(word)} = words[${indexOf(stem, word)}]!;`
    );
    const code = (text: string) =>
      translated(text, stem, TYPESCRIPT).replace(/([!=])=/g, "$1==");
    for (const [name, value] of Object.entries(rules.values ?? {})) {
      lines.push(`const ${TYPESCRIPT.name(name)} = ${code(value)};`);
    }
    for (const [word, wrong, text] of rules.rules) {
      const index = indexOf(stem, word);
      lines.push(`tell(${code(wrong)}, ${index}, ${JSON.stringify(text)});`);
    }
    return `${stem}: (words, tell) => {\n${lines.join("\n")}\n},\n`;
  });
  return `/**
 * What the words of a primitive never say. \`deno task layout\` writes it from
 * \`tests/project/_rules.ts\`, as it writes the C twin.
 * C twin: \`_inspect_rules.h\`.
 *
 * @module
 */

import type { Stem } from "../_memory/layout.ts";
import type { Check } from "../_memory/problems.ts";

/** By the primitive. */
export const RULES: Readonly<Partial<Record<Stem, Check>>> = {
${functions.join("")}};
`;
}

/** An expression of C behind \`begin\`, in lines that are not too long. */
function wrapped(begin: string, text: string): string {
  const lines = [""];
  for (const part of text.split(/(?<= (?:&&|\|\|)) /)) {
    const line = lines.at(-1)!;
    if (line !== "" && `${begin}${line} ${part},`.length > 80) lines.push(part);
    else lines[lines.length - 1] = line === "" ? part : `${line} ${part}`;
  }
  return begin + lines.join(`\n${" ".repeat(begin.length)}`);
}

/** The functions of C. */
export function cRules(): string {
  return rowsOf(RULES).map(([stem, rules]) => {
    const code = (text: string) => translated(text, stem, C);
    const name = `weft__${stem}_shows_problems`;
    const lines = wordsOf(stem, rules).map((word) =>
      `  const int32_t ${word} = w->${word};\n`
    );
    for (const [name, value] of Object.entries(rules.values ?? {})) {
      const type = /[!=]=/.test(value) ? "bool" : "int32_t";
      lines.push(`  const ${type} ${name} = ${code(value)};\n`);
    }
    for (const [word, wrong, text] of rules.rules) {
      lines.push(
        wrapped("  weft__tell(found, ", code(wrong)) + ",\n" +
          `             WEFT__AT(${stem}, ${word}),\n` +
          `             ${JSON.stringify(text)});\n`,
      );
    }
    return `static inline void ${name}(const void *copy,
${" ".repeat(name.length + 20)}weft__problems *found) {
  const weft_${stem} *w = (const weft_${stem} *)copy;
${lines.join("")}}

`;
  }).join("").trimEnd() + "\n";
}

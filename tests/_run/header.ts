/**
 * `weft.h` read as text, so that no compiler is needed to compare it.
 *
 * @module
 */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { amalgamation } from "../../wasm/_amalgamation.ts";

/** The folder in which compilers find `weft.h`, and `weft/mutex.h`. */
export const INCLUDE: string = fileURLToPath(
  new URL("../../wasm", import.meta.url),
);

/** Every header's text by its name: `weft.h`, `weft/mutex.h` and so on. */
export function headerFiles(): Record<string, string> {
  const below = readdirSync(`${INCLUDE}/weft`).sort();
  const names = ["weft.h", ...below.map((name) => `weft/${name}`)];
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(`${INCLUDE}/${name}`, "utf8")]),
  );
}

/** The headers as one file. */
export const headerText = (): string => amalgamation(headerFiles());

/** A table of words, as it is written in one of the three places. */
export interface Table {
  version: number;
  /** The kind numbers of those primitives that have one. */
  kinds: Record<string, number>;
  /** The words of each primitive by name, and its `length`. */
  layout: Record<string, Record<string, number>>;
}

/** The table that the assertions of `text`, a header, make. */
export function tableOf(text: string): Table {
  const version = text.match(/^#define WEFT_VERSION (\d+)$/m)?.[1];
  const table: Table = { version: Number(version), kinds: {}, layout: {} };
  const rows =
    /^WEFT_(?:KIND\((\w+), |WORD\((\w+), (\w+), |LENGTH\((\w+), )(\d+)\);$/gm;
  for (const [, kind, stem, field, whole, number] of text.matchAll(rows)) {
    if (kind !== undefined) table.kinds[kind] = Number(number);
    else {
      const words = table.layout[stem ?? whole!] ??= {};
      words[field ?? "length"] = Number(number);
    }
  }
  return table;
}

/** The words that the structs of `text`, a header, declare, but for padding. */
export function fieldsOf(text: string): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  const structs = /^typedef struct \{\n([^}]*)\} weft_(\w+);\nWEFT_WORD/gm;
  for (const [, body, stem] of text.matchAll(structs)) {
    const declared = body!.replace(/\/\*.*?\*\//gs, "")
      .matchAll(/^ *\w[\w ]*?\b(\w+)(?:\[[^\]]*\])?;/gm);
    fields[stem!] = [...declared].map(([, name]) => name!)
      .filter((name) => !name.startsWith("_pad"));
  }
  return fields;
}

/** Every public function of `text`, a header: `weft_mutex_lock` and others. */
export function functionsOf(text: string): string[] {
  const heads =
    /^static inline (?:__attribute__\(\(.*?\)\) )?[\w ]+?\*?(weft_[a-z]\w*)\(/gm;
  return [...text.matchAll(heads)].map(([, name]) => name!);
}

/**
 * A source that makes a compiler generate, and so analyse, every function. With
 * a C library these include the functions that print.
 */
export function everyFunction({ stdio = false } = {}): string {
  const names = functionsOf(headerText())
    .filter((name) => stdio || !name.startsWith("weft_inspect"));
  return `#define WEFT_NAMED_AGENTS
${stdio ? "#define WEFT_STDIO\n" : ""}#include "weft.h"

typedef void (*weft_any)(void);
extern const weft_any weft_every[];
const weft_any weft_every[] = {
${names.map((name) => `    (weft_any)${name},\n`).join("")}};
`;
}

/** A source that knows only what the header itself includes. */
export const ALONE = `#include "weft.h"
extern int weft_alone;
int weft_alone = 1;
`;

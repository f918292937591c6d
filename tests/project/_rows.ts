/**
 * The rows of words that `primitives/_memory/layout/` has, as they are written
 * there, with their comments.
 *
 * @module
 */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SOURCE } from "./_bits.ts";

/** The folder of the project. */
export const PROJECT: string = fileURLToPath(
  new URL("../../", import.meta.url),
);

/** The folder of the families of rows. */
export const FAMILIES = "primitives/_memory/layout";

/** A word of a primitive. */
interface Word {
  name: string;
  index: number;
  /** The lines of its comment; those of a list of bits begin with "bit". */
  meaning: string[];
  /** Who writes it; without one, the agent that initializes it. */
  writer?: string;
  /** Who sleeps on it. */
  sleeper?: string;
}

/** A row of a family. */
export interface Row {
  stem: string;
  /** One sentence. */
  what: string;
  /** What lies behind the words. */
  behind?: string;
  words: Word[];
  length: number;
  kind?: number;
}

/** The text of a file of the project. */
export const read = (name: string): string =>
  readFileSync(PROJECT + name, "utf8");

/** The files in `folder` and in its rooms whose names end with `type`. */
export const filesBelow = (folder: string, type: string): string[] =>
  readdirSync(PROJECT + folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(type)).sort()
    .map((name) => `${folder}/${name}`);

/** The text of all families of rows. */
export const families = (): string =>
  filesBelow(FAMILIES, ".ts").map(read).join("\n");

/** A row that describes a primitive: its comment, its name and its words. */
export const ROW: RegExp =
  /\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport const ([A-Z_]+) = (\{\n(?:(?!^\})[^])*^ {2}length: [^]*?\n\}) as/gm;

/** The numbers of the kinds, within the text of `layout.ts`. */
export const KINDS: RegExp = /^export const KIND = \{([^}]*)\}/m;

/** The rows of `source`, in the order of `index`, the text of `layout.ts`. */
export function rowsOf(source: string, index: string): Row[] {
  const words = /(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\s*)?(\w+): (\d+),/g;
  const [, kinds] = index.match(KINDS)!;
  const place = ({ stem }: Row) => index.search(RegExp(`^ {2}${stem}: `, "m"));
  return [...source.matchAll(ROW)]
    .map(([, comment, constant, body]) => {
      const stem = constant!.toLowerCase();
      const all = [...body!.matchAll(words)];
      const length = Number(all.pop()![3]);
      const { text, tags } = commentOf(comment!);
      const kind = kinds!.match(new RegExp(`\\b${stem}: (\\d+)`))?.[1];
      return {
        stem,
        what: text.join(" "),
        ...(tags.behind === undefined ? {} : { behind: tags.behind }),
        words: all.map(([, comment, name, index]) =>
          wordOf(comment, name!, index!)
        ),
        length,
        ...(kind === undefined ? {} : { kind: Number(kind) }),
      };
    })
    .sort((a, b) => place(a) - place(b));
}

function wordOf(
  comment: string | undefined,
  name: string,
  index: string,
): Word {
  if (comment === undefined) {
    throw new Error(`${SOURCE}: the word ${name} has no comment`);
  }
  const { text, tags: { writer, sleeper } } = commentOf(comment);
  return {
    name,
    index: Number(index),
    meaning: text,
    ...(writer === undefined ? {} : { writer }),
    ...(sleeper === undefined ? {} : { sleeper }),
  };
}

/** Every index of `source`, by row and name, such as `MUTEX.state`. */
export function indexesOf(source: string): Map<string, string> {
  const indexes = new Map<string, string>();
  const rows = /^export const ([A-Z_]+) = \{([^}]*)\} as const/gm;
  for (const [, row, body] of source.matchAll(rows)) {
    const words = body!.replaceAll(/\/\*[^]*?\*\//g, "");
    for (const [, name, index] of words.matchAll(/(\w+): (\d+)/g)) {
      indexes.set(`${row}.${name}`, index!);
    }
  }
  return indexes;
}

/** The text of a comment, a line for each bit of a list, and its tags. */
function commentOf(comment: string) {
  const lines = comment.split("\n").map((line) =>
    line.replace(/^ *\*? ?/, "").trimEnd()
  ).filter((line) => line !== "");
  const text: string[] = [];
  const tags: Record<string, string> = {};
  let tag: string | undefined;
  for (const line of lines) {
    const [, name, rest] = line.match(/^@(\w+) (.*)$/) ?? [];
    if (name !== undefined) tags[tag = name] = rest!;
    else if (tag !== undefined) tags[tag] += ` ${line}`;
    else if (text.length === 0 || BIT.test(line)) text.push(line);
    else text[text.length - 1] += ` ${line.trim()}`;
  }
  return { text, tags };
}

/** A line about bits of a word. */
export const BIT: RegExp = /^(bits? [\d-]+): (.*)$/;

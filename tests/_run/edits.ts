/**
 * Edits of a source: how a mistake is made in it. Nothing is written to the
 * source: it is edited on its way into a bundle or a module.
 *
 * @module
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * A text that occurs once in a source, with its change marked in it, as by
 * `git diff --word-diff`: `kept [-removed-]{+added+} kept`. Any white space
 * fits that of a text that is not added.
 */
export type Edit = string;

/** One edit or more. */
export type Edits = Edit | readonly Edit[];

/** A text that occurs once in a source, and its replacement. */
export type Change = readonly [from: string, to: string];

/** Why a mistake is not made in a language. */
export interface None {
  readonly none: string;
}

/** Says why a mistake is not made in a language. */
export const none = (why: string): None => ({ none: why });

const REMOVED = /\[-(.*?)-\]/gs;
const ADDED = /\{\+(.*?)\+\}/gs;

/** What an edit replaces, and with what. */
export function changeOf(edit: Edit): Change {
  const from = edit.replace(ADDED, "").replace(REMOVED, "$1");
  const to = edit.replace(REMOVED, "").replace(ADDED, "$1");
  if (from === to) {
    throw new Error(`there is no [-removed-] or {+added+} text in: ${edit}`);
  }
  return [from, to];
}

/** The changes of an entry; undefined where it says why there are none. */
export function changesOf(
  entry: Edits | None | undefined,
): Change[] | undefined {
  if (entry === undefined || typeof entry === "object" && "none" in entry) {
    return undefined;
  }
  return [entry].flat().map(changeOf);
}

/**
 * The text of the file `name` with the edits made; `space` matches what may be
 * between words.
 */
export function edited(
  name: string,
  text: string,
  edits: Edits,
  space = "\\s+",
): string {
  for (const [from, to] of changesOf(edits)!) {
    const words = from.trim().split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const parts = text.split(new RegExp(words.join(space)));
    if (parts.length !== 2) {
      throw new Error(`${name}: fits ${parts.length - 1} times: ${from}`);
    }
    text = parts.join(to);
  }
  return text;
}

/** The folder of the primitives. */
const PRIMITIVES = fileURLToPath(
  new URL("../../primitives", import.meta.url),
);

/** The file `source` of `primitives/`, without `.ts`. */
export const fileOf = (source: string): string =>
  path.join(PRIMITIVES, `${source}.ts`);

/** The text of that file, with the edits made. */
export function editedSource(source: string, edits: Edits): string {
  const text = fs.readFileSync(fileOf(source), "utf8");
  return edited(`${source}.ts`, text, edits);
}

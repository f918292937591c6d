/**
 * Edits of a source: how a mistake is made in it. Nothing is written to the
 * source: it is edited on its way into a bundle or a module.
 *
 * @module
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

/** A text that occurs once in a source, and its replacement. */
export type Edit = readonly [from: string, to: string];

/** One edit, and perhaps more. White space in `from` is any white space. */
export type Edits = readonly [from: string, to: string, ...also: Edit[]];

/** The edits of an entry; undefined where it says why there are none. */
export function editsOf(entry: Edits | string | undefined): Edit[] | undefined {
  if (entry === undefined || typeof entry === "string") return undefined;
  const [from, to, ...also] = entry;
  return [[from, to], ...also];
}

/**
 * The text of the file `name` with the edits made; `space` matches what may be
 * between words.
 */
export function edited(
  name: string,
  text: string,
  edits: readonly Edit[],
  space = "\\s+",
): string {
  for (const [from, to] of edits) {
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
  return edited(`${source}.ts`, text, editsOf(edits)!);
}

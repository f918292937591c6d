/**
 * Mutants of `weft.h`: the header with one mistake in it.
 *
 * @module
 */
import { headerText } from "../header.ts";

/** Text that stands once in a section, and what to put there instead. */
export type Edit = readonly [from: string, to: string];

/** A mistake in a section of `weft.h`. */
export interface Mutant {
  /** The section, as its title names it. */
  readonly section: string;
  /** The primitive whose scenarios notice. */
  readonly stem: string;
  readonly what: string;
  /** White space in what they look for is any white space. */
  readonly edits: readonly Edit[];
  /** The name of the scenario that is explored first. */
  readonly by?: string;
}

type Row = readonly [
  what: string,
  from: string,
  to: string,
  ...more: (Edit | string)[],
];

/** A list of mutants of one section: edits, and perhaps what finds them. */
export const mutants = (
  stem: string,
  section: string,
  ...rows: readonly Row[]
): Mutant[] =>
  rows.map(([what, from, to, ...more]) => {
    const also = more.filter((it) => typeof it !== "string");
    const by = more.find((it) => typeof it === "string");
    const edits: Edit[] = [[from, to], ...also];
    return { section, stem, what, edits, ...(by === undefined ? {} : { by }) };
  });

/** The header with the mistake in it. */
export function mutated({ section, edits }: Mutant): string {
  const text = headerText();
  const title = `/* ---- ${section} (`;
  const start = text.indexOf(title);
  if (start < 0) throw new Error(`weft.h has no section "${section}"`);
  // Sections within a section have titles without a source.
  const length = text.slice(start + 1).search(/\/\* ---- [\w ]+ \(/);
  const next = length < 0 ? text.length : start + 1 + length;
  let part = text.slice(start, next);
  for (const [from, to] of edits) {
    const words = from.trim().split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    // A line of a macro ends in a backslash.
    const pieces = part.split(new RegExp(words.join("(?:\\s|\\\\\\n)+")));
    if (pieces.length !== 2) {
      throw new Error(`${section}: fits ${pieces.length - 1} times: ${from}`);
    }
    part = pieces.join(to);
  }
  return text.slice(0, start) + part + text.slice(next);
}

/** The mistake as a difference of texts. */
export function diffOf({ section, what, edits }: Mutant): string {
  const lines = edits.flatMap(([from, to]) => [`  - ${from}`, `  + ${to}`]);
  return [`weft.h, ${section}: ${what}`, ...lines].join("\n");
}

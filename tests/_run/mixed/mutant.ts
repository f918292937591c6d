/**
 * Mutants of `weft.h`: the header with one mistake in it.
 *
 * @module
 */
import { amalgamation } from "../../../wasm/_amalgamation.ts";
import { headerFiles } from "../header.ts";

/** Text that stands once in a header, and what to put there instead. */
export type Edit = readonly [from: string, to: string];

/** A mistake in one of the headers. */
export interface Mutant {
  /** The header's name in `wasm/weft`, without `.h`. */
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

/** A list of mutants of one header: edits, and perhaps what finds them. */
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

/** The header as one file, with the mistake in it. */
export function mutated({ section, edits }: Mutant): string {
  const name = `weft/${section}.h`;
  const files = headerFiles();
  let text = files[name]!;
  if (text === undefined) throw new Error(`there is no ${name}`);
  for (const [from, to] of edits) {
    const words = from.trim().split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    // A line of a macro ends in a backslash.
    const pieces = text.split(new RegExp(words.join("(?:\\s|\\\\\\n)+")));
    if (pieces.length !== 2) {
      throw new Error(`${name}: fits ${pieces.length - 1} times: ${from}`);
    }
    text = pieces.join(to);
  }
  return amalgamation({ ...files, [name]: text });
}

/** The mistake as a difference of texts. */
export function diffOf({ section, what, edits }: Mutant): string {
  const lines = edits.flatMap(([from, to]) => [`  - ${from}`, `  + ${to}`]);
  return [`weft/${section}.h: ${what}`, ...lines].join("\n");
}

/**
 * Many mutants of C in one module. A function with mistakes is written once
 * right and once with each mistake, and a number says which of them is called.
 *
 * @module
 */

/** A function of C, or the text before it. */
interface Chunk {
  readonly text: string;
  readonly head: Head | undefined;
}

/** What a function is called by. */
interface Head {
  /** The macro before `static`, if there is one. */
  readonly mark: string;
  /** What it returns, with attributes. */
  readonly type: string;
  readonly name: string;
  readonly params: string;
}

/** A function at the start of a text, up to its brace. */
const HEAD =
  /^([A-Z_]+ )?static inline ((?:__attribute__\(\(.*?\)\)\s)?[\w\s]+?[\s*])(\w+)\(([^{;]*)\)\s\{/;

/** A function, as a part of a text. */
const FUNCTION =
  /^((?:[A-Z_]+ )?static inline [^;{]*\{(?:\n[^}].*|\n)*.*\}\n)/m;

/** The functions of `text`, and the texts between them. */
function chunksOf(text: string): Chunk[] {
  const chunks: Chunk[] = [];
  const parts = text.split(FUNCTION);
  for (const part of parts) {
    const [, mark = "", type, name, params] = HEAD.exec(part) ?? [];
    const head = name === undefined
      ? undefined
      : { mark, type: type!, name, params: params! };
    chunks.push({ text: part, head });
  }
  return chunks;
}

/** The names of parameters; undefined if they are too many to say. */
function namesOf(params: string): string[] | undefined {
  if (params === "void") return [];
  const names = params.split(/,(?![^()]*\))/)
    .map((param) => /\(\*(\w+)\)|(\w+)(?:\[[^\]]*\])?$/.exec(param.trim()))
    .map((found) => found?.[1] ?? found?.[2]);
  return names.includes(undefined) ? undefined : names as string[];
}

/** The mistakes of a function, each by the number that chooses it. */
type Mistakes = Map<number, string>;

/** Collects mutants of one text. */
export class Variants {
  readonly #chunks: readonly Chunk[];
  readonly #mistakes: readonly Mistakes[];

  /** The text without a mistake. */
  constructor(text: string) {
    this.#chunks = chunksOf(text);
    this.#mistakes = this.#chunks.map(() => new Map());
  }

  /**
   * Adds `text`, the text with a mistake, as the variant `number`. Returns
   * false, and adds nothing, if it differs in more than what functions do.
   */
  add(number: number, text: string): boolean {
    const chunks = chunksOf(text);
    if (chunks.length !== this.#chunks.length) return false;
    const changed = chunks.map((chunk, i) => [i, chunk] as const)
      .filter(([i, { text }]) => text !== this.#chunks[i]!.text);
    for (const [i, { head }] of changed) {
      const { mark, type, name, params } = this.#chunks[i]!.head ?? {};
      if (head === undefined || namesOf(head.params) === undefined) {
        return false;
      }
      if (head.mark !== mark || head.type !== type) return false;
      if (head.name !== name || head.params !== params) return false;
    }
    for (const [i, { text }] of changed) this.#mistakes[i]!.set(number, text);
    return true;
  }

  /** The text in which `race_mutant` chooses the variant; 0 is without any. */
  text(): string {
    return this.#chunks.map((chunk, i) => {
      const mistakes = this.#mistakes[i]!;
      return mistakes.size === 0 ? chunk.text : chosen(chunk, mistakes);
    }).join("");
  }
}

/** A function that calls one of its variants. */
function chosen({ text, head }: Chunk, mistakes: Mistakes): string {
  const { mark, type, name, params } = head!;
  const args = namesOf(params)!.join(", ");
  const result = type.trim() === "void" ? "" : "return ";
  const renamed = (text: string, number: number) =>
    text.replace(`${name}(`, `${name}__${number}(`);
  const cases = [...mistakes.keys()].map((number) =>
    `  case ${number}:\n    ${result}${name}__${number}(${args});\n` +
    (result ? "" : "    return;\n")
  );
  const declared = `${mark}static inline ${type}${name}(${params})`;
  return [
    `${declared};`, // as it may call itself
    renamed(text, 0),
    ...[...mistakes].map(([number, text]) => renamed(text, number)),
    `${declared} {`,
    "  switch (race_mutant) {",
    cases.join("") + "  }",
    `  ${result}${name}__0(${args});`,
    "}\n",
  ].join("\n");
}

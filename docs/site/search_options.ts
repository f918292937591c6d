/**
 * How the search looks at sections: the same when the index is made, and when
 * it is used.
 *
 * @module
 */

/** Words of questions that say nothing about what is looked for. */
const EMPTY = new Set(
  ("a an and are can do does for from how i if in is it my of on or the to what " +
    "when which why with").split(" "),
);

/** What users may call a thing, and the words that the pages have for it. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  atomic: ["atomics"],
  coep: ["embedder", "headers", "hosting"],
  coop: ["opener", "headers", "hosting"],
  crash: ["death", "recovering"],
  futex: ["mutex", "waiting"],
  kill: ["death", "recovering"],
  killed: ["death", "recovering"],
  lock: ["mutex"],
  locking: ["mutex"],
  rpc: ["calls"],
  signal: ["event", "condition"],
  threadpool: ["pool"],
};

/** The words that a word of a question stands for. */
function meanings(term: string): string[] {
  const word = term.toLowerCase();
  return EMPTY.has(word) ? [] : [word, ...OTHERS[word] ?? []];
}

/** The options of MiniSearch. */
export const OPTIONS = {
  fields: ["title", "page", "text"],
  storeFields: ["url", "page", "title"],
  searchOptions: {
    prefix: true,
    fuzzy: 0.2,
    boost: { title: 3, page: 4 },
    processTerm: meanings,
  },
};

/**
 * Finds what does not fit together in the words of a primitive.
 *
 * @module
 */

import { sealOf, type WordsInspection } from "./region.ts";

/** Something in the words of a primitive that does not fit together. */
export interface Problem {
  /**
   * The name of the word, such as `"tail"`. For a word behind the named ones it
   * is the part that the word belongs to, such as `"slot 3"`.
   */
  readonly word: string;
  /** Where the word is, counted in words from the begin of the primitive. */
  readonly index: number;
  /** The value that was read there. */
  readonly value: number;
  /**
   * `"damaged"`: no agent that works as it should leaves it so, wherever agents
   * are terminated. `"claimed"`: an agent began an operation there, and has not
   * ended it. If that agent lives, it will; if not, the primitive is blocked
   * there.
   */
  readonly what: "damaged" | "claimed";
  /** What is wrong, in plain English. */
  readonly text: string;
}

/** Tells a problem of the word at `index`, if there is one. */
type Tell = (wrong: boolean, index: number, text: string) => void;

/** Tells what does not fit together in a copy of the words. */
export type Check = (words: Int32Array, tell: Tell) => void;

/**
 * Tells a problem of a word behind the named ones. `word` is its name, such as
 * `"slot 3"`, and `value` is what was read there.
 */
export type TellBehind = (
  index: number,
  word: string,
  value: number,
  text: string,
  what?: Problem["what"],
) => void;

/** The facts by which problems of one kind of primitive are found. */
export interface WordsProblems {
  /**
   * The bytes of a region with this configuration. Throws if it is impossible.
   */
  readonly byteLength?: (
    first: number,
    second: number,
    head: Int32Array,
  ) => number;
  /** Tells what does not fit together behind its words, in the whole region. */
  readonly behind?: (region: Int32Array, tell: TellBehind) => void;
}

/** The problem of a word that names an agent. */
export const NO_AGENT = "No agent has this id.";
/** The problem of a word that is 0 or 1. */
export const NO_FLAG = "It must be 0 or 1.";

/** The most problems that are told. */
const MOST_PROBLEMS = 16;
/**
 * How many more looks must find a problem unchanged before it is told. Words
 * that agents change meanwhile may seem not to fit together, but only once.
 */
const LOOKS = 20;

/** The same with the rules of its words. */
interface Facts extends WordsProblems {
  /** Tells what does not fit together in a copy of them. */
  readonly problems: Check | undefined;
}

/** The problems of the primitive at the place of `at`; writes nothing. */
export function problemsOf(
  row: WordsInspection["row"],
  facts: Facts,
  at: Int32Array,
): Problem[] {
  let problems = problemsIn(row, facts, copyOf(row, at), at);
  for (let looks = LOOKS; looks > 0 && problems.length > 0; looks--) {
    const again = problemsIn(row, facts, copyOf(row, at), at);
    problems = problems.filter((problem) =>
      again.some(({ index, value, text }) =>
        index === problem.index && value === problem.value &&
        text === problem.text
      )
    );
  }
  return problems;
}

/** A copy of the words that have names. */
function copyOf(
  row: WordsInspection["row"],
  at: Int32Array,
): Int32Array {
  const copy = new Int32Array(row.length ?? 0);
  for (const [field, index] of Object.entries(row)) {
    if (field !== "length") copy[index] = Atomics.load(at, index);
  }
  return copy;
}

/** The problems that one look finds. */
function problemsIn(
  row: WordsInspection["row"],
  { byteLength, problems, behind }: Facts,
  copy: Int32Array,
  at: Int32Array,
): Problem[] {
  const found: Problem[] = [];
  const add: TellBehind = (index, word, value, text, what = "damaged") => {
    if (found.length === MOST_PROBLEMS) return;
    found.push({ word, index, value, what, text });
  };
  const fields = Object.entries(row);
  const tell: Tell = (wrong, index, text) => {
    if (!wrong) return;
    add(index, fields.find(([, at]) => at === index)![0], copy[index]!, text);
  };
  const { seal } = row;
  let bytes = copy.length * 4;
  if (seal !== undefined) {
    const first = seal > 1 ? copy[1]! : 0;
    const second = seal > 2 ? copy[2]! : 0;
    const wrong = copy[seal] !== sealOf(copy[0]!, first, second);
    tell(wrong, seal, "The configuration does not match its seal.");
    try {
      bytes = byteLength?.(first, second, copy) ?? bytes;
    } catch {
      tell(!wrong, 1, "The configuration is impossible.");
    }
    const end = at.byteOffset + bytes;
    const fits = wrong || end <= at.buffer.byteLength;
    tell(!fits, 1, "It does not fit the memory.");
    if (found.length > 0) return found;
  }
  for (const [field, index] of fields) {
    if (!field.endsWith("waiters")) continue;
    // Bit 31 of an epoch's count is a flag, and 2^30 agents never wait.
    const below = field === "waiters" ? -0x8000_0000 : 0x4000_0000;
    const wrong = (copy[index]! & below) !== 0;
    tell(wrong, index, "There are fewer than 0 waiters.");
  }
  problems?.(copy, tell);
  behind?.(new Int32Array(at.buffer, at.byteOffset, bytes / 4), add);
  return found;
}

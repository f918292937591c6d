/**
 * The words after the name of a task: `--help` prints how the task is used, and
 * an unknown option ends it with one line.
 *
 * @module
 */

import process from "node:process";
import { parseArgs } from "node:util";

/** The words of a command. */
export interface Words {
  /** The options that were given, by name. */
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  /** The other words. */
  readonly positionals: readonly string[];
}

/** The options of a task, by name, and whether a word follows each. */
export type Options = Readonly<Record<string, "boolean" | "string">>;

/** Reads the words of this process. Ends it after `--help`, or bad words. */
export function wordsOf(usage: string, options: Options = {}): Words {
  const known = Object.entries({ ...options, help: "boolean" as const })
    .map(([name, type]) => [name, { type }] as const);
  try {
    const { values, positionals } = parseArgs({
      options: Object.fromEntries(known),
      allowPositionals: true,
    });
    if (!values.help) {
      return { values: values as Words["values"], positionals };
    }
  } catch (error) {
    const [what] = (error as Error).message.split(". ");
    complain(`${what}; --help says what there is`);
  }
  console.log(usage);
  process.exit(0);
}

/** Ends this process after `--help`, or any word, if its task takes none. */
export function takesNoWords(usage: string): void {
  if (wordsOf(usage).positionals.length === 0) return;
  const [, command] = /^usage: (.*)$/m.exec(usage)!;
  complain(`${command} takes no words; see --help`);
}

/** Prints one line that says what is wrong with the words, and ends. */
export function complain(what: string): never {
  console.error(what);
  process.exit(2);
}

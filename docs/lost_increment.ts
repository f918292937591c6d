/**
 * The lost increment of `guides/atomics.md`. Run with
 * `deno run -A docs/lost_increment.ts`, this writes the picture beside it.
 *
 * @module
 */
import { race, RaceError } from "../race/mod.ts";

const counter = race.spec({
  memory: () => new SharedArrayBuffer(4),
  agent: (memory) => new Int32Array(memory),
  words: { count: 0 },
  init: 0,
  ops: {
    increment: {
      run: (words) => words[0]!++,
      model: (n) => [n + 1, n],
    },
  },
});

/** The picture of an interleaving in which an increment is lost. */
export function picture(): string {
  const program = ["increment"] as const;
  const result = race.check(counter, [program], [program], {
    races: false,
  });
  if (result.ok) throw new Error("the lost increment was not found");
  return new RaceError(result, "two agents increment").failure.svg();
}

if (import.meta.main) {
  const { writeFile } = await import("node:fs/promises");
  const file = new URL("lost_increment.svg", import.meta.url);
  await writeFile(file, picture());
}

/**
 * Lines for the race tester: each agent shall add 1 to `words[0]`.
 *
 * @module
 */

/** The examples, by the names that a visitor picks. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  "A lost increment": `// Each agent adds 1. What can go wrong?
const old = Atomics.load(words, 0);
const sum = old + 1;

Atomics.store(words, 0, sum);`,

  "Compare and exchange": `// Each agent adds 1. Atomics.add does the same.
for (let old = Atomics.load(words, 0), seen; ; old = seen) {
  seen = Atomics.compareExchange(words, 0, old, old + 1);
  if (seen === old) break; // nobody came between
}`,

  "A flag as a lock": `// words[1] says that somebody is in. Who looks first?
while (Atomics.load(words, 1) === 1);
Atomics.store(words, 1, 1);
Atomics.store(words, 0, Atomics.load(words, 0) + 1);
Atomics.store(words, 1, 0);`,

  "Two polite agents":
    `// Each says that it wants to, and then waits for the other.
const other = 1 - me;
Atomics.store(words, 1 + me, 1);
while (Atomics.load(words, 1 + other) === 1);
Atomics.store(words, 0, Atomics.load(words, 0) + 1);
Atomics.store(words, 1 + me, 0);`,

  "Peterson's lock":
    `// Each says that it wants to, and lets the other go first.
const other = 1 - me;
Atomics.store(words, 1 + me, 1);
Atomics.store(words, 3, other);
while (
  Atomics.load(words, 1 + other) === 1 && Atomics.load(words, 3) === other
);
Atomics.store(words, 0, Atomics.load(words, 0) + 1);
Atomics.store(words, 1 + me, 0);`,

  "A lost wake-up": `// Agent 1 sleeps until agent 0 was here.
Atomics.add(words, 0, 1);
if (me === 0) {
  Atomics.notify(words, 1);
  Atomics.store(words, 1, 1);
} else {
  Atomics.wait(words, 1, 0);
}`,
};

// Tests of the lists of mutants themselves, and of how those in C are compiled.
import * as assert from "uvu/assert";
import { changeOf } from "./edits.ts";
import { suite } from "./harness.ts";
import { Variants } from "./mixed/variants.ts";
import { mutantsIn, MUTATED } from "./mutants.ts";

const test = suite("mutants");

test("fewer than 3 in 100 are equivalent", async () => {
  const all = (await Promise.all(MUTATED.map(mutantsIn))).flat();
  const { length } = all.filter(({ equivalent }) => equivalent);
  if (length >= 0.03 * all.length) throw new Error(`${length} are`);
});

test("each names the scenario that finds it", async () => {
  const all = (await Promise.all(MUTATED.map(mutantsIn))).flat();
  const nameless = all.filter(({ by, equivalent }) => !by && !equivalent)
    .map(({ source, what }) => `${source}: ${what}`);
  assert.equal(nameless, [], "run `deno task mutants --write`");
});

test("an edit is one text, with what it removes and adds marked", () => {
  assert.equal(changeOf("a [-b-]{+c+} d"), ["a b d", "a c d"]);
  assert.equal(changeOf("[-if (x[0]) -]{"), ["if (x[0]) {", "{"]);
  assert.equal(changeOf("i[-++-];{+ for (;;) {+}"), ["i++;", "i; for (;;) {"]);
  assert.throws(() => changeOf("a b"), /\[-removed-\] or \{\+added\+\} text/);
});

const HEADER = `#define STEP 1

static inline void add(int *word, int (*fn)(int a, int b)) {
  *word = fn(*word, STEP);
}

static inline int get(void) { return 1; }
`;

/** What a header with a number of mistakes in it is made of. */
const of = (...edits: [from: string, to: string][]): string[] => {
  const variants = new Variants(HEADER);
  edits.forEach(([from, to], i) => {
    assert.ok(variants.add(i + 1, HEADER.replace(from, to)), from);
  });
  return variants.text().split(/\n+/);
};

test("a function with mistakes calls the one that is chosen", () => {
  assert.equal(of(["return 1", "return 2"], ["return 1", "return 3"]), [
    "#define STEP 1",
    "static inline void add(int *word, int (*fn)(int a, int b)) {",
    "  *word = fn(*word, STEP);",
    "}",
    "static inline int get(void);",
    "static inline int get__0(void) { return 1; }",
    "static inline int get__1(void) { return 2; }",
    "static inline int get__2(void) { return 3; }",
    "static inline int get(void) {",
    "  switch (race_mutant) {",
    "  case 1:",
    "    return get__1();",
    "  case 2:",
    "    return get__2();",
    "  }",
    "  return get__0();",
    "}",
    "",
  ]);
});

test("one that returns nothing gets all its arguments", () => {
  const lines = of(["*word, STEP", "STEP, *word"]);
  assert.ok(lines.includes("  case 1:"));
  assert.ok(lines.includes("    add__1(word, fn);"));
  assert.is(lines[lines.indexOf("    add__1(word, fn);") + 1], "    return;");
});

test("a mistake outside of functions needs a module of its own", () => {
  const variants = new Variants(HEADER);
  for (
    const [from, to] of [
      ["STEP 1", "STEP 2"],
      ["int get", "long get"],
      ["get(void)", "get(int n)"],
      ["int *word", "long *word"],
    ] as const
  ) {
    assert.not(variants.add(1, HEADER.replace(from, to)), from);
  }
  assert.is(variants.text(), HEADER);
});

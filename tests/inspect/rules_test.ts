// Each rule of `inspect`, and each bound of it, is needed: a mistake in any
// rule of `tests/project/_rules.ts` changes what is told of the words of
// `rule_cases.ts`.
import * as assert from "uvu/assert";
import { LAYOUT, type Stem } from "../../primitives/_memory/layout.ts";
import type { Check } from "../../primitives/_memory/problems.ts";
import { RULES as WRITTEN } from "../../primitives/tools/_rules.ts";
import { suite } from "../_run/harness.ts";
import { RULES, type Rules } from "../project/_rules.ts";
import { tsRules } from "../project/_rules_text.ts";
import { type Case, CASES } from "./rule_cases.ts";

const test = suite("the rules of inspect");

/** Mistakes that change nothing, and why. */
const EQUIVALENT: Readonly<Record<string, string>> = {
  "event state: (state & AUTO) != 0 && state <= 0": "AUTO is a bit of it",
  "event state: (state & AUTO) != 0 && state < 1": "AUTO is a bit of it",
  "channel place: place < -1 || place % 4 != 0": "-1 is no multiple of 4",
  "spsc_queue head: used < -1 || used > lap": "it is a multiple of 4",
  "record_ring tail: (end & 6) != 0": "bit 0 is CLOSED, and not of `end`",
};

const stems = Object.keys(RULES) as Stem[];

/** The names of the words that `check` finds wrong. */
function wrongIn(stem: Stem, check: Check | undefined, [words]: Case) {
  const row: Record<string, number> = LAYOUT[stem];
  const copy = new Int32Array(row.length!);
  for (const [name, value] of Object.entries(words)) {
    assert.ok(name in row, `${stem} has no word ${name}`);
    copy[row[name]!] = value;
  }
  const wrong: string[] = [];
  check?.(copy, (isWrong, index) => {
    if (isWrong) wrong.push(Object.keys(row).find((it) => row[it] === index)!);
  });
  return wrong;
}

/**
 * The function that these rules of `stem` are, as `deno task layout` has it.
 */
function checkOf(stem: Stem, rules: Rules): Check | undefined {
  const text = tsRules({ [stem]: rules })
    .replace(/^import .*$/gm, "")
    .replace(/export const RULES[^=]*=/, "return")
    .replaceAll("]!;", "];");
  return Function(text)()[stem];
}

/** The name of bits, but not as the argument of a function. */
const BITS = /(?<![\w.])(?<!\w\()(?<!, )[A-Z][A-Z_]*(?:\.[A-Z]+)?(?![\w.])/g;

/** The text with one piece of it replaced, for each mistake that fits there. */
function mistakesIn(text: string): string[] {
  const found: string[] = [];
  const at = (pattern: RegExp, ...replaced: ((it: string) => string)[]) => {
    for (const { 0: whole, index } of text.matchAll(pattern)) {
      for (const replace of replaced) {
        const end = index + whole.length;
        found.push(text.slice(0, index) + replace(whole) + text.slice(end));
      }
    }
  };
  at(/(?<![<>])<(?![<=])/g, () => "<=");
  at(/(?<![<>])>(?![>=])/g, () => ">=");
  at(/==/g, () => "!=");
  at(/!=/g, () => "==");
  at(/&&/g, () => "||");
  at(/\|\|/g, () => "&&");
  at(/\b\d+\b/g, (it) => `${+it + 1}`, (it) => `${+it - 1}`);
  at(/\b0x[0-9a-f]+\b/g, () => "0");
  at(/~(?=[A-Z(\d])/g, () => "");
  at(BITS, () => "0", () => "-1");
  at(/\bminus\((\w+), (\w+)\)/g, (it) => it.replace(/(\w+), (\w+)/, "$2, $1"));
  return found;
}

/** The rules with one mistake, and what it is. */
function* mutantsOf(rules: Rules): Generator<[what: string, Rules]> {
  for (const [i, [word, wrong, text]] of rules.rules.entries()) {
    yield [`without the rule: ${word}: ${text}`, {
      ...rules,
      rules: rules.rules.toSpliced(i, 1),
    }];
    for (const mistake of mistakesIn(wrong)) {
      const changed = rules.rules.with(i, [word, mistake, text]);
      yield [`${word}: ${mistake}`, { ...rules, rules: changed }];
    }
  }
  for (const [name, value] of Object.entries(rules.values ?? {})) {
    for (const mistake of mistakesIn(value)) {
      const values = { ...rules.values, [name]: mistake };
      yield [`${name} = ${mistake}`, { ...rules, values }];
    }
  }
}

for (const stem of stems) {
  const cases = CASES[stem] ?? [];

  test(`inspect tells which words of a ${stem} are wrong`, () => {
    for (const it of cases) {
      const [words, ...wrong] = it;
      assert.equal(
        wrongIn(stem, WRITTEN[stem], it),
        wrong,
        JSON.stringify(words),
      );
    }
  });

  test(`each mistake in a rule of a ${stem} is noticed`, () => {
    const survived: string[] = [];
    for (const [what, rules] of mutantsOf(RULES[stem]!)) {
      const check = checkOf(stem, rules);
      const isSame = cases.every((it) =>
        JSON.stringify(wrongIn(stem, check, it)) ===
          JSON.stringify(it.slice(1))
      );
      if (isSame && !(`${stem} ${what}` in EQUIVALENT)) survived.push(what);
    }
    assert.equal(survived, []);
  });
}

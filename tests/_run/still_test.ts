// it is long
// Modules that are evaluated once for all runs of an agent keep nothing.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import { foldersWith, TESTS } from "./folders.ts";
import { suite } from "./harness.ts";
import { Sources } from "./realm.ts";
import {
  MODULES,
  type Modules,
  type Scenario,
  scenariosIn,
  type Weft,
} from "./scenario.ts";
import { weft } from "./weft.ts";

const test = suite("modules that keep nothing");

const FIXTURES = new URL("./fixtures/", import.meta.url);
const COUNTING = new URL("counting.ts", FIXTURES);
const USING = new URL("using.ts", FIXTURES);

/** The fixtures, as agents have them. */
interface Fixtures {
  readonly counting: { next(): number };
  readonly using: { count(): number };
}

const fixtures = await Sources.of<Fixtures>({
  counting: COUNTING,
  using: USING,
});

/** Where a module may keep a number: `next()` returns the next one. */
const PLACES: Readonly<Record<string, string>> = {
  "a variable":
    "let n = 0;\nexport function next(): number {\n  return ++n;\n}\n",
  "a variable of var":
    "var n = 0;\nexport function next(): number {\n  return ++n;\n}\n",
  "one of two variables":
    "let m = 1, n = 0;\nexport const next = (): number => n += m;\n",
  "a variable that is exported, and declared by a pattern":
    "export let [n] = [0];\nexport const next = (): number => ++n;\n",
  "an object": "const o = { n: 0 };\nexport const next = () => ++o.n;\n",
  "an object within one":
    "const o = { p: [{ n: 0 }] };\nexport const next = () => ++o.p[0]!.n;\n",
  "an array": "const a: number[] = [];\nexport const next = () => a.push(0);\n",
  "a map":
    "const m = new Map();\nexport const next = () => m.set(m.size, 0).size;\n",
  "a weak map":
    "const m = new WeakMap();\nexport const next = (): number => {\n" +
    "  const n = (m.get(next) ?? 0) + 1;\n  m.set(next, n);\n  return n;\n};\n",
  "a map in an object": "const o = { m: new Set() };\n" +
    "export const next = () => o.m.add(o.m.size).size;\n",
  "an array of bytes":
    "const b = new Uint8Array(1);\nexport const next = () => ++b[0]!;\n",
  "a static field":
    "class C {\n  static n = 0;\n}\nexport const next = () => ++C.n;\n",
  "a private static field":
    "class C {\n  static #n = 0;\n  static next() {\n    return ++C.#n;\n  }\n" +
    "}\nexport const next = () => C.next();\n",
  "an object of a private static field":
    "class C {\n  static readonly #o = { n: 0 };\n  static next() {\n" +
    "    return ++C.#o.n;\n  }\n}\nexport const next = () => C.next();\n",
  "a static block":
    "let next: () => number;\nclass C {\n  static {\n    let n = 0;\n" +
    "    next = () => ++n;\n  }\n}\nexport { C, next };\n",
  "a prototype":
    "class C {\n  declare n: number;\n}\nexport function next(): number {\n" +
    "  C.prototype.n = (C.prototype.n ?? 0) + 1;\n  return C.prototype.n;\n}\n",
  "an instance":
    "class C {\n  n = 0;\n}\nconst c = new C();\nexport const next = () => ++c.n;\n",
  "a field of a function":
    "export function next(): number {\n  return next.n = (next.n ?? 0) + 1;\n" +
    "}\ndeclare namespace next {\n  let n: number | undefined;\n}\n",
  "a field of an arrow function in a table":
    "const T = { f: () => 0 } as unknown as { f: { n?: number } };\n" +
    "export const next = () => T.f.n = (T.f.n ?? 0) + 1;\n",
  "a function that is replaced":
    "let n = () => 0;\nexport function next(): number {\n  const m = n() + 1;\n" +
    "  n = () => m;\n  return m;\n}\n",
  "a declared function that is replaced":
    "function now(): number {\n  return 0;\n}\nexport function next(): number {\n" +
    "  const m = now() + 1;\n  // deno-lint-ignore no-func-assign\n" +
    "  now = () => m;\n  return m;\n}\n",
  "a class that is replaced":
    "class C {\n  static n = 0;\n}\nexport function next(): number {\n" +
    "  const n = C.n + 1;\n  [C] = [class {\n    static n = n;\n  }];\n" +
    "  return n;\n}\n",
  "a closure":
    "export const next = (() => {\n  let n = 0;\n  return () => ++n;\n})();\n",
  "a closure in a table":
    "const T = {\n  next: (() => {\n    let n = 0;\n    return () => ++n;\n" +
    "  })(),\n};\nexport const next = () => T.next();\n",
  "a closure over a parameter":
    "function from(n: number): () => number {\n  return () => ++n;\n}\n" +
    "export const next = from(0);\n",
  "a closure over a default":
    "function from(n = 0): () => number {\n  return () => ++n;\n}\n" +
    "export const next = from();\n",
  "a closure over an object":
    "function from(o: { n: number }): () => number {\n  return () => ++o.n;\n" +
    "}\nexport const next = from({ n: 0 });\n",
  "a class in a closure":
    "function made() {\n  const o = { n: 0 };\n  class C {\n    static next() {\n" +
    "      return ++o.n;\n    }\n  }\n  return C;\n}\nconst C = made();\n" +
    "export const next = () => C.next();\n",
  "an object beside a class in a closure":
    "function made(o: { n: number }) {\n  class C {\n    static next() {\n" +
    "      return ++o.n;\n    }\n  }\n  return C;\n}\n" +
    "const C = made({ n: 0 });\nexport const next = () => C.next();\n",
  "a class that only a closure reaches":
    "function made() {\n  class C {\n    declare static n?: number;\n  }\n" +
    "  return C;\n}\nfunction of(K: { n?: number }) {\n  class C {\n" +
    "    static next() {\n      return K.n = (K.n ?? 0) + 1;\n    }\n  }\n" +
    "  return C;\n}\nconst C = of(made());\n" +
    "export const next = () => C.next();\n",
  "a class that is only a base":
    "function made() {\n  class C {\n    declare static n?: number;\n  }\n" +
    "  return C;\n}\nfunction of(K: { new (): object; n?: number }) {\n" +
    "  class C extends K {\n    static next() {\n" +
    "      return K.n = (K.n ?? 0) + 1;\n    }\n  }\n  return C;\n}\n" +
    "const C = of(made());\nexport const next = () => C.next();\n",
  "a class that is a variable in a closure":
    "function made() {\n  class C {\n    declare static n?: number;\n  }\n" +
    "  return C;\n}\nfunction of() {\n  const K = made();\n  class C {\n" +
    "    static next() {\n      return K.n = (K.n ?? 0) + 1;\n    }\n  }\n" +
    "  return C;\n}\nconst C = of();\nexport const next = () => C.next();\n",
  "an arrow function in a closure":
    "const next = (() => {\n  const f = (() => 0) as { n?: number };\n" +
    "  return () => f.n = (f.n ?? 0) + 1;\n})();\nexport { next };\n",
  "a generator":
    "function* all(): Generator<number> {\n  for (let n = 1;; n++) yield n;\n}\n" +
    "const G = all();\nexport const next = (): number => G.next().value;\n",
  "what a getter made":
    "const T = {\n  get m() {\n    return new Set();\n  },\n};\n" +
    "const M = T.m;\nexport const next = () => M.add(M.size).size;\n",
  "what a static getter made":
    "class C {\n  static get m() {\n    return new Set();\n  }\n}\n" +
    "const M = C.m;\nexport const next = () => M.add(M.size).size;\n",
  "a pattern that is searched on":
    "const P = /a/y;\nexport const next = (): number => {\n" +
    "  P.test('aaaaaaaaaaaaaaaa');\n  return P.lastIndex;\n};\n",
  "a place in a pattern":
    "const P = /a/;\nexport const next = () => ++P.lastIndex;\n",
  "a statement": "const o: { n?: number } = {};\no.n = 0;\n" +
    "export const next = () => ++o.n!;\n",
  "members that a function is given":
    "export const next = (): number => ++given.n;\n" +
    "const given = Object.assign(f, { n: 0 });\nfunction f() {}\n",
  "members that a class is given":
    "class C {}\nconst given = Object.assign(C, { n: 0 });\n" +
    "export const next = (): number => ++given.n;\n",
  "two variables of one statement, of which one needs the other":
    "let m = 1, n = m - 1;\nexport const next = (): number => n += m;\n",
  "a constant that is made of a variable":
    "let m = 0;\nconst o = { n: m };\nexport function next(): number {\n" +
    "  m = 7;\n  return ++o.n;\n}\n",
  "what evaluates a text":
    "function now(): number {\n  return 0;\n}\nexport function next(): number {\n" +
    "  const m = now() + 1;\n  eval(`now = () => ${m}`);\n  return m;\n}\n",
};

/** What `next()` returns first in some runs of an agent; or what it throws. */
function runs(sources: Sources<Fixtures>): unknown[] {
  return Array.from({ length: 3 }, () => {
    try {
      const { using } = sources.renewed(0);
      const first = using.count();
      using.count();
      return first;
    } catch (error) {
      if (error instanceof TypeError) return "refused";
      throw error;
    }
  });
}

for (const [place, text] of Object.entries(PLACES)) {
  test(`what is kept in ${place} is new in each run, or refused`, async () => {
    const sources = await fixtures.with(fileURLToPath(COUNTING), text);
    const { next } = sources.evaluated().counting;
    assert.equal([next(), next()], [1, 2]);
    const found = runs(sources);
    const all = [[1, 1, 1], ["refused", "refused", "refused"]];
    assert.ok(all.some((one) => `${one}` === `${found}`), `${found}`);
  });
}

/** What a module may take from one that keeps something. */
const TAKES: Readonly<Record<string, string>> = {
  "a function": 'import { next } from "./counting.ts";\n' +
    "const T = { next };\nexport const count = () => T.next();\n",
  "a result": 'import { next } from "./counting.ts";\nlet n = next();\n' +
    "export const count = () => n++;\n",
  "what it exports": 'export { next as count } from "./counting.ts";\n',
  "all that it exports": 'import * as counting from "./counting.ts";\n' +
    "const T = { counting };\nexport const count = () => T.counting.next();\n",
  "a function in a class": 'import { next } from "./counting.ts";\n' +
    "class C {\n  static readonly next = next;\n}\n" +
    "export const count = () => C.next();\n",
};

for (const [what, text] of Object.entries(TAKES)) {
  test(`a module that takes ${what} of another has it as new`, async () => {
    const sources = await fixtures.with(fileURLToPath(USING), text);
    assert.equal(runs(sources), [1, 1, 1]);
  });
}

test("a module has as new what another keeps by a mistake", async () => {
  const text = TAKES["a function"]!;
  const before = await fixtures.with(fileURLToPath(USING), text);
  assert.equal(runs(before), [1, 1, 1]);
  const mistake = "let n = 0;\nlet next = (): number => ++n;\n" +
    "export const other = () => next = () => 0;\nexport { next };\n";
  const sources = await before.with(fileURLToPath(COUNTING), mistake);
  assert.equal(runs(sources), [1, 1, 1]);
  assert.equal(runs(before), [1, 1, 1]);
});

test("of a module that keeps something, all else is made once", async () => {
  const text = "export let n = 0;\nexport class C {}\n" +
    "export const next = (): number => ++n;\n";
  const sources = await fixtures.with(fileURLToPath(COUNTING), text);
  const { counting } = sources.renewed(0) as unknown as {
    counting: { next(): number; readonly C: unknown; readonly n: number };
  };
  const { next, C } = counting;
  assert.equal([next(), next(), counting.n], [1, 2, 2]);
  sources.renewed(0);
  assert.is(counting.n, 0);
  assert.is(counting.next, next);
  assert.is(counting.C, C);
});

test("a module that only uses another is evaluated once", () => {
  const reasonOf = (url: URL) => fixtures.reasonOf(fileURLToPath(url));
  assert.is(reasonOf(USING), undefined);
  assert.type(reasonOf(COUNTING), "string");
  assert.equal(runs(fixtures), [1, 1, 1]);
});

test("agents have modules of their own", () => {
  const { using } = fixtures.renewed(0);
  assert.is(using.count(), 1);
  assert.is(fixtures.renewed(1).using.count(), 1);
  assert.is(using.count(), 2);
});

const library = await Sources.of<Modules>(MODULES);

test("modules of the library that declare variables are evaluated anew", () => {
  for (const file of library.files) {
    const text = fs.readFileSync(file, "utf8");
    if (!/^(export )?(let|var) /m.test(text)) continue;
    assert.type(library.reasonOf(file), "string", file);
  }
});

test("most modules of the library are evaluated once", () => {
  const kept = library.files
    .filter((file) => library.reasonOf(file) !== undefined)
    .map((file) => `${path.relative(TESTS, file)}: ${library.reasonOf(file)}`);
  assert.ok(kept.length * 3 < library.files.length, kept.join("\n"));
});

/** Explores the first states of a scenario. */
const explored = async ({ spec, agents, options }: Scenario) => {
  const { failure, states, steps, complete } = await race.check(
    spec,
    ...agents,
    { ...options, states: 20, runs: 0 },
  );
  return { failure: failure?.kind, states, steps, complete };
};

for (const folder of foldersWith("scenarios.ts")) {
  const file = path.join(TESTS, folder, "scenarios.ts");
  if (!/\bitsOwn\(/.test(fs.readFileSync(file, "utf8"))) continue;
  test(`scenarios of ${folder} take the same steps with fresh modules`, async () => {
    const scenarios = await scenariosIn(folder);
    let made = 0;
    const fresh: Weft = {
      ...weft,
      renewed: () => {
        made++;
        return weft.realm();
      },
    };
    const others = scenarios(fresh);
    let compared = 0;
    for (const [i, scenario] of scenarios(weft).entries()) {
      const before = made;
      const expected = await explored(others[i]!);
      if (made === before) continue;
      assert.equal(await explored(scenario), expected, scenario.name);
      if (++compared === 3) break;
    }
    assert.ok(compared > 0);
  });
}

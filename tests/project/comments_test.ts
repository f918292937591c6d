// What must be said of all that users see: `deno doc --lint` sees that it has a
// comment at all, and this, what is in it.
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { functionsOf, headerText } from "../_run/header.ts";
import { run } from "../_run/native.ts";

const MOD = fileURLToPath(new URL("../../mod.ts", import.meta.url));

/** What `deno doc --json` says, as far as it is used here. */
interface Declaration {
  kind: string;
  def: { extends?: string; isAbstract?: boolean; methods?: Method[] };
  jsDoc?: Comment;
}
interface Method {
  name: string;
  jsDoc?: Comment;
  accessibility?: string;
  functionDef: { params: unknown[] };
}
interface Comment {
  doc?: string;
  tags?: { kind: string }[];
}
interface Docs {
  nodes: Record<
    string,
    { symbols: { name: string; declarations: Declaration[] }[] }
  >;
}

const said = await run(Deno.execPath(), ["doc", "--json", MOD], 60);
const docs = JSON.parse(said.output.slice(said.output.indexOf("{"))) as Docs;
const symbols = Object.values(docs.nodes).flatMap(({ symbols }) => symbols);

// After the last await: a file that runs alone has declared its tests by now.
const test = suite("comments");

const PRIMITIVE = [
  "Invariant:",
  "Progress:",
  "Freed when:",
  "Fairness:",
  "C twin:",
  "Source:",
  "terminated",
];

test("each primitive's class says what it must", () => {
  // A primitive bears the name of its file: SlabPool of `slab_pool.ts`. All
  // files that mod.ts names have one, but for agent, calls, value, struct,
  // wait_any, select, recover and inspect.
  const stems = [
    ...fs.readFileSync(MOD, "utf8").matchAll(
      /primitives\/(?:tools\/)?([a-z]\w*)\.ts/g,
    ),
  ].map(([, stem]) => stem!);
  const names = stems.map((stem) =>
    stem.replaceAll(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase())
  );
  const primitives = symbols.filter(({ name, declarations: [first] }) =>
    names.includes(name) && first!.kind === "class" && !first!.def.isAbstract
  );
  assert.is(primitives.length, names.length - 8);
  const missing = primitives.flatMap(({ name, declarations: [first] }) =>
    PRIMITIVE.filter((word) => !first!.jsDoc?.doc?.includes(word))
      .map((word) => `${name}: ${word}`)
  );
  assert.equal(missing, []);
});

test("each function, class and value has an example", () => {
  const missing = symbols.filter(({ name, declarations }) =>
    /^(function|class|variable)$/.test(declarations[0]!.kind) &&
    name !== "Region" && // abstract, and of no use by itself
    !declarations.some(({ jsDoc }) =>
      jsDoc?.tags?.some(({ kind }) => kind === "example") ||
      jsDoc?.doc?.includes("```ts\n")
    )
  );
  assert.equal(missing.map(({ name }) => name), []);
});

test("a class with words shows its example first, and its words last", () => {
  const texts = symbols
    .filter(({ declarations: [first] }) => first!.kind === "class")
    .map(({ name, declarations: [first] }) => ({
      name,
      doc: first!.jsDoc?.doc ?? "",
    }))
    .filter(({ doc }) => doc.includes("```text\nword 0"));
  assert.ok(texts.length > 20, `${texts.length} classes`);
  // Editors show what stands first, and tags last: so the example is none.
  const order = /^[^`]*(`[^`]+`[^`]*)*```ts\n[^]*```text\nword 0[^]*\n```$/;
  const wrong = texts.filter(({ doc }) => !order.test(doc.trim()));
  assert.equal(wrong.map(({ name }) => name), []);
  const empty = symbols.filter(({ declarations }) =>
    declarations.some(({ jsDoc }) => jsDoc?.doc?.includes("```text\n```"))
  );
  assert.equal(empty.map(({ name }) => name), []);
});

test("each method that takes something says what it throws", () => {
  const classes = symbols
    .filter(({ declarations: [first] }) => first!.kind === "class");
  const silent = classes.flatMap(({ name, declarations: [first] }) =>
    (first!.def.methods ?? [])
      .filter(({ name, jsDoc, accessibility, functionDef: { params } }) => {
        const kinds = jsDoc?.tags?.map(({ kind }) => kind) ?? [];
        return jsDoc?.doc && params.length > 0 && accessibility === undefined &&
          !/^\[|^abandon$/.test(name) && !kinds.includes("throws") &&
          !/^As |: see /.test(jsDoc.doc); // as another one
      })
      .map((method) => `${name}.${method.name}`)
  );
  assert.equal(silent, []);
});

test("each public function and type of weft.h has a comment", () => {
  const text = headerText();
  const commented = (name: string, head: RegExp) =>
    head.test(text) ? [] : [name];
  const types = [...text.matchAll(/^\} (weft_[a-z]\w*);$/gm)]
    .map(([, name]) => name!);
  assert.ok(types.length > 20);
  // One comment may speak of a constant and of its function.
  const before = String.raw`\*/\n(#define WEFT_\w+_BYTES .*\n)?`;
  const functions = functionsOf(text).flatMap((name) =>
    commented(name, RegExp(`${before}static inline [\\w ]+?\\*?${name}\\(`))
  );
  assert.equal(functions, []);
  const uncommented = types.flatMap((name) =>
    commented(
      name,
      RegExp(`\\*/\\ntypedef struct \\w*\\s*\\{[^}]*\\} ${name};`),
    )
  );
  assert.equal(uncommented, []);
});

// A header whose words lie elsewhere than in layout.ts is found out, by name.
import * as assert from "uvu/assert";
import { LAYOUT } from "../../../primitives/_memory/layout.ts";
import { headerText, tableOf } from "../header.ts";
import { suite } from "../harness.ts";
import { CASTS, mixed } from "./cast.ts";
import { explore } from "./explore.ts";
import { compile } from "./module.ts";
import { scenarios } from "../../mutex/scenarios.ts";
import { weft } from "../weft.ts";

const test = suite("layout drift");
const TEXT = headerText();

/** The first word of each struct that is declared by itself. */
function firstFields(): [stem: string, field: string][] {
  return Object.entries(tableOf(TEXT).layout).flatMap(([stem, words]) => {
    const [field] = Object.entries(words)
      .filter(([name]) => name !== "length")
      .map(([name]) => name);
    return field === undefined ? [] : [[stem, field] as [string, string]];
  });
}

/** The header with a struct changed. */
function drifted(stem: string, change: (struct: string) => string): string {
  const end = TEXT.indexOf(`} weft_${stem};`);
  const start = TEXT.lastIndexOf("typedef struct", end);
  assert.ok(start >= 0 && end > start, stem);
  const struct = TEXT.slice(start, end);
  const changed = change(struct);
  assert.not.equal(changed, struct, stem);
  return TEXT.slice(0, start) + changed + TEXT.slice(end);
}

/** What the compiler says of a header; fails if nothing. */
async function complaint(name: string, text: string): Promise<string> {
  const message = await compile(`drift_${name}`, text)
    .then(() => "it compiled", (error: Error) => error.message);
  return message.replaceAll('" "', ""); // two literals side by side are one
}

const moved = (stem: string, field: string): string => {
  const word = LAYOUT[stem as keyof typeof LAYOUT] as Record<string, number>;
  return `weft_${stem}.${field} is not word ${word[field]} as in ` +
    "primitives/_memory/layout.ts";
};

function assertSaid(message: string, text: string): void {
  assert.ok(message.includes(text), `${text}\n${message.slice(0, 1000)}`);
}

for (const [stem, field] of firstFields()) {
  test(`one word more in weft_${stem} does not compile`, async () => {
    const declared = new RegExp(`^ *\\w[\\w ]*\\b${field}\\b`, "m");
    const text = drifted(
      stem,
      (struct) => struct.replace(declared, "  int32_t drift;\n$&"),
    );
    assertSaid(await complaint(stem, text), moved(stem, field));
  });
}

const SEAL = "  int32_t seal;\n";
/** What else may become of a word of a latch, and what names the word. */
const DRIFTS: readonly [
  what: string,
  from: string,
  to: string,
  says: string,
][] = [
  ["is missing", SEAL, "", "no member named 'seal' in 'weft_latch'"],
  ["is wider", SEAL, "  int64_t seal;\n", moved("latch", "seal")],
  [
    "is narrower, with the next where it was",
    SEAL,
    "  int16_t seal;\n",
    moved("latch", "seal"),
  ],
  [
    "has changed places",
    `  int32_t magic;\n${SEAL}`,
    `${SEAL}  int32_t magic;\n`,
    moved("latch", "magic"),
  ],
  [
    "has one behind it",
    "  int32_t state;",
    "  int32_t state, drift;",
    "weft_latch is not 3 words long as in primitives/_memory/layout.ts",
  ],
];

for (const [what, from, to, says] of DRIFTS) {
  test(`a word that ${what} does not compile`, async () => {
    const text = drifted("latch", (struct) => struct.replace(from, to));
    const name = what.replace(/\W/g, "_");
    assertSaid(await complaint(name, text), says);
  });
}

test("words that changed places, and their assertions, do not go with JavaScript", async () => {
  const text = TEXT
    .replace(
      "  int32_t state;\n  int32_t starving;\n",
      "  int32_t starving;\n  int32_t state;\n",
    )
    .replace("WEFT_WORD(mutex, state, 0);", "WEFT_WORD(mutex, state, 1);")
    .replace(
      "WEFT_WORD(mutex, starving, 1);",
      "WEFT_WORD(mutex, starving, 0);",
    );
  assert.equal(tableOf(text).layout.mutex, {
    state: 1,
    starving: 0,
    length: 2,
  });
  const wasm = await compile("drift_places", text);
  const found = (cast: string) =>
    Promise.all(
      scenarios(mixed(weft, wasm, CASTS[cast]!))
        .filter(({ name }) => /^(lock, lock|two sections)$/.test(name))
        .map((scenario) =>
          explore(scenario, { states: 4_000 }).then(
            () => "",
            (error: Error) => error.message.split(":")[0],
          )
        ),
    );
  assert.equal(await found("C+C"), ["", ""], "C is right by itself");
  for (const kind of await found("JS+C")) assert.ok(kind, "nothing was found");
});

/**
 * Writes from `primitives/_memory/layout.ts` what repeats its words: the
 * structs of `wasm/weft/`, the table in the comment of each class, the
 * constants of its indexes and bits, the table that `weft_inspect` reads, and
 * `docs/layouts.md`; and from `_rules.ts` the rules of `inspect` in both
 * languages. It also adds a new primitive to the lists of `mod.ts`,
 * `deno.json`, `weft.h` and `inspect`, and writes the tables of
 * docs/primitives/README.md from the comments at the top of the pages.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import process from "node:process";
import { BITS, C_BITS, SOURCE, withBits, withBitsInC } from "./_bits.ts";
import {
  BIT,
  FAMILIES,
  families,
  filesBelow,
  indexesOf,
  KINDS,
  PROJECT,
  read,
  ROW,
  type Row,
  rowsOf,
} from "./_rows.ts";
import { cRules, tsRules } from "./_rules_text.ts";

const RULES = "primitives/tools/_rules.ts";
const C_RULES = "wasm/weft/_inspect_rules.h";
const C_PARTS = "wasm/weft/_inspect_parts.h";
const C_SHOWN = "wasm/weft/_inspect_shown.h";

const USAGE = `usage: deno task layout
Writes the tables and structs that repeat the words of ${SOURCE}, the lists of
all primitives, and the tables that repeat the beginnings of their pages.`;

/** Headers with the words of a class that are not named as it is. */
const HEADERS: Readonly<Record<string, string>> = {
  call_ring: "_call_words",
  channel: "_channel_words",
  hash_map: "_hash_plan",
  record_ring: "_record_words",
  rw_lock: "_rw_lock_counted",
  spsc_queue: "_spsc_words",
};

/** The header that has the words of `stem`. */
export const headerOf = (stem: string): string =>
  `wasm/weft/${HEADERS[stem] ?? stem}.h`;

/** Every file that `layout.ts` decides about, as it should be. */
export function expected(): Map<string, string> {
  const source = families();
  const index = withRows(read(SOURCE));
  const rows = rowsOf(source, index);
  const version = Number(index.match(/^export const VERSION = (\d+);/m)![1]);
  const files = new Map([[SOURCE, index]]);
  const put = (name: string, edit: (text: string) => string) =>
    files.set(name, edit(files.get(name) ?? read(name)));
  for (const row of rows) {
    const freed = freedOf(read(`primitives/${row.stem}.ts`));
    put(headerOf(row.stem), (text) => between(text, structOf(row, freed)));
    put(`primitives/${row.stem}.ts`, (text) => withTable(text, row));
  }
  const indexes = indexesOf(source);
  for (const name of filesBelow("primitives", ".ts")) {
    const text = read(name);
    if (text.search(CONSTANT) >= 0) {
      put(name, (text) => withConstants(text, indexes));
    }
    if (text.search(BITS) >= 0) put(name, withBits);
  }
  for (const name of filesBelow("wasm/weft", ".h")) {
    if (read(name).search(C_BITS) >= 0) put(name, withBitsInC);
  }
  put(
    "wasm/weft/_layout.h",
    (text) => between(text, kindsOf(rows, version, source)),
  );
  put("wasm/weft/_spin.h", (text) => between(text, spinningOf()));
  files.set(RULES, formatted(tsRules(), "ts"));
  put(C_RULES, (text) => between(text, cRules()));
  put(C_SHOWN, (text) => {
    const whole = files.get(C_RULES)! + read(C_PARTS) + text;
    return between(text, rows.map((row) => shownOf(row, whole)).join(""));
  });
  put("docs/layouts.md", (text) => pageOf(text, rows, version));
  const stems = rows.map(({ stem }) => stem);
  for (const [name, list] of Object.entries(LISTS)) {
    put(name, (text) => withAll(text, stems, list));
  }
  put("primitives/tools/inspect.ts", (text) => withInspections(text, stems));
  const modules = modulesOf(files.get("mod.ts")!);
  const last = modulesOf(files.get("deno.json")!)
    .filter((stem) => !modules.includes(stem));
  const pages = [...modules, ...last].map(pageAt);
  const lengths = new Map(rows.map(({ stem, length }) => [stem, length]));
  for (const group of GROUPS) {
    const own = pages.filter(({ facts }) => facts.group === group)
      .map((page) => rowOf(page, lengths.get(page.stem)));
    put(INDEX, (text) => withGroup(text, group, own));
  }
  put(INDEX, (text) => formatted(text));
  for (const { stem, facts } of pages) {
    if (GROUPS.includes(facts.group!)) continue;
    throw new Error(`docs/primitives/${stem}.md: "group" is none of ${GROUPS}`);
  }
  return files;
}

/** The files that are not as they should be. */
export function stale(): string[] {
  return [...expected()].filter(([name, text]) => read(name) !== text)
    .map(([name]) => name);
}

// ---- writing ----------------------------------------------------------------

/** Breaks `text` into lines of at most `width` columns. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) {
      lines.push(word);
    } else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

/** `label`, and beside it the lines of `text`. */
function beside(label: string, text: string[]): string[] {
  const space = " ".repeat(label.length);
  return text.map((line, i) => (i === 0 ? label : space) + line);
}

/** The words as a table of plain text, 77 columns wide. */
function tableOf({ words, behind, length }: Row): string[] {
  const last = behind === undefined ? words.at(-1)!.index : length;
  const first = (index: number) =>
    `word ${index}`.padEnd(`word ${last}`.length + 2);
  const wide = Math.max(...words.map(({ name }) => name.length)) + 2;
  const lines = words.flatMap(({ name, index, meaning, sleeper }) => {
    const label = first(index) + name.padEnd(wide);
    const width = 77 - label.length;
    const bits = meaning.map((line) => line.match(BIT)?.[1]?.length ?? 0);
    const text = meaning.flatMap((line) => {
      const [, bit, rest] = line.match(BIT) ?? [];
      if (bit === undefined) return wrapped(line, width);
      const begin = bit.padEnd(Math.max(...bits) + 2);
      return beside(begin, wrapped(rest!, width - begin.length));
    });
    if (sleeper !== undefined) {
      text.push(...beside("sleepers: ", wrapped(sleeper, width - 10)));
    }
    return beside(label, text);
  });
  if (behind === undefined) return lines;
  const label = first(length);
  return [...lines, ...beside(label, wrapped(behind, 77 - label.length))];
}

const commented = (lines: string[]) =>
  lines.map((line) => ` * ${line}\n`).join("");

/** A header with `made` between the two lines that mark it. */
function between(text: string, made: string): string {
  const begin = ".ts. */\n/* clang-format off */\n";
  const end =
    "/* clang-format on */\n/* End of what `deno task layout` makes. */";
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end);
  if (from < begin.length || to < from) {
    throw new Error("a header has no place for what is made");
  }
  return text.slice(0, from) + made + text.slice(to);
}

/**
 * What the comment of a class says of when its memory may be freed, with the
 * names of C.
 */
function freedOf(source: string): string {
  const [, said] =
    source.match(/^ \* (Freed when: (?:.*\n \* )*?)[A-Z]\w* ?\w*: /m) ??
      [];
  if (said === undefined) throw new Error("a class without 'Freed when:'");
  return said.replaceAll("\n * ", " ").trim()
    .replaceAll(
      /`(\w+)`/g,
      (_, name: string) =>
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    );
}

/** The C struct, and the assertions of where its fields lie. */
function structOf(row: Row, freed: string): string {
  const { stem, what, words, length } = row;
  let [fields, rows, at, pads] = ["", "", 0, 0];
  const pad = (to: number) => {
    if (to > at) fields += `  int32_t _pad${pads++}[${to - at}];\n`;
    at = to;
  };
  for (const { name, index } of words) {
    pad(index);
    fields += `  int32_t ${name};\n`;
    rows += `WEFT_WORD(${stem}, ${name}, ${index});\n`;
    at++;
  }
  pad(length);
  const about = commented([
    ...wrapped(what, 77),
    "",
    ...tableOf(row),
    "",
    ...wrapped(freed, 77),
  ]);
  return `/*
${about.replace(/ +$/gm, "")} */
typedef struct {
${fields}} weft_${stem};
${rows}WEFT_LENGTH(${stem}, ${length});
`;
}

/** The version, the kinds, and where each has its seal. */
function kindsOf(rows: Row[], version: number, source: string): string {
  const waiters = source.match(
    /^export const EVENT_COUNT = .*waiters: (\d+), gong: (\d+)/m,
  )!;
  const configured = rows.filter(({ kind }) => kind !== undefined);
  const seals = new Map<number, string[]>();
  for (const { stem, words } of configured) {
    const { index } = words.find(({ name }) => name === "seal")!;
    seals.set(index, [...seals.get(index) ?? [], stem]);
  }
  const cases = [...seals].sort(([a], [b]) => a - b).map(([index, stems]) =>
    stems.map((stem) => `    case WEFT_KIND_${stem}:\n`).join("") +
    `      return ${index};\n`
  );
  return `#define WEFT__EVENT_WAITERS ${waiters[1]}
#define WEFT__EVENT_GONG ${waiters[2]}
#define WEFT_VERSION ${version}
#define WEFT_KIND(stem, number) enum { WEFT_KIND_##stem = number }
${configured.map(({ stem, kind }) => `WEFT_KIND(${stem}, ${kind});\n`).join("")}
/* The word that holds the seal, behind \`magic\` and the configuration; or 0.
   */
static inline int weft__seal_word(int32_t kind) {
  switch (kind) {
${cases.join("")}    default:
      return 0;
  }
}
`;
}

/** The figures of spinning, which are the same in both languages. */
function spinningOf(): string {
  const figures = /^\/\*\* (.*) \*\/\n(?:export )?const ([A-Z_]+) = (\d+);$/gm;
  return [...read("primitives/_wait/spin.ts").matchAll(figures)]
    .map(([, why, name, figure]) =>
      `/* ${why} */\n#define WEFT__SPIN_${name} ${figure}\n`
    ).join("");
}

/**
 * What \`weft_inspect\` prints of a primitive; \`header\` has its functions.
 */
function shownOf({ stem, kind, words }: Row, header: string): string {
  const has = (what: string) =>
    header.includes(` weft__${stem}_shows_${what}(`)
      ? `weft__${stem}_shows_${what}`
      : "NULL";
  const number = kind === undefined ? "0" : `WEFT_KIND_${stem}`;
  const fields = words.map(({ name }) => `WEFT__FIELD(${stem}, ${name})`);
  return `    {"${stem}", ${number}, ${has("owner")},
     ${has("waiters")},
     ${has("problems")},
     ${has("behind")},
     {${fields.join(",\n      ")}}},
`;
}

/** The text of a class's file with the table in its comment. */
function withTable(text: string, row: Row): string {
  // An empty one is a table that was never written.
  const table = / \* ```text\n(?: \* word 0(?:(?! \* ```)[^])*)? \* ```\n/;
  const lines = commented(tableOf(row)).replace(/ +$/gm, "");
  return text.replace(table, () => ` * \`\`\`text\n${lines} * \`\`\`\n`);
}

/** A constant of a class that says whose index it is, or of which two. */
const CONSTANT =
  /^((?:export )?const \w+): typeof ([A-Z_]+\.\w+) = \d+;|^(const \w+) = \d+; \/\/ ([A-Z_]+\.\w+) - ([A-Z_]+\.\w+)$/gm;

/** The text of a module with the indexes that its constants name. */
function withConstants(text: string, indexes: Map<string, string>): string {
  return text.replace(CONSTANT, (whole, name, word, between, to, from) => {
    const index = (of: string) => indexes.get(of) ?? "0";
    return word !== undefined
      ? `${name}: typeof ${word} = ${index(word)};`
      : `${between} = ${Number(index(to)) - Number(index(from))}; ` +
        whole.slice(whole.indexOf("//"));
  });
}

// ---- lists of all primitives ------------------------------------------------

/** A list that has an entry for each primitive, in one order. */
interface List {
  /** Finds the entry of `stem`. */
  entry(stem: string): RegExp;
  /** Writes an entry for a primitive that has none; `text` has the others. */
  write(stem: string, text: string): string;
}

/** The lists to which a new primitive is added, by file. */
const LISTS: Readonly<Record<string, List>> = {
  "mod.ts": {
    entry: (stem) =>
      RegExp(`^export \\{[^}]*\\} from "\\./primitives/${stem}\\.ts";\\n`, "m"),
    write: (stem) => {
      const names = exportsOf(read(`primitives/${stem}.ts`));
      const from = `} from "./primitives/${stem}.ts";\n`;
      const line = `export { ${names.join(", ")} ${from}`;
      return line.length <= 81
        ? line
        : `export {\n${names.map((name) => `  ${name},\n`).join("")}${from}`;
    },
  },
  "deno.json": {
    entry: (stem) => RegExp(`^    "\\./${stem}": .*\\n`, "m"),
    write: (stem) => `    "./${stem}": "./primitives/${stem}.ts",\n`,
  },
  "wasm/weft.h": {
    entry: (stem) => RegExp(`^#include "weft/${stem}\\.h"\\n`, "m"),
    write: (stem) => `#include "weft/${stem}.h"\n`,
  },
  "wasm/weft/_inspect_rules.h": {
    entry: (stem) => RegExp(`^#include "${stem}\\.h"\\n`, "m"),
    write: (stem) => `#include "${stem}.h"\n`,
  },
  "primitives/tools/inspect.ts": {
    entry: (stem) =>
      RegExp(`^import \\{\\s*INSPECTION as ${stem}\\b[^}]*\\} from .*\\n`, "m"),
    write: (stem) => `import { INSPECTION as ${stem} } from "../${stem}.ts";\n`,
  },
};

/** A list with an entry for each of `stems`, behind that of the one before. */
function withAll(text: string, stems: readonly string[], list: List): string {
  stems.forEach((stem, i) => {
    if (list.entry(stem).test(text)) return;
    const before = text.match(list.entry(stems[i - 1] ?? stems[1]!));
    if (before === null) throw new Error(`no place for ${stem}`);
    const at = before.index! + (i === 0 ? 0 : before[0].length);
    text = text.slice(0, at) + list.write(stem, text) + text.slice(at);
  });
  return text;
}

/** `layout.ts` with the rows of all families in `LAYOUT` and in `KIND`. */
export function withRows(index: string): string {
  for (const file of filesBelow(FAMILIES, ".ts")) {
    const found = [...read(file).matchAll(ROW)];
    const stems = found.map(([, , name]) => name!.toLowerCase());
    const family = file.slice(FAMILIES.length + 1, -".ts".length);
    index = withAll(index, stems, {
      entry: (stem) => RegExp(`^ {2}${stem}: \\w+\\.[A-Z_]+,\\n`, "m"),
      write: (stem) => `  ${stem}: ${family}.${stem.toUpperCase()},\n`,
    });
    const configured = found.filter(([, , , body]) => / magic: 0,/.test(body!))
      .map(([, , name]) => name!.toLowerCase());
    index = withAll(index, configured, {
      entry: (stem) => RegExp(`^ {2}${stem}: (\\d+),\\n`, "m"),
      write: (stem, text) => `  ${stem}: ${nextKind(text)},\n`,
    });
  }
  return index;
}

/** The least number that no kind has. */
function nextKind(index: string): number {
  const [, kinds] = index.match(KINDS)!;
  return 1 + Math.max(...kinds!.match(/\d+/g)!.map(Number));
}

/** What a module exports to users, as `mod.ts` names it. */
function exportsOf(text: string): string[] {
  const found =
    /(\/\*\*(?:(?!\*\/)[^])*\*\/\n)?^export (?:abstract )?(class|interface|type|function|const) (\w+)/gm;
  return [...text.matchAll(found)]
    .filter(([, comment = ""]) => !comment.includes("@ignore"))
    .map(([, , kind, name]) =>
      kind === "interface" || kind === "type" ? `type ${name}` : name!
    )
    .sort((a, b) =>
      a.replace("type ", "").localeCompare(b.replace("type ", ""), "en")
    );
}

/** `inspect.ts` with all of `stems`. */
function withInspections(text: string, stems: readonly string[]): string {
  const all = /^(const ALL: .* = \{\n)[^}]*/m;
  return text.replace(
    all,
    (_, begin) => begin + stems.map((stem) => `  ${stem},\n`).join(""),
  );
}

// ---- tables of all pages ----------------------------------------------------

/** The public modules that a list names, in its order. */
const modulesOf = (text: string): string[] =>
  [...text.matchAll(/"\.\/primitives\/(?:(?:tools|kernel)\/)?([a-z]\w*)\.ts"/g)]
    .map(([, stem]) => stem!);

/** What a page says at its top. */
interface Page {
  readonly stem: string;
  readonly title: string;
  /** The lines of the comment under the title, by their first words. */
  readonly facts: Readonly<Record<string, string>>;
}

function pageAt(stem: string): Page {
  const name = `docs/primitives/${stem}.md`;
  const [, title, comment] =
    read(name).match(/^# (.*)\n\n<!--\n([^]*?)-->\n/) ??
      [];
  if (comment === undefined) throw new Error(`${name}: no comment at its top`);
  const lines = [...comment.matchAll(/^(\w+): (.*)$/gm)];
  const facts = Object.fromEntries(lines.map(([, fact, text]) => [fact, text]));
  return { stem, title: facts.name ?? title!, facts };
}

/** The index of all pages, and the groups in it, each under its heading. */
const INDEX = "docs/primitives/README.md";
const GROUPS: readonly string[] = ["locks", "queues", "work", "memory"];

/** The row of a page in the index; `length` is the number of its words. */
function rowOf({ stem, title, facts }: Page, length?: number): string[] {
  const names = ["waits", "progress", "page", "worklet"];
  const isWhole = facts.progress !== undefined;
  const cells = names.map((name) => {
    const fact = facts[name];
    if (isWhole && fact === undefined) {
      throw new Error(`docs/primitives/${stem}.md: "${name}" is missing`);
    }
    return fact ?? "";
  });
  const words = isWhole ? `${length ?? ""} ${facts.words ?? ""}`.trim() : "";
  return [facts.to ?? "", `[${title}](${stem}.md)`, ...cells, words];
}

/** The index with the rows of the table under the heading of `group`. */
function withGroup(text: string, group: string, rows: string[][]): string {
  const heading = group[0]!.toUpperCase() + group.slice(1);
  const table = RegExp(
    `^(## ${heading}\\n(?:(?!^## )[^])*?^\\|.*\\n\\|[ |-]*\\n)(?:\\|.*\\n)*`,
    "m",
  );
  if (!table.test(text)) throw new Error(`${INDEX}: no table of ${heading}`);
  const lines = rows.map((cells) => `| ${cells.join(" | ")} |\n`);
  return text.replace(table, (_, head) => head + lines.join(""));
}

/** The page with the words of all, as `deno fmt` writes it. */
function pageOf(text: string, rows: Row[], version: number): string {
  const [intro] = text.split(/^Version \d+\.$/m);
  const cell = (text = "") => text.replaceAll("|", "\\|").replace(/\.$/, "");
  const sections = rows.map(({ stem, what, kind, words, length, behind }) => {
    const number = kind === undefined ? "No kind number" : `Kind ${kind}`;
    const lines = words.map(({ name, index, meaning, writer, sleeper }) =>
      `| ${index} | \`${name}\` | ${
        cell(meaning.join("; ").replaceAll(/([.:]); /g, "$1 "))
      } ` +
      `| ${cell(writer)} | ${cell(sleeper)} |\n`
    );
    const more = behind === undefined ? "" : `\nBehind them: ${behind}\n`;
    const unit = length === 1 ? "word" : "words";
    return `## ${stem}\n\n${what} ${number}, ${length} ${unit}.\n
| word | field | meaning | written by | sleepers |
| --- | --- | --- | --- | --- |
${lines.join("")}${more}`;
  });
  return formatted(`${intro}Version ${version}.\n\n${sections.join("\n")}`);
}

/** A document, or code, as `deno fmt` writes it. */
function formatted(page: string, type: "md" | "ts" = "md"): string {
  const format = ["fmt", "--ext", type, "--no-config", "-"];
  const { status, stdout, stderr } = spawnSync("deno", format, {
    input: page,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Runs the program and returns its exit code. */
function main(words: string[]): number {
  if (words.length > 0) {
    const helps = words[0] === "--help" || words[0] === "-h";
    if (helps) console.log(USAGE);
    else console.error("deno task layout takes no words; see --help");
    return helps ? 0 : 2;
  }
  for (const [name, text] of expected()) {
    if (existsSync(PROJECT + name) && read(name) === text) continue;
    writeFileSync(PROJECT + name, text);
    console.log(name);
  }
  return 0;
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));

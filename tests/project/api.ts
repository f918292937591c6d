/**
 * Writes `docs/api.txt`: every declaration that users can import, one a line,
 * so that a change of a public type shows in review.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { takesNoWords } from "../_run/usage.ts";
import {
  byName,
  type Docs,
  linesOf,
  type Place,
  type Symbol,
} from "./_declarations.ts";
import { inheritance } from "./_inherited.ts";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url));
const REPORT = `${PROJECT}docs/api.txt`;

const USAGE = `usage: deno task api
Writes docs/api.txt: the declarations that users can import, one a line.`;

const HEAD = `# What each module exports, written by "deno task api".
# "X of ./m" is the X of that module; a private name is used, not exported.
# A class has the members of bases that no module exports, and "all of X", too.
`;

/** The file of each module, by the name that users import it by. */
const modules = Object.entries(
  JSON.parse(readFileSync(`${PROJECT}deno.json`, "utf8")).exports as Record<
    string,
    string
  >,
);

/** What `deno doc` says of the exports of `files`. */
function documented(files: readonly string[]): Docs["nodes"] {
  const { status, stdout, stderr } = spawnSync(
    Deno.execPath(),
    ["doc", "--json", ...files],
    {
      cwd: PROJECT,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      env: { ...process.env, NO_COLOR: "1" }, // a type is text with colours
    },
  );
  if (status !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as Docs).nodes;
}

/** A place as a key: names may be exported under others. */
const keyOf = ({ filename, line, col }: Place): string =>
  `${filename}:${line}:${col}`;

/** The names in `symbols`, and those in its namespaces. */
const allOf = (symbols: readonly Symbol[]): Symbol[] =>
  symbols.flatMap((symbol) => [
    symbol,
    ...symbol.declarations.flatMap(({ def }) => allOf(def.elements ?? [])),
  ]);

/** The report as it should be. */
export function expected(): string {
  const urlOf = (file: string) =>
    new URL(`../../${file}`, import.meta.url).href;
  const files = modules.map(([, file]) => file);
  const nodes = documented(files);
  const owners = new Map<string, string>();
  const inner = new Set<string>();
  for (const [module, file] of modules) {
    for (const { declarations } of nodes[urlOf(file)]!.symbols) {
      for (const { kind, location } of declarations) {
        if (kind !== "reference") owners.set(keyOf(location), module);
      }
    }
    for (const { declarations } of allOf(nodes[urlOf(file)]!.symbols)) {
      for (const { kind, def } of declarations) {
        if (kind === "reference") inner.add(def.target!.filename);
      }
    }
  }
  // What only an inner file declares belongs to the first module that has it.
  const elsewhere = new Map<string, Symbol>();
  for (const { symbols } of Object.values(documented([...inner]))) {
    for (const symbol of symbols) {
      for (const { kind, location } of symbol.declarations) {
        if (kind !== "reference") elsewhere.set(keyOf(location), symbol);
      }
    }
  }
  const names = new Set(
    files.flatMap((file) => allOf(nodes[urlOf(file)]!.symbols))
      .map(({ name }) => name),
  );
  const inherited = inheritance(
    PROJECT,
    documented,
    (name) => names.has(name),
  );
  const sections = modules.map(([module, file]) => {
    const find = (place: Place): string | Symbol => {
      const key = keyOf(place);
      const owner = owners.get(key);
      if (owner !== undefined) return owner;
      owners.set(key, module);
      const symbol = elsewhere.get(key);
      if (!symbol) throw new Error(`${module}: no declaration at ${key}`);
      return symbol;
    };
    const lines = nodes[urlOf(file)]!.symbols.toSorted(byName)
      .flatMap((symbol) => linesOf(symbol, find, inherited));
    return `\n## ${module}\n\n${lines.join("\n")}\n`;
  });
  return HEAD + sections.join("");
}

/** The report that is checked in. */
export const current = (): string => readFileSync(REPORT, "utf8");

/** The lines of a report, each behind the module and the name it belongs to. */
function placed(report: string): string[] {
  let module = "";
  let name = "";
  return report.split("\n").flatMap((line) => {
    if (line === "" || line.startsWith("# ")) return [];
    if (line.startsWith("## ")) {
      module = line.slice(3);
      return [];
    }
    if (!line.startsWith(" ")) {
      name =
        /(?:class|interface|function|const|type|namespace) (\w+)/.exec(line)
          ?.[1] ?? "";
      return [`${module}: ${line}`];
    }
    return [`${module} ${name}: ${line.trim()}`];
  });
}

/** What `now` has lost (`-`) and gained (`+`) since the report `old`. */
export function changes(old: string, now: string): string[] {
  const left = new Map<string, number>();
  for (const line of placed(old)) left.set(line, (left.get(line) ?? 0) + 1);
  const gained = placed(now).filter((line) => {
    const count = left.get(line) ?? 0;
    if (count > 0) left.set(line, count - 1);
    return count === 0;
  });
  const lost = placed(old).filter((line) => {
    const count = left.get(line)!;
    if (count > 0) left.set(line, count - 1);
    return count > 0;
  });
  return [
    ...lost.map((line) => `- ${line}`),
    ...gained.map((line) => `+ ${line}`),
  ].sort((a, b) => a.slice(2) < b.slice(2) ? -1 : 1);
}

/** Runs the program and returns its exit code. */
function main(): number {
  takesNoWords(USAGE);
  const now = expected();
  for (const line of changes(current(), now)) console.log(line);
  writeFileSync(REPORT, now);
  return 0;
}

if (import.meta.main) process.exitCode = main();

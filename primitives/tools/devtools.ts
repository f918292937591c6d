/**
 * Shows primitives in consoles as `Mutex { owner 7, waiters 2 }`. Import it
 * once for its effect, in a page or a worker:
 *
 * ```ts
 * import "@weft/sync/devtools";
 * import { Mutex } from "@weft/sync";
 *
 * console.log(Mutex.create()); // Mutex { owner 0, waiters 0 }
 * ```
 *
 * In Chromium, switch "Custom formatters" on, in the settings of DevTools under
 * Preferences, Console. Each agent imports it for itself. A page or a program
 * that does not import it contains nothing of it.
 *
 * C twin: none.
 *
 * @module
 */

import { classOf, factsOf, factText, lineOf } from "./_facts.ts";
import { isView, type View } from "./_parts.ts";
import { Printable } from "../_memory/region.ts";
import { inspect, type Inspection } from "./inspect.ts";

/**
 * An element as DevTools want it: a tag, its attributes, and what is within, as
 * `["span", { style: "color: red" }, "text"]`.
 */
export type JsonML =
  | string
  | readonly [
    tag: string,
    attributes: Readonly<Record<string, unknown>>,
    ...within: JsonML[],
  ];

/** What `globalThis.devtoolsFormatters` has, as far as it is used here. */
export interface Formatter {
  /** The line for a value, or null if it is for another formatter. */
  header(value: unknown, config?: unknown): JsonML | null;
  /** Whether that line can be opened. */
  hasBody(value: unknown, config?: unknown): boolean;
  /** What is shown then. */
  body(value: unknown, config?: unknown): JsonML | null;
}

const GREY = { style: "opacity: 0.7" };
const RED = { style: "color: #d32f2f" };

/** A view, and what its words say; undefined if `value` is not such a view. */
function inspected(
  value: unknown,
): [view: View, told: Inspection] | undefined {
  // A getter throws where `value` is a prototype, and inspect for other memory.
  try {
    if (!isView(value) || Object.hasOwn(value, "kind")) return undefined;
    return [value, inspect(value)];
  } catch {
    return undefined;
  }
}

/** The line for a view, and how many problems it has, if any. */
function lineFor([view, told]: [View, Inspection]): [string, string] {
  const facts = Object.entries(factsOf(view, told))
    .map(([name, fact]) => factText(name, fact));
  const { length } = told.problems;
  const problems = length === 0 ? "" : `, ${length} problem`;
  return [lineOf(view.kind, facts), problems + (length > 1 ? "s" : "")];
}

/** Shows primitives in DevTools. Importing this module installs it. */
export const formatter: Formatter = {
  header(value) {
    const found = inspected(value);
    if (found === undefined) return null;
    const [line, problems] = lineFor(found);
    return problems === ""
      ? ["span", {}, line]
      : ["span", {}, line, ["span", RED, problems]];
  },
  hasBody: (value) => inspected(value) !== undefined,
  body(value) {
    const found = inspected(value);
    if (found === undefined) return null;
    const [{ kind, byteOffset }, { words, problems }] = found;
    const rows = Object.entries(words).map(([name, word]): JsonML => [
      "tr",
      {},
      ["td", GREY, name],
      ["td", { style: "text-align: right; padding-left: 1em" }, `${word}`],
    ]);
    const told = problems.map(({ word, value, text }): JsonML => [
      "div",
      RED,
      `${word} is ${value}: ${text}`,
    ]);
    return [
      "div",
      { style: "margin-left: 1em" },
      ["div", GREY, `${classOf(kind)} at byte ${byteOffset}`],
      ["table", {}, ...rows],
      ...told,
    ];
  },
};

type Consoles = Record<symbol, (...words: unknown[]) => unknown>;

function install(): void {
  const known = globalThis as { devtoolsFormatters?: Formatter[] };
  (known.devtoolsFormatters ??= []).push(formatter);
  // The consoles of Node and Deno call these methods of each primitive.
  const prototype = Printable.prototype as Consoles;
  for (const name of ["nodejs.util.inspect.custom", "Deno.customInspect"]) {
    const before = prototype[Symbol.for(name)]!;
    prototype[Symbol.for(name)] = function (...words) {
      const found = inspected(this);
      return found === undefined
        ? before.apply(this, words)
        : lineFor(found).join("");
    };
  }
}

install();

/**
 * What the code under test did in an exploration: which operations were
 * reached, what came of them, and what was never reached.
 *
 * @module
 */
import type { Agent } from "../engine/state/agent/agent.ts";
import { BLOCK } from "../engine/state/agent/operation.ts";
import * as k from "../engine/kinds.ts";
import type { Covers } from "../engine/step/exploration.ts";
import { pathOf } from "../engine/sites.ts";
import { textOf } from "../engine/source_map.ts";

/** An operation in the code, and what came of it. */
export interface Reached {
  /** The file and the line, such as "queue.ts:12". */
  readonly site: string;
  /** The function of `Atomics`, or "plain read" or "plain write". */
  readonly operation: string;
  /**
   * How often something came of it, by what it is: "done"; of an exchange that
   * compares, "wrote" and "failed"; of a sleep, "slept", "not equal" and, with
   * a timeout, "timed out"; of a notification, "woke" and "woke nobody".
   */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** What an exploration reached. */
export interface Coverage {
  /** The operations that were reached, by file and line. */
  readonly reached: readonly Reached[];
  /**
   * What was never reached, a line each: what never came of an operation, and
   * lines that use `Atomics`, in files of which others were reached.
   */
  readonly never: readonly string[];
}

/** The functions of `Atomics`, by the number of the operation. */
const FUNCTIONS = k.OP_NAMES.map((name) =>
  name === "cas" ? "compareExchange" : name
);

/** What can come of an operation; a timeout only where there is one. */
function possible(kind: number, timed: boolean): readonly string[] {
  if (kind === k.CAS) return ["wrote", "failed"];
  if (kind === k.NOTIFY) return ["woke", "woke nobody"];
  if (kind !== k.WAIT && kind !== k.WAIT_ASYNC) return ["done"];
  const ends = timed && kind === k.WAIT ? ["timed out"] : [];
  return ["slept", "not equal", ...ends];
}

function outcomeOf({ kind, a }: Agent, result: unknown): string {
  if (kind === k.CAS) return result === a ? "wrote" : "failed";
  if (kind === k.NOTIFY) return result === 0 ? "woke nobody" : "woke";
  if (kind !== k.WAIT && kind !== k.WAIT_ASYNC) return "done";
  if (result === "timed-out") return "timed out";
  return result === BLOCK || typeof result === "number" ? "slept" : "not equal";
}

const sleeper = ({ id, oi, n, h1, h2 }: Agent): string =>
  `${id},${oi},${n},${h1},${h2}`;

/** Counts what is reached. */
export class Counts implements Covers {
  readonly #lines = new Map<string, Map<string, number>>();
  /** The lines on which agents sleep, by what these have seen. */
  readonly #sleeps = new Map<string, string>();

  /** Counts an operation that an agent did. */
  note(agent: Agent, result: unknown): void {
    const { kind, site, timeout } = agent;
    if (site === "" || kind > k.WRITE && kind !== k.WAIT_ASYNC) return;
    const line = `${site} ${FUNCTIONS[kind]}`;
    let outcomes = this.#lines.get(line);
    if (outcomes === undefined) this.#lines.set(line, outcomes = new Map());
    for (const outcome of possible(kind, timeout < Infinity)) {
      if (!outcomes.has(outcome)) outcomes.set(outcome, 0);
    }
    add(outcomes, outcomeOf(agent, result));
    if (result === BLOCK) this.#sleeps.set(sleeper(agent), line);
  }

  /** Counts the end of a sleep by its timeout. */
  timedOut(agent: Agent): void {
    const line = this.#sleeps.get(sleeper(agent));
    if (line !== undefined) add(this.#lines.get(line)!, "timed out");
  }

  /** Adds what another exploration reached. */
  include({ reached }: Coverage): void {
    for (const { site, operation, outcomes } of reached) {
      const line = `${site} ${operation}`;
      const mine = this.#lines.get(line) ?? new Map<string, number>();
      this.#lines.set(line, mine);
      for (const [outcome, times] of Object.entries(outcomes)) {
        mine.set(outcome, (mine.get(outcome) ?? 0) + times);
      }
    }
  }

  /** All of it, in the order of files and lines. */
  told(): Coverage {
    const lines = [...this.#lines].sort(([a], [b]) => inOrder(a, b));
    const reached = lines.map(([line, outcomes]): Reached => {
      // Files may have spaces in their names, and operations, too.
      const [, site, operation] = /^(.*?) (plain \w+|\w+)$/.exec(line)!;
      return {
        site: site!,
        operation: operation!,
        outcomes: Object.fromEntries(outcomes),
      };
    });
    const never = reached.flatMap(({ site, operation, outcomes }) =>
      Object.entries(outcomes).filter(([, times]) => times === 0)
        .map(([outcome]) => `${site}: ${operation} never ${PHRASES[outcome]}`)
    );
    const known = new Set(reached.map(({ site }) => site));
    const all = [
      ...never,
      ...[...filesOf(known)].flatMap(([, path]) => unreached(path, known)),
    ];
    return { reached, never: all.sort(inOrder) };
  }
}

/** What never happened, in words. */
const PHRASES: Readonly<Record<string, string>> = {
  "wrote": "wrote",
  "failed": "failed",
  "slept": "slept",
  "not equal": "found another value",
  "timed out": "timed out",
  "woke": "woke anybody",
  "woke nobody": "found nobody asleep",
};

function add(outcomes: Map<string, number>, outcome: string): void {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

/** Compares two texts that begin with a file and a line. */
function inOrder(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** The files of sites, and their paths. */
function filesOf(sites: ReadonlySet<string>): Map<string, string> {
  const files = new Map<string, string>();
  for (const site of sites) {
    const path = pathOf(site);
    if (path !== undefined) files.set(site.replace(/:\d+$/, ""), path);
  }
  return files;
}

const USE =
  /\bAtomics\s*\.\s*(add|and|compareExchange|exchange|load|notify|or|store|sub|wait|waitAsync|xor)\s*\(/g;

/** The lines of a file that use `Atomics` and were not reached. */
function unreached(path: string, known: ReadonlySet<string>): string[] {
  const name = path.replace(/.*[/\\]/, "").replace(/\?.*$/, "");
  const text = textOf(path);
  if (text === undefined) return [];
  // Comments keep their lines.
  const code = text.replace(
    /\/\*[^]*?\*\/|(?<![:"'`])\/\/[^\n]*/g,
    (comment) => comment.replace(/[^\n]/g, " "),
  );
  return code.split("\n").flatMap((line, i) => {
    const site = `${name}:${i + 1}`;
    if (known.has(site)) return [];
    return [...line.matchAll(USE)].map(([, operation]) =>
      `${site}: ${operation} was never reached`
    );
  });
}

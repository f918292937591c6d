/**
 * An interleaving as a table: a column for each agent, a row for each step.
 *
 * @module
 */
import type { Options } from "./result.ts";
import type { World } from "../engine/state/core.ts";
import { callText } from "../engine/state/agent/operation.ts";
import * as k from "../engine/kinds.ts";
import type { Call } from "../engine/model.ts";
import { waitText } from "../judge/progress.ts";
import type { Row, Scene, Trace } from "./trace.ts";

/** An interleaving that was replayed, ready to be shown. */
export interface Picture {
  readonly title: string;
  readonly agents: readonly string[];
  readonly rows: readonly Row[];
  /** The state of the machine after each row. */
  readonly scenes: readonly Scene[];
  /** By agent: where it is at the end, if it is not done. */
  readonly endings: readonly (string | undefined)[];
  readonly footer: string;
  /** The row of the wrong result, or -1. */
  readonly wrong: number;
}

/** A program on one line. */
export function programText(
  program: readonly (readonly Call[])[],
  { begin = 0, end = 0 }: Pick<Options, "begin" | "end"> = {},
): string {
  const text = (calls: readonly Call[]) =>
    calls.map(callText).join("; ") || "-";
  const [first = [], ...others] = program;
  const last = Math.max(begin, first.length - end);
  const agents = [first.slice(begin, last), ...others]
    .map((calls, id) => `${id}: ${text(calls)}`).join(" | ");
  const before = begin > 0 ? `first ${text(first.slice(0, begin))} | ` : "";
  const after = end > 0 ? ` | last ${text(first.slice(last))}` : "";
  return before + agents + after;
}

/** The picture of the trace that `world` has recorded. */
export function pictureOf(
  world: World,
  trace: Trace,
  count: number,
  title: string,
  footer: string,
): Picture {
  const ending = (id: number): string | undefined => {
    const agent = world.agents[id]!;
    if (agent.status === k.DONE || agent.status === k.KILLED) return undefined;
    if (agent.oi >= agent.calls.length) return undefined;
    const where = agent.site === "" ? "" : `   ${agent.site}`;
    if (agent.status !== k.READY) {
      return `!! ${waitText(world, agent).replace(/^agent \d+ /, "")}`;
    }
    // A call that has not begun matters only if its first step races.
    const begins = !agent.invoked && agent.oi > 0;
    if (begins && !races(world, id)) return undefined;
    const next = k.OP_NAMES[agent.kind] ?? "";
    const at = world.memory.nameOf(agent.address);
    const call = begins ? `${callText(agent.told)}: ` : "";
    return `!! next: ${call}${next} ${at}${where}`;
  };
  const agents = world.agents.map(({ id }) =>
    id < count ? `agent ${id}` : `agent ${id} (recovers)`
  );
  const { rows, scenes } = trace;
  const used = agents.length > count && !rows.some((r) => r.agent >= count)
    ? agents.slice(0, count)
    : agents;
  return {
    title,
    agents: used,
    rows,
    scenes,
    endings: used.map((_, id) => ending(id)),
    footer,
    wrong: world.fault?.kind === "not-linearizable"
      ? rows.findLastIndex(({ type }) => type === "end")
      : -1,
  };
}

/** Whether the fault is a data race in which the agent takes part. */
const races = ({ fault }: World, id: number): boolean =>
  fault?.kind === "data-race" && fault.message.includes(`agent ${id}'s `);

const MOST = 72; // columns a cell

/** The table. */
export function tableOf({ agents, rows, endings, wrong }: Picture): string {
  const cells: (readonly [agent: number, text: string])[] = [];
  const inside = agents.map(() => false);
  const marked = rows.map((row, i) =>
    i === wrong ? { ...row, text: `${row.text}   !! wrong` } : row
  );
  for (const row of folded(marked)) {
    const { agent, type, text, site } = row;
    const indent = inside[agent] && type !== "end" ? "  " : "";
    if (type === "begin") cells.push([agent, `${text} {`]);
    else if (type === "end") cells.push([agent, `} = ${text}`]);
    else cells.push([agent, indent + text + (site ? `   ${site}` : "")]);
    inside[agent] = type === "begin" || (type !== "end" && inside[agent]!);
  }
  endings.forEach((text, agent) => {
    if (text !== undefined) cells.push([agent, `  ${text}`]);
  });
  const width = agents.map((name, agent) =>
    cells.reduce(
      (most, [of, text]) =>
        of === agent ? Math.max(most, Math.min(text.length, MOST)) : most,
      Math.max(name.length, 8),
    )
  );
  const line = (texts: readonly string[]) =>
    `| ${texts.map((text, i) => text.padEnd(width[i]!)).join(" | ")} |`;
  const rule = `|${width.map((n) => "-".repeat(n + 2)).join("|")}|`;
  const body: string[] = [];
  let last = -1;
  for (const [agent, text] of cells) {
    // A dotted line where another agent takes over.
    if (last >= 0 && agent !== last) {
      body.push(
        `|${
          width.map((n) => " .".repeat((n + 2) >> 1).padEnd(n + 2)).join("|")
        }|`,
      );
    }
    last = agent;
    body.push(line(agents.map((_, id) => id === agent ? text : "")));
  }
  return [line(agents), rule, ...body].join("\n");
}

/** Folds equal rounds of a loop into one round. */
function folded(rows: readonly Row[]): readonly Row[] {
  const out: Row[] = [];
  for (let i = 0; i < rows.length;) {
    const [period, times] = repetition(rows, i);
    const round = rows.slice(i, i + period);
    const last = round[period - 1]!;
    if (times > 2 && period === 1) {
      out.push({ ...last, text: `${last.text} (x${times})` });
    } else out.push(...round);
    if (times > 2 && period > 1) {
      const text = `(these ${period} steps ${times} times in all)`;
      out.push({ ...last, type: "event", text, site: "" });
    }
    i += period * (times > 2 ? times : 1);
  }
  return out;
}

function repetition(rows: readonly Row[], at: number): [number, number] {
  const same = (a: Row | undefined, b: Row | undefined) =>
    a !== undefined && b !== undefined && a.type === "step" &&
    a.agent === b.agent && a.text === b.text && a.site === b.site;
  for (let period = 1; period <= 4; period++) {
    let n = 0;
    while (same(rows[at + n], rows[at + n + period])) n++;
    const times = Math.floor(n / period) + 1;
    if (times > 2) return [period, times];
  }
  return [1, 1];
}

/**
 * An interleaving as a picture. Agents stand side by side and time runs
 * downwards. Each call is a box, and an arrow leads from each write to the
 * reads in other agents that see it.
 *
 * @module
 */
import type { Picture } from "./print.ts";
import type { Row } from "./trace.ts";

const ROW = 19;
const CHAR = 6.7;
const LANE = 26; // from a column's left edge to its line
const MARGIN = 14;
const HEAD = 62;

const STYLE = `
.race{--ink:#1d2430;--soft:#8a94a3;--call:#eef2f8;--edge:#c3ccd9;--bad:#c22d2d;
--plain:#a06200;--arrow:#2f6fb7;--paper:#fff}
@media(prefers-color-scheme:dark){.race{--ink:#e4e8ee;--soft:#8993a3;
--call:#222935;--edge:#465064;--bad:#ff7b72;--plain:#e3a44d;--arrow:#79b0f0;
--paper:#14181f}}
.race text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink)}
.race .title{font-weight:600;fill:var(--bad)}
.race .agent{font-weight:600;text-anchor:start}
.race .site,.race .soft{fill:var(--soft)}
.race .bad{fill:var(--bad)}
.race .plain{fill:var(--plain)}
.race .paper{fill:var(--paper)}
.race .call{fill:var(--call);stroke:var(--edge)}
.race .call.open{stroke:var(--bad);stroke-dasharray:3 2}
.race .lane{stroke:var(--edge)}
.race .switch{stroke:var(--edge);stroke-dasharray:1 4}
.race .dot{fill:var(--ink)}
.race .dot.plain{fill:var(--paper);stroke:var(--plain);stroke-width:1.6}
.race .sees{fill:none;stroke:var(--arrow);stroke-width:1.3;
marker-end:url(#race-arrow)}
.race .head{fill:var(--arrow)}
`.replace(/\n/g, "");

const INK = 'fill="#1d2430"', BAD = 'fill="#c22d2d"', SOFT = 'fill="#8a94a3"';
const CALL = 'fill="#eef2f8"', EDGE = 'stroke="#c3ccd9"';

/**
 * The same by class, in light colours, as attributes: some viewers know no
 * variables of CSS, and would draw all of it black. Styles come before these.
 */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  title: `${BAD} font-weight="600"`,
  agent: `${INK} font-weight="600"`,
  step: INK,
  site: SOFT,
  soft: SOFT,
  bad: BAD,
  plain: 'fill="#a06200"',
  paper: 'fill="#fff"',
  call: `${CALL} ${EDGE}`,
  "call open": `${CALL} stroke="#c22d2d" stroke-dasharray="3 2"`,
  lane: EDGE,
  switch: `${EDGE} stroke-dasharray="1 4"`,
  dot: INK,
  "dot plain": 'fill="#fff" stroke="#a06200" stroke-width="1.6"',
  sees: 'fill="none" stroke="#2f6fb7" stroke-width="1.3"',
  head: 'fill="#2f6fb7"',
};

/** Adds these attributes to the elements of `svg`. */
const withAttributes = (svg: string): string =>
  svg.replace(
    / class="([a-z ]+)"/g,
    (known, name) =>
      name in ATTRIBUTES ? `${known} ${ATTRIBUTES[name]}` : known,
  );

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** What XML 1.0 may not have: most control characters, and lone surrogates. */
const FORBIDDEN =
  // deno-lint-ignore no-control-regex
  /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu;

/** Text as XML has it. */
export const escape = (text: string): string =>
  text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"]/g, (c) => ENTITIES[c]!);

/** A row that is drawn, and its position. */
interface Line {
  readonly agent: number;
  readonly text: string;
  readonly site: string;
  readonly style: string;
  readonly y: number;
}

/** A call, from its first row to its last. */
interface Box {
  readonly agent: number;
  readonly top: number;
  bottom: number;
  open: boolean;
}

/** Folds `text` to lines of at most `width` columns. */
function fold(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1]!;
    if (last.length + word.length + 1 > width && last !== "") lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

/** The picture as SVG. */
export function svgOf(picture: Picture): string {
  const { agents, rows, endings, wrong } = picture;
  const widths = agents.map((name, agent) => {
    let most = Math.max(12, name.length, endings[agent]?.length ?? 0);
    for (const { agent: by, text, site } of rows) {
      const length = text.length + (site === "" ? 0 : site.length + 2);
      if (by === agent) most = Math.max(most, length);
    }
    return LANE + 26 + most * CHAR;
  });
  const lefts = widths.map((_, i) =>
    MARGIN + widths.slice(0, i).reduce((sum, w) => sum + w, 0)
  );
  const width = Math.max(
    560,
    MARGIN * 2 + widths.reduce((sum, w) => sum + w, 0),
  );
  const columns = Math.floor((width - 2 * MARGIN) / CHAR);
  const title = fold(picture.title, columns);
  const footer = fold(picture.footer, columns);
  const top = HEAD + (title.length - 1) * 15;
  const yOf = (row: number) => top + row * ROW;
  const laneOf = (agent: number) => lefts[agent]! + LANE;

  const lines: Line[] = [];
  const boxes: Box[] = [];
  const open: (Box | undefined)[] = agents.map(() => undefined);
  rows.forEach((row, i) => {
    const { agent, type } = row;
    const y = yOf(i);
    if (type === "begin") {
      boxes.push(open[agent] = { agent, top: y, bottom: y, open: true });
    }
    const box = open[agent];
    if (box !== undefined) box.bottom = y;
    if (type === "end" && box !== undefined) {
      box.open = false;
      open[agent] = undefined;
    }
    const text = type === "end" ? `= ${row.text}` : row.text;
    const style = i === wrong ? "bad" : styleOf(row);
    lines.push({ agent, text, site: row.site, style, y });
  });
  let count = rows.length;
  endings.forEach((text, agent) => {
    if (text === undefined) return;
    const y = yOf(count++);
    const box = open[agent];
    if (box !== undefined) box.bottom = y;
    lines.push({ agent, text, site: "", style: "bad", y });
  });
  const bottom = yOf(count);
  const height = bottom + footer.length * 15 + MARGIN;

  const out: string[] = [];
  const text = (x: number, y: number, style: string, value: string) =>
    `<text x="${x}" y="${y}" class="${style}">${escape(value)}</text>`;
  title.forEach((line, i) =>
    out.push(text(MARGIN, 20 + i * 15, "title", line))
  );
  agents.forEach((name, agent) => {
    const x = laneOf(agent);
    out.push(
      text(x - 4, top - 18, "agent", name),
      `<line x1="${x}" y1="${top - 12}" x2="${x}" y2="${bottom - 8}" ` +
        `class="lane"/>`,
    );
  });
  for (const { agent, top, bottom, open } of boxes) {
    out.push(
      `<rect x="${laneOf(agent) - 9}" y="${top - 9}" rx="4" ` +
        `width="${widths[agent]! - LANE}" height="${bottom - top + 18}" ` +
        `class="call${open ? " open" : ""}"/>`,
    );
  }
  out.push(...switches(rows, yOf, width));
  for (const { agent, text: value, site, style, y } of lines) {
    const x = laneOf(agent) + 12;
    out.push(text(x, y + 4, style, value));
    if (site === "") continue;
    out.push(text(x + (value.length + 2) * CHAR, y + 4, "site", site));
  }
  rows.forEach(({ agent, type, plain }, i) => {
    if (type !== "step") return;
    out.push(
      `<circle cx="${laneOf(agent)}" cy="${yOf(i)}" r="3" ` +
        `class="dot${plain ? " plain" : ""}"/>`,
    );
  });
  out.push(...arrows(rows, laneOf, yOf));
  footer.forEach((line, i) =>
    out.push(text(MARGIN, bottom + 12 + i * 15, "soft", line))
  );
  return withAttributes(
    `<svg xmlns="http://www.w3.org/2000/svg" class="race" ` +
      `font-family="monospace" font-size="11" ` +
      `viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" ` +
      `width="${Math.ceil(width)}" height="${Math.ceil(height)}" role="img">` +
      `<title>${escape(picture.title)}</title><style>${STYLE}</style>` +
      `<defs><marker id="race-arrow" viewBox="0 0 8 8" refX="7" refY="4" ` +
      `markerWidth="7" markerHeight="7" orient="auto">` +
      `<path d="M0 0L8 4L0 8z" class="head"/></marker></defs>` +
      `<rect width="100%" height="100%" class="paper"/>` +
      `${out.join("\n")}</svg>\n`,
  );
}

const styleOf = ({ type, plain }: Row): string =>
  type === "event" ? "soft" : plain ? "plain" : "step";

/** A dotted line where another agent takes over. */
function switches(
  rows: readonly Row[],
  yOf: (row: number) => number,
  width: number,
): string[] {
  return rows.flatMap(({ agent }, i) => {
    if (i === 0 || rows[i - 1]!.agent === agent) return [];
    const y = yOf(i) - ROW / 2;
    return [
      `<line x1="${MARGIN}" y1="${y}" x2="${width - MARGIN}" y2="${y}" ` +
      `class="switch"/>`,
    ];
  });
}

/** An arrow from a write to each read in another agent that sees it. */
function arrows(
  rows: readonly Row[],
  laneOf: (agent: number) => number,
  yOf: (row: number) => number,
): string[] {
  return rows.flatMap(({ agent, source }, i) => {
    const write = rows[source];
    if (write === undefined || write.agent === agent) return [];
    const [x1, y1] = [laneOf(write.agent), yOf(source)];
    const [x2, y2] = [laneOf(agent), yOf(i)];
    const bend = x2 > x1 ? -5 : 5;
    return [
      `<path d="M${x1} ${y1}C${x1} ${y1 + 14} ${x2 + bend * 4} ${y2 - 14} ` +
      `${x2 + bend} ${y2 - 2}" class="sees"/>`,
    ];
  });
}

/**
 * The chart of the README, drawn from the results in docs/bench: how many times
 * as fast as its rivals Weft is, or how many times slower. A dot stands for a
 * figure, on a logarithmic axis. Figures far from the others have an axis of
 * their own. What Weft loses is chosen by the same rule as what it wins: a row
 * is shown if a user would choose between the two things that it compares.
 *
 * @module
 */

import { disturbed } from "./contest.ts";
import type { Group } from "./results.ts";

/** The rows of docs/bench that are shown, if measured, under their rivals. */
const SHOWN: Readonly<Record<string, readonly [row: string, what: string][]>> =
  {
    "postMessage": [
      [
        "MpmcQueue, 2 producers, 2 consumers, ints: throughput / postMessage",
        "MpmcQueue, numbers, 2 to 2",
      ],
      [
        "Channel, a number: throughput / postMessage",
        "Channel, numbers",
      ],
      [
        "Channel, a record of three numbers: throughput / postMessage",
        "Channel, records of three numbers",
      ],
      [
        "Channel of any values, a small object: throughput / postMessage",
        "Channel, small objects",
      ],
      [
        "Channel, the first 10,000 small objects, quiet: throughput / postMessage",
        "Channel, its first 10,000 objects",
      ],
      [
        "Channel of any values, an object of 40 names: throughput / postMessage",
        "Channel, objects of 40 names",
      ],
      [
        "Channel of any values, 100 letters: throughput / postMessage",
        "Channel, texts of 100 letters",
      ],
      [
        "Channel, 64 KiB of bytes, each a new array: throughput / postMessage with a transfer",
        "Channel, 64 KiB, against a transfer",
      ],
      [
        "Channel, a small object there and back, both sides idle before: p50 / postMessage",
        "Channel, there and back from idle",
      ],
      [
        "CallRing, 16 in flight, awaiting: calls/s / postMessage",
        "CallRing, calls, 16 under way",
      ],
    ],
    "postMessage of arrays of 64": [
      [
        "Channel of any values, a small object: throughput / postMessage of arrays of 64",
        "Channel, small objects",
      ],
    ],
    "comlink": [
      [
        "serve and connect, one at a time: calls/s / comlink 4.4.2",
        "serve, connect, one call at a time",
      ],
      [
        "serve and connect, 16 in flight: calls/s / comlink 4.4.2",
        "serve, connect, 16 under way",
      ],
    ],
    "synckit": [
      [
        "two numbers, async, quiet: median / synckit 0.12.3",
        "syncWorker, two numbers",
      ],
      [
        "64 KB of text, quiet: median / synckit 0.12.3",
        "syncWorker, 64 KB of text",
      ],
      [
        "64 KB of text, beside 4 busy processes: median / synckit 0.12.3",
        "the same, beside 4 busy processes",
      ],
    ],
    "piscina": [
      [
        "tasks of 1 us, 2 workers, awaiting: tasks/s / piscina 5.3.2",
        "Pool, tasks of a microsecond",
      ],
      [
        "SHA-256 of 64 KiB, 2 workers, copied: tasks/s / piscina 5.3.2",
        "Pool, hashes of 64 KiB",
      ],
    ],
    "two processes that share nothing": [
      [
        "SHA-256 of 64 KiB, 2 workers, in place: time / two processes that share nothing",
        "Pool, hashes of 64 KiB",
      ],
    ],
    "ringbuf.js": [
      [
        "SpscQueue, one int at a time, blocking: throughput / ringbuf.js 0.4.0",
        "SpscQueue, one number at a time",
      ],
      [
        "SpscQueue, batches of 64 ints: throughput / ringbuf.js 0.4.0",
        "SpscQueue, 64 numbers at a time",
      ],
      [
        "RecordRing, 100-byte records, one producer: throughput / ringbuf.js 0.4.0",
        "RecordRing, records of 100 bytes",
      ],
    ],
    "multithreading": [
      [
        "MpmcQueue, 2 producers, 2 consumers, ints: throughput / multithreading 0.3.52 channel",
        "MpmcQueue, numbers, 2 to 2",
      ],
      [
        "Barrier, 2 threads: rounds/s / multithreading 0.3.52",
        "Barrier, 2 threads",
      ],
    ],
    "a lock that always notifies": [
      [
        "Mutex, 2 threads, 50 ns sections, 50 ns apart: throughput / a lock that always notifies",
        "Mutex, 2 threads, 50 ns sections",
      ],
      [
        "Mutex, 4 threads, 1000 ns sections, 200 ns apart: throughput / a lock that always notifies",
        "Mutex, 4 threads, 1 µs sections",
      ],
    ],
    "bare atomics, which cannot wait": [
      [
        "SpscQueue, one int at a time, blocking: throughput / a ring of bare atomics",
        "SpscQueue, one number at a time",
      ],
      [
        "MpmcQueue, 2 producers, 2 consumers, ints: throughput / Vyukov's queue on bare atomics",
        "MpmcQueue, numbers, 2 to 2",
      ],
      [
        "RecordRing, 100-byte records, one producer: throughput / a ring of bare atomics",
        "RecordRing, records of 100 bytes",
      ],
    ],
    "MpmcQueue": [
      [
        "LockFreeQueue, 2 to 2, ints: throughput / MpmcQueue",
        "LockFreeQueue, numbers, 2 to 2",
      ],
    ],
    "a Map of one thread": [
      [
        "HashMap, get of a text of 9 letters by one: time / a local Map",
        "HashMap, get by 9 letters",
      ],
      [
        "HashMap, get of a number by a number: time / a local Map",
        "HashMap, get by a number",
      ],
    ],
    "a DataView by hand": [
      [
        "view of a struct of 3 fields: time / a DataView by hand",
        "struct, fields of a view",
      ],
      [
        "struct of 3 fields, write and read: time / a DataView by hand",
        "struct, objects written and read",
      ],
    ],
  };

/** One dot. */
interface Dot {
  readonly runtime: string;
  readonly ratio: number;
  /** Whether other programs disturbed the measurement. */
  readonly unsure: boolean;
}

/** A row of the chart: what is compared, and a dot for each runtime. */
interface Line {
  readonly rival: string;
  readonly what: string;
  readonly dots: readonly Dot[];
}

/** The runtimes that the chart shows, as the README's figures do. */
const RUNTIMES = ["Node", "Deno"];

/** How many times as fast as its rival Weft is: the row may be of a time. */
const speed = (name: string, figure: number) =>
  /: (time|median|p50) \//.test(name) ? 1 / figure : figure;

/** The rows of {@linkcode SHOWN} that were measured. */
function linesOf(groups: readonly Group[]): Line[] {
  const dotsOf = (name: string): Dot[] =>
    RUNTIMES.flatMap((runtime) =>
      groups.flatMap(({ runs }) => runs[runtime]?.rows ?? [])
        .filter((row) => row.name === name)
        .map((row) => ({
          runtime,
          ratio: Number(speed(name, row.figure).toPrecision(3)),
          unsure: disturbed(row),
        }))
    );
  return Object.entries(SHOWN).flatMap(([rival, all]) =>
    all.map(([name, what]) => ({ rival, what, dots: dotsOf(name) }))
  ).filter(({ dots }) => dots.length > 0);
}

/** The rows that the chart names, and that nobody measured: there are none. */
export function unknown(groups: readonly Group[]): string[] {
  const all = groups.flatMap(({ runs }) => Object.values(runs))
    .flatMap(({ rows }) => rows.map(({ name }) => name));
  return Object.values(SHOWN).flat().map(([name]) => name)
    .filter((name) => !all.includes(name));
}

/** The machines on which all of it was measured. */
function machinesOf(groups: readonly Group[]): string {
  const runs = groups.flatMap(({ runs }) => Object.values(runs));
  return [...new Set(runs.map(({ machine }) => machine))].join("; ");
}

/** All sizes are in units of the view box. A phone shows 420 of them whole. */
const WIDE = 420;
const LEFT = 16;
const RIGHT = 404;
const COLUMNS = [352, 404];

/** From this ratio on, a row stands on the second axis. */
const FAR = 64;

type Range = readonly [least: number, most: number];

/** Where the dot of this ratio is. */
function scale(ratio: number, [least, most]: Range) {
  const share = Math.log(ratio / least) / Math.log(most / least);
  return tenths(LEFT + (RIGHT - LEFT) * share);
}

const tenths = (x: number) => Math.round(x * 10) / 10;

/** The powers of two around all ratios, and 1. */
function rangeOf(lines: readonly Line[]): Range {
  const ratios = lines.flatMap(({ dots }) => dots.map(({ ratio }) => ratio));
  return [
    2 ** Math.floor(Math.log2(Math.min(1, ...ratios))),
    2 ** Math.ceil(Math.log2(Math.max(2, ...ratios))),
  ];
}

/** A class, and what shows where nobody reads the style sheet. */
const TEXT = `font-family="system-ui, sans-serif" font-size="13" ` +
  `fill="#57606a"`;
const BOLD = `${TEXT} font-weight="600"`;

/** A dot: filled for the first runtime, a ring for the other. */
function dot({ runtime, ratio }: Dot, y: number, range: Range): string {
  const shape = `cx="${scale(ratio, range)}" cy="${y}" r="5"`;
  const colour = ratio < 1 ? "slower" : "faster";
  const paint = ratio < 1 ? "#c2591b" : "#2f81d7";
  return runtime === RUNTIMES[0]
    ? `<circle class="${colour}" fill="${paint}" stroke="${paint}" ` +
      `stroke-width="2" ${shape}/>`
    : `<circle class="${colour} ring" fill="none" stroke="${paint}" ` +
      `stroke-width="2" ${shape}/>`;
}

/** One axis, with its rows under their rivals, from `y` on; where it ends. */
function panel(lines: readonly Line[], drawn: string[], from: number): number {
  const range = rangeOf(lines);
  const ticks = drawn.length;
  let y = from;
  let rival = "";
  for (const { rival: other, what, dots } of lines) {
    if (other !== rival) {
      rival = other;
      y += 24;
      drawn.push(
        `<text class="rival" ${BOLD} x="8" y="${y}">against ${rival}</text>`,
      );
      y += 6;
    }
    y += 20;
    drawn.push(`<text ${TEXT} x="${LEFT}" y="${y}">${what}</text>`);
    for (const { runtime, ratio, unsure } of dots) {
      drawn.push(
        `<text class="figure" ${BOLD} text-anchor="end" ` +
          `x="${COLUMNS[RUNTIMES.indexOf(runtime)]}" y="${y}">` +
          `${ratio}${unsure ? "?" : ""}</text>`,
      );
    }
    y += 13;
    drawn.push(
      `<line class="tick" stroke="#c8d1da" x1="${LEFT}" y1="${y}" ` +
        `x2="${RIGHT}" y2="${y}"/>`,
      ...dots.map((it) => dot(it, y, range)),
    );
    y += 4;
  }
  const marks: string[] = [];
  for (let at = range[0]; at <= range[1]; at *= 2) {
    const x = scale(at, range);
    marks.push(
      `<line class="${at === 1 ? "one" : "grid"}" ` +
        `stroke="${at === 1 ? "#57606a" : "#eaeef2"}" x1="${x}" ` +
        `y1="${from + 8}" x2="${x}" y2="${y + 6}"/>`,
      `<text class="tick" ${TEXT} x="${x}" y="${y + 20}" ` +
        `text-anchor="middle">${at < 1 ? `1/${1 / at}` : at}</text>`,
    );
  }
  drawn.splice(ticks, 0, ...marks);
  return y + 20;
}

/** The chart as an SVG, for light and dark pages. */
export function chart(groups: readonly Group[]): string {
  const lines = linesOf(groups);
  const far = ({ dots }: Line) => dots.some(({ ratio }) => ratio >= FAR);
  const near = lines.filter((line) => !far(line));
  const outside = lines.filter(far);
  const drawn: string[] = [];
  let y = panel(near, drawn, 44);
  if (outside.length > 0) {
    drawn.push(
      `<text class="head" ${BOLD} x="8" y="${y + 32}">` +
        `Further out, on an axis of their own</text>`,
    );
    y = panel(outside, drawn, y + 34);
  }
  const title = "How many times as fast as others Weft is";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDE} ${
    y + 52
  }" role="img" aria-label="${title}">
<!-- bench/chart.ts draws this from docs/bench. -->
<style>
@media (prefers-color-scheme: dark) {
  text { fill: #d1d7e0; }
  line.tick { stroke: #3d444d; }
  line.grid { stroke: #262c33; }
  line.one { stroke: #9198a1; }
  circle.faster { fill: #4c9df0; stroke: #4c9df0; }
  circle.slower { fill: #e8834a; stroke: #e8834a; }
  circle.ring { fill: none; }
}
</style>
<text class="head" ${BOLD} x="8" y="16">${title}</text>
<text ${TEXT} x="8" y="36">logarithmic axis; left of 1, Weft is slower</text>
${
    RUNTIMES.map((runtime, k) =>
      `<text ${BOLD} text-anchor="end" x="${
        COLUMNS[k]
      }" y="36">${runtime}</text>`
    ).join("\n")
  }
<circle class="faster" fill="#2f81d7" stroke="#2f81d7" stroke-width="2" cx="${
    COLUMNS[0]! - 15
  }" cy="18" r="5"/>
<circle class="faster ring" fill="none" stroke="#2f81d7" stroke-width="2" cx="${
    COLUMNS[1]! - 16
  }" cy="18" r="5"/>
${drawn.join("\n")}
<text class="tick" ${TEXT} x="8" y="${
    y + 26
  }">how many times as fast (log)</text>
<text class="tick" ${TEXT} x="8" y="${y + 44}">${machinesOf(groups)}</text>
</svg>
`;
}

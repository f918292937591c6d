/**
 * The chart of the README, drawn from the results in docs/bench: how many times
 * as fast as its rivals Weft is, or how many times slower.
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
      ["Channel, a number: throughput / postMessage", "Channel, numbers"],
      [
        "CallRing, 16 in flight, awaiting: calls/s / postMessage",
        "CallRing, calls, 16 under way",
      ],
      [
        "Channel, 100 letters: throughput / postMessage",
        "Channel, texts of 100 letters",
      ],
      [
        "Channel, a small object in JSON: throughput / postMessage",
        "Channel, small objects in JSON",
      ],
    ],
    "multithreading 0.3.52": [
      [
        "MpmcQueue, 2 producers, 2 consumers, ints: throughput / multithreading 0.3.52 channel",
        "MpmcQueue, numbers, 2 to 2",
      ],
      [
        "Barrier, 2 threads: rounds/s / multithreading 0.3.52",
        "Barrier, 2 threads",
      ],
    ],
    "ringbuf.js 0.4.0": [
      [
        "SpscQueue, one int at a time, blocking: throughput / ringbuf.js 0.4.0",
        "SpscQueue, one number at a time",
      ],
      [
        "RecordRing, 100-byte records, one producer: throughput / ringbuf.js 0.4.0",
        "RecordRing, records of 100 bytes",
      ],
      [
        "SpscQueue, batches of 64 ints: throughput / ringbuf.js 0.4.0",
        "SpscQueue, 64 numbers at a time",
      ],
    ],
    "a lock that always notifies": [
      [
        "Mutex, 2 threads, 50 ns sections, 50 ns apart: throughput / a lock that always notifies",
        "Mutex, 2 threads, 50 ns sections",
      ],
      [
        "Mutex, 4 threads, 50 ns sections, 50 ns apart: throughput / a lock that always notifies",
        "Mutex, 4 threads, 50 ns sections",
      ],
    ],
    "native C (Weft in WebAssembly)": [
      [
        "LockFreeQueue, 2 producers, 2 consumers: wasm's throughput / native C's",
        "LockFreeQueue, 2 to 2",
      ],
      [
        "SpscQueue, one int at a time: wasm's throughput / native C's",
        "SpscQueue, one number at a time",
      ],
    ],
  };

/** One bar. */
interface Bar {
  readonly runtime: string;
  readonly ratio: number;
  /** Whether other programs disturbed the measurement. */
  readonly unsure: boolean;
}

/** A row of the chart: what is compared, and a bar for each runtime. */
interface Line {
  readonly rival: string;
  readonly what: string;
  readonly bars: readonly Bar[];
}

/** The rows of {@linkcode SHOWN} that were measured. */
function linesOf(groups: readonly Group[]): Line[] {
  const barsOf = (name: string): Bar[] =>
    groups.flatMap(({ runs }) =>
      Object.entries(runs).flatMap(([runtime, { rows }]) =>
        rows.filter((row) => row.name === name).map((row) => ({
          runtime,
          ratio: Number(row.figure.toPrecision(3)),
          unsure: disturbed(row),
        }))
      )
    );
  return Object.entries(SHOWN).flatMap(([rival, all]) =>
    all.map(([name, what]) => ({ rival, what, bars: barsOf(name) }))
  ).filter(({ bars }) => bars.length > 0);
}

/** The machines on which all of it was measured. */
function machinesOf(groups: readonly Group[]): string {
  const runs = groups.flatMap(({ runs }) => Object.values(runs));
  return [...new Set(runs.map(({ machine }) => machine))].join("; ");
}

const LEFT = 250;
const WIDE = 370;
const HIGH = 15;

/** How far from the left edge a bar of this ratio ends. */
function scale(ratio: number, [least, most]: readonly [number, number]) {
  const share = Math.log(ratio / least) / Math.log(most / least);
  return tenths(LEFT + WIDE * share);
}

const tenths = (x: number) => Math.round(x * 10) / 10;

/** The chart as an SVG, for light and dark pages. */
export function chart(groups: readonly Group[]): string {
  const lines = linesOf(groups);
  const ratios = lines.flatMap(({ bars }) => bars.map(({ ratio }) => ratio));
  const range = [
    2 ** Math.floor(Math.log2(Math.min(0.5, ...ratios))),
    2 ** Math.ceil(Math.log2(Math.max(2, ...ratios))),
  ] as const;
  const one = scale(1, range);
  const drawn: string[] = [];
  let y = 30;
  let rival = "";
  for (const line of lines) {
    if (line.rival !== rival) {
      rival = line.rival;
      y += 14;
      drawn.push(`<text class="rival" x="8" y="${y}">against ${rival}</text>`);
      y += HIGH + 4;
    }
    drawn.push(
      `<text x="${LEFT - 10}" y="${y}" text-anchor="end">${line.what}</text>`,
    );
    for (const { runtime, ratio, unsure } of line.bars) {
      const end = scale(ratio, range);
      const from = Math.min(one, end);
      const wide = Math.max(1, tenths(Math.abs(end - one)));
      drawn.push(
        `<rect class="${ratio < 1 ? "slower" : "faster"}" x="${from}" ` +
          `y="${y - 11}" width="${wide}" height="12" rx="2"/>`,
        `<text class="figure" x="${Math.max(one, end) + 6}" y="${y}">` +
          `${ratio} x${unsure ? " ?" : ""} <tspan>${runtime}</tspan></text>`,
      );
      y += HIGH;
    }
    y += 6;
  }
  const ticks: string[] = [];
  for (let at = range[0]; at <= range[1]; at *= 2) {
    const x = scale(at, range);
    ticks.push(
      `<line class="${at === 1 ? "one" : "tick"}" x1="${x}" y1="32" ` +
        `x2="${x}" y2="${y - 8}"/>`,
      `<text class="tick" x="${x}" y="${y + 6}" text-anchor="middle">` +
        `${at < 1 ? `1/${1 / at}` : at} x</text>`,
    );
  }
  const title = "How many times as fast as its rivals Weft is";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 ${
    y + 32
  }" role="img" aria-label="${title}">
<!-- bench/chart.ts draws this from docs/bench. -->
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.rival, .head, .figure { font-weight: 600; }
.figure tspan { font-size: 11px; font-weight: 400; }
text.tick { font-size: 11px; fill: #59636e; }
line.tick { stroke: #d1d9e0; }
.one { stroke: #59636e; }
.faster { fill: #2f81d7; }
.slower { fill: #d9822b; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  text.tick { fill: #9198a1; }
  line.tick { stroke: #30363d; }
  .one { stroke: #9198a1; }
  .faster { fill: #4c9df0; }
  .slower { fill: #e09b4b; }
}
</style>
<text class="head" x="8" y="16">${title}</text>
${[...ticks, ...drawn].join("\n")}
<text class="tick" x="8" y="${y + 26}">${machinesOf(groups)}</text>
</svg>
`;
}

/**
 * The chart of the README, drawn from docs/benchmarks.md.
 *
 * @module
 */

/** One bar: how many times as fast as its rival something is. */
export interface Figure {
  readonly what: string;
  readonly rival: string;
  readonly ratio: number;
  /** Whether other programs disturbed the measurement. */
  readonly disturbed: boolean;
}

/** All bars, and where they were measured. */
export interface Figures {
  readonly bars: readonly Figure[];
  readonly machine: string;
  readonly versions: string;
  readonly date: string;
}

/** The rows of docs/benchmarks.md that are shown, under their rivals. */
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

/** The figures in the text of docs/benchmarks.md. */
export function figuresIn(text: string): Figures {
  const rows = new Map(
    [...text.matchAll(/^\| (.*?) +\| +([\d.]+) x \|.*$/gm)]
      .map((row) => [row[1]!, row] as const),
  );
  const bars = Object.entries(SHOWN).flatMap(([rival, all]) =>
    all.map(([name, what]) => {
      const row = rows.get(name);
      if (row === undefined) {
        throw new Error(
          `docs/benchmarks.md has no row "${name}", which the chart shows: ` +
            "change SHOWN in tests/project/figures.ts",
        );
      }
      const disturbed = /\| (yes|no) \? /.test(row[0]);
      return { what, rival, ratio: Number(row[2]), disturbed };
    })
  );
  const fact = (name: string) =>
    text.match(RegExp(`^- ${name}: (.*)$`, "m"))?.[1] ?? "?";
  return {
    bars,
    machine: fact("Machine"),
    versions: fact("Versions"),
    date: fact("Date"),
  };
}

const LEFT = 250;
const WIDE = 400;
const HIGH = 22;

/** How far from the left edge a bar of this ratio ends. */
function scale(ratio: number, [least, most]: readonly [number, number]) {
  const share = Math.log(ratio / least) / Math.log(most / least);
  return Math.round((LEFT + WIDE * share) * 10) / 10;
}

/** The chart as an SVG, for light and dark pages. */
export function chartOf(figures: Figures): string {
  const { bars, machine, versions, date } = figures;
  const ratios = bars.map(({ ratio }) => ratio);
  const range = [
    2 ** Math.floor(Math.log2(Math.min(0.5, ...ratios))),
    2 ** Math.ceil(Math.log2(Math.max(2, ...ratios))),
  ] as const;
  const one = scale(1, range);
  const lines: string[] = [];
  let y = 24;
  let rival = "";
  for (const bar of bars) {
    if (bar.rival !== rival) {
      rival = bar.rival;
      y += 12;
      lines.push(`<text class="rival" x="8" y="${y}">than ${rival}</text>`);
      y += HIGH;
    }
    const end = scale(bar.ratio, range);
    const [from, to] = [Math.min(one, end), Math.max(one, end)];
    const side = bar.ratio < 1 ? "slower" : "faster";
    const figure = `${bar.ratio} x${bar.disturbed ? " ?" : ""}`;
    const at = bar.ratio < 1 ? one + 6 : to + 6;
    lines.push(
      `<text x="${LEFT - 10}" y="${y}" text-anchor="end">${bar.what}</text>`,
      `<rect class="${side}" x="${from}" y="${y - 12}" width="${
        Math.max(1, Math.round((to - from) * 10) / 10)
      }" height="15" rx="2"/>`,
      `<text class="figure" x="${at}" y="${y}">${figure}</text>`,
    );
    y += HIGH;
  }
  const bottom = y - 8;
  const ticks: string[] = [];
  for (let at = range[0]; at <= range[1]; at *= 2) {
    const x = scale(at, range);
    ticks.push(
      `<line class="${at === 1 ? "one" : "tick"}" x1="${x}" y1="32" ` +
        `x2="${x}" y2="${bottom}"/>`,
      `<text class="tick" x="${x}" y="${bottom + 14}" text-anchor="middle">` +
        `${at < 1 ? `1/${1 / at}` : at} x</text>`,
    );
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${
    bottom + 40
  }" role="img" aria-label="How many times as fast Weft is">
<!-- \`deno task layout\` draws this from docs/benchmarks.md. -->
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.rival, .head { font-weight: 600; }
.figure { font-weight: 600; }
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
${
    [
      ...ticks,
      `<text class="head" x="8" y="16">Weft is so many times as fast</text>`,
      ...lines,
    ].join("\n")
  }
<text class="tick" x="8" y="${
    bottom + 34
  }">${date}, ${machine}; ${versions}</text>
</svg>
`;
}

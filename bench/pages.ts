/**
 * The figures that stand within the text of pages, so that they are those of
 * docs/bench: each place has a pattern that finds it, and the text that must
 * stand there. `bench/report.ts` writes them.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Row } from "./contest.ts";
import type { Group } from "./results.ts";

/** A place in a page. */
interface Place {
  readonly files: readonly string[];
  /** Finds the place; what the group `is` matches is replaced. */
  readonly pattern: RegExp;
  readonly text: (groups: readonly Group[]) => string;
}

/** The runtimes that the texts are about. */
const NODE = ["Node"];
const BOTH = ["Node", "Deno"];

/** The rows of that name. */
function rowsOf(
  groups: readonly Group[],
  runtimes: readonly string[],
  name: string,
): Row[] {
  const rows = groups.flatMap(({ runs }) =>
    runtimes.flatMap((runtime) => runs[runtime]?.rows ?? [])
  ).filter((row) => row.name === name);
  if (rows.length !== runtimes.length) {
    throw new Error(`Expected a figure of each of ${runtimes}: ${name}`);
  }
  return rows;
}

/** The median of one rival of a row, in ns: rows name them all. */
function medianOf({ name, from }: Row, rival: string): number {
  const found = from.split(", ").find((it) => it.startsWith(`${rival} `));
  const ns = found?.match(/ ([\d.]+) ns\b/)?.[1];
  if (ns === undefined) throw new Error(`No median of ${rival}: ${name}`);
  return Number(ns);
}

/** Two digits, as nobody needs more to choose. */
const short = (x: number) => Number(x.toPrecision(2)).toString();

/** As in `13 to 23`. */
function range(figures: readonly number[], unit: string): string {
  const [least, most] = [Math.min(...figures), Math.max(...figures)].map(short);
  return (least === most ? least! : `${least} to ${most}`) + unit;
}

const QUEUES = [1, 2, 4].map((n) =>
  n === 1
    ? "MpmcQueue, 1 producer, 1 consumer, ints: throughput / postMessage"
    : `MpmcQueue, ${n} producers, ${n} consumers, ints: throughput / postMessage`
);
const FREE = "Mutex lock + guard.unlock / two bare compareExchange";
const USING = "Mutex `using lock` / `using` two bare compareExchange";
const ONE =
  "SpscQueue, one int at a time, blocking: throughput / ringbuf.js 0.4.0";
const BATCH = "SpscQueue, batches of 64 ints: throughput / ringbuf.js 0.4.0";
const OBJECT =
  "Channel of any values, a small object: throughput / postMessage";
const FIRST =
  "Channel, the first 10,000 small objects, quiet: throughput / postMessage";
const NUMBER = "Channel, a number: throughput / postMessage";
const WAKES = ["Semaphore", "MpmcQueue"] as const;

/** What things cost: a row for each, with the medians in Node and in Deno. */
function costs(groups: readonly Group[]): string {
  const medians = (name: string, rival: string) =>
    rowsOf(groups, BOTH, name).map((row) => medianOf(row, rival));
  /** Half a round trip is one wake. */
  const wakes = (kind: string) =>
    WAKES.flatMap((name) =>
      medians(
        `${name}, ${kind}`,
        name === "Semaphore" ? "semaphore" : "queue",
      )
    ).map((ns) => ns / 2000);
  const us = (figures: readonly number[]) => figures.map((ns) => ns / 1000);
  const rows = [
    [
      "one atomic operation",
      range(medians(FREE, "bare").map((ns) => ns / 2), " ns"),
    ],
    ["lock and unlock a free `Mutex`", range(medians(FREE, "guard"), " ns")],
    [
      "one number through a queue, from thread to thread",
      range(
        [
          ...medians(ONE, "queue"),
          ...QUEUES.flatMap((name) => medians(name, "queue")),
        ],
        " ns",
      ),
    ],
    [
      "one number of a batch of 64 (`tryPushMany`)",
      range(medians(BATCH, "queue"), " ns"),
    ],
    [
      "a small object through a `Channel`",
      range(us(medians(OBJECT, "channel")), " µs"),
    ],
    [
      "the same, each of the first 10,000 objects",
      range(us(medians(FIRST, "channel")), " µs"),
    ],
    [
      "to wake an agent that sleeps in a blocking call",
      range(wakes("blocking round trip / bare wait/notify"), " µs"),
    ],
    [
      "to wake an agent that awaits",
      range(wakes("async round trip / bare waitAsync"), " µs"),
    ],
    [
      "a number, or a small object, by `postMessage`",
      range(
        us([NUMBER, OBJECT].flatMap((name) => medians(name, "postMessage"))),
        " µs",
      ),
    ],
  ];
  return ["| what | time |", "| --- | --- |"]
    .concat(rows.map((cells) => `| ${cells.join(" | ")} |`)).join("\n");
}

/** How many times as fast a channel's first objects are in Node. */
const channelOf = (groups: readonly Group[], n: string) =>
  range(
    rowsOf(
      groups,
      NODE,
      `Channel, the first ${n} small objects, quiet: throughput / postMessage`,
    ).map(({ figure }) => figure),
    "",
  );

const PLACES: readonly Place[] = [
  {
    files: ["README.md"],
    pattern: /it\s+passes\s+(?<is>[\d.]+\s+to\s+[\d.]+)\s+times\s+as\s+many/d,
    text: (groups) =>
      range(
        QUEUES.flatMap((name) => rowsOf(groups, NODE, name))
          .map(({ figure }) => figure),
        "",
      ),
  },
  {
    files: [
      "docs/guides/faq.md",
      "docs/primitives/README.md",
      "docs/primitives/mutex.md",
      "docs/primitives/rw_lock.md",
      "docs/primitives/semaphore.md",
    ],
    pattern: /`using`[^.]*?takes\s+\[?(?<is>\d+\s+to\s+\d+\s+ns)/d,
    text: (groups) => {
      const without = rowsOf(groups, BOTH, FREE);
      const more = rowsOf(groups, BOTH, USING).map((row, k) =>
        medianOf(row, "using") - medianOf(without[k]!, "guard")
      );
      return range(more, " ns");
    },
  },
  {
    files: ["README.md"],
    pattern: /its\s+first\s+10,000\s+objects\s+(?<is>[\d.]+)\s+times\s+as/d,
    text: (groups) => channelOf(groups, "10,000"),
  },
  {
    files: ["README.md"],
    pattern: /a\s+million\s+(?<is>[\d.]+)\s+times\s+as\s+fast/d,
    text: (groups) => channelOf(groups, "1,000,000"),
  },
  {
    files: ["README.md", "docs/guides/choosing.md"],
    pattern: /kernel[^|]*?(?<is>[\d.]+\s+to\s+[\d.]+)\s+times\s+as\s+fast/d,
    text: (groups) => {
      const kernel = groups.find(({ name }) => name === "kernel");
      const gains = BOTH.flatMap((runtime) => kernel?.runs[runtime]?.rows ?? [])
        .filter(({ name }) =>
          name.endsWith(": time in JavaScript / in the kernel")
        )
        .map(({ figure }) => figure);
      if (gains.length === 0) throw new Error("Nobody measured the kernel");
      return range(gains, "");
    },
  },
  {
    files: ["docs/guides/choosing.md"],
    pattern: /^(?<is>\| what +\| time +\|\n(?:\|.*\n)+)/dm,
    text: (groups) => `${costs(groups)}\n`,
  },
];

/**
 * The text of a file with the figures of docs/bench, as `deno fmt` leaves it.
 */
function written(
  file: string,
  places: readonly Place[],
  groups: readonly Group[],
): string {
  const input = places.reduce((old, { pattern, text }) => {
    const place = pattern.exec(old)?.indices?.groups?.is;
    if (place === undefined) throw new Error(`No ${pattern} in ${file}`);
    return old.slice(0, place[0]) + text(groups) + old.slice(place[1]);
  }, fs.readFileSync(file, "utf8"));
  const words = ["fmt", "--ext", "md", "-"];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    input,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** The pages that have figures in their text, as they must be. */
export function pages(
  groups: readonly Group[],
): [file: string, text: string][] {
  const names = new Set(PLACES.flatMap(({ files }) => files));
  return [...names].map((name) => {
    const file = fileURLToPath(new URL(`../${name}`, import.meta.url));
    const places = PLACES.filter(({ files }) => files.includes(name));
    return [file, written(file, places, groups)];
  });
}

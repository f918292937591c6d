/**
 * Other programs' load, made on purpose: what is fast on a quiet machine may
 * lose where others want the cores, too.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import {
  type Contestant,
  type Figure,
  median,
  show,
  spread,
} from "./contest.ts";

/** How long a busy process lives at most, in seconds. */
const LIFE = 300;

/** Starts `n` processes that compute, and waits until they do. */
export async function busyProcesses(n: number): Promise<ChildProcess[]> {
  const loop = `const end = Date.now() + ${LIFE}000; while (Date.now() < end);`;
  const words = "Deno" in globalThis ? ["eval", loop] : ["-e", loop];
  const all = Array.from(
    { length: n },
    () => spawn(process.execPath, words, { stdio: "ignore" }),
  );
  if (n > 0) await new Promise((resolve) => setTimeout(resolve, 500));
  return all;
}

/** As in `beside 2 busy processes`, or `quiet`. */
export function beside(n: number): string {
  if (n === 0) return "quiet";
  return n === 1 ? "beside a busy process" : `beside ${n} busy processes`;
}

/** The ns of each turn, by contestant. */
export type Times<Name extends string> = Record<Name, number[]>;

/**
 * Lets the contestants take `turns` turns, one after the other. Here the load
 * belongs to the question: each turn counts.
 */
export async function rounds<Name extends string>(
  contestants: readonly (Contestant & { readonly name: Name })[],
  turns: number,
): Promise<Times<Name>> {
  const times = {} as Times<Name>;
  for (let round = 0; round < turns; round++) {
    for (const { name, turn } of contestants) {
      const { ns } = await turn();
      (times[name] ??= []).push(ns!);
    }
  }
  return times;
}

/** How many times as long `over` takes as `under`, turn by turn. */
export function longer<Name extends string>(
  times: Times<Name>,
  over: Name,
  under: Name,
): Figure {
  const each = times[over].map((ns, k) => ns / times[under][k]!);
  const said = (name: Name) => {
    const { low, high } = spread(times[name]);
    return `${name} ${show(median(times[name]))} ns ` +
      `(${show(low!)} to ${show(high!)})`;
  };
  return {
    figure: median(each),
    unit: "x",
    ...spread(each),
    from: `${said(under)}, ${said(over)}`,
  };
}

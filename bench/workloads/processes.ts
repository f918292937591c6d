/**
 * Runs parts of a workload in processes of their own, under Deno and Node.
 *
 * @module
 */

import { execFile } from "node:child_process";
import * as fs from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundle, bundled } from "../../tests/_run/bundle.ts";

/** The platforms that processes run on. */
export type Host = "Node" | "Deno";

const BUNDLES = fileURLToPath(
  new URL(`../../.weft/workloads/node-${process.pid}`, import.meta.url),
);

const ready = new Map<string, Promise<string>>();

process.on("exit", () => fs.rmSync(BUNDLES, { recursive: true, force: true }));

/**
 * The file that Node runs in place of a module, and of the modules that it
 * starts.
 */
function forNode(program: URL): Promise<string> {
  const file = fileURLToPath(program);
  if (file.endsWith(".js")) return Promise.resolve(file); // it is in a bundle
  let result = ready.get(file);
  if (!result) {
    result = bundle([file], BUNDLES).then(() => bundled(file, BUNDLES));
    ready.set(file, result);
  }
  return result;
}

/** Thrown where a process failed, or had to be killed. */
export class Failed extends Error {
  override readonly name = "Failed";
}

/**
 * Runs `program` with an order; returns the values that it printed, one on each
 * line. Kills it after `seconds`.
 *
 * @throws {Failed} If it does not end well, in time.
 */
export async function ask<T>(
  host: Host,
  program: URL,
  order: unknown,
  seconds: number,
): Promise<T[]> {
  const words = host === "Node"
    ? ["node", await forNode(program)]
    : [process.execPath, "run", "-A", fileURLToPath(program)];
  const [first, ...rest] = [...words, JSON.stringify(order)];
  const limits = {
    timeout: seconds * 1000,
    killSignal: "SIGKILL",
    maxBuffer: 2 ** 26,
  } as const;
  const output = await new Promise<string>((resolve, reject) => {
    execFile(first!, rest, limits, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const why = error.killed
        ? `killed after ${seconds} s`
        : `ended by ${error.signal ?? `code ${error.code}`}\n${stderr}`;
      reject(new Failed(`${host}, ${rest.at(-1)}: ${why.trim()}`));
    });
  });
  return output.split("\n").filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as T);
}

/** In a process: what it was asked to do. */
export function orderOf<T>(): T {
  return JSON.parse(process.argv.at(-1)!) as T;
}

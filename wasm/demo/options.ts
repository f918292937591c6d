/**
 * The demo's command line.
 *
 * @module
 */

import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

/** A mistake of the user or the machine: one line, and exit code 2. */
export class Complaint extends Error {
  override readonly name = "Complaint";
}

/** What to do. */
export interface Options {
  /** Files and folders. If there are none, the default input is used. */
  paths: string[];
  /** JavaScript workers. */
  js: number;
  /** Threads of wasm. */
  wasm: number;
  /** The bytes of a chunk. The last chunk of a file may be shorter. */
  chunk: number;
  /** Prints all figures as JSON, and nothing else. */
  json: boolean;
  help: boolean;
}

/** What `--help` prints. */
export const USAGE = `\
usage: deno task demo [FILE|DIR ...] [--js N] [--wasm N] [--chunk BYTES]

Computes the BLAKE2b of files, by JavaScript workers and threads of wasm that
take chunks from one queue. Without a file: of this project's sources and of
256 MiB that are made up, the same each time.

  --js N         JavaScript workers, 0 to 32
  --wasm N       threads of wasm, 0 to 32; 0 needs no compiler
  --chunk BYTES  bytes handed out at a time, 1 to 16777216 (65536)
  --json         print all figures as JSON`;

/** The most agents of a kind. */
const MAX_AGENTS = 32;

/** The most bytes of a chunk. */
const MAX_CHUNK = 2 ** 24;

/** Reads the command line. A {@linkcode Complaint} says what is wrong. */
export function parse(args: string[]): Options {
  const { values, positionals } = parsed(args);
  const cores = availableParallelism();
  const half = Math.min(Math.ceil(cores / 2), MAX_AGENTS);
  const number = (
    name: "js" | "wasm" | "chunk",
    low: number,
    high: number,
    fallback: number,
  ) => {
    const text = values[name];
    if (text === undefined) return fallback;
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= low && value <= high) return value;
    throw new Complaint(
      `--${name} must be an integer from ${low} to ${high}: received "${text}"`,
    );
  };
  const options = {
    paths: positionals,
    js: number("js", 0, MAX_AGENTS, half),
    wasm: number("wasm", 0, MAX_AGENTS, half),
    chunk: number("chunk", 1, MAX_CHUNK, 2 ** 16),
    json: values.json ?? false,
    help: values.help ?? false,
  };
  if (options.js + options.wasm > 0) return options;
  throw new Complaint("--js 0 and --wasm 0 leave nobody to do the work");
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        js: { type: "string" },
        wasm: { type: "string" },
        chunk: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    const [line] = (error as Error).message.split(/\n|\. /, 1);
    throw new Complaint(line);
  }
}

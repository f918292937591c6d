/**
 * How long test files took when they ran last, kept in `.weft/times.json`. By
 * that, long ones begin first; it decides nothing else.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { all } from "./depth.ts";

const KEPT = fileURLToPath(new URL("../../.weft/times.json", import.meta.url));

/** The seconds of each file, by its name. */
export class Times {
  readonly #file: string;
  readonly #seconds: Map<string, number>;
  readonly #new = new Map<string, number>();

  /** Reads what is kept in `file`. */
  constructor(file: string = KEPT) {
    this.#file = file;
    this.#seconds = read(file);
  }

  /** How long it took; undefined if that is not known. */
  of(name: string): number | undefined {
    return this.#seconds.get(keyOf(name));
  }

  /** Takes note of how long it took. */
  note(name: string, seconds: number): void {
    this.#new.set(keyOf(name), Math.round(seconds * 10) / 10);
  }

  /** Keeps what was noted, beside what another run may have kept. */
  keep(): void {
    const all = new Map([...read(this.#file), ...this.#new]);
    const sorted = [...all].sort(([a], [b]) => a < b ? -1 : 1);
    const text = JSON.stringify(Object.fromEntries(sorted), null, 1);
    const part = `${this.#file}.${process.pid}`;
    fs.mkdirSync(path.dirname(this.#file), { recursive: true });
    fs.writeFileSync(part, text);
    fs.renameSync(part, this.#file);
  }
}

/** With `--all`, a file does more. */
const keyOf = (name: string): string => all() ? `${name} --all` : name;

function read(file: string): Map<string, number> {
  try {
    return new Map(Object.entries(JSON.parse(fs.readFileSync(file, "utf8"))));
  } catch {
    return new Map(); // nothing was kept, or it was cut off
  }
}

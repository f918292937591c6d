/**
 * Runs threads of `file_io.c`, prints how long they took, and checks the files
 * they wrote byte by byte.
 *
 * @module
 */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { CallRing, Latch, RecordRing } from "../../../mod.ts";
import { type Hand, hire } from "../crew.ts";
import { meters, type Round, round } from "../meter.ts";
import { orderOf } from "../processes.ts";
import type { Role } from "./clerk.ts";

/** The jobs of threads, in the order of `file_io.c`. */
const WORK = [
  "write",
  "fwrite",
  "ring",
  "gathered",
  "steps",
  "calls",
] as const;

/** The orders of the process. */
export interface Job {
  /** The compiled module. */
  readonly module: string;
  readonly what: typeof WORK[number];
  /** Whether files are the host's; otherwise nobody else can see them. */
  readonly onHost: boolean;
  /** Numbers of threads, measured one after the other; 0 is the main thread. */
  readonly threads: readonly number[];
  /** Lines, or pieces. */
  readonly count: number;
  /** Whether the main thread blocks until the threads are done. */
  readonly blocks?: boolean;
  readonly rounds: number;
}

/** The output of the process. */
export interface Printed extends Round {
  threads: number;
}

/** The output if the threads had not ended when the main thread gave up. */
export interface Hung {
  threads: number;
  hung: true;
}

/** ms after which a main thread that blocks gives up. */
const PATIENCE = 3000;

interface Module {
  readonly wasmMemory: WebAssembly.Memory;
  _folder_bytes(): number;
  _use_folder(ofHost: number): number;
  _prepare(threads: number): number;
  _begin(what: number, threads: number, count: number): void;
  _begin_here(what: number, count: number): void;
  _holds_lines(thread: number, count: number): number;
}

const CLERK = new URL("./clerk.ts", import.meta.url);

const job = orderOf<Job>();
const { module: url, what, onHost, threads, count, rounds } = job;
/** Whether lines go through the ring. */
const rings = what === "ring" || what === "gathered";
const { default: load } = await import(url);
const module: Module = await load();
const memory = module.wasmMemory;
const place = fs.mkdtempSync(path.join(tmpdir(), "weft-files-"));
process.on("exit", () => fs.rmSync(place, { recursive: true, force: true }));

const folder = new TextEncoder().encode(onHost ? place : "/tmp");
new Uint8Array(memory.buffer).set(folder, module._folder_bytes());
if (module._use_folder(onHost ? 1 : 0) !== 0) throw new Error("no folder");

/** A line, as `make_line` in `file_io.c` makes it. */
function lineOf(thread: number, number: number): string {
  return `T${thread} ${String(number).padStart(8, "0")} `.padEnd(63, "x") +
    "\n";
}

function linesOf(thread: number, lines: number): string {
  return Array.from({ length: lines }, (_, i) => lineOf(thread, i)).join("");
}

/** Whether all lines are there, those of each thread in their order. */
function checkLines(many: number) {
  const lines = Math.floor(count / many);
  for (let thread = 0; thread < many; thread++) {
    let right: boolean;
    if (rings) {
      const text = fs.readFileSync(path.join(place, "log.txt"), "latin1");
      if (text.length !== lines * many * 64) throw new Error("lines are lost");
      const own = text.match(new RegExp(`^T${thread}.*\n`, "gm"))!.join("");
      right = own === linesOf(thread, lines);
    } else if (onHost) {
      const file = path.join(place, `log${thread}.txt`);
      right = fs.readFileSync(file, "latin1") === linesOf(thread, lines);
    } else right = module._holds_lines(thread, lines) === 1;
    if (!right) throw new Error(`thread ${thread}'s lines are not as written`);
  }
}

function checkPieces() {
  const file = fs.readFileSync(path.join(place, "pieces.bin"));
  const right = file.length === count * 64 &&
    file.every((byte, at) => byte === 97 + ((at >> 6) + 1) % 26);
  if (!right) throw new Error("pieces are not as written");
}

/** Starts the worker that serves a ring. */
function clerk(role: Role): Promise<{ hand: Hand; over: Promise<void> }> {
  let end = () => {};
  const over = new Promise<void>((resolve) => end = resolve);
  return new Promise((ready) => {
    const hand = hire(CLERK, (message: "ready" | "over") => {
      if (message === "over") end();
      else ready({ hand, over });
    });
    hand.post(role);
  });
}

/** Ends the process, whose threads wait for the main thread for ever. */
function giveUp(threads: number): never {
  const hung: Hung = { threads, hung: true };
  console.log(JSON.stringify(hung));
  process.exit(0);
}

async function run(many: number): Promise<Round> {
  const at = module._prepare(Math.max(many, 1)) >>> 0;
  const [done, ring, calls] = new Int32Array(memory.buffer, at, 3);
  const latch = new Latch(memory, done! >>> 0);
  const role = { memory, ring: ring!, calls: calls!, folder: place };
  const served = rings ? "ring" : what === "calls" ? what : undefined;
  const worker = served && await clerk({ ...role, what: served });
  const kind = WORK.indexOf(what);
  const it = await round(meters(0), 0, () => {
    if (many === 0) module._begin_here(kind, count);
    else module._begin(kind, many, count);
    if (job.blocks && !latch.tryWait(PATIENCE)) giveUp(many);
    return latch.waitAsync();
  });
  if (worker) {
    new RecordRing(memory, ring! >>> 0).close();
    new CallRing(memory, calls! >>> 0).close();
    await worker.over;
    worker.hand.stop();
  }
  const [wrong] = new Int32Array(memory.buffer, at + 12, 1);
  if (wrong) throw new Error(`${wrong} operations went wrong`);
  if (what === "calls" || what === "steps" && onHost) checkPieces();
  else if (what !== "steps") checkLines(many);
  return it;
}

for (const many of threads) {
  // The first round only lets the compilers work.
  for (let i = 0; i <= rounds; i++) {
    const it = await run(many);
    if (i > 0) console.log(JSON.stringify({ threads: many, ...it }));
  }
}
process.exit(0);

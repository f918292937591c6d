/**
 * One module of C with its memory, threads of C and of JavaScript on it, and
 * this agent: they play parts together.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { WARNINGS } from "../_run/native.ts";
import { spawn, type Thread } from "../_run/workers.ts";
import { BEGUN, OVER, PLAY, type Role, ROLES } from "./plays.ts";
import { type How, play } from "./roles.ts";

const path = (relative: URL) => fileURLToPath(relative);

/** The sources of a module for a {@linkcode Stage}. */
export const SOURCES: string[] = [
  path(new URL("../../wasm/exports.c", import.meta.url)),
  path(new URL("./twin.c", import.meta.url)),
];
const MODULE = path(new URL("../../.weft/twin/twin.mjs", import.meta.url));
/** The folder of `weft.h`. */
export const INCLUDE = path(new URL("../../wasm", import.meta.url));
const WORKER = new URL("./_worker.ts", import.meta.url);

/** Threads of C that can be at work at once. */
const POOL = 4;

/**
 * The functions of the module. A time is a BigInt; everything else is a word.
 */
export type Functions = Record<
  string,
  (...words: (number | bigint)[]) => number
>;

/** The agent that plays a part. */
export type Player = "C" | "JS" | "JS awaiting" | "main";

/** A part to be played. */
export interface Part {
  by: Player;
  role: Role;
  at: number;
  extra?: number;
  count?: number;
  number?: number;
}

/** A part that is played. */
export interface Played {
  /** Its words. */
  words: Int32Array;
  /** Resolves when it is over; rejects if it went wrong. */
  over: Promise<void>;
}

/** Plays the part at `place` in a thread of C, and resolves when it is over. */
export type PlayInC = (place: number) => void | Promise<void>;

/** Where the parts are played. */
export class Stage {
  /** The module's memory. */
  readonly memory: WebAssembly.Memory;
  /** The module's functions, without Emscripten's underscore. */
  readonly c: Functions;
  readonly #playInC: PlayInC;
  readonly #workers: Thread[] = [];
  #free: number;
  #begin: number;
  /** Parts that are not over, or failed. */
  #pending = 0;
  #seed = 1;

  /** On a module of `wasm/exports.c` and `twin.c`, and its memory. */
  constructor(memory: WebAssembly.Memory, c: Functions, playInC: PlayInC) {
    this.memory = memory;
    this.c = c;
    this.#playInC = playInC;
    this.#begin = this.#free = c.arena!() >>> 0;
  }

  /** Builds the module of the tests, if need be, and loads it. */
  static async open(): Promise<Stage> {
    await emcc({
      sources: SOURCES,
      args: [
        ...PTHREADS,
        `-sPTHREAD_POOL_SIZE=${POOL}`,
        "-sALLOW_MEMORY_GROWTH",
        "-sMAXIMUM_MEMORY=4GB",
        "-sWASM_BIGINT",
        ...WARNINGS,
        "-Wno-error=pthreads-mem-growth",
        "-Wno-pthreads-mem-growth",
        `-I${INCLUDE}`,
      ],
      out: MODULE,
    });
    const { default: load } = await import(MODULE);
    return Stage.on(await load());
  }

  /** On a module of Emscripten, with its own threads. */
  static on(module: Record<string, unknown>): Stage {
    const underscored = Object.entries(module)
      .filter(([name, value]) => /^_\w/.test(name) && value instanceof Function)
      .map(([name, value]) => [name.slice(1), value]);
    const c: Functions = Object.fromEntries(underscored);
    return new Stage(module.wasmMemory as WebAssembly.Memory, c, (place) => {
      const error = c.play_in_thread!(place);
      if (error !== 0) throw new Error(`no thread: error ${error}`);
    });
  }

  /** All words that the memory has now. */
  get heap(): Int32Array<SharedArrayBuffer> {
    const buffer = this.memory.buffer as unknown;
    return new Int32Array(buffer as SharedArrayBuffer);
  }

  /** Zeroed memory: `bytes` at a multiple of 4, of no larger power of two. */
  place(bytes: number): number {
    const at = this.#free + (this.#free % 8 === 0 ? 4 : 0);
    this.#free = at + (bytes + 3 & ~3);
    this.heap.fill(0, at / 4, this.#free / 4);
    return at;
  }

  /** Frees all places, except those that a failed test left in use. */
  clear(): void {
    if (this.#pending > 0) this.#begin = this.#free;
    this.#free = this.#begin;
    this.#pending = 0;
  }

  /** Lets agents play `parts` at once, until all are over. */
  async perform(parts: Part[]): Promise<Played[]> {
    const played = await Promise.all(parts.map((part) => this.start(part)));
    await Promise.all(played.map(({ over }) => over));
    return played;
  }

  /** Starts an agent with its part. */
  async start(part: Part): Promise<Played> {
    const place = this.place(PLAY.length * 4);
    const buffer = this.memory.buffer as unknown as SharedArrayBuffer;
    const words = new Int32Array(buffer, place, PLAY.length);
    words[PLAY.role] = ROLES.indexOf(part.role);
    words[PLAY.at] = part.at;
    words[PLAY.extra] = part.extra ?? 0;
    words[PLAY.count] = part.count ?? 0;
    words[PLAY.number] = part.number ?? 0;
    words[PLAY.seed] = this.#seed++ * 7919;
    const over = this.#play(part, place, words);
    over.catch(() => {}); // whoever awaits it hears of it
    if (part.by !== "main") await this.#reaches(words, BEGUN, over);
    return { words, over };
  }

  async #play(part: Part, place: number, words: Int32Array): Promise<void> {
    this.#pending++;
    await this.#playBy(part, place, words);
    this.#pending--;
  }

  async #playBy(part: Part, place: number, words: Int32Array): Promise<void> {
    if (part.by === "main") return await play(this.memory, place, "awaiting");
    if (part.by === "C") {
      await this.#playInC(place);
      await this.#reaches(words, OVER);
      const line = words[PLAY.failed];
      if (line) throw new Error(`"${part.role}": twin.c:${line}`);
      return;
    }
    const how: How = part.by === "JS" ? "blocking" : "awaiting";
    const worker = this.#workers.pop() ?? await spawn(WORKER, this.memory);
    worker.post({ place, how });
    const problem = await worker.next<string>();
    if (problem) throw new Error(`"${part.role}" by ${part.by}: ${problem}`);
    // An agent that holds a mutex would not wait for it.
    if (part.role !== "mutex keep") this.#workers.push(worker);
  }

  /** Waits until a part has come to `state`, without blocking this agent. */
  async #reaches(words: Int32Array, state: number, over?: Promise<void>) {
    let failed: unknown;
    over?.catch((error) => failed = error);
    while (Atomics.load(words, PLAY.state) < state) {
      if (failed) throw failed;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

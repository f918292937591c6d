/**
 * The worker that handles files for threads of C. Lines come in order through a
 * `RecordRing` and are written many at a time. Everything else comes through a
 * `CallRing`.
 *
 * @module
 */

import * as fs from "node:fs";
import { constants } from "node:os";
import * as path from "node:path";
import { CallRing, ClosedError, Event, RecordRing } from "../../../mod.ts";
import { listen, post } from "../crew.ts";

/** The orders of the worker. */
export interface Role {
  readonly memory: WebAssembly.Memory;
  /** Addresses. */
  readonly ring: number;
  readonly calls: number;
  readonly folder: string;
  readonly what: "ring" | "calls";
}

/** The most bytes that are written at a time. */
const BATCH = 2 ** 17;

/** How many ms lines may lie in a batch that no other lines join. */
const IDLE = 5;

/** Bytes that a record begins with: see `head` in `file_io.c`. */
const HEAD = 8;

/** From this many bytes on, `set` is cheaper than moving them word by word. */
const LONG = 512;

/** Writes lines to a file, and answers flushes, until the ring is closed. */
class Writer {
  readonly #ring: RecordRing;
  /** The ring's bytes, and a batch, by bytes and by words. */
  readonly #from: Int32Array;
  readonly #bytes = new Uint8Array(BATCH);
  readonly #words = new Int32Array(this.#bytes.buffer);
  /**
   * It is opened with the first lines, so that a flush reports if that fails.
   */
  #file: number | undefined;
  #filled = 0;
  /** The first error: a lost line stays lost. */
  #error = 0;

  constructor(readonly role: Role) {
    const { memory, ring } = role;
    this.#ring = new RecordRing(memory, ring >>> 0);
    this.#from = new Int32Array(this.#ring.buffer, this.#ring.byteOffset);
  }

  run(): void {
    try {
      for (;;) {
        while (this.#takeOne());
        let record = this.#ring.tryPop(IDLE);
        if (record === undefined) {
          this.#save();
          record = this.#ring.pop();
        }
        if (record.length > HEAD) this.#add(record);
        else this.#answer(new Int32Array(record.buffer)[0]!);
      }
    } catch (reason) {
      if (!(reason instanceof ClosedError)) throw reason;
    }
    this.#save();
    if (this.#file !== undefined) fs.closeSync(this.#file);
  }

  /** Takes a record in place; false if there is none. */
  #takeOne(): boolean {
    const record = this.#ring.peek();
    if (record === undefined) return false;
    const at = record.byteOffset - this.#from.byteOffset;
    const end = at + record.length;
    const bytes = record.length - HEAD;
    if (bytes === 0) {
      const reply = this.#from[at / 4]!;
      this.#ring.consume();
      this.#answer(reply);
      return true;
    }
    if (bytes < LONG && bytes % 4 === 0 && this.#filled % 4 === 0) {
      if (this.#filled + bytes > BATCH) this.#save();
      // A call of `set` would cost more than moving these few words.
      let to = this.#filled / 4;
      for (let k = (at + HEAD) / 4; k < end / 4; k++) {
        this.#words[to++] = this.#from[k]!;
      }
      this.#filled += bytes;
    } else this.#add(record);
    this.#ring.consume();
    return true;
  }

  #add(record: Uint8Array) {
    if (this.#filled + record.length - HEAD > BATCH) this.#save();
    this.#bytes.set(record.subarray(HEAD), this.#filled);
    this.#filled += record.length - HEAD;
  }

  #save() {
    if (this.#filled === 0) return;
    try {
      const name = path.join(this.role.folder, "log.txt");
      const file = this.#file ??= fs.openSync(name, "w");
      for (let at = 0; at < this.#filled;) {
        at += fs.writeSync(file, this.#bytes, at, this.#filled - at);
      }
    } catch (problem) {
      const { code } = problem as { code?: keyof typeof constants.errno };
      this.#error ||= code && constants.errno[code] || constants.errno.EIO;
    }
    this.#filled = 0;
  }

  /** Answers a flush: all lines before it are written, or have failed. */
  #answer(address: number) {
    this.#save();
    const { memory } = this.role;
    const at = address >>> 0;
    // Published by the event.
    new Int32Array(memory.buffer, at, 1)[0] = this.#error;
    new Event(memory, at + 4).set();
  }
}

const WRITE = 0, READ = 1, SIZE = 2;

/** Serves calls on one file, until the ring is closed. */
function serve({ memory, calls, folder }: Role): void {
  const name = path.join(folder, "pieces.bin");
  const file = fs.openSync(name, "w+");
  const piece = new Uint8Array(64);
  new CallRing(memory, calls >>> 0).serve((request) => {
    const [operation, offset] = new Int32Array(
      request.buffer,
      request.byteOffset,
      2,
    );
    if (operation === WRITE) {
      piece.set(request.subarray(8)); // not every runtime writes shared memory
      return Int32Array.of(fs.writeSync(file, piece, 0, 64, offset!));
    }
    if (operation === SIZE) return Int32Array.of(fs.statSync(name).size);
    const other = operation === READ ? file : fs.openSync(name, "r");
    const length = fs.readSync(other, piece, 0, 64, offset!);
    if (other !== file) fs.closeSync(other);
    return piece.subarray(0, length);
  });
  fs.closeSync(file);
}

listen((role: Role) => {
  post("ready");
  if (role.what === "ring") new Writer(role).run();
  else serve(role);
  post("over");
});

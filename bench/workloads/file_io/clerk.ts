/**
 * The worker that does files for threads of C: lines come through a
 * `RecordRing`, in their order, and are written many at a time; all else comes
 * through a `CallRing`.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { CallRing, ClosedError, Event, RecordRing } from "../../../mod.ts";
import { listen, post } from "../crew.ts";

/** What it is told. */
export interface Role {
  readonly memory: WebAssembly.Memory;
  /** Addresses. */
  readonly ring: number;
  readonly calls: number;
  readonly folder: string;
  readonly what: "ring" | "calls";
}

/** Bytes that are written at a time, at most. */
const BATCH = 2 ** 17;

/** Writes lines to a file, and answers flushes, until the ring is closed. */
function write({ memory, ring: address, folder }: Role): void {
  const ring = new RecordRing(memory, address >>> 0);
  const words = new Int32Array(memory.buffer);
  const file = fs.openSync(path.join(folder, "log.txt"), "w");
  const batch = new Uint8Array(BATCH);
  let filled = 0, error = 0;
  const save = () => {
    try {
      for (let at = 0; at < filled;) {
        at += fs.writeSync(file, batch, at, filled - at);
      }
    } catch (problem) {
      error ||= Math.abs((problem as { errno?: number }).errno ?? 1);
    }
    filled = 0;
  };
  const take = (record: Uint8Array) => {
    const bytes = record.subarray(4);
    if (bytes.length === 0) return answer(record);
    if (filled + bytes.length > BATCH) save();
    batch.set(bytes, filled);
    filled += bytes.length;
  };
  const answer = (record: Uint8Array) => {
    save();
    const at = new DataView(record.buffer, record.byteOffset).getUint32(
      0,
      true,
    );
    words[at / 4] = error; // published by the event
    error = 0;
    new Event(memory, at + 4).set();
  };
  try {
    for (;;) {
      if (ring.read(take, 1000) > 0) continue;
      save();
      take(ring.pop()!);
    }
  } catch (reason) {
    if (!(reason instanceof ClosedError)) throw reason;
  }
  fs.closeSync(file);
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
  if (role.what === "ring") write(role);
  else serve(role);
  post("over");
});

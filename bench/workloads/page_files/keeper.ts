/**
 * A worker of a page, which keeps a file open and reads and writes it for the
 * page's main thread.
 *
 * @module
 */

import { CallRing, type Handle } from "../../../mod.ts";
import { byteOf, open, PIECE, READ, WRITE } from "./opfs.ts";

/** The orders of the worker. */
export type Order =
  | { readonly serve: Handle<"call_ring"> }
  | { readonly messages: true }
  | { readonly alone: number };

const file = await (await open("pieces.bin")).createSyncAccessHandle();
const piece = new Uint8Array(PIECE);
const reply = new Int32Array(1);

/** Does a step; returns the bytes that were read, or how many were written. */
function step(request: Uint8Array): Uint8Array | Int32Array {
  const words = new Int32Array(request.buffer, request.byteOffset, 2);
  const at = { at: words[1]! };
  if (words[0] === READ) {
    return piece.subarray(0, file.read(piece, at));
  }
  piece.set(request.subarray(8)); // the file takes no shared memory
  reply[0] = file.write(piece, at);
  return reply;
}

/** The same steps without another thread: ms for all writes, and all reads. */
function alone(count: number): [number, number] {
  const request = new Uint8Array(8 + PIECE);
  const words = new Int32Array(request.buffer);
  const times = [WRITE, READ].map((kind) => {
    words[0] = kind;
    const begin = performance.now();
    for (let k = 0; k < count; k++) {
      words[1] = k * PIECE;
      request.fill(byteOf(k), 8);
      if (step(request).length === 0) throw new Error("a piece is missing");
    }
    return performance.now() - begin;
  });
  return times as [number, number];
}

addEventListener("message", ({ data }: MessageEvent<Order | Uint8Array>) => {
  if (data instanceof Uint8Array) return postMessage(step(data).slice());
  if ("alone" in data) postMessage(alone(data.alone));
  else if ("serve" in data) {
    postMessage("ready");
    CallRing.from(data.serve).serve(step);
    postMessage("over");
  }
});
postMessage("open");

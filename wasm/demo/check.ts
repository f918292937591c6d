/**
 * Checks the digests of the threads. It reads each file again, on one thread and
 * in private memory, and compares.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { DIGEST } from "./arena.ts";
import { blocks, chunksOf, type File } from "./input.ts";
import { hex, sha256 } from "./sha256.ts";

/** What a pass over a file found. */
export interface Checked {
  name: string;
  /** Bytes that were hashed. */
  bytes: number;
  chunks: number;
  /**
   * SHA-256 of the whole file. An agent computed it if the file is one chunk,
   * and this pass if there are several.
   */
  sha256: string;
  /** SHA-256 of the agents' digests of all chunks, in their order. */
  sha256OfDigests: string;
  /** The differences. */
  differences: string[];
}

/** Files read at a time. */
const LANES = 4;

/** Bytes of a chunk that is worth a call to another thread. */
const LARGE = 2 ** 14;

/** The most differences that are reported for one file. */
const MAX_TOLD = 3;

/** Checks each file. */
export async function check(files: File[], chunk: number): Promise<Checked[]> {
  const results: Checked[] = [];
  const left = files.entries();
  const lane = async () => {
    for (const [i, file] of left) results[i] = await checkOne(file, chunk);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

async function checkOne(file: File, chunk: number): Promise<Checked> {
  const { name, read, digests } = file;
  const differences: string[] = [];
  const chunks = chunksOf(read, chunk);
  const compare = (what: string, right: Uint8Array, index: number) => {
    const ours = digests.subarray(index * DIGEST, (index + 1) * DIGEST);
    if (hex(ours) === hex(right)) return;
    differences.push(
      `${name}${what}: SHA-256 is ${hex(right)}, ` +
        `the threads computed ${hex(ours) || "none"}`,
    );
  };
  const whole = createHash("sha256");
  let bytes = 0;
  for await (const block of blocks(file, chunk)) {
    const first = bytes / chunk;
    bytes += block.length;
    const pending = chunks === 1 ? [] : digestsOf(block, chunk);
    whole.update(block);
    for (const [i, digest] of (await Promise.all(pending)).entries()) {
      compare(`, chunk ${first + i}`, digest, first + i);
    }
  }
  const digest = whole.digest();
  if (chunks === 1) compare("", digest, 0);
  if (bytes !== read) {
    differences.unshift(
      `${name} changed: ${read} bytes were hashed, now it has ${bytes}`,
    );
  }
  const more = differences.length - MAX_TOLD;
  if (more > 0) {
    differences.splice(MAX_TOLD, more, `${name}: ${more} more differences`);
  }
  const ours = digests.subarray(0, chunks * DIGEST);
  return {
    name,
    bytes: read,
    chunks,
    sha256: hex(chunks === 1 ? ours : digest),
    sha256OfDigests: hex(sha256(ours)),
    differences,
  };
}

/** The digests of a block's chunks: of large ones, by other threads. */
function digestsOf(block: Uint8Array, chunk: number) {
  const digests: (Uint8Array | Promise<Uint8Array>)[] = [];
  for (let at = 0; at < block.length; at += chunk) {
    const bytes = block.subarray(at, at + chunk) as Uint8Array<ArrayBuffer>;
    digests.push(chunk < LARGE ? sha256(bytes) : sha256Elsewhere(bytes));
  }
  return digests;
}

async function sha256Elsewhere(bytes: Uint8Array<ArrayBuffer>) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

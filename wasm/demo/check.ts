/**
 * Checks the digests of the threads. It reads each file again, on one thread
 * and in private memory, and compares.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { DIGEST } from "./arena.ts";
import { blocks, chunksOf, type File } from "./input.ts";
import { blake2b, hex } from "./blake2b.ts";

/** What a pass over a file found. */
export interface Checked {
  name: string;
  /** Bytes that were hashed. */
  bytes: number;
  chunks: number;
  /**
   * BLAKE2b of the whole file. An agent computed it if the file is one chunk,
   * and this pass if there are several.
   */
  blake2b: string;
  /** BLAKE2b of the agents' digests of all chunks, in their order. */
  blake2bOfDigests: string;
  /** The differences. */
  differences: string[];
}

/** Files read at a time. */
const LANES = 4;

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
      `${name}${what}: BLAKE2b is ${hex(right)}, ` +
        `the threads computed ${hex(ours) || "none"}`,
    );
  };
  const whole = createHash("blake2b512");
  let bytes = 0;
  for await (const block of blocks(file, chunk)) {
    const first = bytes / chunk;
    bytes += block.length;
    const digestsOfChunks = chunks === 1 ? [] : digestsOf(block, chunk);
    whole.update(block);
    for (const [i, digest] of digestsOfChunks.entries()) {
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
    blake2b: hex(chunks === 1 ? ours : digest),
    blake2bOfDigests: hex(blake2b(ours)),
    differences,
  };
}

/** The digests of a block's chunks. */
function digestsOf(block: Uint8Array, chunk: number): Uint8Array[] {
  const digests: Uint8Array[] = [];
  for (let at = 0; at < block.length; at += chunk) {
    digests.push(blake2b(block.subarray(at, at + chunk)));
  }
  return digests;
}

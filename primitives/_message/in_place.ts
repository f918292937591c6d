/**
 * Bytes that go to a worker without a copy.
 *
 * @module
 */

import { isBytes } from "../_memory/describe.ts";
import { isOneMemory } from "../_memory/memory.ts";
import { type Codec, refusal } from "./message.ts";

/** Bytes before a message: where its bytes lie, and how many there are. */
const HEAD = 8;
/** In place of an offset: the bytes follow. */
const HERE = 0xffff_ffff;

const headOf = ({ buffer, byteOffset }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, HEAD);

function encode(value: Uint8Array, into: Uint8Array): number {
  if (!isBytes(value)) {
    throw refusal("bytes in place", value, "it is not a Uint8Array");
  }
  const { buffer, byteOffset, length } = value;
  if (length > HERE) {
    throw refusal("bytes in place", value, "it has 2^32 bytes or more");
  }
  // A memory that grew has another buffer, but workers may know the old one.
  const isThere = isOneMemory(buffer, into.buffer as SharedArrayBuffer) &&
    byteOffset + length <= into.buffer.byteLength && byteOffset < HERE;
  const needed = isThere ? HEAD : HEAD + length;
  if (needed <= into.length) {
    const head = headOf(into);
    head.setUint32(0, isThere ? byteOffset : HERE, true);
    head.setUint32(4, length, true);
    if (!isThere) into.set(value, HEAD);
  }
  return needed;
}

function decode(bytes: Uint8Array): Uint8Array {
  const head = headOf(bytes);
  const at = head.getUint32(0, true);
  if (at === HERE) return bytes.subarray(HEAD);
  return new Uint8Array(bytes.buffer, at, head.getUint32(4, true));
}

function decodeResult(bytes: Uint8Array): Uint8Array {
  const view = decode(bytes);
  const follows = headOf(bytes).getUint32(0, true) === HERE;
  return follows ? new Uint8Array(view) : view;
}

const NAME = "in place";

/**
 * Bytes as they lie in the pool's memory. If they lie there already, only their
 * place is sent, and nothing is copied; that is why a pool can be made within
 * memory of yours, which has room for data, too. Other bytes are copied once.
 *
 * The function of a worker gets a view. A view of bytes that were copied is
 * valid until the function is done. Bytes that were not copied may be changed
 * by the function, and must not be changed by others until it is done. A result
 * is a copy, unless it lies in the pool's memory, too, beside the pool.
 *
 * @example Data beside the pool
 * ```ts ignore
 * import { codec, inPlace, Pool, task } from "@weft/sync/pool";
 *
 * const tasks = { hash: task({ request: inPlace, reply: codec.binary }) };
 * const head = Pool.byteLength({});
 * const memory = new SharedArrayBuffer(head + 1_000_000);
 * const pool = new Pool({ tasks, workers: 4, make, memory });
 * const data = new Uint8Array(memory, head, 1_000_000); // write to it
 * console.log(await pool.run("hash", data.subarray(0, 500_000)));
 * ```
 */
export const inPlace: Codec<Uint8Array> = { name: NAME, encode, decode };

/** The same for results: bytes that follow the head are copied. */
export const inPlaceResult: Codec<Uint8Array> = {
  name: NAME,
  encode,
  decode: decodeResult,
};

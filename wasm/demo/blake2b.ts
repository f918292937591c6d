/**
 * BLAKE2b by the runtime's native code.
 *
 * @module
 */

import { createHash } from "node:crypto";

/** The digest of a message. */
export function blake2b(message: Uint8Array): Uint8Array {
  return createHash("blake2b512").update(message).digest();
}

/** {@linkcode blake2b} of shared memory, which is copied if that is refused. */
export const blake2bShared: typeof blake2b = takesShared()
  ? blake2b
  : (message) => blake2b(Uint8Array.from(message));

function takesShared(): boolean {
  try {
    blake2b(new Uint8Array(new SharedArrayBuffer(1)));
    return true;
  } catch {
    return false;
  }
}

/** A digest in hexadecimal, as it is printed. */
export function hex(digest: Uint8Array): string {
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/**
 * SHA-256 by the runtime's native code.
 *
 * @module
 */

import { createHash } from "node:crypto";

/** The digest of a message. */
export function sha256(message: Uint8Array): Uint8Array {
  return createHash("sha256").update(message).digest();
}

/** {@linkcode sha256} of shared memory, which is copied if that is refused. */
export const sha256Shared: typeof sha256 = takesShared()
  ? sha256
  : (message) => sha256(Uint8Array.from(message));

function takesShared(): boolean {
  try {
    sha256(new Uint8Array(new SharedArrayBuffer(1)));
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

/**
 * A codec that asks for more bytes than it needs, as a user's may.
 *
 * @module
 */
import type { Codec } from "../../mod.ts";

/** Texts in UTF-8; it asks for three bytes a letter. */
export const roomy: Codec<string> = {
  name: "roomy",
  encode: (text, into) =>
    into.length < 3 * text.length
      ? 3 * text.length
      : new TextEncoder().encodeInto(text, into).written,
  decode: (bytes) => new TextDecoder().decode(bytes.slice()),
};

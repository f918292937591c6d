/**
 * What the bytes of an answer say.
 *
 * @module
 */

import type { Codec } from "../../_message/message.ts";
import type { Slots } from "../ring/slots.ts";
import { PHASE_MASK, REPLIED } from "../ring/words.ts";
import type { CallBack } from "./functions.ts";
import { CALLBACK_HEAD, wordAt } from "../wire.ts";

/** The answer of a call that has one, in place; throws if its server did. */
export function answerAt(slots: Slots, at: number): Uint8Array {
  const { words } = slots;
  const phase = Atomics.load(words, at) & PHASE_MASK;
  // It throws, and gives the slot back.
  if (phase !== REPLIED) return slots.receive(at);
  return slots.space(at).subarray(0, slots.replyLength(at));
}

/** The words of a message, as numbers. */
export function wordsIn(bytes: Uint8Array): number[] {
  const words: number[] = [];
  for (let at = 0; at < bytes.length; at += 4) words.push(wordAt(bytes, at));
  return words;
}

/** What a server that calls back says, whose call keeps the slot `at`. */
export function callBackIn(
  codec: Codec<unknown>,
  bytes: Uint8Array,
  at: number,
): CallBack {
  const args = bytes.subarray(CALLBACK_HEAD);
  return {
    agent: wordAt(bytes, 0),
    number: wordAt(bytes, 4),
    id: wordAt(bytes, 8),
    what: bytes[12]!,
    at,
    args: args.length === 0 ? [] : codec.decode(args) as unknown[],
  };
}

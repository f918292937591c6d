/**
 * What the bytes of an answer say.
 *
 * @module
 */

import type { Codec } from "../../_message/message.ts";
import { type Classes, ownErrorOf } from "../../_message/own_errors.ts";
import { readUtf8 } from "../../_message/utf8.ts";
import type { Slots } from "../ring/slots.ts";
import { PHASE_MASK, REPLIED } from "../ring/words.ts";
import type { CallBack } from "./functions.ts";
import { arrival, type End, LATE, nameAt } from "../beside.ts";
import { Done } from "../iterators.ts";
import type { HeldObjects } from "./objects.ts";
import {
  BESIDE,
  CALLBACK,
  CALLBACK_HEAD,
  DONE,
  ERROR,
  NOTHING,
  OBJECT,
  RELEASED,
  RESTART,
  THROWN,
  VALUE,
  wordAt,
} from "../wire.ts";

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
function callBackIn(
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

/** Makes values of answers. */
export class Decoder {
  readonly #codec: Codec<unknown>;
  readonly #classes: Classes;
  readonly #objects: HeldObjects;
  /** Where comes what goes beside an answer. */
  readonly #end: End | undefined;
  readonly #blocks: boolean;
  readonly #ref: boolean;

  /** For one client, whose calls block or not, and keep the process alive. */
  constructor(
    codec: Codec<unknown>,
    classes: Classes,
    objects: HeldObjects,
    end: End | undefined,
    blocks: boolean,
    ref: boolean,
  ) {
    this.#codec = codec;
    this.#classes = classes;
    this.#objects = objects;
    this.#end = end;
    this.#blocks = blocks;
    this.#ref = ref;
  }

  /**
   * What the bytes of an answer stand for, which end a call whose slot is `at`.
   */
  decode(what: number, bytes: Uint8Array, at = 0): unknown {
    const codec = this.#codec;
    const end = this.#end;
    switch (what) {
      case NOTHING:
      case RESTART:
        return undefined;
      case VALUE:
        return codec.decode(bytes);
      case THROWN:
        return bytes.length === 0 ? undefined : codec.decode(bytes);
      case DONE:
        return new Done(
          bytes.length === 0 ? undefined : codec.decode(bytes),
        );
      case CALLBACK:
        return callBackIn(codec, bytes, at);
      case RELEASED:
        return wordsIn(bytes);
      case OBJECT:
        return this.#objects.standFor(
          bytes[0] ?? 0,
          readUtf8(bytes.subarray(1)),
        );
      case ERROR:
        return ownErrorOf(readUtf8(bytes), this.#classes);
      case BESIDE:
        if (end !== undefined) return this.#receive(end, bytes);
    }
    throw new TypeError("The server of the ring does not use serve()");
  }

  /** The value that went beside an answer, or a promise of it. */
  #receive(end: End, bytes: Uint8Array): unknown {
    const what = bytes[0];
    const from = nameAt(bytes, 1);
    const number = wordAt(bytes, 9);
    const attempt = () => end.take(from, number);
    const give = ([value]: unknown[]) =>
      what === DONE ? new Done(value) : value;
    const there = attempt();
    if (there !== undefined) return give(there);
    if (this.#blocks) throw new TypeError(LATE);
    const value = arrival([end], attempt, this.#ref).then(give);
    value.catch(() => {}); // nobody may wait for it
    return value;
  }
}

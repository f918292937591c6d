/**
 * Makes views: of bytes, and of the messages of a channel.
 *
 * @module
 */

import type { ShapedCodec, SharedShapes } from "../../_message/message.ts";
import type { ErrorClass } from "../../_message/own_errors.ts";
import { readOther } from "../others.ts";
import { Reader } from "../reader.ts";
import { Shapes } from "../shapes.ts";
import { Message } from "./message.ts";
import { ValueView } from "./view.ts";

let shapes: Shapes | undefined;

/** A view of the message that all of `bytes` hold. */
export function viewOf<T>(bytes: Uint8Array): ValueView<T> {
  const reader = new Reader(shapes ??= new Shapes(), [], readOther);
  const message = new Message(reader, bytes, 0, bytes.length);
  return new ValueView<T>(message, 1);
}

/** Receives what a function makes of views of messages. */
export class Views<T, Result> implements ShapedCodec<Result> {
  readonly name = "value";
  readonly #use: (view: ValueView<T>) => Result;
  readonly #errors: readonly ErrorClass[];
  readonly #shapes: Shapes;
  /** Undefined while in use: the function may receive, too. */
  #reader: Reader | undefined;

  constructor(
    use: (view: ValueView<T>) => Result,
    errors: readonly ErrorClass[],
    shapes?: SharedShapes,
  ) {
    this.#use = use;
    this.#errors = errors;
    this.#shapes = new Shapes(shapes);
  }

  over(shapes: SharedShapes): Views<T, Result> {
    return new Views(this.#use, this.#errors, shapes);
  }

  encode(): never {
    throw new TypeError("A channel of viewCodec only receives");
  }

  encodeAt(): never {
    return this.encode();
  }

  decode(bytes: Uint8Array): Result {
    return this.decodeAt(bytes, 0, bytes.length);
  }

  decodeAt(memory: Uint8Array, at: number, length: number): Result {
    const reader = this.#reader ??
      new Reader(this.#shapes, this.#errors, readOther);
    this.#reader = undefined;
    const message = new Message(reader, memory, at, length);
    try {
      return this.#use(new ValueView(message, at + 1));
    } finally {
      message.release();
      this.#reader = reader;
    }
  }
}

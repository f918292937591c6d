/**
 * What a pool and its workers write to a slot, and say in messages.
 *
 * A request has two words of head: the number of the task (and a flag), and a
 * number that tells the pool's tasks apart. A reply has a head of 32 bytes: what
 * it is, the number of the worker, and three times in ms. `wasm/weft/pool.h`
 * writes the same.
 *
 * @module
 */

import type { Slots } from "./_call_slots.ts";
import type { Codec, SizedCodec } from "./_message.ts";
import type { Handle } from "./_region.ts";

/** Bytes before the message of a request. */
export const REQUEST_HEAD = 8;
/** Bytes before the message of a reply. */
export const REPLY_HEAD = 32;

/** A flag beside the number of a task: the request is undefined. */
export const NO_REQUEST = 0x10000;
/** In place of the number of a task: the worker must end. */
export const RETIRE = 0xffff;
/** The most tasks by name. */
export const MOST_TASKS = 0xffff;

/** The result is undefined. */
export const NOTHING = 1;
/** The result follows. */
export const VALUE = 2;
/** The text of an error follows. */
export const ERROR = 3;
/** A value follows that was thrown, and is no error. */
export const THROWN = 4;
/** What was thrown in C: the message of an error follows. */
export const FAILED = 5;
/** The reply comes in a message, because it is too long for the slot. */
export const ELSEWHERE = 6;
/** The worker ends. */
export const RETIRED = 7;
/** The worker cannot end: it is one of C. */
export const STAYS = 8;

/** A codec with any values. */
// deno-lint-ignore no-explicit-any
export type AnyCodec = Codec<any>;

/** The two messages of a task, by their codecs. */
export interface Sides {
  readonly request: AnyCodec;
  readonly reply: AnyCodec;
}

/** Both codecs of a task as text: who has others cannot serve it. */
export function signatureOf({ request, reply }: Sides): string {
  const name = (codec: AnyCodec) => {
    const { shape } = codec as Partial<SizedCodec<unknown>>;
    return shape ? `${codec.name}#${shape >>> 0}` : codec.name;
  };
  return `${name(request)} -> ${name(reply)}`;
}

/** The name of the messages between a pool and its workers. */
const TAG = "@weft/sync/pool";

/** A worker says that it serves. */
export interface Hello {
  readonly weft: typeof TAG;
  readonly what: "hello";
  readonly id: number;
  /** The signature of each task by its name. */
  readonly tasks: Readonly<Record<string, string>>;
}

/** The pool says where. */
export interface Place {
  readonly weft: typeof TAG;
  readonly what: "place";
  readonly ring: Handle<"call_ring">;
  readonly done: Handle<"event">;
  /** The number of the worker. */
  readonly number: number;
  /** The names of the pool's tasks, by their numbers. */
  readonly names: readonly string[];
}

/** A reply that is too long for its slot. */
export interface Long {
  readonly weft: typeof TAG;
  readonly what: "long";
  readonly token: number;
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** The pool has no use for the worker, and says why. */
export interface Refusal {
  readonly weft: typeof TAG;
  readonly what: "refused";
  readonly why: string;
}

/** A message between a pool and a worker. */
export type PoolMessage = Hello | Place | Long | Refusal;

type Untagged<T> = T extends PoolMessage ? Omit<T, "weft"> : never;

/** Makes a message. */
export function tagged(message: Untagged<PoolMessage>): PoolMessage {
  return { weft: TAG, ...message } as PoolMessage;
}

/** Whether a message is one of a pool or its worker. */
export const isTagged = (data: unknown): data is PoolMessage =>
  (data as PoolMessage | null)?.weft === TAG;

/** The room for the reply in one slot. */
export interface Room {
  /** What the reply is, and the number of the worker. */
  readonly words: Int32Array;
  /** When the task began, how long it ran, and all time in tasks so far. */
  readonly times: Float64Array;
  readonly body: Uint8Array;
}

/** The rooms of all slots. */
export class Rooms {
  readonly #slots: Slots;
  readonly #rooms: Room[] = [];

  /** The rooms lie in these slots. */
  constructor(slots: Slots) {
    this.#slots = slots;
  }

  /** The room in the slot `at`. */
  at(at: number): Room {
    return this.#rooms[at] ??= this.#make(at);
  }

  #make(at: number): Room {
    const { buffer, byteOffset, length } = this.#slots.space(at);
    return {
      words: new Int32Array(buffer, byteOffset, 2),
      times: new Float64Array(buffer, byteOffset + 8, 3),
      body: new Uint8Array(
        buffer,
        byteOffset + REPLY_HEAD,
        length - REPLY_HEAD,
      ),
    };
  }
}

/** The time of day in ms, by a clock that all threads share. */
export const clock = (): number => performance.timeOrigin + performance.now();

/**
 * Values that bytes cannot carry go beside the ring, by a MessagePort.
 *
 * The sender posts a message with the values to the port. Then it writes the
 * message's number to the ring. So the message was posted before the other
 * agent reads its number. Node, Deno and Bun hand a posted message over at
 * once; a browser hands it over by an event. A caller that gives a call up
 * posts that its message is dropped.
 *
 * @module
 */

import { brief, describe, describeAny } from "../_memory/describe.ts";
import { Region } from "../_memory/region.ts";
import { ClosedError } from "../_queue/queue.ts";
import { offAbort, onAbort } from "../_wait/aborts.ts";
import { refer } from "../_wait/times.ts";
import { type NodePort, type Threads, threads } from "../_worker/threads.ts";
import type { CallPort } from "./types.ts";
import { KEPT_MS, putWord, wordAt } from "./wire.ts";

/** The members of a port that are used, and that `CallPort` lacks. */
interface Listened extends CallPort {
  addEventListener(type: string, listener: (event: never) => void): void;
  removeEventListener(type: string, listener: (event: never) => void): void;
  ref?(): void;
  unref?(): void;
}

// ---- values

/** Two copies of the package recognize each other's transfers by this. */
const TRANSFER: unique symbol = /* @__PURE__ */ Symbol.for(
  "@weft/sync transfer",
);

interface Transfer {
  readonly [TRANSFER]: readonly [value: unknown, list: readonly object[]];
  /** No codec carries a function, so it is refused within another object. */
  readonly transfer: () => void;
}

/**
 * An argument or a result of a call that goes by the `port` of `connect` and
 * `serve`, as `postMessage` sends it: what is in `list` is transferred.
 *
 * Shared memory, views of it, and handles of primitives go by the port without
 * this. Use it for MessagePorts and streams, for buffers that are to be moved
 * instead of copied, and for objects that have shared memory in them.
 *
 * @example A buffer that moves to the server, and back
 * ```ts
 * import { CallRing, connect, serve, transfer } from "@weft/sync";
 *
 * const api = {
 *   fill(bytes: Uint8Array) {
 *     bytes.fill(7);
 *     return transfer(bytes, [bytes.buffer]);
 *   },
 * };
 * const ring = CallRing.create({ request: 64, reply: 64 });
 * const { port1, port2 } = new MessageChannel();
 * const served = serve(ring, api, { port: port2 }); // in a worker
 * const remote = connect<typeof api>(ring, { port: port1 });
 * const bytes = new Uint8Array(1e6);
 * const filled = await remote.fill(transfer(bytes, [bytes.buffer]));
 * if (bytes.length !== 0 || filled[5] !== 7) throw new Error("it was copied");
 * ring.close();
 * await served;
 * port1.close();
 * ```
 *
 * @throws {TypeError} If `value` is a primitive instead of its handle, or
 * `list` is not an array of objects.
 */
export function transfer<T>(value: T, list: readonly object[] = []): T {
  if (!Array.isArray(list)) {
    throw new TypeError(
      `What is transferred must be an array: received ${describe(list)}`,
    );
  }
  if (value instanceof Region) {
    throw new TypeError(
      `A primitive is not transferred, but its handle is: received ${
        describeAny(value)
      }`,
    );
  }
  for (const item of list) {
    if (typeof item === "object" && item !== null) continue;
    throw new TypeError(
      `Only objects are transferred: received ${describe(item)}`,
    );
  }
  const made: Transfer = { [TRANSFER]: [value, [...list]], transfer: () => {} };
  return made as T;
}

/** Whether `value` was made by `transfer`. */
export const isTransfer = (value: unknown): value is Transfer =>
  typeof value === "object" && value !== null && TRANSFER in value;

/** What was given to `transfer`: a value, and what of it is moved. */
export const contentOf = (
  it: Transfer,
): readonly [value: unknown, list: readonly object[]] => it[TRANSFER];

const isShared = (value: unknown): boolean =>
  Object.prototype.toString.call(value) === "[object SharedArrayBuffer]";

/** Whether `value` goes by the port: a transfer, shared memory or a handle. */
export function goesBeside(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (ArrayBuffer.isView(value)) return isShared(value.buffer);
  return TRANSFER in value || isShared(value) ||
    "kind" in value && isShared((value as { buffer?: unknown }).buffer);
}

/** The error of a call that would need a port. */
export const needsPort = (what: string): TypeError =>
  new TypeError(
    `${
      brief(what)
    } cannot go through the ring: give both connect and serve the ` +
      "option port, each one end of a MessageChannel",
  );

// ---- messages

/** Tells our messages from others. */
const MARK = "@weft/sync beside";

interface Message {
  readonly weft: typeof MARK;
  /** The end that has sent it. */
  readonly from: string;
  /** Which message of that end it is; 0 says only that the end is there. */
  readonly number: number;
  /** The values; without them, the message of this number is dropped. */
  readonly values?: unknown[];
}

/** What goes by a port with one request or result. */
export interface Parcel {
  readonly number: number;
  /** Sends the values. If the platform refuses, throws and sends nothing. */
  post(): void;
  /** Drops the values: the call was given up. */
  drop(): void;
}

/** One end of a port, for all calls and servers of this agent that use it. */
export class End {
  readonly #port: Listened;
  /** Two random words, by which the other agent knows it. */
  readonly #words: readonly [number, number] = [randomWord(), randomWord()];
  readonly #name: string = nameOf(this.#words);
  /** The ends that have sent something: one for each copy of the package. */
  readonly #peers: Set<string> = new Set();
  readonly #inbox: Map<string, unknown[]> = new Map();
  /** Functions that look again after each message, or learn why none comes. */
  readonly #lookers: Set<(error?: Error) => void> = new Set();
  #last = 0;
  #users = 0;
  #awaited = 0;
  #error: Error | undefined;

  constructor(port: Listened) {
    this.#port = port;
    this.#post(0, []);
  }

  /** Whether the other agent uses the port for calls, as far as is known. */
  get isMet(): boolean {
    return this.#peers.size > 0 || this.#error !== undefined;
  }

  /** How many messages have come, and were not taken yet. */
  get pending(): number {
    this.drain();
    return this.#inbox.size;
  }

  /** Whether the end of this name has sent something by this port. */
  leadsTo(name: string): boolean {
    return this.#peers.has(name);
  }

  /**
   * The values of a message, which is forgotten; undefined if it has not come.
   */
  take(from: string, number: number): unknown[] | undefined {
    const key = `${from} ${number}`;
    if (!this.#inbox.has(key)) this.drain();
    const values = this.#inbox.get(key);
    this.#inbox.delete(key);
    return values;
  }

  /** Takes in the messages that have come, if the platform does so at once. */
  drain(): void {
    const receive = receiver();
    if (receive === undefined) return;
    const port = this.#port as unknown as NodePort;
    for (let next; (next = receive(port)) !== undefined;) {
      this.#take(next.message);
    }
  }

  /** Why nothing comes any more. */
  get error(): Error | undefined {
    return this.#error;
  }

  #take(data: unknown): void {
    const { weft, from, number, values } = (data ?? {}) as Partial<Message>;
    if (weft !== MARK) return;
    this.#peers.add(from!);
    const key = `${from} ${number}`;
    if (values === undefined) this.#inbox.delete(key);
    else if (number !== 0) this.#inbox.set(key, values);
    for (const look of [...this.#lookers]) look();
  }

  readonly #onMessage = ({ data }: { data: unknown }): void => this.#take(data);

  readonly #onClose = (): void => {
    this.#error = new ClosedError("The port of the calls was closed");
    this.#inbox.clear();
    for (const look of [...this.#lookers]) look(this.#error);
  };

  readonly #onUnreadable = (): void => {
    const error = new TypeError("What came by the port cannot be read here");
    for (const look of [...this.#lookers]) look(error);
  };

  /** One more user receives by events. */
  listen(): void {
    if (this.#users++ > 0) return;
    const port = this.#port;
    port.addEventListener("message", this.#onMessage);
    port.addEventListener("messageerror", this.#onUnreadable);
    port.addEventListener("close", this.#onClose);
    port.start();
    if (this.#awaited === 0) port.unref?.();
  }

  /** One user fewer receives by events. After the last, nothing is kept. */
  leave(): void {
    if (--this.#users > 0) return;
    const port = this.#port;
    port.removeEventListener("message", this.#onMessage);
    port.removeEventListener("messageerror", this.#onUnreadable);
    port.removeEventListener("close", this.#onClose);
    this.#inbox.clear();
  }

  /** Calls `look` after each message; while `ref`, the process stays alive. */
  watch(look: (error?: Error) => void, ref: boolean): void {
    this.#lookers.add(look);
    if (ref && this.#awaited++ === 0) this.#port.ref?.();
  }

  /** Ends what `watch` began. */
  unwatch(look: (error?: Error) => void, ref: boolean): void {
    this.#lookers.delete(look);
    if (ref && --this.#awaited === 0) this.#port.unref?.();
  }

  /** Packs values for the other agent; `what` names them in an error. */
  parcel(values: readonly unknown[], what: string): Parcel {
    const sent: unknown[] = [];
    const list: object[] = [];
    for (const value of values) {
      const [given, moved] = isTransfer(value) ? contentOf(value) : [value, []];
      sent.push(given);
      list.push(...moved);
    }
    const number = this.#last = this.#last + 1 | 0 || 1;
    let posted = false;
    return {
      number,
      post: () => {
        try {
          this.#post(number, sent, list);
        } catch (cause) {
          throw new TypeError(
            `${brief(what)} cannot be sent by the port: ` +
              `${
                brief(String((cause as Error)?.message))
              }; transfer(value, list) names what ` +
              "is transferred",
            { cause },
          );
        }
        posted = true;
      },
      drop: () => {
        if (posted) this.#post(number);
      },
    };
  }

  #post(number: number, values?: unknown[], list: object[] = []): void {
    const message: Message = {
      weft: MARK,
      from: this.#name,
      number,
      ...values === undefined ? {} : { values },
    };
    this.#port.postMessage(message, list as never[]);
  }

  /** Writes the name of this end, and the number of a message. */
  write(into: Uint8Array, at: number, number: number): void {
    putWord(into, at, this.#words[0]);
    putWord(into, at + 4, this.#words[1]);
    putWord(into, at + 8, number);
  }
}

const randomWord = (): number => Math.random() * 2 ** 32 | 0;

const nameOf = ([a, b]: readonly [number, number]): string => `${a}/${b}`;

/** The name of the end that is written at a byte. */
export const nameAt = (bytes: Uint8Array, at: number): string =>
  nameOf([wordAt(bytes, at), wordAt(bytes, at + 4)]);

/** The bytes of a name and a number. */
export const NAMED_BYTES = 12;

type Receive = Threads["receiveMessageOnPort"];

let receive: { now: Receive | undefined } | undefined;

/** The function that takes a message at once, if the platform has one. */
const receiver = (): Receive | undefined =>
  (receive ??= { now: threads()?.receiveMessageOnPort }).now;

const ends: WeakMap<object, End> = new WeakMap();

/**
 * The end of the port that the options name. An agent that blocks cannot
 * receive by events.
 */
export function endOf(
  port: CallPort | undefined,
  blocks: boolean,
): End | undefined {
  if (port === undefined) return undefined;
  const { postMessage, start, addEventListener } = (port ?? {}) as Listened;
  if (
    typeof postMessage !== "function" || typeof start !== "function" ||
    typeof addEventListener !== "function"
  ) {
    throw new TypeError(
      `The port of calls must be a MessagePort: received ${describe(port)}`,
    );
  }
  if (blocks && receiver() === undefined) {
    throw new TypeError(
      "An agent that blocks cannot receive by a port here, for lack of " +
        "receiveMessageOnPort: use connect or serve, which await",
    );
  }
  let end = ends.get(port);
  if (end === undefined) ends.set(port, end = new End(port as Listened));
  return end;
}

/** The error of a call whose values do not come by the port. */
export const LATE = "What belongs to the call did not come by the port: are " +
  "the ports of connect and serve the two of one MessageChannel?";

/**
 * Calls `attempt` after each message, until it returns something else than
 * undefined, and resolves to that. Rejects if that takes too long, or if
 * `signal` aborts.
 */
export function arrival<T>(
  ends: readonly End[],
  attempt: () => T | undefined,
  ref: boolean,
  signal?: AbortSignal,
): Promise<T> {
  const from = [...ends]; // the servers that have others begin and end
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      if (signal !== undefined) offAbort(signal, abort);
      for (const end of from) end.unwatch(look, ref);
    };
    const fail = (error: unknown) => {
      stop();
      reject(error);
    };
    const abort = () => fail(signal!.reason);
    const look = (error?: Error) => {
      const value = attempt();
      if (value === undefined) {
        if (error !== undefined) fail(error);
        return;
      }
      stop();
      resolve(value);
    };
    const timer = setTimeout(() => fail(new TypeError(LATE)), KEPT_MS);
    refer(timer, false);
    if (signal !== undefined) onAbort(signal, abort, abort);
    for (const end of from) end.watch(look, ref);
    const error = from.find(({ error }) => error !== undefined)?.error;
    if (error !== undefined) look(error);
  });
}

/**
 * Threads of C in the storms: bare modules of `storm.c`, each an instance of
 * its own on the memory of a play, in which agents of JavaScript work, too.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import type { Channel } from "../../mod.ts";
import { agentId } from "../../mod.ts";
import { guestOf } from "../_run/guest.ts";
import { whySkipped } from "../_run/missing.ts";
import { enter, PAGE } from "../_twin/bare.ts";

const SOURCE = fileURLToPath(new URL("./storm.c", import.meta.url));
/** The pages that the linker allows. */
const PAGES = 16;
/** The first pages are the module's own; those of threads follow. */
const FIRST = 2;
/** The pages of threads: a stack each, and the rooms of a server. */
const MOST = 8;

/** Where the primitive of a play lies. */
export const AT: number = (FIRST + MOST) * PAGE;

/** Where the calls that began are counted: the last page. */
export const BEGUN_AT: number = (PAGES - 1) * PAGE;

/** What a thread of C is told. */
export interface Guest {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Where its pages begin. */
  readonly pages: number;
}

let compiled: Promise<WebAssembly.Module | undefined> | undefined;

/** The module of C; undefined where no compiler makes one. */
export function guestModule(): Promise<WebAssembly.Module | undefined> {
  const flags = ["-Wl,--export=__stack_pointer"];
  return compiled ??= guestOf(SOURCE, flags).catch((error) => {
    const why = whySkipped(error);
    if (why === undefined) throw error;
    console.log(`skipped: threads of C in a storm: ${why}`);
    return undefined;
  });
}

/** The memory of one play, and the pages of its threads of C. */
export class GuestMemory {
  readonly memory: WebAssembly.Memory = new WebAssembly.Memory({
    initial: PAGES,
    maximum: PAGES,
    shared: true,
  });
  #pages = FIRST;

  /** On `module`. */
  constructor(readonly module: WebAssembly.Module) {}

  /** The memory as JavaScript has it. */
  get buffer(): SharedArrayBuffer {
    return this.memory.buffer as unknown as SharedArrayBuffer;
  }

  /** What the next thread is told; undefined if there are no pages for it. */
  guest(pages = 1): Guest | undefined {
    if (this.#pages + pages > FIRST + MOST) return undefined;
    const { module, memory } = this;
    const guest = { module, memory, pages: this.#pages * PAGE };
    this.#pages += pages;
    return guest;
  }
}

/** How an operation of `storm.c` has ended. */
const LATE = 1, CLOSED = 2, REFUSED = 3;

/** What a thread of C reads and writes, behind what it knows about itself. */
const WORDS = 96, NAME = 128, TEXT = 256;
/** The most bytes of a message. */
const ROOM = 12_000;

/** A thread of C, on the thread of JavaScript that plays it. */
export class GuestThread {
  /** The functions of `storm.c`. */
  readonly c: ReturnType<typeof enter>;
  /** Its agent's id. */
  readonly id: number = agentId();
  /** Where two words, a name and a message lie. */
  readonly words: number;
  readonly name: number;
  readonly text: number;
  readonly #memory: Uint8Array;
  readonly #view: DataView;

  /** Takes the thread's id in C, too. */
  constructor(guest: Guest) {
    this.c = enter(guest);
    this.words = guest.pages + WORDS;
    this.name = guest.pages + NAME;
    this.text = guest.pages + TEXT;
    const { buffer } = guest.memory;
    this.#memory = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.c.begin!(this.id);
  }

  /** The bytes at that place. */
  bytes(at: number, length: number): Uint8Array {
    return this.#memory.subarray(at, at + length);
  }

  /** Writes a message; returns its length. */
  write(bytes: Uint8Array, at = this.text): number {
    this.#memory.set(bytes, at);
    return bytes.length;
  }

  /** One of the two words. */
  word(i: number): number {
    return this.#view.getInt32(this.words + i * 4, true);
  }

  setWord(i: number, value: number): void {
    this.#view.setInt32(this.words + i * 4, value, true);
  }
}

const utf8 = new TextEncoder();
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes.slice());

/** How C carries the values of a codec: those that it can. */
export const GUEST_CODECS: Readonly<
  Record<string, { of(value: never): Uint8Array; from(b: Uint8Array): unknown }>
> = {
  text: { of: (value: string) => utf8.encode(value), from: text },
  binary: { of: (value: Uint8Array) => value, from: (bytes) => bytes.slice() },
  json: {
    of: (value: unknown) => utf8.encode(JSON.stringify(value)),
    from: (bytes) => JSON.parse(text(bytes)),
  },
  i32: {
    of: (value: number) => new Uint8Array(Int32Array.of(value).buffer),
    from: (bytes) => new Int32Array(bytes.slice().buffer)[0],
  },
  f64: {
    of: (value: number) => new Uint8Array(Float64Array.of(value).buffer),
    from: (bytes) => new Float64Array(bytes.slice().buffer)[0],
  },
};

/** Whether C has done it in time; throws if it was refused. */
export function done(result: number): boolean {
  if (result === LATE) return false;
  if (result === 0) return true;
  const error = result === REFUSED
    ? new RangeError("C refused a message")
    : new Error(`C returned ${result}`);
  if (result === CLOSED) error.name = "ClosedError";
  throw error;
}

/** The operations of a channel that block, by `channel.h`. */
type Blocking = Pick<
  Channel<unknown>,
  | "send"
  | "trySend"
  | "receive"
  | "tryReceive"
  | "receiveInto"
  | "tryReserve"
  | "peek"
  | "closed"
  | "maxLength"
>;

/** A channel at {@linkcode AT}, as a thread of C uses it. */
export function guestChannel(
  thread: GuestThread,
  codec: string,
  { maxLength }: Channel<unknown>,
): Channel<unknown> {
  const { c, text, words } = thread;
  const { of, from } = GUEST_CODECS[codec]!;
  const send = (value: unknown, ms: number): boolean =>
    done(c.send!(AT, text, thread.write(of(value as never)), ms));
  /** The length of the message that was received, or -1. */
  const receive = (ms: number): number => {
    thread.setWord(1, ROOM);
    return done(c.receive!(AT, text, words + 4, ms)) ? thread.word(1) : -1;
  };
  const valueAt = (length: number) =>
    length < 0 ? undefined : from(thread.bytes(text, length));
  const channel: Blocking = {
    maxLength,
    get closed() {
      return c.is_closed!(AT) !== 0;
    },
    send: (value) => void send(value, -1),
    trySend: (value, timeout = 0) => send(value, timeout),
    receive: () => valueAt(receive(-1)),
    tryReceive: (timeout = 0) => valueAt(receive(timeout)),
    receiveInto: (dst) => {
      const length = receive(-1);
      (dst as Uint8Array).set(thread.bytes(text, length));
      return length;
    },
    tryReserve: (length, timeout = 0) => {
      if (!done(c.reserve!(AT, length, words, timeout))) return undefined;
      const at = thread.word(0);
      return {
        bytes: thread.bytes(at, length),
        commit: (n = length) => void done(c.commit!(AT, at, n)),
        cancel: () => void c.cancel!(AT, at),
      } as ReturnType<Blocking["tryReserve"]>;
    },
    peek: () => {
      done(c.peek!(AT, words, words + 4));
      return {
        bytes: thread.bytes(thread.word(0), thread.word(1)),
        release: () => void c.consume!(AT),
      } as ReturnType<Blocking["peek"]>;
    },
  };
  return channel as Channel<unknown>;
}

/**
 * What senders and receivers of the storm on channels do, in a thread of their
 * own or as one of several loops of the main thread. They note in shared words
 * which messages were sent and received, so it is known after their death, too.
 */
import {
  type Carrier,
  Channel,
  type Codec,
  codec,
  type Handle,
  lockFree,
  manyToMany,
  manyToOne,
  oneToOne,
  struct,
  valueCodec,
  type ValueView,
  viewCodec,
} from "../../mod.ts";

import type { Guest } from "./_guest.ts";
import { Caller, type Ends, type Note } from "./_loop.ts";

/** The carriers by the names of plans. */
export const CARRIERS: Readonly<Record<string, Carrier | undefined>> = {
  any: undefined,
  manyToOne,
  oneToOne,
  manyToMany,
  lockFree,
};

const Numbers = struct({ id: "u32", twice: "f64" });

/** How one codec carries the number of a message, and `n` bytes beside it. */
interface Form<T> {
  readonly codec: Codec<T>;
  /**
   * With which every other receiver only looks at the number, if there is one.
   */
  readonly views?: Codec<number>;
  /** Whether its messages have one size. */
  readonly sized: boolean;
  valueOf(id: number, n: number): T;
  /** The number; NaN if the value is not equal to what was sent. */
  idOf(value: T): number;
}

/** An object of which one name depends on its number. */
type Named = Record<string, number> & { text: string };

/** The same as `form`, for a codec of any type. */
const form = <T>(form: Form<T>) => form as Form<unknown>;

const xs = (n: number) => "x".repeat(n);

/** The number in a text whose letters must be as sent. */
function numberOf(text: string): number {
  const [, id, n, rest] = /^(\d+) (\d+) (x*)$/.exec(text) ?? [];
  return rest?.length === Number(n) ? Number(id) : NaN;
}

const textOf = (id: number, n: number) => `${id} ${n} ${xs(n)}`;

function bytesOf(id: number, n: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4 + n).fill(id);
  new DataView(bytes.buffer).setUint32(0, id);
  return bytes;
}

function idOfBytes(bytes: Uint8Array): number {
  const { buffer, byteOffset, length } = bytes;
  if (length < 4) return NaN;
  const id = new DataView(buffer, byteOffset).getUint32(0);
  return bytes.subarray(4).every((byte) => byte === (id & 255)) ? id : NaN;
}

/** The codecs by the names of plans. */
export const FORMS: Readonly<Record<string, Form<unknown>>> = {
  text: form({
    codec: codec.text,
    sized: false,
    valueOf: textOf,
    idOf: numberOf,
  }),
  binary: form({
    codec: codec.binary,
    sized: false,
    valueOf: bytesOf,
    idOf: idOfBytes,
  }),
  json: form<unknown>({
    codec: codec.json as Codec<unknown>,
    sized: false,
    valueOf: (id, n) => ({ of: [id], text: textOf(id, n) }),
    idOf: (value) => {
      const { of, text } = value as { of: number[]; text: string };
      return numberOf(text) === of[0] ? of[0]! : NaN;
    },
  }),
  structured: form<unknown>({
    codec: codec.structured,
    sized: false,
    valueOf: (id, n) => new Map([[id, bytesOf(id, n)]]),
    idOf: (value) => {
      const [[id, bytes]] = [...value as Map<number, Uint8Array>] as [
        [number, Uint8Array],
      ];
      return idOfBytes(bytes) === id ? id : NaN;
    },
  }),
  value: form<unknown>({
    codec: valueCodec,
    views: viewCodec((view: ValueView<Record<string, unknown>>) => {
      const id = numberOf(view.get("text")?.read() as string);
      return view.get(`at${id % 8}`)?.read() === id ? id : NaN;
    }),
    sized: false,
    // The names differ, so agents add shapes at one time.
    valueOf: (id, n) => ({ [`at${id % 8}`]: id, text: textOf(id, n) }),
    idOf: (value) => {
      if (typeof value === "number") return value;
      const it = value as Named;
      const id = numberOf(it.text);
      return it[`at${id % 8}`] === id ? id : NaN;
    },
  }),
  f64: form({
    codec: codec.f64,
    sized: true,
    valueOf: (id) => id + 0.5,
    idOf: (value) => value - 0.5,
  }),
  i32: form({
    codec: codec.i32,
    sized: true,
    valueOf: (id) => id,
    idOf: (value) => value,
  }),
  record: form({
    codec: codec.record(Numbers),
    sized: true,
    valueOf: (id) => ({ id, twice: id * 2 }),
    idOf: ({ id, twice }) => twice === id * 2 ? id : NaN,
  }),
};

/** One kind of call, made several times. */
export interface Step {
  /**
   * `try` gives up after `timeout` ms, `place` writes or reads in place or in
   * an array, `iterate` receives by a loop and sends as usual.
   */
  readonly how: "wait" | "try" | "place" | "iterate";
  readonly count: number;
  readonly timeout: number;
  /**
   * When each call is aborted: -1 never, up to 5 after as many microtasks, and
   * else after as many ms, less 6.
   */
  readonly abort: number;
  /** The length of each message beside its number. */
  readonly n: number;
  /** Then it pauses for as many ms; -1: it does not. */
  readonly then: number;
}

/** What a loop is told. */
export interface Orders {
  readonly channel: Handle<"channel">;
  readonly codec: string;
  readonly carrier: string;
  /** Whether the channel has no room. */
  readonly meets: boolean;
  /** Whether senders and receivers are counted. */
  readonly counted: boolean;
  readonly sends: boolean;
  readonly blocks: boolean;
  /** Whether the loop is the only one of its thread. */
  readonly alone: boolean;
  /** The number of the loop among all. */
  readonly at: number;
  readonly steps: readonly Step[];
  /** Set if it is a thread of C. */
  readonly guest?: Guest | undefined;
  /** What became of each message: see `BEGUN`, `SENT` and `NOT_SENT`. */
  readonly fates: Int32Array<SharedArrayBuffer>;
  /** How often each message was received. */
  readonly taken: Int32Array<SharedArrayBuffer>;
}

/** The greatest number of messages of a sender. */
export const MOST = 1024;
/** A sender is about to send the message. */
export const BEGUN = 1;
/** The call of the message said that it was sent. */
export const SENT = 2;
/** The call of the message said that it was not sent. */
export const NOT_SENT = 3;

/** The channel of a loop, or of the play. */
export function channelOf(
  { channel, codec, carrier, sends = true, at = 0 }:
    & Pick<Orders, "channel" | "codec" | "carrier">
    & Partial<Orders>,
): Channel<unknown> {
  const form = FORMS[codec]!;
  const config = {
    codec: (!sends && at % 2 === 1 && form.views) || form.codec,
    carrier: CARRIERS[carrier],
  };
  return Channel.from<unknown>(channel, config);
}

/** One loop. */
export class Loop extends Caller {
  readonly #orders: Orders;
  readonly #channel: Channel<unknown>;
  readonly #form: Form<unknown>;
  readonly #last = new Map<number, number>();
  readonly #dst = new Uint8Array(8192);
  #next = 0;
  /** Whether its next call must say that the channel is closed. */
  #ended = false;

  constructor(
    orders: Orders,
    note?: Note,
    channel: Channel<unknown> = channelOf(orders),
  ) {
    super(orders, note);
    this.#orders = orders;
    this.#channel = channel;
    this.#form = FORMS[orders.codec]!;
  }

  /** Does all steps, as one of those that are counted, if any are. */
  async run(): Promise<Ends> {
    const { counted, sends } = this.#orders;
    if (!counted) return await this.#steps();
    // A thread of C is counted, too: its agent is this one.
    const channel = channelOf(this.#orders);
    let end;
    try {
      end = sends ? channel.sender() : channel.receiver();
    } catch (error) {
      if ((error as Error).name !== "ClosedError") throw error;
      this.end("came late");
      return this.ends;
    }
    try {
      return await this.#steps();
    } finally {
      end.leave();
    }
  }

  /** A receiver does all steps again until the channel is closed. */
  async #steps(): Promise<Ends> {
    const { steps, sends, blocks } = this.#orders;
    do {
      for (const step of steps) {
        const count = sends || !blocks || step.how !== "iterate"
          ? step.count
          : 1;
        for (let i = 0; i < count && !this.#ended; i++) {
          if (sends) await this.#send(step);
          else await this.#receive(step);
        }
        if (step.then >= 0) await this.pause(step.then);
      }
    } while (!sends && !this.#ended);
    return this.ends;
  }

  /** Makes one call, which may be aborted. What it throws must be allowed. */
  async #call<T>(
    what: string,
    step: Step,
    block: () => T,
    wait: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      if (this.blocks) return block();
      const value = await this.abortable(what, step.abort, wait);
      return value === "aborted" ? undefined : value;
    } catch (error) {
      const { name, stack } = error as Error;
      if (name === "ClosedError" && this.#channel.closed) {
        this.#ended = true;
        this.end("closed");
      } else if (name === "RangeError" && this.#mayBeTooLong(step.n)) {
        this.end("refused");
      } else throw new Error(`${what}: another error: ${stack ?? error}`);
      return undefined;
    }
  }

  #mayBeTooLong(n: number): boolean {
    const { sends } = this.#orders;
    return sends && !this.#form.sized && n + 200 > this.#channel.maxLength;
  }

  async #send(step: Step): Promise<void> {
    const { at, fates, blocks } = this.#orders;
    const { timeout, n } = step;
    const channel = this.#channel;
    const id = at * MOST + this.#next++;
    const value = this.#form.valueOf(id, n);
    const place = step.how === "place" ? this.#inPlace() : undefined;
    Atomics.store(fates, id, BEGUN);
    const what = `message ${id}, ${step.how}`;
    let sent: boolean | undefined;
    if (place !== undefined) {
      // Each third one is given up.
      const write = () => {
        const room = channel as Channel<Uint8Array>;
        return place(room, value as Uint8Array, blocks, step, id % 3 === 0);
      };
      sent = await this.#call(
        what,
        step,
        () => write()(undefined) as boolean,
        (signal) => write()(signal) as Promise<boolean>,
      );
    } else if (step.how === "try") {
      sent = await this.#call(
        what,
        step,
        () => channel.trySend(value, timeout),
        (signal) => channel.trySendAsync(value, { timeout, signal }),
      );
    } else {
      sent = await this.#call(
        what,
        step,
        () => (channel.send(value), true),
        async (signal) => (await channel.sendAsync(value, { signal }), true),
      );
    }
    Atomics.store(fates, id, sent === true ? SENT : NOT_SENT);
    if (sent !== undefined) this.end(sent ? "sent" : "not sent");
  }

  /** Writes in place, if the channel can. */
  #inPlace(): typeof writeInPlace | undefined {
    const { codec, carrier, alone, meets } = this.#orders;
    const can = codec === "binary" && alone && !meets &&
      carrier !== "lockFree" && carrier !== "manyToMany";
    return can ? writeInPlace : undefined;
  }

  async #receive(step: Step): Promise<void> {
    const { timeout } = step;
    const { codec, blocks } = this.#orders;
    const channel = this.#channel;
    const bytes = channel as Channel<Uint8Array>;
    const what = `receive, ${step.how}`;
    let box: [unknown] | undefined;
    if (step.how === "iterate" && !blocks) {
      return await this.#iterate(step);
    } else if (step.how === "place" && codec === "binary") {
      const id = await (this.#inPlace() && step.n % 2 === 0
        ? this.#peek(bytes, step)
        : this.#into(bytes, step));
      if (id === undefined) {
        return;
      }
      return this.#take(id);
    } else if (step.how === "try") {
      box = await this.#call(
        what,
        step,
        () => boxed(channel.tryReceive(timeout)),
        async (signal) =>
          boxed(await channel.tryReceiveAsync({ timeout, signal })),
      );
      if (box === undefined) {
        this.end("none");
        // Others have the core then.
        return await this.pause(1);
      }
    } else {
      box = await this.#call(
        what,
        step,
        () => [channel.receive()],
        async (signal) => [await channel.receiveAsync({ signal })],
      );
    }
    if (box !== undefined) this.#take(this.#form.idOf(box[0]));
  }

  #peek(bytes: Channel<Uint8Array>, step: Step): Promise<number | undefined> {
    const read = (message: ReturnType<typeof bytes.peek>) => {
      const id = idOfBytes(message.bytes);
      message.release();
      return id;
    };
    return this.#call(
      "peek",
      step,
      () => read(bytes.peek()),
      async (signal) => read(await bytes.peekAsync({ signal })),
    );
  }

  #into(bytes: Channel<Uint8Array>, step: Step): Promise<number | undefined> {
    const dst = this.#dst;
    const read = (length: number) => idOfBytes(dst.subarray(0, length));
    return this.#call(
      "receiveInto",
      step,
      () => read(bytes.receiveInto(dst)),
      async (signal) => read(await bytes.receiveIntoAsync(dst, { signal })),
    );
  }

  /** Receives `count` messages by a loop, and leaves it. */
  async #iterate(step: Step): Promise<void> {
    const loop = async (signal: AbortSignal) => {
      let left = step.count;
      for await (const value of this.#channel.values({ signal })) {
        this.#take(this.#form.idOf(value));
        if (--left === 0) return true;
      }
      this.#ended = true;
      return true;
    };
    await this.#call("values", step, () => true, loop);
  }

  /** Notes that a message was received. */
  #take(id: number): void {
    const { taken, fates } = this.#orders;
    if (!Number.isInteger(id) || id < 0 || id >= taken.length) {
      throw new Error(`a message that nobody sent: ${id}`);
    }
    Atomics.add(taken, id, 1);
    this.end("received");
    if (Atomics.load(fates, id) === 0) {
      throw new Error(`message ${id} was not sent`);
    }
    const from = Math.floor(id / MOST);
    const last = this.#last.get(from) ?? -1;
    if (id <= last) throw new Error(`message ${id} came after ${last}`);
    this.#last.set(from, id);
  }
}

const boxed = (value: unknown): [unknown] | undefined =>
  value === undefined ? undefined : [value];

/** Writes a message in place, or cancels it; whether it was sent. */
function writeInPlace(
  channel: Channel<Uint8Array>,
  value: Uint8Array,
  blocks: boolean,
  { timeout }: Step,
  cancels: boolean,
): (signal: AbortSignal | undefined) => boolean | Promise<boolean> {
  const finish = (message: ReturnType<typeof channel.tryReserve>) => {
    if (message === undefined) return false;
    message.bytes.set(value);
    if (cancels) message.cancel();
    else message.commit(value.length);
    return !cancels;
  };
  const room = value.length + 8;
  return (signal) =>
    blocks
      ? finish(channel.tryReserve(room, timeout))
      : channel.tryReserveAsync(room, { timeout, signal: signal! })
        .then(finish);
}

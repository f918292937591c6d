/**
 * What senders and receivers of the storm on select do, in a thread of their
 * own or as one of several loops of the main thread. Each is counted at the
 * ends of all channels. They note in shared words which messages were sent and
 * received.
 */
import {
  type Arm,
  Channel,
  type Codec,
  codec,
  select,
  type Selected,
  Semaphore,
  sending,
  valueCodec,
  type ValueView,
  viewCodec,
  waitAny,
} from "../../mod.ts";
import type { Guest } from "./_guest.ts";
import { SelectThread } from "./_select_guest.ts";
import { BEGUN, MOST, NOT_SENT, SENT } from "./_channel_loops.ts";
import { Caller, type Ends, type Note } from "./_loop.ts";

/** A message of any value. */
interface Message {
  id: number;
  parts: string[];
}

const idOfView = (view: ValueView<Message>): number => {
  const id = view.get("id")?.read() ?? NaN;
  return view.get("parts", 0)?.is(`${id}`) ? id : NaN;
};

/** The codec of each kind of channel, and how it carries a message's number. */
const CODECS: Readonly<
  Record<Kind, {
    readonly codec: Codec<unknown>;
    /** If receivers have another one. */
    readonly receives?: Codec<unknown>;
    readonly size?: number;
    valueOf(id: number): unknown;
  }>
> = {
  queues: { codec: codec.i32 as Codec<unknown>, valueOf: (id) => id },
  rings: {
    codec: codec.text as Codec<unknown>,
    size: 16,
    valueOf: (id) => `${id}`,
  },
  values: {
    codec: valueCodec,
    receives: viewCodec(idOfView),
    size: 64,
    valueOf: (id): Message => ({ id, parts: [`${id}`] }),
  },
};

/** The number of a message that was received by either codec; or NaN. */
export function idOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return Number(value);
  const { id, parts } = value as Message;
  return parts[0] === `${id}` ? id : NaN;
}

/**
 * Which channels a play has: queues of numbers, rings of texts, or channels of
 * any values, of which receivers look at views. Agents can block at queues
 * only.
 */
export type Kind = "queues" | "rings" | "values";

/** One kind of call, made several times. */
export interface Step {
  /** `plain` sends to, or receives from, one channel, without `select`. */
  readonly how: "select" | "any" | "plain";
  /** The channels: a bit for each; 0: all, and it waits as long as it takes. */
  readonly arms: number;
  /** A sender takes from these channels meanwhile: a bit for each. */
  readonly also: number;
  readonly isFirst: boolean;
  /** Whether a receiver that awaits would also take a permit. */
  readonly permit: boolean;
  readonly count: number;
  readonly timeout: number;
  /** When each call is aborted, in microtasks; -1: never. */
  readonly abort: number;
  /** Then it pauses for as many ms; -1: it does not. */
  readonly then: number;
}

/** What a loop is told. */
export interface Orders {
  readonly buffer: SharedArrayBuffer;
  readonly kind: Kind;
  /** Where the channels lie, and the semaphore. */
  readonly places: readonly number[];
  readonly semaphore: number;
  readonly sends: boolean;
  readonly blocks: boolean;
  /** The number of the loop among all. */
  readonly at: number;
  readonly steps: readonly Step[];
  /** A receiver leaves after as many messages; -1: it does not. */
  readonly most: number;
  readonly fates: Int32Array<SharedArrayBuffer>;
  readonly taken: Int32Array<SharedArrayBuffer>;
  /** Set if it is a thread of C, which blocks. */
  readonly guest?: Guest | undefined;
  /** How many permits are held. */
  readonly held: Int32Array<SharedArrayBuffer>;
}

/** How many permits there are. */
export const PERMITS = 2;

/** A configuration for a channel of that kind. */
export function configOf(kind: Kind, capacity: number, tracked: number) {
  const { codec, size } = CODECS[kind];
  const room = size === undefined ? {} : { messageSize: size };
  return { codec, capacity, tracked, ...room };
}

/** The channel of that kind at a place, for a sender or a receiver. */
export function channelAt(
  { buffer, kind }: Pick<Orders, "buffer" | "kind">,
  at: number,
  sends = true,
): Channel<unknown> {
  const { codec, receives = codec } = CODECS[kind];
  return Channel.from<unknown>(
    { kind: "channel", buffer, byteOffset: at },
    { codec: sends ? codec : receives },
  );
}

type Channels = Channel<unknown>;

/** One loop. It is a sender or receiver of each channel once it is made. */
export class Loop extends Caller {
  readonly #orders: Orders;
  readonly #channels: readonly Channels[];
  readonly #semaphore: Semaphore;
  /** The thread of C, if it is one. */
  readonly #guest: SelectThread | undefined;
  readonly #leave: (() => void)[] = [];
  /** The last message of each sender that came by each channel. */
  readonly #last = new Map<string, number>();
  /** The channels that are not known to be closed. */
  #open: readonly Channels[];
  #next = 0;
  #received = 0;

  constructor(orders: Orders, note?: Note) {
    const { buffer, places, semaphore, sends, guest } = orders;
    super(orders, note);
    this.#orders = orders;
    this.#guest = guest && new SelectThread(guest);
    this.#channels = places.map((at) =>
      this.#guest?.channel(at) ?? channelAt(orders, at, sends)
    );
    this.#open = this.#channels;
    this.#semaphore = new Semaphore(buffer, semaphore);
    for (const channel of this.#channels) {
      const end = sends ? channel.sender() : channel.receiver();
      this.#leave.push(() => end.leave());
    }
  }

  /** Does all steps; a receiver does them again until all is closed. */
  async run(): Promise<Ends> {
    const { steps, sends } = this.#orders;
    try {
      do {
        for (const step of steps) {
          for (let i = 0; i < step.count && !this.#isOver; i++) {
            if (sends) await this.#send(step);
            else await this.#receive(step);
          }
          if (step.then >= 0 && !this.#isOver) await this.pause(step.then);
        }
      } while (!sends && !this.#isOver);
    } finally {
      for (const leave of this.#leave) leave();
    }
    return this.ends;
  }

  get #isOver(): boolean {
    const { most } = this.#orders;
    return this.#open.length === 0 || most >= 0 && this.#received >= most;
  }

  /** The open ones of these channels; of all of them if there are none. */
  #some(arms: number): readonly Channels[] {
    const some = this.#open.filter((it) =>
      arms >> this.#channels.indexOf(it) & 1
    );
    return some.length > 0 ? some : this.#open;
  }

  /** How long a call waits. At some of the channels nothing may ever happen. */
  #limits({ arms, timeout }: Step) {
    return arms === 0 ? {} : { timeout };
  }

  /** Makes one call, which may be aborted. */
  async #call<T>(
    what: string,
    step: Step,
    block: () => T,
    wait: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | "aborted"> {
    return this.blocks ? block() : await this.abortable(what, step.abort, wait);
  }

  /** Sends `value` to one of `to`, or takes from `from`, or takes a permit. */
  #select(
    what: string,
    step: Step,
    to: readonly Channels[],
    value: unknown,
    from: readonly Channels[],
    permit = false,
  ) {
    const order = step.isFirst ? "first" as const : "random" as const;
    const options = { ...this.#limits(step), order };
    const guest = this.#guest;
    const arms = (): Arm[] => [
      ...to.map((it) => sending(it, value)),
      ...from,
      ...permit ? [this.#semaphore] : [],
    ];
    return this.#call<Selected<Arm[]> | undefined>(
      what,
      step,
      () =>
        guest
          ? guest.select(to, value, from, options) as
            | Selected<Arm[]>
            | undefined
          : select.blocking(arms(), options),
      (signal) => select(arms(), { ...options, signal }),
    );
  }

  async #send(step: Step): Promise<void> {
    const { at, fates, kind } = this.#orders;
    const id = at * MOST + this.#next++;
    const value = CODECS[kind].valueOf(id);
    Atomics.store(fates, id, BEGUN);
    const isSent =
      await (step.how === "plain"
        ? this.#sendTo(step, id, value)
        : this.#sendToOne(step, id, value));
    Atomics.store(fates, id, isSent ? SENT : NOT_SENT);
    this.end(isSent ? "sent" : "not sent");
  }

  async #sendTo(step: Step, id: number, value: unknown) {
    const { timeout } = step;
    const channel = this.#some(step.arms)[0]!;
    try {
      const sent = await this.#call(
        `message ${id}`,
        step,
        () => channel.trySend(value, timeout),
        (signal) => channel.trySendAsync(value, { timeout, signal }),
      );
      return sent === true;
    } catch (error) {
      return this.#closed(channel, error);
    }
  }

  /** Sends to the first of several channels that has room. */
  async #sendToOne(step: Step, id: number, value: unknown) {
    let from = this.#open.filter((it) =>
      step.also >> this.#channels.indexOf(it) & 1
    );
    while (this.#open.length > 0) {
      const to = this.#some(step.arms);
      const what = `message ${id}`;
      // One call cannot have both ends of a channel without room.
      const others = from.filter((it) => it.capacity !== 0 || !to.includes(it));
      const got = await this.#select(what, step, to, value, others);
      if (got === undefined || got === "aborted") return false;
      const channel = to[got.index];
      const other = others[got.index - to.length]!;
      if (channel !== undefined) {
        if (!got.done) return true;
        this.#closed(channel);
      } else if (got.done) from = from.filter((it) => it !== other);
      else this.#take(got.value, other);
    }
    return false;
  }

  async #receive(step: Step): Promise<void> {
    const from = this.#some(step.arms);
    if (step.how === "plain") return await this.#receiveFrom(step, from[0]!);
    if (step.how === "any") return await this.#receiveAny(step, from);
    const { blocks, kind } = this.#orders;
    // A thread that dies would take its permit along.
    const permit = step.permit && !blocks && kind === "queues";
    const got = await this.#select("select", step, [], 0, from, permit);
    if (got === undefined || got === "aborted") return await this.#none();
    await this.#got(got, from);
  }

  /** Notes what a `select` gave that takes of `from`, or a permit. */
  async #got(
    got: Selected<Arm[]>,
    from: readonly Channels[],
  ): Promise<void> {
    const channel = from[got.index];
    if (channel === undefined) return await this.#permit();
    if (got.done) this.#closed(channel);
    else this.#take(got.value, channel);
  }

  /** Waits until a channel has a message, and takes it if nobody was faster. */
  async #receiveAny(step: Step, from: readonly Channels[]): Promise<void> {
    // A sender in `select` is not seen where there is no room.
    const meets = from.some(({ capacity }) => capacity === 0);
    const options = meets ? { timeout: step.timeout } : this.#limits(step);
    const guest = this.#guest;
    const index = await this.#call<number | undefined>(
      "waitAny",
      step,
      () =>
        guest ? guest.waitAny(from, options) : waitAny.blocking(from, options),
      (signal) => waitAny(from, { ...options, signal }),
    );
    if (typeof index !== "number") return await this.#none();
    const channel = from[index]!;
    try {
      const value = channel.tryReceive();
      if (value !== undefined) this.#take(value, channel);
      else this.end("too late");
    } catch (error) {
      this.#closed(channel, error);
    }
  }

  async #receiveFrom(step: Step, channel: Channels): Promise<void> {
    const { timeout } = step;
    try {
      const value = await this.#call<unknown>(
        "receive",
        step,
        () => channel.tryReceive(timeout),
        (signal) => channel.tryReceiveAsync({ timeout, signal }),
      );
      if (value === undefined || value === "aborted") return this.#none();
      this.#take(value, channel);
    } catch (error) {
      this.#closed(channel, error);
    }
  }

  /** Others have the core then. */
  async #none(): Promise<void> {
    this.end("none");
    const from = this.#open.filter(({ capacity }) => capacity === 0);
    if (from.length === 0) return await this.pause(1);
    // Where there is no room, an arm that sends meets nobody who only looks.
    const arms: Arm[] = [...from];
    const got = await this.note("select", select(arms, { timeout: 2 }));
    if (got !== undefined) await this.#got(got, from);
  }

  /** Holds a permit for a while. */
  async #permit(): Promise<void> {
    const { held } = this.#orders;
    if (Atomics.add(held, 0, 1) >= PERMITS) {
      throw new Error("more permits are held than there are");
    }
    await this.pause(1);
    Atomics.sub(held, 0, 1);
    this.#semaphore.release();
    this.end("permitted");
  }

  /** Notes that a channel is closed; another error is thrown. */
  #closed(channel: Channels, error?: unknown): false {
    const isError = error !== undefined &&
      (error as Error).name !== "ClosedError";
    if (isError) throw error;
    if (!channel.closed) throw new Error("an open channel said it is closed");
    this.#open = this.#open.filter((it) => it !== channel);
    this.end("closed");
    return false;
  }

  /** Notes that a message was received. */
  #take(value: unknown, channel: Channels): void {
    const id = idOf(value);
    const { taken, fates } = this.#orders;
    if (!Number.isInteger(id) || id < 0 || id >= taken.length) {
      throw new Error(`a message that nobody sent: ${value}`);
    }
    this.#received++;
    Atomics.add(taken, id, 1);
    this.end("received");
    if (Atomics.load(fates, id) === 0) {
      throw new Error(`message ${id} was not sent`);
    }
    const from = `${Math.floor(id / MOST)} by ${channel.byteOffset}`;
    const last = this.#last.get(from) ?? -1;
    if (id <= last) throw new Error(`message ${id} came after ${last}`);
    this.#last.set(from, id);
  }
}

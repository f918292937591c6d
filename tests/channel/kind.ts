import { Channel, type Codec, codec, type Handle } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { type Agent, ns, Twin } from "../_run/mixed/twin.ts";

const channel = { codec: codec.binary, capacity: 1, messageSize: 16 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "channel",
  byteLength: Channel.byteLength(channel),
  init: (memory, at) => Channel.init(memory, at, channel),
  attach: (memory, at) => new Channel(memory, at, channel),
  from: (handle) => Channel.from(handle as Handle<"channel">, channel),
  use: (view) => (view as Channel<Uint8Array>).trySend(Uint8Array.of(7)),
  used: (view) => (view as Channel<Uint8Array>).tryReceive()![0] === 7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Channel, codec", most: 34748 };

class ChannelInC extends Twin {
  readonly #codec: Codec<unknown>;

  constructor(
    agent: Agent,
    buffer: SharedArrayBuffer,
    byteOffset: number,
    { codec }: { codec: Codec<unknown> },
  ) {
    super(agent, buffer, byteOffset);
    this.#codec = codec;
  }

  /** A message as C has it: its bytes, and how many they are. */
  #encoded(value: unknown): [at: number, length: number] {
    const length = this.#codec.encode(value, this.bytesOfScratch);
    return [this.scratch.at, length];
  }

  #decoded(result: number): unknown {
    if (!this.succeeded(result)) return undefined;
    const length = this.scratch.words[60];
    return this.#codec.decode(this.bytesOfScratch.slice(0, length));
  }

  /** As C takes one: where it goes, and where its length does. */
  get #room(): [at: number, length: number] {
    const { at, words } = this.scratch;
    words[60] = 240;
    return [at, at + 240];
  }

  send(value: unknown): void {
    const { c, at } = this;
    const message = this.#encoded(value);
    this.succeeded(c.weft_channel_send!(at, ...message, ns()));
  }

  trySend(value: unknown, timeout = 0): boolean {
    const { c, at } = this;
    const message = this.#encoded(value);
    return this.succeeded(
      timeout === 0
        ? c.weft_channel_try_send!(at, ...message)
        : c.weft_channel_send!(at, ...message, ns(timeout)),
    );
  }

  receive(): unknown {
    const { c, at } = this;
    return this.#decoded(c.weft_channel_receive!(at, ...this.#room, ns()));
  }

  tryReceive(timeout = 0): unknown {
    const { c, at } = this;
    const room = this.#room;
    return this.#decoded(
      timeout === 0
        ? c.weft_channel_try_receive!(at, ...room)
        : c.weft_channel_receive!(at, ...room, ns(timeout)),
    );
  }

  get closed(): boolean {
    return this.c.weft_channel_closed!(this.at) !== 0;
  }

  close(): void {
    this.c.weft_channel_close!(this.at);
  }

  abandon(id: number): number {
    return this.c.weft_channel_abandon!(this.at, id);
  }

  sender(): { leave(): void } {
    this.succeeded(this.c.weft_channel_sender!(this.at));
    return { leave: () => this.leaveSender() };
  }

  leaveSender(): void {
    this.succeeded(this.c.weft_channel_leave_sender!(this.at));
  }

  receiver(): { leave(): void } {
    this.succeeded(this.c.weft_channel_receiver!(this.at));
    return { leave: () => this.leaveReceiver() };
  }

  leaveReceiver(): void {
    this.succeeded(this.c.weft_channel_leave_receiver!(this.at));
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Channel: ChannelInC };

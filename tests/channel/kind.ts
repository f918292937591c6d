import { Channel, type Codec, codec, type Handle } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { type Agent, Twin } from "../_run/mixed/twin.ts";

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
export const size: Size = { name: "Channel, codec", most: 35267 };

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
    this.trySend(value, Infinity);
  }

  trySend(value: unknown, timeout = 0): boolean {
    return this.doesFor("send", timeout, ...this.#encoded(value));
  }

  receive(): unknown {
    return this.tryReceive(Infinity);
  }

  tryReceive(timeout = 0): unknown {
    return this.#decoded(this.invokeFor("receive", timeout, ...this.#room));
  }

  get closed(): boolean {
    return this.invoke("closed") !== 0;
  }

  sender(): { leave(): void } {
    this.does("sender");
    return { leave: () => this.leaveSender() };
  }

  leaveSender(): void {
    this.does("leave_sender");
  }

  receiver(): { leave(): void } {
    this.does("receiver");
    return { leave: () => this.leaveReceiver() };
  }

  leaveReceiver(): void {
    this.does("leave_receiver");
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Channel: ChannelInC };

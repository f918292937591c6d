import type { Codec } from "../../mod.ts";
import { type Agent, ns, Twin } from "../_run/mixed/twin.ts";

class Channel extends Twin {
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

  trySend(value: unknown): boolean {
    const { c, at } = this;
    return this.succeeded(
      c.weft_channel_try_send!(at, ...this.#encoded(value)),
    );
  }

  receive(): unknown {
    const { c, at } = this;
    return this.#decoded(c.weft_channel_receive!(at, ...this.#room, ns()));
  }

  tryReceive(): unknown {
    const { c, at } = this;
    return this.#decoded(c.weft_channel_try_receive!(at, ...this.#room));
  }

  close(): void {
    this.c.weft_channel_close!(this.at);
  }

  abandon(id: number): number {
    return this.c.weft_channel_abandon!(this.at, id);
  }
}

/** By the names of the classes they stand for. */
export const twins = { Channel };

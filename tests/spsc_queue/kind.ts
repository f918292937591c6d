import { SpscQueue } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Queue } from "../_queue/queue_in_c.ts";

const queue = { capacity: 3, elementSize: 4 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "spsc_queue",
  ...made(SpscQueue, [queue]),
  use: (view) => (view as SpscQueue).pushInt(-7),
  used: (view) => (view as SpscQueue).popInt() === -7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "SpscQueue", most: 11765 };

class SpscQueueInC extends Queue {
  reserveMany(n: number): Uint8Array[] | undefined {
    return this.#pieces("reserve_many", n);
  }

  commitMany(n: number): void {
    this.does("commit_many", n);
  }

  peekMany(n: number): Uint8Array[] | undefined {
    return this.#pieces("peek_many", n);
  }

  consumeMany(n: number): void {
    this.does("consume_many", n);
  }

  /** The places of elements of one word, which C writes to a struct. */
  #pieces(name: string, n: number): Uint8Array[] | undefined {
    const { at, words } = this.scratch;
    const count = this.invoke(name, n, at);
    if (count < 0) this.succeeded(-count);
    if (count <= 0) return undefined;
    const [first, second, inFirst, inSecond] = words;
    const piece = (address: number, length: number) =>
      new Uint8Array(this.buffer, address - this.agent.base, 4 * length);
    return [piece(first!, inFirst!), piece(second!, inSecond!)];
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { SpscQueue: SpscQueueInC };

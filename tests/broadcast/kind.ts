import { Broadcast } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { type Agent, Twin } from "../_run/mixed/twin.ts";

const queue = { capacity: 3, elementSize: 4 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "broadcast",
  ...made(Broadcast, [{ ...queue, subscribers: 2 }]),
  use: (view) => (view as Broadcast).subscribe(),
  used: (view) => (view as Broadcast).subscribers === 1,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Broadcast", most: 10915 };

/** Where the seats begin, and words from one to the next. */
const SEATS = LAYOUT.broadcast.length;
const SEAT = 32;

class SubscriptionInC extends Twin {
  override readonly kind = "broadcast";
  readonly #seat: number;

  constructor(agent: Agent, broadcast: BroadcastInC, _: unknown, word: number) {
    super(agent, broadcast.buffer, broadcast.byteOffset);
    this.#seat = (word - SEATS) / SEAT;
  }

  get dropped(): number {
    return this.invoke("dropped", this.#seat);
  }

  tryPopInt(timeout = 0): number | undefined {
    const { at } = this.scratch;
    return this.out(this.invokeFor("pop_int", timeout, this.#seat, at));
  }

  popInt(): number {
    return this.tryPopInt(Infinity)!;
  }

  tryPopInto(to: Int32Array): boolean {
    const { at, words } = this.scratch;
    if (!this.does("try_pop", this.#seat, at)) return false;
    to.set(words.subarray(0, to.length));
    return true;
  }

  leave(): void {
    this.invoke("leave", this.#seat);
  }
}

class BroadcastInC extends Twin {
  pushInt(value: number): void {
    this.doesFor("push_int", Infinity, value);
  }

  tryPushInt(value: number): boolean {
    return this.does("try_push_int", value);
  }

  push(source: Int32Array): void {
    const { at, words } = this.scratch;
    words.set(source);
    this.doesFor("push", Infinity, at);
  }

  subscribe(): SubscriptionInC {
    const seat = this.invoke("subscribe");
    if (seat < 0) throw new RangeError("no seat");
    return new SubscriptionInC(
      this.agent,
      this,
      undefined,
      SEATS + SEAT * seat,
    );
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Broadcast: BroadcastInC, Subscription: SubscriptionInC };

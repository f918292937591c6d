import { Broadcast, type Handle } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { type Agent, ns, Twin } from "../_run/mixed/twin.ts";

const queue = { capacity: 3, elementSize: 4 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "broadcast",
  byteLength: Broadcast.byteLength({ ...queue, subscribers: 2 }),
  init: (memory, at) =>
    Broadcast.init(memory, at, { ...queue, subscribers: 2 }),
  attach: (memory, at) => new Broadcast(memory, at),
  from: (handle) => Broadcast.from(handle as Handle<never>),
  use: (view) => (view as Broadcast).subscribe(),
  used: (view) => (view as Broadcast).subscribers === 1,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Broadcast", most: 10698 };

/** Where the seats begin, and words from one to the next. */
const SEATS = LAYOUT.broadcast.length;
const SEAT = 32;

class SubscriptionInC extends Twin {
  readonly #seat: number;

  constructor(agent: Agent, broadcast: BroadcastInC, _: unknown, word: number) {
    super(agent, broadcast.buffer, broadcast.byteOffset);
    this.#seat = (word - SEATS) / SEAT;
  }

  get dropped(): number {
    return this.c.weft_broadcast_dropped!(this.at, this.#seat);
  }

  tryPopInt(timeout = 0): number | undefined {
    const { c, at, scratch } = this;
    return this.out(
      timeout === 0
        ? c.weft_broadcast_try_pop_int!(at, this.#seat, scratch.at)
        : c.weft_broadcast_pop_int!(at, this.#seat, scratch.at, ns(timeout)),
    );
  }

  popInt(): number {
    return this.tryPopInt(Infinity)!;
  }

  tryPopInto(to: Int32Array): boolean {
    const { c, at, scratch } = this;
    const result = c.weft_broadcast_try_pop!(at, this.#seat, scratch.at);
    if (!this.succeeded(result)) return false;
    to.set(scratch.words.subarray(0, to.length));
    return true;
  }

  leave(): void {
    this.c.weft_broadcast_leave!(this.at, this.#seat);
  }
}

class BroadcastInC extends Twin {
  pushInt(value: number): void {
    const { c, at } = this;
    this.succeeded(c.weft_broadcast_push_int!(at, value, ns()));
  }

  tryPushInt(value: number): boolean {
    return this.succeeded(this.c.weft_broadcast_try_push_int!(this.at, value));
  }

  push(source: Int32Array): void {
    const { c, at, scratch } = this;
    scratch.words.set(source);
    this.succeeded(c.weft_broadcast_push!(at, scratch.at, ns()));
  }

  subscribe(): SubscriptionInC {
    const seat = this.c.weft_broadcast_subscribe!(this.at);
    if (seat < 0) throw new RangeError("no seat");
    return new SubscriptionInC(
      this.agent,
      this,
      undefined,
      SEATS + SEAT * seat,
    );
  }

  close(): void {
    this.c.weft_broadcast_close!(this.at);
  }

  abandon(id: number): number {
    return this.c.weft_broadcast_abandon!(this.at, id);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Broadcast: BroadcastInC, Subscription: SubscriptionInC };

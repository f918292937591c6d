import { LAYOUT } from "../../primitives/_layout.ts";
import { type Agent, ns, Twin } from "../_run/mixed/twin.ts";

/** Where the seats begin, and words from one to the next. */
const SEATS = LAYOUT.broadcast.length;
const SEAT = 32;

class Subscription extends Twin {
  readonly #seat: number;

  constructor(agent: Agent, broadcast: Broadcast, _: unknown, word: number) {
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

class Broadcast extends Twin {
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

  subscribe(): Subscription {
    const seat = this.c.weft_broadcast_subscribe!(this.at);
    if (seat < 0) throw new RangeError("no seat");
    return new Subscription(this.agent, this, undefined, SEATS + SEAT * seat);
  }

  close(): void {
    this.c.weft_broadcast_close!(this.at);
  }

  abandon(id: number): number {
    return this.c.weft_broadcast_abandon!(this.at, id);
  }
}

/** By the names of the classes they stand for. */
export const twins = { Broadcast, Subscription };

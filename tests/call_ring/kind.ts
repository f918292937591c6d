import { CallRing, type Elements } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import {
  type Agent,
  Bytes,
  EBUSY,
  EIO,
  EOWNERDEAD,
  ETIMEDOUT,
  ns,
  Twin,
} from "../_run/mixed/twin.ts";

const call = { slots: 2, request: 4, reply: 8 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "call_ring",
  ...made(CallRing, [call]),
  use: (view) => (view as CallRing).tryPost(Uint8Array.of(7)),
  used: (view) => (view as CallRing).tryTake()!.request[0] === 7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "CallRing", most: 12760 };

type Handler = (request: Uint8Array, space: Uint8Array) => number;

let serving: { readonly ring: CallRingInC; readonly fn: Handler };

/** What `weft_call_ring_serve` calls for an answer. */
function handler(
  _: number,
  request: number,
  length: number,
  space: number,
): number {
  const { ring, fn } = serving;
  return fn(ring.view(request, length), ring.view(space, ring.maxReply));
}

class CallRingInC extends Twin {
  readonly #bytes: Uint8Array;

  constructor(agent: Agent, buffer: SharedArrayBuffer, byteOffset = 0) {
    super(agent, buffer, byteOffset);
    this.#bytes = new Uint8Array(buffer); // seen by the tester
  }

  get maxReply(): number {
    return this.invoke("max_reply");
  }

  /** Bytes of the ring that C points to. */
  view(at: number, length: number): Uint8Array {
    const start = at - this.agent.base;
    return this.#bytes.subarray(start, start + length);
  }

  /** A request or a reply, for C to read. */
  given(bytes: Elements): [at: number, length: number] {
    const { buffer, byteOffset, byteLength } = bytes;
    this.bytesOfScratch.set(new Bytes(buffer, byteOffset, byteLength));
    return [this.scratch.at, byteLength];
  }

  /** Where C puts a reply, and its length. */
  get room(): [at: number, length: number] {
    const { at, words } = this.scratch;
    words[60] = 112;
    return [at + 128, at + 240];
  }

  /** The reply that a call ended with; undefined if it has none yet. */
  replied(result: number): Uint8Array | undefined {
    const length = this.scratch.words[60]!;
    const reply = this.bytesOfScratch.slice(128, 128 + length);
    if (result === EOWNERDEAD) throw new this.agent.CallError("", true);
    if (result === EIO) {
      throw new this.agent.CallError(new TextDecoder().decode(reply));
    }
    return this.succeeded(result) ? reply : undefined;
  }

  #pending(result: number): Pending | undefined {
    const { words } = this.scratch;
    return this.succeeded(result) ? new Pending(this, words[60]!) : undefined;
  }

  #taken(result: number): Taken | undefined {
    const { words } = this.scratch;
    return this.succeeded(result) ? new Taken(this, words[60]!) : undefined;
  }

  call(request: Elements): Uint8Array {
    return this.tryCall(request, Infinity)!;
  }

  tryCall(request: Elements, timeout = 0): Uint8Array | undefined {
    const given = this.given(request);
    return this.replied(
      this.invoke("call", ...given, ...this.room, ns(timeout)),
    );
  }

  tryPost(request: Elements): Pending | undefined {
    const [at, length] = this.given(request);
    return this.#pending(this.invoke("try_post", at, length, at + 240));
  }

  post(request: Elements): Pending {
    const [at, length] = this.given(request);
    return this.#pending(this.invoke("post", at, length, at + 240, ns()))!;
  }

  tryTake(): Taken | undefined {
    return this.#taken(this.invoke("try_take", this.scratch.at + 240));
  }

  take(): Taken {
    return this.#taken(this.invoke("take", this.scratch.at + 240, ns()))!;
  }

  tryServeOne(fn: Handler): boolean {
    serving = { ring: this, fn };
    return this.succeeded(this.c.race_call_ring_try_serve_one!(this.at));
  }

  serve(fn: Handler): number {
    serving = { ring: this, fn };
    return this.c.race_call_ring_serve!(this.at, ns());
  }

  /** A function of a call that is under way: of its slot. */
  of(slot: number, name: string, ...args: unknown[]): number {
    return this.invoke(name, slot, ...args);
  }
}

/** A call that was posted; it has no slot when it is over. */
class Pending {
  constructor(readonly ring: CallRingInC, private slot: number) {}

  #received(result: number): Uint8Array | undefined {
    if (result !== EBUSY && result !== ETIMEDOUT) this.slot = 0;
    return this.ring.replied(result);
  }

  tryReceive(): Uint8Array | undefined {
    const { ring, slot } = this;
    return this.#received(ring.of(slot, "try_receive", ...ring.room));
  }

  tryReceiveInto(dst: Uint8Array): number | undefined {
    const reply = this.tryReceive();
    if (reply !== undefined) dst.set(reply);
    return reply?.length;
  }

  receive(): Uint8Array {
    const { ring, slot } = this;
    return this.#received(ring.of(slot, "receive", ...ring.room, ns()))!;
  }

  cancel(): void {
    const { ring, slot } = this;
    this.slot = 0;
    if (slot !== 0) ring.of(slot, "cancel");
  }
}

/** A call that was taken. */
class Taken {
  readonly request: Uint8Array;
  readonly space: Uint8Array;

  constructor(readonly ring: CallRingInC, readonly slot: number) {
    const { at, words } = ring.scratch;
    const request = ring.of(slot, "request", at);
    this.request = ring.view(request, words[0]!);
    this.space = ring.view(ring.of(slot, "space"), ring.maxReply);
  }

  reply(reply: Elements | number): boolean {
    const { ring, slot } = this;
    const given = typeof reply === "number" ? [0, reply] : ring.given(reply);
    return ring.succeeded(ring.of(slot, "reply", ...given));
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { CallRing: CallRingInC };

/** What C imports. */
export const imports = { race_handler: handler };

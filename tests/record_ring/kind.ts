import { type Handle, RecordRing } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "record_ring",
  byteLength: RecordRing.byteLength({ capacity: 32 }),
  init: (memory, at) => RecordRing.init(memory, at, { capacity: 32 }),
  attach: (memory, at) => new RecordRing(memory, at),
  from: (handle) => RecordRing.from(handle as Handle<never>),
  use: (view) => (view as RecordRing).push(Uint8Array.of(7)),
  used: (view) => (view as RecordRing).pop()![0] === 7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "RecordRing", most: 12372 };

class RecordRingInC extends Twin {
  #reserved = 0;

  tryPush(record: Uint8Array, timeout = 0): boolean {
    this.bytesOfScratch.set(record);
    const { c, at, scratch } = this;
    const { length } = record;
    return this.succeeded(
      timeout === 0
        ? c.weft_record_ring_try_push!(at, scratch.at, length)
        : c.weft_record_ring_push!(at, scratch.at, length, ns(timeout)),
    );
  }

  push(record: Uint8Array): void {
    this.bytesOfScratch.set(record);
    const { at } = this.scratch;
    this.succeeded(
      this.c.weft_record_ring_push!(this.at, at, record.length, ns()),
    );
  }

  #taken(result: number): Uint8Array | undefined {
    if (!this.succeeded(result)) return undefined;
    return this.bytesOfScratch.slice(0, this.scratch.words[60]);
  }

  /** The length goes in and out behind the bytes. */
  get #length(): number {
    const { at, words } = this.scratch;
    words[60] = 240;
    return at + 240;
  }

  pop(): Uint8Array {
    return this.tryPop(Infinity)!;
  }

  tryPopInto(dst: Uint8Array): number | undefined {
    const record = this.tryPop();
    if (record !== undefined) dst.set(record);
    return record?.length;
  }

  popInto(dst: Uint8Array): number {
    const record = this.pop();
    dst.set(record);
    return record.length;
  }

  tryPop(timeout = 0): Uint8Array | undefined {
    const { c, at, scratch } = this;
    const length = this.#length;
    return this.#taken(
      timeout === 0
        ? c.weft_record_ring_try_pop!(at, scratch.at, length)
        : c.weft_record_ring_pop!(at, scratch.at, length, ns(timeout)),
    );
  }

  get used(): number {
    return this.c.weft_record_ring_used!(this.at);
  }

  close(): void {
    this.c.weft_record_ring_close!(this.at);
  }

  reserve(length: number): Uint8Array | undefined {
    const { at, words } = this.scratch;
    if (
      !this.succeeded(this.c.weft_record_ring_reserve!(this.at, length, at))
    ) return undefined;
    this.#reserved = words[0]!;
    const start = this.#reserved - this.agent.base;
    return new Uint8Array(this.buffer, start, length); // seen by the tester
  }

  commit(length = 1): void {
    const { c, at } = this;
    this.succeeded(c.weft_record_ring_commit!(at, this.#reserved, length));
  }

  cancel(): void {
    this.c.weft_record_ring_cancel!(this.at, this.#reserved);
  }

  abandon(id: number): number {
    return this.c.weft_record_ring_abandon!(this.at, id);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { RecordRing: RecordRingInC };

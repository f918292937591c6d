import { RecordRing } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "record_ring",
  ...made(RecordRing, [{ capacity: 32 }]),
  use: (view) => (view as RecordRing).push(Uint8Array.of(7)),
  used: (view) => (view as RecordRing).pop()![0] === 7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "RecordRing", most: 12546 };

class RecordRingInC extends Twin {
  #reserved = 0;

  tryPush(record: Uint8Array, timeout = 0): boolean {
    this.bytesOfScratch.set(record);
    return this.doesFor("push", timeout, this.scratch.at, record.length);
  }

  push(record: Uint8Array): void {
    this.tryPush(record, Infinity);
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
    // The length goes in and out behind the bytes.
    const { at, words } = this.scratch;
    words[60] = 240;
    return this.doesFor("pop", timeout, at, at + 240)
      ? this.bytesOfScratch.slice(0, words[60])
      : undefined;
  }

  get used(): number {
    return this.invoke("used");
  }

  reserve(length: number): Uint8Array | undefined {
    const { at, words } = this.scratch;
    if (!this.does("reserve", length, at)) return undefined;
    this.#reserved = words[0]!;
    const start = this.#reserved - this.agent.base;
    return new Uint8Array(this.buffer, start, length); // seen by the tester
  }

  commit(length = 1): void {
    this.does("commit", this.#reserved, length);
  }

  cancel(): void {
    this.invoke("cancel", this.#reserved);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { RecordRing: RecordRingInC };

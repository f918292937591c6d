import { ns, Twin } from "../_run/mixed/twin.ts";

/** Queues of elements of one word; `stem` tells which. */
export abstract class Queue extends Twin {
  abstract readonly stem: string;

  protected f(name: string): (...args: unknown[]) => number {
    return this.c[`${this.stem}_${name}`]!;
  }

  get closed(): boolean {
    return this.f("closed")(this.at) !== 0;
  }

  get size(): number {
    return this.f("size")(this.at);
  }

  tryPushInt(value: number, timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.f("try_push_int")(this.at, value)
        : this.f("push_int")(this.at, value, ns(timeout)),
    );
  }

  tryPopInt(timeout = 0): number | undefined {
    const { at } = this.scratch;
    return this.out(
      timeout === 0
        ? this.f("try_pop_int")(this.at, at)
        : this.f("pop_int")(this.at, at, ns(timeout)),
    );
  }

  pushInt(value: number): void {
    this.tryPushInt(value, Infinity);
  }

  popInt(): number {
    return this.tryPopInt(Infinity)!;
  }

  tryPush(source: Int32Array): boolean {
    const { at, words } = this.scratch;
    words.set(source);
    return this.succeeded(this.f("try_push")(this.at, at));
  }

  tryPopInto(to: Int32Array): boolean {
    const { at, words } = this.scratch;
    if (!this.succeeded(this.f("try_pop")(this.at, at))) return false;
    to.set(words.subarray(0, to.length));
    return true;
  }

  #count(result: number): number {
    if (result < 0) this.succeeded(-result);
    return result;
  }

  tryPushMany(source: Int32Array, n: number): number {
    const { at, words } = this.scratch;
    words.set(source);
    return this.#count(this.f("try_push_many")(this.at, at, n));
  }

  tryPopMany(to: Int32Array, n: number): number {
    const { at, words } = this.scratch;
    const count = this.#count(this.f("try_pop_many")(this.at, at, n));
    to.set(words.subarray(0, count));
    return count;
  }

  close(): void {
    this.f("close")(this.at);
  }

  abandon(id: number): number {
    return this.f("abandon")(this.at, id);
  }

  // ---- in place: the address of a slot, as a view remembers it
  #reserved = 0;
  #peeked = 0;

  reserve(): Uint8Array | undefined {
    return this.#slot(this.#reserved = this.f("reserve")(this.at));
  }

  /** The bytes of an int in a slot, as the tester sees them. */
  #slot(address: number): Uint8Array | undefined {
    if (address === 0) return undefined;
    return new Uint8Array(this.buffer, address - this.agent.base, 4);
  }

  commit(): void {
    // A function with one parameter ignores the slot.
    const result = this.f("commit")(this.at, this.#reserved);
    if (result !== undefined) this.succeeded(result);
  }

  peek(): Uint8Array | undefined {
    return this.#slot(this.#peeked = this.f("peek")(this.at));
  }

  consume(): void {
    this.f("consume")(this.at, this.#peeked);
  }
}

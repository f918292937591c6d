import { Twin } from "../_run/mixed/twin.ts";

/** Queues of elements of one word. */
export class Queue extends Twin {
  get closed(): boolean {
    return this.invoke("closed") !== 0;
  }

  get size(): number {
    return this.invoke("size");
  }

  tryPushInt(value: number, timeout = 0): boolean {
    return this.doesFor("push_int", timeout, value);
  }

  tryPopInt(timeout = 0): number | undefined {
    return this.out(this.invokeFor("pop_int", timeout, this.scratch.at));
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
    return this.does("try_push", at);
  }

  tryPopInto(to: Int32Array): boolean {
    const { at, words } = this.scratch;
    if (!this.does("try_pop", at)) return false;
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
    return this.#count(this.invoke("try_push_many", at, n));
  }

  tryPopMany(to: Int32Array, n: number): number {
    const { at, words } = this.scratch;
    const count = this.#count(this.invoke("try_pop_many", at, n));
    to.set(words.subarray(0, count));
    return count;
  }

  // ---- in place: the address of a slot, as a view remembers it
  #reserved = 0;
  #peeked = 0;

  reserve(): Uint8Array | undefined {
    return this.#slot(this.#reserved = this.invoke("reserve"));
  }

  /** The bytes of an int in a slot, as the tester sees them. */
  #slot(address: number): Uint8Array | undefined {
    if (address === 0) return undefined;
    return new Uint8Array(this.buffer, address - this.agent.base, 4);
  }

  commit(): void {
    // A function with one parameter ignores the slot.
    const result = this.invoke("commit", this.#reserved);
    if (result !== undefined) this.succeeded(result);
  }

  peek(): Uint8Array | undefined {
    return this.#slot(this.#peeked = this.invoke("peek"));
  }

  consume(): void {
    this.invoke("consume", this.#peeked);
  }
}

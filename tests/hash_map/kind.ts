import { codec, type Handle, HashMap } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import type { WasmExports } from "../../race/mod.ts";
import { type Agent, Twin } from "../_run/mixed/twin.ts";

const codecs = { key: codec.i32, value: codec.i32 };
const config = { ...codecs, capacity: 3 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "hash_map",
  byteLength: HashMap.byteLength(config),
  init: (memory, at) => HashMap.init(memory, at, config),
  attach: (memory, at) => new HashMap(memory, at, codecs),
  from: (handle) => HashMap.from(handle as Handle<never>, codecs),
  use: (view) => (view as HashMap<number, number>).set(7, 8),
  used: (view) => (view as HashMap<number, number>).get(7) === 8,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "HashMap", most: 29616 };

const EEXIST = 20, ENOENT = 44, ENOSPC = 51, EDEADLK = 16, ETIMEDOUT = 73;

/** A codec of the scenarios, as far as its class here uses it. */
interface Sized {
  readonly field?: { readonly size: number };
}

/** Numbers from this on have two words, if keys or values differ in length. */
export const LONG = 100;
/** Instead of a value whose words are not the same. */
export const TORN = -1;

/** A map of numbers, with keys and values in the scratch words. */
class HashMapInC extends Twin {
  /** The bytes of a key; 0 if keys differ in length. */
  readonly #keySize: number;
  /** The same of a value. */
  readonly #size: number;

  constructor(
    agent: Agent,
    buffer: SharedArrayBuffer,
    byteOffset: number,
    { key, value }: { readonly key: Sized; readonly value: Sized },
  ) {
    super(agent, buffer, byteOffset);
    this.#keySize = key.field?.size ?? 0;
    this.#size = value.field?.size ?? 0;
  }

  /** The functions, told the clock: the last word of the memory. */
  override get c(): WasmExports {
    const c = super.c;
    c.race_clock_at!(this.agent.base + this.buffer.byteLength - 4);
    return c;
  }

  /** Puts a key there; returns its address, and how many bytes it has. */
  #key(key: number): [at: number, length: number] {
    const { at, words } = this.scratch;
    words[0] = words[1] = key;
    return [at, this.#keySize || (key < LONG ? 4 : 8)];
  }

  #value(value: number): [at: number, length: number] {
    const { at, words } = this.scratch;
    if (this.#size === 0) {
      words.fill(value, 4, 6);
      return [at + 16, value < LONG ? 4 : 8];
    }
    if (this.#size === 4) words[4] = value;
    else words.set(new Int32Array(Float64Array.of(value).buffer), 4);
    return [at + 16, this.#size];
  }

  /** Where a value goes. */
  #into(): [at: number, room: number, length: number] {
    const { at } = this.scratch;
    return [at + 32, this.#size || 8, at + 48];
  }

  get #found(): number {
    const { words } = this.scratch;
    if (this.#size === 0) {
      return words[12] === 4 || words[8] === words[9] ? words[8]! : TORN;
    }
    return this.#size === 4
      ? words[8]!
      : new Float64Array(words.slice(8, 10).buffer)[0]!;
  }

  /** Whether it was done; `no` says that it could not be. */
  #done(result: number, ...no: number[]): boolean {
    if (no.includes(result)) return false;
    if (result === EDEADLK) throw new TypeError("within its own update");
    return this.succeeded(result);
  }

  get(key: number): number | undefined {
    const result = this.invoke("get", ...this.#key(key), ...this.#into());
    return this.#done(result, ENOENT) ? this.#found : undefined;
  }

  waitFor(key: number, ns = -1n): number | undefined {
    const where = [...this.#key(key), ...this.#into()];
    const result = this.invoke("wait_for", ...where, ns);
    return this.#done(result, ETIMEDOUT) ? this.#found : undefined;
  }

  tryWaitFor(key: number, ms: number): number | undefined {
    return this.waitFor(key, BigInt(ms * 1e6));
  }

  has(key: number): boolean {
    return this.#done(this.invoke("has", ...this.#key(key)), ENOENT);
  }

  set(
    key: number,
    value: number,
    options?: { ifAbsent?: boolean; ttl?: number },
  ): boolean {
    const where = [...this.#key(key), ...this.#value(value)];
    const flag = options?.ifAbsent ? 1 : 0;
    const ttl = options?.ttl;
    const result = ttl === undefined
      ? this.invoke("set", ...where, flag)
      : this.invoke("set_for", ...where, flag, ttl);
    return this.#done(result, ENOSPC, EEXIST);
  }

  delete(key: number): boolean {
    return this.#done(this.invoke("delete", ...this.#key(key)), ENOENT);
  }

  take(key: number): number | undefined {
    const result = this.invoke("take", ...this.#key(key), ...this.#into());
    return this.#done(result, ENOENT) ? this.#found : undefined;
  }

  add(key: number, n: number): number | undefined {
    const [into] = this.#into();
    const name = this.#size === 4 ? "add" : "add_f64";
    const result = this.invoke(name, ...this.#key(key), n, into);
    return this.#done(result, ENOSPC) ? this.#found : undefined;
  }

  compareExchange(key: number, from: number, to: number): number | undefined {
    const values = [from, to, this.#into()[0]];
    const result = this.invoke(
      "compare_exchange",
      ...this.#key(key),
      ...values,
    );
    return this.#done(result, ENOENT) ? this.#found : undefined;
  }

  getOrInsert(key: number, make: () => number): number | undefined {
    const where = [...this.#key(key), ...this.#value(make())];
    const result = this.invoke("get_or_insert", ...where, ...this.#into());
    return this.#done(result, ENOSPC) ? this.#found : undefined;
  }

  get size(): number {
    return this.invoke("size");
  }

  clear(): void {
    this.does("clear");
  }

  override abandon(id: number): number {
    const count = super.abandon(id);
    if (count < 0) this.succeeded(-count);
    return count;
  }

  *[Symbol.iterator](): Generator<[number, number]> {
    const { at, words } = this.scratch;
    const places = [at + 64, at, at + 52, at + 32, at + 48];
    words[16] = 0;
    for (;;) {
      const result = this.invoke("next", ...places);
      if (!this.#done(result, ENOENT)) return;
      const [first, second] = words;
      const isWhole = words[13] === 4 || first === second;
      yield [isWhole ? first! : TORN, this.#found];
    }
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { HashMap: HashMapInC };

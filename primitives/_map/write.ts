/**
 * What writes of a map do to a key in its locked bucket: entries, blocks for
 * what is long, those that give way, and the wakes.
 *
 * C twin: `_hash_write.h`.
 *
 * @module
 */

import type { Clock } from "./clock.ts";
import { NONE } from "./entries.ts";
import type { Heap } from "./heap.ts";
import type { Table } from "./table.ts";
import type { Waits } from "./waits.ts";

/** A key or a value as words, which the first `count` of them are. */
interface Content {
  readonly words: Int32Array;
  readonly count: number;
}

/** Writes keys and values in buckets that the caller has locked. */
export class Writes {
  readonly #table: Table;
  /** Blocks for values that are too long for an entry. */
  readonly #heap: Heap | undefined;
  /** The same for keys. */
  readonly #keys: Heap | undefined;
  readonly #waits: Waits;
  /** What only a cache has. */
  readonly #clock: Clock | undefined;
  readonly #expires: boolean;
  readonly #key: Content;
  readonly #value: Content;

  /** Writes the `key` and the `value` of each operation. */
  constructor(
    table: Table,
    heap: Heap | undefined,
    keys: Heap | undefined,
    waits: Waits,
    clock: Clock | undefined,
    expires: boolean,
    key: Content,
    value: Content,
  ) {
    this.#table = table;
    this.#heap = heap;
    this.#keys = keys;
    this.#waits = waits;
    this.#clock = clock;
    this.#expires = expires;
    this.#key = key;
    this.#value = value;
  }

  /**
   * Adds an entry for `ttl` ms; false if there is no room. In a cache, others
   * give way.
   */
  insert(bucket: number, hash: number, ttl = this.#table.ttl): boolean {
    const key = this.#key;
    const value = this.#value;
    const clock = this.#clock;
    const isLong = this.#isLong();
    const keys = this.#keys?.isLong(key.words[0]!) ? this.#keys : undefined;
    const owner = this.#table.ownerOf(hash);
    if (keys && !this.#put(keys, key, bucket, hash, NONE)) {
      return clock !== undefined;
    }
    if (isLong && !this.#put(this.#heap!, value, bucket, hash, NONE)) {
      keys?.drop(owner);
      return clock !== undefined;
    }
    const number = clock === undefined
      ? this.#table.allocate(bucket)
      : clock.claim(bucket);
    if (number === NONE) {
      keys?.drop(owner); // no entry for it
      if (isLong) this.#heap!.drop(owner);
      return clock !== undefined;
    }
    this.#table.insert(
      number,
      bucket,
      hash,
      keys ? keys.place : key.words,
      keys ? 2 : key.count,
      isLong ? this.#heap!.place : value.words,
      isLong ? 2 : value.count,
      ttl,
    );
    this.#waits.wake(hash);
    return true;
  }

  /** Whether the value is too long for an entry. */
  #isLong(): boolean {
    return this.#heap !== undefined && this.#heap.isLong(this.#value.words[0]!);
  }

  /**
   * Puts a long key or value into blocks; false if there is no room. In a
   * cache, entries give way, but not the one at `kept`. The caller holds the
   * bucket.
   */
  #put(
    heap: Heap,
    { words, count }: Content,
    bucket: number,
    hash: number,
    kept: number,
  ): boolean {
    const clock = this.#clock;
    const makeRoom = () => clock !== undefined && clock.makeRoom(bucket, kept);
    const owner = this.#table.ownerOf(hash);
    if (heap.put(owner, hash, words, count, makeRoom)) return true;
    clock?.giveWay();
    return false;
  }

  /**
   * Gives an entry the value for `ttl` ms, or `KEEPS` the old one's time. False
   * if there is no room for it; in a cache, the entry then gives way, too.
   */
  overwrite(at: number, ttl = this.#table.ttl): boolean {
    const { words, count } = this.#value;
    const isLong = this.#isLong();
    if (isLong && !this.#putAt(at)) return this.#clock !== undefined;
    if (isLong) this.#table.overwrite(at, this.#heap!.place, 2, ttl);
    else this.#table.overwrite(at, words, count, ttl);
    // It may have expired since it was found, and agents wait for it.
    if (this.#expires) this.#waits.wake(this.#table.hashAt(at));
    return true;
  }

  /** Puts a long value of an entry into blocks; see `overwrite`. */
  #putAt(at: number): boolean {
    const table = this.#table;
    const hash = table.hashAt(at);
    const bucket = table.bucketOf(hash);
    if (this.#put(this.#heap!, this.#value, bucket, hash, at)) return true;
    if (this.#clock === undefined) return false;
    const before = table.leadsTo(bucket, table.numberAt(at));
    if (before !== NONE) table.remove(bucket, at, before);
    return false;
  }
}

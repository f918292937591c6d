/**
 * Simulated shared memory: its pieces, what they held at the start, and which
 * words were ever written.
 *
 * @module
 */
import { NOWHERE } from "../kinds.ts";
import { I32, U8 } from "../platform/native.ts";
import type { Region } from "../region.ts";
import { mix1, mix2 } from "../values.ts";

/** All agents. */
const ALL = -1;

/** What is in a word that was given back: see `race.free`. */
export const FREED = 0x6f1e_d30b;

/** The most words that are shown of a memory. */
const SHOWN = 256;

/** The memory of one machine. */
export class Memory {
  /** Whether a word was written that had been taken for a constant. */
  surprised = false;
  /** Whether memory was ever given back. */
  frees = false;
  /** Its pieces, by address. */
  readonly regions: Region[] = [];
  /** The piece that `memory()` returned: users know its words by offset. */
  main: Region | null = null;
  /** Names of words, by address. */
  readonly names: Map<number, string> = new Map();
  readonly #regionOf = new Map<SharedArrayBuffer, Region>();
  #idle: Region | null = null;

  // Words ever written: only these are saved and hashed.
  readonly #touchedRegions: Region[] = [];
  readonly #touchedWords: number[] = [];

  /** Adds `buffer` to the simulated memory. */
  add(buffer: SharedArrayBuffer): Region {
    const known = this.#regionOf.get(buffer);
    if (known !== undefined) return known;
    const last = this.regions[this.regions.length - 1];
    const base = last === undefined
      ? 0
      : Math.ceil((last.base + last.bytes.length + 4096) / 4096) * 4096;
    const size = buffer.byteLength;
    const words = new I32(buffer, 0, size >> 2);
    const count = (size + 3) >> 2;
    const region: Region = {
      buffer,
      base,
      bytes: new U8(buffer, 0, size),
      words,
      initial: new I32(count),
      touched: new U8(count),
      own: [],
      constant: new U8(count),
      users: new I32(count),
      writers: new I32(count),
      mayUse: new I32(count).fill(ALL),
      mayWrite: new I32(count).fill(ALL),
    };
    region.initial = contentOf(region);
    this.regions.push(region);
    this.#regionOf.set(buffer, region);
    return region;
  }

  /** Adds a buffer that no agent knows. */
  idle(buffer: SharedArrayBuffer): Region {
    return this.#idle = this.add(buffer);
  }

  /** Makes the present content the content at the start. */
  freeze(): void {
    for (const region of this.regions) region.initial = contentOf(region);
  }

  /** The piece that `address` lies in. */
  regionAt(address: number): Region {
    let found = this.regions[0]!;
    for (const region of this.regions) {
      if (region.base <= address) found = region;
    }
    return found;
  }

  /** The name of an address for the user. */
  nameOf(address: number): string {
    if (address === NOWHERE) return "";
    const name = this.names.get(address);
    if (name !== undefined) return name;
    const { main, regions } = this;
    const region = this.regionAt(address);
    if (region === this.#idle) return "";
    const offset = address - region.base;
    if (region === main) return `[${offset}]`;
    const others = regions.filter((other) =>
      other !== main && other !== this.#idle
    );
    return `[${others.indexOf(region) + 1}:${offset}]`;
  }

  /** An address as users count it; that of another piece lies behind all. */
  offsetOf(address: number): number {
    const { main } = this;
    if (main === null || main.base === 0) return address;
    return this.regionAt(address) === main
      ? address - main.base
      : address + main.bytes.length;
  }

  /** Notes that a piece of `region` is written. */
  touch(region: Region, address: number, size: number): void {
    const last = (address - region.base + size - 1) >> 2;
    for (let w = (address - region.base) >> 2; w <= last; w++) {
      if (region.touched[w] === 1) continue;
      region.touched[w] = 1;
      if (region.constant[w] === 1) this.surprised = true;
      this.#touchedRegions.push(region);
      this.#touchedWords.push(w);
    }
  }

  /**
   * Whether no agent was ever seen to write `size` bytes at `address`. Then an
   * agent that reads them need not stop. If they are written later, the search
   * starts again.
   */
  isConstant(region: Region, address: number, size: number): boolean {
    const first = (address - region.base) >> 2;
    const last = (address - region.base + size - 1) >> 2;
    for (let w = first; w <= last; w++) {
      if (region.touched[w] === 1) return false;
    }
    for (let w = first; w <= last; w++) region.constant[w] = 1;
    return true;
  }

  /**
   * Notes that one of `agents` uses, or `writes`, `size` bytes at `address`. If
   * the search relied on something else, it must start again.
   */
  use(
    { users, writers, mayUse, mayWrite, base }: Region,
    agents: number,
    address: number,
    size: number,
    writes: boolean,
  ): void {
    const last = (address - base + size - 1) >> 2;
    for (let w = (address - base) >> 2; w <= last; w++) {
      if ((agents & ~users[w]!) !== 0) {
        users[w]! |= agents;
        if ((agents & ~mayUse[w]!) !== 0) this.#surprise(mayUse, w);
      }
      if (!writes || (agents & ~writers[w]!) === 0) continue;
      writers[w]! |= agents;
      if ((agents & ~mayWrite[w]!) !== 0) this.#surprise(mayWrite, w);
    }
  }

  #surprise(may: Int32Array, w: number): void {
    this.surprised = true;
    may[w] = ALL;
  }

  /** The agents that were ever seen to use, or write, `size` bytes. */
  agentsAt(
    { users, writers, base }: Region,
    address: number,
    size: number,
    writing: boolean,
  ): number {
    const seen = writing ? writers : users;
    const last = (address - base + size - 1) >> 2;
    let agents = 0;
    for (let w = (address - base) >> 2; w <= last; w++) agents |= seen[w]!;
    return agents;
  }

  /** Relies on it that no others than `agents` do that from now on. */
  rely(
    { mayUse, mayWrite, base }: Region,
    agents: number,
    address: number,
    size: number,
    writing: boolean,
  ): void {
    const may = writing ? mayWrite : mayUse;
    const last = (address - base + size - 1) >> 2;
    for (let w = (address - base) >> 2; w <= last; w++) may[w]! &= agents;
  }

  /**
   * Whether an access to `size` bytes at `address` commutes with all that other
   * agents were ever seen to do there: a write, if no other agent uses them; a
   * read, if no other agent writes them. If one does so later, the search
   * starts again.
   */
  isOwn(
    region: Region,
    agent: number,
    address: number,
    size: number,
    writes: boolean,
  ): boolean {
    const mine = 1 << agent;
    if ((this.agentsAt(region, address, size, !writes) & ~mine) !== 0) {
      return false;
    }
    this.rely(region, mine, address, size, !writes);
    return true;
  }

  /** Whether one of `size` bytes at `address` lies in a word given back. */
  isFreed({ base, words }: Region, address: number, size: number): boolean {
    const last = (address - base + size - 1) >> 2;
    for (let w = (address - base) >> 2; w <= last; w++) {
      if (words[w] === FREED) return true;
    }
    return false;
  }

  /** The first address that something other than the machine has changed. */
  strayWrite(): number {
    for (const region of this.regions) {
      const { base, initial, touched, own } = region;
      if (initial.length > 65536) continue;
      for (let w = 0; w < initial.length; w++) {
        if (touched[w] !== 0 || wordAt(region, w) === initial[w]) continue;
        if (own.some(([from, to]) => w * 4 >= from && w * 4 < to)) continue;
        return base + w * 4;
      }
    }
    return -1;
  }

  /** The words that were ever written, with their names, ordered by address. */
  content(): [name: string, value: number][] {
    return this.#touchedWords
      .map((w, i): [number, number] => {
        const region = this.#touchedRegions[i]!;
        return [region.base + w * 4, wordAt(region, w)];
      })
      .sort((a, b) => a[0] - b[0]).slice(0, SHOWN)
      .map(([address, value]) => [this.nameOf(address), value]);
  }

  /** How many words were ever written. */
  get size(): number {
    return this.#touchedWords.length;
  }

  /** Copies the words that were ever written to `out`, from `at` on. */
  save(out: Int32Array, at = 0): void {
    const regions = this.#touchedRegions;
    const words = this.#touchedWords;
    for (let i = 0; i < words.length; i++) {
      out[at + i] = wordAt(regions[i]!, words[i]!);
    }
  }

  /**
   * Restores the first `known` words from a copy that `save` made. The others
   * had not been written then.
   */
  restore(copy: Int32Array, known: number = copy.length): void {
    const n = this.#touchedWords.length;
    for (let i = 0; i < n; i++) {
      const region = this.#touchedRegions[i]!;
      const w = this.#touchedWords[i]!;
      const value = i < known ? copy[i]! : region.initial[w]!;
      if (w < region.words.length) region.words[w] = value;
      else setTail(region, value);
    }
  }

  /** Makes two hashes of the content. */
  hash(out: Int32Array): void {
    let memory1 = 0;
    let memory2 = 0;
    const n = this.#touchedWords.length;
    for (let i = 0; i < n; i++) {
      const region = this.#touchedRegions[i]!;
      const w = this.#touchedWords[i]!;
      const value = wordAt(region, w);
      // A word that holds its first value must hash like one never written.
      if (value === region.initial[w]) continue;
      const at = region.base + w;
      memory1 = (memory1 + hash1(at, value)) | 0;
      memory2 ^= hash2(at, value);
    }
    out[0] = memory1;
    out[1] = memory2;
  }
}

const hash1 = (at: number, value: number): number =>
  mix1(mix1(at + 0x51ed, value), value);

const hash2 = (at: number, value: number): number =>
  mix2(mix2(at + 0x3779, value), value);

/** What a word that holds `value` adds to the first hash of memory. */
export function wordHash1(
  { base, initial }: Region,
  w: number,
  value: number,
): number {
  return value === initial[w] ? 0 : hash1(base + w, value);
}

/** What it adds to the second one, by exclusive or. */
export function wordHash2(
  { base, initial }: Region,
  w: number,
  value: number,
): number {
  return value === initial[w] ? 0 : hash2(base + w, value);
}

/** A word; the last one may have fewer than four bytes. */
function wordAt({ words, bytes }: Region, w: number): number {
  if (w < words.length) return words[w]!;
  let value = 0;
  for (let at = bytes.length - 1; at >= words.length * 4; at--) {
    value = value << 8 | bytes[at]!;
  }
  return value;
}

/** Sets the last word, of fewer than four bytes. */
function setTail({ words, bytes }: Region, value: number): void {
  for (let at = words.length * 4; at < bytes.length; at++) {
    bytes[at] = value;
    value >>= 8;
  }
}

/** All the words. */
function contentOf(region: Region): Int32Array {
  const content = new I32(region.initial.length);
  content.set(region.words);
  if (content.length > region.words.length) {
    content[content.length - 1] = wordAt(region, content.length - 1);
  }
  return content;
}

/**
 * Which old values of hints can still make a difference, by where agents stand:
 * the place of an agent is its next operation. An agent needs a hint at a place
 * if it may read the hint plainly from there on, before an operation by which
 * it learns the newest value. It passes one on if it may write something else
 * atomically before that.
 *
 * This is learned from what agents do: live variables, found by following all
 * steps backwards. What is learned too late begins a search again.
 *
 * @module
 */
import * as k from "../kinds.ts";
import { I32 } from "../platform/native.ts";
import { signedAddress } from "./agent/operation.ts";

/** More places and hints than these need everything. */
const PLACES = 1 << 10;
const HINTS = 31;

const ALL = -1;

/** The needs of agents. */
export class Needs {
  /** Whether something was found that was not known. */
  surprised = false;
  /** By place: the hints that are read, and those that are passed on. */
  readonly #reads = new I32(PLACES);
  readonly #passes = new I32(PLACES);
  /** By place: the hint whose newest value is known after the operation. */
  readonly #learns = new I32(PLACES);
  /** The numbers of operations, and of the places before each place. */
  readonly #places = new Map<number, number>();
  readonly #before: number[][] = [];
  readonly #steps = new Set<number>();

  constructor() {
    this.#reads[0] = this.#passes[0] = ALL; // any other place
  }

  /** The number of the place before an operation; `slotOf` knows hints. */
  at(signature: number, slotOf: (address: number) => number): number {
    const known = this.#places.get(signature);
    if (known !== undefined) return known;
    if (this.#places.size === PLACES - 1) return 0;
    const place = this.#places.size + 1;
    this.#places.set(signature, place);
    const kind = signature % 32;
    // A sleep may end when the value that it saw is old.
    const learns = kind <= k.CAS || kind === k.WRITE;
    const slot = learns ? slotOf(signedAddress(signature)) : -1;
    this.#learns[place] = slot < 0 ? 0 : bitOf(slot);
    return place;
  }

  /** Whether an agent at `place` may read a hint before it learns of it. */
  reads(place: number, slot: number): boolean {
    return slot >= HINTS || (this.#reads[place]! & bitOf(slot)) !== 0;
  }

  /** Whether what it knows of the hint may make any difference. */
  has(place: number, slot: number): boolean {
    const needs = this.#reads[place]! | this.#passes[place]!;
    return slot >= HINTS || (needs & bitOf(slot)) !== 0;
  }

  /** An agent at `place` reads a hint. */
  read(place: number, slot: number): void {
    if (slot < HINTS) this.#add(this.#reads, place, bitOf(slot));
  }

  /** An agent at `place` passes on what it knows of all hints but one. */
  pass(place: number, but: number): void {
    const all = but < 0 || but >= HINTS ? ALL : ~bitOf(but);
    this.#add(this.#passes, place, all);
  }

  /** An agent comes from one place to another one. */
  step(from: number, to: number): void {
    if (from === 0) return;
    const step = from * PLACES + to;
    if (this.#steps.has(step)) return;
    this.#steps.add(step);
    (this.#before[to] ??= []).push(from);
    const left = ~this.#learns[from]!;
    this.#add(this.#reads, from, this.#reads[to]! & left);
    this.#add(this.#passes, from, this.#passes[to]! & left);
  }

  #add(table: Int32Array, place: number, bits: number): void {
    const before = table[place]!;
    if ((bits & ~before) === 0) return;
    table[place] = before | bits;
    this.surprised = true;
    for (const from of this.#before[place] ?? []) {
      this.#add(table, from, table[place]! & ~this.#learns[from]!);
    }
  }
}

const bitOf = (slot: number) => slot < HINTS ? 1 << slot : 0;

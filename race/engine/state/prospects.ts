/**
 * What agents can still do, by where they stand. The place of an agent is its
 * next operation, with the operation before it in its call. Whoever uses a word
 * at a place may still use it at each place from which an agent came there.
 *
 * This is learned from what agents do: all steps are followed backwards, as
 * live variables are found. What is learned too late begins a search again.
 *
 * @module
 */
import type { Agent } from "./agent/agent.ts";
import type { Snapshot } from "./agent/snapshot.ts";
import { signature } from "./agent/operation.ts";
import * as k from "../kinds.ts";
import { I32 } from "../platform/native.ts";
import type { Region } from "../region.ts";

/** From more places than these, an agent may still do everything. */
const PLACES = 1 << 12;
/** Words from this number on are one. */
const WORDS = 31;

const ALL = -1;
/** The place of which nothing is known. */
const ANYWHERE = 0;
/** The key of the beginning of a call, before its first operation. */
const BEGINNING = -0.5;
/** There are no more agents than these. */
const AGENTS = 32;

/**
 * The key of a place in a call: its next operation, and the one before that.
 * Places with one key count as one, which is right for any key.
 */
const keyOf = (last: number, next: number): number => last * 2 ** 26 + next;

/** What agents can still do. */
export class Prospects {
  /** Whether something was found of which the search relied on the contrary. */
  surprised = false;
  /** How often something was. */
  surprises = 0;
  /** By place: the words that are still used, and written. */
  readonly #uses = new I32(PLACES);
  readonly #writes = new I32(PLACES);
  /** By place: the words of which the search relies on the contrary. */
  readonly #unused = new I32(PLACES);
  readonly #unwritten = new I32(PLACES);
  /** The numbers of places, and of the places before each place. */
  readonly #places: Map<number, number>[] = [];
  #size = 0;
  readonly #before: number[][] = [];
  readonly #steps = new Set<number>();
  /** The places from which an agent was seen to go on. */
  readonly #left = new Set<number>();
  readonly #words = new Map<number, number>();

  constructor() {
    this.clear();
  }

  /** Forgets all, before another program. */
  clear(): void {
    this.surprises = 0;
    this.#uses.fill(0);
    this.#writes.fill(0);
    this.#uses[ANYWHERE] = this.#writes[ANYWHERE] = ALL;
    this.#places.length = this.#size = 0;
    this.#before.length = 0;
    this.#steps.clear();
    this.#left.clear();
    this.#words.clear();
    this.begin();
  }

  /** Begins a search, which relies on nothing yet. */
  begin(): void {
    this.surprised = false;
    this.#unused.fill(0);
    this.#unwritten.fill(0);
  }

  /** The agent does its next operation: on words of `region`, if on any. */
  step(agent: Agent, region: Region | null): void {
    const { like, oi, n, from, sig, kind, address, size } = agent;
    const last = n > from ? sig[n - 1]! : 0;
    const place = this.#at(like, oi, keyOf(last, signature(kind, address)));
    this.#left.add(place);
    if (n > from) {
      const second = n - 1 > from ? sig[n - 2]! : 0;
      this.#link(this.#at(like, oi, keyOf(second, last)), place);
    } else {
      // The calls before it may have no operation.
      for (let at = oi; at >= 0; at--) {
        this.#link(this.#at(like, at, BEGINNING), place);
      }
    }
    this.#link(place, this.#at(like, oi + 1, BEGINNING));
    if (region === null) return;
    const words = this.wordsOf(region, address, size);
    this.#add(this.#uses, this.#unused, place, words);
    if (!k.writes(kind)) return;
    this.#add(this.#writes, this.#unwritten, place, words);
  }

  /** The words of `size` bytes, as a set of bits. */
  wordsOf({ base }: Region, address: number, size: number): number {
    const first = base + (address - base >> 2);
    const last = base + (address - base + size - 1 >> 2);
    let words = 0;
    for (let word = first; word <= last; word++) {
      let number = this.#words.get(word);
      if (number === undefined) {
        this.#words.set(word, number = Math.min(this.#words.size, WORDS));
      }
      words |= 1 << number;
    }
    return words;
  }

  /** Whether an agent may still use, or write, one of the words. */
  may(agent: Snapshot, like: number, words: number, writing: boolean): boolean {
    const still = writing ? this.#writes : this.#uses;
    return (still[this.#placeOf(agent, like)]! & words) !== 0;
  }

  /** Relies on it that an agent will not do that. */
  rely(agent: Snapshot, like: number, words: number, writing: boolean): void {
    const not = writing ? this.#unwritten : this.#unused;
    not[this.#placeOf(agent, like)]! |= words;
  }

  /** Where an agent stands. */
  #placeOf(agent: Snapshot, like: number): number {
    if (agent.place !== ANYWHERE) return agent.place;
    const { oi, n, from, sig, kind, address } = agent;
    const last = n > from ? sig[n - 1]! : 0;
    const key = keyOf(last, signature(kind, address));
    const place = this.#places[oi * AGENTS + like]?.get(key);
    // What comes next there is not known before an agent has gone on.
    if (place === undefined || !this.#left.has(place)) return ANYWHERE;
    return agent.place = place;
  }

  /** The number of a place in a call, which gets one if it has none. */
  #at(like: number, oi: number, key: number): number {
    const places = this.#places[oi * AGENTS + like] ??= new Map();
    const known = places.get(key);
    if (known !== undefined) return known;
    if (this.#size === PLACES - 1) return ANYWHERE;
    const place = ++this.#size;
    places.set(key, place);
    return place;
  }

  /** An agent comes from one place to another one. */
  #link(from: number, to: number): void {
    if (from === ANYWHERE) return;
    const step = from * PLACES + to;
    if (this.#steps.has(step)) return;
    this.#steps.add(step);
    (this.#before[to] ??= []).push(from);
    this.#add(this.#uses, this.#unused, from, this.#uses[to]!);
    this.#add(this.#writes, this.#unwritten, from, this.#writes[to]!);
  }

  #add(still: Int32Array, not: Int32Array, place: number, words: number): void {
    const open = [place];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const before = still[at]!;
      if ((words & ~before) === 0) continue;
      still[at] = before | words;
      if ((words & not[at]!) !== 0 && !this.surprised) {
        this.surprised = true;
        this.surprises++;
      }
      const known = this.#before[at];
      if (known !== undefined) open.push(...known);
    }
  }
}

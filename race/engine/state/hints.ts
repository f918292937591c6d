/**
 * Hints are words that agents may read plainly although others write them
 * atomically, or another one plainly. Such a read may give an old value: any
 * value that the word has held since the newest write the reader must know of.
 * This is tracked by views (Kang et al. 2017). Each agent has, for each hint,
 * the time of the oldest write it may still see. An atomic store leaves the
 * writer's view at the location, and an atomic load takes over the location's
 * view.
 *
 * One thing is not covered, as in every model without promises: a plain read
 * that is moved down past a later access, and so gives a value that is written
 * in the future.
 *
 * @module
 */
import type { Agent } from "./agent/agent.ts";
import type { Snapshot } from "./agent/snapshot.ts";
import {
  DONE,
  KILLED,
  NOTIFY,
  READ,
  READY,
  STORE,
  WAIT,
  WAIT_ASYNC,
  WRITE,
} from "../kinds.ts";
import { Needs } from "./needs.ts";
import { signature } from "./agent/operation.ts";
import type { Hinted } from "../scenario.ts";
import { bits, bits2, mix1, mix2 } from "../values.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The values that a hint has held. */
interface Word {
  /** Oldest first; `first` is the time of the oldest. */
  readonly values: readonly Any[];
  readonly first: number;
}

/**
 * By hint: the time of the oldest write that may still be seen; 0 if missing.
 */
export type View = readonly number[];

/** An agent before its next operation, or a state that it was in. */
type Doing = Agent | Snapshot;

/** Everything that a state keeps of hints. It never changes. */
export interface HintState {
  /** By hint; one that was not written yet may be missing. */
  readonly words: readonly (Word | undefined)[];
  /** By agent. */
  readonly views: readonly View[];
  /** By location: the view that its last atomic write left. */
  readonly released: readonly (View | undefined)[];
  /**
   * By agent: the hint that it reads next, and the time of its value when the
   * agent came there, as `standing` packs them; 0 or missing if there is none.
   */
  readonly stands: readonly number[];
  /** By agent: the number of the place where it stands, plus 1; see `Needs`. */
  readonly places: readonly number[];
  /** The agents that have ended or were terminated, as bits. */
  readonly gone: number;
  /** Two hashes of words and locations, and two of each agent. */
  keys: HintKeys | null;
}

/** Hashes of what hints may still answer. */
export interface HintKeys {
  readonly hash1: number;
  readonly hash2: number;
  readonly agents1: readonly number[];
  readonly agents2: readonly number[];
}

/** What is known of an address. */
interface Place {
  readonly address: number;
  /** Its number among the locations. */
  readonly index: number;
  /** Its number among the hints, or -1. */
  readonly slot: number;
}

const LIMIT = 16; // at most this many older values of a word are offered

const NEVER: View = [];

const NONE = [0, 0] as const;

const SLOTS = 1 << 12;
const standing = (slot: number, time: number) => time * SLOTS + slot + 1;

/** The hints of an exploration. */
export class Hints {
  readonly #hinted: (address: number) => Hinted;
  readonly #agents: readonly Agent[];
  readonly #places = new Map<number, Place>();
  readonly #addresses: number[] = [];
  readonly #hints: number[] = [];
  /** By hint: the word before it is written. */
  #fresh: (Word | undefined)[] = [];
  #state: HintState;
  /** The hashes where every hint has its newest value alone. */
  readonly #noKeys: HintKeys;
  /**
   * Whether values are left out that an agent could read as the newest one: see
   * `offered`.
   */
  reduces = false;
  /**
   * Whether values are left out that make no difference where agents stand, as
   * far as is known: see `Needs`.
   */
  leavesOut = false;
  readonly needs = new Needs();

  /** Hints of `agents` at the addresses for which `hinted` is not false. */
  constructor(
    agents: readonly Agent[],
    hinted: (address: number) => Hinted,
  ) {
    this.#agents = agents;
    this.#hinted = hinted;
    const none = agents.map(() => 0);
    this.#noKeys = { hash1: 0, hash2: 0, agents1: none, agents2: none };
    this.#state = this.#start();
  }

  /** Whether reads of `address` may be old. */
  isHint = (address: number): boolean => this.#hinted(address) !== false;

  /** Whether reads of `address` may race with plain writes. */
  isWritten = (address: number): boolean => this.#hinted(address) === "written";

  /** Whether `address` is a hint that now holds another value. */
  isOld(address: number, value: Any): boolean {
    const { slot } = this.#placeAt(address);
    const word = slot < 0 ? undefined : this.#wordAt(slot);
    return word !== undefined &&
      !Object.is(word.values[word.values.length - 1], value);
  }

  /**
   * Prepares for the next execution. Hints that were found in the midst of an
   * execution do not know what a word held at its start.
   */
  reset(): void {
    this.#fresh = [];
    this.#state = this.#start();
  }

  #start(): HintState {
    const views = this.#agents.map(() => NEVER);
    return stateOf([], views, [], [], [], 0);
  }

  /** What a state keeps. */
  save(): HintState {
    return this.#state;
  }

  /** Restores what a state kept. */
  load(state: HintState): void {
    this.#state = state;
  }

  #placeAt(address: number): Place {
    let place = this.#places.get(address);
    if (place === undefined) {
      const index = this.#addresses.push(address) - 1;
      const slot = this.isHint(address) ? this.#hints.push(address) - 1 : -1;
      this.#places.set(address, place = { address, index, slot });
    }
    return place;
  }

  /** A hint's values; undefined if it was never written. */
  #wordAt(slot: number): Word | undefined {
    return this.#state.words[slot] ?? this.#fresh[slot];
  }

  /**
   * The older values that a plain read by `agent` may give, besides the current
   * one. Each distinct value occurs once; the newest comes first.
   */
  older(id: number, agent: Doing): readonly Any[] {
    if (agent.kind !== READ) return NEVER;
    const { slot } = this.#placeAt(agent.address);
    const word = slot < 0 ? undefined : this.#wordAt(slot);
    if (word === undefined || word.values.length === 1) return NEVER;
    const { values, first } = word;
    const distinct: Any[] = [values[values.length - 1]];
    const seen = this.#state.views[id]![slot] ?? 0;
    const oldest = Math.max(first, seen);
    for (let i = values.length - 2; i >= oldest - first; i--) {
      if (!distinct.includes(values[i])) distinct.push(values[i]);
    }
    return distinct.slice(1, LIMIT);
  }

  /**
   * How many of the values of `older` come first and need not be read. Each was
   * the newest one at some moment since `agent` came to this read. Then the
   * agent could have read it, and what the others have done since commutes with
   * that. So does all that follows, whoever is judged: a call that ends sooner
   * is judged more strictly. `mayMove` says whether nothing but the read is in
   * this step, and nobody observes when it begins.
   */
  offered(
    id: number,
    agent: Doing,
    older: readonly Any[],
    mayMove: boolean,
  ): number {
    if (!this.reduces || !mayMove || older.length === 0) return 0;
    const { slot } = this.#placeAt(agent.address);
    const stands = this.#state.stands[id] ?? 0;
    if ((stands - 1) % SLOTS !== slot) return 0;
    return this.#newerThan(slot, id, Math.floor(stands / SLOTS))[0];
  }

  /**
   * How many of the older values of a hint that an agent may read it held at
   * `time` or later, and how many others there are.
   */
  #newerThan(
    slot: number,
    id: number,
    time: number,
  ): readonly [newer: number, others: number] {
    const word = this.#wordAt(slot);
    if (word === undefined || word.values.length === 1) return NONE;
    const { values, first } = word;
    const distinct: Any[] = [values[values.length - 1]];
    const oldest = Math.max(first, this.#state.views[id]![slot] ?? 0);
    let newer = 0;
    for (let i = values.length - 2; i >= oldest - first; i--) {
      if (distinct.includes(values[i])) continue;
      distinct.push(values[i]);
      if (first + i >= time) newer++;
    }
    return [newer, distinct.length - 1 - newer];
  }

  /** Notes that an agent has come to its next operation, or to its end. */
  arrive(id: number, agent: Doing): void {
    const { kind, status, address } = agent;
    let stands = 0;
    if (kind === READ && status === READY) {
      const { slot } = this.#placeAt(address);
      if (slot >= 0) stands = standing(slot, this.#timeOf(slot));
    }
    const { words, views, released, stands: all, places } = this.#state;
    const before = this.#state.gone;
    const bit = 1 << id;
    const isGone = status === KILLED || status === DONE && hasLeft(agent);
    const gone = isGone ? before | bit : before & ~bit;
    const at = isGone ? 0 : 1 + this.#come(places[id] ?? 0, agent);
    const same = (all[id] ?? 0) === stands;
    const stays = (places[id] ?? 0) === at;
    if (same && stays && gone === before) return;
    const now = same ? all : replaced(all, id, stands);
    const there = stays ? places : replaced(places, id, at);
    this.#state = stateOf(words, views, released, now, there, gone);
    if (isGone || !stays && this.#prunes) this.#become(words, views, released);
  }

  /** The place of an agent that stood at `before`; notes what it needs there. */
  #come(before: number, { kind, address }: Doing): number {
    const { needs } = this;
    const place = needs.at(signature(kind, address), this.#slotAt);
    if (kind === READ) {
      const slot = this.#slotAt(address);
      if (slot >= 0) needs.read(place, slot);
    }
    if (before > 0) needs.step(before - 1, place);
    return place;
  }

  readonly #slotAt = (address: number): number => this.#placeAt(address).slot;

  get #prunes(): boolean {
    return this.reduces && this.leavesOut;
  }

  #timeOf(slot: number): number {
    const word = this.#wordAt(slot);
    return word === undefined ? 0 : word.first + word.values.length - 1;
  }

  /** Notes that `agent` read value number `age` of the values it may see. */
  read(id: number, agent: Doing, age: number): Any {
    const { slot } = this.#placeAt(agent.address);
    if (slot >= 0) this.needs.read(this.#standOf(id), slot);
    const word = slot < 0 ? undefined : this.#wordAt(slot);
    if (word === undefined) return undefined;
    const { values, first } = word;
    const newest = values[values.length - 1];
    const seen = age > 0 ? this.older(id, agent)[age - 1] : newest;
    const view = this.#state.views[id]!;
    // Assume the oldest write of this value: it leaves the most values
    // possible.
    let i = Math.max(0, (view[slot] ?? 0) - first);
    while (values[i] !== seen) i++;
    const { words, views, released } = this.#state;
    const now = withTime(view, slot, first + i);
    if (now !== view) {
      this.#become(words, replaced(views, id, now), released);
    }
    return seen;
  }

  /**
   * Called before `agent`'s operation, which may change a hint for the first
   * time.
   */
  before(agent: Doing): void {
    const { address, kind, target, index } = agent;
    if (kind < STORE || kind > WRITE || kind === READ) return;
    if (kind === NOTIFY || kind === WAIT || kind === WAIT_ASYNC) return;
    const { slot } = this.#placeAt(address);
    if (slot < 0 || this.#fresh[slot] !== undefined) return;
    this.#fresh[slot] = { values: [target!.peek(index)], first: 0 };
  }

  /** Called after `agent`'s atomic operation or plain write. */
  after(id: number, agent: Doing, wrote: boolean): void {
    const { address, kind, target, index } = agent;
    if (kind === READ) return;
    const { slot, index: at } = this.#placeAt(address);
    let { words, released } = this.#state;
    const { views } = this.#state;
    let mine = views[id]!;
    const word = slot < 0 ? undefined : this.#wordAt(slot);
    if (word !== undefined) {
      const { first } = word;
      let { values } = word;
      // A value that is there already is not an older one, too.
      const value = wrote ? target!.peek(index) : undefined;
      if (wrote && !Object.is(value, values[values.length - 1])) {
        values = [...values, value];
        words = replaced(words, slot, { first, values });
      }
      mine = withTime(mine, slot, first + values.length - 1);
    }
    if (kind !== WRITE) {
      const there = released[at];
      if (kind !== STORE) mine = joined(mine, there);
      if (wrote) this.needs.pass(this.#standOf(id), slot);
      if (wrote && !sameView(there, mine)) {
        released = replaced(released, at, mine);
      }
    }
    const now = mine === views[id] ? views : replaced(views, id, mine);
    if (
      now !== views || words !== this.#state.words ||
      released !== this.#state.released
    ) this.#become(words, now, released);
  }

  /** The number of the place where an agent stands. */
  #standOf(id: number): number {
    return Math.max(0, (this.#state.places[id] ?? 0) - 1);
  }

  /** Agent `woken` has been notified by agent `by`, or has found it asleep. */
  wake(by: number, woken: number): void {
    const { words, views, released } = this.#state;
    const view = views[woken]!;
    this.needs.pass(this.#standOf(by), -1);
    const now = joined(view, views[by]);
    if (now !== view) {
      this.#become(words, replaced(views, woken, now), released);
    }
  }

  /** What `agent` must know of hints. */
  viewOf(agent: Agent): View {
    this.needs.pass(this.#standOf(agent.id), -1);
    return this.#state.views[agent.id]!;
  }

  /** `agent` learns what another one knew. */
  receive(agent: Agent, known: View): void {
    const { words, views, released } = this.#state;
    const view = views[agent.id]!;
    const now = joined(view, known);
    if (now === view) return;
    this.#become(words, replaced(views, agent.id, now), released);
  }

  /** Adds to two hashes what an agent that learns `view` could still read. */
  hashView(hashes: Int32Array, view: View): void {
    const { words } = this.#state;
    for (let slot = 0; slot < words.length; slot++) {
      const word = words[slot];
      if (word === undefined || word.values.length === 1) continue;
      const { length } = word.values;
      const old = word.first + length - 1 - (view[slot] ?? 0);
      const place = this.#hints[slot]! ^ Math.min(old, length - 1) << 20;
      hashes[0] = mix1(hashes[0]!, place);
      hashes[1] = mix2(hashes[1]!, place);
    }
  }

  /** Goes to another state, without the values that no agent may see. */
  #become(
    words: readonly (Word | undefined)[],
    views: readonly View[],
    released: readonly (View | undefined)[],
  ): void {
    const { stands, places, gone } = this.#state;
    const prunes = this.#prunes;
    for (let slot = 0; slot < words.length; slot++) {
      const word = words[slot];
      if (word === undefined || word.values.length === 1) continue;
      const { values, first } = word;
      let oldest = first + values.length - 1;
      for (let id = 0; id < views.length; id++) {
        if ((gone >> id & 1) === 1) continue;
        if (prunes && !this.needs.reads(this.#standOf(id), slot)) continue;
        oldest = Math.min(oldest, views[id]![slot] ?? 0);
      }
      if (oldest <= first) continue;
      const left = values.slice(oldest - first);
      words = replaced(words, slot, { values: left, first: oldest });
    }
    this.#state = stateOf(words, views, released, stands, places, gone);
  }

  /** Hashes of what the future depends on. */
  get keys(): HintKeys {
    const state = this.#state;
    return state.keys ??= this.#keysOf(state);
  }

  /**
   * States that offer every agent the same values have the same hashes. So
   * what offers no more than the newest value is left out, and so is what an
   * agent knew that has ended.
   */
  #keysOf({ words, views, released, stands: all, gone }: HintState): HintKeys {
    let many = false;
    for (let slot = 0; slot < words.length && !many; slot++) {
      const word = words[slot];
      many = word !== undefined && word.values.length > 1;
    }
    if (!many) return this.#noKeys; // as in most states
    const agents1 = views.map(() => 0);
    const agents2 = views.map(() => 0);
    const prunes = this.#prunes;
    let a = 0;
    let b = 0;
    for (let slot = 0; slot < words.length; slot++) {
      const word = words[slot];
      if (word === undefined) continue;
      const { values, first } = word;
      const length = values.length;
      if (length === 1) continue;
      const hint = this.#hints[slot]!;
      for (let i = 0; i < length; i++) {
        const value = values[i];
        a = (a + mix1(mix1(hint, length - i), bits(value))) | 0;
        b ^= mix2(mix2(hint, length - i), bits2(value));
      }
      const newest = first + length - 1;
      for (let id = 0; id < views.length; id++) {
        if ((gone >> id & 1) === 1) continue;
        if (prunes && !this.needs.has(this.#standOf(id), slot)) continue;
        const old = newest - (views[id]![slot] ?? 0);
        if (old <= 0) continue;
        const most = Math.min(old, length - 1);
        agents1[id] = agents1[id]! + mix1(hint, most) | 0;
        agents2[id] = agents2[id]! ^ mix2(hint, most);
      }
      for (let at = 0; at < released.length; at++) {
        const old = newest - (released[at]?.[slot] ?? 0);
        // A time older than what every agent knows makes no difference.
        if (old >= length - 1) continue;
        const place = ~this.#addresses[at]! * 64;
        a = (a + mix1(mix1(hint, place), old)) | 0;
        b ^= mix2(mix2(hint, place), old);
      }
    }
    for (let id = 0; this.reduces && id < all.length; id++) {
      const stands = all[id] ?? 0;
      if (stands === 0) continue;
      const slot = (stands - 1) % SLOTS;
      const time = Math.floor(stands / SLOTS);
      const [newer, others] = this.#newerThan(slot, id, time);
      if (newer === 0 || others === 0) continue;
      agents1[id] = mix1(agents1[id]!, others);
      agents2[id] = mix2(agents2[id]!, others);
    }
    return { hash1: a, hash2: b, agents1, agents2 };
  }
}

const stateOf = (
  words: readonly (Word | undefined)[],
  views: readonly View[],
  released: readonly (View | undefined)[],
  stands: readonly number[],
  places: readonly number[],
  gone: number,
): HintState => ({
  words,
  views,
  released,
  stands,
  places,
  gone,
  keys: null,
});

/** Whether nothing is left of an agent that is done, not even an event. */
const hasLeft = ({ serial, inbox, open }: Doing): boolean =>
  serial + inbox.length + open.length === 0;

/** The list with another value at `at`, which may lie behind its end. */
function replaced<T>(list: readonly T[], at: number, value: T): readonly T[] {
  const copy = list.slice();
  while (copy.length < at) copy.push(undefined as T);
  copy[at] = value;
  return copy;
}

/** The view with another time for the hint `slot`. */
function withTime(view: View, slot: number, time: number): View {
  if ((view[slot] ?? 0) === time) return view;
  const copy = view.slice();
  while (copy.length < slot) copy.push(0);
  copy[slot] = time;
  return copy;
}

/** The later times of two views. */
function joined(view: View, by: View | undefined): View {
  if (by === undefined || by === view) return view;
  let result = view;
  for (let i = 0; i < by.length; i++) {
    if (by[i]! > (result[i] ?? 0)) result = withTime(result, i, by[i]!);
  }
  return result;
}

function sameView(a: View | undefined, b: View): boolean {
  if (a === undefined || a === b) return a === b || b.length === 0;
  return a.length === b.length && a.every((time, i) => time === b[i]);
}

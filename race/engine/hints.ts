/**
 * Hints are words that agents may read plainly although others write them
 * atomically. Such a read may give an old value: any value that the word has
 * held since the newest write the reader must know of. This is tracked by views
 * (Kang et al. 2017). Each agent has, for each hint, the time of the oldest
 * write it may still see. An atomic store leaves the writer's view at the
 * location, and an atomic load takes over the location's view.
 *
 * One thing is not covered, as in every model without promises: a plain read
 * that is moved down past a later access, and so gives a value that is written
 * in the future.
 *
 * @module
 */
import type { Agent } from "./agent.ts";
import {
  DONE,
  KILLED,
  LOAD,
  NOTIFY,
  READ,
  STORE,
  WAIT,
  WAIT_ASYNC,
  WRITE,
} from "./kinds.ts";
import { bits, mix1, mix2 } from "./values.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

interface Word {
  readonly address: number;
  /**
   * The values it has held, oldest first; `first` is the time of the oldest.
   */
  readonly values: readonly Any[];
  readonly first: number;
}

/** Everything that a state keeps of hints. */
export interface HintState {
  readonly words: readonly Word[];
  /** By agent, by word. */
  readonly views: readonly (readonly number[])[];
  /** By location, by word. */
  readonly released: ReadonlyMap<number, readonly number[]>;
}

const LIMIT = 16; // at most this many older values of a word are offered

/** The hints of an exploration. */
export class Hints {
  readonly #isHint: (address: number) => boolean;
  readonly #agents: readonly Agent[];
  readonly #slots = new Map<number, number>();
  #words: Word[] = [];
  #views: number[][] = [];
  #released = new Map<number, readonly number[]>();

  /** Hints of `agents` at the addresses for which `isHint` is true. */
  constructor(
    agents: readonly Agent[],
    isHint: (address: number) => boolean,
  ) {
    this.#agents = agents;
    this.#isHint = isHint;
  }

  /** Whether reads of `address` may be old. */
  isHint = (address: number): boolean => this.#isHint(address);

  /** Prepares for the next execution. */
  reset(): void {
    this.#words = [];
    this.#slots.clear();
    this.#views = this.#agents.map(() => []);
    this.#released = new Map();
  }

  /** Copies what a state keeps. */
  save(): HintState {
    return {
      words: this.#words.slice(),
      views: this.#views.map((view) => view.slice()),
      released: new Map(this.#released),
    };
  }

  /** Restores what a state kept. */
  load(state: HintState): void {
    this.#words = state.words.slice();
    this.#slots.clear();
    this.#words.forEach(({ address }, slot) => this.#slots.set(address, slot));
    this.#views = state.views.map((view) => view.slice());
    this.#released = new Map(state.released);
  }

  /**
   * The older values that a plain read by `agent` may give, besides the current
   * one. Each distinct value occurs once; the newest comes first.
   */
  older(agent: Agent): readonly Any[] {
    if (agent.kind !== READ || !this.#isHint(agent.address)) return [];
    const slot = this.#slots.get(agent.address);
    if (slot === undefined) return [];
    const { values, first } = this.#words[slot]!;
    const distinct: Any[] = [values[values.length - 1]];
    const oldest = Math.max(first, this.#views[agent.id]![slot]!);
    for (let i = values.length - 2; i >= oldest - first; i--) {
      if (!distinct.includes(values[i])) distinct.push(values[i]);
    }
    return distinct.slice(1, LIMIT);
  }

  /** Notes that `agent` read value number `age` of the values it may see. */
  read(agent: Agent, age: number): Any {
    const value = age > 0 ? this.older(agent)[age - 1] : undefined;
    const slot = this.#slots.get(agent.address);
    if (slot === undefined) return undefined;
    const { values, first } = this.#words[slot]!;
    const seen = age > 0 ? value : values[values.length - 1];
    const view = this.#views[agent.id]!;
    // Assume the oldest write of this value: it leaves the most values
    // possible.
    let i = Math.max(0, view[slot]! - first);
    while (values[i] !== seen) i++;
    view[slot] = first + i;
    return seen;
  }

  /**
   * Called before `agent`'s operation, which may change a hint for the first
   * time.
   */
  before(agent: Agent): void {
    const { address, kind, target, index } = agent;
    if (kind < STORE || kind > WRITE || !this.#isHint(address)) return;
    if (this.#slots.has(address) || kind === READ || kind === NOTIFY) return;
    if (kind === WAIT || kind === WAIT_ASYNC) return;
    this.#slots.set(address, this.#words.length);
    const value = target!.peek(index);
    this.#words.push({ address, values: [value], first: 0 });
    for (const old of this.#views) old.push(0);
    for (const [at, old] of this.#released) this.#released.set(at, [...old, 0]);
  }

  /** Called after `agent`'s atomic operation or plain write. */
  after(agent: Agent, wrote: boolean): void {
    const { address, kind, target, index } = agent;
    if (kind === READ) return;
    const mine = this.#views[agent.id]!;
    const slot = this.#slots.get(address);
    if (wrote && slot !== undefined) {
      const word = this.#words[slot]!;
      const value = target!.peek(index);
      const values = [...word.values, value];
      this.#words[slot] = { ...word, values };
      mine[slot] = word.first + values.length - 1;
    } else if (slot !== undefined) {
      const { first, values } = this.#words[slot]!;
      mine[slot] = first + values.length - 1;
    }
    if (kind === WRITE) return;
    if (kind !== STORE) raise(mine, this.#released.get(address));
    if (wrote) this.#released.set(address, mine.slice());
    if (slot !== undefined || kind === LOAD) this.#trim();
  }

  /** `woken` has been notified by `agent`. */
  wake(agent: Agent, woken: Agent): void {
    raise(this.#views[woken.id]!, this.#views[agent.id]);
  }

  /** Forgets values that no agent may see any more. */
  #trim(): void {
    for (let slot = 0; slot < this.#words.length; slot++) {
      const word = this.#words[slot]!;
      let oldest = word.first + word.values.length - 1;
      for (const { id, status } of this.#agents) {
        if (status === DONE || status === KILLED) continue;
        oldest = Math.min(oldest, this.#views[id]![slot]!);
      }
      if (oldest <= word.first) continue;
      const values = word.values.slice(oldest - word.first);
      this.#words[slot] = { ...word, values, first: oldest };
    }
  }

  /** Adds what the future depends on to two hashes. */
  hash(hashes: [number, number]): void {
    let [a, b] = hashes;
    const add = (v: number) => {
      a = mix1(a, v);
      b = mix2(b, v);
    };
    const newest = this.#words.map(({ first, values }) =>
      first + values.length - 1
    );
    this.#words.forEach(({ address, values }) => {
      add(address);
      values.forEach((value) => add(bits(value)));
    });
    for (const view of this.#views) {
      view.forEach((time, slot) => add(newest[slot]! - time));
    }
    const places = [...this.#released.keys()].sort((x, y) => x - y);
    for (const place of places) {
      add(place);
      this.#released.get(place)!.forEach((time, slot) => {
        // A time older than what every agent knows makes no difference.
        add(Math.min(newest[slot]! - time, this.#words[slot]!.values.length));
      });
    }
    hashes[0] = a;
    hashes[1] = b;
  }
}

function raise(view: number[], by: readonly number[] | undefined): void {
  if (by === undefined) return;
  for (let i = 0; i < by.length; i++) {
    if (by[i]! > view[i]!) view[i] = by[i]!;
  }
}

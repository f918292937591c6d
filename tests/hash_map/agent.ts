/**
 * An agent that does all that a map can do, in a thread of its own, with one
 * map after the other: see `threads.ts`. Some keys are its own: no other agent
 * writes them, so it knows what it has to find there.
 *
 * @module
 */
import type { Handle } from "../../mod.ts";
import { HashMap } from "../../primitives/hash_map.ts";
import { hello } from "../_run/workers.ts";
import { CODECS, KEYS, nameOf, numberIn, OWNED, textOf } from "./long_keys.ts";

/** How many clears have begun, and ended. */
const BEGUN = 0, ENDED = 1;

/** What an agent is told. */
export interface Order {
  readonly handle: Handle<"hash_map">;
  readonly seat: number;
  readonly seats: number;
  readonly steps: number;
  readonly seed: number;
  /** Whether entries may go at any moment. */
  readonly evicts: boolean;
  /** Counts how often an agent has cleared the map. */
  readonly clears: Int32Array;
}

/** What an agent did, and what was wrong. */
export interface Done {
  readonly problems: readonly string[];
  /** Calls that found no room. */
  readonly full: number;
  readonly found: number;
}

const { data, post, next } = await hello<Order>();
let { seat, seats, steps, evicts, clears, seed: state } = data;
let map: HashMap<string, string>;

/** A number from 0 to n - 1. */
function random(n: number): number {
  state = Math.imul(state, 1664525) + 1013904223 | 0;
  return (state >>> 8) % n;
}

let problems: string[] = [];
function problem(text: string): void {
  if (problems.length < 5) problems.push(text);
}

const ABSENT = -1;
let full = 0;
let found = 0;

/** What is known of an own key: its value, and since how many clears. */
interface Known {
  readonly n: number;
  readonly since: number;
}
const known = new Map<number, Known>();
/** How many clears had ended when the step began. */
let since = 0;

const know = (key: number, n: number) => void known.set(key, { n, since });

/** Checks what was found of a key. */
function check(key: number, value: string | undefined): void {
  const n = value === undefined ? ABSENT : numberIn(key, value);
  if (n === undefined) return problem(`a torn value of ${key}: ${value}`);
  if (n !== ABSENT) found++;
  const wanted = known.get(key);
  if (wanted === undefined || wanted.n === n) return;
  const mayGo = evicts || Atomics.load(clears, BEGUN) !== wanted.since;
  if (n === ABSENT && mayGo) return;
  problem(`key ${key} has value ${n} instead of ${wanted.n}`);
}

/** Checks a value that anybody may have written. */
function checkShared(key: number, value: string | undefined): void {
  if (value === undefined) full++;
  else if (numberIn(key, value) === undefined) problem(`torn: ${value}`);
}

/** Notes what a call that gives an own key a value said. */
function wrote(key: number, n: number, done: boolean): void {
  if (done) return know(key, n);
  full++;
  if (evicts) problem(`a cache refused key ${key}`);
}

const later = <T>(value: T) =>
  new Promise<T>((done) => setTimeout(() => done(value), random(2)));

/** What an agent does, and how often. */
const STEPS: readonly (readonly [
  times: number,
  step: (own: number, any: number, n: number) => unknown,
])[] = [
  [30, (_, any) => check(any, map.get(nameOf(any)))],
  [10, (own) => check(own, map.get(nameOf(own)))],
  [20, (own, _, n) => wrote(own, n, map.set(nameOf(own), textOf(own, n)))],
  [10, (own, any, n) => {
    const isLast = n % 4 === 0;
    const done = map.update(nameOf(own), (old) => {
      check(own, old);
      map.get(nameOf(any)); // reading another key changes nothing
      return isLast ? undefined : textOf(own, n);
    });
    wrote(own, isLast ? ABSENT : n, done);
  }],
  [8, (own) => {
    check(own, map.take(nameOf(own)));
    know(own, ABSENT);
  }],
  [4, (own) => {
    map.delete(nameOf(own));
    know(own, ABSENT);
  }],
  [8, (own, _, n) => {
    const value = map.getOrInsert(nameOf(own), () => textOf(own, n));
    if (value === undefined) return full++;
    const { n: old, since } = known.get(own) ?? { n: ABSENT, since: -1 };
    if (value !== textOf(own, n)) check(own, value);
    else if (!evicts && old >= 0 && Atomics.load(clears, BEGUN) === since) {
      problem(`key ${own} was lost`);
    }
    know(own, numberIn(own, value) ?? ABSENT);
  }],
  [6, (_, any, n) => {
    const key = OWNED + any % (KEYS - OWNED);
    checkShared(key, map.getOrInsert(nameOf(key), () => textOf(key, n)));
  }],
  [4, async (_, any, n) => {
    const key = OWNED + any % (KEYS - OWNED);
    const make = () => later(textOf(key, n));
    checkShared(key, await map.getOrInsertAsync(nameOf(key), make));
  }],
  [4, (_, any) => map.delete(nameOf(OWNED + any % (KEYS - OWNED)))],
  [2, async (_, any) => {
    check(any, await map.tryWaitForAsync(nameOf(any), { timeout: 1 }));
  }],
  [2, (_, any) => check(any, map.tryWaitFor(nameOf(any), 1))],
  [1, () => {
    for (const [name, value] of map) {
      const key = Number(/\d+$/.exec(name)?.[0]);
      if (nameOf(key) !== name) problem(`a torn key: ${name}`);
      else if (numberIn(key, value) === undefined) problem(`torn: ${value}`);
    }
  }],
  [1, () => {
    if (random(4) > 0) return;
    Atomics.add(clears, BEGUN, 1);
    map.clear();
    Atomics.add(clears, ENDED, 1);
  }],
];
const all = STEPS.reduce((sum, [times]) => sum + times, 0);

/** Turns to the map of another order. */
function begin(order: Order): void {
  ({ seat, seats, steps, evicts, clears, seed: state } = order);
  map = HashMap.from<string, string>(order.handle, CODECS);
  problems = [];
  full = found = since = 0;
  known.clear();
}

async function play(): Promise<Done> {
  for (let i = 0; i < steps; i++) {
    const any = random(KEYS);
    const own = any % (OWNED / seats) * seats + seat;
    since = Atomics.load(clears, ENDED);
    let left = random(all);
    for (const [times, step] of STEPS) {
      left -= times;
      if (left >= 0) continue;
      const pending = step(own, any, random(1 << 20));
      if (pending instanceof Promise) await pending;
      break;
    }
  }
  return { problems, full, found };
}

for (let order = data;; order = await next<Order>()) {
  begin(order);
  post(await play());
}

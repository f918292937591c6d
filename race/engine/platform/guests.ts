/**
 * Primitives in the code under test that tell the tester about themselves. They
 * find it under a symbol of the global registry, whichever copy or bundle of
 * their library they come from. They tell where their words are, ask which
 * agent runs, and have settings that are others in an exploration.
 *
 * @module
 */
import { unwrap } from "./views.ts";

/** What identifies an agent to the primitives. */
export interface Identity {
  /** Its id; the agent that runs may change it. */
  id: number;
}

/** A setting, and what it must be in an exploration. */
export type Setting = readonly [now: Values, explored: Values];
type Values = Record<string, unknown>;

/** The engine, as its guests need it. */
export interface Inn {
  /** The identity of the agent on the stack, if there is one. */
  identity(): Identity | undefined;
  /** How long a sleep is after which the primitives only look again. */
  readonly looks: number | undefined;
  /** Whether an agent may be terminated. */
  readonly mayKill: boolean;
  /** Is told how long such a sleep is. */
  tellLooks(ms: number): void;
  /** Settings that are others while this engine explores. */
  readonly settings: Set<Setting>;
  /** What each agent has of its own in the modules of primitives. */
  readonly owns: Set<Own>;
  readonly scenario: { readonly async: boolean };
  /** Is told of a view of a primitive. */
  meet(primitive: object): void;
  /** The agent on the stack keeps these values, and nothing else it saw. */
  drop(kept: readonly unknown[]): void;
  /** The same of what it saw in its operation of a primitive. */
  keepInside(kept: readonly unknown[], asleep: boolean): void;
}

/** What a module keeps for its agent, and how it begins. */
export interface Own {
  now: unknown;
  readonly fresh: () => unknown;
}

/** What a copy of a library keeps. */
type Kept = readonly (Setting | Own)[];

const KEY = Symbol.for("@weft/sync/race");

// deno-lint-ignore no-explicit-any
const globals = globalThis as any;

/** The words of a primitive, in bytes from the beginning of a buffer. */
export type Told = readonly [from: number, to: number];

/** The words of primitives, by the buffer. */
const told = new WeakMap<object, Told[]>();

/** The settings that were changed, and what they were. */
const changed = new Map<Values, Values>();
/** How much of what copies keep was looked at. */
let known = new WeakMap<Kept, number>();
/** What the agent that runs has of its own; what was there before it. */
const lent = new Map<Own, unknown>();

/** Lets primitives tell `inn` about themselves. */
export function welcome(inn: Inn): void {
  // Agents keep the views that they made in an earlier exploration.
  for (const setting of inn.settings) change(inn, setting);
  // Between the steps of asynchronous agents, other code runs.
  if (!inn.scenario.async) lendAll(inn);
  globals[KEY] = {
    identity: () => inn.identity(),
    meet: (primitive: object) => inn.meet(primitive),
    forget: (...kept: unknown[]) => inn.drop(kept),
    keep: (kept: readonly unknown[]) => inn.keepInside(kept, false),
    keepAsleep: (kept: readonly unknown[]) => inn.keepInside(kept, true),
    enter(words: Int32Array, kept: Kept) {
      // The tests of a library say themselves which of its words are hints.
      if (kept.length === 0) return;
      note(unwrap(words));
      for (let i = known.get(kept) ?? 0; i < kept.length; i++) {
        const one = kept[i]!;
        if (!("fresh" in one)) change(inn, one);
        else {
          inn.owns.add(one);
          if (isLending) lend(one);
        }
      }
      known.set(kept, kept.length);
    },
  };
}

/** Gives all settings their usual values again. */
export function dismiss(): void {
  takeBack();
  delete globals[KEY];
  for (const [now, before] of changed) Object.assign(now, before);
  changed.clear();
  known = new WeakMap();
}

let isLending = false;

function lend(own: Own): void {
  if (lent.has(own)) return;
  lent.set(own, own.now);
  own.now = own.fresh();
}

/**
 * Begins to run an agent from where its record begins: the modules of
 * primitives then keep nothing for it yet.
 */
export function lendAll(inn: Inn): void {
  isLending = true;
  for (const own of inn.owns) lend(own);
}

/** Ends that. */
export function takeBack(): void {
  isLending = false;
  for (const [own, before] of lent) own.now = before;
  lent.clear();
}

function change(inn: Inn, setting: Setting): void {
  const [now, explored] = setting;
  inn.settings.add(setting);
  if (changed.has(now)) return;
  if (typeof now.every === "number") {
    // After a kill, only such a look may find what the dead agent has done.
    if (inn.looks !== undefined) return;
    if (inn.mayKill) return inn.tellLooks(now.every);
  }
  changed.set(now, { ...now });
  Object.assign(now, explored);
}

function note({ buffer, byteOffset, byteLength }: Int32Array): void {
  const end = byteOffset + byteLength;
  let ranges = told.get(buffer);
  if (ranges === undefined) told.set(buffer, ranges = []);
  if (ranges.some(([from, to]) => from <= byteOffset && end <= to)) return;
  ranges.push([byteOffset, end]);
}

/** The words of primitives that have the byte at `at` of `buffer`. */
export const rangesAt = (buffer: object, at: number): readonly Told[] =>
  told.get(buffer)?.filter(([from, to]) => from <= at && at < to) ?? [];

/**
 * Whether a primitive has told that the byte at `at` of `buffer` is its own.
 */
export const isTold = (buffer: object, at: number): boolean =>
  rangesAt(buffer, at).length > 0;

import { load } from "./folders.ts";
import {
  type CallTuple,
  type Options,
  race,
  type Spec,
} from "../../race/mod.ts";

/** The modules of the library. */
export interface Modules {
  /** Its `mod.ts`. */
  readonly mod: typeof import("../../mod.ts");
  /** Its `_memory/explored.ts`. */
  readonly explored: typeof import("../../primitives/_memory/explored.ts");
  /** Its `_wait/spin.ts`. */
  readonly spin: typeof import("../../primitives/_wait/spin.ts");
  /** Its `_wait/waiter.ts`. */
  readonly waiter: typeof import("../../primitives/_wait/waiter.ts");
  /** Its `_message/utf8.ts`. */
  readonly utf8: typeof import("../../primitives/_message/utf8.ts");
  /** Its `_wait/turn.ts`. */
  readonly turn: typeof import("../../primitives/_wait/turn.ts");
  /** Its `_map/time.ts`. */
  readonly time: typeof import("../../primitives/_map/time.ts");
  /** What the agents of a pool share. */
  readonly pool: typeof import("../pool/parts.ts");
  /** What the servers of one ring share. */
  readonly calls: typeof import("../calls/slots.ts");
  /** Its `deadlocks.ts`. */
  readonly deadlocks: typeof import("../../primitives/tools/deadlocks.ts");
}

/** Where these modules are. */
export const MODULES: Record<keyof Modules, URL> = {
  mod: new URL("../../mod.ts", import.meta.url),
  explored: new URL("../../primitives/_memory/explored.ts", import.meta.url),
  spin: new URL("../../primitives/_wait/spin.ts", import.meta.url),
  waiter: new URL("../../primitives/_wait/waiter.ts", import.meta.url),
  utf8: new URL("../../primitives/_message/utf8.ts", import.meta.url),
  turn: new URL("../../primitives/_wait/turn.ts", import.meta.url),
  time: new URL("../../primitives/_map/time.ts", import.meta.url),
  pool: new URL("../pool/parts.ts", import.meta.url),
  calls: new URL("../calls/slots.ts", import.meta.url),
  deadlocks: new URL("../../primitives/tools/deadlocks.ts", import.meta.url),
};

/** The modules under test: the library's own, or mutants of them. */
export interface Weft extends Modules {
  /**
   * Fresh modules, because async forms keep their queues and timers in a
   * module.
   */
  readonly realm: () => Modules;
  /** The same for an agent by {@linkcode itsOwn}. */
  readonly renewed: (agent: number) => Modules;
}

/** A program over a specification, to be explored. */
export interface Scenario {
  readonly name: string;
  readonly spec: Spec;
  readonly agents: readonly (readonly CallTuple[])[];
  readonly options?: Options;
  /**
   * It is too large to be complete, so it is sampled after the states in
   * `options`.
   */
  readonly sampled?: boolean;
  /** Why it has not as many states in C; else the two take the same steps. */
  readonly differs?: string;
  /** Why C has nothing of the kind: no agent of it plays this scenario. */
  readonly notInC?: string;
  /** Agents that await. C cannot, so they are JavaScript in every cast. */
  readonly awaits?: readonly number[];
}

/** {@linkcode Scenario.differs} of operations that also have an async form. */
export const TRIES_AGAIN: string = "TypeScript tries once more before it " +
  "sleeps: its slow path serves the async form, too";

/** {@linkcode Scenario.differs} of reserve and peek. */
export const REMEMBERS: string = "a view in TypeScript remembers what it " +
  "reserved or peeked at, which C loads";

/** {@linkcode Scenario.differs} of memory that is freed. */
export const FREED_CONFIG: string = "C reads the configuration from the " +
  "memory that is freed, a view in TypeScript remembers it";

/** Milliseconds after which a blocking wait looks again. */
export const LOOKS = 1000;

/**
 * No call has twice this number of steps, if its agents are given turns.
 * Without a mistake, `explore.ts` shows that; a call with more of them never
 * ends.
 */
export const STEPS = 300;

/** How a mistake is looked for: it only has to be found. */
export const FINDING = {
  looks: LOOKS,
  polls: false,
  maxSteps: STEPS,
  lines: false,
  shorten: false,
  // No loop of a primitive is longer; each endless one has this number of
  // steps.
  spins: 5_000,
} as const;

/** The scenarios of a primitive. */
export type Scenarios = (weft: Weft) => Scenario[];

/** The scenarios of a folder. */
export async function scenariosIn(folder: string): Promise<Scenarios> {
  const file = "scenarios.ts";
  return (await load<{ scenarios: Scenarios }>(folder, file)).scenarios;
}

/**
 * Prepares an agent before it makes its view. The agent takes an identity of
 * its own, sleeps at once (no schedule is lost by that), and claims soon.
 */
export function enter(
  { mod, spin, utf8, turn, explored }: Modules,
  agent: number,
): void {
  mod.setAgentId(agent + 1);
  utf8.usage.buffers = false; // what they read could not be seen
  spin.spinning.rounds = spin.spinning.patience = 0;
  spin.spinning.tells = false; // agents stand still for any time
  turn.turn.period = Infinity; // its macrotasks are the platform's own
  tellNothing({ explored });
}

/**
 * The part of a specification by which each agent has a view of what its memory
 * begins with. `words` are the words of that, by their names.
 */
export function viewing<View>(
  weft: Modules,
  Class: new (memory: SharedArrayBuffer) => View,
  words: Readonly<Record<string, number>>,
): {
  readonly agent: (memory: SharedArrayBuffer, agent: number) => View;
  readonly words: Readonly<Record<string, number>>;
} {
  return {
    agent(memory, agent) {
      enter(weft, agent);
      return new Class(memory);
    },
    words: named(words),
  };
}

/**
 * The part of a specification by which each agent has modules of its own, and
 * they are fresh whenever its code runs again. `make` makes its handle.
 */
export function itsOwn<Handle>(
  weft: Weft,
  make: (modules: Modules, memory: SharedArrayBuffer, agent: number) => Handle,
): {
  readonly stateless: false;
  readonly agent: (memory: SharedArrayBuffer, agent: number) => Handle;
} {
  return {
    stateless: false, // a handle that outlives a run would meet later state
    agent: (memory, agent) => {
      const modules = weft.renewed(agent);
      enter(modules, agent);
      return make(modules, memory, agent);
    },
  };
}

/**
 * Keeps a copy of the library from telling the race tester about itself: the
 * tester then leaves its settings as they are, and a plain read of its words is
 * a hint only where a scenario says so.
 */
export function tellNothing<M extends Pick<Modules, "explored">>(copy: M): M {
  copy.explored.kept.length = 0;
  return copy;
}

/**
 * Gives back the memory of a primitive, `words` words, as an agent does that
 * knows that no other will begin an operation.
 */
export function giveBack(
  { buffer, byteOffset }: { buffer: SharedArrayBuffer; byteOffset: number },
  words: number,
): void {
  race.free(new Int32Array(buffer, byteOffset, words));
}

/** What agents do to a primitive that one of them frees. */
export interface Freed<View> {
  /** Makes the memory. */
  readonly memory: () => SharedArrayBuffer;
  readonly view: (memory: SharedArrayBuffer) => View;
  /** Its row of `LAYOUT`. */
  readonly row: Readonly<Record<string, number>>;
  readonly hints?: readonly (readonly [from: number, to: number])[];
  /** Whether a view remembers something. */
  readonly remembers?: boolean;
  /** Lets the other agent go. */
  readonly letGo: (view: View) => void;
  /** Why there are not as many states in C, if that is so. */
  readonly differs?: string;
  /** Waits for that; false if it may not free the memory. */
  readonly wait: (view: View) => boolean | void;
}

/**
 * Agent 1 lets agent 2 go, which gives the memory back at once: agent 1 must
 * use nothing after the step that let it go.
 */
export function freed<
  View extends { buffer: SharedArrayBuffer; byteOffset: number },
>(name: string, weft: Weft, what: Freed<View>): Scenario {
  const { memory, view, row, hints = [], remembers = false } = what;
  const { letGo, wait } = what;
  const spec = race.spec({
    memory,
    agent: (memory: SharedArrayBuffer, id: number) => {
      enter(weft, id);
      return view(memory);
    },
    words: named(row),
    hints,
    stateless: !remembers,
    ops: {
      letGo: { run: (view: View) => letGo(view) },
      waitAndFree: {
        run: (view: View) => {
          if (wait(view) !== false) giveBack(view, row.length!);
        },
      },
    },
  });
  const { differs } = what;
  return {
    name,
    spec,
    agents: [[["letGo"]], [["waitAndFree"]]],
    ...differs === undefined ? {} : { differs },
  };
}

/** What an operation returns in the scenarios if what it uses is closed. */
export const CLOSED = "closed";

/** What `operation` returns, or CLOSED if it throws a ClosedError. */
export const orClosed = <T>(
  { mod: { ClosedError } }: Weft,
  operation: () => T,
): T | typeof CLOSED => orSaid(operation, ClosedError, CLOSED);

/** What `operation` returns, or `word` if it throws an error of `Class`. */
export function orSaid<T, W extends string>(
  operation: () => T,
  Class: abstract new (...args: never[]) => Error,
  word: W,
): T | W {
  try {
    return operation();
  } catch (error) {
    if (error instanceof Class) return word;
    throw error;
  }
}

/** `words` as names with byte offsets, for the tables. */
export function named(
  words: Readonly<Record<string, number>>,
  byteOffset = 0,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(words).filter(([name]) => name !== "length")
      .map(([name, index]) => [name, byteOffset + index * 4]),
  );
}

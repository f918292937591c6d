import { load } from "./folders.ts";
import type { CallTuple, Options, Spec } from "../../race/mod.ts";

/** The modules of the library. */
export interface Modules {
  /** Its `mod.ts`. */
  readonly mod: typeof import("../../mod.ts");
  /** Its `_spin.ts`. */
  readonly spin: typeof import("../../primitives/_spin.ts");
  /** Its `_utf8.ts`. */
  readonly utf8: typeof import("../../primitives/_utf8.ts");
  /** Its `_turn.ts`. */
  readonly turn: typeof import("../../primitives/_turn.ts");
  /** What the agents of a pool share. */
  readonly pool: typeof import("../pool/parts.ts");
  /** Its `deadlocks.ts`. */
  readonly deadlocks: typeof import("../../primitives/deadlocks.ts");
}

/** Where these modules are. */
export const MODULES: Record<keyof Modules, URL> = {
  mod: new URL("../../mod.ts", import.meta.url),
  spin: new URL("../../primitives/_spin.ts", import.meta.url),
  utf8: new URL("../../primitives/_utf8.ts", import.meta.url),
  turn: new URL("../../primitives/_turn.ts", import.meta.url),
  pool: new URL("../pool/parts.ts", import.meta.url),
  deadlocks: new URL("../../primitives/deadlocks.ts", import.meta.url),
};

/** The modules under test: the library's own, or mutants of them. */
export interface Weft extends Modules {
  /**
   * Fresh modules, because async forms keep their queues and timers in a
   * module.
   */
  readonly realm: () => Modules;
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
  /** Explored only by `deno task race --deep`. */
  readonly deep?: boolean;
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

/** Milliseconds after which a blocking wait looks again. */
export const LOOKS = 1000;

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
  { mod, spin, utf8, turn }: Modules,
  agent: number,
): void {
  mod.setAgentId(agent + 1);
  utf8.usage.buffers = false; // what they read could not be seen
  spin.spinning.rounds = spin.spinning.patience = 0;
  spin.spinning.tells = false; // agents stand still for any time
  turn.turn.period = Infinity; // its macrotasks are the platform's own
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

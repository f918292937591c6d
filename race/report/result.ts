/**
 * The options and the results of an exploration.
 *
 * @module
 */
import type { FailureKind } from "../engine/kinds.ts";
import type { Call } from "../engine/model.ts";

/** How to explore. */
export interface Options {
  /** Every operation must be lock-free. */
  readonly progress?: "lock-free" | undefined;
  /** Any one agent may be terminated, at any step. */
  readonly kill?: boolean | undefined;
  /** Sleeps may end without a reason, this often at most; `true`: once. */
  readonly spurious?: boolean | number | undefined;
  /** Timed waits may time out at any step, this often; `true`: twice. */
  readonly timeouts?: boolean | number | undefined;
  /** States to look at before sampling instead; 200,000 unless given. */
  readonly states?: number | undefined;
  /** Executions to sample where there are more states; 300 unless given. */
  readonly runs?: number | undefined;
  /** Where the samples begin. */
  readonly seed?: number | undefined;
  /** Milliseconds to search, and then to sample, at most; 20,000. */
  readonly time?: number | undefined;
  /** `false`: data races are not looked for. */
  readonly races?: boolean | undefined;
  /** A timeout may make a lost wake-up good. */
  readonly rescue?: boolean | undefined;
  /**
   * Milliseconds of a blocking sleep that does not end a wait, but only looks
   * again: where no model tells, such a sleep is held to have no end.
   */
  readonly looks?: number | undefined;
  /**
   * `false`: an agent that must wait has to sleep. One that goes round for ever
   * instead is a livelock, even if the model says that its operation may wait.
   */
  readonly polls?: boolean | undefined;
  /**
   * Steps in one operation after which the others must have had their turns:
   * if it then does not end in twice as many, it is a livelock; 1,000.
   */
  readonly maxSteps?: number | undefined;
  /** `false`: steps that commute are explored in every order all the same. */
  readonly reduce?: boolean | undefined;
  /** With `race.replay`: explore what can follow the schedule. */
  readonly then?: "explore" | undefined;
  /**
   * Operations after which a loop that sees nothing new is held to have no
   * end; 100,000. A loop that ends sooner is explored beyond its end.
   */
  readonly spins?: number | undefined;
}

/** Something wrong with the code under test, and the interleaving. */
export interface Failure {
  /** What sort of thing is wrong. */
  readonly kind: FailureKind;
  /** What is wrong. */
  readonly message: string;
  /** The interleaving: a column an agent, a row a step. */
  readonly table: string;
  /** The interleaving for `race.replay`. */
  readonly schedule: string;
  /** The interleaving as a picture. */
  svg(): string;
  /** The interleaving as a page that stands alone. */
  page(): string;
}

/** What an exploration found. */
export interface Result {
  /** Nothing is wrong, as far as was looked. */
  readonly ok: boolean;
  /** Every interleaving was covered. */
  readonly complete: boolean;
  /** States that were looked at. */
  readonly states: number;
  /** Executions that came to their end. */
  readonly executions: number;
  /** Steps that were taken. */
  readonly steps: number;
  /** Own steps of one operation, at most. */
  readonly maxOpSteps: number;
  /** How far was looked, as text. */
  readonly summary: string;
  /** The interleaving, where one was asked for. */
  readonly table?: string;
  /** What is wrong. */
  readonly failure?: Failure;
}

/** A program: the calls of each agent. */
export type Program = readonly (readonly Call[])[];

/**
 * What watches the machine: the judge of a model, and a search for data races.
 *
 * @module
 */
import type { Agent } from "./agent/agent.ts";
import type { Call } from "../model.ts";

/** Judges whether the model explains the answers of calls. */
export interface Monitor {
  /** The frontier before anything happened. */
  initial(): number;
  /** The frontier after `agent` began `call`. */
  invoke(frontier: number, agent: number, call: Call): number;
  /** The frontier after `agent`'s call answered `result`, or -1. */
  answer(frontier: number, agent: number, result: unknown): number;
  /** Whether the agents `asleep` may sleep for ever. */
  mayWait(
    frontier: number,
    asleep: readonly Sleeper[],
    suspended: number,
  ): boolean;
  /** The frontier in which the agents have the places that `order` gives. */
  arrange(frontier: number, order: readonly number[]): number;
  /** Whether agents wait for an agent that has stopped and holds them up. */
  heldUp(
    frontier: number,
    asleep: readonly Sleeper[],
    stopped: readonly Course[],
    others: readonly Course[],
  ): boolean;
  /** Whether a sleeper was excused that must be judged again. */
  regrets(): boolean;
  /** The states the model could be in, as text. */
  explain(frontier: number): string;
  /** The answers that the pending call of `agent` could give, as text. */
  allowed(frontier: number, agent: number): string;
}

/** What the judge must know about an agent that waits. */
export interface Sleeper {
  readonly agent: number;
  /** Whether its wait ends by itself after some time. */
  readonly timed: boolean;
}

/** An agent, and some calls of its program in order. */
export interface Course {
  readonly agent: number;
  readonly calls: readonly Call[];
  /** Whether the first of the calls has begun. */
  readonly begun: boolean;
}

/** Looks for data races among the operations of one execution. */
export interface RaceWatch {
  /** Prepares for the next execution. */
  reset(): void;
  /** Notes an operation. If it races with another, says with which. */
  access(agent: Agent, write: boolean): string | undefined;
  /** `woken` has been notified by `agent`. */
  wake(agent: Agent, woken: Agent): void;
  /** What `agent` knows as it posts a message. */
  send(agent: Agent): Int32Array;
  /** A message arrives at `agent` whose sender knew this. */
  receive(agent: Agent, clock: Int32Array): void;
}

/**
 * Runs a call of an agent, alone and without effect, with answers that are made
 * up.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Snapshot } from "../state/agent/snapshot.ts";
import * as k from "../kinds.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** An operation that an agent is about to do. */
export interface Pending {
  readonly kind: number;
  readonly address: number;
  readonly size: number;
  readonly a: Any;
  readonly b: Any;
  readonly timeout: number;
}

/** A call that is run with made-up answers. */
export interface Walk {
  /**
   * The answer of an operation. `undefined` is an answer; `STOP` ends the walk.
   */
  answer(operation: Pending): Any;
  /** Whether it answers looks at the clock, too. */
  readonly clocked: boolean;
  /** Whether it answers accesses by `DataView`: no such answer is made up. */
  readonly cells: boolean;
  /** Where the walk stopped. */
  stopped: Pending | null;
  /** What the call returned, if it did. */
  result: unknown;
  /** Whether it returned, threw, or did something that cannot be made up. */
  end: "" | "returned" | "threw" | "left";
}

/** Ends a walk. */
export const STOP: unique symbol = Symbol("stop");

/** The parts of the engine that are needed to let an agent walk. */
export interface Walker {
  /** The walk of the agent on the stack, if it walks. */
  walk: Walk | null;
  /** The agent on the stack. */
  current: Agent | null;
  /** Whether a token is being thrown through the agent's frames. */
  unwinding: boolean;
  /** Prepares the agent for a replay. */
  rewind(agent: Agent): void;
  /** Runs an agent from where its record begins. */
  run(agent: Agent): void;
  /** Suspends the agent on the stack. */
  suspend(): unknown;
}

/** Lets an agent walk from the state `from`, in which a call begins. */
export function walk(
  engine: Walker,
  agent: Agent,
  from: Snapshot,
  answer: (operation: Pending) => Any,
  clocked = false,
  cells = false,
): Walk {
  const present = agent.save();
  const { pos, drawn, begun, allocations } = agent;
  const { depth, within, wholes, going, dropped, entered, keeper } = agent;
  const drew = { pos, drawn, begun, allocations };
  const inside = { depth, within, wholes, going, dropped, entered, keeper };
  const here = { ...drew, ...inside };
  const { current, unwinding } = engine;
  const walk: Walk = {
    answer,
    clocked,
    cells,
    stopped: null,
    result: undefined,
    end: "",
  };
  agent.load(from);
  engine.walk = walk;
  engine.current = agent;
  engine.unwinding = false;
  engine.rewind(agent);
  try {
    engine.run(agent);
  } catch {
    if (!engine.unwinding) walk.end = "threw";
  } finally {
    engine.walk = null;
    engine.current = current;
    engine.unwinding = unwinding;
    agent.snapshot = null; // the walk has changed it, also if it is `present`
    agent.load(present);
    Object.assign(agent, here);
  }
  return walk;
}

/** Does an operation of an agent that walks. */
export function step(engine: Walker, agent: Agent): Any {
  const walk = engine.walk!;
  const { kind, address, size, a, b, timeout } = agent;
  const odd = kind === k.CLOCK && !walk.clocked || kind === k.WAIT_ASYNC ||
    !walk.cells && agent.target?.name.endsWith("DataView");
  if (odd) leave(engine);
  const operation = { kind, address, size, a, b, timeout };
  const result = walk.answer(operation);
  if (result !== STOP) return result;
  walk.stopped = operation;
  throw engine.suspend();
}

/** Ends a walk that came to something that no answer can be made up for. */
export function leave(engine: Walker): never {
  engine.walk!.end = "left";
  throw engine.suspend();
}

/**
 * Agents' handles. `agent()` runs before the exploration, on the memory as it
 * is then. When an agent's code is run again, its handle is made again, and
 * what `agent()` reads gives the same answers as the first time.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import { callText, execute, signature } from "../state/agent/operation.ts";
import * as k from "../kinds.ts";
import { native } from "../platform/native.ts";
import type { Memory, Scenario } from "../scenario.ts";
import { StatefulHandle } from "../signals.ts";
import { keyOf } from "../values.ts";
import { type Args, type Target, targetOf } from "../platform/views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/**
 * The parts of the engine that are needed to make handles and compare calls.
 */
export interface Caller {
  readonly scenario: Scenario;
  readonly memory: Memory;
  /** The agent on the stack. */
  current: Agent | null;
  /** Whether a token is being thrown through the agent's frames. */
  unwinding: boolean;
  /** Calls that did the same with a fresh handle. */
  readonly verified: Set<string>;
  /** Whether a call is being compared with its record. */
  verifying: boolean;
  /** Calls an operation. */
  call(agent: Agent, handle: Any, at: number): unknown;
  /** Ends the exploration, because the code cannot be simulated. */
  refuse(message: string): never;
}

/** Makes the handles of an engine's agents. */
export class Handles {
  readonly #engine: Caller;
  readonly #first: Any[] = [];
  #agent: Agent | null = null;
  #at = 0;

  /** Makes the handles of the agents of `engine`. */
  constructor(engine: Caller) {
    this.#engine = engine;
  }

  /** Whether a handle is being made. */
  get making(): boolean {
    return this.#agent !== null;
  }

  /** Makes an agent's handle for the first time. */
  first(agent: Agent): void {
    this.#first[agent.id] = this.make(agent);
    agent.setupDone = true;
  }

  /**
   * The handle for a replay. It is a fresh one, unless handles have no state.
   */
  of(agent: Agent): Any {
    const { stateless } = this.#engine.scenario;
    return stateless === true ? this.#first[agent.id] : this.make(agent);
  }

  /** Makes an agent's handle. */
  make(agent: Agent): Any {
    const engine = this.#engine;
    const { current } = engine;
    engine.current = this.#agent = agent;
    this.#at =
      agent.viewsMade =
      agent.channelsMade =
      agent.allocations =
        0;
    agent.identity = { id: agent.id + 1 };
    agent.runs++;
    try {
      return engine.scenario.agent(engine.memory, agent.id);
    } finally {
      this.#agent = null;
      engine.current = current;
    }
  }

  /**
   * The stand-in for a view. Stand-ins that a handle is made of are kept, so
   * that a handle that is made again consists of the same objects.
   */
  keep(view: Any, make: (view: Any) => Any, args: Args | null): Any {
    const agent = this.#agent;
    if (agent === null) return make(view);
    const at = agent.viewsMade++;
    agent.viewArgs[at] = args;
    const known = agent.views[at];
    if (known !== undefined) {
      const { view: old } = targetOf(known)!;
      if (
        old.buffer === view.buffer && old.byteOffset === view.byteOffset &&
        old.length === view.length && old.constructor === view.constructor
      ) return known;
    }
    return agent.views[at] = make(view);
  }

  /** The stand-in that is kept, if the next view has the same `args`. */
  kept(real: Any, buffer: Any, offset: Any, length: Any): Any {
    const agent = this.#agent;
    const args = agent?.viewArgs[agent.viewsMade];
    if (
      args == null || args[1] !== buffer || args[2] !== offset ||
      args[3] !== length || args[0] !== real
    ) return undefined;
    return agent!.views[agent!.viewsMade++];
  }

  /** Does an operation in `agent()`. No other agent can step in there. */
  operate(
    kind: number,
    target: Target | null,
    index: number,
    a: Any,
    b: Any,
    timeout: number,
  ): Any {
    const agent = this.#agent!;
    const at = this.#at++;
    if (kind === k.CLOCK || kind === k.NOTIFY) return 0;
    const sign = signature(kind, target!.base + index * target!.size);
    if (agent.setupDone) {
      if (agent.setupSig[at] !== sign) {
        this.#engine.refuse(
          "agent() must do the same each time it is called",
        );
      }
      return agent.setupRes[at];
    }
    const result = kind === k.WAIT
      ? this.#wait(native.load(target!.view, index) !== a, timeout)
      : execute(kind, target!.view, index, a, b);
    agent.setupSig[at] = sign;
    agent.setupRes[at] = result;
    return result;
  }

  #wait(differs: boolean, timeout: number): string {
    if (differs) return "not-equal";
    if (timeout <= 0) return "timed-out";
    return this.#engine.refuse("agent() must not wait: do it in an operation");
  }
}

/**
 * Whether the call that has returned would have done the same with a fresh
 * handle. If not, handles have state. Then a state must include everything an
 * agent has seen, not only what it saw in its current call.
 */
export function verify(
  engine: Caller & { readonly handles: Handles },
  agent: Agent,
  result: unknown,
): void {
  const { oi, from, n, pos, drawn, begun, allocations, h1, h2 } = agent;
  if (oi === 0) return;
  const key = `${agent.id} ${callText(agent.call)} ${h1} ${h2}`;
  if (engine.verified.has(key)) return;
  let same = false;
  engine.verifying = true;
  try {
    const handle = engine.handles.make(agent);
    agent.pos = from;
    const again = engine.call(agent, handle, oi);
    same = engine.verifying && agent.pos === n &&
      keyOf(again) === keyOf(result);
  } catch {
    // The call did something else.
  } finally {
    engine.verifying = false;
    engine.unwinding = false;
    Object.assign(agent, { pos, drawn, begun, allocations });
  }
  if (!same) {
    engine.scenario.stateless = false;
    throw new StatefulHandle();
  }
  engine.verified.add(key);
}

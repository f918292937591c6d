/**
 * Runs agents for a search, and keeps their frames on the stack. A suspended
 * agent usually throws a token, and is run again from its start to go on. But
 * most often a search next wants an agent to go on from the state in which it
 * has just stopped. So an agent stops without leaving the stack: its operation
 * calls the search, which runs on top of it. If the search then wants this
 * agent to go on from this state, the operation returns. Other agents run on
 * top of it, too. They leave the stack before it goes on.
 *
 * A record says that it is this state: an agent's frames depend on nothing but
 * the answers that it got. Code that keeps something in a module breaks that
 * rule, and two agents on the stack at once may meet there. So what an agent
 * did on the stack is compared with replays from the start, as replays are
 * compared with each other. If they differ, the exploration begins again and
 * keeps no frames.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Call } from "../model.ts";
import type { Job } from "../state/agent/memo.ts";

/** An agent that is suspended on the stack, and what it had seen by then. */
interface Paused {
  readonly agent: Agent;
  readonly runs: number;
  readonly calls: readonly Call[];
  readonly first: number;
  readonly n: number;
  readonly res: readonly unknown[];
  readonly sig: readonly number[];
  readonly args: readonly number[];
}

/** The most agents that are suspended on the stack. */
const MOST = 8;

/** What runs agents. */
interface Runner {
  readonly job: Job | null;
  /** Runs an agent until it is suspended, perhaps without leaving the stack. */
  activate(agent: Agent, stage: Stage<unknown> | null): void;
}

/** A search, and the agents on the stack. */
export class Stage<T> {
  /** Whether the agent that left the stack last had been suspended before. */
  left = false;
  readonly #engine: Runner;
  readonly #steps: Generator<Agent, T, void>;
  readonly #paused: Paused[] = [];
  /** The agent that must be run; `null` if the search must say which. */
  #next: Agent | null = null;
  /** What an agent's run threw, in an array. */
  #thrown: unknown[] = [];
  /** What the search returned or threw, once it has ended. */
  #end: { readonly result: T } | { readonly error: unknown } | null = null;

  /** Prepares for the search `steps`, which yields agents that must be run. */
  constructor(engine: Runner, steps: Generator<Agent, T, void>) {
    this.#engine = engine;
    this.#steps = steps;
  }

  /** Runs the search to its end. */
  play(): T {
    this.#goOn(null);
    const end = this.#end!;
    if ("error" in end) throw end.error;
    return end.result;
  }

  /**
   * Goes on with the search while `agent` stays suspended on the stack. Returns
   * whether the agent goes on; otherwise it must leave the stack.
   */
  pause(agent: Agent): boolean {
    const { runs, calls, first, n, res, sig, args } = agent;
    const paused = { agent, runs, calls, first, n, res, sig, args };
    this.#paused.push(paused);
    const goesOn = this.#goOn(paused);
    this.#paused.pop();
    this.left = !goesOn;
    return goesOn;
  }

  /**
   * Runs agents until the one on top of the stack, `top`, goes on or must leave
   * it.
   */
  #goOn(top: Paused | null): boolean {
    for (;;) {
      if (this.#end === null && this.#next === null) this.#ask();
      if (this.#end !== null) return false;
      const agent = this.#next!;
      const paused = this.#pausedHere(agent);
      const full = this.#paused.length === MOST;
      if (top !== null && (paused === top || paused !== undefined || full)) {
        if (paused === top) this.#next = null;
        return paused === top;
      }
      this.#next = null;
      this.left = false;
      try {
        this.#engine.activate(agent, this);
      } catch (error) {
        this.#thrown = [error];
      }
    }
  }

  /** Asks the search which agent must be run. */
  #ask(): void {
    const thrown = this.#thrown;
    this.#thrown = [];
    try {
      // Whoever asked for the run may know what to do about an error.
      const { done, value } = thrown.length > 0
        ? this.#steps.throw(thrown[0])
        : this.#steps.next();
      if (done === true) this.#end = { result: value };
      else this.#next = value;
    } catch (error) {
      this.#end = { error };
    }
  }

  /** The agent as it is suspended on the stack, if it can go on from there. */
  #pausedHere(agent: Agent): Paused | undefined {
    // To check what it did before, it must be run from its start.
    if (this.#engine.job?.edge !== undefined) return undefined;
    const paused = this.#paused.findLast((one) => one.agent === agent);
    return paused !== undefined && isHere(paused) ? paused : undefined;
  }
}

/** Whether a suspended agent is where its record ends, or on the way there. */
function isHere({ agent, ...was }: Paused): boolean {
  const { runs, calls, first, n, res, sig, args } = agent;
  if (runs !== was.runs || calls !== was.calls) return false;
  if (first !== was.first || n < was.n) return false;
  if (res === was.res) return true;
  for (let i = was.n - 1; i >= 0; i--) {
    if (!Object.is(res[i], was.res[i])) return false;
    if (sig[i] !== was.sig[i] || args[i] !== was.args[i]) return false;
  }
  return true;
}

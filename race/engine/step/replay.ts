/**
 * The engine. A simulated agent is an ordinary function call. To suspend it,
 * the engine throws a token out of an operation on shared memory. To resume it,
 * the engine calls the function again, and the recorded operations give the
 * answers they gave before. So any code runs unmodified. To return to an
 * earlier state, the engine cuts a record short and restores a few words.
 *
 * @module
 */
import { Agent } from "../state/agent/agent.ts";
import { Handles, verify } from "./handles.ts";
import { Misuse } from "../kinds.ts";
import { I32, isShared } from "../platform/native.ts";
import { type Memory, RECOVER, type Scenario } from "../scenario.ts";
import { install } from "../platform/shim.ts";
import {
  isThenable,
  NeedsAsync,
  NotConstant,
  StatefulHandle,
  TOKEN,
} from "../signals.ts";
import { goOn, mustGoOn } from "./loops/alone.ts";
import { bits, bits2, mix1, mix2, show } from "../values.ts";
import { Target } from "../platform/views.ts";
import type { Stage } from "./stage.ts";
import { CONSTANTS } from "./operations.ts";
import { Services } from "./services.ts";
import * as k from "../kinds.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** What a specification's memory shares. */
function bufferOf(memory: Any): SharedArrayBuffer {
  if (isShared(memory)) return memory;
  const shares = isShared(memory?.buffer);
  const tag = Object.prototype.toString.call(memory);
  if (shares && tag === "[object WebAssembly.Memory]") return memory.buffer;
  // Agents that share a view or a handle share what it keeps outside memory.
  throw new TypeError(
    "memory() must return a SharedArrayBuffer or a shared WebAssembly.Memory," +
      ` not ${memory?.constructor?.name ?? show(memory)}` +
      (shares
        ? "; return its buffer, from which each agent makes its own"
        : ""),
  );
}

/** A part of the explorer's work; it yields agents that must be run. */
export type Steps<T> = Generator<Agent, T, void>;

/** Runs the agents of one scenario. */
export class Engine extends Services {
  readonly memory: Memory;
  readonly handles: Handles;
  readonly recoverer: Agent | null = null;
  /** A word of no agent. It is read in calls that do nothing else. */
  #nowhere: Target | null = null;

  /** An engine for `count` agents; puts the stand-ins in place. */
  constructor(
    scenario: Scenario,
    count: number,
    looks: number | undefined,
    mayKill: boolean,
  ) {
    super(scenario, count, mayKill);
    const { world } = this;
    this.looks = looks;
    install(this);
    this.handles = new Handles(this);
    this.memory = scenario.memory();
    const main = world.memory.main = world.memory.add(bufferOf(this.memory));
    const total = scenario.recover === null ? count : count + 1;
    for (let id = 0; id < total; id++) world.agents.push(new Agent(id, total));
    if (total > count) this.recoverer = world.agents[count]!;
    for (const agent of world.agents) {
      this.handles.first(agent);
    }
    for (const [name, offset] of Object.entries(scenario.words)) {
      world.memory.names.set(main.base + offset, name);
    }
    const { regions } = world.memory;
    if (regions.some(({ buffer, bytes }) => buffer.byteLength > bytes.length)) {
      this.refuse(
        "Cannot explore memory that grows after memory() or agent() has made " +
          "a view of it: let it grow before",
      );
    }
    if (scenario.model !== null) {
      const view = new I32(new SharedArrayBuffer(4));
      this.#nowhere = new Target(this, view, world.memory.idle(view.buffer));
    }
    world.memory.freeze();
    this.setting = false;
  }

  /** Prepares the agent for a replay. */
  rewind(agent: Agent): void {
    agent.runs++;
    agent.pos =
      agent.drawn =
      agent.begun =
      agent.allocations =
      agent.depth =
      agent.wholes =
        0;
    agent.going = false;
    agent.dropped =
      agent.merged =
      agent.returned =
      agent.entered =
        -1;
  }

  /** Calls an operation; what it returns may be a promise. */
  call(agent: Agent, handle: Any, at: number): unknown {
    const { op, arg } = agent.calls[at]!;
    const { operations, recover } = this.scenario;
    agent.begun = at;
    agent.allocations = 0;
    this.idle = true;
    this.constant = null;
    const result = op === RECOVER && agent === this.recoverer
      ? recover!(handle, arg as number)
      : operations.get(op)!.run(handle, arg, agent.id);
    if (this.idle && !isThenable(result)) this.idles(agent);
    return result;
  }

  /**
   * Ends a call that did nothing, or only read constants, by a step that does
   * nothing. Its model may still care when the call was made.
   */
  idles(agent: Agent): void {
    const nowhere = agent === this.recoverer ? null : this.#nowhere;
    const { target, index } = this.constant ?? { target: nowhere, index: 0 };
    if (target === null) return;
    this.constants = CONSTANTS;
    this.operate(k.READ, target, index, 0, 0, 0);
  }

  /** Runs an agent from where its record begins. */
  run(agent: Agent): void {
    const outer = this.runNow;
    try {
      this.runCalls(agent, this.handles.of(agent));
    } finally {
      this.runNow = outer;
    }
  }

  /** Runs them with a handle; `sites.ts` knows it by its name. */
  runCalls(agent: Agent, handle: Any): void {
    this.runNow = agent.runs;
    for (let at = agent.first; at < agent.calls.length; at++) {
      const result = this.call(agent, handle, at);
      if (isThenable(result)) {
        result.then(undefined, () => {});
        this.promised = true;
        throw this.suspend();
      }
      // Code under test may have caught the token.
      if (this.unwinding) throw TOKEN;
      if (at !== agent.oi) continue;
      if (this.walk !== null) {
        this.walk.end = "returned";
        this.walk.result = result;
        return;
      }
      if (this.look !== null || this.alone !== null) return;
      this.finishCall(agent, result);
    }
  }

  /** Ends the agent's current call, which has returned. */
  finishCall(agent: Agent, result: unknown): void {
    const { world, scenario } = this;
    if (this.blind && (agent.pos < agent.n || this.performed)) {
      this.strayed = `${agent.n - agent.pos} ${this.performed} ${show(result)}`;
      world.fail("nondeterministic", "the call ends before its record does");
      throw this.suspend();
    }
    if (scenario.stateless === undefined) verify(this, agent, result);
    const recovered = agent === this.recoverer;
    const { steps } = agent;
    const answer = recovered ? undefined : result;
    world.end(agent, answer);
    this.ended.push({ result: answer, steps });
    agent.idleFires = 0;
    agent.h1 = mix1(agent.h1, 77777 + bits(result));
    agent.h2 = mix2(agent.h2, 77777 + bits2(result));
    agent.from = agent.n;
    if (!scenario.async) this.forgetCalls(agent);
    if (world.fault === null) this.checkInvariant();
    if (world.fault !== null) throw this.suspend();
  }

  /**
   * Forgets what an agent has seen in the calls that have returned, if handles
   * have no state and its event loop is empty: what is there may use it. No
   * reaction of a promise is left to run.
   */
  forgetCalls(agent: Agent): void {
    const { stateless } = this.scenario;
    const { id, inbox, timers, open } = agent;
    if (stateless === false) return;
    if (inbox.length + timers.length + open.length > 0) return;
    if (this.world.waiters.some(({ agent }) => agent === id)) return;
    const isReal = this.forced === null && !this.blind;
    if (isReal && agent !== this.recoverer) this.between.note(agent);
    agent.betweenCalls();
    if (stateless === true) agent.forget();
  }

  /** Checks the invariant, if no agent is inside a call. */
  checkInvariant(): void {
    const { world, scenario: { invariant }, recoverer } = this;
    if (invariant === null || this.forced !== null) return;
    for (const { invoked, status } of world.agents) {
      if (invoked && status !== k.KILLED) return;
    }
    if (recoverer !== null && recoverer.oi < recoverer.calls.length) return;
    const wrong = this.unwatched(() => invariant(this.memory));
    if (wrong === undefined) return;
    world.fail("invariant", wrong.message, wrong.cause);
  }

  /** The same as `wrongBy`, and no agent is told of what the check does. */
  unwatched(check: () => unknown): Wrong | undefined {
    const { current } = this;
    this.current = null;
    try {
      return wrongBy(check);
    } finally {
      this.current = current;
    }
  }

  /**
   * Runs an agent until it is suspended; with a `stage`, perhaps without
   * leaving the stack.
   */
  activate(agent: Agent, stage: Stage<unknown> | null = null): void {
    this.stage = stage;
    this.current = agent;
    this.unwinding = false;
    this.promised = false;
    this.constants = 0;
    this.ports.clear();
    agent.snapshot = null;
    this.rewind(agent);
    try {
      this.run(agent);
      agent.status = k.DONE;
    } catch (error) {
      if (error instanceof StatefulHandle) throw error;
      if (!this.unwinding) this.threw(agent, error);
    } finally {
      this.current = null;
      this.unwinding = false;
      this.stage = null;
    }
    if (stage?.left === true) return; // what follows was done as it paused
    const { fault } = this.world;
    if (stage !== null && fault?.kind === "nondeterministic") {
      this.doubtStacks();
    }
    if (!this.blind && mustGoOn(this, agent)) this.#goOn(agent);
    if (this.refused !== null) throw this.refused;
    const { memory } = this.world;
    if (memory.surprised) {
      memory.surprised = false;
      throw new NotConstant();
    }
    if (this.promised) throw new NeedsAsync();
  }

  /** Runs an agent on, alone and without effect. */
  #goOn(agent: Agent): void {
    const restore = goOn(this, agent);
    const alone = this.alone!;
    this.current = agent;
    this.rewind(agent);
    try {
      this.run(agent);
      alone.ended = true;
    } catch {
      if (!this.unwinding) alone.ended = true;
    } finally {
      this.current = null;
      this.unwinding = false;
      restore();
    }
  }
}

/** What a check says, and the error that it threw or returned. */
export interface Wrong {
  readonly message: string;
  readonly cause?: unknown;
}

/** Runs a check that the user wrote; returns what is wrong, if anything. */
export function wrongBy(check: () => unknown): Wrong | undefined {
  try {
    const said = check();
    if (isThenable(said)) {
      said.then(undefined, () => {});
      throw new Misuse(
        "invariant(), final() and after() must not be asynchronous: they " +
          "throw, or return what is wrong",
      );
    }
    if (said === false) return { message: "the check returned false" };
    if (said instanceof Error) return wrongAs(said);
    return typeof said === "string" && said !== ""
      ? { message: said }
      : undefined;
  } catch (error) {
    if (error instanceof Misuse) throw error;
    return wrongAs(error);
  }
}

function wrongAs(cause: unknown): Wrong {
  const message = cause instanceof Error
    ? cause.message || `${cause}`
    : typeof cause === "object"
    ? show(cause)
    : String(cause);
  return { message, cause };
}

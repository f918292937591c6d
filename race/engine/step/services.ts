/**
 * What the platform does for agents, which its stand-ins ask the engine for:
 * memory, random numbers, timers, an event loop, ports and workers.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import { callText } from "../state/agent/operation.ts";
import { Misuse, Unsupported } from "../kinds.ts";
import type { Region } from "../region.ts";
import { TOKEN } from "../signals.ts";
import { stackOf, unfit } from "../sites.ts";
import { closePort, newChannel, openPort, send, take } from "../state/post.ts";
import { freshPort, type PortState } from "../platform/office.ts";
import {
  clearTimer,
  post,
  setTimer,
  unpost,
  waitAsync,
} from "../state/timers.ts";
import { Chance } from "./chance.ts";
import type { Args, Host, Target } from "../platform/views.ts";
import { Operations } from "./operations.ts";
import * as k from "../kinds.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** An exploration that serves the stand-ins of the platform. */
export abstract class Services extends Operations implements Host {
  readonly #chance = new Chance(this);

  /** Whether an agent is on the stack. */
  get running(): boolean {
    return this.current !== null;
  }

  /** The simulated memory that `buffer` stands for. */
  region(buffer: SharedArrayBuffer): Region {
    return this.world.memory.add(buffer);
  }

  /** Has agents leave the stack whenever they are suspended. */
  leaveStacks(): void {
    this.keepsStacks = false;
  }

  /** Reports an access beyond the end of a view. */
  outside(target: Target, index: unknown, what: string): void {
    if (!this.#isReal("Beyond the end of a view")) return;
    const { id } = this.current!;
    this.world.fail(
      "out-of-bounds",
      `agent ${id}: ${what} of element ${String(index)} of a ${target.name} ` +
        `of ${target.view.length}`,
    );
    throw this.suspend();
  }

  /** Refuses an access, unless the agent on the stack is only tried out. */
  refuseAccess(message: string): void {
    if (this.#isReal(message)) this.refuse(message);
  }

  /** Whether a mistake is one of the program: agents are tried out, too. */
  #isReal(message: string): boolean {
    if (this.unwinding) throw TOKEN;
    if (this.handles.making || this.look !== null) return false;
    if (this.walk !== null) throw new RangeError(message);
    if (this.alone === null) return true;
    this.alone.ended = true;
    throw this.suspend();
  }

  /** Allocates memory for the agent on the stack; each replay gets the same. */
  allocate(byteLength: Any, options: Any): SharedArrayBuffer {
    return this.#chance.allocate(byteLength, options);
  }

  /** A random number that depends only on the agent's past. */
  random(): number {
    return this.#chance.random();
  }

  /** The same for `Math.random`. */
  chance(): number {
    return this.#chance.chance();
  }

  /** The stand-in for a view. */
  keep(view: Any, make: (view: Any) => Any, args: Args | null): Any {
    return this.handles.keep(view, make, args);
  }

  /** The stand-in that is kept, if a handle's next view has the same `args`. */
  kept(...[real, buffer, offset, length]: Args): Any {
    return this.handles.kept(real, buffer, offset, length);
  }

  /** The worker that an address stands for, if there is one. */
  hire(url: string): Any {
    return this.scenario.hire?.(url);
  }

  /** Does a `waitAsync` of the agent on the stack. */
  waitAsync(target: Target, index: number, value: Any, timeout: number): Any {
    return waitAsync(this, target, index, value, timeout);
  }

  /** Notes that the agent on the stack needs an event loop. */
  needAsync(): void {
    if (this.scenario.async || this.handles.making) return;
    this.promised = true;
    throw this.suspend();
  }

  /** Sets a timer of the agent on the stack. */
  setTimer(fn: () => void, delay: number, repeat: boolean): Any {
    return setTimer(this, fn, delay, repeat);
  }

  /** Clears a timer of the agent on the stack. */
  clearTimer(timer: Any): void {
    clearTimer(this, timer);
  }

  /** Posts `fn` to the event loop of the agent on the stack. */
  post(fn: () => void): number {
    return post(this, fn);
  }

  /** Removes a posted function. */
  unpost(id: number): void {
    unpost(this, id);
  }

  /** What the agent on the stack has done with a port. */
  portState(port: number): PortState {
    let state = this.ports.get(port);
    if (state === undefined) this.ports.set(port, state = freshPort());
    return state;
  }

  /** The number of a new channel. */
  newChannel(): number {
    return newChannel(this);
  }

  /** Gives a port a name for reports. */
  namePort(port: number, name: string): void {
    this.world.mail.rename(port, name);
  }

  /** Posts data to a port. */
  send(to: number, key: string, data: Any, ports: number[]): void {
    send(this, to, key, data, ports);
  }

  /** The next message to a port, in an object; undefined if there is none. */
  take(port: number): Any {
    return take(this, port);
  }

  /** Lets messages arrive at a port from now on. */
  openPort(port: number): void {
    openPort(this, port);
  }

  /** Lets no more messages arrive at a port. */
  closePort(port: number): void {
    closePort(this, port);
  }

  /** Calls a function of the agent that the platform would call. */
  guard(fn: () => unknown): void {
    const agent = this.current;
    if (agent === null || this.unwinding) return;
    try {
      fn();
    } catch (error) {
      if (this.unwinding) return;
      if (this.look !== null) this.look.escaped = true;
      else if (this.alone !== null) this.alone.ended = true;
      else this.threw(agent, error);
      this.suspend();
    }
  }

  /** Handles an error that an operation threw. */
  threw(agent: Agent, error: unknown): void {
    agent.snapshot = null;
    agent.status = k.DONE;
    if (error instanceof Misuse) this.refused ??= error;
    const why = unfit(error);
    if (why !== undefined) this.refused ??= new Unsupported(why);
    this.world.fail(
      "exception",
      `agent ${agent.id} threw in ${callText(agent.told)}: ${stackOf(error)}`,
      error,
    );
  }
}

/**
 * What primitives in the code under test tell an exploration of themselves, and
 * what it makes of that: which operations are one step, what agents keep of
 * what they saw, and which words are hints.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import { writtenIn } from "../state/agent/operation.ts";
import {
  type Inn,
  isTold,
  type Own,
  type Setting,
} from "../platform/guests.ts";
import { Hints } from "../state/hints.ts";
import { TOKEN } from "../signals.ts";
import { placeOf } from "../sites.ts";
import { Between } from "../state/between.ts";
import { Drops } from "./drops.ts";
import { countsOf, timesIn } from "./loops/looks.ts";
import { Returns } from "./returns.ts";
import { keptBy } from "../platform/kept.ts";
import { Whole } from "../platform/whole.ts";
import { show } from "../values.ts";
import { Exploration } from "./exploration.ts";

/** Whether all that a value holds is told by its text. */
const isPlain = (value: unknown): boolean =>
  Object(value) !== value ||
  Array.isArray(value) && value.length === 1 && Object(value[0]) !== value[0];

/** An exploration that listens to primitives. */
export abstract class Told extends Exploration implements Inn {
  /** How long a sleep is after which the code under test only looks again. */
  looks: number | undefined;
  /** Whether such a look may be needed after an agent was terminated. */
  looksAfterKill = false;
  /** Settings of primitives that are others while this engine explores. */
  readonly settings: Set<Setting> = new Set();
  /** What each agent has of its own in the modules of primitives. */
  readonly owns: Set<Own> = new Set();
  /** What agents say that they keep. */
  readonly drops: Drops = new Drops();
  /** How often it was tried whether that is true. */
  tried = 0;
  /** What agents saw in calls that have returned. */
  readonly between: Between = new Between();
  /** Which operations of primitives are one step. */
  readonly whole: Whole = new Whole(
    () => this.current,
    (what, value, begin) => this.#returned(what, value, begin),
  );
  /** What agents saw in operations of primitives that have returned. */
  readonly returns: Returns = new Returns();
  /** Words of primitives that turned out to be hints. */
  readonly #learned: Set<number> = new Set();

  /**
   * Whether states may lead back to themselves although no agent is seen to be
   * in a loop.
   */
  get mayTurn(): boolean {
    return this.forgets || this.drops.used || this.returns.turns;
  }

  /** The identity of the agent on the stack, if there is one. */
  identity(): { id: number } | undefined {
    const agent = this.current;
    if (agent === null) return undefined;
    if (!this.named) {
      this.named = true;
      if (this.world.twins !== null) this.world.memory.surprised = true;
    }
    return agent.identity;
  }

  /** Is told of a view of a primitive. */
  meet(primitive: object): void {
    // Some agents load modules of their own for each execution, which nobody
    // may keep.
    if (this.setting || this.whole.on || this.returns.on) {
      this.whole.meet(primitive);
    }
  }

  /** The agent on the stack keeps these values, and nothing else it saw. */
  drop(kept: readonly unknown[]): void {
    const agent = this.current;
    if (agent === null || !this.drops.on || this.handles.making) return;
    if (this.unwinding) {
      if (this.caught.goesOn) return;
      throw TOKEN;
    }
    const { pos, n, dropped, drawn, allocations } = agent;
    agent.dropped = pos;
    // While it is tried out, or runs again, its state is not its own.
    if (this.look ?? this.walk ?? this.alone ?? this.forced) return;
    if (this.blind || this.verifying || pos < n || this.grant === agent) return;
    if (this.clocked || drawn + allocations > 0) return;
    this.drops.drop(agent, placeOf(), kept, dropped);
    agent.snapshot = null;
  }

  /** An operation of a primitive has returned to the agent on the stack. */
  #returned(what: string, value: unknown, begin: number): void {
    const agent = this.current!;
    if (!this.#mayLeaveOut(agent)) return;
    // A larger operation of the same name goes on where this one returned.
    const { depth } = agent;
    const text = `${what} ${depth} ${countsOf(agent)}`;
    this.returns.end(agent, text, value, begin);
    agent.snapshot = null;
  }

  /**
   * The operation of a primitive in which the agent is keeps these values, or
   * will if it sleeps next.
   */
  keepInside(kept: readonly unknown[], asleep: boolean): void {
    const agent = this.current;
    if (agent === null || agent.depth === 0 || agent.entered < 0) return;
    if (agent.wholes > 0 || !this.#mayLeaveOut(agent)) return;
    const wrote = this.world.judge === null ? "" : writtenIn(agent);
    const { within, entered, keeper } = agent;
    // Deadlines are made of what the clock showed.
    const times = timesIn(agent, entered);
    const own = keeper === null ? "" : keptBy(keeper);
    if (!kept.every(isPlain)) return;
    const what = `${within} ${kept.map(show).join()} ${own} ${
      countsOf(agent)
    } ${times} ${wrote}`;
    if (asleep) this.returns.sleep(agent, what, entered);
    else this.returns.keep(agent, what, entered);
    agent.snapshot = null;
  }

  /** Whether the agent is where its record ends, and has no more to tell. */
  #mayLeaveOut(agent: Agent): boolean {
    const { blind, verifying, grant, scenario, drops } = this;
    const { pos, n, drawn, allocations } = agent;
    if (!this.returns.on || this.handles.making || this.unwinding) return false;
    if (this.look ?? this.walk ?? this.alone) return false;
    if (blind || verifying || pos < n || grant === agent) return false;
    if (drops.used || drawn + allocations > 0) return false;
    return scenario.stateless !== false;
  }

  /** Is told how long a sleep is after which primitives only look again. */
  tellLooks(ms: number): void {
    this.looks = ms;
    this.looksAfterKill = true;
  }

  /**
   * Takes a word for a hint from now on, if it belongs to a primitive that has
   * told so: these read words plainly that may be old. If the answer is true,
   * the search must start again.
   */
  learn(address: number): boolean {
    const { world, scenario } = this;
    const learned = this.#learned;
    const { buffer, base } = world.memory.regionAt(address);
    if (learned.has(address) || !isTold(buffer, address - base)) return false;
    learned.add(address);
    world.hints = new Hints(
      world.agents,
      (address) =>
        scenario.hints?.(world.memory.offsetOf(address)) ||
        learned.has(address),
    );
    return this.learned = true;
  }
}

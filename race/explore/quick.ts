/**
 * Takes steps whose outcome is remembered, without the agents: of each agent,
 * only its state changes places with the one that followed before. The search
 * takes all other steps with the engine.
 *
 * @module
 */
import type { Edge, Snapshot } from "../engine/agent.ts";
import { Choices, choices, ownStep } from "../engine/choices.ts";
import { BLOCK, execute, type WorldState } from "../engine/core.ts";
import * as k from "../engine/kinds.ts";
import { CHANGED, ENOUGH, RESUMED, WOKEN } from "../engine/memo.ts";
import { type Region, wordHash1, wordHash2 } from "../engine/memory.ts";
import type { Call } from "../engine/model.ts";
import { native } from "../engine/native.ts";
import type { Engine } from "../engine/replay.ts";
import { raceAmong } from "../judge/races.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The state that steps begin in. */
export interface Start {
  readonly world: WorldState;
  readonly agents: readonly Snapshot[];
  /** The hashes of memory. */
  readonly memory1: number;
  readonly memory2: number;
}

/** What to take in one order only, and what to judge. */
interface Ways {
  readonly reduces: boolean;
  readonly races: boolean;
  readonly polls: boolean;
}

/** A word, and what it held before. */
interface Old {
  readonly region: Region;
  readonly word: number;
  readonly value: number;
}

const mayBeOwn = ({ status, common }: Snapshot): boolean =>
  status === k.READY && !common;

/** Takes steps in a world that is in the state `Start`. */
export class Quick {
  /** The states of the agents after the last step. */
  readonly agents: Snapshot[] = [];
  /** The hashes of memory. */
  memory1 = 0;
  memory2 = 0;
  /** Steps that came before the last one and need not be told apart. */
  readonly passed: number[] = [];
  /** Whether the first step is one that others may commute with. */
  simple = false;
  /** The agents whose next steps commute with all these steps. */
  asleep = 0;
  readonly #engine: Engine;
  readonly #ways: Ways;
  readonly #next = new Choices();
  readonly #observed: boolean;
  readonly #old: Old[] = [];

  /** Takes steps with what `engine` remembers. */
  constructor(engine: Engine, ways: Ways) {
    this.#engine = engine;
    this.#ways = ways;
    this.#observed = engine.world.judge !== null ||
      engine.scenario.invariant !== null;
  }

  /** Whether memory has changed since the start. */
  get wrote(): boolean {
    return this.#old.length > 0;
  }

  /**
   * Takes the step `code` from `start`, where the world is, and then steps that
   * commute with all others. Returns the last step, or -1 if the engine has to
   * take them; then the world is where it was.
   */
  take(start: Start, code: number, asleep: number): number {
    this.asleep = asleep;
    const { agents, passed } = this;
    for (let i = 0; i < start.agents.length; i++) agents[i] = start.agents[i]!;
    this.memory1 = start.memory1;
    this.memory2 = start.memory2;
    passed.length = 0;
    for (let at = code;;) {
      if (!this.#step(k.agentOf(at))) break;
      const own = this.#own();
      if (own < 0) {
        if (passed.length > 0) this.simple = false;
        return at;
      }
      passed.push(at);
      if (this.#ways.races && raceAmong(this.#engine, agents) !== null) break;
      at = own;
    }
    this.undo(start);
    return -1;
  }

  /** Takes the world back to the start. */
  undo({ world: { waiters, frontier } }: Start): void {
    const { world } = this.#engine;
    world.waiters = waiters;
    world.frontier = frontier;
    for (let old = this.#old.pop(); old !== undefined; old = this.#old.pop()) {
      old.region.words[old.word] = old.value;
    }
  }

  #own(): number {
    if (!this.#ways.reduces || !this.agents.some(mayBeOwn)) return -1;
    const next = this.#next;
    choices(this.#engine, next, this.agents);
    const own = ownStep(this.#engine, next, -1, this.agents);
    if (own < 0 && next.live > 0 && next.count > 1) {
      // What is no such step now will not be one later.
      for (const state of this.agents) {
        if (state.status === k.READY) state.common = true;
      }
    }
    return own;
  }

  #step(id: number): boolean {
    const { agents } = this;
    const { memo, world } = this.#engine;
    const from = agents[id]!;
    const { edges, target, kind, size, address } = from;
    if (edges === null || target === null || from.leap > 0) return false;
    const { region, view } = target;
    const word = (address - region.base) >> 2;
    if ((address & 3) + size > 4 || word >= region.words.length) return false;
    if (!from.invoked) this.#invoke(id, from.calls, from.oi);
    const { index, a } = from;
    const before = region.words[word]!;
    let value: Any;
    let changed = false;
    switch (kind) {
      case k.LOAD:
        value = native.load(view, index);
        break;
      case k.READ:
        value = view[index];
        break;
      case k.WAIT:
        value = native.load(view, index) !== a
          ? "not-equal"
          : from.timeout <= 0
          ? "timed-out"
          : BLOCK;
        break;
      case k.NOTIFY:
        value = this.#woken(address, a);
        changed = value > 0;
        break;
      case k.STORE:
      case k.WRITE: {
        const old = view[index];
        value = execute(kind, view, index, a, 0);
        changed = !Object.is(view[index], old);
        break;
      }
      default:
        if (!k.writes(kind)) return false;
        value = execute(kind, view, index, a, from.b);
        changed = view[index] !== value;
    }
    const after = region.words[word]!;
    if (after !== before) {
      this.#old.push({ region, word, value: before });
      if (region.touched[word] === 0) return false;
      this.memory1 = this.memory1 - wordHash1(region, word, before) +
          wordHash1(region, word, after) | 0;
      this.memory2 ^= wordHash2(region, word, before) ^
        wordHash2(region, word, after);
    }
    if (changed && kind !== k.NOTIFY && !this.#unspin(id, from)) return false;
    const cause = changed ? CHANGED : 0;
    const edge = memo.find(from, cause, value, world.now);
    if (edge === undefined || edge.runs < ENOUGH) return false;
    const { to } = edge;
    const alone = edge.guards.length === 0;
    this.simple = alone && kind !== k.WAIT && kind !== k.NOTIFY &&
      (!this.#observed || from.invoked && edge.ended.length === 0);
    this.asleep = alone ? this.#commuting(this.asleep, id, from) : 0;
    if (to.looping || to.effort > this.#engine.maxSteps) return false;
    if (!this.#ways.polls && to.status === k.SPINNING) return false;
    agents[id] = to;
    if (!this.#end(id, from, edge, true)) return false;
    if (value === BLOCK) {
      world.waiters = [...world.waiters, { agent: id, address, promise: -1 }];
    }
    return kind !== k.NOTIFY || value === 0 || this.#wake(address, value);
  }

  /** The agents of `asleep` whose next steps commute with a step. */
  #commuting(asleep: number, by: number, step: Snapshot): number {
    if (asleep === 0) return 0;
    const writes = k.writes(step.kind);
    for (let id = 0; id < this.agents.length; id++) {
      if ((asleep >> id & 1) === 0) continue;
      const { kind, address, size } = this.agents[id]!;
      const apart = address >= step.address + step.size ||
        step.address >= address + size;
      const free = apart || step.kind === k.NOTIFY ||
        !writes && !k.writes(kind);
      if (id === by || !free) asleep &= ~(1 << id);
    }
    return asleep;
  }

  /** How many agents a notification wakes. */
  #woken(address: number, limit: number): number {
    let count = 0;
    for (const waiter of this.#engine.world.waiters) {
      if (waiter.address === address && count < limit) count++;
    }
    return count;
  }

  /** Wakes the first `count` agents that sleep at `address`. */
  #wake(address: number, count: number): boolean {
    const { agents } = this;
    const { memo, world } = this.#engine;
    const { waiters } = world;
    world.waiters = waiters.filter((waiter) =>
      waiter.address !== address || count-- <= 0
    );
    for (const waiter of waiters) {
      if (world.waiters.includes(waiter)) continue;
      if (waiter.promise >= 0) return false;
      const from = agents[waiter.agent]!;
      const edge = memo.find(from, WOKEN, "ok", world.now);
      if (edge === undefined || edge.runs < ENOUGH) return false;
      agents[waiter.agent] = edge.to;
      if (!this.#end(waiter.agent, from, edge, from.invoked)) return false;
    }
    return true;
  }

  /** Lets the agents go on that spin where an agent has written. */
  #unspin(by: number, { address, size }: Snapshot): boolean {
    const { agents } = this;
    for (let id = 0; id < agents.length; id++) {
      const agent = agents[id]!;
      if (agent.idleFires > 0 && id !== by) return false;
      if (agent.status !== k.SPINNING && agent.leap === 0) continue;
      for (const at of agent.spinAddresses) {
        if (at >= address + size || address >= at + 8) continue;
        if (id === by || agent.kind === k.CLOCK) return false;
        const edge = this.#engine.memo.find(agent, RESUMED, undefined, 0);
        if (edge === undefined) return false;
        agents[id] = edge.to;
        break;
      }
    }
    return true;
  }

  /** Tells the judge of calls that end; false if one of them is a failure. */
  #end(
    id: number,
    { oi }: Snapshot,
    { to: { calls }, ended }: Edge,
    invoked: boolean,
  ): boolean {
    if (ended.length === 0) return true;
    const { world, scenario } = this.#engine;
    if (scenario.invariant !== null) return false;
    for (let i = 0; i < ended.length; i++) {
      const { result, steps } = ended[i]!;
      if (!invoked) this.#invoke(id, calls, oi + i);
      invoked = false;
      if (steps > world.maxOpSteps) world.maxOpSteps = steps;
      if (world.judge === null || world.frontier < 0) continue;
      const next = world.judge.answer(world.frontier, id, result);
      if (next < 0) return false;
      world.frontier = next;
    }
    return true;
  }

  /** Tells the judge that the agent begins the call `at`. */
  #invoke(id: number, calls: readonly Call[], at: number): void {
    const { world } = this.#engine;
    if (world.judge === null || world.frontier < 0) return;
    world.frontier = world.judge.invoke(world.frontier, id, calls[at]!);
  }
}

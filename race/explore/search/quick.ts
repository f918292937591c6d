/**
 * Takes steps whose outcome is remembered, without the agents: of each agent,
 * only its state changes places with the one that followed before. The search
 * takes all other steps with the engine.
 *
 * @module
 */
import type { Edge, Snapshot } from "../../engine/state/agent/snapshot.ts";
import {
  Choices,
  choices,
  isObserved,
  ownStep,
} from "../../engine/step/choices.ts";
import { BLOCK, execute } from "../../engine/state/agent/operation.ts";
import { type Ground, loneIn } from "../../engine/step/groups.ts";
import * as k from "../../engine/kinds.ts";
import {
  CHANGED,
  ENOUGH,
  RESUMED,
  STALE_READ,
  WOKEN,
} from "../../engine/state/agent/memo.ts";
import type { Region } from "../../engine/region.ts";
import { FREED, wordHash1, wordHash2 } from "../../engine/state/memory.ts";
import type { Call } from "../../engine/model.ts";
import type { Engine } from "../../engine/step/replay.ts";
import { raceAmong } from "../../judge/races.ts";
import { Open } from "./open.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** What to take in one order only, and what to judge. */
interface Ways {
  readonly reduces: boolean;
  readonly races: boolean;
  readonly polls: boolean;
}

/** Whether an agent's next step might concern no other agent. */
export function mayAnyBeOwn(agents: readonly Snapshot[]): boolean {
  for (let i = 0; i < agents.length; i++) {
    const { status, common } = agents[i]!;
    if (status === k.READY && !common) return true;
  }
  return false;
}

/** Takes steps in a world that is in a given state. */
export class Quick {
  /** The state after the last step; of the world, only what steps need. */
  readonly to = new Open();
  /** Steps that came before the last one and need not be told apart. */
  readonly passed: number[] = [];
  /** Whether the first step is one that others may commute with. */
  simple = false;
  /** What decides about agents that go on alone, if these are looked for. */
  ground: Ground | null = null;
  readonly #engine: Engine;
  readonly #ways: Ways;
  readonly #next = new Choices();
  readonly #observed: boolean;
  /** The agents that came to another operation in this step, as bits. */
  #came = 0;
  /** The words that were written, and what they held before. */
  #wrote = 0;
  readonly #regions: Region[] = [];
  readonly #words: number[] = [];
  readonly #values: number[] = [];

  /** Takes steps with what `engine` remembers. */
  constructor(engine: Engine, ways: Ways) {
    this.#engine = engine;
    this.#ways = ways;
    this.#observed = isObserved(engine);
  }

  /**
   * Takes the step `code` from `start`, where the world is, and then steps that
   * commute with all others. The agents `asleep` sleep at first. Returns the
   * last step, or -1 if the engine has to take them; then the world is where it
   * was.
   */
  take(start: Open, code: number, asleep: number): number {
    const { to, passed } = this;
    const { agents } = start;
    for (let i = 0; i < agents.length; i++) to.agents[i] = agents[i]!;
    to.asleep = asleep;
    to.memory1 = start.memory1;
    to.memory2 = start.memory2;
    while (passed.length > 0) passed.pop();
    for (let at = code;;) {
      const age = k.actionOf(at) === k.STALE ? k.numberOf(at) : 0;
      if (!this.#step(k.agentOf(at), age)) break;
      const own = this.#alone();
      if (own < 0) {
        if (passed.length > 0) this.simple = false;
        return at;
      }
      passed.push(at);
      if (passed.length > this.#engine.maxSteps) break;
      const { races } = this.#ways;
      if (races && raceAmong(this.#engine, to.agents) !== null) break;
      at = own;
    }
    this.undo(start);
    return -1;
  }

  /** Takes the world back to the start. */
  undo({ around, frontier }: Open): void {
    const { world } = this.#engine;
    world.waiters = around!.waiters;
    world.frontier = frontier;
    if (around!.hints !== null) world.hints!.load(around!.hints);
    while (this.#wrote > 0) {
      const i = --this.#wrote;
      this.#regions[i]!.words[this.#words[i]!] = this.#values[i]!;
    }
  }

  #write(region: Region, word: number, before: number): void {
    const i = this.#wrote++;
    this.#regions[i] = region;
    this.#words[i] = word;
    this.#values[i] = before;
  }

  /** A step that need be taken in this state, and no other one; or -1. */
  #alone(): number {
    const own = this.#own();
    if (own >= 0 || this.ground === null) return own;
    const lone = loneIn(this.ground, this.to.agents);
    return lone < 0 ? -1 : lone | k.STEP;
  }

  #own(): number {
    const next = this.#next;
    const { agents } = this.to;
    if (!this.#ways.reduces || !mayAnyBeOwn(agents)) return -1;
    choices(this.#engine, next, agents, true);
    const own = ownStep(this.#engine, next, -1, agents);
    if (own < 0 && next.live > 0 && next.count > 1) {
      // A step that is not its agent's own now will not be so later.
      for (const state of agents) {
        if (state.status === k.READY) state.common = true;
      }
    }
    return own;
  }

  #step(id: number, age: number): boolean {
    this.#came = 1 << id;
    if (!this.#goOn(id, age)) return false;
    const { hints } = this.#engine.world;
    if (hints === null) return true;
    const { agents } = this.to;
    for (let i = 0; i < agents.length; i++) {
      if (this.#came >> i & 1) hints.arrive(i, agents[i]!);
    }
    return true;
  }

  #goOn(id: number, age: number): boolean {
    const { to: state } = this;
    const { agents } = state;
    const { memo, world } = this.#engine;
    const { hints } = world;
    const from = agents[id]!;
    const { edges, target, kind, size, address } = from;
    if (edges === null || target === null || from.leap > 0) return false;
    const { region, view } = target;
    const word = (address - region.base) >> 2;
    if ((address & 3) + size > 4 || word >= region.words.length) return false;
    if (!from.invoked) this.#invoke(id, from.calls, from.oi);
    const { index, a } = from;
    const before = region.words[word]!;
    if (before === FREED) return false; // an error, unless it notifies
    let value: Any;
    let changed = false;
    hints?.before(from);
    switch (kind) {
      case k.READ:
        value = hints?.read(id, from, age) ?? view[index];
        break;
      case k.LOAD:
        value = view[index];
        break;
      case k.WAIT:
        value = view[index] !== a
          ? "not-equal"
          : from.timeout <= 0
          ? "timed-out"
          : BLOCK;
        break;
      case k.NOTIFY:
        value = this.#woken(id, address, a);
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
      this.#write(region, word, before);
      if (region.touched[word] === 0) return false;
      state.memory1 = state.memory1 - wordHash1(region, word, before) +
          wordHash1(region, word, after) | 0;
      state.memory2 ^= wordHash2(region, word, before) ^
        wordHash2(region, word, after);
    }
    if (hints !== null && kind !== k.NOTIFY) {
      const wrote = k.writes(kind) && (kind !== k.CAS || value === a);
      hints.after(id, from, wrote);
    }
    if (changed && kind !== k.NOTIFY && !this.#unspin(id, from)) return false;
    const cause = (changed ? CHANGED : 0) | (age > 0 ? STALE_READ : 0);
    const edge = memo.find(from, cause, value, world.now);
    if (edge === undefined || edge.runs < ENOUGH) return false;
    const { to } = edge;
    const alone = edge.guards.length === 0;
    this.simple = alone && age === 0 && kind !== k.WAIT && kind !== k.NOTIFY &&
      (!this.#observed || from.invoked && edge.ended.length === 0);
    state.asleep = alone ? this.#commuting(state.asleep, id, from) : 0;
    if (to.looping || to.effort > this.#engine.maxSteps) return false;
    if (!this.#ways.polls && to.status === k.SPINNING) return false;
    agents[id] = to;
    if (!this.#end(id, from, edge, true)) return false;
    if (value === BLOCK) {
      const waiter = { agent: id, address, promise: -1, clock: null };
      world.waiters = [...world.waiters, waiter];
    }
    return kind !== k.NOTIFY || value === 0 || this.#wake(address, value);
  }

  /** The agents of `asleep` whose next steps commute with a step. */
  #commuting(asleep: number, by: number, step: Snapshot): number {
    if (asleep === 0) return 0;
    const writes = k.writes(step.kind);
    const { agents } = this.to;
    for (let id = 0; id < agents.length; id++) {
      if ((asleep >> id & 1) === 0) continue;
      const { kind, address, size } = agents[id]!;
      const apart = address >= step.address + step.size ||
        step.address >= address + size;
      const free = apart || step.kind === k.NOTIFY ||
        !writes && !k.writes(kind);
      if (id === by || !free) asleep &= ~(1 << id);
    }
    return asleep;
  }

  /** How many agents a notification by agent `by` wakes. */
  #woken(by: number, address: number, limit: number): number {
    const { waiters, hints } = this.#engine.world;
    let count = 0;
    for (const waiter of waiters) {
      if (waiter.address !== address || count >= limit) continue;
      count++;
      if (waiter.promise < 0) hints?.wake(waiter.agent, by);
      hints?.wake(by, waiter.agent);
    }
    return count;
  }

  /** Wakes the first `count` agents that sleep at `address`. */
  #wake(address: number, count: number): boolean {
    const { agents } = this.to;
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
      this.#came |= 1 << waiter.agent;
      if (!this.#end(waiter.agent, from, edge, from.invoked)) return false;
    }
    return true;
  }

  /** Lets the agents go on that spin where an agent has written. */
  #unspin(by: number, { address, size }: Snapshot): boolean {
    const { agents } = this.to;
    for (let id = 0; id < agents.length; id++) {
      const agent = agents[id]!;
      if (agent.idleFires > 0 && id !== by) return false;
      if (agent.status !== k.SPINNING && agent.leap === 0) continue;
      for (const at of agent.spinAddresses) {
        if (at >= address + size || address >= at + 8) continue;
        if (id === by || agent.kind === k.CLOCK) return false;
        const edge = this.#engine.memo.find(agent, RESUMED, undefined, 0);
        if (edge === undefined) return false;
        if (agent.status === k.SPINNING) this.#came |= 1 << id;
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

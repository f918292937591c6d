/**
 * Visits every state that can be reached, once. A state consists of memory, the
 * sleepers, what each agent has seen in its call, and the judge's frontier. To
 * return to a state, memory is copied and records are cut short; nothing is
 * executed again.
 *
 * @module
 */
import type { Snapshot } from "../../engine/state/agent/snapshot.ts";
import {
  Choices,
  choices,
  isObserved,
  ownStep,
} from "../../engine/step/choices.ts";
import type { World } from "../../engine/state/core.ts";
import { hashState } from "../../engine/state/key.ts";
import { ALL, type Ground, groupOf } from "../../engine/step/groups.ts";
import * as k from "../../engine/kinds.ts";
import { I32, realNow } from "../../engine/platform/native.ts";
import type { Engine, Steps } from "../../engine/step/replay.ts";
import { NotConstant } from "../../engine/signals.ts";
import {
  apply,
  begin,
  finish,
  start as startStep,
} from "../../engine/step/steps.ts";
import type { Twins } from "../../engine/state/twins.ts";
import { judgeRaces } from "../../judge/races.ts";
import { EACH, failBusy, rotate } from "../../judge/fair.ts";
import { Open, Stack } from "./open.ts";
import { mayAnyBeOwn, Quick } from "./quick.ts";
import { States } from "./store.ts";
import {
  COMPARE,
  type Found,
  type Limit,
  type SearchOptions,
} from "../runs/task.ts";
import { goesOn, isBusy, isPlain, isUsual, judgeHere } from "./here.ts";

/** How many operations that go on and on are examined. */
const PROBES = 8;

/**
 * In how many states groups are looked for that nobody asked for. If fewer than
 * one in `RARE` of these has one, no more are looked for.
 */
const TRIED = 1000;
const RARE = 50;

/**
 * A visit that is to end soon ends after a sixth of its states if it has done
 * less than this share of its tree by then.
 */
const LEAST_DONE = 0.1;

/** Takes states of agents for the same. */
export interface Settler {
  /** Lets others take the place of the agents' states, if they are the same. */
  settle(before: readonly Snapshot[] | null): void;
}

/** One visit of all states. */
export class Visit {
  readonly #engine: Engine;
  readonly #world: World;
  readonly #o: SearchOptions;
  readonly #futures: Settler | null;
  /** The time at which it must end. */
  readonly #end: number;
  /**
   * A failure is looked for again with the agents told apart, since its picture
   * shows them.
   */
  readonly #twins: Twins | null;
  /** Takes steps whose outcome is remembered. */
  readonly #quick: Quick | null;
  readonly #sleeps: boolean;
  /** What decides about groups of agents, if these are looked for. */
  #ground: Ground | null;
  /**
   * Whether nobody asked for them; in how many states they were sought, found.
   */
  readonly #tries: boolean;
  #sought = 0;
  #grouped = 0;
  /** After how many states they count as rare, and how many it had before. */
  #trial = TRIED;
  #before = 0;
  /** Whether it relies on what agents can still do. */
  #relies = false;
  readonly #states = new States();
  /** The states to visit, by their costs if these matter. */
  readonly #stacks: (Stack | undefined)[] = [new Stack()];
  #least = 0;
  readonly #key = new I32(2);
  /** The choices in the state that is visited, and in one after it. */
  readonly #here = new Choices();
  readonly #next = new Choices();
  readonly #fair = new Set<number>();
  /** The state that is visited, and one to be visited. */
  readonly #open = new Open();
  readonly #saved = new Open();
  /** Whether the world, and the agents, are in the state that is visited. */
  #entered = false;
  #settled = false;
  /** Where the state lies that they are in, if it is not visited yet. */
  #stack: Stack | null = null;
  #place = 0;
  /** Whether only one step must be taken. */
  #alone = false;
  /** The agents whose steps must be taken now. */
  #group = ALL;
  /** Whether the agent of the last step can go on. */
  #running = false;
  /** The agents that sleep after the next step. */
  #asleep = 0;
  /** How many successors must be visited. */
  #kept = 0;
  /** The steps from the state to its successor, without the last one. */
  readonly #passed: number[] = [];
  #probes = 0;
  #steps = 0;
  #executions = 0;
  /** The limits that left something out. */
  readonly #limits: Set<Limit> = new Set();
  #done = 0;

  /** Prepares a visit that ends at the time `end`. */
  constructor(
    engine: Engine,
    o: SearchOptions,
    futures: Settler | null,
    end: number,
  ) {
    const { world } = engine;
    const reduces = o.reduce === true;
    this.#engine = engine;
    this.#world = world;
    this.#o = o;
    this.#futures = futures;
    this.#end = end;
    this.#twins = o.minimal ? null : world.twins;
    this.#sleeps = reduces && COMPARE.asleep;
    this.#tries = o.groups !== true && o.mayGroup === true && engine.mayGroup &&
      !engine.forgets;
    const groups = o.groups === true || this.#tries;
    this.#ground = groups && isPlain(engine, o) && !engine.clocked
      ? {
        memory: world.memory,
        observed: isObserved(engine),
        prospects: null,
        likes: world.agents.map(({ like }) => like),
      }
      : null;
    this.#quick = futures === null && isUsual(engine, o)
      ? new Quick(engine, { reduces, races: o.races, polls: o.polls !== false })
      : null;
  }

  /** Visits them. */
  *run(): Steps<Found> {
    const engine = this.#engine;
    const world = this.#world;
    const o = this.#o;
    engine.overdue = null;
    world.prospects.begin();
    world.maxOpSteps = 0;
    world.clocks = null; // they depend on the path
    if (world.hints !== null) {
      world.hints.reduces = o.reduce === true && !o.minimal;
      world.hints.needs.surprised = false;
      if (COMPARE.hints === 0) world.hints.leavesOut = !engine.scenario.async;
    }
    yield* begin(engine);
    for (const code of o.start ?? []) yield* apply(engine, code, false);
    if (world.fault === null) this.#futures?.settle(null);
    this.#hash(-1);
    this.#states.find(this.#key[0]!, this.#key[1]!);
    const root = this.#states.add(-1, -1);
    if (world.fault !== null) return this.#found(root, -1);
    this.#keep(root, -1, 0, 1);
    while (this.#pop()) {
      if (this.#states.size >= this.#most()) this.#limits.add("states");
      else if (this.#isLate()) this.#limits.add("time");
      if (this.#limits.has("states") || this.#limits.has("time")) break;
      const open = this.#open;
      if (o.minimal && this.#states.cost(open.id) < open.cost) continue;
      if (engine.mayTurn) {
        this.#closeCycle();
        // Rounds that were left out do not show that a loop has no end.
        this.#load();
        const livelock = yield* this.#probe(open.id, -1);
        if (livelock !== null) return livelock;
        this.#entered = this.#settled = false;
      }
      const count = this.#look();
      if (world.fault !== null) return this.#found(open.id, -1);
      const top = this.#stacks[0]!.size;
      // The first agent's step is pushed last, so that it comes next.
      for (let i = this.#takeQuickly(count); i >= 0; i = this.#takeQuickly(i)) {
        const found = yield* this.#take(this.#here.codes[i]!);
        if (found !== null) return found;
      }
      if (this.#kept === 0) this.#done += open.share;
      else if (!o.minimal) this.#stacks[0]!.divide(top, this.#kept);
    }
    if (this.#limits.size === 0) this.#needsMore(Infinity);
    if (this.#relies) this.#mustTellApart();
    return this.#found(root, -1);
  }

  /** How many states to visit, by what is known so far. */
  #most(): number {
    const { soon, states } = this.#o;
    if (soon !== true) return states;
    if (this.#ground === null) return 0;
    return this.#done < LEAST_DONE ? states / 6 : states;
  }

  /** Whether it takes too long; also shows how far it has come. */
  #isLate(): boolean {
    if ((this.#steps & 63) !== 0) return false;
    // The search begins again: see `readsTooMany`.
    if (this.#world.cuts.stale && !this.#world.countsOld) {
      throw new NotConstant();
    }
    this.#needsMore(COMPARE.hints);
    const now = realNow();
    this.#o.progress?.tell(now, this.#states.size, this.#done);
    return now > this.#end;
  }

  /**
   * Begins the search again if it left out an old value of a hint that an agent
   * could still use, and once there are more than `most` states: from then on
   * it leaves out those that nobody can use.
   */
  #needsMore(most: number): void {
    const { hints } = this.#world;
    if (hints === null || !hints.reduces || this.#engine.scenario.async) return;
    if (hints.leavesOut) {
      if (hints.needs.surprised) throw new NotConstant();
    } else if (this.#states.size > most) {
      hints.leavesOut = true;
      throw new NotConstant();
    }
  }

  /** What was found: the way to state `id`, then `code` and others. */
  #found(id: number, code: number, then: readonly number[] = []): Found {
    const { start = [] } = this.#o;
    return {
      fault: this.#world.fault,
      schedule: [
        ...start,
        ...this.#states.path(id),
        ...code < 0 ? [] : [code],
        ...then,
      ],
      complete: this.#limits.size === 0,
      limits: [...this.#limits],
      states: this.#states.size,
      executions: this.#executions,
      steps: this.#steps,
      maxOpSteps: this.#world.maxOpSteps,
      preemptions: this.#o.minimal ? this.#least - 1 : -1,
    };
  }

  // ---- states

  /** Takes the next state to visit; false if there is none. */
  #pop(): boolean {
    const stacks = this.#stacks;
    while (this.#least < stacks.length) {
      const stack = stacks[this.#least];
      if (stack === undefined || stack.size === 0) {
        this.#least++;
        continue;
      }
      stack.pop(this.#open, this.#world.agents.length);
      const present = stack === this.#stack && stack.size === this.#place;
      this.#entered = this.#settled = present;
      this.#stack = null;
      return true;
    }
    return false;
  }

  /** Pushes the present state, whose hash was made, so that it is visited. */
  #keep(id: number, last: number, cost: number, share: number, left = ALL) {
    const world = this.#world;
    const { memory, agents } = world;
    const open = this.#saved;
    for (let i = 0; i < agents.length; i++) open.agents[i] = agents[i]!.save();
    open.id = id;
    open.last = last;
    open.cost = cost;
    open.share = share;
    open.asleep = 0;
    open.left = left;
    open.memory1 = world.memory1;
    open.memory2 = world.memory2;
    open.frontier = world.frontier;
    open.around = world.around();
    const bucket = this.#o.minimal ? cost : 0;
    this.#least = Math.min(this.#least, bucket);
    const stack = this.#stacks[bucket] ??= new Stack();
    this.#stack = stack;
    this.#place = stack.size;
    stack.push(open, memory);
  }

  /** Brings the world to the state that is visited. */
  #enter(): void {
    if (this.#entered) return;
    const { words, known, frontier, around } = this.#open;
    this.#world.memory.restore(words, known);
    this.#world.enter(frontier, around!);
    this.#entered = true;
    this.#stack = null;
  }

  /** Brings the agents there, too. */
  #load(): void {
    this.#enter();
    if (this.#settled) return;
    const { agents } = this.#open;
    for (let i = 0; i < agents.length; i++) {
      this.#world.agents[i]!.load(agents[i]!);
    }
    this.#settled = true;
  }

  /** Makes the hashes of the present state, after a step of agent `last`. */
  #hash(last: number): void {
    const key = this.#key;
    const { minimal, results } = this.#o;
    this.#world.key(key, results, this.#twins);
    if (minimal) key[0] = Math.imul(key[0]! ^ (last + 2), 0x9e3779b1);
  }

  /** Numbers the states between the visited one and its successor. */
  #pass(passed: readonly number[]): number {
    let { id } = this.#open;
    for (let i = 0; i < passed.length; i++) {
      id = this.#states.pass(id, passed[i]!);
    }
    return id;
  }

  // ---- steps

  /** Judges the state that is visited; returns how many choices there are. */
  #look(): number {
    const engine = this.#engine;
    const o = this.#o;
    const here = this.#here;
    const { agents, last, asleep, left } = this.#open;
    if (this.#quick !== null) this.#enter();
    if (this.#quick === null || !goesOn(engine, o, here, agents)) {
      this.#load();
      if (judgeHere(engine, o, here)) this.#executions++;
    }
    // The first step says who runs: after any other, that is a preemption.
    const mayReduce = o.reduce === true && here.live > 0 &&
      !(o.minimal && last < 0) &&
      (this.#quick === null || mayAnyBeOwn(agents));
    const own = mayReduce
      ? ownStep(engine, here, o.minimal ? last : -1, agents)
      : -1;
    this.#alone = own >= 0;
    const grouped = own < 0 && this.#ground !== null && left === ALL &&
      here.live > 1;
    this.#group = grouped ? this.#groupOf(agents) : ALL;
    this.#running = last >= 0 && agents[last]!.status === k.READY;
    this.#asleep = asleep;
    this.#kept = 0;
    if (own < 0) return here.count;
    here.codes[0] = own;
    return 1;
  }

  /** The agents whose steps must be taken in a state. */
  #groupOf(agents: readonly Snapshot[]): number {
    const ground = this.#ground!;
    const group = groupOf(ground, agents);
    if (group !== ALL) this.#grouped++;
    this.#sought++;
    const { prospects } = this.#world;
    if (ground.prospects !== null) this.#mustTellApart();
    else if (this.#tellsApart()) {
      // The more often that was wrong, the later it is tried again.
      const first = COMPARE.relies * 2 ** prospects.surprises;
      if (this.#sought < first) return group;
      ground.prospects = prospects;
      this.#relies = true;
      if (this.#world.hints === null) this.#quick!.ground = ground;
      this.#trial = this.#sought + TRIED;
      this.#before = this.#grouped;
    }
    if (!this.#tries || this.#sought !== this.#trial) return group;
    const few = (this.#grouped - this.#before) * RARE < TRIED;
    if (few) this.#leaveGroups();
    return group;
  }

  /**
   * Whether states tell apart where agents stand, so that what they can still
   * do may be relied on.
   */
  #tellsApart(): boolean {
    const { returns, drops, whole } = this.#engine;
    return this.#quick !== null && this.#o.learns !== true &&
      !returns.used && !drops.used && !whole.on;
  }

  /** Begins the search again if it relied on that and should not have. */
  #mustTellApart(): void {
    if (!this.#tellsApart()) throw new NotConstant();
  }

  /**
   * States may lead back to themselves from now on. A group could keep others
   * waiting there, so the search begins again without those that nobody asked
   * for.
   */
  #closeCycle(): void {
    if (!this.#tries) return;
    this.#leaveGroups();
    this.#engine.mayGroup = false;
    if (this.#grouped > 0 || this.#relies) throw new NotConstant();
  }

  /** Looks for no more groups. */
  #leaveGroups(): void {
    this.#ground = null;
    if (this.#quick !== null) this.#quick.ground = null;
  }

  /**
   * Takes the choices before number `before`, the last one first. Returns the
   * number of the first one that the engine has to take, or -1.
   */
  #takeQuickly(before: number): number {
    const open = this.#open;
    const quick = this.#quick;
    const { codes } = this.#here;
    for (let i = before - 1; i >= 0; i--) {
      const first = codes[i]!;
      const bit = 1 << k.agentOf(first);
      const isStep = k.actionOf(first) === k.STEP;
      if (!this.#alone) {
        if (isStep ? open.asleep & bit : open.left !== ALL) continue;
        if ((open.left & this.#group & bit) === 0) continue;
      }
      const isRead = k.actionOf(first) === k.STALE;
      if (quick === null || !isStep && !isRead) return i;
      this.#enter();
      const code = quick.take(open, first, this.#asleep);
      if (code < 0) return i;
      this.#steps += quick.passed.length + 1;
      if (this.#arrive(quick, code)) this.#kept++;
      if (quick.simple && this.#sleeps) this.#asleep |= bit;
      quick.undo(open);
    }
    return -1;
  }

  /**
   * Keeps the state that quick steps have led to, the last of them `code`,
   * unless it is known; returns whether it is new.
   */
  #arrive(quick: Quick, code: number): boolean {
    const world = this.#world;
    const states = this.#states;
    const twins = this.#twins;
    const key = this.#key;
    const { to } = quick;
    key[0] = to.memory1;
    key[1] = to.memory2;
    hashState(world, key, to.agents, world.frontier, this.#o.results, twins);
    let asleep = twins === null ? to.asleep : twins.placesOf(to.asleep);
    let left = ALL;
    let id = states.find(key[0]!, key[1]!);
    const fresh = id < 0;
    if (fresh) id = states.add(this.#pass(quick.passed), code);
    else {
      // What slept before, and need not sleep now, must still be taken.
      const before = states.asleep;
      left = before & ~asleep;
      if (left === 0) return false;
      asleep &= before;
      if (twins !== null) left = twins.agentsAt(left);
    }
    states.asleep = asleep;
    to.id = id;
    to.last = k.agentOf(code);
    to.asleep = twins === null ? asleep : twins.agentsAt(asleep);
    to.left = left;
    to.share = fresh ? this.#open.share : 0;
    to.frontier = world.frontier;
    to.around = world.around();
    this.#stacks[0]!.push(to, world.memory);
    return fresh;
  }

  /**
   * Takes the choice `first` with the engine, and then steps that commute with
   * all others. Returns a failure, if there is one.
   */
  *#take(first: number): Steps<Found | null> {
    const engine = this.#engine;
    const world = this.#world;
    const o = this.#o;
    const futures = this.#futures;
    const next = this.#next;
    const passed = this.#passed;
    const mayReduce = o.reduce === true;
    this.#load();
    this.#entered = this.#settled = false;
    this.#stack = null;
    let agents: readonly Snapshot[] = this.#open.agents;
    let code = first;
    passed.length = 0;
    for (;;) {
      if (!startStep(engine, code, false)) yield* finish(engine);
      this.#steps++;
      if (world.fault !== null) return this.#found(this.#pass(passed), code);
      const agent = world.agents[k.agentOf(code)]!;
      const { looping } = agent;
      if (looping) this.#closeCycle();
      const overdue = agent.effort > engine.maxSteps;
      if (o.polls === false && (yield* isBusy(engine, agent))) {
        failBusy(engine, agent);
        return this.#found(this.#pass(passed), code);
      }
      futures?.settle(agents);
      // Where states lead back to themselves, own steps may go round, too.
      const many = passed.length > engine.maxSteps;
      const goesOn = mayReduce && !o.minimal && !looping && !overdue && !many;
      if (goesOn) choices(engine, next, world.agents, true);
      const own = goesOn ? ownStep(engine, next, -1) : -1;
      if (own < 0) return yield* this.#reach(first, code, looping, overdue);
      // Go on at once: nothing that others do can make a difference.
      passed.push(code);
      if (o.races) judgeRaces(engine);
      if (world.fault !== null) return this.#found(this.#pass(passed), -1);
      if (futures !== null) {
        agents = world.agents.map((agent) => agent.save());
      }
      code = own;
    }
  }

  /**
   * Keeps the state that the engine's steps have led to, from `first` to
   * `code`, unless it is known.
   */
  *#reach(
    first: number,
    code: number,
    looping: boolean,
    overdue: boolean,
  ): Steps<Found | null> {
    const states = this.#states;
    const key = this.#key;
    const twins = this.#twins;
    const { id: before, cost: past, share } = this.#open;
    const { minimal } = this.#o;
    const who = k.agentOf(code);
    const cost = past + (this.#isUnusual(first) ? 1 : 0);
    this.#hash(who);
    const known = states.find(key[0]!, key[1]!);
    if (known < 0) {
      const from = this.#pass(this.#passed);
      const id = states.add(from, code);
      states.via(id, from, code, cost);
      // Do not follow an operation for ever that goes on and on.
      if (!overdue) {
        this.#keep(id, who, cost, share);
        this.#kept++;
      } else this.#limits.add("steps");
      if (looping) states.probe();
      if (looping || overdue && this.#probes++ < PROBES) {
        return yield* this.#probe(from, code);
      }
      return null;
    }
    if (states.asleep !== 0) {
      const left = states.asleep;
      states.asleep = 0;
      const agents = twins === null ? left : twins.agentsAt(left);
      this.#keep(known, who, 0, 0, agents);
    } else if (minimal && cost < states.cost(known)) {
      states.via(known, before, first, cost);
      this.#keep(known, who, cost, 0);
    }
    // The state was known from a round before the agent was in a loop.
    if (looping && !minimal && !states.probe()) {
      if (this.#ground !== null) this.#keep(known, who, 0, 0);
      return yield* this.#probe(this.#pass(this.#passed), code);
    }
    return null;
  }

  /** Whether the choice interrupts an agent, or is not a usual step. */
  #isUnusual(code: number): boolean {
    const action = k.actionOf(code);
    if (action !== k.STEP && action !== k.SETTLE) return true;
    return this.#running && k.agentOf(code) !== this.#open.last;
  }

  /** Gives every agent its turns, from the present state on. */
  *#probe(from: number, code: number): Steps<Found | null> {
    const world = this.#world;
    world.schedule = [];
    this.#stack = null;
    yield* rotate(this.#engine, EACH, this.#fair);
    // A round of a loop is the same state as the round before, so the search
    // may not come to the end of these turns by itself.
    const quiet = world.fault === null &&
      choices(this.#engine, this.#next) === 0;
    if (quiet) judgeHere(this.#engine, this.#o, this.#next);
    return world.fault === null
      ? null
      : this.#found(from, code, world.schedule);
  }
}

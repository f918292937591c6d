/**
 * Looks for agents that starve: the option `starvation`. Every agent repeats
 * its calls for ever. The search keeps the graph of all states, without any
 * reduction, because fairness is a matter of whole cycles.
 *
 * @module
 */
import type { Agent } from "../engine/state/agent/agent.ts";
import type { Snapshot } from "../engine/state/agent/snapshot.ts";
import { NO_BUDGET, noCuts, type WorldState } from "../engine/state/machine.ts";
import { callText } from "../engine/state/agent/operation.ts";
import { Choices, choices } from "../engine/step/choices.ts";
import { apply, begin } from "../engine/step/steps.ts";
import { Fault } from "../engine/kinds.ts";
import * as k from "../engine/kinds.ts";
import { I32, realNow } from "../engine/platform/native.ts";
import type { Engine, Steps } from "../engine/step/replay.ts";
import { NotConstant } from "../engine/signals.ts";
import { type Arc, type Place, starving } from "./cycles.ts";

/** How many states, and milliseconds, the search may take. */
export interface StarveOptions {
  readonly states: number;
  readonly time: number;
}

/** What was found. */
export interface Starved {
  /** What is wrong, if anything, and the schedule that leads to it. */
  readonly fault: Fault | null;
  readonly schedule: readonly number[];
  readonly states: number;
  /** What ended the search, or kept it from judging. */
  readonly limit?: "states" | "time" | undefined;
  readonly unjudged?: string | undefined;
}

const NONE: Starved = { fault: null, schedule: [], states: 0 };

/** A state that is not visited yet. */
interface Saved {
  readonly world: WorldState;
  readonly agents: readonly Snapshot[];
}

/**
 * Looks for an agent that starves. If one does, the agents have finite programs
 * afterwards, which the schedule fits.
 */
export function* starve(engine: Engine, o: StarveOptions): Steps<Starved> {
  const { world } = engine;
  const programs = world.agents.map(({ own }) => own);
  const { cuts, startBudget, keepsPlain } = world;
  const { recalls, trusts } = engine;
  world.startBudget = NO_BUDGET;
  world.keepsPlain = engine.recalls = engine.trusts = false;
  world.clocks = null;
  engine.overdue = null;
  engine.setTwins(false);
  engine.spins.begin(false);
  engine.late = false;
  engine.until = realNow() + o.time;
  try {
    for (;;) {
      world.cuts = noCuts();
      engine.rounds.clear();
      engine.futures.clear();
      engine.forget();
      try {
        return yield* new Repeated(engine, programs).look(o);
      } catch (error) {
        if (!(error instanceof NotConstant)) throw error;
      }
    }
  } finally {
    Object.assign(world, { cuts, startBudget, keepsPlain });
    engine.recalls = recalls;
    engine.trusts = trusts;
    engine.forget();
  }
}

/** A program that every agent repeats for ever. */
class Repeated {
  readonly #engine: Engine;
  readonly #programs: readonly Agent["own"][];
  readonly #places: Place[] = [];
  readonly #known = new Map<string, number>();
  readonly #open: (Saved | undefined)[] = [];
  /** The step by which each state was found first. */
  readonly #by: (Arc | null)[] = [];
  readonly #here = new Choices();
  readonly #key = new I32(2);

  constructor(engine: Engine, programs: readonly Agent["own"][]) {
    this.#engine = engine;
    this.#programs = programs;
  }

  /** Visits the states, and judges their cycles. */
  *look({ states, time }: StarveOptions): Steps<Starved> {
    const engine = this.#engine;
    const { world } = engine;
    const places = this.#places;
    // The second round is the one that is repeated: by then, it is known that
    // calls do the same with a handle that was used before. The third one lets
    // an agent come to the first operation after the second.
    this.#give((calls) => [...calls, ...calls, ...calls]);
    const until = realNow() + time;
    yield* begin(engine);
    this.#find(null);
    let limit: Starved["limit"];
    for (let at = 0; at < places.length; at++) {
      const unjudged = this.#unjudged();
      if (unjudged !== undefined) return { ...NONE, unjudged };
      if (places.length > states) limit = "states";
      else if (realNow() > until) limit = "time";
      if (limit !== undefined) break;
      const fault = yield* this.#visit(at);
      if (fault !== null) return fault;
    }
    const { judge } = world;
    const found = starving(places, engine.count, (place, agent) => {
      const { frontier, invoked } = place;
      const others = invoked & ~(1 << agent);
      return judge === null || frontier < 0 ||
        !judge.mayWait(frontier, [{ agent, timed: false }], others);
    });
    if (found === undefined) return { ...NONE, states: places.length, limit };
    const { agent, cycle } = found;
    const arcs = [...this.#wayTo(cycle[0]!.from), ...cycle];
    const message = `agent ${agent} starves in ` +
      `${callText(this.#callAfter(agent, arcs))}, which never ends though it ` +
      `gets its turns, while calls of others end again and again: the last ` +
      `${cycle.length} steps can come again for ever`;
    return this.#failed(new Fault("starvation", message), arcs);
  }

  /** Why nothing can be said; undefined if something can. */
  #unjudged(): string | undefined {
    const { scenario, clocked, apart } = this.#engine;
    if (scenario.async) return "the code is asynchronous";
    if (clocked) return "agents look at the clock";
    if (apart) return "agents draw random numbers or allocate memory";
    if (scenario.stateless === false) return "handles have state of their own";
    return undefined;
  }

  /** Takes each step that is possible in state `at`. */
  *#visit(at: number): Steps<Starved | null> {
    const engine = this.#engine;
    const { world } = engine;
    const here = this.#here;
    const saved = this.#open[at]!;
    this.#open[at] = undefined;
    this.#load(saved);
    choices(engine, here);
    const codes = here.codes.slice(0, here.live > 0 ? here.live : here.count);
    const place = this.#places[at]!;
    for (const code of codes.subarray(0, here.live)) {
      place.live |= 1 << k.agentOf(code);
    }
    for (const code of codes) {
      // Nobody reads an old value for ever.
      if (k.actionOf(code) === k.STALE) continue;
      this.#load(saved);
      const before = world.agents.map(({ oi }) => oi);
      yield* apply(engine, code, false);
      const ended = world.agents.map(({ oi }, id) => oi - before[id]!);
      const agent = k.agentOf(code);
      const arc = { from: at, to: -1, code, agent, ended };
      if (world.fault !== null) {
        return this.#failed(world.fault, [...this.#wayTo(at), arc]);
      }
      for (const agent of world.agents) this.#repeat(agent);
      const to = this.#find(arc);
      place.arcs.push({ ...arc, to });
    }
    return null;
  }

  /**
   * Lets an agent that has ended its second round be at the end of its first.
   */
  #repeat(agent: Agent): void {
    const { oi, invoked, n, from, id } = agent;
    const { length } = this.#programs[id]!;
    if (length === 0 || oi < 2 * length || invoked || n > from) return;
    agent.snapshot = null;
    agent.oi -= length;
    agent.results = [];
    agent.betweenCalls();
    agent.forget();
  }

  /** The number of the present state. */
  #find(by: Arc | null): number {
    const { world } = this.#engine;
    const { agents, frontier } = world;
    world.key(this.#key, false);
    const name = this.#key.join();
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const id = this.#places.length;
    const set = (is: (agent: Agent) => boolean): number =>
      agents.reduce(
        (bits, agent) => is(agent) ? bits | 1 << agent.id : bits,
        0,
      );
    this.#known.set(name, id);
    this.#by.push(by);
    this.#places.push({
      arcs: [],
      live: 0,
      invoked: set(({ invoked }) => invoked),
      timed: set(({ timed }) => timed),
      frontier,
    });
    const saved = agents.map((agent) => agent.save());
    this.#open.push({ world: world.save(), agents: saved });
    return id;
  }

  #load({ world: state, agents }: Saved): void {
    const { world } = this.#engine;
    world.load(state);
    world.schedule = [];
    agents.forEach((agent, id) => world.agents[id]!.load(agent));
  }

  /** The steps that lead to a state. */
  #wayTo(at: number): Arc[] {
    const way: Arc[] = [];
    for (let by = this.#by[at]!; by !== null; by = this.#by[by.from]!) {
      way.unshift(by);
    }
    return way;
  }

  /** Gives each agent the calls that `change` makes of its program. */
  #give(change: (calls: Agent["own"], id: number) => Agent["own"]): void {
    const { world } = this.#engine;
    for (const agent of world.agents) {
      agent.calls = agent.own = change(this.#programs[agent.id]!, agent.id);
    }
    this.#engine.forget();
  }

  /** The call in which an agent is after these steps. */
  #callAfter(id: number, arcs: readonly Arc[]): Agent["own"][number] {
    const calls = this.#programs[id]!;
    return calls[endedIn(arcs, id) % calls.length]!;
  }

  /** A failure after these steps, by agents that do not repeat their calls. */
  #failed(fault: Fault, arcs: readonly Arc[]): Starved {
    this.#give((calls, id) =>
      calls.length === 0
        ? calls
        : Array.from({ length: endedIn(arcs, id) + 1 }, (_, i) =>
          calls[i % calls.length]!)
    );
    const schedule = arcs.map(({ code }) => code);
    return { fault, schedule, states: this.#places.length };
  }
}

const endedIn = (arcs: readonly Arc[], id: number): number =>
  arcs.reduce((sum, { ended }) => sum + ended[id]!, 0);

/** What a result says of starvation. */
export function starvedText(
  { states, limit, unjudged }: Starved,
): string {
  if (unjudged !== undefined) return `starvation was not judged: ${unjudged}`;
  const some = `${states} state${states === 1 ? "" : "s"}`;
  return `no agent starves in ${limit === undefined ? "" : "the first "}` +
    `${some} of the program repeated for ever`;
}

/**
 * Samples executions of programs that have too many states: at random, by
 * partial order sampling (Yuan, Yang and Gu 2018), by PCT (Burckhardt et al.
 * 2010), and a few in strict rotation.
 *
 * @module
 */
import type { Agent } from "../../engine/state/agent/agent.ts";
import { Choices, choices } from "../../engine/step/choices.ts";
import { refill, Rotation } from "./run.ts";
import * as k from "../../engine/kinds.ts";
import type { Chooser, Operations } from "../../engine/step/operations.ts";
import type { Options } from "../../report/result.ts";
import { Random } from "../../engine/values.ts";

/** The choices in the present state; valid until the next call. */
const scratch = new Choices();

/** An unusual event is chosen this many times more rarely than a step. */
const RARE = 8;

/** Picks a choice; with `rare`, one that is unusual. */
function pick(from: Choices, random: Random, rare = false): number {
  const { codes, live, count } = from;
  const unusual = count - live;
  if (live > 0 && !rare && (unusual === 0 || random.below(RARE) !== 0)) {
    return codes[live === 1 ? 0 : random.below(live)]!;
  }
  return codes[live + random.below(unusual)]!;
}

/** Makes each choice equally likely. */
class Uniform implements Chooser {
  readonly #random: Random;

  /** The execution of `random`. */
  constructor(random: Random) {
    this.#random = random;
  }

  /** A choice. */
  choose(engine: Operations): number {
    if (choices(engine, scratch) === 0 && scratch.count === 0) return k.END;
    return pick(scratch, this.#random);
  }
}

/**
 * Gives each pending operation a random priority, and a new one when it loses a
 * race.
 */
class PartialOrder implements Chooser {
  readonly #random: Random;
  readonly #priority: number[] = [];
  readonly #drawnFor: number[] = [];

  /** The execution of `random`. */
  constructor(random: Random) {
    this.#random = random;
  }

  /** A choice. */
  choose(engine: Operations): number {
    const { codes, count, live } = refill(scratch, engine);
    if (count === 0) return k.END;
    if (live === 0 || (count > live && this.#random.below(RARE) === 0)) {
      return pick(scratch, this.#random, true);
    }
    const { agents } = engine.world;
    let best = -1;
    for (let i = 0; i < live; i++) {
      const id = k.agentOf(codes[i]!);
      const at = agents[id]!.oi * 65536 + agents[id]!.n + 1;
      if (this.#drawnFor[id] !== at) {
        this.#drawnFor[id] = at;
        this.#priority[id] = this.#random.unit();
      }
      if (best < 0 || this.#priority[id]! > this.#priority[best]!) best = id;
    }
    const chosen = agents[best]!;
    this.#drawnFor[best] = -1;
    let same = 0;
    for (let i = 0; i < live; i++) {
      const other = agents[k.agentOf(codes[i]!)]!;
      if (other === chosen) same++;
      else if (dependent(chosen, other)) this.#drawnFor[other.id] = -1;
    }
    let nth = same > 1 ? this.#random.below(same) : 0;
    for (let i = 0; i < live; i++) {
      const code = codes[i]!;
      if (k.agentOf(code) === best && nth-- === 0) return code;
    }
    return codes[0]!;
  }
}

/**
 * Gives agents random priorities. At `depth - 1` random steps, the agent with
 * the highest one gets a low one: any order of these is as likely.
 */
class Priorities implements Chooser {
  readonly #random: Random;
  readonly #priority: number[] = [];
  readonly #changes = new Map<number, number>();
  #step = 0;

  /** The execution of `random`, of about `length` steps. */
  constructor(random: Random, agents: number, depth: number, length: number) {
    this.#random = random;
    const order: number[] = [];
    for (let id = 0; id < agents; id++) {
      order.splice(random.below(id + 1), 0, id);
    }
    order.forEach((id, rank) => this.#priority[id] = depth + rank);
    for (let i = 1; i < depth; i++) {
      this.#changes.set(1 + random.below(Math.max(1, length)), i);
    }
  }

  /** A choice. */
  choose(engine: Operations): number {
    const { count, live } = refill(scratch, engine);
    if (count === 0) return k.END;
    if (live === 0) return pick(scratch, this.#random, true);
    const low = live > 1 ? this.#changes.get(++this.#step) : undefined;
    if (low !== undefined) this.#priority[k.agentOf(this.#best(live))] = low;
    if (count > live && this.#random.below(RARE) === 0) {
      return pick(scratch, this.#random, true);
    }
    return this.#best(live);
  }

  #best(live: number): number {
    const { codes } = scratch;
    let best = codes[0]!;
    for (let i = 1; i < live; i++) {
      const code = codes[i]!;
      const better = this.#priority[k.agentOf(code)]! -
        this.#priority[k.agentOf(best)]!;
      if (better > 0) best = code;
    }
    return best;
  }
}

/** Whether it matters which of two pending operations comes first. */
function dependent(a: Agent, b: Agent): boolean {
  if (a.address >= b.address + b.size || b.address >= a.address + a.size) {
    return false;
  }
  const waits = (kind: number) => kind === k.WAIT || kind === k.WAIT_ASYNC;
  if (a.kind === k.NOTIFY || b.kind === k.NOTIFY) {
    return a.kind === b.kind || waits(a.kind) || waits(b.kind);
  }
  return k.writes(a.kind) || k.writes(b.kind) ||
    (waits(a.kind) && waits(b.kind));
}

/** The depth of PCT, if the options do not say it. */
export const DEPTH = 3;

/**
 * The chooser of sample number `index`: what the options ask for; else 5/12
 * POS, 5/12 random, 1/6 PCT.
 */
export function sampler(
  { seed = 1, sample, depth = DEPTH }: Options,
  index: number,
  agents: number,
  length: number,
): Chooser {
  if (sample === undefined && index < 6) {
    return new Rotation(1 + (index >> 1), (index & 1) * agents);
  }
  const random = new Random(Math.imul(seed, 7919) + index);
  if (sample === "random") return new Uniform(random);
  if (sample === "order") return new PartialOrder(random);
  if (sample === "pct") return new Priorities(random, agents, depth, length);
  const kind = index % 12;
  if (kind < 5) return new PartialOrder(random);
  if (kind < 10) return new Uniform(random);
  return new Priorities(random, agents, 2 + random.below(4), length);
}

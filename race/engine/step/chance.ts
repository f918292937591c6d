/**
 * What an agent gets that is another thing each time: random numbers, and
 * memory of its own. It depends only on the agent's past.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { World } from "../state/core.ts";
import { RealShared } from "../platform/native.ts";
import { mix1, mix2 } from "../values.ts";

/** Begins the random numbers that are drawn while memory is made. */
const SETTING = 5;

/**
 * How many numbers of `Math.random` a call gets before some of them come again,
 * and how many these are.
 */
const DRAWN = 16;
const DRAWN_AGAIN = 4;
const QUARTERS = [2, 1, 3, 0];

const randomOf = (seed: number, draw: number): number =>
  (mix2(mix1(seed, draw), draw) >>> 0) / 4294967296;

/** The parts of the engine that are needed here. */
interface Drawer {
  /** The agent on the stack. */
  readonly current: Agent | null;
  /** Whether agents differ that do the same. */
  apart: boolean;
  readonly world: World;
  /** Whether a handle is being made. */
  readonly handles: { readonly making: boolean };
}

/** Gives agents random numbers, and memory. */
export class Chance {
  readonly #engine: Drawer;
  /** How many random numbers were drawn while memory was made. */
  #drawn = 0;

  /** For the agents of `engine`. */
  constructor(engine: Drawer) {
    this.#engine = engine;
  }

  /**
   * Allocates memory for the agent on the stack. Each replay gets the same, also
   * if it begins with a later call, and if others have other lengths there.
   */
  allocate(
    byteLength: unknown,
    options?: { readonly maxByteLength?: unknown },
  ): SharedArrayBuffer {
    const { current, handles, world } = this.#engine;
    const agent = current!;
    this.#tellApart();
    const call = handles.making ? "handle" : agent.begun;
    const length = Number(byteLength);
    const most = options?.maxByteLength;
    const key = `${call} ${agent.allocations++} ${length} ${Number(most)}`;
    let buffer = agent.allocated.get(key);
    if (buffer === undefined) {
      buffer = most === undefined
        ? new RealShared(length)
        : new RealShared(length, { maxByteLength: Number(most) });
      world.memory.add(buffer);
      agent.allocated.set(key, buffer);
    }
    return buffer;
  }

  /** A random number that depends only on the agent's past. */
  random(): number {
    const agent = this.#engine.current;
    if (agent === null) return randomOf(SETTING, this.#drawn++);
    this.#tellApart();
    const draw = agent.drawn++;
    return randomOf(mix1(agent.id + 77, agent.pos), draw);
  }

  /**
   * The same for `Math.random`. A call's first numbers differ, as names that
   * are made of them must; then some come again and again, in the same order.
   * So a loop that draws a number in each round repeats its rounds. Of four
   * numbers in a row, one is in each quarter, so that both ways are gone where
   * a number is compared with a half.
   */
  chance(): number {
    const agent = this.#engine.current;
    if (agent === null) return this.random();
    this.#tellApart();
    const draw = agent.drawn++;
    const again = DRAWN + (draw - DRAWN) % DRAWN_AGAIN;
    const at = Math.min(draw, again);
    const seed = mix1(agent.id + 77, agent.begun);
    return (QUARTERS[(at + agent.id) % 4]! + randomOf(seed, at)) / 4;
  }

  /**
   * Notes that agents that do the same meet different random numbers, or have
   * memory of their own. The search starts again without taking them for equal.
   */
  #tellApart(): void {
    const { world } = this.#engine;
    if (this.#engine.apart) return;
    this.#engine.apart = true;
    if (world.twins !== null) world.memory.surprised = true;
  }
}

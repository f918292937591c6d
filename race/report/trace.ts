/**
 * Records an execution row by row, for tables and pictures.
 *
 * @module
 */
import type { Agent } from "../engine/state/agent/agent.ts";
import type { Recorder } from "../engine/state/machine.ts";
import type { World } from "../engine/state/core.ts";
import { BLOCK } from "../engine/state/agent/operation.ts";
import * as k from "../engine/kinds.ts";
import { show } from "../engine/values.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** One row of a trace. */
export interface Row {
  readonly agent: number;
  readonly type: "begin" | "step" | "end" | "event";
  readonly text: string;
  readonly site: string;
  /** The step of the schedule that it belongs to. */
  readonly step: number;
  readonly address: number;
  readonly writes: boolean;
  /** The row of the write it read, or -1. */
  readonly source: number;
  /** Whether it is a plain access, which is drawn differently. */
  readonly plain: boolean;
}

/** The state of the machine after a row. */
export interface Scene {
  readonly memory: readonly (readonly [name: string, value: number])[];
  /** The sleepers, and what waits in the agents' event loops. */
  readonly waits: readonly string[];
  readonly now: number;
}

function sceneOf(world: World): Scene {
  const waits = world.waiters.map(({ agent, address, promise }) =>
    `agent ${agent} ${promise < 0 ? "sleeps" : `awaits promise ${promise}`} ` +
    `on ${world.memory.nameOf(address)}`
  );
  for (const { id, inbox, timers } of world.agents) {
    for (const { promise, value } of inbox) {
      waits.push(`agent ${id} has to run: promise ${promise}, ${value}`);
    }
    for (const { due } of timers) {
      waits.push(`agent ${id} has a timer that is due at ${due} ms`);
    }
  }
  for (const { message: { port, data } } of world.letters) {
    waits.push(`${world.mail.nameOf(port)} has to receive ${show(data)}`);
  }
  return { memory: world.memory.content(), waits, now: world.now };
}

/** The rows of an execution. */
export class Trace implements Recorder {
  /** The rows so far. */
  readonly rows: Row[] = [];
  /** The state of the machine after each row. */
  readonly scenes: Scene[] = [];
  readonly #lastWrite = new Map<number, number>();

  /** Prepares for the next execution. */
  clear(): void {
    this.rows.length = this.scenes.length = 0;
    this.#lastWrite.clear();
  }

  /** Adds a row that is not an operation. */
  row(world: World, agent: Agent, type: Row["type"], text: string): void {
    this.rows.push({
      agent: agent.id,
      type,
      text,
      site: "",
      step: world.schedule.length,
      address: -1,
      writes: false,
      source: -1,
      plain: false,
    });
    this.scenes.push(sceneOf(world));
  }

  /** Adds an operation. */
  step(
    world: World,
    { id, kind, address, site }: Agent,
    result: Any,
    writes: boolean,
    age: number,
  ): void {
    const agent = world.agents[id]!;
    const stale = age > 0 ? " (an old value)" : "";
    const reads = kind !== k.STORE && kind !== k.WRITE;
    const source = reads ? this.#lastWrite.get(address) ?? -1 : -1;
    if (writes) this.#lastWrite.set(address, this.rows.length);
    this.rows.push({
      agent: id,
      type: "step",
      text: describe(world, agent, result) + stale,
      site,
      step: world.schedule.length,
      address,
      writes,
      source,
      plain: k.isPlain(kind),
    });
    this.scenes.push(sceneOf(world));
  }
}

/** An operation and its result as text. */
export function describe(world: World, agent: Agent, result: Any): string {
  const { a, b, timeout } = agent;
  const at = world.memory.nameOf(agent.address);
  const name = k.OP_NAMES[agent.kind]!;
  const limit = timeout === Infinity ? "" : `, ${timeout} ms`;
  switch (agent.kind) {
    case k.LOAD:
    case k.READ:
      // A call that does nothing is a step without a word.
      return at === "" ? "no operation" : `${name} ${at} -> ${show(result)}`;
    case k.STORE:
    case k.WRITE:
      return `${name} ${at} = ${show(a)}`;
    case k.CAS: {
      const how = result === a ? "ok" : "FAILED";
      return `cas ${at} ${show(a)} => ${show(b)} -> ${show(result)} ${how}`;
    }
    case k.WAIT:
      return `wait ${at} == ${show(a)}${limit} -> ` +
        (result === BLOCK ? "sleeps" : result);
    case k.WAIT_ASYNC:
      return `waitAsync ${at} == ${show(a)}${limit} -> ` +
        (typeof result === "number" ? `promise ${result}` : result);
    case k.NOTIFY:
      return `notify ${at} ${a === Infinity ? "all" : a} -> ${result}`;
    case k.CLOCK:
      return `clock -> ${result}`;
    case k.TAKE: {
      const from = world.mail.nameOf(a);
      if (result < 0) return `${name} ${from} -> nothing`;
      return `${name} ${from} -> ${show(world.mail.at(result).data)}`;
    }
    case k.SEND: {
      const { data, port } = world.mail.at(a);
      return `post ${show(data)} to ${world.mail.nameOf(port)}`;
    }
    default:
      return `${name} ${at} ${show(a)} -> ${show(result)}`;
  }
}

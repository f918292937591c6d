/**
 * Data races by vector clocks (after FastTrack, Flanagan and Freund 2009), for
 * sampled executions: it finds races whose accesses lie far apart. Clocks
 * depend on the path, so an exhaustive search must not use them: it looks for
 * conflicting accesses that are both next, which finds the same programs.
 *
 * @module
 */
import type { Agent } from "./agent.ts";
import {
  CAS,
  CLOCK,
  isPlain,
  NOTIFY,
  READ,
  STORE,
  WRITE,
  writes,
} from "./kinds.ts";
import { I32 } from "./native.ts";

/** The latest accesses to one location. */
interface Place {
  readonly size: number;
  writer: number;
  written: number;
  atomic: boolean;
  writeSite: string;
  reads: Int32Array | null;
  readSite: string;
}

/** Watches one execution. */
export class Clocks {
  readonly #places = new Map<number, Place>();
  readonly #released = new Map<number, Int32Array>();
  readonly #agents: readonly Agent[];
  readonly #isHint: (address: number) => boolean;

  /** Watches `agents`; reads of hints do not count. */
  constructor(
    agents: readonly Agent[],
    isHint: (address: number) => boolean,
  ) {
    this.#agents = agents;
    this.#isHint = isHint;
  }

  /** Before the execution. */
  reset(): void {
    this.#places.clear();
    this.#released.clear();
    for (const agent of this.#agents) {
      agent.clock.fill(0);
      agent.clock[agent.id] = 1;
    }
  }

  /** `woken` has been notified by `agent`. */
  wake(agent: Agent, woken: Agent): void {
    join(woken.clock, agent.clock);
    agent.clock[agent.id]!++;
  }

  /** Notes an operation; says what it races with, if it does. */
  access(agent: Agent, changed: boolean): string | undefined {
    const { kind, address, size } = agent;
    if (kind === NOTIFY || kind === CLOCK) return undefined;
    if (isPlain(kind)) {
      if (kind === READ && this.#isHint(address)) {
        return this.#check(agent, address, size, false, true);
      }
      return this.#check(agent, address, size, kind === WRITE, false);
    }
    const write = writes(kind) && (kind !== CAS || changed);
    if (kind !== STORE) {
      const released = this.#released.get(address);
      if (released !== undefined) join(agent.clock, released);
    }
    const race = this.#check(agent, address, size, write, true);
    if (write) {
      // A sequentially consistent store replaces the location's clock: there
      // are no release sequences.
      this.#released.set(address, agent.clock.slice());
      agent.clock[agent.id]!++;
    }
    return race;
  }

  #check(
    agent: Agent,
    address: number,
    size: number,
    write: boolean,
    atomic: boolean,
  ): string | undefined {
    let race: string | undefined;
    for (let at = address - 7; at < address + size; at++) {
      const place = this.#places.get(at);
      if (place === undefined || at + place.size <= address) continue;
      const exact = at === address && place.size === size;
      race ??= conflict(place, agent, write, atomic && exact);
    }
    const place = this.#place(address, size);
    if (write) {
      place.writer = agent.id;
      place.written = agent.clock[agent.id]!;
      place.atomic = atomic;
      place.writeSite = agent.site;
    } else if (!atomic) {
      place.reads ??= new I32(this.#agents.length);
      place.reads[agent.id] = agent.clock[agent.id]!;
      place.readSite = agent.site;
    }
    return race;
  }

  #place(address: number, size: number): Place {
    // One location may be accessed in several sizes: the widest is kept apart
    // only if it begins elsewhere, so note the size that was used first.
    let place = this.#places.get(address);
    if (place === undefined || place.size < size) {
      place = {
        size,
        writer: -1,
        written: 0,
        atomic: false,
        writeSite: "",
        reads: null,
        readSite: "",
        ...place && { ...place, size },
      };
      this.#places.set(address, place);
    }
    return place;
  }
}

function conflict(
  place: Place,
  agent: Agent,
  write: boolean,
  bothAtomic: boolean,
): string | undefined {
  const { writer, written, reads } = place;
  if (
    writer >= 0 && writer !== agent.id && written > agent.clock[writer]! &&
    !(bothAtomic && place.atomic)
  ) {
    const how = place.atomic ? "atomic write" : "write";
    return `agent ${writer}'s ${how}${at(place.writeSite)}`;
  }
  if (!write || reads === null) return undefined;
  for (let other = 0; other < reads.length; other++) {
    if (other !== agent.id && reads[other]! > agent.clock[other]!) {
      return `agent ${other}'s plain read${at(place.readSite)}`;
    }
  }
  return undefined;
}

const at = (site: string): string => site === "" ? "" : ` at ${site}`;

function join(into: Int32Array, from: Int32Array): void {
  for (let i = 0; i < into.length; i++) {
    if (from[i]! > into[i]!) into[i] = from[i]!;
  }
}

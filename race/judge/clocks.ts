/**
 * Finds data races by vector clocks (after FastTrack, Flanagan and Freund
 * 2009), in sampled executions. This also finds races whose accesses lie far
 * apart. Clocks depend on the path, so an exhaustive search cannot use them. It
 * looks for two conflicting accesses that both come next, which finds races in
 * the same programs.
 *
 * @module
 */
import type { Agent } from "../engine/state/agent/agent.ts";
import type { RaceWatch } from "../engine/state/watch.ts";
import { isPlain, NOTIFY, READ, STORE, WRITE } from "../engine/kinds.ts";
import { I32 } from "../engine/platform/native.ts";

/** The latest accesses to one location: an address and a size. */
class Place {
  /** The execution that these accesses belong to. */
  epoch = -1;
  writer = -1;
  written = 0;
  atomic = false;
  writeSite = "";
  readonly reads: Int32Array;
  readSite = "";
  /** The clock that the latest atomic write has published. */
  readonly released: Int32Array;
  published = false;

  constructor(
    readonly address: number,
    readonly size: number,
    agents: number,
  ) {
    this.reads = new I32(agents);
    this.released = new I32(agents);
  }

  renew(epoch: number): void {
    this.epoch = epoch;
    this.writer = -1;
    this.atomic = this.published = false;
    this.reads.fill(0);
  }
}

/** Watches executions, one after the other. */
export class Clocks implements RaceWatch {
  readonly #places = new Map<number, Place>();
  readonly #agents: readonly Agent[];
  readonly #isHint: (address: number) => boolean;
  readonly #isWritten: (address: number) => boolean;
  readonly #counts: (address: number) => boolean;
  readonly #learn: (address: number) => boolean;
  #epoch = 0;
  /** Whether locations overlap; then each access must check its neighbours. */
  #mixed = false;

  /**
   * Watches `agents`; races count at addresses for which `counts` is true. If a
   * plain read races with an atomic write, `learn` says whether the word turns
   * out to be a hint.
   */
  constructor(
    agents: readonly Agent[],
    isHint: (address: number) => boolean,
    isWritten: (address: number) => boolean,
    counts: (address: number) => boolean,
    learn: (address: number) => boolean = () => false,
  ) {
    this.#agents = agents;
    this.#isHint = isHint;
    this.#isWritten = isWritten;
    this.#counts = counts;
    this.#learn = learn;
  }

  /** Prepares for the next execution. */
  reset(): void {
    this.#epoch++;
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

  /** What `agent` knows as it posts a message. */
  send({ clock, id }: Agent): Int32Array {
    const known = clock.slice();
    clock[id]!++;
    return known;
  }

  /** A message arrives at `agent` whose sender knew this. */
  receive({ clock }: Agent, known: Int32Array): void {
    join(clock, known);
  }

  /** Notes an operation. If it races with another, says with which. */
  access(agent: Agent, write: boolean): string | undefined {
    const { kind, address, size, clock, id, target } = agent;
    if (kind === NOTIFY || target === null) return undefined;
    const place = this.#place(address, size);
    const plain = isPlain(kind);
    if (!plain && kind !== STORE && place.published) {
      join(clock, place.released);
    }
    const race = this.#excused(
      agent,
      place,
      !this.#counts(address)
        ? undefined
        : this.#mixed
        ? this.#around(agent, write, plain)
        : conflict(place, agent, write, plain),
    );
    if (write) {
      place.writer = id;
      place.written = clock[id]!;
      place.atomic = kind !== WRITE;
      place.writeSite = agent.site;
    } else if (kind === READ && !this.#isHint(address)) {
      place.reads[id] = clock[id]!;
      place.readSite = agent.site;
    }
    if (plain || !write) return race;
    // A sequentially consistent store replaces the clock that the location
    // publishes: there are no release sequences.
    place.released.set(clock);
    place.published = true;
    clock[id]!++;
    return race;
  }

  /**
   * A plain read of a hint may race with atomic writes, and with plain writes
   * if the hint says so. If the word turns out to be a hint, this execution
   * does not count.
   */
  #excused(
    { kind, address }: Agent,
    place: Place,
    race: string | undefined,
  ): string | undefined {
    if (race === undefined) return undefined;
    const reads = kind === READ;
    const excused = reads &&
      (place.atomic ? this.#isHint(address) : this.#isWritten(address));
    if (excused) return undefined;
    const beside = reads ? place.atomic : !isPlain(kind);
    return beside && this.#learn(address) ? undefined : race;
  }

  #place(address: number, size: number): Place {
    let place = this.#places.get(address * 16 + size);
    if (place === undefined) {
      for (let at = address - 7; at < address + size; at++) {
        for (const other of [1, 2, 4, 8]) {
          const overlaps = at + other > address &&
            this.#places.has(at * 16 + other);
          if (overlaps) this.#mixed = true;
        }
      }
      place = new Place(address, size, this.#agents.length);
      this.#places.set(address * 16 + size, place);
    }
    if (place.epoch !== this.#epoch) place.renew(this.#epoch);
    return place;
  }

  #around(agent: Agent, write: boolean, plain: boolean): string | undefined {
    const { address, size } = agent;
    for (let at = address - 7; at < address + size; at++) {
      for (const other of [1, 2, 4, 8]) {
        if (at + other <= address) continue;
        const place = this.#places.get(at * 16 + other);
        if (place === undefined || place.epoch !== this.#epoch) continue;
        // Atomic accesses of different ranges race like plain ones.
        const inexact = at !== address || other !== size;
        const race = conflict(place, agent, write, plain || inexact);
        if (race !== undefined) return race;
      }
    }
    return undefined;
  }
}

function conflict(
  place: Place,
  agent: Agent,
  write: boolean,
  plain: boolean,
): string | undefined {
  const { writer, written, reads } = place;
  const { id, clock } = agent;
  if (
    writer >= 0 && writer !== id && written > clock[writer]! &&
    (plain || !place.atomic)
  ) {
    const how = place.atomic ? "atomic write" : "write";
    return `agent ${writer}'s ${how}${at(place.writeSite)}`;
  }
  if (!write) return undefined;
  for (let other = 0; other < reads.length; other++) {
    if (other !== id && reads[other]! > clock[other]!) {
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

import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "./_scenario.ts";

const { tail, head, claimant } = LAYOUT.record_ring;
/** Read plainly by the agent whose they are, or before an exchange. */
const HINTS = [tail, head, claimant].map((i) => [i * 4, i * 4 + 4] as const);

interface Model {
  readonly items: readonly number[];
  readonly closed: boolean;
}

/**
 * A ring of 64 bytes, of which a record here takes `size` + 8; the consumer is
 * agent 0. Record `v` consists of that byte, `size` times.
 */
function ring(weft: Weft, single: boolean, start: number, size: number) {
  const { RecordRing, ClosedError } = weft.mod;
  const orClosed = <T>(operation: () => T): T | "closed" => {
    try {
      return operation();
    } catch (error) {
      if (error instanceof ClosedError) return "closed";
      throw error;
    }
  };
  const valueOf = (record: Uint8Array | undefined) =>
    record?.every((byte) => byte === record[0]) === false
      ? "torn"
      : record?.[0];
  const add = (s: Model, v: number): Model => ({
    ...s,
    items: [...s.items, v],
  });
  const popped = (s: Model): [Model, unknown] =>
    s.items.length > 0
      ? [{ ...s, items: s.items.slice(1) }, s.items[0]]
      : [s, s.closed ? "closed" : undefined];
  return race.spec({
    memory: () => {
      const { buffer } = RecordRing.create({ capacity: 64, single });
      const words = new Int32Array(buffer);
      const { head_cache, tail_cache } = LAYOUT.record_ring;
      for (const i of [tail, head, head_cache, tail_cache]) words[i] = start;
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new RecordRing(memory);
    },
    words: named(LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    init: { items: [], closed: false } as Model,
    ops: {
      push: {
        run: (ring, v: number) =>
          orClosed(() => ring.push(new Uint8Array(size).fill(v))),
        model: (s: Model, v: number) =>
          s.closed ? [s, "closed"] : [add(s, v), true],
      },
      pop: {
        run: (ring) => orClosed(() => valueOf(ring.pop())),
        model: (s: Model) => s.closed || s.items.length > 0 ? popped(s) : null,
      },
      tryPop: {
        run: (ring) => orClosed(() => valueOf(ring.tryPop())),
        model: (s: Model) =>
          race.either(popped(s), race.contended([s, undefined])),
      },
      close: {
        run: (ring) => ring.close(),
        model: (s: Model) => [{ ...s, closed: true }, undefined],
      },
    },
  });
}

/** Reservations of agents that may end anywhere; others clear up. */
function dying(weft: Weft) {
  const { RecordRing } = weft.mod;
  return race.spec({
    memory: () => RecordRing.create({ capacity: 64 }).buffer,
    agent: (memory, id) => {
      enter(weft, id);
      return new RecordRing(memory);
    },
    words: named(LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    ops: {
      inPlace: {
        run: (ring, v: number) => {
          const at = ring.reserve(1);
          if (at < 0) return false;
          ring.bytes[at] = v;
          ring.commit();
          return true;
        },
      },
      tryPop: { run: (ring) => ring.tryPop()?.[0] },
    },
    recover: (ring, dead) => ring.abandon(dead + 1),
    final: (memory) => {
      const ring = new RecordRing(memory);
      if (ring.claimant !== 0) return "the claim was never ended";
    },
  });
}

/** Every interleaving of a ring's operations. */
export const record_ring = (weft: Weft): Scenario[] => [
  {
    name: "one producer, over the end",
    spec: ring(weft, true, 48, 4),
    agents: [[["pop"], ["pop"]], [["push", 1], ["push", 2]]],
  },
  {
    name: "one producer, room for one record",
    spec: ring(weft, true, 0x7fff_ffe8, 24),
    agents: [[["pop"], ["pop"]], [["push", 1], ["push", 2]]],
    options: { states: 60_000 },
    sampled: true,
  },
  {
    name: "two producers, one consumer",
    spec: ring(weft, false, 56, 4),
    agents: [[["pop"]], [["push", 1]], [["push", 2]]],
    options: { states: 60_000 },
    sampled: true,
  },
  {
    name: "two producers, room for both",
    spec: ring(weft, false, 0, 4),
    agents: [[], [["push", 1]], [["push", 2]]],
    options: { timeouts: 0 },
  },
  {
    name: "a producer that waits for room",
    spec: ring(weft, true, 0x7fff_ffc0, 24),
    agents: [[["pop"]], [["push", 1], ["push", 2], ["push", 3]]],
    options: { timeouts: 0 },
  },
  {
    name: "a producer and the end, and what is left then",
    spec: ring(weft, false, 0, 4),
    agents: [[["close"], ["pop"]], [["push", 1]]],
    options: { timeouts: 0 },
  },
  {
    name: "one sleeps until another closes",
    spec: ring(weft, false, 0, 4),
    agents: [[["pop"]], [["close"]]],
    options: { timeouts: 0 },
  },
  {
    name: "a producer and the end",
    spec: ring(weft, false, 0, 4),
    agents: [[["tryPop"], ["close"]], [["push", 1]]],
  },
  {
    name: "one sleeps until close",
    spec: ring(weft, false, 0, 4),
    agents: [[["pop"]], [["push", 1], ["close"]]],
  },
  {
    name: "a producer terminated at any step",
    spec: dying(weft),
    agents: [[["tryPop"], ["tryPop"]], [["inPlace", 1]]],
    options: { kill: true },
  },
];

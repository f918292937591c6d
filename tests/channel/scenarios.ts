import { race } from "../../race/mod.ts";
import type { Carrier, Codec } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  named,
  orClosed,
  type Scenario,
  type Weft,
} from "../_run/scenario.ts";
import { endedScenarios } from "./ended.ts";
import { handoffScenarios } from "./handoff.ts";

const HEAD = LAYOUT.channel.length * 4;

/** Room for a text of 16 bytes: a ring of 64 bytes. */
const ONE_TEXT = { capacity: 1, messageSize: 16 };

interface Model {
  readonly items: readonly unknown[];
  readonly closed: boolean;
}

/** Words of the carrier that are read plainly before an exchange. */
const hints = (words: readonly number[]) =>
  words.map((i) => [HEAD + i * 4, HEAD + i * 4 + 4] as const);

/** The words of what carries messages, and those of its hints. */
function carrierOf(sized: boolean, carrier?: Carrier) {
  const { mpmc_queue, spsc_queue, lock_free_queue, record_ring } = LAYOUT;
  if (carrier?.name === "lockFree") {
    const { tail, head, free_tail, free_head, length } = lock_free_queue;
    const slots = [HEAD + length * 4, HEAD + (length + 4) * 4] as const;
    const words = hints([tail, head, free_tail, free_head]);
    return { row: lock_free_queue, hints: [...words, slots] };
  }
  if (!sized && carrier?.name !== "manyToMany") {
    const { tail, head, claimant } = record_ring;
    return { row: record_ring, hints: hints([tail, head, claimant]) };
  }
  const row = carrier?.name === "oneToOne" ? spsc_queue : mpmc_queue;
  return { row, hints: hints([row.tail, row.head]) };
}

/**
 * A channel of one message. The model's state is that message. A message may
 * have come and gone `before`.
 */
function carrying(
  weft: Weft,
  codec: Codec<unknown>,
  carrier?: Carrier,
  before?: unknown,
) {
  const { Channel } = weft.mod;
  const sized = "field" in codec;
  const room = sized ? { capacity: 1 } : ONE_TEXT;
  const by = { codec, ...carrier === undefined ? {} : { carrier } };
  const carried = carrierOf(sized, carrier);
  const received = (s: Model): [Model, unknown] =>
    s.items.length > 0
      ? [{ ...s, items: s.items.slice(1) }, s.items[0]]
      : [s, s.closed ? "closed" : undefined];
  const sent = (s: Model, v: unknown): [Model, unknown] =>
    s.closed ? [s, "closed"] : [{ ...s, items: [...s.items, v] }, undefined];
  return race.spec({
    memory: () => {
      const channel = Channel.create({ ...by, ...room });
      if (before !== undefined) {
        channel.trySend(before);
        channel.tryReceive();
        channel.abandon(weft.mod.agentId()); // others take its roles
      }
      return channel.buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new Channel(memory, 0, by);
    },
    words: named(carried.row, HEAD),
    hints: carried.hints,
    stateless: false,
    init: { items: [], closed: false } as Model,
    ops: {
      send: {
        run: (channel, v: unknown) => orClosed(weft, () => channel.send(v)),
        model: sent,
      },
      receive: {
        run: (channel) => orClosed(weft, () => channel.receive()),
        model: (s: Model) =>
          s.closed || s.items.length > 0 ? received(s) : null,
      },
      tryReceive: {
        run: (channel) => orClosed(weft, () => channel.tryReceive()),
        model: (s: Model) =>
          race.either(received(s), race.contended([s, undefined])),
      },
      close: {
        run: (channel) => channel.close(),
        model: (s: Model) => [{ ...s, closed: true }, undefined],
      },
    },
  });
}

/** A sender of text that may be terminated anywhere; others clear up. */
function dying(weft: Weft) {
  const { Channel, codec } = weft.mod;
  const { text } = codec;
  const long = "a".repeat(9);
  return race.spec({
    memory: () => Channel.create({ codec: text, ...ONE_TEXT }).buffer,
    agent: (memory, id) => {
      enter(weft, id);
      return new Channel(memory, 0, { codec: text });
    },
    words: named(LAYOUT.record_ring, HEAD),
    hints: hints([
      LAYOUT.record_ring.tail,
      LAYOUT.record_ring.head,
      LAYOUT.record_ring.claimant,
    ]),
    stateless: false,
    ops: {
      trySend: { run: (channel) => channel.trySend(long) },
      tryReceive: {
        run: (channel) => {
          const message = channel.tryReceive();
          return message === undefined || message === long ? "whole" : message;
        },
      },
    },
    recover: (channel, dead) => channel.abandon(dead + 1),
    final: (memory, results) => {
      const { claimant } = new weft.mod.RecordRing(memory, HEAD);
      if (claimant !== 0) return "nothing can be sent any more";
      for (const result of results[0] ?? []) {
        if (result !== "whole") return `torn: ${result}`;
      }
    },
  });
}

/** A sender that may be terminated anywhere; nobody needs to clear up. */
function fallen(weft: Weft, codec: Codec<unknown>, carrier: Carrier) {
  const { Channel } = weft.mod;
  const by = { codec, carrier };
  const carried = carrierOf(true, carrier);
  return race.spec({
    memory: () => Channel.create({ ...by, capacity: 2 }).buffer,
    agent: (memory, id) => {
      enter(weft, id);
      return new Channel(memory, 0, by);
    },
    words: named(carried.row, HEAD),
    hints: carried.hints,
    stateless: false,
    ops: {
      trySend: {
        run: (channel, v: number) => channel.trySend(v) ? "sent" : "full",
      },
      tryReceive: { run: (channel) => channel.tryReceive() ?? "none" },
    },
    recover: () => {},
    final: (_, results) => {
      for (const result of results[0] ?? []) {
        if (result !== "none" && !WHOLE.includes(result as number)) {
          return `torn: ${result}`;
        }
      }
    },
  });
}

/** Numbers whose two words differ. */
const WHOLE: readonly number[] = [1 / 3, -2 / 7];

/**
 * A digit, twice, in as many bytes as fit; 0 is shorter. It is read by loads
 * alone, because the tester cannot see what a platform's function reads.
 */
const DIGITS: Codec<unknown> = {
  name: "digits",
  encode(value, into) {
    if (into.length >= 24) into[0] = into[16] = value as number;
    return value === 0 ? 8 : 24;
  },
  decode(bytes) {
    const [first] = bytes;
    if (first === 0) return 0;
    return bytes[16] === first ? first : "torn";
  },
};

const ALL = { notInC: "C knows no carriers that are chosen" };

/** The scenarios of the carriers that are chosen. */
function ofCarriers(weft: Weft): Scenario[] {
  const { codec, lockFree, manyToMany, oneToOne } = weft.mod;
  const f64 = codec.f64 as Codec<unknown>;
  const text = codec.text as Codec<unknown>;
  return [oneToOne, manyToMany, lockFree].flatMap((carrier): Scenario[] => {
    const numbers = carrying(weft, f64, carrier);
    const words = carrying(weft, text, carrier);
    const { name } = carrier;
    const inPlace = carrier === oneToOne;
    return [{
      ...ALL,
      name: `${name}: numbers, one sends twice, one receives twice`,
      spec: numbers,
      agents: [
        [["send", WHOLE[0]], ["send", WHOLE[1]]],
        [["receive"], ["receive"]],
      ],
      options: { states: 10_000 },
      sampled: true,
    }, {
      ...ALL,
      name: `${name}: numbers, the end while one sends`,
      spec: numbers,
      agents: [[["send", WHOLE[0]]], [["close"], ["tryReceive"]]],
    }, {
      ...ALL,
      name: `${name}: text, one receives until the end`,
      spec: words,
      agents: [[["receive"]], [["send", "ü"], ["close"]]],
      ...inPlace ? {} : { options: { states: 10_000 }, sampled: true },
    }, {
      ...ALL,
      name: `${name}: text, the end while one sends`,
      spec: words,
      agents: [[["send", "ab"]], [["close"], ["tryReceive"]]],
      ...inPlace ? {} : { options: { states: 10_000 }, sampled: true },
    }];
  }).concat({
    ...ALL,
    // The second is written where the end of the first was.
    name: "oneToOne: two through room for one",
    spec: carrying(weft, DIGITS, oneToOne, 0),
    agents: [[["send", 1], ["send", 2]], [["receive"], ["receive"]]],
    options: { states: 5_000 },
    sampled: true,
  }).concat([oneToOne, lockFree].map((carrier): Scenario => ({
    ...ALL,
    name: `${carrier.name}: a sender terminated at any step`,
    spec: fallen(weft, f64, carrier),
    agents: [
      [["tryReceive"], ["tryReceive"]],
      [["trySend", WHOLE[0]], ["trySend", WHOLE[1]]],
    ],
    options: { kill: true, states: 20_000 },
    sampled: true,
  })));
}

/** Every interleaving of a channel's operations. */
export function scenarios(weft: Weft): Scenario[] {
  const { f64, text } = weft.mod.codec;
  const numbers = carrying(weft, f64 as Codec<unknown>);
  const words = carrying(weft, text as Codec<unknown>);
  return [
    {
      name: "numbers, room for one, one sends and one receives",
      spec: numbers,
      agents: [[["send", 0.5], ["send", 1.5]], [["receive"], ["receive"]]],
      options: { states: 60_000 },
      sampled: true,
    },
    {
      name: "numbers, a look and the end",
      spec: numbers,
      agents: [[["send", 0.5], ["close"]], [["tryReceive"], ["receive"]]],
    },
    {
      name: "numbers, the end before one sends, or after",
      differs: "TypeScript reads a number byte by byte; C writes a message's " +
        "padding first; and a number is copied word by word in " +
        "TypeScript, and at once in C",
      spec: numbers,
      agents: [[["send", 0.5]], [["close"], ["tryReceive"]]],
    },
    {
      name: "text, one receives until the end",
      spec: words,
      agents: [[["receive"], ["receive"]], [["send", "ü"], ["close"]]],
    },
    {
      name: "text, two send",
      spec: words,
      agents: [[["receive"]], [["send", "a"]], [["send", ""]]],
      options: { states: 60_000 },
      sampled: true,
    },
    {
      name: "a sender terminated at any step",
      spec: dying(weft),
      agents: [[["tryReceive"], ["tryReceive"]], [["trySend"]]],
      options: { kill: true },
    },
    ...ofCarriers(weft),
    ...endedScenarios(weft),
    ...handoffScenarios(weft),
  ];
}

// The scenarios of a channel of capacity 0.
import { race } from "../../race/mod.ts";
import type { Codec } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  named,
  orClosed,
  type Scenario,
  TRIES_AGAIN,
  type Weft,
} from "../_run/scenario.ts";

interface Model {
  /** What was handed over, and not received yet. */
  readonly items: readonly number[];
  readonly closed: boolean;
  /** How many receivers have come, and not ended. */
  readonly came: number;
  /** Whether agent 9, which is dead, has an offer that is not ended yet. */
  readonly dead: boolean;
}

const { handoff, writer } = LAYOUT.channel;
/** Where the message lies. */
export const MESSAGE = LAYOUT.channel.length + 4;

/** A receiver reads a message before the exchange by which it takes it. */
export const messageAt = (byte: number) =>
  [byte + MESSAGE * 4, byte + MESSAGE * 4 + 4, "written"] as const;

/** What is wrong with the words at `at` when all is over. */
export function leftAt(words: Int32Array, at = 0): string | undefined {
  const state = words[at + handoff]!;
  if ((state & 0x1f8) !== 0) return `offers are left: ${state}`;
  if (words[at + writer] !== 0) {
    return `a writer is left: ${words[at + writer]}`;
  }
}

/**
 * What agent 9 left at the start, which is dead: its id as that of the writer,
 * the bits of an offer, or of a message that was handed to it.
 */
const WRITER_LEFT = "writer", OFFER_LEFT = 8, HANDED_LEFT = 2;

/** The message that was handed to it. */
const LOST = 9;

/**
 * A channel of numbers without room. Each receiver says `come` before it begins
 * to receive: without one that has come, nothing can be sent.
 */
function handing(
  weft: Weft,
  left?: typeof WRITER_LEFT | typeof OFFER_LEFT | typeof HANDED_LEFT,
) {
  const { Channel, codec } = weft.mod;
  const by = { codec: codec.i32 };
  const dead = typeof left === "number";
  const gone = (s: Model, result: unknown): [Model, unknown] => [
    { ...s, came: s.came - 1 },
    result,
  ];
  const taken = (s: Model): [Model, unknown] =>
    gone({ ...s, items: s.items.slice(1) }, s.items[0]);
  const sent = (s: Model, v: number, result: unknown): [Model, unknown] => [
    { ...s, items: [...s.items, v] },
    result,
  ];
  const canSend = (s: Model) => s.came > s.items.length;
  return race.spec({
    memory: () => {
      const { buffer } = Channel.create({ ...by, capacity: 0 });
      const words = new Int32Array(buffer);
      if (left === WRITER_LEFT) words[writer] = 9;
      else if (left !== undefined) words[handoff] = left;
      if (left === HANDED_LEFT) words[MESSAGE] = LOST;
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new Channel(memory, 0, by);
    },
    words: { ...named(LAYOUT.channel), message: MESSAGE * 4 },
    hints: [messageAt(0)],
    stateless: false,
    init: {
      items: left === HANDED_LEFT ? [LOST] : [],
      closed: false,
      came: dead ? 1 : 0,
      dead,
    } as Model,
    ops: {
      come: {
        run: (channel) => void channel.closed, // a step that others may precede
        model: (s: Model) => [{ ...s, came: s.came + 1 }, undefined],
      },
      send: {
        run: (channel, v: number) => orClosed(weft, () => channel.send(v)),
        model: (s: Model, v: number) => {
          const closed = s.closed ? [[s, "closed"] as [Model, unknown]] : [];
          // Of one that waits, a receiver may take the message after the end.
          const outcomes = canSend(s)
            ? [...closed, sent(s, v, undefined)]
            : closed;
          return outcomes.length > 0 ? race.either(...outcomes) : null;
        },
      },
      sendFor: {
        run: (channel, v: number) =>
          orClosed(weft, () => channel.trySend(v, 5)),
        model: (s: Model, v: number) =>
          canSend(s)
            ? race.either(race.timedOut([s, false]), sent(s, v, true))
            : race.timedOut([s, false]),
      },
      trySend: {
        run: (channel, v: number) => orClosed(weft, () => channel.trySend(v)),
        model: (s: Model, v: number) =>
          s.closed
            ? [s, "closed"]
            : canSend(s)
            ? race.either([s, false], sent(s, v, true))
            : [s, false],
      },
      receive: {
        run: (channel) => orClosed(weft, () => channel.receive()),
        model: (s: Model) =>
          s.items.length > 0 ? taken(s) : s.closed ? gone(s, "closed") : null,
      },
      receiveFor: {
        run: (channel) => orClosed(weft, () => channel.tryReceive(5)),
        model: (s: Model) =>
          s.items.length > 0
            ? race.either(taken(s), race.timedOut(gone(s, undefined)))
            : s.closed
            ? gone(s, "closed")
            : race.timedOut(gone(s, undefined)),
      },
      tryReceive: {
        run: (channel) => orClosed(weft, () => channel.tryReceive()),
        model: (s: Model) =>
          s.items.length > 0
            ? race.either(taken(s), race.contended(gone(s, undefined)))
            : gone(s, s.closed ? "closed" : undefined),
      },
      close: {
        run: (channel) => channel.close(),
        model: (s: Model) => [{ ...s, closed: true }, undefined],
      },
      abandon: {
        run: (channel) => void channel.abandon(9),
        model: (s: Model) => [
          s.dead ? { ...s, came: s.came - 1, dead: false } : s,
          undefined,
        ],
      },
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      // What was handed to the dead receiver lies there for the next one.
      const state = dead ? words[handoff]! & ~1 : words[handoff]!;
      const { offer_waiters, message_waiters, room_waiters, taken_waiters } =
        LAYOUT.channel;
      const waiters = [
        offer_waiters,
        message_waiters,
        room_waiters,
        taken_waiters,
      ].map((index) => words[index]);
      if (waiters.some((n) => n !== 0)) return `waiters are left: ${waiters}`;
      if ((state & 3) !== 0) return `a message is left: ${state}`;
      return leftAt(words);
    },
  });
}

/** Agents of which one may be terminated anywhere; the others recover it. */
function dying(weft: Weft, by: { codec: Codec<number> }) {
  const { Channel } = weft.mod;
  return race.spec({
    memory: () => Channel.create({ ...by, capacity: 0 }).buffer,
    agent: (memory, id) => {
      enter(weft, id);
      return new Channel(memory, 0, by);
    },
    words: { ...named(LAYOUT.channel), message: MESSAGE * 4 },
    hints: [messageAt(0), messageAt(4)],
    stateless: false,
    ops: {
      sendFor: {
        run: (channel, v: number) => void channel.trySend(v, 5),
      },
      trySend: {
        run: (channel, v: number) => void channel.trySend(v),
      },
      receiveFor: { run: (channel) => channel.tryReceive(5) },
      tryReceive: { run: (channel) => channel.tryReceive() },
    },
    recover: (channel, dead) => channel.abandon(dead + 1),
    final: (memory, results) => {
      const got = results.flat().filter((result) => result !== undefined);
      if (!got.every((v) => WHOLE.includes(v as number))) return `torn: ${got}`;
      if (new Set(got).size < got.length) return `received twice: ${got}`;
      return leftAt(new Int32Array(memory));
    },
  });
}

/** Numbers whose two words differ, if they have two. */
const WHOLE: readonly number[] = [1, 2, 1 / 3, -2 / 7];

/** The race scenarios of a channel of capacity 0. */
export function handoffScenarios(weft: Weft): Scenario[] {
  const { codec } = weft.mod;
  const spec = handing(weft);
  const fallen = dying(weft, { codec: codec.i32 });
  const differs = TRIES_AGAIN;
  const receive = [["come"], ["receive"]] as const;
  const look = [["come"], ["tryReceive"]] as const;
  const receiveFor = [["come"], ["receiveFor"]] as const;
  const scenario = (
    name: string,
    agents: Scenario["agents"],
    more: Partial<Scenario> = {},
  ): Scenario => ({
    name: `capacity 0: ${name}`,
    spec,
    agents,
    ...more,
  });
  const kill = { kill: true, rescue: true };
  const large = { options: { states: 20_000 }, sampled: true };
  return [
    scenario("one sends and one receives", [[["send", 1]], receive]),
    scenario("one sends twice, one receives twice", [
      [["send", 1], ["send", 2]],
      [...receive, ...receive],
    ], { options: { states: 20_000 }, sampled: true }),
    scenario("two send, one receives", [
      [["send", 1]],
      [["send", 2]],
      [...receive, ...receive],
    ], { options: { states: 20_000 }, sampled: true }),
    scenario("one sends, two receive", [
      [["send", 1], ["send", 2]],
      receive,
      receive,
    ], { options: { states: 20_000 }, sampled: true }),
    scenario("a look that sends beside one that waits", [
      [["trySend", 1], ["trySend", 2]],
      receiveFor,
    ], { differs }),
    scenario("a look that receives beside one that waits", [
      [["sendFor", 1]],
      [...look, ...look],
    ], { differs }),
    scenario("both give up", [[["sendFor", 1]], receiveFor]),
    scenario("one gives up to receive, one looks", [
      [["trySend", 1]],
      receiveFor,
      look,
    ]),
    scenario("two give up to send, one looks", [
      [["sendFor", 1]],
      [["sendFor", 2]],
      look,
    ], { options: { states: 20_000 }, sampled: true }),
    scenario("the end while one sends", [
      [["send", 1]],
      [["close"], ...look],
    ], { differs }),
    scenario("the end while one sends to nobody", [
      [["send", 1]],
      [["close"]],
    ], { differs }),
    scenario("the end while one sends to a receiver that waits", [
      [["trySend", 1]],
      receive,
      [["close"]],
    ], { options: { states: 100_000 }, sampled: true }),
    scenario("the end while one receives", [
      receive,
      [["trySend", 1], ["close"]],
    ]),
    scenario("the end while one sends and one receives", [
      [["send", 1]],
      receive,
      [["close"]],
    ], { options: { states: 40_000 }, sampled: true }),
    scenario("a dead receiver's offer is ended while one sends", [
      [["trySend", 1]],
      receiveFor,
      [["abandon"]],
    ], { spec: handing(weft, OFFER_LEFT), ...large }),
    scenario("what a dead receiver was handed is for the next one", [
      [["trySend", 1]],
      look,
      [["abandon"]],
    ], { spec: handing(weft, HANDED_LEFT) }),
    scenario("a dead writer's place is freed while one sends", [
      [["sendFor", 1]],
      receiveFor,
      [["abandon"]],
    ], { spec: handing(weft, WRITER_LEFT), ...large }),
    scenario("a dead writer keeps nobody from sending", [
      [["send", 1]],
      receive,
      [["abandon"]],
    ], { spec: handing(weft, WRITER_LEFT), ...large }),
    scenario("two send, and one of nothing is abandoned", [
      [["sendFor", 1]],
      [["sendFor", 2]],
      [["abandon"], ...look],
    ], large),
    scenario("one sends and one receives, terminated at any step", [
      [["sendFor", 1]],
      [["receiveFor"]],
    ], { spec: fallen, options: kill }),
    scenario("one looks to send and one waits, terminated at any step", [
      [["trySend", 1], ["trySend", 2]],
      [["receiveFor"]],
    ], { spec: fallen, options: kill }),
    scenario("one waits and one looks, terminated at any step", [
      [["sendFor", 1]],
      [["tryReceive"], ["tryReceive"]],
    ], { spec: fallen, options: kill }),
    scenario("two send and one receives, terminated at any step", [
      [["sendFor", 1]],
      [["sendFor", 2]],
      [["receiveFor"]],
    ], {
      spec: fallen,
      options: { ...kill, states: 20_000 },
      sampled: true,
    }),
    scenario("one sends and two receive, terminated at any step", [
      [["trySend", 1], ["sendFor", 2]],
      [["receiveFor"]],
      [["receiveFor"]],
    ], {
      spec: fallen,
      options: { ...kill, states: 20_000 },
      sampled: true,
    }),
    scenario("a number of two words, terminated at any step", [
      [["sendFor", WHOLE[2]], ["sendFor", WHOLE[3]]],
      [["receiveFor"], ["tryReceive"]],
    ], {
      spec: dying(weft, { codec: codec.f64 }),
      options: { ...kill, states: 20_000 },
      sampled: true,
    }),
  ];
}

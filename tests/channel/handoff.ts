// The scenarios of a channel of capacity 0.
import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  named,
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
}

const { handoff } = LAYOUT.channel;
/** Where the message lies. */
const MESSAGE = LAYOUT.channel.length + 4;

/**
 * A channel of numbers without room. Each receiver says `come` before it begins
 * to receive: without one that has come, nothing can be sent.
 */
function handing(weft: Weft) {
  const { Channel, ClosedError, codec } = weft.mod;
  const by = { codec: codec.i32 };
  const orClosed = <T>(operation: () => T): T | "closed" => {
    try {
      return operation();
    } catch (error) {
      if (error instanceof ClosedError) return "closed";
      throw error;
    }
  };
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
    memory: () => Channel.create({ ...by, capacity: 0 }).buffer,
    agent: (memory, id) => {
      enter(weft, id);
      return new Channel(memory, 0, by);
    },
    words: { ...named(LAYOUT.channel), message: MESSAGE * 4 },
    stateless: false,
    init: { items: [], closed: false, came: 0 } as Model,
    ops: {
      come: {
        run: (channel) => void channel.closed, // a step that others may precede
        model: (s: Model) => [{ ...s, came: s.came + 1 }, undefined],
      },
      send: {
        run: (channel, v: number) => orClosed(() => channel.send(v)),
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
        run: (channel, v: number) => orClosed(() => channel.trySend(v, 5)),
        model: (s: Model, v: number) =>
          canSend(s)
            ? race.either(race.timedOut([s, false]), sent(s, v, true))
            : race.timedOut([s, false]),
      },
      trySend: {
        run: (channel, v: number) => orClosed(() => channel.trySend(v)),
        model: (s: Model, v: number) =>
          s.closed
            ? [s, "closed"]
            : canSend(s)
            ? race.either([s, false], sent(s, v, true))
            : [s, false],
      },
      receive: {
        run: (channel) => orClosed(() => channel.receive()),
        model: (s: Model) =>
          s.items.length > 0 ? taken(s) : s.closed ? gone(s, "closed") : null,
      },
      receiveFor: {
        run: (channel) => orClosed(() => channel.tryReceive(5)),
        model: (s: Model) =>
          s.items.length > 0
            ? race.either(taken(s), race.timedOut(gone(s, undefined)))
            : s.closed
            ? gone(s, "closed")
            : race.timedOut(gone(s, undefined)),
      },
      tryReceive: {
        run: (channel) => orClosed(() => channel.tryReceive()),
        model: (s: Model) =>
          s.items.length > 0
            ? race.either(taken(s), race.contended(gone(s, undefined)))
            : gone(s, s.closed ? "closed" : undefined),
      },
      close: {
        run: (channel) => channel.close(),
        model: (s: Model) => [{ ...s, closed: true }, undefined],
      },
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      const state = words[handoff]!;
      const { offer_waiters, message_waiters, room_waiters, taken_waiters } =
        LAYOUT.channel;
      const waiters = [
        offer_waiters,
        message_waiters,
        room_waiters,
        taken_waiters,
      ].map((index) => words[index]);
      if (waiters.some((n) => n !== 0)) return `waiters are left: ${waiters}`;
      if ((state & 0x3f0) !== 0) return `offers are left: ${state}`;
      if ((state & 7) !== 0) return `a message is left: ${state}`;
    },
  });
}

interface Chosen {
  /** What was handed over at each channel, and not received yet. */
  readonly items: readonly (readonly number[])[];
  /** How many receivers wait, or are about to, at both channels. */
  readonly came: number;
}

/** Two such channels in one memory, between which agents choose. */
function choosing(weft: Weft) {
  const { Channel, codec, select, sending } = weft.mod;
  const by = { codec: codec.i32 };
  const bytes = Channel.byteLength({ ...by, capacity: 0 });
  const both = (memory: SharedArrayBuffer) =>
    [0, bytes].map((at) => new Channel(memory, at, by));
  const changed = (s: Chosen, at: number, items: readonly number[]) => ({
    ...s,
    items: s.items.map((old, i) => i === at ? items : old),
  });
  const taken = (s: Chosen, at: number): [Chosen, unknown] => {
    const [first, ...rest] = s.items[at]!;
    return [{ ...changed(s, at, rest), came: s.came - 1 }, first];
  };
  const takes = (s: Chosen) =>
    [0, 1].filter((at) => s.items[at]!.length > 0).map((at) => taken(s, at));
  const sent = (s: Chosen, at: number, v: number, result: unknown) =>
    [changed(s, at, [...s.items[at]!, v]), result] as [Chosen, unknown];
  const canSend = (s: Chosen, at: number) => s.came > s.items[at]!.length;
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(2 * bytes);
      for (const at of [0, bytes]) {
        Channel.init(memory, at, { ...by, capacity: 0 });
      }
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return both(memory);
    },
    words: { ...named(LAYOUT.channel), handoff_1: bytes + handoff * 4 },
    stateless: false,
    init: { items: [[], []], came: 0 } as Chosen,
    ops: {
      come: {
        run: ([channel]) => void channel!.closed,
        model: (s: Chosen) => [{ ...s, came: s.came + 1 }, undefined],
      },
      pick: {
        run: (channels) => select.blocking(channels, { order: "first" }).value,
        model: (s: Chosen) => {
          const outcomes = takes(s);
          return outcomes.length > 0 ? race.either(...outcomes) : null;
        },
      },
      pickFor: {
        run: (channels) =>
          select.blocking(channels, { order: "first", timeout: 5 })?.value,
        model: (s: Chosen) =>
          race.either(
            race.timedOut([{ ...s, came: s.came - 1 }, undefined]),
            ...takes(s),
          ),
      },
      put: {
        run: ([channel], v: number) =>
          void select.blocking([sending(channel!, v)]),
        model: (s: Chosen, v: number) =>
          canSend(s, 0) ? sent(s, 0, v, undefined) : null,
      },
      receive: {
        run: ([channel]) => channel!.receive(),
        model: (s: Chosen) => s.items[0]!.length > 0 ? taken(s, 0) : null,
      },
      // Odd numbers go through the second channel.
      trySend: {
        run: (channels, v: number) => channels[v & 1]!.trySend(v),
        model: (s: Chosen, v: number) =>
          canSend(s, v & 1)
            ? race.either([s, false], sent(s, v & 1, v, true))
            : [s, false],
      },
    },
    final: (memory, results) => {
      const words = new Int32Array(memory);
      let left = 0;
      for (const at of [0, bytes / 4]) {
        const state = words[at + handoff]!;
        if ((state & 0x3f0) !== 0) return `offers are left: ${state}`;
        if ((state & 7) === 2) left++; // it is for the next receiver
        else if ((state & 7) !== 0) return `its phase is left: ${state}`;
      }
      const all = results.flat();
      const given = all.filter((result) => result === true).length;
      const got = all.filter((result) => typeof result === "number").length;
      if (given > 0 && given - got !== left) return `${left} are left`;
    },
  });
}

/** The race scenarios of a channel of capacity 0. */
export function handoffScenarios(weft: Weft): Scenario[] {
  const spec = handing(weft);
  const differs = TRIES_AGAIN;
  const chosen = choosing(weft);
  const notInC = "C's select refuses channels of capacity 0";
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
    scenario("select receives from one of two channels", [
      [["come"], ["pickFor"]],
      [["trySend", 2]],
      [["trySend", 1]],
    ], { spec: chosen, notInC }),
    scenario("select sends to a receiver that waits", [
      [["put", 2]],
      [["come"], ["receive"]],
    ], { spec: chosen, notInC }),
    scenario("select sends to another select", [
      [["put", 2]],
      [["come"], ["pick"]],
    ], { spec: chosen, notInC }),
  ];
}

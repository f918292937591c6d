// The scenarios of senders and receivers that a channel counts.
import { race } from "../../race/mod.ts";
import { Channel, codec } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  named,
  orClosed,
  type Scenario,
  type Weft,
} from "../_run/scenario.ts";

const HEAD = LAYOUT.channel.length * 4;
/** The words of a row, and those that its agent alone uses from here on. */
const ROW = 32, HELD = 2;

const { senders, receivers } = LAYOUT.channel;
const { mpmc_queue } = LAYOUT;

interface Model {
  readonly senders: number;
  readonly receivers: number;
  readonly items: readonly number[];
  readonly closed: boolean;
  /** Whether agent 9, which is dead, has a sender. */
  readonly dead: boolean;
  /** Whether the word `ends` says that there was a sender. */
  readonly noted: boolean;
}

/** Which agents have an end at the start. */
interface Start {
  readonly senders?: readonly number[];
  readonly receivers?: readonly number[];
  /** The senders were terminated before they noted it. */
  readonly early?: boolean;
}

/** Where the rows begin, and their words. */
const rows = Channel.byteLength({
      ...{ codec: codec.i32, capacity: 1, tracked: 3 },
    }) / 4 - 6 * ROW;
const isRow = (word: number) => word >= rows;
const rowWords = Object.fromEntries(
  ["sender", "receiver"].flatMap((end, i) =>
    [0, 1, 2].flatMap((row) =>
      ["agent", "sequence", "even", "odd"].map((word, at) =>
        [`${end} ${row} ${word}`, rows + (3 * i + row) * ROW + at] as const
      )
    )
  ),
);

/** An agent notes what it will have plainly; it may die before it has it. */
const races = (byteOffset: number) =>
  !isRow(byteOffset / 4) || (byteOffset / 4 - rows) % ROW < HELD;

/**
 * A channel of one number, with rows for three agents at each end. `closes`
 * says that it is closed at the end.
 */
function ended(weft: Weft, start: Start, closes: boolean) {
  const { Channel, codec, setAgentId } = weft.mod;
  const by = { codec: codec.i32 };
  const config = { ...by, capacity: 1, tracked: 3 };
  const left = (s: Model, end: "senders" | "receivers"): Model => {
    const next = { ...s, [end]: s[end] - 1 };
    return next[end] === 0 ? { ...next, closed: true } : next;
  };
  return race.spec({
    memory: () => {
      const { buffer } = Channel.create(config);
      for (const id of start.senders ?? []) {
        setAgentId(id);
        new Channel(buffer, 0, by).sender();
      }
      if (start.early) new Int32Array(buffer)[LAYOUT.channel.ends] = 0;
      for (const id of start.receivers ?? []) {
        setAgentId(id);
        new Channel(buffer, 0, by).receiver();
      }
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new Channel(memory, 0, by);
    },
    words: named({ ...LAYOUT.channel, ...rowWords, length: 0 }),
    hints: (byteOffset) => {
      const word = byteOffset / 4;
      const inQueue = word - LAYOUT.channel.length;
      return word === senders || word === receivers ||
        inQueue === mpmc_queue.tail || inQueue === mpmc_queue.head ||
        isRow(word) && (word - rows) % ROW < HELD;
    },
    stateless: false,
    init: {
      senders: start.senders?.length ?? 0,
      receivers: start.receivers?.length ?? 0,
      items: [],
      closed: false,
      dead: start.senders?.includes(9) ?? false,
      noted: start.senders !== undefined && !start.early,
    } as Model,
    ops: {
      sender: {
        run: (channel) =>
          orClosed(weft, () => {
            channel.sender();
            return "sender";
          }),
        model: (s: Model) => {
          const more = { ...s, senders: s.senders + 1, noted: true };
          if (!s.closed) return [more, "sender"];
          // Whoever closes it has left before that.
          return race.either([s, "closed"], race.contended([more, "sender"]));
        },
      },
      /** Sends nothing, and leaves. */
      visit: {
        run: (channel) =>
          orClosed(weft, () => {
            channel.sender();
            channel.leaveSender();
            return "sender";
          }),
        model: (s: Model) => {
          if (!s.closed) {
            return [{ ...s, closed: s.senders === 0 }, "sender"];
          }
          return race.either([s, "closed"], race.contended([s, "sender"]));
        },
      },
      abandon: {
        run: (channel, id: number) => void channel.abandon(id),
        model: (s: Model, id: number) => [
          id !== 9 || !s.dead
            ? s
            : s.noted
            ? { ...left(s, "senders"), dead: false }
            : { ...s, senders: s.senders - 1, dead: false },
          undefined,
        ],
      },
      leaveSender: {
        run: (channel) => channel.leaveSender(),
        model: (s: Model) => [left(s, "senders"), undefined],
      },
      leaveReceiver: {
        run: (channel) => channel.leaveReceiver(),
        model: (s: Model) => [left(s, "receivers"), undefined],
      },
      send: {
        run: (channel, v: number) => orClosed(weft, () => channel.send(v)),
        model: (s: Model, v: number) =>
          s.closed
            ? [s, "closed"]
            : s.items.length > 0
            ? null
            : [{ ...s, items: [v] }, undefined],
      },
      receive: {
        run: (channel) => orClosed(weft, () => channel.receive()),
        model: (s: Model) =>
          s.items.length > 0
            ? [{ ...s, items: s.items.slice(1) }, s.items[0]]
            : s.closed
            ? [s, "closed"]
            : null,
      },
    },
    recover: (channel, dead) => {
      channel.abandon(dead + 1);
      channel.abandon(9);
    },
    final: (memory, results) => {
      const channel = new Channel(memory, 0, by);
      const open = closes && !channel.closed;
      // A dead agent has no results.
      return results.length > 0 && open ? "it is open" : undefined;
    },
  });
}

/** {@linkcode Scenario.differs} of what sends a number. */
const PADDING = "C writes a message's padding first";

/** The race scenarios of senders and receivers that a channel counts. */
export function endedScenarios(weft: Weft): Scenario[] {
  const leave = ["leaveSender"] as const;
  return [
    {
      name: "ends: the last of two senders leaves, and one receives",
      spec: ended(weft, { senders: [2, 3] }, true),
      agents: [[["receive"]], [leave], [leave]],
    },
    {
      name: "ends: a message before the sender leaves",
      spec: ended(weft, { senders: [2] }, true),
      agents: [[["receive"], ["receive"]], [["send", 7], leave]],
    },
    {
      name: "ends: the last receiver leaves, and one sends",
      spec: ended(weft, { receivers: [2, 3] }, true),
      agents: [[["send", 7], ["send", 8]], [["leaveReceiver"]], [[
        "leaveReceiver",
      ]]],
    },
    {
      // There is always a sender, until the last one leaves.
      name: "ends: one begins while another one leaves",
      spec: ended(weft, { senders: [2] }, true),
      agents: [[["sender"], ["send", 7], leave], [["receive"], leave]],
    },
    {
      name: "ends: one begins while the last one leaves",
      spec: ended(weft, { senders: [2] }, false),
      agents: [[["sender"]], [leave]],
    },
    {
      name: "ends: a sender is terminated while it leaves, and one receives",
      spec: ended(weft, { senders: [2] }, true),
      agents: [[["receive"]], [leave]],
      options: { kill: true, rescue: true, races },
    },
    {
      name: "ends: of two senders that leave, one is terminated",
      spec: ended(weft, { senders: [1, 2] }, true),
      agents: [[leave], [leave]],
      options: { kill: true, rescue: true, races },
    },
    {
      name: "ends: one begins and leaves, one leaves, one is terminated",
      spec: ended(weft, { senders: [1] }, true),
      agents: [[leave], [["visit"]]],
      options: { kill: true, rescue: true, races },
    },
    {
      name: "ends: a receiver is terminated while it leaves, and one sends",
      spec: ended(weft, { receivers: [2] }, true),
      agents: [[["send", 7], ["send", 8]], [["leaveReceiver"]]],
      options: { kill: true, rescue: true, races },
    },
    {
      name: "ends: two recover a sender, and one is terminated",
      spec: ended(weft, { senders: [9] }, true),
      agents: [[["abandon", 9]], [["abandon", 9]]],
      options: { kill: true, rescue: true, races },
    },
    {
      name: "ends: a sender is recovered beside another one",
      differs: PADDING,
      spec: ended(weft, { senders: [1, 9] }, true),
      agents: [[["send", 7], leave], [["abandon", 9]]],
    },
    {
      name: "ends: the first one begins and leaves, another is recovered",
      spec: ended(weft, { senders: [9], early: true }, true),
      agents: [[["sender"], leave], [["abandon", 9]]],
    },
    {
      name: "ends: a sender of text is terminated at any step",
      spec: dying(weft),
      agents: [[["receiveAll"]], [["send"]]],
      options: { kill: true, rescue: true, states: 60_000 },
      sampled: true,
    },
    {
      name: "ends: the first one begins while another agent is recovered",
      differs: PADDING,
      spec: ended(weft, {}, false),
      agents: [[["sender"], ["send", 7]], [["abandon", 99]]],
    },
  ];
}

const { tail, head, claimant } = LAYOUT.record_ring;
const HINTS: readonly number[] = [
  ...[senders, receivers],
  ...[tail, head, claimant].map((word) => HEAD / 4 + word),
];

/**
 * A channel of one text, with rows for two agents, of which agent 2 is a
 * sender. It may be terminated while it sends.
 */
function dying(weft: Weft) {
  const { Channel, ClosedError, codec, setAgentId } = weft.mod;
  const by = { codec: codec.text };
  const config = { ...by, capacity: 1, messageSize: 16, tracked: 1 };
  const ends = Channel.byteLength(config) - 2 * 4 * ROW;
  return race.spec({
    memory: () => {
      setAgentId(2);
      const channel = Channel.create(config);
      channel.sender();
      return channel.buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new Channel(memory, 0, by);
    },
    words: {
      ...named(LAYOUT.channel),
      ...named(LAYOUT.record_ring, HEAD),
    },
    hints: (byteOffset) =>
      HINTS.includes(byteOffset / 4) ||
      byteOffset >= ends && (byteOffset - ends) / 4 % ROW < HELD,
    stateless: false,
    ops: {
      send: {
        run: (channel) => {
          channel.send("a");
          channel.leaveSender();
        },
      },
      receiveAll: {
        run: (channel) => {
          let got = "";
          try {
            for (;;) got += channel.receive();
          } catch (error) {
            if (!(error instanceof ClosedError)) throw error;
          }
          return got;
        },
      },
    },
    recover: (channel, dead) => channel.abandon(dead + 1),
    final: (_, [results = []]) => {
      for (const result of results) {
        if (result !== "" && result !== "a") return `torn: ${result}`;
      }
    },
  });
}

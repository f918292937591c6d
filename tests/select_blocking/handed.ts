// The scenarios of `select` at channels of capacity 0.
import { race } from "../../race/mod.ts";
import type { Channel } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  itsOwn,
  named,
  type Scenario,
  TRIES_AGAIN,
  type Weft,
} from "../_run/scenario.ts";
import { leftAt, MESSAGE, messageAt } from "../channel/handoff.ts";

const { handoff } = LAYOUT.channel;

interface Chosen {
  /** What was handed over at each channel, and not received yet. */
  readonly items: readonly (readonly number[])[];
  /** How many receivers wait, or are about to, at both channels. */
  readonly came: number;
}

/** An agent that chooses between two channels of capacity 0. */
interface Chooser {
  readonly mod: Weft["mod"];
  readonly channels: readonly Channel<number>[];
}

/** What the specifications of {@linkcode choosing} have in common. */
function choosers(weft: Weft) {
  const { Channel, codec } = weft.mod;
  const by = { codec: codec.i32 };
  const bytes = Channel.byteLength({ ...by, capacity: 0 });
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
  return {
    made: ({ mod }: Pick<Weft, "mod">, memory: SharedArrayBuffer): Chooser => ({
      mod,
      channels: [0, bytes].map((at) =>
        new mod.Channel(memory, at, { codec: mod.codec.i32 })
      ),
    }),
    models: {
      takes,
      pick: (s: Chosen) => {
        const outcomes = takes(s);
        return outcomes.length > 0 ? race.either(...outcomes) : null;
      },
      pickFor: (s: Chosen) =>
        race.either(
          race.timedOut([{ ...s, came: s.came - 1 }, undefined]),
          ...takes(s),
        ),
      put: (s: Chosen, v: number) =>
        canSend(s, 0) ? sent(s, 0, v, undefined) : null,
    },
    ops: {
      come: {
        run: ({ channels: [channel] }: Chooser) => void channel!.closed,
        model: (s: Chosen) =>
          [{ ...s, came: s.came + 1 }, undefined] as [Chosen, unknown],
      },
      /** Of an agent that had nothing here. */
      abandon: {
        run: ({ channels: [channel] }: Chooser) => void channel!.abandon(9),
        model: (s: Chosen) => [s, undefined] as [Chosen, unknown],
      },
      receive: {
        run: ({ channels: [channel] }: Chooser) => channel!.receive(),
        model: (s: Chosen) => s.items[0]!.length > 0 ? taken(s, 0) : null,
      },
      // Odd numbers go through the second channel.
      trySend: {
        run: ({ channels }: Chooser, v: number) => channels[v & 1]!.trySend(v),
        model: (s: Chosen, v: number) =>
          canSend(s, v & 1)
            ? race.either([s, false], sent(s, v & 1, v, true))
            : [s, false] as [Chosen, unknown],
      },
    },
    parts: {
      memory: () => {
        const memory = new SharedArrayBuffer(2 * bytes);
        for (const at of [0, bytes]) {
          Channel.init(memory, at, { ...by, capacity: 0 });
        }
        return memory;
      },
      words: { ...named(LAYOUT.channel), handoff_1: bytes + handoff * 4 },
      hints: [messageAt(0), messageAt(bytes)],
      init: { items: [[], []], came: 0 } as Chosen,
      final: (memory: SharedArrayBuffer, results: readonly unknown[][]) => {
        const words = new Int32Array(memory);
        let left = 0;
        for (const at of [0, bytes / 4]) {
          const wrong = leftAt(words, at);
          if (wrong !== undefined) return wrong;
          const phase = words[at + handoff]! & 3;
          if (phase === 1) left++; // it is for the next receiver
          else if (phase !== 0) return `its phase is left: ${phase}`;
        }
        const all = results.flat();
        const given = all.filter((result) => result === true).length;
        const got = all.filter((result) => typeof result === "number").length;
        if (given > 0 && given - got !== left) return `${left} are left`;
        if (left > 0 && all.includes("none")) {
          return "it was handed to a receiver";
        }
      },
    },
  };
}

const FIRST = { order: "first" } as const;

/** Two such channels in one memory, between which agents choose. */
function choosing(weft: Weft) {
  const { made, models, ops, parts } = choosers(weft);
  return race.spec({
    ...parts,
    agent: (memory: SharedArrayBuffer, id: number): Chooser => {
      enter(weft, id);
      return made(weft, memory);
    },
    stateless: false,
    ops: {
      ...ops,
      pick: {
        run: ({ mod, channels }: Chooser) =>
          mod.select.blocking(channels, FIRST).value,
        model: models.pick,
      },
      pickFor: {
        run: ({ mod, channels }: Chooser) =>
          mod.select.blocking(channels, { ...FIRST, timeout: 5 })?.value,
        model: models.pickFor,
      },
      /** It has no other arm, so it leaves nothing that was sent to it. */
      pickOneFor: {
        run: ({ mod, channels: [channel] }: Chooser) =>
          mod.select.blocking([channel!], { timeout: 5 })?.value ?? "none",
        model: (s: Chosen) => {
          const none = race.timedOut([{ ...s, came: s.came - 1 }, "none"]);
          const [took] = models.takes(s);
          return took === undefined ? none : race.either(took, none);
        },
      },
      put: {
        run: ({ mod, channels: [channel] }: Chooser, v: number) =>
          void mod.select.blocking([mod.sending(channel!, v)]),
        model: models.put,
      },
    },
  });
}

/** The same, where those who choose await. */
export function choosingAsync(weft: Weft) {
  const { made, models, ops, parts } = choosers(weft);
  return race.spec({
    ...parts,
    async: true,
    ...itsOwn(weft, made),
    ops: {
      ...ops,
      pick: {
        run: async ({ mod, channels }: Chooser) =>
          (await mod.select(channels, FIRST)).value,
        model: models.pick,
      },
      pickFor: {
        run: async ({ mod, channels }: Chooser) =>
          (await mod.select(channels, { ...FIRST, timeout: 5 }))?.value,
        model: models.pickFor,
      },
      put: {
        run: async ({ mod, channels: [channel] }: Chooser, v: number) =>
          void await mod.select([mod.sending(channel!, v)]),
        model: models.put,
      },
    },
  });
}

/** A message that whoever may give up passes on to one that waits for ever. */
function passing(weft: Weft) {
  const { Channel, codec, select, sending } = weft.mod;
  const by = { codec: codec.i32 };
  return race.spec({
    memory: () => Channel.create({ ...by, capacity: 0 }).buffer,
    agent: (memory, id) => {
      enter(weft, id);
      return new Channel(memory, 0, by);
    },
    words: { ...named(LAYOUT.channel), message: MESSAGE * 4 },
    hints: [messageAt(0)],
    stateless: false,
    init: 0, // messages that were put, and not received for good
    ops: {
      abandon: {
        run: (channel) => void channel.abandon(9),
        model: (n: number) => [n, undefined],
      },
      put: {
        run: (channel, v: number) =>
          void select.blocking([sending(channel, v)]),
        model: (n: number) => [n + 1, undefined],
      },
      passOn: {
        run: (channel) => {
          const v = channel.tryReceive(5);
          if (v !== undefined) select.blocking([sending(channel, v)]);
          return v;
        },
        model: (n: number) => {
          const nothing = race.timedOut([n, undefined]);
          return n > 0 ? race.either([n, 2], nothing) : nothing;
        },
      },
      receive: {
        run: (channel) => channel.receive(),
        model: (n: number) => n > 0 ? [n - 1, 2] : null,
      },
    },
    final: (memory) => leftAt(new Int32Array(memory)),
  });
}

/** The race scenarios of `select.blocking` at channels of capacity 0. */
export function handedScenarios(weft: Weft): Scenario[] {
  const chosen = choosing(weft);
  const large = { options: { states: 20_000 }, sampled: true };
  const scenario = (
    name: string,
    agents: Scenario["agents"],
    more: Partial<Scenario> = {},
  ): Scenario => ({
    name: `capacity 0: ${name}`,
    spec: chosen,
    agents,
    ...more,
  });
  return [
    scenario("select receives from one of two channels", [
      [["come"], ["pickFor"]],
      [["trySend", 2]],
      [["trySend", 1]],
    ]),
    scenario("select sends to a receiver that waits", [
      [["put", 2]],
      [["come"], ["receive"]],
    ]),
    scenario("select gives up", [
      [["come"], ["pickOneFor"]],
      [["trySend", 2]],
    ], { differs: TRIES_AGAIN }),
    scenario("select sends to another select", [
      [["put", 2]],
      [["come"], ["pick"]],
    ]),
    scenario("an offer that was ended is not taken back", [
      [["abandon"], ["put", 2]],
      [["passOn"]],
      [["receive"]],
    ], { spec: passing(weft), ...large }),
    scenario("two select to send, two receive", [
      [["put", 2]],
      [["put", 4]],
      [["come"], ["receive"]],
      [["come"], ["receive"]],
    ], large),
    scenario("offers are ended, and made again", [
      [["put", 2]],
      [["come"], ["receive"]],
      [["abandon"]],
    ], large),
  ];
}

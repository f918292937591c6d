import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  named,
  orClosed,
  type Scenario,
  viewing,
  type Weft,
} from "../_run/scenario.ts";
import { ASKS, roleScenarios } from "../_run/roles.ts";

const { tail, slowest, producer, length: SEATS } = LAYOUT.broadcast;
/** The producer's own; the seats' words, which an exchange checks. */
const hintsOf = (seats: number) =>
  [
    [tail * 4, producer * 4 + 4],
    [SEATS * 4, (SEATS + 32 * seats) * 4],
  ] as const;
/** In `tail`. */
const CLOSED = 1;

/** Agent 0 pushes 1, 2, 3 ...; the others join and read. */
function spec(
  weft: Weft,
  slow: "block" | "drop",
  start: number,
  staying = 0,
) {
  const { Broadcast } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = Broadcast.create({
        capacity: 1,
        subscribers: 2,
        slow,
      });
      const words = new Int32Array(buffer);
      words[tail] = words[slowest] = start;
      return buffer;
    },
    ...viewing(weft, Broadcast, LAYOUT.broadcast),
    hints: hintsOf(2),
    stateless: false,
    ops: {
      push: { run: (it, v: number) => it.pushInt(v) },
      tryPush: { run: (it, v: number) => it.tryPushInt(v), lockFree: true },
      see: {
        run: (it) => {
          const seat = it.subscribe();
          const seen = [seat.tryPopInt(), seat.tryPopInt(), seat.tryPopInt()];
          seat.leave();
          return seen.filter((item) => item !== undefined);
        },
        lockFree: true,
      },
      stay: {
        run: (it) => {
          const seat = it.subscribe();
          return [seat.tryPopInt()].filter((item) => item !== undefined);
        },
      },
      hold: {
        run: (it) => {
          const seat = it.subscribe();
          const item = seat.tryPopInt();
          seat.leave();
          return item === undefined ? [] : [item];
        },
      },
    },
    recover: (it, dead) => void it.abandon(dead + 1),
    final: (memory, results) => {
      for (const seen of results.slice(1).flat() as number[][]) {
        if (!Array.isArray(seen)) continue;
        for (let i = 1; i < seen.length; i++) {
          if (seen[i]! <= seen[i - 1]!) return `out of order: ${seen}`;
          if (slow === "block" && seen[i] !== seen[i - 1]! + 1) {
            return `one is missing: ${seen}`;
          }
        }
        if (seen.some((item) => item < 1 || item > 3)) return `what? ${seen}`;
      }
      const { subscribers } = new Broadcast(memory);
      if (subscribers !== staying) return `${subscribers} seats are taken`;
    },
  });
}

/** Two agents of which one produces. */
function roles(weft: Weft): Scenario[] {
  const { Broadcast } = weft.mod;
  return roleScenarios(weft, {
    memory: () => Broadcast.create({ capacity: 4, subscribers: 1 }).buffer,
    view: (memory) => new Broadcast(memory),
    row: LAYOUT.broadcast,
    hints: hintsOf(1),
    acts: { push: (it) => it.tryPushInt(7) },
    wrong: (memory, count) => {
      const pushed = new Int32Array(memory)[tail]! >> 1;
      const times = count("push");
      return pushed === times ? undefined : `${pushed} of ${times} elements`;
    },
  });
}

/** Why C takes other steps in some scenarios. */
const DIFFERS = "a subscription in TypeScript loads whose its seat is, and " +
  "where it stands, when it is made, and remembers the tail";

/** Interleavings of a broadcast's operations. */
export const scenarios = (weft: Weft): Scenario[] => [
  ...roles(weft),
  {
    name: "a subscriber comes and goes, the producer waits",
    spec: spec(weft, "block", -2),
    agents: [[["push", 1], ["push", 2]], [["hold"]]],
  },
  {
    name: "a subscriber comes and goes, and loses",
    differs: DIFFERS,
    spec: spec(weft, "drop", -2),
    agents: [[["tryPush", 1], ["tryPush", 2]], [["see"]]],
  },
  {
    name: "a subscriber comes between two pushes, and stays",
    differs: DIFFERS,
    spec: spec(weft, "block", 0, 1),
    agents: [[["push", 1]], [["stay"]]],
  },
  {
    name: "two subscribers",
    spec: spec(weft, "block", 0),
    agents: [[["tryPush", 1], ["tryPush", 2]], [["hold"]], [["hold"]]],
    options: { states: 60_000 },
    sampled: true,
  },
  {
    name: "a subscriber terminated at any step",
    spec: spec(weft, "block", 0),
    agents: [[["push", 1], ["push", 2]], [["hold"]]],
    options: { kill: true, rescue: true, states: 60_000 },
    sampled: true,
  },
  {
    name: "all is seen, by one with a seat, until the end",
    differs: DIFFERS,
    spec: seated(weft, "block", 0x7fff_fffe),
    agents: [
      [["push", 1], ["close"]],
      [["pop"], ["pop"]],
    ],
    options: { timeouts: 0 },
  },
  {
    name: "what is lost is counted",
    spec: seated(weft, "drop", 0x7fff_fffa, 2),
    agents: [
      [["push", 1], ["push", 2], ["push", 3], ["push", 4]],
      [["tryPop"], ["tryPop"]],
    ],
    options: { timeouts: 0 },
  },
  {
    name: "what is lost is counted, in arrays",
    differs: DIFFERS,
    spec: seated(weft, "drop", 0x7fff_fffa),
    agents: [
      [["pushArray", 1], ["pushArray", 2], ["pushArray", 3]],
      [["tryPopArray"], ["tryPopArray"]],
    ],
    options: { timeouts: 0 },
  },
  {
    name: "one sleeps until another pushes",
    differs: DIFFERS,
    spec: seated(weft, "block", 0),
    agents: [[["push", 1]], [["pop"]]],
    options: { timeouts: 0 },
  },
  {
    name: "the producer waits for one that sees",
    differs: DIFFERS,
    spec: seated(weft, "block", 0),
    agents: [[["push", 1], ["push", 2]], [["pop"]]],
    options: { timeouts: 0 },
  },
  {
    name: "the producer waits until another closes",
    spec: seated(weft, "block", 0),
    agents: [[["push", 1], ["push", 2]], [["close"]]],
    options: { timeouts: 0 },
  },
  {
    name: "one sleeps until another closes",
    differs: DIFFERS,
    spec: seated(weft, "block", 0),
    agents: [[["push", 1], ["push", 2]], [["close"], ["pop"]]],
    options: { timeouts: 0 },
  },
  {
    name: "the producer waits for one that leaves",
    differs: DIFFERS,
    spec: seated(weft, "block", 0),
    agents: [[["push", 1], ["push", 2]], [["leave"]]],
    options: { timeouts: 0 },
  },
  {
    name: "the producer waits for one that is abandoned",
    differs: DIFFERS,
    spec: seated(weft, "block", 0),
    agents: [[["push", 1], ["push", 2]], [["abandon", 2]]],
    options: { timeouts: 0 },
  },
  {
    name: "leaves where it was abandoned, and another sits",
    differs: DIFFERS,
    spec: seated(weft, "block", 0),
    agents: [[], [["leave"]], [["abandon", 2], ["sit"]]],
    options: { timeouts: 0 },
  },
  {
    name: "a subscriber comes, and looks until the end",
    differs: DIFFERS,
    spec: coming(weft, 1),
    agents: [[["push", 1]], [["watch", 1]]],
    options: { timeouts: 0 },
  },
  {
    name: "a subscriber comes as the producer is ahead",
    spec: coming(weft, 2),
    agents: [[["push", 1], ["push", 2]], [["watch", 2]]],
    options: { timeouts: 0, states: 20_000 },
    sampled: true,
  },
  {
    name: "two take seats",
    differs: DIFFERS,
    spec: coming(weft, 0, 2),
    agents: [[], [["sit"]], [["sit"]]],
    options: { timeouts: 0 },
  },
  ...[[2, 0], [0, 2]].map((late): Scenario => ({
    name: `waits for the slowest, ${late}`,
    differs: ASKS,
    spec: placed(weft, late.map((by) => [9, by]), false),
    agents: [[["tryPush", 1]]],
  })),
  {
    name: "the producer does not wait for empty seats",
    differs: ASKS,
    spec: placed(weft, [[0, 2], [9, 0]], true),
    agents: [[["tryPush", 1]]],
  },
  {
    name: "the producer does not wait for a joining subscriber",
    differs: ASKS,
    spec: placed(weft, [[9 | 1 << 28, 2], [9, 0]], true),
    agents: [[["tryPush", 1]]],
  },
];

interface Model {
  readonly items: readonly number[];
  readonly closed: boolean;
  readonly seated: boolean;
}

/** Agent 1 has the only seat, from the start. */
function seated(
  weft: Weft,
  slow: "block" | "drop",
  start: number,
  capacity = 1,
) {
  const { Broadcast, Subscription } = weft.mod;
  const full = ({ seated, items }: Model) =>
    seated && slow === "block" && items.length === capacity;
  const popped = (s: Model): [Model, unknown] =>
    s.items.length > 0
      ? [{ ...s, items: s.items.slice(1) }, s.items[0]]
      : [s, s.closed ? "closed" : undefined];
  return race.spec({
    memory: () => {
      const { buffer } = Broadcast.create({ capacity, subscribers: 1, slow });
      const words = new Int32Array(buffer);
      words[tail] = words[slowest] = words[SEATS] = start;
      words[SEATS + 1] = 2;
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      const it = new Broadcast(memory);
      const seat = id === 1
        ? new Subscription(it, new Int32Array(memory), SEATS)
        : undefined;
      return { it, seat };
    },
    words: named(LAYOUT.broadcast),
    hints: hintsOf(1),
    stateless: false,
    init: { items: [], closed: false, seated: true } as Model,
    ops: {
      push: {
        run: ({ it }, v: number) => orClosed(weft, () => it.pushInt(v)),
        model: (s: Model, v: number) => {
          if (s.closed) return [s, "closed"];
          if (full(s)) return null;
          const items = s.seated ? [...s.items, v].slice(-capacity) : [];
          return [{ ...s, items }, undefined];
        },
      },
      pop: {
        run: ({ seat }) => orClosed(weft, () => seat!.popInt()),
        model: (s: Model) => s.closed || s.items.length > 0 ? popped(s) : null,
      },
      tryPop: {
        run: ({ seat }) => orClosed(weft, () => seat!.tryPopInt()),
        model: (s: Model) =>
          race.either(popped(s), race.contended([s, undefined])),
        lockFree: true,
      },
      tryPopArray: {
        run: ({ seat }) => {
          const dst = new Int32Array(1);
          return seat!.tryPopInto(dst) ? dst[0] : undefined;
        },
        model: (s: Model) =>
          race.either(popped(s), race.contended([s, undefined])),
        lockFree: true,
      },
      pushArray: {
        run: ({ it }, v: number) => it.push(Int32Array.of(v)),
        model: (s: Model, v: number) => {
          if (full(s)) return null;
          const items = s.seated ? [...s.items, v].slice(-capacity) : [];
          return [{ ...s, items }, undefined];
        },
      },
      close: {
        run: ({ it }) => it.close(),
        model: (s: Model) => [{ ...s, closed: true }, undefined],
      },
      leave: {
        run: ({ seat }) => seat!.leave(),
        model: (s: Model) => [{ ...s, seated: false }, undefined],
      },
      abandon: {
        run: ({ it }, id: number) => void it.abandon(id),
        model: (s: Model) => [{ ...s, seated: false }, undefined],
      },
      sit: {
        run: ({ it }) => void it.subscribe(),
        model: (s: Model) => [{ ...s, seated: true }, undefined],
      },
    },
    final: (memory, results) => {
      const words = new Int32Array(memory);
      const { subscribers } = new Broadcast(memory);
      if (results[2] !== undefined && subscribers !== 1) {
        return `${subscribers} have a seat`;
      }
      if (slow === "block") return;
      const seen = results[1]!.filter((item) => item !== undefined).length;
      const lost = words[SEATS + 2]!;
      const left = (words[tail]! - words[SEATS]! | 0) >> 1;
      if (seen + lost + left !== results[0]!.length) {
        return `${seen} seen, ${lost} lost, ${left} left`;
      }
    },
  });
}

/** Seats that others had before. A new subscriber sees every later element. */
function coming(weft: Weft, last: number, staying = 0) {
  const { Broadcast } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = Broadcast.create({ capacity: 1, subscribers: 2 });
      const words = new Int32Array(buffer);
      words[slowest] = -2; // so it looks at the seats at once
      for (const seat of [SEATS, SEATS + 32]) {
        words[seat] = -2;
        words[seat + 2] = 5;
      }
      return buffer;
    },
    ...viewing(weft, Broadcast, LAYOUT.broadcast),
    hints: hintsOf(2),
    stateless: false,
    ops: {
      push: { run: (it, v: number) => it.pushInt(v) },
      sit: { run: (it) => it.subscribe().dropped },
      watch: {
        // Sleeps until it has seen the last element.
        run: (it, last: number) => {
          const seat = it.subscribe();
          const words = new Int32Array(it.buffer);
          const seen = [];
          while (Atomics.load(words, SEATS) !== 2 * last) {
            seen.push(seat.popInt());
          }
          return seen.join();
        },
      },
    },
    invariant: (memory) => {
      const words = new Int32Array(memory);
      for (const seat of [SEATS, SEATS + 32]) {
        const owner = words[seat + 1]!;
        if (owner === 0 || owner >> 28 !== 0) continue;
        const late = (words[tail]! & ~CLOSED) - words[seat]! | 0;
        if (late < 0 || late > 2) return `a seat is ${late} late`;
      }
    },
    final: (memory, results) => {
      const { subscribers } = new Broadcast(memory);
      if (staying > 0) {
        if (subscribers !== staying) return `${subscribers} seats are taken`;
        const lost = results.flat().some((dropped) => dropped !== 0);
        return lost ? "somebody else's losses" : undefined;
      }
      const seen = results[1]![0] as string;
      const right = last === 1 ? ["", "1"] : ["", "2", "1,2"];
      if (!right.includes(seen)) return `one is missing: ${seen}`;
    },
  });
}

/** Seats as they are: owner, and by how much it is late; is there room? */
function placed(
  weft: Weft,
  seats: readonly (readonly number[])[],
  room: boolean,
) {
  const { Broadcast } = weft.mod;
  const start = -0x8000_0000;
  return race.spec({
    memory: () => {
      const { buffer } = Broadcast.create({
        capacity: 1,
        subscribers: seats.length,
      });
      const words = new Int32Array(buffer);
      words[tail] = start;
      words[slowest] = start - 2;
      seats.forEach(([owner, late], i) => {
        words[SEATS + 32 * i] = start - late!;
        words[SEATS + 32 * i + 1] = owner!;
      });
      return buffer;
    },
    ...viewing(weft, Broadcast, LAYOUT.broadcast),
    hints: hintsOf(seats.length),
    stateless: false,
    ops: { tryPush: { run: (it, v: number) => it.tryPushInt(v) } },
    final: (_, results) =>
      results[0]![0] === room ? undefined : `room? not ${room}`,
  });
}

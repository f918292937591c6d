import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "./_scenario.ts";

const { tail, slowest, length: SEATS } = LAYOUT.broadcast;
/** The producer's own; a seat's words, which an exchange checks. */
const HINTS = [
  [tail * 4, slowest * 4 + 4],
  [SEATS * 4, (SEATS + 64) * 4],
] as const;

/** Agent 0 pushes 1, 2, 3 ...; the others join, and see what they see. */
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
    agent: (memory, id) => {
      enter(weft, id);
      return new Broadcast(memory);
    },
    words: named(LAYOUT.broadcast),
    hints: HINTS,
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

/** Interleavings of a broadcast's operations. */
export const broadcast = (weft: Weft): Scenario[] => [
  {
    name: "a subscriber comes and goes, the producer waits",
    spec: spec(weft, "block", -2),
    agents: [[["push", 1], ["push", 2]], [["hold"]]],
  },
  {
    name: "a subscriber comes and goes, and loses",
    spec: spec(weft, "drop", -2),
    agents: [[["tryPush", 1], ["tryPush", 2]], [["see"]]],
  },
  {
    name: "a subscriber comes between two pushes, and stays",
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
];

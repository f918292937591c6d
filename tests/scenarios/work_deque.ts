import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "./_scenario.ts";

const { bottom, top, length } = LAYOUT.work_deque;
/** The owner reads plainly what nobody else writes. */
const HINTS = [[bottom * 4, bottom * 4 + 4], [
  length * 4,
  length * 4 + 64,
]] as const;

/** A deque at position `start` with `filled` items; agent 0 is its owner. */
function deque(weft: Weft, capacity: number, filled = 0, start = 0) {
  const { WorkDeque } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = WorkDeque.create({ capacity });
      const words = new Int32Array(buffer);
      words[bottom] = words[top] = start;
      const own = new WorkDeque(buffer);
      for (let i = 0; i < filled; i++) own.push(-1 - i);
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new WorkDeque(memory);
    },
    words: named(LAYOUT.work_deque),
    hints: HINTS,
    stateless: false,
    init: Array.from({ length: filled }, (_, i) => -1 - i) as readonly number[],
    ops: {
      push: {
        agents: [0],
        run: (deque, item: number) => deque.push(item),
        model: (items: readonly number[], item: number) =>
          items.length < capacity ? [[...items, item], true] : [items, false],
        lockFree: true,
      },
      pop: {
        agents: [0],
        run: (deque) => deque.pop(),
        model: (items: readonly number[]) => [items.slice(0, -1), items.at(-1)],
        lockFree: true,
      },
      steal: {
        run: (deque) => deque.steal(),
        model: (items: readonly number[]) => [items.slice(1), items[0]],
        lockFree: true,
      },
    },
  });
}

const NEAR_WRAP = 0x7fff_ffff;

/** Every interleaving of a deque's operations. */
export const work_deque = (weft: Weft): Scenario[] => [
  {
    name: "the last item, wanted by both sides",
    spec: deque(weft, 2, 1),
    agents: [[["pop"], ["pop"]], [["steal"]], [["steal"]]],
  },
  {
    name: "push and pop beside two thieves",
    spec: deque(weft, 2, 0, NEAR_WRAP),
    agents: [[["push", 1], ["push", 2], ["pop"]], [["steal"]], [["steal"]]],
  },
  {
    name: "a place used again under a late thief",
    spec: deque(weft, 1, 1),
    agents: [[["push", 1], ["pop"], ["push", 2]], [["steal"], ["steal"]]],
  },
  {
    name: "two items, popped and stolen",
    spec: deque(weft, 2, 2, -1),
    agents: [[["pop"], ["pop"], ["push", 1]], [["steal"], ["steal"]]],
  },
  {
    name: "a thief terminated at any step",
    spec: deque(weft, 2, 2),
    agents: [[["pop"], ["pop"]], [["steal"]]],
    options: { kill: true },
  },
];

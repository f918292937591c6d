import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "../_run/scenario.ts";

const { bottom, top, length } = LAYOUT.work_deque;
/** Words that the owner reads plainly, because nobody else writes them. */
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

/** Items that the new owner pushes. */
const FIRST = 8, SECOND = 9;

/**
 * An owner that may be terminated, and an agent that then adopts its deque and
 * empties it. The words behind the deque count how often each item was taken.
 */
function adopted(weft: Weft, filled: number) {
  const { WorkDeque } = weft.mod;
  const taken = WorkDeque.byteLength({ capacity: 4 });
  const recovered = taken + 4 * (SECOND + 1);
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(recovered + 4);
      const own = WorkDeque.init(memory, 0, { capacity: 4 });
      for (let item = 0; item < filled; item++) own.push(item);
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return {
        deque: new WorkDeque(memory),
        taken: new Int32Array(memory, taken),
      };
    },
    words: { ...named(LAYOUT.work_deque), taken, recovered },
    hints: HINTS,
    stateless: false,
    ops: {
      pop: {
        agents: [0],
        run: ({ deque, taken }) => {
          const item = deque.pop();
          if (item !== undefined) Atomics.add(taken, item, 1);
        },
      },
      steal: {
        run: ({ deque, taken }) => {
          const item = deque.steal();
          if (item !== undefined) Atomics.add(taken, item, 1);
        },
      },
    },
    recover: ({ deque, taken }, dead) => {
      if (dead !== 0) return;
      deque.adopt();
      deque.push(FIRST);
      deque.push(SECOND);
      for (let item; (item = deque.pop()) !== undefined;) {
        Atomics.add(taken, item, 1);
      }
      Atomics.store(taken, SECOND + 1, 1);
    },
    invariant: (memory) => {
      const times = [...new Int32Array(memory, taken, SECOND + 1)];
      if (times.some((n) => n > 1)) return `taken twice: ${times}`;
      if (new Int32Array(memory, recovered)[0] === 0) return;
      const lost = times.slice(0, filled).filter((n) => n === 0).length;
      if (lost > 1) return `${lost} items are lost`;
      if (times[FIRST] !== 1 || times[SECOND] !== 1) {
        return "what the new owner pushed is lost";
      }
    },
  });
}

const NEAR_WRAP = 0x7fff_ffff;

/** Every interleaving of a deque's operations. */
/** Why C takes other steps in some scenarios. */
const DIFFERS = "C loads top at each push, where TypeScript remembers one";

export const scenarios = (weft: Weft): Scenario[] => [
  {
    name: "the last item, wanted by both sides",
    spec: deque(weft, 2, 1),
    agents: [[["pop"], ["pop"]], [["steal"]], [["steal"]]],
  },
  {
    name: "push and pop beside two thieves",
    differs: DIFFERS,
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
    differs: DIFFERS,
    spec: deque(weft, 2, 2, -1),
    agents: [[["pop"], ["pop"], ["push", 1]], [["steal"], ["steal"]]],
  },
  {
    name: "full where a position wraps",
    spec: deque(weft, 1, 1, NEAR_WRAP),
    agents: [[["push", 1], ["pop"]], [["steal"]]],
  },
  {
    name: "the owner terminated at any step, adopted",
    spec: adopted(weft, 2),
    agents: [[["pop"]], [["steal"], ["steal"]]],
    options: { kill: true },
  },
  {
    name: "the owner terminated with the last item, adopted",
    spec: adopted(weft, 1),
    agents: [[["pop"]], [["steal"]]],
    options: { kill: true },
  },
  {
    name: "the owner of an empty deque terminated, adopted",
    spec: adopted(weft, 0),
    agents: [[["pop"], ["pop"]], [["steal"]]],
    options: { kill: true },
  },
  {
    name: "a thief terminated at any step",
    spec: deque(weft, 2, 2),
    agents: [[["pop"], ["pop"]], [["steal"]]],
    options: { kill: true },
  },
];

import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  named,
  type Scenario,
  viewing,
  type Weft,
} from "../_run/scenario.ts";
import { ASKS, roleScenarios } from "../_run/roles.ts";

const { bottom, owner, top, length } = LAYOUT.work_deque;
/** Words that the owner reads plainly, because nobody else writes them. */
const HINTS = [[bottom * 4, owner * 4 + 4], [
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
      words[owner] = 0; // it was ours
      return buffer;
    },
    ...viewing(weft, WorkDeque, LAYOUT.work_deque),
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
      size: {
        run: (deque) => deque.size,
        model: (items: readonly number[]) => [items, items.length],
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
      new Int32Array(memory)[owner] = 0; // it was ours
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
      deque.abandon(dead + 1);
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

/** Two agents of which one owns the deque. */
function roles(weft: Weft): Scenario[] {
  const { WorkDeque } = weft.mod;
  return roleScenarios(weft, {
    memory: () => WorkDeque.create({ capacity: 4 }).buffer,
    view: (memory) => new WorkDeque(memory),
    row: LAYOUT.work_deque,
    hints: HINTS,
    acts: {
      push: (deque) => deque.push(7),
      adopt: (deque) => (deque.adopt(), deque.push(7)),
    },
    wrong: (memory, count) => {
      const items = new WorkDeque(memory).size;
      const pushed = count("push") + count("adopt");
      return items === pushed ? undefined : `${items} of ${pushed} items`;
    },
  });
}

/** Calls `operation`; returns false if the agent is not the owner. */
function orRefused(operation: () => boolean): boolean {
  try {
    return operation();
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** Two agents adopt a deque whose owner has left, and push to it. */
function inherited(weft: Weft) {
  const { WorkDeque } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = WorkDeque.create({ capacity: 4 });
      const own = new WorkDeque(buffer);
      own.push(7);
      new Int32Array(buffer)[owner] = 9;
      own.abandon(9);
      return buffer;
    },
    ...viewing(weft, WorkDeque, LAYOUT.work_deque),
    hints: HINTS,
    stateless: false,
    ops: {
      push: { run: (deque) => orRefused(() => deque.push(8)) },
      adopt: {
        run: (deque) => orRefused(() => (deque.adopt(), deque.push(8))),
      },
      leave: { run: (deque) => void deque.abandon(1) },
    },
    final: (memory, results) => {
      const owners = results.flat().filter((it) => it === true).length;
      if (owners !== 1) return `${owners} pushed`;
      const { size } = new WorkDeque(memory);
      return size === 2 ? undefined : `${size} items`;
    },
  });
}

/** Why C takes other steps in some scenarios. */
const DIFFERS = "C loads top at each push, where TypeScript remembers one";

/** Every interleaving of a deque's operations. */
export const scenarios = (weft: Weft): Scenario[] => [
  ...roles(weft),
  {
    name: "two agents adopt a deque whose owner left",
    differs: ASKS,
    spec: inherited(weft),
    agents: [[["adopt"]], [["adopt"]]],
  },
  {
    name: "nobody pushes to a deque whose owner left",
    differs: ASKS,
    spec: inherited(weft),
    agents: [[["adopt"], ["leave"], ["push"]], [["push"]]],
  },
  {
    name: "the last item, wanted by both sides",
    differs: ASKS,
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
    differs: ASKS,
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
    name: "the size, while elements go and come",
    differs: ASKS,
    spec: deque(weft, 2, 0, NEAR_WRAP),
    agents: [[["push", 1], ["push", 2]], [["steal"], ["size"]], [["size"]]],
  },
  {
    name: "full where a position wraps",
    differs: ASKS,
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
    differs: ASKS,
    spec: deque(weft, 2, 2),
    agents: [[["pop"], ["pop"]], [["steal"]]],
    options: { kill: true },
  },
];

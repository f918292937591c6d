/**
 * Queues that are closed, drained and freed: once every operation has returned,
 * nobody uses their memory.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import {
  enter,
  giveBack,
  type Modules,
  named,
  type Scenario,
  type Weft,
} from "./scenario.ts";

/** What both ends of a queue have for this. */
interface Closable {
  readonly buffer: SharedArrayBuffer;
  readonly byteOffset: number;
  close(): void;
}

/** A queue, and what agents do to it. */
interface Queue<View extends Closable> {
  /** Makes one that holds an element. */
  readonly memory: () => SharedArrayBuffer;
  readonly view: (mod: Modules["mod"], memory: SharedArrayBuffer) => View;
  /** Its row of `LAYOUT`. */
  readonly row: Readonly<Record<string, number>>;
  readonly hints: readonly (readonly [from: number, to: number])[];
  /** Waits; throws `ClosedError` if the queue is closed and empty. */
  readonly pop: (queue: View) => void;
  readonly popAsync: (queue: View, signal: AbortSignal) => Promise<unknown>;
}

/**
 * One agent says by a word behind the queue that its operations have returned,
 * and the other one, whose operations have returned too, frees the queue.
 */
export function closedScenarios<View extends Closable>(
  weft: Weft,
  { memory, view, row, hints, pop, popAsync }: Queue<View>,
): Scenario[] {
  const RETURNED = memory().byteLength;
  const returned = (memory: SharedArrayBuffer) =>
    new Int32Array(memory, RETURNED, 1);
  const say = ({ buffer }: View) => {
    Atomics.store(returned(buffer), 0, 1);
    Atomics.notify(returned(buffer), 0);
  };
  const free = (queue: View) => {
    const word = returned(queue.buffer);
    while (Atomics.load(word, 0) === 0) Atomics.wait(word, 0, 0);
    giveBack(queue, RETURNED / 4);
  };
  const base = (modules: (agent: number) => Modules) => ({
    memory: () => {
      const longer = new SharedArrayBuffer(RETURNED + 4);
      new Int32Array(longer).set(new Int32Array(memory()));
      return longer;
    },
    agent: (memory: SharedArrayBuffer, id: number) => {
      const own = modules(id);
      enter(own, id);
      return view(own.mod, memory);
    },
    words: { ...named(row), returned: RETURNED },
    hints,
    stateless: false,
  });
  const drainAndFree = {
    run: (queue: View) => {
      try {
        for (;;) pop(queue);
      } catch (error) {
        if ((error as Error).name !== "ClosedError") throw error;
      }
      free(queue);
    },
  };
  const blocks = race.spec({
    ...base(() => weft),
    ops: {
      drainAndFree,
      close: {
        run: (queue: View) => {
          queue.close();
          say(queue);
        },
      },
    },
  });
  const awaits = race.spec({
    ...base((agent) => weft.renewed(agent)),
    ops: {
      drainAndFree,
      close: {
        run: async (queue: View) => {
          queue.close();
          say(queue);
          await undefined; // what `close` may have left to do comes before
        },
      },
      abort: {
        run: async (queue: View) => {
          const controller = new AbortController();
          pop(queue);
          const popped = popAsync(queue, controller.signal).catch(() => {});
          Atomics.load(returned(queue.buffer), 0); // another may run here
          controller.abort();
          await popped;
          say(queue);
        },
      },
      closeAndFree: {
        run: (queue: View) => {
          queue.close();
          free(queue);
        },
      },
    },
  });
  return [
    {
      name: "closed and drained, and freed when close has returned",
      spec: blocks,
      agents: [[["close"]], [["drainAndFree"]]],
      options: { timeouts: 0 },
    },
    {
      name: "closed and drained, and freed when close left nothing to do",
      spec: awaits,
      agents: [[["close"]], [["drainAndFree"]]],
      options: { timeouts: 0 },
      notInC: "C does nothing once it has returned",
    },
    {
      name: "closed, and freed when an aborted pop has returned",
      spec: awaits,
      agents: [[["closeAndFree"]], [["abort"]]],
      options: { timeouts: 0 },
      notInC: "an agent of C does not await",
    },
  ];
}

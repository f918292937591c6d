import { race } from "../../race/mod.ts";
import { LAYOUT, type Stem } from "../../primitives/_memory/layout.ts";
import { enter, named, type Scenario, type Weft } from "../_run/scenario.ts";

/** What one scenario is about. */
interface About<T> {
  readonly stem: Stem;
  /** Makes the primitive, in its state at the start. */
  readonly create: (weft: Weft) => { readonly buffer: SharedArrayBuffer };
  /** Attaches to it. */
  readonly attach: (weft: Weft, memory: SharedArrayBuffer) => T;
  /** Words that are read plainly. */
  readonly hints: readonly number[];
  /** What the agents do. */
  readonly ops: Readonly<Record<string, (view: T) => unknown>>;
}

/** Agents use a primitive, and one inspects it meanwhile. */
function inspected<T>(weft: Weft, about: About<T>) {
  const problems = (memory: SharedArrayBuffer): string | undefined => {
    const found = weft.mod.inspect(memory, 0, about.stem).problems
      .find(({ what }) => what === "damaged");
    return found && `${found.word} is ${found.value}: ${found.text}`;
  };
  const ops = Object.fromEntries(
    Object.entries(about.ops).map(([name, run]) => [
      name,
      { run: ({ view }: { view: T }) => void run(view) },
    ]),
  );
  return race.spec({
    memory: () => about.create(weft).buffer,
    agent: (memory, id): { view: T; memory: SharedArrayBuffer } => {
      enter(weft, id);
      return { view: about.attach(weft, memory), memory };
    },
    words: named(LAYOUT[about.stem]),
    hints: about.hints.map((i) => [i * 4, i * 4 + 4] as const),
    stateless: false,
    ops: {
      ...ops,
      inspect: {
        run: ({ memory }) => {
          const problem = problems(memory);
          if (problem !== undefined) throw new Error(problem);
        },
      },
    },
    // An agent that was terminated leaves nothing that is called damage.
    final: problems,
  });
}

/** Every interleaving of an agent that inspects with agents that work. */
export function scenarios(weft: Weft): Scenario[] {
  const { mpmc_queue, work_deque } = LAYOUT;
  const options = { timeouts: 0, kill: true } as const;
  const deque = inspected(weft, {
    stem: "work_deque",
    create: ({ mod }) => {
      const deque = mod.WorkDeque.create({ capacity: 2 });
      deque.push(7);
      new Int32Array(deque.buffer)[work_deque.owner] = 1; // agent 0
      return deque;
    },
    attach: ({ mod }, memory) => new mod.WorkDeque(memory),
    hints: [
      work_deque.bottom,
      work_deque.owner,
      work_deque.length,
      work_deque.length + 1,
    ],
    ops: {
      pop: (deque) => deque.pop(),
      steal: (deque) => deque.steal(),
    },
  });
  return [
    {
      name: "a queue of many is inspected",
      spec: inspected(weft, {
        stem: "mpmc_queue",
        create: ({ mod }) => mod.MpmcQueue.create({ capacity: 1 }),
        attach: ({ mod }, memory) => new mod.MpmcQueue(memory),
        hints: [mpmc_queue.tail, mpmc_queue.head],
        ops: {
          push: (queue) => queue.tryPushInt(1),
          pop: (queue) => queue.tryPopInt(),
        },
      }),
      agents: [[["push"]], [["inspect"]]],
      options,
    },
    {
      name: "a deque is inspected",
      spec: deque,
      agents: [[["pop"]], [["steal"]], [["inspect"]]],
      options,
    },
    {
      name: "a deque is inspected beside a thief",
      spec: deque,
      agents: [[["steal"]], [["inspect"]]],
      options,
    },
    {
      name: "a lock of readers and writers is inspected",
      spec: inspected(weft, {
        stem: "rw_lock",
        create: ({ mod }) => mod.RwLock.create(),
        attach: ({ mod }, memory) => new mod.RwLock(memory),
        hints: [
          ...[LAYOUT.rw_lock.state, LAYOUT.rw_lock.writer],
          LAYOUT.rw_lock.writer_starving,
        ],
        ops: {
          read: (lock) => lock.tryRead()?.unlock(),
          write: (lock) => lock.tryWrite()?.downgrade().unlock(),
        },
      }),
      agents: [[["write"], ["read"]], [["inspect"]]],
      options,
    },
    {
      name: "a counter of tasks is inspected",
      spec: inspected(weft, {
        stem: "work_counter",
        create: ({ mod }) => mod.WorkCounter.create(2),
        attach: ({ mod }, memory) => new mod.WorkCounter(memory),
        hints: [
          ...[LAYOUT.work_counter.next, LAYOUT.work_counter.done],
          LAYOUT.work_counter.target,
        ],
        ops: {
          work: (counter) => {
            if (counter.next() >= 0) counter.done();
          },
          cancel: (counter) => counter.cancel(),
        },
      }),
      agents: [[["work"]], [["cancel"]], [["inspect"]]],
      options: { timeouts: 0 },
    },
  ];
}

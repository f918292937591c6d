/**
 * Mistakes in locks for readers, conditions, events, latches, groups, barriers
 * and onces, and the storm that must find each.
 *
 * @module
 */
import type { Step } from "./_gates_loops.ts";
import type { Mistake } from "./_mistakes.ts";
import type { GatesPlan } from "./storm_gates.ts";

const step = (what: Step["what"], unusual: Partial<Step> = {}): Step => ({
  what,
  count: 1,
  n: 0,
  tries: false,
  timeout: 0,
  abort: -1,
  hold: -1,
  waits: true,
  ...unusual,
});

const times = <T>(n: number, it: T): T[] => Array.from({ length: n }, () => it);

type Given = GatesPlan["loops"][number];

/** A loop of the main thread. */
const here = (steps: Step[], meets = false): Given => ({
  thread: false,
  blocks: false,
  meets,
  steps,
});

/** A loop that blocks. */
const inThread = (steps: Step[]): Given => ({
  ...here(steps),
  thread: true,
  blocks: true,
});

const gatesPlan = (
  loops: Given[],
  unusual: Partial<GatesPlan> = {},
): GatesPlan => ({
  tracked: 0,
  failures: 0,
  loops,
  counts: 2,
  pauses: [2],
  ...unusual,
});

/** A mistake in a wake, which a look each second would hide. */
const lostWake = (
  what: string,
  edits: Mistake["edits"],
  plan: GatesPlan,
): Mistake => ({
  storm: "gates",
  what,
  edits,
  seed: 1,
  plan,
  says: /never ended/,
  isLostWake: true,
});

/** The mistakes. */
export const MISTAKES_OF_GATES: readonly Mistake[] = [
  {
    storm: "gates",
    what: "who gives up at a barrier is still counted",
    edits: {
      "_lock/barrier": "state = last ? state [-- 1 -]: state | WAITING_BIT;",
    },
    seed: 1,
    plan: gatesPlan([
      here([step("meet", { tries: true, timeout: 1 }), step("meet")], true),
      here([step("read", { hold: 9 }), step("meet")], true),
    ]),
    says: /is over, party/,
  },
  {
    storm: "gates",
    what: "who gives up at an event takes a signal",
    edits: {
      event: "if ([-served || -]last) return [-served-]{+false; if (served) " +
        "return true+};",
    },
    seed: 1,
    says: /sets let/,
  },
  {
    storm: "gates",
    what: "who reads after it wrote is not counted as a reader",
    edits: {
      "_lock/rw_lock": "this.#readers.leave([-1-]{+0+}, 0);",
    },
    seed: 1,
    plan: gatesPlan([here([step("down")])]),
    says: /no agent reads/,
  },
  lostWake(
    "the last reader wakes no writer",
    {
      "_lock/rw_lock_counted": "[-if (isLastOfAwaited(state)) " +
        "Atomics.notify(words, STATE, 1);-]",
    },
    gatesPlan([
      here([step("read", { hold: 2, waits: false }), step("write")]),
    ]),
  ),
  lostWake(
    "who was called does not wake the next one",
    {
      condition: "[-if (called && Atomics.load(words, place) & CALLED_MASK) " +
        "{ Atomics.notify(words, place, 1); }-]",
    },
    gatesPlan(Array.from({ length: 4 }, () => inThread([step("take")])), {
      pauses: [300],
    }),
  ),
  lostWake(
    "a run that fails wakes nobody",
    {
      once: "[-const state = -]Atomics.and(words, STATE, WAITING_BIT);[- if " +
        "(state & WAITING_BIT) Atomics.notify(words, STATE, 1);-]",
    },
    gatesPlan([here([step("once", { count: 2, hold: 1 })])], { failures: 1 }),
  ),
  lostWake(
    "the latch opens, and wakes nobody",
    {
      latch: "[-if (next === OPEN && state & WAITING_BIT) " +
        "Atomics.notify(words, STATE);-]",
    },
    gatesPlan([here([step("latch")])]),
  ),
  lostWake(
    "the last task is done, and wakes nobody",
    {
      wait_group: "[-if ((state ^ next) & ROUND_MASK) Atomics.notify(words, " +
        "STATE);-]",
    },
    gatesPlan([here([step("group")])]),
  ),
  lostWake(
    "the last one at a barrier wakes nobody",
    {
      "_lock/barrier": "if (!last) return next;[- if (state & WAITING_BIT) " +
        "Atomics.notify(words, STATE);-]",
    },
    gatesPlan([
      here([step("meet")], true),
      here([step("read", { hold: 3 }), step("meet")], true),
    ]),
  ),
  {
    storm: "gates",
    what: "the kernel does not look whether it has got a lock to write",
    edits: {
      "kernel/locks": "this.kernel?.try_write(this.at, this.#id) : undefined;" +
        "[- if (error === EBUSY) return undefined; if (error === 0 || error " +
        "=== EOWNERDEAD)-]{+ if (error !== undefined)+} { return new " +
        "RwWriteGuard",
    },
    seed: 1,
    plan: gatesPlan([
      inThread(times(200, step("write", { hold: 1 }))),
      inThread(times(200, step("write", { hold: 1, tries: true }))),
    ], { kernels: 2 }),
    says: /a writer beside/,
  },
];

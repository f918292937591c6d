import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { freed, type Scenario, viewing, type Weft } from "../_run/scenario.ts";

/** An event that is reset manually. The model's state is whether it is set. */
function manual(weft: Weft) {
  const { Event } = weft.mod;
  return race.spec({
    memory: () => Event.create().buffer,
    ...viewing(weft, Event, LAYOUT.event),
    stateless: true,
    init: false,
    ops: {
      set: {
        run: (event) => event.set(),
        model: () => [true, undefined],
        lockFree: true,
      },
      reset: {
        run: (event) => event.reset(),
        model: () => [false, undefined],
        lockFree: true,
      },
      tryWait: {
        run: (event) => event.tryWait(),
        model: (set: boolean) => [set, set],
        lockFree: true,
      },
      wait: {
        run: (event) => event.wait(),
        model: (set: boolean) => set ? [set, undefined] : null,
      },
      waitFor: {
        run: (event) => event.tryWait(5),
        model: (set: boolean) =>
          set
            ? race.either([set, true], race.timedOut([set, false]))
            : race.timedOut([set, false]),
      },
    },
  });
}

/**
 * An event with automatic reset. The number of remembered sets depends on the
 * number of waiters, which a sequential model does not know. So there are as
 * many sets as waits.
 */
function signalled(weft: Weft, signals = 0) {
  const { Event } = weft.mod;
  return race.spec({
    memory: () => {
      const event = Event.create({ autoReset: true });
      for (let n = signals; n > 0; n--) event.set();
      return event.buffer;
    },
    ...viewing(weft, Event, LAYOUT.event),
    stateless: true,
    init: signals,
    ops: {
      // A set may be forgotten if one is remembered already.
      set: {
        run: (event) => event.set(),
        model: (n: number) =>
          n === 0
            ? [1, undefined]
            : race.either([n, undefined], [n + 1, undefined]),
        lockFree: true,
      },
      reset: {
        run: (event) => event.reset(),
        model: () => [0, undefined],
        lockFree: true,
      },
      tryWait: {
        run: (event) => event.tryWait(),
        model: (n: number) => n > 0 ? [n - 1, true] : [0, false],
        lockFree: true,
      },
      wait: {
        run: (event) => event.wait(),
        model: (n: number) => n > 0 ? [n - 1, undefined] : null,
      },
      waitFor: {
        run: (event) => event.tryWait(5),
        model: (n: number) =>
          n > 0
            ? race.either([n - 1, true], race.timedOut([n, false]))
            : race.timedOut([n, false]),
      },
    },
    final: (memory) => {
      const state = new Int32Array(memory)[0]!;
      if (state >> 16 !== 0) return `${state >> 16} waiters are left`;
    },
  });
}

/** Every agent that waits when an event is set must go on. */
function due(weft: Weft, autoReset: boolean) {
  const { Event } = weft.mod;
  return race.spec({
    memory: () => Event.create({ autoReset }).buffer,
    ...viewing(weft, Event, LAYOUT.event),
    stateless: true,
    ops: {
      wait: { run: (event) => event.wait() },
      pulse: {
        run: (event) => {
          const words = new Int32Array(event.buffer);
          while ((Atomics.load(words, 0) & 4) === 0); // until one waits
          event.set();
          event.reset();
        },
      },
      signalTwice: {
        run: (event) => {
          const words = new Int32Array(event.buffer);
          while (Atomics.load(words, 0) >> 16 < 2); // until two wait
          event.set();
          event.set();
        },
      },
    },
  });
}

/** The race scenarios of `Event`. */
export function scenarios(weft: Weft): Scenario[] {
  const flag = manual(weft);
  const signals = signalled(weft);
  return [
    ...[false, true].map((autoReset) =>
      freed(`one sets, the other frees the event: ${autoReset}`, weft, {
        memory: () => weft.mod.Event.create({ autoReset }).buffer,
        view: (memory) => new weft.mod.Event(memory),
        row: LAYOUT.event,
        letGo: (event) => event.set(),
        wait: (event) => event.wait(),
      })
    ),
    {
      name: "set wakes two",
      spec: flag,
      agents: [[["wait"]], [["wait"]], [["set"]]],
    },
    {
      name: "set, reset, set",
      spec: flag,
      agents: [[["wait"], ["tryWait"]], [["set"], ["reset"], ["set"]]],
    },
    {
      name: "a pulse for one who waits",
      spec: due(weft, false),
      agents: [[["wait"]], [["pulse"]]],
      options: { polls: true }, // until somebody waits
    },
    {
      name: "two signals for two who wait",
      spec: due(weft, true),
      agents: [[["wait"]], [["wait"]], [["signalTwice"]]],
      options: { timeouts: 0, states: 20_000, polls: true },
      sampled: true,
    },
    {
      name: "two set, one resets",
      spec: flag,
      agents: [[["set"]], [["set"], ["tryWait"]], [["reset"], ["tryWait"]]],
    },
    {
      name: "a wait that may time out",
      spec: flag,
      agents: [[["waitFor"]], [["waitFor"]], [["set"], ["reset"]]],
      options: { timeouts: true },
    },
    {
      // The second set is remembered, or the second waiter waits for it.
      name: "one signal, one waiter",
      spec: signals,
      agents: [[["wait"]], [["set"]]],
    },
    {
      name: "two signals, one after the other",
      spec: signals,
      agents: [[["wait"], ["set"]], [["wait"]], [["set"]]],
    },
    {
      name: "a signal for one of two, the other times out",
      spec: signals,
      agents: [[["waitFor"]], [["waitFor"]], [["set"]]],
      options: { timeouts: true },
    },
    {
      name: "a signal, a newcomer, a reset",
      spec: signalled(weft, 1),
      agents: [[["tryWait"]], [["waitFor"]], [["reset"], ["set"]]],
      options: { timeouts: true },
    },
    {
      name: "a waiter is terminated",
      spec: terminated(weft),
      agents: [[["wait"]], [["wait"]]],
      options: { kill: true, rescue: true },
    },
  ];
}

/** A waiter that dies takes no signal from another. */
function terminated(weft: Weft) {
  const { Event } = weft.mod;
  return race.spec({
    memory: () => {
      const event = Event.create({ autoReset: true });
      event.set();
      return event.buffer;
    },
    ...viewing(weft, Event, LAYOUT.event),
    stateless: true,
    ops: {
      wait: {
        run: (event) => {
          event.wait();
          event.set();
        },
      },
    },
    // The signal that the dead agent may have taken.
    recover: (event) => event.set(),
  });
}

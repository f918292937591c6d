import { mutants, none } from "../_run/mutant.ts";

const NO_WAIT_ANY = none("C has no waitAny");

/**
 * Mutants of the code by which `waitAny` waits, in the sources of the
 * primitives it waits for.
 */
export const MUTANTS = [
  ...mutants({
    source: "_queue/mpmc/core",
    header: "mpmc_queue",
    scenarios: ["wait_any"],
  }, {
    what: "an agent that only looked does not pass on the wake",
    ts: "[-if (this.poppable()) wake(words, POP_EPOCH, this.closed ? " +
      "Infinity : 1);-]",
    c: NO_WAIT_ANY,
    by: "beside a consumer of one",
  }),
  ...mutants({
    source: "_lock/semaphore",
    header: "semaphore",
    scenarios: ["wait_any"],
  }, {
    what: "an agent that only looked does not pass on the wake",
    ts: "[-if (others && this.available > 0) Atomics.notify(words, PERMITS, " +
      "1);-]",
    c: NO_WAIT_ANY,
    by: "a permit, seen and taken",
  }, {
    what: "an agent that looks is not counted",
    ts: [
      "[-Atomics.add(words, WAITERS, 1); // (W) announce, then look again " +
      "-]try {",
      "const others = Atomics.[-sub-]{+load+}(words, WAITERS[-, 1) > 1-]{+) " +
      "> 0+};",
    ],
    c: NO_WAIT_ANY,
    by: "a permit of a tracked semaphore comes",
  }, {
    what: "an agent that looks stays counted for ever",
    ts: "const others = Atomics.[-sub-]{+load+}(words, WAITERS[-, 1-]) > 1;",
    c: NO_WAIT_ANY,
    by: "a permit, seen and taken",
  }),
  ...mutants({ source: "event", scenarios: ["wait_any"] }, {
    what: "an agent that only looked does not pass on the wake",
    ts: "[-// The wake that was used up belongs to the agent that takes the " +
      "signal. Atomics.notify(words, STATE, 1);-]",
    c: NO_WAIT_ANY,
    by: "a signal, seen and taken",
  }, {
    what: "an agent that looks takes the signal",
    ts: "return this.#waitSlow(Atomics.load(this.#words, STATE)[-, 0-]);",
    c: NO_WAIT_ANY,
    by: "a signal, seen and taken",
  }),
  ...mutants({ source: "_wait/wait", scenarios: ["wait_any"] }, {
    what: "goes on waiting for the other sources",
    ts: "[-if (waiter.line === undefined) -]continue;",
    c: NO_WAIT_ANY,
    by: "one comes",
  }),
];

import { mutants } from "../_run/mutant.ts";

/** Mutants of what `waitAny` waits by, in the sources of what it waits for. */
export const wait_any = [
  ...mutants("mpmc_queue.ts", [
    "who only looked does not pass the wake on",
    "if (this.poppable()) wake(words, POP_EPOCH, this.closed ? Infinity : 1);",
    "",
    { by: "wait_any: beside a consumer of one" },
  ]),
  ...mutants("semaphore.ts", [
    "who only looked does not pass the wake on",
    "if (others && this.available > 0) Atomics.notify(words, PERMITS, 1);",
    "",
    { by: "wait_any: a permit, seen and taken" },
  ], [
    "who looks is not counted",
    "Atomics.add(words, WAITERS, 1); // (W) announce, then look again try {",
    "try {",
    {
      by: "wait_any: a permit comes",
      also: [
        "const others = Atomics.sub(words, WAITERS, 1) > 1;",
        "const others = Atomics.load(words, WAITERS) > 0;",
      ],
    },
  ], [
    "who looks is counted for ever",
    "const others = Atomics.sub(words, WAITERS, 1) > 1;",
    "const others = Atomics.load(words, WAITERS) > 1;",
    { by: "wait_any: a permit, seen and taken" },
  ]),
  ...mutants("event.ts", [
    "who only looked does not pass the wake on",
    "// The wake that we used up belongs to whoever takes the signal. " +
    "Atomics.notify(words, STATE, 1);",
    "",
    { by: "wait_any: a signal, seen and taken" },
  ], [
    "who looks takes the signal",
    "return this.#waitSlow(Atomics.load(this.#words, STATE), 0);",
    "return this.#waitSlow(Atomics.load(this.#words, STATE));",
    { by: "wait_any: a signal, seen and taken" },
  ]),
  ...mutants("_wait.ts", [
    "the others are waited for still",
    'pending.delete(i); resume(waiter, "timed-out"); }',
    "pending.delete(i); }",
    { by: "wait_any: one comes" },
  ]),
];

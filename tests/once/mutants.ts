import { mutants } from "../_run/mutant.ts";

/** Mutants of `Once`. */
export const MUTANTS = mutants("once", {
  what: "begins by a load and a store",
  by: "two agents",
  ts: [
    "const state = Atomics.compareExchange(words, STATE, NEW, this.#id);",
    "const state = Atomics.load(words, STATE);\n" +
    "if (state === NEW) Atomics.store(words, STATE, this.#id);",
  ],
  c: [
    "int32_t state = weft__compare_exchange(&o->state, WEFT_ONCE_NEW, id);",
    "int32_t state = weft__load(&o->state); if (state == WEFT_ONCE_NEW) " +
    "weft__store(&o->state, id);",
  ],
}, {
  what: "begins although another runs it",
  by: "two agents",
  ts: [
    "if (state === NEW) return this.#call(fn);",
    "if ((state & DONE_BIT) === 0) return this.#call(fn);",
  ],
  c: [
    "if (state == WEFT_ONCE_NEW) return EBUSY;",
    "if ((state & WEFT_ONCE_DONE_BIT) == 0) return EBUSY;",
  ],
}, {
  what: "does not wait for the agent that runs it",
  by: "two agents",
  ts: [
    "if (state & DONE_BIT) return this.#done = true; if ((state",
    "if (state !== NEW) return true; if ((state",
  ],
  c: [
    "if (state & WEFT_ONCE_DONE_BIT) return 0; int32_t runner",
    "if (state != WEFT_ONCE_NEW) return 0; int32_t runner",
  ],
}, {
  what: "(E): is done before it has run",
  by: "two agents",
  ts: [
    "#call(fn: () => void): true { try { fn();",
    "#call(fn: () => void): true { try { this.#end(); fn();",
  ],
  c: ["result = fn(context);", "weft__once_end(o); result = fn(context);"],
}, {
  what: "(E): ends by a store",
  by: "two agents",
  ts: [
    "const state = Atomics.exchange(words, STATE, DONE_BIT);",
    "const state = Atomics.load(words, STATE);\n" +
    "Atomics.store(words, STATE, DONE_BIT);",
  ],
  c: [
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);",
    "int32_t state = weft__load(&o->state); weft__store(&o->state, " +
    "WEFT_ONCE_DONE_BIT);",
  ],
}, {
  what: "wakes before it is done",
  by: "two agents",
  ts: [
    "const state = Atomics.exchange(words, STATE, DONE_BIT); " +
    "if (state & WAITING_BIT) Atomics.notify(words, STATE);",
    "const state = Atomics.load(words, STATE);\n" +
    "if (state & WAITING_BIT) Atomics.notify(words, STATE);\n" +
    "Atomics.exchange(words, STATE, DONE_BIT);",
  ],
  c: [
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT); if " +
    "(state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL);",
    "int32_t state = weft__load(&o->state); if (state & " +
    "WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL); " +
    "weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);",
  ],
}, {
  what: "the end wakes one waiter only",
  by: "three agents",
  ts: [
    "if (state & WAITING_BIT) Atomics.notify(words, STATE); " +
    "return this.#done = true;",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);\n" +
    "return this.#done = true;",
  ],
  c: ["weft__notify(&o->state, WEFT__ALL);", "weft__notify(&o->state, 1);"],
}, {
  what: "the end wakes nobody",
  by: "two agents",
  ts: [
    "if (state & WAITING_BIT) Atomics.notify(words, STATE); " +
    "return this.#done = true;",
    "return this.#done = true;",
  ],
  c: [
    "if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL);",
    "(void)state;",
  ],
}, {
  what: "a finished run leaves the word as new",
  by: "two agents",
  ts: [
    "const state = Atomics.exchange(words, STATE, DONE_BIT);",
    "const state = Atomics.exchange(words, STATE, NEW);",
  ],
  c: [
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);",
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_NEW);",
  ],
}, {
  what: "fails by a store",
  by: "the first two fail",
  ts: [
    "const state = Atomics.and(words, STATE, WAITING_BIT);",
    "const state = Atomics.load(words, STATE);\n" +
    "Atomics.store(words, STATE, state & WAITING_BIT);",
  ],
  c: [
    "int32_t state = weft__and(&o->state, WEFT_ONCE_WAITING_BIT);",
    "int32_t state = weft__load(&o->state); weft__store(&o->state, state & " +
    "WEFT_ONCE_WAITING_BIT);",
  ],
}, {
  what: "a failure forgets that others wait",
  by: "the first two of three agents fail",
  ts: [
    "const state = Atomics.and(words, STATE, WAITING_BIT);",
    "const state = Atomics.exchange(words, STATE, NEW);",
  ],
  c: [
    "int32_t state = weft__and(&o->state, WEFT_ONCE_WAITING_BIT);",
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_NEW) & 0;",
  ],
}, {
  what: "a failure wakes nobody",
  by: "the first two fail",
  ts: [
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1); } *#runSlow",
    "} *#runSlow",
  ],
  c: [
    "int32_t state = weft__and(&o->state, WEFT_ONCE_WAITING_BIT); if (state " +
    "& WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1);",
    "weft__and(&o->state, WEFT_ONCE_WAITING_BIT);",
  ],
}, {
  what: "takes a failure for the end",
  by: "the first two fail",
  ts: [
    "#call(fn: () => void): true { try { fn(); } catch (error) { this.#fail();",
    "#call(fn: () => void): true { try { fn(); } catch (error) { this.#end();",
  ],
  c: ["else weft__once_fail(o);", "else weft__once_end(o);"],
}, {
  what: "a failure leaves the word as if it still ran",
  by: "the first fails",
  ts: [
    "#call(fn: () => void): true { try { fn(); } catch (error) { this.#fail();",
    "#call(fn: () => void): true { try { fn(); } catch (error) {",
  ],
  c: ["else weft__once_fail(o);", ""],
}, {
  what: "does not say that it sleeps",
  by: "two agents",
  ts: [
    "state = free ? state | this.#id : state | WAITING_BIT;",
    "state = free ? state | this.#id : state;",
  ],
  c: [
    "state |= unclaimed ? id : WEFT_ONCE_WAITING_BIT;",
    "state |= unclaimed ? id : 0;",
  ],
}, {
  what: "tries next, and forgets that others wait",
  by: "the first two of three agents fail",
  ts: [
    "state = free ? state | this.#id : state | WAITING_BIT;",
    "state = free ? this.#id : state | WAITING_BIT;",
  ],
  c: [
    "state |= unclaimed ? id : WEFT_ONCE_WAITING_BIT;",
    "state = unclaimed ? id : state | WEFT_ONCE_WAITING_BIT;",
  ],
}, {
  what: "says that it sleeps, or tries next, by a store",
  by: "two agents",
  ts: [
    "const seen = Atomics.compareExchange(words, STATE, expected, state); " +
    "if (seen !== expected) { state = seen; continue; }",
    "Atomics.store(words, STATE, state);",
  ],
  c: [
    "int32_t seen = weft__compare_exchange(&o->state, expected, state); if " +
    "(seen != expected) { state = seen; continue; }",
    "weft__store(&o->state, state);",
  ],
}, {
  what: "does not check whether its exchange succeeded",
  by: "the first fails",
  ts: ["if (seen !== expected) { state = seen; continue; }", ""],
  c: ["if (seen != expected) { state = seen; continue; }", "(void)seen;"],
}, {
  what: "sleeps on the value that it reads last",
  by: "two agents",
  ts: [
    "const outcome = yield { words, index: STATE, value: state };",
    "const outcome = yield {\n" +
    "words, index: STATE, value: Atomics.load(words, STATE) };",
  ],
  c: [
    "weft__sleep(&o->state, state, deadline, WEFT__LOOK);",
    "weft__sleep(&o->state, weft__load(&o->state), deadline, WEFT__LOOK);",
  ],
}, {
  what: "takes a wake for the end",
  by: "an agent is terminated",
  ts: [
    'last = outcome === "timed-out";',
    'if (outcome === "ok") return "done"; last = outcome === "timed-out";',
  ],
  c: [
    "last = outcome == WEFT__TIMED_OUT;",
    "if (outcome == WEFT__OK) return 0; last = outcome == WEFT__TIMED_OUT;",
  ],
}, {
  what: "does not look again after a wake",
  by: "two agents",
  ts: ["state = Atomics.load(words, STATE); last", "last"],
  c: ["state = weft__load(&o->state); last", "last"],
}, {
  what: "takes a timeout for the end",
  by: "a wait that may time out, and a look at what it waited for",
  ts: ["if (!free && last) return false;", 'if (!free && last) return "done";'],
  c: [
    "if (!unclaimed && last) return ETIMEDOUT;",
    "if (!unclaimed && last) return 0;",
  ],
}, {
  what: "abandons another agent than the given one",
  by: "a terminated runner is abandoned",
  ts: [
    "while ((state & RUNNER_MASK) === id && id !== 0) {",
    "while ((state & RUNNER_MASK) !== 0 && id !== 0) {",
  ],
  c: [
    "while ((state & WEFT_ONCE_RUNNER_MASK) == id && id != 0) {",
    "while ((state & WEFT_ONCE_RUNNER_MASK) != 0 && id != 0) {",
  ],
}, {
  what: "abandons, and forgets that others wait",
  ts: ["const kept = state & WAITING_BIT;", "const kept = NEW;"],
  c: [
    "int32_t kept = state & WEFT_ONCE_WAITING_BIT;",
    "int32_t kept = WEFT_ONCE_NEW;",
  ],
  by: "a terminated runner is abandoned",
}, {
  what: "abandons by a store",
  by: "a terminated runner is abandoned",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, kept); " +
    "if (state !== expected) continue;",
    "Atomics.store(words, STATE, kept);",
  ],
  c: [
    "state = weft__compare_exchange(&o->state, expected, kept); if (state != " +
    "expected) continue;",
    "(void)expected; weft__store(&o->state, kept);",
  ],
}, {
  what: "does not check whether its exchange to abandon succeeded",
  by: "a terminated runner is abandoned",
  ts: ["kept); if (state !== expected) continue;", "kept);"],
  c: ["kept); if (state != expected) continue;", "kept);"],
}, {
  what: "abandons, and wakes nobody",
  by: "a terminated runner is abandoned",
  ts: [
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1); return 1;",
    "return 1;",
  ],
  c: [
    "if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1); return 1;",
    "return 1;",
  ],
}, {
  what: "abandons before it wakes",
  by: "a terminated runner is abandoned",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, kept); " +
    "if (state !== expected) continue; " +
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);\n" +
    "state = Atomics.compareExchange(words, STATE, expected, kept);\n" +
    "if (state !== expected) continue;",
  ],
  c: [
    "state = weft__compare_exchange(&o->state, expected, kept); if (state != " +
    "expected) continue; if (state & WEFT_ONCE_WAITING_BIT) " +
    "weft__notify(&o->state, 1);",
    "if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1); state = " +
    "weft__compare_exchange(&o->state, expected, kept); if (state != " +
    "expected) continue;",
  ],
}, {
  what: "(G) looks for waiters once it has published",
  by: "one runs the function, the other frees the once",
  ts: [
    "const state = Atomics.exchange(words, STATE, DONE_BIT); if (state",
    "const state = Atomics.or(words, STATE, DONE_BIT);\n" +
    "Atomics.and(words, STATE, DONE_BIT);\nif (state",
  ],
  c: [
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT); if (state",
    "int32_t state = weft__or(&o->state, WEFT_ONCE_DONE_BIT); " +
    "weft__and(&o->state, WEFT_ONCE_DONE_BIT); if (state",
  ],
});

import { mutants } from "../_run/mutant.ts";

/** Mutants of `Once`. */
export const MUTANTS = mutants("once", {
  what: "begins by a load and a store",
  by: "two agents",
  ts: "const state = Atomics.[-compareExchange-]{+load+}(words, STATE[-, " +
    "NEW-]{+); if (state === NEW) Atomics.store(words, STATE+}, this.#id);",
  c: "[-int32_t state = weft__compare_exchange(&o->state, WEFT_ONCE_NEW, " +
    "id);-]{+int32_t state = weft__load(&o->state); if (state == " +
    "WEFT_ONCE_NEW) weft__store(&o->state, id);+}",
}, {
  what: "begins although another runs it",
  by: "two agents",
  ts: "if ([-state === NEW-]{+(state & DONE_BIT) === 0+}) return " +
    "this.#call(fn);",
  c: "if ([-state == WEFT_ONCE_NEW-]{+(state & WEFT_ONCE_DONE_BIT) == 0+}) " +
    "return EBUSY;",
}, {
  what: "does not wait for the agent that runs it",
  by: "two agents",
  ts: "if (state [-& DONE_BIT) return this.#done =-]{+!== NEW) return+} " +
    "true; if ((state",
  c: "if (state [-& WEFT_ONCE_DONE_BIT-]{+!= WEFT_ONCE_NEW+}) return 0; " +
    "int32_t runner",
}, {
  what: "(E): is done before it has run",
  by: "two agents",
  ts: "#call(fn: () => void): true { try { {+this.#end(); +}fn();",
  c: "{+weft__once_end(o); +}result = fn(context);",
}, {
  what: "(E): ends by a store",
  by: "two agents",
  ts: "const state = Atomics.[-exchange-]{+load(words, STATE); " +
    "Atomics.store+}(words, STATE, DONE_BIT);",
  c: "int32_t state = [-weft__exchange-]{+weft__load(&o->state); " +
    "weft__store+}(&o->state, WEFT_ONCE_DONE_BIT);",
}, {
  what: "wakes before it is done",
  by: "two agents",
  ts: "const state = Atomics.[-exchange-]{+load+}(words, STATE[-, " +
    "DONE_BIT-]); if (state & WAITING_BIT) Atomics.notify(words, STATE);{+ " +
    "Atomics.exchange(words, STATE, DONE_BIT);+}",
  c: "int32_t state = [-weft__exchange(&o->state, " +
    "WEFT_ONCE_DONE_BIT-]{+weft__load(&o->state+}); if (state & " +
    "WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL);{+ " +
    "weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);+}",
}, {
  what: "the end wakes one waiter only",
  by: "three agents",
  ts: "if (state & WAITING_BIT) Atomics.notify(words, STATE{+, 1+}); return " +
    "this.#done = true;",
  c: "weft__notify(&o->state, [-WEFT__ALL-]{+1+});",
}, {
  what: "the end wakes nobody",
  by: "two agents",
  ts: "[-if (state & WAITING_BIT) Atomics.notify(words, STATE); -]return " +
    "this.#done = true;",
  c: "[-if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, " +
    "WEFT__ALL);-]{+(void)state;+}",
}, {
  what: "a finished run leaves the word as new",
  by: "two agents",
  ts: "const state = Atomics.exchange(words, STATE, [-DONE_BIT-]{+NEW+});",
  c: "int32_t state = weft__exchange(&o->state, " +
    "[-WEFT_ONCE_DONE_BIT-]{+WEFT_ONCE_NEW+});",
}, {
  what: "fails by a store",
  by: "the first two fail",
  ts: "const state = Atomics.[-and-]{+load(words, STATE); " +
    "Atomics.store+}(words, STATE, {+state & +}WAITING_BIT);",
  c: "int32_t state = [-weft__and(&o->state, -]{+weft__load(&o->state); " +
    "weft__store(&o->state, state & +}WEFT_ONCE_WAITING_BIT);",
}, {
  what: "a failure forgets that others wait",
  by: "the first two of three agents fail",
  ts: "const state = Atomics.[-and-]{+exchange+}(words, STATE, " +
    "[-WAITING_BIT-]{+NEW+});",
  c: "[-int32_t state = weft__and(&o->state, " +
    "WEFT_ONCE_WAITING_BIT);-]{+int32_t state = weft__exchange(&o->state, " +
    "WEFT_ONCE_NEW) & 0;+}",
}, {
  what: "a failure wakes nobody",
  by: "the first two fail",
  ts: "[-if (state & WAITING_BIT) Atomics.notify(words, STATE, 1); -]} " +
    "*#runSlow",
  c: "[-int32_t state = -]weft__and(&o->state, WEFT_ONCE_WAITING_BIT);[- if " +
    "(state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1);-]",
}, {
  what: "takes a failure for the end",
  by: "the first two fail",
  ts: "#call(fn: () => void): true { try { fn(); } catch (error) { " +
    "this.#[-fail-]{+end+}();",
  c: "else [-weft__once_fail-]{+weft__once_end+}(o);",
}, {
  what: "a failure leaves the word as if it still ran",
  by: "the first fails",
  ts: "#call(fn: () => void): true { try { fn(); } catch (error) {[- " +
    "this.#fail();-]",
  c: "[-else weft__once_fail(o);-]",
}, {
  what: "does not say that it sleeps",
  by: "two agents",
  ts: "state = free ? state | this.#id : state[- | WAITING_BIT-];",
  c: "state |= unclaimed ? id : [-WEFT_ONCE_WAITING_BIT-]{+0+};",
}, {
  what: "tries next, and forgets that others wait",
  by: "the first two of three agents fail",
  ts: "state = free ?[- state |-] this.#id : state | WAITING_BIT;",
  c: "state [-|-]= unclaimed ? id : {+state | +}WEFT_ONCE_WAITING_BIT;",
}, {
  what: "says that it sleeps, or tries next, by a store",
  by: "two agents",
  ts: "[-const seen = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, state); if (seen !== expected) { state = seen; continue; " +
    "}-]{+state);+}",
  c: "[-int32_t seen = weft__compare_exchange(&o->state, expected, state); " +
    "if (seen != expected) { state = seen; continue; " +
    "}-]{+weft__store(&o->state, state);+}",
}, {
  what: "does not check whether its exchange succeeded",
  by: "the first fails",
  ts: "[-if (seen !== expected) { state = seen; continue; }-]",
  c: "[-if (seen != expected) { state = seen; continue; }-]{+(void)seen;+}",
}, {
  what: "sleeps on the value that it reads last",
  by: "two agents",
  ts: "const outcome = yield { words, index: STATE, value: " +
    "[-state-]{+Atomics.load(words, STATE)+} };",
  c: "weft__sleep(&o->state, [-state-]{+weft__load(&o->state)+}, deadline, " +
    "WEFT__LOOK);",
}, {
  what: "takes a wake for the end",
  by: "an agent is terminated",
  ts: '{+if (outcome === "ok") return "done"; +}last = outcome === ' +
    '"timed-out";',
  c: "{+if (outcome == WEFT__OK) return 0; +}last = outcome == " +
    "WEFT__TIMED_OUT;",
}, {
  what: "does not look again after a wake",
  by: "two agents",
  ts: "[-state = Atomics.load(words, STATE); -]last",
  c: "[-state = weft__load(&o->state); -]last",
}, {
  what: "takes a timeout for the end",
  by: "a wait that may time out, and a look at what it waited for",
  ts: 'if (!free && last) return [-false-]{+"done"+};',
  c: "if (!unclaimed && last) return [-ETIMEDOUT-]{+0+};",
}, {
  what: "abandons another agent than the given one",
  by: "a terminated runner is abandoned",
  ts: "while ((state & RUNNER_MASK) [-=== id-]{+!== 0+} && id !== 0) {",
  c: "while ((state & WEFT_ONCE_RUNNER_MASK) [-== id-]{+!= 0+} && id != 0) {",
}, {
  what: "abandons, and forgets that others wait",
  ts: "const kept = [-state & WAITING_BIT-]{+NEW+};",
  c: "int32_t kept = [-state & WEFT_ONCE_WAITING_BIT-]{+WEFT_ONCE_NEW+};",
  by: "a terminated runner is abandoned",
}, {
  what: "abandons by a store",
  by: "a terminated runner is abandoned",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, kept); if (state !== expected) continue;-]{+kept);+}",
  c: "[-state = weft__compare_exchange(&o->state, expected, kept); if (state " +
    "!= expected) continue;-]{+(void)expected; weft__store(&o->state, " +
    "kept);+}",
}, {
  what: "does not check whether its exchange to abandon succeeded",
  by: "a terminated runner is abandoned",
  ts: "kept);[- if (state !== expected) continue;-]",
  c: "kept);[- if (state != expected) continue;-]",
}, {
  what: "abandons, and wakes nobody",
  by: "a terminated runner is abandoned",
  ts: "[-if (state & WAITING_BIT) Atomics.notify(words, STATE, 1); -]return 1;",
  c: "[-if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1); " +
    "-]return 1;",
}, {
  what: "abandons before it wakes",
  by: "a terminated runner is abandoned",
  ts: "{+if (state & WAITING_BIT) Atomics.notify(words, STATE, 1); +}state = " +
    "Atomics.compareExchange(words, STATE, expected, kept); if (state !== " +
    "expected) continue;[- if (state & WAITING_BIT) Atomics.notify(words, " +
    "STATE, 1);-]",
  c: "{+if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1); " +
    "+}state = weft__compare_exchange(&o->state, expected, kept); if (state " +
    "!= expected) continue;[- if (state & WEFT_ONCE_WAITING_BIT) " +
    "weft__notify(&o->state, 1);-]",
}, {
  what: "(G) looks for waiters once it has published",
  by: "one runs the function, the other frees the once",
  ts: "const state = Atomics.[-exchange-]{+or(words, STATE, DONE_BIT); " +
    "Atomics.and+}(words, STATE, DONE_BIT); if (state",
  c: "int32_t state = [-weft__exchange-]{+weft__or(&o->state, " +
    "WEFT_ONCE_DONE_BIT); weft__and+}(&o->state, WEFT_ONCE_DONE_BIT); if " +
    "(state",
});

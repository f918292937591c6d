import { mutants } from "../_run/mutant.ts";

/** Mutants of `Condition`. */
export const MUTANTS = mutants("condition", {
  what: "CV1: unlocks the mutex before it joins",
  by: "one waits, one notifies unlocked",
  ts: [
    "{+mutex.unlock(); +}const group = this.#join(mutex); const place = " +
    "placeOf(group); const seen = Atomics.load(words, place);[- if " +
    '(told.explored) keeps("joined", group); mutex.unlock();-]',
    "if (mutex.owner [-!== this.#id-]{+< 0+}) {",
  ],
  c: [
    "{+weft_mutex_unlock(m); +}int result = weft__condition_join(c, &group);",
    "int32_t seen = weft__load(weft__condition_place(c, group));[- " +
    "weft_mutex_unlock(m);-]",
  ],
}, {
  what: "CV2: wakes sleepers but calls nobody",
  by: "two wait, notified one by one",
  ts: "const called = state[- - k * (ONE_WAITING - ONE_CALLED)-];",
  c: "int32_t called = state[- - k * (WEFT_CONDITION_ONE_WAITING - " +
    "WEFT_CONDITION_ONE_CALLED)-];",
}, {
  what: "CV3: returns without the mutex",
  by: "one waits, one notifies unlocked",
  ts: "[-yield* relock(mutexWords, this.#id, kept);-]",
  c: "int locked = [-weft__mutex_lock_slow(m, id, WEFT_MUTEX_UNLOCKED, " +
    "WEFT_FOREVER, false)-]{+0+};",
}, {
  what: "takes the mutex again while it is held",
  by: "one notifies locked, the other frees the condition",
  ts: "[-yield* relock-]{+Atomics.store+}(mutexWords[-, this.#id, kept-]{+, " +
    "0, this.#id+});",
  c: "[-int locked = weft__mutex_lock_slow(m, id, WEFT_MUTEX_UNLOCKED, " +
    "WEFT_FOREVER, false);-]{+weft__store(&m->state, id); int locked = 0;+}",
}, {
  what: "CV4: notifyAll calls one waiter only",
  by: "two wait, all are notified",
  ts: "this.#call([-Infinity-]{+1+});",
  c: "weft__condition_call(c, [-WEFT__ALL-]{+1+});",
}, {
  what: "CV5: wakes before it calls",
  by: "two wait, notified one by one",
  ts: "{+Atomics.notify(words, place, 1); +}if " +
    "(Atomics.compareExchange(words, place, state, called) !== state) { " +
    "continue; } [-Atomics.notify(words, place, 1); -]n -= k;",
  c: "{+weft__notify(place, 1); +}if (weft__compare_exchange(place, state, " +
    "called) != state) continue; [-weft__notify(place, 1); -]n -= k;",
}, {
  what: "calls and wakes nobody",
  by: "two wait, notified one by one",
  ts: "[-Atomics.notify(words, place, 1); -]n -= k;",
  c: "[-weft__notify(place, 1); -]n -= k;",
}, {
  what: "the first waiter that wakes does not wake the next",
  by: "two wait, one notifies both",
  ts: "[-if (called && Atomics.load(words, place) & CALLED_MASK) { " +
    "Atomics.notify(words, place, 1); }-]",
  c: "[-if (result == 0 && weft__load(place) & WEFT_CONDITION_CALLED_MASK) " +
    "weft__notify(place, 1);-]",
}, {
  what: "takes a call by a store",
  by: "called once, of two, where the turn wraps",
  ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, place, [-state, " +
    "taken) !== state) { continue; }-]{+taken);+} break;",
  c: "[-if (weft__compare_exchange(place, state, taken) != state) continue; " +
    "return 0;-]{+weft__store(place, taken); return 0;+}",
}, {
  what: "joins, and is not counted",
  by: "one waits, one notifies unlocked",
  ts: "const joined = [-(-]state | GATHERS_BIT[-) + ONE_WAITING-];",
  c: "[-(-]state | WEFT_CONDITION_GATHERS_BIT[-) + " +
    "WEFT_CONDITION_ONE_WAITING-];",
}, {
  what: "a waiter that gives up stays counted",
  by: "called once",
  ts: "const left = state[- - ONE_WAITING-];",
  c: "int32_t left = state[- - WEFT_CONDITION_ONE_WAITING-];",
}, {
  what: "sleeps on the value that it reads last",
  by: "one waits, one notifies unlocked",
  ts: "? { words, index: place, value: [-state-]{+Atomics.load(words, " +
    "place)+} } :",
  c: "outcome = weft__sleep(place, [-state-]{+weft__load(place)+}, deadline, " +
    "WEFT__LOOK);",
}, {
  what: "takes a wake for a call",
  ts: '{+if (outcome === "ok") break; +}if (inherits || outcome === ' +
    '"timed-out") {',
  c: "{+if (outcome == WEFT__OK) return 0; +}if (inherits || outcome == " +
    "WEFT__TIMED_OUT) {",
  by: "spurious calls",
}, {
  what: "never calls the group that waiters are joining",
  by: "one waits, one notifies unlocked",
  ts: "[-if (gathering === 0) -]return;",
  c: "[-if (gathering == 0) -]return 0;",
}, {
  what: "joins by a store",
  by: "joins while another of its group is called",
  ts: "[-if (Atomics.compareExchange(words, place, state, joined) === state) " +
    "{ return group; }-]{+Atomics.store(words, place, joined); return " +
    "group;+}",
  c: "[-if (weft__compare_exchange(place, state, joined) == state) return " +
    "0;-]{+weft__store(place, joined); return 0;+}",
}, {
  what: "joins the group whose turn it is",
  by: "one waits, one notifies unlocked",
  ts: "const group = turn[- + 1 | 0-];",
  c: "*group = [-weft__plus(turn, 1)-]{+turn+};",
}, {
  what: "joins a group that is already being called",
  by: "called once",
  ts: "if ([-callsAre(state, group)-]{+false+}) {",
  c: "if ([-weft__condition_calls(state, *group)-]{+0+}) {",
}, {
  what: "sees that the turn lags, and does not move it on",
  ts: "[-Atomics.compareExchange(words, TURN, turn, group); -]continue;",
  c: "[-weft__compare_exchange(&c->turn, turn, *group); -]continue;",
  by: "moves a turn on that lags behind, to wait",
}, {
  what: "(P): joins by a word that it read three turns ago",
  ts: "[-if (Atomics.load(words, TURN) !== turn) continue; // (P)-]",
  c: "[-if (weft__load(&c->turn) != turn) continue; /* (P) */-]",
  by: "joins while three turns pass",
}, {
  what: "(P): takes a call four turns later",
  ts: "[-if ((group - Atomics.load(words, TURN) | 0) < -1) break;-]",
  c: "[-if (weft__minus(group, weft__load(&c->turn)) < -1) return 0;-]",
  by: "wakes when four turns have passed",
}, {
  what: "takes a call that belongs to another group",
  by: "takes no call of the group two before",
  ts: "if ([-ours && -]state & CALLED_MASK) {",
  c: "if ([-ours && -]state & WEFT_CONDITION_CALLED_MASK) {",
}, {
  what: "thinks it is counted in the next group",
  by: "wakes when two turns have passed",
  ts: "const counts = [-ours === ((state & GATHERS_BIT) === 0)-]{+true+};",
  c: "bool counts = [-ours == ((state & WEFT_CONDITION_GATHERS_BIT) == " +
    "0)-]{+true+};",
}, {
  what: "goes before its turn",
  by: "called once",
  ts: "if (!counts{+ || !ours+} || (state & WAITING_MASK) === 0) break;",
  c: "if (!counts{+ || !ours+} || (state & WEFT_CONDITION_WAITING_MASK) == " +
    "0) return 0;",
}, {
  what: "does not mark that waiters are joining a group",
  by: "called once",
  ts: "const joined = [-(state | GATHERS_BIT)-]{+state+} + ONE_WAITING;",
  c: "[-(state | WEFT_CONDITION_GATHERS_BIT)-]{+state+} + " +
    "WEFT_CONDITION_ONE_WAITING;",
}, {
  what: "gives up by a store",
  by: "spurious calls",
  ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, place, [-state, " +
    "left) !== state) { continue; }-]{+left);+}",
  c: "[-if (weft__compare_exchange(place, state, left) != state) " +
    "continue;-]{+weft__store(place, left);+}",
}, {
  what: "does not pass on a wake that it cannot use",
  by: "a timeout beside a waiter",
  ts: "passed = state;[- Atomics.notify(words, place, 1);-]",
  equivalent: "the tester wakes the waiter first that sleeps longest, so " +
    "no wake needs passing on",
}, {
  what: "calls by a store",
  by: "two notify at once",
  ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, place, [-state, " +
    "called) !== state) { continue; }-]{+called);+}",
  c: "[-if (weft__compare_exchange(place, state, called) != state) " +
    "continue;-]{+weft__store(place, called);+}",
}, {
  what:
    "calls the group that waiters are joining instead of the one whose turn it is",
  ts: "if ([-state & GATHERS_BIT-]{+false+}) {",
  c: "if ([-state & WEFT_CONDITION_GATHERS_BIT-]{+0+}) {",
  by: "the turn passes once",
}, {
  what: "the turn passes by a store",
  by: "two notify at once, where some are not awake yet",
  ts: "[-if ( -]Atomics.[-compareExchange-]{+store+}(words, after, " +
    "[-gathered, called) !== gathered ) { continue; }-]{+called);+}",
  c: "[-if (weft__compare_exchange(after, gathered, called) != gathered) " +
    "continue;-]{+weft__store(after, called);+}",
}, {
  what: "passes the turn again to a group that has had it",
  by: "two notify at once, where some are not awake yet",
  ts: "if ([-callsAre(gathered, next)-]{+false+}) {",
  c: "if ([-weft__condition_calls(gathered, next)-]{+0+}) {",
}, {
  what: "the turn follows by a store",
  by: "the turn passes once",
  ts: "Atomics.[-compareExchange-]{+store+}(words, TURN[-, turn, next); // " +
    "If-]{+, next); // Of+}",
  c: "[-weft__compare_exchange(&c->turn, -]{+weft__store(&c->+}turn, next); " +
    "/* If",
}, {
  what: "the turn does not follow",
  by: "the turn passes once",
  ts: "[-Atomics.compareExchange(words, TURN, turn, next); -]// If",
  c: "[-weft__compare_exchange(&c->turn, turn, next); -]/* If",
}, {
  what: "a turn that lags is moved on by a store",
  by: "notifies while four turns pass",
  ts: "const seen = {+turn; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "TURN[-, turn-], next); turn =",
  c: "int32_t seen = [-weft__compare_exchange(&c->turn, turn, -]{+turn; " +
    "weft__store(&c->turn, +}next);",
}, {
  what: "the turn passes, and old calls are left",
  by: "two notify at once, where some are not awake yet",
  ts: "{+(+}markOf(next) | (gathering - k) * ONE_WAITING | k{+) + (gathered " +
    "& CALLED_MASK)+};",
  c: "int32_t called = {+(+}weft__condition_mark(next) | (gathering - k) * " +
    "WEFT_CONDITION_ONE_WAITING | k{+) + (gathered & " +
    "WEFT_CONDITION_CALLED_MASK)+};",
}, {
  what: "the turn passes, and wakes nobody",
  by: "one waits, one notifies unlocked",
  ts: "[-Atomics.notify(words, after, 1);-]",
  c: "[-weft__notify(after, 1);-]",
}, {
  what: "(P): passes a turn that was over four turns ago",
  ts: "const now = [-Atomics.load(words, TURN); // (P)-]{+turn;+}",
  c: "int32_t now = [-weft__load(&c->turn); /* (P) */-]{+turn;+}",
  by: "notifies while four turns pass",
}, {
  what: "notify waits until the called waiter has gone",
  ts: "Atomics.notify(words, place, 1); n -= k;{+ while (Atomics.load(words, " +
    "place) & CALLED_MASK);+}",
  c: "weft__notify(place, 1); n -= k;{+ while (weft__load(place) & " +
    "WEFT_CONDITION_CALLED_MASK) {}+}",
  by: "two notify at once",
});

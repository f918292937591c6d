import { mutants } from "../_run/mutant.ts";

export const MUTANTS = mutants({
  source: "_lock/mutex",
  header: "mutex",
  scenarios: ["mutex"],
}, {
  what:
    "MX1: a woken sleeper takes the lock without the mark CONTENDED for the others",
  ts: "const taken = id | (state & CONTENDED_BIT)[- | contended-];",
  c: "int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT)[- | contended-];",
  by: "two wait for one that holds it",
}, {
  what: "MX2: sleeps without marking the lock contended",
  by: "lock, lock",
  ts: "if ([-(state & CONTENDED_BIT) === 0-]{+false+}) {",
  c: "if ([-(state & WEFT_MUTEX_CONTENDED_BIT) == -]0) {",
}, {
  what: "MX3: notifies before it frees",
  by: "lock, lock",
  ts: "{+Atomics.notify(words, STATE, 1); +}Atomics.store(words, STATE, " +
    "UNLOCKED);[- Atomics.notify(words, STATE, 1);-]",
  c: "[-see (G) */-]{+*/ weft__notify(&m->state, 1);+} " +
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED);[- weft__notify(&m->state, " +
    "1);-]",
}, {
  what: "MX4: never notifies",
  by: "lock, lock",
  ts: "Atomics.store(words, STATE, UNLOCKED);[- Atomics.notify(words, STATE, " +
    "1);-]",
  c: "[-see (G) -]*/ weft__store(&m->state, WEFT_MUTEX_UNLOCKED);[- " +
    "weft__notify(&m->state, 1);-]",
}, {
  what: "MX5: unlocks by load and store",
  by: "lock, lock",
  ts: "const state = Atomics.[-compareExchange-]{+load(words, STATE); if " +
    "(state === id) Atomics.store+}(words, STATE, [-id, -]UNLOCKED);",
  c: "[-int32_t state = weft__compare_exchange(&m->state, id, " +
    "WEFT_MUTEX_UNLOCKED);-]{+int32_t state = weft__load(&m->state); if " +
    "(state == id) weft__store(&m->state, 0);+}",
}, {
  what: "MX6: the contended unlock forgets to free",
  by: "lock, lock",
  ts: "[-Atomics.store(words, STATE, UNLOCKED); -]Atomics.notify(words, " +
    "STATE, 1);",
  c: "[-see (G) */ weft__store(&m->state, WEFT_MUTEX_UNLOCKED);-]{+*/+} " +
    "weft__notify(&m->state, 1);",
}, {
  what: "MX7: locks by a test and a store",
  by: "lock, tryLock",
  ts: "const state = Atomics.[-compareExchange-]{+load(words, STATE); if " +
    "(state === UNLOCKED) Atomics.store+}(words, STATE, [-UNLOCKED, -]id);",
  c: "[-if (!weft__may_block()) return EPERM; -]int32_t id = " +
    "weft_agent_id(); int32_t state = [-weft__compare_exchange(&m->state, " +
    "WEFT_MUTEX_UNLOCKED, -]{+weft__load(&m->state); if (state == 0) " +
    "weft__store(&m->state, +}id);",
}, {
  what: "MX7: tryLock locks by a test and a store",
  by: "lock, tryLock",
  ts: "let state = Atomics.[-compareExchange-]{+load(words, STATE); if " +
    "(state === UNLOCKED) Atomics.store+}(words, STATE, [-UNLOCKED, -]id);",
  c: "static inline WEFT__CHECKED int weft_mutex_try_lock(weft_mutex *m) { " +
    "int32_t id = weft_agent_id(); int32_t state = " +
    "[-weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, " +
    "-]{+weft__load(&m->state); if (state == 0) weft__store(&m->state, +}id);",
}, {
  what: "MX8: takes a wake for the lock",
  by: "lock, lock",
  ts: '{+if (outcome === "ok") return "locked"; +}if (outcome === ' +
    '"timed-out") { decline(words);',
  c: "{+if (outcome == WEFT__OK) return 0; +}if (outcome == WEFT__TIMED_OUT) " +
    "{ weft__mutex_decline(m);",
}, {
  what: "MX9: tryLock removes the mark CONTENDED",
  by: "somebody starves, tryLock and unlock",
  ts: "const taken = id[- | (state & CONTENDED_BIT)-]; state",
  equivalent:
    "a lock is kept only after a sleeper was woken; that one looks, " +
    "and sets the mark again before it sleeps or leaves",
}, {
  what: "MX10: takes a timeout for the lock",
  by: "a timeout",
  ts: 'if (outcome === "timed-out") { [-decline(words)-]{+return "locked"+};',
  c: "if (outcome == WEFT__TIMED_OUT) { [-weft__mutex_decline(m)-]{+return " +
    "0+};",
}, {
  what: "MX11: takes any end of a sleep for the lock",
  by: "lock, lock",
  ts: '[-if (outcome === "timed-out") { decline(words);-]{+if (outcome !== ' +
    '"not-equal") { return "locked";+}',
  c: "[-if (outcome == WEFT__TIMED_OUT) { weft__mutex_decline(m);-]{+if " +
    "(outcome != WEFT__NOT_EQUAL) { return 0;+}",
}, {
  what: "tryLock does not take an abandoned lock",
  by: "the owner is abandoned, tryLock",
  ts: "while ([-(state & OWNER_MASK) === 0-]{+state === UNLOCKED+}) {",
  c: "while ([-(state & WEFT_MUTEX_OWNER_MASK)-]{+state+} == 0) {",
}, {
  what: "tryLock takes a lock that is kept for a sleeper, by a store",
  by: "somebody starves, tryLock",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE[-, " +
    "expected-], taken); if (state === expected) {",
  c: "[-state = weft__compare_exchange(&m->state, " +
    "expected-]{+weft__store(&m->state+}, taken); if (state == expected)",
}, {
  what: "the slow path takes the lock by a store",
  by: "somebody starves, tryLock",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, taken); if (state !== expected) continue;-]{+taken);+}",
  c: "[-state = weft__compare_exchange(&m->state, expected, taken); if " +
    "(state != expected) continue;-]{+weft__store(&m->state, taken);+}",
}, {
  what: "marks the lock contended by a store",
  by: "lock, lock",
  ts: "const seen = {+expected; " +
    "+}Atomics.[-compareExchange-]{+store+}(words, STATE[-, expected-], " +
    "state); if (seen !== expected) {",
  c: "int32_t seen = [-weft__compare_exchange(&m->state, expected, " +
    "-]{+expected; weft__store(&m->state, +}state);",
}, {
  what: "takes the lock without an exchange if its mark came too late",
  by: "lock, lock",
  ts: '{+if (seen !== expected && seen === 0) return "locked"; +}if (seen ' +
    "!== expected) { state = seen; continue; }",
  c: "{+if (seen != expected && seen == 0) return 0; +}if (seen != expected) " +
    "{ state = seen; continue; }",
}, {
  what: "does not look again after a sleep",
  by: "lock, lock",
  ts: "const before = state;[- state = Atomics.load(words, STATE);-]",
  c: "int32_t before = state;[- state = weft__load(&m->state);-]",
}, {
  what: "never takes a lock that is handed over",
  by: "somebody starves",
  ts: 'woken = [-outcome === "ok" || (handoff && (state === before || (woken ' +
    "&& before !== KEPT)))-]{+false+};",
  c: "[-woken = outcome == WEFT__OK || (handoff && (state == before || " +
    "(woken && before != WEFT__MUTEX_KEPT)));-]{+woken = false; " +
    "(void)before;+}",
}, {
  what: "waits for ever for a terminated sleeper to take the lock",
  by: "somebody starves, an agent is terminated",
  ts: "(handoff && [-(state === before || (-]woken && before !== KEPT)[-))-];",
  equivalent: "one look later it counts as starving, and takes the lock in " +
    "that way",
}, {
  what: "sleeps on a kept lock without a second look",
  by: "somebody starves, an agent is terminated",
  ts: "? { words, index: STATE, value: state, atMost: " +
    "[-patience-]{+Infinity+} }",
  c: "int outcome ={+ handoff ? weft__sleep_raw(&m->state, state, -1) :+} " +
    "weft__sleep(&m->state, state, deadline, [-handoff ? patience : " +
    "-]WEFT__LOOK);",
}, {
  what: "hands over and forgets that others sleep",
  by: "somebody starves, and times out",
  ts: "const KEPT = [-0x6000_0000-]{+HANDOFF_BIT+};",
  c: "#define WEFT__MUTEX_KEPT [-(3 << 29)-]{+WEFT_MUTEX_HANDOFF_BIT+}",
}, {
  what: "keeps the lock for nobody",
  by: "somebody starves",
  ts: "[-next = UNLOCKED; -]}",
  c: "[-next = WEFT_MUTEX_UNLOCKED; -]} /* (G)",
}, {
  what: "offers the lock, and lets another wake its sleeper",
  by: "somebody starves",
  ts: "if ([-Atomics.notify(words, STATE, 1)-]{+words.length+} === 0) {",
  c: "if ([-weft__notify(&m->state, 1) == 0-]{+m == NULL+}) {",
}, {
  what: "hands the lock over and wakes nobody",
  by: "lock, lock",
  ts: "Atomics.store(words, STATE, UNLOCKED); }[- Atomics.notify(words, " +
    "STATE, 1);-]",
  c: "!= offered) weft__store(&m->state, WEFT_MUTEX_UNLOCKED);[- " +
    "weft__notify(&m->state, 1);-]",
}, {
  what: "keeps the lock for a sleeper that has declined it",
  by: "somebody starves, and times out",
  ts: "[-if (Atomics.compareExchange(words, STATE, offered, next) !== " +
    "offered) { -]Atomics.store(words, STATE, [-UNLOCKED); }-]{+next);+}",
  c: "[-if (weft__compare_exchange(&m->state, offered, next) != offered) " +
    "-]weft__store(&m->state, [-WEFT_MUTEX_UNLOCKED-]{+next+});",
}, {
  what: "does not decline what it is offered",
  by: "somebody starves, and times out",
  ts: "while (state [-& HANDOFF_BIT-]{+=== KEPT+}) { const expected",
  c: "while (state [-& WEFT_MUTEX_HANDOFF_BIT-]{+== WEFT__MUTEX_KEPT+}) { " +
    "int32_t expected",
}, {
  what: "does not decline what is kept for it",
  by: "somebody starves, and times out",
  ts: "while (state & HANDOFF_BIT{+ && state !== KEPT+}) { const expected",
  c: "while (state & WEFT_MUTEX_HANDOFF_BIT{+ && state != " +
    "WEFT__MUTEX_KEPT+}) { int32_t expected",
}, {
  what: "declines by a store",
  by: "somebody starves, and times out",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE[-, " +
    "expected, next); if (state !== expected) continue; if (-]{+, next); if " +
    "(+}next",
  c: "[-state = weft__compare_exchange(&m->state, expected, next); if (state " +
    "!= expected) continue; if (next-]{+weft__store(&m->state, next); if " +
    "(next+}",
}, {
  what: "declines what is kept for it, and wakes nobody",
  by: "somebody starves, and times out",
  ts: "[-if (next === UNLOCKED) Atomics.notify(words, STATE, 1);-]",
  c: "[-if (next == WEFT_MUTEX_UNLOCKED) weft__notify(&m->state, 1);-]",
}, {
  what: "does not take what it was offered",
  by: "somebody starves",
  ts: "(handoff && [-(-]state === before[- || (woken && before !== KEPT))-]);",
  c: "(handoff && [-(-]state == before[- || (woken && before != " +
    "WEFT__MUTEX_KEPT))-]);",
}, {
  what: "(G) looks whether somebody starves once it has unlocked",
  by: "the next owner frees the mutex",
  ts: "if (Atomics.load(words, STARVING) === 0) { [-// before it is given: " +
    "see (G) -]Atomics.store(words, STATE, UNLOCKED);{+ Atomics.load(words, " +
    "STARVING);+}",
  c: "[-see (G) -]*/ weft__store(&m->state, WEFT_MUTEX_UNLOCKED);{+ " +
    "(void)weft__load(&m->starving);+}",
}, {
  what: "(G) keeps the lock before it knows whether somebody sleeps",
  by: "somebody starves, the next owner tries, and frees the mutex",
  ts: "Atomics.store(words, STATE, [-offered-]{+KEPT+});",
  c: "weft__store(&m->state, [-offered-]{+WEFT__MUTEX_KEPT+});",
}, {
  what: "abandons by a store",
  by: "the owner is abandoned",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, -]ABANDONED_BIT);",
  c: "[-state = weft__compare_exchange(&m->state, expected, " +
    "-]{+weft__store(&m->state, +}WEFT_MUTEX_ABANDONED_BIT);",
}, {
  what: "abandons and wakes nobody",
  by: "the owner is abandoned",
  ts: "[-if (state & CONTENDED_BIT) Atomics.notify(words, STATE, 1); " +
    "-]return 1;",
  c: "[-if (state & WEFT_MUTEX_CONTENDED_BIT) weft__notify(&m->state, 1);-]",
}, {
  what: "abandons the lock of any owner",
  by: "the owner is abandoned",
  ts: "while ((state & OWNER_MASK)[- === id && id-] !== 0) { const expected " +
    "= state; state = Atomics",
  c: "while ((state & WEFT_MUTEX_OWNER_MASK)[- == id && id-] != 0) { int32_t " +
    "expected = state; state =",
}, {
  what: "gives up abandoning if the state changed meanwhile",
  by: "the owner is abandoned",
  ts: "if (state !== expected) [-continue-]{+break+}; if (state & " +
    "CONTENDED_BIT)",
  c: "if (state != expected) [-continue-]{+break+}; if (state & " +
    "WEFT_MUTEX_CONTENDED_BIT) weft__notify",
}, {
  what: "abandons the lock as if it had been unlocked",
  by: "the owner is abandoned",
  ts: "state = Atomics.compareExchange(words, STATE, expected, " +
    "[-ABANDONED_BIT-]{+UNLOCKED+});",
  c: "weft__compare_exchange(&m->state, expected, " +
    "[-WEFT_MUTEX_ABANDONED_BIT-]{+WEFT_MUTEX_UNLOCKED+});",
}, {
  what: "does not tell a waiter that the lock was abandoned",
  by: "the owner is abandoned",
  ts: "else if (state & HANDOFF_BIT && !starved) { Atomics.store(words, " +
    'STARVING, 0); } return [-state & ABANDONED_BIT ? "abandoned" : ' +
    '-]"locked";',
  c: "weft__store(&m->starving, 0); return [-state & " +
    "WEFT_MUTEX_ABANDONED_BIT ? EOWNERDEAD : -]0;",
}, {
  what: "tryLock does not tell that the lock was abandoned",
  by: "the owner is abandoned, tryLock",
  ts: "if (state === expected) { return [-state & ABANDONED_BIT ? " +
    '"abandoned" : -]"locked"; }',
  c: "if (state == expected) return [-state & WEFT_MUTEX_ABANDONED_BIT ? " +
    "EOWNERDEAD : -]0;",
}, {
  what: "takes the lock in a spin by a store",
  ts: "Atomics.[-compareExchange-]{+store+}(words, STATE, [-state, id) === " +
    "state-]{+id) > 0+}; })",
  c: "[-weft__compare_exchange(&m->state, state, id) != state) " +
    "continue;-]{+(weft__store(&m->state, id), 0)) continue;+}",
  by: "looks before it sleeps",
});

import { mutants, none } from "../_run/mutant.ts";

/** Mutants of how agents wait, and how writers come and go. */
/** How a writer ends its writing; the tester is told what it keeps. */

export const WRITERS = mutants({
  source: "_lock/rw_lock",
  header: "rw_lock",
  scenarios: ["rw_lock"],
}, {
  what: "RW4: looks at the gate after the phase",
  by: "one writes, one reads",
  ts: "{+const state = Atomics.load(words, STATE); +}const gate = " +
    "Atomics.load(words, GATE);[- // before the look at the phase const " +
    "state = Atomics.load(words, STATE);-]",
  c: "{+int32_t state = weft__load(&l->state); +}int32_t gate = " +
    "weft__load(&l->gate);[- /* before it reads the phase */ int32_t state = " +
    "weft__load(&l->state);-]",
}, {
  what: "RW8: a writer does not make way for the next one",
  by: "one writes, one reads",
  ts: 'this.#passOn()) return[-; if (told.explored) keeps("leave")-]; ' +
    'this.#readers.leave(0, 0);[- if (told.explored) keeps("unlock"); ' +
    "this.#unlockWriter();-]",
  c: "weft__rw_leave(l, 0, 0); return " +
    "[-weft_mutex_unlock(weft__rw_writer(l))-]{+0+};",
}, {
  what: "does not wait for a writer that waits for readers",
  by: "one writes, one reads",
  ts: "const ticket = this.#readers.pend([-own ? WRITING_BIT : " +
    "BUSY_BITS-]{+WANTED_BIT+});",
  c: "int32_t bits = [-own ? WEFT_RW_LOCK_WRITING_BIT : " +
    "WEFT__RW_BUSY_BITS-]{+WEFT_RW_LOCK_WANTED_BIT+};",
}, {
  what: "does not say that it sleeps at the gate",
  by: "one writes, one reads",
  ts: "const waiting = gate[- | WAITING_BIT-];",
  c: "int32_t waiting = gate[- | WEFT_RW_LOCK_WAITING_BIT-];",
}, {
  what: "says that it sleeps at the gate by a store",
  by: "one writes, one reads",
  ts: "Atomics.[-compareExchange-]{+store+}(words, GATE[-, gate-], waiting) " +
    "!== [-gate-]{+waiting+} ) continue;",
  c: "[-weft__compare_exchange(&l->gate, gate, waiting) != gate) " +
    "continue;-]{+(weft__store(&l->gate, waiting), 0)) continue;+}",
}, {
  what: "a reader that was let in gives up",
  by: "a reader that gives up",
  ts: "if ({+!last && +}readers.isIn(ticket, state, gate)) break;",
  c: ":{+ !last &&+} weft__rw_is_in(ticket, state, gate, 2))",
}, {
  what: "takes any change for a new phase while it spins",
  by: "a reader that looks before it sleeps",
  ts: "if ([-(state ^-]{+state !==+} ticket.state[-) & PHASE_MASK-]) return " +
    "heldIn(state);",
  c: "if ([-(state ^-]{+state !=+} ticket.state[-) & " +
    "WEFT_RW_LOCK_PHASE_MASK-]) return weft__rw_held_in(state);",
}, {
  what: "a writer that gives up is still announced",
  by: "a writer that gives up",
  ts: "[-readers.leave(0, 0); -]this.#unlockWriter(); return false;",
  c: "[-weft__rw_leave(l, 0, 0); -]weft_mutex_unlock(weft__rw_writer(l)); " +
    "return ETIMEDOUT;",
}, {
  what: "a writer that gives up stays in line",
  by: "a writer that gives up beside another",
  ts: "readers.leave(0, 0); [-this.#unlockWriter(); -]return false;",
  c: "weft__rw_leave(l, 0, 0); [-weft_mutex_unlock(weft__rw_writer(l)); " +
    "-]return ETIMEDOUT;",
}, {
  what: "a writer that gives up leaves the line first",
  by: "a writer that gives up beside another",
  ts: "{+this.#unlockWriter(); +}readers.leave(0, 0); " +
    "[-this.#unlockWriter(); -]return false;",
  c: "{+weft_mutex_unlock(weft__rw_writer(l)); +}weft__rw_leave(l, 0, 0); " +
    "[-weft_mutex_unlock(weft__rw_writer(l)); -]return ETIMEDOUT;",
}, {
  what: "a writer leaves the line first",
  by: "two write",
  ts: "this.#passOn()) return; [-if (told.explored) " +
    'keeps("leave"-]{+this.#unlockWriter(+}); this.#readers.leave(0, 0);[- ' +
    'if (told.explored) keeps("unlock"); this.#unlockWriter();-]',
  c: "{+int result = weft_mutex_unlock(weft__rw_writer(l)); " +
    "+}weft__rw_leave(l, 0, 0); return " +
    "[-weft_mutex_unlock(weft__rw_writer(l))-]{+result+};",
}, {
  what: "does not go on reading after it wrote",
  by: "one downgrades",
  ts: "this.#readers.leave([-1-]{+0+}, 0);",
  c: "weft__rw_leave(l, [-1-]{+0+}, 0);",
}, {
  what: "abandons, and lets nobody in",
  by: "one who wrote is given up",
  ts: "[-this.#readers.leave(0, writing ? ABANDONED_BIT : 0); -]// The dead",
  c: "[-weft__rw_leave(l, 0, -]{+(void)+}writing[- ? " +
    "WEFT_RW_LOCK_ABANDONED_BIT : 0)-];",
}, {
  what: "abandons, and does not report it",
  by: "one who wrote is given up",
  ts: "this.#readers.leave(0, [-writing ? ABANDONED_BIT : -]0);",
  c: "{+(void)writing; +}weft__rw_leave(l, 0, [-writing ? " +
    "WEFT_RW_LOCK_ABANDONED_BIT : -]0);",
}, {
  what: "abandons a waiting writer, and reports that it wrote",
  by: "a waiting writer is abandoned",
  ts: "this.#readers.leave(0, [-writing ? -]ABANDONED_BIT[- : 0-]);",
  c: "{+(void)writing; +}weft__rw_leave(l, 0, [-writing ? " +
    "-]WEFT_RW_LOCK_ABANDONED_BIT[- : 0-]);",
}, {
  what: "abandons, and leaves the gate shut",
  by: "a writer is terminated beside a reader",
  ts: "[-// The dead agent may have let agents in without opening the gate. " +
    "open(this.#words);-]",
  c: "[-/* It may have let readers in without opening the gate. */ " +
    "weft__rw_open(l);-]",
}, {
  what: "abandons, and does not make way for the next one",
  by: "one who wrote is given up",
  ts: "open(this.#words); [-this.#unlockWriter(); -]return reads",
  c: "weft__rw_open(l); [-(void)weft_mutex_unlock(weft__rw_writer(l)); " +
    "-]return reads",
});

/** Mutants of a lock that writers pass on. */
export const LINE = mutants({
  source: "_lock/rw_lock",
  header: "rw_lock",
  scenarios: ["rw_lock"],
}, {
  what: "(K): keeps the lock for the next writer before it says so",
  by: "in line: one tries to write",
  ts: "{+Atomics.store(words, WRITER, KEPT); +}Atomics.add(words, STATE, " +
    "WANTED_BIT - WRITING_BIT - abandoned);[- Atomics.store(words, WRITER, " +
    "KEPT); // (K)-]",
  c: "{+weft__store(&l->writer, WEFT__MUTEX_KEPT); +}weft__add(&l->state, " +
    "WEFT_RW_LOCK_WANTED_BIT - WEFT_RW_LOCK_WRITING_BIT - abandoned);[- " +
    "weft__store(&l->writer, WEFT__MUTEX_KEPT); /* (K) */-]",
}, {
  what: "passes the lock on by a store to its state",
  by: "in line: two write, one reads",
  ts: "Atomics.[-add-]{+store+}(words, STATE,{+ words[STATE]! ++} WANTED_BIT " +
    "- WRITING_BIT - abandoned);",
  c: "[-weft__add(&l->state,-]{+weft__store(&l->state, weft__load(&l->state) " +
    "++} WEFT_RW_LOCK_WANTED_BIT - WEFT_RW_LOCK_WRITING_BIT - abandoned);",
}, {
  what: "passes the lock on without end",
  by: "in line: a reader waits for eight writers at most",
  ts: "[-if (turns === 0) return false;-]",
  c: "[-if (turns == 0) return false;-]",
}, {
  what: "passes the lock on although nobody is in line",
  by: "in line: two write",
  ts: "[-if ((words[WRITER]! & CONTENDED_BIT) === 0) return false;-]",
  equivalent: "it finds that nobody sleeps, and takes the lock again",
}, {
  what: "passes the lock on and wakes nobody",
  by: "in line: two write",
  ts: "[-if (Atomics.notify(words, WRITER, 1) > 0) -]return true;",
  c: "[-if (weft__notify(&l->writer, 1) > 0) -]return true;",
}, {
  what: "passes the lock on to nobody",
  by: "in line: two write",
  ts: "[-if (-]Atomics.notify(words, WRITER, 1)[- > 0)-]{+;+} return true;",
  c: "[-if (-]weft__notify(&l->writer, 1)[- > 0)-]{+;+} return true;",
}, {
  what: "the next writer is told again that one died",
  by: "in line: two write, and learn of a dead writer once",
  ts: "const abandoned = [-words[STATE]! & ABANDONED_BIT-]{+0+}; Atomics.add",
  c: "int32_t abandoned = [-weft__hint(&l->state) & " +
    "WEFT_RW_LOCK_ABANDONED_BIT-]{+0+}; weft__add",
}, {
  what: "a writer gives up when the lock was passed on to it",
  by: "in line: a writer that awaits gives up",
  ts: "[-this.#takeBack(); // the lock may have been passed on to this " +
    "writer-]",
  c: none(
    "An agent of C does not await, so it takes a lock that it was woken for",
  ),
}, {
  what: "abandons, and leaves a lock that was passed on",
  by: "in line: two write, one is terminated",
  ts: "[-this.#takeBack(); // the lock may have been passed on to the dead " +
    "agent-]",
  c: "[-weft__rw_take_back(l); /* it may have been passed on to the dead " +
    "agent */-]",
}, {
  what: "lets readers in beside a writer that has come",
  by: "in line: the next writer is dead, one tries to write",
  ts: "[-if (tryLock(this.#writer, this.#id) === false) return; " +
    "-]this.#readers.leave",
  c: "[-if (weft_mutex_try_lock(weft__rw_writer(l)) == EBUSY) return; " +
    "-]weft__rw_leave",
});

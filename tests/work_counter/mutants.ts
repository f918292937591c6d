import { mutants } from "../_run/mutant.ts";

/** Mutants of a counter that tracks nobody, but for its common parts. */
const PLAIN = mutants({
  source: "_lock/work_counter",
  header: "work_counter",
  scenarios: ["work_counter"],
}, {
  what: "WC1: never notices that all is done",
  by: "done by two, awaited by one",
  ts: "if (done + n >[-=-] Atomics.load(words, TARGET)) this.#finish();",
  c: "if (weft__plus(done, n) >[-=-] weft__load(&c->target)) " +
    "weft__work_counter_finish(c);",
}, {
  what: "WC1: notices one task too early that all is done",
  by: "done by two, awaited by one",
  ts: "if (done + n >= Atomics.load(words, TARGET){+ - 1+}) this.#finish();",
  c: "if (weft__plus(done, n) >= weft__load(&c->target){+ - 1+}) " +
    "weft__work_counter_finish(c);",
}, {
  what: "WC2: counts by load and store",
  by: "done by two, awaited by one",
  ts: "const seen = {+done; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "DONE[-, done-], done + n);",
  c: "int32_t seen = [-weft__compare_exchange-]{+done; " +
    "weft__store+}(&c->done, done[-, weft__plus(done, n))-]{+ + n)+};",
}, {
  what: "WC2: does not check whether its count was stored",
  by: "done by two, awaited by one",
  ts: "[-if (seen === done) break; done = seen;-]{+break;+}",
  c: "[-if (seen == done) break; done = seen;-]{+(void)seen; break;+}",
}, {
  what: "WC3: takes any end of a sleep for the end",
  by: "done by two, awaited by one",
  ts: '{+if (outcome !== "timed-out") return true; +}if (outcome === ' +
    '"timed-out") { return',
  c: "{+if (outcome != WEFT__TIMED_OUT) return 0; +}if (outcome == " +
    "WEFT__TIMED_OUT) return",
}, {
  what: "WC4: wakes only one of the waiters",
  by: "done by one, awaited by two",
  ts: "if (was === AWAITED) Atomics.notify(words, FINISHED{+, 1+});",
  c: "weft__notify(&c->finished, [-WEFT__ALL-]{+1+});",
}, {
  what: "wakes nobody",
  by: "done by two, awaited by one",
  ts: "[-if (was === AWAITED) Atomics.notify(words, FINISHED);-]",
  c: "[-if (was == WEFT_WORK_COUNTER_AWAITED) weft__notify(&c->finished, " +
    "WEFT__ALL);-]{+(void)was;+}",
}, {
  what: "wakes before it is over",
  by: "done by two, awaited by one",
  ts: "[-const was =-]{+Atomics.notify(words, FINISHED);+} " +
    "Atomics.[-exchange-]{+store+}(words, FINISHED, OVER);[- if (was === " +
    "AWAITED) Atomics.notify(words, FINISHED);-]",
  c: "[-int32_t was = weft__exchange(&c->finished, WEFT_WORK_COUNTER_OVER); " +
    "if (was == WEFT_WORK_COUNTER_AWAITED) -]weft__notify(&c->finished, " +
    "WEFT__ALL);{+ weft__store(&c->finished, WEFT_WORK_COUNTER_OVER);+}",
}, {
  what: "marks the end by load and store",
  by: "done by two, awaited by one",
  ts: "const was = Atomics.[-exchange-]{+load(words, FINISHED); " +
    "Atomics.store+}(words, FINISHED, OVER);",
  c: "int32_t was = [-weft__exchange-]{+weft__load(&c->finished); " +
    "weft__store+}(&c->finished, WEFT_WORK_COUNTER_OVER);",
}, {
  what: "sleeps and does not say so",
  by: "done by two, awaited by one",
  ts: [
    "const was = Atomics.[-compareExchange-]{+load+}(words, FINISHED[-, " +
    "RUNNING, AWAITED-]);",
    "yield { words, index: FINISHED, value: [-AWAITED-]{+was+} };",
  ],
  c: [
    "int32_t was = [-weft__compare_exchange-]{+weft__load+}(&c->finished[-, " +
    "WEFT_WORK_COUNTER_RUNNING, WEFT_WORK_COUNTER_AWAITED-]);",
    "weft__sleep(&c->finished, [-WEFT_WORK_COUNTER_AWAITED-]{+was+},",
  ],
}, {
  what: "says that it sleeps by a store",
  by: "done by one, awaited by two",
  ts: "const was = Atomics.[-compareExchange-]{+exchange+}(words, FINISHED, " +
    "[-RUNNING, -]AWAITED);",
  c: "int32_t was = " +
    "[-weft__compare_exchange-]{+weft__exchange+}(&c->finished, " +
    "[-WEFT_WORK_COUNTER_RUNNING, -]WEFT_WORK_COUNTER_AWAITED);",
}, {
  what: "(T): reads the target before it counts",
  by: "cancelled while somebody waits",
  ts: [
    "{+const target = Atomics.load(words, TARGET); +}const seen = " +
    "Atomics.compareExchange(words, DONE, done, done + n);{+ if (seen === " +
    "done && done + n >= target) this.#finish();+}",
    "[-if (done + n >= Atomics.load(words, TARGET)) this.#finish();-]",
  ],
  c: [
    "[-if (weft__plus(done, n) >= weft__load(&c->target)) " +
    "weft__work_counter_finish(c);-]",
    "{+int32_t target = weft__load(&c->target); +}int32_t seen = " +
    "weft__compare_exchange(&c->done, done, weft__plus(done, n));{+ if " +
    "(seen == done && done + n >= target) weft__work_counter_finish(c);+}",
  ],
}, {
  what: "(C): reads what is done before it lowers the target",
  by: "cancelled while somebody waits",
  ts: "{+const done = this.completed; +}Atomics.store(this.#words, TARGET, " +
    "target); [-// (C) then look at what is done if (this.completed-]{+if " +
    "(done+} >= target) this.#finish();",
  c: "{+int32_t done = weft_work_counter_completed(c); " +
    "+}weft__store(&c->target, target); [-/* (C) then look at what is done " +
    "*/ if (weft_work_counter_completed(c)-]{+if (done+} >= target)",
}, {
  what: "cancels and does not check whether all is done",
  by: "cancelled while somebody waits",
  ts: "[-if (this.completed >= target) this.#finish();-]",
  c: "[-if (weft_work_counter_completed(c) >= target) " +
    "weft__work_counter_finish(c);-]",
}, {
  what: "cancels by load and store",
  by: "cancelled while at work",
  ts: "const was = Atomics.[-exchange-]{+load(this.#words, NEXT); " +
    "Atomics.store+}(this.#words, NEXT, end);",
  c: "int32_t was = [-weft__exchange-]{+weft__load(&c->next); " +
    "weft__store+}(&c->next, end);",
}, {
  what: "cancels a second time",
  by: "cancelled again",
  ts: "return [-(was >>> 0) < end ? was : -1-]{+was+};",
  c: "return [-(uint32_t)was < (uint32_t)end ? was : -1-]{+was+};",
}, {
  what: "cancels and keeps the target",
  by: "cancelled while somebody waits",
  ts: "[-Atomics.store(this.#words, TARGET, target); -]// (C)",
  c: "[-weft__store(&c->target, target); -]/* (C) then look at what",
}, {
  what: "hands out by load and store",
  by: "next past the end",
  ts: "const [-start = (-]{+taken = +}Atomics.[-add-]{+load(words, NEXT) >>> " +
    "0; Atomics.store+}(words, NEXT, [-1) >>> 0)-]{+taken + 1); const start " +
    "= taken+} * chunk;",
  c: "[-uint64_t start-]{+uint32_t taken+} = (uint32_t)[-weft__add(&c->next, " +
    "1)-]{+weft__load(&c->next); weft__store(&c->next, (int32_t)taken + 1); " +
    "uint64_t start = taken+} * chunk;",
}, {
  what: "hands out tasks that do not exist",
  by: "chunks",
  ts: "[-if (start >= total) return; -]range.start",
  c: "[-if (start >= total) return; -]range->start",
}, {
  what: "the last chunk goes past the end",
  by: "chunks",
  ts: "range.end = [-Math.min(-]start + chunk[-, total)-];",
  c: "range->end = (int32_t)(start + chunk[- < total ? start + chunk : " +
    "total-]);",
}, {
  what: "hands out guided ranges by a store",
  by: "guided",
  ts: "[-next = -]Atomics.[-compareExchange-]{+store+}(words, NEXT, [-start, " +
    "-]end);",
  c: "[-next = weft__compare_exchange(&c->next, start, " +
    "end);-]{+weft__store(&c->next, end);+}",
}, {
  what: "hands out a guided range although its exchange failed",
  by: "guided",
  ts: "[-if (next !== start) continue;-]",
  c: "[-if (next != start) continue;-]",
}, {
  what: "hands out guided ranges without a task",
  by: "guided",
  ts: "const end = start + [-Math.max(share, 1)-]{+share+};",
  c: "int32_t end = start + [-(share > 1 ? share : 1)-]{+share+};",
}, {
  what: "waits for ever for a terminated agent to report that all is done",
  by: "an agent is terminated",
  ts: "[-this.#look(); -]const was",
  c: "[-weft__work_counter_look(c); -]int32_t was",
}, {
  what: "takes a timeout for the end",
  by: "a wait times out at any time",
  ts: "return [-Atomics.load(words, FINISHED) === OVER-]{+true+};",
  c: "return [-weft__load(&c->finished) == WEFT_WORK_COUNTER_OVER ? 0 : " +
    "ETIMEDOUT-]{+0+};",
});

/** Mutants of what a view keeps. */
const VIEW = mutants("work_counter", {
  what: "a range is handed out again",
  by: "cancelled while at work",
  ts: "[-range.start = end; -]return start === end",
  c: "[-range->start = range->end = 0; -]if (c->tracked",
});

/** Mutants of the rows of a tracked counter. */
const ROWS = mutants(
  { source: "_memory/ranges", scenarios: ["work_counter"] },
  {
    what: "(C): does not confirm the last range before it replaces it",
    by: "tracked: two work, and one is terminated",
    ts: "[-Atomics.compareExchange(words, at, taken, unitsOf(seen));-]",
    c: "[-weft__compare_exchange(at, taken, weft__ranges_units(seen));-]",
  },
  {
    what: "(C): confirms by a store",
    by: "tracked: one takes twice",
    ts: "Atomics.[-compareExchange-]{+store+}(words, at[-, taken-], " +
      "unitsOf(seen));",
    c: "[-weft__compare_exchange(at, taken-]{+weft__store(at+}, " +
      "weft__ranges_units(seen));",
  },
  {
    what: "notes that it took a range before it took it",
    by: "tracked: two work on chunks",
    ts: "{+Atomics.store(words, at + TAKEN, unit); +}next = " +
      "Atomics.compareExchange(words, this.#next, seen, named); if (next !== " +
      "seen) continue;",
    c: "{+weft__store(&row->taken, units + step); +}next = " +
      "weft__compare_exchange(r->next, seen, weft__ranges_named(units + " +
      "step, i));",
  },
  {
    what: "does not check whether it took the range",
    by: "tracked: two work on chunks",
    ts: "[-if (next !== seen) continue; -]Atomics.store",
    c: "[-if (next != seen) continue; -]weft__store",
  },
  {
    what: "writes over the range that counts",
    by: "tracked: one takes again, and is terminated",
    ts: "(current === at + ONE ? [-OTHER : ONE-]{+ONE : OTHER+});",
    c: "&row->range[[-1 - -]current];",
  },
  {
    what: "(D): looks whether all are handed out before it notes what it did",
    by: "tracked: two work, and wait",
    ts: "{+const all = unitsOf(Atomics.load(words, this.#next)) >= " +
      "this.#end; +}if (n > 0) Atomics.store(words, at + DONE, words[at + " +
      "DONE]! + n); return [-unitsOf(Atomics.load(words, this.#next)) >= " +
      "this.#end-]{+all+};",
    c: [
      "{+*all = weft__ranges_units(weft__load(r->next)) >= " +
      "weft__ranges_end(r); +}if (n > 0) { int32_t *done",
      "}[- *all = weft__ranges_units(weft__load(r->next)) >= " +
      "weft__ranges_end(r);-] return 0;",
    ],
  },
  {
    what: "(H): two tell that they recovered a row",
    by: "tracked: two recover an agent, and do its task",
    ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, at, [-id, 0) " +
      "!== id) continue-]{+0)+};",
    c: "[-if (weft__compare_exchange-]{+weft__store+}(&row->agent, [-id, 0) " +
      "!= id) continue-]{+0)+};",
  },
  {
    what: "(A): two take over a row",
    by: "tracked: two take over the task of an agent",
    ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, there, [-0, " +
      "this.id) !== 0) continue-]{+this.id)+};",
    c: "[-if (weft__compare_exchange-]{+weft__store+}(&row->agent, [-0, " +
      "-]weft_agent_id())[- != 0) continue-];",
  },
  {
    what: "does not take over the tasks of an agent that is dead",
    by: "tracked: one takes over the task of an agent",
    ts: "return [-this.#adopt(at)-]{+undefined+};",
    c: "if ([-!weft__ranges_adopt(r, row, range)-]{+row != NULL+}) return 0;",
  },
  {
    what: "recovers a row without its last range",
    by: "tracked: two recover an agent, and one is terminated",
    ts: "[-this.#confirm(Atomics.load(words, this.#next)); -]// its",
    c: "[-if (!weft__ranges_confirm(r, weft__load(r->next))) return " +
      "-ENOTRECOVERABLE; -]weft_work_range",
  },
  {
    what: "cancels and does not confirm the last range",
    by: "tracked: cancelled beside a dead agent",
    ts: "const seen = next; [-this.#confirm(seen); -]const named",
    c: "[-if (!weft__ranges_confirm(r, seen)) return -1; -]next",
  },
  {
    what: "cancels no further than a dead agent did",
    by: "tracked: one was terminated while it cancelled, one cancels",
    ts: "return [-this.cancelled-]{+-1+};",
    c: "return [-weft__ranges_cancelled(r)-]{+-1+};",
  },
);

/** Mutants of what a tracked counter does otherwise. */
const TRACKED = mutants({
  source: "_lock/work_counter",
  header: "work_counter",
  scenarios: ["work_counter"],
}, {
  what: "leaves a counter as an agent did that died while it cancelled",
  by: "tracked: an agent was terminated while it cancelled",
  ts: "[-this.#aim(rows.cancelled); -]// that",
  c: "[-weft__work_counter_aim(c, weft__ranges_cancelled(&rows));-]",
}, {
  what: "(C): looks at the rows before it says what is to be done",
  by: "tracked: cancelled while at work, and awaited",
  ts: "{+const all = this.completed; +}Atomics.store(this.#words, TARGET, " +
    "target); [-// (C) then look at what is done if (this.completed-]{+if " +
    "(all+} >= target) this.#finish();",
  c: "{+int32_t all = weft_work_counter_completed(c); " +
    "+}weft__store(&c->target, target); [-/* (C) then look at what is done " +
    "*/ if (weft_work_counter_completed(c)-]{+if (all+} >= target)",
}, {
  what: "does not say that all tracked tasks are done",
  by: "tracked: two work, and wait",
  ts: "[-if (-]rows.done(n)[-) this.#look()-];",
  c: "[-if (all) weft__work_counter_look(c);-]{+(void)all;+}",
});

/** All of them. */
export const MUTANTS = [...PLAIN, ...VIEW, ...ROWS, ...TRACKED];

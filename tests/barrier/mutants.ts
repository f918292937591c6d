import { mutants } from "../_run/mutant.ts";

/** Mutants of a barrier that tracks nobody. */
const PLAIN = mutants({
  source: "_lock/barrier",
  header: "barrier",
  scenarios: ["barrier"],
}, {
  what: "BA1: reads the generation after it arrived",
  by: "one of two gives up, the other leaves",
  ts: "if (!last) return [-next-]{+Atomics.load(words, STATE)+};",
  c: "*since = [-next-]{+weft__load(&b->state)+};",
}, {
  what: "BA2: counts from 0 after the generation began",
  by: "two parties, two rounds",
  ts: [
    "const next = last ? [-nextGeneration(state)-]{+state + 1 + " +
    "ONE_GENERATION | 0+} : state + 1;",
    "if (!last) return next;{+ Atomics.and(words, STATE, ~(ARRIVED_MASK | " +
    "WAITING_BIT));+}",
  ],
  c: [
    "int32_t next = last ? " +
    "[-weft__barrier_next_generation(state-]{+weft__plus(state + 1, " +
    "WEFT_BARRIER_ONE_GENERATION+}) : state + 1;",
    "*since = next;{+ if (last) weft__and(&b->state, " +
    "~(WEFT_BARRIER_ARRIVED_MASK | WEFT_BARRIER_WAITING_BIT));+}",
  ],
}, {
  what: "BA3: the last arrival wakes one party only",
  by: "three parties that look before they sleep",
  ts: "if (state & WAITING_BIT) Atomics.notify(words, STATE{+, 1+}); return " +
    "undefined;",
  c: "if (last && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, " +
    "[-WEFT__ALL-]{+1+});",
}, {
  what: "BA4: arrives by a store",
  by: "one of two leaves, then the other",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, next); if (state !== expected) continue-]{+next)+}; if " +
    "(!last) return next;",
  c: "[-state = weft__compare_exchange(&b->state, expected, next); if (state " +
    "!= expected) continue; *since = next;-]{+(void)expected; " +
    "weft__store(&b->state, next); *since = next;+}",
}, {
  what: "BA5: wakes before the generation ends",
  by: "two parties, two rounds",
  ts: "{+if (last && state & WAITING_BIT) Atomics.notify(words, STATE); " +
    "+}state = Atomics.compareExchange(words, STATE, expected, next); if " +
    "(state !== expected) continue; if (!last) return next;[- if (state & " +
    "WAITING_BIT) Atomics.notify(words, STATE);-]",
  c: "{+if (last && state & WEFT_BARRIER_WAITING_BIT) " +
    "weft__notify(&b->state, WEFT__ALL); +}state = " +
    "weft__compare_exchange(&b->state, expected, next); if (state != " +
    "expected) continue; *since = next;[- if (last && state & " +
    "WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, WEFT__ALL);-]",
}, {
  what: "does not check whether its arrival was stored",
  by: "one of two gives up, the other leaves",
  ts: "[-if (state !== expected) continue; -]if (!last) return next;",
  c: "[-if (state != expected) continue; -]*since = next;",
}, {
  what: "waits for one party too many",
  by: "one of two leaves, then the other",
  ts: "const last = arrived * ONE_PARTY >[-=-] (state & PARTIES_MASK);",
  c: "bool last = arrived * WEFT_BARRIER_ONE_PARTY >[-=-]",
}, {
  what: "one leads where no party is left",
  by: "the only party leaves, then one arrives",
  ts: '[-if (last && (state & PARTIES_MASK) === 0) throw noParty("arrive ' +
    'at");-]',
  c: "[-if (last && (state & WEFT_BARRIER_PARTIES_MASK) == 0) return " +
    "-EINVAL;-]",
}, {
  what: "goes on with one party too few",
  by: "two parties, two rounds",
  ts: "const last = {+(+}arrived{+ + 1)+} * ONE_PARTY >= (state & " +
    "PARTIES_MASK);",
  c: "bool last = {+(+}arrived{+ + 1)+} * WEFT_BARRIER_ONE_PARTY >=",
}, {
  what: "wakes nobody",
  by: "two parties, two rounds",
  ts: "[-if (state & WAITING_BIT) Atomics.notify(words, STATE); -]return " +
    "undefined;",
  c: "[-if (last && state & WEFT_BARRIER_WAITING_BIT) " +
    "weft__notify(&b->state, WEFT__ALL);-]",
}, {
  what: "the generation does not change",
  by: "one of two gives up, the other leaves",
  ts: "return [-(-]state & (GENERATION_MASK | PARTIES_MASK)[-) + " +
    "ONE_GENERATION | 0-];",
  c: "return [-weft__plus(-]state & (WEFT_BARRIER_GENERATION_MASK | " +
    "WEFT_BARRIER_PARTIES_MASK)[-, WEFT_BARRIER_ONE_GENERATION)-];",
}, {
  what: "counts the arrived parties in the next generation, too",
  by: "one of two gives up, the other leaves",
  ts: "return (state & [-(GENERATION_MASK | PARTIES_MASK)-]{+~WAITING_BIT+}) " +
    "+ ONE_GENERATION | 0;",
  c: "return weft__plus(state & [-(WEFT_BARRIER_GENERATION_MASK | " +
    "WEFT_BARRIER_PARTIES_MASK)-]{+~WEFT_BARRIER_WAITING_BIT+}, " +
    "WEFT_BARRIER_ONE_GENERATION);",
}, {
  what: "compares generations by size, although they wrap",
  by: "two parties, a generation whose sign changes",
  ts: "while (([-(state ^ since)-]{+state+} & GENERATION_MASK) [-=== 0-]{+<= " +
    "(since & GENERATION_MASK)+}) {",
  c: "while (([-(state ^ since)-]{+state+} & WEFT_BARRIER_GENERATION_MASK) " +
    "[-== 0-]{+<= (since & WEFT_BARRIER_GENERATION_MASK)+}) {",
}, {
  what: "takes another's arrival for the end while it spins",
  by: "one of three leaves, seen by who looks before it sleeps",
  ts: "[-((-]Atomics.load(words, STATE) [-^ state) & GENERATION_MASK) !== " +
    "0-]{+!== state+};",
  c: "[-(-]weft__load(&b->state) ^ since[-) & WEFT_BARRIER_GENERATION_MASK-];",
}, {
  what: "takes another's arrival for the end",
  ts: "while (((state ^ since) & {+(+}GENERATION_MASK{+ | ARRIVED_MASK)+}) " +
    "=== 0) {",
  c: "while (((state ^ since) & {+(+}WEFT_BARRIER_GENERATION_MASK{+ | " +
    "WEFT_BARRIER_ARRIVED_MASK)+}) == 0) {",
  by: "one of three gives up, and leaves",
}, {
  what: "does not say that it sleeps",
  by: "one of two gives up, the other leaves",
  ts: "state = last ? state - 1 : state[- | WAITING_BIT-];",
  c: "state = last ? state - 1 : state[- | WEFT_BARRIER_WAITING_BIT-];",
}, {
  what: "says that it sleeps by a store",
  by: "one of two gives up, the other leaves",
  ts: "[-const seen = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, state); if (seen !== expected) { state = seen; continue; " +
    "}-]{+state);+}",
  c: "[-int32_t seen = weft__compare_exchange(&b->state, expected, state); " +
    "if (seen != expected) { state = seen; continue; " +
    "}-]{+weft__store(&b->state, state);+}",
}, {
  what: "does not check whether its sleep mark was stored",
  by: "one of two gives up, the other leaves",
  ts: "[-if (seen !== expected) { state = seen; continue; }-]",
  c: "[-if (seen != expected) { state = seen; continue; }-]{+(void)seen;+}",
}, {
  what: "sleeps on the value that it reads last",
  by: "one of two leaves, then the other",
  ts: "const outcome = yield { words, index: STATE, value: " +
    "[-state-]{+Atomics.load(words, STATE)+} };",
  c: "weft__sleep(&b->state, [-state-]{+weft__load(&b->state)+}, deadline, " +
    "WEFT__LOOK);",
}, {
  what: "gives up, and stays counted",
  by: "one of two gives up, the other leaves",
  ts: "state = last ? state [-- 1 -]: state | WAITING_BIT;",
  c: "state = last ? state [-- 1 -]: state | WEFT_BARRIER_WAITING_BIT;",
}, {
  what: "gives up although the generation ended",
  by: "one of two gives up, the other leaves",
  ts: "while ({+last || +}((state ^ since) & GENERATION_MASK) === 0) {",
  c: "while ({+last || +}((state ^ since) & WEFT_BARRIER_GENERATION_MASK) == " +
    "0) {",
}, {
  what: "takes a wake for the timeout",
  ts: 'last = outcome [-=== "timed-out-]{+!== "ok+}";',
  c: "last = outcome [-== WEFT__TIMED_OUT-]{+!= WEFT__OK+};",
  by: "spurious wakes",
}, {
  what: "leaves by a store",
  by: "one of two gives up, the other leaves",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE[-, " +
    "expected, next); if (state !== expected) continue; if (-]{+, next); if " +
    "(+}ends",
  c: "[-state = weft__compare_exchange(&b->state, expected, next); if (state " +
    "!= expected) continue; if (ends-]{+(void)expected; " +
    "weft__store(&b->state, next); if (ends+}",
}, {
  what: "does not check whether its leaving was stored",
  by: "one of two gives up, the other leaves",
  ts: "[-if (state !== expected) continue; -]if (ends",
  c: "[-if (state != expected) continue; -]if (ends",
}, {
  what: "leaves, and wakes nobody",
  by: "one of two gives up, the other leaves",
  ts: "[-if (ends && state & WAITING_BIT) Atomics.notify(words, STATE);-]",
  c: "[-if (ends && state & WEFT_BARRIER_WAITING_BIT) " +
    "weft__notify(&b->state, WEFT__ALL);-]",
}, {
  what: "leaves, and wakes one",
  by: "one of three gives up, and leaves",
  ts: "if (ends && state & WAITING_BIT) Atomics.notify(words, STATE{+, 1+});",
  c: "if (ends && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, " +
    "[-WEFT__ALL-]{+1+});",
}, {
  what: "leaves, and wakes before the generation ends",
  by: "one of two gives up, the other leaves",
  ts: "{+if (ends && state & WAITING_BIT) Atomics.notify(words, STATE); " +
    "+}state = Atomics.compareExchange(words, STATE, expected, next); if " +
    "(state !== expected) continue;[- if (ends && state & WAITING_BIT) " +
    "Atomics.notify(words, STATE);-]",
  c: "{+if (ends && state & WEFT_BARRIER_WAITING_BIT) " +
    "weft__notify(&b->state, WEFT__ALL); +}state = " +
    "weft__compare_exchange(&b->state, expected, next); if (state != " +
    "expected) continue;[- if (ends && state & WEFT_BARRIER_WAITING_BIT) " +
    "weft__notify(&b->state, WEFT__ALL);-]",
}, {
  what: "leaves, and does not end the generation",
  by: "one of two gives up, the other leaves",
  ts: "const next =[- ends ? nextGeneration(left) :-] left | 0;",
  c: "int32_t next = [-ends ? weft__barrier_next_generation(left) : -]left;",
}, {
  what: "leaves, and ends a generation that nobody has begun",
  by: "one of two leaves, then the other",
  ts: "const ends = waiting [-> 0 && waiting -]* ONE_PARTY",
  c: "bool ends = waiting [-> 0 && waiting -]*",
}, {
  what: "does not take back the arrival of a dead party",
  by: "one that waits alone is terminated",
  ts: "const left = state - ONE_PARTY[- - (arrived ? 1 : 0)-];",
  c: "WEFT_BARRIER_ONE_PARTY[- + (arrived ? 1 : 0)-]);",
}, {
  what: "(G) looks for waiters once it has let them go",
  by: "one arrives last, the other frees the barrier",
  ts: "if (!last) return next; if ([-state & " +
    "WAITING_BIT-]{+Atomics.load(words, STATE) !== 0+}) " +
    "Atomics.notify(words, STATE);",
  c: "*since = next; if (last && [-state & " +
    "WEFT_BARRIER_WAITING_BIT-]{+weft__load(&b->state) != 0+})",
}, {
  what: "(G) looks for waiters once it has left",
  by: "one leaves, the other frees the barrier",
  ts: "if (ends && [-state & WAITING_BIT)-]{+Atomics.load(words, STATE) !== " +
    "0) {+} Atomics.notify(words, STATE);{+ }+}",
  c: "if (ends && [-state & " +
    "WEFT_BARRIER_WAITING_BIT-]{+weft__load(&b->state) != 0+}) weft__notify",
});

/** Mutants of a tracked barrier. */
const TRACKED = mutants({
  source: "_lock/barrier_tracked",
  header: "barrier",
  scenarios: ["barrier"],
}, {
  what: "(R): looks at the others before it notes that it arrives",
  by: "tracked: two parties, a round",
  ts: "{+const ended = this.#tryEnd(state); +}Atomics.store(words, at, " +
    "mark); return [-this.#tryEnd(state)-]{+ended+} ? undefined : state;",
  c: "{+*leader = weft__barrier_try_end(b, since); " +
    "+}weft__store(&row->arrived, weft__barrier_mark(since));[- *leader = " +
    "weft__barrier_try_end(b, since);-]",
}, {
  what: "(E): ends the generation by a store",
  by: "tracked: two parties that give up",
  ts: "[-const seen = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-state, next); if (seen !== state) continue-]{+next)+}; if (state & " +
    "WAITING_BIT)",
  c: "[-if (weft__compare_exchange(&b->state, state, next) != state) " +
    "continue-]{+weft__store(&b->state, next)+}; if (state & " +
    "WEFT_BARRIER_WAITING_BIT)",
}, {
  what: "(Q): changes the word before it takes its arrival back",
  by: "tracked: two parties that give up",
  ts: [
    "[-Atomics.store(words, at + ARRIVED, 0); -]const next",
    "{+Atomics.store(words, at + ARRIVED, 0);\n+}Atomics.notify(words, " +
    "STATE); // others",
  ],
  c: [
    "[-weft__store(&rows[row].arrived, 0); -]int32_t next",
    "{+weft__store(&rows[row].arrived, 0); +}weft__notify(&b->state, " +
    "WEFT__ALL); /* others",
  ],
}, {
  what: "(Q): does not change the word when it takes its arrival back",
  by: "tracked: two parties that give up",
  ts: "state[- & ~CHANGES_MASK | state + 1 & CHANGES_MASK-];",
  c: "[-(weft__plus(state, 1)-]{+(state+} & WEFT__BARRIER_CHANGES_MASK);",
}, {
  what: "(H): two take a party out",
  by: "tracked: two recover a party that had arrived",
  ts: "if (Atomics.[-compareExchange-]{+load+}(words, at[-, id, LEFT) === " +
    "id) count++;-]{+) === id) { Atomics.store(words, at, LEFT); count++; }+}",
  c: "[-if (weft__compare_exchange(agent, id, WEFT__BARRIER_LEFT) == id) " +
    "count++;-]{+if (weft__load(agent) == id) { weft__store(agent, " +
    "WEFT__BARRIER_LEFT); count++; }+}",
}, {
  what: "takes a party out and does not end the generation",
  by: "tracked: a party is recovered, the other waits for it",
  ts: "[-if (count > 0) this.#tryEnd(Atomics.load(words, STATE));-]",
  c: "[-if (count > 0) (void)weft__barrier_try_end(b, " +
    "weft__load(&b->state));-]",
}, {
  what: "does not wake the tracked parties",
  by: "tracked: two parties, a round",
  ts: "[-if (state & WAITING_BIT) Atomics.notify(words, STATE); -]return true;",
  c: "[-if (state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, " +
    "WEFT__ALL); -]return true;",
}, {
  what: "counts a party that has left",
  by: "tracked: a party is recovered, the other waits for it",
  ts: "if[- (Atomics.load(words, at) === LEFT) parties--; else if-]",
  c: "if[- (weft__load(&rows[i].agent) == WEFT__BARRIER_LEFT) parties--; " +
    "else if-]",
});

/** All of them. */
export const MUTANTS = [...PLAIN, ...TRACKED];

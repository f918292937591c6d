import { mutants, none } from "../_run/mutant.ts";
import {
  HEAP,
  HEAP_IN_C,
  KEY_BLOCKS,
  KEY_PUTS,
  LONG_KEYS,
  LONG_VALUES,
  PUTS,
} from "./mutants_heap.ts";
import { CORE, RECOVERED, REMEMBERS_ONE, WRITE } from "./mutants_places.ts";
import { CLOCK, EXPIRY, LOCK, ROOM, TABLE, TIME } from "./mutants_table.ts";

const WAIT = "two wait for a key";
const OVERWRITTEN = "one waits for a key that expires while it is overwritten";
const FLIGHT = "one makes a value, and another awaits it, 0 fail";
const FAILS = "one makes a value, and another awaits it, 1 fail";
const WHO_WAITS = none("agents that wait for a flight await: none is of C");
const NOT_IN_C = none("agents of C begin no flights");

/** Mutants of the operations. */
const OPERATIONS = mutants(CORE, {
  what: "gives a value that it remembers, and does not look whether it counts",
  by: "a view remembers a number that is overwritten",
  ts: "[-table.isCurrent(entry, places.current) && -]table.isSame(",
  c: none("only views of JavaScript remember"),
}, {
  what: "writes where it remembers a key, and does not look at the version",
  by: "a view writes where it remembers a key",
  ts: "[-this.#table.isSame(bucket, places.version) &&-]",
  c: none("only views of JavaScript remember"),
}, {
  what: "abandons, and unlocks a bucket without mending it",
  by: RECOVERED,
  ts: "[-this.#table.mend(bucket);-]",
  c: "[-weft__hash_mend(m, &plan, bucket);-]",
}, {
  what: "abandons, and leaves the entries that the agent filled",
  by: "set of a word ends at any step",
  ts: "[-this.#table.release(id);-]",
  c: "[-weft__hash_release(m, &plan, id);-]",
}, {
  what: "abandons, and leaves the bucket locked",
  by: RECOVERED,
  ts: "this.#table.mend(bucket);[- this.#unlock(bucket);-]",
  c: "weft__hash_mend(m, &plan, bucket);[- weft__hash_unlock(bucket);-]",
}, {
  what: "takes a bucket over before it frees what the dead agent filled",
  by: "one that recovers a bucket ends at any step",
  ts: [
    "[-this.#table.release(id);-]",
    "if (!inheritBucket(words, bucket, id, this.#id)) continue;{+ " +
    "this.#table.release(id);+}",
  ],
  c: [
    "[-weft__hash_release(m, &plan, id);-]",
    "if (!weft__mutex_inherit(&bucket->lock, id, weft_agent_id())) " +
    "continue;{+ weft__hash_release(m, &plan, id);+}",
  ],
}, {
  what: "believes that a bucket is damaged which another agent has mended",
  by: "two recover a bucket whose writer died, and one deletes its entry",
  ts: "[-if (!holds(bucket)) continue; -]throw",
  c: "[-if (weft_mutex_owner(&bucket->lock) != id) continue; -]return",
}, {
  what: "abandons the buckets of everybody",
  by: "a bucket is recovered beside one with an entry",
  ts: "[-if (!inheritBucket-]{+Atomics.store+}(words, bucket, [-id, " +
    "this.#id)) continue-]{+this.#id)+};",
  c: "[-if (!weft__mutex_inherit-]{+weft__store+}(&bucket->lock[-, " +
    "id-]{+.state+}, weft_agent_id())[-) continue-];",
}, {
  what: "iterates, and believes a key that it copied",
  by: "an iteration beside an entry that is used again",
  ts: "if (at [-=== table.entryAt(number)-]{+!== NONE+}) {",
  equivalent: "only a mixture of two keys that is a third key shows it: the " +
    "keys of the scenarios have one word",
});

/** Mutants of the wakes. */
const WAKES = mutants(WRITE, {
  what: "(W): adds a key, and wakes nobody",
  by: WAIT,
  ts: "[-this.#waits.wake(hash);-]",
  c: "[-weft__event_wake(weft__hash_epoch(m, place->hash), WEFT__ALL);-]",
}, {
  what: "(W): overwrites a value that may have expired, and wakes nobody",
  header: "_hash_table",
  by: OVERWRITTEN,
  ts: "[-if (this.#expires) this.#waits.wake(this.#table.hashAt(at));-]",
  c: "[-int32_t hash = weft__load(entry + WEFT__HASH_HASH); " +
    "weft__event_wake(weft__hash_epoch(m, hash), WEFT__ALL);-]",
}, {
  what: "(W): wakes before it adds the key",
  by: WAIT,
  ts: [
    "{+this.#waits.wake(hash); +}this.#table.insert(",
    "[-this.#waits.wake(hash); -]return true;",
  ],
  c: "[-weft__store(&place->bucket->head, number); /* (P) */ " +
    "-]weft__event_wake(weft__hash_epoch(m, place->hash), WEFT__ALL);{+ " +
    "weft__store(&place->bucket->head, number);+}",
});

/** Mutants of the waits. */
const WAITS = mutants(CORE, {
  what: "gives a number its whole time anew when it adds",
  header: "_hash_numbers",
  by: "a number expires while another agent adds to it",
  ts: "value.put(this.#codec === CODEC.i32 ? sum | 0 : sum); " +
    "this.#writes.overwrite(at[-, KEEPS-]);",
  c: "weft__hash_overwrite(m, place, number, &cell, " +
    "[-WEFT__HASH_KEEPS-]{+m->ttl+});",
}, {
  what: "adds a key for the time of the cache, whatever the call says",
  by: "a key is added for a moment beside a reader",
  ts: "return this.#writes.insert(bucket, this.#hash[-, ttl-]);",
  c: "error = weft__hash_insert(m, &place, &cell, {+m->+}ttl) ? 0 : ENOSPC;",
}, {
  what: "overwrites a value for the time of the cache, whatever the call says",
  by: "a value is overwritten for a moment beside a reader",
  ts: "return !ifAbsent && this.#writes.overwrite(at[-, ttl-]);",
  c: "weft__hash_replace(m, &place, number, &cell, {+m->+}ttl)",
}, {
  what: "gives a value that it remembers, and that has expired",
  by: REMEMBERS_ONE,
  ts: "[-!table.isOver(places.expires, table.now()) &&-]",
  c: none("only views of JavaScript remember"),
}, {
  what: "writes where it remembers a key, and that has expired",
  by: "a view writes where it remembers a key that expires",
  ts: "[-&& !this.#table.hasExpired(places.entry)-]",
  c: none("only views of JavaScript remember"),
}, {
  what: "makes a value, and does not end the flight",
  by: FLIGHT,
  ts: "[-this.#waits.end(found, wanted.hash);-]",
  c: NOT_IN_C,
}, {
  what: "abandons, and leaves the flights",
  by: "one recovers a bucket and a flight, another one reads",
  ts: "return count[- + this.#waits.release(id)-];",
  c: "return count[- + weft__hash_release_flights(m, id)-];",
});

/** Mutants of the flights. */
const FLIGHTS = mutants({
  source: "_map/waits",
  header: "hash_map",
  scenarios: ["hash_map"],
}, {
  what: "wakes one of those that wait for a key",
  header: "_hash_write",
  by: WAIT,
  ts: "wake(this.#words, epochFor(this.#plan, hash), [-Infinity-]{+1+});",
  c: "weft__event_wake(weft__hash_epoch(m, place->hash), [-WEFT__ALL-]{+1+});",
}, {
  what: "begins a flight that another agent has begun",
  by: FLIGHT,
  ts: "[-if (found === name) return undefined;-]",
  c: NOT_IN_C,
}, {
  what: "begins a flight in the place of another",
  by: FLIGHT,
  ts: "Atomics.store(words, at + HASH, [-name-]{+0+});",
  c: NOT_IN_C,
}, {
  what: "(E): wakes before the flight has ended",
  by: FAILS,
  ts: "{+this.wake(hash); hash = ~hash; +}Atomics.store(words, flight + " +
    "HASH, 0); [-// (E) then wake -]",
  c: WHO_WAITS,
}, {
  what: "ends a flight, and wakes nobody",
  by: FAILS,
  ts: "Atomics.store(words, flight, NOBODY);[- this.wake(hash);-]",
  c: WHO_WAITS,
}, {
  what: "ends a dead agent's flight twice",
  by: "two abandon who makes a value, and make it",
  ts: "[-if (Atomics.compareExchange(words, at, id, this.#id) !== id) " +
    "continue;-]",
  c: none("agents of C begin no flight that it could end"),
});

/** Mutants of `HashMap`. */
export const MUTANTS = [
  ...OPERATIONS,
  ...WAKES,
  ...WAITS,
  ...FLIGHTS,
  ...LOCK,
  ...TABLE,
  ...CLOCK,
  ...TIME,
  ...EXPIRY,
  ...ROOM,
  ...LONG_VALUES,
  ...PUTS,
  ...HEAP,
  ...LONG_KEYS,
  ...KEY_PUTS,
  ...KEY_BLOCKS,
  ...HEAP_IN_C,
];

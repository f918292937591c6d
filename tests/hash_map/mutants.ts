import { mutants } from "../_run/mutant.ts";

const BESIDE_OVERWRITE = "a reader beside an overwrite";
const USED_AGAIN = "a reader beside an entry that is used again";
const REMEMBERED = "a view remembers a number that is deleted";
const ONE_BUCKET = "two write to one bucket";
const RECOVERED = "a bucket is recovered beside writers";

const CORE = {
  source: "_map/map_core",
  header: "hash_map",
  scenarios: ["hash_map"],
};

/** A file of the map's room, and the header that is its twin. */
const twin = (name: string) => ({
  source: `_map/${name}`,
  header: `_hash_${name}`,
  scenarios: ["hash_map"],
});

/** Mutants of the operations. */
const OPERATIONS = mutants(CORE, {
  what: "gives a value that it remembers, and does not look whether it counts",
  by: "a view remembers a number that is overwritten",
  ts: [
    "table.isCurrent(entry, places.current) && table.isSame(",
    "table.isSame(",
  ],
  c: "only views of JavaScript remember",
}, {
  what: "writes where it remembers a key, and does not look at the version",
  by: "a view writes where it remembers a key",
  ts: ["this.#table.isSame(bucket, places.version) &&", ""],
  c: "only views of JavaScript remember",
}, {
  what: "abandons, and unlocks a bucket without mending it",
  by: RECOVERED,
  ts: ["this.#table.mend(bucket);", ""],
  c: ["weft__hash_mend(m, &plan, bucket);", ""],
}, {
  what: "abandons, and leaves the entries that the agent filled",
  by: "set of a word ends at any step",
  ts: ["this.#table.release(id);", ""],
  c: ["weft__hash_release(m, &plan, id);", ""],
}, {
  what: "abandons, and leaves the bucket locked",
  by: RECOVERED,
  ts: [
    "this.#table.mend(bucket); this.#unlock(bucket);",
    "this.#table.mend(bucket);",
  ],
  c: [
    "weft__hash_mend(m, &plan, bucket); weft__hash_unlock(bucket);",
    "weft__hash_mend(m, &plan, bucket);",
  ],
}, {
  what: "believes that a bucket is damaged which another agent has mended",
  by: "two recover a bucket whose writer died, and one deletes its entry",
  ts: ["if (!holds(bucket)) continue; throw", "throw"],
  c: ["if (weft_mutex_owner(&bucket->lock) != id) continue; return", "return"],
}, {
  what: "abandons the buckets of everybody",
  by: "a bucket is recovered beside one with an entry",
  ts: [
    "if (!inheritBucket(words, bucket, id, this.#id)) continue;",
    "Atomics.store(words, bucket, this.#id);",
  ],
  c: [
    "if (!weft__mutex_inherit(&bucket->lock, id, weft_agent_id())) continue;",
    "weft__store(&bucket->lock.state, weft_agent_id());",
  ],
}, {
  what: "iterates, and believes a key that it copied",
  by: "an iteration beside an entry that is used again",
  ts: ["if (at === table.entryAt(number)) {", "if (at !== NONE) {"],
  equivalent: "only a mixture of two keys that is a third key shows it: the " +
    "keys of the scenarios have one word",
});

const WAIT = "two wait for a key";
const ANEW = "a value expires and is written anew beside a reader";
const RENEWED = "a value is written anew before it expires, beside a reader";
const REMEMBERS_ONE = "a view remembers a value that counts for a moment";
const OVERWRITTEN = "one waits for a key that expires while it is overwritten";
const FLIGHT = "one makes a value, and another awaits it, 0 fail";
const FAILS = "one makes a value, and another awaits it, 1 fail";
const WHO_WAITS = "agents that wait for a flight await: none is of C";
const NOT_IN_C = "agents of C begin no flights";

/** Mutants of the waits. */
const WAITS = mutants(CORE, {
  what: "(W): adds a key, and wakes nobody",
  by: WAIT,
  ts: ["this.#waits.wake(hash);", ""],
  c: ["weft__event_wake(weft__hash_epoch(m, place->hash), WEFT__ALL);", ""],
}, {
  what: "(W): overwrites a value that may have expired, and wakes nobody",
  header: "_hash_table",
  by: OVERWRITTEN,
  ts: [
    "if (this.#plan.expires) this.#waits.wake(this.#table.hashAt(at));",
    "",
  ],
  c: [
    "int32_t hash = weft__load(entry + WEFT__HASH_HASH); " +
    "weft__event_wake(weft__hash_epoch(m, hash), WEFT__ALL);",
    "",
  ],
}, {
  what: "gives a number its whole time anew when it adds",
  by: "a number expires while another agent adds to it",
  ts: [
    "value.put(this.#codec === CODEC.i32 ? sum | 0 : sum);\n" +
    "this.#overwrite(at, KEEPS);",
    "value.put(this.#codec === CODEC.i32 ? sum | 0 : sum);\n" +
    "this.#overwrite(at);",
  ],
  c: [
    "weft__hash_overwrite(m, place, number, &cell, WEFT__HASH_KEEPS);",
    "weft__hash_overwrite(m, place, number, &cell, m->ttl);",
  ],
}, {
  what: "adds a key for the time of the cache, whatever the call says",
  by: "a key is added for a moment beside a reader",
  ts: [
    "return this.#insert(bucket, this.#hash, ttl);",
    "return this.#insert(bucket, this.#hash);",
  ],
  c: [
    "error = weft__hash_insert(m, &place, &cell, ttl) ? 0 : ENOSPC;",
    "error = weft__hash_insert(m, &place, &cell, m->ttl) ? 0 : ENOSPC;",
  ],
}, {
  what: "overwrites a value for the time of the cache, whatever the call says",
  by: "a value is overwritten for a moment beside a reader",
  ts: [
    "return !ifAbsent && this.#overwrite(at, ttl);",
    "return !ifAbsent && this.#overwrite(at);",
  ],
  c: [
    "weft__hash_replace(m, &place, number, &cell, ttl)",
    "weft__hash_replace(m, &place, number, &cell, m->ttl)",
  ],
}, {
  what: "gives a value that it remembers, and that has expired",
  by: REMEMBERS_ONE,
  ts: ["!table.isOver(places.expires, table.now()) &&", ""],
  c: "only views of JavaScript remember",
}, {
  what: "writes where it remembers a key, and that has expired",
  by: "a view writes where it remembers a key that expires",
  ts: ["&&\n!this.#table.hasExpired(places.entry)", ""],
  c: "only views of JavaScript remember",
}, {
  what: "(W): wakes before it adds the key",
  by: WAIT,
  ts: [
    "this.#table.insert(",
    "this.#waits.wake(hash);\nthis.#table.insert(",
    ["this.#waits.wake(hash);\nreturn true;", "return true;"],
  ],
  c: [
    "weft__store(&place->bucket->head, number); /* (P) */\n" +
    "weft__event_wake(weft__hash_epoch(m, place->hash), WEFT__ALL);",
    "weft__event_wake(weft__hash_epoch(m, place->hash), WEFT__ALL);\n" +
    "weft__store(&place->bucket->head, number);",
  ],
}, {
  what: "makes a value, and does not end the flight",
  by: FLIGHT,
  ts: ["this.#waits.end(found, wanted.hash);", ""],
  c: NOT_IN_C,
}, {
  what: "abandons, and leaves the flights",
  by: "one recovers a bucket and a flight, another one reads",
  ts: ["return count + this.#waits.release(id);", "return count;"],
  c: ["return count + weft__hash_release_flights(m, id);", "return count;"],
});

/** Mutants of the flights. */
const FLIGHTS = mutants({
  source: "_map/waits",
  header: "hash_map",
  scenarios: ["hash_map"],
}, {
  what: "wakes one of those that wait for a key",
  by: WAIT,
  ts: [
    "wake(this.#words, epochFor(this.#plan, hash), Infinity);",
    "wake(this.#words, epochFor(this.#plan, hash), 1);",
  ],
  c: [
    "weft__event_wake(weft__hash_epoch(m, place->hash), WEFT__ALL);",
    "weft__event_wake(weft__hash_epoch(m, place->hash), 1);",
  ],
}, {
  what: "begins a flight that another agent has begun",
  by: FLIGHT,
  ts: ["if (found === name) return undefined;", ""],
  c: NOT_IN_C,
}, {
  what: "begins a flight in the place of another",
  by: FLIGHT,
  ts: [
    "Atomics.store(words, at + HASH, name);",
    "Atomics.store(words, at + HASH, 0);",
  ],
  c: NOT_IN_C,
}, {
  what: "(E): wakes before the flight has ended",
  by: FAILS,
  ts: [
    "Atomics.store(words, flight + HASH, 0); // (E) then wake\n",
    "this.wake(hash); hash = ~hash;\n" +
    "Atomics.store(words, flight + HASH, 0);\n",
  ],
  c: WHO_WAITS,
}, {
  what: "ends a flight, and wakes nobody",
  by: FAILS,
  ts: [
    "Atomics.store(words, flight, NOBODY);\nthis.wake(hash);",
    "Atomics.store(words, flight, NOBODY);",
  ],
  c: WHO_WAITS,
}, {
  what: "ends a dead agent's flight twice",
  by: "two abandon who makes a value, and make it",
  ts: [
    "if (Atomics.compareExchange(words, at, id, this.#id) !== id) continue;",
    "",
  ],
  c: "agents of C begin no flight that it could end",
});

/** Mutants of the lock of a bucket. */
const LOCK = mutants(twin("lock"), {
  what: "takes the lock of a bucket by a store",
  by: "two add to one long number",
  ts: [
    "const state = Atomics.compareExchange(words, bucket, UNLOCKED, id);",
    "const state = UNLOCKED; Atomics.store(words, bucket, id);",
  ],
  c: [
    "int32_t state = weft__compare_exchange(word, WEFT_MUTEX_UNLOCKED, id);",
    "int32_t state = 0; weft__store(word, id);",
  ],
}, {
  what: "unlocks a bucket by a store",
  by: "two add to one long number",
  ts: [
    "const state = Atomics.compareExchange(words, bucket, id, UNLOCKED);",
    "const state = id; Atomics.store(words, bucket, UNLOCKED);",
  ],
  c: [
    "int32_t state = weft__compare_exchange(word, id, WEFT_MUTEX_UNLOCKED);",
    "int32_t state = id; weft__store(word, WEFT_MUTEX_UNLOCKED);",
  ],
});

/** Mutants of the buckets and entries. */
const TABLE = mutants(twin("table"), {
  what: "(C): reads a value, and does not look whether it changed",
  by: BESIDE_OVERWRITE,
  ts: [
    "if (!this.isCurrent(at, this.current)) continue;",
    "",
  ],
  c: [
    "if (weft__hash_current(&place->plan, entry) != current) continue;",
    "(void)current;",
  ],
}, {
  what: "(C): counts the copies by 0 and 1",
  by: BESIDE_OVERWRITE,
  ts: [
    "const next = current + 1 | 0;",
    "const next = current + 1 & 1;",
  ],
  c: [
    "int32_t next = weft__plus(current, 1);",
    "int32_t next = weft__plus(current, 1) & 1;",
  ],
}, {
  what: "(F): takes an entry out before views forget it",
  by: REMEMBERED,
  ts: [
    "Atomics.add(words, bucket + VERSION, 1); // (F) views forget the entry",
    "",
  ],
  c: "only views of JavaScript remember",
}, {
  what: "(L): remembers a place while an agent writes to the bucket",
  by: REMEMBERED,
  ts: [
    "this.isSettled = Atomics.load(words, bucket) === 0;",
    "this.isSettled = true;",
  ],
  c: "only views of JavaScript remember",
}, {
  what: "(F): reads where it remembers a key, and does not look at the version",
  by: "a view remembers an entry that is used again",
  ts: [
    "return Atomics.load(this.#words, bucket + VERSION) === version;",
    "void bucket, version; return true;",
  ],
  c: "only views of JavaScript remember",
}, {
  what: "(V): takes an entry out, and does not tell readers",
  by: USED_AGAIN,
  ts: [
    "Atomics.add(words, bucket + VERSION, 1); // (V) the entry may be used",
    "",
  ],
  c: ["weft__add(&bucket->version, 1); /* (V) the entry may be used */", ""],
}, {
  what: "(V): tells readers before it takes an entry out",
  by: USED_AGAIN,
  ts: [
    "Atomics.store(words, before, isFirst ? next : LINKED_BIT | next);\n" +
    "Atomics.add(words, bucket + VERSION, 1); // (V) the entry may be used",
    "Atomics.add(words, bucket + VERSION, 1);\n" +
    "Atomics.store(words, before, isFirst ? next : LINKED_BIT | next);",
  ],
  c: [
    "weft__store(before, is_first ? next : WEFT__HASH_LINKED_BIT | next); " +
    "weft__add(&bucket->version, 1);",
    "weft__add(&bucket->version, 1); " +
    "weft__store(before, is_first ? next : WEFT__HASH_LINKED_BIT | next);",
  ],
}, {
  what: "(V): frees an entry before it tells readers",
  by: USED_AGAIN,
  ts: [
    "Atomics.add(words, bucket + VERSION, 1); // (V) the entry may be used",
    "",
    [
      "else this.#free(at);",
      "else this.#free(at);\nAtomics.add(words, bucket + VERSION, 1);",
    ],
  ],
  c: [
    "weft__add(&bucket->version, 1); /* (V) the entry may be used */",
    "",
    [
      "else weft__hash_free(m, plan, number);",
      "else weft__hash_free(m, plan, number); " +
      "weft__add(&bucket->version, 1);",
    ],
  ],
}, {
  what: "reads, and does not look whether it changed",
  by: USED_AGAIN,
  ts: [
    "if (Atomics.load(words, bucket + VERSION) !== version) continue;",
    "void version;",
  ],
  c: [
    "if (weft__load(&place->bucket->version) != version) continue;",
    "(void)version;",
  ],
}, {
  what: "(C): the new value counts before it is there",
  by: BESIDE_OVERWRITE,
  ts: [
    "this.#fill(copy, value, count);",
    "Atomics.store(words, at + CURRENT, next);\n" +
    "this.#fill(copy, value, count);",
  ],
  c: [
    "weft__hash_fill(at + (next & 1) * plan->value_words, value);",
    "weft__store(entry + WEFT__HASH_CURRENT, next); " +
    "weft__hash_fill(at + (next & 1) * plan->value_words, value);",
  ],
}, {
  what: "overwrites the copy that readers read",
  by: BESIDE_OVERWRITE,
  ts: [
    "at + this.#value + (next & 1) * this.#plan.valueWords;",
    "at + this.#value + (1 - (next & 1)) * this.#plan.valueWords;",
  ],
  c: [
    "weft__hash_fill(at + (next & 1) * plan->value_words, value);",
    "weft__hash_fill(at + (1 - (next & 1)) * plan->value_words, value);",
  ],
}, {
  what: "(P): shows an entry before it is filled",
  header: "hash_map",
  by: "two write to two buckets",
  ts: [
    "Atomics.store(words, at + HASH, hash);",
    "Atomics.store(words, at + LINK,\n" +
    "LINKED_BIT | Atomics.load(words, bucket + HEAD));\n" +
    "Atomics.store(words, bucket + HEAD, number);\n" +
    "Atomics.store(words, at + HASH, hash);",
  ],
  c: [
    "weft__store(entry + WEFT__HASH_HASH, place->hash);",
    "weft__store(entry, WEFT__HASH_LINKED_BIT | " +
    "weft__load(&place->bucket->head)); " +
    "weft__store(&place->bucket->head, number); " +
    "weft__store(entry + WEFT__HASH_HASH, place->hash);",
  ],
}, {
  what: "(P): shows an entry before it leads to the others",
  header: "hash_map",
  by: "a reader beside an entry that is added",
  ts: [
    "Atomics.store(words, at + LINK, LINKED_BIT | next);\n" +
    "Atomics.store(words, bucket + HEAD, number); // (P)",
    "Atomics.store(words, bucket + HEAD, number);\n" +
    "Atomics.store(words, at + LINK, LINKED_BIT | next);",
  ],
  c: [
    "weft__store(entry + WEFT__HASH_LINK, WEFT__HASH_LINKED_BIT | next); " +
    "weft__store(&place->bucket->head, number); /* (P) */",
    "weft__store(&place->bucket->head, number); " +
    "weft__store(entry + WEFT__HASH_LINK, WEFT__HASH_LINKED_BIT | next);",
  ],
}, {
  what: "claims an entry by a store",
  by: "two write to two free entries",
  ts: [
    "if (Atomics.compareExchange(words, link, FREE, claimed) !== FREE) {",
    "if ((Atomics.store(words, link, claimed), false)) {",
  ],
  c: [
    "if (weft__compare_exchange(link, 0, WEFT__HASH_CLAIMED_BIT | id) != 0)",
    "if ((weft__store(link, WEFT__HASH_CLAIMED_BIT | id), 0))",
  ],
}, {
  what: "claims an entry that another agent has",
  by: "two write to two free entries",
  ts: [
    "if (Atomics.compareExchange(words, link, FREE, claimed) !== FREE) {",
    "if (Atomics.compareExchange(words, link, FREE, claimed) === claimed) {",
  ],
  c: [
    "if (weft__compare_exchange(link, 0, WEFT__HASH_CLAIMED_BIT | id) != 0)",
    "if (weft__compare_exchange(link, 0, WEFT__HASH_CLAIMED_BIT | id) == 1)",
  ],
}, {
  what: "sets a bit by a load and a store",
  by: "two write to two buckets",
  ts: [
    "Atomics.or(words, this.#plan.bits + (number - 1 >> 5), bit);",
    "const map = this.#plan.bits + (number - 1 >> 5);\n" +
    "Atomics.store(words, map, Atomics.load(words, map) | bit);",
  ],
  c: [
    "weft__or(weft__hash_map(m, (number - 1) >> 5), (int32_t)bit);",
    "int32_t *bits = weft__hash_map(m, (number - 1) >> 5); " +
    "weft__store(bits, weft__load(bits) | (int32_t)bit);",
  ],
}, {
  what: "frees an entry, and does not clear its bit",
  by: ONE_BUCKET,
  ts: [
    "Atomics.and(this.#words, bits + (number >> 5), ~(1 << (number & 31)));",
    "void bits, number;",
  ],
  c: [
    "weft__and(weft__hash_map(m, (number - 1) >> 5), (int32_t)~bit);",
    "(void)bit;",
  ],
}, {
  what: "clears a bit by a load and a store",
  by: "two delete from two buckets",
  ts: [
    "Atomics.and(this.#words, bits + (number >> 5), ~(1 << (number & 31)));",
    "const map = bits + (number >> 5);\n" +
    "const old = Atomics.load(this.#words, map);\n" +
    "Atomics.store(this.#words, map, old & ~(1 << (number & 31)));",
  ],
  c: [
    "weft__and(weft__hash_map(m, (number - 1) >> 5), (int32_t)~bit);",
    "int32_t *map = weft__hash_map(m, (number - 1) >> 5); " +
    "weft__store(map, weft__load(map) & (int32_t)~bit);",
  ],
}, {
  what: "takes the rest of the chain out as well",
  by: "the first of two in a bucket is deleted",
  ts: [
    "Atomics.store(words, before, isFirst ? next : LINKED_BIT | next);",
    "Atomics.store(words, before, isFirst ? 0 : LINKED_BIT | next);",
  ],
  c: [
    "weft__store(before, is_first ? next : WEFT__HASH_LINKED_BIT | next);",
    "weft__store(before, is_first ? 0 : WEFT__HASH_LINKED_BIT | next);",
  ],
}, {
  what: "adds by a load and a store",
  by: "two add to one number",
  ts: [
    "return Atomics.add(this.#words, at + this.#value, n);",
    "const old = Atomics.load(this.#words, at + this.#value);\n" +
    "Atomics.store(this.#words, at + this.#value, old + n);\nreturn old;",
  ],
  equivalent: "the lock of the bucket keeps other writers out",
}, {
  what: "recovers, and frees no entry that was taken out",
  by: RECOVERED,
  ts: ["if (this.leadsTo(bucket, number) === NONE) this.#free(at);", ""],
  c: [
    "if (weft__hash_leads_to(m, plan, bucket, number) == NULL) " +
    "weft__hash_free(m, plan, number);",
    "",
  ],
}, {
  what: "recovers, and frees entries of the other bucket",
  by: "a bucket is recovered beside one with an entry",
  ts: ["if (this.bucketOf(hash) !== bucket) continue;", "void hash;"],
  c: [
    "if (weft__hash_bucket_of(m, plan, hash) != bucket) continue;",
    "(void)hash;",
  ],
}, {
  what: "recovers, and frees entries that are in the chain",
  by: RECOVERED,
  ts: [
    "if (this.leadsTo(bucket, number) === NONE) this.#free(at);",
    "this.#free(at);",
  ],
  c: [
    "if (weft__hash_leads_to(m, plan, bucket, number) == NULL) " +
    "weft__hash_free(m, plan, number);",
    "weft__hash_free(m, plan, number);",
  ],
}, {
  what: "recovers, and does not tell readers",
  by: "a bucket is recovered beside a reader",
  ts: ["Atomics.add(words, bucket + VERSION, 1); // as (V)", ""],
  c: ["weft__add(&bucket->version, 1); /* as (V) */", ""],
}, {
  what: "releases by a store",
  by: "two recover a bucket whose writer died",
  ts: [
    "Atomics.compareExchange(words, at + LINK, claimed, FREE) === claimed;",
    "Atomics.store(words, at + LINK, FREE) === FREE;",
  ],
  c: [
    "weft__compare_exchange(at, claimed, 0) == claimed;",
    "(weft__store(at, 0), true);",
  ],
}, {
  what: "releases, and leaves a bit that was not cleared yet",
  by: "delete of a word ends at any step",
  ts: [
    "isFreed || link === FREE && (Atomics.load(words, map) & bit) !== 0",
    "isFreed",
  ],
  c: [
    "if (is_freed || (link == 0 && ((uint32_t)weft__load(bits) & bit) != 0))",
    "if (is_freed)",
  ],
});

const FREED = "one evicts while an entry is freed";
const MOVED = "one evicts an entry that another deletes and adds again";
const CHANCE = "an entry that is used has a second chance";

/** Mutants of the clock of a cache. */
const CLOCK = mutants(twin("clock"), {
  what: "takes an entry out without the lock of its bucket",
  by: MOVED,
  ts: [
    "if (bucket !== own && !tryLockBucket(words, bucket, this.#id)) " +
    "return false;",
    "void tryLockBucket;",
    ["if (bucket !== own) unlockBucket(words, bucket, this.#id);", ""],
  ],
  c: [
    "if (bucket != own && !weft__hash_try_lock(bucket)) return false;",
    "(void)own;",
    ["if (bucket != own) weft__hash_unlock(bucket);", ""],
  ],
}, {
  what: "(T): waits for the bucket of an entry",
  by: "two evict from the buckets of each other, between idle agents",
  ts: [
    "if (bucket !== own && !tryLockBucket(words, bucket, this.#id)) " +
    "return false;",
    "if (bucket !== own) lockBucket(words, bucket, this.#id);",
    [
      "import { tryLockBucket, unlockBucket }",
      "import { lockBucket, unlockBucket }",
    ],
  ],
  c: [
    "if (bucket != own && !weft__hash_try_lock(bucket)) return false;",
    "if (bucket != own && weft__hash_lock(bucket) != 0) return false;",
  ],
}, {
  what: "takes an entry out, and does not look whether it is still there",
  by: MOVED,
  ts: [
    "const before = table.leadsTo(bucket, number);",
    "const before = bucket + 3;",
  ],
  c: [
    "int32_t *before = weft__hash_leads_to(m, plan, bucket, number);",
    "int32_t *before = &bucket->head;",
  ],
}, {
  what: "evicts, and leaves the other bucket locked",
  by: "one evicts an entry of the other bucket beside a reader",
  ts: ["if (bucket !== own) unlockBucket(words, bucket, this.#id);", ""],
  c: ["if (bucket != own) weft__hash_unlock(bucket);", ""],
}, {
  what: "(R): looks after its search how many entries were freed",
  by: FREED,
  ts: [
    "Atomics.store(words, FULL, freed);",
    "Atomics.store(words, FULL, Atomics.load(words, FREED) + 1 | 0);",
  ],
  c: [
    "weft__store(&m->full, freed);",
    "weft__store(&m->full, weft__plus(weft__load(&m->freed), 1));",
  ],
}, {
  what: "does not note that an entry was used",
  by: CHANCE,
  ts: ["Atomics.store(this.#words, used, 1);", ""],
  c: ["if (weft__load(used) == 0) weft__store(used, 1);", "(void)used;"],
}, {
  what: "evicts an entry that was used",
  by: CHANCE,
  ts: ["if (left > looks && !isOver && this.#spare(at)) continue;", ""],
  c: [
    "if (left > looks && !is_over && weft__hash_spare(plan, entry)) continue;",
    "(void)weft__hash_spare;",
  ],
});

/** Mutants of the clock by which entries expire. */
const TIME = mutants(twin("time"), {
  what: "believes a value at the time when it expires",
  by: ANEW,
  ts: ["return left <= 0 ||", "return left < 0 ||"],
  c: ["return left <= 0 ||", "return left < 0 ||"],
});

/** Mutants of the entries that expire. */
const EXPIRY = mutants(twin("table"), {
  what: "looks at the clock after it has read the entry",
  by: RENEWED,
  ts: [
    "return at > 0 && this.isOver(this.expires, now) ? NONE : at;",
    "return at > 0 && this.isOver(this.expires, this.now()) ? NONE : at;",
  ],
  c: [
    "bool is_over = number > 0 && weft__hash_is_over(m, expires, now);",
    "(void)now; now = weft__hash_now(plan); " +
    "bool is_over = number > 0 && weft__hash_is_over(m, expires, now);",
  ],
}, {
  what: "adds an entry, and does not say until when it counts",
  header: "hash_map",
  by: ANEW,
  ts: ["if (this.#expires) this.#renew(at, 0, ttl);", ""],
  c: ["if (plan->expires) weft__hash_renew(plan, entry, 0, ttl);", ""],
}, {
  what: "overwrites a value, and does not say until when it counts",
  by: RENEWED,
  ts: ["else if (this.#expires) this.#renew(at, next, ttl);", ""],
  c: ["weft__hash_renew(plan, entry, next, ttl);", ""],
}, {
  what: "(C): says until when a value counts after it counts",
  by: RENEWED,
  ts: [
    "else if (this.#expires) this.#renew(at, next, ttl);",
    "",
    [
      "Atomics.store(words, at + CURRENT, next); // (C) the new value counts",
      "Atomics.store(words, at + CURRENT, next);\n" +
      "if (this.#expires && ttl !== KEEPS) this.#renew(at, next, ttl);",
    ],
  ],
  c: [
    "weft__hash_renew(plan, entry, next, ttl);",
    "",
    [
      "weft__store(entry + WEFT__HASH_CURRENT, next); " +
      "/* (C) the new value counts */",
      "weft__store(entry + WEFT__HASH_CURRENT, next);\n" +
      "if (plan->expires && ttl != WEFT__HASH_KEEPS)\n" +
      "weft__hash_renew(plan, entry, next, ttl);",
    ],
  ],
}, {
  what: "writes to an entry that has expired",
  by: "a number expires while two agents take it",
  ts: [
    "if (at === NONE || !this.hasExpired(at)) return at;",
    "if (at >= NONE) return at;",
  ],
  c: [
    "if (!weft__hash_has_expired(m, &place->plan, entry)) return number;",
    "(void)entry; if (number > 0) return number;",
  ],
}, {
  what: "finds a key that it remembers, and that has expired",
  by: REMEMBERS_ONE,
  ts: [
    "|| this.isOver(this.expires, now)\n) return false;",
    ") return false;",
  ],
  c: "only views of JavaScript remember",
});

/** Mutants of the entries of a cache. */
const ROOM = mutants(twin("table"), {
  what: "hands an entry over as a free one",
  by: "two evict from the buckets of each other, between idle agents",
  ts: [
    "if (claims) Atomics.store(words, at + LINK, CLAIMED_BIT | this.#id);",
    "if (claims) Atomics.store(words, at + LINK, FREE);",
  ],
  c: [
    "weft__store(entry, WEFT__HASH_CLAIMED_BIT | weft_agent_id());",
    "weft__store(entry, 0);",
  ],
}, {
  what: "(R): frees an entry, and does not say that there is room",
  by: FREED,
  ts: [
    "if (evicts) Atomics.add(this.#words, FREED, 1); // (R) there is room",
    "void evicts;",
  ],
  c: [
    "if (plan->evicts) weft__add(&m->freed, 1); /* (R) there is room */",
    "",
  ],
}, {
  what: "(R): frees the entries of a dead agent, and does not say so",
  by: "a cache has room again when the entry of a dead agent is freed",
  ts: ["if (this.#plan.evicts) Atomics.add(words, FREED, 1); // as (R)", ""],
  c: ["if (plan->evicts) weft__add(&m->freed, 1); /* as (R) */", ""],
}, {
  what: "(R): says that there is room before an entry is free",
  by: FREED,
  ts: [
    "if (evicts) Atomics.add(this.#words, FREED, 1); // (R) there is room",
    "",
    [
      "Atomics.store(this.#words, at + LINK, FREE);",
      "if (evicts) Atomics.add(this.#words, FREED, 1);\n" +
      "Atomics.store(this.#words, at + LINK, FREE);",
    ],
  ],
  c: [
    "weft__store(weft__hash_entry(m, plan, number), 0);",
    "if (plan->evicts) weft__add(&m->freed, 1); " +
    "weft__store(weft__hash_entry(m, plan, number), 0);",
    [
      "if (plan->evicts) weft__add(&m->freed, 1); /* (R) there is room */",
      "",
    ],
  ],
});

const AGAIN = "a reader beside an overwrite whose blocks are used again";
const ANOTHER_KEY = "a reader beside a long value whose blocks get another key";
const SET_BESIDE = "a reader beside a set, and one that takes the blocks";
const DELETE_BESIDE = "a reader beside a delete, and one that takes the blocks";
const SET_ENDS = "set of a long value ends at any step, beside a reader";
const OVERWRITE_ENDS =
  "overwrite of a long value ends at any step, beside a reader";

/** Mutants of the places of long values. */
const LONG_VALUES = mutants(twin("table"), {
  what: "(C): frees the blocks of the old value before the new one counts",
  by: SET_BESIDE,
  ts: [
    "Atomics.store(words, at + CURRENT, next); // (C) the new value counts",
    "",
    [
      "if (old !== NONE) this.#heap!.free(old, this.ownerOf(this.hashAt(at)));",
      "if (old !== NONE) this.#heap!.free(old, this.ownerOf(this.hashAt(at)));" +
      " Atomics.store(words, at + CURRENT, next);",
    ],
  ],
  c: [
    "weft__store(entry + WEFT__HASH_CURRENT, next); " +
    "/* (C) the new value counts */",
    "",
    [
      "weft__hash_free_blocks(m, plan, old, weft__hash_owner(plan, hash)); }",
      "weft__hash_free_blocks(m, plan, old, weft__hash_owner(plan, hash)); }" +
      " weft__store(entry + WEFT__HASH_CURRENT, next);",
    ],
  ],
}, {
  what: "overwrites, and keeps the blocks of the old value",
  by: AGAIN,
  ts: [
    "if (old !== NONE) this.#heap!.free(old, this.ownerOf(this.hashAt(at)));",
    "void old;",
  ],
  c: [
    "weft__hash_free_blocks(m, plan, old, weft__hash_owner(plan, hash)); }",
    "(void)hash; }",
  ],
}, {
  what: "(V): frees blocks before readers are told that the entry is out",
  by: DELETE_BESIDE,
  ts: [
    "Atomics.add(words, bucket + VERSION, 1); // (V) the entry may be used",
    "",
    [
      "if (old !== NONE) this.#heap!.free(old, owner);",
      "if (old !== NONE) this.#heap!.free(old, owner);" +
      " Atomics.add(words, bucket + VERSION, 1);",
    ],
  ],
  c: [
    "weft__add(&bucket->version, 1); /* (V) the entry may be used */",
    "",
    [
      "weft__hash_free_blocks(m, plan, old, weft__hash_number(m, bucket));",
      "weft__hash_free_blocks(m, plan, old, weft__hash_number(m, bucket));" +
      " weft__add(&bucket->version, 1);",
    ],
  ],
}, {
  what: "takes an entry out, and keeps its blocks",
  by: ANOTHER_KEY,
  ts: [
    "if (old !== NONE) this.#heap!.free(old, owner);",
    "void old;",
  ],
  c: [
    "weft__hash_free_blocks(m, plan, old, weft__hash_number(m, bucket));",
    "(void)0;",
  ],
}, {
  what: "(C): finds a block that cannot be, and does not look at `current`",
  by: "a reader beside a long value whose place becomes a short value",
  ts: [
    "if (!this.isCurrent(at, this.current)) continue;\n" +
    "if (!isCopied) at = ASTRAY;",
    "if (!isCopied) at = ASTRAY;\n" +
    "else if (!this.isCurrent(at, this.current)) continue;",
  ],
  c: [
    "if (weft__hash_current(&place->plan, entry) != current) continue; " +
    "if (!is_copied) number = WEFT__HASH_ASTRAY;",
    "if (!is_copied) number = WEFT__HASH_ASTRAY; " +
    "else if (weft__hash_current(&place->plan, entry) != current) continue;",
  ],
}, {
  what: "mends, and leaves the blocks that the agent took",
  by: SET_ENDS,
  ts: [
    "(this.#heap ?? this.#keys)?.mend(",
    "if (words.length === 0) (this.#heap ?? this.#keys)?.mend(",
  ],
  c: [
    "if (plan->blocks != 0) weft__hash_mend_blocks(m, plan, bucket);",
    "",
  ],
}, {
  what: "mends, and frees the blocks of a value that counts",
  by: OVERWRITE_ENDS,
  ts: [
    "if (this.#heap?.has(this.#valueAt(at), block)) return true;",
    "",
  ],
  c: [
    "if (plan->long_values && " +
    "weft__heap_has(&heap, weft__hash_value_at(plan, entry), block)) " +
    "return true;",
    "(void)heap;",
  ],
});

/** Mutants of the operations with long values. */
const PUTS = mutants(CORE, {
  what: "finds no entry for a long value, and keeps its blocks",
  by: "a long value, and no entry for it",
  ts: ["if (isLong) this.#heap!.drop(owner);", ""],
  c: ["if (value->block != WEFT__HEAP_NONE)", "if (false)"],
}, {
  what: "lets an entry give way to its own value",
  header: "_hash_table",
  by: "a long value gives way to itself, and another takes the entry",
  ts: ["clock.makeRoom(bucket, kept);", "clock.makeRoom(bucket, NONE);"],
  c: ["if (next != kept && (first", "(void)kept; if ((first"],
}, {
  what: "finds no room for a value of a cache, and keeps the old one",
  by: "a long value of a cache gives way to itself",
  ts: [
    "if (before !== NONE) table.remove(bucket, at, before);",
    "void before;",
  ],
  c: [
    "if (before != NULL) weft__hash_take_out(m, plan, place->bucket, number, " +
    "before, false); return true;",
    "(void)before; return true;",
  ],
});

/** Mutants of the heap. */
const HEAP = mutants(twin("heap"), {
  what: "takes a block that another agent has just taken",
  by: "two take blocks at once",
  ts: [
    "if (Atomics.compareExchange(words, block + OWNER, FREE, owner) !== FREE)",
    "if (Atomics.exchange(words, block + OWNER, owner) < FREE)",
  ],
  c: [
    "if (weft__compare_exchange(block + WEFT__HEAP_OWNER, 0, v->owner) != 0)",
    "if (weft__exchange(block + WEFT__HEAP_OWNER, v->owner) < 0)",
  ],
}, {
  what: "finds too few blocks, and keeps those that it has taken",
  by: "two long values, room for one",
  ts: ["this.drop(owner); return false;", "return false;"],
  c: "C does so in another file: see below",
}, {
  what: "mends, and leaves the bit of a block that is free",
  by: "delete of a long value ends at any step, beside a reader",
  ts: [") this.#clear(number); } }", ") void bit; } }"],
  c: "C does so in another file: see below",
});

/** Mutants of the places of long keys. */
const LONG_KEYS = mutants(twin("table"), {
  what: "takes an entry out, and keeps the blocks of its key",
  by: "a reader beside a long key whose blocks get another key",
  ts: ["if (oldKey !== NONE) this.#keys!.free(oldKey, owner);", ""],
  c: [
    "if (old_key != WEFT__HEAP_NONE) " +
    "weft__hash_free_blocks(m, plan, old_key, weft__hash_number(m, bucket));",
    "(void)old_key;",
  ],
}, {
  what: "frees the blocks of a key before its entry is out",
  by: "delete of a long key ends at any step, beside a reader",
  ts: [
    "if (oldKey !== NONE) this.#keys!.free(oldKey, owner);",
    "",
    [
      "Atomics.add(words, bucket + VERSION, 1); // (F) views forget the entry",
      "if (oldKey !== NONE) this.#keys!.free(oldKey, " +
      "this.ownerOf(this.#numberOf(bucket))); " +
      "Atomics.add(words, bucket + VERSION, 1);",
    ],
  ],
  c: [
    "if (old_key != WEFT__HEAP_NONE) " +
    "weft__hash_free_blocks(m, plan, old_key, weft__hash_number(m, bucket));",
    "",
    [
      "weft__add(&bucket->version, 1); " +
      "/* (F) views of JavaScript forget the entry */",
      "weft__hash_free_blocks(m, plan, old_key, weft__hash_number(m, bucket));" +
      "weft__add(&bucket->version, 1);",
    ],
  ],
}, {
  what: "mends, and frees the blocks of a key that is there",
  by: "overwrite of a long key ends at any step, beside a reader",
  ts: ["if (this.#keys?.has(at + this.#key, block)) return true;", ""],
  c: [
    "if (plan->long_keys && " +
    "weft__heap_has(&keys, entry + plan->key, block)) return true;",
    "(void)keys;",
  ],
}, {
  what: "mends no blocks of keys",
  by: "set of a long key ends at any step, beside a reader",
  ts: ["(this.#heap ?? this.#keys)?.mend(", "this.#heap?.mend("],
  c: [
    "if (plan->blocks != 0) weft__hash_mend_blocks(m, plan, bucket);",
    "if (plan->long_values) weft__hash_mend_blocks(m, plan, bucket);",
  ],
});

/** Mutants of the operations with long keys. */
const KEY_PUTS = mutants(CORE, {
  what: "finds no room for a long value, and keeps the blocks of its key",
  by: "a long key, and no room for its value",
  ts: ["keys?.drop(owner); return clock", "return clock"],
  c: [
    "weft__hash_free_blocks(m, plan, key.block, owner); " +
    "return plan->evicts; }",
    "return plan->evicts; }",
  ],
}, {
  what: "finds no entry for a long key, and keeps its blocks",
  by: "a long key, and no entry for it",
  ts: ["keys?.drop(owner); // no entry for it", ""],
  c: ["if (key.block != WEFT__HEAP_NONE) /* no entry for it */", "if (false)"],
});

/** Mutants of the blocks of keys. */
const KEY_BLOCKS = mutants(twin("heap"), {
  what: "believes a long key whose hash and length are right",
  by: "two long keys with the same hash",
  ts: ["if (word !== value[i + j]) return false;", "void word;"],
  c: [
    "if (weft__load(block + WEFT__HEAP_BODY + i) != " +
    "weft__hash_part(bytes + at, length - at)) return false;",
    "(void)bytes;",
  ],
});

/** What C does in another file than TypeScript. */
const HEAP_IN_C = mutants("hash_map", {
  what: "finds too few blocks, and keeps those that it has taken",
  by: "two long values, room for one",
  ts: "TypeScript does so in _map/heap.ts: see above",
  c: ["weft__hash_free_blocks(m, plan, made.first, made.owner);", ""],
}, {
  what: "mends, and leaves the bit of a block that is free",
  header: "_hash_table",
  by: "delete of a long value ends at any step, beside a reader",
  ts: "TypeScript does so in _map/heap.ts: see above",
  c: ["weft__heap_clear(&heap, number);", "(void)0;"],
});

/** Mutants of `HashMap`. */
export const MUTANTS = [
  ...OPERATIONS,
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

import { mutants, none } from "../_run/mutant.ts";
import { READING, RECOVERED, REMEMBERS_ONE, twin } from "./mutants_places.ts";

const BESIDE_OVERWRITE = "a reader beside an overwrite";
const USED_AGAIN = "a reader beside an entry that is used again";
const REMEMBERED = "a view remembers a number that is deleted";
const ONE_BUCKET = "two write to one bucket";
const ANEW = "a value expires and is written anew beside a reader";
const RENEWED = "a value is written anew before it expires, beside a reader";
const FULL = "a full map, and one deletes a key while another adds one";
const MOVED = "one evicts an entry that another deletes and adds again";
const CHANCE = "an entry that is used has a second chance";

/** Mutants of the lock of a bucket. */
export const LOCK = mutants(twin("lock"), {
  what: "takes the lock of a bucket by a store",
  by: "two add to one long number",
  ts: "const state = {+UNLOCKED; " +
    "+}Atomics.[-compareExchange-]{+store+}(words, bucket, [-UNLOCKED, -]id);",
  c: "int32_t state = [-weft__compare_exchange(word, " +
    "WEFT_MUTEX_UNLOCKED-]{+0; weft__store(word+}, id);",
}, {
  what: "unlocks a bucket by a store",
  by: "two add to one long number",
  ts: "const state = {+id; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "bucket, [-id, -]UNLOCKED);",
  c: "int32_t state = [-weft__compare_exchange(word, id-]{+id; " +
    "weft__store(word+}, WEFT_MUTEX_UNLOCKED);",
});

/** Mutants of the buckets and entries. */
export const TABLE = [
  ...mutants(twin("table"), {
    what: "(C): counts the copies by 0 and 1",
    by: BESIDE_OVERWRITE,
    ts: "const next = current + 1 [-| 0-]{+& 1+};",
    c: "int32_t next = weft__plus(current, 1){+ & 1+};",
  }, {
    what: "(F): takes an entry out before views forget it",
    by: REMEMBERED,
    ts: "[-Atomics.add(words, bucket + VERSION, 1); // (F) views forget the " +
      "entry-]",
    c: none("only views of JavaScript remember"),
  }, {
    what: "(V): takes an entry out, and does not tell readers",
    by: USED_AGAIN,
    ts: "[-Atomics.add(words, bucket + VERSION, 1); // (V) the entry may be " +
      "used-]",
    c: "[-weft__add(&bucket->version, 1); /* (V) the entry may be used */-]",
  }, {
    what: "(V): tells readers before it takes an entry out",
    by: USED_AGAIN,
    ts: "{+Atomics.add(words, bucket + VERSION, 1); +}Atomics.store(words, " +
      "before, isFirst ? next : LINKED_BIT | next);[- Atomics.add(words, " +
      "bucket + VERSION, 1); // (V) the entry may be used-]",
    c: "{+weft__add(&bucket->version, 1); +}weft__store(before, is_first ? " +
      "next : WEFT__HASH_LINKED_BIT | next);[- weft__add(&bucket->version, " +
      "1);-]",
  }, {
    what: "(V): frees an entry before it tells readers",
    by: USED_AGAIN,
    ts: [
      "[-Atomics.add(words, bucket + VERSION, 1); // (V) the entry may be " +
      "used-]",
      "else this.#free(at);{+ Atomics.add(words, bucket + VERSION, 1);+}",
    ],
    c: [
      "[-weft__add(&bucket->version, 1); /* (V) the entry may be used */-]",
      "else weft__hash_free(m, plan, number);{+ weft__add(&bucket->version, " +
      "1);+}",
    ],
  }, {
    what: "(C): the new value counts before it is there",
    by: BESIDE_OVERWRITE,
    ts: "{+Atomics.store(words, at + CURRENT, next); +}this.#fill(copy, " +
      "value, count);",
    c: "{+weft__store(entry + WEFT__HASH_CURRENT, next); " +
      "+}weft__hash_fill(at + (next & 1) * plan->value_words, value);",
  }, {
    what: "overwrites the copy that readers read",
    by: BESIDE_OVERWRITE,
    ts: "at + this.#value + ([-next & 1-]{+1 - (next & 1)+}) * " +
      "this.#plan.valueWords;",
    c: "weft__hash_fill(at + ([-next & 1-]{+1 - (next & 1)+}) * " +
      "plan->value_words, value);",
  }, {
    what: "(P): shows an entry before it is filled",
    header: "_hash_write",
    by: "two write to two buckets",
    ts: "{+Atomics.store(words, at + LINK, LINKED_BIT | Atomics.load(words, " +
      "bucket + HEAD)); Atomics.store(words, bucket + HEAD, number); " +
      "+}Atomics.store(words, at + HASH, hash);",
    c: "{+weft__store(entry, WEFT__HASH_LINKED_BIT | " +
      "weft__load(&place->bucket->head)); weft__store(&place->bucket->head, " +
      "number); +}weft__store(entry + WEFT__HASH_HASH, place->hash);",
  }, {
    what: "(P): shows an entry before it leads to the others",
    header: "_hash_write",
    by: "a reader beside an entry that is added",
    ts: "{+Atomics.store(words, bucket + HEAD, number); " +
      "+}Atomics.store(words, at + LINK, LINKED_BIT | next);[- " +
      "Atomics.store(words, bucket + HEAD, number); // (P)-]",
    c: "{+weft__store(&place->bucket->head, number); +}weft__store(entry + " +
      "WEFT__HASH_LINK, WEFT__HASH_LINKED_BIT | next);[- " +
      "weft__store(&place->bucket->head, number); /* (P) */-]",
  }, {
    what: "claims an entry by a store",
    by: "two write to two free entries",
    ts: "if ({+(+}Atomics.[-compareExchange-]{+store+}(words, link, [-FREE, " +
      "claimed) !== FREE-]{+claimed), false)+}) {",
    c: "if ([-weft__compare_exchange(link, 0-]{+(weft__store(link+}, " +
      "WEFT__HASH_CLAIMED_BIT | id)[- != 0)-]{+, 0))+}",
  }, {
    what: "claims an entry that another agent has",
    by: "two write to two free entries",
    ts: "if (Atomics.compareExchange(words, link, FREE, claimed) [-!== " +
      "FREE-]{+=== claimed+}) {",
    c: "if (weft__compare_exchange(link, 0, WEFT__HASH_CLAIMED_BIT | id) " +
      "[-!= 0-]{+== 1+})",
  }, {
    what: "sets a bit by a load and a store",
    by: "two write to two buckets",
    ts: "[-Atomics.or(words,-]{+const map =+} this.#plan.bits + (number - 1 " +
      ">> 5)[-,-]{+; Atomics.store(words, map, Atomics.load(words, map) |+} " +
      "bit);",
    c: "[-weft__or(-]{+int32_t *bits = +}weft__hash_map(m, (number - 1) >> " +
      "5)[-,-]{+; weft__store(bits, weft__load(bits) |+} (int32_t)bit);",
  }, {
    what: "frees an entry, and does not clear its bit",
    by: ONE_BUCKET,
    ts: "[-Atomics.and(this.#words, bits + (number >> 5), ~(1 << (number & " +
      "31)));-]{+void bits, number;+}",
    c: "[-weft__and(weft__hash_map(m, (number - 1) >> 5), " +
      "(int32_t)~bit);-]{+(void)bit;+}",
  }, {
    what: "clears a bit by a load and a store",
    by: "two delete from two buckets",
    ts: "[-Atomics.and(this.#words,-]{+const map =+} bits + (number >> " +
      "5)[-,-]{+; const old = Atomics.load(this.#words, map); " +
      "Atomics.store(this.#words, map, old &+} ~(1 << (number & 31)));",
    c: "[-weft__and(-]{+int32_t *map = +}weft__hash_map(m, (number - 1) >> " +
      "5)[-,-]{+; weft__store(map, weft__load(map) &+} (int32_t)~bit);",
  }, {
    what: "takes the rest of the chain out as well",
    by: "the first of two in a bucket is deleted",
    ts: "Atomics.store(words, before, isFirst ? [-next-]{+0+} : LINKED_BIT | " +
      "next);",
    c: "weft__store(before, is_first ? [-next-]{+0+} : WEFT__HASH_LINKED_BIT " +
      "| next);",
  }, {
    what: "adds by a load and a store",
    by: "two add to one number",
    ts: "[-return-]{+const old =+} Atomics.[-add-]{+load(this.#words, at + " +
      "this.#value); Atomics.store+}(this.#words, at + this.#value, " +
      "[-n);-]{+old + n); return old;+}",
    equivalent: "the lock of the bucket keeps other writers out",
  }, {
    what: "recovers, and frees no entry that was taken out",
    by: RECOVERED,
    ts: "[-if (this.leadsTo(bucket, number) === NONE) this.#free(at);-]",
    c: "[-if (weft__hash_leads_to(m, plan, bucket, number) == NULL) " +
      "weft__hash_free(m, plan, number);-]",
  }, {
    what: "recovers, and frees entries of the other bucket",
    by: "a bucket is recovered beside one with an entry",
    ts: "[-if (this.bucketOf(hash) !== bucket) continue;-]{+void hash;+}",
    c: "[-if (weft__hash_bucket_of(m, plan, hash) != bucket) " +
      "continue;-]{+(void)hash;+}",
  }, {
    what: "recovers, and frees entries that are in the chain",
    by: RECOVERED,
    ts: "[-if (this.leadsTo(bucket, number) === NONE) -]this.#free(at);",
    c: "[-if (weft__hash_leads_to(m, plan, bucket, number) == NULL) " +
      "-]weft__hash_free(m, plan, number);",
  }, {
    what: "recovers, and does not tell readers",
    by: "a bucket is recovered beside a reader",
    ts: "[-Atomics.add(words, bucket + VERSION, 1); // as (V)-]",
    c: "[-weft__add(&bucket->version, 1); /* as (V) */-]",
  }, {
    what: "releases by a store",
    by: "two recover a bucket whose writer died",
    ts: "[-link = -]Atomics.[-compareExchange-]{+store+}(words, at + LINK, " +
      "[-claimed, -]FREE);",
    c: "[-link = weft__compare_exchange(at, claimed, 0);-]{+weft__store(at, " +
      "0);+}",
  }, {
    what: "releases, and leaves a bit that was not cleared yet",
    by: "delete of a word ends at any step",
    ts: "link === claimed[- || link === FREE && (Atomics.load(words, map) & " +
      "bit) !== 0-]",
    c: "if (link == claimed[- || (link == 0 && ((uint32_t)weft__load(bits) & " +
      "bit) != 0))-]{+)+}",
  }, {
    what:
      "leaves the bit of an entry that another agent frees for the dead one",
    by: "one that recovers a bucket ends at any step",
    ts: "[-{ link = -]{+if (+}Atomics.compareExchange(words, at + LINK, " +
      "claimed, FREE)[-; }-]{+ !== claimed) continue;+}",
    c: "if (link == claimed[-) link =-]{+ &&+} weft__compare_exchange(at, " +
      "claimed, 0){+ != claimed) continue+};",
  }),
  ...mutants(READING, {
    what: "(C): reads a value, and does not look whether it changed",
    by: BESIDE_OVERWRITE,
    ts: "[-if (!this.isCurrent(at, this.current)) continue;-]",
    c: "[-if (weft__hash_current(&place->plan, entry) != " +
      "-]{+(void)+}current[-) continue-];",
  }, {
    what: "(L): remembers a place while an agent writes to the bucket",
    by: REMEMBERED,
    ts: "this.isSettled = [-Atomics.load(words, bucket) === 0-]{+true+};",
    c: none("only views of JavaScript remember"),
  }, {
    what:
      "(F): reads where it remembers a key, and does not look at the version",
    by: "a view remembers an entry that is used again",
    ts: "[-return Atomics.load(this.#words, bucket + VERSION) === " +
      "version;-]{+void bucket, version; return true;+}",
    c: none("only views of JavaScript remember"),
  }, {
    what: "reads, and does not look whether it changed",
    by: USED_AGAIN,
    ts: "[-if (Atomics.load(words, bucket + VERSION) !==-]{+void+} " +
      "version[-) continue-];",
    c: "[-if (weft__load(&place->bucket->-]{+(void)+}version[-) != version) " +
      "continue-];",
  }),
];

/** Mutants of the clock of a cache. */
export const CLOCK = mutants(twin("clock"), {
  what: "takes an entry out without the lock of its bucket",
  by: MOVED,
  ts: [
    "[-if (bucket !== own && !-]{+void +}tryLockBucket[-(words, bucket, " +
    "this.#id)) return false-];",
    "[-if (bucket !== own) unlockBucket(words, bucket, this.#id);-]",
  ],
  c: [
    "[-if (bucket != own && !weft__hash_try_lock(bucket)) return " +
    "false;-]{+(void)own;+}",
    "[-if (bucket != own) weft__hash_unlock(bucket);-]",
  ],
}, {
  what: "(T): waits for the bucket of an entry",
  by: "two evict from the buckets of each other, between idle agents",
  ts: [
    "if (bucket !== own[- && !tryLockBucket-]{+) lockBucket+}(words, bucket, " +
    "this.#id)[-) return false-];",
    "import { [-tryLockBucket-]{+lockBucket+}, unlockBucket }",
  ],
  c: "if (bucket != own && " +
    "[-!weft__hash_try_lock(bucket)-]{+weft__hash_lock(bucket) != 0+}) " +
    "return false;",
}, {
  what: "takes an entry out, and does not look whether it is still there",
  by: MOVED,
  ts: "const before = [-table.leadsTo(bucket, number)-]{+bucket + 3+};",
  c: "int32_t *before = [-weft__hash_leads_to(m, plan, bucket, " +
    "number)-]{+&bucket->head+};",
}, {
  what: "evicts, and leaves the other bucket locked",
  by: "one evicts an entry of the other bucket beside a reader",
  ts: "[-if (bucket !== own) unlockBucket(words, bucket, this.#id);-]",
  c: "[-if (bucket != own) weft__hash_unlock(bucket);-]",
}, {
  what: "does not note that an entry was used",
  by: CHANCE,
  ts: "[-Atomics.store(this.#words, used, 1);-]",
  c: "[-if (weft__load(used) == 0) weft__store(used, 1);-]{+(void)used;+}",
}, {
  what: "evicts an entry that was used",
  by: CHANCE,
  ts: "[-if (left > looks && !isOver && this.#spare(at)) continue;-]",
  c: "[-if (left > looks && !is_over && -]{+(void)+}weft__hash_spare[-(plan, " +
    "entry)) continue-];",
});

/** Mutants of the clock by which entries expire. */
export const TIME = mutants(twin("time"), {
  what: "believes a value at the time when it expires",
  by: ANEW,
  ts: "return left <[-=-] 0 ||",
  c: "return left <[-=-] 0 ||",
});

/** Mutants of the entries that expire. */
export const EXPIRY = [
  ...mutants(twin("table"), {
    what: "adds an entry, and does not say until when it counts",
    header: "_hash_write",
    by: ANEW,
    ts: "[-if (this.#expires) this.#renew(at, 0, ttl);-]",
    c: "[-if (plan->expires) weft__hash_renew(plan, entry, 0, ttl);-]",
  }, {
    what: "overwrites a value, and does not say until when it counts",
    by: RENEWED,
    ts: "[-else if (this.#expires) this.#renew(at, next, ttl);-]",
    c: "[-weft__hash_renew(plan, entry, next, ttl);-]",
  }, {
    what: "(C): says until when a value counts after it counts",
    by: RENEWED,
    ts: [
      "[-else if (this.#expires) this.#renew(at, next, ttl);-]",
      "Atomics.store(words, at + CURRENT, next); [-// (C) the new value " +
      "counts-]{+if (this.#expires && ttl !== KEEPS) this.#renew(at, next, " +
      "ttl);+}",
    ],
    c: [
      "[-weft__hash_renew(plan, entry, next, ttl);-]",
      "weft__store(entry + WEFT__HASH_CURRENT, next); [-/* (C) the new value " +
      "counts */-]{+if (plan->expires && ttl != WEFT__HASH_KEEPS) " +
      "weft__hash_renew(plan, entry, next, ttl);+}",
    ],
  }, {
    what: "writes to an entry that has expired",
    by: "a number expires while two agents take it",
    ts: "if (at [-=== NONE || !this.hasExpired(at)-]{+>= NONE+}) return at;",
    c: "[-if (!weft__hash_has_expired(m, &place->plan, " +
      "entry)-]{+(void)entry; if (number > 0+}) return number;",
  }),
  ...mutants(READING, {
    what: "looks at the clock after it has read the entry",
    by: RENEWED,
    ts: "return at > 0 && this.isOver(this.expires, [-now-]{+this.now()+}) ? " +
      "NONE : at;",
    c: "{+(void)now; now = weft__hash_now(plan); +}bool is_over = number > 0 " +
      "&& weft__hash_is_over(m, plan, expires, now);",
  }, {
    what: "finds a key that it remembers, and that has expired",
    by: REMEMBERS_ONE,
    ts: "[-|| this.isOver(this.expires, now) -]) return false;",
    c: none("only views of JavaScript remember"),
  }),
];

/** Mutants of the entries of a cache. */
export const ROOM = mutants(twin("table"), {
  what: "hands an entry over as a free one",
  by: "two evict from the buckets of each other, between idle agents",
  ts: "if (claims) Atomics.store(words, at + LINK, [-CLAIMED_BIT | " +
    "this.#id-]{+FREE+});",
  c: "weft__store(entry, [-WEFT__HASH_CLAIMED_BIT | weft_agent_id()-]{+0+});",
}, {
  what: "(R): frees an entry, and does not say that there is room",
  by: FULL,
  ts: "[-this.#tellRoom(number >> 5);-]",
  c: "[-weft__hash_tell_room(m, (number - 1) >> 5);-]",
}, {
  what: "(R): frees the entries of a dead agent, and does not say so",
  by: "a map has room again when the entry of a dead agent is freed",
  ts: "[-this.#tellRoom(room); // or the agent ended before it said so-]",
  c: "[-weft__hash_tell_room(m, room); /* or the agent ended before it said " +
    "so */-]{+(void)room;+}",
}, {
  what: "(R): says that there is room before an entry is free",
  by: FULL,
  ts: [
    "{+this.#tellRoom(number >> 5); +}Atomics.store(this.#words, at + LINK, " +
    "FREE);",
    "~(1 << (number & 31)));[- this.#tellRoom(number >> 5);-]",
  ],
  c: [
    "{+weft__hash_tell_room(m, (number - 1) >> 5); " +
    "+}weft__store(weft__hash_entry(m, plan, number), 0);",
    "(int32_t)~bit);[- weft__hash_tell_room(m, (number - 1) >> 5);-]",
  ],
}, {
  what: "(R): says that there is room before the bit says so",
  by: FULL,
  ts: [
    "Atomics.store(this.#words, at + LINK, FREE);{+ this.#tellRoom(number >> " +
    "5);+}",
    "~(1 << (number & 31)));[- this.#tellRoom(number >> 5);-]",
  ],
  c: [
    "weft__store(weft__hash_entry(m, plan, number), 0);{+ " +
    "weft__hash_tell_room(m, (number - 1) >> 5);+}",
    "(int32_t)~bit);[- weft__hash_tell_room(m, (number - 1) >> 5);-]",
  ],
}, {
  what: "(R): says that it looks when it has looked",
  by: FULL,
  ts: [
    "[-const full = Atomics.or(words, FULL, LOOKED_BIT) | LOOKED_BIT; // (R)-]",
    "{+const full = Atomics.or(words, FULL, LOOKED_BIT) | LOOKED_BIT; " +
    "+}Atomics.compareExchange(words, FULL, full, full | FULL_BIT);",
  ],
  c: "number = weft__hash_allocate_in(m, plan, map * 32, maps);{+ full = " +
    "weft__or(&m->full, WEFT__HASH_LOOKED_BIT) | WEFT__HASH_LOOKED_BIT;+}",
}, {
  what: "says by a store that the map is full",
  by: FULL,
  ts: "Atomics.[-compareExchange-]{+store+}(words, FULL[-, full-], full | " +
    "FULL_BIT);",
  c: "[-(void)weft__compare_exchange(&m->full, -]{+weft__store(&m->+}full, " +
    "full | WEFT__HASH_FULL_BIT);",
}, {
  what: "says once that there is room, even if that fails",
  by: FULL,
  ts: "[-if (found === full) -]return;",
  c: "[-if (found == full)-]{+(void)found;+} return;",
}, {
  what: "says that there is room, and `full` is what it was before",
  by: "a full map, and one deletes two keys while two others add some",
  ts: "const next = [-(-]full & ~(FULL_BIT | LOOKED_BIT)[-) + ONE_CHANGE | " +
    "0-];",
  c: "int32_t next = [-weft__plus(-]full & ~looks[-, WEFT__HASH_ONE_CHANGE)-];",
});

import { mutants } from "../_run/mutant.ts";

/** Mutants of `SlabPool`. */
export const slab_pool = mutants(
  "slab_pool.ts",
  [
    "takes a block by a store",
    "Atomics.compareExchange(words, at, NOBODY, owner) === NOBODY;",
    "Atomics.store(words, at, owner) === owner;",
  ],
  [
    "takes a block that another took",
    "Atomics.compareExchange(words, at, NOBODY, owner) === NOBODY;",
    "Atomics.compareExchange(words, at, NOBODY, owner) >= NOBODY;",
  ],
  [
    "takes a block that the bitmap calls free",
    "if (!this.#claim(block, this.#id)) continue;",
    "if (!this.#claim(block, this.#id)) {\n" +
    "Atomics.store(words, this.#owners + block, this.#id); }",
  ],
  [
    "sets a bit by a load and a store",
    "else Atomics.or(words, BITMAP + map, bit);",
    "else { Atomics.store(words, BITMAP + map,\n" +
    "Atomics.load(words, BITMAP + map) | bit); }",
  ],
  [
    "clears a bit by a load and a store",
    "Atomics.and(this.#words, BITMAP + (block >> 5), ~(1 << (block & 31)));",
    "const map = BITMAP + (block >> 5);\n" +
    "const old = Atomics.load(this.#words, map);\n" +
    "Atomics.store(this.#words, map, old & ~(1 << (block & 31)));",
  ],
  [
    "frees, and does not say so",
    "if (keep) this.#cache[this.#cached++] = block; else this.#clear(block);",
    "if (keep) this.#cache[this.#cached++] = block;",
  ],
  [
    "frees to a cache that is full",
    "const keep = this.#cached < this.#cacheLimit;",
    "const keep = this.#cached <= this.#cacheLimit;",
  ],
  [
    "frees to a cache, as anybody's",
    "const next = keep ? this.#id | CACHED_BIT : NOBODY;",
    "const next = NOBODY;",
  ],
  [
    "caches what another took",
    "if (!this.#claim(block, kept)) continue;",
    "this.#claim(block, kept);",
  ],
  [
    "gives a cached block back, and does not say so",
    "if (Atomics.compareExchange(words, at, kept, NOBODY) === kept) { " +
    "this.#clear(block); }",
    "Atomics.compareExchange(words, at, kept, NOBODY);",
  ],
  [
    "abandons what others have",
    "(owner === (id | CACHED_BIT) || everything && owner === id) &&",
    "everything &&",
  ],
  [
    "frees by a store",
    "Atomics.compareExchange(words, at, owner, next) !== owner",
    "(Atomics.store(words, at, next), owner) !== owner",
  ],
  [
    "frees what lies in a cache",
    "owner !== NOBODY && (owner & CACHED_BIT) === 0;",
    "owner !== NOBODY;",
  ],
  [
    "frees only what it saw long ago",
    "if (!isAllocated(owner)) owner = Atomics.load(words, at);",
    "",
    { equivalent: "who frees a block was told of it, so the hint is new" },
  ],
  [
    "abandons by a store",
    "Atomics.compareExchange(words, at, owner, NOBODY) === owner",
    "Atomics.store(words, at, NOBODY) === NOBODY",
  ],
  [
    "abandons what another frees, and counts it",
    "Atomics.compareExchange(words, at, owner, NOBODY) === owner",
    "Atomics.compareExchange(words, at, owner, NOBODY) >= NOBODY",
  ],
  [
    "abandons no caches",
    "(owner === (id | CACHED_BIT) || everything && owner === id) &&",
    "everything && owner === id &&",
  ],
  [
    "abandons only caches",
    "(owner === (id | CACHED_BIT) || everything && owner === id) &&",
    "owner === (id | CACHED_BIT) &&",
  ],
  [
    "abandons everything, unasked",
    "everything && owner === id)",
    "owner === id)",
  ],
  [
    "abandons, and does not say so",
    "this.#clear(block); count++;",
    "count++;",
  ],
  [
    "abandons, and leaves what was being freed",
    "if (Atomics.load(words, BITMAP + (block >> 5)) & bit) { " +
    "this.#clear(block); }",
    "void bit;",
  ],
  [
    "takes from its cache by a store",
    "if (Atomics.compareExchange(words, at, kept, this.#id) === kept) {",
    "if (Atomics.store(words, at, this.#id) === this.#id) {",
  ],
  [
    "takes from its cache what was taken away",
    "if (Atomics.compareExchange(words, at, kept, this.#id) === kept) {",
    "if (Atomics.compareExchange(words, at, kept, this.#id) >= NOBODY) {",
  ],
  [
    "gives a cached block back by a store",
    "if (Atomics.compareExchange(words, at, kept, NOBODY) === kept) { " +
    "this.#clear(block); }",
    "Atomics.store(words, at, NOBODY); this.#clear(block);",
  ],
  [
    "keeps to one word of the bitmap",
    "this.#map = map + 1 < this.#maps ? map + 1 : 0;",
    "this.#map = map;",
  ],
  [
    "never begins the bitmap anew",
    "this.#map = map + 1 < this.#maps ? map + 1 : 0;",
    "this.#map = map + 1 < this.#maps ? map + 1 : map;",
  ],
  [
    "hands out what lies behind the last block",
    "if (capacity % 32) {",
    "if (capacity < 0) {",
  ],
  [
    "does not say what it took",
    "else Atomics.or(words, BITMAP + map, bit);",
    "",
    { equivalent: "a bit saves a look: the owner tells" },
  ],
);

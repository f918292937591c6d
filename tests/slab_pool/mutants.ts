import { mutants, none } from "../_run/mutant.ts";

/** Mutants of `SlabPool`. */
export const MUTANTS = mutants("slab_pool", {
  what: "takes a block by a store",
  by: "two use one block",
  ts: "Atomics.[-compareExchange-]{+store+}(words, at[-, NOBODY, owner) === " +
    "NOBODY-]{+, owner) === owner+};",
  c: "return weft__hint(at) == 0 && [-weft__compare_exchange(at, 0, owner) " +
    "== 0-]{+(weft__store(at, owner), 1)+};",
}, {
  what: "takes a block that another took",
  by: "two use one block",
  ts: "Atomics.compareExchange(words, at, NOBODY, owner) [-==-]{+>+}= NOBODY;",
  c: "return weft__hint(at) == 0 && weft__compare_exchange(at, 0, owner) " +
    "[-=-]{+>+}= 0;",
}, {
  what: "takes any block that the bitmap shows as free",
  by: "two use one block",
  ts: "if (!this.#claim(block, this.#id)) [-continue;-]{+{ " +
    "Atomics.store(words, this.#owners + block, this.#id); }+}",
  c: "if (!weft__slab_claim(p, block, id)) " +
    "[-continue-]{+weft__store(weft__slab_owner(p, block), id)+};",
}, {
  what: "sets a bit by a load and a store",
  by: "an agent terminated at any step",
  ts: "else{+ {+} Atomics.[-or-]{+store+}(words, BITMAP + map, " +
    "[-bit);-]{+Atomics.load(words, BITMAP + map) | bit); }+}",
  c: "else [-weft__or-]{+weft__store+}(weft__slab_map(p, map), " +
    "{+weft__load(weft__slab_map(p, map)) | +}(int32_t)bit); return",
}, {
  what: "clears a bit by a load and a store",
  by: "two use two blocks through caches",
  ts: "[-Atomics.and(this.#words,-]{+const map =+} BITMAP + (block >> " +
    "5)[-,-]{+; const old = Atomics.load(this.#words, map); " +
    "Atomics.store(this.#words, map, old &+} ~(1 << (block & 31)));",
  c: "[-weft__and-]{+int32_t old = weft__load(weft__slab_map(p, block / " +
    "32)); weft__store+}(weft__slab_map(p, block / 32), {+old & +}~bit);",
}, {
  what: "frees, and does not clear the bit of the block",
  by: "two use one block",
  ts: "if (keep) this.#cache[this.#cached++] = block;[- else " +
    "this.#clear(block);-]",
  c: "[-else weft__slab_clear(p, (int32_t)number);-]",
}, {
  what: "puts a freed block into a full cache",
  by: "two use one block",
  ts: "const keep = this.#cached <{+=+} this.#cacheLimit;",
  c: "bool keep = cache != NULL && cache->count <{+=+} cache->limit;",
}, {
  what: "puts a freed block into the cache without its owner",
  by: "two use two blocks through caches",
  ts: "const next = [-keep ? this.#id | CACHED_BIT : -]NOBODY;",
  c: "int32_t next = [-keep ? weft_agent_id() | WEFT_SLAB_POOL_CACHED_BIT : " +
    "-]0;",
}, {
  what: "puts a block of another agent into its cache",
  by: "two use two blocks through caches",
  ts: "[-if (!-]this.#claim(block, kept)[-) continue-];",
  c: "[-if (!-]weft__slab_claim(p, block, kept)[-) continue-];",
}, {
  what: "gives back a cached block, and does not clear its bit",
  by: "two use two blocks through caches",
  ts: "[-if (-]Atomics.compareExchange(words, at, kept, NOBODY)[- === kept) " +
    "{ this.#clear(block); }-]{+;+}",
  c: "[-if (-]weft__compare_exchange(weft__slab_owner(p, block), kept, 0)[- " +
    "== kept) weft__slab_clear(p, block)-];",
}, {
  what: "abandons the blocks of other agents",
  by: "a block is abandoned while another frees it",
  ts: "[-(owner === (id | CACHED_BIT) || -]everything &&[- owner === id) &&-]",
  c: "[-(owner == kept || (-]everything &&[- owner == id)) &&-]",
}, {
  what: "frees by a store",
  by: "two free one block",
  ts: "{+(+}Atomics.[-compareExchange-]{+store+}(words, at, [-owner, " +
    "next-]{+next), owner+}) !== owner",
  c: "[-weft__compare_exchange(at, owner, next) != " +
    "owner)-]{+(weft__store(at, next), 0))+}",
}, {
  what: "frees a block that lies in a cache",
  by: "nobody frees what is in a cache",
  ts: "owner !== NOBODY[- && (owner & CACHED_BIT) === 0-];",
  c: "return owner != 0[- && (owner & WEFT_SLAB_POOL_CACHED_BIT) == 0-];",
}, {
  what: "frees only by an old value of the owner",
  ts: "[-if (!isAllocated(owner)) owner = Atomics.load(words, at);-]",
  equivalent: "an agent that frees a block has learned of it, so the hint " +
    "is new",
}, {
  what: "abandons by a store",
  by: "two abandon the same agent",
  ts: "Atomics.[-compareExchange-]{+store+}(words, at[-, owner, NOBODY) === " +
    "owner-]{+, NOBODY) === NOBODY+}",
  c: "[-weft__compare_exchange-]{+(weft__store+}(weft__slab_owner(p, block), " +
    "[-owner, 0) == owner-]{+0), 1)+})",
}, {
  what: "abandons a block that another agent frees, and counts it",
  by: "two abandon the same agent",
  ts: "Atomics.compareExchange(words, at, owner, NOBODY) [-=== owner-]{+>= " +
    "NOBODY+}",
  c: "weft__compare_exchange(weft__slab_owner(p, block), owner, 0) [-== " +
    "owner-]{+>= 0+})",
}, {
  what: "abandons no caches",
  by: "abandons caches, and what was being freed",
  ts: "[-(owner === (id | CACHED_BIT) || -]everything && owner === id[-)-] &&",
  c: "[-(owner == kept || (-]everything && owner == id[-))-] &&",
}, {
  what: "abandons only caches",
  by: "an agent terminated at any step",
  ts: "[-(-]owner === (id | CACHED_BIT) [-|| everything && owner === id) " +
    "&&-]{+&&+}",
  c: "[-(-]owner == kept [-|| (everything && owner == id)) &&-]{+&&+}",
}, {
  what: "abandons the blocks of everybody",
  by: "abandons caches, and what was being freed",
  ts: "[-everything && -]owner === id)",
  c: "[-(everything && -]owner == id)[-)-]",
}, {
  what: "abandons, and does not clear the bit of the block",
  by: "an agent terminated at any step",
  ts: "[-this.#clear(block); -]count++;",
  c: "[-weft__slab_clear(p, block); -]count++;",
}, {
  what: "abandons, and leaves a block that was being freed",
  by: "an agent terminated at any step",
  ts: "[-if (Atomics.load(words, BITMAP + (block >> 5)) & bit) { " +
    "this.#clear(block); }-]{+void bit;+}",
  c: "[-if (bits >> (block % 32) & 1) weft__slab_clear(p, " +
    "block);-]{+(void)bits;+}",
}, {
  what: "takes from its cache by a store",
  by: "an abandoned agent takes from its cache",
  ts: "if (Atomics.[-compareExchange-]{+store+}(words, at[-, kept, this.#id) " +
    "=== kept-]{+, this.#id) === this.#id+}) {",
  c: "[-if (weft__compare_exchange-]{+weft__store+}(weft__slab_owner(p, " +
    "block), [-kept, id) == kept)-]{+id);+}",
}, {
  what: "takes a block from its cache that was taken away",
  by: "an abandoned agent takes from its cache",
  ts: "if (Atomics.compareExchange(words, at, kept, this.#id) [-=== " +
    "kept-]{+>= NOBODY+}) {",
  c: "if (weft__compare_exchange(weft__slab_owner(p, block), kept, id) [-== " +
    "kept-]{+>= 0+})",
}, {
  what: "gives a cached block back by a store",
  by: "an abandoned agent gives back its cache",
  ts: "[-if (Atomics.compareExchange(words, at, kept, NOBODY) === kept) { " +
    "this.#clear(block); }-]{+Atomics.store(words, at, NOBODY); " +
    "this.#clear(block);+}",
  c: "[-if (weft__compare_exchange-]{+weft__store+}(weft__slab_owner(p, " +
    "block), [-kept, 0) == kept)-]{+0);+}",
}, {
  what: "searches only one word of the bitmap",
  by: "looks at every word of the bitmap",
  ts: "this.#map = map[- + 1 < this.#maps ? map + 1 : 0-];",
  c: "[-map = map + 1 < maps ? map + 1 : 0;-]",
}, {
  what: "never searches the bitmap from its start",
  by: "looks at every word of the bitmap",
  ts: "this.#map = map + 1 < this.#maps ? map + 1 : [-0-]{+map+};",
  c: "map = map + 1 < maps ? map + 1 : [-0-]{+map+};",
}, {
  what: "hands out a block behind the last one",
  ts: "if (rest [->-]{+<+} 0) words[",
  c: none(
    "JavaScript makes the memory here; tests/_twin tests memory that C makes",
  ),
  equivalent: "allocate passes over the bits behind the last block",
}, {
  what: "does not set the bit of the block that it took",
  ts: "[-else Atomics.or(words, BITMAP + map, bit);-]",
  equivalent: "the bit only saves a look; the owner word decides",
});

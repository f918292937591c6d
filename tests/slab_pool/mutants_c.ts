import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_slab_pool`. */
export const slab_pool = mutants(
  "slab_pool",
  "slab_pool",
  [
    "takes a block by a store",
    "return weft__hint(at) == 0 && weft__compare_exchange(at, 0, owner) == 0;",
    "return weft__hint(at) == 0 && (weft__store(at, owner), 1);",
  ],
  [
    "takes a block that another took",
    "return weft__hint(at) == 0 && weft__compare_exchange(at, 0, owner) == 0;",
    "return weft__hint(at) == 0 && weft__compare_exchange(at, 0, owner) >= 0;",
  ],
  [
    "takes a block that the bitmap calls free",
    "if (!weft__slab_claim(p, block, id)) continue;",
    "if (!weft__slab_claim(p, block, id)) weft__store(weft__slab_owner(p, " +
    "block), id);",
  ],
  [
    "sets a bit by a load and a store",
    "else weft__or(weft__slab_map(p, map), (int32_t)bit); return",
    "else weft__store(weft__slab_map(p, map), weft__load(weft__slab_map(p, " +
    "map)) | (int32_t)bit); return",
  ],
  [
    "clears a bit by a load and a store",
    "weft__and(weft__slab_map(p, block / 32), ~bit);",
    "int32_t old = weft__load(weft__slab_map(p, block / 32)); " +
    "weft__store(weft__slab_map(p, block / 32), old & ~bit);",
  ],
  [
    "frees, and does not say so",
    "else weft__slab_clear(p, (int32_t)number);",
    "",
  ],
  [
    "frees to a cache that is full",
    "bool keep = cache != NULL && cache->count < cache->limit;",
    "bool keep = cache != NULL && cache->count <= cache->limit;",
  ],
  [
    "frees to a cache, as anybody's",
    "int32_t next = keep ? weft_agent_id() | WEFT_SLAB_POOL_CACHED_BIT : 0;",
    "int32_t next = 0;",
  ],
  [
    "caches what another took",
    "if (!weft__slab_claim(p, block, kept)) continue;",
    "weft__slab_claim(p, block, kept);",
  ],
  [
    "gives a cached block back, and does not say so",
    "if (weft__compare_exchange(weft__slab_owner(p, block), kept, 0) == " +
    "kept) weft__slab_clear(p, block);",
    "weft__compare_exchange(weft__slab_owner(p, block), kept, 0);",
  ],
  [
    "abandons what others have",
    "(owner == kept || (everything && owner == id)) &&",
    "everything &&",
  ],
  [
    "frees by a store",
    "weft__compare_exchange(at, owner, next) != owner)",
    "(weft__store(at, next), 0))",
  ],
  [
    "frees what lies in a cache",
    "return owner != 0 && (owner & WEFT_SLAB_POOL_CACHED_BIT) == 0;",
    "return owner != 0;",
  ],
  [
    "abandons by a store",
    "weft__compare_exchange(weft__slab_owner(p, block), owner, 0) == owner)",
    "(weft__store(weft__slab_owner(p, block), 0), 1))",
  ],
  [
    "abandons what another frees, and counts it",
    "weft__compare_exchange(weft__slab_owner(p, block), owner, 0) == owner)",
    "weft__compare_exchange(weft__slab_owner(p, block), owner, 0) >= 0)",
  ],
  [
    "abandons no caches",
    "(owner == kept || (everything && owner == id)) &&",
    "everything && owner == id &&",
  ],
  [
    "abandons only caches",
    "(owner == kept || (everything && owner == id)) &&",
    "owner == kept &&",
  ],
  [
    "abandons everything, unasked",
    "(everything && owner == id))",
    "owner == id)",
  ],
  [
    "abandons, and does not say so",
    "weft__slab_clear(p, block); count++;",
    "count++;",
  ],
  [
    "abandons, and leaves what was being freed",
    "if (bits >> (block % 32) & 1) weft__slab_clear(p, block);",
    "(void)bits;",
  ],
  [
    "takes from its cache by a store",
    "if (weft__compare_exchange(weft__slab_owner(p, block), kept, id) == kept)",
    "weft__store(weft__slab_owner(p, block), id);",
  ],
  [
    "takes from its cache what was taken away",
    "if (weft__compare_exchange(weft__slab_owner(p, block), kept, id) == kept)",
    "if (weft__compare_exchange(weft__slab_owner(p, block), kept, id) >= 0)",
  ],
  [
    "gives a cached block back by a store",
    "if (weft__compare_exchange(weft__slab_owner(p, block), kept, 0) == kept)",
    "weft__store(weft__slab_owner(p, block), 0);",
  ],
  [
    "keeps to one word of the bitmap",
    "map = map + 1 < maps ? map + 1 : 0;",
    "",
  ],
  [
    "never begins the bitmap anew",
    "map = map + 1 < maps ? map + 1 : 0;",
    "map = map + 1 < maps ? map + 1 : map;",
  ],
);

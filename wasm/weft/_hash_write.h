/* _hash_write.h - what writes of a map do to a key in its locked bucket. */
#ifndef WEFT__HASH_WRITE_H
#define WEFT__HASH_WRITE_H

#include "_event_count.h"
#include "_hash_clock.h"
#include "_hash_table.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* Puts a long key or value into blocks; false if there is no room. In a cache,
   entries give way, but not number `kept`. The caller holds the bucket. */
static inline bool weft__hash_put(weft_hash_map *m,
                                  const weft__hash_place *place, int32_t hash,
                                  weft__hash_cell *cell, int32_t kept) {
  const weft__hash_plan *plan = &place->plan;
  weft__heap heap = weft__hash_heap_of(m, plan);
  weft__heap_value made;
  made.owner = weft__hash_owner(plan, hash);
  made.first = WEFT__HEAP_NONE;
  made.count = 0;
  /* Where the search begins depends on the key: so agents rarely meet. */
  int32_t maps = weft__heap_maps(&heap);
  int32_t some = maps < WEFT__HEAP_SOME ? maps : WEFT__HEAP_SOME;
  made.map = (int32_t)((uint32_t)hash % (uint32_t)maps);
  int32_t body = weft__heap_body(&heap);
  int32_t wanted = ((cell->length + 3) / 4 + body - 1) / body;
  int32_t left = heap.count;
  while (!weft__heap_gather(&heap, &made, wanted, some)) {
    if (left-- > 0 && plan->evicts &&
        weft__hash_make_room(m, place, kept, &made.map))
      continue;
    if (some < maps && weft__heap_gather(&heap, &made, wanted, maps)) break;
    weft__hash_free_blocks(m, plan, made.first, made.owner);
    if (plan->evicts)
      weft__stripe_add(&weft__hash_own_stripe(m, plan)->evictions, 1);
    return false;
  }
  weft__heap_fill(&heap, made.first, cell->bytes, cell->length);
  cell->block = made.first;
  return true;
}

static inline bool weft__hash_is_long(const weft_hash_map *m,
                                      const weft__hash_place *place,
                                      const weft__hash_cell *value) {
  return place->plan.long_values && value->length > weft__hash_in_entry(m);
}

/* As weft__hash_overwrite; false if there is no room for the value. In a cache,
   the entry then gives way, too. */
static inline bool weft__hash_replace(weft_hash_map *m,
                                      const weft__hash_place *place,
                                      int32_t number, weft__hash_cell *value,
                                      int32_t ttl) {
  const weft__hash_plan *plan = &place->plan;
  if (weft__hash_is_long(m, place, value) &&
      !weft__hash_put(m, place,
                      weft__load(weft__hash_entry(m, plan, number) +
                                 WEFT__HASH_HASH),
                      value, number)) {
    if (!plan->evicts) return false;
    int32_t *before = weft__hash_leads_to(m, plan, place->bucket, number);
    if (before != NULL)
      weft__hash_take_out(m, plan, place->bucket, number, before, false);
    return true;
  }
  weft__hash_overwrite(m, place, number, value, ttl);
  return true;
}

/* Adds an entry, whose value counts for `ttl` ms if entries expire; false if
   the map is full. */
static inline bool weft__hash_insert(weft_hash_map *m,
                                     const weft__hash_place *place,
                                     weft__hash_cell *value, int32_t ttl) {
  const weft__hash_plan *plan = &place->plan;
  int32_t owner = weft__hash_owner(plan, place->hash);
  weft__hash_cell key = place->key;
  if (weft__hash_is_long_key(m, place) &&
      !weft__hash_put(m, place, place->hash, &key, 0))
    return plan->evicts;
  if (weft__hash_is_long(m, place, value) &&
      !weft__hash_put(m, place, place->hash, value, 0)) {
    if (key.block != WEFT__HEAP_NONE)
      weft__hash_free_blocks(m, plan, key.block, owner);
    return plan->evicts;
  }
  int32_t number = plan->evicts ? weft__hash_take_room(m, place)
                                : weft__hash_allocate(m, plan, place->hash);
  if (number == WEFT__HASH_NONE) {
    if (key.block != WEFT__HEAP_NONE) /* no entry for it */
      weft__hash_free_blocks(m, plan, key.block, owner);
    if (value->block != WEFT__HEAP_NONE)
      weft__hash_free_blocks(m, plan, value->block, owner);
    return plan->evicts;
  }
  int32_t *entry = weft__hash_entry(m, plan, number);
  weft__store(entry + WEFT__HASH_HASH, place->hash);
  weft__hash_fill(entry + plan->key, &key);
  weft__hash_fill(entry + plan->value, value);
  if (plan->expires) weft__hash_renew(plan, entry, 0, ttl);
  if (plan->value_words > 1) weft__store(entry + WEFT__HASH_CURRENT, 0);
  if (plan->evicts) weft__store(entry + plan->key - 1, 0);
  int32_t next = weft__load(&place->bucket->head);
  weft__store(entry + WEFT__HASH_LINK, WEFT__HASH_LINKED_BIT | next);
  weft__store(&place->bucket->head, number); /* (P) */
  weft__event_wake(weft__hash_epoch(m, place->hash), WEFT__ALL);
  return true;
}

/* Locks the bucket of a key and searches for it: 0 with the number of its
   entry, or NONE. Else the bucket is not locked. */
static inline int weft__hash_enter(weft_hash_map *m,
                                   weft__hash_place *place, const void *key,
                                   size_t key_length, int32_t *number) {
  if (!weft__hash_place_of(place, m, key, key_length)) return EINVAL;
  int error = weft__hash_lock(place->bucket);
  if (error != 0) return error;
  *number = weft__hash_search(m, place);
  if (*number != WEFT__HASH_ASTRAY) return 0;
  weft__hash_unlock(place->bucket);
  return ENOTRECOVERABLE;
}

/* The same for an operation that uses the entry. */
static inline int weft__hash_enter_to_use(weft_hash_map *m,
                                          weft__hash_place *place,
                                          const void *key, size_t key_length,
                                          int32_t *number) {
  int error = weft__hash_enter(m, place, key, key_length, number);
  if (error == 0 && *number != WEFT__HASH_NONE)
    weft__hash_touch(m, &place->plan, *number);
  return error;
}

WEFT__END

#endif

#endif /* WEFT__HASH_WRITE_H */

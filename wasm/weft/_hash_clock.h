/* _hash_clock.h - the twin of primitives/_map/clock.ts. */
#ifndef WEFT__HASH_CLOCK_H
#define WEFT__HASH_CLOCK_H

#include "_hash_lock.h"
#include "_hash_table.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The stripe of this agent. */
static inline weft__hash_stripe *weft__hash_own_stripe(
    const weft_hash_map *m, const weft__hash_plan *plan) {
  int32_t i = weft_agent_id() & (WEFT__HASH_STRIPES - 1);
  return weft__hash_stripes(m, plan) + i;
}

/* Gives an entry of a cache a second chance. It may be another one by now,
   which gets that chance: harmless. */
static inline void weft__hash_touch(const weft_hash_map *m,
                                    const weft__hash_plan *plan,
                                    int32_t number) {
  if (!plan->evicts) return;
  int32_t *used = weft__hash_entry(m, plan, number) + plan->key - 1;
  if (weft__load(used) == 0) weft__store(used, 1);
}

/* The most entries, or blocks, at which the hand looks for one that is not
   used, and then for any: so a new key takes no longer in a large cache. */
#define WEFT__HASH_MOST_LOOKS 256

/* Whether the entry was used; takes that chance from it. */
static inline bool weft__hash_spare(const weft__hash_plan *plan,
                                    int32_t *entry) {
  if (weft__load(entry + plan->key - 1) == 0) return false;
  weft__store(entry + plan->key - 1, 0);
  return true;
}

/* Takes an entry out, and claims it if it `claims`; false if another agent
   writes there. */
static inline bool weft__hash_take(weft_hash_map *m,
                                   const weft__hash_plan *plan,
                                   const weft__hash_bucket *own,
                                   int32_t number, bool claims) {
  const int32_t *entry = weft__hash_entry(m, plan, number);
  int32_t hash = weft__load(entry + WEFT__HASH_HASH);
  weft__hash_bucket *bucket = weft__hash_bucket_of(m, plan, hash);
  /* (T) Never wait: whoever holds it may want an entry of this agent's bucket.
     */
  if (bucket != own && !weft__hash_try_lock(bucket)) return false;
  /* The entry may have got into another bucket meanwhile, or be free. */
  int32_t *before = weft__hash_leads_to(m, plan, bucket, number);
  if (before != NULL)
    weft__hash_take_out(m, plan, bucket, number, before, claims);
  if (bucket != own) weft__hash_unlock(bucket);
  return before != NULL;
}

static inline int32_t weft__hash_evict(weft_hash_map *m,
                                       const weft__hash_place *place) {
  const weft__hash_plan *plan = &place->plan;
  weft__hash_stripe *counts = weft__hash_own_stripe(m, plan);
  int32_t looks = plan->capacity < WEFT__HASH_MOST_LOOKS
                      ? plan->capacity
                      : WEFT__HASH_MOST_LOOKS;
  for (int32_t left = 2 * looks; left > 0; left--) {
    uint32_t hand = (uint32_t)weft__add(&m->hand, 1);
    int32_t number = (int32_t)(hand % (uint32_t)plan->capacity) + 1;
    int32_t *entry = weft__hash_entry(m, plan, number);
    int32_t link = weft__load(entry);
    if (link == 0) {
      if (weft__hash_claim(m, plan, number)) return number;
    } else if ((link & WEFT__HASH_LINKED_BIT) != 0) {
      bool is_over = weft__hash_has_expired(m, plan, entry);
      if (left > looks && !is_over && weft__hash_spare(plan, entry)) continue;
      if (!weft__hash_take(m, plan, place->bucket, number, true)) continue;
      if (!is_over) weft__stripe_add(&counts->evictions, 1);
      return number;
    }
  }
  weft__stripe_add(&counts->evictions, 1);
  return WEFT__HASH_NONE;
}

/* The number of an entry that is the caller's now. NONE if other agents are
   writing to all that it looked at: then the new key counts as evicted. The
   caller holds the bucket. */
static inline int32_t weft__hash_take_room(weft_hash_map *m,
                                           const weft__hash_place *place) {
  int32_t number = weft__hash_allocate(m, &place->plan, place->hash);
  return number != WEFT__HASH_NONE ? number : weft__hash_evict(m, place);
}

/* Takes out an entry whose key or value lies in blocks, other than number
   `kept`, and frees these. Then `*map` is a word of the bits that has free
   ones. False if it found none. The hand goes round the blocks: few entries may
   have any. The caller holds the bucket. */
static inline bool weft__hash_make_room(weft_hash_map *m,
                                        const weft__hash_place *place,
                                        int32_t kept, int32_t *map) {
  const weft__hash_plan *plan = &place->plan;
  weft__hash_stripe *counts = weft__hash_own_stripe(m, plan);
  int32_t looks = plan->blocks < WEFT__HASH_MOST_LOOKS ? plan->blocks
                                                       : WEFT__HASH_MOST_LOOKS;
  for (int32_t left = 2 * looks; left > 0; left--) {
    uint32_t hand = (uint32_t)weft__add(&m->hand, 1);
    int32_t block = (int32_t)(hand % (uint32_t)plan->blocks) + 1;
    /* An entry has its chance at one of its blocks, and not at each. */
    int32_t number = weft__hash_holder(m, plan, block, left <= looks, kept);
    if (number == WEFT__HASH_NONE) continue;
    int32_t *entry = weft__hash_entry(m, plan, number);
    bool is_over = weft__hash_has_expired(m, plan, entry);
    if (!is_over && left > looks && weft__hash_spare(plan, entry)) continue;
    if (!weft__hash_take(m, plan, place->bucket, number, false)) continue;
    if (!is_over) weft__stripe_add(&counts->evictions, 1);
    *map = (block - 1) >> 5;
    return true;
  }
  return false;
}

WEFT__END

#endif

#endif /* WEFT__HASH_CLOCK_H */

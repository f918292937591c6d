/* _hash_table.h - the twin of primitives/_map/table.ts, and entries.ts. */
#ifndef WEFT__HASH_TABLE_H
#define WEFT__HASH_TABLE_H

#include "_event_count.h"
#include "_hash_cell.h"
#include "_hash_time.h"
#include "agent.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The word `expires` of the copy that counts if `current` says so. */
static inline WEFT__HOT int32_t *weft__hash_end(const weft__hash_plan *plan,
                                                const int32_t *entry,
                                                int32_t current) {
  int32_t *value = (int32_t *)(uintptr_t)entry + plan->value;
  return value + ((current & 1) + 1) * plan->value_words - 1;
}

/* Whether an entry has expired. An agent that does not hold the lock may be
   told so of one that has a new value by now. */
static inline bool weft__hash_has_expired(const weft_hash_map *m,
                                          const weft__hash_plan *plan,
                                          const int32_t *entry) {
  if (!plan->expires) return false;
  int32_t now = weft__hash_now(plan);
  int32_t current = weft__load(entry + WEFT__HASH_CURRENT);
  int32_t expires = weft__load(weft__hash_end(plan, entry, current));
  return weft__hash_is_over(m, plan, expires, now);
}

/* Instead of a `ttl`: a value expires when the one before it would have. */
#define WEFT__HASH_KEEPS 0

/* Lets the copy that counts if `current` says so count for `ttl` ms. */
static inline void weft__hash_renew(const weft__hash_plan *plan,
                                    const int32_t *entry, int32_t current,
                                    int32_t ttl) {
  weft__store(weft__hash_end(plan, entry, current),
              weft__plus(weft__hash_now(plan), ttl));
}

/* A key, its hash, and where it belongs. */
typedef struct {
  weft__hash_plan plan;
  weft__hash_cell key;
  int32_t hash;
  weft__hash_bucket *bucket;
  /* The word that led to the entry that the last search found: `head`, or the
     `link` of the entry before. */
  int32_t *before;
} weft__hash_place;

static inline weft__hash_bucket *weft__hash_bucket_of(
    const weft_hash_map *m, const weft__hash_plan *plan, int32_t hash) {
  int32_t *words = (int32_t *)(uintptr_t)m + plan->first;
  return (weft__hash_bucket *)(void *)words + (hash & (plan->buckets - 1));
}

/* From this capacity on, a core's caches do not hold all entries. */
#define WEFT__HASH_LARGE 4096

/* Whether a new entry lies near the home of its bucket, if it can. In a cache,
   entries lie where the hand takes others out. */
static inline WEFT__HOT bool weft__hash_has_homes(const weft__hash_plan *plan) {
  return plan->capacity >= WEFT__HASH_LARGE && !plan->evicts;
}

/* The number, from 0 on, of the entry that a key of the bucket for this hash
   takes if it is free, or else one that lies behind it. */
static inline WEFT__HOT int32_t weft__hash_home(const weft__hash_plan *plan,
                                                int32_t hash) {
  int64_t before = (int64_t)(hash & (plan->buckets - 1)) * plan->capacity;
  return (int32_t)(before >> __builtin_ctz((uint32_t)plan->buckets));
}

/* The rest of a place whose `plan` is there. Has the processor fetch the entry
   at the bucket's home while it waits for the bucket: in a large map, neither
   is in a cache. */
static inline WEFT__HOT bool weft__hash_place_in(weft__hash_place *place,
                                                 const weft_hash_map *m,
                                                 const void *key,
                                                 size_t length) {
  if (!weft__hash_key_of(&place->key, m, &place->plan, key, length))
    return false;
  place->hash = weft__hash_of(m, &place->key);
  place->bucket = weft__hash_bucket_of(m, &place->plan, place->hash);
  if (weft__hash_has_homes(&place->plan))
    __builtin_prefetch(weft__hash_entry(
        m, &place->plan, weft__hash_home(&place->plan, place->hash) + 1));
  return true;
}

static inline WEFT__HOT bool weft__hash_place_of(weft__hash_place *place,
                                                 const weft_hash_map *m,
                                                 const void *key,
                                                 size_t length) {
  place->plan = weft__hash_plan_of(m);
  return weft__hash_place_in(place, m, key, length);
}

/* ---- reading ------------------------------------------------------------- */

/* Whether a key lies in blocks. */
static inline bool weft__hash_is_long_key(const weft_hash_map *m,
                                          const weft__hash_place *place) {
  return place->plan.long_keys &&
         place->key.length > (m->sizes & WEFT__HASH_KEY_SIZE);
}

/* Whether the entry has a key that lies in blocks. Not inline: most maps have
   none such, and their loop over a bucket shall be short. */
WEFT__SELDOM static inline bool weft__hash_has_long(const weft_hash_map *m,
                                                    const int32_t *from,
                                                    const unsigned char *bytes,
                                                    int32_t length) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  weft__heap keys = weft__hash_keys_of(m, &plan);
  return weft__heap_is_same(&keys, from, bytes, length);
}

static inline WEFT__HOT bool weft__hash_has(const weft_hash_map *m,
                                            const weft__hash_place *place,
                                            const int32_t *entry) {
  /* If keys have one word, comparing it is as fast as the hash. */
  if (place->plan.key_words > 1 &&
      weft__load(entry + WEFT__HASH_HASH) != place->hash)
    return false;
  const int32_t *from = entry + place->plan.key;
  if (WEFT__RARE(weft__hash_is_long_key(m, place)))
    return weft__hash_has_long(m, from, place->key.bytes, place->key.length);
  const weft__hash_cell *key = &place->key;
  int32_t more = weft__hash_last(key);
  if (key->varies && weft__load(from++) != key->length) return false;
  for (int32_t i = 0; i < more; i++)
    if (weft__load(from + i) != weft__hash_whole(key, i)) return false;
  return more < 0 || weft__load(from + more) == key->rest;
}

/* The number of the entry with the key. */
static inline WEFT__HOT int32_t weft__hash_find(const weft_hash_map *m,
                                                weft__hash_place *place) {
  place->before = &place->bucket->head;
  int32_t next = weft__load(&place->bucket->head); /* pairs with (P) */
  for (int32_t left = WEFT__MOST_TRIES; next != 0; left--) {
    if (WEFT__RARE(next < 1 || next > place->plan.capacity || left == 0))
      return WEFT__HASH_ASTRAY;
    int32_t *entry = weft__hash_entry(m, &place->plan, next);
    if (WEFT__OFTEN(weft__hash_has(m, place, entry))) return next;
    int32_t link = weft__load(entry + WEFT__HASH_LINK);
    if (WEFT__RARE((link & ~WEFT__HASH_NEXT_MASK) != WEFT__HASH_LINKED_BIT))
      return WEFT__HASH_ASTRAY;
    place->before = entry + WEFT__HASH_LINK;
    next = link & WEFT__HASH_NEXT_MASK;
  }
  return WEFT__HASH_NONE;
}

/* Copies `size` bytes, or as many as the length in the first word says, but
   only whole words if there is no room for all. False if the length is
   impossible. */
static inline WEFT__HOT bool weft__hash_copy(const int32_t *from, bool varies,
                                             int32_t size, void *into,
                                             size_t room, size_t *length) {
  size_t bytes = (size_t)size;
  if (varies) {
    int32_t word = weft__load(from++);
    if (WEFT__RARE(word < 0 || word > size)) return false;
    bytes = (size_t)word;
  }
  *length = bytes;
  size_t left = bytes <= room ? bytes : room & ~(size_t)3;
  unsigned char *to = (unsigned char *)into;
  for (; left >= 4; left -= 4, to += 4)
    weft__hash_part_to(to, weft__load(from++), 4);
  if (left > 0) weft__hash_part_to(to, weft__load(from), left);
  return true;
}

/* The word `current`, or 0 if values have one word. */
static inline WEFT__HOT int32_t weft__hash_current(const weft__hash_plan *plan,
                                                   const int32_t *entry) {
  return plan->value_words > 1 ? weft__load(entry + WEFT__HASH_CURRENT) : 0;
}

/* The same where values may lie in blocks. */
WEFT__SELDOM static inline bool weft__hash_copy_long(const weft_hash_map *m,
                                                     const int32_t *from,
                                                     void *into, size_t room,
                                                     size_t *length) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  weft__heap heap = weft__hash_heap_of(m, &plan);
  return weft__heap_copy(&heap, from, into, room, length);
}

/* Copies the value that counts if `current` says so. */
static inline WEFT__HOT bool weft__hash_copy_of(const weft_hash_map *m,
                                                const weft__hash_plan *plan,
                                                const int32_t *entry,
                                                int32_t current, void *into,
                                                size_t room, size_t *length) {
  const int32_t *from =
      entry + plan->value + (current & 1) * plan->value_words;
  if (WEFT__RARE(plan->long_values))
    return weft__hash_copy_long(m, from, into, room, length);
  int32_t size = plan->sizes >> WEFT__HASH_VALUE_SHIFT & WEFT__HASH_VALUE_SIZE;
  return weft__hash_copy(from, plan->value_varies, size, into, room, length);
}

static inline bool weft__hash_copy_value(const weft_hash_map *m,
                                         const weft__hash_plan *plan,
                                         const int32_t *entry, void *into,
                                         size_t room, size_t *length) {
  int32_t current = weft__hash_current(plan, entry);
  return weft__hash_copy_of(m, plan, entry, current, into, room, length);
}

/* Copies the key of an entry. Another agent may change it meanwhile. */
static inline bool weft__hash_copy_key(const weft_hash_map *m,
                                       const weft__hash_plan *plan,
                                       const int32_t *entry, void *into,
                                       size_t room, size_t *length) {
  if (plan->long_keys) {
    weft__heap keys = weft__hash_keys_of(m, plan);
    return weft__heap_copy(&keys, entry + plan->key, into, room, length);
  }
  return weft__hash_copy(entry + plan->key, plan->key_varies,
                         m->sizes & WEFT__HASH_KEY_SIZE, into, room, length);
}

/* The number of the entry with the key, without a lock. Copies its value, if
   `length` is not NULL. */
static inline WEFT__HOT int32_t weft__hash_read(const weft_hash_map *m,
                                                weft__hash_place *place,
                                                void *into, size_t room,
                                                size_t *length) {
  const weft__hash_plan *plan = &place->plan;
  int32_t now = weft__hash_now(plan);
  for (int32_t tries = WEFT__MOST_TRIES; tries > 0; tries--) {
    int32_t expires = 0;
    int32_t version = weft__load(&place->bucket->version);
    int32_t number = weft__hash_find(m, place);
    if (WEFT__OFTEN(number > 0) && (length != NULL || plan->expires)) {
      const int32_t *entry = weft__hash_entry(m, plan, number);
      int32_t current = weft__hash_current(plan, entry);
      if (plan->expires)
        expires = weft__load(weft__hash_end(plan, entry, current));
      bool is_copied =
          length == NULL ||
          weft__hash_copy_of(m, plan, entry, current, into, room, length);
      /* Pairs with (C): if the copy was used again, or a block of it, `current`
         has changed. */
      if (weft__hash_current(&place->plan, entry) != current) continue;
      if (!is_copied) number = WEFT__HASH_ASTRAY;
    }
    /* Pairs with (V): if the entry was used again before it was read, `version`
       has changed. */
    if (weft__load(&place->bucket->version) != version) continue;
    bool is_over = number > 0 && weft__hash_is_over(m, plan, expires, now);
    return is_over ? WEFT__HASH_NONE : number;
  }
  return WEFT__HASH_ASTRAY;
}

/* ---- writing, with the lock ---------------------------------------------- */

/* Fills a copy of a key or value. For one in blocks, these are its length and
   the first block. Readers may still be there, which had found an older entry.
   */
static inline void weft__hash_fill(int32_t *at, const weft__hash_cell *cell) {
  if (cell->block != WEFT__HEAP_NONE) {
    weft__store(at, cell->length);
    weft__store(at + 1, cell->block);
    return;
  }
  for (int32_t i = 0; i < cell->count; i++)
    weft__store(at + i, weft__hash_word(cell, i));
}

/* At how many words of bits an agent looks before it says that it looks. */
#define WEFT__HASH_FEW 8
/* What `full` changes by, in the bits that count. */
#define WEFT__HASH_ONE_CHANGE 4

/* Says that there is room, in this word of the bits, if agents look. */
static inline void weft__hash_tell_room(weft_hash_map *m, int32_t map) {
  int32_t looks = WEFT__HASH_FULL_BIT | WEFT__HASH_LOOKED_BIT;
  /* Pairs with (R): who does not see this entry sees that `full` changed. */
  int32_t full = weft__load(&m->full);
  if ((full & looks) == 0) return;
  weft__store(&m->room, map);
  while ((full & looks) != 0) {
    int32_t next = weft__plus(full & ~looks, WEFT__HASH_ONE_CHANGE);
    int32_t found = weft__compare_exchange(&m->full, full, next);
    if (found == full) return;
    full = found;
  }
}

static inline void weft__hash_free(weft_hash_map *m,
                                   const weft__hash_plan *plan,
                                   int32_t number) {
  uint32_t bit = UINT32_C(1) << ((number - 1) & 31);
  weft__store(weft__hash_entry(m, plan, number), 0);
  weft__and(weft__hash_map(m, (number - 1) >> 5), (int32_t)~bit);
  weft__hash_tell_room(m, (number - 1) >> 5);
}

/* Makes entry `number` the caller's, if it is free; returns whether it did. */
static inline bool weft__hash_claim(const weft_hash_map *m,
                                    const weft__hash_plan *plan,
                                    int32_t number) {
  int32_t *link = weft__hash_entry(m, plan, number);
  int32_t id = weft_agent_id();
  if (weft__compare_exchange(link, 0, WEFT__HASH_CLAIMED_BIT | id) != 0)
    return false;
  uint32_t bit = UINT32_C(1) << ((number - 1) & 31);
  weft__or(weft__hash_map(m, (number - 1) >> 5), (int32_t)bit);
  return true;
}

/* Looks at `count` words of bits for a free entry, from bit `from` on. */
static inline int32_t weft__hash_allocate_in(const weft_hash_map *m,
                                             const weft__hash_plan *plan,
                                             int32_t from, int32_t count) {
  int32_t maps = (plan->capacity + 31) / 32, map = from >> 5;
  uint32_t before = (UINT32_C(1) << (from & 31)) - 1; /* bits to leave out */
  for (int32_t i = count; i > 0; i--) {
    uint32_t taken = (uint32_t)weft__load(weft__hash_map(m, map)) | before;
    for (uint32_t left = ~taken; left != 0; left &= left - 1) {
      int32_t number = map * 32 + __builtin_ctz(left) + 1;
      if (number > plan->capacity) break;
      if (weft__hash_claim(m, plan, number)) return number;
    }
    map = map + 1 < maps ? map + 1 : 0;
    before = 0;
  }
  return WEFT__HASH_NONE;
}

/* The number of an entry that was free and is the caller's now, or NONE: for a
   key with this hash. Where the search begins depends on it: so agents rarely
   meet. */
static inline int32_t weft__hash_allocate(weft_hash_map *m,
                                          const weft__hash_plan *plan,
                                          int32_t hash) {
  int32_t maps = (plan->capacity + 31) / 32;
  int32_t few = maps < WEFT__HASH_FEW ? maps : WEFT__HASH_FEW;
  if ((weft__load(&m->full) & WEFT__HASH_FULL_BIT) != 0) return WEFT__HASH_NONE;
  int32_t from = weft__hash_has_homes(plan)
                     ? weft__hash_home(plan, hash)
                     : (int32_t)((uint32_t)hash % (uint32_t)maps) * 32;
  int32_t number = weft__hash_allocate_in(m, plan, from, few);
  if (number != WEFT__HASH_NONE) return number;
  int32_t full = weft__or(&m->full, WEFT__HASH_LOOKED_BIT) /* (R) */
                 | WEFT__HASH_LOOKED_BIT;
  int32_t map = (int32_t)((uint32_t)weft__load(&m->room) % (uint32_t)maps);
  number = weft__hash_allocate_in(m, plan, map * 32, maps);
  if (number == WEFT__HASH_NONE)
    (void)weft__compare_exchange(&m->full, full, full | WEFT__HASH_FULL_BIT);
  else if ((number - 1) >> 5 != map)
    weft__store(&m->room, (number - 1) >> 5);
  return number;
}

/* The first word of the copy of a value that counts, if it has two. */
static inline int32_t *weft__hash_value_at(const weft__hash_plan *plan,
                                           int32_t *entry) {
  int32_t current = weft__load(entry + WEFT__HASH_CURRENT);
  return entry + plan->value + (current & 1) * plan->value_words;
}

/* The number of the first block of the value of an entry; 0 if it has none. */
static inline int32_t weft__hash_block(const weft_hash_map *m,
                                       const weft__hash_plan *plan,
                                       int32_t *entry) {
  if (!plan->long_values) return WEFT__HEAP_NONE;
  weft__heap heap = weft__hash_heap_of(m, plan);
  return weft__heap_first(&heap, weft__hash_value_at(plan, entry));
}

/* The same of its key. */
static inline int32_t weft__hash_key_block(const weft_hash_map *m,
                                           const weft__hash_plan *plan,
                                           const int32_t *entry) {
  if (!plan->long_keys) return WEFT__HEAP_NONE;
  weft__heap keys = weft__hash_keys_of(m, plan);
  return weft__heap_first(&keys, entry + plan->key);
}

/* The number of an entry that begins with this block: its key does, or if that
   is short, its value. If `any`, one in the same bucket with blocks. Not number
   `kept`; NONE if there is none. Other agents may write there meanwhile. */
static inline int32_t weft__hash_holder(const weft_hash_map *m,
                                        const weft__hash_plan *plan,
                                        int32_t block, bool any,
                                        int32_t kept) {
  weft__heap heap = weft__hash_heap_of(m, plan);
  int32_t owner = weft__load(weft__heap_at(&heap, block) + WEFT__HEAP_OWNER);
  if (owner < 1 || owner > plan->buckets) return WEFT__HASH_NONE;
  int32_t next = weft__load(&weft__hash_bucket_of(m, plan, owner - 1)->head);
  for (int32_t left = WEFT__MOST_TRIES; left > 0; left--) {
    if (next < 1 || next > plan->capacity) break;
    int32_t *entry = weft__hash_entry(m, plan, next);
    int32_t first = weft__hash_key_block(m, plan, entry);
    if (first == WEFT__HEAP_NONE) first = weft__hash_block(m, plan, entry);
    if (next != kept && (first == block || (any && first != WEFT__HEAP_NONE)))
      return next;
    next = weft__load(entry + WEFT__HASH_LINK) & WEFT__HASH_NEXT_MASK;
  }
  return WEFT__HASH_NONE;
}

/* The number of the bucket for this hash, by which its blocks name it. */
static inline int32_t weft__hash_owner(const weft__hash_plan *plan,
                                       int32_t hash) {
  return (hash & (plan->buckets - 1)) + 1;
}

/* The same of a bucket. */
static inline int32_t weft__hash_number(const weft_hash_map *m,
                                        const weft__hash_bucket *bucket) {
  return (int32_t)(bucket - weft__hash_bucket_at(m, 0)) + 1;
}

/* Frees the blocks of a key or value of bucket `owner` from number `block` on.
   */
static inline void weft__hash_free_blocks(const weft_hash_map *m,
                                          const weft__hash_plan *plan,
                                          int32_t block, int32_t owner) {
  weft__heap heap = weft__hash_heap_of(m, plan);
  weft__heap_free(&heap, block, owner);
}

/* Gives an entry another value. If entries expire, it counts for `ttl` ms, or
   KEEPS the time of the old one. */
static inline void weft__hash_overwrite(const weft_hash_map *m,
                                        const weft__hash_place *place,
                                        int32_t number,
                                        const weft__hash_cell *value,
                                        int32_t ttl) {
  const weft__hash_plan *plan = &place->plan;
  int32_t *entry = weft__hash_entry(m, plan, number);
  int32_t *at = entry + plan->value;
  if (plan->value_words == 1) {
    weft__store(at, weft__hash_word(value, 0));
    return;
  }
  int32_t old = weft__hash_block(m, plan, entry);
  int32_t current = weft__load(entry + WEFT__HASH_CURRENT);
  int32_t next = weft__plus(current, 1);
  weft__hash_fill(at + (next & 1) * plan->value_words, value);
  if (plan->expires && ttl == WEFT__HASH_KEEPS) {
    int32_t expires = weft__load(weft__hash_end(plan, entry, current));
    weft__store(weft__hash_end(plan, entry, next), expires);
  } else if (plan->expires) {
    weft__hash_renew(plan, entry, next, ttl);
  }
  weft__store(entry + WEFT__HASH_CURRENT, next); /* (C) the new value counts */
  if (old != WEFT__HEAP_NONE) {
    int32_t hash = weft__load(entry + WEFT__HASH_HASH);
    weft__hash_free_blocks(m, plan, old, weft__hash_owner(plan, hash));
  }
  /* It may have expired since it was found, and agents wait for it. */
  if (plan->expires) {
    int32_t hash = weft__load(entry + WEFT__HASH_HASH);
    weft__event_wake(weft__hash_epoch(m, hash), WEFT__ALL);
  }
}

/* Takes an entry out; `before` is the word that leads to it. The entry is the
   caller's, if it `claims` it, or free. */
static inline void weft__hash_take_out(weft_hash_map *m,
                                       const weft__hash_plan *plan,
                                       weft__hash_bucket *bucket,
                                       int32_t number, int32_t *before,
                                       bool claims) {
  int32_t *entry = weft__hash_entry(m, plan, number);
  int32_t next = weft__load(entry + WEFT__HASH_LINK) & WEFT__HASH_NEXT_MASK;
  bool is_first = before == &bucket->head;
  int32_t old = weft__hash_block(m, plan, entry);
  int32_t old_key = weft__hash_key_block(m, plan, entry);
  weft__add(&bucket->version, 1); /* (F) views of JavaScript forget the entry */
  weft__store(before, is_first ? next : WEFT__HASH_LINKED_BIT | next);
  weft__add(&bucket->version, 1); /* (V) the entry may be used */
  if (old != WEFT__HEAP_NONE)
    weft__hash_free_blocks(m, plan, old, weft__hash_number(m, bucket));
  if (old_key != WEFT__HEAP_NONE)
    weft__hash_free_blocks(m, plan, old_key, weft__hash_number(m, bucket));
  if (claims)
    weft__store(entry, WEFT__HASH_CLAIMED_BIT | weft_agent_id());
  else
    weft__hash_free(m, plan, number);
}

/* The word that leads to entry `number` in the chain of the bucket, or NULL.
   The caller holds the lock. */
static inline int32_t *weft__hash_leads_to(const weft_hash_map *m,
                                           const weft__hash_plan *plan,
                                           weft__hash_bucket *bucket,
                                           int32_t number) {
  int32_t *before = &bucket->head;
  for (int32_t left = WEFT__MOST_TRIES; left > 0; left--) {
    int32_t next = weft__load(before) & WEFT__HASH_NEXT_MASK;
    if (next == number) return before;
    if (next < 1 || next > plan->capacity) break;
    before = weft__hash_entry(m, plan, next) + WEFT__HASH_LINK;
  }
  return NULL;
}

/* Searches for the key in its locked bucket. Takes the entry out if it has
   expired. */
static inline int32_t weft__hash_search(weft_hash_map *m,
                                        weft__hash_place *place) {
  int32_t number = weft__hash_find(m, place);
  if (number <= 0) return number;
  const int32_t *entry = weft__hash_entry(m, &place->plan, number);
  if (!weft__hash_has_expired(m, &place->plan, entry)) return number;
  weft__hash_take_out(m, &place->plan, place->bucket, number, place->before,
                      false);
  return WEFT__HASH_NONE;
}

/* ---- after a death ------------------------------------------------------- */

/* Whether the chain of the bucket has an end. */
static inline bool weft__hash_is_whole(const weft_hash_map *m,
                                       const weft__hash_plan *plan,
                                       const weft__hash_bucket *bucket) {
  int32_t next = weft__load(&bucket->head);
  for (int32_t left = WEFT__MOST_TRIES; next != 0; left--) {
    if (next < 1 || next > plan->capacity || left == 0) return false;
    int32_t link = weft__load(weft__hash_entry(m, plan, next));
    if ((link & ~WEFT__HASH_NEXT_MASK) != WEFT__HASH_LINKED_BIT) return false;
    next = link & WEFT__HASH_NEXT_MASK;
  }
  return true;
}

/* Frees the entries that agent `id`, which is dead, was filling. */
static inline void weft__hash_release(weft_hash_map *m,
                                      const weft__hash_plan *plan,
                                      int32_t id) {
  int32_t claimed = WEFT__HASH_CLAIMED_BIT | id;
  int32_t room = 0;
  for (int32_t number = 1; number <= plan->capacity; number++) {
    int32_t *at = weft__hash_entry(m, plan, number);
    int32_t link = weft__load(at);
    int32_t *bits = weft__hash_map(m, (number - 1) >> 5);
    uint32_t bit = UINT32_C(1) << ((number - 1) & 31);
    /* By an exchange, as other agents may do the same, and use the entry. */
    if (link == claimed) link = weft__compare_exchange(at, claimed, 0);
    /* Or the agent ended before it cleared the bit, or another one that did the
       same. If another agent claims the entry now, its bit is wrong the other
       way: harmless. */
    if (link == claimed ||
        (link == 0 && ((uint32_t)weft__load(bits) & bit) != 0)) {
      weft__and(bits, (int32_t)~bit);
      room = (number - 1) >> 5;
    }
  }
  weft__hash_tell_room(m, room); /* or the agent ended before it said so */
}

/* Whether an entry of the bucket has the block. The caller holds the lock. */
static inline bool weft__hash_has_block(const weft_hash_map *m,
                                        const weft__hash_plan *plan,
                                        const weft__hash_bucket *bucket,
                                        int32_t block) {
  weft__heap heap = weft__hash_heap_of(m, plan);
  weft__heap keys = weft__hash_keys_of(m, plan);
  int32_t next = weft__load(&bucket->head);
  for (int32_t left = WEFT__MOST_TRIES; left > 0; left--) {
    if (next < 1 || next > plan->capacity) break;
    int32_t *entry = weft__hash_entry(m, plan, next);
    if (plan->long_values &&
        weft__heap_has(&heap, weft__hash_value_at(plan, entry), block))
      return true;
    if (plan->long_keys && weft__heap_has(&keys, entry + plan->key, block))
      return true;
    next = weft__load(entry + WEFT__HASH_LINK) & WEFT__HASH_NEXT_MASK;
  }
  return false;
}

/* Frees the blocks of the bucket in which no key or value lies, after its
   holder died. */
static inline void weft__hash_mend_blocks(const weft_hash_map *m,
                                          const weft__hash_plan *plan,
                                          const weft__hash_bucket *bucket) {
  weft__heap heap = weft__hash_heap_of(m, plan);
  int32_t owner = weft__hash_number(m, bucket);
  for (int32_t number = 1; number <= heap.count; number++) {
    int32_t found =
        weft__load(weft__heap_at(&heap, number) + WEFT__HEAP_OWNER);
    if (found == owner && !weft__hash_has_block(m, plan, bucket, number))
      weft__heap_release(&heap, number);
    /* Or the agent ended before it cleared the bit. If another agent claims the
       block now, its bit is wrong the other way: harmless. */
    if (found == 0 && ((uint32_t)weft__load(weft__heap_map(&heap, number)) &
                       weft__heap_bit(number)) != 0)
      weft__heap_clear(&heap, number);
  }
}

/* Frees the entries that a dead agent had taken out of the bucket, or had not
   linked yet, and the blocks in which no key or value of the bucket lies. The
   caller holds the lock. */
static inline void weft__hash_mend(weft_hash_map *m,
                                   const weft__hash_plan *plan,
                                   weft__hash_bucket *bucket) {
  weft__add(&bucket->version, 1); /* as (V) */
  for (int32_t number = 1; number <= plan->capacity; number++) {
    const int32_t *entry = weft__hash_entry(m, plan, number);
    /* In this order: nobody else fills entries for this bucket now, so an entry
       that was linked elsewhere does not get a hash of this bucket. */
    int32_t link = weft__load(entry);
    if ((link & ~WEFT__HASH_NEXT_MASK) != WEFT__HASH_LINKED_BIT) continue;
    int32_t hash = weft__load(entry + WEFT__HASH_HASH);
    if (weft__hash_bucket_of(m, plan, hash) != bucket) continue;
    if (weft__hash_leads_to(m, plan, bucket, number) == NULL)
      weft__hash_free(m, plan, number);
  }
  if (plan->blocks != 0) weft__hash_mend_blocks(m, plan, bucket);
}

WEFT__END

#endif

#endif /* WEFT__HASH_TABLE_H */

/* hash_map.h - the twin of primitives/hash_map.ts. */
#ifndef WEFT_HASH_MAP_H
#define WEFT_HASH_MAP_H

#include "_event_count.h"
#include "_hash_clock.h"
#include "_hash_config.h"
#include "_hash_numbers.h"
#include "_hash_table.h"
#include "_hash_waits.h"
#include "_hash_write.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The words of a map are in _hash_plan.h, and its configuration is in
   _hash_config.h. */

/* The map at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_hash_map *weft_hash_map_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_hash_map) != NULL) return NULL;
  return (weft_hash_map *)at;
}

/* Initializes `bytes` bytes of unused memory as an empty map. NULL if the
   configuration is out of range, the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_hash_map *weft_hash_map_init(
    void *at, size_t bytes, weft_hash_map_config config) {
  weft_hash_map *m = (weft_hash_map *)at;
  size_t needed = weft_hash_map_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  m->capacity = config.capacity;
  m->sizes = weft__hash_sizes(config);
  m->seal = weft__seal(WEFT_KIND_hash_map, m->capacity, m->sizes);
  m->codecs = config.key_codec | config.value_codec << 8;
  m->ttl = config.ttl;
  m->seed_low = (int32_t)(uint32_t)config.seed;
  m->seed_high = (int32_t)(uint32_t)(config.seed >> 32);
  weft__store(&m->magic, weft__magic(WEFT_KIND_hash_map));
  return m;
}

/* As weft_hash_map_init, for a map with a heap. */
static inline WEFT__RESULT weft_hash_map *weft_hash_map_init_with_heap(
    void *at, size_t bytes, weft_hash_map_config config,
    weft_hash_map_heap heap) {
  size_t needed = weft_hash_map_bytes_with_heap(config, heap);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  weft_hash_map *m = weft_hash_map_init(at, bytes, config);
  m->blocks = weft__hash_blocks(config, heap);
  m->block_words = heap.block_size / 4;
  m->longest = heap.longest;
  m->longest_key = heap.longest_key;
  m->heap_seal = weft__hash_heap_seal(&m->blocks);
  return m;
}

/* How many entries there are; they are counted one by one. An entry that
   another agent adds or deletes meanwhile may be counted or not. One that has
   expired is counted until another one takes its place, or an operation that
   writes comes to its key. */
static inline int32_t weft_hash_map_size(const weft_hash_map *m) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  int32_t count = 0;
  for (int32_t number = 1; number <= plan.capacity; number++) {
    int32_t link = weft__load(weft__hash_entry(m, &plan, number));
    if (link & WEFT__HASH_LINKED_BIT) count++;
  }
  return count;
}

/* A count of all agents: the one that stands in `stripe` at `count`. */
#define WEFT__HASH_SUM(m, count)                                  \
  do {                                                            \
    weft__hash_plan plan = weft__hash_plan_of(m);                 \
    int64_t sum = 0;                                              \
    if (!plan.evicts) return 0;                                   \
    const weft__hash_stripe *stripe = weft__hash_stripes(m, &plan); \
    for (int32_t i = 0; i < WEFT__HASH_STRIPES; i++)              \
      sum += weft__stripe_sum(&stripe[i].count);                  \
    return sum;                                                   \
  } while (0)

/* How many calls found their key; only in a cache, else 0. Counted are
   weft_hash_map_get and weft_hash_map_get_or_insert. A call of another agent
   may be counted a little later. */
static inline int64_t weft_hash_map_hits(const weft_hash_map *m) {
  WEFT__HASH_SUM(m, hits);
}

/* The same of calls that did not find their key. */
static inline int64_t weft_hash_map_misses(const weft_hash_map *m) {
  WEFT__HASH_SUM(m, misses);
}

/* How many entries were taken out so that others had room, without those that
   had expired; or 0. */
static inline int64_t weft_hash_map_evictions(const weft_hash_map *m) {
  WEFT__HASH_SUM(m, evictions);
}

/* ---- reading ------------------------------------------------------------- */

/* As weft__hash_get, in a map with this plan. */
static inline WEFT__HOT int weft__hash_get_in(const weft_hash_map *m,
                                              weft__hash_plan plan,
                                              const void *key,
                                              size_t key_length, void *into,
                                              size_t room, size_t *length) {
  weft__hash_place place;
  size_t bytes = 0;
  place.plan = plan;
  if (!weft__hash_place_in(&place, m, key, key_length)) return EINVAL;
  int32_t number = weft__hash_read(m, &place, into, room, &bytes);
  if (number == WEFT__HASH_NONE) return ENOENT;
  if (number == WEFT__HASH_ASTRAY) return ENOTRECOVERABLE;
  weft__hash_touch(m, &place.plan, number);
  *length = bytes;
  return bytes > room ? EOVERFLOW : 0;
}

/* The same in any map. */
static inline int weft__hash_get_any(const weft_hash_map *m, const void *key,
                                     size_t key_length, void *into, size_t room,
                                     size_t *length) {
  return weft__hash_get_in(m, weft__hash_plan_of(m), key, key_length, into,
                           room, length);
}

#ifdef WEFT__HOT_ONES
/* In the two kinds of maps that are most common, the compiler knows most of
   what the others compute. */
#define WEFT__HASH_WORDS_ONLY (4 | 4 << WEFT__HASH_VALUE_SHIFT)
#define WEFT__HASH_TEXTS_ONLY \
  (WEFT__HASH_KEY_VARIES_BIT | WEFT__HASH_VALUE_VARIES_BIT)
#define WEFT__HASH_BOTH_SIZES (WEFT__HASH_KEY_VARIES_BIT - 1)

/* The same if keys and values are a word. */
static inline int weft__hash_get_word(const weft_hash_map *m, const void *key,
                                      size_t key_length, void *into,
                                      size_t room, size_t *length) {
  return weft__hash_get_in(
      m, weft__hash_plan_for(m->capacity, WEFT__HASH_WORDS_ONLY), key,
      key_length, into, room, length);
}

/* The same if keys and values differ in length, and lie in entries of a map
   that is no cache. */
static inline int weft__hash_get_text(const weft_hash_map *m, const void *key,
                                      size_t key_length, void *into,
                                      size_t room, size_t *length) {
  int32_t sizes = (m->sizes & WEFT__HASH_BOTH_SIZES) | WEFT__HASH_TEXTS_ONLY;
  return weft__hash_get_in(m, weft__hash_plan_for(m->capacity, sizes), key,
                           key_length, into, room, length);
}
#endif

/* As weft_hash_map_get, but a cache does not count it. */
static inline int weft__hash_get(const weft_hash_map *m, const void *key,
                                 size_t key_length, void *into, size_t room,
                                 size_t *length) {
#ifdef WEFT__HOT_ONES
  if ((m->longest | m->longest_key) == 0) {
    int32_t sizes = m->sizes;
    if (sizes == WEFT__HASH_WORDS_ONLY)
      return weft__hash_get_word(m, key, key_length, into, room, length);
    if ((sizes & ~WEFT__HASH_BOTH_SIZES) == WEFT__HASH_TEXTS_ONLY)
      return weft__hash_get_text(m, key, key_length, into, room, length);
  }
#endif
  return weft__hash_get_any(m, key, key_length, into, room, length);
}

/* Counts a call of weft_hash_map_get of a cache. */
static inline void weft__hash_count(const weft_hash_map *m, int error) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  weft__hash_stripe *own = weft__hash_own_stripe(m, &plan);
  if (error == 0 || error == EOVERFLOW) weft__stripe_add(&own->hits, 1);
  if (error == ENOENT) weft__stripe_add(&own->misses, 1);
}

/*
 * Copies the value of a key to `into`, which has `room` bytes, and its length
 * to `*length`. Returns 0; ENOENT if the key is not there; EOVERFLOW if the
 * value is longer than `room`; EINVAL if a key cannot have `key_length` bytes;
 * or ENOTRECOVERABLE if the map is damaged. Lock-free.
 */
static inline WEFT__RESULT int weft_hash_map_get(const weft_hash_map *m,
                                                 const void *key,
                                                 size_t key_length, void *into,
                                                 size_t room, size_t *length) {
  int error = weft__hash_get(m, key, key_length, into, room, length);
  if ((m->sizes & WEFT__HASH_EVICTS_BIT) != 0) weft__hash_count(m, error);
  return error;
}

/* Whether a key has a value: 0, ENOENT, EINVAL or ENOTRECOVERABLE, as for
   weft_hash_map_get. Lock-free. */
static inline WEFT__RESULT int weft_hash_map_has(const weft_hash_map *m,
                                                 const void *key,
                                                 size_t key_length) {
  weft__hash_place place;
  if (!weft__hash_place_of(&place, m, key, key_length)) return EINVAL;
  int32_t number = weft__hash_read(m, &place, NULL, 0, NULL);
  if (number == WEFT__HASH_NONE) return ENOENT;
  return number == WEFT__HASH_ASTRAY ? ENOTRECOVERABLE : 0;
}

/* As weft_hash_map_get, but EBUSY if the key is not there. */
static inline int weft__hash_await(const weft_hash_map *m, const void *key,
                                   size_t key_length, void *into, size_t room,
                                   size_t *length) {
  int error = weft__hash_get(m, key, key_length, into, room, length);
  return error == ENOENT ? EBUSY : error;
}

/*
 * As weft_hash_map_get, but blocks up to `timeout` ns until the key is there.
 * Returns ETIMEDOUT if it is not by then, EPERM if this agent may not block, or
 * a result of weft_hash_map_get but ENOENT.
 */
static inline WEFT__RESULT int weft_hash_map_wait_for(
    const weft_hash_map *m, const void *key, size_t key_length, void *into,
    size_t room, size_t *length, int64_t timeout) {
  weft__hash_cell cell;
  weft__hash_plan plan = weft__hash_plan_of(m);
  if (!weft__hash_key_of(&cell, m, &plan, key, key_length)) return EINVAL;
  int32_t *epoch = weft__hash_epoch(m, weft__hash_of(m, &cell));
  WEFT__EVENT_BLOCK(weft__hash_await(m, key, key_length, into, room, length),
                    epoch, (void)0, timeout);
}

/*
 * The next entry. Begin with `*cursor` 0. `key` and `value` have room for a key
 * and a value of the map. Returns 0; ENOENT after the last one; EINVAL if
 * `*cursor` is below 0; or ENOTRECOVERABLE. An entry that is there all the time
 * is seen once. One that another agent adds, deletes or overwrites meanwhile
 * may be seen or not, and in its old or its new state.
 */
static inline WEFT__RESULT int weft_hash_map_next(
    const weft_hash_map *m, int32_t *cursor, void *key, size_t *key_length,
    void *value, size_t *value_length) {
  weft__hash_place place;
  weft__hash_plan plan = weft__hash_plan_of(m);
  size_t key_room = (size_t)weft_hash_map_key_size(m);
  size_t value_room = (size_t)weft_hash_map_value_size(m);
  if (*cursor < 0) return EINVAL;
  while (*cursor < plan.capacity) {
    int32_t number = ++*cursor;
    const int32_t *entry = weft__hash_entry(m, &plan, number);
    if ((weft__load(entry) & WEFT__HASH_LINKED_BIT) == 0) continue;
    if (!weft__hash_copy_key(m, &plan, entry, key, key_room, key_length))
      continue;
    /* The copy may be a mixture of two keys: what counts is a search for it. */
    if (!weft__hash_place_of(&place, m, key, *key_length)) continue;
    int32_t found =
        weft__hash_read(m, &place, value, value_room, value_length);
    if (found == WEFT__HASH_ASTRAY) return ENOTRECOVERABLE;
    if (found == number) return 0;
  }
  return ENOENT;
}

/* ---- operations that write ----------------------------------------------- */

static inline int weft__hash_set(weft_hash_map *m, const void *key,
                                 size_t key_length, const void *value,
                                 size_t length, bool if_absent, int32_t ttl) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  if (!weft__hash_value_of(&cell, m, value, length)) return EINVAL;
  int error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE)
    error = weft__hash_insert(m, &place, &cell, ttl) ? 0 : ENOSPC;
  else if (if_absent)
    error = EEXIST;
  else if (!weft__hash_replace(m, &place, number, &cell, ttl))
    error = ENOSPC;
  weft__hash_unlock(place.bucket);
  return error;
}

/*
 * Gives a key a value of `length` bytes. Returns 0. ENOSPC: the map is full and
 * the key is not there, or its heap has no room for the value; it may also say
 * so while another agent adds, overwrites or deletes an entry; a cache never
 * says so. EEXIST: the key is there, with `if_absent`.
 * EINVAL: a length is impossible. EDEADLK: this agent is within an update of
 * the bucket. EPERM: another agent writes to the bucket, and this one may not
 * block.
 * ENOTRECOVERABLE: the map is damaged.
 */
static inline WEFT__RESULT int weft_hash_map_set(
    weft_hash_map *m, const void *key, size_t key_length, const void *value,
    size_t length, bool if_absent) {
  return weft__hash_set(m, key, key_length, value, length, if_absent, m->ttl);
}

/* As weft_hash_map_set, but the value counts for `ttl` ms: 1 to that of the
   cache. EINVAL if it is out of range, or entries do not expire. */
static inline WEFT__RESULT int weft_hash_map_set_for(
    weft_hash_map *m, const void *key, size_t key_length, const void *value,
    size_t length, bool if_absent, int32_t ttl) {
  if (ttl < 1 || ttl > m->ttl) return EINVAL;
  return weft__hash_set(m, key, key_length, value, length, if_absent, ttl);
}

/*
 * Deletes a key, and copies the value that it had as weft_hash_map_get does. Of
 * several agents that take one value, one gets it. With EOVERFLOW it is not
 * deleted. Else returns 0, ENOENT, or an error of weft_hash_map_set.
 */
static inline WEFT__RESULT int weft_hash_map_take(weft_hash_map *m,
                                                  const void *key,
                                                  size_t key_length, void *into,
                                                  size_t room, size_t *length) {
  weft__hash_place place;
  int32_t number;
  int error = weft__hash_enter(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE)
    error = ENOENT;
  else if (!weft__hash_copy_value(m, &place.plan,
                                  weft__hash_entry(m, &place.plan, number),
                                  into, room, length))
    error = ENOTRECOVERABLE;
  else if (*length > room)
    error = EOVERFLOW;
  if (error == 0)
    weft__hash_take_out(m, &place.plan, place.bucket, number, place.before,
                        false);
  weft__hash_unlock(place.bucket);
  return error;
}

/* Deletes a key and its value: 0, ENOENT, or an error of weft_hash_map_set. */
static inline WEFT__RESULT int weft_hash_map_delete(weft_hash_map *m,
                                                    const void *key,
                                                    size_t key_length) {
  weft__hash_place place;
  int32_t number;
  int error = weft__hash_enter(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE)
    error = ENOENT;
  else
    weft__hash_take_out(m, &place.plan, place.bucket, number, place.before,
                        false);
  weft__hash_unlock(place.bucket);
  return error;
}

/* Changes a value of `*length` bytes, or makes one if `is_there` is false.
   Returns false to delete the key. `value` has room for a value of the map. */
typedef bool weft_hash_map_change(void *value, size_t *length, bool is_there,
                                  void *context);

/*
 * Gives a key the value that `change` makes of the old one, in `value`, which
 * has room for a value of the map. No other agent writes to the key meanwhile,
 * or to others of its bucket: `change` must be short, and may neither write to
 * this map nor change the key. Returns 0, or an error of weft_hash_map_set.
 */
static inline WEFT__RESULT int weft_hash_map_update(
    weft_hash_map *m, const void *key, size_t key_length,
    weft_hash_map_change *change, void *context, void *value) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  size_t length = 0;
  size_t room = (size_t)weft_hash_map_value_size(m);
  int error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  bool is_there = number != WEFT__HASH_NONE;
  if (is_there && !weft__hash_copy_value(
                      m, &place.plan, weft__hash_entry(m, &place.plan, number),
                      value, room, &length)) {
    error = ENOTRECOVERABLE;
  } else if (!change(value, &length, is_there, context)) {
    if (is_there)
      weft__hash_take_out(m, &place.plan, place.bucket, number, place.before,
                        false);
  } else if (!weft__hash_value_of(&cell, m, value, length)) {
    error = EINVAL;
  } else if (is_there) {
    if (!weft__hash_replace(m, &place, number, &cell, m->ttl)) error = ENOSPC;
  } else if (!weft__hash_insert(m, &place, &cell, m->ttl)) {
    error = ENOSPC;
  }
  weft__hash_unlock(place.bucket);
  return error;
}

/* Adds a value if the key is not there. Then, or if it is, copies the value
   that the key has, as weft_hash_map_get does. Returns 0, EOVERFLOW, or an
   error of weft_hash_map_set. */
static inline WEFT__RESULT int weft_hash_map_get_or_insert(
    weft_hash_map *m, const void *key, size_t key_length, const void *value,
    size_t value_length, void *into, size_t room, size_t *length) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  if (!weft__hash_value_of(&cell, m, value, value_length)) return EINVAL;
  int error = weft_hash_map_get(m, key, key_length, into, room, length);
  if (error != ENOENT) return error;
  error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE) {
    *length = value_length;
    if (!weft__hash_insert(m, &place, &cell, m->ttl))
      error = ENOSPC;
    else if (value_length <= room && value_length > 0)
      __builtin_memcpy(into, value, value_length);
  } else if (!weft__hash_copy_value(m, &place.plan,
                                    weft__hash_entry(m, &place.plan, number),
                                    into, room, length)) {
    error = ENOTRECOVERABLE;
  }
  weft__hash_unlock(place.bucket);
  return error == 0 && *length > room ? EOVERFLOW : error;
}

/* ---- all entries --------------------------------------------------------- */

/* Deletes all entries, bucket by bucket. An entry that another agent adds
   meanwhile may stay. Returns 0, or an error of weft_hash_map_set. */
static inline WEFT__RESULT int weft_hash_map_clear(weft_hash_map *m) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  for (int32_t i = 0; i < plan.buckets; i++) {
    weft__hash_bucket *bucket = weft__hash_bucket_at(m, i);
    if (weft__load(&bucket->head) == 0) continue;
    int error = weft__hash_lock(bucket);
    if (error != 0) return error;
    if (!weft__hash_is_whole(m, &plan, bucket)) error = ENOTRECOVERABLE;
    while (error == 0) {
      int32_t next = weft__load(&bucket->head);
      if (next == 0) break;
      weft__hash_take_out(m, &plan, bucket, next, &bucket->head, false);
    }
    weft__hash_unlock(bucket);
    if (error != 0) return error;
  }
  return 0;
}

/* ---- after a death ------------------------------------------------------- */

/*
 * Mends and unlocks the buckets that agent `id` was writing to. Each of its
 * writes has happened wholly or not at all. Lets another agent make the values
 * that it was making. Call it only when that agent will never run again.
 * Returns how many buckets and such values there were, or -ENOTRECOVERABLE if
 * such a bucket is damaged; then nothing has changed.
 */
static inline int32_t weft_hash_map_abandon(weft_hash_map *m, int32_t id) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  int32_t count = 0;
  if (id == 0) return 0;
  for (int32_t i = 0; i < plan.buckets; i++) {
    weft__hash_bucket *bucket = weft__hash_bucket_at(m, i);
    if (weft_mutex_owner(&bucket->lock) != id) continue;
    if (!weft__hash_is_whole(m, &plan, bucket)) {
      /* Or another agent has mended it meanwhile, and writes to it. */
      if (weft_mutex_owner(&bucket->lock) != id) continue;
      return -ENOTRECOVERABLE;
    }
    /* Before the bucket has another owner: if this agent ends meanwhile, the
       next one still finds what there is to do. */
    weft__hash_release(m, &plan, id);
    if (!weft__mutex_inherit(&bucket->lock, id, weft_agent_id())) continue;
    weft__hash_mend(m, &plan, bucket);
    weft__hash_unlock(bucket);
    count++;
  }
  return count + weft__hash_release_flights(m, id);
}

WEFT__END

#endif

#endif /* WEFT_HASH_MAP_H */

/*
 * The hot operations of weft.h as exports, for primitives/kernel/. JavaScript
 * calls them in place of its own twin of the same algorithm: V8 calls a builtin
 * for each operation of `Atomics`, but compiles those of WebAssembly to single
 * instructions.
 *
 * No function here waits. No function needs memory of its own: the modules have
 * no stack, no data and no thread-local variables, so that each realm can have
 * an instance on the same memory. What an operation needs to know about its
 * agent comes with the call.
 *
 * WEFT_KERNEL_ONE and WEFT_KERNEL_<stem> make a module of one primitive. A C
 * program may compile this file as it is, together with its own files, and give
 * its exports to useKernel() of @weft/sync/kernel.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef WEFT_KERNEL_ONE
#include "weft.h"
static inline void weft__kernel_enter(int32_t id) { weft_agent_set_id(id); }
#else
/* The agent that called: a global of the instance, and no word of memory. */
static __attribute__((address_space(1))) int32_t weft__kernel_id;
#define WEFT_AGENT_ID() weft__kernel_id
#define WEFT_NOW() INT64_C(0)
#define WEFT_SPIN_ROUNDS 0 /* JavaScript waits, where it must */
/* Results come through pointers to locals. Inlined functions need no stack for
   them. */
#define inline inline __attribute__((always_inline))
#define volatile /* loops that only pass time are left out */
#include "weft.h"
#undef inline
#undef volatile
static inline void weft__kernel_enter(int32_t id) { weft__kernel_id = id; }
#endif

/* A module of one primitive exports names without the stem. The module of a
   program exports them with the stem. */
#ifdef WEFT_KERNEL_ONE
#define WEFT_KERNEL(stem, name)                                                \
  __attribute__((export_name(#name))) weft_kernel_##stem##_##name
#else
#define WEFT_KERNEL(stem, name)                                                \
  __attribute__((export_name("weft_kernel_" #stem                              \
                             "_" #name))) weft_kernel_##stem##_##name
#endif

/* A value that was taken; or 2^32 + errno, which no value is. */
static inline double weft__kernel_value(int result, int32_t value) {
  return result == 0 ? (double)value : 4294967296.0 + result;
}

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_mutex)
/* The first attempt of a lock that may wait. Returns the state before it. */
int32_t WEFT_KERNEL(mutex, lock)(weft_mutex *m, int32_t id) {
  return weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, id);
}

int WEFT_KERNEL(mutex, try_lock)(weft_mutex *m, int32_t id) {
  weft__kernel_enter(id);
  return weft_mutex_try_lock(m);
}

int WEFT_KERNEL(mutex, unlock)(weft_mutex *m, int32_t id) {
  weft__kernel_enter(id);
  return weft_mutex_unlock(m);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_rw_lock)
/* JavaScript does it itself for a tracked lock. */
int WEFT_KERNEL(rw_lock, try_read)(weft_rw_lock *l) {
  if (l->tracked != 0) return EINVAL;
  return weft_rw_lock_try_read(l);
}

int WEFT_KERNEL(rw_lock, unlock_read)(weft_rw_lock *l) {
  if (l->tracked != 0) return EINVAL;
  return weft_rw_lock_unlock_read(l);
}

int WEFT_KERNEL(rw_lock, try_write)(weft_rw_lock *l, int32_t id) {
  if (l->tracked != 0) return EINVAL;
  weft__kernel_enter(id);
  return weft_rw_lock_try_write(l);
}

int WEFT_KERNEL(rw_lock, unlock_write)(weft_rw_lock *l, int32_t id) {
  if (l->tracked != 0) return EINVAL;
  weft__kernel_enter(id);
  return weft_rw_lock_unlock_write(l);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_semaphore)
/* JavaScript does it itself for a tracked semaphore. */
int WEFT_KERNEL(semaphore, try_acquire)(weft_semaphore *s, int32_t n) {
  if (s->tracked != 0) return EINVAL;
  return weft_semaphore_try_acquire(s, n);
}

int WEFT_KERNEL(semaphore, release)(weft_semaphore *s, int32_t n) {
  if (s->tracked != 0) return EINVAL;
  return weft_semaphore_release(s, n);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_event)
void WEFT_KERNEL(event, set)(weft_event *e) { weft_event_set(e); }

void WEFT_KERNEL(event, reset)(weft_event *e) { weft_event_reset(e); }

int WEFT_KERNEL(event, try_wait)(weft_event *e) {
  return weft_event_try_wait(e);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_latch)
int WEFT_KERNEL(latch, count_down)(weft_latch *l, int32_t n) {
  return weft_latch_count_down(l, n);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_snapshot)
/* JavaScript knows that the agent has the role before it calls one of these. */
int WEFT_KERNEL(snapshot, write)(weft_snapshot *s, const void *src) {
  return weft__snapshot_write(s, src);
}

int32_t WEFT_KERNEL(snapshot, read)(weft_snapshot *s, void *dst) {
  return weft__snapshot_read(s, dst);
}
#endif

/* Elements of 4 bytes. */
#define WEFT__KERNEL_INTS(type)                                       \
  int WEFT_KERNEL(type, push_int)(weft_##type * q, int32_t value) {   \
    return weft_##type##_try_push_int(q, value);                      \
  }                                                                   \
  double WEFT_KERNEL(type, pop_int)(weft_##type * q) {                \
    int32_t value = 0;                                                \
    int result = weft_##type##_try_pop_int(q, &value);                \
    return weft__kernel_value(result, value);                         \
  }

/* JavaScript reads and writes these elements in place, and batches in the same
   memory. */
#define WEFT__KERNEL_BYTES(type)                                           \
  void *WEFT_KERNEL(type, reserve)(weft_##type * q) {                      \
    return weft_##type##_reserve(q);                                       \
  }                                                                        \
  void *WEFT_KERNEL(type, peek)(weft_##type * q) {                         \
    return weft_##type##_peek(q);                                          \
  }                                                                        \
  int32_t WEFT_KERNEL(type, push_many)(weft_##type * q, const void *src,   \
                                       int32_t n) {                        \
    return weft_##type##_try_push_many(q, src, n);                         \
  }                                                                        \
  int32_t WEFT_KERNEL(type, pop_many)(weft_##type * q, void *dst,          \
                                      int32_t n) {                         \
    return weft_##type##_try_pop_many(q, dst, n);                          \
  }

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_spsc_queue)
/* JavaScript knows that the agent has the role before it calls one of these. */
int WEFT_KERNEL(spsc_queue, push_int)(weft_spsc_queue *q, int32_t value) {
  return q->element_size == 4 ? weft__spsc_push_int(q, value, false) : EINVAL;
}

double WEFT_KERNEL(spsc_queue, pop_int)(weft_spsc_queue *q) {
  int32_t value = 0;
  int result =
      q->element_size == 4 ? weft__spsc_pop_int(q, &value, false) : EINVAL;
  return weft__kernel_value(result, value);
}

void *WEFT_KERNEL(spsc_queue, reserve)(weft_spsc_queue *q) {
  return weft__spsc_reserve(q);
}

void *WEFT_KERNEL(spsc_queue, peek)(weft_spsc_queue *q) {
  return weft__spsc_peek(q);
}

int32_t WEFT_KERNEL(spsc_queue, push_many)(weft_spsc_queue *q, const void *src,
                                           int32_t n) {
  return weft__spsc_push_many(q, src, n);
}

int32_t WEFT_KERNEL(spsc_queue, pop_many)(weft_spsc_queue *q, void *dst,
                                          int32_t n) {
  return weft__spsc_pop_many(q, dst, n);
}

int WEFT_KERNEL(spsc_queue, commit)(weft_spsc_queue *q) {
  return weft_spsc_queue_commit(q);
}

void WEFT_KERNEL(spsc_queue, consume)(weft_spsc_queue *q) {
  weft_spsc_queue_consume(q);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_mpmc_queue)
WEFT__KERNEL_INTS(mpmc_queue)
WEFT__KERNEL_BYTES(mpmc_queue)

void WEFT_KERNEL(mpmc_queue, commit)(weft_mpmc_queue *q, void *slot) {
  weft_mpmc_queue_commit(q, slot);
}

void WEFT_KERNEL(mpmc_queue, consume)(weft_mpmc_queue *q, void *slot) {
  weft_mpmc_queue_consume(q, slot);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_lock_free_queue)
WEFT__KERNEL_INTS(lock_free_queue)
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_record_ring)
/* Returns the place for a record of `length` bytes, or 0 if JavaScript must do
   it. */
void *WEFT_KERNEL(record_ring, reserve)(weft_record_ring *r, int32_t id,
                                        int32_t length) {
  void *at = NULL;
  weft__kernel_enter(id);
  return weft_record_ring_reserve(r, length, &at) == 0 ? at : NULL;
}

int WEFT_KERNEL(record_ring, commit)(weft_record_ring *r, void *at,
                                     int32_t length) {
  return weft_record_ring_commit(r, at, length);
}

int WEFT_KERNEL(record_ring, push)(weft_record_ring *r, int32_t id,
                                   const void *src, int32_t length) {
  weft__kernel_enter(id);
  return weft_record_ring_try_push(r, src, length);
}

/* Where the oldest record lies, or NULL. The ring knows the agent by `id`. */
const void *WEFT_KERNEL(record_ring, peek)(weft_record_ring *r, int32_t id) {
  int32_t length = 0;
  weft__kernel_enter(id);
  return weft_record_ring_peek(r, &length);
}

void WEFT_KERNEL(record_ring, consume)(weft_record_ring *r) {
  weft_record_ring_consume(r);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_work_counter)
/* The first task of the next range, or -1; the caller knows how long it is. */
int32_t WEFT_KERNEL(work_counter, take)(weft_work_counter *c) {
  weft_work_range range = {0, 0};
  if (c->tracked != 0) return -1; /* JavaScript does it itself */
  weft__work_counter_take(c, &range);
  return range.start == range.end ? -1 : range.start;
}

int WEFT_KERNEL(work_counter, done)(weft_work_counter *c, int32_t n) {
  if (c->tracked != 0) return EINVAL;
  return weft_work_counter_done(c, n);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_work_deque)
/* JavaScript knows that the agent is the owner before it calls push or pop. */
int WEFT_KERNEL(work_deque, push)(weft_work_deque *d, int32_t item) {
  return weft__work_deque_push(d, item);
}

double WEFT_KERNEL(work_deque, pop)(weft_work_deque *d) {
  int32_t item = 0;
  int result = weft__work_deque_pop(d, &item);
  return weft__kernel_value(result, item);
}

double WEFT_KERNEL(work_deque, steal)(weft_work_deque *d) {
  int32_t item = 0;
  int result = weft_work_deque_steal(d, &item);
  return weft__kernel_value(result, item);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_slab_pool)
void *WEFT_KERNEL(slab_pool, allocate)(weft_slab_pool *p, int32_t id) {
  weft__kernel_enter(id);
  return weft_slab_pool_allocate(p, NULL);
}

int WEFT_KERNEL(slab_pool, free)(weft_slab_pool *p, void *block) {
  return weft_slab_pool_free(p, block, NULL);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_striped_counter)
void WEFT_KERNEL(striped_counter, add)(weft_striped_counter_stripe *s,
                                       int32_t n) {
  weft_striped_counter_add_to(s, n);
}
#endif

#if !defined(WEFT_KERNEL_ONE) || defined(WEFT_KERNEL_hash_map)
/* JavaScript knows that keys and values are integers, and that the map is no
   cache, before it calls one of these. So all loops over words have one step.
   */
__attribute__((always_inline)) static inline void weft__kernel_place(
    weft__hash_place *place, const weft_hash_map *m, int32_t key) {
  place->plan = weft__hash_plan_of(m);
  place->plan.key_words = 1;
  place->plan.long_keys = false;
  /* A cell of one word, which stands where others have their length: so the key
     needs no address. */
  place->key.bytes = NULL;
  place->key.length = key;
  place->key.varies = true;
  place->key.count = 1;
  place->hash = weft__hash_of(m, &place->key);
  place->bucket = weft__hash_bucket_of(m, &place->plan, place->hash);
}

static inline int32_t *weft__kernel_value_at(const weft_hash_map *m,
                                             const weft__hash_place *place,
                                             int32_t number) {
  return weft__hash_entry(m, &place->plan, number) + place->plan.value;
}

double WEFT_KERNEL(hash_map, get)(const weft_hash_map *m, int32_t key) {
  weft__hash_place place;
  weft__kernel_place(&place, m, key);
  for (int32_t tries = WEFT__MOST_TRIES; tries > 0; tries--) {
    int32_t value = 0;
    int32_t version = weft__load(&place.bucket->version);
    int32_t number = weft__hash_find(m, &place);
    if (number > 0)
      value = weft__load(weft__kernel_value_at(m, &place, number));
    /* As in weft__hash_read. */
    if (weft__load(&place.bucket->version) != version) continue;
    if (number == WEFT__HASH_ASTRAY) break;
    return weft__kernel_value(number > 0 ? 0 : ENOENT, value);
  }
  return weft__kernel_value(ENOTRECOVERABLE, 0);
}

/* Overwrites a value. ENOENT if the key is not there; EBUSY if another agent
   writes to its bucket. */
int WEFT_KERNEL(hash_map, set)(weft_hash_map *m, int32_t id, int32_t key,
                               int32_t value) {
  weft__hash_place place;
  weft__kernel_enter(id);
  weft__kernel_place(&place, m, key);
  if (!weft__hash_try_lock(place.bucket)) return EBUSY;
  int32_t number = weft__hash_find(m, &place);
  if (number > 0) weft__store(weft__kernel_value_at(m, &place, number), value);
  weft__hash_unlock(place.bucket);
  return number > 0 ? 0 : ENOENT;
}

/* Adds to a value; the value before, or an error as of `set`. */
double WEFT_KERNEL(hash_map, add)(weft_hash_map *m, int32_t id, int32_t key,
                                  int32_t n) {
  weft__hash_place place;
  weft__kernel_enter(id);
  weft__kernel_place(&place, m, key);
  if (!weft__hash_try_lock(place.bucket)) return weft__kernel_value(EBUSY, 0);
  int32_t number = weft__hash_find(m, &place);
  int32_t before = 0;
  if (number > 0)
    before = weft__add(weft__kernel_value_at(m, &place, number), n);
  weft__hash_unlock(place.bucket);
  return weft__kernel_value(number > 0 ? 0 : ENOENT, before);
}
#endif

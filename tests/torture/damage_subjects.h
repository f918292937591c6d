/*
 * The subjects of damage.c: how each primitive begins, and its calls that do
 * not wait.
 */
#ifndef DAMAGE_SUBJECTS_H
#define DAMAGE_SUBJECTS_H

static int32_t source[64], target[64];

typedef struct {
  const char *name;
  size_t bytes;
  void (*init)(void *at, size_t bytes);
  void (*calls)(void *at, int which);
  int count;  /* of calls */
  int sealed; /* words of configuration at the front */
} subject;

static const weft_queue_config QUEUE = {8, 4};
static const weft_queue_config WIDE = {8, 12};

static void mutex_init(void *at, size_t bytes) {
  if (weft_mutex_init(at, bytes) == NULL) abort();
}
static void mutex_calls(void *at, int which) {
  weft_mutex *m = (weft_mutex *)at;
  int held;
  switch (which) {
    case 0:
      held = weft_mutex_try_lock(m);
      if (held == 0 || held == EOWNERDEAD) held = weft_mutex_unlock(m);
      return;
    case 1:
      held = weft_mutex_unlock(m);
      return;
    default:
      held = weft_mutex_abandon(m, 5);
  }
}

static void rw_lock_init(void *at, size_t bytes) {
  if (weft_rw_lock_init(at, bytes) == NULL) abort();
}
static void rw_lock_calls(void *at, int which) {
  weft_rw_lock *l = (weft_rw_lock *)at;
  int held;
  switch (which) {
    case 0:
      held = weft_rw_lock_try_read(l);
      if (held == 0 || held == EOWNERDEAD) held = weft_rw_lock_unlock_read(l);
      return;
    case 1:
      held = weft_rw_lock_try_write(l);
      if (held == 0 || held == EOWNERDEAD) held = weft_rw_lock_unlock_write(l);
      return;
    case 2:
      held = weft_rw_lock_unlock_read(l);
      return;
    case 3:
      held = weft_rw_lock_unlock_write(l);
      return;
    default:
      held = weft_rw_lock_abandon(l, 5);
  }
}

static void condition_init(void *at, size_t bytes) {
  if (weft_condition_init(at, bytes) == NULL) abort();
}
static void condition_calls(void *at, int which) {
  weft_condition *c = (weft_condition *)at;
  int done = 0;
  if (which == 0) done = weft_condition_notify(c, 1);
  if (which == 1) done = weft_condition_notify(c, 3);
  if (which == 2) weft_condition_notify_all(c);
  (void)done;
}

static void semaphore_init(void *at, size_t bytes) {
  if (weft_semaphore_init(at, bytes, 3) == NULL) abort();
}
static void semaphore_calls(void *at, int which) {
  weft_semaphore *x = (weft_semaphore *)at;
  int done;
  switch (which) {
    case 0:
      done = weft_semaphore_try_acquire(x, 1);
      return;
    case 1:
      done = weft_semaphore_try_acquire(x, 2);
      return;
    case 2:
      done = weft_semaphore_release(x, 1);
      return;
    case 3:
      (void)weft_semaphore_available(x);
      return;
    case 4:
      done = weft_semaphore_drain(x);
      return;
    default:
      done = weft_semaphore_abandon(x, 5);
  }
  (void)done;
}

static void snapshot_init(void *at, size_t bytes) {
  const weft_snapshot_config config = {8, false};
  if (weft_snapshot_init(at, bytes, config) == NULL) abort();
}
static void snapshot_of_one_init(void *at, size_t bytes) {
  const weft_snapshot_config config = {8, true};
  if (weft_snapshot_init(at, bytes, config) == NULL) abort();
}
static void snapshot_calls(void *at, int which) {
  weft_snapshot *x = (weft_snapshot *)at;
  if (which == 0)
    weft_snapshot_write(x, source);
  else
    (void)weft_snapshot_read(x, target);
}

#define QUEUE_CALLS(type)                                  \
  static void type##_calls(void *at, int which) {          \
    weft_##type *q = (weft_##type *)at;                    \
    int done = 0;                                          \
    int32_t count = 0;                                     \
    switch (which) {                                       \
      case 0:                                              \
        done = weft_##type##_try_push(q, source);          \
        return;                                            \
      case 1:                                              \
        done = weft_##type##_try_pop(q, target);           \
        return;                                            \
      case 2:                                              \
        count = weft_##type##_try_push_many(q, source, 4); \
        return;                                            \
      case 3:                                              \
        count = weft_##type##_try_pop_many(q, target, 4);  \
        return;                                            \
      case 4:                                              \
        (void)weft_##type##_size(q);                       \
        return;                                            \
      case 5:                                              \
        (void)weft_##type##_closed(q);                     \
        return;                                            \
      case 6:                                              \
        weft_##type##_close(q);                            \
        return;                                            \
      default:                                             \
        (void)done, (void)count;                           \
        type##_more(q, which - 7);                         \
    }                                                      \
  }

static void spsc_queue_more(weft_spsc_queue *q, int which) {
  int32_t *slot;
  weft_pieces pieces;
  if (which == 0) {
    slot = (int32_t *)weft_spsc_queue_reserve(q);
    if (slot == NULL) return;
    *slot = 1;
    int done = weft_spsc_queue_commit(q);
    (void)done;
  } else if (which == 1) {
    slot = (int32_t *)weft_spsc_queue_peek(q);
    if (slot == NULL) return;
    target[0] = *slot;
    weft_spsc_queue_consume(q);
  } else {
    /* The places are inside the queue, whatever its indices say. */
    const bool pushes = which == 2;
    const int32_t count = pushes ? weft_spsc_queue_reserve_many(q, 4, &pieces)
                                 : weft_spsc_queue_peek_many(q, 4, &pieces);
    if (count <= 0) return;
    const size_t size = (size_t)q->element_size;
    memset(pieces.first, 1, (size_t)pieces.first_count * size);
    memset(pieces.second, 1, (size_t)pieces.second_count * size);
    int done = pushes ? weft_spsc_queue_commit_many(q, count)
                      : weft_spsc_queue_consume_many(q, count);
    (void)done;
  }
}
QUEUE_CALLS(spsc_queue)
static void spsc_queue_init(void *at, size_t bytes) {
  weft_spsc_queue *q = weft_spsc_queue_init(at, bytes, WIDE);
  if (weft_spsc_queue_try_push_many(q, source, 3) != 3) abort();
}

static void mpmc_queue_more(weft_mpmc_queue *q, int which) {
  int32_t *slot;
  if (which == 0) {
    slot = (int32_t *)weft_mpmc_queue_reserve(q);
    if (slot == NULL) return;
    *slot = 1;
    weft_mpmc_queue_commit(q, slot);
  } else {
    slot = (int32_t *)weft_mpmc_queue_peek(q);
    if (slot == NULL) return;
    target[0] = *slot;
    weft_mpmc_queue_consume(q, slot);
  }
}
QUEUE_CALLS(mpmc_queue)
static void mpmc_queue_init(void *at, size_t bytes) {
  weft_mpmc_queue *q = weft_mpmc_queue_init(at, bytes, WIDE);
  if (weft_mpmc_queue_try_push_many(q, source, 3) != 3) abort();
}

static void lock_free_queue_more(weft_lock_free_queue *q, int which) {
  int32_t *slot;
  if (which == 0) {
    slot = (int32_t *)weft_lock_free_queue_reserve(q);
    if (slot == NULL) return;
    *slot = 1;
    int done = weft_lock_free_queue_commit(q, slot);
    (void)done;
  } else if (which == 1) {
    slot = (int32_t *)weft_lock_free_queue_peek(q);
    if (slot == NULL) return;
    target[0] = *slot;
    weft_lock_free_queue_consume(q, slot);
  } else {
    (void)weft_lock_free_queue_repair(q);
  }
}
QUEUE_CALLS(lock_free_queue)
static void lock_free_queue_init(void *at, size_t bytes) {
  weft_lock_free_queue *q = weft_lock_free_queue_init(at, bytes, QUEUE);
  if (weft_lock_free_queue_try_push_many(q, source, 3) != 3) abort();
}

static const weft_record_ring_config RING = {.capacity = 128};
static const weft_record_ring_config RING_OF_ONE = {.capacity = 128,
                                                    .single_producer = true};

static void fill_ring(weft_record_ring *r) {
  for (int32_t i = 0; i < 4; i++)
    if (weft_record_ring_try_push(r, source, 3 + i) != 0) abort();
}
static void record_ring_init(void *at, size_t bytes) {
  fill_ring(weft_record_ring_init(at, bytes, RING));
}
static void record_ring_of_one_init(void *at, size_t bytes) {
  fill_ring(weft_record_ring_init(at, bytes, RING_OF_ONE));
}
static void touch(void *context, const void *bytes, int32_t length) {
  const char *all = (const char *)bytes;
  for (int32_t i = 0; i < length; i++) *(int32_t *)context += all[i];
}
static void record_ring_calls(void *at, int which) {
  weft_record_ring *r = (weft_record_ring *)at;
  int32_t length = (int32_t)sizeof target;
  int done = 0;
  int32_t sum = 0;
  void *place = NULL;
  const void *seen;
  switch (which) {
    case 0:
      done = weft_record_ring_try_pop(r, target, &length);
      break;
    case 1:
      done = weft_record_ring_try_push(r, source, 5);
      break;
    case 2:
      if (weft_record_ring_reserve(r, 9, &place) != 0) break;
      memset(place, 1, 9);
      done = weft_record_ring_commit(r, place, 9);
      break;
    case 3:
      seen = weft_record_ring_peek(r, &length);
      if (seen == NULL) break;
      touch(&sum, seen, length);
      weft_record_ring_consume(r);
      break;
    case 4:
      (void)weft_record_ring_read(r, touch, &sum, 9);
      break;
    case 5:
      (void)weft_record_ring_abandon(r, 5);
      break;
    default:
      weft_record_ring_close(r);
  }
  target[63] = sum + done;
}

static const weft_call_ring_config CALLS = {2, 8, 8};

static void call_ring_init(void *at, size_t bytes) {
  weft_call_ring *r = weft_call_ring_init(at, bytes, CALLS);
  weft_call *call = NULL;
  if (weft_call_ring_try_post(r, source, 4, &call) != 0) abort();
}
static int32_t answer(void *context, const void *request, int32_t length,
                      void *reply) {
  touch(context, request, length);
  memset(reply, 1, 8);
  return 8;
}
static void call_ring_calls(void *at, int which) {
  weft_call_ring *r = (weft_call_ring *)at;
  weft_call *call = NULL;
  int32_t length = 0, sum = 0;
  int done = 0;
  switch (which) {
    case 0:
      done = weft_call_ring_try_post(r, source, 8, &call);
      break;
    case 1:
      if (weft_call_ring_try_take(r, &call) != 0) break;
      touch(&sum, weft_call_ring_request(r, call, &length), length);
      done = weft_call_ring_reply(r, call, source, 4);
      break;
    case 2:
      done = weft_call_ring_try_serve_one(r, answer, &sum);
      break;
    case 3:
      (void)weft_call_ring_abandon(r, 5);
      break;
    default:
      weft_call_ring_close(r);
  }
  target[63] = sum + done;
}

static void work_deque_init(void *at, size_t bytes) {
  weft_work_deque *d = weft_work_deque_init(at, bytes, 8);
  for (int32_t i = 0; i < 3; i++)
    if (weft_work_deque_push(d, i) != 0) abort();
}
static void work_deque_calls(void *at, int which) {
  weft_work_deque *d = (weft_work_deque *)at;
  int done = 0;
  int32_t item = 0;
  if (which == 0) done = weft_work_deque_push(d, 5);
  if (which == 1) done = weft_work_deque_pop(d, &item);
  if (which == 2) done = weft_work_deque_steal(d, &item);
  if (which == 3) done = weft_work_deque_adopt(d);
  target[63] = item + done;
}

static const weft_slab_config SLAB = {40, 8};
static weft_slab_cache cache;

static void slab_pool_init(void *at, size_t bytes) {
  cache = (weft_slab_cache){0};
  if (weft_slab_pool_init(at, bytes, SLAB) == NULL) abort();
}
static void slab_pool_calls(void *at, int which) {
  weft_slab_pool *p = (weft_slab_pool *)at;
  int done = 0;
  if (which == 0) {
    for (int i = 0; i < 50; i++) {
      int32_t *block = (int32_t *)weft_slab_pool_allocate(p, NULL);
      if (block != NULL) block[0] = block[1] = i;
    }
  }
  if (which == 1) done = weft_slab_pool_free(p, (char *)at + 8, NULL);
  if (which == 2) (void)weft_slab_pool_abandon(p, 5, true);
  if (which == 3) (void)weft_slab_pool_available(p);
  target[63] = done;
}

static const weft_hash_map_config MAP = {
    5, WEFT_HASH_MAP_TEXT, 8, WEFT_HASH_MAP_F64, 8, 7, false, 0};
static const weft_hash_map_config CACHE = {
    2, WEFT_HASH_MAP_TEXT, 8, WEFT_HASH_MAP_F64, 8, 7, true, 0};
static const weft_hash_map_config EXPIRING = {
    2, WEFT_HASH_MAP_TEXT, 8, WEFT_HASH_MAP_F64, 8, 7, true, 5};

/* Values of 8 bytes in blocks of one word. */
static const weft_hash_map_config LONG = {
    5, WEFT_HASH_MAP_TEXT, 8, WEFT_HASH_MAP_BINARY, 4, 7, false, 0};
static const weft_hash_map_heap HEAP = {12 * 12, 12, 8, 0};

/* Keys of more than a byte in such blocks. */
static const weft_hash_map_config LONG_KEYS = {
    5, WEFT_HASH_MAP_TEXT, 1, WEFT_HASH_MAP_F64, 8, 7, false, 0};
static const weft_hash_map_heap KEYS_HEAP = {12 * 12, 12, 0, 8};

static void hash_map_fill(weft_hash_map *m) {
  double value = 1;
  if (m == NULL) abort();
  if (weft_hash_map_set(m, "a", 1, &value, 8, false) != 0) abort();
  if (weft_hash_map_set(m, "bc", 2, &value, 8, false) != 0) abort();
}

static void hash_map_init(void *at, size_t bytes) {
  hash_map_fill(weft_hash_map_init(at, bytes, MAP));
}

static void long_map_init(void *at, size_t bytes) {
  hash_map_fill(weft_hash_map_init_with_heap(at, bytes, LONG, HEAP));
}

static void long_keys_init(void *at, size_t bytes) {
  hash_map_fill(weft_hash_map_init_with_heap(at, bytes, LONG_KEYS, KEYS_HEAP));
}

static void cache_init(void *at, size_t bytes) {
  hash_map_fill(weft_hash_map_init(at, bytes, CACHE));
}

static void expiring_cache_init(void *at, size_t bytes) {
  hash_map_fill(weft_hash_map_init(at, bytes, EXPIRING));
}

/* Buckets that nobody holds: writers do not wait. */
static void hash_map_unlock(weft_hash_map *m) {
  int32_t buckets = weft__hash_plan_of(m).buckets;
  for (int32_t i = 0; i < buckets; i++)
    weft__hash_bucket_at(m, i)->lock.state = 0;
}

static bool hash_map_change(void *value, size_t *length, bool is_there,
                            void *context) {
  double next = is_there ? 2 : 3;
  (void)context;
  memcpy(value, &next, sizeof next);
  *length = sizeof next;
  return true;
}

static void hash_map_calls(void *at, int which) {
  weft_hash_map *m = (weft_hash_map *)at;
  double value = 4;
  size_t length = 0, key_length = 0;
  char key[8];
  int32_t cursor = 0;
  int done = 0;
  if (which == 0) done = weft_hash_map_get(m, "a", 1, &value, 8, &length);
  if (which == 1) done = weft_hash_map_has(m, "d", 1);
  if (which == 2)
    while (weft_hash_map_next(m, &cursor, key, &key_length, &value, &length) ==
           0)
      if (key_length > 8 || length > 8) abort();
  if (which == 3) (void)weft_hash_map_size(m);
  if (which == 4) done = weft_hash_map_abandon(m, 5);
  if (which > 4) hash_map_unlock(m);
  if (which == 5) done = weft_hash_map_set(m, "d", 1, &value, 8, false);
  if (which == 6) done = weft_hash_map_delete(m, "a", 1);
  if (which == 7) done = weft_hash_map_take(m, "bc", 2, &value, 8, &length);
  if (which == 8)
    done = weft_hash_map_update(m, "a", 1, hash_map_change, NULL, &value);
  if (which == 9) done = weft_hash_map_add_f64(m, "a", 1, 2, &value);
  if (which == 10) done = weft_hash_map_clear(m);
  if (which == 11)
    done = weft_hash_map_wait_for(m, "d", 1, &value, 8, &length, 0);
  if (which == 12) done = (int)weft_hash_map_hits(m);
  if (which == 13) done = (int)weft_hash_map_misses(m);
  if (which == 14) done = (int)weft_hash_map_evictions(m);
  target[63] = done;
}

static void work_counter_init(void *at, size_t bytes) {
  const weft_work_config config = {.chunk = 3};
  if (weft_work_counter_init(at, bytes, 10, config) == NULL) abort();
}
static void work_counter_calls(void *at, int which) {
  weft_work_counter *c = (weft_work_counter *)at;
  weft_work_range range = {0, 0};
  int done = 0;
  if (which == 0) (void)weft_work_counter_next_range(c, &range);
  if (which == 1) done = weft_work_counter_done(c, 1);
  if (which == 2) (void)weft_work_counter_remaining(c);
  if (which == 3) weft_work_counter_cancel(c);
  if (range.start < 0 || range.end < range.start || range.end > 10) abort();
  target[63] = done;
}

static void latch_init(void *at, size_t bytes) {
  if (weft_latch_init(at, bytes, 5) == NULL) abort();
}
static void latch_calls(void *at, int which) {
  weft_latch *l = (weft_latch *)at;
  int done = which == 0 ? weft_latch_count_down(l, 1) : weft_latch_try_wait(l);
  target[63] = done;
}

static void wait_group_init(void *at, size_t bytes) {
  weft_wait_group *g = weft_wait_group_init(at, bytes);
  if (g == NULL || weft_wait_group_add(g, 5) != 0) abort();
}
static void wait_group_calls(void *at, int which) {
  weft_wait_group *g = (weft_wait_group *)at;
  int done = 0;
  if (which == 0) done = weft_wait_group_add(g, 1);
  if (which == 1) done = weft_wait_group_done(g, 1);
  if (which == 2) done = weft_wait_group_try_wait(g);
  target[63] = done;
}

static void barrier_init(void *at, size_t bytes) {
  if (weft_barrier_init(at, bytes, 3) == NULL) abort();
}
static void barrier_calls(void *at, int which) {
  target[63] = weft_barrier_leave((weft_barrier *)at, which == 0);
}

static void striped_counter_init(void *at, size_t bytes) {
  if (weft_striped_counter_init(at, bytes, 2) == NULL) abort();
}
static void striped_counter_calls(void *at, int which) {
  weft_striped_counter *c = (weft_striped_counter *)at;
  if (which == 0)
    weft_striped_counter_add(c, 3);
  else
    (void)weft_striped_counter_sum(c);
}

static const weft_broadcast_config CAST = {
    .capacity = 8, .element_size = 4, .subscribers = 2};

static void broadcast_init(void *at, size_t bytes) {
  weft_broadcast *b = weft_broadcast_init(at, bytes, CAST);
  if (weft_broadcast_subscribe(b) < 0) abort();
  if (weft_broadcast_try_push_int(b, 7) != 0) abort();
}
static void broadcast_calls(void *at, int which) {
  weft_broadcast *b = (weft_broadcast *)at;
  int32_t value = 0, seat;
  int done = 0;
  if (which == 0) done = weft_broadcast_try_push_int(b, 5);
  if (which == 1) done = weft_broadcast_try_pop_int(b, 0, &value);
  if (which == 2) {
    seat = weft_broadcast_subscribe(b);
    if (seat >= 0) weft_broadcast_leave(b, seat);
  }
  if (which == 3) weft_broadcast_close(b);
  target[63] = done + value;
}

static subject SUBJECTS[] = {
    {"mutex", sizeof(weft_mutex), mutex_init, mutex_calls, 3, 0},
    {"rw_lock", sizeof(weft_rw_lock), rw_lock_init, rw_lock_calls, 5, 0},
    {"condition", sizeof(weft_condition), condition_init, condition_calls, 3,
     0},
    {"semaphore", sizeof(weft_semaphore), semaphore_init, semaphore_calls, 6,
     2},
    {"snapshot", 0, snapshot_init, snapshot_calls, 2, 4},
    {"snapshot_of_one", 0, snapshot_of_one_init, snapshot_calls, 2, 4},
    {"spsc_queue", 0, spsc_queue_init, spsc_queue_calls, 11, 4},
    {"mpmc_queue", 0, mpmc_queue_init, mpmc_queue_calls, 9, 4},
    {"lock_free_queue", 0, lock_free_queue_init, lock_free_queue_calls, 10, 4},
    {"record_ring", 0, record_ring_init, record_ring_calls, 7, 4},
    {"record_ring_of_one", 0, record_ring_of_one_init, record_ring_calls, 7, 4},
    {"broadcast", 0, broadcast_init, broadcast_calls, 4, 4},
    {"call_ring", 0, call_ring_init, call_ring_calls, 5, 4},
    {"work_counter", sizeof(weft_work_counter), work_counter_init,
     work_counter_calls, 4, 4},
    {"work_deque", 0, work_deque_init, work_deque_calls, 4, 3},
    {"slab_pool", 0, slab_pool_init, slab_pool_calls, 4, 4},
    {"hash_map", 0, hash_map_init, hash_map_calls, 15, 4},
    {"hash_map", 0, long_map_init, hash_map_calls, 15, 4},
    {"hash_map", 0, long_keys_init, hash_map_calls, 15, 4},
    {"hash_map_cache", 0, cache_init, hash_map_calls, 15, 4},
    {"hash_map_cache", 0, expiring_cache_init, hash_map_calls, 15, 4},
    {"latch", sizeof(weft_latch), latch_init, latch_calls, 2, 2},
    {"wait_group", sizeof(weft_wait_group), wait_group_init, wait_group_calls,
     3, 0},
    {"barrier", sizeof(weft_barrier), barrier_init, barrier_calls, 2, 4},
    {"striped_counter", 0, striped_counter_init, striped_counter_calls, 2, 3},
};
enum { COUNT = sizeof SUBJECTS / sizeof SUBJECTS[0] };

static void measure(void) {
  const weft_snapshot_config two = {8, false}, three = {8, true};
  for (int i = 0; i < COUNT; i++) {
    subject *s = &SUBJECTS[i];
    if (s->bytes != 0) continue;
    if (s->init == snapshot_init) s->bytes = weft_snapshot_bytes(two);
    if (s->init == snapshot_of_one_init) s->bytes = weft_snapshot_bytes(three);
    if (s->init == spsc_queue_init) s->bytes = weft_spsc_queue_bytes(WIDE);
    if (s->init == mpmc_queue_init) s->bytes = weft_mpmc_queue_bytes(WIDE);
    if (s->init == lock_free_queue_init)
      s->bytes = weft_lock_free_queue_bytes(QUEUE);
    if (s->init == record_ring_init) s->bytes = weft_record_ring_bytes(RING);
    if (s->init == record_ring_of_one_init)
      s->bytes = weft_record_ring_bytes(RING_OF_ONE);
    if (s->init == broadcast_init) s->bytes = weft_broadcast_bytes(CAST);
    if (s->init == call_ring_init) s->bytes = weft_call_ring_bytes(CALLS);
    if (s->init == work_deque_init) s->bytes = weft_work_deque_bytes(8);
    if (s->init == slab_pool_init) s->bytes = weft_slab_pool_bytes(SLAB);
    if (s->init == hash_map_init) s->bytes = weft_hash_map_bytes(MAP);
    if (s->init == long_map_init)
      s->bytes = weft_hash_map_bytes_with_heap(LONG, HEAP);
    if (s->init == long_keys_init)
      s->bytes = weft_hash_map_bytes_with_heap(LONG_KEYS, KEYS_HEAP);
    if (s->init == cache_init) s->bytes = weft_hash_map_bytes(CACHE);
    if (s->init == expiring_cache_init)
      s->bytes = weft_hash_map_bytes(EXPIRING);
    if (s->init == striped_counter_init)
      s->bytes = weft_striped_counter_bytes(2);
    if (s->bytes == 0) abort();
  }
}

#endif

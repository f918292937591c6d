/*
 * The work of threads of C on the data structures that TypeScript uses at the
 * same time: structures_test.ts does the same from its side.
 */
#include <pthread.h>

#include "weft.h"

#define EXPORT __attribute__((used, visibility("default")))

enum {
  QUEUE_PUSH,
  QUEUE_POP,
  RECORD_PUSH,
  RECORD_POP,
  POOL_USE,
  DEQUE_OWN,
  DEQUE_STEAL,
  SNAPSHOT_WRITE,
  SNAPSHOT_READ,
  BROADCAST_PUSH,
  BROADCAST_SEE,
  CHANNEL_SEND,
  CHANNEL_RECEIVE,
  MAP_COUNT,
  MAP_WRITE
};

/* A part, and how it went. */
typedef struct {
  int32_t state; /* 1 begun, 2 over */
  int32_t role;
  void *at;
  int32_t count;
  int32_t number;
  int32_t result; /* the sum of what was taken, or how many there were */
  int32_t failed; /* the line of the check that failed, or 0 */
} part;

#define CHECK(condition)                      \
  do {                                        \
    if (!(condition)) p->failed = __LINE__;   \
    if (p->failed) return;                    \
  } while (0)

static void queue_push(part *p) {
  weft_lock_free_queue *q = weft_lock_free_queue_attach(p->at);
  CHECK(q != NULL);
  for (int32_t i = 1; i <= p->count; i++)
    CHECK(weft_lock_free_queue_push_int(q, i, WEFT_FOREVER) == 0);
}

static void queue_pop(part *p) {
  weft_lock_free_queue *q = weft_lock_free_queue_attach(p->at);
  CHECK(q != NULL);
  for (;;) {
    int32_t value = 0;
    int result = weft_lock_free_queue_pop_int(q, &value, WEFT_FOREVER);
    if (result == EPIPE) return;
    CHECK(result == 0);
    p->result += value;
  }
}

static void record_push(part *p) {
  weft_record_ring *r = weft_record_ring_attach(p->at);
  unsigned char bytes[24];
  CHECK(r != NULL);
  for (int32_t i = 1; i <= p->count; i++) {
    int32_t length = 1 + i % 24;
    for (int32_t k = 0; k < length; k++) bytes[k] = (unsigned char)(i + k);
    if (i % 2 == 0) {
      CHECK(weft_record_ring_push(r, bytes, length, WEFT_FOREVER) == 0);
      continue;
    }
    void *at = NULL;
    int result = EBUSY;
    while (result == EBUSY) result = weft_record_ring_reserve(r, length, &at);
    CHECK(result == 0);
    __builtin_memcpy(at, bytes, (size_t)length);
    CHECK(weft_record_ring_commit(r, at, length) == 0);
  }
}

static void record_pop(part *p) {
  weft_record_ring *r = weft_record_ring_attach(p->at);
  CHECK(r != NULL);
  for (;;) {
    unsigned char bytes[24];
    int32_t length = 24;
    int result = weft_record_ring_pop(r, bytes, &length, WEFT_FOREVER);
    if (result == EPIPE) return;
    CHECK(result == 0 && length > 0);
    for (int32_t k = 1; k < length; k++)
      CHECK(bytes[k] == (unsigned char)(bytes[0] + k));
    p->result++;
  }
}

static void pool_use(part *p) {
  weft_slab_pool *pool = weft_slab_pool_attach(p->at);
  weft_slab_cache cache = {p->number, 0, {0}};
  CHECK(pool != NULL);
  for (int32_t i = 0; i < p->count; i++) {
    volatile int32_t *block =
        (volatile int32_t *)weft_slab_pool_allocate(pool, &cache);
    if (block == NULL) continue;
    block[0] = i;
    block[1] = p->number + i;
    CHECK(block[0] == i && block[1] == p->number + i);
    CHECK(weft_slab_pool_free(pool, (void *)(uintptr_t)block, &cache) == 0);
    p->result++;
  }
  weft_slab_pool_release(pool, &cache);
}

static void deque_own(part *p) {
  weft_work_deque *d = weft_work_deque_attach(p->at);
  int32_t item = 0;
  CHECK(d != NULL);
  for (int32_t next = 1; next <= p->count;) {
    if (weft_work_deque_push(d, next) == 0) next++;
    else if (weft_work_deque_pop(d, &item) == 0) p->result += item;
    if (next % 3 == 0 && weft_work_deque_pop(d, &item) == 0)
      p->result += item;
  }
  while (weft_work_deque_pop(d, &item) == 0) p->result += item;
  while (weft_work_deque_push(d, -1) != 0) {
  } /* the end */
}

static void deque_steal(part *p) {
  weft_work_deque *d = weft_work_deque_attach(p->at);
  int32_t item = 0;
  CHECK(d != NULL);
  while (item >= 0)
    if (weft_work_deque_steal(d, &item) == 0 && item > 0) p->result += item;
}

static void snapshot_write(part *p) {
  weft_snapshot *s = weft_snapshot_attach(p->at);
  CHECK(s != NULL && weft_snapshot_size(s) == 32);
  for (int32_t i = 1; i <= p->count; i++) {
    int32_t words[8];
    for (int32_t k = 0; k < 8; k++) words[k] = i * (k + 1);
    weft_snapshot_write(s, words);
  }
}

static void snapshot_read(part *p) {
  weft_snapshot *s = weft_snapshot_attach(p->at);
  CHECK(s != NULL && weft_snapshot_size(s) == 32);
  for (int32_t version = 0; version < p->count;) {
    int32_t words[8];
    int32_t seen = weft_snapshot_read(s, words);
    CHECK(seen >= version);
    version = seen;
    for (int32_t k = 0; k < 8; k++) CHECK(words[k] == seen * (k + 1));
    p->result++;
  }
}

static void broadcast_push(part *p) {
  weft_broadcast *b = weft_broadcast_attach(p->at);
  CHECK(b != NULL);
  for (int32_t i = 1; i <= p->count; i++)
    CHECK(weft_broadcast_push_int(b, i, WEFT_FOREVER) == 0);
  weft_broadcast_close(b);
}

static void broadcast_see(part *p) {
  weft_broadcast *b = weft_broadcast_attach(p->at);
  CHECK(b != NULL);
  int32_t seat = weft_broadcast_subscribe(b);
  CHECK(seat >= 0);
  weft__store(&p->state, 1); /* from here on it sees all */
  for (int32_t last = 0;;) {
    int32_t value = 0;
    int result = weft_broadcast_pop_int(b, seat, &value, WEFT_FOREVER);
    if (result == EPIPE) break;
    CHECK(result == 0 && value > last);
    last = value;
    p->result++;
  }
  p->number = weft_broadcast_dropped(b, seat);
  weft_broadcast_leave(b, seat);
}

/* Numbers with a fraction that tells their sender, and UTF-8. */
static void channel_send(part *p) {
  weft_channel *c = weft_channel_attach(p->at);
  CHECK(c != NULL);
  bool counted = weft_channel_tracked(c) > 0;
  if (counted) CHECK(weft_channel_sender(c) == 0);
  for (int32_t i = 0; i < p->count; i++) {
    int32_t length = 0;
    char text[41];
    if (weft_channel_codec(c) == WEFT_CHANNEL_F64) {
      double value = i + p->number / 4.0;
      CHECK(weft_channel_send(c, &value, 8, WEFT_FOREVER) == 0);
      continue;
    }
    for (; length < i % 20 * 2; length += 2)
      __builtin_memcpy(text + length, "\xc3\xbc", 2);
    text[length++] = (char)('0' + p->number);
    CHECK(weft_channel_send(c, text, length, WEFT_FOREVER) == 0);
  }
  if (counted) CHECK(weft_channel_leave_sender(c) == 0);
}

static void channel_receive(part *p) {
  weft_channel *c = weft_channel_attach(p->at);
  CHECK(c != NULL);
  for (;;) {
    union {
      double value;
      unsigned char text[41];
    } message;
    int32_t length = (int32_t)sizeof message.text;
    int result = weft_channel_receive(c, &message, &length, WEFT_FOREVER);
    if (result == EPIPE) return;
    CHECK(result == 0);
    if (weft_channel_codec(c) == WEFT_CHANNEL_F64) {
      double quarters = message.value * 4;
      CHECK(length == 8 && quarters >= 0 && quarters < 1e6);
      CHECK((double)(int32_t)quarters >= quarters);
    } else {
      int32_t marks = length / 2 * 2;
      for (int32_t k = 0; k < marks; k += 2)
        CHECK(message.text[k] == 0xc3 && message.text[k + 1] == 0xbc);
      CHECK(marks == length || (message.text[marks] & 0xf0) == 0x30);
    }
    p->result++;
  }
}

/* Counts words: a, bb, ccc and so on. */
static void map_count(part *p) {
  weft_hash_map *m = weft_hash_map_attach(p->at);
  CHECK(m != NULL);
  for (int32_t i = 0; i < p->count; i++) {
    char key[8];
    int32_t before = 0;
    int32_t length = 1 + i % 8;
    for (int32_t k = 0; k < length; k++) key[k] = (char)('a' + length);
    CHECK(weft_hash_map_add(m, key, (size_t)length, 1, &before) == 0);
    p->result++;
  }
}

/* Writes and reads texts of which all letters are the same. */
static void map_write(part *p) {
  weft_hash_map *m = weft_hash_map_attach(p->at);
  CHECK(m != NULL);
  for (int32_t i = 0; i < p->count; i++) {
    int32_t key = i * 7 % 13;
    char text[9];
    size_t length = 0;
    for (int32_t k = 0; k < 9; k++) text[k] = (char)('a' + i % 20);
    if (i % 5 == 0) {
      int result = weft_hash_map_delete(m, &key, 4);
      CHECK(result == 0 || result == ENOENT);
    } else if (i % 5 == 1) {
      size_t some = (size_t)(1 + i % 9);
      int result = weft_hash_map_set(m, &key, 4, text, some, i % 2 == 0);
      CHECK(result == 0 || result == ENOSPC || result == EEXIST);
    } else {
      int result = i % 5 == 2 ? weft_hash_map_take(m, &key, 4, text, 9, &length)
                              : weft_hash_map_get(m, &key, 4, text, 9, &length);
      if (result == ENOENT) continue;
      CHECK(result == 0 && length >= 1 && length <= 9);
      for (size_t k = 1; k < length; k++) CHECK(text[k] == text[0]);
      p->result++;
    }
  }
}

static void *thread(void *argument) {
  part *p = (part *)argument;
  static void (*const roles[])(part *) = {
      queue_push, queue_pop,   record_push,    record_pop,
      pool_use,   deque_own,   deque_steal,    snapshot_write,
      snapshot_read, broadcast_push, broadcast_see,  channel_send,
      channel_receive, map_count,    map_write};
  if (p->role != BROADCAST_SEE) weft__store(&p->state, 1);
  roles[p->role](p);
  weft__store(&p->state, 2);
  weft__notify(&p->state, WEFT__ALL);
  return NULL;
}

/* Plays a part in a thread of its own. */
EXPORT int start(part *p) {
  pthread_t id;
  int error = pthread_create(&id, NULL, thread, p);
  return error != 0 ? error : pthread_detach(id);
}

/* Memory for the tests: 256 KiB. */
EXPORT int32_t *arena(void) {
  static int32_t words[1 << 16];
  return words;
}

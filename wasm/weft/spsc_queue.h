/* spsc_queue.h - the twin of primitives/_queue/spsc_core.ts. */
#ifndef WEFT_SPSC_QUEUE_H
#define WEFT_SPSC_QUEUE_H

#include "_bell.h"
#include "_gong.h"
#include "_queue.h"
#include "_region.h"
#include "_spin.h"
#include "_wait.h"
#include "agent.h"

/*
 * Whether the flags of an index stand in a bell beside it, so that its writer
 * moves it by a store. That is far faster where weft__light costs nothing. In
 * WebAssembly it does not, and there the index holds its flags, as in
 * JavaScript. All agents of a queue must do it in one way.
 */
#ifndef WEFT__SPSC_BELLS
#ifdef WEFT__ASYMMETRIC
#define WEFT__SPSC_BELLS 1
#else
#define WEFT__SPSC_BELLS 0
#endif
#endif

WEFT__BEGIN

#define WEFT_SPSC_QUEUE_WAITING_BIT 1 /* SPSC_QUEUE_BITS.WAITING */
#define WEFT_SPSC_QUEUE_CLOSED_BIT (1 << 1) /* SPSC_QUEUE_BITS.CLOSED */
#define WEFT_SPSC_QUEUE_INDEX_MASK (-(1 << 2)) /* SPSC_QUEUE_BITS.INDEX */
#define WEFT_SPSC_QUEUE_ONE (1 << 2) /* SPSC_QUEUE_BITS.INDEX */
/* Words from an index to the gong of those who wait for it. */
#define WEFT__SPSC_GONG 4

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A queue from one producer to one consumer.
 *
 * word 0   magic         Kind and layout version.
 * word 1   capacity      How many elements fit, a power of two.
 * word 2   element_size  Bytes of an element: 1, 2 or a multiple of 4.
 * word 3   seal          Check word over the configuration.
 * word 4   shape         A number that tells apart records with different
 *                        fields; 0 if the elements are not records, or if
 *                        nobody knows.
 * word 32  tail          bit 0      WAITING: the consumer sleeps on this word
 *                        bit 1      CLOSED
 *                        bits 2-31  the next index to push
 *                        sleepers: the consumer
 * word 33  head_cache    The value of `head` that the producer saw last.
 * word 34  producer      The agent that pushes, from its first push on, or 0.
 * word 35  tail_bell     In native programs, the flags of `tail`; otherwise 0.
 *                        sleepers: the consumer
 * word 36  tail_gong     A gong, for an agent that waits for elements here and
 *                        for others.
 *                        sleepers: agents that wait at several ends
 * word 64  head          bit 0      WAITING: the producer sleeps on this word
 *                        bit 1      CLOSED
 *                        bits 2-31  the next index to pop
 *                        sleepers: the producer
 * word 65  tail_cache    The value of `tail` that the consumer saw last.
 * word 66  consumer      The agent that pops, from its first pop on, or 0.
 * word 67  head_bell     In native programs, the flag of `head`; otherwise 0.
 *                        sleepers: the producer
 * word 68  head_gong     A gong, for an agent that waits for room here and for
 *                        others.
 *                        sleepers: agents that wait at several ends
 * word 96  `capacity` elements of `element_size` bytes. Index `i` lies in place
 *          `i mod capacity`.
 *
 * Freed when: every operation of every agent has returned, close included, and
 * none will begin. That it is closed and empty does not say so.
 */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t element_size;
  int32_t seal;
  int32_t shape;
  int32_t _pad0[27];
  int32_t tail;
  int32_t head_cache;
  int32_t producer;
  int32_t tail_bell;
  int32_t tail_gong;
  int32_t _pad1[27];
  int32_t head;
  int32_t tail_cache;
  int32_t consumer;
  int32_t head_bell;
  int32_t head_gong;
  int32_t _pad2[27];
} weft_spsc_queue;
WEFT_WORD(spsc_queue, magic, 0);
WEFT_WORD(spsc_queue, capacity, 1);
WEFT_WORD(spsc_queue, element_size, 2);
WEFT_WORD(spsc_queue, seal, 3);
WEFT_WORD(spsc_queue, shape, 4);
WEFT_WORD(spsc_queue, tail, 32);
WEFT_WORD(spsc_queue, head_cache, 33);
WEFT_WORD(spsc_queue, producer, 34);
WEFT_WORD(spsc_queue, tail_bell, 35);
WEFT_WORD(spsc_queue, tail_gong, 36);
WEFT_WORD(spsc_queue, head, 64);
WEFT_WORD(spsc_queue, tail_cache, 65);
WEFT_WORD(spsc_queue, consumer, 66);
WEFT_WORD(spsc_queue, head_bell, 67);
WEFT_WORD(spsc_queue, head_gong, 68);
WEFT_LENGTH(spsc_queue, 96);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a queue as a constant expression; 0 if out of range. */
#define WEFT_SPSC_QUEUE_BYTES(capacity, element_size)           \
  (!WEFT__QUEUE_FITS(capacity, WEFT__QUEUE_COUNTED(element_size)) \
       ? 0                                                      \
       : sizeof(weft_spsc_queue) +                              \
             WEFT__MULTIPLE(WEFT__QUEUE_ELEMENTS(capacity, element_size), 4))
/* The bytes of a queue of this configuration; 0 if it is out of range. */
static inline size_t weft_spsc_queue_bytes(weft_queue_config config) {
  size_t bytes = (size_t)weft__short_queue_capacity(config); /* or 0 */
  bytes *= (size_t)config.element_size;
  return bytes == 0 ? 0 : sizeof(weft_spsc_queue) + WEFT__MULTIPLE(bytes, 4);
}

/* The queue at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_spsc_queue *weft_spsc_queue_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_spsc_queue) != NULL) return NULL;
  weft__fences();
  return (weft_spsc_queue *)at;
}

/* Initializes `bytes` bytes of unused memory as an empty queue. NULL if the
   configuration is out of range, the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_spsc_queue *weft_spsc_queue_init(
    void *at, size_t bytes, weft_queue_config config) {
  weft_spsc_queue *q = (weft_spsc_queue *)at;
  size_t needed = weft_spsc_queue_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  q->capacity = weft__short_queue_capacity(config);
  q->element_size = config.element_size;
  q->seal = weft__seal(WEFT_KIND_spsc_queue, q->capacity, q->element_size);
  weft__fences();
  weft__store(&q->magic, weft__magic(WEFT_KIND_spsc_queue));
  return q;
}

/* How many elements the queue can hold. */
static inline int32_t weft_spsc_queue_capacity(const weft_spsc_queue *q) {
  return q->capacity;
}

/* The number that JavaScript gives the fields of its records: `shape` of their
   struct. 0 if the elements are not records, or if C has made the queue. */
static inline int32_t weft_spsc_queue_shape(const weft_spsc_queue *q) {
  return q->shape;
}

/* The bytes of an element: a push reads them, a pop writes them. */
static inline int32_t weft_spsc_queue_element_size(const weft_spsc_queue *q) {
  return q->element_size;
}

/* The index of the agent's own end. Flags of the other one stand in it only
   where there are no bells. */
static inline int32_t weft__spsc_own(const int32_t *index) {
#if WEFT__SPSC_BELLS
  return weft__hint(index);
#else
  return weft__hint(index) & WEFT_SPSC_QUEUE_INDEX_MASK;
#endif
}

/* How many elements are in the queue. The number may change at any moment. */
static inline int32_t weft_spsc_queue_size(const weft_spsc_queue *q) {
  int32_t head = weft__load(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;
  int32_t tail = weft__load(&q->tail) & WEFT_SPSC_QUEUE_INDEX_MASK;
  int32_t size = (int32_t)((uint32_t)weft__minus(tail, head) >> 2);
  return size < q->capacity ? size : q->capacity;
}

/* The place of an element of `n` bytes. */
static inline void *weft__spsc_slot(weft_spsc_queue *q, int32_t at, size_t n) {
  uint32_t slot = ((uint32_t)at >> 2) & (uint32_t)(q->capacity - 1);
  return (char *)(q + 1) + (size_t)slot * n;
}

static inline void *weft__spsc_at(weft_spsc_queue *q, int32_t index) {
  return weft__spsc_slot(q, index, (size_t)q->element_size);
}

/* How far two indices are apart if the queue is full. */
static inline uint32_t weft__spsc_span(const weft_spsc_queue *q) {
  return (uint32_t)q->capacity * WEFT_SPSC_QUEUE_ONE;
}

/* The place of a 4-byte element. An index counts in units of 4, so its low part
   is the offset in bytes. */
static inline int32_t *weft__spsc_int_at(weft_spsc_queue *q, int32_t index) {
  uint32_t mask = weft__spsc_span(q) - WEFT_SPSC_QUEUE_ONE;
  return (int32_t *)((char *)(q + 1) + ((uint32_t)index & mask));
}

/* Whether the index of the consumer that the producer saw last shows room. */
static inline bool weft__spsc_has_room(const weft_spsc_queue *q, int32_t tail) {
  return (uint32_t)weft__minus(tail, q->head_cache) < weft__spsc_span(q);
}

/* Whether there is an element between the two indices. */
static inline bool weft__spsc_has_filled(const weft_spsc_queue *q, int32_t tail,
                                         int32_t head) {
  return (uint32_t)weft__minus(tail, weft__plus(head, 1)) < weft__spsc_span(q);
}

/* Whether `count` is what can be, and as much as `wanted`. */
static inline bool weft__spsc_enough(const weft_spsc_queue *q, int32_t count,
                                     int32_t wanted) {
  return count >= wanted && count <= q->capacity;
}

static inline int32_t weft__spsc_until_wrap(const weft_spsc_queue *q,
                                            int32_t index, int32_t count) {
  int32_t slot = (int32_t)((uint32_t)index >> 2) & (q->capacity - 1);
  return count < q->capacity - slot ? count : q->capacity - slot;
}

/* Reads the index of the consumer. */
static inline void weft__spsc_see_head(weft_spsc_queue *q) {
  q->head_cache = weft__receive(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;
}

/* How many elements are free. It reads the index of the consumer if the last
   known number is below `wanted`, or impossible. -ENOTRECOVERABLE if the
   indices are damaged. */
static inline int32_t weft__spsc_room(weft_spsc_queue *q, int32_t tail,
                                      int32_t wanted) {
  int32_t room = q->capacity - (weft__minus(tail, q->head_cache) >> 2);
  if (weft__spsc_enough(q, room, wanted)) return room;
  weft__spsc_see_head(q);
  room = q->capacity - (weft__minus(tail, q->head_cache) >> 2);
  return (uint32_t)room <= (uint32_t)q->capacity ? room : -ENOTRECOVERABLE;
}

/* Whether close was called; elements may still be in the queue. */
static inline bool weft_spsc_queue_closed(const weft_spsc_queue *q) {
#if WEFT__SPSC_BELLS
  return weft__bell_closed(&q->tail_bell);
#else
  return (weft__load(&q->tail) & WEFT_SPSC_QUEUE_CLOSED_BIT) != 0;
#endif
}

#if WEFT__SPSC_BELLS
/* Reads the index of the producer. Returns 0 if there is an element, EBUSY if
   there is none, EPIPE if there is none and the queue is closed, or
   ENOTRECOVERABLE if the indices are damaged. */
static inline int weft__spsc_look(weft_spsc_queue *q, int32_t head) {
  bool closed = weft__bell_closed(&q->tail_bell);
  int32_t tail = closed ? weft__bell_end(&q->tail_bell, &q->tail, head)
                        : weft__receive(&q->tail);
  int32_t known = tail & WEFT_SPSC_QUEUE_INDEX_MASK;
  q->tail_cache = known;
  if (weft__spsc_has_filled(q, known, head)) return 0;
  if (known != head) return ENOTRECOVERABLE;
  return closed ? EPIPE : EBUSY;
}

/* (P) Publishes `count` elements, and wakes the consumer if it sleeps. */
static inline int weft__spsc_publish(weft_spsc_queue *q, int32_t tail,
                                     int32_t count) {
  return weft__bell_step(&q->tail, &q->tail_bell, tail,
                         weft__plus(tail, count * WEFT_SPSC_QUEUE_ONE));
}

/* Frees `count` slots, and wakes the producer if it sleeps. */
static inline void weft__spsc_release(weft_spsc_queue *q, int32_t head,
                                      int32_t count) {
  weft__bell_move(&q->head, &q->head_bell,
                  weft__plus(head, count * WEFT_SPSC_QUEUE_ONE));
}

#ifndef WEFT_REALTIME /* what may wait */
/* Asks for a wake when there is room, or when there are elements. The caller
   must look again. */
static inline void weft__spsc_push_announce(weft_spsc_queue *q) {
  weft__bell_announce(&q->head_bell);
}

static inline void weft__spsc_pop_announce(weft_spsc_queue *q) {
  weft__bell_announce(&q->tail_bell);
}

static inline int weft__spsc_push_wait(weft_spsc_queue *q, int64_t deadline) {
  int32_t tail = weft__spsc_own(&q->tail);
  int32_t idle = weft__minus(tail, q->capacity * WEFT_SPSC_QUEUE_ONE);
  return weft__bell_sleep(&q->head_bell, &q->head, idle, &q->tail_bell,
                          deadline);
}

static inline int weft__spsc_pop_wait(weft_spsc_queue *q, int64_t deadline) {
  int32_t idle = weft__spsc_own(&q->head);
  return weft__bell_sleep(&q->tail_bell, &q->tail, idle, &q->tail_bell,
                          deadline);
}
#endif
#else
/* Reads the index of the producer. Returns 0 if there is an element, EBUSY if
   there is none, EPIPE if there is none and the queue is closed, or
   ENOTRECOVERABLE if the indices are damaged. */
static inline int weft__spsc_look(weft_spsc_queue *q, int32_t head) {
  int32_t tail = weft__load(&q->tail);
  int32_t known = tail & WEFT_SPSC_QUEUE_INDEX_MASK;
  q->tail_cache = known;
  if (weft__spsc_has_filled(q, known, head)) return 0;
  if (known != head) return ENOTRECOVERABLE;
  return tail & WEFT_SPSC_QUEUE_CLOSED_BIT ? EPIPE : EBUSY;
}

/* Wakes who sleeps on an index: at most one agent, which has the role. */
WEFT__SELDOM static inline void weft__spsc_wake(int32_t *word) {
  weft__notify(word, 1);
  weft__strike(word + WEFT__SPSC_GONG);
}

/* (P) Publishes `count` elements, and wakes the consumer if it sleeps. */
static inline int weft__spsc_publish(weft_spsc_queue *q, int32_t tail,
                                     int32_t count) {
  int32_t next = weft__plus(tail, count * WEFT_SPSC_QUEUE_ONE);
  int32_t was = weft__compare_exchange(&q->tail, tail, next);
  if (was == tail) return 0;
  if (was & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;
  /* WAITING is set. Only we clear it, or close does. */
  int32_t still = weft__compare_exchange(&q->tail, was, next);
  if (still & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;
  weft__spsc_wake(&q->tail);
  return 0;
}

/* Frees `count` slots, and wakes the producer if it sleeps. */
static inline void weft__spsc_release(weft_spsc_queue *q, int32_t head,
                                      int32_t count) {
  int32_t next = weft__plus(head, count * WEFT_SPSC_QUEUE_ONE);
  int32_t was = weft__compare_exchange(&q->head, head, next);
  for (int32_t expected = head; was != expected;) {
    expected = was;
    int32_t kept = next | (expected & WEFT_SPSC_QUEUE_CLOSED_BIT);
    was = weft__compare_exchange(&q->head, expected, kept);
  }
  if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__spsc_wake(&q->head);
}

#ifndef WEFT_REALTIME /* what may wait */
/* Sets a bit at `word`, so that the next step of the other side wakes us, and
   sleeps. `word` is `idle` while there is nothing to do for us. */
static inline int weft__spsc_sleep(int32_t *word, int32_t idle,
                                   int64_t deadline) {
  int32_t value = idle | WEFT_SPSC_QUEUE_WAITING_BIT;
  int32_t was = weft__compare_exchange(word, idle, value);
  if (was != idle && was != value) return WEFT__NOT_EQUAL;
  return weft__sleep(word, value, deadline, WEFT__LOOK);
}

/* Sets that bit, if `word` is `idle`. The caller must look again. */
static inline void weft__spsc_announce(int32_t *word, int32_t idle) {
  weft__compare_exchange(word, idle, idle | WEFT_SPSC_QUEUE_WAITING_BIT);
}

static inline void weft__spsc_push_announce(weft_spsc_queue *q) {
  int32_t full = q->capacity * WEFT_SPSC_QUEUE_ONE;
  weft__spsc_announce(&q->head, weft__minus(weft__spsc_own(&q->tail), full));
}

static inline void weft__spsc_pop_announce(weft_spsc_queue *q) {
  weft__spsc_announce(&q->tail, weft__spsc_own(&q->head));
}

static inline int weft__spsc_push_wait(weft_spsc_queue *q, int64_t deadline) {
  int32_t tail = weft__spsc_own(&q->tail);
  int32_t span = q->capacity * WEFT_SPSC_QUEUE_ONE;
  return weft__spsc_sleep(&q->head, weft__minus(tail, span), deadline);
}

static inline int weft__spsc_pop_wait(weft_spsc_queue *q, int64_t deadline) {
  int32_t head = weft__spsc_own(&q->head);
  return weft__spsc_sleep(&q->tail, head, deadline);
}
#endif
#endif

/* How many elements there are. It reads the index of the producer if the last
   known number is below `wanted`, or impossible. -EPIPE if there are none and
   the queue is closed, or -ENOTRECOVERABLE if the indices are damaged. */
static inline int32_t weft__spsc_filled(weft_spsc_queue *q, int32_t head,
                                        int32_t wanted) {
  int32_t filled = weft__minus(q->tail_cache, head) >> 2;
  if (weft__spsc_enough(q, filled, wanted)) return filled;
  int missing = weft__spsc_look(q, head);
  if (missing != 0) return missing == EBUSY ? 0 : -missing;
  return weft__minus(q->tail_cache, head) >> 2;
}

/* Closes the queue for ever. Pushes fail from now on; pops take what is left,
   and then fail. All sleepers wake. */
static inline void weft_spsc_queue_close(weft_spsc_queue *q) {
#if WEFT__SPSC_BELLS
  weft__bell_close(&q->tail_bell);
  weft__bell_wake(&q->head_bell);
#else
  int32_t *words[2] = {&q->tail, &q->head};
  for (int i = 0; i < 2; i++)
    if (weft__or(words[i], WEFT_SPSC_QUEUE_CLOSED_BIT) &
        WEFT_SPSC_QUEUE_WAITING_BIT)
      weft__spsc_wake(words[i]);
#endif
}

/* Makes this agent the producer. EPERM if another agent is. */
static inline int weft__spsc_begin_push(weft_spsc_queue *q) {
  return weft__take_role(&q->producer);
}

/* Makes this agent the consumer. EPERM if another agent is. */
static inline int weft__spsc_begin_pop(weft_spsc_queue *q) {
  return weft__take_role(&q->consumer);
}

/* try_push_many of the agent that is the producer. */
static inline int32_t weft__spsc_push_many(weft_spsc_queue *q, const void *src,
                                           int32_t n) {
  if (n <= 0) return n < 0 ? -EINVAL : 0;
  const char *from = (const char *)src;
  int32_t tail = weft__spsc_own(&q->tail);
  int32_t count = weft__spsc_room(q, tail, n);
  if (count > n) count = n;
  if (count == 0) return weft_spsc_queue_closed(q) ? -EPIPE : 0;
  if (count < 0) return count;
  size_t size = (size_t)q->element_size;
  size_t first = (size_t)weft__spsc_until_wrap(q, tail, count);
  __builtin_memcpy(weft__spsc_at(q, tail), from, first * size);
  __builtin_memcpy(q + 1, from + first * size, ((size_t)count - first) * size);
  return weft__spsc_publish(q, tail, count) == 0 ? count : -EPIPE;
}

/*
 * Appends up to `n` consecutive elements from `src`, as many as there is room
 * for. Returns how many, -EPIPE if the queue was closed, -EPERM if another
 * agent is the producer, or -EINVAL if n is below 0. Wait-free.
 */
static inline int32_t weft_spsc_queue_try_push_many(
    weft_spsc_queue *q, const void *src, int32_t n) {
  if (n >= 0 && weft__spsc_begin_push(q) != 0) return -EPERM;
  return weft__spsc_push_many(q, src, n);
}

/* try_pop_many of the agent that is the consumer. */
static inline int32_t weft__spsc_pop_many(weft_spsc_queue *q, void *dst,
                                          int32_t n) {
  if (n <= 0) return n < 0 ? -EINVAL : 0;
  char *to = (char *)dst;
  int32_t head = weft__spsc_own(&q->head);
  int32_t count = weft__spsc_filled(q, head, n);
  if (count > n) count = n;
  if (count <= 0) return count;
  size_t size = (size_t)q->element_size;
  size_t first = (size_t)weft__spsc_until_wrap(q, head, count);
  __builtin_memcpy(to, weft__spsc_at(q, head), first * size);
  __builtin_memcpy(to + first * size, q + 1, ((size_t)count - first) * size);
  weft__spsc_release(q, head, count);
  return count;
}

/*
 * Moves up to `n` of the oldest elements to `dst`, in their order. Returns how
 * many, -EPIPE if the queue was closed and is empty, -EPERM if another agent is
 * the consumer, or -EINVAL if n is below 0. Wait-free.
 */
static inline int32_t weft_spsc_queue_try_pop_many(weft_spsc_queue *q,
                                                   void *dst, int32_t n) {
  if (n >= 0 && weft__spsc_begin_pop(q) != 0) return -EPERM;
  return weft__spsc_pop_many(q, dst, n);
}

/* Whether one element can be pushed: 0, or what the push returns. */
static inline int weft__spsc_refused(weft_spsc_queue *q, int32_t tail) {
  if (weft__spsc_has_room(q, tail)) return 0;
  weft__spsc_see_head(q);
  if (weft__spsc_has_room(q, tail)) return 0;
  if ((uint32_t)weft__minus(tail, q->head_cache) != weft__spsc_span(q))
    return ENOTRECOVERABLE;
  return weft_spsc_queue_closed(q) ? EPIPE : EBUSY;
}

/* Whether one element can be popped: 0, or what the pop returns. */
static inline int weft__spsc_missing(weft_spsc_queue *q, int32_t head) {
  if (weft__spsc_has_filled(q, q->tail_cache, head)) return 0;
  return weft__spsc_look(q, head);
}

/* try_push of an element of `size` bytes, which is that of the queue. Where it
   is a constant, as in C++, the copy is a few instructions. */
static inline WEFT__CHECKED WEFT__KNOWN int weft__spsc_push_one(
    weft_spsc_queue *q, const void *src, size_t size) {
  if (weft__spsc_begin_push(q) != 0) return EPERM;
  int32_t tail = weft__spsc_own(&q->tail);
  int refused = weft__spsc_refused(q, tail);
  if (refused != 0) return refused;
  __builtin_memcpy(weft__spsc_slot(q, tail, size), src, size);
  return weft__spsc_publish(q, tail, 1);
}

/* try_pop of an element of `size` bytes, which is that of the queue. */
static inline WEFT__CHECKED WEFT__KNOWN int weft__spsc_pop_one(
    weft_spsc_queue *q, void *dst, size_t size) {
  if (weft__spsc_begin_pop(q) != 0) return EPERM;
  int32_t head = weft__spsc_own(&q->head);
  int missing = weft__spsc_missing(q, head);
  if (missing != 0) return missing;
  __builtin_memcpy(dst, weft__spsc_slot(q, head, size), size);
  weft__spsc_release(q, head, 1);
  return 0;
}

/* Appends the element at `src`. Returns 0, EBUSY if the queue is full, EPIPE if
   it was closed, or EPERM if another agent is the producer. */
static inline WEFT__SHARED WEFT__CHECKED int weft_spsc_queue_try_push(
    weft_spsc_queue *q, const void *src) {
  return weft__spsc_push_one(q, src, (size_t)q->element_size);
}

/* Moves the oldest element to `dst`. Returns 0, EBUSY if there is none, EPIPE
   if there is none and the queue was closed, or EPERM if another agent is the
   consumer. */
static inline WEFT__SHARED WEFT__CHECKED int weft_spsc_queue_try_pop(
    weft_spsc_queue *q, void *dst) {
  return weft__spsc_pop_one(q, dst, (size_t)q->element_size);
}

/* try_push_int of the agent that is the producer. */
static inline int weft__spsc_push_int(weft_spsc_queue *q, int32_t value) {
  int32_t tail = weft__spsc_own(&q->tail);
  int refused = weft__spsc_refused(q, tail);
  if (refused != 0) return refused;
  *weft__spsc_int_at(q, tail) = value; /* published by (P) */
  return weft__spsc_publish(q, tail, 1);
}

/* try_pop_int of the agent that is the consumer. */
static inline int weft__spsc_pop_int(weft_spsc_queue *q, int32_t *value) {
  int32_t head = weft__spsc_own(&q->head);
  int missing = weft__spsc_missing(q, head);
  if (missing != 0) return missing;
  *value = *weft__spsc_int_at(q, head); /* published by (P) */
  weft__spsc_release(q, head, 1);
  return 0;
}

/* Appends a 4-byte element, as try_push; EINVAL if elements are not 4
   bytes. */
static inline WEFT__SHARED WEFT__CHECKED int weft_spsc_queue_try_push_int(
    weft_spsc_queue *q, int32_t value) {
  if (q->element_size != 4) return EINVAL;
  if (weft__spsc_begin_push(q) != 0) return EPERM;
  return weft__spsc_push_int(q, value);
}

/* Takes the oldest 4-byte element, as try_pop; EINVAL if elements are not 4
   bytes. */
static inline WEFT__SHARED WEFT__CHECKED int weft_spsc_queue_try_pop_int(
    weft_spsc_queue *q, int32_t *value) {
  if (q->element_size != 4) return EINVAL;
  if (weft__spsc_begin_pop(q) != 0) return EPERM;
  return weft__spsc_pop_int(q, value);
}

/* reserve of the agent that is the producer. */
static inline void *weft__spsc_reserve(weft_spsc_queue *q) {
  if (weft_spsc_queue_closed(q)) return NULL;
  int32_t tail = weft__spsc_own(&q->tail);
  return weft__spsc_refused(q, tail) == 0 ? weft__spsc_at(q, tail) : NULL;
}

/* Returns the place of the next element, or NULL if the queue is full or
   closed, or another agent is the producer. Write the element there, then
   commit. Push nothing else in between. */
static inline WEFT__CHECKED void *weft_spsc_queue_reserve(weft_spsc_queue *q) {
  return weft__spsc_begin_push(q) == 0 ? weft__spsc_reserve(q) : NULL;
}

/* Appends the element that was reserved; EPIPE if the queue was closed. */
static inline int weft_spsc_queue_commit(weft_spsc_queue *q) {
  return weft__spsc_publish(q, weft__spsc_own(&q->tail), 1);
}

/* peek of the agent that is the consumer. */
static inline void *weft__spsc_peek(weft_spsc_queue *q) {
  int32_t head = weft__spsc_own(&q->head);
  return weft__spsc_missing(q, head) == 0 ? weft__spsc_at(q, head) : NULL;
}

/* Returns the place of the oldest element, or NULL if there is none, or another
   agent is the consumer. Read the element there, then consume. Pop nothing else
   in between. */
static inline WEFT__CHECKED void *weft_spsc_queue_peek(weft_spsc_queue *q) {
  return weft__spsc_begin_pop(q) == 0 ? weft__spsc_peek(q) : NULL;
}

/* Removes the element that was peeked at. */
static inline void weft_spsc_queue_consume(weft_spsc_queue *q) {
  weft__spsc_release(q, weft__spsc_own(&q->head), 1);
}

/* Elements in place, one behind the other: those up to the end of the queue's
   memory, and those that follow at its beginning, of which there may be none.
   */
typedef struct {
  void *first, *second;
  int32_t first_count, second_count;
} weft_pieces;

/* The places of `count` elements from an index on. */
static inline void weft__spsc_pieces(weft_spsc_queue *q, int32_t index,
                                     int32_t count, weft_pieces *pieces) {
  pieces->first = weft__spsc_at(q, index);
  pieces->second = q + 1;
  pieces->first_count = weft__spsc_until_wrap(q, index, count);
  pieces->second_count = count - pieces->first_count;
}

/*
 * Reserves room for up to `n` elements, as many as there is room for, and says
 * where it is. Returns how many: 0 if the queue is full, -EPIPE if it was
 * closed, -EPERM if another agent is the producer, or -EINVAL if n is below 1.
 * Write the elements there, then commit_many. Push nothing else in between.
 * Wait-free.
 */
static inline int32_t weft_spsc_queue_reserve_many(
    weft_spsc_queue *q, int32_t n, weft_pieces *pieces) {
  if (n < 1) return -EINVAL;
  if (weft__spsc_begin_push(q) != 0) return -EPERM;
  if (weft_spsc_queue_closed(q)) return -EPIPE;
  int32_t tail = weft__spsc_own(&q->tail);
  int32_t count = weft__spsc_room(q, tail, n);
  if (count > n) count = n;
  if (count > 0) weft__spsc_pieces(q, tail, count, pieces);
  return count;
}

/* Appends the first `n` elements that were reserved. Returns 0, EPIPE if the
   queue was closed, or EINVAL if fewer than `n` can be reserved. */
static inline int weft_spsc_queue_commit_many(weft_spsc_queue *q, int32_t n) {
  int32_t tail = weft__spsc_own(&q->tail);
  /* What was reserved was free by the index that was seen last. */
  int32_t used = weft__minus(tail, q->head_cache) >> 2;
  if (n < 0 || used < 0 || n > q->capacity - used) return EINVAL;
  if (n == 0) return weft_spsc_queue_closed(q) ? EPIPE : 0;
  return weft__spsc_publish(q, tail, n);
}

/*
 * Says where up to `n` of the oldest elements are, as many as there are.
 * Returns how many: 0 if there are none, -EPIPE if there are none and the queue
 * is closed, -EPERM if another agent is the consumer, or -EINVAL if n is below
 * 1. Read the elements there, then consume_many. Pop nothing else in between.
 * Wait-free.
 */
static inline int32_t weft_spsc_queue_peek_many(weft_spsc_queue *q, int32_t n,
                                                weft_pieces *pieces) {
  if (n < 1) return -EINVAL;
  if (weft__spsc_begin_pop(q) != 0) return -EPERM;
  int32_t head = weft__spsc_own(&q->head);
  int32_t count = weft__spsc_filled(q, head, n);
  if (count > n) count = n;
  if (count > 0) weft__spsc_pieces(q, head, count, pieces);
  return count;
}

/* Removes the first `n` elements that were peeked at. Returns 0, or EINVAL if
   there are fewer. */
static inline int weft_spsc_queue_consume_many(weft_spsc_queue *q, int32_t n) {
  int32_t head = weft__spsc_own(&q->head);
  int32_t seen = weft__minus(q->tail_cache, head) >> 2;
  if (n < 0 || !weft__spsc_enough(q, seen, n)) return EINVAL;
  if (n > 0) weft__spsc_release(q, head, n);
  return 0;
}

/*
 * Ends the roles of agent `id`, known never to run again, so that the next
 * agent that pushes is the producer, and the next one that pops the consumer.
 * Returns how many roles those were. An agent may give its own role up by its
 * own id. Published elements stay.
 */
static inline int32_t weft_spsc_queue_abandon(weft_spsc_queue *q, int32_t id) {
  return weft__leave_role(&q->producer, id) +
         weft__leave_role(&q->consumer, id);
}

#ifndef WEFT_REALTIME /* what may wait */
/*
 * Makes a blocking form of a try_ form: it tries, spins, and then sleeps by
 * `wait(queue, deadline)`. Each round evaluates the expressions again. `own` is
 * the index of this end.
 */
#define WEFT__BLOCK(attempt, wait, queue, own, timeout)           \
  do {                                                            \
    int result;                                                   \
    if (!weft__may_block()) return EPERM;                         \
    if ((result = (attempt)) != EBUSY) return result;             \
    WEFT__SPIN(spin, own, timeout) {                              \
      if (weft__spin_found(spin, (result = (attempt)) != EBUSY))  \
        return result;                                            \
    }                                                             \
    int64_t deadline = weft__deadline(timeout);                   \
    for (;;) {                                                    \
      int outcome = wait(queue, deadline);                        \
      if ((result = (attempt)) != EBUSY) return result;           \
      if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;           \
    }                                                             \
  } while (0)

/* Does the same as try_push, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_spsc_queue_push(weft_spsc_queue *q, const void *src,
                                       int64_t timeout) {
  WEFT__BLOCK(weft_spsc_queue_try_push(q, src), weft__spsc_push_wait, q,
              &q->tail, timeout);
}

/* Does the same as try_pop, but blocks up to `timeout` ns if there is nothing
   to take; then ETIMEDOUT. */
static inline int weft_spsc_queue_pop(weft_spsc_queue *q, void *dst,
                                      int64_t timeout) {
  WEFT__BLOCK(weft_spsc_queue_try_pop(q, dst), weft__spsc_pop_wait, q, &q->head,
              timeout);
}

/* Does the same as try_push_int, but blocks up to `timeout` ns. */
static inline int weft_spsc_queue_push_int(weft_spsc_queue *q, int32_t value,
                                           int64_t timeout) {
  WEFT__BLOCK(weft_spsc_queue_try_push_int(q, value), weft__spsc_push_wait, q,
              &q->tail, timeout);
}

/* Does the same as try_pop_int, but blocks up to `timeout` ns. */
static inline int weft_spsc_queue_pop_int(weft_spsc_queue *q, int32_t *value,
                                          int64_t timeout) {
  WEFT__BLOCK(weft_spsc_queue_try_pop_int(q, value), weft__spsc_pop_wait, q,
              &q->head, timeout);
}
#endif

WEFT__END

#endif /* WEFT_SPSC_QUEUE_H */

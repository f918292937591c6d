/* mpmc_queue.h - the twin of primitives/_queue/mpmc/core.ts. */
#ifndef WEFT_MPMC_QUEUE_H
#define WEFT_MPMC_QUEUE_H

#include "_event_count.h"
#include "_queue.h"
#include "_region.h"

WEFT__BEGIN

#define WEFT_MPMC_QUEUE_CLOSED_BIT 1 /* MPMC_QUEUE_BITS.CLOSED */
#define WEFT_MPMC_QUEUE_ONE (1 << 1) /* MPMC_QUEUE_BITS.TICKET */
#define WEFT_MPMC_QUEUE_FILLED 1

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A queue from many producers to many consumers.
 *
 * word 0    magic         Kind and layout version.
 * word 1    capacity      How many elements fit, a power of two.
 * word 2    element_size  Bytes of an element: 1, 2 or a multiple of 4.
 * word 3    seal          Check word over the configuration.
 * word 4    shape         A number that tells apart records with different
 *                         fields; 0 if the elements are not records, or if
 *                         nobody knows.
 * word 32   tail          bit 0      CLOSED
 *                         bits 1-31  the next ticket to push
 * word 64   head          The next ticket to pop, times 2.
 * word 96   pop_epoch     Changes when sleeping consumers must look again.
 *                         sleepers: consumers
 * word 97   pop_waiters   bits 0-30  consumers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 98   pop_gong      A gong, for agents that wait for elements here and
 *                         for others.
 *                         sleepers: agents that wait at several ends
 * word 128  push_epoch    Changes when sleeping producers must look again.
 *                         sleepers: producers
 * word 129  push_waiters  bits 0-30  producers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 130  push_gong     A gong, for agents that wait for room here and for
 *                         others.
 *                         sleepers: agents that wait at several ends
 * word 160  `capacity` slots. Each has a word `turn`, a spare word and an
 *           element, padded to a multiple of 8 bytes. The slot of ticket `t` is
 *           in place `t mod capacity`. Its `turn` is `2t` while it is free for
 *           that push, and `2t + 1` while it is filled for that pop.
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
  int32_t _pad1[31];
  int32_t head;
  int32_t _pad2[31];
  int32_t pop_epoch;
  int32_t pop_waiters;
  int32_t pop_gong;
  int32_t _pad3[29];
  int32_t push_epoch;
  int32_t push_waiters;
  int32_t push_gong;
  int32_t _pad4[29];
} weft_mpmc_queue;
WEFT_WORD(mpmc_queue, magic, 0);
WEFT_WORD(mpmc_queue, capacity, 1);
WEFT_WORD(mpmc_queue, element_size, 2);
WEFT_WORD(mpmc_queue, seal, 3);
WEFT_WORD(mpmc_queue, shape, 4);
WEFT_WORD(mpmc_queue, tail, 32);
WEFT_WORD(mpmc_queue, head, 64);
WEFT_WORD(mpmc_queue, pop_epoch, 96);
WEFT_WORD(mpmc_queue, pop_waiters, 97);
WEFT_WORD(mpmc_queue, pop_gong, 98);
WEFT_WORD(mpmc_queue, push_epoch, 128);
WEFT_WORD(mpmc_queue, push_waiters, 129);
WEFT_WORD(mpmc_queue, push_gong, 130);
WEFT_LENGTH(mpmc_queue, 160);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* In a slot, the element follows the turn and a spare word, at a multiple of 8
   bytes. */
#define WEFT__MPMC_ELEMENT 2

/* Words from slot to slot, a multiple of two. */
static inline size_t weft__mpmc_stride(int32_t element_size) {
  return WEFT__MPMC_ELEMENT + (size_t)((element_size + 7) >> 3) * 2;
}

/* The bytes of a queue as a constant expression; 0 if out of range. */
#define WEFT_MPMC_QUEUE_BYTES(capacity, element_size)                \
  (!WEFT__QUEUE_FITS(capacity, WEFT__QUEUE_COUNTED(element_size)) || \
           WEFT__MPMC_SLOTS(capacity, element_size) >                \
               SIZE_MAX - sizeof(weft_mpmc_queue)                    \
       ? 0                                                           \
       : sizeof(weft_mpmc_queue) + WEFT__MPMC_SLOTS(capacity, element_size))
#define WEFT__MPMC_SLOTS(capacity, element_size) \
  (WEFT__POWER(capacity) *                       \
   (4 * WEFT__MPMC_ELEMENT + WEFT__MULTIPLE(element_size, 8)))

/* The bytes of a queue of this configuration; 0 if it is out of range. */
static inline size_t weft_mpmc_queue_bytes(weft_queue_config config) {
  size_t capacity = (size_t)weft__short_queue_capacity(config);
  if (capacity == 0) return 0;
  size_t stride = weft__mpmc_stride(config.element_size) * 4;
#if SIZE_MAX == UINT32_MAX
  if (capacity > (SIZE_MAX - sizeof(weft_mpmc_queue)) / stride) return 0;
#endif
  return sizeof(weft_mpmc_queue) + capacity * stride;
}

/* The queue at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_mpmc_queue *weft_mpmc_queue_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_mpmc_queue) != NULL) return NULL;
  weft__fences();
  return (weft_mpmc_queue *)at;
}

/* The slot of a ticket, where elements have `size` bytes. */
static inline int32_t *weft__mpmc_slot_with(const weft_mpmc_queue *q,
                                            int32_t ticket, int32_t size) {
  uint32_t slot = ((uint32_t)ticket >> 1) & (uint32_t)(q->capacity - 1);
  return (int32_t *)(uintptr_t)(q + 1) +
         (size_t)slot * weft__mpmc_stride(size);
}

/* The slot of a ticket: its turn, then the element. */
static inline WEFT__SHARED int32_t *weft__mpmc_slot(const weft_mpmc_queue *q,
                                                    int32_t ticket) {
  return weft__mpmc_slot_with(q, ticket, q->element_size);
}

/* The same where the size was checked. If it is a constant, this is a shift; a
   program that shall be small has one copy. */
static inline int32_t *weft__mpmc_slot_of(const weft_mpmc_queue *q,
                                          int32_t ticket, int32_t size) {
#ifdef __OPTIMIZE_SIZE__
  (void)size;
  return weft__mpmc_slot(q, ticket);
#else
  return weft__mpmc_slot_with(q, ticket, size);
#endif
}

/* Initializes `bytes` bytes of unused memory as an empty queue. NULL if the
   configuration is out of range, the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_mpmc_queue *weft_mpmc_queue_init(
    void *at, size_t bytes, weft_queue_config config) {
  weft_mpmc_queue *q = (weft_mpmc_queue *)at;
  size_t needed = weft_mpmc_queue_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  q->capacity = weft__short_queue_capacity(config);
  q->element_size = config.element_size;
  q->seal = weft__seal(WEFT_KIND_mpmc_queue, q->capacity, q->element_size);
  for (int32_t i = 0; i < q->capacity; i++)
    *weft__mpmc_slot(q, i * WEFT_MPMC_QUEUE_ONE) = i * WEFT_MPMC_QUEUE_ONE;
  weft__fences();
  weft__store(&q->magic, weft__magic(WEFT_KIND_mpmc_queue));
  return q;
}

/* How many elements the queue can hold. */
static inline int32_t weft_mpmc_queue_capacity(const weft_mpmc_queue *q) {
  return q->capacity;
}

/* The number that JavaScript gives the fields of its records: `shape` of their
   struct. 0 if the elements are not records, or if C has made the queue. */
static inline int32_t weft_mpmc_queue_shape(const weft_mpmc_queue *q) {
  return q->shape;
}

/* The bytes of an element: a push reads them, a pop writes them. */
static inline int32_t weft_mpmc_queue_element_size(
    const weft_mpmc_queue *q) {
  return q->element_size;
}

/* How many elements are in the queue. The number may change at any moment. */
static inline int32_t weft_mpmc_queue_size(const weft_mpmc_queue *q) {
  return weft__size_of(&q->head, &q->tail, WEFT_MPMC_QUEUE_ONE, q->capacity);
}

/* Whether close was called; elements may still be in the queue. */
static inline bool weft_mpmc_queue_closed(const weft_mpmc_queue *q) {
  return (weft__load(&q->tail) & WEFT_MPMC_QUEUE_CLOSED_BIT) != 0;
}

/* How many consecutive tickets, up to `n`, have a slot in this state. */
static inline int32_t weft__mpmc_run(const weft_mpmc_queue *q, int32_t ticket,
                                     int32_t n, int32_t state) {
  int32_t most = n < q->capacity ? n : q->capacity;
  int32_t count = 1;
  for (; count < most; count++) {
    int32_t next = weft__plus(ticket, count * WEFT_MPMC_QUEUE_ONE);
    if (weft__load(weft__mpmc_slot(q, next)) != weft__plus(next, state)) break;
  }
  return count;
}

/* Claims up to `n` tickets to push; the first is in *ticket. Returns how many,
   0 if the queue is full, or -EPIPE if it was closed. */
static inline int32_t weft__mpmc_claim_push(weft_mpmc_queue *q, int32_t n,
                                            int32_t *ticket) {
  int32_t tail = weft__hint(&q->tail); /* the exchange below checks it */
  for (;;) {
    if (tail & WEFT_MPMC_QUEUE_CLOSED_BIT) return -EPIPE;
    if (weft__load(weft__mpmc_slot(q, tail)) == tail) {
      int32_t count = n == 1 ? 1 : weft__mpmc_run(q, tail, n, 0);
      int32_t next = weft__plus(tail, count * WEFT_MPMC_QUEUE_ONE);
      int32_t seen = weft__compare_exchange(&q->tail, tail, next);
      if (seen == tail) {
        *ticket = tail;
        return count;
      }
      tail = seen;
      continue;
    }
    /* Either the hint is old, or the slot belongs to the lap before, and the
       queue is full. */
    int32_t seen = weft__load(&q->tail);
    if (seen == tail) return 0;
    tail = seen;
  }
}

/* Claims up to `n` tickets to pop; the first is in *ticket. Returns how many, 0
   if the queue is empty, or -EPIPE if it is empty and closed. */
static inline int32_t weft__mpmc_claim_pop(weft_mpmc_queue *q, int32_t n,
                                           int32_t *ticket) {
  int32_t head = weft__hint(&q->head); /* the exchange below checks it */
  for (;;) {
    int32_t turn = weft__load(weft__mpmc_slot(q, head));
    if (turn == weft__plus(head, WEFT_MPMC_QUEUE_FILLED)) {
      int32_t count =
          n == 1 ? 1 : weft__mpmc_run(q, head, n, WEFT_MPMC_QUEUE_FILLED);
      int32_t next = weft__plus(head, count * WEFT_MPMC_QUEUE_ONE);
      int32_t seen = weft__compare_exchange(&q->head, head, next);
      if (seen == head) {
        *ticket = head;
        return count;
      }
      head = seen;
      continue;
    }
    int32_t seen = weft__load(&q->head);
    if (seen == head) {
      int32_t drained = head | WEFT_MPMC_QUEUE_CLOSED_BIT;
      return weft__load(&q->tail) == drained ? -EPIPE : 0;
    }
    head = seen;
  }
}

/* (P) Hands a filled slot to the consumers. */
static inline void weft__mpmc_publish(int32_t *slot, int32_t ticket) {
  weft__hand(slot, weft__plus(ticket, WEFT_MPMC_QUEUE_FILLED));
}

/* Hands a slot whose element was read to the producers, for the next lap. */
static inline void weft__mpmc_free(const weft_mpmc_queue *q, int32_t *slot,
                                   int32_t ticket) {
  weft__hand(slot, weft__plus(ticket, q->capacity * WEFT_MPMC_QUEUE_ONE));
}

/* try_push_many of elements of `size` bytes, which is that of the queue. Where
   it is a constant, as in C++, the copy is a few instructions. */
static inline WEFT__KNOWN int32_t weft__mpmc_push_many(
    weft_mpmc_queue *q, const void *src, int32_t n, size_t size) {
  if (n < 0) return -EINVAL;
  if (n == 0) return 0;
  const char *from = (const char *)src;
  int32_t first = 0;
  int32_t count = weft__mpmc_claim_push(q, n, &first);
  if (count <= 0) return count;
  for (int32_t i = 0; i < count; i++) {
    int32_t ticket = weft__plus(first, i * WEFT_MPMC_QUEUE_ONE);
    int32_t *slot = weft__mpmc_slot_of(q, ticket, (int32_t)size);
    __builtin_memcpy(slot + WEFT__MPMC_ELEMENT, from + (size_t)i * size, size);
    weft__mpmc_publish(slot, ticket);
  }
  weft__event_wake_end(&q->pop_epoch, count);
  return count;
}

/* try_pop_many of elements of `size` bytes, which is that of the queue. */
static inline WEFT__KNOWN int32_t weft__mpmc_pop_many(
    weft_mpmc_queue *q, void *dst, int32_t n, size_t size) {
  if (n < 0) return -EINVAL;
  if (n == 0) return 0;
  char *to = (char *)dst;
  int32_t first = 0;
  int32_t count = weft__mpmc_claim_pop(q, n, &first);
  if (count <= 0) return count;
  for (int32_t i = 0; i < count; i++) {
    int32_t ticket = weft__plus(first, i * WEFT_MPMC_QUEUE_ONE);
    int32_t *slot = weft__mpmc_slot_of(q, ticket, (int32_t)size);
    __builtin_memcpy(to + (size_t)i * size, slot + WEFT__MPMC_ELEMENT, size);
    weft__mpmc_free(q, slot, ticket);
  }
  weft__event_wake_end(&q->push_epoch, count);
  return count;
}

/*
 * Appends up to `n` consecutive elements from `src`, as many as there is room
 * for. Returns how many, -EPIPE if the queue was closed, or -EINVAL if n is
 * below 0.
 */
static inline int32_t weft_mpmc_queue_try_push_many(weft_mpmc_queue *q,
                                                    const void *src,
                                                    int32_t n) {
  return weft__mpmc_push_many(q, src, n, (size_t)q->element_size);
}

/*
 * Moves up to `n` of the oldest elements to `dst`, in their order. Returns how
 * many, -EPIPE if the queue was closed and is empty, or -EINVAL if n is below
 * 0.
 */
static inline int32_t weft_mpmc_queue_try_pop_many(weft_mpmc_queue *q,
                                                   void *dst, int32_t n) {
  return weft__mpmc_pop_many(q, dst, n, (size_t)q->element_size);
}

/* try_push and try_pop of an element of `size` bytes. */
static inline WEFT__CHECKED WEFT__KNOWN int weft__mpmc_push_one(
    weft_mpmc_queue *q, const void *src, size_t size) {
  int32_t count = weft__mpmc_push_many(q, src, 1, size);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

static inline WEFT__CHECKED WEFT__KNOWN int weft__mpmc_pop_one(
    weft_mpmc_queue *q, void *dst, size_t size) {
  int32_t count = weft__mpmc_pop_many(q, dst, 1, size);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

/* Appends the element at `src`. Returns 0, EBUSY if the queue is full, or EPIPE
   if it was closed. */
static inline WEFT__SHARED WEFT__CHECKED int weft_mpmc_queue_try_push(
    weft_mpmc_queue *q, const void *src) {
  return weft__mpmc_push_one(q, src, (size_t)q->element_size);
}

/* Moves the oldest element to `dst`. Returns 0, EBUSY if there is none, or
   EPIPE if there is none and the queue was closed. */
static inline WEFT__SHARED WEFT__CHECKED int weft_mpmc_queue_try_pop(
    weft_mpmc_queue *q, void *dst) {
  return weft__mpmc_pop_one(q, dst, (size_t)q->element_size);
}

/* Appends a 4-byte element; EINVAL if elements are not 4 bytes. */
static inline WEFT__SHARED WEFT__CHECKED int weft_mpmc_queue_try_push_int(
    weft_mpmc_queue *q, int32_t value) {
  int32_t ticket = 0;
  if (q->element_size != 4) return EINVAL;
  int32_t count = weft__mpmc_claim_push(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  int32_t *slot = weft__mpmc_slot_of(q, ticket, 4);
  slot[WEFT__MPMC_ELEMENT] = value; /* published by (P) */
  weft__mpmc_publish(slot, ticket);
  weft__event_wake_end(&q->pop_epoch, 1);
  return 0;
}

/* Takes the oldest 4-byte element; EINVAL if elements are not 4 bytes. */
static inline WEFT__SHARED WEFT__CHECKED int weft_mpmc_queue_try_pop_int(
    weft_mpmc_queue *q, int32_t *value) {
  int32_t ticket = 0;
  if (q->element_size != 4) return EINVAL;
  int32_t count = weft__mpmc_claim_pop(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  int32_t *slot = weft__mpmc_slot_of(q, ticket, 4);
  *value = slot[WEFT__MPMC_ELEMENT]; /* published by (P) */
  weft__mpmc_free(q, slot, ticket);
  weft__event_wake_end(&q->push_epoch, 1);
  return 0;
}

/* Claims a slot and returns the place of its element, or NULL if the queue is
   full or closed. Write the element there, then commit. */
static inline WEFT__CHECKED void *weft_mpmc_queue_reserve(weft_mpmc_queue *q) {
  int32_t ticket = 0;
  if (weft__mpmc_claim_push(q, 1, &ticket) <= 0) return NULL;
  return weft__mpmc_slot(q, ticket) + WEFT__MPMC_ELEMENT;
}

/* Appends the element in the slot that was reserved. The turn of the slot is
   still its ticket: nobody else changes it. */
static inline void weft_mpmc_queue_commit(weft_mpmc_queue *q, void *slot) {
  int32_t *turn = (int32_t *)slot - WEFT__MPMC_ELEMENT;
  weft__mpmc_publish(turn, weft__load(turn));
  weft__event_wake_end(&q->pop_epoch, 1);
}

/* Claims the oldest element and returns its place, or NULL if there is none.
   Read the element there, then consume. */
static inline WEFT__CHECKED void *weft_mpmc_queue_peek(weft_mpmc_queue *q) {
  int32_t ticket = 0;
  if (weft__mpmc_claim_pop(q, 1, &ticket) <= 0) return NULL;
  return weft__mpmc_slot(q, ticket) + WEFT__MPMC_ELEMENT;
}

/* Removes the element that was peeked at. */
static inline void weft_mpmc_queue_consume(weft_mpmc_queue *q, void *slot) {
  int32_t *turn = (int32_t *)slot - WEFT__MPMC_ELEMENT;
  int32_t filled = weft__load(turn);
  weft__mpmc_free(q, turn, weft__minus(filled, WEFT_MPMC_QUEUE_FILLED));
  weft__event_wake_end(&q->push_epoch, 1);
}

/*
 * An element may be published late. Wakes for the elements after it then came
 * too early, and the woken agents found nothing. So the agent that takes the
 * late element wakes another one.
 */
static inline WEFT__SHARED void weft__mpmc_pass_push(weft_mpmc_queue *q) {
  int32_t tail = weft__load(&q->tail);
  if (tail & WEFT_MPMC_QUEUE_CLOSED_BIT)
    weft__event_wake_end(&q->push_epoch, WEFT__ALL);
  else if (weft__load(weft__mpmc_slot(q, tail)) == tail)
    weft__event_wake_end(&q->push_epoch, 1);
}

/* Whether a pop would end now. With an old `head` we would miss the elements
   after it, although the wake that we got may have been for them. */
static inline bool weft__mpmc_poppable(const weft_mpmc_queue *q) {
  for (int32_t head = weft__load(&q->head);;) {
    int32_t state = weft__load(weft__mpmc_slot(q, head));
    if (state == weft__plus(head, WEFT_MPMC_QUEUE_FILLED)) return true;
    int32_t now = weft__load(&q->head);
    if (now == head)
      return weft__load(&q->tail) == (head | WEFT_MPMC_QUEUE_CLOSED_BIT);
    head = now;
  }
}

static inline WEFT__SHARED void weft__mpmc_pass_pop(weft_mpmc_queue *q) {
  if (weft__mpmc_poppable(q))
    weft__event_wake_end(&q->pop_epoch,
                     weft_mpmc_queue_closed(q) ? WEFT__ALL : 1);
}

#ifndef WEFT_REALTIME /* what may wait */
/* Whether an agent that stands still for a second within an operation is taken
   for dead. The race tester, whose agents do so, sets it to 0. */
#ifndef WEFT_MPMC_QUEUE_TELLS
#define WEFT_MPMC_QUEUE_TELLS 1
#endif

/* The ticket that another agent has claimed and not handed on, or -1. An agent
   that finds the same one twice, a second apart, gives up: the queue is
   blocked. */
static inline WEFT__SHARED int64_t weft__mpmc_stuck(
    const weft_mpmc_queue *q, bool push) {
  if (!WEFT_MPMC_QUEUE_TELLS) return -1;
  int32_t head = weft__load(&q->head);
  int32_t tail = weft__load(&q->tail) & ~WEFT_MPMC_QUEUE_CLOSED_BIT;
  /* A producer keeps the oldest element from the consumers; if the queue is
     full, it also keeps its place from the producers. */
  if (head != tail && weft__load(weft__mpmc_slot(q, head)) == head)
    return (uint32_t)head;
  if (!push) return -1;
  /* A consumer keeps the place of the next element. */
  int32_t before = weft__minus(tail, q->capacity * WEFT_MPMC_QUEUE_ONE);
  int32_t turn = weft__load(weft__mpmc_slot(q, tail));
  bool taken = turn == weft__plus(before, WEFT_MPMC_QUEUE_FILLED) &&
               weft__minus(head, before) > 0;
  return taken ? (int64_t)(uint32_t)tail : -1;
}

static inline WEFT__SHARED int weft__mpmc_try(weft_mpmc_queue *q, void *at,
                                              bool pushes) {
  return pushes ? weft_mpmc_queue_try_push(q, at)
                : weft_mpmc_queue_try_pop(q, at);
}

/* Waits until the element at `at` is pushed or popped: one copy for both ends,
   where a program shall be small. */
static inline WEFT__SHARED int weft__mpmc_block(weft_mpmc_queue *q, void *at,
                                                bool pushes, int64_t timeout) {
  WEFT__EVENT_BLOCK_SLOW(
      weft__mpmc_try(q, at, pushes), weft__mpmc_try(q, at, pushes),
      pushes ? &q->push_epoch : &q->pop_epoch, (void)0,
      pushes ? weft__mpmc_pass_push(q) : weft__mpmc_pass_pop(q), timeout,
      weft__mpmc_stuck(q, pushes));
}

/* Does the same as try_push, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_mpmc_queue_push(weft_mpmc_queue *q, const void *src,
                                       int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int result = weft_mpmc_queue_try_push(q, src);
  if (result != EBUSY) return result;
  return weft__mpmc_block(q, (void *)(uintptr_t)src, true, timeout);
}

/* Does the same as try_pop, but blocks up to `timeout` ns if there is nothing
   to take; then ETIMEDOUT. */
static inline int weft_mpmc_queue_pop(weft_mpmc_queue *q, void *dst,
                                      int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int result = weft_mpmc_queue_try_pop(q, dst);
  if (result != EBUSY) return result;
  return weft__mpmc_block(q, dst, false, timeout);
}

/* Does the same as try_push_int, but blocks up to `timeout` ns. */
static inline int weft_mpmc_queue_push_int(weft_mpmc_queue *q, int32_t value,
                                           int64_t timeout) {
  WEFT__EVENT_BLOCK_OR(weft_mpmc_queue_try_push_int(q, value), &q->push_epoch,
                       (void)0, weft__mpmc_pass_push(q), timeout,
                       weft__mpmc_stuck(q, true));
}

/* Does the same as try_pop_int, but blocks up to `timeout` ns. */
static inline int weft_mpmc_queue_pop_int(weft_mpmc_queue *q, int32_t *value,
                                          int64_t timeout) {
  WEFT__EVENT_BLOCK_OR(weft_mpmc_queue_try_pop_int(q, value), &q->pop_epoch,
                       (void)0, weft__mpmc_pass_pop(q), timeout,
                       weft__mpmc_stuck(q, false));
}
#endif

/* Closes the queue for ever. Pushes fail from now on; pops take what is left,
   and then fail. All sleepers wake. */
static inline void weft_mpmc_queue_close(weft_mpmc_queue *q) {
  if (weft__or(&q->tail, WEFT_MPMC_QUEUE_CLOSED_BIT) &
      WEFT_MPMC_QUEUE_CLOSED_BIT)
    return;
  weft__event_wake_end(&q->pop_epoch, WEFT__ALL);
  weft__event_wake_end(&q->push_epoch, WEFT__ALL);
}

/* What an agent is doing in a slot, or that its turn cannot be. */
enum { WEFT__MPMC_FINE, WEFT__MPMC_PUSH, WEFT__MPMC_POP, WEFT__MPMC_DAMAGED };

/* What is seen of a slot from outside. */
typedef struct {
  int doing;
  int32_t number;
  const int32_t *slot;
  int32_t turn;
} weft__mpmc_look;

/* Looks at a slot while `tail` is as it is: at the one whose last ticket that a
   producer took is `i` tickets after those of a lap ago. */
static inline weft__mpmc_look weft__mpmc_look_at(const weft_mpmc_queue *q,
                                                 int32_t tail, int32_t i) {
  int32_t span = q->capacity * WEFT_MPMC_QUEUE_ONE;
  int32_t ticket = weft__minus(tail, WEFT_MPMC_QUEUE_ONE * (q->capacity - i));
  const int32_t *slot = weft__mpmc_slot(q, ticket);
  int32_t turn = weft__load(slot);
  bool popped = weft__minus(weft__load(&q->head), ticket) > 0;
  int32_t number =
      (int32_t)(((uint32_t)ticket >> 1) & (uint32_t)(q->capacity - 1));
  weft__mpmc_look look = {WEFT__MPMC_FINE, number, slot, turn};
  if (turn == ticket)
    look.doing = WEFT__MPMC_PUSH;
  else if (turn == weft__plus(ticket, WEFT_MPMC_QUEUE_FILLED))
    look.doing = popped ? WEFT__MPMC_POP : WEFT__MPMC_FINE;
  else if (turn != weft__plus(ticket, span) || !popped)
    look.doing = WEFT__MPMC_DAMAGED;
  return look;
}

WEFT__END

#endif /* WEFT_MPMC_QUEUE_H */

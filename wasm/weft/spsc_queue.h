/* spsc_queue.h - the twin of primitives/_queue/spsc/core.ts. */
#ifndef WEFT_SPSC_QUEUE_H
#define WEFT_SPSC_QUEUE_H

#include "_spin.h"
#include "_spsc_steps.h"
#include "agent.h"

WEFT__BEGIN

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
  return weft__spsc_publish(q, tail, count, false) == 0 ? count : -EPIPE;
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
  weft__spsc_release(q, head, count, false);
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
  bool acts = weft__acts(&q->producer);
  if (WEFT__RARE(!acts) && weft__spsc_begin_push(q) != 0) return EPERM;
  int32_t tail = weft__spsc_own(&q->tail);
  int refused = weft__spsc_refused(q, tail);
  if (refused != 0) return refused;
  __builtin_memcpy(weft__spsc_slot(q, tail, size), src, size);
  return weft__spsc_publish(q, tail, 1, acts);
}

/* try_pop of an element of `size` bytes, which is that of the queue. */
static inline WEFT__CHECKED WEFT__KNOWN int weft__spsc_pop_one(
    weft_spsc_queue *q, void *dst, size_t size) {
  bool acts = weft__acts(&q->consumer);
  if (WEFT__RARE(!acts) && weft__spsc_begin_pop(q) != 0) return EPERM;
  int32_t head = weft__spsc_own(&q->head);
  int missing = weft__spsc_missing(q, head);
  if (missing != 0) return missing;
  __builtin_memcpy(dst, weft__spsc_slot(q, head, size), size);
  weft__spsc_release(q, head, 1, acts);
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

/* try_push_int of the agent that is the producer; `acts` is what weft__acts has
   said of it. */
static inline int weft__spsc_push_int(weft_spsc_queue *q, int32_t value,
                                      bool acts) {
  int32_t tail = weft__spsc_own(&q->tail);
  int refused = weft__spsc_refused(q, tail);
  if (refused != 0) return refused;
  *weft__spsc_int_at(q, tail) = value; /* published by (P) */
  return weft__spsc_publish(q, tail, 1, acts);
}

/* try_pop_int of the agent that is the consumer. */
static inline int weft__spsc_pop_int(weft_spsc_queue *q, int32_t *value,
                                     bool acts) {
  int32_t head = weft__spsc_own(&q->head);
  int missing = weft__spsc_missing(q, head);
  if (missing != 0) return missing;
  *value = *weft__spsc_int_at(q, head); /* published by (P) */
  weft__spsc_release(q, head, 1, acts);
  return 0;
}

/* Appends a 4-byte element, as try_push; EINVAL if elements are not 4
   bytes. */
static inline WEFT__QUICK WEFT__CHECKED int weft_spsc_queue_try_push_int(
    weft_spsc_queue *q, int32_t value) {
  if (q->element_size != 4) return EINVAL;
  bool acts = weft__acts(&q->producer);
  if (WEFT__RARE(!acts) && weft__spsc_begin_push(q) != 0) return EPERM;
  return weft__spsc_push_int(q, value, acts);
}

/* Takes the oldest 4-byte element, as try_pop; EINVAL if elements are not 4
   bytes. */
static inline WEFT__QUICK WEFT__CHECKED int weft_spsc_queue_try_pop_int(
    weft_spsc_queue *q, int32_t *value) {
  if (q->element_size != 4) return EINVAL;
  bool acts = weft__acts(&q->consumer);
  if (WEFT__RARE(!acts) && weft__spsc_begin_pop(q) != 0) return EPERM;
  return weft__spsc_pop_int(q, value, acts);
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
  return weft__spsc_publish(q, weft__spsc_own(&q->tail), 1, false);
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
  weft__spsc_release(q, weft__spsc_own(&q->head), 1, false);
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
  return weft__spsc_publish(q, tail, n, false);
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
  if (n > 0) weft__spsc_release(q, head, n, false);
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
 * The end of a blocking form whose first attempt found the queue full, or
 * empty: it spins, and then sleeps, and makes the attempt again after each.
 */
#define WEFT__BLOCK(q, pushes, attempt, timeout)                     \
  do {                                                               \
    const int64_t deadline = weft__deadline(timeout);                \
    int32_t *own = (pushes) ? &(q)->tail : &(q)->head;               \
    weft__spinning spin = weft__spin_begin(own, timeout);            \
    for (int outcome = WEFT__OK;;) {                                 \
      if (spin != 0) spin = weft__spin_next(spin);                   \
      if (spin == 0) outcome = weft__spsc_wait(q, pushes, deadline); \
      int again = (attempt);                                         \
      if (again == EBUSY && outcome != WEFT__TIMED_OUT) continue;    \
      if (spin != 0) (void)weft__spin_found(spin, true);             \
      return again == EBUSY ? ETIMEDOUT : again;                     \
    }                                                                \
  } while (0)

/* That of a push of the element at `element`, or of a pop to there. */
static inline WEFT__SHARED int weft__spsc_block(weft_spsc_queue *q, bool pushes,
                                                void *element,
                                                int64_t timeout) {
  WEFT__BLOCK(q, pushes,
              pushes ? weft_spsc_queue_try_push(q, element)
                     : weft_spsc_queue_try_pop(q, element),
              timeout);
}

/* Does the same as try_push, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_spsc_queue_push(weft_spsc_queue *q, const void *src,
                                       int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int result = weft_spsc_queue_try_push(q, src);
  if (result != EBUSY) return result;
  return weft__spsc_block(q, true, (void *)(uintptr_t)src, timeout);
}

/* Does the same as try_pop, but blocks up to `timeout` ns if there is nothing
   to take; then ETIMEDOUT. */
static inline int weft_spsc_queue_pop(weft_spsc_queue *q, void *dst,
                                      int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int result = weft_spsc_queue_try_pop(q, dst);
  if (result != EBUSY) return result;
  return weft__spsc_block(q, false, dst, timeout);
}

/* Does the same as try_push_int, but blocks up to `timeout` ns. */
static inline int weft_spsc_queue_push_int(weft_spsc_queue *q, int32_t value,
                                           int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int result = weft_spsc_queue_try_push_int(q, value);
  if (result != EBUSY) return result;
  WEFT__BLOCK(q, true, weft_spsc_queue_try_push_int(q, value), timeout);
}

/* Does the same as try_pop_int, but blocks up to `timeout` ns. */
static inline int weft_spsc_queue_pop_int(weft_spsc_queue *q, int32_t *value,
                                          int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int result = weft_spsc_queue_try_pop_int(q, value);
  if (result != EBUSY) return result;
  WEFT__BLOCK(q, false, weft_spsc_queue_try_pop_int(q, value), timeout);
}
#endif

WEFT__END

#endif /* WEFT_SPSC_QUEUE_H */

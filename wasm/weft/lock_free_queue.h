/* lock_free_queue.h - the twin of primitives/_queue/lock_free/core.ts. */
#ifndef WEFT_LOCK_FREE_QUEUE_H
#define WEFT_LOCK_FREE_QUEUE_H

#include "_event_count.h"
#include "_lock_free_ring.h"
#include "_queue.h"
#include "_region.h"

WEFT__BEGIN

/* The fewest entries of a ring, so that small queues suit several agents. */
#define WEFT__LOCK_FREE_FEWEST 16
/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A queue from many to many that no agent can block.
 *
 * word 0    magic         Kind and layout version.
 * word 1    capacity      How many elements fit, a power of two.
 * word 2    element_size  Bytes of an element, a multiple of 4.
 * word 3    seal          Check word over the configuration.
 * word 4    shape         A number that tells apart records with different
 *                         fields; 0 if the elements are not records, or if
 *                         nobody knows.
 * word 32   tail          A ticket to push, at most the next one.
 * word 64   head          A ticket to pop, at most the next one.
 * word 96   free_tail     The same as `tail`, for the ring of free slots.
 * word 128  free_head     The same as `head`, for the ring of free slots.
 * word 160  pop_epoch     Changes when sleeping consumers must look again.
 *                         sleepers: consumers
 * word 161  pop_waiters   bits 0-30  consumers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 162  pop_gong      A gong, for agents that wait for elements here and
 *                         for others.
 *                         sleepers: agents that wait at several ends
 * word 192  push_epoch    Changes when sleeping producers must look again.
 *                         sleepers: producers
 * word 193  push_waiters  bits 0-30  producers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 194  push_gong     A gong, for agents that wait for room here and for
 *                         others.
 *                         sleepers: agents that wait at several ends
 * word 224  `n` entries of the queue, `n` entries of the ring of free slots,
 *           and `n - 1` slots of `element_size` bytes. `n` is twice `capacity`,
 *           but at least 16. The entry of ticket `t` is in place `t mod n`.
 *           With `n = 2^k` it holds, from bit 0 on, `k` bits for a slot, one
 *           bit FILLED, and the lap `t / n`. An entry that is not FILLED is
 *           free for the ticket of its lap if the slot bits are 0, and the end
 *           of a closed queue if they are 1.
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
  int32_t free_tail;
  int32_t _pad3[31];
  int32_t free_head;
  int32_t _pad4[31];
  int32_t pop_epoch;
  int32_t pop_waiters;
  int32_t pop_gong;
  int32_t _pad5[29];
  int32_t push_epoch;
  int32_t push_waiters;
  int32_t push_gong;
  int32_t _pad6[29];
} weft_lock_free_queue;
WEFT_WORD(lock_free_queue, magic, 0);
WEFT_WORD(lock_free_queue, capacity, 1);
WEFT_WORD(lock_free_queue, element_size, 2);
WEFT_WORD(lock_free_queue, seal, 3);
WEFT_WORD(lock_free_queue, shape, 4);
WEFT_WORD(lock_free_queue, tail, 32);
WEFT_WORD(lock_free_queue, head, 64);
WEFT_WORD(lock_free_queue, free_tail, 96);
WEFT_WORD(lock_free_queue, free_head, 128);
WEFT_WORD(lock_free_queue, pop_epoch, 160);
WEFT_WORD(lock_free_queue, pop_waiters, 161);
WEFT_WORD(lock_free_queue, pop_gong, 162);
WEFT_WORD(lock_free_queue, push_epoch, 192);
WEFT_WORD(lock_free_queue, push_waiters, 193);
WEFT_WORD(lock_free_queue, push_gong, 194);
WEFT_LENGTH(lock_free_queue, 224);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The entries of a ring: one more than there are slots. */
static inline int32_t weft__lock_free_entries(int32_t capacity) {
  int32_t entries = 2 * capacity;
  return entries > WEFT__LOCK_FREE_FEWEST ? entries : WEFT__LOCK_FREE_FEWEST;
}

/* The ring of the filled slots. */
static inline weft__lock_free_ring weft__lock_free_ring_of_queue(
    const weft_lock_free_queue *q) {
  weft_lock_free_queue *at = (weft_lock_free_queue *)(uintptr_t)q;
  weft__lock_free_ring ring = {(int32_t *)(at + 1), &at->tail, &at->head,
                               weft__lock_free_entries(q->capacity)};
  return ring;
}

/* The ring of free slots. */
static inline weft__lock_free_ring weft__lock_free_ring_of_free(
    weft_lock_free_queue *q) {
  int32_t filled = weft__lock_free_entries(q->capacity);
  weft__lock_free_ring ring = {(int32_t *)(q + 1) + filled, &q->free_tail,
                               &q->free_head, filled};
  return ring;
}

/* The bytes of a queue as a constant expression; 0 if out of range. */
#define WEFT_LOCK_FREE_QUEUE_BYTES(capacity, element_size) \
  (!WEFT__QUEUE_FITS(capacity, element_size) ||            \
           WEFT__LOCK_FREE_ROOM(capacity, element_size) >  \
               SIZE_MAX - sizeof(weft_lock_free_queue)     \
       ? 0                                                 \
       : sizeof(weft_lock_free_queue) +                    \
             WEFT__LOCK_FREE_ROOM(capacity, element_size))
#define WEFT__LOCK_FREE_ROOM(capacity, element_size) \
  (8 + (WEFT__LOCK_FREE_ENTRIES(capacity) - 1) * (8 + (element_size)))
#define WEFT__LOCK_FREE_ENTRIES(capacity)                  \
  (2 * WEFT__POWER((capacity) > WEFT__LOCK_FREE_FEWEST / 2 \
                       ? (capacity)                        \
                       : WEFT__LOCK_FREE_FEWEST / 2))

/* The bytes of a queue of this configuration; 0 if it is out of range. */
static inline size_t weft_lock_free_queue_bytes(weft_queue_config config) {
  int32_t capacity = weft__queue_capacity(config);
  if (capacity == 0) return 0;
  uint64_t slots = (uint64_t)weft__lock_free_entries(capacity) - 1;
  uint64_t bytes = sizeof(weft_lock_free_queue) + 8 * (slots + 1) +
                   slots * (uint64_t)config.element_size;
  return (size_t)bytes == bytes ? (size_t)bytes : 0;
}

/* The queue at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_lock_free_queue *weft_lock_free_queue_attach(
    void *at) {
  if (weft_attach_error(at, WEFT_KIND_lock_free_queue) != NULL) return NULL;
  return (weft_lock_free_queue *)at;
}

/* Initializes `bytes` bytes of unused memory as an empty queue. NULL if the
   configuration is out of range, the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_lock_free_queue *weft_lock_free_queue_init(
    void *at, size_t bytes, weft_queue_config config) {
  weft_lock_free_queue *q = (weft_lock_free_queue *)at;
  size_t needed = weft_lock_free_queue_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  q->capacity = weft__queue_capacity(config);
  q->element_size = config.element_size;
  q->seal = weft__seal(WEFT_KIND_lock_free_queue, q->capacity, q->element_size);
  weft__lock_free_ring free = weft__lock_free_ring_of_free(q);
  for (int32_t i = 0; i < free.filled - 1; i++)
    free.entries[i] = free.filled | i;
  q->free_tail = free.filled - 1;
  weft__store(&q->magic, weft__magic(WEFT_KIND_lock_free_queue));
  return q;
}

/* How many elements the queue can hold. */
static inline int32_t weft_lock_free_queue_capacity(
    const weft_lock_free_queue *q) {
  return q->capacity;
}

/* The number that JavaScript gives the fields of its records: `shape` of their
   struct. 0 if the elements are not records, or if C has made the queue. */
static inline int32_t weft_lock_free_queue_shape(
    const weft_lock_free_queue *q) {
  return q->shape;
}

/* Bytes an element has. */
static inline int32_t weft_lock_free_queue_element_size(
    const weft_lock_free_queue *q) {
  return q->element_size;
}

/* How many agents may be inside an operation at the same time. */
static inline int32_t weft_lock_free_queue_agents(
    const weft_lock_free_queue *q) {
  const int32_t fewest = WEFT__LOCK_FREE_FEWEST / 2;
  return q->capacity > fewest ? q->capacity : fewest;
}

/* The words before element `n` of a batch: while others pop, a batch may be
   longer than the queue, and than 2^31 words. */
static inline size_t weft__lock_free_before(int32_t n, int32_t element_size) {
  return (size_t)n * (size_t)(element_size / 4);
}

static inline int32_t *weft__lock_free_slot(weft_lock_free_queue *q,
                                            int32_t slot) {
  return (int32_t *)(q + 1) + 2 * (size_t)weft__lock_free_entries(q->capacity) +
         weft__lock_free_before(slot, q->element_size);
}

/* 0 if there is room to push, with *next or a later ticket; else NONE if the
   queue is full, OVER if it was closed, or DAMAGED. */
static inline int32_t weft__lock_free_room(const weft_lock_free_queue *q,
                                           int32_t *next) {
  weft__lock_free_ring ring = weft__lock_free_ring_of_queue(q);
  int32_t tries = WEFT__MOST_TRIES;
  for (int32_t ticket = weft__hint(ring.tail); tries > 0; tries--) {
    int32_t *at = weft__lock_free_entry(ring, ticket);
    int32_t free = weft__lock_free_lap(ring, ticket);
    int32_t entry = weft__hint(at); /* the exchange that puts in checks it */
    if (entry == free) {
      if (weft__lock_free_is_taken(ring, weft__minus(ticket, q->capacity))) {
        *next = ticket;
        return 0;
      }
      entry = weft__load(at); /* full, unless closed before */
      if (entry == free) return WEFT__LOCK_FREE_NONE;
    }
    if (entry == (free | WEFT_LOCK_FREE_QUEUE_CLOSED))
      return WEFT__LOCK_FREE_OVER;
    ticket = weft__lock_free_after_put(ring, ticket, entry);
  }
  return WEFT__LOCK_FREE_DAMAGED;
}

/* How many elements are in the queue. The number may change at any moment. 0 if
   the queue is damaged. */
static inline int32_t weft_lock_free_queue_size(
    const weft_lock_free_queue *q) {
  int32_t count = weft__lock_free_count(weft__lock_free_ring_of_queue(q));
  return count > 0 ? count : 0;
}

/* Whether close was called; elements may still be in the queue. */
static inline bool weft_lock_free_queue_closed(const weft_lock_free_queue *q) {
  int32_t ticket = 0;
  return weft__lock_free_room(q, &ticket) == WEFT__LOCK_FREE_OVER;
}

/* Returns a free slot to push with, NONE if the queue is full, or OVER if it
   was closed. *ticket, or a later one, is the ticket for it. */
static inline int32_t weft__lock_free_claim(weft_lock_free_queue *q,
                                            int32_t *ticket) {
  int32_t room = weft__lock_free_room(q, ticket);
  if (room != 0) return room;
  return weft__lock_free_take(weft__lock_free_ring_of_free(q));
}

/* Gives a slot back to the producers. */
static inline void weft__lock_free_give_back(weft_lock_free_queue *q,
                                             int32_t slot) {
  weft__lock_free_ring ring = weft__lock_free_ring_of_free(q);
  weft__lock_free_put(ring, weft__hint(ring.tail), slot, 0);
}

/* (P) Publishes a slot and returns 0. If it returns NONE or OVER, the slot is
   free again. */
static inline int32_t weft__lock_free_append(weft_lock_free_queue *q,
                                             int32_t ticket, int32_t slot,
                                             int32_t capacity) {
  int32_t result = weft__lock_free_put(weft__lock_free_ring_of_queue(q),
                                       ticket, slot, capacity);
  if (result != 0) weft__lock_free_give_back(q, slot);
  return result;
}

/* What a try_ form returns if a ring returned `result`. */
static inline int weft__lock_free_error(int32_t result) {
  if (result == WEFT__LOCK_FREE_DAMAGED) return ENOTRECOVERABLE;
  return result == WEFT__LOCK_FREE_OVER ? EPIPE : EBUSY;
}

/* What a batch returns if it ended with `result` after `count` elements. */
static inline int32_t weft__lock_free_many(int32_t count, int32_t result) {
  if (count > 0 || result >= 0 || result == WEFT__LOCK_FREE_NONE) return count;
  return -weft__lock_free_error(result);
}

/*
 * Appends up to `n` consecutive elements from `src`, as many as there is room
 * for. Returns how many, -EPIPE if the queue was closed, or -EINVAL if n is
 * below 0. Lock-free.
 */
static inline int32_t weft_lock_free_queue_try_push_many(
    weft_lock_free_queue *q, const void *src, int32_t n) {
  if (n < 0) return -EINVAL;
  const int32_t *words = (const int32_t *)src;
  int32_t count = 0;
  int32_t result = 0;
  for (; count < n; count++) {
    int32_t ticket = 0;
    int32_t slot = result = weft__lock_free_claim(q, &ticket);
    if (slot < 0) break;
    weft__copy(weft__lock_free_slot(q, slot),
               words + weft__lock_free_before(count, q->element_size),
               q->element_size / 4);
    result = weft__lock_free_append(q, ticket, slot, q->capacity);
    if (result < 0) break;
  }
  if (count > 0) weft__event_wake_end(&q->pop_epoch, count);
  return weft__lock_free_many(count, result);
}

/*
 * Moves up to `n` of the oldest elements to `dst`, in their order. Returns how
 * many, -EPIPE if the queue was closed and is empty, or -EINVAL if n is below
 * 0. Lock-free.
 */
static inline int32_t weft_lock_free_queue_try_pop_many(
    weft_lock_free_queue *q, void *dst, int32_t n) {
  if (n < 0) return -EINVAL;
  int32_t *words = (int32_t *)dst;
  int32_t count = 0;
  int32_t slot = 0;
  for (; count < n; count++) {
    slot = weft__lock_free_take(weft__lock_free_ring_of_queue(q));
    if (slot < 0) break;
    weft__copy(words + weft__lock_free_before(count, q->element_size),
               weft__lock_free_slot(q, slot), q->element_size / 4);
    weft__lock_free_give_back(q, slot);
  }
  if (count > 0) weft__event_wake_end(&q->push_epoch, count);
  return weft__lock_free_many(count, slot);
}

/* Appends the element at `src`. Returns 0, EBUSY if the queue is full, or EPIPE
   if it was closed. */
static inline WEFT__CHECKED int weft_lock_free_queue_try_push(
    weft_lock_free_queue *q, const void *src) {
  int32_t count = weft_lock_free_queue_try_push_many(q, src, 1);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

/* Moves the oldest element to `dst`. Returns 0, EBUSY if there is none, or
   EPIPE if there is none and the queue was closed. */
static inline WEFT__CHECKED int weft_lock_free_queue_try_pop(
    weft_lock_free_queue *q, void *dst) {
  int32_t count = weft_lock_free_queue_try_pop_many(q, dst, 1);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

/* Appends a 4-byte element; EINVAL if elements are not 4 bytes. */
static inline WEFT__CHECKED int weft_lock_free_queue_try_push_int(
    weft_lock_free_queue *q, int32_t value) {
  int32_t ticket = 0;
  if (q->element_size != 4) return EINVAL;
  int32_t slot = weft__lock_free_claim(q, &ticket);
  if (slot < 0) return weft__lock_free_error(slot);
  *weft__lock_free_slot(q, slot) = value; /* published by (P) */
  int32_t result = weft__lock_free_append(q, ticket, slot, q->capacity);
  if (result < 0) return weft__lock_free_error(result);
  weft__event_wake_end(&q->pop_epoch, 1);
  return 0;
}

/* Takes the oldest 4-byte element; EINVAL if elements are not 4 bytes. */
static inline WEFT__CHECKED int weft_lock_free_queue_try_pop_int(
    weft_lock_free_queue *q, int32_t *value) {
  if (q->element_size != 4) return EINVAL;
  int32_t slot = weft__lock_free_take(weft__lock_free_ring_of_queue(q));
  if (slot < 0) return weft__lock_free_error(slot);
  *value = *weft__lock_free_slot(q, slot); /* published by (P) */
  weft__lock_free_give_back(q, slot);
  weft__event_wake_end(&q->push_epoch, 1);
  return 0;
}

/* Returns the place for an element, or NULL if the queue is full or closed.
   Write the element there, then commit. */
static inline WEFT__CHECKED void *weft_lock_free_queue_reserve(
    weft_lock_free_queue *q) {
  int32_t ticket = 0;
  int32_t slot = weft__lock_free_claim(q, &ticket);
  return slot < 0 ? NULL : weft__lock_free_slot(q, slot);
}

static inline int32_t weft__lock_free_number(weft_lock_free_queue *q,
                                             const void *slot) {
  const int32_t *first = weft__lock_free_slot(q, 0);
  return (int32_t)(((const int32_t *)slot - first) / (q->element_size / 4));
}

/* Appends the element in the slot that was reserved: there is always room for
   it. EPIPE if the queue was closed. */
static inline int weft_lock_free_queue_commit(weft_lock_free_queue *q,
                                              void *slot) {
  int32_t number = weft__lock_free_number(q, slot);
  int32_t result = weft__lock_free_append(q, weft__hint(&q->tail), number, 0);
  if (result != 0) return weft__lock_free_error(result);
  weft__event_wake_end(&q->pop_epoch, 1);
  return 0;
}

/* Takes the oldest element and returns its place, or NULL if there is none.
   Read the element there, then consume. */
static inline WEFT__CHECKED void *weft_lock_free_queue_peek(
    weft_lock_free_queue *q) {
  int32_t slot = weft__lock_free_take(weft__lock_free_ring_of_queue(q));
  return slot < 0 ? NULL : weft__lock_free_slot(q, slot);
}

/* Frees the slot of the element that was peeked at. */
static inline void weft_lock_free_queue_consume(weft_lock_free_queue *q,
                                                void *slot) {
  weft__lock_free_give_back(q, weft__lock_free_number(q, slot));
  weft__event_wake_end(&q->push_epoch, 1);
}

/* A waiter that gave up may have received a wake, and passes it on. */
static inline void weft__lock_free_pass_push(weft_lock_free_queue *q) {
  int32_t ticket = 0;
  int32_t room = weft__lock_free_room(q, &ticket);
  if (room == WEFT__LOCK_FREE_NONE) return;
  weft__event_wake_end(&q->push_epoch, room == 0 ? 1 : WEFT__ALL);
}

/* Whether a pop would not wait. */
static inline bool weft__lock_free_poppable(weft_lock_free_queue *q) {
  return weft_lock_free_queue_size(q) > 0 || weft_lock_free_queue_closed(q);
}

static inline void weft__lock_free_pass_pop(weft_lock_free_queue *q) {
  if (weft_lock_free_queue_size(q) > 0)
    weft__event_wake_end(&q->pop_epoch, 1);
  else if (weft_lock_free_queue_closed(q))
    weft__event_wake_end(&q->pop_epoch, WEFT__ALL);
}

#ifndef WEFT_REALTIME /* what may wait */
/* Does the same as try_push, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_lock_free_queue_push(weft_lock_free_queue *q,
                                            const void *src, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_lock_free_queue_try_push(q, src), &q->push_epoch,
                    weft__lock_free_pass_push(q), timeout);
}

/* Does the same as try_pop, but blocks up to `timeout` ns if there is nothing
   to take; then ETIMEDOUT. */
static inline int weft_lock_free_queue_pop(weft_lock_free_queue *q, void *dst,
                                           int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_lock_free_queue_try_pop(q, dst), &q->pop_epoch,
                    weft__lock_free_pass_pop(q), timeout);
}

/* Does the same as try_push_int, but blocks up to `timeout` ns. */
static inline int weft_lock_free_queue_push_int(weft_lock_free_queue *q,
                                                int32_t value,
                                                int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_lock_free_queue_try_push_int(q, value), &q->push_epoch,
                    weft__lock_free_pass_push(q), timeout);
}

/* Does the same as try_pop_int, but blocks up to `timeout` ns. */
static inline int weft_lock_free_queue_pop_int(weft_lock_free_queue *q,
                                               int32_t *value,
                                               int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_lock_free_queue_try_pop_int(q, value), &q->pop_epoch,
                    weft__lock_free_pass_pop(q), timeout);
}
#endif

/* Closes the queue for ever. Pushes fail from now on; pops take what is left,
   and then fail. All sleepers wake. ENOTRECOVERABLE if the queue is damaged and
   cannot be closed. */
static inline int weft_lock_free_queue_close(weft_lock_free_queue *q) {
  weft__lock_free_ring ring = weft__lock_free_ring_of_queue(q);
  int32_t tries = WEFT__MOST_TRIES;
  for (int32_t ticket = weft__hint(ring.tail); tries > 0; tries--) {
    int32_t *at = weft__lock_free_entry(ring, ticket);
    int32_t free = weft__lock_free_lap(ring, ticket);
    int32_t closed = free | WEFT_LOCK_FREE_QUEUE_CLOSED;
    int32_t seen = weft__compare_exchange(at, free, closed);
    if (seen == free || seen == closed) break;
    ticket = weft__lock_free_after_put(ring, ticket, seen);
  }
  weft__event_wake_end(&q->pop_epoch, WEFT__ALL);
  weft__event_wake_end(&q->push_epoch, WEFT__ALL);
  return tries > 0 ? 0 : ENOTRECOVERABLE;
}

/*
 * Gets back the slots of agents that were terminated inside an operation, and
 * returns how many. Call it only while no agent is inside an operation, has a
 * slot reserved or an element peeked at: others would get its slot.
 * -ENOTRECOVERABLE if the words of the ends are damaged.
 */
static inline int32_t weft_lock_free_queue_repair(weft_lock_free_queue *q) {
  weft__lock_free_ring ring = weft__lock_free_ring_of_queue(q);
  weft__lock_free_ring free = weft__lock_free_ring_of_free(q);
  const int32_t n = ring.filled;
  int32_t before = weft__lock_free_count(free);
  int32_t left = weft__lock_free_count(ring);
  int32_t ticket = 0;
  if (before < 0 || left < 0 || !weft__lock_free_front(ring, &ticket))
    return -ENOTRECOVERABLE;
  for (int32_t i = 0; i < n; i++) free.entries[i] = 1; /* slot i is free */
  for (; left > 0; left--) {
    free.entries[*weft__lock_free_entry(ring, ticket) & (n - 1)] = 0;
    ticket = weft__plus(ticket, 1);
  }
  int32_t count = 0;
  for (int32_t slot = 0; slot < n - 1; slot++)
    if (free.entries[slot] == 1) free.entries[count++] = n | slot;
  for (int32_t i = count; i < n; i++) free.entries[i] = 0;
  weft__store(&q->free_head, 0);
  weft__store(&q->free_tail, count);
  if (count > before) weft__event_wake_end(&q->push_epoch, count - before);
  return count - before;
}

WEFT__END

#endif /* WEFT_LOCK_FREE_QUEUE_H */

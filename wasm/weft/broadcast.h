/* broadcast.h - the twin of primitives/_queue/broadcast_core.ts. */
#ifndef WEFT_BROADCAST_H
#define WEFT_BROADCAST_H

#include "_event_count.h"
#include "_queue.h"
#include "_region.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* In `shape`: the logarithm of the capacity, DROP, and the number of seats. */
#define WEFT_BROADCAST_ORDER_MASK 0x1f /* BROADCAST_BITS.ORDER */
#define WEFT_BROADCAST_DROP_BIT (1 << 5) /* BROADCAST_BITS.DROP */
#define WEFT_BROADCAST_SEATS_SHIFT 6 /* BROADCAST_BITS.SEATS */
#define WEFT_BROADCAST_MAX_SUBSCRIBERS 1024
/* In an owner word: the producer need not wait for this subscriber yet. */
#define WEFT_BROADCAST_JOINING_BIT (1 << 28) /* BROADCAST_BITS.JOINING */
/* In `tail`: nothing is appended any more. */
#define WEFT_BROADCAST_CLOSED_BIT 1 /* BROADCAST_BITS.CLOSED */
/* Positions count in steps of two. */
#define WEFT_BROADCAST_ONE (1 << 1) /* BROADCAST_BITS.POSITION */

/* The configuration of a broadcast: `capacity` elements of `element_size`
   bytes, as in a queue, and at most `subscribers` at the same time, 1 to 1024.
   If a subscriber is `capacity` elements late, the producer waits; with `drop`
   the subscriber loses the oldest elements instead. */
typedef struct {
  int32_t capacity;
  int32_t element_size;
  int32_t subscribers;
  bool drop;
} weft_broadcast_config;

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A ring whose subscribers each see every element.
 *
 * word 0    magic         Kind and layout version.
 * word 1    shape         bits 0-4   the logarithm of the capacity
 *                         bit 5      DROP
 *                         bits 6-31  the number of seats
 * word 2    element_size  Bytes of an element, a multiple of 4.
 * word 3    seal          Check word over the configuration.
 * word 32   tail          bit 0      CLOSED
 *                         bits 1-31  the next position to push
 * word 33   slowest       The slowest cursor, as the producer saw it last.
 * word 34   producer      The agent that pushes, from its first push on, or 0.
 * word 64   pop_epoch     Changes when sleeping subscribers must look again.
 *                         sleepers: subscribers
 * word 65   pop_waiters   bits 0-30  subscribers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 96   push_epoch    Changes when the sleeping producer must look again.
 *                         sleepers: the producer
 * word 97   push_waiters  bits 0-30  waits of the producer that sleep, or are
 *                                    about to
 *                         bit 31     one of them awaits, or did
 * word 128  Seats of 32 words each. A seat has the next position to pop, times
 *           2; then the agent id of the subscriber, with bit 28 set while it
 *           joins, or 0; and how many elements it lost. The elements lie behind
 *           the seats: position `p` is in place `p mod capacity`.
 *
 * Freed when: every operation of every agent has returned, close included, and
 * none will begin. That it is closed and empty does not say so.
 */
typedef struct {
  int32_t magic;
  int32_t shape;
  int32_t element_size;
  int32_t seal;
  int32_t _pad0[28];
  int32_t tail;
  int32_t slowest;
  int32_t producer;
  int32_t _pad1[29];
  int32_t pop_epoch;
  int32_t pop_waiters;
  int32_t _pad2[30];
  int32_t push_epoch;
  int32_t push_waiters;
  int32_t _pad3[30];
} weft_broadcast;
WEFT_WORD(broadcast, magic, 0);
WEFT_WORD(broadcast, shape, 1);
WEFT_WORD(broadcast, element_size, 2);
WEFT_WORD(broadcast, seal, 3);
WEFT_WORD(broadcast, tail, 32);
WEFT_WORD(broadcast, slowest, 33);
WEFT_WORD(broadcast, producer, 34);
WEFT_WORD(broadcast, pop_epoch, 64);
WEFT_WORD(broadcast, pop_waiters, 65);
WEFT_WORD(broadcast, push_epoch, 96);
WEFT_WORD(broadcast, push_waiters, 97);
WEFT_LENGTH(broadcast, 128);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* A subscriber's words. */
typedef struct {
  int32_t cursor;  /* next position to pop, in steps of 2 */
  int32_t owner;   /* its agent, or 0 */
  int32_t dropped; /* how many elements it lost */
  int32_t _pad0[29];
} weft__broadcast_seat;

/* The configuration packed, or -1 if it is out of range. */
static inline int32_t weft__broadcast_shape(weft_broadcast_config config) {
  weft_queue_config queue = {config.capacity, config.element_size};
  int32_t capacity = weft__queue_capacity(queue);
  if (capacity == 0 || config.subscribers < 1) return -1;
  if (config.subscribers > WEFT_BROADCAST_MAX_SUBSCRIBERS) return -1;
  int32_t order = __builtin_ctz((unsigned)capacity);
  return order | (config.drop ? WEFT_BROADCAST_DROP_BIT : 0) |
         config.subscribers << WEFT_BROADCAST_SEATS_SHIFT;
}

/* The bytes of a broadcast as a constant expression; 0 if out of range. */
#define WEFT_BROADCAST_BYTES(capacity, element_size, subscribers)    \
  (!WEFT__QUEUE_FITS(capacity, element_size) || (subscribers) < 1 || \
           (subscribers) > WEFT_BROADCAST_MAX_SUBSCRIBERS            \
       ? 0                                                           \
       : sizeof(weft_broadcast) +                                    \
             sizeof(weft__broadcast_seat) * (subscribers) +          \
             WEFT__QUEUE_ELEMENTS(capacity, element_size))

/* The bytes of a broadcast of this configuration; 0 if it is out of range. */
static inline size_t weft_broadcast_bytes(weft_broadcast_config config) {
  int32_t shape = weft__broadcast_shape(config);
  if (shape < 0) return 0;
  size_t capacity = (size_t)1 << (shape & WEFT_BROADCAST_ORDER_MASK);
  return sizeof(weft_broadcast) +
         (size_t)config.subscribers * sizeof(weft__broadcast_seat) +
         capacity * (size_t)config.element_size;
}

/* The broadcast at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_broadcast *weft_broadcast_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_broadcast) != NULL) return NULL;
  return (weft_broadcast *)at;
}

/* Initializes `bytes` bytes of unused memory as a broadcast without
   subscribers. NULL if the configuration is out of range, the bytes are too
   few, or `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_broadcast *weft_broadcast_init(
    void *at, size_t bytes, weft_broadcast_config config) {
  weft_broadcast *b = (weft_broadcast *)at;
  size_t needed = weft_broadcast_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  b->shape = weft__broadcast_shape(config);
  b->element_size = config.element_size;
  b->seal = weft__seal(WEFT_KIND_broadcast, b->shape, b->element_size);
  weft__store(&b->magic, weft__magic(WEFT_KIND_broadcast));
  return b;
}

/* How many elements the broadcast can hold. */
static inline int32_t weft_broadcast_capacity(const weft_broadcast *b) {
  return 1 << (b->shape & WEFT_BROADCAST_ORDER_MASK);
}

/* Bytes an element has. */
static inline int32_t weft_broadcast_element_size(const weft_broadcast *b) {
  return b->element_size;
}

/* How many subscribers there may be at the same time. */
static inline int32_t weft_broadcast_seats(const weft_broadcast *b) {
  return b->shape >> WEFT_BROADCAST_SEATS_SHIFT;
}

/* Whether a late subscriber loses elements. If not, the producer waits for
   it. */
static inline bool weft_broadcast_drops(const weft_broadcast *b) {
  return (b->shape & WEFT_BROADCAST_DROP_BIT) != 0;
}

/* Whether close was called; subscribers may still have elements to see. */
static inline bool weft_broadcast_closed(const weft_broadcast *b) {
  return (weft__load(&b->tail) & WEFT_BROADCAST_CLOSED_BIT) != 0;
}

static inline weft__broadcast_seat *weft__broadcast_at(const weft_broadcast *b,
                                                       int32_t seat) {
  return (weft__broadcast_seat *)(uintptr_t)(b + 1) + seat;
}

/* How many subscribers there are. */
static inline int32_t weft_broadcast_subscribers(const weft_broadcast *b) {
  int32_t count = 0;
  for (int32_t seat = 0; seat < weft_broadcast_seats(b); seat++)
    if (weft__load(&weft__broadcast_at(b, seat)->owner) != 0) count++;
  return count;
}

/* The element at a position. */
static inline int32_t *weft__broadcast_element(const weft_broadcast *b,
                                               int32_t position) {
  uint32_t mask = (uint32_t)weft_broadcast_capacity(b) - 1;
  int32_t *first = (int32_t *)weft__broadcast_at(b, weft_broadcast_seats(b));
  return first + (size_t)((uint32_t)position >> 1 & mask) *
                     (size_t)(b->element_size / 4);
}

/* How the words of an element are accessed: atomically, or plainly. */
static inline void weft__broadcast_put(weft_broadcast *b, int32_t position,
                                       const void *src) {
  const int32_t *from = (const int32_t *)src;
  int32_t *at = weft__broadcast_element(b, position);
  if (!weft_broadcast_drops(b)) {
    weft__copy(at, from, b->element_size / 4); /* published by (P) */
    return;
  }
  for (int32_t i = 0; i < b->element_size / 4; i++)
    weft__store(at + i, from[i]); /* published by (P) */
}

static inline void weft__broadcast_get(const weft_broadcast *b,
                                       int32_t position, void *dst) {
  int32_t *to = (int32_t *)dst;
  const int32_t *at = weft__broadcast_element(b, position);
  if (!weft_broadcast_drops(b)) {
    weft__copy(to, at, b->element_size / 4); /* published by (P) */
    return;
  }
  for (int32_t i = 0; i < b->element_size / 4; i++)
    to[i] = weft__load(at + i); /* published by (P) */
}

/* The slowest cursor. Cursors that are too slow are moved forward, if that is
   allowed. */
static inline int32_t weft__broadcast_scan(weft_broadcast *b, int32_t tail) {
  int32_t span = weft_broadcast_capacity(b) * WEFT_BROADCAST_ONE;
  int32_t slowest = tail;
  for (int32_t seat = 0; seat < weft_broadcast_seats(b); seat++) {
    weft__broadcast_seat *at = weft__broadcast_at(b, seat);
    int32_t owner = weft__load(&at->owner); /* (S) pairs with (J) */
    if (owner == 0 || owner & WEFT_BROADCAST_JOINING_BIT) continue;
    int32_t cursor = weft__load(&at->cursor);
    while (weft_broadcast_drops(b) && weft__minus(tail, cursor) >= span) {
      int32_t next = weft__plus(weft__minus(tail, span), WEFT_BROADCAST_ONE);
      int32_t seen = weft__compare_exchange(&at->cursor, cursor, next);
      if (seen == cursor) {
        weft__add(&at->dropped,
                  (int32_t)((uint32_t)weft__minus(next, cursor) >> 1));
        cursor = next;
      } else {
        cursor = seen;
      }
    }
    if (weft__minus(cursor, slowest) < 0) slowest = cursor;
  }
  return slowest;
}

/* Finds the position to push at: *tail. Returns 0, EBUSY if there is no room,
   EPIPE if the broadcast was closed, or EPERM if another agent is the
   producer. */
static inline int weft__broadcast_claim(weft_broadcast *b, int32_t *tail) {
  if (weft__take_role(&b->producer) != 0) return EPERM;
  int32_t span = weft_broadcast_capacity(b) * WEFT_BROADCAST_ONE;
  *tail = weft__hint(&b->tail); /* our own: only close changes it meanwhile */
  if (*tail & WEFT_BROADCAST_CLOSED_BIT) return EPIPE;
  if (weft__minus(*tail, b->slowest) < span) return 0;
  b->slowest = weft__broadcast_scan(b, *tail);
  if (weft__minus(*tail, b->slowest) < span) return 0;
  return weft_broadcast_closed(b) ? EPIPE : EBUSY;
}

/* Appends the element at `src`. The first agent that pushes is the producer.
   Returns 0, EBUSY if it must wait for a late subscriber, EPIPE if the
   broadcast was closed, or EPERM if another agent is the producer. */
static inline WEFT__CHECKED int weft_broadcast_try_push(weft_broadcast *b,
                                                        const void *src) {
  int32_t tail = 0;
  int result = weft__broadcast_claim(b, &tail);
  if (result != 0) return result;
  weft__broadcast_put(b, tail, src);
  /* (P) Lets the subscribers see the element. */
  int32_t next = weft__plus(tail, WEFT_BROADCAST_ONE);
  if (weft__compare_exchange(&b->tail, tail, next) != tail) return EPIPE;
  weft__event_wake(&b->pop_epoch, WEFT__ALL);
  return 0;
}

/* Appends a 4-byte element; EINVAL if elements are not 4 bytes. */
static inline WEFT__CHECKED int weft_broadcast_try_push_int(weft_broadcast *b,
                                                            int32_t value) {
  return b->element_size == 4 ? weft_broadcast_try_push(b, &value) : EINVAL;
}

/* Nobody can take the wake of another: all are woken together. */
static inline void weft__broadcast_pass(weft_broadcast *b) { (void)b; }

/* Does the same as try_push, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_broadcast_push(weft_broadcast *q, const void *src,
                                      int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_broadcast_try_push(q, src), &q->push_epoch,
                    weft__broadcast_pass(q), timeout);
}

/* Does the same as try_push_int, but blocks up to `timeout` ns. */
static inline int weft_broadcast_push_int(weft_broadcast *q, int32_t value,
                                          int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_broadcast_try_push_int(q, value), &q->push_epoch,
                    weft__broadcast_pass(q), timeout);
}

/* Subscribes. Returns a seat that sees every element pushed from now on, or -1
   if all seats are taken. */
static inline int32_t weft_broadcast_subscribe(weft_broadcast *b) {
  int32_t id = weft_agent_id();
  for (int32_t seat = 0; seat < weft_broadcast_seats(b); seat++) {
    weft__broadcast_seat *at = weft__broadcast_at(b, seat);
    int32_t joining = id | WEFT_BROADCAST_JOINING_BIT;
    if (weft__hint(&at->owner) != 0) continue; /* checked at once */
    if (weft__compare_exchange(&at->owner, 0, joining) != 0) continue;
    int32_t first = weft__load(&b->tail) & ~WEFT_BROADCAST_CLOSED_BIT;
    weft__store(&at->dropped, 0);
    weft__store(&at->cursor, first);
    /* (J) Pairs with (S). A producer that does not see us yet knows no cursor
       after the tail that we read next, so it overwrites nothing from there on.
       A producer that sees us waits for `first`. */
    weft__store(&at->owner, id);
    int32_t next = weft__load(&b->tail) & ~WEFT_BROADCAST_CLOSED_BIT;
    weft__compare_exchange(&at->cursor, first, next);
    if (next != first) weft__event_wake(&b->push_epoch, WEFT__ALL);
    return seat;
  }
  return -1;
}

/* How many elements the subscriber at `seat` lost because it was late. */
static inline int32_t weft_broadcast_dropped(const weft_broadcast *b,
                                             int32_t seat) {
  return weft__load(&weft__broadcast_at(b, seat)->dropped);
}

/* How many elements the subscriber at `seat` has still to see. */
static inline int32_t weft_broadcast_size(const weft_broadcast *b,
                                          int32_t seat) {
  int32_t cursor = weft__load(&weft__broadcast_at(b, seat)->cursor);
  int32_t tail = weft__load(&b->tail) & ~WEFT_BROADCAST_CLOSED_BIT;
  uint32_t size = (uint32_t)weft__minus(tail, cursor) >> 1;
  int32_t capacity = weft_broadcast_capacity(b);
  return size < (uint32_t)capacity ? (int32_t)size : capacity;
}

/* Copies the next element for `seat` to `dst`. Returns 0, EBUSY if there is
   none yet, or EPIPE if the broadcast was closed and all elements were seen. If
   late subscribers lose elements, it may write to `dst` in all of these cases.
   */
static inline WEFT__CHECKED int weft_broadcast_try_pop(weft_broadcast *b,
                                                       int32_t seat,
                                                       void *dst) {
  weft__broadcast_seat *at = weft__broadcast_at(b, seat);
  for (;;) {
    int32_t cursor = weft__hint(&at->cursor); /* the exchange checks it */
    int32_t tail = weft__load(&b->tail);
    int32_t end = tail & ~WEFT_BROADCAST_CLOSED_BIT;
    if (weft__minus(end, cursor) <= 0)
      return tail & WEFT_BROADCAST_CLOSED_BIT ? EPIPE : EBUSY;
    weft__broadcast_get(b, cursor, dst);
    int32_t next = weft__plus(cursor, WEFT_BROADCAST_ONE);
    if (weft_broadcast_drops(b)) {
      /* If the producer moved the cursor, the element that we read is
         invalid. */
      if (weft__compare_exchange(&at->cursor, cursor, next) != cursor) continue;
    } else {
      weft__store(&at->cursor, next);
      weft__event_wake(&b->push_epoch, WEFT__ALL);
    }
    return 0;
  }
}

/* The next 4-byte element; EINVAL if elements are not 4 bytes. */
static inline WEFT__CHECKED int weft_broadcast_try_pop_int(weft_broadcast *b,
                                                           int32_t seat,
                                                           int32_t *value) {
  return b->element_size == 4 ? weft_broadcast_try_pop(b, seat, value) : EINVAL;
}

/* Does the same as try_pop, but blocks up to `timeout` ns if there is nothing
   to take; then ETIMEDOUT. */
static inline int weft_broadcast_pop(weft_broadcast *q, int32_t seat, void *dst,
                                     int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_broadcast_try_pop(q, seat, dst), &q->pop_epoch,
                    weft__broadcast_pass(q), timeout);
}

/* Does the same as try_pop_int, but blocks up to `timeout` ns. */
static inline int weft_broadcast_pop_int(weft_broadcast *q, int32_t seat,
                                         int32_t *value, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_broadcast_try_pop_int(q, seat, value), &q->pop_epoch,
                    weft__broadcast_pass(q), timeout);
}

/* Gives up the seat that agent `id` has taken. */
static inline void weft__broadcast_leave(weft_broadcast *b, int32_t seat,
                                         int32_t id) {
  int32_t *owner = &weft__broadcast_at(b, seat)->owner;
  weft__event_wake(&b->pop_epoch, WEFT__ALL); /* JavaScript awaits pops of it */
  if (weft__compare_exchange(owner, id, 0) == id)
    weft__event_wake(&b->push_epoch, WEFT__ALL);
}

/* Gives up the seat, which this agent has taken. Do not use it afterwards. */
static inline void weft_broadcast_leave(weft_broadcast *b, int32_t seat) {
  weft__broadcast_leave(b, seat, weft_agent_id());
}

/* Closes the broadcast for ever. Pushes fail from now on; subscribers see what
   is left, and then fail. All sleepers wake. */
static inline void weft_broadcast_close(weft_broadcast *b) {
  if (weft__or(&b->tail, WEFT_BROADCAST_CLOSED_BIT) &
      WEFT_BROADCAST_CLOSED_BIT)
    return;
  weft__event_wake(&b->pop_epoch, WEFT__ALL);
  weft__event_wake(&b->push_epoch, WEFT__ALL);
}

/* Ends the role of agent `id` as the producer. Returns how many roles that
   was. */
static inline int32_t weft__broadcast_abandon_roles(weft_broadcast *b,
                                                    int32_t id) {
  return weft__leave_role(&b->producer, id);
}

/* Ends the subscriptions of agent `id`. Call it only when that agent will never
   run again. Returns how many there were. If it was the producer, the next
   agent that pushes is. A producer may give its role up by its own id, if it
   has no subscription. */
static inline int32_t weft_broadcast_abandon(weft_broadcast *b, int32_t id) {
  weft__broadcast_abandon_roles(b, id);
  int32_t count = 0;
  if (id == 0) return 0;
  for (int32_t seat = 0; seat < weft_broadcast_seats(b); seat++) {
    int32_t *at = &weft__broadcast_at(b, seat)->owner;
    int32_t owner = weft__load(at);
    if ((owner & ~WEFT_BROADCAST_JOINING_BIT) != id) continue;
    if (weft__compare_exchange(at, owner, 0) == owner) count++;
  }
  if (count > 0) weft__event_wake(&b->push_epoch, WEFT__ALL);
  return count;
}

WEFT__END

#endif

#endif /* WEFT_BROADCAST_H */

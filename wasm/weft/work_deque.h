/* work_deque.h - the twin of primitives/work_deque.ts. */
#ifndef WEFT_WORK_DEQUE_H
#define WEFT_WORK_DEQUE_H

#include "_queue.h"
#include "_region.h"
#include "agent.h"

WEFT__BEGIN

#define WEFT_WORK_DEQUE_LEFT_BIT (1 << 28) /* WORK_DEQUE_BITS.LEFT */

/* The most items a deque can hold. */
#define WEFT_WORK_DEQUE_MAX_CAPACITY (1 << 28)

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A stack of work that others may steal from.
 *
 * word 0   magic     Kind and layout version.
 * word 1   capacity  How many items fit, a power of two.
 * word 2   seal      Check word over the configuration.
 * word 32  bottom    Where the owner pushes next.
 * word 33  owner     bits 0-27  the agent that pushes and pops, from its first
 *                               time on, or 0
 *                    bit 28     LEFT: the last owner gave the deque up, so the
 *                               next one adopts it
 * word 64  top       The item that is stolen next.
 * word 96  `capacity` items of one word. Item `i` lies in place `i mod
 *          capacity`.
 *
 * Freed when: every operation of every agent has returned, and none will begin.
 */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t seal;
  int32_t _pad0[29];
  int32_t bottom;
  int32_t owner;
  int32_t _pad1[30];
  int32_t top;
  int32_t _pad2[31];
} weft_work_deque;
WEFT_WORD(work_deque, magic, 0);
WEFT_WORD(work_deque, capacity, 1);
WEFT_WORD(work_deque, seal, 2);
WEFT_WORD(work_deque, bottom, 32);
WEFT_WORD(work_deque, owner, 33);
WEFT_WORD(work_deque, top, 64);
WEFT_LENGTH(work_deque, 96);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The capacity rounded up to a power of two, or 0 if it is out of range. */
static inline int32_t weft__deque_rounded(int32_t capacity) {
  if (capacity < 1 || capacity > WEFT_WORK_DEQUE_MAX_CAPACITY) return 0;
  return (int32_t)WEFT__POWER((uint32_t)capacity);
}

/* The bytes of a deque as a constant expression; 0 if out of range. */
#define WEFT_WORK_DEQUE_BYTES(capacity)                        \
  ((capacity) < 1 || (capacity) > WEFT_WORK_DEQUE_MAX_CAPACITY \
       ? 0                                                     \
       : sizeof(weft_work_deque) + sizeof(int32_t) * WEFT__POWER(capacity))

/* The bytes of a deque of 1 to 2^28 items; 0 if the capacity is out of
   range. */
static inline size_t weft_work_deque_bytes(int32_t capacity) {
  size_t rounded = (size_t)weft__deque_rounded(capacity);
  return rounded == 0 ? 0 : sizeof(weft_work_deque) + rounded * 4;
}

/* The deque at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_work_deque *weft_work_deque_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_work_deque) != NULL) return NULL;
  return (weft_work_deque *)at;
}

/* Initializes `bytes` bytes of unused memory as an empty deque. NULL if the
   capacity is out of range, the bytes are too few, or `at` is not a multiple of
   4. */
static inline WEFT__RESULT weft_work_deque *weft_work_deque_init(
    void *at, size_t bytes, int32_t capacity) {
  weft_work_deque *d = (weft_work_deque *)at;
  size_t needed = weft_work_deque_bytes(capacity);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  d->capacity = weft__deque_rounded(capacity);
  d->seal = weft__seal(WEFT_KIND_work_deque, d->capacity, 0);
  weft__store(&d->magic, weft__magic(WEFT_KIND_work_deque));
  return d;
}

/* How many items the deque can hold. */
static inline int32_t weft_work_deque_capacity(const weft_work_deque *d) {
  return d->capacity;
}

/* How many items are in the deque. The number may change at any moment. */
static inline int32_t weft_work_deque_size(const weft_work_deque *d) {
  return weft__size_of(&d->top, &d->bottom, 1, d->capacity);
}

static inline int32_t *weft__deque_item(weft_work_deque *d, int32_t i) {
  return (int32_t *)(d + 1) + (i & (d->capacity - 1));
}

/* push of the agent that is the owner. */
static inline int weft__work_deque_push(weft_work_deque *d, int32_t item) {
  int32_t bottom = weft__hint(&d->bottom); /* our own: nobody moves it */
  if (weft__minus(bottom, weft__load(&d->top)) >= d->capacity) return EBUSY;
  /* A thief that is late by a lap may read this place now; its exchange will
     fail. With a plain write that would be a data race. */
  weft__store(weft__deque_item(d, bottom), item);
  weft__store(&d->bottom, weft__plus(bottom, 1)); /* (P) */
  return 0;
}

/* pop of the agent that is the owner. */
static inline int weft__work_deque_pop(weft_work_deque *d, int32_t *item) {
  int result = 0;
  int32_t bottom = weft__minus(weft__hint(&d->bottom), 1);
  /* (B) Pairs with (T): a later thief sees that this item is gone, or we see
     that the thief moved `top`. */
  weft__store(&d->bottom, bottom);
  int32_t top = weft__load(&d->top);
  int32_t left = weft__minus(bottom, top);
  if (left < 0 || (left == 0 && weft__compare_exchange(
                                    &d->top, top, weft__plus(top, 1)) != top))
    result = EBUSY;
  else
    *item = weft__hint(weft__deque_item(d, bottom)); /* our own */
  /* Empty: as top is by now. */
  if (left <= 0) weft__store(&d->bottom, weft__plus(bottom, 1));
  return result;
}

/* Adds an item at the bottom. The first agent that pushes or pops is the owner.
   Returns 0, EBUSY if the deque is full, or EPERM if another agent is the
   owner, or the last owner left and nobody adopted the deque. Wait-free. */
static inline int weft_work_deque_push(weft_work_deque *d, int32_t item) {
  if (weft__take_role(&d->owner) != 0) return EPERM;
  return weft__work_deque_push(d, item);
}

/* Takes the item pushed last. Returns 0, EBUSY if there is none, or EPERM as
   push. Wait-free. */
static inline int weft_work_deque_pop(weft_work_deque *d, int32_t *item) {
  if (weft__take_role(&d->owner) != 0) return EPERM;
  return weft__work_deque_pop(d, item);
}

/* Takes the oldest item; EBUSY if there is none. Any agent may call it.
   Lock-free. */
static inline WEFT__RESULT int weft_work_deque_steal(weft_work_deque *d,
                                                     int32_t *item) {
  for (int32_t top = weft__load(&d->top);;) {
    /* (T) Pairs with (B): top is read first, bottom second. */
    int32_t left = weft__minus(weft__load(&d->bottom), top);
    if (left <= 0) return EBUSY;
    /* Published by (P). Read it before the exchange: after that, the owner may
       push into this place. */
    int32_t found = weft__load(weft__deque_item(d, top));
    int32_t seen = weft__compare_exchange(&d->top, top, weft__plus(top, 1));
    if (seen == top) {
      *item = found;
      return 0;
    }
    top = seen;
  }
}

/* Makes this agent the owner, after the last one was abandoned or gave the
   deque up. An item that the last owner was popping is lost. Returns 0, or
   EPERM if another agent is the owner; then nothing was changed. */
static inline int weft_work_deque_adopt(weft_work_deque *d) {
  int32_t left = WEFT_WORK_DEQUE_LEFT_BIT;
  int32_t seen = weft__compare_exchange(&d->owner, left, weft_agent_id());
  if (seen != left && weft__take_role(&d->owner) != 0) return EPERM;
  int32_t top = weft__load(&d->top);
  int32_t items = weft__minus(weft__load(&d->bottom), top);
  if (items > 0) return 0;
  /* The old owner was stopped while it popped from an empty deque, or popped
     the last item. A thief may have read that item: its exchange must not take
     what we push in its place. */
  if (items == 0) {
    int32_t next = weft__plus(top, 1);
    weft__compare_exchange(&d->top, top, next);
    top = next;
  }
  weft__store(&d->bottom, top);
  return 0;
}

/*
 * Ends the ownership of agent `id`, known never to run again, so that the next
 * owner can adopt the deque. Returns 1, or 0 if that agent was not the owner.
 * The owner may give the deque up by its own id. The items stay.
 */
static inline int32_t weft_work_deque_abandon(weft_work_deque *d, int32_t id) {
  int32_t left = WEFT_WORK_DEQUE_LEFT_BIT;
  if (id == left) return 0; /* no agent has that */
  return id != 0 && weft__compare_exchange(&d->owner, id, left) == id ? 1 : 0;
}

WEFT__END

#endif /* WEFT_WORK_DEQUE_H */

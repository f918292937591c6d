/* record_ring.h - the twin of primitives/_queue/record/core.ts. */
#ifndef WEFT_RECORD_RING_H
#define WEFT_RECORD_RING_H

#include "_record_claim.h"
#include "_record_words.h"

WEFT__BEGIN

/* Whether a record of `space` bytes at `head` lies within the ring, and before
   `tail`. */
static inline bool weft__record_fits(const weft_record_ring *r, int32_t head,
                                     int32_t space) {
  int32_t left = r->capacity - (head & (r->capacity - 1));
  int32_t used = weft__minus(r->tail_cache, head);
  return space <= left && space <= used && weft__record_is_whole(r, used);
}

/* Counts a record that is popped. */
static inline void weft__record_count(weft_record_ring *r) {
  if (r->most <= 0) return; /* otherwise before (F) */
  weft__store(&r->popped, weft__plus(weft__hint(&r->popped), 1));
}

/*
 * Takes the right to read. EPERM if there is one consumer, and it is another
 * agent. EBUSY if another of many has it, and does not end within about a
 * microsecond: it wakes us when it ends.
 */
static inline int weft__record_begin_reading(weft_record_ring *r) {
  if (!weft_record_ring_many(r)) return weft__take_role(&r->consumer);
  int32_t id = weft_agent_id();
  for (int i = 8 * (WEFT_SPIN_ROUNDS < 2 ? WEFT_SPIN_ROUNDS : 2);; i--) {
    int32_t owner = weft__compare_exchange(&r->consumer, 0, id);
    if (owner == 0) return 0;
    if (i <= 0) {
      /* (E) As (W) of weft__record_begin_claim, for the end of reading. */
      int32_t marked = owner | WEFT_RECORD_RING_CONTENDED_BIT;
      int32_t seen = weft__compare_exchange(&r->consumer, owner, marked);
      if (seen == owner) return EBUSY;
    } else {
      weft__relax_briefly();
    }
  }
}

static inline void weft__record_end_reading(weft_record_ring *r) {
  if (!weft_record_ring_many(r)) return;
  /* Pairs with (E). */
  if (weft__exchange(&r->consumer, 0) & WEFT_RECORD_RING_CONTENDED_BIT)
    weft__event_wake_end(&r->pop_epoch, 1);
}

/* Finds the oldest record: *record. Returns 0, EBUSY if there is none, EPIPE if
   there is none and the ring was closed, or ENOTRECOVERABLE if the words are
   damaged. */
static inline int weft__record_first(weft_record_ring *r, int32_t **record) {
  for (;;) {
    /* Our own: nobody else moves it now. Of many consumers, one may have moved
       it that was terminated then. */
    int32_t head = weft_record_ring_many(r) ? weft__load(&r->head)
                                            : weft__hint(&r->head);
    if (head == r->tail_cache) {
      int32_t tail = weft__load(&r->tail);
      r->tail_cache = tail & WEFT_RECORD_RING_POSITION_MASK;
      if (head == r->tail_cache)
        return tail & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE : EBUSY;
    }
    *record = weft__record_at(r, head);
    /* A single producer commits by (P), several commit by (C). */
    int32_t first = weft__load(*record);
    int32_t space = weft__record_space(weft__record_length(first));
    if (!weft__record_fits(r, head, space)) return ENOTRECOVERABLE;
    if ((first & 3) == WEFT_RECORD_RING_COMMITTED) return 0;
    if ((first & 3) == WEFT_RECORD_RING_RESERVED) return EBUSY;
    weft__store(&r->head, weft__plus(head, space));
    weft__record_wake_producer(r);
  }
}

/* The same with the right to read, which the caller keeps if there is a record.
   It consumes the record, or ends reading. */
static inline int weft__record_oldest(weft_record_ring *r, int32_t **record) {
  int result = weft__record_begin_reading(r);
  if (result != 0) return result;
  result = weft__record_first(r, record);
  if (result != 0) weft__record_end_reading(r);
  return result;
}

/* Returns the place of the oldest record, and its length in *length; NULL if
   there is none. Read the record, then consume; until then, other consumers
   wait. */
static inline WEFT__RESULT const void *weft_record_ring_peek(
    weft_record_ring *r, int32_t *length) {
  int32_t *record = NULL;
  if (weft__record_oldest(r, &record) != 0) return NULL;
  *length = weft__record_length(weft__load(record));
  return record + 2;
}

/* Removes the record that was peeked at. */
static inline void weft_record_ring_consume(weft_record_ring *r) {
  int32_t head = weft__hint(&r->head);
  int32_t first = weft__load(weft__record_at(r, head));
  int32_t space = weft__record_space(weft__record_length(first));
  weft__record_count(r);
  weft__store(&r->head, weft__plus(head, space)); /* (F) */
  weft__record_end_reading(r);
  weft__record_wake_producer(r);
}

/* Moves the oldest record to `dst`, which has `*length` bytes, and writes its
   length to *length. Returns 0, EBUSY if there is none, EPIPE if there is none
   and the ring was closed, or EINVAL if the record is longer than `dst`; then
   it stays. */
static inline WEFT__RESULT int weft_record_ring_try_pop(weft_record_ring *r,
                                                        void *dst,
                                                        int32_t *length) {
  int32_t *record = NULL;
  int result = weft__record_oldest(r, &record);
  if (result != 0) return result;
  int32_t found = weft__record_length(weft__load(record));
  if (found > *length) {
    weft__record_end_reading(r);
    return EINVAL;
  }
  if (found > 0) __builtin_memcpy(dst, record + 2, (size_t)found);
  *length = found;
  weft_record_ring_consume(r);
  return 0;
}

/* Calls `fn` with `context` for up to `limit` of the oldest records, in place.
   Returns how many there were, -EPIPE if the ring was closed and is empty, or
   -ENOTRECOVERABLE if the words are damaged. */
static inline int32_t weft_record_ring_read(
    weft_record_ring *r, void (*fn)(void *context, const void *, int32_t),
    void *context, int32_t limit) {
  int32_t count = 0;
  for (; count < limit; count++) {
    int32_t *record = NULL;
    int result = weft__record_oldest(r, &record);
    if (result != 0 && result != EBUSY && count == 0) return -result;
    if (result != 0) break;
    fn(context, record + 2, weft__record_length(weft__load(record)));
    weft_record_ring_consume(r);
  }
  return count;
}

/* Whether a pop would not wait: 0 if so, EBUSY if it would, or EPERM as
   weft_record_ring_try_pop. */
static inline int weft__record_look(weft_record_ring *r) {
  int32_t *record = NULL;
  int result = weft__record_oldest(r, &record);
  if (result == 0) weft__record_end_reading(r);
  return result == EPIPE ? 0 : result;
}

/* Records behind the one that we took were published before; their wakes are
   spent. */
static inline void weft__record_pass_pop(weft_record_ring *r) {
  int32_t *record = NULL;
  int result = weft__record_oldest(r, &record);
  if (result == 0) weft__record_end_reading(r);
  if (result != EBUSY && result != EPERM)
    weft__event_wake_end(&r->pop_epoch, result == 0 ? 1 : WEFT__ALL);
}

#ifndef WEFT_REALTIME /* what may wait */
/* Does the same as try_push, which found no room before. */
static inline int weft__record_push_again(weft_record_ring *r, const void *src,
                                          int32_t length) {
  if (!weft_record_ring_single(r) &&
      weft__record_is_full(r, weft__record_space(length)))
    return EBUSY;
  return weft_record_ring_try_push(r, src, length);
}

/* Does the same as try_push, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_record_ring_push(weft_record_ring *q, const void *src,
                                        int32_t length, int64_t timeout) {
  int first =
      weft__may_block() ? weft_record_ring_try_push(q, src, length) : EPERM;
  if (first != EBUSY) return first;
  WEFT__EVENT_BLOCK_OR(weft__record_push_again(q, src, length), &q->push_epoch,
                       weft__record_hand_room_on(q), weft__record_pass_push(q),
                       timeout, -1);
}

/* Does the same as try_pop, but blocks up to `timeout` ns if there is nothing
   to take; then ETIMEDOUT. */
static inline int weft_record_ring_pop(weft_record_ring *q, void *dst,
                                       int32_t *length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_record_ring_try_pop(q, dst, length), &q->pop_epoch,
                    weft__record_pass_pop(q), timeout);
}
#endif

/* Closes the ring for ever. Pushes fail from now on. Pops take the records that
   are left or reserved, and then fail. All sleepers wake. */
static inline void weft_record_ring_close(weft_record_ring *r) {
  if (weft__or(&r->tail, WEFT_RECORD_RING_CLOSED_BIT) &
      WEFT_RECORD_RING_CLOSED_BIT)
    return;
  weft__event_wake_end(&r->pop_epoch, WEFT__ALL);
  weft__event_wake_end(&r->push_epoch, WEFT__ALL);
}

/* Ends the roles of agent `id`, and what it reads. Returns how many roles those
   were. */
static inline int32_t weft__record_abandon_roles(weft_record_ring *r,
                                                 int32_t id) {
  bool many = weft_record_ring_many(r);
  int32_t produced = 0;
  if (weft_record_ring_single(r)) produced = weft__leave_role(&r->claimant, id);
  int32_t consumed = weft__leave_role(&r->consumer, id);
  if (consumed == 0 && many)
    consumed =
        weft__leave_role(&r->consumer, id | WEFT_RECORD_RING_CONTENDED_BIT);
  if (consumed > 0) weft__event_wake_end(&r->pop_epoch, WEFT__ALL);
  return produced + (many ? 0 : consumed);
}

/*
 * Ends the claim of agent `id`, and skips the records that it had reserved. If
 * it was the only consumer or producer, the next agent that pops or pushes is;
 * an agent may give such a role up itself, by its own id. Otherwise call it
 * only when that agent will never run again. Returns how many records
 * those were. -EBUSY, and nothing done, if another agent has the claim now:
 * weft_record_ring_claimant names it. An agent that runs ends its claim at
 * once, so call this again. If the same agent has the claim then, that agent
 * has ended, too: abandon it first. -ENOTRECOVERABLE if the words are damaged.
 */
static inline int32_t weft_record_ring_abandon(weft_record_ring *r,
                                               int32_t id) {
  int32_t count = 0;
  weft__record_abandon_roles(r, id);
  if (id == 0 || weft_record_ring_single(r)) return 0;
  /* While the claim is ours, nobody overwrites what we read. */
  int32_t owner = weft__record_take_over(r, id);
  if (owner != 0) /* a word that names nobody is damaged */
    return owner & WEFT_RECORD_RING_OWNER_MASK ? -EBUSY : -ENOTRECOVERABLE;
  int32_t tail = weft__load(&r->tail) & WEFT_RECORD_RING_POSITION_MASK;
  int32_t at = weft__load(&r->head);
  bool whole = weft__record_is_whole(r, weft__minus(tail, at));
  while (whole && weft__minus(tail, at) > 0) {
    int32_t *record = weft__record_at(r, at);
    int32_t first = weft__load(record);
    if ((first & 3) == WEFT_RECORD_RING_RESERVED && record[1] == id) {
      weft__record_uncount(r);
      weft__store(record, first | WEFT_RECORD_RING_SKIPPED);
      count++;
    }
    at = weft__plus(at, weft__record_space(weft__record_length(first)));
    whole = weft__record_is_whole(r, weft__minus(tail, at));
  }
  weft__record_end_claim(r);
  if (!whole && count == 0) return -ENOTRECOVERABLE;
  if (count > 0) weft__event_wake_end(&r->pop_epoch, WEFT__ALL);
  if (count > 0 && r->most > 0) weft__record_wake_producer(r);
  return count;
}

WEFT__END

#endif /* WEFT_RECORD_RING_H */

/* _record_claim.h - how producers of a record ring claim room and publish
   records, and how those that find no room wake each other. */
#ifndef WEFT__RECORD_CLAIM_H
#define WEFT__RECORD_CLAIM_H

#include "_record_words.h"

WEFT__BEGIN

/* The bytes from `tail` to behind a record of `space`, with what it skips. */
static inline int32_t weft__record_total(const weft_record_ring *r,
                                         int32_t tail, int32_t space) {
  int32_t left = r->capacity - (tail & (r->capacity - 1));
  return left < space ? left + space : space;
}

/* (N) Notes that a record of `space` bytes may have to wait. */
static inline void weft__record_note(weft_record_ring *r, int32_t space) {
  if (weft_record_ring_single(r)) return; /* no other waits */
  int32_t least = weft__load(&r->least);
  while (least == 0 || least > space) {
    int32_t seen = weft__compare_exchange(&r->least, least, space);
    if (seen == least) return;
    least = seen;
  }
}

/* Whether there were fewer records than there may be, a moment ago. */
static inline bool weft__record_may_push(const weft_record_ring *r) {
  if (r->most <= 0) return true;
  int32_t pushed = weft__load(&r->pushed);
  return weft__minus(pushed, weft__load(&r->popped)) < r->most;
}

/*
 * Whether there is room for the shortest record that ever waited. Perhaps all
 * producers that wait now have longer records. Then a wake finds a producer
 * that has no room, which wakes the next one: each producer wakes at most once
 * for each record that is popped. The shortest length is never forgotten,
 * because no agent can know that no other one waits with a record as short.
 */
static inline bool weft__record_has_room(const weft_record_ring *r) {
  int32_t least = weft__load(&r->least); /* pairs with (N) */
  int32_t tail = weft__load(&r->tail) & WEFT_RECORD_RING_POSITION_MASK;
  int32_t used = weft__minus(tail, weft__load(&r->head));
  return weft__record_total(r, tail, least) <=
             weft__minus(r->capacity, used) &&
         weft__record_may_push(r);
}

/*
 * Wakes one of the producers that wait for room, or for the claim. A producer
 * that has no room for its record wakes the next one. The wake is handed on at
 * most once for each waiting producer.
 */
static inline void weft__record_wake_producer(weft_record_ring *r) {
  int32_t waiters = weft__load(&r->push_waiters) & ~WEFT__EVENT_AWAITED_BIT;
  if (waiters == 0) return;
  if (!weft_record_ring_single(r)) weft__store(&r->hand_ons, waiters);
  weft__event_wake_end(&r->push_epoch, 1);
}

/* Whether there is no room for a record of `space` bytes. Producers that wait
   look without the claim, so that they do not keep it from those that have
   room: if there was no room behind an earlier `tail`, there is none behind a
   later one. */
static inline bool weft__record_is_full(weft_record_ring *r, int32_t space) {
  int32_t tail = weft__load(&r->tail);
  int32_t used = weft__minus(tail, weft__load(&r->head));
  /* What is closed, or damaged, is told by who has the claim. */
  bool full = weft__record_is_whole(r, used) &&
              (weft__record_total(r, tail, space) > r->capacity - used ||
               !weft__record_may_push(r));
  if (full) weft__record_note(r, space);
  return full;
}

/* Takes the claim if it comes free within about a microsecond, for a record of
   `space` bytes, and then returns 0; otherwise returns `claimant`, which names
   the agent that has it. */
static inline int32_t weft__record_begin_claim(weft_record_ring *r,
                                               int32_t space) {
  int32_t id = weft_agent_id();
  /* Its owner needs a tenth of a microsecond, if that agent runs. */
  for (int i = 8 * (WEFT_SPIN_ROUNDS < 2 ? WEFT_SPIN_ROUNDS : 2);; i--) {
    int32_t owner = weft__compare_exchange(&r->claimant, 0, id);
    if (owner == 0) return 0;
    if (i <= 0) {
      weft__record_note(r, space);
      /* (W) Ask this owner to wake us, if it still has the claim. */
      int32_t marked = owner | WEFT_RECORD_RING_CONTENDED_BIT;
      int32_t seen = weft__compare_exchange(&r->claimant, owner, marked);
      if (seen == owner) return owner;
    } else {
      weft__relax_briefly();
    }
  }
}

static inline void weft__record_end_claim(weft_record_ring *r) {
  if (weft_record_ring_single(r)) return;
  /* Pairs with (W). */
  if (weft__exchange(&r->claimant, 0) & WEFT_RECORD_RING_CONTENDED_BIT)
    weft__record_wake_producer(r);
}

/*
 * Whether there are as many records as there may be: EBUSY, otherwise 0. The
 * count may be too low, by one for each agent that was terminated between two
 * steps of a push, a pop or an abandon, but never too high. ENOTRECOVERABLE if
 * the words are damaged.
 */
static inline int weft__record_crowded(weft_record_ring *r, int32_t tail) {
  if (weft__minus(weft__load(&r->pushed), r->popped_cache) < r->most) return 0;
  bool empty = weft__load(&r->head) == tail; /* pairs with (F) */
  r->popped_cache = weft__load(&r->popped);
  /* Once more, because records may be cancelled meanwhile. */
  int32_t count = weft__minus(weft__load(&r->pushed), r->popped_cache);
  if (count > r->most || (empty && count > 0)) return ENOTRECOVERABLE;
  return count == r->most ? EBUSY : 0;
}

/* Takes the claim and finds room for a record: *record. Returns 0; or EBUSY,
   EPIPE or ENOTRECOVERABLE, and then the claim is not ours. */
static inline int weft__record_claim(weft_record_ring *r, int32_t length,
                                     int32_t **record) {
  int32_t space = weft__record_space(length);
  bool single = weft_record_ring_single(r);
  if (single && weft__take_role(&r->claimant) != 0) return EPERM;
  if (!single && weft__record_begin_claim(r, space) != 0) return EBUSY;
  int32_t tail = weft__hint(&r->tail); /* ours: only close changes it */
  int32_t total = weft__record_total(r, tail, space);
  int result = tail & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE : 0;
  int32_t used = weft__minus(tail, r->head_cache);
  if (result == 0 && (total > weft__minus(r->capacity, used) ||
                      !weft__record_is_whole(r, used))) {
    r->head_cache = weft__load(&r->head); /* pairs with (F) */
    used = weft__minus(tail, r->head_cache);
    if (!weft__record_is_whole(r, used) || tail % 8 != 0)
      result = ENOTRECOVERABLE;
    else if (total > r->capacity - used)
      result = weft_record_ring_closed(r) ? EPIPE : EBUSY;
    if (result == EPIPE || result == EBUSY) weft__record_note(r, space);
  }
  if (result == 0 && r->most > 0 &&
      (result = weft__record_crowded(r, tail)) == EBUSY) {
    if (weft_record_ring_closed(r)) result = EPIPE;
    weft__record_note(r, space);
  }
  if (result != 0) {
    weft__record_end_claim(r);
    return result;
  }
  *record = weft__record_at(r, tail);
  if (total > space) { /* published by (P) */
    (*record)[0] = weft__record_word(total - space - WEFT__RECORD_HEADER,
                                     WEFT_RECORD_RING_SKIPPED);
    *record = weft__record_at(r, 0);
  }
  return 0;
}

/* (P) Moves `tail` to the end of `record`, of `length` bytes, and ends the
   claim. */
static inline int weft__record_publish(weft_record_ring *r,
                                       const int32_t *record, int32_t length) {
  int32_t tail = weft__hint(&r->tail);
  int32_t seen = tail;
  if ((tail & WEFT_RECORD_RING_CLOSED_BIT) == 0) {
    int32_t total = weft__record_space(length);
    /* The length that was reserved decided where the record begins. */
    if (record != weft__record_at(r, tail))
      total += r->capacity - (tail & (r->capacity - 1));
    seen = weft__compare_exchange(&r->tail, tail, weft__plus(tail, total));
    if (r->most > 0 && seen == tail) weft__add(&r->pushed, 1);
  }
  weft__record_end_claim(r);
  return seen & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE : 0;
}

/*
 * Reserves room for a record of `length` bytes, at *at. Write the bytes there,
 * then commit or cancel. Returns 0, EBUSY if there is no room, EPIPE if the
 * ring was closed, or EINVAL if length is not 0 to max_length.
 */
static inline WEFT__RESULT int weft_record_ring_reserve(weft_record_ring *r,
                                                        int32_t length,
                                                        void **at) {
  int32_t *record = NULL;
  if (length < 0 || length > weft_record_ring_max_length(r)) return EINVAL;
  int result = weft__record_claim(r, length, &record);
  if (result != 0) return result;
  record[0] = weft__record_word(length, WEFT_RECORD_RING_RESERVED);
  record[1] = weft_agent_id(); /* both published by (P) */
  *at = record + 2;
  return weft_record_ring_single(r) ? 0
                                    : weft__record_publish(r, record, length);
}

/* Appends the record reserved at `at`, or its first `length` bytes; EINVAL if
   that is more than was reserved, EPIPE if the ring has a single producer and
   is closed. */
static inline int weft_record_ring_commit(weft_record_ring *r, void *at,
                                          int32_t length) {
  int32_t *record = (int32_t *)at - 2;
  int32_t reserved = weft__record_length(weft__load(record));
  int result = 0;
  if (length < 0 || length > reserved) return EINVAL;
  if (weft_record_ring_single(r)) {
    record[0] = weft__record_word(length, WEFT_RECORD_RING_COMMITTED);
    result = weft__record_publish(r, record, length); /* (P) */
  } else {
    int32_t space = weft__record_space(length);
    int32_t rest = weft__record_space(reserved) - space;
    if (rest > 0) /* published by (C) */
      record[space / 4] = weft__record_word(rest - WEFT__RECORD_HEADER,
                                            WEFT_RECORD_RING_SKIPPED);
    /* (C) */
    weft__store(record, weft__record_word(length, WEFT_RECORD_RING_COMMITTED));
  }
  if (result == 0) weft__event_wake_end(&r->pop_epoch, 1);
  return result;
}

/* Counts a record as never pushed, which is skipped then. */
static inline void weft__record_uncount(weft_record_ring *r) {
  if (r->most > 0) weft__add(&r->pushed, -1);
}

/* Gives up the record reserved at `at`. */
static inline void weft_record_ring_cancel(weft_record_ring *r, void *at) {
  int32_t *record = (int32_t *)at - 2;
  if (weft_record_ring_single(r)) return; /* nobody has seen it */
  weft__record_uncount(r);
  weft__store(record, weft__load(record) | WEFT_RECORD_RING_SKIPPED);
  weft__event_wake_end(&r->pop_epoch, 1); /* for what it held back */
  if (r->most > 0) weft__record_wake_producer(r);
}

/* Appends a long record, which is copied after the claim has ended. This is a
   function of its own: gcc 12 would warn of a caller whose `src` is shorter
   than any long record, although its length is then short, too. */
WEFT__SELDOM static inline int weft__record_push_long(weft_record_ring *r,
                                                      const void *src,
                                                      int32_t length) {
  void *at = NULL;
  int result = weft_record_ring_reserve(r, length, &at);
  if (result != 0) return result;
  __builtin_memcpy(at, src, (size_t)length);
  return weft_record_ring_commit(r, at, length);
}

/* Appends `length` bytes as a record. Returns 0, EBUSY if there is no room for
   it, EPIPE if the ring was closed, or EINVAL if length is not 0 to max_length.
   */
static inline WEFT__RESULT int weft_record_ring_try_push(weft_record_ring *r,
                                                         const void *src,
                                                         int32_t length) {
  int32_t *record = NULL;
  if (length < 0 || length > weft_record_ring_max_length(r)) return EINVAL;
  if (length > WEFT__RECORD_SHORT && !weft_record_ring_single(r))
    return weft__record_push_long(r, src, length);
  int result = weft__record_claim(r, length, &record);
  if (result != 0) return result;
  record[0] = weft__record_word(length, WEFT_RECORD_RING_COMMITTED);
  if (length > 0) __builtin_memcpy(record + 2, src, (size_t)length);
  result = weft__record_publish(r, record, length); /* (P) */
  if (result == 0) weft__event_wake_end(&r->pop_epoch, 1);
  return result;
}

/* Wakes a producer, if there may be room for another one's record. */
static inline void weft__record_pass_push(weft_record_ring *r) {
  if (weft_record_ring_closed(r))
    weft__event_wake_end(&r->push_epoch, WEFT__ALL);
  else if (weft__record_has_room(r))
    weft__record_wake_producer(r);
}

/* Wakes another producer, whose record may be shorter than this one's. */
static inline void weft__record_hand_room_on(weft_record_ring *r) {
  if (weft__load(&r->hand_ons) <= 0 || !weft__record_has_room(r)) return;
  if (weft__event_wake_end(&r->push_epoch, 1)) weft__add(&r->hand_ons, -1);
}

/* Takes the claim if it is free, or if agent `id` has it: see
   weft__record_begin_claim. */
static inline int32_t weft__record_take_over(weft_record_ring *r, int32_t id) {
  for (;;) {
    int32_t owner = weft__load(&r->claimant);
    if ((owner & WEFT_RECORD_RING_OWNER_MASK) != id)
      return weft__record_begin_claim(r, WEFT__RECORD_HEADER);
    int32_t ours =
        weft_agent_id() | (owner & WEFT_RECORD_RING_CONTENDED_BIT);
    if (weft__compare_exchange(&r->claimant, owner, ours) == owner) return 0;
  }
}

WEFT__END

#endif /* WEFT__RECORD_CLAIM_H */

/* record_ring.h - the twin of primitives/_queue/record_core.ts. */
#ifndef WEFT_RECORD_RING_H
#define WEFT_RECORD_RING_H

#include "_event_count.h"
#include "_region.h"

WEFT__BEGIN

#define WEFT_RECORD_RING_CLOSED_BIT 1 /* RECORD_RING_BITS.CLOSED */
#define WEFT_RECORD_RING_POSITION_MASK (-(1 << 3)) /* RECORD_RING_BITS.POSITION */
/* Bits of `roles`. */
#define WEFT_RECORD_RING_ONE_PRODUCER 1 /* RECORD_RING_BITS.ONE_PRODUCER */
#define WEFT_RECORD_RING_MANY_CONSUMERS (1 << 1) /* RECORD_RING_BITS.MANY_CONSUMERS */
/* In `claimant` and `consumer`: an agent waits until the claim ends. */
#define WEFT_RECORD_RING_CONTENDED_BIT (1 << 28) /* RECORD_RING_BITS.CONTENDED */
#define WEFT_RECORD_RING_OWNER_MASK 0xfffffff /* RECORD_RING_BITS.OWNER */
/* The states of a record, in the low bits of its first word. */
#define WEFT_RECORD_RING_RESERVED 1
#define WEFT_RECORD_RING_COMMITTED 2
#define WEFT_RECORD_RING_SKIPPED 3
/* Bytes of a record's head. */
#define WEFT__RECORD_HEADER 8
/* Longer records are copied after the claim has ended. */
#define WEFT__RECORD_SHORT 1024

/* The configuration of a ring: `capacity` bytes, 16 to 2^30, rounded up to a
   power of two. Set `single_producer` if only one agent pushes: it is faster.
   Set `many_consumers` if more than one agent pops: it is slower. `most` is the
   most records in it, or 0 if only their bytes are limited. */
typedef struct {
  int32_t capacity;
  bool single_producer;
  bool many_consumers;
  int32_t most;
} weft_record_ring_config;

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A ring of byte records from many producers to one consumer.
 *
 * word 0    magic         Kind and layout version.
 * word 1    capacity      Bytes, a power of two.
 * word 2    roles         bit 0  there is one producer
 *                         bit 1  there is any number of consumers
 * word 3    seal          Check word over the configuration.
 * word 4    most          The most records in the ring, or 0 if only their
 *                         bytes are limited.
 * word 32   tail          bit 0      CLOSED
 *                         bits 3-31  where the next record goes, in units of 8
 *                                    bytes
 * word 33   claimant      The agent that moves `tail` now, or 0. Bit 28 is
 *                         CONTENDED. If there is one producer, its id from its
 *                         first push on.
 * word 34   head_cache    The value of `head` that the producers saw last.
 * word 35   least         The fewest bytes, head included, for which a producer
 *                         waited; 0 if none did.
 * word 36   pushed        How many records were pushed, without the skipped
 *                         ones, modulo 2^32, if `most` is not 0.
 * word 37   popped_cache  The value of `popped` that the producers saw last.
 * word 64   head          Where the consumer reads next, in bytes.
 * word 65   tail_cache    The value of `tail` that the consumer saw last.
 * word 66   consumer      The agent that reads, or 0. If there is one consumer,
 *                         its id from its first pop on. Otherwise the agent
 *                         that moves `head` now; bit 28 is CONTENDED.
 * word 67   popped        How many records were popped, modulo 2^32, if `most`
 *                         is not 0.
 * word 96   pop_epoch     Changes when the sleeping consumer must look again.
 *                         sleepers: the consumer
 * word 97   pop_waiters   bits 0-30  waits of the consumer that sleep, or are
 *                                    about to
 *                         bit 31     one of them awaits, or did
 * word 128  push_epoch    Changes when sleeping producers must look again.
 *                         sleepers: producers
 * word 129  push_waiters  bits 0-30  producers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 130  hand_ons      How often a producer without room may still hand its
 *                         wake on.
 * word 160  `capacity` bytes. Position `p` is at byte `p mod capacity`. A
 *           record begins at a multiple of 8 bytes with two words. The first is
 *           its length times 4 plus its state: 1 RESERVED, 2 COMMITTED or 3
 *           SKIPPED. The second is the id of the agent that reserved it. Its
 *           bytes follow, padded to a multiple of 8.
 *
 * Freed when: every operation of every agent has returned, close included, and
 * none will begin. That it is closed and empty does not say so.
 */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t roles;
  int32_t seal;
  int32_t most;
  int32_t _pad0[27];
  int32_t tail;
  int32_t claimant;
  int32_t head_cache;
  int32_t least;
  int32_t pushed;
  int32_t popped_cache;
  int32_t _pad1[26];
  int32_t head;
  int32_t tail_cache;
  int32_t consumer;
  int32_t popped;
  int32_t _pad2[28];
  int32_t pop_epoch;
  int32_t pop_waiters;
  int32_t _pad3[30];
  int32_t push_epoch;
  int32_t push_waiters;
  int32_t hand_ons;
  int32_t _pad4[29];
} weft_record_ring;
WEFT_WORD(record_ring, magic, 0);
WEFT_WORD(record_ring, capacity, 1);
WEFT_WORD(record_ring, roles, 2);
WEFT_WORD(record_ring, seal, 3);
WEFT_WORD(record_ring, most, 4);
WEFT_WORD(record_ring, tail, 32);
WEFT_WORD(record_ring, claimant, 33);
WEFT_WORD(record_ring, head_cache, 34);
WEFT_WORD(record_ring, least, 35);
WEFT_WORD(record_ring, pushed, 36);
WEFT_WORD(record_ring, popped_cache, 37);
WEFT_WORD(record_ring, head, 64);
WEFT_WORD(record_ring, tail_cache, 65);
WEFT_WORD(record_ring, consumer, 66);
WEFT_WORD(record_ring, popped, 67);
WEFT_WORD(record_ring, pop_epoch, 96);
WEFT_WORD(record_ring, pop_waiters, 97);
WEFT_WORD(record_ring, push_epoch, 128);
WEFT_WORD(record_ring, push_waiters, 129);
WEFT_WORD(record_ring, hand_ons, 130);
WEFT_LENGTH(record_ring, 160);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The capacity rounded up to a power of two, or 0 if it is out of range. */
static inline int32_t weft__record_rounded(int32_t capacity) {
  int32_t rounded = 16;
  if (capacity < 16 || capacity > 1 << 30) return 0;
  while (rounded < capacity) rounded *= 2;
  return rounded;
}

/* The bytes of a ring as a constant expression, with one producer or many; 0 if
   out of range. */
#define WEFT_RECORD_RING_BYTES(capacity)   \
  ((capacity) < 16 || (capacity) > 1 << 30 \
       ? 0                                 \
       : sizeof(weft_record_ring) + WEFT__POWER(capacity))

/* The bytes of a ring of this configuration; 0 if it is out of range. */
static inline size_t weft_record_ring_bytes(weft_record_ring_config config) {
  size_t capacity = (size_t)weft__record_rounded(config.capacity);
  return capacity == 0 ? 0 : sizeof(weft_record_ring) + capacity;
}

/* The ring at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_record_ring *weft_record_ring_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_record_ring) != NULL) return NULL;
  return (weft_record_ring *)at;
}

/* Initializes `bytes` bytes of unused memory as an empty ring. NULL if the
   configuration is out of range, the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_record_ring *weft_record_ring_init(
    void *at, size_t bytes, weft_record_ring_config config) {
  weft_record_ring *r = (weft_record_ring *)at;
  size_t needed = weft_record_ring_bytes(config);
  if (config.most < 0 || config.most > 1 << 30) return NULL;
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  r->capacity = weft__record_rounded(config.capacity);
  if (config.single_producer) r->roles |= WEFT_RECORD_RING_ONE_PRODUCER;
  if (config.many_consumers) r->roles |= WEFT_RECORD_RING_MANY_CONSUMERS;
  r->most = config.most;
  r->seal = weft__seal(WEFT_KIND_record_ring, r->capacity, r->roles);
  weft__store(&r->magic, weft__magic(WEFT_KIND_record_ring));
  return r;
}

/* Bytes the ring has. */
static inline int32_t weft_record_ring_capacity(const weft_record_ring *r) {
  return r->capacity;
}

/* The most bytes of a record. */
static inline int32_t weft_record_ring_max_length(const weft_record_ring *r) {
  return r->capacity / 2 - WEFT__RECORD_HEADER;
}

/* Whether only one agent may push. */
static inline bool weft_record_ring_single(const weft_record_ring *r) {
  return (r->roles & WEFT_RECORD_RING_ONE_PRODUCER) != 0;
}

/* Whether any number of agents may pop. */
static inline bool weft_record_ring_many(const weft_record_ring *r) {
  return (r->roles & WEFT_RECORD_RING_MANY_CONSUMERS) != 0;
}

/* The most records that may be in the ring, or 0 if any number may. */
static inline int32_t weft_record_ring_most(const weft_record_ring *r) {
  return r->most;
}

/* How many bytes are in use, with the heads of records. The number may change
   at any moment. */
static inline int32_t weft_record_ring_used(const weft_record_ring *r) {
  int32_t head = weft__load(&r->head);
  int32_t tail = weft__load(&r->tail) & WEFT_RECORD_RING_POSITION_MASK;
  uint32_t used = (uint32_t)weft__minus(tail, head);
  return used < (uint32_t)r->capacity ? (int32_t)used : r->capacity;
}

/* Whether close was called; records may still be in the ring. */
static inline bool weft_record_ring_closed(const weft_record_ring *r) {
  return (weft__load(&r->tail) & WEFT_RECORD_RING_CLOSED_BIT) != 0;
}

/* The id of the agent that has the claim now, or 0. */
static inline int32_t weft_record_ring_claimant(const weft_record_ring *r) {
  if (weft_record_ring_single(r)) return 0;
  return weft__load(&r->claimant) & WEFT_RECORD_RING_OWNER_MASK;
}

/* The bytes a record occupies. */
static inline int32_t weft__record_space(int32_t length) {
  return ((length + 7) & ~7) + WEFT__RECORD_HEADER;
}

/* A record's first word. */
static inline int32_t weft__record_word(int32_t length, int32_t state) {
  return (int32_t)((uint32_t)length << 2 | (uint32_t)state);
}

static inline int32_t weft__record_length(int32_t word) {
  return (int32_t)((uint32_t)word >> 2);
}

/* The record at a position. */
static inline int32_t *weft__record_at(const weft_record_ring *r,
                                       int32_t position) {
  return (int32_t *)(uintptr_t)(r + 1) + (position & (r->capacity - 1)) / 4;
}

/* Whether `used` bytes between two positions can be whole records. */
static inline bool weft__record_is_whole(const weft_record_ring *r,
                                         int32_t used) {
  return (uint32_t)used <= (uint32_t)r->capacity && used % 8 == 0;
}

/* How many records are in the ring, or -ENOTRECOVERABLE if the words are
   damaged. The number may change at any moment. */
static inline int32_t weft_record_ring_size(const weft_record_ring *r) {
  for (int looks = 8;; looks--) {
    int32_t head = weft__load(&r->head);
    int32_t tail = weft__load(&r->tail) & WEFT_RECORD_RING_POSITION_MASK;
    int32_t count = 0;
    int32_t at = head;
    while (at != tail && weft__record_is_whole(r, weft__minus(tail, at))) {
      int32_t first = weft__load(weft__record_at(r, at));
      if ((first & 3) == WEFT_RECORD_RING_COMMITTED) count++;
      at = weft__plus(at, weft__record_space(weft__record_length(first)));
    }
    /* If the consumer moved on meanwhile, we may have read newer bytes. */
    bool moved = weft__load(&r->head) != head;
    if (!moved && at != tail) return -ENOTRECOVERABLE;
    if (!moved || looks <= 1) return count;
  }
}

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
  weft__event_wake(&r->push_epoch, 1);
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
  if (result == 0) weft__event_wake(&r->pop_epoch, 1);
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
  weft__event_wake(&r->pop_epoch, 1); /* for what it held back */
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
  if (result == 0) weft__event_wake(&r->pop_epoch, 1);
  return result;
}

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
    weft__event_wake(&r->pop_epoch, 1);
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

/* Wakes a producer, if there may be room for another one's record. */
static inline void weft__record_pass_push(weft_record_ring *r) {
  if (weft_record_ring_closed(r))
    weft__event_wake(&r->push_epoch, WEFT__ALL);
  else if (weft__record_has_room(r))
    weft__record_wake_producer(r);
}

/* Wakes another producer, whose record may be shorter than this one's. */
static inline void weft__record_hand_room_on(weft_record_ring *r) {
  if (weft__load(&r->hand_ons) <= 0 || !weft__record_has_room(r)) return;
  if (weft__event_wake(&r->push_epoch, 1)) weft__add(&r->hand_ons, -1);
}

/* Records behind the one that we took were published before; their wakes are
   spent. */
static inline void weft__record_pass_pop(weft_record_ring *r) {
  int32_t *record = NULL;
  int result = weft__record_oldest(r, &record);
  if (result == 0) weft__record_end_reading(r);
  if (result != EBUSY && result != EPERM)
    weft__event_wake(&r->pop_epoch, result == 0 ? 1 : WEFT__ALL);
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
  weft__event_wake(&r->pop_epoch, WEFT__ALL);
  weft__event_wake(&r->push_epoch, WEFT__ALL);
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
  if (consumed > 0) weft__event_wake(&r->pop_epoch, WEFT__ALL);
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
  if (count > 0) weft__event_wake(&r->pop_epoch, WEFT__ALL);
  if (count > 0 && r->most > 0) weft__record_wake_producer(r);
  return count;
}

WEFT__END

#endif /* WEFT_RECORD_RING_H */

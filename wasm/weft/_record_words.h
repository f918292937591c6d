/* _record_words.h - the words of a record ring, how it is made, and where its
   records lie. */
#ifndef WEFT__RECORD_WORDS_H
#define WEFT__RECORD_WORDS_H

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
 * word 98   pop_gong      A gong, for agents that wait for records here and for
 *                         others.
 *                         sleepers: agents that wait at several ends
 * word 128  push_epoch    Changes when sleeping producers must look again.
 *                         sleepers: producers
 * word 129  push_waiters  bits 0-30  producers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 130  push_gong     A gong, for agents that wait for room here and for
 *                         others.
 *                         sleepers: agents that wait at several ends
 * word 131  hand_ons      How often a producer without room may still hand its
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
  int32_t pop_gong;
  int32_t _pad3[29];
  int32_t push_epoch;
  int32_t push_waiters;
  int32_t push_gong;
  int32_t hand_ons;
  int32_t _pad4[28];
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
WEFT_WORD(record_ring, pop_gong, 98);
WEFT_WORD(record_ring, push_epoch, 128);
WEFT_WORD(record_ring, push_waiters, 129);
WEFT_WORD(record_ring, push_gong, 130);
WEFT_WORD(record_ring, hand_ons, 131);
WEFT_LENGTH(record_ring, 160);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The capacity rounded up to a power of two, or 0 if it is out of range. */
static inline int32_t weft__record_rounded(int32_t capacity) {
  if (capacity < 16 || capacity > 1 << 30) return 0;
  return (int32_t)WEFT__POWER((uint32_t)capacity);
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
      int32_t first = weft__glance(weft__record_at(r, at));
      if ((first & 3) == WEFT_RECORD_RING_COMMITTED) count++;
      at = weft__plus(at, weft__record_space(weft__record_length(first)));
    }
    /* If the consumer moved on meanwhile, we may have read newer bytes. */
    bool moved = weft__load(&r->head) != head;
    if (!moved && at != tail) return -ENOTRECOVERABLE;
    if (!moved || looks <= 1) return count;
  }
}

WEFT__END

#endif /* WEFT__RECORD_WORDS_H */

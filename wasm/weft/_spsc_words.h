/* _spsc_words.h - the words of a queue from one producer to one consumer, how
   it is made, and where its elements lie. */
#ifndef WEFT__SPSC_WORDS_H
#define WEFT__SPSC_WORDS_H

#include "_fence.h"
#include "_queue.h"
#include "_region.h"

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
  return weft__size_of(&q->head, &q->tail, WEFT_SPSC_QUEUE_ONE, q->capacity);
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
  return (int32_t *)(void *)((char *)(q + 1) + ((uint32_t)index & mask));
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

WEFT__END

#endif /* WEFT__SPSC_WORDS_H */

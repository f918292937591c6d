/* _channel_plan.h - the twin of primitives/_queue/channel/plan.ts: what a
   channel is made of, how many bytes that takes, and where its parts lie. */
#ifndef WEFT__CHANNEL_PLAN_H
#define WEFT__CHANNEL_PLAN_H

#include "_channel_words.h"
#include "_tracked.h"
#include "mpmc_queue.h"
#include "record_ring.h"
#include "shape_table.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The messages of a channel: bytes, UTF-8, JSON in UTF-8, an int32_t, a double,
   a struct, the output of JavaScript's serializer, that of a user's codec, or
   values in the format of docs/value_format.md. */
#define WEFT_CHANNEL_BINARY 1
#define WEFT_CHANNEL_TEXT 2
#define WEFT_CHANNEL_JSON 3
#define WEFT_CHANNEL_I32 4
#define WEFT_CHANNEL_F64 5
#define WEFT_CHANNEL_RECORD 6
#define WEFT_CHANNEL_STRUCTURED 7
#define WEFT_CHANNEL_OWN 8
#define WEFT_CHANNEL_VALUE 9

/* The bytes for texts of the table of shapes in a channel of VALUE. */
#define WEFT__CHANNEL_TEXTS 3568

/* The most agents that can have counted senders, or receivers. */
#define WEFT_CHANNEL_MAX_TRACKED WEFT__TRACKED_MAX_ROWS
/* The configuration of a channel. `capacity` is how many messages may be in it,
   rounded up to a power of two if all have one size. With 0, a message goes
   from a sender to a receiver that is there. `size` is the sizeof of a RECORD.
   For messages of different lengths, `size` is the length that `capacity`
   counts with, 16 to 2^29, or 0 for 256. `shape` is the number that JavaScript
   gives a record; 0 fits every record of that size. `tracked` is how many
   agents can have a counted sender, and how many a counted receiver, up to 255;
   0 if none can. */
typedef struct {
  int32_t codec;
  int32_t capacity;
  int32_t size;
  int32_t shape;
  int32_t tracked;
} weft_channel_config;

/* Whether all messages have one size: I32, F64 and RECORD. */
static inline bool weft__channel_sized(int32_t codec) {
  return codec >= WEFT_CHANNEL_I32 && codec <= WEFT_CHANNEL_RECORD;
}

/* The length that `capacity` counts with, for messages of different lengths; 0
   if it is out of range. */
static inline int32_t weft__channel_message_size(weft_channel_config config) {
  if (config.size == 0) return 256;
  return config.size < 16 || config.size > 1 << 29 ? 0 : config.size;
}

/* The bytes of the ring in which `capacity` such messages fit at any place; 0
   if out of range. */
static inline int32_t weft__channel_ring_bytes(weft_channel_config config) {
  int32_t size = weft__channel_message_size(config);
  if (size == 0 || config.capacity < 1 || config.capacity > 1 << 30) return 0;
  /* A message that does not fit before the end of the ring leaves up to `space`
     bytes unused. */
  int64_t space = weft__record_space(size);
  int64_t bytes = ((int64_t)config.capacity + 1) * space;
  return bytes > 1 << 30 ? 0 : (int32_t)bytes;
}

/* What carries the messages. */
static inline weft_mpmc_queue *weft__channel_queue(const weft_channel *c) {
  return (weft_mpmc_queue *)(uintptr_t)(c + 1);
}

static inline weft_record_ring *weft__channel_ring(const weft_channel *c) {
  return (weft_record_ring *)(uintptr_t)(c + 1);
}

/* The table of shapes behind the ring of a channel of VALUE. */
static inline weft_shape_table *weft__channel_shapes(const weft_channel *c) {
  if (weft__channel_hands(c))
    return (weft_shape_table *)((uintptr_t)weft__channel_place(c) +
                                (uintptr_t)c->place);
  const weft_record_ring *ring = weft__channel_ring(c);
  uintptr_t behind = (uintptr_t)(ring + 1) + (uintptr_t)ring->capacity;
  return (weft_shape_table *)behind;
}

/* The bytes of the rows of `tracked` senders and as many receivers. */
static inline size_t weft__channel_rows_bytes(int32_t tracked) {
  return 2 * (size_t)tracked * sizeof(weft__tracked_row);
}

/* The bytes of an element that holds `size` bytes. */
static inline int32_t weft__channel_padded(int32_t size) {
  return size < 0 || size > 1 << 30 ? 0 : (size + 3) / 4 * 4;
}

/* The configuration of the queue or ring inside a channel. */
static inline weft_queue_config weft__channel_elements(
    weft_channel_config config) {
  weft_queue_config queue;
  queue.capacity = config.capacity;
  queue.element_size = config.codec == WEFT_CHANNEL_I32 ? 4
                       : config.codec == WEFT_CHANNEL_F64
                           ? 8
                           : weft__channel_padded(config.size);
  return queue;
}

static inline weft_record_ring_config weft__channel_records(
    weft_channel_config config) {
  weft_record_ring_config ring;
  ring.capacity = weft__channel_ring_bytes(config);
  ring.single_producer = false;
  ring.many_consumers = true;
  ring.most = config.capacity;
  return ring;
}

/* The bytes of the place for a message of a channel of capacity 0; 0 if out of
   range. */
static inline int32_t weft__channel_place_bytes(weft_channel_config config) {
  if (weft__channel_sized(config.codec)) {
    int32_t size = weft__channel_elements(config).element_size;
    return size;
  }
  int32_t size = weft__channel_message_size(config);
  return size == 0 ? 0 : 4 + weft__channel_padded(size);
}

/* The bytes of a channel as a constant expression; 0 if out of range. */
#define WEFT_CHANNEL_BYTES(codec, capacity, size) \
  ((capacity) == 0 ? WEFT__CHANNEL_HANDS(codec, size) \
                   : WEFT__CHANNEL_HOLDS(codec, WEFT__NOT_0(capacity), size))
/* No number that compilers warn of where it cannot be. */
#define WEFT__NOT_0(n) ((n) + ((n) == 0))
#define WEFT__CHANNEL_HOLDS(codec, capacity, size)                     \
  ((codec) == WEFT_CHANNEL_I32   ? WEFT__CHANNEL_ELEMENTS(capacity, 4) \
   : (codec) == WEFT_CHANNEL_F64 ? WEFT__CHANNEL_ELEMENTS(capacity, 8) \
   : (codec) == WEFT_CHANNEL_RECORD                                    \
       ? WEFT__CHANNEL_ELEMENTS(capacity, WEFT__MULTIPLE(size, 4))     \
   : (codec) < WEFT_CHANNEL_BINARY || (codec) > WEFT_CHANNEL_VALUE     \
       ? 0                                                             \
       : WEFT__CHANNEL_RECORDS(capacity, (size) == 0 ? 256 : (size),   \
                               (codec) == WEFT_CHANNEL_VALUE))
#define WEFT__CHANNEL_HANDS(codec, size)                                \
  ((codec) == WEFT_CHANNEL_I32      ? WEFT__CHANNEL_PLACE(4, 0)         \
   : (codec) == WEFT_CHANNEL_F64    ? WEFT__CHANNEL_PLACE(8, 0)         \
   : (codec) == WEFT_CHANNEL_RECORD ? WEFT__CHANNEL_PLACE(size, 0)      \
   : (codec) < WEFT_CHANNEL_BINARY || (codec) > WEFT_CHANNEL_VALUE      \
       ? 0                                                              \
       : WEFT__CHANNEL_PLACE_FOR((size) == 0 ? 256 : (size),            \
                                 (codec) == WEFT_CHANNEL_VALUE))
#define WEFT__CHANNEL_PLACE(size, more)                                   \
  ((size) < 1 || (size) > 1 << 30                                         \
       ? 0                                                                \
       : sizeof(weft_channel) + 4 * WEFT__CHANNEL_GAP + (more) +  \
             WEFT__MULTIPLE(size, 4))
#define WEFT__CHANNEL_PLACE_FOR(size, shaped)                          \
  ((size) < 16 || (size) > 1 << 29                                     \
       ? 0                                                             \
       : WEFT__CHANNEL_PLACE(                                          \
             size, 4 + ((shaped)                                       \
                            ? WEFT_SHAPE_TABLE_BYTES(WEFT__CHANNEL_TEXTS) \
                            : 0)))
#define WEFT__CHANNEL_ELEMENTS(capacity, size) \
  (WEFT_MPMC_QUEUE_BYTES(capacity, size) == 0  \
       ? 0                                     \
       : sizeof(weft_channel) + WEFT_MPMC_QUEUE_BYTES(capacity, size))
#define WEFT__CHANNEL_RECORDS(capacity, size, shaped)   \
  ((size) < 16 || (size) > 1 << 29 || (capacity) < 1 || \
           (capacity) > 1 << 30 ||                      \
           WEFT__CHANNEL_RING(capacity, size) > 1 << 30 \
       ? 0                                              \
       : sizeof(weft_channel) +                         \
             WEFT_RECORD_RING_BYTES(WEFT__CHANNEL_RING(capacity, size)) + \
             ((shaped) ? WEFT_SHAPE_TABLE_BYTES(WEFT__CHANNEL_TEXTS) : 0))
#define WEFT__CHANNEL_RING(capacity, size) \
  ((1ull + (capacity)) * (WEFT__MULTIPLE(size, 8) + WEFT__RECORD_HEADER))

/* The bytes that `tracked`, 0 to 255, adds to a channel, as a constant
   expression. */
#define WEFT_CHANNEL_TRACKED_BYTES(tracked) \
  (2 * sizeof(weft__tracked_row) * (tracked))

/* The bytes of a channel of this configuration; 0 if it is out of range. */
static inline size_t weft_channel_bytes(weft_channel_config config) {
  if (config.codec < WEFT_CHANNEL_BINARY || config.codec > WEFT_CHANNEL_VALUE)
    return 0;
  if (config.tracked < 0 || config.tracked > WEFT_CHANNEL_MAX_TRACKED) return 0;
  size_t bytes = 0;
  if (config.capacity == 0)
    bytes = (size_t)weft__channel_place_bytes(config);
  else
    bytes = weft__channel_sized(config.codec)
                ? weft_mpmc_queue_bytes(weft__channel_elements(config))
                : weft_record_ring_bytes(weft__channel_records(config));
  if (bytes == 0) return 0;
  if (config.capacity == 0) bytes += 4 * WEFT__CHANNEL_GAP;
  if (config.codec == WEFT_CHANNEL_VALUE)
    bytes += weft_shape_table_bytes(WEFT__CHANNEL_TEXTS);
  return sizeof(weft_channel) + bytes +
         weft__channel_rows_bytes(config.tracked);
}

/* How many agents can have a counted sender, and how many a counted receiver;
   0 if none can. */
static inline int32_t weft_channel_tracked(const weft_channel *c) {
  return c->tracked & WEFT_CHANNEL_MAX_TRACKED;
}

/* The bytes before the rows of the senders. */
static inline size_t weft__channel_before_rows(const weft_channel *c) {
  if (weft__channel_hands(c)) {
    size_t place = sizeof *c + 4 * WEFT__CHANNEL_GAP + (size_t)c->place;
    if (c->codec != WEFT_CHANNEL_VALUE) return place;
    return place + weft_shape_table_bytes(WEFT__CHANNEL_TEXTS);
  }
  if (weft__channel_sized(c->codec)) {
    const weft_mpmc_queue *q = weft__channel_queue(c);
    weft_queue_config config = {q->capacity, q->element_size};
    return sizeof *c + weft_mpmc_queue_bytes(config);
  }
  size_t bytes = sizeof *c + sizeof(weft_record_ring) +
                 (size_t)weft__channel_ring(c)->capacity;
  if (c->codec != WEFT_CHANNEL_VALUE) return bytes;
  return bytes + weft_shape_table_bytes(WEFT__CHANNEL_TEXTS);
}

/* The senders of a channel, and their rows. */
static inline weft__tracked weft__channel_senders(weft_channel *c) {
  char *rows = (char *)c + weft__channel_before_rows(c);
  weft__tracked t = {&c->senders, (weft__tracked_row *)(void *)rows,
                     weft_channel_tracked(c)};
  return t;
}

/* The receivers of a channel, and their rows. */
static inline weft__tracked weft__channel_receivers(weft_channel *c) {
  weft__tracked t = weft__channel_senders(c);
  t.counted = &c->receivers;
  t.rows += t.agents;
  return t;
}

/* The channel at `at`, or NULL: see weft_attach_error. Also NULL if JavaScript
   made it with a carrier. weft_channel_codec tells what its messages are. */
static inline WEFT__RESULT weft_channel *weft_channel_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_channel) != NULL) return NULL;
  weft_channel *c = (weft_channel *)at;
  if (c->tracked != weft__tracked_mark(weft_channel_tracked(c))) return NULL;
  int32_t kind = WEFT_KIND_record_ring;
  if (weft__channel_sized(c->codec))
    kind = WEFT_KIND_mpmc_queue;
  else if (c->message_size < 16 || c->message_size > 1 << 29)
    return NULL;
  if (weft__channel_hands(c)) {
    bool fits = weft__channel_sized(c->codec)
                    ? c->place > 0 && c->place % 4 == 0
                    : c->place == 4 + weft__channel_padded(c->message_size);
    if (!fits) return NULL;
    weft__fences();
  } else if (weft_attach_error(c + 1, kind) != NULL) {
    return NULL;
  }
  if (c->codec != WEFT_CHANNEL_VALUE) return c;
  return weft_shape_table_attach(weft__channel_shapes(c)) == NULL ? NULL : c;
}

/* Initializes `bytes` bytes of unused memory as an empty channel. NULL if the
   configuration is out of range, the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_channel *weft_channel_init(
    void *at, size_t bytes, weft_channel_config config) {
  weft_channel *c = (weft_channel *)at;
  if (!weft__fits(at, bytes, weft_channel_bytes(config))) return NULL;
  weft__zero(at, sizeof *c);
  size_t rest = bytes - sizeof *c;
  bool sized = weft__channel_sized(config.codec);
  if (config.capacity == 0) {
    c->place = weft__channel_place_bytes(config);
    weft__zero(c + 1, 4 * WEFT__CHANNEL_GAP);
    weft__fences();
  } else if (sized &&
      !weft_mpmc_queue_init(c + 1, rest, weft__channel_elements(config)))
    return NULL;
  if (config.capacity != 0 && !sized &&
      !weft_record_ring_init(c + 1, rest, weft__channel_records(config)))
    return NULL;
  if (config.codec == WEFT_CHANNEL_VALUE &&
      !weft_shape_table_init(weft__channel_shapes(c),
                             weft_shape_table_bytes(WEFT__CHANNEL_TEXTS),
                             WEFT__CHANNEL_TEXTS))
    return NULL;
  c->codec = config.codec;
  bool shaped =
      config.codec == WEFT_CHANNEL_RECORD || config.codec == WEFT_CHANNEL_OWN;
  c->shape = shaped ? config.shape : 0;
  c->message_size = weft__channel_sized(config.codec)
                        ? 0
                        : weft__channel_message_size(config);
  if (config.tracked > 0) {
    c->tracked = weft__tracked_mark(config.tracked);
    c->senders = c->receivers = WEFT__TRACKED_MAX << WEFT__TRACKED_SHIFT;
    weft__zero((char *)c + weft__channel_before_rows(c),
               weft__channel_rows_bytes(config.tracked));
  }
  c->seal = weft__seal(WEFT_KIND_channel, c->codec, c->shape);
  weft__store(&c->magic, weft__magic(WEFT_KIND_channel));
  return c;
}

WEFT__END

#endif

#endif /* WEFT__CHANNEL_PLAN_H */

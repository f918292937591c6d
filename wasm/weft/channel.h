/* channel.h - the twin of primitives/channel.ts. */
#ifndef WEFT_CHANNEL_H
#define WEFT_CHANNEL_H

#include "_handoff.h"
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
/* In `ends`: there was a sender, there was a receiver. */
#define WEFT_CHANNEL_SENT_BIT 1 /* CHANNEL_BITS.SENT */
#define WEFT_CHANNEL_RECEIVED_BIT (1 << 1) /* CHANNEL_BITS.RECEIVED */

/* The configuration of a channel. `capacity` is how many messages may be in it,
   rounded up to a power of two if all have one size. With 0, a message goes from
   a sender to a receiver that is there. `size` is the sizeof of a
   RECORD. For messages of different lengths, `size` is the length that
   `capacity` counts with, 16 to 2^29, or 0 for 256. `shape` is the number that
   JavaScript gives a record; 0 fits every record of that size. `tracked` is how
   many agents can have a counted sender, and how many a counted receiver, up to
   255; 0 if none can. */
typedef struct {
  int32_t codec;
  int32_t capacity;
  int32_t size;
  int32_t shape;
  int32_t tracked;
} weft_channel_config;

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A channel of messages.
 *
 * word 0   magic            Kind and layout version.
 * word 1   codec            1 binary, 2 text, 3 json, 4 i32, 5 f64, 6 record, 7
 *                           structured, 8 own, 9 value.
 * word 2   shape            A number that tells apart records with different
 *                           fields, and users' codecs with different names; or
 *                           0.
 * word 3   seal             Check word over the configuration.
 * word 4   message_size     The expected bytes of a message, by which
 *                           `capacity` is counted, or 0.
 * word 5   tracked          0, or if senders and receivers are counted:
 *                           bits 0-7    how many agents have rows at each end
 *                           bits 8-15   the same, each bit flipped
 *                           bits 16-31  0x5765
 * word 6   ends             bit 0  SENT: there was a sender
 *                           bit 1  RECEIVED: there was a receiver
 * word 7   senders          bits 0-11   the sequence of the last change, modulo
 *                                       4096
 *                           bits 12-19  the row of the agent that made it
 *                           bits 20-31  how many more senders there can be
 * word 8   receivers        bits 0-11   the sequence of the last change, modulo
 *                                       4096
 *                           bits 12-19  the row of the agent that made it
 *                           bits 20-31  how many more receivers there can be
 * word 9   place            The bytes of the place for a message, if the
 *                           capacity is 0; otherwise 0.
 * word 10  handoff          If the capacity is 0:
 *                           bits 0-1    PHASE: what is in the place: 0 nothing;
 *                                       1 posted: a message, whose sender
 *                                       waits; 2 handed: a message for a
 *                                       receiver that waits
 *                           bit 2       STOPPED: the channel is closed
 *                           bits 3-8    OFFERS: receivers that wait, and that
 *                                       no message was handed to
 *                           bits 9-12   ENDED: how often all offers were ended
 *                                       because an agent was terminated, modulo
 *                                       16
 *                           bits 13-31  NUMBER: of the last message, modulo
 *                                       2^19
 * word 11  offer_epoch      If the capacity is 0: changes when sleeping senders
 *                           must look again that can only send to a receiver
 *                           that waits.
 *                           sleepers: senders
 * word 12  offer_waiters    bits 0-30  such senders that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 13  offer_gong       A gong, for agents that wait to send here and for
 *                           others.
 *                           sleepers: agents that wait at several ends
 * word 14  message_epoch    If the capacity is 0: changes when sleeping
 *                           receivers must look again.
 *                           sleepers: receivers
 * word 15  message_waiters  bits 0-30  receivers that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 16  message_gong     A gong, for agents that wait for messages here and
 *                           for others.
 *                           sleepers: agents that wait at several ends
 * word 17  room_epoch       If the capacity is 0: changes when sleeping senders
 *                           must look again that wait for the place.
 *                           sleepers: senders
 * word 18  room_waiters     bits 0-30  such senders that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 19  taken_epoch      If the capacity is 0: changes when the sender of
 *                           the posted message must look again.
 *                           sleepers: senders
 * word 20  taken_waiters    bits 0-30  such senders that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 21  writer           If the capacity is 0: the id of the sender that may
 *                           write a message, or 0.
 * word 32  The queue or ring that carries the messages, with its own head.
 *          Without a carrier, that is an `mpmc_queue` for i32, f64 and record,
 *          and a `record_ring` for the other codecs. With a carrier, it is an
 *          `spsc_queue`, an `mpmc_queue` or a `lock_free_queue`; if messages
 *          differ in length, each element begins with the length of its
 *          message. If the codec is `value`, a `shape_table` with 3568 bytes
 *          for texts lies behind the queue or ring. If ends are counted, rows
 *          of 32 words follow, first those of senders. A row has the id of its
 *          agent, or 0; the sequence of the last confirmed change of that
 *          agent; how many ends it has after its changes with an even sequence;
 *          and the same for an odd one. If the capacity is 0, there is no
 *          queue: four words follow that are 0, and then the place for one
 *          message, which begins with its length if messages differ in length.
 *
 * Freed when: every operation of every agent has returned, close included, and
 * none will begin. That it is closed and empty does not say so.
 */
typedef struct {
  int32_t magic;
  int32_t codec;
  int32_t shape;
  int32_t seal;
  int32_t message_size;
  int32_t tracked;
  int32_t ends;
  int32_t senders;
  int32_t receivers;
  int32_t place;
  int32_t handoff;
  int32_t offer_epoch;
  int32_t offer_waiters;
  int32_t offer_gong;
  int32_t message_epoch;
  int32_t message_waiters;
  int32_t message_gong;
  int32_t room_epoch;
  int32_t room_waiters;
  int32_t taken_epoch;
  int32_t taken_waiters;
  int32_t writer;
  int32_t _pad0[10];
} weft_channel;
WEFT_WORD(channel, magic, 0);
WEFT_WORD(channel, codec, 1);
WEFT_WORD(channel, shape, 2);
WEFT_WORD(channel, seal, 3);
WEFT_WORD(channel, message_size, 4);
WEFT_WORD(channel, tracked, 5);
WEFT_WORD(channel, ends, 6);
WEFT_WORD(channel, senders, 7);
WEFT_WORD(channel, receivers, 8);
WEFT_WORD(channel, place, 9);
WEFT_WORD(channel, handoff, 10);
WEFT_WORD(channel, offer_epoch, 11);
WEFT_WORD(channel, offer_waiters, 12);
WEFT_WORD(channel, offer_gong, 13);
WEFT_WORD(channel, message_epoch, 14);
WEFT_WORD(channel, message_waiters, 15);
WEFT_WORD(channel, message_gong, 16);
WEFT_WORD(channel, room_epoch, 17);
WEFT_WORD(channel, room_waiters, 18);
WEFT_WORD(channel, taken_epoch, 19);
WEFT_WORD(channel, taken_waiters, 20);
WEFT_WORD(channel, writer, 21);
WEFT_LENGTH(channel, 32);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The words by which a channel of capacity 0 hands messages on. */
WEFT__ASSERT(offsetof(weft_channel, writer) - offsetof(weft_channel, place) ==
                 offsetof(weft__handoff, writer),
             "weft__handoff is not a part of weft_channel");
static inline weft__handoff *weft__channel_handoff(const weft_channel *c) {
  return (weft__handoff *)(uintptr_t)&c->place;
}

/* Whether the capacity is 0. */
static inline bool weft__channel_hands(const weft_channel *c) {
  return c->place != 0;
}

/* The words behind the head of such a channel that are 0: others have a queue
   there, by whose head it is known. */
#define WEFT__CHANNEL_GAP 4

/* Its place for a message. */
static inline int32_t *weft__channel_place(const weft_channel *c) {
  return (int32_t *)(uintptr_t)(c + 1) + WEFT__CHANNEL_GAP;
}

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
  return (weft_shape_table *)((uintptr_t)(ring + 1) + (uintptr_t)ring->capacity);
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

/* What its messages are: WEFT_CHANNEL_BINARY and so on. */
static inline int32_t weft_channel_codec(const weft_channel *c) {
  return c->codec;
}

/* The table of the shapes of objects, with which weft_value_open and
   weft_value_begin read and write messages of VALUE; NULL if its messages are
   others. */
static inline weft_shape_table *weft_channel_shapes(const weft_channel *c) {
  return c->codec == WEFT_CHANNEL_VALUE ? weft__channel_shapes(c) : NULL;
}

/* How many messages may be in it: fewer of long ones fit. */
static inline int32_t weft_channel_capacity(const weft_channel *c) {
  if (weft__channel_hands(c)) return 0;
  if (weft__channel_sized(c->codec))
    return weft_mpmc_queue_capacity(weft__channel_queue(c));
  return weft_record_ring_most(weft__channel_ring(c));
}

/* The most bytes of a message. */
static inline int32_t weft_channel_max_length(const weft_channel *c) {
  if (weft__channel_hands(c))
    return weft__channel_sized(c->codec) ? c->place : c->place - 4;
  return weft__channel_sized(c->codec)
             ? weft_mpmc_queue_element_size(weft__channel_queue(c))
             : weft_record_ring_max_length(weft__channel_ring(c));
}

/* Whether close was called; messages may still be in the channel. */
static inline bool weft_channel_closed(const weft_channel *c) {
  if (weft__channel_hands(c))
    return weft__handoff_closed(weft__channel_handoff(c));
  return weft__channel_sized(c->codec)
             ? weft_mpmc_queue_closed(weft__channel_queue(c))
             : weft_record_ring_closed(weft__channel_ring(c));
}

/* An element is as long as a message, or longer by the padding of a struct. */
static inline WEFT__RESULT int weft__channel_try_push(weft_mpmc_queue *q,
                                                      const void *src,
                                                      int32_t length) {
  int32_t ticket = 0;
  if (weft__channel_padded(length) != q->element_size) return EINVAL;
  int32_t count = weft__mpmc_claim_push(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  int32_t *element = weft__mpmc_slot(q, ticket) + WEFT__MPMC_ELEMENT;
  element[q->element_size / 4 - 1] = 0;           /* the padding */
  __builtin_memcpy(element, src, (size_t)length); /* published by (P) */
  weft__mpmc_publish(q, ticket);
  weft__event_wake_end(&q->pop_epoch, 1);
  return 0;
}

static inline WEFT__RESULT int weft__channel_try_pop(weft_mpmc_queue *q,
                                                     void *dst,
                                                     int32_t *length) {
  int32_t ticket = 0;
  if (weft__channel_padded(*length) < q->element_size) return EINVAL;
  int32_t count = weft__mpmc_claim_pop(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  if (*length > q->element_size) *length = q->element_size;
  const int32_t *element = weft__mpmc_slot(q, ticket) + WEFT__MPMC_ELEMENT;
  __builtin_memcpy(dst, element, (size_t)*length); /* published by (P) */
  weft__mpmc_free(q, ticket);
  weft__event_wake_end(&q->push_epoch, 1);
  return 0;
}

static inline int weft__channel_push(weft_mpmc_queue *q, const void *src,
                                     int32_t length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft__channel_try_push(q, src, length), &q->push_epoch,
                    weft__mpmc_pass_push(q), timeout);
}

static inline int weft__channel_pop(weft_mpmc_queue *q, void *dst,
                                    int32_t *length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft__channel_try_pop(q, dst, length), &q->pop_epoch,
                    weft__mpmc_pass_pop(q), timeout);
}

/* Writes a message into the place of a channel of capacity 0, and hands it on;
   see weft__handoff_publish. EINVAL if it is too long, or has the wrong size. */
static inline int weft__channel_hand(weft_channel *c, const void *src,
                                     int32_t length, bool posts, bool *posted,
                                     int32_t *number) {
  weft__handoff *h = weft__channel_handoff(c);
  int32_t *place = weft__channel_place(c);
  bool sized = weft__channel_sized(c->codec);
  if (sized ? weft__channel_padded(length) != c->place
            : length < 0 || length > c->place - 4)
    return EINVAL;
  int result = weft__handoff_claim(h, posts);
  if (result != 0) return result;
  if (!sized) weft__handoff_put(place++, &length, 4);
  weft__handoff_put(place, src, length); /* published by (P) */
  return weft__handoff_publish(h, posts, posted, number);
}

static inline int weft__channel_post(weft_channel *c, const void *src,
                                     int32_t length, bool *posted,
                                     int32_t *number, int64_t timeout) {
  weft__handoff *h = weft__channel_handoff(c);
  WEFT__EVENT_BLOCK_LAST(
      weft__channel_hand(c, src, length, true, posted, number), EBUSY,
      &h->room_epoch, (void)0, weft__handoff_pass(h), timeout, -1);
}

/* The send of a channel of capacity 0: posts the message, and waits until it is
   taken. */
static inline int weft__channel_hand_over(weft_channel *c, const void *src,
                                          int32_t length, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int64_t deadline = weft__deadline(timeout);
  bool posted = false;
  int32_t number = 0;
  int result = weft__channel_post(c, src, length, &posted, &number, timeout);
  if (result != 0 || !posted) return result;
  return weft__handoff_taken(weft__channel_handoff(c), number, timeout,
                             deadline);
}

/* Moves the message in the place of a channel of capacity 0 to `dst`. */
static inline int weft__channel_take(weft_channel *c, void *dst,
                                     int32_t *length, int32_t *since) {
  weft__handoff *h = weft__channel_handoff(c);
  int32_t room = *length;
  bool sized = weft__channel_sized(c->codec);
  if (sized ? weft__channel_padded(room) < c->place : room < c->place - 4)
    return EINVAL;
  for (;;) {
    int32_t state = 0;
    int result = weft__handoff_look_in(h, *since, &state);
    if (result != 0) return result;
    const int32_t *place = weft__channel_place(c);
    int32_t size = c->place;
    if (!sized) {
      weft__handoff_get(&size, place++, 4);
      if (size < 0 || size > c->place - 4) size = c->place - 4;
    } else if (size > room) {
      size = room;
    }
    /* A sender may write meanwhile; then (T) fails. Published by (P). */
    weft__handoff_get(dst, place, size);
    *length = size;
    if (weft__handoff_take(h, since, state)) return 0;
    *length = room;
  }
}

/* The same, and offers to take one if there is none. */
static inline int weft__channel_take_or_offer(weft_channel *c, void *dst,
                                              int32_t *length, int32_t *since) {
  int result = weft__channel_take(c, dst, length, since);
  if (result == EBUSY) weft__handoff_offer(weft__channel_handoff(c), since);
  return result;
}

/* Ends the wait of a receiver, with this result: if it gives up, it takes its
   offer back, or what that brought. */
static inline int weft__channel_settle(weft_channel *c, void *dst,
                                       int32_t *length, int32_t *since,
                                       int result) {
  weft__handoff *h = weft__channel_handoff(c);
  while (result == ETIMEDOUT && *since >= 0) {
    int32_t state = weft__load(&h->handoff);
    if (weft__handoff_phase(state) != WEFT__HANDOFF_EMPTY &&
        !weft__handoff_offered(state)) {
      int taken = weft__channel_take(c, dst, length, since);
      if (taken != EBUSY) result = taken;
    } else {
      weft__handoff_retract(h, since, state);
    }
  }
  weft__handoff_end(h, since);
  return result;
}

static inline int weft__channel_take_waiting(weft_channel *c, void *dst,
                                             int32_t *length,
                                             int64_t timeout) {
  weft__handoff *h = weft__channel_handoff(c);
  int32_t since = WEFT__HANDOFF_NONE;
  WEFT__EVENT_BLOCK_OR(weft__channel_take_or_offer(c, dst, length, &since),
                       &h->message_epoch, (void)0,
                       result = weft__channel_settle(c, dst, length, &since,
                                                     result),
                       timeout, -1);
}

/* Sends the `length` bytes at `src` without waiting. Returns 0, EBUSY if there
   is no room for them (or, if the capacity is 0, no receiver that waits), EPIPE if the channel was closed, or EINVAL if length is
   more than max_length, or is wrong where all messages have one size. */
static inline WEFT__RESULT int weft_channel_try_send(weft_channel *c,
                                                     const void *src,
                                                     int32_t length) {
  if (weft__channel_hands(c)) {
    bool posted = false;
    int32_t number = 0;
    return weft__channel_hand(c, src, length, false, &posted, &number);
  }
  return weft__channel_sized(c->codec)
             ? weft__channel_try_push(weft__channel_queue(c), src, length)
             : weft_record_ring_try_push(weft__channel_ring(c), src, length);
}

/* Does the same as try_send, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_channel_send(weft_channel *c, const void *src,
                                    int32_t length, int64_t timeout) {
  if (weft__channel_hands(c))
    return weft__channel_hand_over(c, src, length, timeout);
  return weft__channel_sized(c->codec)
             ? weft__channel_push(weft__channel_queue(c), src, length, timeout)
             : weft_record_ring_push(weft__channel_ring(c), src, length,
                                     timeout);
}

/* Moves the oldest message to `dst`, which has `*length` bytes, and writes its
   length to *length. Returns 0, EBUSY if there is none, EPIPE if the channel
   was closed and is empty, or EINVAL if the message is longer than `dst`; then
   it stays. If the capacity is 0, `dst` must have max_length bytes. */
static inline WEFT__RESULT int weft_channel_try_receive(weft_channel *c,
                                                        void *dst,
                                                        int32_t *length) {
  if (weft__channel_hands(c)) {
    int32_t since = WEFT__HANDOFF_NONE;
    return weft__channel_take(c, dst, length, &since);
  }
  return weft__channel_sized(c->codec)
             ? weft__channel_try_pop(weft__channel_queue(c), dst, length)
             : weft_record_ring_try_pop(weft__channel_ring(c), dst, length);
}

/* Does the same as try_receive, but blocks up to `timeout` ns for a message;
   then ETIMEDOUT. */
static inline int weft_channel_receive(weft_channel *c, void *dst,
                                       int32_t *length, int64_t timeout) {
  if (weft__channel_hands(c))
    return weft__channel_take_waiting(c, dst, length, timeout);
  return weft__channel_sized(c->codec)
             ? weft__channel_pop(weft__channel_queue(c), dst, length, timeout)
             : weft_record_ring_pop(weft__channel_ring(c), dst, length,
                                    timeout);
}

/* Whether messages can be written and read in place: not if all have one size.
   JavaScript does so with the codec BINARY. Nor if the capacity is 0. */
#define WEFT__CHANNEL_IN_PLACE(c, operation)                   \
  (weft__channel_sized((c)->codec) || weft__channel_hands(c) ? EINVAL \
                                                             : (operation))

/*
 * Reserves room for a message of `length` bytes, at *at. Write the bytes there,
 * then commit or cancel; until then the messages of others that follow wait for
 * it, too. Returns 0, EBUSY if there is no room, EPIPE if the channel was
 * closed, or EINVAL if length is not 0 to max_length, or all messages have one
 * size.
 */
static inline WEFT__RESULT int weft_channel_try_reserve(weft_channel *c,
                                                        int32_t length,
                                                        void **at) {
  return WEFT__CHANNEL_IN_PLACE(
      c, weft_record_ring_reserve(weft__channel_ring(c), length, at));
}

static inline int weft__channel_reserve(weft_record_ring *r, int32_t length,
                                        void **at, int64_t timeout) {
  WEFT__EVENT_BLOCK_OR(weft_record_ring_reserve(r, length, at), &r->push_epoch,
                       weft__record_hand_room_on(r), weft__record_pass_push(r),
                       timeout, -1);
}

/* Does the same as try_reserve, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_channel_reserve(weft_channel *c, int32_t length,
                                       void **at, int64_t timeout) {
  return WEFT__CHANNEL_IN_PLACE(
      c, weft__channel_reserve(weft__channel_ring(c), length, at, timeout));
}

/* Sends the message reserved at `at`, or its first `length` bytes; EINVAL if
   that is more than was reserved, EPIPE if the channel has one sender and is
   closed. */
static inline int weft_channel_commit(weft_channel *c, void *at,
                                      int32_t length) {
  return weft_record_ring_commit(weft__channel_ring(c), at, length);
}

/* Gives up the message reserved at `at`. */
static inline void weft_channel_cancel(weft_channel *c, void *at) {
  weft_record_ring_cancel(weft__channel_ring(c), at);
}

static inline WEFT__RESULT int weft__channel_try_peek(weft_record_ring *r,
                                                      const void **at,
                                                      int32_t *length) {
  int32_t *record = NULL;
  int result = weft__record_oldest(r, &record);
  if (result != 0) return result;
  *length = weft__record_length(weft__load(record));
  *at = record + 2;
  return 0;
}

static inline int weft__channel_peek(weft_record_ring *r, const void **at,
                                     int32_t *length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft__channel_try_peek(r, at, length), &r->pop_epoch,
                    weft__record_pass_pop(r), timeout);
}

/* Shows the oldest message where it lies: *at, *length. Read it, then consume;
   receive nothing else meanwhile. Returns 0, EBUSY if there is none, EPIPE if
   the channel was closed and is empty, or EINVAL if all messages have one
   size. */
static inline WEFT__RESULT int weft_channel_try_peek(weft_channel *c,
                                                     const void **at,
                                                     int32_t *length) {
  return WEFT__CHANNEL_IN_PLACE(
      c, weft__channel_try_peek(weft__channel_ring(c), at, length));
}

/* Does the same as try_peek, but blocks up to `timeout` ns for a message; then
   ETIMEDOUT. */
static inline int weft_channel_peek(weft_channel *c, const void **at,
                                    int32_t *length, int64_t timeout) {
  return WEFT__CHANNEL_IN_PLACE(
      c, weft__channel_peek(weft__channel_ring(c), at, length, timeout));
}

/* Removes the message that was peeked at. */
static inline void weft_channel_consume(weft_channel *c) {
  weft_record_ring_consume(weft__channel_ring(c));
}

/* Closes the channel for ever. Sending fails from now on; receiving takes what
   is left, and then fails. All sleepers wake. */
static inline void weft_channel_close(weft_channel *c) {
  if (weft__channel_hands(c))
    weft__handoff_close(weft__channel_handoff(c));
  else if (weft__channel_sized(c->codec))
    weft_mpmc_queue_close(weft__channel_queue(c));
  else
    weft_record_ring_close(weft__channel_ring(c));
}

/* How many there are of a counted end. */
static inline int32_t weft__channel_count(const weft_channel *c,
                                          const int32_t *counted) {
  if (c->tracked == 0) return 0;
  return WEFT__TRACKED_MAX - weft__tracked_count(weft__load(counted));
}

/* How many senders there are; 0 if the channel does not count them. */
static inline int32_t weft_channel_senders(const weft_channel *c) {
  return weft__channel_count(c, &c->senders);
}

/* How many receivers there are; 0 if the channel does not count them. */
static inline int32_t weft_channel_receivers(const weft_channel *c) {
  return weft__channel_count(c, &c->receivers);
}

static inline int weft__channel_enter(weft_channel *c, const weft__tracked *end,
                                      int32_t bit) {
  int result = weft__tracked_take(end, 1);
  if (result != 0) return result;
  /* (S) Whoever finds the bit set finds this agent counted, too. */
  if ((weft__load(&c->ends) & bit) == 0) weft__or(&c->ends, bit);
  return 0;
}

/* (L) Closes the channel if nobody was left just after this agent left. */
static inline int weft__channel_leave(weft_channel *c,
                                      const weft__tracked *end) {
  int32_t count = 0;
  int result = weft__tracked_give(end, 1, &count);
  if (result == 0 && count == WEFT__TRACKED_MAX) weft_channel_close(c);
  return result;
}

/*
 * Counts this agent as a sender, until weft_channel_leave_sender. When the last
 * sender has left, the channel closes for good: receivers get what is left, and
 * then EPIPE. So make the next sender before the last one leaves. An agent may
 * be several, and it may send without one, which nobody counts. Returns 0, EPIPE
 * if the channel is closed, EINVAL if it was made without `tracked` or all rows
 * are taken, EBUSY if there are 2047, or ENOTRECOVERABLE.
 */
static inline int weft_channel_sender(weft_channel *c) {
  if (c->tracked == 0) return EINVAL;
  weft__tracked end = weft__channel_senders(c);
  int result = weft__channel_enter(c, &end, WEFT_CHANNEL_SENT_BIT);
  if (result != 0 || !weft_channel_closed(c)) return result;
  result = weft__channel_leave(c, &end);
  return result == 0 ? EPIPE : result;
}

/* Ends one sender that this agent is: 0, EPERM if it is not one, EINVAL or
   ENOTRECOVERABLE. */
static inline int weft_channel_leave_sender(weft_channel *c) {
  if (c->tracked == 0) return EINVAL;
  weft__tracked end = weft__channel_senders(c);
  return weft__channel_leave(c, &end);
}

/*
 * Counts this agent as a receiver, until weft_channel_leave_receiver. When the
 * last receiver has left, the channel closes for good: every send, also one that
 * waits, returns EPIPE. A closed channel has receivers, too: they take what is
 * left. Returns as weft_channel_sender, but never EPIPE.
 */
static inline int weft_channel_receiver(weft_channel *c) {
  if (c->tracked == 0) return EINVAL;
  weft__tracked end = weft__channel_receivers(c);
  return weft__channel_enter(c, &end, WEFT_CHANNEL_RECEIVED_BIT);
}

/* Ends one receiver that this agent is: as weft_channel_leave_sender. */
static inline int weft_channel_leave_receiver(weft_channel *c) {
  if (c->tracked == 0) return EINVAL;
  weft__tracked end = weft__channel_receivers(c);
  return weft__channel_leave(c, &end);
}

static inline int32_t weft__channel_abandon_end(weft_channel *c,
                                                const weft__tracked *end,
                                                int32_t bit, int32_t id) {
  int32_t left = weft__tracked_abandon(end, id);
  if (left < 0) return left;
  /* Pairs with (S). An agent that was terminated before it never had one. */
  bool were = (weft__load(&c->ends) & bit) != 0;
  if (were && weft__channel_count(c, end->counted) == 0) weft_channel_close(c);
  return left;
}

/*
 * Ends the counted senders and receivers of agent `id`; returns how many those
 * were, or -ENOTRECOVERABLE. The last agent that left may have been terminated
 * before it closed the channel, so this closes it even if the agent has none.
 */
static inline int32_t weft__channel_abandon_ends(weft_channel *c, int32_t id) {
  if (c->tracked == 0 || id == 0) return 0;
  weft__tracked end = weft__channel_senders(c);
  int32_t sum = weft__channel_abandon_end(c, &end, WEFT_CHANNEL_SENT_BIT, id);
  if (sum < 0) return sum;
  end = weft__channel_receivers(c);
  int32_t left =
      weft__channel_abandon_end(c, &end, WEFT_CHANNEL_RECEIVED_BIT, id);
  return left < 0 ? left : sum + left;
}

/*
 * Ends the messages that agent `id` had begun to send, and its counted ends. Call
 * it only when that agent will never run again. Returns how many those were.
 * -EBUSY, and nothing done, if another agent is sending now: call it again. If
 * that answer never ends, another agent has ended, too: pass both to
 * weft_recover. If all messages have one size, it cannot end any, unless the
 * capacity is 0.
 */
static inline int32_t weft_channel_abandon(weft_channel *c, int32_t id) {
  int32_t skipped =
      weft__channel_hands(c)
          ? weft__handoff_abandon(weft__channel_handoff(c), id)
      : weft__channel_sized(c->codec)
          ? 0
          : weft_record_ring_abandon(weft__channel_ring(c), id);
  if (skipped < 0) return skipped;
  int32_t left = weft__channel_abandon_ends(c, id);
  return left < 0 ? left : skipped;
}

WEFT__END

#endif

#endif /* WEFT_CHANNEL_H */

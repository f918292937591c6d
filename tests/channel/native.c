/* weft_channel: every codec by turns, what is refused, dead senders, and
   threads. */
#define _POSIX_C_SOURCE 200809L
#include <weft/channel.h>
#include <weft/recover.h>

#include "check.h"

static int32_t arena[1 << 12];

typedef struct {
  unsigned char a, b, c;
} odd;

typedef struct {
  int32_t id;
  double x;
} point;

static weft_channel_config config_of(int32_t codec, int32_t capacity) {
  weft_channel_config config;
  config.codec = codec;
  config.capacity = capacity;
  config.size = codec == WEFT_CHANNEL_RECORD ? 0 : 16;
  config.shape = 0;
  config.tracked = 0;
  return config;
}

static weft_channel *made(weft_channel_config config) {
  memset(arena, 0xee, sizeof arena);
  size_t bytes = weft_channel_bytes(config);
  CHECK(bytes > 0 && bytes < sizeof arena);
  weft_channel *c = weft_channel_init(arena, sizeof arena, config);
  CHECK(c != NULL && weft_channel_attach(arena) == c);
  EQUAL(weft_channel_codec(c), config.codec);
  EQUAL(((unsigned char *)arena)[bytes], 0xee);
  return c;
}

static void codecs(void) {
  for (int32_t codec = 1; codec <= 9; codec++) {
    bool sized = codec >= WEFT_CHANNEL_I32 && codec <= WEFT_CHANNEL_RECORD;
    weft_channel_config config = config_of(codec, 4);
    config.size = (int32_t)sizeof(point); /* 16, too for messages of any size */
    config.shape = 0x1235;
    weft_channel *c = made(config);
    bool shaped = codec == WEFT_CHANNEL_RECORD || codec == WEFT_CHANNEL_OWN;
    EQUAL(c->shape, shaped ? 0x1235 : 0);
    EQUAL(c->message_size, sized ? 0 : 16);
    EQUAL(weft_channel_capacity(c), 4);
    int32_t most = weft_channel_max_length(c);
    EQUAL(most, codec == WEFT_CHANNEL_I32   ? 4
                : codec == WEFT_CHANNEL_F64 ? 8
                : sized                     ? (int32_t)sizeof(point)
                                            : 56);
    /* gcc takes any length for possible, so `src` has as many bytes. */
    unsigned char src[2048], dst[64];
    for (int round = 0; round < 50; round++) {
      int32_t length = sized ? most : round;
      memset(src, round, sizeof src);
      EQUAL(weft_channel_try_send(c, src, length), 0);
      int32_t room = 64;
      if (length > 0) {
        int32_t little = sized ? most - 4 : length - 1;
        EQUAL(weft_channel_try_receive(c, dst, &little), EINVAL); /* stays */
        EQUAL(weft_channel_receive(c, dst, &little, 0), EINVAL);
      }
      memset(dst, 0xdd, sizeof dst);
      EQUAL(weft_channel_try_receive(c, dst, &room), 0);
      EQUAL(room, length);
      EQUAL(memcmp(src, dst, (size_t)length), 0);
      EQUAL(dst[length], 0xdd);
      room = 64;
      EQUAL(weft_channel_try_receive(c, dst, &room), EBUSY);
    }
    int32_t wrong = most + 1;
    UNCHANGED(c, weft_channel_bytes(config),
              weft_channel_try_send(c, src, wrong), EINVAL);
    UNCHANGED(c, weft_channel_bytes(config),
              weft_channel_send(c, src, wrong, 0), EINVAL);
    UNCHANGED(c, weft_channel_bytes(config),
              weft_channel_try_send(c, src, -1), EINVAL);
    int32_t length = sized ? most : 8, held = 0;
    while (weft_channel_try_send(c, src, length) == 0) held++;
    EQUAL(held, 4);
    TAKES(5, weft_channel_send(c, src, length, 5 * MS), ETIMEDOUT);
    CHECK(!weft_channel_closed(c));
    weft_channel_close(c);
    weft_channel_close(c);
    CHECK(weft_channel_closed(c));
    EQUAL(weft_channel_try_send(c, src, length), EPIPE);
    EQUAL(weft_channel_send(c, src, length, WEFT_FOREVER), EPIPE);
    for (; held > 0; held--) {
      int32_t room = 64;
      EQUAL(weft_channel_receive(c, dst, &room, WEFT_FOREVER), 0);
    }
    int32_t room = 64;
    EQUAL(weft_channel_try_receive(c, dst, &room), EPIPE);
    EQUAL(weft_channel_receive(c, dst, &room, WEFT_FOREVER), EPIPE);
  }
}

static void structs(void) {
  weft_channel_config config = config_of(WEFT_CHANNEL_RECORD, 2);
  config.size = (int32_t)sizeof(odd);
  weft_channel *c = made(config);
  EQUAL(weft_channel_max_length(c), 4); /* 3, padded */
  odd sent = {1, 2, 3}, got = {0, 0, 0};
  int32_t length = (int32_t)sizeof got;
  EQUAL(weft_channel_try_send(c, &sent, (int32_t)sizeof sent), 0);
  EQUAL(weft_channel_try_receive(c, &got, &length), 0);
  EQUAL(length, (int32_t)sizeof got);
  CHECK(got.a == 1 && got.b == 2 && got.c == 3);
  unsigned char padded[4] = {9, 9, 9, 9};
  EQUAL(weft_channel_try_send(c, &sent, (int32_t)sizeof sent), 0);
  length = 4;
  EQUAL(weft_channel_try_receive(c, padded, &length), 0);
  EQUAL(padded[3], 0); /* nothing of what lay there before */
}

static void refused(void) {
  weft_channel_config config = config_of(WEFT_CHANNEL_TEXT, 1);
  memset(arena, 0, sizeof arena);
  const int32_t codecs[] = {0, -1, 10, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 5; i++) {
    config.codec = codecs[i];
    EQUAL(weft_channel_bytes(config), 0);
    UNCHANGED(arena, sizeof arena,
              weft_channel_init(arena, sizeof arena, config) != NULL, 0);
  }
  const int32_t sizes[] = {0, -1, INT32_MIN, INT32_MAX, (1 << 30) + 1};
  for (int i = 0; i < 5; i++) {
    config = config_of(WEFT_CHANNEL_RECORD, 4);
    config.size = sizes[i];
    EQUAL(weft_channel_bytes(config), 0);
    config.capacity = 0;
    EQUAL(weft_channel_bytes(config), 0);
    config = config_of(i % 2 ? WEFT_CHANNEL_F64 : WEFT_CHANNEL_JSON,
                       sizes[i] == 0 ? -2 : sizes[i]);
    EQUAL(weft_channel_bytes(config), 0);
    config = config_of(WEFT_CHANNEL_TEXT, 4);
    config.size = sizes[i] == 0 ? 15 : sizes[i];
    EQUAL(weft_channel_bytes(config), 0);
  }
  config = config_of(WEFT_CHANNEL_TEXT, 1);
  UNCHANGED(
      arena, sizeof arena,
      weft_channel_init((char *)arena + 2, sizeof arena - 2, config) != NULL,
      0);
  UNCHANGED(arena, sizeof arena, weft_channel_attach(arena) != NULL, 0);
  weft_channel *c = made(config);
  c->magic ^= 0x100; /* another kind */
  CHECK(weft_channel_attach(c) == NULL);
  c->magic ^= 0x100;
  c->codec = WEFT_CHANNEL_F64; /* what the seal does not say */
  CHECK(weft_channel_attach(c) == NULL);
  c->codec = WEFT_CHANNEL_TEXT;
  c->message_size = -8;
  CHECK(weft_channel_attach(c) == NULL);
  c->message_size = 16;
  CHECK(weft_channel_attach(c) == c);
  arena[32] ^= 0x100; /* what carries the messages */
  CHECK(weft_channel_attach(c) == NULL);
}

static void abandoned(void) {
  weft_channel *c = made(config_of(WEFT_CHANNEL_BINARY, 9));
  void *at = NULL;
  int32_t own = weft_agent_id(), length = 8;
  unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  weft_agent_set_id(77);
  EQUAL(weft_record_ring_reserve(weft__channel_ring(c), 8, &at), 0);
  weft_agent_set_id(own);
  EQUAL(weft_channel_try_send(c, bytes, 3), 0);
  EQUAL(weft_channel_try_receive(c, bytes, &length), EBUSY);
  EQUAL(weft_channel_abandon(c, 5), 0);
  EQUAL(weft_channel_abandon(c, 77), 1);
  EQUAL(weft_channel_try_receive(c, bytes, &length), 0);
  EQUAL(length, 3);
  c = made(config_of(WEFT_CHANNEL_I32, 4));
  EQUAL(weft_channel_abandon(c, 77), 0);
}

typedef struct {
  weft_channel *c;
  int32_t number;
  int32_t count;
} sender;

enum { VISITS = 1000 };

/* Sends as a counted sender: its number, again and again. */
static void *visit(void *argument) {
  sender *self = (sender *)argument;
  EQUAL(weft_channel_sender(self->c), 0);
  for (int i = 0; i < VISITS; i++)
    EQUAL(weft_channel_send(self->c, &self->number, 4, WEFT_FOREVER), 0);
  EQUAL(weft_channel_leave_sender(self->c), 0);
  return NULL;
}

/* All that three senders sent arrives before the end. */
static void visits(void) {
  weft_channel_config config = config_of(WEFT_CHANNEL_I32, 4);
  config.tracked = 4;
  weft_channel *c = made(config);
  pthread_t threads[3];
  sender senders[3] = {{c, 0, 0}, {c, 1, 0}, {c, 2, 0}};
  int32_t value = 0, length = 4, count = 0, seen = 0;
  EQUAL(weft_channel_sender(c), 0);
  start_threads(threads, 3, visit, senders, sizeof(sender));
  while (weft_channel_receive(c, &value, &length, WEFT_FOREVER) == 0) {
    int32_t before = seen;
    count++;
    seen |= 1 << value;
    if (seen == 7 && before != 7) /* all have begun */
      EQUAL(weft_channel_leave_sender(c), 0);
  }
  EQUAL(count, 3 * VISITS);
  join_threads(threads, 3);
}

static void ends(void) {
  int32_t own = weft_agent_id();
  for (int32_t codec = 1; codec <= 9; codec++) {
    weft_channel_config config = config_of(codec, 2);
    config.size = (int32_t)sizeof(point);
    size_t before = weft_channel_bytes(config);
    config.tracked = 2;
    EQUAL(weft_channel_bytes(config), before + WEFT_CHANNEL_TRACKED_BYTES(2));
    weft_channel *c = made(config);
    EQUAL(weft_channel_tracked(c), 2);
    unsigned char bytes[64] = {0};
    int32_t length = weft__channel_sized(codec) ? weft_channel_max_length(c) : 8;
    EQUAL(weft_channel_leave_sender(c), EPERM);
    EQUAL(weft_channel_sender(c), 0);
    EQUAL(weft_channel_sender(c), 0);
    weft_agent_set_id(77);
    EQUAL(weft_channel_sender(c), 0);
    weft_agent_set_id(78);
    EQUAL(weft_channel_sender(c), EINVAL); /* both rows are taken */
    EQUAL(weft_channel_leave_sender(c), EPERM);
    EQUAL(weft_channel_leave_receiver(c), EPERM);
    weft_agent_set_id(own);
    EQUAL(weft_channel_senders(c), 3);
    EQUAL(weft_channel_receivers(c), 0);
    EQUAL(weft_channel_try_send(c, bytes, length), 0);
    EQUAL(weft_channel_leave_sender(c), 0);
    EQUAL(weft_channel_leave_sender(c), 0);
    CHECK(!weft_channel_closed(c));
    EQUAL(weft_channel_abandon(c, 5), 0);
    EQUAL(weft__channel_abandon_ends(c, 0), 0);
    CHECK(!weft_channel_closed(c));
    EQUAL(weft_channel_abandon(c, 77), 0);
    CHECK(weft_channel_closed(c));
    EQUAL(weft_channel_senders(c), 0);
    EQUAL(weft_channel_sender(c), EPIPE);
    EQUAL(weft_channel_senders(c), 0);
    EQUAL(weft_channel_receiver(c), 0); /* for what is left */
    EQUAL(weft_channel_receivers(c), 1);
    length = 64;
    EQUAL(weft_channel_receive(c, bytes, &length, WEFT_FOREVER), 0);
    EQUAL(weft_channel_leave_receiver(c), 0);
    c = made(config);
    EQUAL(weft_channel_receiver(c), 0);
    EQUAL(weft_channel_leave_receiver(c), 0);
    length = weft__channel_sized(codec) ? weft_channel_max_length(c) : 8;
    EQUAL(weft_channel_send(c, bytes, length, WEFT_FOREVER), EPIPE);
    c->tracked = 2; /* without its check */
    CHECK(weft_channel_attach(c) == NULL);
    c->tracked = 0;
    EQUAL(weft_channel_sender(c), EINVAL);
    EQUAL(weft_channel_receiver(c), EINVAL);
    EQUAL(weft_channel_leave_sender(c), EINVAL);
    EQUAL(weft_channel_leave_receiver(c), EINVAL);
    EQUAL(weft_channel_senders(c), 0);
    config.tracked = codec % 2 ? -1 : 256;
    EQUAL(weft_channel_bytes(config), 0);
  }
}

static void in_place(void) {
  weft_channel *c = made(config_of(WEFT_CHANNEL_BINARY, 4));
  const void *found = NULL;
  void *at = NULL;
  int32_t length = -1;
  int32_t most = weft_channel_max_length(c);
  EQUAL(weft_channel_try_peek(c, &found, &length), EBUSY);
  TAKES(5, weft_channel_peek(c, &found, &length, 5 * MS), ETIMEDOUT);
  EQUAL(weft_channel_try_reserve(c, most + 1, &at), EINVAL);
  EQUAL(weft_channel_reserve(c, -1, &at, 0), EINVAL);
  for (int32_t round = 0; round < 50; round++) {
    int32_t asked = round % (most + 1), sent = asked / 2;
    EQUAL(weft_channel_try_reserve(c, asked, &at), 0);
    EQUAL(weft_channel_try_peek(c, &found, &length), EBUSY);
    if (round % 3 == 0) {
      weft_channel_cancel(c, at);
      EQUAL(weft_channel_reserve(c, asked, &at, WEFT_FOREVER), 0);
    }
    memset(at, round, (size_t)asked);
    EQUAL(weft_channel_commit(c, at, asked + 1), EINVAL);
    EQUAL(weft_channel_commit(c, at, sent), 0);
    EQUAL(weft_channel_peek(c, &found, &length, WEFT_FOREVER), 0);
    CHECK(found == at);
    EQUAL(length, sent);
    for (int32_t i = 0; i < length; i++)
      EQUAL(((const unsigned char *)found)[i], round);
    weft_channel_consume(c);
  }
  while (weft_channel_try_reserve(c, 16, &at) == 0)
    EQUAL(weft_channel_commit(c, at, 16), 0);
  TAKES(5, weft_channel_reserve(c, 16, &at, 5 * MS), ETIMEDOUT);
  weft_channel_close(c);
  EQUAL(weft_channel_try_reserve(c, 1, &at), EPIPE);
  EQUAL(weft_channel_reserve(c, 1, &at, WEFT_FOREVER), EPIPE);
  while (weft_channel_try_peek(c, &found, &length) == 0)
    weft_channel_consume(c);
  EQUAL(weft_channel_peek(c, &found, &length, WEFT_FOREVER), EPIPE);
  c = made(config_of(WEFT_CHANNEL_I32, 4));
  EQUAL(weft_channel_try_reserve(c, 4, &at), EINVAL);
  EQUAL(weft_channel_reserve(c, 4, &at, WEFT_FOREVER), EINVAL);
  EQUAL(weft_channel_try_peek(c, &found, &length), EINVAL);
  EQUAL(weft_channel_peek(c, &found, &length, WEFT_FOREVER), EINVAL);
}

static void *send_all(void *argument) {
  sender *self = (sender *)argument;
  for (int32_t i = 0; i < self->count; i++) {
    if (weft_channel_codec(self->c) == WEFT_CHANNEL_F64) {
      double value = i + self->number / 4.0;
      EQUAL(weft_channel_send(self->c, &value, 8, WEFT_FOREVER), 0);
    } else {
      unsigned char bytes[40];
      int32_t length = 4 + i % 36;
      memset(bytes, i & 0xff, sizeof bytes);
      bytes[0] = (unsigned char)self->number;
      if (i % 2 == 0) {
        EQUAL(weft_channel_send(self->c, bytes, length, WEFT_FOREVER), 0);
      } else {
        void *at = NULL;
        EQUAL(weft_channel_reserve(self->c, 40, &at, WEFT_FOREVER), 0);
        memcpy(at, bytes, (size_t)length);
        EQUAL(weft_channel_commit(self->c, at, length), 0);
      }
    }
  }
  return NULL;
}

static void threads(void) {
  for (int way = 0; way < 2; way++) {
    weft_channel *c = made(way == 0 ? config_of(WEFT_CHANNEL_F64, 4)
                                    : config_of(WEFT_CHANNEL_BINARY, 9));
    enum { COUNT = 3000 };
    pthread_t ids[3];
    sender senders[3];
    int32_t next[3] = {0, 0, 0};
    for (int32_t i = 0; i < 3; i++) {
      senders[i].c = c;
      senders[i].number = i;
      senders[i].count = COUNT;
    }
    start_threads(ids, 3, send_all, senders, sizeof(sender));
    for (int i = 0; i < 3 * COUNT; i++) {
      if (way == 0) {
        double value = 0;
        int32_t length = 8;
        EQUAL(weft_channel_receive(c, &value, &length, WEFT_FOREVER), 0);
        int32_t whole = (int32_t)value;
        int32_t number = (int32_t)((value - whole) * 4);
        EQUAL(whole, next[number]++);
      } else {
        unsigned char copy[40];
        int32_t length = 40;
        const void *found = copy;
        if (i % 2 == 0)
          EQUAL(weft_channel_receive(c, copy, &length, WEFT_FOREVER), 0);
        else
          EQUAL(weft_channel_peek(c, &found, &length, WEFT_FOREVER), 0);
        const unsigned char *bytes = (const unsigned char *)found;
        int32_t at = next[bytes[0]]++;
        EQUAL(length, 4 + at % 36);
        for (int32_t k = 1; k < length; k++) EQUAL(bytes[k], at & 0xff);
        if (i % 2 != 0) weft_channel_consume(c);
      }
    }
    join_threads(ids, 3);
  }
}

typedef struct {
  weft_channel *c;
  int32_t number, count;
} hander;

static void *hand_all(void *argument) {
  hander *self = (hander *)argument;
  for (int32_t i = 0; i < self->count; i++) {
    int32_t message[4] = {i, i, i, self->number};
    int32_t length = weft_channel_codec(self->c) == WEFT_CHANNEL_I32 ? 4 : 16;
    if (length == 4) message[0] = i * 4 + self->number;
    if (i % 3 == 0 && weft_channel_try_send(self->c, message, length) == 0)
      continue;
    if (i % 5 == 0 && weft_channel_send(self->c, message, length, 1000) == 0)
      continue;
    EQUAL(weft_channel_send(self->c, message, length, WEFT_FOREVER), 0);
  }
  return NULL;
}

/* Waits until the channel is closed: to receive if `count` is 0, or to send. */
static void *hand_none(void *argument) {
  hander *self = (hander *)argument;
  int32_t message[4] = {1, 1, 1, 1};
  int32_t length = weft_channel_codec(self->c) == WEFT_CHANNEL_I32 ? 4 : 16;
  if (self->count == 0)
    EQUAL(weft_channel_receive(self->c, message, &length, WEFT_FOREVER), EPIPE);
  else
    EQUAL(weft_channel_send(self->c, message, length, WEFT_FOREVER), EPIPE);
  return NULL;
}

/* A channel of capacity 0: what is refused, giving up, the end, and threads. */
static void hands_on(void) {
  const int32_t codecs[] = {WEFT_CHANNEL_I32, WEFT_CHANNEL_BINARY,
                            WEFT_CHANNEL_VALUE};
  for (int way = 0; way < 3; way++) {
    weft_channel_config config = config_of(codecs[way], 0);
    weft_channel *c = made(config);
    int32_t size = way == 0 ? 4 : 16;
    EQUAL(weft_channel_capacity(c), 0);
    EQUAL(weft_channel_max_length(c), size);
    CHECK(WEFT_CHANNEL_BYTES(WEFT_CHANNEL_I32, 0, 0) ==
          weft_channel_bytes(config_of(WEFT_CHANNEL_I32, 0)));
    CHECK(WEFT_CHANNEL_BYTES(WEFT_CHANNEL_VALUE, 0, 16) ==
          weft_channel_bytes(config_of(WEFT_CHANNEL_VALUE, 0)));
    int32_t message[4] = {7, 7, 7, 7};
    int32_t length = 17;
    void *at = NULL;
    UNCHANGED(c, weft_channel_bytes(config),
              weft_channel_send(c, message, length, 0), EINVAL);
    length = size;
    UNCHANGED(c, weft_channel_bytes(config),
              weft_channel_try_send(c, message, length), EBUSY);
    UNCHANGED(c, weft_channel_bytes(config),
              weft_channel_try_receive(c, message, &length), EBUSY);
    UNCHANGED(c, weft_channel_bytes(config),
              weft_channel_try_reserve(c, 4, &at), EINVAL);
    EQUAL(weft_channel_send(c, message, length, 1000), ETIMEDOUT);
    EQUAL(weft_channel_receive(c, message, &length, 1000), ETIMEDOUT);
    enum { COUNT = 2000 };
    pthread_t ids[2];
    hander senders[2];
    int32_t next[2] = {0, 0};
    for (int32_t i = 0; i < 2; i++) {
      hander sender = {c, i, COUNT};
      senders[i] = sender;
    }
    start_threads(ids, 2, hand_all, senders, sizeof(hander));
    for (int i = 0; i < 2 * COUNT; i++) {
      length = 16;
      int result = i % 2 == 0 ? weft_channel_try_receive(c, message, &length)
                              : weft_channel_receive(c, message, &length, 1000);
      if (result != 0)
        EQUAL(weft_channel_receive(c, message, &length, WEFT_FOREVER), 0);
      EQUAL(length, size);
      int32_t number = way == 0 ? message[0] % 4 : message[3];
      EQUAL(way == 0 ? message[0] / 4 : message[0], next[number]++);
    }
    join_threads(ids, 2);
    for (int32_t sends = 0; sends < 2; sends++) {
      c = made(config);
      for (int i = 0; i < 2; i++) senders[i].count = sends;
      start_threads(ids, 2, hand_none, senders, sizeof(hander));
      const int32_t waits = sends ? 3 : 0x1f8; /* a message, or offers */
      while ((weft__load(&c->handoff) & waits) == 0) pause_ms(1);
      weft_channel_close(c);
      join_threads(ids, 2);
      EQUAL(weft__load(&c->handoff) & 3, 0);
    }
    length = 16;
    EQUAL(weft_channel_send(c, message, size, WEFT_FOREVER), EPIPE);
    EQUAL(weft_channel_receive(c, message, &length, WEFT_FOREVER), EPIPE);
    c->place = 2;
    CHECK(weft_channel_attach(arena) == NULL);
  }
}

/* What an agent left that was terminated at capacity 0. */
static void handed_by_the_dead(void) {
  const int32_t left[3] = {0, 8, 2}; /* the writer, an offer, a message */
  for (int way = 0; way < 6; way++) {
    weft_channel_config config = config_of(WEFT_CHANNEL_I32, 0);
    weft_channel *c = made(config);
    int32_t value = 5, got = 0, length = 4;
    c->writer = way % 3 == 0 ? 77 : 0;
    c->handoff = left[way % 3];
    *weft__channel_place(c) = 9;
    if (way % 3 == 0) EQUAL(weft_channel_send(c, &value, 4, MS), ETIMEDOUT);
    if (way < 3) {
      EQUAL(weft_channel_abandon(c, 0), 0);
      EQUAL(weft_channel_abandon(c, 77), way == 0 ? 1 : 0);
    } else {
      const int32_t dead = 77;
      const weft_part part = {WEFT_PART_BY_HEAD, c};
      weft_finding found = {-1, 0, 0, 0};
      EQUAL(weft_recover(&dead, 1, &part, 1, &found, 1), way == 3 ? 1 : 0);
      if (way == 3) {
        EQUAL(found.what, WEFT_RECORDS_SKIPPED);
        EQUAL(found.id, 77);
        EQUAL(found.count, 1);
      }
    }
    EQUAL(weft_channel_try_send(c, &value, 4), EBUSY);
    int result = weft_channel_try_receive(c, &got, &length);
    EQUAL(result, way % 3 == 2 ? 0 : EBUSY);
    EQUAL(got, way % 3 == 2 ? 9 : 0);
    EQUAL(c->handoff & 0x1fb, 0);
    EQUAL(c->writer, 0);
  }
}

/* As many offers as fit: no other one is made, and none is given back. */
static void offers_are_full(void) {
  weft_channel *c = made(config_of(WEFT_CHANNEL_I32, 0));
  int32_t since = -1, state = 0, full = 63 << 3;
  c->handoff = full;
  weft__handoff_offer(c, &since);
  EQUAL(since, -1);
  EQUAL(c->handoff, full);
  c->handoff = full | WEFT__HANDOFF_HANDED;
  EQUAL(weft__handoff_look_in(c, -1, &state), EBUSY); /* it is another's */
  EQUAL(weft__handoff_look_in(c, 0, &state), 0);
  c->handoff = (62 << 3) | WEFT__HANDOFF_HANDED;
  EQUAL(weft__handoff_look_in(c, -1, &state), 0);
  EQUAL(weft__handoff_without(state, -1), full);
}

int main(void) {
  RUN(codecs);
  RUN(handed_by_the_dead);
  RUN(offers_are_full);
  RUN(structs);
  RUN(refused);
  RUN(abandoned);
  RUN(ends);
  RUN(visits);
  RUN(in_place);
  RUN(threads);
  RUN(hands_on);
  puts("done");
  return 0;
}

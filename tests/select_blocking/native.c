/* weft_select and weft_wait_any: each arm, errors, and threads that take from
   two queues and add to a third: the argument says how many elements each
   pushes, in thousands. */
#define _POSIX_C_SOURCE 200809L
#include <weft/select_blocking.h>

#include "check.h"

static int32_t amount = 20000;

static int32_t at_a[WEFT_MPMC_QUEUE_BYTES(2, 4) / 4];
static int32_t at_b[WEFT_MPMC_QUEUE_BYTES(2, 4) / 4];
static int32_t at_s[WEFT_SPSC_QUEUE_BYTES(2, 4) / 4];
static int32_t at_t[WEFT_SPSC_QUEUE_BYTES(2, 4) / 4];

static weft_mpmc_queue *a, *b;
static weft_spsc_queue *s, *t;

static void begin(void) {
  const weft_queue_config config = {2, 4};
  a = weft_mpmc_queue_init(at_a, sizeof at_a, config);
  b = weft_mpmc_queue_init(at_b, sizeof at_b, config);
  s = weft_spsc_queue_init(at_s, sizeof at_s, config);
  t = weft_spsc_queue_init(at_t, sizeof at_t, config);
  CHECK(a != NULL && b != NULL && s != NULL && t != NULL);
}

/* Each kind of arm, when it can be done and when it cannot. */
static void arms(void) {
  begin();
  int32_t value = 0, seven = 7, index = 9;
  weft_arm takes[2] = {weft_mpmc_queue_popping(a, &value),
                       weft_spsc_queue_popping(s, &value)};
  EQUAL(weft_select(takes, 2, 0, &index), ETIMEDOUT);
  EQUAL(index, -1);
  EQUAL(weft_select(takes, 2, MS, &index), ETIMEDOUT);
  EQUAL(weft_wait_any(takes, 2, MS, &index), ETIMEDOUT);
  EQUAL(weft_spsc_queue_try_push_int(s, 5), 0);
  EQUAL(weft_wait_any(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 1);
  EQUAL(weft_select(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 1);
  EQUAL(value, 5);
  EQUAL(weft_mpmc_queue_try_push_int(a, 6), 0);
  EQUAL(weft_wait_any(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 0);
  EQUAL(weft_select(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 0);
  EQUAL(value, 6);
  weft_arm adds[2] = {weft_mpmc_queue_pushing(b, &seven),
                      weft_spsc_queue_pushing(t, &seven)};
  for (int32_t i = 0; i < 4; i++) {
    EQUAL(weft_select_first(adds, 2, MS, &index), 0);
    EQUAL(index, i / 2);
  }
  EQUAL(weft_select_first(adds, 2, MS, &index), ETIMEDOUT);
  EQUAL(weft_spsc_queue_try_pop_int(t, &value), 0);
  EQUAL(value, 7);
  EQUAL(weft_select(adds, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 1);
  EQUAL(weft_mpmc_queue_try_pop_int(b, &value), 0);
  EQUAL(weft_select(adds, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 0);
  weft_mpmc_queue_close(b);
  weft_spsc_queue_close(s);
  EQUAL(weft_select_first(adds, 2, 0, &index), EPIPE);
  EQUAL(index, 0);
  EQUAL(weft_select(takes, 2, WEFT_FOREVER, &index), EPIPE);
  EQUAL(index, 1);
  EQUAL(weft_wait_any(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 1);
}

/* Channels whose messages have one size; those of others are refused. */
static void channels(void) {
  begin();
  static int32_t at_c[WEFT_CHANNEL_BYTES(WEFT_CHANNEL_RECORD, 1, 6) / 4];
  static int32_t at_d[WEFT_CHANNEL_BYTES(WEFT_CHANNEL_TEXT, 1, 16) / 4];
  const weft_channel_config records = {WEFT_CHANNEL_RECORD, 1, 6, 0, 0};
  const weft_channel_config texts = {WEFT_CHANNEL_TEXT, 1, 16, 0, 0};
  weft_channel *c = weft_channel_init(at_c, sizeof at_c, records);
  weft_channel *d = weft_channel_init(at_d, sizeof at_d, texts);
  CHECK(c != NULL && d != NULL);
  EQUAL(weft_channel_max_length(c), 8);
  const char sent[8] = {'w', 'e', 'f', 't', '!', 1, 0, 0};
  char got[8] = {0};
  int32_t value = 0, index = 9, length = 8;
  weft_arm takes[2] = {weft_mpmc_queue_popping(a, &value),
                       weft_channel_receiving(c, got)};
  weft_arm adds[2] = {weft_channel_sending(c, sent),
                      weft_mpmc_queue_pushing(a, &index)};
  EQUAL(weft_select(takes, 2, MS, &index), ETIMEDOUT);
  EQUAL(weft_select_first(adds, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 0);
  EQUAL(weft_select_first(adds, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 1);
  EQUAL(weft_mpmc_queue_try_pop_int(a, &value), 0);
  EQUAL(weft_wait_any(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 1);
  EQUAL(weft_select(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 1);
  CHECK(memcmp(sent, got, 8) == 0);
  EQUAL(weft_channel_send(c, sent, 6, MS), 0);
  EQUAL(weft_select(takes, 2, WEFT_FOREVER, &index), 0);
  CHECK(memcmp(sent, got, 5) == 0);
  EQUAL(weft_select_first(adds, 1, MS, &index), 0);
  EQUAL(weft_channel_try_receive(c, got, &length), 0);
  EQUAL(length, 8);
  weft_channel_close(c);
  EQUAL(weft_select_first(adds, 2, WEFT_FOREVER, &index), EPIPE);
  EQUAL(index, 0);
  EQUAL(weft_select(takes, 2, WEFT_FOREVER, &index), EPIPE);
  EQUAL(index, 1);
  weft_arm wrong[2] = {weft_channel_receiving(d, got),
                       weft_channel_sending(d, sent)};
  for (int32_t i = 0; i < 2; i++)
    UNCHANGED(at_d, sizeof at_d, weft_select(wrong + i, 1, MS, &index), EINVAL);
}

/* A LockFreeQueue and a RecordRing. */
static void others(void) {
  static int32_t at_f[WEFT_LOCK_FREE_QUEUE_BYTES(1, 4) / 4];
  static int32_t at_r[WEFT_RECORD_RING_BYTES(32) / 4];
  const weft_queue_config one = {1, 4};
  weft_lock_free_queue *f = weft_lock_free_queue_init(at_f, sizeof at_f, one);
  const weft_record_ring_config small = {32, false, false, 0};
  weft_record_ring *r = weft_record_ring_init(at_r, sizeof at_r, small);
  CHECK(f != NULL && r != NULL);
  int32_t value = 0, seven = 7, index = 9, length = 8;
  char got[8] = {0};
  weft_arm takes[2] = {weft_lock_free_queue_popping(f, &value),
                       weft_record_ring_popping(r, got, &length)};
  weft_arm adds[2] = {weft_lock_free_queue_pushing(f, &seven),
                      weft_record_ring_pushing(r, "weft", 4)};
  EQUAL(weft_select(takes, 2, MS, &index), ETIMEDOUT);
  EQUAL(weft_wait_any(takes, 2, MS, &index), ETIMEDOUT);
  for (int32_t i = 0; i < 3; i++) {
    EQUAL(weft_select_first(adds, 2, MS, &index), 0);
    EQUAL(index, i > 0);
  }
  EQUAL(weft_select(adds, 2, MS, &index), ETIMEDOUT);
  for (int32_t i = 0; i < 2; i++) {
    EQUAL(weft_wait_any(takes + i, 1, WEFT_FOREVER, &index), 0);
    EQUAL(weft_select(takes + i, 1, WEFT_FOREVER, &index), 0);
    EQUAL(weft_select(adds, 2, WEFT_FOREVER, &index), 0);
    EQUAL(index, i);
  }
  EQUAL(value, 7);
  EQUAL(length, 4);
  CHECK(memcmp(got, "weft", 4) == 0);
  length = 3;
  EQUAL(weft_select(takes + 1, 1, WEFT_FOREVER, &index), EINVAL);
  EQUAL(index, 0);
  length = 8;
  EQUAL(weft_select(takes + 1, 1, WEFT_FOREVER, &index), 0);
  weft_arm long_one = weft_record_ring_pushing(r, at_f, 25);
  EQUAL(weft_select(&long_one, 1, WEFT_FOREVER, &index), EINVAL);
  weft_lock_free_queue_close(f);
  EQUAL(weft_select_first(adds, 2, WEFT_FOREVER, &index), EPIPE);
  EQUAL(weft_select_first(takes, 1, WEFT_FOREVER, &index), 0);
  EQUAL(weft_select_first(takes, 1, WEFT_FOREVER, &index), EPIPE);
  EQUAL(weft_wait_any(takes, 1, WEFT_FOREVER, &index), 0);
  weft_record_ring_close(r);
  EQUAL(weft_select(takes + 1, 1, WEFT_FOREVER, &index), 0);
  EQUAL(weft_select(takes + 1, 1, WEFT_FOREVER, &index), EPIPE);
  EQUAL(weft_wait_any(takes + 1, 1, WEFT_FOREVER, &index), 0);
  EQUAL(weft_select(adds + 1, 1, WEFT_FOREVER, &index), EPIPE);
}

/* Channels whose messages differ in length, with room and without. */
static void lengths(void) {
  static int32_t at_c[WEFT_CHANNEL_BYTES(WEFT_CHANNEL_TEXT, 1, 16) / 4];
  static int32_t at_d[WEFT_CHANNEL_BYTES(WEFT_CHANNEL_TEXT, 0, 16) / 4];
  static int32_t at_e[WEFT_CHANNEL_BYTES(WEFT_CHANNEL_I32, 1, 4) / 4];
  const weft_channel_config config = {WEFT_CHANNEL_TEXT, 1, 16, 0, 0};
  const weft_channel_config no_room = {WEFT_CHANNEL_TEXT, 0, 16, 0, 0};
  const weft_channel_config numbers = {WEFT_CHANNEL_I32, 1, 0, 0, 0};
  weft_channel *c = weft_channel_init(at_c, sizeof at_c, config);
  weft_channel *d = weft_channel_init(at_d, sizeof at_d, no_room);
  weft_channel *e = weft_channel_init(at_e, sizeof at_e, numbers);
  CHECK(c != NULL && d != NULL && e != NULL);
  char got[16] = {0};
  int32_t index = 9, length = 16;
  weft_arm takes[2] = {weft_channel_receiving_bytes(c, got, &length),
                       weft_channel_receiving_bytes(d, got, &length)};
  weft_arm adds[2] = {weft_channel_sending_bytes(c, "weft!", 5),
                      weft_channel_sending_bytes(d, "", 0)};
  EQUAL(weft_select(takes, 2, MS, &index), ETIMEDOUT);
  EQUAL(weft_select(adds, 2, MS, &index), 0);
  EQUAL(index, 0);
  EQUAL(weft_select(adds, 2, MS, &index), ETIMEDOUT);
  EQUAL(weft_wait_any(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 0);
  EQUAL(weft_select(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 0);
  EQUAL(length, 5);
  CHECK(memcmp(got, "weft!", 5) == 0);
  weft_arm wrong[2] = {weft_channel_receiving_bytes(e, got, &length),
                       weft_channel_sending_bytes(e, got, 4)};
  for (int32_t i = 0; i < 2; i++)
    UNCHANGED(at_e, sizeof at_e, weft_select(wrong + i, 1, MS, &index), EINVAL);
}

static int32_t at_h[WEFT_CHANNEL_BYTES(WEFT_CHANNEL_I32, 0, 0) / 4];
static int32_t at_i[WEFT_CHANNEL_BYTES(WEFT_CHANNEL_I32, 0, 0) / 4];
static weft_channel *h, *k;

enum { HANDED = 2000 };

/* Selects from two channels without room, until one is closed. */
static void *take_handed(void *argument) {
  int64_t *sum = (int64_t *)argument;
  int32_t value = 0, index = 0;
  weft_arm takes[2] = {weft_channel_receiving(h, &value),
                       weft_channel_receiving(k, &value)};
  int result = 0;
  while ((result = weft_select(takes, 2, WEFT_FOREVER, &index)) == 0)
    *sum += value;
  EQUAL(result, EPIPE);
  return NULL;
}

/* Channels without room: each message is handed over once. */
static void handed(void) {
  const weft_channel_config config = {WEFT_CHANNEL_I32, 0, 0, 0, 0};
  h = weft_channel_init(at_h, sizeof at_h, config);
  k = weft_channel_init(at_i, sizeof at_i, config);
  CHECK(h != NULL && k != NULL);
  int32_t value = 0, seven = 7, index = 9, length = 4;
  weft_arm takes[2] = {weft_channel_receiving(h, &value),
                       weft_channel_receiving(k, &value)};
  weft_arm adds[2] = {weft_channel_sending(h, &seven),
                      weft_channel_sending(k, &seven)};
  weft_arm both[2] = {weft_channel_sending(h, &seven),
                      weft_channel_receiving(h, &value)};
  UNCHANGED(at_h, sizeof at_h, weft_select(both, 2, MS, &index), EINVAL);
  UNCHANGED(at_h, sizeof at_h, weft_wait_any(adds, 2, MS, &index), EINVAL);
  EQUAL(weft_select(takes, 2, 0, &index), ETIMEDOUT);
  EQUAL(weft_select(takes, 2, MS, &index), ETIMEDOUT);
  EQUAL(weft_select(adds, 2, MS, &index), ETIMEDOUT);
  EQUAL(weft_wait_any(takes, 2, MS, &index), ETIMEDOUT);
  EQUAL(h->handoff, 0);
  EQUAL(k->handoff, 0);
  h->handoff = 8; /* a receiver waits */
  EQUAL(weft_select(adds, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 0);
  EQUAL(weft_wait_any(takes, 2, WEFT_FOREVER, &index), 0);
  EQUAL(index, 0);
  EQUAL(weft_channel_try_receive(h, &value, &length), 0);
  EQUAL(value, 7);
  h->handoff = 0;
  pthread_t threads[2];
  int64_t sums[2] = {0, 0}, sum = 0;
  start_threads(threads, 2, take_handed, sums, sizeof *sums);
  for (int32_t n = 1; n <= HANDED; n++) {
    weft_arm arms[2] = {weft_channel_sending(h, &n),
                        weft_channel_sending(k, &n)};
    if (n % 3 == 0)
      EQUAL(weft_channel_send(n % 2 ? h : k, &n, 4, WEFT_FOREVER), 0);
    else
      EQUAL(weft_select(arms, 2, WEFT_FOREVER, &index), 0);
    sum += n;
  }
  /* An arm that finds the end leaves what was handed to another one. */
  while (((weft__load(&h->handoff) | weft__load(&k->handoff)) & 3) != 0)
    sched_yield();
  weft_channel_close(h);
  join_threads(threads, 2);
  EQUAL(sums[0] + sums[1], sum);
  EQUAL(k->handoff & 0x1fb, 0);
  EQUAL(weft_select_first(takes, 2, 0, &index), EPIPE);
  EQUAL(index, 0);
}

/* A start at random; with _first, in the order of the list. */
static void order(void) {
  begin();
  int32_t counts[2] = {0, 0}, value = 0, index = 0;
  weft_arm takes[2] = {weft_mpmc_queue_popping(a, &value),
                       weft_mpmc_queue_popping(b, &value)};
  for (int32_t i = 0; i < 200; i++) {
    while (weft_mpmc_queue_try_push_int(a, i) == 0) continue;
    while (weft_mpmc_queue_try_push_int(b, i) == 0) continue;
    EQUAL(weft_select(takes, 2, 0, &index), 0);
    counts[index]++;
    while (weft_mpmc_queue_try_push_int(a, i) == 0) continue;
    EQUAL(weft_select_first(takes, 2, 0, &index), 0);
    EQUAL(index, 0);
  }
  CHECK(counts[0] >= 20 && counts[1] >= 20);
}

static void refused(void) {
  begin();
  int32_t value = 0, index = 0;
  weft_arm takes[2] = {weft_mpmc_queue_popping(a, &value),
                       weft_spsc_queue_popping(s, &value)};
  UNCHANGED(at_a, sizeof at_a, weft_select(takes, 0, 0, &index), EINVAL);
  UNCHANGED(at_a, sizeof at_a, weft_select(takes, -1, 0, &index), EINVAL);
  weft_arm wrong[2] = {takes[0], takes[1]};
  wrong[1].act = NULL;
  UNCHANGED(at_a, sizeof at_a, weft_select(wrong, 2, 0, &index), EINVAL);
  wrong[1] = weft_mpmc_queue_pushing(b, &value);
  UNCHANGED(at_a, sizeof at_a, weft_wait_any(wrong, 2, 0, &index), EINVAL);
  weft_agent_set_blocking(false);
  UNCHANGED(at_a, sizeof at_a, weft_select(takes, 2, 0, &index), EPERM);
  weft_agent_set_blocking(true);
  s->consumer = weft_agent_id() ^ 1;
  UNCHANGED(at_s, sizeof at_s, weft_select_first(takes + 1, 1, MS, &index),
            EPERM);
  EQUAL(index, 0);
  s->consumer = 0;
#if WEFT__GONG_LINKS
  a->pop_gong = 2; /* no gong has this value */
  UNCHANGED(at_a, sizeof at_a, weft_select(takes, 2, MS, &index),
            ENOTRECOVERABLE);
#endif
  a->pop_gong = 0x7fffffff; /* a wake does not go where it leads */
  a->pop_waiters = 1;
  EQUAL(weft_mpmc_queue_try_push_int(a, 1), 0);
}

/* Half of its elements go to `a`, by select to `a` or `b`; or all to `s`. */
static void *produce(void *argument) {
  bool single = argument != NULL;
  int32_t index = 0;
  for (int32_t i = 1; i <= amount; i++) {
    weft_arm adds[2] = {weft_mpmc_queue_pushing(a, &i),
                        weft_mpmc_queue_pushing(b, &i)};
    if (single)
      EQUAL(weft_spsc_queue_push_int(s, i, WEFT_FOREVER), 0);
    else if (i % 2 == 0)
      EQUAL(weft_mpmc_queue_push_int(a, i, WEFT_FOREVER), 0);
    else
      EQUAL(weft_select(adds, 2, WEFT_FOREVER, &index), 0);
  }
  if (single) weft_spsc_queue_close(s);
  return NULL;
}

/* Takes from `a` and `b`, or also from `s` and adds each to `t`; *argument is
   the sum. */
static void *consume(void *argument) {
  int64_t *sum = (int64_t *)argument;
  bool single = *sum != 0;
  *sum = 0;
  uint32_t seed = 77;
  for (int32_t open = single ? 7 : 3; open != 0;) {
    weft_arm takes[3];
    int32_t values[3] = {0, 0, 0}, which[3] = {0, 0, 0}, n = 0, index = 0;
    for (int32_t i = 0; i < 3; i++) {
      if ((open & 1 << i) == 0) continue;
      which[n] = i;
      takes[n] = i == 2   ? weft_spsc_queue_popping(s, &values[n])
                 : i == 1 ? weft_mpmc_queue_popping(b, &values[n])
                          : weft_mpmc_queue_popping(a, &values[n]);
      n++;
    }
    int64_t timeout = random_below(&seed, 3) == 0 ? 1000 : WEFT_FOREVER;
    int result = weft_select(takes, n, timeout, &index);
    if (result == ETIMEDOUT) continue;
    if (result == EPIPE) {
      open &= ~(1 << which[index]);
      continue;
    }
    EQUAL(result, 0);
    *sum += values[index];
  }
  return NULL;
}

static void threads(void) {
  begin();
  pthread_t producers[3], consumers[3];
  int64_t sums[3] = {0, 0, 1};
  for (int i = 0; i < 3; i++)
    CHECK(pthread_create(&consumers[i], NULL, consume, &sums[i]) == 0);
  for (int i = 0; i < 3; i++)
    CHECK(pthread_create(&producers[i], NULL, produce,
                         i == 2 ? &amount : NULL) == 0);
  for (int i = 0; i < 3; i++) pthread_join(producers[i], NULL);
  weft_mpmc_queue_close(a);
  weft_mpmc_queue_close(b);
  for (int i = 0; i < 3; i++) pthread_join(consumers[i], NULL);
  int64_t each = (int64_t)amount * (amount + 1) / 2;
  EQUAL(sums[0] + sums[1] + sums[2], 3 * each);
  EQUAL(a->pop_waiters, 0);
  EQUAL(b->push_waiters, 0);
}

int main(int argc, char **argv) {
  if (argc > 1) amount = atoi(argv[1]) * 1000;
  RUN(arms);
  RUN(channels);
  RUN(others);
  RUN(lengths);
  RUN(handed);
  RUN(order);
  RUN(refused);
  RUN(threads);
  printf("done\n");
  return 0;
}

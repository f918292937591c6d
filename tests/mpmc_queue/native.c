/* weft_mpmc_queue: against a model where its tickets wrap, errors, and threads:
   the argument says how many elements each pushes, in thousands. */
#define _POSIX_C_SOURCE 200809L
#include <weft/mpmc_queue.h>

#define QUEUE(name) weft_mpmc_queue_##name
#define QUEUE_TYPE weft_mpmc_queue
#include "_queue/native.h"
#include "_queue/wind.h"

static int32_t amount = 20000;

static void wind(weft_mpmc_queue *q, int32_t start) {
  wind_mpmc_queue(q, start);
}

static int commit(weft_mpmc_queue *q, void *slot) {
  weft_mpmc_queue_commit(q, slot);
  return 0;
}

static void consume(weft_mpmc_queue *q, void *slot) {
  weft_mpmc_queue_consume(q, slot);
}

static int32_t put_in_place(weft_mpmc_queue *q, const uint8_t *in,
                            int32_t wanted, int32_t size) {
  (void)wanted;
  void *slot = weft_mpmc_queue_reserve(q);
  memcpy(slot, in, (size_t)size);
  weft_mpmc_queue_commit(q, slot);
  return 1;
}

static size_t short_bytes(int32_t capacity, int32_t size) {
  (void)size; /* each has a slot of 16 bytes */
  return 640 + (size_t)capacity * 16;
}

static void short_elements(void) {
  const weft_queue_config more = {(1 << 28) + 1, 1}, most = {1 << 28, 1};
  EQUAL(weft_mpmc_queue_bytes(more), 0);
  EQUAL(weft_mpmc_queue_bytes(most), 640 + ((size_t)1 << 32));
  short_elements_in(short_bytes);
}

static void lengths(void) {
  const struct {
    weft_queue_config config;
    int32_t capacity;
    size_t bytes;
  } rows[] = {
      {{1, 4}, 1, 640 + 16},
      {{3, 4}, 4, 640 + 64},
      {{4, 8}, 4, 640 + 64},
      {{5, 12}, 8, 640 + 192},
      {{8, 64}, 8, 640 + 8 * 72},
      {{1 << 28, 4}, 1 << 28, 640 + ((size_t)1 << 32)},
      {{1, 1 << 30}, 1, 640 + (1u << 30) + 8},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    length(rows[i].config, rows[i].capacity, rows[i].bytes);
    if (rows[i].bytes > sizeof arena - 8) continue;
    /* Elements lie at multiples of 8 bytes from the queue's place. */
    weft_mpmc_queue *m =
        weft_mpmc_queue_init(arena + 1, sizeof arena - 4, rows[i].config);
    for (int32_t n = 0; n < rows[i].capacity; n++) {
      void *slot = weft_mpmc_queue_reserve(m);
      EQUAL(((char *)slot - (char *)m) % 8, 0);
      weft_mpmc_queue_commit(m, slot);
    }
  }
}

/* Closed between reserve and commit: the producer has its ticket. */
static void close_while_reserved(void) {
  const weft_queue_config config = {4, 4};
  int32_t value = 0;
  weft_mpmc_queue *m = weft_mpmc_queue_init(arena, sizeof arena, config);
  int32_t *slot = (int32_t *)weft_mpmc_queue_reserve(m);
  *slot = 9;
  weft_mpmc_queue_close(m);
  EQUAL(weft_mpmc_queue_try_pop_int(m, &value), EBUSY);
  weft_mpmc_queue_commit(m, slot);
  EQUAL(weft_mpmc_queue_try_pop_int(m, &value), 0);
  EQUAL(value, 9);
  EQUAL(weft_mpmc_queue_try_pop_int(m, &value), EPIPE);
}

/* A dead agent is noticed where tickets become negative, too. */
static void stuck_where_tickets_wrap(void) {
  const weft_queue_config config = {2, 4};
  for (int32_t before = 0; before <= 8; before += 2) {
    weft_mpmc_queue *m = weft_mpmc_queue_init(arena, sizeof arena, config);
    wind(m, weft__minus(INT32_MIN, before));
    EQUAL(weft__mpmc_stuck(m, true), -1);
    CHECK(weft_mpmc_queue_reserve(m) != NULL); /* a producer died */
    EQUAL(weft__mpmc_stuck(m, false), (uint32_t)m->head);
    wind(m, weft__minus(INT32_MIN, before));
    for (int32_t i = 0; i < 2; i++) {
      CHECK(!weft__mpmc_poppable(m) || i > 0);
      EQUAL(weft_mpmc_queue_try_push_int(m, i), 0);
      CHECK(weft__mpmc_poppable(m));
    }
    EQUAL(weft__mpmc_stuck(m, true), -1); /* it is only full */
    CHECK(weft_mpmc_queue_peek(m) != NULL); /* a consumer died */
    EQUAL(weft__mpmc_stuck(m, true), (uint32_t)m->tail);
    EQUAL(weft__mpmc_stuck(m, false), -1);
  }
}

/* Slots of several agents are committed and consumed in any order. */
static void mpmc_slots_out_of_order(void) {
  const weft_queue_config config = {4, 8};
  weft_mpmc_queue *m = weft_mpmc_queue_init(arena, sizeof arena, config);
  int32_t *a = (int32_t *)weft_mpmc_queue_reserve(m);
  int32_t *b = (int32_t *)weft_mpmc_queue_reserve(m);
  a[0] = a[1] = 1;
  b[0] = b[1] = 2;
  weft_mpmc_queue_commit(m, b);
  CHECK(weft_mpmc_queue_peek(m) == NULL); /* a is not published yet */
  weft_mpmc_queue_commit(m, a);
  int32_t *first = (int32_t *)weft_mpmc_queue_peek(m);
  int32_t *second = (int32_t *)weft_mpmc_queue_peek(m);
  CHECK(first == a && second == b);
  weft_mpmc_queue_consume(m, second);
  int32_t filled = 0;
  for (; weft_mpmc_queue_try_push(m, scratch) == 0; filled++) {
  }
  EQUAL(filled, 2); /* b's slot is free, but stands behind a's */
  weft_mpmc_queue_consume(m, first);
  for (; weft_mpmc_queue_try_push(m, scratch) == 0; filled++) {
  }
  EQUAL(filled, 4);
}

#define MOST_PRODUCERS 3

static void *mpmc_produce(void *argument) {
  side *self = (side *)argument;
  int32_t base = self->number * amount;
  for (int32_t next = 0; next < amount;)
    next += push_by(random_below(&self->seed, FORMS), self, base + next,
                    amount - next);
  return NULL;
}

static void *mpmc_consume(void *argument) {
  side *self = (side *)argument;
  int32_t elements[BATCH * MOST_WORDS];
  int32_t last[MOST_PRODUCERS] = {-1, -1, -1};
  int32_t words = self->words;
  for (;;) {
    int32_t count = pop_by(random_below(&self->seed, FORMS), self, elements);
    if (count < 0) return NULL;
    for (int32_t i = 0; i < count; i++) {
      const int32_t *at = elements + i * words;
      check_whole(at, words);
      int32_t producer = at[0] / amount, number = at[0] % amount;
      CHECK(number > last[producer]);
      last[producer] = number;
      EQUAL(shared_add(&self->seen[at[0]], 1), 1);
    }
  }
}

static void mpmc_run(int c, int32_t start, int producers, int consumers) {
  weft_mpmc_queue *q = weft_mpmc_queue_init(arena, sizeof arena, CONFIGS[c]);
  int32_t total = producers * amount;
  int32_t *seen = (int32_t *)calloc((size_t)total, sizeof *seen);
  int32_t from = weft__minus(start, total / 2 * 2) & ~1;
  q->head = q->tail = from;
  q->pop_epoch = q->push_epoch = start;
  for (int32_t i = 0; i < q->capacity; i++) {
    int32_t ticket = weft__plus(from, 2 * i);
    *weft__mpmc_slot(q, ticket) = ticket;
  }
  side sides[2 * MOST_PRODUCERS];
  pthread_t threads[2 * MOST_PRODUCERS];
  for (int i = 0; i < producers + consumers; i++) {
    sides[i].seed = (uint32_t)(1 + i + 7 * c);
    sides[i].queue = q;
    sides[i].words = CONFIGS[c].element_size / 4;
    sides[i].number = i;
    sides[i].seen = seen;
  }
  start_threads(threads, producers, mpmc_produce, sides, sizeof *sides);
  start_threads(threads + producers, consumers, mpmc_consume,
                sides + producers, sizeof *sides);
  join_threads(threads, producers);
  weft_mpmc_queue_close(q);
  join_threads(threads + producers, consumers);
  for (int32_t i = 0; i < total; i++) EQUAL(seen[i], 1);
  EQUAL(weft_mpmc_queue_size(q), 0);
  EQUAL(q->pop_waiters | q->push_waiters, 0);
  free(seen);
}

static void mpmc_loses_nothing(void) {
  const int sides[][2] = {{1, 1}, {2, 2}, {3, 1}, {1, 3}};
  for (int c = 0; c < CONFIGS_COUNT; c++)
    for (int s = 0; s < 4; s++)
      mpmc_run(c, STARTS[(c + s) % STARTS_COUNT], sides[s][0], sides[s][1]);
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  attaching(WEFT_KIND_mpmc_queue);
  RUN(init_refuses);
  RUN(short_elements);
  RUN(lengths);
  RUN(queues_by_turns);
  RUN(queue_errors);
  RUN(close_while_reserved);
  RUN(stuck_where_tickets_wrap);
  RUN(mpmc_slots_out_of_order);
  RUN(mpmc_loses_nothing);
  puts("close_wakes");
  close_wakes(THREADS);
  puts("done");
  return 0;
}

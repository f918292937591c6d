/* weft_spsc_queue: against a model where its indices wrap, errors, and threads:
   the argument says how many elements pass, in thousands. */
#define _POSIX_C_SOURCE 200809L
#include <weft/spsc_queue.h>

#define QUEUE(name) weft_spsc_queue_##name
#define QUEUE_TYPE weft_spsc_queue
#define QUEUE_LEAVE(q) (void)weft_spsc_queue_abandon(q, weft_agent_id())
#include "_queue/native.h"

static int32_t amount = 20000;

static void wind(weft_spsc_queue *q, int32_t start) {
  q->head = q->tail = q->head_cache = q->tail_cache = start & ~3;
}

static int commit(weft_spsc_queue *q, void *slot) {
  (void)slot;
  return weft_spsc_queue_commit(q);
}

static void consume(weft_spsc_queue *q, void *slot) {
  (void)slot;
  weft_spsc_queue_consume(q);
}

static void lengths(void) {
  const struct {
    weft_queue_config config;
    int32_t capacity;
    size_t bytes;
  } rows[] = {
      {{1, 1}, 1, 384 + 4},
      {{5, 1}, 8, 384 + 8},
      {{3, 2}, 4, 384 + 8},
      {{1 << 28, 1}, 1 << 28, 384 + (1u << 28)},
      {{1, 4}, 1, 384 + 4},
      {{3, 4}, 4, 384 + 16},
      {{4, 8}, 4, 384 + 32},
      {{5, 12}, 8, 384 + 96},
      {{8, 64}, 8, 384 + 512},
      {{1 << 28, 4}, 1 << 28, 384 + (1u << 30)},
      {{1, 1 << 30}, 1, 384 + (1u << 30)},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    length(rows[i].config, rows[i].capacity, rows[i].bytes);
  }
}

/* In two pieces, as many as there is room for. */
static int32_t put_in_place(weft_spsc_queue *q, const uint8_t *in,
                            int32_t wanted, int32_t size) {
  weft_pieces pieces = {NULL, NULL, 0, 0};
  int32_t count = weft_spsc_queue_reserve_many(q, wanted, &pieces);
  int32_t capacity = weft_spsc_queue_capacity(q);
  EQUAL(count, wanted < capacity ? wanted : capacity);
  size_t first = (size_t)(pieces.first_count * size);
  memcpy(pieces.first, in, first);
  memcpy(pieces.second, in + first, (size_t)(pieces.second_count * size));
  EQUAL(weft_spsc_queue_commit_many(q, count), 0);
  return count;
}

static size_t short_bytes(int32_t capacity, int32_t size) {
  return 384 + WEFT__MULTIPLE((size_t)(capacity * size), 4);
}

static void short_elements(void) { short_elements_in(short_bytes); }

/* Closed between reserve and commit: the producer is told. */
static void close_while_reserved(void) {
  const weft_queue_config config = {4, 4};
  int32_t value = 0;
  weft_spsc_queue *s = weft_spsc_queue_init(arena, sizeof arena, config);
  int32_t *slot = (int32_t *)weft_spsc_queue_reserve(s);
  *slot = 9;
  weft_spsc_queue_close(s);
  EQUAL(weft_spsc_queue_commit(s), EPIPE);
  EQUAL(weft_spsc_queue_try_pop_int(s, &value), EPIPE);
}

/* A second agent in a role is refused, until the first one is abandoned. */
static void roles(void) {
  const weft_queue_config config = {4, 4};
  int32_t value = 1;
  const int32_t first = weft_agent_id();
  weft_spsc_queue *s = weft_spsc_queue_init(arena, sizeof arena, config);
  EQUAL(weft_spsc_queue_try_push_int(s, 1), 0);
  EQUAL(weft_spsc_queue_try_push_int(s, 2), 0);
  EQUAL(weft_spsc_queue_try_pop_int(s, &value), 0);
  EQUAL(weft_agent_set_id(first == 5 ? 6 : 5), 0);
  UNCHANGED(arena, 1024, weft_spsc_queue_try_push_int(s, 1), EPERM);
  UNCHANGED(arena, 1024, weft_spsc_queue_try_push(s, &value), EPERM);
  UNCHANGED(arena, 1024, weft_spsc_queue_push_int(s, 1, WEFT_FOREVER), EPERM);
  UNCHANGED(arena, 1024, weft_spsc_queue_try_push_many(s, &value, 1), -EPERM);
  weft_pieces pieces;
  CHECK(weft_spsc_queue_reserve(s) == NULL);
  UNCHANGED(arena, 1024, weft_spsc_queue_reserve_many(s, 1, &pieces), -EPERM);
  UNCHANGED(arena, 1024, weft_spsc_queue_peek_many(s, 1, &pieces), -EPERM);
  UNCHANGED(arena, 1024, weft_spsc_queue_try_pop_int(s, &value), EPERM);
  UNCHANGED(arena, 1024, weft_spsc_queue_try_pop(s, &value), EPERM);
  UNCHANGED(arena, 1024, weft_spsc_queue_pop_int(s, &value, WEFT_FOREVER),
            EPERM);
  UNCHANGED(arena, 1024, weft_spsc_queue_try_pop_many(s, &value, 1), -EPERM);
  CHECK(weft_spsc_queue_peek(s) == NULL);
  EQUAL(weft_spsc_queue_abandon(s, first), 2);
  EQUAL(weft_spsc_queue_abandon(s, first), 0);
  EQUAL(weft_spsc_queue_abandon(s, 0), 0); /* nobody has a role */
  EQUAL(weft_spsc_queue_try_push_int(s, 3), 0);
  EQUAL(weft_spsc_queue_try_pop_int(s, &value), 0);
  EQUAL(value, 2);
  EQUAL(weft_agent_set_id(first), 0);
}

#if WEFT__SPSC_BELLS
/* A step that comes after the consumer has seen the end is taken back. */
static void step_after_the_end(void) {
  const weft_queue_config config = {4, 4};
  int32_t value = 0;
  weft_spsc_queue *s = weft_spsc_queue_init(arena, sizeof arena, config);
  EQUAL(weft_spsc_queue_try_push_int(s, 7), 0);
  weft_spsc_queue_close(s);
  EQUAL(weft_spsc_queue_try_pop_int(s, &value), 0);
  EQUAL(weft_spsc_queue_try_pop_int(s, &value), EPIPE);
  s->tail = 8;
  EQUAL(weft__bell_answer(&s->tail, &s->tail_bell, 4, 8), EPIPE);
  EQUAL(weft_spsc_queue_size(s), 0);
  EQUAL(weft__bell_answer(&s->tail, &s->tail_bell, 0, 4), 0);
  EQUAL(weft_spsc_queue_try_pop_int(s, &value), EPIPE);
}
#endif

#ifdef WEFT__ACTS
/* An agent leaves out its fences only if it has the role, and knows that the
   system runs them; a new id has no role. */
static void acts_only_with_fences(void) {
  const weft_queue_config config = {4, 4};
  weft_spsc_queue *q = weft_spsc_queue_init(arena, sizeof arena, config);
  const int32_t fences = weft__load(&weft__system_fences);
  const int32_t id = weft_agent_id();
  int32_t value = 0;
  EQUAL(weft_agent_set_id(id), 0);
  EQUAL(weft__acts(&q->producer), false);
  weft__store(&weft__system_fences, -1);
  EQUAL(weft_spsc_queue_try_push_int(q, 1), 0);
  EQUAL(weft_spsc_queue_try_pop_int(q, &value), 0);
  EQUAL(weft__acts(&q->producer), false);
  EQUAL(weft__acts(&q->consumer), false);
  weft__store(&weft__system_fences, fences);
  EQUAL(weft_spsc_queue_try_push_int(q, 2), 0);
  EQUAL(weft__acts(&q->producer), fences > 0);
  EQUAL(weft_spsc_queue_try_push_int(q, 3), 0);
  EQUAL(weft_agent_set_id(id == 1 ? 2 : id - 1), 0);
  EQUAL(weft__acts(&q->producer), false);
  EQUAL(weft_spsc_queue_try_push_int(q, 4), EPERM);
  EQUAL(weft_spsc_queue_try_pop_int(q, &value), EPERM);
  EQUAL(weft_agent_set_id(id), 0);
  EQUAL(weft_spsc_queue_try_pop_int(q, &value), 0);
  EQUAL(value, 2);
}
#endif

/* Where element `i` of several in place lies. */
static int32_t *in_pieces(const weft_pieces *pieces, int32_t i, int32_t words) {
  int32_t in_second = i - pieces->first_count;
  return in_second < 0 ? (int32_t *)pieces->first + i * words
                       : (int32_t *)pieces->second + in_second * words;
}

/* Several elements in place: errors, and two pieces. */
static void several_in_place(void) {
  const weft_queue_config config = {4, 4};
  weft_pieces pieces;
  weft_spsc_queue *s = weft_spsc_queue_init(arena, sizeof arena, config);
  UNCHANGED(arena, 1024, weft_spsc_queue_reserve_many(s, 0, &pieces), -EINVAL);
  UNCHANGED(arena, 1024, weft_spsc_queue_peek_many(s, -1, &pieces), -EINVAL);
  EQUAL(weft_spsc_queue_reserve_many(s, 3, &pieces), 3);
  for (int32_t i = 0; i < 3; i++) *in_pieces(&pieces, i, 1) = i;
  UNCHANGED(arena, 1024, weft_spsc_queue_commit_many(s, 5), EINVAL);
  UNCHANGED(arena, 1024, weft_spsc_queue_commit_many(s, -1), EINVAL);
  EQUAL(weft_spsc_queue_commit_many(s, 0), 0);
  EQUAL(weft_spsc_queue_size(s), 0);
  EQUAL(weft_spsc_queue_commit_many(s, 3), 0);
  EQUAL(weft_spsc_queue_peek_many(s, 9, &pieces), 3);
  UNCHANGED(arena, 1024, weft_spsc_queue_consume_many(s, 4), EINVAL);
  UNCHANGED(arena, 1024, weft_spsc_queue_consume_many(s, -1), EINVAL);
  EQUAL(weft_spsc_queue_consume_many(s, 2), 0);
  EQUAL(weft_spsc_queue_reserve_many(s, 9, &pieces), 3);
  EQUAL(pieces.first_count, 1);
  EQUAL(pieces.second_count, 2);
  for (int32_t i = 0; i < 3; i++) *in_pieces(&pieces, i, 1) = 3 + i;
  EQUAL(weft_spsc_queue_commit_many(s, 3), 0);
  EQUAL(weft_spsc_queue_reserve_many(s, 1, &pieces), 0);
  EQUAL(weft_spsc_queue_peek_many(s, 4, &pieces), 4);
  for (int32_t i = 0; i < 4; i++) EQUAL(*in_pieces(&pieces, i, 1), 2 + i);
  EQUAL(weft_spsc_queue_consume_many(s, 1), 0);
  EQUAL(weft_spsc_queue_reserve_many(s, 1, &pieces), 1);
  weft_spsc_queue_close(s);
  EQUAL(weft_spsc_queue_commit_many(s, 1), EPIPE);
  EQUAL(weft_spsc_queue_commit_many(s, 0), EPIPE);
  EQUAL(weft_spsc_queue_reserve_many(s, 1, &pieces), -EPIPE);
  EQUAL(weft_spsc_queue_peek_many(s, 4, &pieces), 3);
  EQUAL(weft_spsc_queue_consume_many(s, 3), 0);
  EQUAL(weft_spsc_queue_peek_many(s, 4, &pieces), -EPIPE);
}

/* Pushes up to `left` elements in two pieces of the queue's memory. */
static int32_t push_in_place(side *self, int32_t value, int32_t left) {
  weft_spsc_queue *q = self->queue;
  weft_pieces pieces;
  int32_t n = 1 + random_below(&self->seed, BATCH);
  if (n > left) n = left;
  int32_t count = weft_spsc_queue_reserve_many(q, n, &pieces);
  CHECK(count >= 0);
  if (count == 0) {
    sched_yield();
    return 0;
  }
  EQUAL(pieces.first_count + pieces.second_count, count);
  for (int32_t i = 0; i < count; i++)
    element(in_pieces(&pieces, i, self->words), self->words, value + i);
  /* Now and then fewer than are reserved. */
  n = count - random_below(&self->seed, 2);
  EQUAL(weft_spsc_queue_commit_many(q, n), 0);
  return n;
}

static int32_t pop_in_place(side *self, int32_t *elements) {
  weft_spsc_queue *q = self->queue;
  weft_pieces pieces;
  int32_t words = self->words;
  int32_t count = weft_spsc_queue_peek_many(
      q, 1 + random_below(&self->seed, BATCH), &pieces);
  if (count == -EPIPE) return -1;
  CHECK(count >= 0);
  if (count == 0) return 0;
  for (int32_t i = 0; i < count; i++)
    memcpy(elements + i * words, in_pieces(&pieces, i, words),
           (size_t)words * 4);
  count -= random_below(&self->seed, 2);
  EQUAL(weft_spsc_queue_consume_many(q, count), 0);
  return count;
}

static void *spsc_produce(void *argument) {
  side *self = (side *)argument;
  for (int32_t next = 0; next < amount;) {
    int form = random_below(&self->seed, FORMS + 1);
    next += form == FORMS ? push_in_place(self, next, amount - next)
                          : push_by(form, self, next, amount - next);
  }
  weft_spsc_queue_close(self->queue);
  return NULL;
}

static void spsc_consume(side *self) {
  int32_t elements[BATCH * MOST_WORDS];
  int32_t words = self->words;
  for (int32_t next = 0;;) {
    int form = random_below(&self->seed, FORMS + 1);
    int32_t count = form == FORMS ? pop_in_place(self, elements)
                                  : pop_by(form, self, elements);
    if (count < 0) {
      EQUAL(next, amount);
      return;
    }
    for (int32_t i = 0; i < count; i++) {
      EQUAL(elements[i * words], next++);
      check_whole(elements + i * words, words);
    }
  }
}

static void spsc_keeps_order(void) {
  for (int c = 0; c < CONFIGS_COUNT; c++)
    for (int start = 0; start < STARTS_COUNT; start++) {
      weft_spsc_queue *q =
          weft_spsc_queue_init(arena, sizeof arena, CONFIGS[c]);
      /* So that the indices wrap half-way. */
      int32_t from = weft__minus(STARTS[start], amount / 2 * 4) & ~3;
      q->head = q->tail = q->head_cache = q->tail_cache = from;
      side sides[2];
      for (int i = 0; i < 2; i++) {
        sides[i].seed = (uint32_t)(1 + i + 2 * c + 10 * start);
        sides[i].queue = q;
        sides[i].words = CONFIGS[c].element_size / 4;
      }
      pthread_t producer;
      EQUAL(pthread_create(&producer, NULL, spsc_produce, &sides[0]), 0);
      spsc_consume(&sides[1]);
      EQUAL(pthread_join(producer, NULL), 0);
    }
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  attaching(WEFT_KIND_spsc_queue);
  RUN(init_refuses);
  RUN(lengths);
  RUN(queues_by_turns);
  RUN(queue_errors);
  RUN(short_elements);
  RUN(close_while_reserved);
  RUN(roles);
  RUN(several_in_place);
#ifdef WEFT__ACTS
  RUN(acts_only_with_fences);
#endif
#if WEFT__SPSC_BELLS
  RUN(step_after_the_end);
#endif
  RUN(spsc_keeps_order);
  puts("close_wakes");
  close_wakes(1);
  puts("done");
  return 0;
}

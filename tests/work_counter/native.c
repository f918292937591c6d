/* weft_work_counter: against a model, the largest counts, and threads: the
   argument says how many tasks there are, in thousands. */
#define _POSIX_C_SOURCE 200809L
#include <weft/work_counter.h>
#include "check.h"
#include "attach.h"

static int32_t amount = 20000;

#define THREADS 4

static void *attach(void *at) { return weft_work_counter_attach(at); }

static void attaching(void) {
  const weft_work_config chunks = {3, 0};
  memset(arena, 0xa5, sizeof arena);
  CHECK(weft_work_counter_init(arena, sizeof arena, 10, chunks) != NULL);
  attach_wrongly(WEFT_KIND_work_counter, attach, 1, 3);
}

static void init_refuses(void) {
  void *odd = (char *)arena + 2;
  const weft_work_config single = {1, 0};
  const weft_work_config bad[] = {
      {0, 0}, {-1, 0}, {(1 << 30) + 1, 0}, {1, -1}, {1, (1 << 16) + 1},
  };
  memset(arena, 0xa5, sizeof arena);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    REFUSED(weft_work_counter_init(arena, sizeof arena, 10, bad[i]));
  REFUSED(weft_work_counter_init(arena, sizeof arena, -1, single));
  REFUSED(weft_work_counter_init(arena, sizeof arena, (1 << 30) + 1, single));
  REFUSED(weft_work_counter_init(odd, sizeof arena, 10, single));
  REFUSED(weft_work_counter_init(NULL, sizeof arena, 10, single));
  EQUAL(weft_work_counter_bytes(), 268);
}

/* What a counter must hand out next, as the contract says. */
static int32_t share_of(weft_work_config config, int32_t left) {
  int32_t n = config.agents > 0 ? left / (2 * config.agents) : config.chunk;
  if (n < 1) n = 1;
  return n < left ? n : left;
}

static void work_by_turns(void) {
  const weft_work_config configs[] = {{1, 0},  {3, 0},       {64, 0},
                                      {1, 1},  {1, 2},       {9, 7},
                                      {1 << 30, 0}, {1, 1 << 16}};
  const int32_t totals[] = {0, 1, 2, 63, 64, 65, 1000};
  for (int c = 0; c < 8; c++)
    for (int t = 0; t < 7; t++)
      for (int by_one = 0; by_one < 2; by_one++) {
        const int32_t total = totals[t];
        weft_work_counter *w =
            weft_work_counter_init(arena, sizeof arena, total, configs[c]);
        weft_work_range range = {0, 0};
        int32_t at = 0, done = 0;
        while (at < total) {
          int32_t share = share_of(configs[c], total - at);
          EQUAL(weft_work_counter_remaining(w), total - at);
          EQUAL(weft_work_counter_wait(w, 0), ETIMEDOUT);
          if (by_one) {
            for (int32_t i = 0; i < share; i++)
              EQUAL(weft_work_counter_next(w, &range), at + i);
          } else {
            EQUAL(weft_work_counter_next_range(w, &range), share);
            EQUAL(range.start, at);
            EQUAL(range.end, at + share);
            range.start = range.end;
          }
          at += share;
          EQUAL(weft_work_counter_remaining(w), total - at);
          EQUAL(weft_work_counter_done(w, share), 0);
          done += share;
          EQUAL(weft_work_counter_completed(w), done);
        }
        for (int i = 0; i < 3; i++) {
          EQUAL(weft_work_counter_next(w, &range), -1);
          EQUAL(weft_work_counter_next_range(w, &range), 0);
        }
        EQUAL(weft_work_counter_remaining(w), 0);
        EQUAL(weft_work_counter_wait(w, WEFT_FOREVER), 0);
        EQUAL(weft_work_counter_cancelled(w), false);
        UNCHANGED(w, 268, weft_work_counter_done(w, 1), EINVAL);
        weft_work_counter_cancel(w);
        EQUAL(weft_work_counter_cancelled(w), false);
      }
}

/* The largest counters: nothing overflows, and the end never wraps. */
static void work_extremes(void) {
  const int32_t most = WEFT_WORK_COUNTER_MAX;
  const weft_work_config configs[] = {
      {1, 0}, {most, 0}, {most - 1, 0}, {7, 0}, {1, 1}, {1, 1 << 16}};
  for (int c = 0; c < 6; c++) {
    weft_work_counter *w =
        weft_work_counter_init(arena, sizeof arena, most, configs[c]);
    weft_work_range range = {0, 0};
    int32_t first = weft_work_counter_next_range(w, &range);
    EQUAL(first, share_of(configs[c], most));
    EQUAL(weft_work_counter_done(w, first), 0);
    /* Just before the end, wherever the chunks end. */
    int32_t end = weft__work_counter_end(w);
    if (end > 1) {
      w->next = end - 1;
      int32_t last = weft_work_counter_next_range(w, &range);
      CHECK(last >= 1);
      EQUAL(range.end, most);
    }
    /* Agents that passed the end: 2^32 of them would be too many. */
    w->next = end + 1;
    for (int i = 0; i < 5; i++)
      UNCHANGED(w, 268, weft_work_counter_next_range(w, &range), 0);
    EQUAL(weft_work_counter_remaining(w), 0);
    if (configs[c].agents == 0) {
      w->next = -1;
      EQUAL(weft_work_counter_next_range(w, &range), 0);
      EQUAL(weft_work_counter_remaining(w), 0);
      EQUAL(w->next, -1);
    }
    UNCHANGED(w, 268, weft_work_counter_done(w, -1), EINVAL);
    UNCHANGED(w, 268, weft_work_counter_done(w, INT32_MIN), EINVAL);
    UNCHANGED(w, 268, weft_work_counter_done(w, INT32_MAX), EINVAL);
    UNCHANGED(w, 268, weft_work_counter_done(w, most - first + 1), EINVAL);
    if (first < most)
      TAKES(20, weft_work_counter_wait(w, 20 * MS), ETIMEDOUT);
    weft_agent_set_blocking(false);
    UNCHANGED(w, 268, weft_work_counter_wait(w, WEFT_FOREVER), EPERM);
    weft_agent_set_blocking(true);
    EQUAL(weft_work_counter_done(w, most - first), 0);
    EQUAL(weft_work_counter_wait(w, 0), 0);
    EQUAL(weft_work_counter_completed(w), most);
  }
}

static void work_cancel(void) {
  const weft_work_config configs[] = {{1, 0}, {7, 0}, {1, 3}, {200, 0}};
  for (int c = 0; c < 4; c++)
    for (int taken = 0; taken < 12; taken++)
      for (int late = 0; late < 2; late++) {
        weft_work_counter *w =
            weft_work_counter_init(arena, sizeof arena, 100, configs[c]);
        weft_work_range range = {0, 0};
        int32_t out = 0;
        for (int i = 0; i < taken; i++) {
          int32_t n = weft_work_counter_next_range(w, &range);
          out += n;
          if (!late) EQUAL(weft_work_counter_done(w, n), 0);
        }
        weft_work_counter_cancel(w);
        weft_work_counter_cancel(w);
        EQUAL(weft_work_counter_cancelled(w), out < 100);
        EQUAL(weft_work_counter_remaining(w), 0);
        EQUAL(weft_work_counter_next_range(w, &range), 0);
        range.start = range.end = 0;
        EQUAL(weft_work_counter_next(w, &range), -1);
        int wanted = late && out > 0 ? ETIMEDOUT : 0;
        EQUAL(weft_work_counter_wait(w, 0), wanted);
        if (late) EQUAL(weft_work_counter_done(w, out), 0);
        EQUAL(weft_work_counter_wait(w, 0), 0);
        EQUAL(weft_work_counter_completed(w), out);
      }
}

/* ---- threads ------------------------------------------------------------ */

typedef struct {
  uint32_t seed;
  weft_work_counter *work;
  int32_t *marks;
  int32_t *taken;
  int32_t cancel_at; /* cancels when it gets this task, or a later one */
} worker;

static void *do_work(void *argument) {
  worker *self = (worker *)argument;
  weft_work_range range = {0, 0};
  bool by_one = random_below(&self->seed, 2) == 0;
  for (;;) {
    int32_t start = weft_work_counter_next(self->work, &range);
    if (start < 0) break;
    int32_t end = by_one ? start + 1 : range.end;
    range.start = end;
    for (int32_t i = start; i < end; i++)
      EQUAL(shared_add(&self->marks[i], 1), 1);
    shared_add(self->taken, end - start);
    if (end > self->cancel_at) weft_work_counter_cancel(self->work);
    EQUAL(weft_work_counter_done(self->work, end - start), 0);
  }
  for (int i = 0; i < 3; i++)
    EQUAL(weft_work_counter_next_range(self->work, &range), 0);
  EQUAL(weft_work_counter_wait(self->work, WEFT_FOREVER), 0);
  return NULL;
}

static void work_is_done_once(void) {
  const weft_work_config configs[] = {{1, 0}, {64, 0}, {1, THREADS}};
  for (int c = 0; c < 3; c++)
    for (int cancelling = 0; cancelling < 2; cancelling++) {
      int32_t *marks = (int32_t *)calloc((size_t)amount, sizeof *marks);
      int32_t taken = 0;
      weft_work_counter *w =
          weft_work_counter_init(arena, sizeof arena, amount, configs[c]);
      worker workers[THREADS];
      pthread_t threads[THREADS];
      for (int i = 0; i < THREADS; i++) {
        workers[i].seed = (uint32_t)(1 + i);
        workers[i].work = w;
        workers[i].marks = marks;
        workers[i].taken = &taken;
        workers[i].cancel_at = cancelling ? amount / 2 : INT32_MAX;
      }
      start_threads(threads, THREADS, do_work, workers, sizeof *workers);
      EQUAL(weft_work_counter_wait(w, WEFT_FOREVER), 0);
      EQUAL(weft_work_counter_completed(w), taken);
      join_threads(threads, THREADS);
      EQUAL(weft_work_counter_remaining(w), 0);
      EQUAL(weft_work_counter_completed(w), taken);
      for (int32_t i = 0; i < amount; i++)
        EQUAL(marks[i], i < taken ? 1 : 0);
      if (!cancelling) EQUAL(taken, amount);
      free(marks);
    }
}

static int call_wait(void *at) {
  return weft_work_counter_wait((weft_work_counter *)at, WEFT_FOREVER);
}

static void cancel(void *at) {
  weft_work_counter_cancel((weft_work_counter *)at);
}

static void finish(void *at) {
  EQUAL(weft_work_counter_done((weft_work_counter *)at, 10), 0);
}

static void the_end_wakes_all(void) {
  const weft_work_config single = {1, 0};
  weft_work_counter *w =
      weft_work_counter_init(arena, sizeof arena, 10, single);
  all_wake(call_wait, w, THREADS, cancel, 0);
  w = weft_work_counter_init(arena, sizeof arena, 10, single);
  all_wake(call_wait, w, THREADS, finish, 0);
}

/* Three agents take from a tracked counter, and die; others do the rest. */
static void tracked_by_turns(void) {
  const weft_work_config configs[] = {{1, 0}, {3, 0}, {1, 2}};
  static int32_t memory[104 + 3 * 32];
  EQUAL(sizeof memory, WEFT_WORK_COUNTER_TRACKED_BYTES(3));
  uint32_t seed = 5;
  for (int round = 0; round < 300; round++) {
    const int32_t total = random_below(&seed, 60);
    weft_work_counter *c = weft_work_counter_init_tracked(
        memory, sizeof memory, total, configs[round % 3], 3);
    CHECK(c != NULL);
    EQUAL(weft_work_counter_tracked(c), 3);
    int8_t taken[60] = {0}, made[60] = {0}; /* how often */
    int32_t at[4] = {0}, left[4] = {0}, done = 0;
    for (int turn = 0; turn < 10000 && done < total; turn++) {
      int32_t id = 1 + random_below(&seed, 3);
      CHECK(weft_agent_set_id(id) == 0);
      if (random_below(&seed, 8) == 0) {
        EQUAL(weft_work_counter_abandon(c, id), left[id]);
        EQUAL(weft_work_counter_abandon(c, id), 0);
        left[id] = 0;
      } else if (left[id] > 0) {
        weft_work_range range = {0, 0};
        EQUAL(weft_work_counter_next_range(c, &range),
              WEFT_WORK_COUNTER_REFUSED);
        EQUAL(weft_work_counter_done(c, left[id] + 1), EINVAL);
        int32_t n = 1 + random_below(&seed, left[id]);
        for (int32_t i = 0; i < n; i++) made[at[id] + i]++;
        EQUAL(weft_work_counter_wait(c, 0), ETIMEDOUT);
        EQUAL(weft_work_counter_done(c, n), 0);
        at[id] += n;
        left[id] -= n;
        done += n;
      } else {
        weft_work_range range = {0, 0};
        left[id] = weft_work_counter_next_range(c, &range);
        CHECK(left[id] >= 0);
        at[id] = range.start;
        for (int32_t i = 0; i < left[id]; i++) taken[range.start + i]++;
        EQUAL(weft_work_counter_done(c, left[id] + 1), EINVAL);
      }
      EQUAL(weft_work_counter_completed(c), done);
    }
    EQUAL(done, total);
    for (int32_t i = 0; i < total; i++) CHECK(made[i] == 1 && taken[i] >= 1);
    EQUAL(weft_work_counter_wait(c, 0), 0);
    EQUAL(weft_work_counter_remaining(c), 0);
  }
  CHECK(weft_work_counter_init_tracked(memory, sizeof memory - 4, 9, configs[0],
                                       3) == NULL);
  CHECK(weft_work_counter_init_tracked(memory, sizeof memory, 1 << 24,
                                       configs[0], 3) == NULL);
  CHECK(weft_work_counter_init_tracked(memory, sizeof memory, 9, configs[0],
                                       0) == NULL);
  CHECK(weft_work_counter_init_tracked(memory, sizeof memory, 9, configs[0],
                                       256) == NULL);
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(attaching);
  RUN(init_refuses);
  RUN(work_by_turns);
  RUN(work_extremes);
  RUN(work_cancel);
  RUN(work_is_done_once);
  RUN(the_end_wakes_all);
  RUN(tracked_by_turns);
  puts("done");
  return 0;
}

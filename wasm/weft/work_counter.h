/* work_counter.h - the twin of primitives/_lock/work_counter.ts. */
#ifndef WEFT_WORK_COUNTER_H
#define WEFT_WORK_COUNTER_H

#include "_ranges.h"
#include "_region.h"
#include "_spin.h"
#include "_wait.h"

WEFT__BEGIN

#define WEFT_WORK_COUNTER_MAX (1 << 30)
/* The most agents that a counter tracks. */
#define WEFT_WORK_COUNTER_MAX_TRACKED WEFT__TRACKED_MAX_ROWS
/* What taking tasks returns if it is refused. */
#define WEFT_WORK_COUNTER_REFUSED (-2)

/* The states of `finished`. */
#define WEFT_WORK_COUNTER_RUNNING 0
#define WEFT_WORK_COUNTER_AWAITED 1
#define WEFT_WORK_COUNTER_OVER 2

/* How a counter hands out its tasks: `chunk` at a time, 1 to 2^30. If `agents`
   is above 0, it is guided for that number of agents, up to 2^16. */
typedef struct {
  int32_t chunk;
  int32_t agents;
} weft_work_config;

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A counter that hands out tasks.
 *
 * word 0   magic     Kind and layout version.
 * word 1   total     Tasks, 0 to 2^30.
 * word 2   chunk     Tasks handed out at a time. Below 0: guided, for that many
 *                    agents.
 * word 3   seal      Check word over the configuration.
 * word 4   tracked   0, or if agents note what they take:
 *                    bits 0-7    how many agents, 1 to 255
 *                    bits 8-15   the same, inverted
 *                    bits 16-31  0x5765
 * word 32  next      Chunks handed out; guided: tasks handed out. If agents are
 *                    tracked, that is in bits 8-31, and bits 0-7 are the row
 *                    that took the last of them.
 * word 64  done      Tasks done, unless agents are tracked.
 * word 65  target    Tasks to be done: all, or fewer once cancelled.
 * word 66  finished  0 running, 1 running and somebody may sleep here, 2 over.
 *                    sleepers: agents that wait for the end
 * word 67  From word 104 on, if agents are tracked, rows of 32 words. A row has
 *          the id of its agent, or 0; the units after the last range that it
 *          took; the tasks that agents of this row have done; and two ranges:
 *          the units after it, its first task, and the tasks done when it was
 *          taken. The range with the same units counts.
 *
 * Freed when: every operation of every agent has returned, and none will begin.
 */
typedef struct {
  int32_t magic;
  int32_t total;
  int32_t chunk;
  int32_t seal;
  int32_t tracked;
  int32_t _pad0[27];
  int32_t next;
  int32_t _pad1[31];
  int32_t done;
  int32_t target;
  int32_t finished;
} weft_work_counter;
WEFT_WORD(work_counter, magic, 0);
WEFT_WORD(work_counter, total, 1);
WEFT_WORD(work_counter, chunk, 2);
WEFT_WORD(work_counter, seal, 3);
WEFT_WORD(work_counter, tracked, 4);
WEFT_WORD(work_counter, next, 32);
WEFT_WORD(work_counter, done, 64);
WEFT_WORD(work_counter, target, 65);
WEFT_WORD(work_counter, finished, 66);
WEFT_LENGTH(work_counter, 67);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a counter, as a constant and as a function. */
#define WEFT_WORK_COUNTER_BYTES sizeof(weft_work_counter)
static inline size_t weft_work_counter_bytes(void) {
  return sizeof(weft_work_counter);
}

/* The counter at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_work_counter *weft_work_counter_attach(
    void *at) {
  if (weft_attach_error(at, WEFT_KIND_work_counter) != NULL) return NULL;
  return (weft_work_counter *)at;
}

/* Whether there can be `total` tasks, handed out in this way. */
static inline bool weft__work_counter_is_whole(int32_t total,
                                               weft_work_config config) {
  if (total < 0 || total > WEFT_WORK_COUNTER_MAX) return false;
  if (config.agents < 0 || config.agents > 1 << 16) return false;
  return config.agents > 0 ||
         (config.chunk >= 1 && config.chunk <= WEFT_WORK_COUNTER_MAX);
}

/* Writes the words of a counter that are not 0, the first one last. */
static inline void weft__work_counter_format(weft_work_counter *c,
                                             int32_t total,
                                             weft_work_config config) {
  c->total = total;
  c->chunk = config.agents > 0 ? -config.agents : config.chunk;
  c->seal = weft__seal(WEFT_KIND_work_counter, c->total, c->chunk);
  c->target = total;
  c->finished =
      total == 0 ? WEFT_WORK_COUNTER_OVER : WEFT_WORK_COUNTER_RUNNING;
  weft__store(&c->magic, weft__magic(WEFT_KIND_work_counter));
}

/* Initializes `bytes` bytes of unused memory as a counter of `total` tasks, 0
   to 2^30. NULL if that number or the configuration is out of range, the bytes
   are too few, or `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_work_counter *weft_work_counter_init(
    void *at, size_t bytes, int32_t total, weft_work_config config) {
  weft_work_counter *c = (weft_work_counter *)at;
  if (!weft__fits(at, bytes, sizeof *c)) return NULL;
  if (!weft__work_counter_is_whole(total, config)) return NULL;
  weft__zero(at, sizeof *c);
  weft__work_counter_format(c, total, config);
  return c;
}

/* The first of its rows. */
#define WEFT__WORK_COUNTER_ROWS 104

/* The bytes of a counter that tracks 1 to 255 agents, as a constant expression;
   0 if out of range. */
#define WEFT_WORK_COUNTER_TRACKED_BYTES(tracked)              \
  ((tracked) < 1 || (tracked) > WEFT_WORK_COUNTER_MAX_TRACKED \
       ? 0                                                    \
       : sizeof(int32_t) * WEFT__WORK_COUNTER_ROWS +          \
             sizeof(weft__ranges_row) * (tracked))

/* The same as a function. */
static inline size_t weft_work_counter_tracked_bytes(int32_t tracked) {
  return WEFT_WORK_COUNTER_TRACKED_BYTES((uint32_t)tracked);
}

/* As weft_work_counter_init, for a counter in which `tracked` agents, 1 to 255,
   note what they take. It has at most 2^24 - 1 chunks; guided: tasks. */
static inline WEFT__RESULT weft_work_counter *weft_work_counter_init_tracked(
    void *at, size_t bytes, int32_t total, weft_work_config config,
    int32_t tracked) {
  size_t needed = weft_work_counter_tracked_bytes(tracked);
  int64_t step = config.agents > 0 ? 1 : config.chunk;
  if (!weft__fits(at, bytes, needed)) return NULL;
  if (!weft__work_counter_is_whole(total, config)) return NULL;
  if (total > WEFT__RANGES_MAX * step) return NULL;
  weft_work_counter *c = (weft_work_counter *)at;
  weft__zero(at, needed);
  c->tracked = weft__tracked_mark(tracked);
  weft__work_counter_format(c, total, config);
  return c;
}

/* How many agents note what they take; 0 if none does, or the word is
   damaged. */
static inline int32_t weft_work_counter_tracked(const weft_work_counter *c) {
  int32_t tracked = c->tracked & WEFT_WORK_COUNTER_MAX_TRACKED;
  return c->tracked == weft__tracked_mark(tracked) ? tracked : 0;
}

/* The rows of a tracked counter. */
static inline weft__ranges weft__work_counter_rows(const weft_work_counter *c) {
  int32_t *words = weft__words_with_rows(c);
  weft__ranges r = {
      (weft__ranges_row *)(void *)(words + WEFT__WORK_COUNTER_ROWS),
      weft_work_counter_tracked(c),
      words + offsetof(weft_work_counter, next) / 4, c->total, c->chunk};
  return r;
}

/* The value of `next` when nothing is left. */
static inline int32_t weft__work_counter_end(const weft_work_counter *c) {
  if (c->chunk < 0) return c->total;
  return c->total / c->chunk + (c->total % c->chunk != 0 ? 1 : 0);
}

/* How many tasks are handed out at this value of `next`. */
static inline int32_t weft__work_counter_handed_out(const weft_work_counter *c,
                                                    int32_t next) {
  uint64_t step = c->chunk > 0 ? (uint64_t)c->chunk : 1;
  uint64_t tasks = (uint64_t)(uint32_t)next * step;
  return tasks < (uint64_t)c->total ? (int32_t)tasks : c->total;
}

/* Tasks not handed out yet. */
static inline int32_t weft_work_counter_remaining(const weft_work_counter *c) {
  int32_t next = weft__load(&c->next);
  if (c->tracked != 0) next = weft__ranges_units(next);
  return c->total - weft__work_counter_handed_out(c, next);
}

/* Tasks that are done. */
static inline int32_t weft_work_counter_completed(const weft_work_counter *c) {
  if (c->tracked != 0) {
    weft__ranges rows = weft__work_counter_rows(c);
    return weft__ranges_completed(&rows);
  }
  return weft__load(&c->done);
}

/* Whether cancel came before the last task was handed out. */
static inline bool weft_work_counter_cancelled(const weft_work_counter *c) {
  return weft__load(&c->target) < c->total;
}

static inline void weft__work_counter_take_guided(weft_work_counter *c,
                                                  weft_work_range *range) {
  int32_t next = weft__hint(&c->next); /* the exchange below checks it */
  while (next < c->total) {
    int32_t start = next;
    int32_t share = (c->total - start) / (-2 * c->chunk);
    int32_t end = start + (share > 1 ? share : 1);
    next = weft__compare_exchange(&c->next, start, end);
    if (next != start) continue;
    range->start = start;
    range->end = end;
    return;
  }
}

static inline void weft__work_counter_take(weft_work_counter *c,
                                           weft_work_range *range) {
  if (c->chunk < 0) {
    weft__work_counter_take_guided(c, range);
    return;
  }
  uint64_t chunk = (uint64_t)c->chunk;
  uint64_t total = (uint64_t)c->total;
  /* An agent that has moved `next` past the end sees that here, and moves it
     no further. */
  if ((uint32_t)weft__hint(&c->next) * chunk >= total) return;
  uint64_t start = (uint32_t)weft__add(&c->next, 1) * chunk;
  if (start >= total) return;
  range->start = (int32_t)start;
  range->end = (int32_t)(start + chunk < total ? start + chunk : total);
}

/* The next task for the agent that keeps `range`, or -1 if there is none. -2 if
   the counter is tracked, and this agent has not done what it took before, or
   all rows are taken. */
static inline int32_t weft_work_counter_next(weft_work_counter *c,
                                             weft_work_range *range) {
  if (range->start == range->end && c->tracked != 0) {
    weft__ranges rows = weft__work_counter_rows(c);
    if (weft__ranges_take(&rows, range) == WEFT_WORK_COUNTER_REFUSED)
      return WEFT_WORK_COUNTER_REFUSED;
  } else if (range->start == range->end) {
    weft__work_counter_take(c, range);
  }
  return range->start == range->end ? -1 : range->start++;
}

/* Takes the next tasks: *range. Returns how many they are, or 0 if there are
   none. It overwrites what weft_work_counter_next had left of that range, so
   use one of the two functions. -2 as weft_work_counter_next. */
static inline int32_t weft_work_counter_next_range(weft_work_counter *c,
                                                   weft_work_range *range) {
  range->start = range->end = 0;
  if (c->tracked != 0) {
    weft__ranges rows = weft__work_counter_rows(c);
    if (weft__ranges_take(&rows, range) == WEFT_WORK_COUNTER_REFUSED) {
      range->start = range->end = 0;
      return WEFT_WORK_COUNTER_REFUSED;
    }
    return range->end - range->start;
  }
  weft__work_counter_take(c, range);
  return range->end - range->start;
}

static inline void weft__work_counter_finish(weft_work_counter *c) {
  int32_t was = weft__exchange(&c->finished, WEFT_WORK_COUNTER_OVER);
  if (was == WEFT_WORK_COUNTER_AWAITED) weft__notify(&c->finished, WEFT__ALL);
}

/* Says that all tasks are done, if they are. */
static inline void weft__work_counter_look(weft_work_counter *c) {
  if (weft_work_counter_completed(c) >= weft__load(&c->target))
    weft__work_counter_finish(c);
}

static inline int weft__work_counter_done_tracked(weft_work_counter *c,
                                                  int32_t n) {
  weft__ranges rows = weft__work_counter_rows(c);
  bool all = false;
  int result = weft__ranges_done(&rows, n, &all);
  if (all) weft__work_counter_look(c); /* (T) pairs with (C), as below */
  return result;
}

/* Counts n tasks as done. If they were the last ones, it wakes the agents that
   wait. EINVAL if more tasks would be done than there are; if tracked, than
   this agent took. */
static inline int weft_work_counter_done(weft_work_counter *c, int32_t n) {
  if (n < 0 || n > WEFT_WORK_COUNTER_MAX) return EINVAL;
  if (c->tracked != 0) return weft__work_counter_done_tracked(c, n);
  int32_t done = weft__hint(&c->done); /* the exchange below checks it */
  for (;;) {
    /* `done` only grows and `target` only falls, so old values only allow more;
       an old `done` makes the exchange fail. */
    if (n > weft__minus(weft__hint(&c->target), done)) return EINVAL;
    int32_t seen = weft__compare_exchange(&c->done, done, weft__plus(done, n));
    if (seen == done) break;
    done = seen;
  }
  /* (T) Pairs with (C): we see the lower target, or cancel sees our tasks. */
  if (weft__plus(done, n) >= weft__load(&c->target))
    weft__work_counter_finish(c);
  return 0;
}

#ifndef WEFT_REALTIME /* what may wait */
/* Blocks up to `timeout` ns until all tasks are done, or after cancel all that
   were handed out; then ETIMEDOUT. */
static inline int weft_work_counter_wait(weft_work_counter *c,
                                         int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  for (int i = timeout != 0 ? WEFT_SPIN_ROUNDS : 0;; i--) {
    if (weft__load(&c->finished) == WEFT_WORK_COUNTER_OVER) return 0;
    if (i == 0) break;
    weft__relax();
  }
  int64_t deadline = weft__deadline(timeout);
  for (;;) {
    /* The agent that did the last task may have been terminated before it set
       `finished`. */
    weft__work_counter_look(c);
    int32_t was =
        weft__compare_exchange(&c->finished, WEFT_WORK_COUNTER_RUNNING,
                               WEFT_WORK_COUNTER_AWAITED);
    if (was == WEFT_WORK_COUNTER_OVER) return 0;
    int outcome = weft__sleep(&c->finished, WEFT_WORK_COUNTER_AWAITED,
                              deadline, WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT)
      return weft__load(&c->finished) == WEFT_WORK_COUNTER_OVER ? 0
                                                                : ETIMEDOUT;
  }
}
#endif

/* Hands out no more. Returns the chunks that were handed out, or -1. */
static inline int32_t weft__work_counter_close(weft_work_counter *c) {
  int32_t end = weft__work_counter_end(c);
  int32_t was = weft__exchange(&c->next, end);
  return (uint32_t)was < (uint32_t)end ? was : -1;
}

static inline int32_t weft__work_counter_close_tracked(weft_work_counter *c) {
  weft__ranges rows = weft__work_counter_rows(c);
  return weft__ranges_cancel(&rows);
}

/* Lets waiting end when the `units` that were handed out are done. */
static inline void weft__work_counter_aim(weft_work_counter *c, int32_t units) {
  if (units < 0) return;
  int32_t target = weft__work_counter_handed_out(c, units);
  weft__store(&c->target, target); /* (C) then look at what is done */
  if (weft_work_counter_completed(c) >= target) weft__work_counter_finish(c);
}

/* Hands out no more tasks. Waiting ends when those that were handed out are
   done. */
static inline void weft_work_counter_cancel(weft_work_counter *c) {
  weft__work_counter_aim(c, c->tracked != 0
                                ? weft__work_counter_close_tracked(c)
                                : weft__work_counter_close(c));
}

/* Gives other agents the tasks that agent `id` took and has not done, if the
   counter is tracked: they get them once all others are handed out. Call it
   only when that agent will never run again. Returns how many tasks these are,
   or -ENOTRECOVERABLE. */
static inline int32_t weft_work_counter_abandon(weft_work_counter *c,
                                                int32_t id) {
  if (c->tracked == 0 || id == 0) return 0;
  weft__ranges rows = weft__work_counter_rows(c);
  int32_t count = weft__ranges_abandon(&rows, id);
  if (count < 0) return count;
  /* That agent may have ended within cancel. */
  weft__work_counter_aim(c, weft__ranges_cancelled(&rows));
  return count;
}

WEFT__END

#endif /* WEFT_WORK_COUNTER_H */

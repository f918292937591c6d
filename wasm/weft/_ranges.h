/* _ranges.h - twin of primitives/_memory/ranges.ts, which explains the rows. */
#ifndef WEFT__RANGES_H
#define WEFT__RANGES_H

#include "_tracked.h"

WEFT__BEGIN

/* In `next` of a tracked counter. */
#define WEFT__RANGES_ROW_MASK 0xff /* WORK_COUNTER_BITS.ROW */
#define WEFT__RANGES_NOBODY 0xff
#define WEFT__RANGES_UNITS_SHIFT 8 /* WORK_COUNTER_BITS.UNITS */

/* The most chunks, or tasks if guided. */
#define WEFT__RANGES_MAX 0xffffff /* WORK_COUNTER_BITS.UNITS */

/* A range of tasks, as a row has it. */
typedef struct {
  int32_t unit;   /* the units after it */
  int32_t start;  /* its first task */
  int32_t before; /* `done` of the row when it was taken */
} weft__range;

/* The row of an agent. */
typedef struct {
  int32_t agent; /* its id, or 0 */
  int32_t taken; /* the units after its last confirmed range */
  int32_t done;  /* tasks that agents of this row have done */
  weft__range range[2];
  int32_t _pad[23];
} weft__ranges_row;

/* The tasks from `start` to `end` - 1; a range that is all zero has none. */
typedef struct {
  int32_t start;
  int32_t end;
} weft_work_range;

/* All rows, and words of their counter. */
typedef struct {
  weft__ranges_row *rows;
  int32_t agents;
  int32_t *next;
  int32_t total;
  int32_t chunk;
} weft__ranges;

/* The units that this word `next` tells. */
static inline int32_t weft__ranges_units(int32_t next) {
  return (int32_t)((uint32_t)next >> WEFT__RANGES_UNITS_SHIFT);
}

/* `next` when this row handed out `units` units. */
static inline int32_t weft__ranges_named(int32_t units, int32_t row) {
  return (int32_t)((uint32_t)units << WEFT__RANGES_UNITS_SHIFT | (uint32_t)row);
}

/* The units when no task is left. */
static inline int32_t weft__ranges_end(const weft__ranges *r) {
  if (r->chunk < 0) return r->total;
  return r->total / r->chunk + (r->total % r->chunk != 0 ? 1 : 0);
}

/* How many tasks are done. */
static inline int32_t weft__ranges_completed(const weft__ranges *r) {
  int32_t sum = 0;
  for (int32_t row = 0; row < r->agents; row++)
    sum = weft__plus(sum, weft__load(&r->rows[row].done));
  return sum;
}

/* Which range of a row counts. */
static inline int weft__ranges_current(const weft__ranges_row *row) {
  int32_t taken = weft__load(&row->taken);
  return weft__hint(&row->range[0].unit) == taken ? 0 : 1;
}

/* The same in this agent's row: others confirm what it wrote. */
static inline int weft__ranges_own_current(const weft__ranges_row *row) {
  int32_t taken = weft__hint(&row->taken);
  return weft__hint(&row->range[0].unit) == taken ? 0 : 1;
}

/* The number after the last task of a range with this unit. */
static inline int32_t weft__ranges_end_of(const weft__ranges *r, int32_t unit) {
  if (r->chunk < 0) return unit;
  int64_t end = (int64_t)unit * r->chunk;
  return end < r->total ? (int32_t)end : r->total;
}

/* What a row has of tasks that are not done. */
static inline weft_work_range weft__ranges_undone(const weft__ranges *r,
                                                  const weft__ranges_row *row) {
  const weft__range *range = &row->range[weft__ranges_current(row)];
  int32_t did = weft__minus(weft__load(&row->done), weft__hint(&range->before));
  weft_work_range left;
  left.end = weft__ranges_end_of(r, weft__hint(&range->unit));
  left.start = weft__plus(weft__hint(&range->start), did);
  return left;
}

/* How many tasks this agent's row has, if the range `current` counts. */
static inline int32_t weft__ranges_left(const weft__ranges *r,
                                        const weft__ranges_row *row,
                                        int current) {
  const weft__range *range = &row->range[current];
  /* It wrote both. */
  int32_t did = weft__minus(weft__hint(&row->done), weft__hint(&range->before));
  int32_t end = weft__ranges_end_of(r, weft__hint(&range->unit));
  return weft__minus(end, weft__plus(weft__hint(&range->start), did));
}

/*
 * (C) Confirms the range that `seen` names, before it is replaced: its agent
 * may have been terminated before it did so. Returns false if there is no such
 * row.
 */
static inline bool weft__ranges_confirm(const weft__ranges *r, int32_t seen) {
  int32_t row = seen & WEFT__RANGES_ROW_MASK;
  if (row == WEFT__RANGES_NOBODY) return true;
  if (row >= r->agents) return false;
  int32_t *at = &r->rows[row].taken;
  int32_t taken = weft__load(at);
  if (taken == weft__ranges_units(seen)) return true;
  /* An old `seen` may name a range before the last one. */
  if (weft__load(r->next) != seen) return true;
  /* If this fails, another agent confirmed it. */
  weft__compare_exchange(at, taken, weft__ranges_units(seen));
  return true;
}

/* Whether a range is one of this counter. */
static inline bool weft__ranges_fits(const weft__ranges *r,
                                     weft_work_range range) {
  return range.start >= 0 && range.start <= range.end && range.end <= r->total;
}

/* Takes over a row that has tasks and no agent, in place of `mine`: whether
   there was one, and then *left. */
static inline bool weft__ranges_adopt(const weft__ranges *r,
                                      weft__ranges_row *mine,
                                      weft_work_range *left) {
  for (int32_t i = 0; i < r->agents; i++) {
    weft__ranges_row *row = &r->rows[i];
    if (weft__load(&row->agent) != 0) continue;
    weft_work_range seen = weft__ranges_undone(r, row);
    if (seen.start >= seen.end) continue;
    /* (A) One agent alone does these tasks. */
    if (weft__compare_exchange(&row->agent, 0, weft_agent_id()) != 0) continue;
    weft__store(&mine->agent, 0);
    mine = row;
    weft_work_range now = weft__ranges_undone(r, row);
    if (now.start >= now.end) continue;
    *left = now;
    return true;
  }
  return false;
}

/*
 * Takes the next range for this agent: 1 and *range; 0 if there is none; -2 if
 * this agent has not done what it took before, needs a row and all are taken,
 * or finds damage.
 */
static inline int weft__ranges_take(const weft__ranges *r,
                                    weft_work_range *range) {
  int32_t had = weft__row_find(&r->rows[0].agent, r->agents, weft_agent_id());
  int32_t i = had < 0 ? weft__row_own(&r->rows[0].agent, r->agents) : had;
  if (i < 0) return -2;
  weft__ranges_row *row = &r->rows[i];
  int current = weft__ranges_own_current(row);
  if (weft__ranges_left(r, row, current) > 0) {
    if (had >= 0) return -2;
    *range = weft__ranges_undone(r, row); /* of an agent that is dead */
    return weft__ranges_fits(r, *range) ? 1 : -2;
  }
  weft__range *other = &row->range[1 - current];
  int32_t next = weft__hint(r->next); /* the exchange below checks it */
  while (weft__ranges_units(next) < weft__ranges_end(r)) {
    int32_t seen = next;
    if ((seen & WEFT__RANGES_ROW_MASK) != i && !weft__ranges_confirm(r, seen))
      return -2;
    int32_t units = weft__ranges_units(seen);
    int32_t step = 1;
    if (r->chunk < 0) {
      int32_t share = (r->total - units) / (-2 * r->chunk);
      if (share > 1) step = share;
    }
    /* This range does not count until the exchange. */
    int64_t start = (int64_t)units * (r->chunk > 0 ? r->chunk : 1);
    other->unit = units + step;
    other->start = (int32_t)start;
    other->before = weft__hint(&row->done);
    next = weft__compare_exchange(r->next, seen,
                                  weft__ranges_named(units + step, i));
    if (next != seen) continue;
    weft__store(&row->taken, units + step);
    range->start = (int32_t)start;
    range->end = weft__ranges_end_of(r, units + step);
    return 1;
  }
  if (!weft__ranges_adopt(r, row, range)) return 0;
  return weft__ranges_fits(r, *range) ? 1 : -2;
}

/* Counts `n` tasks of this agent as done: 0 and *all, whether all are handed
   out; EINVAL if this agent has not taken `n` tasks. */
static inline int weft__ranges_done(const weft__ranges *r, int32_t n,
                                    bool *all) {
  int32_t i = weft__row_find(&r->rows[0].agent, r->agents, weft_agent_id());
  int32_t left = 0;
  if (i >= 0) {
    const weft__ranges_row *row = &r->rows[i];
    left = weft__ranges_left(r, row, weft__ranges_own_current(row));
  }
  if (n > left) return EINVAL;
  /* (D) Note it, then look whether all are handed out. */
  if (n > 0) {
    int32_t *done = &r->rows[i].done;
    weft__store(done, weft__plus(weft__hint(done), n));
  }
  *all = weft__ranges_units(weft__load(r->next)) >= weft__ranges_end(r);
  return 0;
}

/* The units that were handed out when it was cancelled, or -1. Whoever
   cancelled has confirmed the last of them. */
static inline int32_t weft__ranges_cancelled(const weft__ranges *r) {
  int32_t named = weft__load(r->next) & WEFT__RANGES_ROW_MASK;
  if (named != WEFT__RANGES_NOBODY) return -1;
  int32_t units = 0;
  for (int32_t i = 0; i < r->agents; i++) {
    int32_t taken = weft__load(&r->rows[i].taken);
    if (taken > units) units = taken;
  }
  return units;
}

/* Hands out no more. Returns the units that were handed out; -1 if those were
   all. */
static inline int32_t weft__ranges_cancel(const weft__ranges *r) {
  int32_t end = weft__ranges_end(r);
  int32_t next = weft__load(r->next);
  while (weft__ranges_units(next) < end) {
    int32_t seen = next;
    if (!weft__ranges_confirm(r, seen)) return -1;
    next = weft__compare_exchange(r->next, seen,
                                  weft__ranges_named(end, WEFT__RANGES_NOBODY));
    if (next == seen) return weft__ranges_units(seen);
  }
  return weft__ranges_cancelled(r);
}

/*
 * Frees the rows of the agent `id`: others take what it has not done. Only one
 * of the agents that call this does so. Returns how many tasks there are, or
 * -ENOTRECOVERABLE.
 */
static inline int32_t weft__ranges_abandon(const weft__ranges *r, int32_t id) {
  int32_t sum = 0;
  for (int32_t i = 0; i < r->agents; i++) {
    weft__ranges_row *row = &r->rows[i];
    if (weft__load(&row->agent) != id) continue;
    /* its last range, if it is not confirmed */
    if (!weft__ranges_confirm(r, weft__load(r->next))) return -ENOTRECOVERABLE;
    weft_work_range left = weft__ranges_undone(r, row);
    if (!weft__ranges_fits(r, left)) return -ENOTRECOVERABLE;
    /* (H) Whoever frees the row tells what was in it. */
    if (weft__compare_exchange(&row->agent, id, 0) != id) continue;
    sum = weft__plus(sum, left.end - left.start);
  }
  return sum;
}

WEFT__END

#endif /* WEFT__RANGES_H */

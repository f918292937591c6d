/* _tracked.h - twin of primitives/_memory/tracked.ts, which explains the rows.
   */
#ifndef WEFT__TRACKED_H
#define WEFT__TRACKED_H

#include "_layout.h"
#include "agent.h"

WEFT__BEGIN

/* In the counted word. */
#define WEFT__TRACKED_SEQUENCE_MASK 0xfff /* TRACKED_BITS.SEQUENCE */
#define WEFT__TRACKED_ROW_SHIFT 12 /* TRACKED_BITS.ROW */
#define WEFT__TRACKED_ROW_MASK 0xff /* TRACKED_BITS.ROW, shifted */
#define WEFT__TRACKED_SHIFT 20 /* TRACKED_BITS.COUNT */

/* The most that can be counted, and the most agents that can have a row. */
#define WEFT__TRACKED_MAX 2047
#define WEFT__TRACKED_MAX_ROWS 255
/* Words from one row to the next. */
#define WEFT__ROW 32

/* The row of an agent. */
typedef struct {
  int32_t agent;    /* its id, or 0 */
  int32_t sequence; /* its last confirmed change */
  int32_t held[2];  /* what it holds after changes with an even, odd sequence */
  int32_t _pad[28];
} weft__tracked_row;

/* A counted word, and its rows. */
typedef struct {
  int32_t *counted;
  weft__tracked_row *rows;
  int32_t agents;
} weft__tracked;

/* How many are free, when the counted word has this value. */
static inline int32_t weft__tracked_count(int32_t counted) {
  return counted >> WEFT__TRACKED_SHIFT;
}

/* What the agent of a row holds. */
static inline int32_t weft__tracked_held(const weft__tracked_row *row) {
  return row->held[weft__load(&row->sequence) & 1];
}

/* An unsealed word `tracked` for `agents` agents. */
static inline int32_t weft__tracked_mark(int32_t agents) {
  return agents == 0 ? 0 : agents | (agents ^ 0xff) << 8 | 0x57650000;
}

/* The words of a primitive, and of the rows behind it. The compiler may know
   that it is one without rows, and warn of them: it cannot know that such a one
   is not tracked. */
static inline int32_t *weft__words_with_rows(const void *at) {
  int32_t *words = (int32_t *)(uintptr_t)at;
  __asm__("" : "+r"(words));
  return words;
}

/* The number of the row of the agent `id` among `agents` rows, or -1. `first`
   is the first word of the first row. */
static inline int32_t weft__row_find(const int32_t *first, int32_t agents,
                                     int32_t id) {
  int32_t row = agents == 0 ? 0 : weft_agent_id() % agents;
  for (int32_t i = 0; i < agents; i++) {
    /* A hint: only this agent writes its id, and an exchange checks a 0. */
    if (weft__hint(first + row * WEFT__ROW) == id) return row;
    if (++row == agents) row = 0;
  }
  return -1;
}

/* The number of this agent's row. It takes one if it has none; -1 if all are
   taken. */
static inline int32_t weft__row_own(int32_t *first, int32_t agents) {
  int32_t id = weft_agent_id();
  int32_t row = weft__row_find(first, agents, id);
  if (row >= 0) return row;
  while ((row = weft__row_find(first, agents, 0)) >= 0)
    if (weft__compare_exchange(first + row * WEFT__ROW, 0, id) == 0) return row;
  return -1;
}

/* The row of the agent `id`, or NULL. */
static inline weft__tracked_row *weft__tracked_find(const weft__tracked *t,
                                                    int32_t id) {
  int32_t row = weft__row_find(&t->rows[0].agent, t->agents, id);
  return row < 0 ? NULL : &t->rows[row];
}

/* This agent's row. It takes one if it has none; NULL if all are taken. */
static inline weft__tracked_row *weft__tracked_own(const weft__tracked *t) {
  int32_t row = weft__row_own(&t->rows[0].agent, t->agents);
  return row < 0 ? NULL : &t->rows[row];
}

/*
 * (C) Confirms the change that `seen` names, before it is replaced: its agent
 * may have been terminated before it did so. Returns false if there is no such
 * row.
 */
static inline bool weft__tracked_confirm(const weft__tracked *t, int32_t seen) {
  int32_t row = seen >> WEFT__TRACKED_ROW_SHIFT & WEFT__TRACKED_ROW_MASK;
  if (row >= t->agents) return false;
  int32_t *sequence = &t->rows[row].sequence;
  int32_t confirmed = weft__load(sequence);
  int32_t next = weft__plus(confirmed, 1);
  if ((next ^ seen) & WEFT__TRACKED_SEQUENCE_MASK) return true; /* it is */
  /* An old `seen` may name a change that is yet to come. */
  if (weft__load(t->counted) != seen) return true;
  /* If this fails, somebody else confirmed it. */
  weft__compare_exchange(sequence, confirmed, next);
  return true;
}

/* Whether a row made the change that the counted word names. */
static inline bool weft__tracked_made(const weft__tracked *t,
                                      const weft__tracked_row *row,
                                      int32_t counted) {
  return (counted >> WEFT__TRACKED_ROW_SHIFT & WEFT__TRACKED_ROW_MASK) ==
         (int32_t)(row - t->rows);
}

/* The counted word, which may be an old value if this row made the last change:
   then there is nothing to confirm, and the exchange checks it. */
static inline int32_t weft__tracked_look(const weft__tracked *t,
                                         const weft__tracked_row *row) {
  int32_t hint = weft__hint(t->counted);
  return weft__tracked_made(t, row, hint) ? hint : weft__load(t->counted);
}

/* Confirms the change that `seen` names, unless this row made it. */
static inline bool weft__tracked_ready(const weft__tracked *t,
                                       const weft__tracked_row *row,
                                       int32_t seen) {
  return weft__tracked_made(t, row, seen) || weft__tracked_confirm(t, seen);
}

/*
 * Adds `n` to the count, which the agent of the row then holds no longer, if
 * the counted word is still `seen`. Returns what it was.
 */
static inline int32_t weft__tracked_exchange(const weft__tracked *t,
                                             weft__tracked_row *row,
                                             int32_t seen, int32_t n) {
  int32_t last = weft__hint(&row->sequence); /* this agent wrote it */
  int32_t sequence = weft__plus(last, 1);
  /* This half does not count until the exchange: no other agent reads it. */
  row->held[sequence & 1] = weft__minus(row->held[last & 1], n);
  uint32_t count = (uint32_t)weft__plus(weft__tracked_count(seen), n);
  uint32_t next = (count & WEFT__TRACKED_SEQUENCE_MASK) << WEFT__TRACKED_SHIFT;
  next |= (uint32_t)(row - t->rows) << WEFT__TRACKED_ROW_SHIFT;
  next |= (uint32_t)(sequence & WEFT__TRACKED_SEQUENCE_MASK);
  int32_t was = weft__compare_exchange(t->counted, seen, (int32_t)next);
  if (was == seen) weft__store(&row->sequence, sequence);
  return was;
}

/* Takes `n` if at least `n` are free: 0, EBUSY, EINVAL if this agent needs a
   row and all are taken, or ENOTRECOVERABLE. */
static inline int weft__tracked_take(const weft__tracked *t, int32_t n) {
  weft__tracked_row *row = weft__tracked_own(t);
  if (row == NULL) return EINVAL;
  int32_t counted = weft__tracked_look(t, row);
  if (weft__tracked_count(counted) < n) counted = weft__load(t->counted);
  while (weft__tracked_count(counted) >= n) {
    int32_t seen = counted;
    if (!weft__tracked_ready(t, row, seen)) return ENOTRECOVERABLE;
    counted = weft__tracked_exchange(t, row, seen, -n);
    if (counted == seen) return 0;
  }
  return EBUSY;
}

/* Takes all that are free. Returns how many those were; if below 0, it is the
   error of weft__tracked_take. */
static inline int32_t weft__tracked_drain(const weft__tracked *t) {
  weft__tracked_row *row = weft__tracked_own(t);
  if (row == NULL) return -EINVAL;
  int32_t counted = weft__load(t->counted), free;
  while ((free = weft__tracked_count(counted)) > 0) {
    int32_t seen = counted;
    if (!weft__tracked_ready(t, row, seen)) return -ENOTRECOVERABLE;
    counted = weft__tracked_exchange(t, row, seen, -free);
    if (counted == seen) return free;
  }
  return 0;
}

/* Gives back `n`, which may be below 0: 0 or ENOTRECOVERABLE. How many are free
   then is in `*count`. */
static inline int weft__tracked_add(const weft__tracked *t,
                                    weft__tracked_row *row, int32_t n,
                                    int32_t *count) {
  int32_t counted = weft__tracked_look(t, row);
  for (;;) {
    int32_t seen = counted;
    if (!weft__tracked_ready(t, row, seen)) return ENOTRECOVERABLE;
    counted = weft__tracked_exchange(t, row, seen, n);
    *count = weft__plus(weft__tracked_count(seen), n);
    if (counted == seen) return 0;
  }
}

/* Gives back `n` that this agent holds: EPERM if it holds fewer, or as above.
 */
static inline int weft__tracked_give(const weft__tracked *t, int32_t n,
                                     int32_t *count) {
  weft__tracked_row *row = weft__tracked_find(t, weft_agent_id());
  if (row == NULL || row->held[weft__hint(&row->sequence) & 1] < n)
    return EPERM;
  return weft__tracked_add(t, row, n, count);
}

/* Takes `n`, as a debt if fewer are free: as weft__tracked_take. */
static inline int weft__tracked_owe(const weft__tracked *t, int32_t n) {
  weft__tracked_row *row = weft__tracked_own(t);
  int32_t count = 0;
  return row == NULL ? EINVAL : weft__tracked_add(t, row, -n, &count);
}

/* Gives back what a row holds, which this agent inherited. Returns how many
   there were, or -ENOTRECOVERABLE. */
static inline int32_t weft__tracked_empty(const weft__tracked *t,
                                          weft__tracked_row *row) {
  for (;;) {
    int32_t seen = weft__load(t->counted);
    /* the last change of the dead agent, if need be */
    if (!weft__tracked_confirm(t, seen)) return -ENOTRECOVERABLE;
    int32_t held = weft__tracked_held(row);
    if (held < 0 || held > WEFT__TRACKED_MAX - weft__tracked_count(seen))
      return -ENOTRECOVERABLE;
    if (held == 0 || weft__tracked_exchange(t, row, seen, held) == seen)
      return held;
  }
}

/*
 * Takes back what the agent `id` held. Only one of the agents that call this
 * does so; it inherits the row meanwhile. Returns how many there were, or
 * -ENOTRECOVERABLE.
 */
static inline int32_t weft__tracked_abandon(const weft__tracked *t,
                                            int32_t id) {
  int32_t sum = 0;
  for (int32_t i = 0; i < t->agents; i++) {
    int32_t *agent = &t->rows[i].agent;
    /* (H) From here on, this agent alone changes the row. */
    if (weft__compare_exchange(agent, id, weft_agent_id()) != id) continue;
    int32_t held = weft__tracked_empty(t, &t->rows[i]);
    weft__store(agent, held < 0 ? id : 0);
    if (held < 0) return held;
    sum += held;
  }
  return sum;
}

WEFT__END

#endif /* WEFT__TRACKED_H */

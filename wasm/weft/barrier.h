/* barrier.h - the twin of primitives/_lock/barrier.ts. */
#ifndef WEFT_BARRIER_H
#define WEFT_BARRIER_H

#include "_region.h"
#include "_spin.h"
#include "_tracked.h"
#include "_wait.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

#define WEFT_BARRIER_ARRIVED_MASK 0xfff /* BARRIER_BITS.ARRIVED */
#define WEFT_BARRIER_ONE_PARTY (1 << 12) /* BARRIER_BITS.PARTIES */
#define WEFT_BARRIER_PARTIES_MASK (0xfff << 12) /* BARRIER_BITS.PARTIES */
#define WEFT_BARRIER_WAITING_BIT (1 << 24) /* BARRIER_BITS.WAITING */
#define WEFT_BARRIER_ONE_GENERATION (1 << 25) /* BARRIER_BITS.GENERATION */
#define WEFT_BARRIER_GENERATION_MASK (-(1 << 25)) /* BARRIER_BITS.GENERATION */

/* The most parties a barrier can have, and of a tracked one. */
#define WEFT_BARRIER_MAX 0xfff /* BARRIER_BITS.PARTIES */
#define WEFT_BARRIER_MAX_TRACKED WEFT__TRACKED_MAX_ROWS

/* In the state of a tracked barrier. */
#define WEFT__BARRIER_CHANGES_MASK 0xffffff /* BARRIER_BITS.CHANGES */
/* The agent of a row whose party has left. */
#define WEFT__BARRIER_LEFT (-1)

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A barrier.
 *
 * word 0  magic    Kind and layout version.
 * word 1  parties  How many parties it was made for, 1 to 4095.
 * word 2  tracked  The same if parties note that they arrive, up to 255; 0 if
 *                  not.
 * word 3  seal     Check word over the configuration.
 * word 4  state    bits 0-11   parties that have arrived
 *                  bits 12-23  parties that have not left; if they are tracked,
 *                              bits 0-23 change when one takes its arrival back
 *                  bit 24      WAITING: somebody may sleep on this word
 *                  bits 25-31  the generation, modulo 128
 *                  sleepers: parties that have arrived
 * word 5  From word 40 on, if parties are tracked, rows of 32 words. A row has
 *         the id of its agent, 0 if no party has it yet, or -1 if that party
 *         has left; and 0, or twice the generation in which the party arrived
 *         last, plus 1.
 *
 * Freed when: no agent waits, and none will begin an operation. The leader may
 * still be in its arrival.
 */
typedef struct {
  int32_t magic;
  int32_t parties;
  int32_t tracked;
  int32_t seal;
  int32_t state;
} weft_barrier;
WEFT_WORD(barrier, magic, 0);
WEFT_WORD(barrier, parties, 1);
WEFT_WORD(barrier, tracked, 2);
WEFT_WORD(barrier, seal, 3);
WEFT_WORD(barrier, state, 4);
WEFT_LENGTH(barrier, 5);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a barrier, as a constant and as a function. */
#define WEFT_BARRIER_BYTES sizeof(weft_barrier)
static inline size_t weft_barrier_bytes(void) { return sizeof(weft_barrier); }

/* The row of a party. */
typedef struct {
  int32_t agent;   /* its id; 0 if nobody has it yet, -1 if it has left */
  int32_t arrived; /* 0, or twice the generation in which it arrived, plus 1 */
  int32_t _pad[30];
} weft__party;

/* The first of its rows. */
#define WEFT__BARRIER_ROWS 40

/* The bytes of a barrier that tracks 1 to 255 parties, as a constant
   expression; 0 if out of range. */
#define WEFT_BARRIER_TRACKED_BYTES(tracked)              \
  ((tracked) < 1 || (tracked) > WEFT_BARRIER_MAX_TRACKED \
       ? 0                                               \
       : sizeof(int32_t) * WEFT__BARRIER_ROWS +          \
             sizeof(weft__party) * (tracked))

/* The same as a function. */
static inline size_t weft_barrier_tracked_bytes(int32_t tracked) {
  return WEFT_BARRIER_TRACKED_BYTES((uint32_t)tracked);
}

/* The barrier at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_barrier *weft_barrier_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_barrier) != NULL) return NULL;
  return (weft_barrier *)at;
}

/* Initializes `bytes` bytes of unused memory as a barrier for `parties` agents,
   1 to 4095. NULL if that number is out of range, the bytes are too few, or
   `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_barrier *weft_barrier_init(void *at,
                                                           size_t bytes,
                                                           int32_t parties) {
  weft_barrier *b = (weft_barrier *)at;
  if (!weft__fits(at, bytes, sizeof *b)) return NULL;
  if (parties < 1 || parties > WEFT_BARRIER_MAX) return NULL;
  weft__zero(at, sizeof *b);
  b->parties = parties;
  b->seal = weft__seal(WEFT_KIND_barrier, parties, 0);
  b->state = parties * WEFT_BARRIER_ONE_PARTY;
  weft__store(&b->magic, weft__magic(WEFT_KIND_barrier));
  return b;
}

/* The same for a barrier whose parties, 1 to 255, note that they arrive. */
static inline WEFT__RESULT weft_barrier *weft_barrier_init_tracked(
    void *at, size_t bytes, int32_t parties) {
  weft_barrier *b = (weft_barrier *)at;
  size_t needed = weft_barrier_tracked_bytes(parties);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  b->parties = b->tracked = parties;
  b->seal = weft__seal(WEFT_KIND_barrier, parties, parties);
  weft__store(&b->magic, weft__magic(WEFT_KIND_barrier));
  return b;
}

/* How many parties note that they arrive, or 0. */
static inline int32_t weft_barrier_tracked(const weft_barrier *b) {
  return b->tracked;
}

/* The rows of a tracked barrier. */
static inline weft__party *weft__barrier_rows(const weft_barrier *b) {
  int32_t *words = weft__words_with_rows(b);
  return (weft__party *)(void *)(words + WEFT__BARRIER_ROWS);
}

/* What a party that has arrived notes in a tracked barrier with this state. */
static inline int32_t weft__barrier_mark(int32_t state) {
  return (int32_t)((uint32_t)state >> 25) << 1 | 1;
}

/* How many parties of a tracked barrier have not left; *arrived have arrived
   with this mark. */
static inline int32_t weft__barrier_count(const weft_barrier *b, int32_t mark,
                                          int32_t *arrived) {
  const weft__party *rows = weft__barrier_rows(b);
  int32_t parties = b->tracked;
  *arrived = 0;
  for (int32_t i = 0; i < b->tracked; i++) {
    if (weft__load(&rows[i].agent) == WEFT__BARRIER_LEFT)
      parties--;
    else if (weft__load(&rows[i].arrived) == mark)
      ++*arrived;
  }
  return parties;
}

/* How many parties have not left. */
static inline int32_t weft_barrier_parties(const weft_barrier *b) {
  int32_t arrived = 0;
  if (b->tracked != 0) return weft__barrier_count(b, 0, &arrived);
  return (weft__load(&b->state) & WEFT_BARRIER_PARTIES_MASK) /
         WEFT_BARRIER_ONE_PARTY;
}

/* How many parties have arrived and wait. */
static inline int32_t weft_barrier_arrived(const weft_barrier *b) {
  int32_t state = weft__load(&b->state);
  if (b->tracked == 0) return state & WEFT_BARRIER_ARRIVED_MASK;
  int32_t arrived = 0;
  (void)weft__barrier_count(b, weft__barrier_mark(state), &arrived);
  return arrived;
}

/* The state after all have arrived: the next generation, in which nobody has
   arrived. */
static inline int32_t weft__barrier_next_generation(int32_t state) {
  return weft__plus(state & (WEFT_BARRIER_GENERATION_MASK |
                             WEFT_BARRIER_PARTIES_MASK),
                    WEFT_BARRIER_ONE_GENERATION);
}

/* Ends the generation of `since` if all parties of a tracked barrier have
   arrived: whether it did. */
static inline bool weft__barrier_try_end(weft_barrier *b, int32_t since) {
  for (;;) {
    int32_t state = weft__load(&b->state);
    if ((state ^ since) & WEFT_BARRIER_GENERATION_MASK) return false;
    int32_t arrived = 0;
    int32_t mark = weft__barrier_mark(state);
    int32_t parties = weft__barrier_count(b, mark, &arrived);
    if (arrived == 0 || arrived < parties) return false;
    /* (E) Whoever takes an arrival back changes the word. */
    int32_t next = weft__plus(state & WEFT_BARRIER_GENERATION_MASK,
                              WEFT_BARRIER_ONE_GENERATION);
    if (weft__compare_exchange(&b->state, state, next) != state) continue;
    if (state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, WEFT__ALL);
    return true;
  }
}

/* This agent's row of a tracked barrier; NULL if all are taken. */
static inline weft__party *weft__barrier_own(weft_barrier *b) {
  weft__party *rows = weft__barrier_rows(b);
  int32_t row = weft__row_own(&rows[0].agent, b->tracked);
  return row < 0 ? NULL : &rows[row];
}

static inline int weft__barrier_leave_tracked(weft_barrier *b) {
  weft__party *row = weft__barrier_own(b);
  if (row == NULL) return -EINVAL;
  weft__store(&row->agent, WEFT__BARRIER_LEFT);
  return weft__barrier_try_end(b, weft__load(&b->state)) ? 1 : 0;
}

/* Removes the party that agent `id` was for ever, if the barrier is tracked.
   Call it only when that agent will never run again. If all other parties have
   arrived, they go on. Returns how many parties left: 1, or 0 if the agent was
   none, or had never arrived. */
static inline int32_t weft_barrier_abandon(weft_barrier *b, int32_t id) {
  if (b->tracked == 0 || !WEFT__AGENT_CAN_BE(id)) return 0;
  weft__party *rows = weft__barrier_rows(b);
  int32_t count = 0;
  for (int32_t i = 0; i < b->tracked; i++) {
    int32_t *agent = &rows[i].agent;
    /* (H) One of the agents that abandon `id` takes the party out. */
    if (weft__compare_exchange(agent, id, WEFT__BARRIER_LEFT) == id) count++;
  }
  if (count > 0) (void)weft__barrier_try_end(b, weft__load(&b->state));
  return count;
}

/*
 * Removes one party for ever. `arrived` says that it was terminated while it
 * waited; then its arrival is taken back. Returns 1 if this ended the
 * generation, else 0; -EINVAL if no party is left, or if `arrived` and none has
 * arrived. Of a tracked barrier, only this agent's own party can leave:
 * `arrived` is -EPERM.
 */
static inline int weft_barrier_leave(weft_barrier *b, bool arrived) {
  if (b->tracked != 0) return arrived ? -EPERM : weft__barrier_leave_tracked(b);
  int32_t state = weft__load(&b->state);
  for (;;) {
    int32_t expected = state;
    int32_t all = state & WEFT_BARRIER_PARTIES_MASK;
    if (all == 0 || (arrived && (state & WEFT_BARRIER_ARRIVED_MASK) == 0))
      return -EINVAL;
    int32_t left =
        weft__minus(state, WEFT_BARRIER_ONE_PARTY + (arrived ? 1 : 0));
    int32_t waiting = left & WEFT_BARRIER_ARRIVED_MASK;
    bool ends = waiting > 0 && waiting * WEFT_BARRIER_ONE_PARTY >=
                                   (left & WEFT_BARRIER_PARTIES_MASK);
    int32_t next = ends ? weft__barrier_next_generation(left) : left;
    state = weft__compare_exchange(&b->state, expected, next);
    if (state != expected) continue;
    if (ends && state & WEFT_BARRIER_WAITING_BIT)
      weft__notify(&b->state, WEFT__ALL);
    return ends ? 1 : 0;
  }
}

/* Arrives. *since is the state after that. Returns 1 if this party was the
   last, else 0; -EINVAL if no party is left. */
static inline int weft__barrier_arrive(weft_barrier *b, int32_t *since) {
  int32_t state = weft__hint(&b->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    int32_t arrived = (state & WEFT_BARRIER_ARRIVED_MASK) + 1;
    bool last = arrived * WEFT_BARRIER_ONE_PARTY >=
                (state & WEFT_BARRIER_PARTIES_MASK);
    /* None comes back, so an old state cannot be wrong about this. */
    if (last && (state & WEFT_BARRIER_PARTIES_MASK) == 0) return -EINVAL;
    int32_t next = last ? weft__barrier_next_generation(state) : state + 1;
    state = weft__compare_exchange(&b->state, expected, next);
    if (state != expected) continue;
    *since = next;
    if (last && state & WEFT_BARRIER_WAITING_BIT)
      weft__notify(&b->state, WEFT__ALL);
    return last ? 1 : 0;
  }
}

/* Waits for the end of the generation of a tracked barrier in which we arrived,
   at the state `since`. */
static inline int weft__barrier_wait_tracked(weft_barrier *b, int32_t since,
                                             bool *leader, int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  bool late = false;
  for (;;) {
    int32_t state = weft__load(&b->state);
    if ((state ^ since) & WEFT_BARRIER_GENERATION_MASK) return 0;
    if (late) {
      /* (Q) Take it back, then change the word: whoever had counted it looks
         again. The generation may end before. */
      weft__party *rows = weft__barrier_rows(b);
      int32_t row =
          weft__row_find(&rows[0].agent, b->tracked, weft_agent_id());
      if (row < 0) return ETIMEDOUT; /* its party has left meanwhile */
      weft__store(&rows[row].arrived, 0);
      int32_t next = (state & ~WEFT__BARRIER_CHANGES_MASK) |
                     (weft__plus(state, 1) & WEFT__BARRIER_CHANGES_MASK);
      if (weft__compare_exchange(&b->state, state, next) != state) continue;
      weft__notify(&b->state, WEFT__ALL); /* others sleep on what it was */
      return ETIMEDOUT;
    }
    int32_t value = state | WEFT_BARRIER_WAITING_BIT;
    if (state != value &&
        weft__compare_exchange(&b->state, state, value) != state)
      continue;
    int slept = weft__sleep(&b->state, value, deadline, WEFT__LOOK);
    late = slept == WEFT__TIMED_OUT;
    /* The last one may have been terminated before it ended the generation. */
    if (weft__barrier_try_end(b, since)) {
      *leader = true;
      return 0;
    }
  }
}

static inline int weft__barrier_arrive_tracked(weft_barrier *b, bool *leader,
                                               int64_t timeout) {
  weft__party *row = weft__barrier_own(b);
  if (row == NULL) return EINVAL;
  int32_t since = weft__load(&b->state);
  if (weft__hint(&row->arrived) == weft__barrier_mark(since)) return EDEADLK;
  /* (R) Note it, then look at the others: the last one sees all. */
  weft__store(&row->arrived, weft__barrier_mark(since));
  *leader = weft__barrier_try_end(b, since);
  if (*leader) return 0;
  WEFT__SPIN(spin, NULL, timeout) {
    int32_t passed =
        (since ^ weft__load(&b->state)) & WEFT_BARRIER_GENERATION_MASK;
    if (weft__spin_found(spin, passed != 0)) return 0;
  }
  return weft__barrier_wait_tracked(b, since, leader, timeout);
}

/* Waits for the end of the generation in which we arrived, at the state
   `since`. */
static inline int weft__barrier_wait_slow(weft_barrier *b, int32_t since,
                                          int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t state = weft__load(&b->state);
  bool last = false;
  while (((state ^ since) & WEFT_BARRIER_GENERATION_MASK) == 0) {
    int32_t expected = state;
    /* The generation did not end, so our arrival is still counted. */
    state = last ? state - 1 : state | WEFT_BARRIER_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&b->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    if (last) return ETIMEDOUT;
    /* Every arrival changes the word, but only the last one wakes. */
    int outcome = weft__sleep(&b->state, state, deadline, WEFT__LOOK);
    state = weft__load(&b->state);
    last = outcome == WEFT__TIMED_OUT;
  }
  return 0;
}

/*
 * Arrives, and blocks up to `timeout` ns until all parties have arrived; then
 * ETIMEDOUT, and the arrival is taken back. *leader says whether this party was
 * the last to arrive; `leader` may be NULL. EINVAL if no party is left, or if
 * the barrier is tracked and has no row for this agent; EDEADLK if this agent
 * has arrived.
 */
static inline int weft_barrier_arrive_and_wait(weft_barrier *b, bool *leader,
                                               int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  if (b->tracked != 0) {
    bool ended = false;
    int result = weft__barrier_arrive_tracked(b, &ended, timeout);
    if (leader != NULL) *leader = ended;
    return result;
  }
  int32_t since = 0;
  int last = weft__barrier_arrive(b, &since);
  if (leader != NULL) *leader = last > 0;
  if (last != 0) return last < 0 ? EINVAL : 0;
  WEFT__SPIN(spin, NULL, timeout) {
    int32_t passed =
        (weft__load(&b->state) ^ since) & WEFT_BARRIER_GENERATION_MASK;
    if (weft__spin_found(spin, passed != 0)) return 0;
  }
  return weft__barrier_wait_slow(b, since, timeout);
}

WEFT__END

#endif

#endif /* WEFT_BARRIER_H */

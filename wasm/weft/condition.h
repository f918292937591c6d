/* condition.h - the twin of primitives/condition.ts. */
#ifndef WEFT_CONDITION_H
#define WEFT_CONDITION_H

#include "mutex.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

#define WEFT_CONDITION_CALLED_MASK 0x7fff /* CONDITION_BITS.CALLED */
#define WEFT_CONDITION_ONE_CALLED 1 /* CONDITION_BITS.CALLED */
#define WEFT_CONDITION_ONE_WAITING (1 << 15) /* CONDITION_BITS.WAITING */
#define WEFT_CONDITION_WAITING_MASK (0x7fff << 15) /* CONDITION_BITS.WAITING */
#define WEFT_CONDITION_GATHERS_BIT (1 << 30) /* CONDITION_BITS.GATHERS */

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A condition. All words 0: nobody waits.
 *
 * word 0  turn  The number of the group that is called, modulo 2^32; the group
 *               after it gathers.
 * word 1  even  The state of the groups with an even number:
 *               bits 0-14   called: agents that may go on, but did not yet
 *               bits 15-29  waiting: agents that are not called yet
 *               bit 30      GATHERS: agents that wait belong to the group two
 *                           after the called one
 *               bit 31      bit 1 of the number of the called group, plus 1
 *               sleepers: agents of even groups
 * word 2  odd   The same for the groups with an odd number.
 *               sleepers: agents of odd groups
 *
 * Freed when: every wait and notify of every agent has returned, and none will
 * begin. An agent whose wait has returned has the mutex: so it knows that each
 * notify which was made with the mutex locked has returned, too.
 */
typedef struct {
  int32_t turn;
  int32_t even;
  int32_t odd;
} weft_condition;
WEFT_WORD(condition, turn, 0);
WEFT_WORD(condition, even, 1);
WEFT_WORD(condition, odd, 2);
WEFT_LENGTH(condition, 3);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a condition, as a constant and as a function. */
#define WEFT_CONDITION_BYTES sizeof(weft_condition)
static inline size_t weft_condition_bytes(void) {
  return sizeof(weft_condition);
}

/* Initializes `bytes` bytes of unused memory as a condition that nobody waits
   for. Memory that is all zero is one already. NULL if the bytes are too few,
   or `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_condition *weft_condition_init(void *at,
                                                               size_t bytes) {
  if (!weft__fits(at, bytes, sizeof(weft_condition))) return NULL;
  weft__zero(at, sizeof(weft_condition));
  return (weft_condition *)at;
}

/* The word in which the agents of a group are counted, and on which they
   sleep. */
static inline int32_t *weft__condition_place(weft_condition *c,
                                             int32_t group) {
  return group & 1 ? &c->odd : &c->even;
}

/* How many of the agents in a word are not called yet. */
static inline int32_t weft__condition_waiting(int32_t state) {
  return (state & WEFT_CONDITION_WAITING_MASK) / WEFT_CONDITION_ONE_WAITING;
}

/* Bit 31 of a word whose called agents belong to a group. */
static inline int32_t weft__condition_mark(int32_t group) {
  return weft__plus(group, 1) & 2 ? INT32_MIN : 0;
}

/* Whether the called agents of a word belong to a group. */
static inline bool weft__condition_calls(int32_t state, int32_t group) {
  return (state ^ weft__condition_mark(group)) >= 0;
}

/* Joins the group that is gathering, and gives its number. EINVAL if it is
   full, or ENOTRECOVERABLE if the words are damaged. */
static inline int weft__condition_join(weft_condition *c, int32_t *group) {
  for (int32_t tries = WEFT__MOST_TRIES; tries > 0; tries--) {
    int32_t turn = weft__load(&c->turn);
    *group = weft__plus(turn, 1);
    int32_t *place = weft__condition_place(c, *group);
    int32_t state = weft__load(place);
    if (weft__condition_calls(state, *group)) {
      /* The turn has passed to this group, or will pass. */
      weft__compare_exchange(&c->turn, turn, *group);
      continue;
    }
    if (weft__load(&c->turn) != turn) continue; /* (P) */
    if ((state & WEFT_CONDITION_WAITING_MASK) == WEFT_CONDITION_WAITING_MASK)
      return EINVAL;
    int32_t joined =
        (state | WEFT_CONDITION_GATHERS_BIT) + WEFT_CONDITION_ONE_WAITING;
    /* (J) Fails if the turn passed to the group meanwhile. */
    if (weft__compare_exchange(place, state, joined) == state) return 0;
  }
  return ENOTRECOVERABLE;
}

/* Waits to be called: 0, or ETIMEDOUT. */
static inline int weft__condition_wait_slow(weft_condition *c, int32_t group,
                                            int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t *place = weft__condition_place(c, group);
  int32_t *before = weft__condition_place(c, weft__minus(group, 1));
  int outcome = WEFT__NOT_EQUAL;
  int32_t passed = 0;    /* the state at which a wake was passed on */
  int32_t unheard = 0;   /* calls before us that nobody took, and since when */
  int64_t since = 0;
  bool inherits = false; /* one of these */
  for (;;) {
    int32_t state = weft__load(place);
    /* (P) If that was long ago, the phase is not known. */
    if (weft__minus(group, weft__load(&c->turn)) < -1) return 0;
    bool ours = weft__condition_calls(state, group);
    if (ours && state & WEFT_CONDITION_CALLED_MASK) {
      int32_t taken = state - WEFT_CONDITION_ONE_CALLED;
      if (weft__compare_exchange(place, state, taken) != state) continue;
      return 0;
    }
    /* If it does not count us as waiting, all are called, and so are we. */
    bool counts = ours == ((state & WEFT_CONDITION_GATHERS_BIT) == 0);
    if (!counts || (state & WEFT_CONDITION_WAITING_MASK) == 0) return 0;
    if (inherits || outcome == WEFT__TIMED_OUT) {
      int32_t left = state - WEFT_CONDITION_ONE_WAITING;
      if (weft__compare_exchange(place, state, left) != state) continue;
      return inherits ? 0 : ETIMEDOUT;
    }
    if (!ours) {
      /* Agents of the second group before us may sleep here, too: pass the wake
         on. */
      if (outcome == WEFT__OK && state & WEFT_CONDITION_CALLED_MASK &&
          state != passed) {
        passed = state;
        weft__notify(place, 1);
      }
      /* A terminated agent may keep the group before us from ending. If it does
         not take its call for a second, we may take it. */
      int32_t others = weft__load(before);
      if (others & WEFT_CONDITION_CALLED_MASK) {
        int64_t now = WEFT_NOW();
        if (others != unheard) {
          unheard = others;
          since = now;
        } else if (now - since > WEFT__LOOK) {
          inherits = true;
          continue;
        }
      }
    }
    outcome = weft__sleep(place, state, deadline, WEFT__LOOK);
  }
}

/* Spins, and then sleeps, until the group is called: 0, or ETIMEDOUT. `seen` is
   what its word was before this agent unlocked. */
static inline int weft__condition_sleep(weft_condition *c, int32_t group,
                                        int32_t seen, int64_t timeout) {
  int32_t *place = weft__condition_place(c, group);
  WEFT__SPIN(spin, NULL, timeout) {
    if (weft__spin_found(spin, weft__load(place) != seen)) break;
  }
  return weft__condition_wait_slow(c, group, timeout);
}

/* Ends a wait, with what the sleep and then the lock have returned. */
static inline int weft__condition_return(weft_condition *c, int32_t group,
                                         int result, int locked) {
  int32_t *place = weft__condition_place(c, group);
  /* We have the lock now, so the next called agent may come. */
  if (result == 0 && weft__load(place) & WEFT_CONDITION_CALLED_MASK)
    weft__notify(place, 1);
  return locked != 0 ? locked : result;
}

/*
 * Unlocks the mutex, blocks up to `timeout` ns until it is notified, and locks
 * the mutex again, however long that takes. Returns 0 or ETIMEDOUT; or
 * EOWNERDEAD in both cases if the mutex was abandoned meanwhile. Two errors
 * come before anything is done: EPERM if this agent may not block or does not
 * hold the mutex, and EINVAL if 32767 agents wait already.
 */
static inline int weft_condition_wait(weft_condition *c, weft_mutex *m,
                                      int64_t timeout) {
  int32_t group = 0;
  int32_t id = weft_agent_id();
  if (!weft__may_block() || weft_mutex_owner(m) != id) return EPERM;
  int result = weft__condition_join(c, &group);
  if (result != 0) return result;
  int32_t seen = weft__load(weft__condition_place(c, group));
  weft_mutex_unlock(m);
  result = weft__condition_sleep(c, group, seen, timeout);
  int locked =
      weft__mutex_lock_slow(m, id, WEFT_MUTEX_UNLOCKED, WEFT_FOREVER, false);
  return weft__condition_return(c, group, result, locked);
}

/* Calls up to `n` of the waiting agents, and wakes one. ENOTRECOVERABLE if the
   words are damaged. */
static inline int weft__condition_call(weft_condition *c, int32_t n) {
  int32_t turn = weft__load(&c->turn);
  for (int32_t tries = WEFT__MOST_TRIES; tries > 0; tries--) {
    int32_t *place = weft__condition_place(c, turn);
    int32_t state = weft__load(place);
    if (state & WEFT_CONDITION_GATHERS_BIT) {
      /* The turn has passed on. */
      turn = weft__load(&c->turn);
      continue;
    }
    int32_t waiting = weft__condition_waiting(state);
    if (waiting > 0) {
      int32_t k = n < waiting ? n : waiting;
      int32_t called =
          state - k * (WEFT_CONDITION_ONE_WAITING - WEFT_CONDITION_ONE_CALLED);
      if (weft__compare_exchange(place, state, called) != state) continue;
      weft__notify(place, 1);
      n -= k;
      if (n == 0) return 0;
    }
    int32_t next = weft__plus(turn, 1);
    int32_t *after = weft__condition_place(c, next);
    int32_t gathered = weft__load(after);
    if (weft__condition_calls(gathered, next)) {
      /* The turn has passed, or will pass. */
      int32_t seen = weft__compare_exchange(&c->turn, turn, next);
      turn = seen == turn ? next : seen;
      continue;
    }
    int32_t gathering = weft__condition_waiting(gathered);
    if (gathering == 0) return 0;
    int32_t now = weft__load(&c->turn); /* (P) */
    if (now != turn) {
      turn = now;
      continue;
    }
    int32_t k = n < gathering ? n : gathering;
    int32_t called = weft__condition_mark(next) |
                     (gathering - k) * WEFT_CONDITION_ONE_WAITING | k;
    if (weft__compare_exchange(after, gathered, called) != gathered) continue;
    weft__compare_exchange(&c->turn, turn, next);
    /* If an agent two groups older wakes instead, it passes the wake on. */
    weft__notify(after, 1);
    return 0;
  }
  return ENOTRECOVERABLE;
}

/* Lets n of the agents that wait now continue, or all if there are fewer.
   EINVAL if n is below 1, ENOTRECOVERABLE if the words are damaged. */
static inline int weft_condition_notify(weft_condition *c, int32_t n) {
  if (n < 1) return EINVAL;
  return weft__condition_call(c, n);
}

/* Lets all agents that wait now continue. ENOTRECOVERABLE if the words are
   damaged. */
static inline int weft_condition_notify_all(weft_condition *c) {
  return weft__condition_call(c, WEFT__ALL);
}

WEFT__END

#endif

#endif /* WEFT_CONDITION_H */

/* _spin.h - the twin of primitives/_spin.ts. */
#ifndef WEFT__SPIN_H
#define WEFT__SPIN_H

#include "agent.h"

WEFT__BEGIN

/* How often a blocking call looks for itself before it sleeps. */
#ifndef WEFT_SPIN_ROUNDS
#define WEFT_SPIN_ROUNDS 20
#endif

/* Passes so many tenths of a microsecond, about, without touching shared
   memory. */
static inline void weft__pass(int tenths) {
  volatile int left = 40 * tenths;
  while (left > 0) {
    int rest = left;
    left = rest - 1;
#if defined(__x86_64__) || defined(__i386__)
    if (rest % 16 == 0) __builtin_ia32_pause();
#endif
  }
}

/* Passes about a microsecond. */
static inline void weft__relax(void) { weft__pass(10); }

/* Passes a tenth of it: for what another agent does in a few steps. */
static inline void weft__relax_briefly(void) { weft__pass(1); }

/* Each so many calls, one spins for all its rounds, to see if it pays off. */
#define WEFT__SPIN_PROBE 32

/* A call spins as long as a sleep and a wake would take it, in any case. */
#define WEFT__SPIN_FEWEST 2
/* Elements come in a stream if an index moved so far since the last spin. */
#define WEFT__SPIN_STREAM 32
/* The most rounds of spinning without a look. */
#define WEFT__SPIN_LULL 8

#ifndef WEFT_REALTIME /* what may wait */
/*
 * How many rounds a call may spin. Where the other side has no core to run on,
 * spinning only keeps it waiting; so each call in vain halves the rounds of the
 * next, and one that paid off allows for twice what it took.
 */
static inline int32_t weft__spin_rounds(int64_t timeout) {
  weft_agent *agent = &WEFT_AGENT();
  if (timeout == 0) return 0;
  if (++agent->calls % WEFT__SPIN_PROBE == 0) return WEFT_SPIN_ROUNDS;
  return WEFT_SPIN_ROUNDS - agent->spared;
}

/* A call found what it looked for in its round `round`, from 1. */
static inline void weft__spin_paid(int32_t round) {
  weft_agent *agent = &WEFT_AGENT();
  int32_t spared = WEFT_SPIN_ROUNDS - 2 * round - 2;
  if (spared < 0) spared = 0;
  if (agent->spared > spared) agent->spared = spared;
}

/* A call that was allowed `rounds` did not. */
static inline void weft__spin_failed(int32_t rounds) {
  weft_agent *agent = &WEFT_AGENT();
  int32_t left = (WEFT_SPIN_ROUNDS - agent->spared) >> 1;
  if (left < WEFT__SPIN_FEWEST) left = WEFT__SPIN_FEWEST;
  if (rounds > left) agent->spared = WEFT_SPIN_ROUNDS - left;
}

/* Looks for a while whether `found`; if it is, does `then`. */
#define WEFT__SPIN(found, timeout, then)                \
  do {                                                  \
    int32_t rounds = weft__spin_rounds(timeout);        \
    int32_t round = 1;                                  \
    for (; round <= rounds; round++) {                  \
      weft__relax();                                    \
      if (found) break;                                 \
    }                                                   \
    if (round > rounds) {                               \
      weft__spin_failed(rounds);                        \
    } else {                                            \
      weft__spin_paid(round);                           \
      then;                                             \
    }                                                   \
  } while (0)

/*
 * For how many rounds to look away before the first look. In a stream of
 * elements each look takes a cache line from the other side, and an end that
 * comes too close behind the other takes it more: there it is up to 8. `own` is
 * the index of this end.
 */
static inline int32_t weft__spin_lull(const int32_t *own) {
  weft_agent *agent = &WEFT_AGENT();
  int32_t at = weft__hint(own);
  bool streams = agent->spun_on == own &&
                 weft__minus(at, agent->spun_at) >= WEFT__SPIN_STREAM;
  int32_t lull = streams ? 2 * agent->lull : 1;
  agent->lull = (uint8_t)(lull < WEFT__SPIN_LULL ? lull : WEFT__SPIN_LULL);
  agent->spun_on = own;
  agent->spun_at = at;
  return agent->lull;
}
#endif

WEFT__END

#endif /* WEFT__SPIN_H */

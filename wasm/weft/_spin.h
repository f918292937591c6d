/* _spin.h - the twin of primitives/_wait/spin.ts. */
#ifndef WEFT__SPIN_H
#define WEFT__SPIN_H

#include "agent.h"

WEFT__BEGIN

/* How many rounds a blocking call spins before it sleeps. With 0, a program has
   no code to spin. */
#ifndef WEFT_SPIN_ROUNDS
#define WEFT_SPIN_ROUNDS 20
#endif

/* Waits for about `tenths` of a microsecond, without reading shared memory. */
static inline WEFT__SHARED void weft__pass(int tenths) {
  volatile int left;
  int rest = 40 * tenths;
  do {
#if defined(__x86_64__) || defined(__i386__)
    if (rest % 16 == 0) __builtin_ia32_pause();
#endif
    left = rest;
    rest = left - 1;
  } while (rest > 0);
}

/* Waits for about a microsecond. */
static inline void weft__relax(void) { weft__pass(10); }

/* Waits for a tenth of that, while another agent does a few steps. */
static inline void weft__relax_briefly(void) { weft__pass(1); }

/* Begin of what `deno task layout` makes from primitives/_wait/spin.ts. */
/* clang-format off */
/* One call in this many spins for all its rounds, to see if that helps. */
#define WEFT__SPIN_PROBE 32
/* The fewest rounds: a call spins for as long as a sleep and a wake take. */
#define WEFT__SPIN_FEWEST 2
/* Elements stream if an index moved by this much since the last spin. */
#define WEFT__SPIN_STREAM 32
/* The most rounds of spinning before the first look. */
#define WEFT__SPIN_LONGEST_DELAY 16
/* The first looks of a patient spin, a fifth of a microsecond apart. */
#define WEFT__SPIN_EAGER 40
/* The looks after them, a microsecond apart: a wake takes less. */
#define WEFT__SPIN_PATIENT 40
/* The waits of one trial: they wait in one way, and are timed together. */
#define WEFT__SPIN_TRIAL 16
/* The most, in microseconds, that a trial counts from wait to wait. */
#define WEFT__SPIN_LONGEST_STEP 64
/* The other way is tried again after at most 2^n trials of the better one. */
#define WEFT__SPIN_MOST_TRUST 5
/* clang-format on */
/* End of what `deno task layout` makes. */

#ifndef WEFT_REALTIME /* what may wait */
/*
 * How many rounds a call may spin. If the other side has no core to run on,
 * spinning only keeps it waiting. So each call that spins without success
 * halves the rounds of the next, and a call that succeeds allows the next one
 * twice the rounds it needed.
 */
static inline int32_t weft__spin_rounds(int64_t timeout) {
  weft_agent *agent = &WEFT_AGENT();
  if (timeout == 0) return 0;
  agent->calls = (uint8_t)((agent->calls + 1) % WEFT__SPIN_PROBE);
  if (agent->calls == 0) return WEFT_SPIN_ROUNDS;
  return WEFT_SPIN_ROUNDS - agent->spared;
}

/*
 * One call's spinning, in one word, which stays in a register: 0 if it is over.
 *   bits 0-11   the round it is in, from 1
 *   bits 12-23  how many rounds it may take
 *   bits 24-31  how many rounds pass until the next look
 */
typedef uint32_t weft__spinning;
#define WEFT__SPIN_ROUND_MASK 0xfff
#define WEFT__SPIN_ROUND(spin) ((int32_t)((spin) & WEFT__SPIN_ROUND_MASK))
#define WEFT__SPIN_MOST(spin) WEFT__SPIN_ROUND((spin) >> 12)

/* The spinning of at most `rounds` rounds, above 0, with its first look after
   `delay` of them. */
static inline weft__spinning weft__spin_of(int32_t rounds, int32_t delay) {
  if (WEFT_SPIN_ROUNDS > WEFT__SPIN_ROUND_MASK &&
      rounds > WEFT__SPIN_ROUND_MASK)
    rounds = WEFT__SPIN_ROUND_MASK;
  if (delay > rounds) delay = rounds;
  return (uint32_t)rounds << 12 | (uint32_t)delay << 24;
}

/* Notes that `rounds` rounds of spinning were useless. */
static inline void weft__spin_useless(int32_t rounds) {
  weft_agent *agent = &WEFT_AGENT();
  int32_t left = (WEFT_SPIN_ROUNDS - agent->spared) >> 1;
  if (left < WEFT__SPIN_FEWEST) left = WEFT__SPIN_FEWEST;
  if (rounds > left) agent->spared = WEFT_SPIN_ROUNDS - left;
}

/* Spins until the next look; a round takes about a microsecond. Returns 0 if it
   is better to sleep now. */
static inline WEFT__SHARED weft__spinning weft__spin_next(weft__spinning spin) {
  if (WEFT__SPIN_ROUND(spin) >= WEFT__SPIN_MOST(spin)) {
    weft__spin_useless(WEFT__SPIN_MOST(spin));
    return 0;
  }
  uint32_t delay = spin >> 24;
  weft__pass(10 * (int32_t)delay);
  return (spin & 0xffffff) + delay + (1u << 24);
}

/* Returns `found`; if it is true, the next call may spin for longer. */
static inline WEFT__SHARED bool weft__spin_found(weft__spinning spin,
                                                 bool found) {
  weft_agent *agent = &WEFT_AGENT();
  int32_t spared = WEFT_SPIN_ROUNDS - 2 * WEFT__SPIN_ROUND(spin) - 2;
  if (spared < 0) spared = 0;
  if (found && agent->spared > spared) agent->spared = spared;
  return found;
}

/* Stops spinning, because no further round is useful. The next call spins for
   less. */
static inline void weft__spin_stop(weft__spinning spin) {
  (void)weft__spin_next(spin | WEFT__SPIN_ROUND_MASK);
}

/*
 * How many rounds to spin before the first look. Each look takes a cache line
 * from the other side. In a stream of elements, an end that follows the other
 * too closely looks more often, so there the delay grows. `own` is the index of
 * this end.
 */
static inline int32_t weft__spin_initial_delay(const int32_t *own) {
  weft_agent *agent = &WEFT_AGENT();
  int32_t at = weft__hint(own);
  bool streams = agent->spun_on == own &&
                 weft__minus(at, agent->spun_at) >= WEFT__SPIN_STREAM;
  int32_t delay = streams ? 2 * agent->initial_delay : 1;
  if (delay > WEFT__SPIN_LONGEST_DELAY) delay = WEFT__SPIN_LONGEST_DELAY;
  agent->initial_delay = (uint8_t)delay;
  agent->spun_on = own;
  agent->spun_at = at;
  return agent->initial_delay;
}

/* Begins to spin, to wait for another agent. The first look comes at once if
   `own` is NULL, and otherwise after the delay that suits the index `own`. */
static inline WEFT__SHARED weft__spinning weft__spin_begin(const int32_t *own,
                                              int64_t timeout) {
  if (WEFT_SPIN_ROUNDS == 0) return 0;
  int32_t rounds = weft__spin_rounds(timeout);
  if (rounds <= 0) return 0;
  return weft__spin_of(rounds, own == NULL ? 1 : weft__spin_initial_delay(own));
}

/* Runs the statement that follows in each round of spinning. `spin` names the
   state. */
#define WEFT__SPIN(spin, own, timeout)                           \
  for (weft__spinning spin = weft__spin_begin((own), (timeout)); \
       WEFT_SPIN_ROUNDS != 0 && ((spin) = weft__spin_next(spin)) != 0;)
#endif

WEFT__END

#endif /* WEFT__SPIN_H */

/* _spin_patiently.h - how an agent spins that waits for one that works for it:
   a part of the twin of primitives/_wait/spin.ts. */
#ifndef WEFT__SPIN_PATIENTLY_H
#define WEFT__SPIN_PATIENTLY_H

#include "_spin.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* Waits for a fifth of a microsecond, while another agent answers. */
static inline void weft__relax_eagerly(void) { weft__pass(2); }

/* As weft__spin_next, to wait for another agent that works for this one. */
static inline weft__spinning weft__spin_next_patiently(weft__spinning spin) {
  if (WEFT__SPIN_ROUND(spin) >= WEFT__SPIN_MOST(spin)) return 0;
  if (WEFT__SPIN_ROUND(spin) < WEFT__SPIN_EAGER)
    weft__relax_eagerly();
  else
    weft__relax();
  return spin + 1;
}

/* The two ways to wait. */
enum { WEFT__SPINNING, WEFT__SLEEPING };

/* Notes that a wait begins at `now`. Perhaps a trial ends so. */
static inline void weft__spin_note(int64_t now) {
  weft__agent_rest *agent = &WEFT__AGENT_REST();
  int32_t *costs = agent->costs;
  const int32_t most = WEFT__SPIN_LONGEST_STEP * 1000;
  const int32_t before = costs[agent->tried];
  int64_t step = now - agent->began;
  agent->spent += step < most ? (int32_t)step : most;
  agent->began = now;
  agent->waits++;
  if (agent->tried == agent->better) {
    if (agent->waits < WEFT__SPIN_TRIAL) return;
    costs[agent->tried] = agent->spent;
    if (agent->spent > 2 * before) agent->trust >>= 1; /* something changed */
    if (++agent->trials >> agent->trust > 0)
      agent->tried =
          agent->better == WEFT__SPINNING ? WEFT__SLEEPING : WEFT__SPINNING;
  } else {
    costs[agent->tried] = agent->spent;
    /* An agent that sleeps leaves its core to others, so spinning must be
       faster by an eighth. */
    bool spins =
        costs[WEFT__SPINNING] * INT64_C(9) < costs[WEFT__SLEEPING] * INT64_C(8);
    uint8_t winner = spins ? WEFT__SPINNING : WEFT__SLEEPING;
    /* It goes on while it can still win. */
    if (agent->waits < WEFT__SPIN_TRIAL && winner == agent->tried) return;
    if (winner != agent->better)
      agent->trust = 0;
    else if (agent->trust < WEFT__SPIN_MOST_TRUST)
      agent->trust++;
    agent->better = agent->tried = winner;
    agent->trials = 0;
  }
  agent->waits = 0, agent->spent = 0;
}

/*
 * Begins to spin, to wait for an agent that works for this one. If each of both
 * has a core, it is fastest if both spin for longer than a wake takes. If they
 * share a core, or answers are slow, it is best to sleep at once. An agent
 * cannot know which is the case. So it times both ways, from wait to wait, and
 * tries the other way again from time to time. It is a macro because the clock
 * is declared later.
 */
#define WEFT__SPIN_PATIENTLY(timeout)      \
  (WEFT_SPIN_ROUNDS == 0 || (timeout) == 0 \
       ? weft__spin_begin(NULL, 0)         \
       : (weft__spin_note(WEFT_NOW()), weft__spin_chosen()))

/* The spinning of a wait in the way that is tried now. */
static inline weft__spinning weft__spin_chosen(void) {
  return WEFT__AGENT_REST().tried == WEFT__SPINNING
             ? weft__spin_of(WEFT__SPIN_EAGER + WEFT__SPIN_PATIENT, 1)
             : 0;
}

WEFT__END

#endif

#endif /* WEFT__SPIN_PATIENTLY_H */

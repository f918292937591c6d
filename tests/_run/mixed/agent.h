/*
 * Stands before the headers in a module for agents of the race tester: see
 * module.ts.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((used, visibility("default")))

/* As spinning in primitives/_wait/spin.ts: the tester sets both. */
EXPORT int32_t race_rounds, race_patience, race_tells;
#define WEFT_SPIN_ROUNDS race_rounds
#define WEFT_SEMAPHORE_PATIENCE race_patience
#define WEFT_MPMC_QUEUE_TELLS race_tells
/* Few agents make a try fail seldom. A mutant may make all tries fail, and each
   is a step. */
#define WEFT__MOST_TRIES 2048

EXPORT void race_spin(int32_t rounds, int32_t patience, int32_t tells) {
  race_rounds = rounds;
  race_patience = patience;
  race_tells = tells;
}

/* The clock of the maps whose entries expire: a word that agents share. */
static const int32_t *race_clock;

EXPORT void race_clock_at(const int32_t *clock) { race_clock = clock; }

static int64_t race_date(void) {
  return race_clock == NULL ? 0
                            : __atomic_load_n(race_clock, __ATOMIC_SEQ_CST);
}
#define WEFT_DATE() race_date()

/* Which mistake the module makes, if it was made for several: see
   variants.ts. */
EXPORT int32_t race_mutant;

EXPORT void race_choose(int32_t mutant) { race_mutant = mutant; }

/* What goes in by a pointer, and comes out by one. */
EXPORT int32_t race_scratch[64];

/* _bell.h - an index that one agent moves by stores, and the word beside it by
   which others reach that agent. */
#ifndef WEFT__BELL_H
#define WEFT__BELL_H

#include "_fence.h"
#include "_gong.h"
#include "_wait.h"

WEFT__BEGIN

/*
 * An index that its one writer stores cannot hold flags of others, too. They
 * stand beside it in the bell, which the writer reads after each step:
 *
 *   0                    nothing to tell
 *   WAITING              the other side sleeps on the bell
 *   CLOSED               there shall be no further step
 *   SEALED | an index    and this is where the steps end
 *
 * The word behind a bell is a gong.
 *
 * A step is a store, weft__light and a load; its partner is an exchange of the
 * bell, weft__heavy and a load of the index. So at least one of both sees what
 * the other did.
 *
 * If a step and CLOSED meet, both sides know of CLOSED, and they must agree
 * whether the step still counts. The reader that finds nothing more, or the
 * writer after its step, decides: the first of both to write SEALED.
 */
enum {
  WEFT__BELL_WAITING = 1,
  WEFT__BELL_CLOSED = 2,
  WEFT__BELL_SEALED = 3,
  WEFT__BELL_INDEX = -4
};

static inline bool weft__bell_closed(const int32_t *bell) {
  return (weft__receive(bell) & WEFT__BELL_CLOSED) != 0;
}

/* Ends the steps at `index`, unless they have an end. Returns the end. */
static inline int32_t weft__bell_seal(int32_t *bell, int32_t index) {
  int32_t was = weft__compare_exchange(bell, WEFT__BELL_CLOSED,
                                       index | WEFT__BELL_SEALED);
  return was == WEFT__BELL_CLOSED ? index : was & WEFT__BELL_INDEX;
}

/* Where the steps of a closed index end, as the reader that has come to `own`
   sees it. */
WEFT__SELDOM static inline int32_t weft__bell_end(int32_t *bell,
                                                  const int32_t *index,
                                                  int32_t own) {
  int32_t was = weft__load(bell);
  if ((was & WEFT__BELL_SEALED) == WEFT__BELL_SEALED)
    return was & WEFT__BELL_INDEX;
  int32_t last = weft__load(index);
  if (last != own) return last;
  weft__heavy(); /* (C) the writer sees CLOSED, or we see its step */
  last = weft__load(index);
  return last == own ? weft__bell_seal(bell, own) : last;
}

/* Wakes the other side. */
WEFT__SELDOM static inline void weft__bell_ring(int32_t *bell) {
  if (weft__compare_exchange(bell, WEFT__BELL_WAITING, 0) ==
      WEFT__BELL_WAITING) {
    weft__notify(bell, 1);
    weft__strike(bell + 1);
  }
}

/* What there is to do after a step, when the bell was not 0. */
WEFT__SELDOM static inline int weft__bell_answer(int32_t *index, int32_t *bell,
                                                 int32_t from, int32_t to) {
  int32_t was = weft__receive(bell);
  if ((was & WEFT__BELL_CLOSED) == 0) {
    weft__bell_ring(bell);
    return 0;
  }
  if (weft__bell_seal(bell, to) == to) return 0;
  weft__hand(index, from); /* the reader has ended before our step */
  return EPIPE;
}

/* A step, which wakes the other side if it sleeps. EPIPE if it is closed.
   `known` is as of weft__light_if. */
static inline int weft__bell_step(int32_t *index, int32_t *bell, int32_t from,
                                  int32_t to, bool known) {
  if (weft__bell_closed(bell)) return EPIPE;
  weft__hand(index, to);
  weft__light_if(known); /* Pairs with (W) and (C). */
  if (weft__hint(bell) == 0) return 0;
  return weft__bell_answer(index, bell, from, to);
}

/* A step of an index that nobody closes. */
static inline void weft__bell_move(int32_t *index, int32_t *bell, int32_t to,
                                   bool known) {
  weft__hand(index, to);
  weft__light_if(known); /* Pairs with (W). */
  if (weft__hint(bell) != 0) weft__bell_ring(bell);
}

#ifndef WEFT_REALTIME /* what may wait */
/* Asks for a wake. The caller must look again before it sleeps. */
static inline void weft__bell_announce(int32_t *bell) {
  weft__compare_exchange(bell, 0, WEFT__BELL_WAITING);
  weft__heavy(); /* (W) announce, then look again */
}

/* Asks for a wake, and sleeps while the other side's `index` is `idle`, and
   `closing`, the bell that may be CLOSED, is not. */
static inline int weft__bell_sleep(int32_t *bell, const int32_t *index,
                                   int32_t idle, const int32_t *closing,
                                   int64_t deadline) {
  if (weft__compare_exchange(bell, 0, WEFT__BELL_WAITING) &
      WEFT__BELL_CLOSED)
    return WEFT__NOT_EQUAL;
  weft__heavy(); /* (W) announce, then look again */
  if (weft__load(index) != idle) return WEFT__NOT_EQUAL;
  if (weft__load(closing) & WEFT__BELL_CLOSED) return WEFT__NOT_EQUAL;
  return weft__sleep(bell, WEFT__BELL_WAITING, deadline, WEFT__LOOK);
}
#endif

/* Allows no further step, and wakes who sleeps. */
static inline void weft__bell_close(int32_t *bell) {
  int32_t was = weft__load(bell);
  while ((was & WEFT__BELL_CLOSED) == 0) {
    int32_t seen = weft__compare_exchange(bell, was, WEFT__BELL_CLOSED);
    if (seen == was) {
      if (was == 0) return;
      weft__notify(bell, WEFT__ALL);
      weft__strike(bell + 1);
      return;
    }
    was = seen;
  }
}

/* Wakes who sleeps, without a step. */
static inline void weft__bell_wake(int32_t *bell) {
  if (weft__exchange(bell, 0) == 0) return;
  weft__notify(bell, WEFT__ALL);
  weft__strike(bell + 1);
}

WEFT__END

#endif /* WEFT__BELL_H */

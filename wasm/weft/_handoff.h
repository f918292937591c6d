/* _handoff.h - the twin of primitives/_queue/channel/handoff.ts, which explains
   what the words mean and why. */
#ifndef WEFT__HANDOFF_H
#define WEFT__HANDOFF_H

#include "_event_count.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The words of a channel from `place` on. */
typedef struct {
  int32_t place;
  int32_t handoff;
  int32_t offer_epoch;
  int32_t offer_waiters;
  int32_t offer_gong;
  int32_t message_epoch;
  int32_t message_waiters;
  int32_t message_gong;
  int32_t room_epoch;
  int32_t room_waiters;
  int32_t taken_epoch;
  int32_t taken_waiters;
} weft__handoff;

#define WEFT__HANDOFF_PHASE_MASK 7 /* CHANNEL_BITS.PHASE */
#define WEFT__HANDOFF_STOPPED_BIT (1 << 3) /* CHANNEL_BITS.STOPPED */
#define WEFT__HANDOFF_OFFERS_MASK (0x3f << 4) /* CHANNEL_BITS.OFFERS */
#define WEFT__HANDOFF_NUMBER_MASK (-(1 << 10)) /* CHANNEL_BITS.NUMBER */
#define WEFT__HANDOFF_ONE_OFFER 0x10
#define WEFT__HANDOFF_ONE_MESSAGE 0x400

enum {
  WEFT__HANDOFF_EMPTY = 0,
  WEFT__HANDOFF_WRITING,
  WEFT__HANDOFF_POSTED,
  WEFT__HANDOFF_PROMISED,
  WEFT__HANDOFF_HANDED,
  WEFT__HANDOFF_READING
};

/* Whether an agent that stands still for a second within an operation is taken
   for dead. The race tester, whose agents do so, sets it to 0. */
#ifndef WEFT_HANDOFF_TELLS
#define WEFT_HANDOFF_TELLS 1
#endif

static inline int32_t weft__handoff_phase(int32_t state) {
  return state & WEFT__HANDOFF_PHASE_MASK;
}

static inline bool weft__handoff_offered(int32_t state) {
  return (state & WEFT__HANDOFF_OFFERS_MASK) != 0;
}

static inline bool weft__handoff_stopped(int32_t state) {
  return (state & WEFT__HANDOFF_STOPPED_BIT) != 0;
}

static inline bool weft__handoff_closed(const weft__handoff *h) {
  return weft__handoff_stopped(weft__load(&h->handoff));
}

static inline void weft__handoff_close(weft__handoff *h) {
  int32_t before = weft__or(&h->handoff, WEFT__HANDOFF_STOPPED_BIT);
  if (weft__handoff_stopped(before)) return;
  weft__event_wake_end(&h->message_epoch, WEFT__ALL);
  weft__event_wake_end(&h->offer_epoch, WEFT__ALL);
  weft__event_wake(&h->room_epoch, WEFT__ALL);
  weft__event_wake(&h->taken_epoch, WEFT__ALL);
}

/* ---- senders ------------------------------------------------------------- */

/* Begins to write a message: 0, EBUSY if it is of no use now, or EPIPE. */
static inline int weft__handoff_claim(weft__handoff *h, bool posts) {
  int32_t state = weft__load(&h->handoff);
  for (;;) {
    if (weft__handoff_stopped(state)) return EPIPE;
    if (weft__handoff_phase(state) != WEFT__HANDOFF_EMPTY) return EBUSY;
    bool offered = weft__handoff_offered(state);
    if (!offered && !posts) return EBUSY;
    int32_t next = weft__plus(
        state, WEFT__HANDOFF_ONE_MESSAGE +
                   (offered ? WEFT__HANDOFF_PROMISED - WEFT__HANDOFF_ONE_OFFER
                            : WEFT__HANDOFF_WRITING));
    int32_t seen = weft__compare_exchange(&h->handoff, state, next);
    if (seen == state) return 0;
    state = seen;
  }
}

/* By how much the state changes when the message is written. */
static inline int32_t weft__handoff_change(int32_t state, bool posts) {
  if (weft__handoff_phase(state) == WEFT__HANDOFF_PROMISED)
    return WEFT__HANDOFF_HANDED - WEFT__HANDOFF_PROMISED;
  if (weft__handoff_stopped(state))
    return WEFT__HANDOFF_EMPTY - WEFT__HANDOFF_WRITING;
  if (weft__handoff_offered(state))
    return WEFT__HANDOFF_HANDED - WEFT__HANDOFF_WRITING -
           WEFT__HANDOFF_ONE_OFFER;
  if (posts) return WEFT__HANDOFF_POSTED - WEFT__HANDOFF_WRITING;
  return WEFT__HANDOFF_EMPTY - WEFT__HANDOFF_WRITING;
}

/* (P) Hands the message to a receiver that waits, posts it, or neither: 0, EBUSY
   or EPIPE. *posted says whether it is posted, and *number is its number. */
static inline int weft__handoff_publish(weft__handoff *h, bool posts,
                                        bool *posted, int32_t *number) {
  int32_t state = weft__load(&h->handoff);
  int32_t next;
  for (;;) {
    next = weft__plus(state, weft__handoff_change(state, posts));
    int32_t seen = weft__compare_exchange(&h->handoff, state, next);
    if (seen == state) break;
    state = seen;
  }
  if (weft__handoff_phase(next) == WEFT__HANDOFF_EMPTY) {
    if (weft__handoff_stopped(state)) return EPIPE;
    weft__event_wake(&h->room_epoch, 1);
    return EBUSY;
  }
  *posted = weft__handoff_phase(next) == WEFT__HANDOFF_POSTED;
  *number = next & WEFT__HANDOFF_NUMBER_MASK;
  weft__event_wake_end(&h->message_epoch, 1);
  return 0;
}

/* Whether message `number` is posted. */
static inline bool weft__handoff_is_posted(int32_t state, int32_t number) {
  return weft__handoff_phase(state) == WEFT__HANDOFF_POSTED &&
         (state & WEFT__HANDOFF_NUMBER_MASK) == number;
}

/* Takes a posted message back; false if a receiver was faster. */
static inline bool weft__handoff_take_back(weft__handoff *h, int32_t number) {
  int32_t state = weft__load(&h->handoff);
  for (;;) {
    if (!weft__handoff_is_posted(state, number)) return false;
    int32_t next =
        weft__plus(state, WEFT__HANDOFF_EMPTY - WEFT__HANDOFF_POSTED);
    int32_t seen = weft__compare_exchange(&h->handoff, state, next);
    if (seen == state) break;
    state = seen;
  }
  weft__event_wake(&h->room_epoch, 1);
  return true;
}

/* Wakes the next sender that waits for the place, if it may have it. */
static inline void weft__handoff_pass_room(weft__handoff *h) {
  int32_t state = weft__load(&h->handoff);
  if (weft__handoff_stopped(state))
    weft__event_wake(&h->room_epoch, WEFT__ALL);
  else if (weft__handoff_phase(state) == WEFT__HANDOFF_EMPTY)
    weft__event_wake(&h->room_epoch, 1);
}

/* Whether a posted message was taken: 0, EBUSY, or EPIPE if it was taken back
   because the channel is closed. */
static inline int weft__handoff_look(weft__handoff *h, int32_t number) {
  int32_t state = weft__load(&h->handoff);
  if (!weft__handoff_is_posted(state, number)) return 0;
  if (!weft__handoff_stopped(state)) return EBUSY;
  return weft__handoff_take_back(h, number) ? EPIPE : 0;
}

/* Waits until a posted message was taken: 0, EPIPE, or ETIMEDOUT if it was taken
   back at the deadline. */
static inline int weft__handoff_taken(weft__handoff *h, int32_t number,
                                      int64_t timeout, int64_t deadline) {
  int result = EBUSY;
  WEFT__SPIN(spin, NULL, timeout) {
    result = weft__handoff_look(h, number);
    if (weft__spin_found(&spin, result != EBUSY)) return result;
  }
  if ((result = weft__handoff_look(h, number)) != EBUSY) return result;
  for (;;) {
    int outcome = WEFT__NOT_EQUAL;
    int32_t seen = weft__event_announce(&h->taken_epoch);
    if ((result = weft__handoff_look(h, number)) == EBUSY)
      outcome = weft__sleep(&h->taken_epoch, seen, deadline, WEFT__LOOK);
    weft__event_withdraw(&h->taken_epoch);
    if (result != EBUSY) return result;
    if (outcome != WEFT__TIMED_OUT) continue;
    if ((result = weft__handoff_look(h, number)) != EBUSY) return result;
    return weft__handoff_take_back(h, number) ? ETIMEDOUT : 0;
  }
}

/* ---- receivers ----------------------------------------------------------- */

/* Takes an offer back, or what was promised for it, unless the state has
   changed. Returns whether that is done. */
static inline bool weft__handoff_retract(weft__handoff *h, bool *offers,
                                         int32_t state) {
  int32_t phase = weft__handoff_phase(state);
  int32_t change = weft__handoff_offered(state) ? -WEFT__HANDOFF_ONE_OFFER
                   : phase == WEFT__HANDOFF_PROMISED
                       ? WEFT__HANDOFF_WRITING - WEFT__HANDOFF_PROMISED
                   : phase == WEFT__HANDOFF_HANDED
                       /* for the next receiver */
                       ? WEFT__HANDOFF_POSTED - WEFT__HANDOFF_HANDED
                       : 0; /* another agent was terminated */
  int32_t next = weft__plus(state, change);
  if (weft__compare_exchange(&h->handoff, state, next) != state) return false;
  *offers = false;
  return true;
}

/* Begins to read a message: 0, EBUSY if there is none, or EPIPE. */
static inline int weft__handoff_take(weft__handoff *h, bool *offers) {
  int32_t state = weft__load(&h->handoff);
  for (;;) {
    int32_t phase = weft__handoff_phase(state);
    if (phase != WEFT__HANDOFF_POSTED && phase != WEFT__HANDOFF_HANDED) {
      if (!weft__handoff_stopped(state)) return EBUSY;
      /* (C) Without the offer, its sender finds out that it is closed. */
      if (*offers && !weft__handoff_retract(h, offers, state)) {
        state = weft__load(&h->handoff);
        continue;
      }
      return EPIPE;
    }
    /* Who takes what was handed to another one gives the offer back. */
    bool mine = phase == WEFT__HANDOFF_HANDED && *offers;
    int32_t back = phase == WEFT__HANDOFF_HANDED && !mine
                       ? WEFT__HANDOFF_ONE_OFFER
                       : 0;
    if (back != 0 && (state & WEFT__HANDOFF_OFFERS_MASK) ==
                         WEFT__HANDOFF_OFFERS_MASK)
      return EBUSY;
    int32_t next = weft__plus(state, WEFT__HANDOFF_READING - phase + back);
    int32_t seen = weft__compare_exchange(&h->handoff, state, next);
    if (seen == state) {
      if (mine) *offers = false;
      return 0;
    }
    state = seen;
  }
}

/* Gives the place to the next sender. */
static inline void weft__handoff_free(weft__handoff *h) {
  int32_t state = weft__add(
      &h->handoff, -(WEFT__HANDOFF_READING - WEFT__HANDOFF_EMPTY));
  weft__event_wake(&h->taken_epoch, WEFT__ALL);
  weft__event_wake(&h->room_epoch, 1);
  if (weft__handoff_offered(state)) weft__event_wake_end(&h->offer_epoch, 1);
}

/* Offers to take a message, unless there is one, or too many offer that. */
static inline void weft__handoff_offer(weft__handoff *h, bool *offers) {
  int32_t state = weft__load(&h->handoff);
  for (;;) {
    if ((state & WEFT__HANDOFF_OFFERS_MASK) == WEFT__HANDOFF_OFFERS_MASK ||
        weft__handoff_phase(state) == WEFT__HANDOFF_POSTED ||
        weft__handoff_stopped(state))
      return;
    int32_t next = weft__plus(state, WEFT__HANDOFF_ONE_OFFER);
    int32_t seen = weft__compare_exchange(&h->handoff, state, next);
    if (seen == state) break;
    state = seen;
  }
  *offers = true;
  weft__event_wake_end(&h->offer_epoch, 1);
}

/* Whether a receiver would not wait. */
static inline bool weft__handoff_is_ready(const weft__handoff *h) {
  int32_t state = weft__load(&h->handoff);
  int32_t phase = weft__handoff_phase(state);
  return phase == WEFT__HANDOFF_POSTED || phase == WEFT__HANDOFF_HANDED ||
         weft__handoff_stopped(state);
}

/* Ends the wait of a receiver: takes its offer back, and wakes the next one if
   there is a message. */
static inline void weft__handoff_end(weft__handoff *h, bool *offers) {
  while (*offers) weft__handoff_retract(h, offers, weft__load(&h->handoff));
  if (weft__handoff_is_ready(h))
    weft__event_wake_end(&h->message_epoch,
                         weft__handoff_closed(h) ? WEFT__ALL : 1);
}

/* ---- both ---------------------------------------------------------------- */

/* A message that another agent writes or reads, or -1. An agent that finds the
   same one twice, a second apart, gives up: the channel is blocked. */
static inline int64_t weft__handoff_stuck(const weft__handoff *h) {
  if (!WEFT_HANDOFF_TELLS) return -1;
  int32_t state = weft__load(&h->handoff);
  int32_t phase = weft__handoff_phase(state);
  if (phase == WEFT__HANDOFF_EMPTY || phase == WEFT__HANDOFF_POSTED ||
      phase == WEFT__HANDOFF_HANDED)
    return -1;
  return (uint32_t)(state &
                    (WEFT__HANDOFF_NUMBER_MASK | WEFT__HANDOFF_PHASE_MASK));
}

WEFT__END

#endif

#endif /* WEFT__HANDOFF_H */

/* _handoff.h - the twin of primitives/_queue/channel/handoff.ts, which explains
   what the words mean and why. */
#ifndef WEFT__HANDOFF_H
#define WEFT__HANDOFF_H

#include "_channel_words.h"
#include "_event_count.h"
#include "agent.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

#define WEFT__HANDOFF_PHASE_MASK 3 /* CHANNEL_BITS.PHASE */
#define WEFT__HANDOFF_STOPPED_BIT (1 << 2) /* CHANNEL_BITS.STOPPED */
#define WEFT__HANDOFF_OFFERS_MASK (0x3f << 3) /* CHANNEL_BITS.OFFERS */
#define WEFT__HANDOFF_ENDED_MASK (0xf << 9) /* CHANNEL_BITS.ENDED */
#define WEFT__HANDOFF_NUMBER_MASK (-(1 << 13)) /* CHANNEL_BITS.NUMBER */
#define WEFT__HANDOFF_ONE_OFFER 8
#define WEFT__HANDOFF_ONE_ENDED 0x200
#define WEFT__HANDOFF_ONE_MESSAGE 0x2000

enum {
  WEFT__HANDOFF_EMPTY = 0,
  WEFT__HANDOFF_POSTED,
  WEFT__HANDOFF_HANDED
};

static inline int32_t weft__handoff_phase(int32_t state) {
  return state & WEFT__HANDOFF_PHASE_MASK;
}

static inline bool weft__handoff_offered(int32_t state) {
  return (state & WEFT__HANDOFF_OFFERS_MASK) != 0;
}

static inline bool weft__handoff_stopped(int32_t state) {
  return (state & WEFT__HANDOFF_STOPPED_BIT) != 0;
}

static inline bool weft__handoff_closed(const weft_channel *h) {
  return weft__handoff_stopped(weft__load(&h->handoff));
}

static inline void weft__handoff_wake_all(weft_channel *h) {
  weft__event_wake_end(&h->message_epoch, WEFT__ALL);
  weft__event_wake_end(&h->offer_epoch, WEFT__ALL);
  weft__event_wake(&h->room_epoch, WEFT__ALL);
  weft__event_wake(&h->taken_epoch, WEFT__ALL);
}

static inline void weft__handoff_close(weft_channel *h) {
  int32_t before = weft__or(&h->handoff, WEFT__HANDOFF_STOPPED_BIT);
  if (!weft__handoff_stopped(before)) weft__handoff_wake_all(h);
}

/* Ends what the agent `id`, known never to run again, did here. Returns how
   many messages it had begun to send. */
static inline int32_t weft__handoff_abandon(weft_channel *h, int32_t id) {
  if (id == 0) return 0;
  int32_t state = weft__load(&h->handoff);
  for (;;) {
    bool handed = weft__handoff_phase(state) == WEFT__HANDOFF_HANDED;
    if (!handed && !weft__handoff_offered(state)) break;
    /* (O) Whose offers these are, no word tells. A message that was handed to
       one of them is for the next receiver. */
    int32_t next =
        (state & ~(WEFT__HANDOFF_OFFERS_MASK | WEFT__HANDOFF_ENDED_MASK)) |
        (weft__plus(state, WEFT__HANDOFF_ONE_ENDED) & WEFT__HANDOFF_ENDED_MASK);
    int32_t seen = weft__compare_exchange(
        &h->handoff, state,
        handed ? next + WEFT__HANDOFF_POSTED - WEFT__HANDOFF_HANDED : next);
    if (seen == state) break;
    state = seen;
  }
  bool wrote = weft__compare_exchange(&h->writer, id, 0) == id;
  weft__handoff_wake_all(h);
  return wrote ? 1 : 0;
}

/* ---- the place ----------------------------------------------------------- */

/* A receiver reads the place while a sender may write to it already. Then its
   exchange fails. The race tester wants plain accesses for that; C does not. */
#if defined(__wasm__)

static inline void weft__handoff_put(int32_t *place, const void *src,
                                     int32_t length) {
  if (length & 3) place[length / 4] = 0; /* the padding */
  __builtin_memcpy(place, src, (size_t)length);
}

static inline void weft__handoff_get(void *dst, const int32_t *place,
                                     int32_t length) {
  __builtin_memcpy(dst, place, (size_t)length);
}

#else

static inline void weft__handoff_put(int32_t *place, const void *src,
                                     int32_t length) {
  const char *from = (const char *)src;
  for (int32_t left = length; left > 0; left -= 4, from += 4) {
    int32_t word = 0;
    __builtin_memcpy(&word, from, left < 4 ? (size_t)left : 4);
    __atomic_store_n(place++, word, __ATOMIC_RELAXED);
  }
}

static inline void weft__handoff_get(void *dst, const int32_t *place,
                                     int32_t length) {
  char *to = (char *)dst;
  for (int32_t left = length; left > 0; left -= 4, to += 4) {
    int32_t word = weft__hint(place++);
    __builtin_memcpy(to, &word, left < 4 ? (size_t)left : 4);
  }
}

#endif

/* ---- senders ------------------------------------------------------------- */

/* Wakes a sender if it may have the place; all of them after the end. */
static inline void weft__handoff_pass(weft_channel *h) {
  int32_t state = weft__load(&h->handoff);
  bool closed = weft__handoff_stopped(state);
  if (!closed && weft__handoff_phase(state) != WEFT__HANDOFF_EMPTY) return;
  int32_t n = closed ? WEFT__ALL : 1;
  weft__event_wake(&h->room_epoch, n);
  if (closed || weft__handoff_offered(state))
    weft__event_wake_end(&h->offer_epoch, n);
}

/* Lets other agents write into the place. */
static inline void weft__handoff_leave(weft_channel *h) {
  weft__store(&h->writer, 0);
  weft__handoff_pass(h); /* to one that found a writer */
}

/* Becomes the writer: 0, EBUSY if that is of no use now, or EPIPE. */
static inline int weft__handoff_claim(weft_channel *h, bool posts) {
  int32_t state = weft__load(&h->handoff);
  if (weft__handoff_stopped(state)) return EPIPE;
  if (weft__handoff_phase(state) != WEFT__HANDOFF_EMPTY) return EBUSY;
  if (!posts && !weft__handoff_offered(state)) return EBUSY;
  if (weft__compare_exchange(&h->writer, 0, weft_agent_id()) != 0) return EBUSY;
  /* From here on, only this agent can fill the place. It may be full already.
     */
  if (weft__handoff_phase(weft__load(&h->handoff)) == WEFT__HANDOFF_EMPTY)
    return 0;
  weft__handoff_leave(h);
  return EBUSY;
}

/* (P) Hands the message to a receiver that waits, posts it, or neither: 0,
   EBUSY or EPIPE. *posted says whether it is posted, and *number is its number.
   */
static inline int weft__handoff_publish(weft_channel *h, bool posts,
                                        bool *posted, int32_t *number) {
  int32_t state = weft__load(&h->handoff);
  for (;;) {
    bool offered = weft__handoff_offered(state);
    bool closed = weft__handoff_stopped(state);
    if (closed || (!offered && !posts)) {
      weft__handoff_leave(h);
      return closed ? EPIPE : EBUSY;
    }
    int32_t next = weft__plus(
        state, WEFT__HANDOFF_ONE_MESSAGE +
                   (offered ? WEFT__HANDOFF_HANDED - WEFT__HANDOFF_ONE_OFFER
                            : WEFT__HANDOFF_POSTED));
    int32_t seen = weft__compare_exchange(&h->handoff, state, next);
    if (seen == state) {
      *posted = !offered;
      *number = next & WEFT__HANDOFF_NUMBER_MASK;
      weft__handoff_leave(h);
      weft__event_wake_end(&h->message_epoch, 1);
      return 0;
    }
    state = seen;
  }
}

/* Whether message `number` is posted. */
static inline bool weft__handoff_is_posted(int32_t state, int32_t number) {
  return weft__handoff_phase(state) == WEFT__HANDOFF_POSTED &&
         (state & WEFT__HANDOFF_NUMBER_MASK) == number;
}

/* Takes a posted message back; false if a receiver was faster. */
static inline bool weft__handoff_take_back(weft_channel *h, int32_t number) {
  int32_t state = weft__load(&h->handoff);
  for (;;) {
    if (!weft__handoff_is_posted(state, number)) return false;
    int32_t next =
        weft__plus(state, WEFT__HANDOFF_EMPTY - WEFT__HANDOFF_POSTED);
    int32_t seen = weft__compare_exchange(&h->handoff, state, next);
    if (seen == state) break;
    state = seen;
  }
  weft__handoff_pass(h);
  return true;
}

/* Whether a posted message was taken: 0, EBUSY, or EPIPE if it was taken back
   because the channel is closed. */
static inline int weft__handoff_look(weft_channel *h, int32_t number) {
  int32_t state = weft__load(&h->handoff);
  if (!weft__handoff_is_posted(state, number)) return 0;
  if (!weft__handoff_stopped(state)) return EBUSY;
  return weft__handoff_take_back(h, number) ? EPIPE : 0;
}

/* Waits until a posted message was taken: 0, EPIPE, or ETIMEDOUT if it was
   taken back at the deadline. */
static inline int weft__handoff_taken(weft_channel *h, int32_t number,
                                      int64_t timeout, int64_t deadline) {
  int result = EBUSY;
  WEFT__SPIN(spin, NULL, timeout) {
    result = weft__handoff_look(h, number);
    if (weft__spin_found(spin, result != EBUSY)) return result;
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

/* A receiver that waits has the bits ENDED of when it made its offer, or this:
   it has none. */
#define WEFT__HANDOFF_NONE (-1)

/* Whether an offer that was made at `since` is there, or a message that was
   handed to it. */
static inline bool weft__handoff_offers(int32_t state, int32_t since) {
  return (state & WEFT__HANDOFF_ENDED_MASK) == since;
}

/* What becomes of the state without its message; -1 if nobody else may have it,
   which no state is. */
static inline int32_t weft__handoff_without(int32_t state, int32_t since) {
  if (weft__handoff_phase(state) == WEFT__HANDOFF_POSTED)
    return weft__minus(state, WEFT__HANDOFF_POSTED);
  int32_t next = weft__minus(state, WEFT__HANDOFF_HANDED);
  if (weft__handoff_offers(state, since)) return next;
  /* Who takes what was handed to another one gives the offer back. */
  if ((state & WEFT__HANDOFF_OFFERS_MASK) == WEFT__HANDOFF_OFFERS_MASK)
    return -1;
  return weft__plus(next, WEFT__HANDOFF_ONE_OFFER);
}

/* Looks for a message that this agent may take: 0 and *state, EBUSY if there is
   none, or EPIPE. */
static inline int weft__handoff_look_in(const weft_channel *h, int32_t since,
                                        int32_t *state) {
  *state = weft__load(&h->handoff);
  if (weft__handoff_phase(*state) == WEFT__HANDOFF_EMPTY)
    return weft__handoff_stopped(*state) ? EPIPE : EBUSY;
  return weft__handoff_without(*state, since) == -1 ? EBUSY : 0;
}

/* (T) Takes the message that `state` tells of; false if it is gone. */
static inline bool weft__handoff_take(weft_channel *h, int32_t *since,
                                      int32_t state) {
  int32_t number = state & WEFT__HANDOFF_NUMBER_MASK;
  int32_t next;
  while ((next = weft__handoff_without(state, *since)) != -1) {
    int32_t seen = weft__compare_exchange(&h->handoff, state, next);
    if (seen == state) {
      if (next == weft__minus(state, WEFT__HANDOFF_HANDED))
        *since = WEFT__HANDOFF_NONE; /* it was for this agent */
      if (weft__handoff_phase(state) == WEFT__HANDOFF_POSTED)
        weft__event_wake(&h->taken_epoch, WEFT__ALL);
      weft__handoff_pass(h);
      return true;
    }
    state = seen;
    if ((state & WEFT__HANDOFF_NUMBER_MASK) != number ||
        weft__handoff_phase(state) == WEFT__HANDOFF_EMPTY)
      return false;
  }
  return false;
}

/* Offers to take a message, unless there is one, or too many offer that. */
static inline void weft__handoff_offer(weft_channel *h, int32_t *since) {
  int32_t state = weft__load(&h->handoff);
  for (;;) {
    if (weft__handoff_offers(state, *since) ||
        (state & WEFT__HANDOFF_OFFERS_MASK) == WEFT__HANDOFF_OFFERS_MASK ||
        weft__handoff_phase(state) == WEFT__HANDOFF_POSTED ||
        weft__handoff_stopped(state))
      return;
    int32_t next = weft__plus(state, WEFT__HANDOFF_ONE_OFFER);
    int32_t seen = weft__compare_exchange(&h->handoff, state, next);
    if (seen == state) break;
    state = seen;
  }
  *since = state & WEFT__HANDOFF_ENDED_MASK;
  weft__event_wake_end(&h->offer_epoch, 1);
}

/* Takes an offer back, or what was handed to it, unless the state has
   changed. */
static inline void weft__handoff_retract(weft_channel *h, int32_t *since,
                                         int32_t state) {
  int32_t change = !weft__handoff_offers(state, *since) ? 0 /* it was ended */
                   : weft__handoff_offered(state) ? -WEFT__HANDOFF_ONE_OFFER
                   : weft__handoff_phase(state) == WEFT__HANDOFF_HANDED
                       /* for the next receiver */
                       ? WEFT__HANDOFF_POSTED - WEFT__HANDOFF_HANDED
                       : 0;
  int32_t next = weft__plus(state, change);
  if (weft__compare_exchange(&h->handoff, state, next) == state)
    *since = WEFT__HANDOFF_NONE;
}

/* Whether a receiver would not wait. */
static inline bool weft__handoff_is_ready(const weft_channel *h) {
  int32_t state = weft__load(&h->handoff);
  return (state & (WEFT__HANDOFF_PHASE_MASK | WEFT__HANDOFF_STOPPED_BIT)) != 0;
}

/* Ends the wait of a receiver: takes its offer back, and wakes the next one if
   there is a message. */
static inline void weft__handoff_end(weft_channel *h, int32_t *since) {
  while (*since >= 0)
    weft__handoff_retract(h, since, weft__load(&h->handoff));
  if (weft__handoff_is_ready(h))
    weft__event_wake_end(&h->message_epoch,
                         weft__handoff_closed(h) ? WEFT__ALL : 1);
}

WEFT__END

#endif

#endif /* WEFT__HANDOFF_H */

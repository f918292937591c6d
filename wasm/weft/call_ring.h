/* call_ring.h - the twin of primitives/call_ring.ts, whose algorithm is in
   primitives/_calls/ring/call.ts. */
#ifndef WEFT_CALL_RING_H
#define WEFT_CALL_RING_H

#include "_call_words.h"
#include "_event_count.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* Whether any slot is in this phase. */
static inline bool weft__call_find(const weft_call_ring *r, int32_t phase) {
  for (int32_t i = weft_call_ring_slots(r); i-- > 0;)
    if (weft__call_phase(weft__load(&weft__call_at(r, i)->state)) == phase)
      return true;
  return false;
}

/* Claims a free slot; NULL if there is none. */
static inline weft_call *weft__call_claim(weft_call_ring *r) {
  int32_t id = weft_agent_id();
  int32_t slots = weft_call_ring_slots(r);
  int32_t slot = id % slots;
  for (int32_t i = 2 * slots; i > 0; i--) {
    weft_call *c = weft__call_at(r, slot);
    /* The first round uses hints, which the exchange checks; the second one
       makes sure. */
    int32_t state = i > slots ? weft__hint(&c->state) : weft__load(&c->state);
    if (state == WEFT_CALL_RING_FREE &&
        weft__compare_exchange(&c->state, WEFT_CALL_RING_FREE,
                               WEFT_CALL_RING_CLAIMED | id) ==
            WEFT_CALL_RING_FREE)
      return c;
    slot = slot + 1 < slots ? slot + 1 : 0;
  }
  return NULL;
}

/* Gives back a slot that only this agent uses. */
static inline void weft__call_free(weft_call_ring *r, weft_call *c) {
  weft__store(&c->state, WEFT_CALL_RING_FREE);
  weft__event_wake(&r->slot_epoch, 1);
}

/* Claims a slot for a request, which publish then posts. */
static inline int weft__call_begin(weft_call_ring *r, weft_call **call) {
  if (weft_call_ring_closed(r)) return EPIPE;
  *call = weft__call_claim(r);
  return *call == NULL ? EBUSY : 0;
}

/* Posts the `length` bytes that were written to a claimed slot. */
static inline int weft__call_publish(weft_call_ring *r, weft_call *c,
                                     int32_t length) {
  weft__store(&c->caller, weft_agent_id());
  c->request_length = length; /* published by (P) */
  int32_t posted = WEFT_CALL_RING_POSTED | weft_agent_id();
  weft__store(&c->state, posted); /* (P) */
  /* (C) Pairs with (E): we see the end, or servers see our call before it. */
  if (weft_call_ring_closed(r) &&
      weft__compare_exchange(&c->state, posted, WEFT_CALL_RING_FREE) == posted)
    return EPIPE;
  weft__event_wake(&r->serve_epoch, 1);
  return 0;
}

/*
 * Posts a call with the `length` bytes of `request`; receive gives its reply
 * later. Returns 0 and *call, EBUSY if no slot is free, EPIPE if the ring was
 * closed, or EINVAL if length is not 0 to max_request.
 */
static inline WEFT__RESULT int weft_call_ring_try_post(weft_call_ring *r,
                                                       const void *request,
                                                       int32_t length,
                                                       weft_call **call) {
  if (length < 0 || length > weft_call_ring_max_request(r)) return EINVAL;
  weft_call *c = NULL;
  int result = weft__call_begin(r, &c);
  if (result != 0) return result;
  if (length > 0) __builtin_memcpy(c + 1, request, (size_t)length);
  result = weft__call_publish(r, c, length);
  if (result == 0) *call = c;
  return result;
}

static inline void weft__call_pass_slot(weft_call_ring *r) {
  if (weft__call_find(r, WEFT_CALL_RING_FREE))
    weft__event_wake(&r->slot_epoch, 1);
}

/* The time in ns after which a caller lets others go first, and the length of
   its pause: an agent takes that long to wake up on a busy machine. */
#define WEFT__CALL_TURN (INT64_C(50) * 1000 * 1000)
#define WEFT__CALL_PAUSE (INT64_C(2) * 1000 * 1000)
/* The pauses that are due after a caller was woken and found no free slot. */
#define WEFT__CALL_PAUSES 32

/*
 * Pauses, now and then, if others were woken and found no free slot. An agent
 * that calls in a loop takes the slot that it has just freed again, before a
 * caller that it woke has a core; on a busy machine, it could keep that caller
 * out for seconds. Nobody wakes the word on which it sleeps. Each pause counts,
 * so that an agent that was terminated while it waited makes the others pause a
 * few times only.
 */
static inline void weft__call_give_way(weft_call_ring *r) {
  weft__agent_rest *agent = &WEFT__AGENT_REST();
  int32_t due = weft__hint(&r->pauses); /* the exchange checks it */
  int64_t now = WEFT_NOW();
  if (due <= 0) return;
  if (agent->gave_way != 0 && now - agent->gave_way < WEFT__CALL_TURN) return;
  agent->gave_way = now;
  int32_t most = due < WEFT__CALL_PAUSES ? due : WEFT__CALL_PAUSES;
  weft__compare_exchange(&r->pauses, due, most - 1);
  weft__sleep(&r->reply, r->reply, INT64_MAX, WEFT__CALL_PAUSE);
}

/* Does the same as try_post, but blocks up to `timeout` ns for a slot; then
   ETIMEDOUT. EPERM if this agent may not block. */
static inline int weft_call_ring_post(weft_call_ring *q, const void *request,
                                      int32_t length, weft_call **call,
                                      int64_t timeout) {
  if (timeout == WEFT_FOREVER && weft__may_block() &&
      weft__hint(&q->pauses) > 0)
    weft__call_give_way(q);
  WEFT__EVENT_BLOCK_OR(weft_call_ring_try_post(q, request, length, call),
                       &q->slot_epoch,
                       weft__store(&q->pauses, WEFT__CALL_PAUSES),
                       weft__call_pass_slot(q), timeout, -1);
}

/* The same for a caller that waits for the answer, too. */
static inline int weft__call_post_first(weft_call_ring *q, const void *request,
                                        int32_t length, weft_call **call,
                                        int64_t timeout) {
  if (timeout == WEFT_FOREVER && weft__may_block() &&
      weft__hint(&q->pauses) > 0)
    weft__call_give_way(q);
  WEFT__EVENT_BLOCK_LAST(weft_call_ring_try_post(q, request, length, call),
                         EBUSY, &q->slot_epoch,
                         weft__store(&q->pauses, WEFT__CALL_PAUSES),
                         weft__call_pass_slot(q), timeout, -1);
}

/* ---- callers */

/* Whether the call was answered. */
static inline bool weft_call_ring_ready(const weft_call *c) {
  return weft__call_phase(weft__load(&c->state)) >= WEFT_CALL_RING_REPLIED;
}

/* Sleeps until the answer comes; ETIMEDOUT if it does not come in time. */
static inline int weft__call_sleep(weft_call *c, int64_t deadline) {
  for (;;) {
    int32_t state = weft__load(&c->state);
    if (weft__call_phase(state) >= WEFT_CALL_RING_REPLIED) return 0;
    int32_t value = state | WEFT_CALL_RING_WAITING_BIT;
    /* (W) Pairs with (R): the server sees the bit, or we see its answer. */
    if (state != value &&
        weft__compare_exchange(&c->state, state, value) != state)
      continue;
    int outcome = weft__sleep(&c->state, value, deadline, WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;
  }
}

/* Waits for the answer; ETIMEDOUT if it does not come in time. */
static inline int weft__call_answered(weft_call *c, int64_t timeout,
                                      int64_t deadline) {
  if (weft_call_ring_ready(c)) return 0;
  weft__spinning spin = WEFT__SPIN_PATIENTLY(timeout);
  while ((spin = weft__spin_next_patiently(spin)) != 0) {
    if (weft_call_ring_ready(c)) return 0;
  }
  return weft__call_sleep(c, deadline);
}

static inline char *weft__call_reply_at(const weft_call_ring *r,
                                        weft_call *c) {
  return (char *)(c + 1) + weft_call_ring_max_request(r);
}

/*
 * Copies the reply to `dst`, which has *length bytes, and writes its length to
 * *length; a longer reply is cut off. Returns 0, EBUSY if there is no reply
 * yet, EIO if the server failed (its message is in `dst`), EOWNERDEAD if the
 * server was abandoned, or ENOTRECOVERABLE if the length is damaged. After
 * anything but EBUSY the call is over.
 */
static inline WEFT__RESULT int weft_call_ring_try_receive(weft_call_ring *r,
                                                          weft_call *c,
                                                          void *dst,
                                                          int32_t *length) {
  int32_t phase = weft__call_phase(weft__load(&c->state));
  if (phase < WEFT_CALL_RING_REPLIED) return EBUSY;
  int32_t most = *length;
  *length = phase == WEFT_CALL_RING_LOST ? 0 : c->reply_length; /* by (R) */
  if (*length < 0 || *length > r->reply) {
    *length = 0;
    weft__call_free(r, c);
    return ENOTRECOVERABLE;
  }
  int32_t bytes = *length < most ? *length : most;
  if (bytes > 0)
    __builtin_memcpy(dst, weft__call_reply_at(r, c), (size_t)bytes);
  weft__call_free(r, c);
  if (phase == WEFT_CALL_RING_LOST) return EOWNERDEAD;
  return phase == WEFT_CALL_RING_FAILED ? EIO : 0;
}

/* Does the same as try_receive, but blocks up to `timeout` ns; then ETIMEDOUT,
   and the call continues. */
static inline int weft_call_ring_receive(weft_call_ring *r, weft_call *c,
                                         void *dst, int32_t *length,
                                         int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  weft__call_answered(c, timeout, weft__deadline(timeout));
  int result = weft_call_ring_try_receive(r, c, dst, length);
  return result == EBUSY ? ETIMEDOUT : result;
}

/* Ends a call that has no answer yet. Returns false if it has one. */
static inline bool weft__call_give_up(weft_call_ring *r, weft_call *c) {
  for (;;) {
    int32_t state = weft__load(&c->state);
    int32_t phase = weft__call_phase(state);
    if (phase >= WEFT_CALL_RING_REPLIED) return false;
    /* A server has the call, and will give the slot back. */
    int32_t next = WEFT_CALL_RING_FREE;
    if (phase == WEFT_CALL_RING_SERVING)
      next = WEFT_CALL_RING_DROPPED | (state & WEFT_CALL_RING_ID_MASK);
    if (weft__compare_exchange(&c->state, state, next) != state) continue;
    if (next == WEFT_CALL_RING_FREE) weft__event_wake(&r->slot_epoch, 1);
    return true;
  }
}

/* Ends a call that is not over. Its reply will be thrown away. */
static inline void weft_call_ring_cancel(weft_call_ring *r, weft_call *c) {
  if (!weft__call_give_up(r, c)) weft__call_free(r, c);
}

/*
 * Calls: posts `length` bytes of `request`, and blocks up to `timeout` ns for
 * the reply, as receive does. After EINVAL, EPIPE or EPERM the call was not
 * posted. After ETIMEDOUT it was withdrawn, or its reply will be thrown away.
 */
static inline int weft_call_ring_call(weft_call_ring *r, const void *request,
                                      int32_t length, void *reply,
                                      int32_t *reply_length, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int64_t deadline = weft__deadline(timeout);
  weft_call *c = NULL;
  int result = weft__call_post_first(r, request, length, &c, timeout);
  if (result != 0) return result;
  if (weft__call_answered(c, timeout, deadline) != 0 &&
      weft__call_give_up(r, c))
    return ETIMEDOUT;
  return weft_call_ring_try_receive(r, c, reply, reply_length);
}

/* ---- servers */

/*
 * Takes a call without waiting, to answer it later. Returns 0 and *call, EBUSY
 * if there is none, or EPIPE if the ring was closed and no call is left. A
 * server may take several calls before it answers the first.
 */
static inline WEFT__RESULT int weft_call_ring_try_take(weft_call_ring *r,
                                                       weft_call **call) {
  int32_t id = weft_agent_id();
  int32_t slots = weft_call_ring_slots(r);
  int32_t slot = (int32_t)((uint32_t)weft__hint(&r->look) % (uint32_t)slots);
  bool closed = weft_call_ring_closed(r); /* (E) before the look */
  for (int32_t i = 2 * slots; i > 0; i--) {
    weft_call *c = weft__call_at(r, slot);
    slot = slot + 1 < slots ? slot + 1 : 0;
    /* The first round uses hints, which the exchange checks; the second one
       makes sure. */
    int32_t state = i > slots ? weft__hint(&c->state) : weft__load(&c->state);
    while (weft__call_phase(state) == WEFT_CALL_RING_POSTED) {
      int32_t expected = state;
      int32_t waits = state & WEFT_CALL_RING_WAITING_BIT;
      state = weft__compare_exchange(&c->state, expected,
                                     WEFT_CALL_RING_SERVING | id | waits);
      if (state != expected) continue;
      __atomic_store_n(&r->look, slot, __ATOMIC_RELAXED);
      *call = c;
      return 0;
    }
  }
  return closed ? EPIPE : EBUSY;
}

static inline void weft__call_pass_serve(weft_call_ring *r) {
  if (weft__call_find(r, WEFT_CALL_RING_POSTED))
    weft__event_wake(&r->serve_epoch, 1);
}

/* Does the same as try_take, but blocks up to `timeout` ns for a call; then
   ETIMEDOUT. EPERM if this agent may not block. */
static inline int weft_call_ring_take(weft_call_ring *q, weft_call **call,
                                      int64_t timeout) {
  WEFT__EVENT_BLOCK_PATIENTLY(weft_call_ring_try_take(q, call), &q->serve_epoch,
                              weft__call_pass_serve(q), timeout);
}

/* The request of a call that was taken, and its length; valid until the
   answer. A damaged length counts as 0. */
static inline const void *weft_call_ring_request(const weft_call_ring *r,
                                                 const weft_call *c,
                                                 int32_t *length) {
  uint32_t found = (uint32_t)c->request_length; /* published by (P) */
  uint32_t most = (uint32_t)weft_call_ring_max_request(r);
  *length = found <= most ? (int32_t)found : 0;
  return c + 1;
}

/* Room for the reply of a call that was taken: max_reply bytes. */
static inline void *weft_call_ring_space(const weft_call_ring *r,
                                         weft_call *c) {
  return weft__call_reply_at(r, c);
}

/* Whether the caller still waits for a call that was taken. */
static inline bool weft_call_ring_wanted(const weft_call *c) {
  return weft__call_phase(weft__load(&c->state)) == WEFT_CALL_RING_SERVING &&
         (weft__load(&c->caller) & WEFT_CALL_RING_DEAD_BIT) == 0;
}

/* Takes back an answer that was given to an abandoned caller. */
static inline bool weft__call_reclaim(weft_call_ring *r, weft_call *c,
                                      int32_t answer) {
  int32_t caller = answer & WEFT_CALL_RING_ID_MASK;
  /* Pairs with (D): we see the mark, or the agent that made it sees the answer.
     A dead agent stays dead, so the exchange can never hit a later call. */
  if (weft__load(&c->caller) != (caller | WEFT_CALL_RING_DEAD_BIT) ||
      weft__compare_exchange(&c->state, answer, WEFT_CALL_RING_FREE) != answer)
    return false;
  weft__event_wake(&r->slot_epoch, 1);
  return true;
}

/* Answers a call that this agent serves; ETIMEDOUT if its caller gave up. */
static inline int weft__call_answer(weft_call_ring *r, weft_call *c,
                                    int32_t phase) {
  for (;;) {
    int32_t state = weft__load(&c->state);
    if (weft__call_phase(state) == WEFT_CALL_RING_DROPPED) {
      weft__call_free(r, c); /* late: the slot is ours alone */
      return ETIMEDOUT;
    }
    int32_t next = phase | (weft__load(&c->caller) & WEFT_CALL_RING_ID_MASK);
    /* (R) From here on the slot belongs to the caller. */
    if (weft__compare_exchange(&c->state, state, next) != state) continue;
    if ((state & WEFT_CALL_RING_WAITING_BIT) != 0)
      weft__notify(&c->state, WEFT__ALL);
    return weft__call_reclaim(r, c, next) ? ETIMEDOUT : 0;
  }
}

/* Copies the bytes of an answer, unless they are already in place. */
static inline int weft__call_put(weft_call_ring *r, weft_call *c,
                                 const void *src, int32_t length) {
  if (length < 0 || length > r->reply) return EINVAL;
  if (src != NULL && length > 0)
    __builtin_memcpy(weft__call_reply_at(r, c), src, (size_t)length);
  c->reply_length = length; /* published by (R) */
  return 0;
}

/*
 * Replies with `length` bytes of `src`; if `src` is NULL, with the bytes
 * written to the space. Returns 0, ETIMEDOUT if the caller gave up before
 * (harmless), or EINVAL if length is not 0 to max_reply; then the call still
 * needs an answer.
 */
static inline int weft_call_ring_reply(weft_call_ring *r, weft_call *c,
                                       const void *src, int32_t length) {
  int result = weft__call_put(r, c, src, length);
  return result != 0 ? result
                     : weft__call_answer(r, c, WEFT_CALL_RING_REPLIED);
}

/* Answers, as reply does, that the call failed, with a message in UTF-8. */
static inline int weft_call_ring_fail(weft_call_ring *r, weft_call *c,
                                      const void *message, int32_t length) {
  int result = weft__call_put(r, c, message, length);
  return result != 0 ? result
                     : weft__call_answer(r, c, WEFT_CALL_RING_FAILED);
}

/* Serves a call. If something goes wrong, the answer says so. */
static inline void weft__call_handle(weft_call_ring *r, weft_call *c,
                                     weft_call_handler fn, void *context) {
  int32_t length = 0;
  const void *request = weft_call_ring_request(r, c, &length);
  if (length != c->request_length) { /* it is damaged */
    static const char damaged[] = "The ring is damaged";
    int32_t n = (int32_t)sizeof damaged - 1;
    weft_call_ring_fail(r, c, damaged, n < r->reply ? n : r->reply);
    return;
  }
  int32_t n = fn(context, request, length, weft_call_ring_space(r, c));
  int result = n < 0 ? weft_call_ring_fail(r, c, NULL, -1 - n)
                     : weft_call_ring_reply(r, c, NULL, n);
  if (result == EINVAL) weft_call_ring_fail(r, c, NULL, 0);
}

/* Serves one call by `fn` with `context`, without waiting for one. Returns 0,
   EBUSY if there is none, or EPIPE if the ring was closed and no call is left.
   */
static inline int weft_call_ring_try_serve_one(weft_call_ring *r,
                                               weft_call_handler fn,
                                               void *context) {
  weft_call *c = NULL;
  int result = weft_call_ring_try_take(r, &c);
  if (result == 0) weft__call_handle(r, c, fn, context);
  return result;
}

/*
 * Serves calls by `fn` and blocks while there are none. It ends when the ring
 * is closed and no call is left, or when no call came for `timeout` ns. Returns
 * how many it served, or -EPERM if this agent may not block.
 */
static inline int32_t weft_call_ring_serve(weft_call_ring *r,
                                           weft_call_handler fn, void *context,
                                           int64_t timeout) {
  if (!weft__may_block()) return -EPERM;
  for (int32_t count = 0;; count++) {
    weft_call *c = NULL;
    if (weft_call_ring_take(r, &c, timeout) != 0) return count;
    weft__call_handle(r, c, fn, context);
  }
}

/* ---- the end */

/*
 * Closes the ring for ever. Nothing can be posted from now on, and callers that
 * wait for a slot fail. Servers still serve the calls that were posted, and
 * then end. If no server is left, callers wait until their timeout.
 */
static inline void weft_call_ring_close(weft_call_ring *r) {
  if (weft__exchange(&r->closed, 1) != 0) return;
  weft__event_wake(&r->serve_epoch, WEFT__ALL);
  weft__event_wake(&r->slot_epoch, WEFT__ALL);
}

static inline bool weft__call_abandon(weft_call_ring *r, weft_call *c,
                                      int32_t id) {
  int32_t dead = id | WEFT_CALL_RING_DEAD_BIT;
  /* (D) A server that answers later sees this, and gives the slot back. */
  int32_t caller = weft__compare_exchange(&c->caller, id, dead);
  for (;;) {
    int32_t state = weft__load(&c->state);
    int32_t phase = weft__call_phase(state);
    if ((state & WEFT_CALL_RING_ID_MASK) != id) {
      /* The server that answered may have been terminated before it woke the
         caller. */
      if (phase >= WEFT_CALL_RING_REPLIED)
        weft__notify(&c->state, WEFT__ALL);
      return phase == WEFT_CALL_RING_SERVING && caller == id;
    }
    /* The expected values name the dead agent, so they can never come again. */
    int32_t next = WEFT_CALL_RING_FREE;
    if (phase == WEFT_CALL_RING_SERVING) {
      int32_t waits = weft__load(&c->caller);
      if ((waits & WEFT_CALL_RING_DEAD_BIT) == 0)
        next = WEFT_CALL_RING_LOST | waits;
    }
    if (weft__compare_exchange(&c->state, state, next) != state) continue;
    if (next == WEFT_CALL_RING_FREE) return true;
    if ((state & WEFT_CALL_RING_WAITING_BIT) != 0)
      weft__notify(&c->state, WEFT__ALL);
    weft__call_reclaim(r, c, next);
    return true;
  }
}

/* Notes that agent `id` was abandoned, for servers that keep what is its. It
   comes after the slots of the agent: an answer that it still had came
   before. */
static inline void weft__call_note_death(weft_call_ring *r, int32_t id) {
  uint32_t entry = (uint32_t)weft__add(&r->deaths, 1);
  /* The round tells entries apart of an agent whose id was used again. */
  uint32_t round = entry / WEFT__CALL_ENTRIES << WEFT__CALL_ROUND_SHIFT;
  char *dead = (char *)r + offsetof(weft_call_ring, dead);
  int32_t *words = (int32_t *)(void *)dead;
  weft__store(&words[entry % WEFT__CALL_ENTRIES], (int32_t)round | id);
}

/*
 * Ends the calls of agent `id`. Call it only when that agent will never run
 * again. Its own calls are withdrawn, and agents that called it get EOWNERDEAD.
 * Returns how many calls there were.
 */
static inline int32_t weft_call_ring_abandon(weft_call_ring *r, int32_t id) {
  int32_t count = 0;
  if (!WEFT__AGENT_CAN_BE(id)) return 0;
  for (int32_t i = 0; i < weft_call_ring_slots(r); i++)
    if (weft__call_abandon(r, weft__call_at(r, i), id)) count++;
  weft__call_note_death(r, id);
  /* If the agent had been given a wake, pass it on. */
  weft__event_wake(&r->serve_epoch, WEFT__ALL);
  weft__event_wake(&r->slot_epoch, WEFT__ALL);
  return count;
}

WEFT__END

#endif

#endif /* WEFT_CALL_RING_H */

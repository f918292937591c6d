/* call_ring.h - the twin of primitives/call_ring.ts, whose algorithm is in
   primitives/_calls/ring/call.ts. */
#ifndef WEFT_CALL_RING_H
#define WEFT_CALL_RING_H

#include "_event_count.h"
#include "_region.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* In a state: the agent that it is about, the phase, and whether somebody
   sleeps. */
#define WEFT_CALL_RING_ID_MASK 0xfffffff /* CALL_RING_BITS.ID */
#define WEFT_CALL_RING_PHASE_MASK (7 << 28) /* CALL_RING_BITS.PHASE */
#define WEFT_CALL_RING_WAITING_BIT INT32_MIN /* CALL_RING_BITS.WAITING */
/* The phases of a call, and which agent the state names. */
#define WEFT_CALL_RING_FREE 0
#define WEFT_CALL_RING_CLAIMED (1 << 28) /* the caller, which writes */
#define WEFT_CALL_RING_POSTED (2 << 28)  /* the caller */
#define WEFT_CALL_RING_SERVING (3 << 28) /* the server */
#define WEFT_CALL_RING_DROPPED (4 << 28) /* the server; nobody waits */
#define WEFT_CALL_RING_REPLIED (5 << 28) /* the caller, for all from here */
#define WEFT_CALL_RING_FAILED (6 << 28)
#define WEFT_CALL_RING_LOST (7 << 28)
/* In caller: that agent was abandoned. */
#define WEFT_CALL_RING_DEAD_BIT (1 << 28) /* CALL_RING_BITS.DEAD */

/* In `shape`: the number of slots less 1, above the words of a request. */
#define WEFT__CALL_SLOTS_SHIFT 22 /* CALL_RING_BITS.SLOTS */
#define WEFT__CALL_WORDS_MASK 0x3fffff /* CALL_RING_BITS.WORDS */
#define WEFT__CALL_MAX_SLOTS 1024
#define WEFT__CALL_MAX_BYTES (1 << 30)

/* The configuration of a ring. `slots` is how many calls may be under way at
   the same time, 1 to 1024. `request` is the most bytes of a request, 0 to 2^24
   - 4, `reply` those of a reply; both are rounded up to multiples of 4. All
   slots together have at most 2^30 bytes. */
typedef struct {
  int32_t slots;
  int32_t request;
  int32_t reply;
} weft_call_ring_config;

/* A call is its slot: these words, then the request, then the reply. */
typedef struct {
  int32_t state;
  int32_t caller;
  int32_t request_length;
  int32_t reply_length;
} weft_call;

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A ring of calls from many callers to many servers.
 *
 * word 0   magic          Kind and layout version.
 * word 1   shape          bits 0-21   the most words of a request
 *                         bits 22-31  the number of slots, less 1
 * word 2   reply          The most bytes of a reply, a multiple of 4.
 * word 3   seal           Check word over the configuration.
 * word 4   closed         1 after `close`.
 * word 32  serve_epoch    Changes when sleeping servers must look again.
 *                         sleepers: servers
 * word 33  serve_waiters  bits 0-30  servers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 34  look           The slot where a server written in C looks first.
 * word 64  slot_epoch     Changes when callers without a slot must look again.
 *                         sleepers: callers without a slot
 * word 65  slot_waiters   bits 0-30  callers that sleep there, or are about to
 *                         bit 31     one of them awaits, or did
 * word 66  pauses         How many pauses callers still owe to others, which
 *                         found no free slot.
 * word 96  The slots, each at a multiple of 32 words. A slot has four words:
 *          `state`, the agent id of the caller, the length of the request and
 *          the length of the reply. The bytes of both follow. In `state`, bits
 *          0-27 are the id of the agent that the state names. Bits 28-30 are 0
 *          FREE, 1 CLAIMED by a caller, 2 POSTED, 3 SERVING, 4 DROPPED (a
 *          server has it, and the caller gave up), 5 REPLIED, 6 FAILED or 7
 *          LOST (its server died). Bit 31 says that the caller sleeps there.
 *          Bit 28 of the caller says that it died.
 *
 * Freed when: every operation of every agent has returned, close included, and
 * none will begin. That it is closed and empty does not say so.
 */
typedef struct {
  int32_t magic;
  int32_t shape;
  int32_t reply;
  int32_t seal;
  int32_t closed;
  int32_t _pad0[27];
  int32_t serve_epoch;
  int32_t serve_waiters;
  int32_t look;
  int32_t _pad1[29];
  int32_t slot_epoch;
  int32_t slot_waiters;
  int32_t pauses;
  int32_t _pad2[29];
} weft_call_ring;
WEFT_WORD(call_ring, magic, 0);
WEFT_WORD(call_ring, shape, 1);
WEFT_WORD(call_ring, reply, 2);
WEFT_WORD(call_ring, seal, 3);
WEFT_WORD(call_ring, closed, 4);
WEFT_WORD(call_ring, serve_epoch, 32);
WEFT_WORD(call_ring, serve_waiters, 33);
WEFT_WORD(call_ring, look, 34);
WEFT_WORD(call_ring, slot_epoch, 64);
WEFT_WORD(call_ring, slot_waiters, 65);
WEFT_WORD(call_ring, pauses, 66);
WEFT_LENGTH(call_ring, 96);
/* clang-format on */
/* End of what `deno task layout` makes. */

/*
 * Serves a call: reads `length` bytes of `request` and writes at most max_reply
 * bytes to `reply`. Returns how many bytes it wrote. A handler that fails
 * writes a message of `n` bytes instead, and returns -1 - n.
 */
typedef int32_t (*weft_call_handler)(void *context, const void *request,
                                     int32_t length, void *reply);

static inline int32_t weft__call_rounded(int32_t bytes) {
  return (int32_t)(((uint32_t)bytes + 3) & ~UINT32_C(3));
}

/* The bytes of a slot, for lengths that are multiples of 4. */
static inline size_t weft__call_stride(int32_t request, int32_t reply) {
  size_t bytes = sizeof(weft_call) + (size_t)request + (size_t)reply;
  return (bytes + 127) / 128 * 128;
}

/* The bytes of a ring as a constant expression; 0 if out of range. */
#define WEFT_CALL_RING_BYTES(slots, request, reply)                      \
  ((slots) < 1 || (slots) > WEFT__CALL_MAX_SLOTS || (request) < 0 ||     \
           (request) > WEFT__CALL_WORDS_MASK * 4 || (reply) < 0 ||       \
           (reply) > WEFT__CALL_MAX_BYTES ||                             \
           WEFT__CALL_SLOT(request, reply) >                             \
               (WEFT__CALL_MAX_BYTES - sizeof(weft_call_ring)) / (slots) \
       ? 0                                                               \
       : sizeof(weft_call_ring) + WEFT__CALL_SLOT(request, reply) * (slots))
#define WEFT__CALL_SLOT(request, reply)                           \
  WEFT__MULTIPLE(sizeof(weft_call) + WEFT__MULTIPLE(request, 4) + \
                     WEFT__MULTIPLE(reply, 4),                    \
                 128)

/* The bytes of a ring of this configuration; 0 if it is out of range. */
static inline size_t weft_call_ring_bytes(weft_call_ring_config config) {
  const int32_t most = WEFT__CALL_WORDS_MASK * 4;
  if (config.slots < 1 || config.slots > WEFT__CALL_MAX_SLOTS) return 0;
  if (config.request < 0 || config.request > most) return 0;
  if (config.reply < 0 || config.reply > WEFT__CALL_MAX_BYTES) return 0;
  size_t stride = weft__call_stride(weft__call_rounded(config.request),
                                    weft__call_rounded(config.reply));
  size_t room = (size_t)WEFT__CALL_MAX_BYTES - sizeof(weft_call_ring);
  if (stride > room / (size_t)config.slots) return 0;
  return sizeof(weft_call_ring) + (size_t)config.slots * stride;
}

/* The ring at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_call_ring *weft_call_ring_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_call_ring) != NULL) return NULL;
  return (weft_call_ring *)at;
}

/* Initializes `bytes` bytes of unused memory as a ring without calls. NULL if
   the configuration is out of range, the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_call_ring *weft_call_ring_init(
    void *at, size_t bytes, weft_call_ring_config config) {
  weft_call_ring *r = (weft_call_ring *)at;
  size_t needed = weft_call_ring_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  uint32_t slots = (uint32_t)(config.slots - 1) << WEFT__CALL_SLOTS_SHIFT;
  uint32_t words = (uint32_t)weft__call_rounded(config.request) / 4;
  r->shape = (int32_t)(slots | words);
  r->reply = weft__call_rounded(config.reply);
  r->seal = weft__seal(WEFT_KIND_call_ring, r->shape, r->reply);
  weft__store(&r->magic, weft__magic(WEFT_KIND_call_ring));
  return r;
}

/* How many calls may be under way at the same time. */
static inline int32_t weft_call_ring_slots(const weft_call_ring *r) {
  return (int32_t)((uint32_t)r->shape >> WEFT__CALL_SLOTS_SHIFT) + 1;
}

/* The most bytes of a request. */
static inline int32_t weft_call_ring_max_request(const weft_call_ring *r) {
  return (r->shape & WEFT__CALL_WORDS_MASK) * 4;
}

/* The most bytes of a reply. */
static inline int32_t weft_call_ring_max_reply(const weft_call_ring *r) {
  return r->reply;
}

static inline weft_call *weft__call_at(const weft_call_ring *r, int32_t slot) {
  size_t stride = weft__call_stride(weft_call_ring_max_request(r), r->reply);
  return (weft_call *)(void *)((char *)(uintptr_t)(r + 1) +
                               (size_t)slot * stride);
}

/* How many slots are in use. The number may change at any moment. */
static inline int32_t weft_call_ring_pending(const weft_call_ring *r) {
  int32_t count = 0;
  for (int32_t i = weft_call_ring_slots(r); i-- > 0;)
    if (weft__load(&weft__call_at(r, i)->state) != WEFT_CALL_RING_FREE) count++;
  return count;
}

/* Whether close was called; calls may still be under way. */
static inline bool weft_call_ring_closed(const weft_call_ring *r) {
  return weft__load(&r->closed) != 0;
}

static inline int32_t weft__call_phase(int32_t state) {
  return state & WEFT_CALL_RING_PHASE_MASK;
}

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
  weft_agent *agent = &WEFT_AGENT();
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

/*
 * Ends the calls of agent `id`. Call it only when that agent will never run
 * again. Its own calls are withdrawn, and agents that called it get EOWNERDEAD.
 * Returns how many calls there were.
 */
static inline int32_t weft_call_ring_abandon(weft_call_ring *r, int32_t id) {
  int32_t count = 0;
  if (id == 0) return 0;
  for (int32_t i = 0; i < weft_call_ring_slots(r); i++)
    if (weft__call_abandon(r, weft__call_at(r, i), id)) count++;
  /* If the agent had been given a wake, pass it on. */
  weft__event_wake(&r->serve_epoch, WEFT__ALL);
  weft__event_wake(&r->slot_epoch, WEFT__ALL);
  return count;
}

WEFT__END

#endif

#endif /* WEFT_CALL_RING_H */

/* select_blocking.h - the twin of `select.blocking` and `waitAny.blocking` in
   primitives/select.ts and primitives/wait_any.ts. */
#ifndef WEFT_SELECT_BLOCKING_H
#define WEFT_SELECT_BLOCKING_H

#include "_gong.h"
#include "_spin.h"
#include "agent.h"
#include "channel.h"
#include "lock_free_queue.h"
#include "mpmc_queue.h"
#include "record_ring.h"
#include "spsc_queue.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/*
 * Waits until one of several operations can be done, and does it.
 *
 *   int32_t job = 0, index = 0;
 *   weft_arm arms[2] = {weft_mpmc_queue_popping(jobs, &job),
 *                       weft_mpmc_queue_popping(stop, &job)};
 *   int result = weft_select(arms, 2, WEFT_FOREVER, &index);
 *
 * An agent can sleep on one word only. So the first weft_select at several
 * queues links these queues for ever, by their words named `..._gong`. Linked
 * queues may lie 8 GiB apart at most. Queues of a native program are linked
 * only if processes share the memory.
 *
 * Progress: a call blocks, and does one operation or none. An agent that is
 * terminated while it waits delays others by at most a second, and leaves
 * nothing to abandon. An agent that is terminated inside a push or pop of a
 * weft_mpmc_queue can block that queue: see mpmc_queue.h.
 * Fairness: that of each queue. All agents that wait at linked queues wake
 * together.
 * Freed when: every operation of every agent on the queue, and on each queue
 * linked to it, has returned, and none will begin.
 * Source: Go's select.
 */

/* An operation that weft_select may do at one end of a queue. The functions
   below make it. */
typedef struct {
  int32_t what;    /* WEFT__ARM_... */
  void *queue;
  void *dst;       /* where a pop puts the element */
  const void *src; /* where a push finds it */
  int64_t stuck;   /* the ticket that blocked the queue a second ago, or -1;
                      of a channel of capacity 0: see weft__handoff_offer */
  int32_t bytes;   /* of a record to push: its length */
  int32_t *length; /* of a record to pop: as for weft_record_ring_pop */
} weft_arm;

enum {
  WEFT__ARM_SPSC_POP = 1,
  WEFT__ARM_SPSC_PUSH,
  WEFT__ARM_MPMC_POP,
  WEFT__ARM_MPMC_PUSH,
  WEFT__ARM_TAKE, /* of a channel of capacity 0 */
  WEFT__ARM_HAND,
  WEFT__ARM_FREE_POP,
  WEFT__ARM_FREE_PUSH,
  WEFT__ARM_RING_POP,
  WEFT__ARM_RING_PUSH
};

/* An arm that moves the oldest element to `dst`, as weft_spsc_queue_pop. */
static inline weft_arm weft_spsc_queue_popping(weft_spsc_queue *q, void *dst) {
  weft_arm arm = {WEFT__ARM_SPSC_POP, q, dst, NULL, -1, 0, NULL};
  return arm;
}

/* An arm that appends the element at `src`, as weft_spsc_queue_push. */
static inline weft_arm weft_spsc_queue_pushing(weft_spsc_queue *q,
                                               const void *src) {
  weft_arm arm = {WEFT__ARM_SPSC_PUSH, q, NULL, src, -1, 0, NULL};
  return arm;
}

/* An arm that moves the oldest element to `dst`, as weft_mpmc_queue_pop. */
static inline weft_arm weft_mpmc_queue_popping(weft_mpmc_queue *q, void *dst) {
  weft_arm arm = {WEFT__ARM_MPMC_POP, q, dst, NULL, -1, 0, NULL};
  return arm;
}

/* An arm that appends the element at `src`, as weft_mpmc_queue_push. */
static inline weft_arm weft_mpmc_queue_pushing(weft_mpmc_queue *q,
                                               const void *src) {
  weft_arm arm = {WEFT__ARM_MPMC_PUSH, q, NULL, src, -1, 0, NULL};
  return arm;
}

/* An arm that moves the oldest element to `dst`, as
   weft_lock_free_queue_pop. */
static inline weft_arm weft_lock_free_queue_popping(weft_lock_free_queue *q,
                                                    void *dst) {
  weft_arm arm = {WEFT__ARM_FREE_POP, q, dst, NULL, -1, 0, NULL};
  return arm;
}

/* An arm that appends the element at `src`, as weft_lock_free_queue_push. */
static inline weft_arm weft_lock_free_queue_pushing(weft_lock_free_queue *q,
                                                    const void *src) {
  weft_arm arm = {WEFT__ARM_FREE_PUSH, q, NULL, src, -1, 0, NULL};
  return arm;
}

/* An arm that moves the oldest record to `dst`, as weft_record_ring_pop. If it
   is longer than *length, weft_select returns EINVAL, and it stays. */
static inline weft_arm weft_record_ring_popping(weft_record_ring *r, void *dst,
                                                int32_t *length) {
  weft_arm arm = {WEFT__ARM_RING_POP, r, dst, NULL, -1, 0, length};
  return arm;
}

/* An arm that appends `length` bytes as a record, as weft_record_ring_push. */
static inline weft_arm weft_record_ring_pushing(weft_record_ring *r,
                                                const void *src,
                                                int32_t length) {
  weft_arm arm = {WEFT__ARM_RING_PUSH, r, NULL, src, -1, length, NULL};
  return arm;
}

/* An arm that receives the oldest message of a channel of I32, F64 or RECORD.
   `dst` has room for max_length bytes. The messages of other channels differ in
   length: weft_channel_receiving_bytes takes those. If the capacity is 0, it
   counts as a receiver that waits. If another arm is done at the moment at
   which somebody sends to it, that message stays for the next receiver. */
static inline weft_arm weft_channel_receiving(weft_channel *c, void *dst) {
  weft_arm arm = weft_mpmc_queue_popping(weft__channel_queue(c), dst);
  if (weft__channel_hands(c)) {
    arm.what = WEFT__ARM_TAKE;
    arm.queue = c;
  }
  if (!weft__channel_sized(c->codec)) arm.what = 0;
  return arm;
}

/* An arm that sends the max_length bytes at `src`, the same way. If the
   capacity is 0, it meets only receivers that wait. */
static inline weft_arm weft_channel_sending(weft_channel *c, const void *src) {
  weft_arm arm = weft_mpmc_queue_pushing(weft__channel_queue(c), src);
  if (weft__channel_hands(c)) {
    arm.what = WEFT__ARM_HAND;
    arm.queue = c;
    arm.bytes = c->place;
  }
  if (!weft__channel_sized(c->codec)) arm.what = 0;
  return arm;
}

/* An arm that receives the oldest message of a channel of another codec, as
   weft_channel_receive. If it is longer than *length, weft_select returns
   EINVAL, and it stays. Arms of channels of I32, F64 or RECORD are refused. */
static inline weft_arm weft_channel_receiving_bytes(weft_channel *c, void *dst,
                                                    int32_t *length) {
  weft_arm arm = weft_record_ring_popping(weft__channel_ring(c), dst, length);
  if (weft__channel_hands(c)) {
    arm.what = WEFT__ARM_TAKE;
    arm.queue = c;
  }
  if (weft__channel_sized(c->codec)) arm.what = 0;
  return arm;
}

/* An arm that sends `length` bytes, the same way. */
static inline weft_arm weft_channel_sending_bytes(weft_channel *c,
                                                  const void *src,
                                                  int32_t length) {
  weft_arm arm = weft_record_ring_pushing(weft__channel_ring(c), src, length);
  if (weft__channel_hands(c)) {
    arm.what = WEFT__ARM_HAND;
    arm.queue = c;
  }
  if (weft__channel_sized(c->codec)) arm.what = 0;
  return arm;
}

static inline weft_spsc_queue *weft__arm_spsc(const weft_arm *arm) {
  return (weft_spsc_queue *)arm->queue;
}

static inline weft_mpmc_queue *weft__arm_mpmc(const weft_arm *arm) {
  return (weft_mpmc_queue *)arm->queue;
}

static inline weft_lock_free_queue *weft__arm_free(const weft_arm *arm) {
  return (weft_lock_free_queue *)arm->queue;
}

static inline weft_record_ring *weft__arm_ring(const weft_arm *arm) {
  return (weft_record_ring *)arm->queue;
}

static inline weft_channel *weft__arm_channel(const weft_arm *arm) {
  return (weft_channel *)arm->queue;
}

/* Takes the message of a channel of capacity 0; EBUSY if there is none. */
static inline int weft__arm_take(weft_arm *arm) {
  weft_channel *c = weft__arm_channel(arm);
  int32_t whole = c->place, since = (int32_t)arm->stuck;
  int32_t *length = arm->length != NULL ? arm->length : &whole;
  int result = weft__channel_take(c, arm->dst, length, &since);
  arm->stuck = since;
  return result;
}

/* Sends to a receiver that waits there; EBUSY if none does. */
static inline int weft__arm_hand(const weft_arm *arm) {
  weft_channel *c = weft__arm_channel(arm);
  bool posted = false;
  int32_t number = 0;
  return weft__channel_hand(c, arm->src, arm->bytes, false, &posted, &number);
}

/* Offers to take a message there, if the arm does that. */
static inline void weft__arm_offer(weft_arm *arm) {
  if (arm->what != WEFT__ARM_TAKE) return;
  int32_t since = (int32_t)arm->stuck;
  weft__handoff_offer(weft__arm_channel(arm), &since);
  arm->stuck = since;
}

/* The time is over: takes the offer back, or what that brought. EBUSY if it
   brought nothing, or the arm made none. */
static inline int weft__arm_settle(weft_arm *arm) {
  if (arm->what != WEFT__ARM_TAKE) return EBUSY;
  weft_channel *c = weft__arm_channel(arm);
  int32_t whole = c->place, since = (int32_t)arm->stuck;
  int32_t *length = arm->length != NULL ? arm->length : &whole;
  int result = weft__channel_settle(c, arm->dst, length, &since, ETIMEDOUT);
  arm->stuck = since;
  return result == ETIMEDOUT ? EBUSY : result;
}

/* Does an arm's operation; EBUSY if that would have to wait. */
static inline int weft__arm_try(weft_arm *arm) {
  switch (arm->what) {
    case WEFT__ARM_TAKE:
      return weft__arm_take(arm);
    case WEFT__ARM_HAND:
      return weft__arm_hand(arm);
    case WEFT__ARM_FREE_POP:
      return weft_lock_free_queue_try_pop(weft__arm_free(arm), arm->dst);
    case WEFT__ARM_FREE_PUSH:
      return weft_lock_free_queue_try_push(weft__arm_free(arm), arm->src);
    case WEFT__ARM_RING_POP:
      return weft_record_ring_try_pop(weft__arm_ring(arm), arm->dst,
                                      arm->length);
    case WEFT__ARM_RING_PUSH:
      return weft_record_ring_try_push(weft__arm_ring(arm), arm->src,
                                       arm->bytes);
    case WEFT__ARM_SPSC_POP:
      return weft_spsc_queue_try_pop(weft__arm_spsc(arm), arm->dst);
    case WEFT__ARM_SPSC_PUSH:
      return weft_spsc_queue_try_push(weft__arm_spsc(arm), arm->src);
    case WEFT__ARM_MPMC_POP:
      return weft_mpmc_queue_try_pop(weft__arm_mpmc(arm), arm->dst);
    default:
      return weft_mpmc_queue_try_push(weft__arm_mpmc(arm), arm->src);
  }
}

/* Whether a pop would not wait; EBUSY if it would. */
static inline int weft__arm_look(const weft_arm *arm) {
  if (arm->what == WEFT__ARM_TAKE)
    return weft__handoff_is_ready(weft__arm_channel(arm)) ? 0 : EBUSY;
  if (arm->what == WEFT__ARM_MPMC_POP)
    return weft__mpmc_poppable(weft__arm_mpmc(arm)) ? 0 : EBUSY;
  if (arm->what == WEFT__ARM_FREE_POP)
    return weft__lock_free_poppable(weft__arm_free(arm)) ? 0 : EBUSY;
  if (arm->what == WEFT__ARM_RING_POP)
    return weft__record_look(weft__arm_ring(arm));
  weft_spsc_queue *q = weft__arm_spsc(arm);
  int32_t tail = weft__load(&q->tail);
  int32_t more = (tail ^ weft__hint(&q->head)) & WEFT_SPSC_QUEUE_INDEX_MASK;
  return more != 0 || weft_spsc_queue_closed(q) ? 0 : EBUSY;
}

/* The gong of an arm's end. */
static inline int32_t *weft__arm_gong(const weft_arm *arm) {
  switch (arm->what) {
    case WEFT__ARM_TAKE:
      return &weft__arm_channel(arm)->message_gong;
    case WEFT__ARM_HAND:
      return &weft__arm_channel(arm)->offer_gong;
    case WEFT__ARM_FREE_POP:
      return &weft__arm_free(arm)->pop_gong;
    case WEFT__ARM_FREE_PUSH:
      return &weft__arm_free(arm)->push_gong;
    case WEFT__ARM_RING_POP:
      return &weft__arm_ring(arm)->pop_gong;
    case WEFT__ARM_RING_PUSH:
      return &weft__arm_ring(arm)->push_gong;
    case WEFT__ARM_SPSC_POP:
      return &weft__arm_spsc(arm)->tail_gong;
    case WEFT__ARM_SPSC_PUSH:
      return &weft__arm_spsc(arm)->head_gong;
    case WEFT__ARM_MPMC_POP:
      return &weft__arm_mpmc(arm)->pop_gong;
    default:
      return &weft__arm_mpmc(arm)->push_gong;
  }
}

/* The epoch of an arm's end; NULL if that has none. */
static inline int32_t *weft__arm_epoch(const weft_arm *arm) {
  switch (arm->what) {
    case WEFT__ARM_TAKE:
      return &weft__arm_channel(arm)->message_epoch;
    case WEFT__ARM_HAND:
      return &weft__arm_channel(arm)->offer_epoch;
    case WEFT__ARM_MPMC_POP:
      return &weft__arm_mpmc(arm)->pop_epoch;
    case WEFT__ARM_MPMC_PUSH:
      return &weft__arm_mpmc(arm)->push_epoch;
    case WEFT__ARM_FREE_POP:
      return &weft__arm_free(arm)->pop_epoch;
    case WEFT__ARM_FREE_PUSH:
      return &weft__arm_free(arm)->push_epoch;
    case WEFT__ARM_RING_POP:
      return &weft__arm_ring(arm)->pop_epoch;
    case WEFT__ARM_RING_PUSH:
      return &weft__arm_ring(arm)->push_epoch;
    default:
      return NULL;
  }
}

/* Announces this agent at an arm's end. */
static inline void weft__arm_announce(const weft_arm *arm) {
  int32_t *epoch = weft__arm_epoch(arm);
  if (epoch != NULL) {
    (void)weft__event_announce(epoch);
  } else if (arm->what == WEFT__ARM_SPSC_POP) {
    weft__spsc_pop_announce(weft__arm_spsc(arm));
  } else {
    weft__spsc_push_announce(weft__arm_spsc(arm));
  }
}

static inline void weft__arm_withdraw(const weft_arm *arm) {
  int32_t *epoch = weft__arm_epoch(arm);
  if (epoch != NULL) weft__event_withdraw(epoch);
}

/* Takes the offer of an arm back, and wakes another agent if the queue of the
   arm has work for one more. */
static inline void weft__arm_pass(weft_arm *arm) {
  if (arm->what == WEFT__ARM_MPMC_POP) {
    weft__mpmc_pass_pop(weft__arm_mpmc(arm));
  } else if (arm->what == WEFT__ARM_MPMC_PUSH) {
    weft__mpmc_pass_push(weft__arm_mpmc(arm));
  } else if (arm->what == WEFT__ARM_FREE_POP) {
    weft__lock_free_pass_pop(weft__arm_free(arm));
  } else if (arm->what == WEFT__ARM_FREE_PUSH) {
    weft__lock_free_pass_push(weft__arm_free(arm));
  } else if (arm->what == WEFT__ARM_RING_POP) {
    weft__record_pass_pop(weft__arm_ring(arm));
  } else if (arm->what == WEFT__ARM_RING_PUSH) {
    weft__record_pass_push(weft__arm_ring(arm));
  } else if (arm->what == WEFT__ARM_HAND) {
    weft__handoff_pass(weft__arm_channel(arm));
  } else if (arm->what == WEFT__ARM_TAKE) {
    int32_t since = (int32_t)arm->stuck;
    weft__handoff_end(weft__arm_channel(arm), &since);
    arm->stuck = since;
  }
}

/* Whether one agent, which stands still, has blocked the queue of an arm since
   the last look, a second ago. */
static inline bool weft__arm_is_stuck(weft_arm *arm) {
  if (arm->what != WEFT__ARM_MPMC_POP && arm->what != WEFT__ARM_MPMC_PUSH)
    return false;
  int64_t last = arm->stuck;
  arm->stuck = weft__mpmc_stuck(weft__arm_mpmc(arm),
                                arm->what == WEFT__ARM_MPMC_PUSH);
  return arm->stuck >= 0 && arm->stuck == last;
}

/* A call of weft_select, or of weft_wait_any, which only looks. */
typedef struct {
  weft_arm *arms;
  int32_t n;
  int32_t first; /* the arm that is tried first */
  bool looks;
  int32_t announced; /* at how many ends the agent is announced */
  int32_t index;     /* the arm whose try was not EBUSY */
} weft__selecting;

static inline weft_arm *weft__select_arm(const weft__selecting *s, int32_t k) {
  int32_t left = s->n - s->first; /* until the list begins again */
  return &s->arms[k < left ? s->first + k : k - left];
}

static inline int weft__select_try_one(weft__selecting *s, weft_arm *arm) {
  int result = s->looks ? weft__arm_look(arm) : weft__arm_try(arm);
  if (result != EBUSY) s->index = (int32_t)(arm - s->arms);
  return result;
}

/* Tries all arms. */
static inline int weft__select_try(weft__selecting *s) {
  int result = EBUSY;
  for (int32_t k = 0; k < s->n && result == EBUSY; k++)
    result = weft__select_try_one(s, weft__select_arm(s, k));
  return result;
}

/* The time is over. Withdraws from all ends, and does an operation that became
   possible before. */
static inline int weft__select_last(weft__selecting *s) {
  int result = EBUSY;
  for (int32_t k = 0; k < s->n; k++) {
    weft_arm *arm = weft__select_arm(s, k);
    weft__arm_withdraw(arm);
    if (result == EBUSY) result = weft__select_try_one(s, arm);
    if (result == EBUSY && !s->looks) {
      result = weft__arm_settle(arm);
      if (result != EBUSY) s->index = (int32_t)(arm - s->arms);
    }
    weft__arm_pass(arm);
  }
  s->announced = 0;
  return result == EBUSY ? ETIMEDOUT : result;
}

/* Announces this agent at each end, and looks there; after a sleep, again. */
static inline int weft__select_round(weft__selecting *s, bool looked) {
  for (int32_t k = 0; k < s->n; k++) {
    weft_arm *arm = weft__select_arm(s, k);
    if (k < s->announced) weft__arm_withdraw(arm);
    else s->announced++;
    bool stuck = looked && weft__arm_is_stuck(arm);
    weft__gong_mark(weft__arm_gong(arm));
    weft__arm_announce(arm);
    if (stuck) {
      s->index = (int32_t)(arm - s->arms);
      return ENOTRECOVERABLE;
    }
    int result = weft__select_try_one(s, arm);
    if (result != EBUSY) return result;
    if (!s->looks) weft__arm_offer(arm);
  }
  return EBUSY;
}

/* The slow path: links the queues, and sleeps until an arm can be done. */
static inline int weft__select_slow(weft__selecting *s, int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t *gong = weft__arm_gong(weft__select_arm(s, 0));
  for (int32_t k = 1; k < s->n; k++) {
    int failed = weft__gong_join(gong, weft__arm_gong(weft__select_arm(s, k)));
    if (failed != 0) return failed;
  }
  int result = EBUSY;
  for (bool looked = false; result == EBUSY;) {
    weft__gong_root root = weft__gong_ask(gong);
    if (root.at == NULL) {
      result = ENOTRECOVERABLE;
      break;
    }
    result = weft__select_round(s, looked);
    if (result != EBUSY) break;
    int woken = weft__sleep(root.at, root.value, deadline, WEFT__LOOK);
    if (woken == WEFT__TIMED_OUT) return weft__select_last(s);
    looked = woken == WEFT__LOOKED;
  }
  for (int32_t k = 0; k < s->announced; k++) {
    weft__arm_withdraw(weft__select_arm(s, k));
    weft__arm_pass(weft__select_arm(s, k));
  }
  return result;
}

static inline int weft__select_or_wait(weft__selecting *s, int64_t timeout) {
  int result = weft__select_try(s);
  if (result != EBUSY) return result;
  if (timeout == 0) return ETIMEDOUT;
  WEFT__SPIN(spin, NULL, timeout) {
    if (weft__spin_found(spin, (result = weft__select_try(s)) != EBUSY))
      return result;
  }
  return weft__select_slow(s, timeout);
}

/* Whether an arm would send to the channel of capacity 0 from which another one
   receives. */
static inline bool weft__select_meets_itself(const weft_arm *arms, int32_t n,
                                             const weft_arm *arm) {
  if (arm->what != WEFT__ARM_HAND) return false;
  for (int32_t i = 0; i < n; i++)
    if (arms[i].what == WEFT__ARM_TAKE && arms[i].queue == arm->queue)
      return true;
  return false;
}

static inline int weft__select(weft_arm *arms, int32_t n, int32_t first,
                               bool looks, int64_t timeout, int32_t *index) {
  *index = -1;
  if (n < 1) return EINVAL;
  for (int32_t i = 0; i < n; i++) {
    bool pops = arms[i].what == WEFT__ARM_SPSC_POP ||
                arms[i].what == WEFT__ARM_MPMC_POP ||
                arms[i].what == WEFT__ARM_FREE_POP ||
                arms[i].what == WEFT__ARM_RING_POP ||
                arms[i].what == WEFT__ARM_TAKE;
    bool pushes = arms[i].what == WEFT__ARM_SPSC_PUSH ||
                  arms[i].what == WEFT__ARM_MPMC_PUSH ||
                  arms[i].what == WEFT__ARM_FREE_PUSH ||
                  arms[i].what == WEFT__ARM_RING_PUSH ||
                  arms[i].what == WEFT__ARM_HAND;
    if (!pops && (looks || !pushes)) return EINVAL;
    if (weft__select_meets_itself(arms, n, &arms[i])) return EINVAL;
    arms[i].stuck = -1;
  }
  if (!weft__may_block()) return EPERM;
  weft__selecting s = {arms, n, first, looks, 0, -1};
  int result = weft__select_or_wait(&s, timeout);
  *index = s.index;
  return result;
}

/*
 * Does the first of `n` arms that can be done, and tells which in *index.
 * Blocks up to `timeout` ns until one can be done; then ETIMEDOUT. Returns
 * EPIPE if the queue of the arm *index was closed (and, to pop, is empty).
 * EPERM if this agent may not block, or is not the producer or consumer of the
 * queue of the arm *index; EINVAL if there is no arm, an arm is for channels of
 * other codecs, a record or message is longer than its place or than there may
 * be, arms both send to and receive from one channel of capacity 0, or queues
 * are too far apart; ENOTRECOVERABLE if a queue is blocked or damaged. Nothing
 * was done then. If several arms can be done at the call, one of them is chosen
 * at random.
 */
static inline WEFT__CHECKED int weft_select(weft_arm *arms, int32_t n,
                                            int64_t timeout, int32_t *index) {
  uint32_t turn = WEFT_AGENT().selects++;
  uint32_t bits = weft__times(turn ^ (uint32_t)weft_agent_id(),
                              UINT32_C(2654435761)) >> 8;
  int32_t first = n < 1 ? 0 : (int32_t)(bits % (uint32_t)n);
  return weft__select(arms, n, first, false, timeout, index);
}

/* The same, but if several arms can be done at the call, the first of the list
   is done. */
static inline WEFT__CHECKED int weft_select_first(weft_arm *arms, int32_t n,
                                                  int64_t timeout,
                                                  int32_t *index) {
  return weft__select(arms, n, 0, false, timeout, index);
}

/*
 * Blocks up to `timeout` ns until one of `n` arms, all of them pops, would not
 * wait, because there is an element or the queue is closed; *index says which.
 * The first of the list if there are several. It takes nothing, so another
 * agent may be faster, and `dst` may be NULL. Then ETIMEDOUT; EPERM if this
 * agent may not block; EINVAL if there is no arm, one of them pushes, or queues
 * are too far apart; ENOTRECOVERABLE if a queue is blocked or damaged.
 */
static inline WEFT__CHECKED int weft_wait_any(weft_arm *arms, int32_t n,
                                              int64_t timeout,
                                              int32_t *index) {
  return weft__select(arms, n, 0, true, timeout, index);
}

WEFT__END

#endif /* WEFT_REALTIME */

#endif /* WEFT_SELECT_BLOCKING_H */

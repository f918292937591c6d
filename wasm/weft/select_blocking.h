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
typedef struct weft_arm {
  /* Does a step for the arm. Only the function that makes the arm names it, so
     a program has the code of those queues alone at which it selects. NULL if
     the arm is refused. */
  int64_t (*act)(struct weft_arm *arm, int32_t step);
  void *queue;
  int32_t *gong;   /* of the end */
  int32_t *epoch;  /* of the end; NULL if it has none */
  void *dst;       /* where a pop puts the element */
  const void *src; /* where a push finds it */
  int64_t stuck;   /* the ticket that blocked the queue a second ago, or -1;
                      of a channel of capacity 0: see weft__handoff_offer */
  int32_t bytes;   /* of a record to push: its length */
  int32_t *length; /* of a record to pop: as for weft_record_ring_pop */
  bool pops;
  bool meets; /* the other side itself, at a channel of capacity 0 */
} weft_arm;

/* The steps. An arm that has no such step returns -1. */
enum {
  WEFT__ARM_TRY,      /* does its operation; EBUSY if that would have to wait */
  WEFT__ARM_LOOK,     /* the same of a pop, but takes nothing */
  WEFT__ARM_ANNOUNCE, /* this agent, at an end that has no epoch */
  WEFT__ARM_PASS,     /* wakes another agent if there is work for one more;
                         takes an offer back */
  WEFT__ARM_STUCK,    /* the ticket that blocks the queue, or -1 */
  WEFT__ARM_OFFER,    /* offers to take a message */
  WEFT__ARM_SETTLE    /* the time is over: takes the offer back, or what that
                         brought; EBUSY if it brought nothing */
};

static inline int64_t weft__arm_spsc_pop(weft_arm *arm, int32_t step) {
  weft_spsc_queue *q = (weft_spsc_queue *)arm->queue;
  switch (step) {
    case WEFT__ARM_TRY:
      return weft_spsc_queue_try_pop(q, arm->dst);
    case WEFT__ARM_LOOK: {
      int32_t tail = weft__load(&q->tail);
      int32_t more = (tail ^ weft__hint(&q->head)) & WEFT_SPSC_QUEUE_INDEX_MASK;
      return more != 0 || weft_spsc_queue_closed(q) ? 0 : EBUSY;
    }
    case WEFT__ARM_ANNOUNCE:
      weft__spsc_announce(q, false);
      return 0;
    default:
      return -1;
  }
}

/* An arm that moves the oldest element to `dst`, as weft_spsc_queue_pop. */
static inline weft_arm weft_spsc_queue_popping(weft_spsc_queue *q, void *dst) {
  weft_arm arm = {weft__arm_spsc_pop, q, &q->tail_gong, NULL, dst, NULL, -1, 0,
                  NULL, true, false};
  return arm;
}

static inline int64_t weft__arm_spsc_push(weft_arm *arm, int32_t step) {
  weft_spsc_queue *q = (weft_spsc_queue *)arm->queue;
  switch (step) {
    case WEFT__ARM_TRY:
      return weft_spsc_queue_try_push(q, arm->src);
    case WEFT__ARM_ANNOUNCE:
      weft__spsc_announce(q, true);
      return 0;
    default:
      return -1;
  }
}

/* An arm that appends the element at `src`, as weft_spsc_queue_push. */
static inline weft_arm weft_spsc_queue_pushing(weft_spsc_queue *q,
                                               const void *src) {
  weft_arm arm = {weft__arm_spsc_push, q, &q->head_gong, NULL, NULL, src, -1, 0,
                  NULL, false, false};
  return arm;
}

static inline int64_t weft__arm_mpmc_pop(weft_arm *arm, int32_t step) {
  weft_mpmc_queue *q = (weft_mpmc_queue *)arm->queue;
  switch (step) {
    case WEFT__ARM_TRY:
      return weft_mpmc_queue_try_pop(q, arm->dst);
    case WEFT__ARM_LOOK:
      return weft__mpmc_poppable(q) ? 0 : EBUSY;
    case WEFT__ARM_PASS:
      weft__mpmc_pass_pop(q);
      return 0;
    case WEFT__ARM_STUCK:
      return weft__mpmc_stuck(q, false);
    default:
      return -1;
  }
}

/* An arm that moves the oldest element to `dst`, as weft_mpmc_queue_pop. */
static inline weft_arm weft_mpmc_queue_popping(weft_mpmc_queue *q, void *dst) {
  weft_arm arm = {weft__arm_mpmc_pop, q, &q->pop_gong, &q->pop_epoch, dst, NULL,
                  -1, 0, NULL, true, false};
  return arm;
}

static inline int64_t weft__arm_mpmc_push(weft_arm *arm, int32_t step) {
  weft_mpmc_queue *q = (weft_mpmc_queue *)arm->queue;
  switch (step) {
    case WEFT__ARM_TRY:
      return weft_mpmc_queue_try_push(q, arm->src);
    case WEFT__ARM_PASS:
      weft__mpmc_pass_push(q);
      return 0;
    case WEFT__ARM_STUCK:
      return weft__mpmc_stuck(q, true);
    default:
      return -1;
  }
}

/* An arm that appends the element at `src`, as weft_mpmc_queue_push. */
static inline weft_arm weft_mpmc_queue_pushing(weft_mpmc_queue *q,
                                               const void *src) {
  weft_arm arm = {weft__arm_mpmc_push, q, &q->push_gong, &q->push_epoch, NULL,
                  src, -1, 0, NULL, false, false};
  return arm;
}

static inline int64_t weft__arm_free_pop(weft_arm *arm, int32_t step) {
  weft_lock_free_queue *q = (weft_lock_free_queue *)arm->queue;
  switch (step) {
    case WEFT__ARM_TRY:
      return weft_lock_free_queue_try_pop(q, arm->dst);
    case WEFT__ARM_LOOK:
      return weft__lock_free_poppable(q) ? 0 : EBUSY;
    case WEFT__ARM_PASS:
      weft__lock_free_pass_pop(q);
      return 0;
    default:
      return -1;
  }
}

/* An arm that moves the oldest element to `dst`, as
   weft_lock_free_queue_pop. */
static inline weft_arm weft_lock_free_queue_popping(weft_lock_free_queue *q,
                                                    void *dst) {
  weft_arm arm = {weft__arm_free_pop, q, &q->pop_gong, &q->pop_epoch, dst, NULL,
                  -1, 0, NULL, true, false};
  return arm;
}

static inline int64_t weft__arm_free_push(weft_arm *arm, int32_t step) {
  weft_lock_free_queue *q = (weft_lock_free_queue *)arm->queue;
  switch (step) {
    case WEFT__ARM_TRY:
      return weft_lock_free_queue_try_push(q, arm->src);
    case WEFT__ARM_PASS:
      weft__lock_free_pass_push(q);
      return 0;
    default:
      return -1;
  }
}

/* An arm that appends the element at `src`, as weft_lock_free_queue_push. */
static inline weft_arm weft_lock_free_queue_pushing(weft_lock_free_queue *q,
                                                    const void *src) {
  weft_arm arm = {weft__arm_free_push, q, &q->push_gong, &q->push_epoch, NULL,
                  src, -1, 0, NULL, false, false};
  return arm;
}

static inline int64_t weft__arm_ring_pop(weft_arm *arm, int32_t step) {
  weft_record_ring *r = (weft_record_ring *)arm->queue;
  switch (step) {
    case WEFT__ARM_TRY:
      return weft_record_ring_try_pop(r, arm->dst, arm->length);
    case WEFT__ARM_LOOK:
      return weft__record_look(r);
    case WEFT__ARM_PASS:
      weft__record_pass_pop(r);
      return 0;
    default:
      return -1;
  }
}

/* An arm that moves the oldest record to `dst`, as weft_record_ring_pop. If it
   is longer than *length, weft_select returns EINVAL, and it stays. */
static inline weft_arm weft_record_ring_popping(weft_record_ring *r, void *dst,
                                                int32_t *length) {
  weft_arm arm = {weft__arm_ring_pop, r, &r->pop_gong, &r->pop_epoch, dst, NULL,
                  -1, 0, length, true, false};
  return arm;
}

static inline int64_t weft__arm_ring_push(weft_arm *arm, int32_t step) {
  weft_record_ring *r = (weft_record_ring *)arm->queue;
  switch (step) {
    case WEFT__ARM_TRY:
      return weft_record_ring_try_push(r, arm->src, arm->bytes);
    case WEFT__ARM_PASS:
      weft__record_pass_push(r);
      return 0;
    default:
      return -1;
  }
}

/* An arm that appends `length` bytes as a record, as weft_record_ring_push. */
static inline weft_arm weft_record_ring_pushing(weft_record_ring *r,
                                                const void *src,
                                                int32_t length) {
  weft_arm arm = {weft__arm_ring_push, r, &r->push_gong, &r->push_epoch, NULL,
                  src, -1, length, NULL, false, false};
  return arm;
}

/* Receives from a channel of capacity 0. */
static inline int64_t weft__arm_take(weft_arm *arm, int32_t step) {
  weft_channel *c = (weft_channel *)arm->queue;
  int32_t whole = c->place, since = (int32_t)arm->stuck;
  int32_t *length = arm->length != NULL ? arm->length : &whole;
  int64_t result = 0;
  switch (step) {
    case WEFT__ARM_TRY:
      result = weft__channel_take(c, arm->dst, length, &since);
      break;
    case WEFT__ARM_LOOK:
      return weft__handoff_is_ready(c) ? 0 : EBUSY;
    case WEFT__ARM_OFFER:
      weft__handoff_offer(c, &since);
      break;
    case WEFT__ARM_PASS:
      weft__handoff_end(c, &since);
      break;
    case WEFT__ARM_SETTLE:
      result = weft__channel_settle(c, arm->dst, length, &since, ETIMEDOUT);
      if (result == ETIMEDOUT) result = EBUSY;
      break;
    default:
      return -1;
  }
  arm->stuck = since;
  return result;
}

static inline weft_arm weft__arm_taking(weft_channel *c, void *dst,
                                        int32_t *length) {
  weft_arm arm = {weft__arm_take, c, &c->message_gong, &c->message_epoch, dst,
                  NULL, -1, 0, length, true, true};
  return arm;
}

/* Sends to a receiver that waits at a channel of capacity 0. */
static inline int64_t weft__arm_hand(weft_arm *arm, int32_t step) {
  weft_channel *c = (weft_channel *)arm->queue;
  bool posted = false;
  int32_t number = 0;
  switch (step) {
    case WEFT__ARM_TRY:
      return weft__channel_hand(c, arm->src, arm->bytes, false, &posted,
                                &number);
    case WEFT__ARM_PASS:
      weft__handoff_pass(c);
      return 0;
    default:
      return -1;
  }
}

static inline weft_arm weft__arm_handing(weft_channel *c, const void *src,
                                         int32_t length) {
  weft_arm arm = {weft__arm_hand, c, &c->offer_gong, &c->offer_epoch, NULL, src,
                  -1, length, NULL, false, true};
  return arm;
}

/* An arm that receives the oldest message of a channel of I32, F64 or RECORD.
   `dst` has room for max_length bytes. The messages of other channels differ in
   length: weft_channel_receiving_bytes takes those. If the capacity is 0, it
   counts as a receiver that waits. If another arm is done at the moment at
   which somebody sends to it, that message stays for the next receiver. */
static inline weft_arm weft_channel_receiving(weft_channel *c, void *dst) {
  weft_arm arm = weft__channel_hands(c)
                     ? weft__arm_taking(c, dst, NULL)
                     : weft_mpmc_queue_popping(weft__channel_queue(c), dst);
  if (!weft__channel_sized(c->codec)) arm.act = NULL;
  return arm;
}

/* An arm that sends the max_length bytes at `src`, the same way. If the
   capacity is 0, it meets only receivers that wait. */
static inline weft_arm weft_channel_sending(weft_channel *c, const void *src) {
  weft_arm arm = weft__channel_hands(c)
                     ? weft__arm_handing(c, src, c->place)
                     : weft_mpmc_queue_pushing(weft__channel_queue(c), src);
  if (!weft__channel_sized(c->codec)) arm.act = NULL;
  return arm;
}

/* An arm that receives the oldest message of a channel of another codec, as
   weft_channel_receive. If it is longer than *length, weft_select returns
   EINVAL, and it stays. Arms of channels of I32, F64 or RECORD are refused. */
static inline weft_arm weft_channel_receiving_bytes(weft_channel *c, void *dst,
                                                    int32_t *length) {
  weft_arm arm =
      weft__channel_hands(c)
          ? weft__arm_taking(c, dst, length)
          : weft_record_ring_popping(weft__channel_ring(c), dst, length);
  if (weft__channel_sized(c->codec)) arm.act = NULL;
  return arm;
}

/* An arm that sends `length` bytes, the same way. */
static inline weft_arm weft_channel_sending_bytes(weft_channel *c,
                                                  const void *src,
                                                  int32_t length) {
  weft_arm arm =
      weft__channel_hands(c)
          ? weft__arm_handing(c, src, length)
          : weft_record_ring_pushing(weft__channel_ring(c), src, length);
  if (weft__channel_sized(c->codec)) arm.act = NULL;
  return arm;
}

/* Announces this agent at an arm's end. */
static inline void weft__arm_announce(weft_arm *arm) {
  if (arm->epoch != NULL) (void)weft__event_announce(arm->epoch);
  else (void)arm->act(arm, WEFT__ARM_ANNOUNCE);
}

static inline void weft__arm_withdraw(const weft_arm *arm) {
  if (arm->epoch != NULL) weft__event_withdraw(arm->epoch);
}

/* Whether one agent, which stands still, has blocked the queue of an arm since
   the last look, a second ago. */
static inline bool weft__arm_is_stuck(weft_arm *arm) {
  int64_t last = arm->stuck, now = arm->act(arm, WEFT__ARM_STUCK);
  if (now < 0 && arm->meets) return false; /* `stuck` is another number */
  arm->stuck = now;
  return now >= 0 && now == last;
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
  int32_t step = s->looks ? WEFT__ARM_LOOK : WEFT__ARM_TRY;
  int result = (int)arm->act(arm, step);
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
    if (result == EBUSY && !s->looks && arm->pops && arm->meets) {
      result = (int)arm->act(arm, WEFT__ARM_SETTLE);
      if (result != EBUSY) s->index = (int32_t)(arm - s->arms);
    }
    (void)arm->act(arm, WEFT__ARM_PASS);
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
    weft__gong_mark(arm->gong);
    weft__arm_announce(arm);
    if (stuck) {
      s->index = (int32_t)(arm - s->arms);
      return ENOTRECOVERABLE;
    }
    int result = weft__select_try_one(s, arm);
    if (result != EBUSY) return result;
    if (!s->looks) (void)arm->act(arm, WEFT__ARM_OFFER);
  }
  return EBUSY;
}

/* The slow path: links the queues, and sleeps until an arm can be done. */
static inline int weft__select_slow(weft__selecting *s, int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t *gong = weft__select_arm(s, 0)->gong;
  for (int32_t k = 1; k < s->n; k++) {
    int failed = weft__gong_join(gong, weft__select_arm(s, k)->gong);
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
    weft_arm *arm = weft__select_arm(s, k);
    weft__arm_withdraw(arm);
    (void)arm->act(arm, WEFT__ARM_PASS);
  }
  return result;
}

static inline int weft__select_or_wait(weft__selecting *s, int64_t timeout) {
  int result = weft__select_try(s);
  if (result != EBUSY) return result;
  if (timeout == 0) {
    /* (T) what was at one arm may be at another one now */
    result = weft__select_try(s);
    return result == EBUSY ? ETIMEDOUT : result;
  }
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
  if (arm->pops || !arm->meets) return false;
  for (int32_t i = 0; i < n; i++)
    if (arms[i].queue == arm->queue && arms[i].pops)
      return true;
  return false;
}

static inline int weft__select(weft_arm *arms, int32_t n, int32_t first,
                               bool looks, int64_t timeout, int32_t *index) {
  *index = -1;
  if (n < 1) return EINVAL;
  for (int32_t i = 0; i < n; i++) {
    if (arms[i].act == NULL || (looks && !arms[i].pops)) return EINVAL;
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
  uint32_t turn = WEFT__AGENT_REST().selects++;
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

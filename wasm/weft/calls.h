/*
 * calls.h - typed calls: see primitives/calls.ts. Here is the caller; the
 * server is in _calls_server.h.
 *
 * Freed when: as the ring. Every call has settled, every serve has returned,
 * close included, and none will begin. The rooms of a server may be freed when
 * its weft_calls_serve has returned.
 */
#ifndef WEFT_CALLS_H
#define WEFT_CALLS_H

#include "_calls_error.h"
#include "_calls_server.h"
#include "_calls_wire.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/*
 * A call. `args` has the `length` bytes of the array of the arguments, as the
 * codec writes it. `codec` is its name, NULL for JSON. If `signal` is not 0,
 * the argument of this number, counted from 1, is an AbortSignal that aborts
 * when this agent gives up; write any value in its place.
 */
typedef struct {
  const char *method;
  const void *args;
  int32_t length;
  int32_t signal;
  const char *codec;
} weft_calls_request;

/*
 * Gives the bytes of the arguments back: a method calls it once it has read
 * them, and must not look at `args` again. From then on a caller that gives up
 * says there why it does.
 */
static inline void weft_calls_release_args(weft_call *call) {
  weft__store((int32_t *)(void *)(call + 1), WEFT__CALLS_GIVEN); /* (G) */
}

/*
 * Why the caller of a method of `r` gave up, if the method had released its
 * arguments. answer->what is WEFT_CALLS_ERROR, which weft_calls_field reads, or
 * WEFT_CALLS_THROWN: then the bytes are a value of the caller's codec. False if
 * the caller still waits, or does not say why.
 */
static inline bool weft_calls_reason(const weft_call_ring *r,
                                     const weft_call *call,
                                     weft_calls_answer *answer) {
  const int32_t *request = (const int32_t *)(const void *)(call + 1);
  int32_t most = weft_call_ring_max_request(r) - WEFT__CALLS_REASON;
  answer->length = 0;
  answer->what = WEFT_CALLS_FAILED;
  /* A caller that was abandoned may have died while it wrote. */
  if (weft__call_phase(weft__load(&call->state)) != WEFT_CALL_RING_DROPPED)
    return false;
  int32_t what = request[0] >> 8;
  int32_t length = request[2];
  if ((request[0] & 0xff) != WEFT__CALLS_GIVEN || length < 0 || length > most ||
      (what != WEFT_CALLS_ERROR && what != WEFT_CALLS_THROWN))
    return false;
  int32_t n = length < answer->room ? length : answer->room;
  if (n > 0)
    __builtin_memcpy(answer->bytes, (const char *)request + WEFT__CALLS_REASON,
                     (size_t)n);
  answer->length = length;
  answer->what = what;
  return true;
}

/* Writes that the time is over, if the server has made room for that. */
static inline void weft__calls_tell(const weft_call_ring *r, weft_call *c) {
  int32_t *request = (int32_t *)(void *)(c + 1);
  int32_t room = weft_call_ring_max_request(r) - WEFT__CALLS_REASON;
  /* Pairs with (G): the server does not use the request any more. */
  if (weft__load(request) != WEFT__CALLS_GIVEN) return;
  int32_t n = weft_calls_throw((char *)request + WEFT__CALLS_REASON, room,
                               "TimeoutError",
                               "The call was not answered in time", NULL);
  if (n == -1) return;
  /* Published by the exchange that gives up. */
  request[2] = -1 - n;
  request[0] = WEFT__CALLS_GIVEN | WEFT_CALLS_ERROR << 8;
}

/* The parts of a request, one behind the other. */
typedef struct {
  const char *at[3];
  int32_t length[3];
} weft__calls_parts;

static inline void weft__calls_gather(char *to, const weft__calls_parts *parts,
                                      int32_t from, int32_t length) {
  for (int i = 0; i < 3 && length > 0; i++) {
    int32_t n = parts->length[i] - from;
    if (n <= 0) {
      from -= parts->length[i];
      continue;
    }
    if (n > length) n = length;
    __builtin_memcpy(to, parts->at[i] + from, (size_t)n);
    to += n;
    length -= n;
    from = 0;
  }
}

/* A message of a call: a head if it is a piece, and some of its parts. */
typedef struct {
  weft__calls_parts parts;
  int32_t piece[4];
  int32_t head; /* bytes of `piece` */
  int32_t from;
  int32_t length;
} weft__calls_message;

/* Writes the message to a free slot, and posts it: see try_post. */
static inline int weft__calls_try_post(weft_call_ring *r,
                                       const weft__calls_message *m,
                                       weft_call **call) {
  weft_call *c = NULL;
  int result = weft__call_begin(r, &c);
  if (result != 0) return result;
  char *to = (char *)(c + 1);
  __builtin_memcpy(to, m->piece, (size_t)m->head);
  weft__calls_gather(to + m->head, &m->parts, m->from, m->length);
  *call = c;
  return weft__call_publish(r, c, m->head + m->length);
}

static inline int weft__calls_post(weft_call_ring *q,
                                   const weft__calls_message *m,
                                   weft_call **call, int64_t timeout) {
  WEFT__EVENT_BLOCK_LAST(weft__calls_try_post(q, m, call), EBUSY,
                         &q->slot_epoch,
                         weft__store(&q->pauses, WEFT__CALL_PAUSES),
                         weft__call_pass_slot(q), timeout, -1);
}

/* Sends a message, and reads its answer; *what is what the answer is. */
static inline int weft__calls_exchange(weft_call_ring *r,
                                       const weft__calls_message *m,
                                       weft_calls_answer *a, int32_t *what,
                                       int64_t deadline) {
  weft_call *c = NULL;
  int64_t left = WEFT_FOREVER;
  if (deadline != INT64_MAX) {
    left = deadline - WEFT_NOW();
    if (left < 0) left = 0;
  }
  int result = weft__calls_post(r, m, &c, left);
  if (result == EBUSY) return ETIMEDOUT;
  if (result != 0) return result;
  if (weft__call_answered(c, left, deadline) != 0) {
    weft__calls_tell(r, c);
    if (weft__call_give_up(r, c)) return ETIMEDOUT;
  }
  int32_t phase = weft__call_phase(weft__load(&c->state));
  const char *reply = weft__call_reply_at(r, c);
  *what = WEFT_CALLS_FAILED;
  if (phase == WEFT_CALL_RING_LOST) {
    result = EOWNERDEAD;
  } else if (c->reply_length < 0 || c->reply_length > r->reply) {
    result = ENOTRECOVERABLE;
  } else if (phase == WEFT_CALL_RING_REPLIED && c->reply_length > 0) {
    *what = (uint8_t)reply[0];
    weft__calls_add(a, reply + 1, c->reply_length - 1);
  } else {
    a->length = 0;
    weft__calls_add(a, reply, c->reply_length);
  }
  weft__call_free(r, c);
  return result;
}

/* Lets the server that has the other pieces come first, for 1 to 4 ms. */
static inline int weft__calls_try_again(int64_t since, int64_t deadline) {
  int32_t nowhere = 0;
  int64_t pause = 1000000 + (int64_t)(WEFT_RANDOM() % 3000000);
  if (WEFT_NOW() - since > WEFT__CALLS_KEPT) return EOWNERDEAD;
  int outcome = weft__sleep(&nowhere, 0, deadline, pause);
  return outcome == WEFT__TIMED_OUT ? ETIMEDOUT : 0;
}

/* Fetches the rest of a long answer, of which `what` came first, to a call that
   was made by `m`. */
static inline int weft__calls_fetch(weft_call_ring *r, weft__calls_message *m,
                                    weft_calls_answer *answer, int32_t what,
                                    int64_t deadline) {
  int64_t since = WEFT_NOW();
  m->piece[0] = WEFT__CALLS_FETCH;
  m->head = WEFT__CALLS_HEAD;
  m->length = 0;
  while ((what & WEFT__CALLS_MORE) != 0 || what == WEFT__CALLS_ELSEWHERE) {
    int result = weft__calls_exchange(r, m, answer, &what, deadline);
    if (result == 0 && what == WEFT__CALLS_ELSEWHERE)
      result = weft__calls_try_again(since, deadline);
    else
      since = WEFT_NOW();
    if (result != 0) return result;
  }
  return 0;
}

/*
 * Calls a method that another agent serves, and blocks up to `timeout` ns.
 * Returns 0 if answer->what is WEFT_CALLS_NOTHING or WEFT_CALLS_VALUE; EIO if
 * it is another, or none of serve; EINVAL if the ring cannot carry the request;
 * EPIPE, ETIMEDOUT, EOWNERDEAD and EPERM as weft_call_ring_call. EOWNERDEAD
 * also means that the server lost the other pieces of a long call.
 */
static inline int weft_calls_call(weft_call_ring *r,
                                  const weft_calls_request *request,
                                  weft_calls_answer *answer, int64_t timeout) {
  int32_t most = weft_call_ring_max_request(r);
  int32_t named = weft__calls_length(request->method);
  int32_t what = WEFT_CALLS_FAILED;
  answer->what = WEFT_CALLS_FAILED;
  answer->length = 0;
  if (named > 255 || request->signal < 0 || request->signal > 255 ||
      request->length < 0 || request->length > WEFT__CALLS_LONGEST - 512 ||
      !weft__calls_fit(r))
    return EINVAL;
  int32_t total = WEFT__CALLS_HEAD + named + request->length;
  bool pieces = total > most;
  if (pieces && most <= WEFT__CALLS_PIECE_HEAD) return EINVAL;
  if (!weft__may_block()) return EPERM;
  int64_t deadline = weft__deadline(timeout);
  weft__agent_rest *agent = &WEFT__AGENT_REST();
  agent->made = weft__plus(agent->made, 1);
  char head[WEFT__CALLS_HEAD] = {WEFT__CALLS_CALL, 0, 0, 0, 0, 0, 0, 0};
  const uint8_t bytes[3] = {(uint8_t)request->signal, (uint8_t)named,
                            weft__calls_check(request->codec)};
  __builtin_memcpy(head + 1, bytes, sizeof bytes);
  __builtin_memcpy(head + 4, &agent->made, sizeof agent->made);
  weft__calls_message m = {
      {{head, request->method, (const char *)request->args},
       {WEFT__CALLS_HEAD, named, request->length}},
      {WEFT__CALLS_PIECE_OF_CALL, agent->made, 0, total},
      pieces ? WEFT__CALLS_PIECE_HEAD : 0,
      0,
      total};
  int64_t since = WEFT_NOW();
  for (;;) {
    if (pieces) {
      int32_t left = total - m.from;
      m.length = left < most - m.head ? left : most - m.head;
      m.piece[2] = m.from;
    }
    answer->length = 0;
    int result = weft__calls_exchange(r, &m, answer, &what, deadline);
    if (result != 0) return result;
    if (what == WEFT__CALLS_ELSEWHERE) {
      if (m.from == 0) since = WEFT_NOW(); /* no server has a piece of it */
      result = weft__calls_try_again(since, deadline);
      if (result != 0) return result;
      continue;
    }
    m.from += m.length;
    if (m.from == total || what != WEFT_CALLS_NOTHING) break;
    since = WEFT_NOW();
  }
  answer->what = what & ~WEFT__CALLS_MORE;
  if (answer->what > WEFT_CALLS_THROWN) answer->what = WEFT_CALLS_FAILED;
  int result = weft__calls_fetch(r, &m, answer, what, deadline);
  if (result != 0) return result;
  return answer->what == WEFT_CALLS_VALUE ||
                 answer->what == WEFT_CALLS_NOTHING
             ? 0
             : EIO;
}

WEFT__END

#endif /* WEFT_REALTIME */
#endif /* WEFT_CALLS_H */

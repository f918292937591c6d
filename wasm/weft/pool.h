/*
 * pool.h - threads as workers of a pool: see primitives/pool.ts.
 *
 * Freed when: `close()` of JavaScript has resolved, every task has settled, and
 * weft_pool_serve has returned in each thread of C.
 */
#ifndef WEFT_POOL_H
#define WEFT_POOL_H

#include "calls.h"
#include "event.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* What _pool/wire.ts says of a request and of a reply. */
#define WEFT__POOL_REQUEST_HEAD 8
#define WEFT__POOL_REPLY_HEAD 32
#define WEFT__POOL_TASK_MASK 0xffff
#define WEFT__POOL_RETIRE 0xffff
#define WEFT__POOL_GUEST 0x40000
#define WEFT__POOL_MOVES 0x100000
#define WEFT__POOL_LONG 0x200000
#define WEFT__POOL_NOTHING 1
#define WEFT__POOL_VALUE 2
#define WEFT__POOL_ERROR 3
#define WEFT__POOL_RETIRED 6
#define WEFT__POOL_STAYS 7
/* What _pool/in_place.ts says: in place of an offset, the bytes follow. */
#define WEFT__POOL_HEAD 8
#define WEFT__POOL_HERE 0xffffffffu

/* Does the task of a call, and answers it; `busy` has the ms of all tasks so
   far. Returns 1 if it did a task, 0 if it handed the call back, or -1 if this
   thread is to end. */
static inline int32_t weft__pool_handle(weft_call_ring *r, weft_call *c,
                                        const weft_calls_function *tasks,
                                        int32_t count, void *context,
                                        double *busy) {
  int32_t length = 0;
  const char *request = (const char *)weft_call_ring_request(r, c, &length);
  char *reply = (char *)weft_call_ring_space(r, c);
  char *body = reply + WEFT__POOL_REPLY_HEAD;
  int32_t room = weft_call_ring_max_reply(r) - WEFT__POOL_REPLY_HEAD;
  int32_t head[2] = {WEFT__POOL_VALUE, -weft_agent_id()};
  double times[3] = {0, 0,
                     0}; /* its begin is by another clock than the pool's */
  int32_t what = 0;
  int32_t n = 0;
  __builtin_memcpy(&what, request, sizeof what);
  if (length < WEFT__POOL_REQUEST_HEAD)
    length = WEFT__POOL_REQUEST_HEAD; /* damaged: it has no bytes */
  int32_t task = what & WEFT__POOL_TASK_MASK;
  if (task == WEFT__POOL_RETIRE) {
    head[0] = what & WEFT__POOL_GUEST ? WEFT__POOL_RETIRED : WEFT__POOL_STAYS;
  } else {
    int64_t began = WEFT_NOW();
    if (task >= count || tasks[task] == NULL)
      n = weft_calls_throw(body, room, "TypeError",
                           "C has no function for this task", NULL);
    else if (what & WEFT__POOL_LONG)
      n = weft_calls_throw(body, room, "RangeError",
                           "The request is too long for C: give the pool the "
                           "option bytes",
                           NULL);
    else if (what & WEFT__POOL_MOVES)
      n = weft_calls_throw(body, room, "TypeError",
                           "C cannot take what is transferred", NULL);
    else
      n = tasks[task](context, c, request + WEFT__POOL_REQUEST_HEAD,
                      length - WEFT__POOL_REQUEST_HEAD, body, room);
    if (n != WEFT_CALLS_UNDEFINED && (n < 0 ? -1 - n : n) > room)
      n = weft_calls_throw(body, room, "RangeError",
                           "The result of C is too long", NULL);
    times[1] = (double)(WEFT_NOW() - began) / 1e6;
    times[2] = *busy += times[1];
    if (n == WEFT_CALLS_UNDEFINED) {
      head[0] = WEFT__POOL_NOTHING;
      n = 0;
    } else if (n < 0) {
      head[0] = WEFT__POOL_ERROR;
      n = -1 - n;
    }
  }
  __builtin_memcpy(reply, head, sizeof head);
  __builtin_memcpy(reply + sizeof head, times, sizeof times);
  weft_call_ring_reply(r, c, NULL, WEFT__POOL_REPLY_HEAD + n);
  if (head[0] == WEFT__POOL_RETIRED) return -1;
  return head[0] != WEFT__POOL_STAYS;
}

/*
 * The bytes of a request whose codec is `inPlace`, and how many there are.
 * `memory` is where the memory begins that JavaScript gave the pool: NULL in a
 * module of WebAssembly. Returns NULL, and -EOVERFLOW in *length, if there are
 * 2^31 bytes or more, of which an int32_t cannot tell.
 */
static inline void *weft_pool_in_place(void *memory, const void *request,
                                       int32_t *length) {
  uint32_t head[2];
  __builtin_memcpy(head, request, sizeof head);
  if (head[1] > INT32_MAX) {
    *length = -EOVERFLOW;
    return NULL;
  }
  *length = (int32_t)head[1];
  if (head[0] == WEFT__POOL_HERE)
    return (void *)((uintptr_t)request + WEFT__POOL_HEAD);
  return (void *)((uintptr_t)memory + head[0]);
}

/*
 * Does tasks of the pool at `at`, and blocks while there are none, until the
 * pool is closed, or needs fewer threads of C. `tasks` has `count` functions,
 * in the order in which the pool's tasks are declared; NULL if there is none
 * for a task. Each is called with `context`, its call, the request and the room
 * for the result, which has as many bytes as the pool's option `bytes`. It
 * returns the length of the result, WEFT_CALLS_UNDEFINED, or what
 * weft_calls_throw returned. weft_call_ring_wanted(call) is false once nobody
 * waits for the result any more.
 *
 * Give the pool the option `guests`. Returns how many tasks it did, -EINVAL if
 * there is no pool, or -EPERM if this agent may not block.
 */
static inline int32_t weft_pool_serve(void *at,
                                      const weft_calls_function *tasks,
                                      int32_t count, void *context) {
  weft_call_ring *r = weft_call_ring_attach(at);
  if (r == NULL || r->reply < WEFT__POOL_REPLY_HEAD) return -EINVAL;
  if (!weft__may_block()) return -EPERM;
  size_t stride = weft__call_stride(weft_call_ring_max_request(r), r->reply);
  weft_event *done =
      (weft_event *)(void *)((char *)at + sizeof *r +
                             stride * (size_t)weft_call_ring_slots(r));
  double busy = 0;
  for (int32_t did = 0;;) {
    weft_call *c = NULL;
    if (weft_call_ring_take(r, &c, WEFT_FOREVER) != 0) return did;
    int32_t n = weft__pool_handle(r, c, tasks, count, context, &busy);
    weft_event_set(done);
    if (n < 0) return did;
    did += n;
  }
}

WEFT__END

#endif /* WEFT_REALTIME */
#endif /* WEFT_POOL_H */

/* weft_pool_serve: tasks that C does, what it refuses, and its end. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <weft.h>

#include "check.h"

enum { SLOTS = 4, BYTES = 80 };

static int32_t memory[1 << 10];

static int32_t increment(void *context, weft_call *call, const void *request,
                         int32_t length, void *reply, int32_t room) {
  CHECK(weft_call_ring_wanted(call));
  EQUAL(room, BYTES);
  ++*(int *)context;
  for (int32_t i = 0; i < length; i++)
    ((uint8_t *)reply)[i] = (uint8_t)(((const uint8_t *)request)[i] + 1);
  return length;
}

static int32_t fails(void *context, weft_call *call, const void *request,
                     int32_t length, void *reply, int32_t room) {
  (void)context, (void)call, (void)request, (void)length;
  return weft_calls_throw(reply, room, "Error", "no luck", NULL);
}

static int32_t too_long(void *context, weft_call *call, const void *request,
                        int32_t length, void *reply, int32_t room) {
  (void)context, (void)call, (void)request, (void)length, (void)reply;
  return room + 1;
}

static int32_t fails_too_long(void *context, weft_call *call,
                              const void *request, int32_t length, void *reply,
                              int32_t room) {
  (void)context, (void)call, (void)request, (void)length, (void)reply;
  return -2 - room;
}

static int32_t nothing(void *context, weft_call *call, const void *request,
                       int32_t length, void *reply, int32_t room) {
  (void)context, (void)call, (void)request, (void)length, (void)reply;
  (void)room;
  return WEFT_CALLS_UNDEFINED;
}

/* Bytes in place, wherever they lie, and however many there are. */
static void finds_in_place(void) {
  uint32_t head[4] = {8, 3, 0, 0};
  int32_t length = 0;
  CHECK(weft_pool_in_place(memory, head, &length) == memory + 2);
  EQUAL(length, 3);
  head[0] = WEFT__POOL_HERE;
  head[1] = 5;
  CHECK(weft_pool_in_place(memory, head, &length) == head + 2);
  EQUAL(length, 5);
  head[0] = 8;
  head[1] = INT32_MAX;
  CHECK(weft_pool_in_place(memory, head, &length) == memory + 2);
  EQUAL(length, INT32_MAX);
  head[1]++;
  CHECK(weft_pool_in_place(memory, head, &length) == NULL);
  EQUAL(length, -EOVERFLOW);
}

static const weft_calls_function tasks[] = {increment, fails, too_long, NULL,
                                            nothing, fails_too_long};

static int did; /* calls of increment: one thread serves */

static void *serve(void *result) {
  weft_agent_set_id(4711);
  *(int32_t *)result = weft_pool_serve(memory, tasks, 6, &did);
  return NULL;
}

/* Posts `bytes` of a task, and checks what and which text comes back. */
static void replies_to(weft_call_ring *r, weft_event *done, int32_t bytes,
                       int32_t task, int32_t what, const char *text) {
  int32_t request[4] = {task, 7, 0x04030201, 0};
  char reply[32 + BYTES];
  int32_t length = sizeof reply;
  int32_t head[2] = {0, 0};
  double times[3];
  weft_call *c = NULL;
  EQUAL(weft_call_ring_try_post(r, request, bytes, &c), 0);
  EQUAL(weft_event_wait(done, WEFT_FOREVER), 0);
  EQUAL(weft_call_ring_try_receive(r, c, reply, &length), 0);
  memcpy(head, reply, sizeof head);
  memcpy(times, reply + 8, sizeof times);
  EQUAL(head[0], what);
  EQUAL(head[1], -4711);
  CHECK(times[0] == 0 && times[1] >= 0 && times[2] >= times[1]);
  EQUAL(length, 32 + (int32_t)strlen(text));
  CHECK(memcmp(reply + 32, text, strlen(text)) == 0);
}

/* The same for a task as a pool posts it. */
static void replies(weft_call_ring *r, weft_event *done, int32_t task,
                    int32_t what, const char *text) {
  replies_to(r, done, 12, task, what, text);
}

int main(void) {
  const weft_call_ring_config config = {SLOTS, 8 + BYTES, 32 + BYTES};
  finds_in_place();
  EQUAL(weft_pool_serve(memory, tasks, 5, NULL), -EINVAL);
  weft_call_ring *r = weft_call_ring_init(memory, sizeof memory, config);
  CHECK(r != NULL);
  char *behind = (char *)memory + weft_call_ring_bytes(config);
  weft_event *done = weft_event_init(behind, sizeof(weft_event), true);
  CHECK(done != NULL);
  pthread_t thread;
  int32_t served = -1;
  EQUAL(pthread_create(&thread, NULL, serve, &served), 0);
  replies(r, done, 0, 2, "\2\3\4\5");
  replies(r, done, 1, 3, "{\"name\":\"Error\",\"message\":\"no luck\"}");
  for (int32_t task = 2; task < 6; task += 3)
    replies(r, done, task, 3,
            "{\"name\":\"RangeError\",\"message\":\"The result of C is too "
            "long\"}");
  const char *const missing =
      "{\"name\":\"TypeError\",\"message\":\"C has no function for this "
      "task\"}";
  replies(r, done, 3, 3, missing);
  replies(r, done, 9, 3, missing);
  replies(r, done, 4, 1, "");
  replies(r, done, 0x100000, 3, /* its request would be transferred */
          "{\"name\":\"TypeError\",\"message\":\"C cannot take what is "
          "transferred\"}");
  replies_to(r, done, 4, 0, 2, ""); /* damaged: shorter than its head */
  replies(r, done, 0xffff, 7, ""); /* an order for workers of JavaScript */
  replies(r, done, 0x4ffff, 6, "");
  pthread_join(thread, NULL);
  EQUAL(served, 9); /* neither of the two orders is a task */
  EQUAL(did, 2);
  EQUAL(pthread_create(&thread, NULL, serve, &served), 0);
  weft_call_ring_close(r);
  pthread_join(thread, NULL);
  EQUAL(served, 0);
  printf("done\n");
  return 0;
}

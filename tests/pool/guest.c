/* The functions of a thread of C for guest_test.ts. */
#include <weft.h>

#define EXPORT __attribute__((used, visibility("default")))

static int32_t increment(void *context, weft_call *call, const void *request,
                         int32_t length, void *reply, int32_t room) {
  (void)context, (void)call, (void)room;
  for (int32_t i = 0; i < length; i++)
    ((uint8_t *)reply)[i] = (uint8_t)(((const uint8_t *)request)[i] + 1);
  return length;
}

/* Throws an error; an empty request makes its message longer than the room. */
static int32_t fails(void *context, weft_call *call, const void *request,
                     int32_t length, void *reply, int32_t room) {
  (void)context, (void)call, (void)request;
  if (length == 0) return weft_calls_throw(reply, 8, "Error", "no room", NULL);
  return weft_calls_throw(reply, room, "RangeError", "no \"luck\"", "E_C");
}

/* Runs until nobody waits for the result any more. */
static int32_t lasts(void *context, weft_call *call, const void *request,
                     int32_t length, void *reply, int32_t room) {
  (void)context, (void)request, (void)length, (void)reply, (void)room;
  while (weft_call_ring_wanted(call)) weft__relax();
  return WEFT_CALLS_UNDEFINED;
}

/* Increments the bytes where they lie; returns how many there are. */
static int32_t in_place(void *context, weft_call *call, const void *request,
                        int32_t size, void *reply, int32_t room) {
  int32_t length = 0;
  uint8_t *bytes = (uint8_t *)weft_pool_in_place(NULL, request, &length);
  (void)context, (void)call, (void)size, (void)room;
  for (int32_t i = 0; i < length; i++) bytes[i]++;
  __builtin_memcpy(reply, &length, sizeof length);
  return sizeof length;
}

static int32_t nothing(void *context, weft_call *call, const void *request,
                       int32_t length, void *reply, int32_t room) {
  (void)context, (void)call, (void)request, (void)length, (void)reply;
  (void)room;
  return WEFT_CALLS_UNDEFINED;
}

static const weft_calls_function tasks[] = {increment, fails, in_place, lasts,
                                            nothing};

EXPORT int32_t serve(void *at, int32_t id) {
  weft_agent_set_id(id);
  weft_agent_set_blocking(true);
  return weft_pool_serve(at, tasks, 5, NULL);
}

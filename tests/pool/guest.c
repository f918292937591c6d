/* The functions of a thread of C for guest_test.ts. */
#include <weft.h>

#define EXPORT __attribute__((used, visibility("default")))

static int32_t increment(void *context, const void *request, int32_t length,
                         void *reply) {
  (void)context;
  for (int32_t i = 0; i < length; i++)
    ((uint8_t *)reply)[i] = (uint8_t)(((const uint8_t *)request)[i] + 1);
  return length;
}

static int32_t fails(void *context, const void *request, int32_t length,
                     void *reply) {
  (void)context;
  (void)request;
  (void)length;
  __builtin_memcpy(reply, "no luck in C", 12);
  return -1 - 12;
}

static const weft_call_handler tasks[] = {increment, fails};

EXPORT int32_t serve(void *at, int32_t id) {
  weft_agent_set_id(id);
  weft_agent_set_blocking(true);
  return weft_pool_serve(at, tasks, 2, NULL);
}

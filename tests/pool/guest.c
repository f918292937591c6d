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

/* Increments the bytes where they lie; returns how many there are. */
static int32_t in_place(void *context, const void *request, int32_t size,
                        void *reply) {
  int32_t length = 0;
  uint8_t *bytes = (uint8_t *)weft_pool_in_place(NULL, request, &length);
  (void)context, (void)size;
  for (int32_t i = 0; i < length; i++) bytes[i]++;
  __builtin_memcpy(reply, &length, sizeof length);
  return sizeof length;
}

static const weft_call_handler tasks[] = {increment, fails, in_place};

EXPORT int32_t serve(void *at, int32_t id) {
  weft_agent_set_id(id);
  weft_agent_set_blocking(true);
  return weft_pool_serve(at, tasks, 3, NULL);
}

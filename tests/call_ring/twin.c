/*
 * Threads of C that call, or serve, the ring that TypeScript uses at the same
 * time: see twin.ts.
 */
#include <pthread.h>

#include "weft.h"

#define EXPORT __attribute__((used, visibility("default")))

/* A part, and how it went. */
typedef struct {
  int32_t state; /* 1 begun, 2 over */
  int32_t serves;
  void *at;
  int32_t count;
  int32_t result; /* how many calls */
  int32_t failed; /* the line of the check that failed, or 0 */
} part;

#define CHECK(condition)                      \
  do {                                        \
    if (!(condition)) p->failed = __LINE__;   \
    if (p->failed) return;                    \
  } while (0)

/* Each byte, plus 1; a request that begins with 255 fails. */
static int32_t plus_one(void *context, const void *request, int32_t length,
                        void *reply) {
  const unsigned char *from = (const unsigned char *)request;
  unsigned char *to = (unsigned char *)reply;
  (void)context;
  if (length > 0 && from[0] == 255) {
    __builtin_memcpy(to, "gr\xc3\xbc\xc3\x9f", 6);
    return -1 - 6;
  }
  for (int32_t k = 0; k < length; k++) to[k] = (unsigned char)(from[k] + 1);
  return length;
}

static void call_many(part *p) {
  weft_call_ring *r = weft_call_ring_attach(p->at);
  CHECK(r != NULL);
  for (int32_t i = 0; i < p->count; i++) {
    unsigned char bytes[24], reply[24];
    int32_t length = i % 25, got = 24;
    for (int32_t k = 0; k < length; k++) bytes[k] = (unsigned char)(i + k);
    bool fails = length > 0 && bytes[0] == 255;
    int result = weft_call_ring_call(r, bytes, length, reply, &got,
                                     WEFT_FOREVER);
    CHECK(result == (fails ? EIO : 0));
    CHECK(got == (fails ? 6 : length));
    for (int32_t k = 0; k < length && !fails; k++)
      CHECK(reply[k] == (unsigned char)(bytes[k] + 1));
    p->result++;
  }
}

static void serve_all(part *p) {
  weft_call_ring *r = weft_call_ring_attach(p->at);
  CHECK(r != NULL);
  p->result = weft_call_ring_serve(r, plus_one, NULL, WEFT_FOREVER);
}

static void *thread(void *argument) {
  part *p = (part *)argument;
  weft__store(&p->state, 1);
  if (p->serves != 0)
    serve_all(p);
  else
    call_many(p);
  weft__store(&p->state, 2);
  weft__notify(&p->state, WEFT__ALL);
  return NULL;
}

/* Plays a part in a thread of its own. */
EXPORT int start(part *p) {
  pthread_t id;
  int error = pthread_create(&id, NULL, thread, p);
  return error != 0 ? error : pthread_detach(id);
}

/* Memory for the tests: 64 KiB. */
EXPORT int32_t *arena(void) {
  static int32_t words[1 << 14];
  return words;
}

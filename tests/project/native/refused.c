/* A system that refuses random numbers and fences, as an old one or a sandbox
   may: each thread has an id of its own, queues wake, and errno stays. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft.h>

#include "check.h"

static int refused;

/* In the place of that of the C library, which it calls. */
long syscall(long number, ...) {
  static long (*ours)(long, ...);
  long with[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) with[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_getrandom || number == SYS_membarrier) {
    __atomic_add_fetch(&refused, 1, __ATOMIC_SEQ_CST);
    errno = ENOSYS;
    return -1;
  }
  if (ours == NULL) *(void **)&ours = dlsym(RTLD_NEXT, "syscall");
  return ours(number, with[0], with[1], with[2], with[3], with[4], with[5]);
}

static _Alignas(8) char memory[WEFT_SPSC_QUEUE_BYTES(2, 4)];

static void *pops(void *of) {
  weft_spsc_queue *q = (weft_spsc_queue *)of;
  int32_t value = 0, id = 0;
  for (int32_t i = 0; i < 1000; i++) {
    EQUAL(weft_spsc_queue_pop_int(q, &value, WEFT_FOREVER), 0);
    EQUAL(value, i);
  }
  id = weft_agent_id();
  EQUAL(weft_spsc_queue_pop_int(q, &value, WEFT_FOREVER), 0);
  CHECK(value != id && id > 0 && id < 1 << 28);
  return NULL;
}

int main(void) {
  const weft_queue_config config = {2, 4};
  errno = ENOENT;
  weft_spsc_queue *q = weft_spsc_queue_init(memory, sizeof memory, config);
  CHECK(q != NULL);
  const int32_t id = weft_agent_id();
  CHECK(id > 0 && id < 1 << 28);
  EQUAL(errno, ENOENT);
  CHECK(__atomic_load_n(&refused, __ATOMIC_SEQ_CST) >= 2);
  pthread_t other;
  EQUAL(pthread_create(&other, NULL, pops, q), 0);
  for (int32_t i = 0; i < 1000; i++)
    EQUAL(weft_spsc_queue_push_int(q, i, WEFT_FOREVER), 0);
  EQUAL(weft_spsc_queue_push_int(q, id, WEFT_FOREVER), 0);
  EQUAL(pthread_join(other, NULL), 0);
  return 0;
}

/* Tasks for the pool of zstd, whose locks are Weft's by weft_pthread.h: see
   tests/_run/posix.ts. It prints "done" if each task was done once. */
#include <pool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#define TASKS 2000

static atomic_int times[TASKS];

static void once(void *task) { ++*(atomic_int *)task; }

int main(void) {
  for (size_t threads = 1; threads <= 4; threads++) {
    POOL_ctx *pool = POOL_create(threads, 8);
    if (pool == NULL) return 1;
    for (int i = 0; i < TASKS; i++) {
      if (i == TASKS / 2 && POOL_resize(pool, threads + 1) != 0) return 2;
      POOL_add(pool, once, &times[i]);
    }
    POOL_joinJobs(pool);
    for (int i = 0; i < TASKS; i++)
      if (times[i] != (int)threads) return 3;
    POOL_free(pool);
  }
  puts("done");
  return 0;
}

/* WEFT_PROCESS_SHARED: a process sleeps until another one wakes it. */
#define WEFT_PROCESS_SHARED
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft.h>

#include "check.h"

int main(void) {
  const size_t bytes = 4096;
  const weft_queue_config config = {4, 4};
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  weft_mpmc_queue *q = weft_mpmc_queue_init(memory, bytes, config);
  CHECK(q != NULL);
  pid_t child = fork();
  if (child == 0) {
    for (int32_t i = 0; i < 20000; i++)
      if (weft_mpmc_queue_push_int(q, i, WEFT_FOREVER) != 0) _exit(1);
    _exit(0);
  }
  /* A lost wake would cost a second, and there are many. */
  const int64_t begin = WEFT_NOW();
  for (int32_t i = 0; i < 20000; i++) {
    int32_t value = -1;
    EQUAL(weft_mpmc_queue_pop_int(q, &value, WEFT_FOREVER), 0);
    EQUAL(value, i);
    if (i % 1000 == 0) usleep(1000);
  }
  int status = 1;
  EQUAL(waitpid(child, &status, 0), child);
  EQUAL(status, 0);
  CHECK(WEFT_NOW() - begin < INT64_C(60000000000));
  printf("done\n");
  return 0;
}

/* WEFT_PROCESS_SHARED: the child of a fork is another agent than its parent. It
   cannot unlock what the parent holds, and waits for it like any other. */
#define WEFT_PROCESS_SHARED
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft.h>

#include "check.h"

/* With `set`, the parent has given itself that id. */
static void child_is_another(weft_mutex *m, int32_t set) {
  weft_event *tried = (weft_event *)(void *)(m + 1);
  CHECK(weft_event_init(tried, sizeof *tried, false) == tried);
  CHECK(weft_mutex_init(m, sizeof *m) == m);
  if (set != 0) EQUAL(weft_agent_set_id(set), 0);
  const int32_t mine = weft_agent_id();
  EQUAL(weft_mutex_lock(m, WEFT_FOREVER), 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(weft_agent_id() != mine);
    EQUAL(weft_mutex_unlock(m), EPERM);
    EQUAL(weft_mutex_lock(m, 1 * MS), ETIMEDOUT);
    weft_event_set(tried);
    const int32_t own = weft_agent_id();
    pid_t grandchild = fork();
    if (grandchild == 0) _exit(weft_agent_id() == own);
    int status = 1;
    EQUAL(waitpid(grandchild, &status, 0), grandchild);
    EQUAL(status, 0);
    EQUAL(weft_agent_id(), own);
    EQUAL(weft_mutex_lock(m, WEFT_FOREVER), 0);
    EQUAL(weft_mutex_unlock(m), 0);
    _exit(0);
  }
  EQUAL(weft_agent_id(), mine);
  EQUAL(weft_event_wait(tried, WEFT_FOREVER), 0);
  EQUAL(weft_mutex_owner(m), mine);
  EQUAL(weft_mutex_unlock(m), 0);
  int status = 1;
  EQUAL(waitpid(child, &status, 0), child);
  EQUAL(status, 0);
}

int main(void) {
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  child_is_another((weft_mutex *)memory, 0);
  child_is_another((weft_mutex *)memory, 77);
  printf("done\n");
  return 0;
}

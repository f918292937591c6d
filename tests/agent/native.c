/* Identities: in range, refused if not, and one for each thread. */
#define _POSIX_C_SOURCE 200809L
#include <weft/agent.h>
#include "check.h"

static void agent_ids(void) {
  int32_t id = weft_agent_id();
  CHECK(id >= 1 && id <= 0x0fffffff);
  EQUAL(weft_agent_id(), id);
  EQUAL(weft_agent_set_id(7), 0);
  EQUAL(weft_agent_id(), 7);
  EQUAL(weft_agent_set_id(0x0fffffff), 0);
  EQUAL(weft_agent_id(), 0x0fffffff);
  EQUAL(weft_agent_set_id(0), EINVAL);
  EQUAL(weft_agent_set_id(-1), EINVAL);
  EQUAL(weft_agent_set_id(0x10000000), EINVAL);
  EQUAL(weft_agent_id(), 0x0fffffff);
  EQUAL(weft_agent_set_id(1), 0);
}

static void *own_id(void *argument) {
  *(int32_t *)argument = weft_agent_id();
  EQUAL(weft_agent_id(), *(int32_t *)argument);
  return NULL;
}

static void ids_differ(void) {
  int32_t ids[16];
  pthread_t threads[16];
  start_threads(threads, 16, own_id, ids, sizeof *ids);
  join_threads(threads, 16);
  for (int i = 0; i < 16; i++) {
    CHECK(ids[i] >= 1 && ids[i] <= 0x0fffffff);
    for (int j = 0; j < i; j++) CHECK(ids[i] != ids[j]);
  }
}

int main(void) {
  RUN(agent_ids);
  RUN(ids_differ);
  puts("done");
  return 0;
}

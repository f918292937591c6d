/* A program of two translation units, in two languages: a thread is one agent
   in both. The other unit is units_cpp.cpp. */
#define _POSIX_C_SOURCE 200809L
#include <weft.h>

#include "check.h"

int32_t id_in_cpp(void);
int set_id_in_cpp(int32_t id);
int lock_in_cpp(weft_mutex *m);
int unlock_in_cpp(weft_mutex *m);
int push_in_cpp(void *queue, int32_t value);

static weft_mutex mutex;

static void *be_one_agent(void *argument) {
  bool cpp_first = *(int *)argument % 2 != 0;
  int32_t id = cpp_first ? id_in_cpp() : weft_agent_id();
  CHECK(id > 0);
  EQUAL(weft_agent_id(), id);
  EQUAL(id_in_cpp(), id);
  for (int i = 0; i < 200; i++) {
    EQUAL(lock_in_cpp(&mutex), 0);
    EQUAL(weft_mutex_owner(&mutex), id);
    EQUAL(weft_mutex_lock(&mutex, WEFT_FOREVER), EDEADLK);
    EQUAL(weft_mutex_unlock(&mutex), 0);
    EQUAL(weft_mutex_lock(&mutex, WEFT_FOREVER), 0);
    EQUAL(lock_in_cpp(&mutex), EDEADLK);
    EQUAL(unlock_in_cpp(&mutex), 0);
  }
  EQUAL(weft_agent_set_id(id ^ 1), 0);
  EQUAL(id_in_cpp(), id ^ 1);
  EQUAL(set_id_in_cpp(id), 0);
  EQUAL(weft_agent_id(), id);
  weft_agent_set_blocking(false);
  EQUAL(lock_in_cpp(&mutex), EPERM);
  weft_agent_set_blocking(true);
  return NULL;
}

static void threads_are_agents(void) {
  pthread_t threads[4];
  int numbers[4] = {0, 1, 2, 3};
  start_threads(threads, 4, be_one_agent, numbers, sizeof *numbers);
  join_threads(threads, 4);
  be_one_agent(numbers);
}

static void units_share_a_queue(void) {
  static int32_t memory[1024];
  const weft_queue_config config = {4, 4};
  weft_mpmc_queue *q = weft_mpmc_queue_init(memory, sizeof memory, config);
  int32_t value = 0;
  EQUAL(push_in_cpp(memory, 41), 0);
  EQUAL(weft_mpmc_queue_pop_int(q, &value, WEFT_FOREVER), 0);
  EQUAL(value, 41);
}

int main(void) {
  RUN(threads_are_agents);
  RUN(units_share_a_queue);
  puts("done");
  return 0;
}

/*
 * A program that loads the library plugin.c: a thread is one agent in both. If
 * the program does not export its symbols, the thread tells the library its id,
 * as docs/primitives/agent.md says. Under Emscripten the program is the main
 * module, and the library a side module; JavaScript begins it, because its main
 * thread must be free to start threads.
 *
 * A thread that waits in the library for one of two queues is woken at once if
 * both parts have one word on which such threads sleep, or need none.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <weft/mutex.h>
#include <weft/select_blocking.h>

#include "check.h"

static int32_t (*id_there)(void);
static int (*set_id_there)(int32_t id);
static int (*lock_there)(weft_mutex *m);
static int (*unlock_there)(weft_mutex *m);
static int (*pop_any_there)(weft_mpmc_queue *a, weft_mpmc_queue *b,
                            int32_t *value);

static weft_mutex mutex;
static bool tells; /* the library its id */

/* ISO C has no cast from an object to a function. */
static void find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  CHECK(found != NULL);
  memcpy(function, &found, sizeof found);
}

static void *be_one_agent(void *argument) {
  bool here_first = *(int *)argument % 2 != 0;
  if (tells) {
    CHECK(id_there() != weft_agent_id()); /* or there is nothing to tell */
    EQUAL(set_id_there(weft_agent_id()), 0);
  }
  if (here_first) CHECK(weft_agent_id() > 0);
  int32_t id = id_there();
  EQUAL(weft_agent_id(), id);
  for (int i = 0; i < 100; i++) {
    EQUAL(lock_there(&mutex), 0);
    EQUAL(weft_mutex_owner(&mutex), id);
    EQUAL(weft_mutex_lock(&mutex, WEFT_FOREVER), EDEADLK);
    EQUAL(weft_mutex_unlock(&mutex), 0);
    EQUAL(weft_mutex_lock(&mutex, WEFT_FOREVER), 0);
    EQUAL(lock_there(&mutex), EDEADLK);
    EQUAL(unlock_there(&mutex), 0);
  }
  return NULL;
}

enum { QUEUE_BYTES = WEFT_MPMC_QUEUE_BYTES(4, 4), ROUNDS = 20 };
static int32_t memory[2][QUEUE_BYTES / 4];
static weft_mpmc_queue *queues[2];
static int32_t popped; /* how many elements */

static void *pop_there(void *argument) {
  for (int32_t i = 0; i < ROUNDS; i++) {
    int32_t value = -1;
    EQUAL(pop_any_there(queues[0], queues[1], &value), 0);
    EQUAL(value, i);
    __atomic_store_n(&popped, i + 1, __ATOMIC_SEQ_CST);
  }
  return argument;
}

/* A lost wake would cost a second. */
static void wake_in_library(void) {
  const weft_queue_config config = {.capacity = 4, .element_size = 4};
  const struct timespec nap = {0, 5 * MS}; /* until it sleeps */
  for (int i = 0; i < 2; i++) {
    queues[i] = weft_mpmc_queue_init(memory[i], QUEUE_BYTES, config);
    CHECK(queues[i] != NULL);
  }
  pthread_t thread;
  int number = 0;
  start_threads(&thread, 1, pop_there, &number, sizeof number);
  const int64_t begin = WEFT_NOW();
  for (int32_t i = 0; i < ROUNDS; i++) {
    nanosleep(&nap, NULL);
    EQUAL(weft_mpmc_queue_push_int(queues[i % 2], i, WEFT_FOREVER), 0);
    while (__atomic_load_n(&popped, __ATOMIC_SEQ_CST) <= i)
      nanosleep(&nap, NULL);
  }
  join_threads(&thread, 1);
  CHECK(WEFT_NOW() - begin < ROUNDS / 2 * WEFT__SECOND);
}

static void use_library(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) puts(dlerror());
  CHECK(library != NULL);
  find(library, "plugin_id", &id_there);
  find(library, "plugin_set_id", &set_id_there);
  find(library, "plugin_lock", &lock_there);
  find(library, "plugin_unlock", &unlock_there);
  find(library, "plugin_pop_any", &pop_any_there);
  pthread_t threads[4];
  int numbers[4] = {0, 1, 2, 3};
  start_threads(threads, 4, be_one_agent, numbers, sizeof *numbers);
  be_one_agent(numbers);
  join_threads(threads, 4);
  if (!tells || WEFT__GONG_LINKS) wake_in_library();
  puts("done");
  fflush(stdout);
}

#ifdef __EMSCRIPTEN__
#include <emscripten.h>

static void *direct(void *done) {
  tells = true;
  use_library("/plugin.wasm");
  __atomic_store_n((int32_t *)done, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

/* Begins, and returns the word that is 1 at the end. */
EMSCRIPTEN_KEEPALIVE int32_t *begin(void) {
  static int32_t done;
  pthread_t director;
  if (pthread_create(&director, NULL, direct, &done)) return NULL;
  pthread_detach(director);
  return &done;
}
#else
int main(int count, char **words) {
  CHECK(count > 1);
  tells = count > 2;
  use_library(words[1]);
  return 0;
}
#endif

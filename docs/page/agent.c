/*
 * One thread of C on the page. The page's memory has the queue, the lock and
 * the words; agent.ts does the same in JavaScript.
 *
 * The module has no memory of its own: each thread is an instance in a worker,
 * with a stack of its own in the page's memory.
 */
#include <stdint.h>

/* Where this thread's weft_agent lies: a global of the instance. */
static __attribute__((address_space(1))) int32_t agent_at;
#define WEFT_AGENT() (*(weft_agent *)agent_at)
#include "weft.h"

/* The words that all agents share, as in shared.ts. */
typedef struct {
  int32_t pace, hold, held, total, copy, repairs, slow;
} page_state;

/* The words of one agent, as in shared.ts. */
typedef struct {
  int32_t count, pops, stop;
} page_row;

static int32_t load(int32_t *word) {
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* In slow motion, stays for a while, but not if it should end. */
static void linger(page_state *state, page_row *row) {
  const int64_t slow = load(&state->slow); /* ms */
  if (slow > 0)
    __builtin_wasm_memory_atomic_wait32(&row->stop, 0, slow * 1000000);
}

/* Counts under the lock. An agent that is told to die there writes `total`,
   but not `copy`. */
static void count(weft_mutex *lock, page_state *state, page_row *row) {
  if (weft_mutex_lock(lock, WEFT_FOREVER) == EOWNERDEAD) {
    state->copy = state->total; /* what the dead agent left half written */
    __atomic_fetch_add(&state->repairs, 1, __ATOMIC_SEQ_CST);
  }
  state->total++;
  __atomic_fetch_add(&row->count, 1, __ATOMIC_SEQ_CST);
  linger(state, row);
  for (volatile int32_t n = load(&state->pace); n > 0; n--) {
  }
  if (load(&state->hold)) {
    __atomic_store_n(&state->held, weft_agent_id(), __ATOMIC_SEQ_CST);
    for (;;) __builtin_wasm_memory_atomic_wait32(&row->stop, -1, -1);
  }
  state->copy++;
  weft_mutex_unlock(lock);
}

/* Pushes or pops numbers until it is told to stop. */
__attribute__((export_name("run"))) void run(void *own, int32_t id, void *queue,
                                             weft_mutex *lock,
                                             page_state *state, page_row *row) {
  agent_at = (int32_t)own;
  if (weft_agent_set_id(id) != 0) return;
  weft_mpmc_queue *jobs = weft_mpmc_queue_attach(queue);
  const int64_t a_moment = INT64_C(50000000); /* ns */
  for (int32_t n = 0; !load(&row->stop); n++) {
    linger(state, row);
    int result = load(&row->pops) ? weft_mpmc_queue_pop_int(jobs, &n, a_moment)
                                  : weft_mpmc_queue_push_int(jobs, n, a_moment);
    if (result == 0) count(lock, state, row);
  }
}

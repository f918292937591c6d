/*
 * Blocking forms, called on the main thread of a page: each must return EPERM
 * at once and leave its memory alone, unless the program has allowed it to
 * block.
 */
#include <emscripten.h>
#include <string.h>

#include "weft.h"

#define LATER (INT64_C(300) * 1000 * 1000) /* nanoseconds */

static _Alignas(8) int32_t memory[4096], before[4096];

static int call_it(void *context) {
  (void)context;
  return 0;
}

static int wait_at(int form) {
  const weft_queue_config queue = {.capacity = 2, .element_size = 4};
  const weft_record_ring_config records = {.capacity = 256};
  const weft_call_ring_config calls = {1, 4, 4};
  const weft_work_config tasks = {.chunk = 1};
  int32_t value = 0, length = 4;
  weft_call *call = NULL;
  memset(memory, 0, sizeof memory);
#define MADE memcpy(before, memory, sizeof memory)
  switch (form) {
    case 0:
      memory[0] = 5; /* agent 5 has it */
      MADE;
      return weft_mutex_lock((weft_mutex *)memory, LATER);
    case 1:
      memory[2] = 5;
      memory[0] = 1 << 26; /* agent 5 writes */
      MADE;
      return weft_rw_lock_read((weft_rw_lock *)memory, LATER);
    case 2:
      memory[2] = 5;
      memory[0] = 1 << 26;
      MADE;
      return weft_rw_lock_write((weft_rw_lock *)memory, LATER);
    case 3: {
      weft_semaphore *s = weft_semaphore_init(memory, sizeof memory, 0);
      MADE;
      return weft_semaphore_acquire(s, 1, LATER);
    }
    case 4: {
      weft_event *e = weft_event_init(memory, sizeof memory, false);
      MADE;
      return weft_event_wait(e, LATER);
    }
    case 5: {
      weft_latch *l = weft_latch_init(memory, sizeof memory, 1);
      MADE;
      return weft_latch_wait(l, LATER);
    }
    case 6: {
      weft_barrier *b = weft_barrier_init(memory, sizeof memory, 2);
      bool leader = false;
      MADE;
      return weft_barrier_arrive_and_wait(b, &leader, LATER);
    }
    case 7:
      memory[0] = 5; /* agent 5 runs the function */
      MADE;
      return weft_once_run((weft_once *)memory, call_it, NULL, LATER);
    case 8: {
      weft_mpmc_queue *q = weft_mpmc_queue_init(memory, sizeof memory, queue);
      MADE;
      return weft_mpmc_queue_pop_int(q, &value, LATER);
    }
    case 9: {
      weft_spsc_queue *q = weft_spsc_queue_init(memory, sizeof memory, queue);
      MADE;
      return weft_spsc_queue_pop_int(q, &value, LATER);
    }
    case 10: {
      weft_record_ring *r =
          weft_record_ring_init(memory, sizeof memory, records);
      MADE;
      return weft_record_ring_pop(r, &value, &length, LATER);
    }
    case 11: {
      weft_call_ring *r = weft_call_ring_init(memory, sizeof memory, calls);
      MADE;
      return weft_call_ring_call(r, "ask", 3, &value, &length, LATER);
    }
    case 12: {
      weft_call_ring *r = weft_call_ring_init(memory, sizeof memory, calls);
      MADE;
      return weft_call_ring_take(r, &call, LATER);
    }
    case 13: {
      weft_work_counter *w =
          weft_work_counter_init(memory, sizeof memory, 1, tasks);
      MADE;
      return weft_work_counter_wait(w, LATER);
    }
    default:
      return -1;
  }
}

/* Returns 0 if all refuse; otherwise 1000 times the number of the form, plus
   what it returned, or plus 999 if it wrote to memory. */
EMSCRIPTEN_KEEPALIVE int refuse_to_block(void) {
  int result = 0;
  for (int form = 0; (result = wait_at(form)) != -1; form++) {
    if (result != EPERM) return 1000 * form + result;
    if (memcmp(memory, before, sizeof memory) != 0) return 1000 * form + 999;
  }
  return 0;
}

/* The same call where the program allows it: ETIMEDOUT. */
EMSCRIPTEN_KEEPALIVE int block_if_allowed(void) {
  weft_agent_set_blocking(true);
  int result = wait_at(4);
  weft_agent_set_blocking(false);
  return result;
}
EMSCRIPTEN_KEEPALIVE int timed_out(void) { return ETIMEDOUT; }

// The C++ half of units.c.
#include "weft.h"

extern "C" {
int32_t id_in_cpp(void);
int set_id_in_cpp(int32_t id);
int lock_in_cpp(weft_mutex *m);
int unlock_in_cpp(weft_mutex *m);
int push_in_cpp(void *queue, int32_t value);

int32_t id_in_cpp(void) { return weft_agent_id(); }
int set_id_in_cpp(int32_t id) { return weft_agent_set_id(id); }
int lock_in_cpp(weft_mutex *m) { return weft_mutex_lock(m, WEFT_FOREVER); }
int unlock_in_cpp(weft_mutex *m) { return weft_mutex_unlock(m); }

int push_in_cpp(void *queue, int32_t value) {
  weft_mpmc_queue *q = weft_mpmc_queue_attach(queue);
  return q == nullptr ? EINVAL : weft_mpmc_queue_push_int(q, value, 0);
}
}

/* A shared library that main programs load: see modules.c. Only what is marked
   is visible. */
#include <weft/mutex.h>
#include <weft/select_blocking.h>

#define EXPORT __attribute__((used, visibility("default")))

EXPORT int32_t plugin_id(void);
EXPORT int plugin_set_id(int32_t id);
EXPORT int plugin_lock(weft_mutex *m);
EXPORT int plugin_unlock(weft_mutex *m);
EXPORT int plugin_pop_any(weft_mpmc_queue *a, weft_mpmc_queue *b,
                          int32_t *value);

int32_t plugin_id(void) { return weft_agent_id(); }
int plugin_set_id(int32_t id) { return weft_agent_set_id(id); }
int plugin_lock(weft_mutex *m) { return weft_mutex_lock(m, WEFT_FOREVER); }
int plugin_unlock(weft_mutex *m) { return weft_mutex_unlock(m); }
int plugin_pop_any(weft_mpmc_queue *a, weft_mpmc_queue *b, int32_t *value) {
  int32_t index = 0;
  weft_arm arms[2] = {weft_mpmc_queue_popping(a, value),
                      weft_mpmc_queue_popping(b, value)};
  return weft_select(arms, 2, WEFT_FOREVER, &index);
}

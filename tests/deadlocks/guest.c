/* An agent of C for deadlocks_test.ts: it locks two mutexes, one after the
   other. */
#define WEFT_NAMED_AGENTS
#include <weft.h>

#define EXPORT __attribute__((used, visibility("default")))

/* Names this agent and locks `first`. 0, or what went wrong. */
EXPORT int begin(void *table, const char *name, int32_t id, weft_mutex *first) {
  weft_agent_table *t = weft_agent_table_attach(table);
  if (t == NULL) return -1;
  weft_agent_set_id(id);
  int result = weft_agent_name(t, name);
  return result != 0 ? result : weft_mutex_lock(first, WEFT_FOREVER);
}

/* Frees the row of a dead agent; how many rows that were. */
EXPORT int32_t abandon(void *table, int32_t id) {
  return weft_agent_table_abandon(weft_agent_table_attach(table), id);
}

/* Locks `second`, and unlocks both. */
EXPORT int end(weft_mutex *first, weft_mutex *second) {
  int result = weft_mutex_lock(second, WEFT_FOREVER);
  if (result == 0) result = weft_mutex_unlock(second);
  if (result == 0) result = weft_mutex_unlock(first);
  weft_agent_unname();
  return result;
}

/* A shared library that main programs load: see modules.c. Only what is marked
   is visible. */
#include <weft/mutex.h>

#define EXPORT __attribute__((used, visibility("default")))

EXPORT int32_t plugin_id(void);
EXPORT int plugin_set_id(int32_t id);
EXPORT int plugin_lock(weft_mutex *m);
EXPORT int plugin_unlock(weft_mutex *m);

int32_t plugin_id(void) { return weft_agent_id(); }
int plugin_set_id(int32_t id) { return weft_agent_set_id(id); }
int plugin_lock(weft_mutex *m) { return weft_mutex_lock(m, WEFT_FOREVER); }
int plugin_unlock(weft_mutex *m) { return weft_mutex_unlock(m); }

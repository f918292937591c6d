/*
 * What the crate calls: functions of weft.h that are not inline, and take no
 * struct. Their errors are those of `Error` in src/lib.rs, because the numbers
 * of errno differ between systems.
 */
#include <stddef.h>
#include <stdint.h>

#include "weft/mpmc_queue.h"
#include "weft/mutex.h"
#include "weft/semaphore.h"
#include "weft/spsc_queue.h"

/* In the order of `Error`. */
enum {
  DONE,
  BUSY,
  CLOSED,
  TIMED_OUT,
  NOT_PERMITTED,
  DEADLOCK,
  INVALID,
  OUT_OF_RANGE,
  DAMAGED,
  OWNER_DIED /* which is none: the mutex is locked */
};

static int32_t code(int error) {
  switch (error) {
    case 0:
      return DONE;
    case EBUSY:
      return BUSY;
    case EPIPE:
      return CLOSED;
    case ETIMEDOUT:
      return TIMED_OUT;
    case EPERM:
      return NOT_PERMITTED;
    case EDEADLK:
      return DEADLOCK;
    case EOVERFLOW:
      return OUT_OF_RANGE;
    case EOWNERDEAD:
      return OWNER_DIED;
    case ENOTRECOVERABLE:
      return DAMAGED;
    default:
      return INVALID;
  }
}

/* Declares a function before it is defined: some compilers ask for that. */
#define FUNCTION(type, name, ...) \
  type name(__VA_ARGS__);         \
  type name(__VA_ARGS__)

FUNCTION(int32_t, weft_rs_agent_id, void) { return weft_agent_id(); }
FUNCTION(int32_t, weft_rs_agent_set_id, int32_t id) {
  return code(weft_agent_set_id(id));
}
FUNCTION(void, weft_rs_agent_set_blocking, int32_t allowed) {
  weft_agent_set_blocking(allowed != 0);
}

FUNCTION(int32_t, weft_rs_mutex_try_lock, void *m) {
  return code(weft_mutex_try_lock((weft_mutex *)m));
}
FUNCTION(int32_t, weft_rs_mutex_lock, void *m, int64_t timeout) {
  return code(weft_mutex_lock((weft_mutex *)m, timeout));
}
FUNCTION(int32_t, weft_rs_mutex_unlock, void *m) {
  return code(weft_mutex_unlock((weft_mutex *)m));
}
FUNCTION(int32_t, weft_rs_mutex_owner, const void *m) {
  return weft_mutex_owner((const weft_mutex *)m);
}

FUNCTION(void *, weft_rs_semaphore_init, void *at, size_t bytes,
         int32_t permits) {
  return weft_semaphore_init(at, bytes, permits);
}
FUNCTION(void *, weft_rs_semaphore_attach, void *at) {
  return weft_semaphore_attach(at);
}
FUNCTION(int32_t, weft_rs_semaphore_try_acquire, void *s, int32_t n) {
  return code(weft_semaphore_try_acquire((weft_semaphore *)s, n));
}
FUNCTION(int32_t, weft_rs_semaphore_acquire, void *s, int32_t n,
         int64_t timeout) {
  return code(weft_semaphore_acquire((weft_semaphore *)s, n, timeout));
}
FUNCTION(int32_t, weft_rs_semaphore_release, void *s, int32_t n) {
  return code(weft_semaphore_release((weft_semaphore *)s, n));
}
FUNCTION(int32_t, weft_rs_semaphore_available, const void *s) {
  return weft_semaphore_available((const weft_semaphore *)s);
}

/* Both queues have the same functions. */
#define QUEUE(kind)                                                            \
  FUNCTION(void *, weft_rs_##kind##_init, void *at, size_t bytes,              \
           int32_t capacity, int32_t element_size) {                           \
    const weft_queue_config config = {capacity, element_size};                 \
    return weft_##kind##_init(at, bytes, config);                              \
  }                                                                            \
  FUNCTION(void *, weft_rs_##kind##_attach, void *at) {                        \
    return weft_##kind##_attach(at);                                           \
  }                                                                            \
  FUNCTION(int32_t, weft_rs_##kind##_try_push, void *q, const void *src) {     \
    return code(weft_##kind##_try_push((weft_##kind *)q, src));                \
  }                                                                            \
  FUNCTION(int32_t, weft_rs_##kind##_push, void *q, const void *src,           \
           int64_t timeout) {                                                  \
    return code(weft_##kind##_push((weft_##kind *)q, src, timeout));           \
  }                                                                            \
  FUNCTION(int32_t, weft_rs_##kind##_try_pop, void *q, void *dst) {            \
    return code(weft_##kind##_try_pop((weft_##kind *)q, dst));                 \
  }                                                                            \
  FUNCTION(int32_t, weft_rs_##kind##_pop, void *q, void *dst,                  \
           int64_t timeout) {                                                  \
    return code(weft_##kind##_pop((weft_##kind *)q, dst, timeout));            \
  }                                                                            \
  FUNCTION(void, weft_rs_##kind##_close, void *q) {                            \
    weft_##kind##_close((weft_##kind *)q);                                     \
  }                                                                            \
  FUNCTION(int32_t, weft_rs_##kind##_closed, const void *q) {                  \
    return weft_##kind##_closed((const weft_##kind *)q) ? 1 : 0;               \
  }                                                                            \
  FUNCTION(int32_t, weft_rs_##kind##_size, const void *q) {                    \
    return weft_##kind##_size((const weft_##kind *)q);                         \
  }                                                                            \
  FUNCTION(int32_t, weft_rs_##kind##_capacity, const void *q) {                \
    return weft_##kind##_capacity((const weft_##kind *)q);                     \
  }                                                                            \
  FUNCTION(int32_t, weft_rs_##kind##_element_size, const void *q) {            \
    return weft_##kind##_element_size((const weft_##kind *)q);                 \
  }

QUEUE(spsc_queue)
QUEUE(mpmc_queue)

/* What src/ says of the memory. */
_Static_assert(sizeof(weft_mutex) == 2 * 4, "Mutex");
_Static_assert(sizeof(weft_semaphore) == 9 * 4, "Semaphore");
_Static_assert(WEFT_SPSC_QUEUE_BYTES(3, 12) == 96 * 4 + 4 * 12, "SpscQueue");
_Static_assert(WEFT_MPMC_QUEUE_BYTES(3, 12) == 160 * 4 + 4 * (8 + 16),
               "MpmcQueue");

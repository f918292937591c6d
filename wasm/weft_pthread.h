/*
 * weft_pthread.h - the locks of <pthread.h> and <semaphore.h> made of weft.h's.
 *
 * Include it before, or by -include in front of, code that uses POSIX's names.
 * Their mutex, rwlock, cond, barrier, once, spin lock and sem_t then have
 * weft.h's words, and JavaScript can attach to each: a pthread_mutex_t begins
 * with a weft_mutex. Threads, thread-local keys and cancellation stay the
 * platform's.
 *
 * All code that shares an object must include it, the libraries, too.
 * The locks of C++'s standard library stay the platform's: weft.hpp has ours.
 *
 * Not there, so that a program that needs it does not compile: named
 * semaphores; robust mutexes (use weft_recover, and EOWNERDEAD); priorities and
 * ceilings; pthread_cancel, because no wait is a cancellation point.
 *
 * What differs: a mutex that its owner locks again is EDEADLK, and another
 * thread that unlocks it gets EPERM, as with an errorcheck one. A wait for a
 * condition with a recursive mutex unlocks it, however often it is locked, and
 * JavaScript locks such a mutex once. Readers stand behind a writer that waits:
 * a thread that reads, and then locks for reading again, waits for that writer,
 * which waits for this thread. Attributes are not looked at, except the type of
 * a mutex and the clock of a condition: to share memory, define
 * WEFT_PROCESS_SHARED. A wait looks at its clock when it begins, so it does not
 * follow a clock that is set meanwhile. What destroys a condition or a barrier
 * waits for the threads that were let through, but not for JavaScript's agents.
 * What destroys a rwlock waits for a writer that has let readers in, and has
 * not returned from its unlock; pthread_rwlock_trywrlock gives EBUSY until
 * then. If such a thread was terminated, each of these waits for ever. A signal
 * ends no wait, so sem_wait never gives EINTR. Locks do not look at priorities.
 * At most 8191 threads read (EAGAIN), 4095 meet at a barrier, and 32767 wait
 * for a condition (EINVAL). The initializers are for initializations, not for
 * assignments. In C it includes <stdbool.h>: nothing of a program can have the
 * name bool.
 */
#ifndef WEFT_PTHREAD_H
#define WEFT_PTHREAD_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#if !defined(CLOCK_REALTIME) || (defined(__GLIBC__) && !defined(__USE_XOPEN2K8))
#error "weft_pthread.h needs all of POSIX: -std=gnu11, or -D_GNU_SOURCE"
#endif

/* Half of std::condition_variable is in a library, which was compiled without
   this header. */
#ifdef __cplusplus
#include <condition_variable>
#include <mutex>
#if __cplusplus >= 201402L
#include <shared_mutex>
#endif
#if __cplusplus >= 202002L && __has_include(<semaphore>)
#include <semaphore>
#endif
#endif

/* A copy of weft.h in one file has no folder beside it. */
#if __has_include("weft/mutex.h")
#include "weft/barrier.h"
#include "weft/condition.h"
#include "weft/condition_any.h"
#include "weft/once.h"
#include "weft/recursive_mutex.h"
#include "weft/rw_lock.h"
#include "weft/semaphore.h"
#else
#include "weft.h"
#endif

#if defined(WEFT_REALTIME)
#error "weft_pthread.h is for code that may wait"
#endif

WEFT__BEGIN

#define WEFT__POSIX static inline __attribute__((unused))

/* Whether a wait can follow a clock: others may stand still while a thread
   sleeps. */
WEFT__POSIX bool weft__posix_ticks(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* The nanoseconds until `end` by a clock, no fewer; -1 if one is invalid. */
WEFT__POSIX int64_t weft__until(clockid_t clock, const struct timespec *end) {
  struct timespec now;
  if (!weft__posix_ticks(clock)) return -1;
  if (end->tv_nsec < 0 || end->tv_nsec > 999999999) return -1;
  if (clock_gettime(clock, &now) != 0) return -1;
  if (end->tv_sec < now.tv_sec) return 0;
  int64_t s = (int64_t)end->tv_sec - (int64_t)now.tv_sec;
  if (s > INT64_C(2000000000)) s = INT64_C(2000000000);
  int64_t ns = s * WEFT__SECOND + (int64_t)(end->tv_nsec - now.tv_nsec);
  return ns < 0 ? 0 : ns;
}

/* For those that return -1 and set errno. */
WEFT__POSIX int weft__errno(int error) {
  if (error == 0) return 0;
  errno = error == EBUSY ? EAGAIN : error;
  return -1;
}

/* How many calls use an object. Whoever destroys it waits for those of threads
   that were let through: they may be on their way out of it. */
WEFT__POSIX void weft__posix_enter(int32_t *inside) { weft__add(inside, 1); }

/* The last thing that a call does with the object: it may be freed then. */
WEFT__POSIX void weft__posix_leave(int32_t *inside) { weft__add(inside, -1); }

/* Nobody wakes whoever destroys an object: that one looks again and again. */
WEFT__POSIX void weft__posix_pause(void) {
  int32_t nowhere = 0;
  if (weft__may_block()) (void)weft__sleep(&nowhere, 0, INT64_MAX, 50000);
}

/* ---- mutexes */

/* A recursive mutex, and the word that configures it: 1 if it was initialized
   as recursive, else 0, and then it is a mutex. */
typedef struct {
  weft_recursive_mutex m;
  int32_t recursive;
} weft__posix_mutex;

WEFT__POSIX int weft__posix_mutex_init(weft__posix_mutex *p,
                                       const pthread_mutexattr_t *attributes) {
  int type = PTHREAD_MUTEX_DEFAULT;
  if (attributes != NULL) pthread_mutexattr_gettype(attributes, &type);
  p->recursive = type == PTHREAD_MUTEX_RECURSIVE;
  return weft_recursive_mutex_init(&p->m, sizeof p->m) == NULL ? EINVAL : 0;
}

WEFT__POSIX int weft__posix_mutex_try(weft__posix_mutex *p) {
  int result = p->recursive ? weft_recursive_mutex_try_lock(&p->m)
                            : weft_mutex_try_lock(&p->m.mutex);
  return result == EOVERFLOW ? EAGAIN : result;
}

WEFT__POSIX int weft__posix_mutex_take(weft__posix_mutex *p, int64_t timeout) {
  int result = p->recursive ? weft_recursive_mutex_lock(&p->m, timeout)
                            : weft_mutex_lock(&p->m.mutex, timeout);
  return result == EOVERFLOW ? EAGAIN : result;
}

/* Code of POSIX may ignore these results; that of weft.h may not. */
WEFT__POSIX int weft__posix_mutex_lock(weft__posix_mutex *p) {
  return weft__posix_mutex_take(p, WEFT_FOREVER);
}

WEFT__POSIX int weft__posix_mutex_trylock(weft__posix_mutex *p) {
  return weft__posix_mutex_try(p);
}

WEFT__POSIX int weft__posix_mutex_unlock(weft__posix_mutex *p) {
  return p->recursive ? weft_recursive_mutex_unlock(&p->m)
                      : weft_mutex_unlock(&p->m.mutex);
}

WEFT__POSIX int weft__posix_mutex_destroy(weft__posix_mutex *p) {
  return weft_recursive_mutex_owner(&p->m) != 0 ? EBUSY : 0;
}

WEFT__POSIX int weft__posix_mutex_clocklock(weft__posix_mutex *p,
                                            clockid_t clock,
                                            const struct timespec *end) {
  if (!weft__posix_ticks(clock)) return EINVAL;
  int result = weft__posix_mutex_try(p);
  if (result != EBUSY) return result;
  int64_t ns = weft__until(clock, end);
  return ns < 0 ? EINVAL : weft__posix_mutex_take(p, ns);
}

WEFT__POSIX int weft__posix_mutex_timedlock(weft__posix_mutex *p,
                                            const struct timespec *end) {
  return weft__posix_mutex_clocklock(p, CLOCK_REALTIME, end);
}

/* Spin locks are mutexes that are not recursive. */
WEFT__POSIX int weft__posix_spin_init(weft_mutex *m, int shared) {
  (void)shared;
  return weft_mutex_init(m, sizeof *m) == NULL ? EINVAL : 0;
}

WEFT__POSIX int weft__posix_spin_lock(weft_mutex *m) {
  return weft_mutex_lock(m, WEFT_FOREVER);
}

WEFT__POSIX int weft__posix_spin_trylock(weft_mutex *m) {
  return weft_mutex_try_lock(m);
}

WEFT__POSIX int weft__posix_spin_unlock(weft_mutex *m) {
  return weft_mutex_unlock(m);
}

WEFT__POSIX int weft__posix_spin_destroy(weft_mutex *m) {
  return weft_mutex_owner(m) != 0 ? EBUSY : 0;
}

/* ---- conditions */

/* A condition, how many calls wait for it or leave it, and whether its clock is
   the monotonic one. */
typedef struct {
  weft_condition c;
  int32_t inside;
  int32_t monotonic;
} weft__posix_cond;

WEFT__POSIX int weft__posix_cond_init(weft__posix_cond *p,
                                      const pthread_condattr_t *attributes) {
  clockid_t clock = CLOCK_REALTIME;
#ifndef __APPLE__ /* which has no such attribute */
  if (attributes != NULL) pthread_condattr_getclock(attributes, &clock);
#endif
  (void)attributes;
  p->inside = 0;
  p->monotonic = clock == CLOCK_MONOTONIC;
  return weft_condition_init(&p->c, sizeof p->c) == NULL ? EINVAL : 0;
}

WEFT__POSIX int weft__posix_cond_signal(weft__posix_cond *p) {
  return weft_condition_notify(&p->c, 1);
}

WEFT__POSIX int weft__posix_cond_broadcast(weft__posix_cond *p) {
  return weft_condition_notify_all(&p->c);
}

/* Waits until it is called, and does nothing with the condition after that. So
   it wakes the next one that was called before it has the mutex: whoever holds
   the mutex may destroy the condition. */
WEFT__POSIX int weft__posix_cond_sleep(weft_condition *c, weft_mutex *m,
                                       int64_t timeout) {
  int32_t group = 0;
  int result = weft__condition_join(c, &group);
  if (result != 0) return result;
  int32_t seen = weft__load(weft__condition_place(c, group));
  weft_mutex_unlock(m);
  result = weft__condition_sleep(c, group, seen, timeout);
  return weft__condition_return(c, group, result, 0);
}

WEFT__POSIX int weft__posix_cond_take(weft__posix_cond *p, weft__posix_mutex *m,
                                      int64_t timeout) {
  weft_mutex *mutex = &m->m.mutex;
  int32_t id = weft_agent_id();
  if (!weft__may_block() || weft_mutex_owner(mutex) != id) return EPERM;
  int32_t depth = m->m.depth;
  weft__posix_enter(&p->inside);
  int result = weft__posix_cond_sleep(&p->c, mutex, timeout);
  weft__posix_leave(&p->inside);
  if (result != 0 && result != ETIMEDOUT) return result;
  int locked = weft__mutex_lock_slow(mutex, id, WEFT_MUTEX_UNLOCKED,
                                     WEFT_FOREVER, false);
  if (m->recursive) m->m.depth = depth; /* others have held it meanwhile */
  return locked != 0 ? locked : result;
}

WEFT__POSIX int weft__posix_cond_wait(weft__posix_cond *p,
                                      weft__posix_mutex *m) {
  return weft__posix_cond_take(p, m, WEFT_FOREVER);
}

WEFT__POSIX int weft__posix_cond_clockwait(weft__posix_cond *p,
                                           weft__posix_mutex *m,
                                           clockid_t clock,
                                           const struct timespec *end) {
  int64_t ns = weft__until(clock, end);
  return ns < 0 ? EINVAL : weft__posix_cond_take(p, m, ns);
}

WEFT__POSIX int weft__posix_cond_timedwait(weft__posix_cond *p,
                                           weft__posix_mutex *m,
                                           const struct timespec *end) {
  clockid_t clock = p->monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  return weft__posix_cond_clockwait(p, m, clock, end);
}

/* EBUSY if a thread waits that was not called. */
WEFT__POSIX int weft__posix_cond_destroy(weft__posix_cond *p) {
  for (;;) {
    int32_t inside = weft__load(&p->inside);
    int32_t waiting = weft__condition_waiting(weft__load(&p->c.even)) +
                      weft__condition_waiting(weft__load(&p->c.odd));
    if (inside <= waiting) return waiting > 0 ? EBUSY : 0;
    weft__posix_pause();
  }
}

/* ---- locks of readers and writers */

WEFT__POSIX int weft__posix_rwlock_init(weft_rw_lock *l,
                                        const pthread_rwlockattr_t *unused) {
  (void)unused;
  return weft_rw_lock_init(l, sizeof *l) == NULL ? EINVAL : 0;
}

/* What a lock for reading returns in POSIX, if too many read. */
WEFT__POSIX int weft__posix_read(int result) {
  return result == EINVAL ? EAGAIN : result;
}

WEFT__POSIX int weft__posix_rwlock_rdlock(weft_rw_lock *l) {
  return weft__posix_read(weft_rw_lock_read(l, WEFT_FOREVER));
}

WEFT__POSIX int weft__posix_rwlock_wrlock(weft_rw_lock *l) {
  return weft_rw_lock_write(l, WEFT_FOREVER);
}

WEFT__POSIX int weft__posix_rwlock_tryrdlock(weft_rw_lock *l) {
  return weft__posix_read(weft_rw_lock_try_read(l));
}

WEFT__POSIX int weft__posix_rwlock_trywrlock(weft_rw_lock *l) {
  return weft_rw_lock_try_write(l);
}

WEFT__POSIX int weft__posix_rwlock_unlock(weft_rw_lock *l) {
  return weft_rw_lock_writer(l) == weft_agent_id()
             ? weft_rw_lock_unlock_write(l)
             : weft_rw_lock_unlock_read(l);
}

/* EBUSY if a thread has the lock. A writer lets readers in before its last step
   of unlocking: wait for that step, because the memory may be freed then. */
WEFT__POSIX int weft__posix_rwlock_destroy(weft_rw_lock *l) {
  for (;;) {
    int32_t state = weft__load(&l->state);
    if (weft__rw_is_busy(state) || weft_rw_lock_readers(l) != 0) return EBUSY;
    if (weft_rw_lock_writer(l) == 0) return 0;
    weft__posix_pause();
  }
}

WEFT__POSIX int weft__posix_rwlock_clockrdlock(weft_rw_lock *l, clockid_t clock,
                                               const struct timespec *end) {
  if (!weft__posix_ticks(clock)) return EINVAL;
  int result = weft__posix_rwlock_tryrdlock(l);
  if (result != EBUSY) return result;
  int64_t ns = weft__until(clock, end);
  return ns < 0 ? EINVAL : weft__posix_read(weft_rw_lock_read(l, ns));
}

WEFT__POSIX int weft__posix_rwlock_clockwrlock(weft_rw_lock *l, clockid_t clock,
                                               const struct timespec *end) {
  if (!weft__posix_ticks(clock)) return EINVAL;
  int result = weft_rw_lock_try_write(l);
  if (result != EBUSY) return result;
  int64_t ns = weft__until(clock, end);
  return ns < 0 ? EINVAL : weft_rw_lock_write(l, ns);
}

WEFT__POSIX int weft__posix_rwlock_timedrdlock(weft_rw_lock *l,
                                               const struct timespec *end) {
  return weft__posix_rwlock_clockrdlock(l, CLOCK_REALTIME, end);
}

WEFT__POSIX int weft__posix_rwlock_timedwrlock(weft_rw_lock *l,
                                               const struct timespec *end) {
  return weft__posix_rwlock_clockwrlock(l, CLOCK_REALTIME, end);
}

/* ---- barriers, once, semaphores */

/* A barrier, and how many calls wait at it or leave it. */
typedef struct {
  weft_barrier b;
  int32_t inside;
} weft__posix_barrier;

WEFT__POSIX int weft__posix_barrier_init(weft__posix_barrier *p,
                                         const pthread_barrierattr_t *unused,
                                         unsigned count) {
  (void)unused;
  if (count > WEFT_BARRIER_MAX) return EINVAL;
  p->inside = 0;
  bool made = weft_barrier_init(&p->b, sizeof p->b, (int32_t)count) != NULL;
  return made ? 0 : EINVAL;
}

WEFT__POSIX int weft__posix_barrier_wait(weft__posix_barrier *p) {
  bool leader = false;
  weft__posix_enter(&p->inside);
  int result = weft_barrier_arrive_and_wait(&p->b, &leader, WEFT_FOREVER);
  weft__posix_leave(&p->inside);
  if (result != 0) return result;
  return leader ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

/* EBUSY if a thread waits there. */
WEFT__POSIX int weft__posix_barrier_destroy(weft__posix_barrier *p) {
  for (;;) {
    int32_t inside = weft__load(&p->inside);
    int32_t waiting = weft_barrier_arrived(&p->b);
    if (inside <= waiting) return waiting > 0 ? EBUSY : 0;
    weft__posix_pause();
  }
}

/* Not NULL if the function of pthread_once has not returned: it has thrown. */
WEFT__POSIX void weft__posix_once_left(weft_once **o) {
  if (*o != NULL) weft__once_fail(*o);
}

WEFT__POSIX int weft__posix_once(weft_once *o, void (*fn)(void)) {
  int begun = weft__once_begin(o, WEFT_FOREVER);
  if (begun != EBUSY) return begun;
  weft_once *begins __attribute__((cleanup(weft__posix_once_left))) = o;
  fn();
  begins = NULL;
  weft__once_end(o);
  return 0;
}

WEFT__POSIX int weft__posix_sem_init(weft_semaphore *s, int shared,
                                     unsigned permits) {
  (void)shared;
  if (permits > WEFT_SEMAPHORE_MAX) return weft__errno(EINVAL);
  bool made = weft_semaphore_init(s, sizeof *s, (int32_t)permits) != NULL;
  return weft__errno(made ? 0 : EINVAL);
}

WEFT__POSIX int weft__posix_sem_clockwait(weft_semaphore *s, clockid_t clock,
                                          const struct timespec *end) {
  if (!weft__posix_ticks(clock)) return weft__errno(EINVAL);
  int result = weft_semaphore_try_acquire(s, 1);
  if (result != EBUSY) return weft__errno(result);
  int64_t ns = weft__until(clock, end);
  return weft__errno(ns < 0 ? EINVAL : weft_semaphore_acquire(s, 1, ns));
}

WEFT__POSIX int weft__posix_sem_timedwait(weft_semaphore *s,
                                          const struct timespec *end) {
  return weft__posix_sem_clockwait(s, CLOCK_REALTIME, end);
}

WEFT__POSIX int weft__posix_sem_wait(weft_semaphore *s) {
  return weft__errno(weft_semaphore_acquire(s, 1, WEFT_FOREVER));
}

WEFT__POSIX int weft__posix_sem_trywait(weft_semaphore *s) {
  return weft__errno(weft_semaphore_try_acquire(s, 1));
}

WEFT__POSIX int weft__posix_sem_post(weft_semaphore *s) {
  return weft__errno(weft_semaphore_release(s, 1));
}

WEFT__POSIX int weft__posix_sem_destroy(weft_semaphore *s) {
  (void)s;
  return 0;
}

WEFT__POSIX int weft__posix_sem_getvalue(weft_semaphore *s, int *value) {
  *value = weft_semaphore_available(s);
  return 0;
}

WEFT__END

/* ---- the names */

#ifdef __cplusplus
#define WEFT__POSIX_ZERO {}
#else
#define WEFT__POSIX_ZERO {0}
#endif

#define pthread_mutex_t weft__posix_mutex
#undef PTHREAD_MUTEX_INITIALIZER
#define PTHREAD_MUTEX_INITIALIZER {{{0, 0}, 0}, 0}
#undef PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP {{{0, 0}, 0}, 1}
#undef PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP PTHREAD_MUTEX_INITIALIZER
#undef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP PTHREAD_MUTEX_INITIALIZER
#define pthread_mutex_init weft__posix_mutex_init
#define pthread_mutex_destroy weft__posix_mutex_destroy
#define pthread_mutex_lock weft__posix_mutex_lock
#define pthread_mutex_trylock weft__posix_mutex_trylock
#define pthread_mutex_unlock weft__posix_mutex_unlock
#define pthread_mutex_clocklock weft__posix_mutex_clocklock
#define pthread_mutex_timedlock weft__posix_mutex_timedlock

#define pthread_cond_t weft__posix_cond
#undef PTHREAD_COND_INITIALIZER
#define PTHREAD_COND_INITIALIZER {{0, 0, 0}, 0, 0}
#define pthread_cond_init weft__posix_cond_init
#define pthread_cond_destroy weft__posix_cond_destroy
#define pthread_cond_wait weft__posix_cond_wait
#define pthread_cond_clockwait weft__posix_cond_clockwait
#define pthread_cond_timedwait weft__posix_cond_timedwait
#define pthread_cond_signal weft__posix_cond_signal
#define pthread_cond_broadcast weft__posix_cond_broadcast

#define pthread_rwlock_t weft_rw_lock
#undef PTHREAD_RWLOCK_INITIALIZER
#define PTHREAD_RWLOCK_INITIALIZER WEFT__POSIX_ZERO
#undef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#define PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP WEFT__POSIX_ZERO
#define pthread_rwlock_init weft__posix_rwlock_init
#define pthread_rwlock_destroy weft__posix_rwlock_destroy
#define pthread_rwlock_rdlock weft__posix_rwlock_rdlock
#define pthread_rwlock_wrlock weft__posix_rwlock_wrlock
#define pthread_rwlock_tryrdlock weft__posix_rwlock_tryrdlock
#define pthread_rwlock_trywrlock weft__posix_rwlock_trywrlock
#define pthread_rwlock_clockrdlock weft__posix_rwlock_clockrdlock
#define pthread_rwlock_clockwrlock weft__posix_rwlock_clockwrlock
#define pthread_rwlock_timedrdlock weft__posix_rwlock_timedrdlock
#define pthread_rwlock_timedwrlock weft__posix_rwlock_timedwrlock
#define pthread_rwlock_unlock weft__posix_rwlock_unlock

/* A spin lock is a mutex, which sleeps when spinning does not help. */
#define pthread_spinlock_t weft_mutex
#define pthread_spin_init weft__posix_spin_init
#define pthread_spin_destroy weft__posix_spin_destroy
#define pthread_spin_lock weft__posix_spin_lock
#define pthread_spin_trylock weft__posix_spin_trylock
#define pthread_spin_unlock weft__posix_spin_unlock

#define pthread_barrier_t weft__posix_barrier
#define pthread_barrier_init weft__posix_barrier_init
#define pthread_barrier_wait weft__posix_barrier_wait
#define pthread_barrier_destroy weft__posix_barrier_destroy

#define pthread_once_t weft_once
#undef PTHREAD_ONCE_INIT
#define PTHREAD_ONCE_INIT WEFT__POSIX_ZERO
#define pthread_once weft__posix_once

#define sem_t weft_semaphore
#undef SEM_VALUE_MAX
#define SEM_VALUE_MAX WEFT_SEMAPHORE_MAX
#define sem_init weft__posix_sem_init
#define sem_destroy weft__posix_sem_destroy
#define sem_wait weft__posix_sem_wait
#define sem_trywait weft__posix_sem_trywait
#define sem_clockwait weft__posix_sem_clockwait
#define sem_timedwait weft__posix_sem_timedwait
#define sem_post weft__posix_sem_post
#define sem_getvalue weft__posix_sem_getvalue

/* What is not there does not compile, and the error says why. */
#define sem_open weft_pthread_has_no_named_semaphores
#define sem_close weft_pthread_has_no_named_semaphores
#define sem_unlink weft_pthread_has_no_named_semaphores
#define pthread_mutex_consistent weft_pthread_has_no_robust_mutexes
#undef pthread_mutex_consistent_np
#define pthread_mutex_consistent_np weft_pthread_has_no_robust_mutexes
#define pthread_mutexattr_setrobust weft_pthread_has_no_robust_mutexes
#undef pthread_mutexattr_setrobust_np
#define pthread_mutexattr_setrobust_np weft_pthread_has_no_robust_mutexes
#define pthread_mutex_setprioceiling weft_pthread_has_no_priorities
#define pthread_mutex_getprioceiling weft_pthread_has_no_priorities
#define pthread_mutexattr_setprotocol weft_pthread_has_no_priorities
#define pthread_mutexattr_setprioceiling weft_pthread_has_no_priorities
#define pthread_cancel weft_pthread_has_no_cancellation

#endif /* WEFT_PTHREAD_H */

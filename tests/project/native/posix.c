/* A program of POSIX's names, compiled with weft_pthread.h in front. It prints
   "done". */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#undef NDEBUG
#include <assert.h>

_Static_assert(offsetof(pthread_mutex_t, m.mutex) == 0, "ours");
_Static_assert(offsetof(pthread_cond_t, c) == 0, "ours");
_Static_assert(offsetof(pthread_barrier_t, b) == 0, "ours");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t permits, ready;
static pthread_mutex_t nested = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t for_writers =
    PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int made, sum, written, turns, leaders, deep;

static void make(void) { made++; }

static struct timespec in(clockid_t clock, long ms) {
  struct timespec at;
  clock_gettime(clock, &at);
  at.tv_nsec += ms * 1000000;
  if (at.tv_nsec > 999999999) at.tv_sec++, at.tv_nsec -= 1000000000;
  return at;
}

static void *work(void *of) {
  int mine = *(int *)of;
  assert(pthread_once(&once, make) == 0 && made == 1);
  for (int i = 0; i < 500; i++) {
    assert(pthread_spin_lock(&spin) == 0);
    sum++;
    assert(pthread_spin_unlock(&spin) == 0);
    assert(pthread_mutex_lock(&mutex) == 0);
    while (turns % 3 != mine) assert(pthread_cond_wait(&cond, &mutex) == 0);
    turns++;
    assert(pthread_cond_broadcast(&cond) == 0);
    assert(pthread_mutex_unlock(&mutex) == 0);
    assert(sem_wait(&permits) == 0 && sem_post(&permits) == 0);
    if (i % 100 == 0) {
      assert(pthread_rwlock_wrlock(&rwlock) == 0);
      written++; /* not the sum, which another lock guards */
    } else {
      assert(pthread_rwlock_rdlock(&rwlock) == 0);
    }
    assert(pthread_rwlock_unlock(&rwlock) == 0);
  }
  int leads = pthread_barrier_wait(&barrier);
  assert(leads == 0 || leads == PTHREAD_BARRIER_SERIAL_THREAD);
  if (leads != 0) leaders++;
  return NULL;
}

static void *waits(void *unused) {
  struct timespec soon = in(CLOCK_REALTIME, 2);
  struct timespec later = in(CLOCK_MONOTONIC, 3);
  struct timespec wrong = {0, -1};
  int value = 0;
  assert(pthread_mutex_trylock(&mutex) == EBUSY);
  errno = ENOENT; /* only those of semaphores change it */
  assert(pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
  assert(pthread_mutex_timedlock(&mutex, &wrong) == EINVAL && errno == ENOENT);
  assert(pthread_mutex_destroy(&mutex) == EBUSY);
  assert(pthread_mutex_unlock(&mutex) == EPERM);
  assert(pthread_rwlock_tryrdlock(&rwlock) == EBUSY);
  assert(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
  assert(pthread_rwlock_timedrdlock(&rwlock, &soon) == ETIMEDOUT);
  assert(pthread_rwlock_timedwrlock(&rwlock, &soon) == ETIMEDOUT);
  assert(pthread_rwlock_destroy(&rwlock) == EBUSY);
  assert(sem_trywait(&ready) == -1 && errno == EAGAIN);
  assert(sem_timedwait(&ready, &soon) == -1 && errno == ETIMEDOUT);
  assert(sem_clockwait(&ready, CLOCK_MONOTONIC, &later) == -1);
  assert(errno == ETIMEDOUT && sem_getvalue(&ready, &value) == 0 && value == 0);
  return unused;
}

/* Locks it twice, and waits in turns with both locks. */
static void *recurs(void *of) {
  int mine = *(int *)of;
  for (int i = 0; i < 300; i++) {
    assert(pthread_mutex_lock(&nested) == 0);
    assert(pthread_mutex_trylock(&nested) == 0);
    while (deep % 3 != mine) assert(pthread_cond_wait(&cond, &nested) == 0);
    deep++;
    assert(pthread_cond_broadcast(&cond) == 0);
    assert(pthread_mutex_unlock(&nested) == 0);
    assert(pthread_mutex_unlock(&nested) == 0);
  }
  return NULL;
}

/* For another thread, what a thread has locked twice and unlocked once is
   locked. */
static void *meets(void *of) {
  pthread_mutex_t *m = (pthread_mutex_t *)of;
  struct timespec soon = in(CLOCK_REALTIME, 2);
  assert(pthread_mutex_trylock(m) == EBUSY);
  assert(pthread_mutex_timedlock(m, &soon) == ETIMEDOUT);
  assert(pthread_mutex_unlock(m) == EPERM);
  assert(pthread_mutex_destroy(m) == EBUSY);
  return NULL;
}

static void recursive(void) {
  pthread_t threads[3], other;
  int numbers[3] = {0, 1, 2};
  pthread_mutexattr_t type;
  pthread_mutex_t m;
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, recurs, &numbers[i]);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert(deep == 900 && nested.m.mutex.state == 0);
  pthread_mutexattr_init(&type);
  pthread_mutexattr_settype(&type, PTHREAD_MUTEX_RECURSIVE);
  assert(pthread_mutex_init(&m, &type) == 0);
  assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == 0);
  assert(pthread_mutex_unlock(&m) == 0);
  pthread_create(&other, NULL, meets, &m);
  pthread_join(other, NULL);
  m.m.depth = INT_MAX;
  assert(pthread_mutex_lock(&m) == EAGAIN);
  assert(pthread_mutex_trylock(&m) == EAGAIN);
  m.m.depth = 1;
  assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_unlock(&m) == EPERM);
  assert(pthread_mutex_destroy(&m) == 0);
}

/* Each name is a function: it has an address, and may be in parentheses. */
static void functions(void) {
  int (*post)(sem_t *) = sem_post, (*acquire)(sem_t *) = sem_wait;
  int (*signal)(pthread_cond_t *) = pthread_cond_signal;
  int (*lock)(pthread_mutex_t *, const struct timespec *) =
      pthread_mutex_timedlock;
  struct timespec soon = in(CLOCK_REALTIME, 2);
  sem_t s;
  assert(sem_init(&s, 0, 0) == 0);
  assert(post(&s) == 0 && acquire(&s) == 0);
  assert((sem_post)(&s) == 0 && (sem_trywait)(&s) == 0);
  assert(signal(&cond) == 0 && (pthread_cond_broadcast)(&cond) == 0);
  assert(lock(&adaptive, &soon) == 0 && pthread_mutex_unlock(&adaptive) == 0);
  assert(pthread_mutex_lock(&checked) == 0);
  assert(lock(&checked, &soon) == EDEADLK);
  assert(pthread_mutex_unlock(&checked) == 0);
  assert(pthread_rwlock_wrlock(&for_writers) == 0);
  assert(pthread_rwlock_unlock(&for_writers) == 0);
}

/* As many permits as SEM_VALUE_MAX, and no more. */
static void most(void) {
  int value = 0;
  sem_t s;
  assert(sem_init(&s, 0, SEM_VALUE_MAX) == 0);
  assert(sem_post(&s) == -1 && errno == EOVERFLOW);
  assert(sem_getvalue(&s, &value) == 0 && value == SEM_VALUE_MAX);
  assert(sem_init(&s, 0, SEM_VALUE_MAX + 1u) == -1 && errno == EINVAL);
}

/* As many readers as there may be, and no more. */
static void readers(void) {
  pthread_rwlock_t many = PTHREAD_RWLOCK_INITIALIZER;
  struct timespec soon = in(CLOCK_REALTIME, 2);
  int count = 0;
  while (pthread_rwlock_rdlock(&many) == 0) count++;
  assert(count == WEFT_RW_LOCK_MAX_READERS);
  assert(pthread_rwlock_rdlock(&many) == EAGAIN);
  assert(pthread_rwlock_tryrdlock(&many) == EAGAIN);
  assert(pthread_rwlock_timedrdlock(&many, &soon) == EAGAIN);
  for (; count > 0; count--) assert(pthread_rwlock_unlock(&many) == 0);
  assert(pthread_rwlock_destroy(&many) == 0);
}

/* Two rooms at one place, one after the other, as memory is used again. */
static union {
  pthread_cond_t cond;
  pthread_barrier_t barrier;
  unsigned char bytes[64];
} room;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both = {.inside = 0};
static int called, here, gone;

static pthread_rwlock_t left = PTHREAD_RWLOCK_INITIALIZER;
static int has_left;

enum { GUESTS = 4, ROUNDS = 60 };

/* Waits in each round until it is called. */
static void *guest(void *unused) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_mutex_lock(&door);
    here++;
    while (called <= round)
      assert(pthread_cond_wait(&room.cond, &door) == 0);
    gone++;
    pthread_mutex_unlock(&door);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
  }
  return unused;
}

/* Nobody uses it any more, nor changes its memory. */
static void used_again(void) {
  memset(&room, 0, sizeof room);
  for (int i = 0; i < 200; i++) sched_yield();
  for (size_t i = 0; i < sizeof room; i++) assert(room.bytes[i] == 0);
}

/* A condition may be destroyed as soon as its waiters are called, while the
   mutex is locked, and after that. */
static void destroyed(void) {
  pthread_t threads[GUESTS];
  assert(pthread_barrier_init(&both, NULL, GUESTS + 1) == 0);
  assert(pthread_cond_init(&room.cond, NULL) == 0);
  for (int i = 0; i < GUESTS; i++)
    pthread_create(&threads[i], NULL, guest, NULL);
  for (int round = 0; round < ROUNDS; round++) {
    pthread_mutex_lock(&door);
    while (here < GUESTS) {
      pthread_mutex_unlock(&door);
      sched_yield();
      pthread_mutex_lock(&door);
    }
    here = gone = 0;
    called = round + 1;
    assert(pthread_cond_destroy(&room.cond) == EBUSY);
    for (int i = 0; i < GUESTS; i++)
      if (round % 3 != 0) assert(pthread_cond_signal(&room.cond) == 0);
    if (round % 3 == 0) assert(pthread_cond_broadcast(&room.cond) == 0);
    if (round % 2 == 0) pthread_mutex_unlock(&door);
    assert(pthread_cond_destroy(&room.cond) == 0);
    used_again();
    if (round % 2 != 0) pthread_mutex_unlock(&door);
    pthread_barrier_wait(&both);
    assert(gone == GUESTS && pthread_cond_init(&room.cond, NULL) == 0);
    pthread_barrier_wait(&both);
  }
  for (int i = 0; i < GUESTS; i++) pthread_join(threads[i], NULL);
  assert(pthread_cond_destroy(&room.cond) == 0);
  assert(pthread_barrier_destroy(&both) == 0);
}

/* Whoever leads destroys the barrier, while others may be inside. */
static void *leads(void *unused) {
  for (int round = 0; round < ROUNDS; round++) {
    int led = pthread_barrier_wait(&room.barrier);
    if (led == PTHREAD_BARRIER_SERIAL_THREAD) {
      assert(pthread_barrier_destroy(&room.barrier) == 0);
      used_again();
      assert(pthread_barrier_init(&room.barrier, NULL, GUESTS) == 0);
    }
    pthread_barrier_wait(&both);
  }
  return unused;
}

static void *alone(void *unused) {
  pthread_barrier_wait(&room.barrier);
  return unused;
}

static void barriers(void) {
  pthread_t threads[GUESTS];
  assert(pthread_barrier_init(&both, NULL, GUESTS) == 0);
  assert(pthread_barrier_init(&room.barrier, NULL, GUESTS) == 0);
  for (int i = 0; i < GUESTS; i++)
    pthread_create(&threads[i], NULL, leads, NULL);
  for (int i = 0; i < GUESTS; i++) pthread_join(threads[i], NULL);
  assert(pthread_barrier_destroy(&room.barrier) == 0);
  assert(pthread_barrier_init(&room.barrier, NULL, 2) == 0);
  pthread_create(&threads[0], NULL, alone, NULL);
  while (pthread_barrier_destroy(&room.barrier) == 0) sched_yield();
  assert(pthread_barrier_destroy(&room.barrier) == EBUSY);
  alone(NULL);
  pthread_join(threads[0], NULL);
  assert(pthread_barrier_destroy(&room.barrier) == 0);
}

/* Lets readers in, and takes its time for the last step of unlocking. */
static void *leaves(void *unused) {
  struct timespec while_others_read = {0, 20000000};
  assert(pthread_rwlock_wrlock(&left) == 0);
  weft__rw_leave(&left, 0, 0);
  pthread_barrier_wait(&both);
  nanosleep(&while_others_read, NULL);
  has_left = 1;
  assert(weft_mutex_unlock(weft__rw_writer(&left)) == 0);
  return unused;
}

/* A reader that a writer let in may destroy the lock after it has unlocked. */
static void let_in(void) {
  pthread_t writer;
  assert(pthread_barrier_init(&both, NULL, 2) == 0);
  pthread_create(&writer, NULL, leaves, NULL);
  pthread_barrier_wait(&both);
  assert(pthread_rwlock_rdlock(&left) == 0);
  assert(pthread_rwlock_destroy(&left) == EBUSY);
  assert(pthread_rwlock_unlock(&left) == 0);
  assert(pthread_rwlock_destroy(&left) == 0 && has_left == 1);
  pthread_join(writer, NULL);
  assert(pthread_barrier_destroy(&both) == 0);
}

/* How a wait of 20 ms by a clock ends, with a condition that has another. */
static int timed(pthread_cond_t *c, clockid_t clock) {
  struct timespec end = in(clock, 20);
  assert(pthread_mutex_lock(&door) == 0);
  int result = pthread_cond_timedwait(c, &door, &end);
  if (result == ETIMEDOUT) {
    struct timespec now = in(clock, 0);
    assert(now.tv_sec > end.tv_sec ||
           (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec));
  }
  assert(pthread_mutex_unlock(&door) == 0);
  return result;
}

/* The clock of a condition is an attribute. */
static void condition_clocks(void) {
  pthread_condattr_t of;
  pthread_cond_t c;
  assert(pthread_condattr_init(&of) == 0);
  assert(pthread_cond_init(&c, &of) == 0);
  assert(timed(&c, CLOCK_REALTIME) == ETIMEDOUT);
  assert(pthread_condattr_setclock(&of, CLOCK_MONOTONIC) == 0);
  assert(pthread_cond_init(&c, &of) == 0);
  assert(timed(&c, CLOCK_MONOTONIC) == ETIMEDOUT);
  assert(pthread_cond_destroy(&c) == 0);
  assert(pthread_condattr_destroy(&of) == 0);
}

/* No other clock is taken, whether there is something to wait for or not. */
static void clocks(void) {
  struct timespec later = in(CLOCK_PROCESS_CPUTIME_ID, 1);
  pthread_mutex_t free = PTHREAD_MUTEX_INITIALIZER;
  clockid_t of = CLOCK_PROCESS_CPUTIME_ID;
  sem_t none;
  pthread_rwlock_t idle = PTHREAD_RWLOCK_INITIALIZER;
  for (unsigned n = 0; n < 2; n++) {
    assert(sem_init(&none, 0, n) == 0);
    assert(sem_clockwait(&none, of, &later) == -1 && errno == EINVAL);
  }
  assert(pthread_mutex_clocklock(&free, of, &later) == EINVAL);
  assert(pthread_mutex_lock(&free) == 0);
  assert(pthread_cond_clockwait(&cond, &free, of, &later) == EINVAL);
  assert(pthread_mutex_unlock(&free) == 0);
  assert(pthread_rwlock_clockrdlock(&idle, of, &later) == EINVAL);
  assert(pthread_rwlock_clockwrlock(&idle, of, &later) == EINVAL);
}

int main(void) {
  pthread_t threads[3], other;
  int numbers[3] = {0, 1, 2};
  pthread_mutexattr_t type;
  assert(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
  assert(pthread_barrier_init(&barrier, NULL, 3) == 0);
  assert(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
  assert(sem_init(&permits, 0, 2) == 0 && sem_init(&ready, 0, 0) == 0);
  assert(sem_init(&ready, 0, ~0u) == -1 && errno == EINVAL);
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert(sum == 3 * 500 && written == 3 * 5);
  assert(turns == 1500 && leaders == 1);
  assert(pthread_mutex_lock(&mutex) == 0);
  assert(pthread_mutex_lock(&mutex) == EDEADLK);
  struct timespec soon = in(CLOCK_REALTIME, 2);
  assert(pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT);
  assert(pthread_rwlock_wrlock(&rwlock) == 0);
  pthread_create(&other, NULL, waits, NULL);
  pthread_join(other, NULL);
  assert(pthread_rwlock_unlock(&rwlock) == 0);
  assert(pthread_mutex_unlock(&mutex) == 0);
  pthread_mutexattr_init(&type);
  pthread_mutexattr_settype(&type, PTHREAD_MUTEX_ERRORCHECK);
  assert(pthread_mutex_init(&mutex, &type) == 0);
  assert(pthread_cond_init(&cond, NULL) == 0);
  assert(pthread_rwlock_init(&rwlock, NULL) == 0);
  assert(pthread_mutex_destroy(&mutex) == 0);
  assert(pthread_cond_destroy(&cond) == 0);
  assert(pthread_barrier_destroy(&barrier) == 0 && sem_destroy(&permits) == 0);
  recursive();
  functions();
  most();
  readers();
  destroyed();
  barriers();
  let_in();
  clocks();
  condition_clocks();
  puts("done");
  return 0;
}

/*
 * The mutex of tests/race/corpus for GenMC, as in bench/rust/src/main.rs:
 * AGENTS threads of TIMES sections each. -DMX1, -DMX3 or -DMX4 puts one bug
 * into it. bench/explorers.ts runs it.
 */
#include <assert.h>
#include <genmc.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef AGENTS
#define AGENTS 2
#endif
#ifndef TIMES
#define TIMES 1
#endif

/* Drepper's third mutex: 0 free, 1 locked, 2 locked and contended. */
static atomic_int state;
static atomic_int count;

#ifdef SPINNING

/* Without a list there is no sleep, and no wake-up that could be lost. */
static void futex_wait(atomic_int* word, int value) {
  while (atomic_load(word) == value) {
  }
}

static void futex_wake(void) {}

#else

/*
 * GenMC has neither a futex nor condition variables. A list stands in for
 * them: who sleeps has a place in it, and spins until the wakes have come that
 * far. `-check-liveness` reports who spins for ever.
 */
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static int asleep;
static atomic_int woken;

static void futex_wait(atomic_int* word, int value) {
  pthread_mutex_lock(&list);
  if (atomic_load(word) != value) {
    pthread_mutex_unlock(&list);
    return;
  }
  int place = asleep++;
  pthread_mutex_unlock(&list);
  while (atomic_load(&woken) <= place) {
  }
}

static void futex_wake(void) {
  pthread_mutex_lock(&list);
  int wakes = atomic_load(&woken);
  if (wakes < asleep) atomic_store(&woken, wakes + 1);
  pthread_mutex_unlock(&list);
}

#endif

static void lock(void) {
  int seen = 0;
  if (atomic_compare_exchange_strong(&state, &seen, 1)) return;
  if (seen != 2) seen = atomic_exchange(&state, 2);
  while (seen != 0) {
    futex_wait(&state, 2);
#ifdef MX1 /* A woken waiter takes the mutex without the mark of contention. */
    seen = 0;
    atomic_compare_exchange_strong(&state, &seen, 1);
#else
    seen = atomic_exchange(&state, 2);
#endif
  }
}

static void unlock(void) {
  if (atomic_fetch_sub(&state, 1) == 1) return;
#ifdef MX3 /* The wake comes before the word is free. */
  futex_wake();
#endif
  /* No store: GenMC wants it ordered to see that all threads are alike. */
  atomic_exchange(&state, 0);
#if !defined(MX3) && !defined(MX4) /* MX4: unlocking never wakes. */
  futex_wake();
#endif
}

static void* agent(void* unused) {
  for (int i = 0; i < TIMES; i++) {
    lock();
    int n = atomic_load(&count);
    atomic_store(&count, n + 1);
    unlock();
  }
  return unused;
}

int main(void) {
  __VERIFIER_thread_t threads[AGENTS];
  threads[0] = __VERIFIER_spawn(agent, NULL);
  for (int i = 1; i < AGENTS; i++) {
    threads[i] = __VERIFIER_spawn_symmetric(agent, NULL, threads[i - 1]);
  }
  for (int i = 0; i < AGENTS; i++) __VERIFIER_join(threads[i]);
  assert(atomic_load(&count) == AGENTS * TIMES);
  return 0;
}

/*
 * The queue of tests/race/corpus for GenMC, as in bench/rust/src/main.rs: a
 * producer and a consumer of TIMES calls each. -DMQ1 or -DMQ3 puts one bug
 * into it. bench/explorers.ts runs it.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef TIMES
#define TIMES 2
#endif

/* Vyukov's bounded queue with two slots. */
static atomic_int tail;
static atomic_int head;
static atomic_int turn[2] = {0, 1};
static atomic_int data[2];

static bool push(int value) {
  int p = atomic_load(&tail);
  for (;;) {
    int seen = atomic_load(&turn[p & 1]);
    if (seen == p) {
      if (atomic_compare_exchange_strong(&tail, &p, p + 1)) break;
    } else if (seen < p) {
      return false;
    } else {
      p = atomic_load(&tail);
    }
  }
#ifdef MQ1 /* The sequence is published before the data. */
  atomic_store(&turn[p & 1], p + 1);
  atomic_store(&data[p & 1], value);
#else
  atomic_store(&data[p & 1], value);
  atomic_store(&turn[p & 1], p + 1);
#endif
  return true;
}

/* Returns -1 if the queue is empty. */
static int pop(void) {
  int p = atomic_load(&head);
  for (;;) {
    int seen = atomic_load(&turn[p & 1]);
    if (seen == p + 1) {
      if (atomic_compare_exchange_strong(&head, &p, p + 1)) break;
    } else if (seen < p + 1) {
      return -1;
    } else {
      p = atomic_load(&head);
    }
  }
#ifdef MQ3 /* A slot is free for the next lap before its element was read. */
  atomic_store(&turn[p & 1], p + 2);
  int value = atomic_load(&data[p & 1]);
#else
  int value = atomic_load(&data[p & 1]);
  atomic_store(&turn[p & 1], p + 2);
#endif
  return value;
}

static int pushed[TIMES];
static int taken[TIMES];
static int pushes;
static int pops;

static void* producer(void* unused) {
  for (int value = 1; value <= TIMES; value++) {
    if (push(value)) pushed[pushes++] = value;
  }
  return unused;
}

static void* consumer(void* unused) {
  for (int i = 0; i < TIMES; i++) {
    int value = pop();
    if (value != -1) taken[pops++] = value;
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, producer, NULL);
  pthread_create(&threads[1], NULL, consumer, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  assert(pops <= pushes);
  for (int i = 0; i < pops; i++) assert(taken[i] == pushed[i]);
  return 0;
}

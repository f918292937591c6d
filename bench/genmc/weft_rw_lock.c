/*
 * weft/rw_lock.h as native programs have it, for GenMC: see native.h. With
 * -DTRACKED, agents note that they read.
 *
 *   -DREADS      a writer and two readers
 *   -DWRITES     two writers and a reader
 *   -DDOWNGRADES a writer that goes on reading, and a reader
 *   -DWAITS      a writer and a reader
 *   -DTRIES      the same, and neither waits
 *
 * -DSTARVES makes so much time go by that writers hand the lock on.
 *
 * bench/genmc/README.md tells how to run it, and what it finds when an order is
 * left out.
 */
#ifdef STARVES
#define TIME
#endif
#include "native.h"
#include "../../wasm/weft/rw_lock.h"

#if defined(READS)
enum { WRITERS = 1, READERS = 2 };
#elif defined(WRITES)
enum { WRITERS = 2, READERS = 1 };
#else
enum { WRITERS = 1, READERS = 1 };
#endif
enum { AGENTS = WRITERS + READERS };

#ifdef TRACKED
enum { WORDS = WEFT_RW_LOCK_TRACKED_BYTES(AGENTS) / 4 };
#else
enum { WORDS = sizeof(weft_rw_lock) / 4 };
#endif

static int32_t memory[WORDS];
static weft_rw_lock *l = (weft_rw_lock *)memory;
static int first, second; /* equal for all but the writer */
static int written[AGENTS + 1];

static int begin(bool writes) {
#ifdef TRIES
  return writes ? weft_rw_lock_try_write(l) : weft_rw_lock_try_read(l);
#else
  return writes ? weft_rw_lock_write(l, WEFT_FOREVER)
                : weft_rw_lock_read(l, WEFT_FOREVER);
#endif
}

static void *writer(void *number) {
  me = (int)(intptr_t)number;
  if (begin(true) != 0) {
    leaves();
    return NULL;
  }
  first++;
  second++;
  written[me] = 1;
#ifdef DOWNGRADES
  if (me == 1) {
    assert(weft_rw_lock_downgrade(l) == 0);
    assert(first == second);
    assert(weft_rw_lock_unlock_read(l) == 0);
    leaves();
    return NULL;
  }
#endif
  assert(weft_rw_lock_unlock_write(l) == 0);
  leaves();
  return NULL;
}

static void *reader(void *number) {
  me = (int)(intptr_t)number;
  if (begin(false) == 0) {
    assert(first == second);
    assert(weft_rw_lock_unlock_read(l) == 0);
  }
  leaves();
  return NULL;
}

int main(void) {
#ifdef TRACKED
  l->tracked = weft__tracked_mark(AGENTS);
#endif
  lists[0].word = &l->gate;
  lists[1].word = &l->writer;
  lists[2].word = &l->state;
  begins(AGENTS);
  pthread_t threads[AGENTS];
  for (int i = 0; i < AGENTS; i++)
    pthread_create(&threads[i], NULL, i < WRITERS ? writer : reader,
                   (void *)(intptr_t)(i + 1));
  for (int i = 0; i < AGENTS; i++) pthread_join(threads[i], NULL);
  int sum = 0;
  for (int i = 1; i <= AGENTS; i++) sum += written[i];
  assert(first == sum && second == sum);
#ifndef TRIES
  assert(sum == WRITERS);
#endif
  assert(weft_rw_lock_readers(l) == 0 && weft_rw_lock_writer(l) == 0);
  return 0;
}

/*
 * Threads of C as workers of the pool of pool.ts: see pool_worker.ts, of which
 * this is the twin.
 */
#ifndef POOL_H
#define POOL_H

#include "weft.h"

/* A slot begins with the length of its bytes, or with one of these; the bytes
   are two words behind. */
enum { POOL_TAKEN = -1, POOL_CANCELLED = -2, POOL_HEAD = 2 };

/* A pool, as a worker sees it. */
typedef struct {
  weft_mpmc_queue *jobs;
  weft_mpmc_queue *done;
  weft_event *enough;
  weft_slab_pool *slots;
  int32_t bytes; /* of a request or a response, at most */
} pool;

/* A pool at `base`, by the offsets that `arena(place).offsets` gives; a member
   is NULL if no pool is there. */
static inline pool pool_attach(char *base, int32_t jobs, int32_t done,
                               int32_t enough, int32_t slots, int32_t bytes) {
  pool it = {weft_mpmc_queue_attach(base + jobs),
             weft_mpmc_queue_attach(base + done),
             (weft_event *)(void *)(base + enough),
             weft_slab_pool_attach(base + slots), bytes};
  return it;
}

/*
 * Does tasks until the pool is closed. `work` is given a request and overwrites
 * it with its response, of up to `bytes` bytes; it answers the response's
 * length, or -1 for a failure, whose text it has written, ended by a 0.
 */
static inline void pool_serve(const pool *it,
                              int32_t (*work)(void *bytes, int32_t length)) {
  int32_t slot;
  while (weft_mpmc_queue_pop_int(it->jobs, &slot, WEFT_FOREVER) == 0) {
    int32_t *at = (int32_t *)(void *)((char *)it->slots + slot);
    int32_t length = __atomic_exchange_n(at, POOL_TAKEN, __ATOMIC_SEQ_CST);
    if (length != POOL_CANCELLED) {
      length = work(at + POOL_HEAD, length);
      /* Published, as the bytes are, by the push. */
      at[0] = length >= 0 ? length
                          : (int32_t)strlen((const char *)(at + POOL_HEAD));
    }
    if (length == -1) slot = ~slot;
    weft_mpmc_queue_push_int(it->done, slot, WEFT_FOREVER);
    if (weft_mpmc_queue_size(it->done) >= weft_mpmc_queue_size(it->jobs))
      weft_event_set(it->enough);
  }
}

#endif

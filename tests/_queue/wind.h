/* Lets the counters of empty queues stand `start` operations from 0. */
#ifndef QUEUE_WIND_H
#define QUEUE_WIND_H

#ifdef WEFT_MPMC_QUEUE_H
static inline void wind_mpmc_queue(weft_mpmc_queue *q, int32_t start) {
  int32_t ticket = start & ~1;
  q->head = q->tail = ticket;
  for (int32_t i = 0; i < q->capacity; i++) {
    int32_t t = weft__plus(ticket, i * 2);
    *weft__mpmc_slot(q, t) = t;
  }
  q->pop_epoch = q->push_epoch = start;
}
#endif

#ifdef WEFT_LOCK_FREE_QUEUE_H
static inline void wind_lock_free_queue(weft_lock_free_queue *q,
                                        int32_t start) {
  weft__lock_free_ring ring = weft__lock_free_ring_of_queue(q);
  weft__lock_free_ring free = weft__lock_free_ring_of_free(q);
  for (int32_t i = 0; i < ring.filled; i++) {
    int32_t ticket = weft__plus(start, i);
    int32_t lap = weft__lock_free_lap(ring, ticket);
    *weft__lock_free_entry(ring, ticket) = lap;
    *weft__lock_free_entry(free, ticket) =
        i < ring.filled - 1 ? lap | ring.filled | i : lap;
  }
  q->tail = q->head = q->free_head = start;
  q->free_tail = weft__plus(start, ring.filled - 1);
  q->pop_epoch = q->push_epoch = start;
}
#endif

#endif

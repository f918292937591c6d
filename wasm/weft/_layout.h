/* _layout.h - twin of primitives/_memory/layout.ts: rows, kinds, version. */
#ifndef WEFT__LAYOUT_H
#define WEFT__LAYOUT_H

#include "_words.h"

WEFT__BEGIN

/* One row of the layout table; layout_test.ts reads these lines too. */
#define WEFT_WORD(type, field, word)                              \
  WEFT__ASSERT(offsetof(weft_##type, field) == 4 * (word) &&      \
                   sizeof(((weft_##type *)0)->field) == 4,        \
               "weft_" #type "." #field " is not word " #word     \
               " as in primitives/_memory/layout.ts")
#define WEFT_LENGTH(type, words)                              \
  WEFT__ASSERT(sizeof(weft_##type) == 4 * (words),            \
               "weft_" #type " is not " #words                \
               " words long as in primitives/_memory/layout.ts")

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
#define WEFT__EVENT_WAITERS 1
#define WEFT__EVENT_GONG 2
#define WEFT_VERSION 2
#define WEFT_KIND(stem, number) enum { WEFT_KIND_##stem = number }
WEFT_KIND(semaphore, 1);
WEFT_KIND(latch, 5);
WEFT_KIND(barrier, 6);
WEFT_KIND(snapshot, 7);
WEFT_KIND(spsc_queue, 2);
WEFT_KIND(mpmc_queue, 3);
WEFT_KIND(lock_free_queue, 8);
WEFT_KIND(record_ring, 9);
WEFT_KIND(broadcast, 10);
WEFT_KIND(shape_table, 16);
WEFT_KIND(channel, 15);
WEFT_KIND(call_ring, 11);
WEFT_KIND(work_counter, 4);
WEFT_KIND(work_deque, 12);
WEFT_KIND(slab_pool, 13);
WEFT_KIND(hash_map, 17);
WEFT_KIND(striped_counter, 14);

/* The word that holds the seal, behind `magic` and the configuration; or 0.
   */
static inline int weft__seal_word(int32_t kind) {
  switch (kind) {
    case WEFT_KIND_latch:
      return 1;
    case WEFT_KIND_shape_table:
    case WEFT_KIND_work_deque:
    case WEFT_KIND_striped_counter:
      return 2;
    case WEFT_KIND_semaphore:
    case WEFT_KIND_barrier:
    case WEFT_KIND_snapshot:
    case WEFT_KIND_spsc_queue:
    case WEFT_KIND_mpmc_queue:
    case WEFT_KIND_lock_free_queue:
    case WEFT_KIND_record_ring:
    case WEFT_KIND_broadcast:
    case WEFT_KIND_channel:
    case WEFT_KIND_call_ring:
    case WEFT_KIND_work_counter:
    case WEFT_KIND_slab_pool:
    case WEFT_KIND_hash_map:
      return 3;
    default:
      return 0;
  }
}
/* clang-format on */
/* End of what `deno task layout` makes. */

WEFT__END

#endif /* WEFT__LAYOUT_H */

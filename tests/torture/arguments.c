/*
 * Calls every function of weft.h with arguments of all kinds: counts, lengths
 * and configurations out of range, places that are misaligned or no primitive,
 * times below 0. Pointers that a function must be able to use are good, as C
 * cannot check them. A call that returns EINVAL must have changed nothing, and
 * the sanitizers end the program where one touches what is not its own.
 *
 *   arguments SECONDS SEED [NAME]
 *
 * The calls are in `calls.inc`, which `declared.ts` writes from the headers.
 * The last line of the output is one JSON object: `calls`, `refused`,
 * `functions` and `problems`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WEFT_NAMED_AGENTS
#include "weft.h"

/* ---- random numbers ------------------------------------------------------ */

static uint32_t state;

static uint32_t random_bits(void) {
  state ^= (state & 0x0007ffff) << 13;
  state ^= state >> 17;
  state ^= (state & 0x07ffffff) << 5;
  return state;
}

static int32_t below(int32_t n) {
  return (int32_t)(random_bits() % (uint32_t)n);
}

/* ---- one primitive of each kind, in memory of its exact size ------------- */

enum { MOST_BYTES = 4096, ROOM = 4096 };

#define KINDS(each)                                                     \
  each(mutex) each(rw_lock) each(condition) each(semaphore) each(event) \
  each(latch) each(wait_group) each(barrier) each(once) each(snapshot) each(spsc_queue)  \
  each(mpmc_queue) each(lock_free_queue) each(record_ring)              \
  each(broadcast) each(channel) each(call_ring) each(work_counter)      \
  each(work_deque) each(slab_pool) each(hash_map)                       \
  each(striped_counter)

#define NAMED(stem) KIND_##stem,
enum { KINDS(NAMED) KIND_COUNT };

static void *region[KIND_COUNT];
static size_t region_bytes[KIND_COUNT];
static char pristine[KIND_COUNT][MOST_BYTES]; /* as each of them begins */
static char before[KIND_COUNT][MOST_BYTES];   /* before this call */
static bool in_use[KIND_COUNT];
static bool spoiled[KIND_COUNT]; /* another kind may lie there now */

static const char *called = "";
static int64_t calls, refusals;

static void name(const char *of) { called = of; }

static void fail(const char *what) {
  printf("%s: %s, call %lld\n", called, what, (long long)calls);
  exit(1);
}

/* Most often fresh; otherwise as earlier calls left it. */
static void *view_of(int kind) {
  if (!in_use[kind]) {
    if (spoiled[kind] || below(4) != 0)
      memcpy(region[kind], pristine[kind], region_bytes[kind]);
    spoiled[kind] = false;
    memcpy(before[kind], region[kind], region_bytes[kind]);
    in_use[kind] = true;
  }
  return region[kind];
}

/* The call said EINVAL: nothing may have changed. */
static void refused(void) {
  refusals++;
  for (int i = 0; i < KIND_COUNT; i++) {
    if (!in_use[i]) continue;
    if (memcmp(before[i], region[i], region_bytes[i]) != 0)
      fail("changed something and returned EINVAL");
    in_use[i] = false;
  }
}

static void forget(void) { memset(in_use, 0, sizeof in_use); }

#define ARGUMENT(to, maker) __auto_type to = make_##maker();
#define RESULT(call)             \
  __auto_type result = call;     \
  (void)result;                  \
  forget();

#define VIEW(stem)                          \
  static weft_##stem *make_weft_##stem##_p(void) { \
    return (weft_##stem *)view_of(KIND_##stem);    \
  }
KINDS(VIEW)

/* ---- arguments ----------------------------------------------------------- */

static int32_t make_int32_t(void) {
  static const int32_t numbers[] = {
      0,         1,         2,       3,       4,          5,        8,
      12,        64,        127,     128,     4095,       4096,     -1,
      -4,        -8,        -1000,   1 << 28, 1 << 29,    1 << 30,  (1 << 30) - 1,
      INT32_MAX, INT32_MIN, 1 << 15, 1 << 16, 0x0fffffff, 3 << 28};
  if (below(8) == 0) return (int32_t)random_bits();
  return numbers[below(sizeof numbers / sizeof *numbers)];
}

static bool make_bool(void) { return below(2) == 0; }

/* Half of the time this agent may not block, and then any time will do. */
static int64_t make_int64_t(void) {
  static const int64_t times[] = {0,          -1,        INT64_MIN,
                                  INT64_MAX,  1,         -1000,
                                  1000000000, INT64_C(1) << 40};
  bool may_block = below(2) == 0;
  weft_agent_set_blocking(may_block);
  return may_block ? below(2000) : times[below(8)];
}

static int32_t numbers[4];
static int32_t *make_int32_t_p(void) {
  numbers[0] = make_int32_t();
  return numbers;
}

static bool leader;
static bool *make_bool_p(void) { return below(2) == 0 ? NULL : &leader; }

/* As long as the longest element or record; lengths may say more. */
static void *room;
static void *make_bytes(void) { return room; }

/* Memory for a primitive, at places that are wrong now and then. */
static char *scratch;
static size_t at_offset;
static void *make_place(void) {
  static const size_t offsets[] = {0, 0, 0, 4, 8, 1, 2, 6};
  at_offset = offsets[below(8)];
  if (below(16) == 0) return NULL;
  if (below(8) == 0) {
    int kind = below(KIND_COUNT);
    void *at = view_of(kind);
    spoiled[kind] = true;
    return at;
  }
  for (int i = 0; i < 8; i++) scratch[below(ROOM)] = (char)random_bits();
  return scratch + at_offset;
}

/* Behind `at`: never more bytes than there are, and often too few. */
static size_t bytes_at(const void *at) {
  size_t most = ROOM - at_offset;
  for (int i = 0; i < KIND_COUNT; i++)
    if (at == region[i]) most = region_bytes[i];
  return below(2) == 0 ? most : (size_t)below((int32_t)most + 1);
}
#define make_size_t() bytes_at(a0)

static weft_queue_config make_weft_queue_config(void) {
  return (weft_queue_config){make_int32_t(), make_int32_t()};
}
static weft_broadcast_config make_weft_broadcast_config(void) {
  return (weft_broadcast_config){make_int32_t(), make_int32_t(), make_int32_t(),
                                 make_bool()};
}
static weft_record_ring_config make_weft_record_ring_config(void) {
  return (weft_record_ring_config){make_int32_t(), make_bool()};
}
static weft_channel_config make_weft_channel_config(void) {
  return (weft_channel_config){make_int32_t(), make_int32_t(), make_int32_t(),
                               make_int32_t(), make_int32_t()};
}
static weft_call_ring_config make_weft_call_ring_config(void) {
  return (weft_call_ring_config){make_int32_t(), make_int32_t(),
                                 make_int32_t()};
}
static weft_slab_config make_weft_slab_config(void) {
  return (weft_slab_config){make_int32_t(), make_int32_t()};
}
static weft_hash_map_config make_weft_hash_map_config(void) {
  return (weft_hash_map_config){make_int32_t(), below(11),      make_int32_t(),
                                below(11),      make_int32_t(), random_bits(),
                                make_bool(),    make_int32_t()};
}
static weft_hash_map_heap make_weft_hash_map_heap(void) {
  return (weft_hash_map_heap){make_int32_t(), make_int32_t(), make_int32_t(),
                              make_int32_t()};
}
static weft_snapshot_config make_weft_snapshot_config(void) {
  return (weft_snapshot_config){make_int32_t(), make_bool()};
}
static weft_work_config make_weft_work_config(void) {
  return (weft_work_config){make_int32_t(), make_int32_t()};
}

static size_t some_length;
static size_t *make_size_t_p(void) { return &some_length; }
static double make_double(void) { return make_int32_t() / 3.0; }
static double some_double;
static double *make_double_p(void) { return &some_double; }
static bool change_value(void *value, size_t *length, bool is_there,
                         void *context) {
  (void)context;
  *length = (size_t)below(24);
  memset(value, is_there ? 1 : 2, 16);
  return below(3) != 0;
}
static weft_hash_map_change *make_weft_hash_map_change_p(void) {
  return change_value;
}

/* A seat that `subscribe` may have given out. */
static int32_t make_seat(void) { return below(2); }

/* What `reserve` or `peek` gave out. Without one there is no call. */
static bool no_slot;
static void *slot_or_none(const void *slot) {
  no_slot = slot == NULL;
  return (void *)(uintptr_t)slot;
}

static void *block_of_pool(void) {
  weft_slab_pool *p = make_weft_slab_pool_p();
  void *block = weft_slab_pool_allocate(p, NULL);
  memcpy(before[KIND_slab_pool], p, region_bytes[KIND_slab_pool]);
  switch (below(4)) {
    case 0:
      return block;
    case 1:
      return (char *)p + below((int32_t)region_bytes[KIND_slab_pool]);
    case 2:
      return NULL;
    default:
      return (void *)((uintptr_t)p + (uintptr_t)(intptr_t)make_int32_t());
  }
}
#define make_block() block_of_pool()

static weft_slab_cache cache;
static weft_slab_cache *make_own_cache(void) {
  cache = (weft_slab_cache){0};
  cache.limit = below(3) * 4;
  return &cache;
}
static weft_slab_cache *make_weft_slab_cache_p(void) {
  return below(2) == 0 ? NULL : make_own_cache();
}

static weft_striped_counter_stripe *make_weft_striped_counter_stripe_p(void) {
  return weft_striped_counter_claim(make_weft_striped_counter_p());
}

static weft_work_range range;
static weft_work_range *make_weft_work_range_p(void) {
  range = (weft_work_range){0, 0};
  return &range;
}

static weft_pieces pieces;
static weft_pieces *make_weft_pieces_p(void) { return &pieces; }

/* One of the two calls that the ring has from the beginning. */
static size_t call_at[2];
static weft_call *make_weft_call_p(void) {
  char *ring = (char *)make_weft_call_ring_p();
  return (weft_call *)(void *)(ring + call_at[below(2)]);
}
static weft_call *some_call;
static weft_call **make_weft_call_pp(void) { return &some_call; }
static void *some_place;
static void **make_void_pp(void) { return &some_place; }

static int run_once(void *context) {
  (void)context;
  return below(3) - 1;
}
static int (*make_int_callback(void))(void *) { return run_once; }
static void see_record(void *context, const void *record, int32_t length) {
  (void)context;
  const char *bytes = (const char *)record;
  for (int32_t i = 0; i < length; i++) numbers[1] += bytes[i];
}
static void (*make_void_callback(void))(void *, const void *, int32_t) {
  return see_record;
}
static int32_t answer(void *context, const void *request, int32_t length,
                      void *reply) {
  see_record(context, request, length);
  memset(reply, 1, 8);
  return make_int32_t();
}
static weft_call_handler make_weft_call_handler(void) { return answer; }

/* What commit and consume need. */
static bool consumes;
static void *make_slot_of_mpmc_queue(void) {
  return slot_or_none(consumes ? weft_mpmc_queue_peek(make_weft_mpmc_queue_p())
                               : weft_mpmc_queue_reserve(
                                     make_weft_mpmc_queue_p()));
}
static void *make_slot_of_lock_free_queue(void) {
  weft_lock_free_queue *q = make_weft_lock_free_queue_p();
  return slot_or_none(consumes ? weft_lock_free_queue_peek(q)
                               : weft_lock_free_queue_reserve(q));
}
static void *make_slot_of_record_ring(void) {
  weft_record_ring *r = make_weft_record_ring_p();
  void *at = NULL;
  if (weft_record_ring_reserve(r, 9, &at) != 0) at = NULL;
  memcpy(before[KIND_record_ring], r, region_bytes[KIND_record_ring]);
  return slot_or_none(at);
}

#include "calls.inc"

/* ---- the regions --------------------------------------------------------- */

static void *space(int kind, size_t bytes) {
  if (bytes == 0 || bytes > MOST_BYTES) fail("no place for a kind");
  region_bytes[kind] = bytes;
  region[kind] = malloc(bytes);
  memset(region[kind], 0, bytes);
  return region[kind];
}

#define PLACE(stem, ...)                                \
  space(KIND_##stem, weft_##stem##_bytes(__VA_ARGS__)), \
      weft_##stem##_bytes(__VA_ARGS__)
#define MADE(call) \
  if ((call) == NULL) fail(#call)

static void make_all(void) {
  const weft_queue_config queue = {8, 4};
  const weft_snapshot_config snapshot = {16, true};
  const weft_record_ring_config ring = {.capacity = 256};
  const weft_broadcast_config cast = {
      .capacity = 8, .element_size = 4, .subscribers = 2};
  const weft_channel_config channel = {
      .codec = WEFT_CHANNEL_BINARY, .capacity = 8, .size = 16};
  const weft_call_ring_config call = {3, 16, 16};
  const weft_work_config work = {.chunk = 3};
  const weft_slab_config slab = {8, 16};
  const weft_hash_map_config map = {
      5, WEFT_HASH_MAP_TEXT, 6, WEFT_HASH_MAP_BINARY, 16, 1, true, 1};
  MADE(weft_mutex_init(PLACE(mutex)));
  MADE(weft_rw_lock_init(PLACE(rw_lock)));
  MADE(weft_condition_init(PLACE(condition)));
  MADE(weft_semaphore_init(PLACE(semaphore), 3));
  MADE(weft_event_init(PLACE(event), true));
  MADE(weft_latch_init(PLACE(latch), 5));
  MADE(weft_wait_group_init(PLACE(wait_group)));
  MADE(weft_barrier_init(PLACE(barrier), 3));
  MADE(weft_once_init(PLACE(once)));
  MADE(weft_snapshot_init(PLACE(snapshot, snapshot), snapshot));
  MADE(weft_spsc_queue_init(PLACE(spsc_queue, queue), queue));
  MADE(weft_mpmc_queue_init(PLACE(mpmc_queue, queue), queue));
  MADE(weft_lock_free_queue_init(PLACE(lock_free_queue, queue), queue));
  MADE(weft_record_ring_init(PLACE(record_ring, ring), ring));
  MADE(weft_broadcast_init(PLACE(broadcast, cast), cast));
  MADE(weft_channel_init(PLACE(channel, channel), channel));
  MADE(weft_call_ring_init(PLACE(call_ring, call), call));
  MADE(weft_work_counter_init(PLACE(work_counter), 10, work));
  MADE(weft_work_deque_init(PLACE(work_deque, 8), 8));
  MADE(weft_slab_pool_init(PLACE(slab_pool, slab), slab));
  MADE(weft_hash_map_init(PLACE(hash_map, map), map));
  MADE(weft_striped_counter_init(PLACE(striped_counter, 2), 2));
  /* Something in each of them. */
  int failed = weft_mutex_try_lock((weft_mutex *)region[KIND_mutex]);
  for (int32_t i = 0; i < 3; i++) {
    failed |= weft_spsc_queue_try_push_int(
        (weft_spsc_queue *)region[KIND_spsc_queue], i);
    failed |= weft_mpmc_queue_try_push_int(
        (weft_mpmc_queue *)region[KIND_mpmc_queue], i);
    failed |= weft_lock_free_queue_try_push_int(
        (weft_lock_free_queue *)region[KIND_lock_free_queue], i);
    failed |= weft_record_ring_try_push(
        (weft_record_ring *)region[KIND_record_ring], room, 3 + i);
    failed |=
        weft_channel_try_send((weft_channel *)region[KIND_channel], room, 5);
    failed |=
        weft_work_deque_push((weft_work_deque *)region[KIND_work_deque], i);
  }
  weft_broadcast *b = (weft_broadcast *)region[KIND_broadcast];
  if (weft_broadcast_subscribe(b) != 0 || weft_broadcast_subscribe(b) != 1)
    fail("subscribe");
  failed |= weft_broadcast_try_push_int(b, 7);
  weft_call_ring *r = (weft_call_ring *)region[KIND_call_ring];
  for (int i = 0; i < 2; i++) {
    weft_call *c = NULL;
    failed |= weft_call_ring_try_post(r, room, 8, &c);
    call_at[i] = (size_t)((char *)c - (char *)r);
  }
  weft_call *taken = NULL;
  failed |= weft_call_ring_try_take(r, &taken);
  if (failed != 0) fail("a primitive could not be filled");
  for (int i = 0; i < KIND_COUNT; i++)
    memcpy(pristine[i], region[i], region_bytes[i]);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void hangs(int signal) {
  (void)signal;
  static const char text[] = ": hangs\n";
  ssize_t written = write(1, called, strlen(called));
  written += write(1, text, sizeof text - 1);
  _exit(written > 0 ? 1 : 2);
}

int main(int count, char **words) {
  if (count < 3) {
    fprintf(stderr, "usage: arguments SECONDS SEED\n");
    return 2;
  }
  double end = now() + atof(words[1]);
  state = (uint32_t)atoi(words[2]) * 2 + 1;
  room = malloc(ROOM);
  scratch = (char *)malloc(ROOM);
  memset(room, 1, ROOM);
  memset(scratch, 0, ROOM);
  weft_agent_set_id(9);
  make_all();
  signal(SIGALRM, hangs);
  do {
    alarm(60);
    for (int i = 0; i < 10; i++) {
      for (int f = 0; f < FUNCTIONS; f++) {
        calls++;
        call_function(f);
        forget();
        weft_agent_set_id(9);
        weft_agent_set_blocking(true);
      }
    }
  } while (now() < end);
  printf("{\"calls\":%lld,\"refused\":%lld,\"functions\":%d,\"problems\":0}\n",
         (long long)calls, (long long)refusals, (int)FUNCTIONS);
  return 0;
}

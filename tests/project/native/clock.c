// A wait for ever, or for longer than 146 years, reads no clock, and one with a
// timeout does. Only who sleeps for a Mutex, or for the turn of a writer, reads
// one, to know whether it is passed over. It prints "done".
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

static atomic_int reads;
static int64_t counted(void);
#define WEFT_NOW() counted()
#include <weft.h>

#undef NDEBUG
#include <assert.h>

static int64_t counted(void) {
  reads++;
  return weft__now();
}

static weft_event event;
static weft_latch latch;
static weft_semaphore semaphore;
static weft_barrier barrier;
static weft_wait_group group;
static _Alignas(8) char spsc[WEFT_SPSC_QUEUE_BYTES(4, 4)];
static _Alignas(8) char mpmc[WEFT_MPMC_QUEUE_BYTES(4, 4)];
static weft_spsc_queue *one;
static weft_mpmc_queue *many;
static weft_rw_lock rw_lock;
static int64_t forever;

/* The thread that waits, and how many waits it has begun. */
static atomic_int waiter, begun;
static atomic_bool downgraded;

static void *wait(void *unused) {
  int32_t value = 0;
  waiter = (int)syscall(SYS_gettid);
  begun++;
  assert(weft_event_wait(&event, forever) == 0);
  begun++;
  assert(weft_latch_wait(&latch, forever) == 0);
  begun++;
  assert(weft_semaphore_acquire(&semaphore, 1, forever) == 0);
  begun++;
  assert(weft_wait_group_wait(&group, forever) == 0);
  begun++;
  assert(weft_barrier_arrive_and_wait(&barrier, NULL, forever) == 0);
  begun++;
  assert(weft_spsc_queue_pop_int(one, &value, forever) == 0);
  begun++;
  assert(weft_mpmc_queue_pop_int(many, &value, forever) == 0);
  begun++;
  assert(weft_rw_lock_read(&rw_lock, forever) == 0);
  assert(weft_rw_lock_unlock_read(&rw_lock) == 0);
  while (!downgraded) thrd_yield(); /* the turn of a writer is over */
  begun++;
  assert(weft_rw_lock_write(&rw_lock, forever) == 0);
  assert(weft_rw_lock_unlock_write(&rw_lock) == 0);
  return unused;
}

/* Whether the thread sleeps. */
static bool sleeps(void) {
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", waiter);
  FILE *stat = fopen(path, "r");
  assert(stat != NULL && fgets(text, sizeof text, stat) != NULL);
  fclose(stat);
  const char *end = strrchr(text, ')');
  return end != NULL && end[2] == 'S';
}

/* Lets the thread sleep in its wait number `n`, however busy the machine is. */
static void await(int n) {
  struct timespec time = {0, 1000000};
  while (begun < n || !sleeps()) thrd_sleep(&time, NULL);
}

/* Each of them waits once. */
static void all(void) {
  const weft_queue_config four = {.capacity = 4, .element_size = 4};
  pthread_t thread;
  begun = 0;
  downgraded = false;
  assert(weft_event_init(&event, sizeof event, false) != NULL);
  assert(weft_latch_init(&latch, sizeof latch, 1) != NULL);
  assert(weft_semaphore_init(&semaphore, sizeof semaphore, 0) != NULL);
  assert(weft_barrier_init(&barrier, sizeof barrier, 2) != NULL);
  assert((one = weft_spsc_queue_init(spsc, sizeof spsc, four)) != NULL);
  assert((many = weft_mpmc_queue_init(mpmc, sizeof mpmc, four)) != NULL);
  assert(weft_wait_group_add(&group, 1) == 0);
  assert(weft_rw_lock_write(&rw_lock, WEFT_FOREVER) == 0);
  pthread_create(&thread, NULL, wait, NULL);
  await(1), weft_event_set(&event);
  await(2), assert(weft_latch_count_down(&latch, 1) == 0);
  await(3), assert(weft_semaphore_release(&semaphore, 1) == 0);
  await(4), assert(weft_wait_group_done(&group, 1) == 0);
  await(5);
  assert(weft_barrier_arrive_and_wait(&barrier, NULL, WEFT_FOREVER) == 0);
  await(6), assert(weft_spsc_queue_push_int(one, 1, WEFT_FOREVER) == 0);
  await(7), assert(weft_mpmc_queue_push_int(many, 1, WEFT_FOREVER) == 0);
  await(8), assert(weft_rw_lock_downgrade(&rw_lock) == 0);
  downgraded = true;
  await(9), assert(weft_rw_lock_unlock_read(&rw_lock) == 0);
  pthread_join(thread, NULL);
  assert(reads == 0);
}

int main(void) {
  const int64_t times[] = {WEFT_FOREVER, INT64_MAX, INT64_MAX / 2 + 1,
                           INT64_MIN};
  for (int i = 0; i < 4; i++) forever = times[i], all();
  /* The clock is the kernel's monotonic one, and a timeout reads it. */
  struct weft__time kernel[2];
  syscall(SYS_clock_gettime, 1, &kernel[0]);
  int64_t now = weft__now();
  syscall(SYS_clock_gettime, 1, &kernel[1]);
  assert(kernel[0].s * WEFT__SECOND + kernel[0].ns <= now);
  assert(kernel[1].s * WEFT__SECOND + kernel[1].ns >= now);
  assert(weft_latch_init(&latch, sizeof latch, 1) != NULL);
  assert(weft_latch_wait(&latch, 1000) == ETIMEDOUT && reads > 0);
  puts("done");
  return 0;
}

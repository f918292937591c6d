/*
 * One turn of a native primitive, ours or another's, for native_bench.ts:
 * `rivals QUESTION WHOSE` prints {"ns": time of an operation}. `rivals` alone
 * prints all pairs. Rivals whose headers are missing are left out.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../wasm/weft/mpmc_queue.h"
#include "../../wasm/weft/mutex.h"
#include "../../wasm/weft/rw_lock.h"
#include "../../wasm/weft/semaphore.h"
#include "../../wasm/weft/spsc_queue.h"
#include "../../wasm/weft_queue.hpp"

#if __has_include(<rigtorp/SPSCQueue.h>)
#include <rigtorp/SPSCQueue.h>
#endif
#if __has_include(<rigtorp/MPMCQueue.h>)
#include <rigtorp/MPMCQueue.h>
#endif
#if __has_include(<readerwriterqueue/readerwriterqueue.h>)
#include <readerwriterqueue/readerwriterqueue.h>
#define READER_WRITER
#endif
#if __has_include(<concurrentqueue/blockingconcurrentqueue.h>)
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/concurrentqueue.h>
#define CONCURRENT
#endif

namespace {

constexpr int CAPACITY = 1024;
/* A program of WebAssembly does less: two threads without a core each, which
   poll, or sleep and wake, take far longer there. */
#ifdef __EMSCRIPTEN__
constexpr int LESS = 5;
#else
constexpr int LESS = 1;
#endif
constexpr int BYTES = 64 * 1024;
alignas(128) char memory[BYTES];

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

void check(bool right) {
  if (right) return;
  std::fputs("an element was lost, or a call failed\n", stderr);
  std::exit(1);
}

template <class Lap>
[[gnu::noinline]] void apart(const Lap &lap, int from, int to) {
  lap(from, to);
}

/*
 * Calls `lap(from, to)` for all numbers below `n`, in parts. In WebAssembly, a
 * function that is called for the first time is compiled in haste. What V8
 * makes of it later counts from the next call on, so one long loop would be
 * slow to its end.
 */
template <class Lap>
void in_laps(int n, const Lap &lap) {
  constexpr int LAP = 1000;
  for (int i = 0; i < n; i += LAP) apart(lap, i, i + LAP < n ? i + LAP : n);
}

/* The time of one of `n` operations in this thread, in ns: the median of many
   parts, as other programs may run during some of them. */
template <class Lap>
double timed(int n, const Lap &lap) {
  constexpr int PARTS = 101;
  double times[PARTS];
  in_laps(n / 10, lap);
  for (double &time : times) {
    const double begin = now();
    in_laps(n / PARTS, lap);
    time = (now() - begin) / (n / PARTS);
  }
  std::nth_element(times, times + PARTS / 2, times + PARTS);
  return times[PARTS / 2];
}

// ---- queues: `try_push`, `try_pop`, `push`, `pop` of an int -----------------

struct WeftSpsc {
  alignas(128) char memory[WEFT_SPSC_QUEUE_BYTES(CAPACITY, 4)];
  weft_spsc_queue *q() { return reinterpret_cast<weft_spsc_queue *>(memory); }
  WeftSpsc() {
    check(weft_spsc_queue_init(memory, sizeof memory, {CAPACITY, 4}) == q());
  }
  bool try_push(int v) { return weft_spsc_queue_try_push_int(q(), v) == 0; }
  bool try_pop(int &v) { return weft_spsc_queue_try_pop_int(q(), &v) == 0; }
  void push(int v) { check(weft_spsc_queue_push_int(q(), v, WEFT_FOREVER) == 0); }
  void pop(int &v) { check(weft_spsc_queue_pop_int(q(), &v, WEFT_FOREVER) == 0); }
};

struct WeftMpmc {
  alignas(128) char memory[WEFT_MPMC_QUEUE_BYTES(CAPACITY, 4)];
  weft_mpmc_queue *q() { return reinterpret_cast<weft_mpmc_queue *>(memory); }
  WeftMpmc() {
    check(weft_mpmc_queue_init(memory, sizeof memory, {CAPACITY, 4}) == q());
  }
  bool try_push(int v) { return weft_mpmc_queue_try_push_int(q(), v) == 0; }
  bool try_pop(int &v) { return weft_mpmc_queue_try_pop_int(q(), &v) == 0; }
  void push(int v) { check(weft_mpmc_queue_push_int(q(), v, WEFT_FOREVER) == 0); }
  void pop(int &v) { check(weft_mpmc_queue_pop_int(q(), &v, WEFT_FOREVER) == 0); }
};

/* As C++ programs have them. */
template <class Q>
struct WeftCpp {
  Q q = Q::create(memory, sizeof memory, CAPACITY);
  bool try_push(int v) { return q.try_push(v); }
  bool try_pop(int &v) {
    const std::optional<int> next = q.try_pop();
    if (next) v = *next;
    return next.has_value();
  }
};

#ifdef __cpp_aligned_new
template <class Q>
struct Rigtorp {
  Q q{CAPACITY};
  bool try_push(int v) { return q.try_push(v); }
  bool try_pop(int &v);
};
#endif

#if __has_include(<rigtorp/SPSCQueue.h>)
template <>
bool Rigtorp<rigtorp::SPSCQueue<int>>::try_pop(int &v) {
  const int *front = q.front();
  if (front == nullptr) return false;
  v = *front;
  q.pop();
  return true;
}
#endif
#if __has_include(<rigtorp/MPMCQueue.h>)
template <>
bool Rigtorp<rigtorp::MPMCQueue<int>>::try_pop(int &v) {
  return q.try_pop(v);
}
#endif

#ifdef READER_WRITER
struct ReaderWriter {
  moodycamel::ReaderWriterQueue<int> q{CAPACITY};
  bool try_push(int v) { return q.try_enqueue(v); }
  bool try_pop(int &v) { return q.try_dequeue(v); }
};
/* It grows instead of blocking a push. */
struct BlockingReaderWriter {
  moodycamel::BlockingReaderWriterQueue<int> q{CAPACITY};
  void push(int v) { check(q.enqueue(v)); }
  void pop(int &v) { q.wait_dequeue(v); }
};
#endif
#ifdef CONCURRENT
struct Concurrent {
  moodycamel::ConcurrentQueue<int> q{CAPACITY};
  bool try_push(int v) { return q.try_enqueue(v); }
  bool try_pop(int &v) { return q.try_dequeue(v); }
};
struct BlockingConcurrent {
  moodycamel::BlockingConcurrentQueue<int> q{CAPACITY};
  void push(int v) { check(q.enqueue(v)); }
  void pop(int &v) { q.wait_dequeue(v); }
};
#endif

/* A push and a pop, in one thread. */
template <class Q>
double alone() {
  constexpr int N = 2000000;
  static Q q;
  const auto lap = [](int from, int to) {
    for (int i = from; i < to; i++) {
      int v = -1;
      check(q.try_push(i) && q.try_pop(v) && v == i);
    }
  };
  return timed(N, lap);
}

/* Carries `n` elements from `produce` in a thread to `consume` in this one. */
template <class Q, class Produce, class Consume>
double carry(int n, Produce produce, Consume consume) {
  struct Job {
    Q q;
    Produce produce;
    int n;
  };
  static Job *job;
  job = new Job{{}, produce, n};
  const double begin = now();
  pthread_t thread;
  const auto run = [](void *) -> void * {
    in_laps(job->n, [](int from, int to) {
      for (int i = from; i < to; i++) job->produce(job->q, i);
    });
    return nullptr;
  };
  check(pthread_create(&thread, nullptr, run, nullptr) == 0);
  in_laps(n, [&](int from, int to) {
    for (int i = from; i < to; i++) {
      int v = -1;
      consume(job->q, v);
      check(v == i);
    }
  });
  const double end = now();
  pthread_join(thread, nullptr);
  return (end - begin) / n;
}

/* The same, twice where the first time is for the compiler. */
template <class Q, class Produce, class Consume>
double transport(int n, Produce produce, Consume consume) {
  if (LESS > 1) carry<Q>(n / 2, produce, consume);
  return carry<Q>(n, produce, consume);
}

template <class Q>
double polling() {
  return transport<Q>(
      2000000 / LESS,
      [](Q &q, int v) {
        while (!q.try_push(v)) {
        }
      },
      [](Q &q, int &v) {
        while (!q.try_pop(v)) {
        }
      });
}

template <class Q>
double blocking() {
  return transport<Q>(
      1000000 / LESS, [](Q &q, int v) { q.push(v); },
      [](Q &q, int &v) { q.pop(v); });
}

// ---- locks: `lock`, `unlock` ------------------------------------------------

struct WeftMutex {
  weft_mutex m{};
  void lock() { check(weft_mutex_lock(&m, WEFT_FOREVER) == 0); }
  void unlock() { weft_mutex_unlock(&m); }
};
struct PthreadMutex {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  void lock() { check(pthread_mutex_lock(&m) == 0); }
  void unlock() { pthread_mutex_unlock(&m); }
};
struct WeftRead {
  weft_rw_lock l{};
  void lock() { check(weft_rw_lock_read(&l, WEFT_FOREVER) == 0); }
  void unlock() { weft_rw_lock_unlock_read(&l); }
};
struct WeftWrite {
  weft_rw_lock l{};
  void lock() { check(weft_rw_lock_write(&l, WEFT_FOREVER) == 0); }
  void unlock() { weft_rw_lock_unlock_write(&l); }
};
struct PthreadRead {
  pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
  void lock() { check(pthread_rwlock_rdlock(&l) == 0); }
  void unlock() { pthread_rwlock_unlock(&l); }
};
struct PthreadWrite {
  pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
  void lock() { check(pthread_rwlock_wrlock(&l) == 0); }
  void unlock() { pthread_rwlock_unlock(&l); }
};
struct WeftSemaphore {
  alignas(128) weft_semaphore s;
  explicit WeftSemaphore(int permits = 1) {
    check(weft_semaphore_init(&s, sizeof s, permits) == &s);
  }
  void lock() { check(weft_semaphore_acquire(&s, 1, WEFT_FOREVER) == 0); }
  void unlock() { weft_semaphore_release(&s, 1); }
};
struct PosixSemaphore {
  alignas(128) sem_t s;
  explicit PosixSemaphore(unsigned permits = 1) {
    sem_init(&s, 0, permits);
  }
  void lock() { check(sem_wait(&s) == 0); }
  void unlock() { sem_post(&s); }
};

/* A lock and an unlock, in one thread. */
template <class L>
double uncontended() {
  constexpr int N = 4000000;
  static L l;
  const auto lap = [](int from, int to) {
    for (int i = from; i < to; i++) {
      l.lock();
      l.unlock();
    }
  };
  return timed(N, lap);
}

/* A lock and an unlock around a count, in some threads. */
template <class L, int THREADS>
double contended() {
  constexpr int N = 1600000 / THREADS;
  static L l;
  static long count;
  static const auto lap = [](int from, int to) {
    for (int i = from; i < to; i++) {
      l.lock();
      count++;
      l.unlock();
    }
  };
  in_laps(N, lap);
  count = 0;
  pthread_t threads[THREADS];
  const double begin = now();
  for (pthread_t &thread : threads) {
    const auto run = [](void *) -> void * {
      in_laps(N, lap);
      return nullptr;
    };
    check(pthread_create(&thread, nullptr, run, nullptr) == 0);
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  check(count == long{N} * THREADS);
  return (now() - begin) / (double{N} * THREADS);
}

/* A round trip between two threads over two semaphores. */
template <class S>
double ping_pong() {
  constexpr int N = 100000 / LESS;
  static S ping(0), pong(0);
  pthread_t thread;
  const auto run = [](void *) -> void * {
    in_laps(N, [](int from, int to) {
      for (int i = from; i < to; i++) {
        ping.lock();
        pong.unlock();
      }
    });
    return nullptr;
  };
  const double begin = now();
  check(pthread_create(&thread, nullptr, run, nullptr) == 0);
  in_laps(N, [](int from, int to) {
    for (int i = from; i < to; i++) {
      ping.unlock();
      pong.lock();
    }
  });
  pthread_join(thread, nullptr);
  return (now() - begin) / N;
}

const struct {
  const char *question, *whose;
  double (*turn)();
} TURNS[] = {
    {"SpscQueue, push and pop alone", "weft", alone<WeftSpsc>},
    {"SpscQueue, two threads that poll", "weft", polling<WeftSpsc>},
    {"SpscQueue, two threads that block", "weft", blocking<WeftSpsc>},
    {"MpmcQueue, push and pop alone", "weft", alone<WeftMpmc>},
    {"MpmcQueue, two threads that poll", "weft", polling<WeftMpmc>},
    {"MpmcQueue, two threads that block", "weft", blocking<WeftMpmc>},
    {"spsc_queue<int> of C++, push and pop alone", "weft",
     alone<WeftCpp<weft::spsc_queue<int>>>},
    {"mpmc_queue<int> of C++, push and pop alone", "weft",
     alone<WeftCpp<weft::mpmc_queue<int>>>},
#if __has_include(<rigtorp/SPSCQueue.h>)
    {"spsc_queue<int> of C++, push and pop alone", "rigtorp",
     alone<Rigtorp<rigtorp::SPSCQueue<int>>>},
    {"SpscQueue, push and pop alone", "rigtorp",
     alone<Rigtorp<rigtorp::SPSCQueue<int>>>},
    {"SpscQueue, two threads that poll", "rigtorp",
     polling<Rigtorp<rigtorp::SPSCQueue<int>>>},
#endif
#if __has_include(<rigtorp/MPMCQueue.h>)
    {"mpmc_queue<int> of C++, push and pop alone", "rigtorp",
     alone<Rigtorp<rigtorp::MPMCQueue<int>>>},
    {"MpmcQueue, push and pop alone", "rigtorp",
     alone<Rigtorp<rigtorp::MPMCQueue<int>>>},
    {"MpmcQueue, two threads that poll", "rigtorp",
     polling<Rigtorp<rigtorp::MPMCQueue<int>>>},
#endif
#ifdef READER_WRITER
    {"SpscQueue, push and pop alone", "moodycamel", alone<ReaderWriter>},
    {"spsc_queue<int> of C++, push and pop alone", "moodycamel",
     alone<ReaderWriter>},
    {"SpscQueue, two threads that poll", "moodycamel", polling<ReaderWriter>},
    {"SpscQueue, two threads that block", "moodycamel",
     blocking<BlockingReaderWriter>},
#endif
#ifdef CONCURRENT
    {"MpmcQueue, push and pop alone", "moodycamel", alone<Concurrent>},
    {"mpmc_queue<int> of C++, push and pop alone", "moodycamel",
     alone<Concurrent>},
    {"MpmcQueue, two threads that poll", "moodycamel", polling<Concurrent>},
    {"MpmcQueue, two threads that block", "moodycamel",
     blocking<BlockingConcurrent>},
#endif
    {"Mutex, alone", "weft", uncontended<WeftMutex>},
    {"Mutex, alone", "pthread", uncontended<PthreadMutex>},
    {"Mutex, 2 threads", "weft", contended<WeftMutex, 2>},
    {"Mutex, 2 threads", "pthread", contended<PthreadMutex, 2>},
    {"Mutex, 8 threads", "weft", contended<WeftMutex, 8>},
    {"Mutex, 8 threads", "pthread", contended<PthreadMutex, 8>},
    {"RwLock, read alone", "weft", uncontended<WeftRead>},
    {"RwLock, read alone", "pthread", uncontended<PthreadRead>},
    {"RwLock, write alone", "weft", uncontended<WeftWrite>},
    {"RwLock, write alone", "pthread", uncontended<PthreadWrite>},
    {"Semaphore, alone", "weft", uncontended<WeftSemaphore>},
    {"Semaphore, alone", "sem_t", uncontended<PosixSemaphore>},
    {"Semaphore, ping and pong", "weft", ping_pong<WeftSemaphore>},
    {"Semaphore, ping and pong", "sem_t", ping_pong<PosixSemaphore>},
};

/*
 * Keeps a second thread, which does nothing. In a process that never had one,
 * glibc leaves the atomics out of its own locks.
 */
void become_threaded() {
  pthread_t thread;
  const auto sleep = [](void *) -> void * {
    for (;;) pause();
  };
  check(pthread_create(&thread, nullptr, sleep, nullptr) == 0);
  check(pthread_detach(thread) == 0);
}

}  // namespace

int main(int count, char **words) {
  for (const auto &[question, whose, turn] : TURNS) {
    if (count < 3) {
      std::printf("%s\t%s\n", question, whose);
    } else if (std::strcmp(words[1], question) == 0 &&
               std::strcmp(words[2], whose) == 0) {
      become_threaded();
      std::printf("{\"ns\": %.4f}\n", turn());
      return 0;
    }
  }
  return count < 3 ? 0 : 2;
}

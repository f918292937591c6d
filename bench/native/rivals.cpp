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
constexpr int BYTES = 256 * 1024;
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

// ---- queues: `try_push`, `try_pop`, `push`, `pop` of an int -----------------

struct WeftSpsc {
  weft_spsc_queue *q =
      weft_spsc_queue_init(memory, sizeof memory, {CAPACITY, 4});
  bool try_push(int v) { return weft_spsc_queue_try_push_int(q, v) == 0; }
  bool try_pop(int &v) { return weft_spsc_queue_try_pop_int(q, &v) == 0; }
  void push(int v) { check(weft_spsc_queue_push_int(q, v, WEFT_FOREVER) == 0); }
  void pop(int &v) { check(weft_spsc_queue_pop_int(q, &v, WEFT_FOREVER) == 0); }
};

struct WeftMpmc {
  weft_mpmc_queue *q =
      weft_mpmc_queue_init(memory, sizeof memory, {CAPACITY, 4});
  bool try_push(int v) { return weft_mpmc_queue_try_push_int(q, v) == 0; }
  bool try_pop(int &v) { return weft_mpmc_queue_try_pop_int(q, &v) == 0; }
  void push(int v) { check(weft_mpmc_queue_push_int(q, v, WEFT_FOREVER) == 0); }
  void pop(int &v) { check(weft_mpmc_queue_pop_int(q, &v, WEFT_FOREVER) == 0); }
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
  const double begin = now();
  for (int i = 0; i < N; i++) {
    int v = -1;
    check(q.try_push(i) && q.try_pop(v) && v == i);
  }
  return (now() - begin) / N;
}

/* Runs `produce` in a thread and `consume` in this one. */
template <class Q, class Produce, class Consume>
double transport(int n, Produce produce, Consume consume) {
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
    for (int i = 0; i < job->n; i++) job->produce(job->q, i);
    return nullptr;
  };
  check(pthread_create(&thread, nullptr, run, nullptr) == 0);
  for (int i = 0; i < n; i++) {
    int v = -1;
    consume(job->q, v);
    check(v == i);
  }
  const double end = now();
  pthread_join(thread, nullptr);
  return (end - begin) / n;
}

template <class Q>
double polling() {
  return transport<Q>(
      2000000,
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
      1000000, [](Q &q, int v) { q.push(v); }, [](Q &q, int &v) { q.pop(v); });
}

// ---- locks: `lock`, `unlock` ------------------------------------------------

struct WeftMutex {
  weft_mutex *m = reinterpret_cast<weft_mutex *>(memory);
  void lock() { check(weft_mutex_lock(m, WEFT_FOREVER) == 0); }
  void unlock() { weft_mutex_unlock(m); }
};
struct PthreadMutex {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  void lock() { check(pthread_mutex_lock(&m) == 0); }
  void unlock() { pthread_mutex_unlock(&m); }
};
struct WeftRead {
  weft_rw_lock *l = reinterpret_cast<weft_rw_lock *>(memory);
  void lock() { check(weft_rw_lock_read(l, WEFT_FOREVER) == 0); }
  void unlock() { weft_rw_lock_unlock_read(l); }
};
struct WeftWrite {
  weft_rw_lock *l = reinterpret_cast<weft_rw_lock *>(memory);
  void lock() { check(weft_rw_lock_write(l, WEFT_FOREVER) == 0); }
  void unlock() { weft_rw_lock_unlock_write(l); }
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
  weft_semaphore *s;
  explicit WeftSemaphore(int permits = 1, int at = 0)
      : s(weft_semaphore_init(memory + at, 4096, permits)) {}
  void lock() { check(weft_semaphore_acquire(s, 1, WEFT_FOREVER) == 0); }
  void unlock() { weft_semaphore_release(s, 1); }
};
struct PosixSemaphore {
  sem_t s;
  explicit PosixSemaphore(unsigned permits = 1, int = 0) {
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
  const double begin = now();
  for (int i = 0; i < N; i++) {
    l.lock();
    l.unlock();
  }
  return (now() - begin) / N;
}

/* A lock and an unlock around a count, in some threads. */
template <class L, int THREADS>
double contended() {
  constexpr int N = 1600000 / THREADS;
  static L l;
  static long count;
  pthread_t threads[THREADS];
  const double begin = now();
  for (pthread_t &thread : threads) {
    const auto run = [](void *) -> void * {
      for (int i = 0; i < N; i++) {
        l.lock();
        count++;
        l.unlock();
      }
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
  constexpr int N = 100000;
  static S ping(0, 0), pong(0, 8192);
  pthread_t thread;
  const auto run = [](void *) -> void * {
    for (int i = 0; i < N; i++) {
      ping.lock();
      pong.unlock();
    }
    return nullptr;
  };
  const double begin = now();
  check(pthread_create(&thread, nullptr, run, nullptr) == 0);
  for (int i = 0; i < N; i++) {
    ping.unlock();
    pong.lock();
  }
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

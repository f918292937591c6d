// Compiled with weft_pthread.h in front, as posix.c is. What the standard
// library has of locks stays the platform's: half of it is in its own library.
// It prints "done".
#include <pthread.h>
#include <semaphore.h>

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <type_traits>

using namespace std::chrono_literals;

namespace {

static_assert(std::is_same_v<decltype(pthread_cond_t::c), weft_condition>);
static_assert(!std::is_same_v<std::mutex::native_handle_type,
                              pthread_mutex_t *>);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
pthread_once_t once = PTHREAD_ONCE_INIT;

void of_std() {
  std::mutex m;
  std::condition_variable c;
  bool is_set = false;
  std::thread setter([&] {
    const std::scoped_lock held(m);
    is_set = true;
    c.notify_one();
  });
  std::unique_lock<std::mutex> held(m);
  c.wait(held, [&] { return is_set; });
  assert(!c.wait_for(held, 1ms, [] { return false; }));
  held.unlock();
  setter.join();
  std::shared_timed_mutex s;
  assert(s.try_lock_shared_for(1ms));
  s.unlock_shared();
  std::promise<int> promise;
  promise.set_value(3);
  assert(promise.get_future().get() == 3);
}

void of_posix() {
  bool is_set = false;
  std::thread setter([&] {
    assert(pthread_mutex_lock(&lock) == 0);
    is_set = true;
    assert(pthread_cond_signal(&changed) == 0);
    assert(pthread_mutex_unlock(&lock) == 0);
  });
  assert(pthread_mutex_lock(&lock) == 0);
  while (!is_set) assert(pthread_cond_wait(&changed, &lock) == 0);
  assert(pthread_mutex_unlock(&lock) == 0);
  setter.join();
  assert(pthread_rwlock_rdlock(&shared) == 0);
  assert(pthread_rwlock_unlock(&shared) == 0);
  int (*const destroy)(pthread_cond_t *) = &pthread_cond_destroy;
  assert(destroy(&changed) == 0);
  sem_t s;
  assert(sem_init(&s, 0, 1) == 0 && sem_wait(&s) == 0);
}

// A function that throws was not run.
void throws() {
  static int calls = 0;
  int thrown = 0;
  for (int i = 0; i < 4; i++) {
    try {
      assert(pthread_once(&once, [] { if (++calls < 3) throw 1; }) == 0);
    } catch (int n) {
      thrown += n;
    }
  }
  assert(thrown == 2 && calls == 3);
}

}  // namespace

int main() {
  of_std();
  of_posix();
  throws();
  std::puts("done");
  return 0;
}

// Uses all of weft.hpp from threads. It prints "done".
#include <array>
#include <cstdio>
#include <memory>
#include <shared_mutex>
#if __cplusplus >= 202002L
#include <span>
#endif
#include <string>
#include <thread>
#include <vector>
#include <weft.hpp>

#include "check.hpp"

using namespace std::chrono_literals;

namespace {

struct point {
  uint32_t id;
  double x;
  char name[8];
};

// What the error that `body` throws says.
template <class Body>
std::string told_by(Body body) {
  try {
    body();
  } catch (const std::system_error &error) {
    return error.what();
  }
  return "";
}

void mutexes() {
  static weft::mutex first, second;
  static int64_t sum = 0;
  on_threads(4, [](int i) {
    for (int n = 0; n < 2000; n++) {
      // std::lock takes them in either order without a deadlock.
      if (i % 2 == 0) {
        std::scoped_lock both(first, second);
        sum++;
      } else {
        std::scoped_lock both(second, first);
        sum++;
      }
    }
  });
  assert(sum == 8000);
  std::unique_lock<weft::mutex> guard(first);
  assert(first.owner() == weft_agent_id());
  assert(error_of([] { first.lock(); }) == EDEADLK);
  std::thread([] {
    assert(!first.try_lock());
    std::error_code ec;
    assert(!first.try_lock(&ec) && ec == std::errc::device_or_resource_busy);
    assert(!first.try_lock_for(1ms) && !first.try_lock_for(-1ms));
    std::unique_lock<weft::mutex> late(first, 1us);
    assert(!late.owns_lock());
    const auto now = std::chrono::steady_clock::now();
    assert(!first.try_lock_until(now + 1ms, &ec));
    assert(ec == std::errc::timed_out);
    assert(error_of([] { first.unlock(); }) == EPERM);
  }).join();
  guard.unlock();
  // An owner that dies, as its survivors see it.
  int32_t dead = 0;
  std::thread([&] { dead = (first.lock(), weft_agent_id()); }).join();
  assert(first.abandon(dead) == 1 && first.abandon(dead) == 0);
  std::error_code ec;
  assert(first.lock(&ec) && ec == std::errc::owner_dead);
  first.unlock();
  std::thread([&] { dead = (first.lock(), weft_agent_id()); }).join();
  assert(first.abandon(dead) == 1);
  std::scoped_lock whole(first);
  alignas(4) static std::byte bytes[sizeof(weft::mutex) + 2];
  std::scoped_lock there(weft::mutex::attach(bytes));
  assert(error_of([] { weft::mutex::attach(bytes + 1); }) == EINVAL);
  assert(error_of([] { weft::semaphore::attach(bytes); }) == EINVAL);
  // Each error says that it is of weft, and what is wrong if that is known.
  const auto says = [](auto body, const char *begin) {
    return told_by(body).rfind(begin, 0) == 0;
  };
  assert(says([] { weft::mutex::attach(bytes + 1); },
              "weft: not a multiple of 4: "));
  assert(says([] { weft::semaphore::attach(bytes); },
              "weft: no initialized primitive here: "));
  assert(says([] { weft::mpmc_queue<int32_t>::attach(bytes); },
              "weft: no initialized primitive here: "));
  assert(says([] { weft::semaphore none(-1); }, "weft: out of range: "));
  assert(says([] { weft::mutex::attach(nullptr); }, "weft: a null pointer: "));
  assert(says([] { first.lock(); }, "weft: "));
}

void others() {
  static weft::rw_lock lock;
  static int64_t sum = 0;
  on_threads(4, [](int i) {
    for (int n = 0; n < 500; n++) {
      if (i < 2) {
        std::unique_lock<weft::rw_lock> guard(lock);
        sum++;
      } else {
        std::shared_lock<weft::rw_lock> guard(lock);
        assert(sum <= 1000);
      }
    }
  });
  assert(sum == 1000 && lock.try_lock() && !lock.try_lock_shared());
  std::thread([] { assert(!lock.try_lock_shared_for(1ms)); }).join();
  assert(error_of([] { lock.lock_shared(); }) == EDEADLK);
  lock.downgrade();
  assert(lock.try_lock_shared() && !lock.try_lock_for(0ms));
  lock.unlock_shared(), lock.unlock_shared();
  const auto soon = std::chrono::steady_clock::now() + 1ms;
  assert(lock.try_lock_until(soon) && !lock.try_lock_shared());
  lock.unlock();
  assert(lock.try_lock_shared_until(soon) && !lock.try_lock_until(soon));
  lock.unlock_shared();

  static weft::semaphore permits(2);
  static weft::latch ready(3);
  assert(permits.try_acquire(2) && !permits.try_acquire());
  assert(!permits.try_acquire_for(1ms) && permits.available() == 0);
  permits.release(0), ready.count_down(0); /* nothing, as the standard says */
  assert(permits.available() == 0 && !ready.try_wait());
  assert(error_of([] { permits.release(-1); }) == EINVAL);
  assert(error_of([] { weft::semaphore none(-1); }) == EINVAL);
  std::thread waiter([] { permits.acquire(), ready.count_down(3); });
  assert(!ready.try_wait());
  permits.release(2), ready.wait(), waiter.join();
  assert(permits.available() == 1 && ready.try_wait());
  assert(error_of([] { ready.count_down(-1); }) == EINVAL);

  static weft::wait_group tasks;
  tasks.add(2);
  std::thread worker([] { tasks.done(), tasks.done(); });
  tasks.wait(), worker.join();
  assert(tasks.count() == 0 && tasks.try_wait() && tasks.wait_for(0ms));
  assert(error_of([] { tasks.done(); }) == EINVAL);
  assert(error_of([] { tasks.add(1 << 18); }) == EOVERFLOW);
  tasks.add();
  assert(!tasks.try_wait() && !tasks.wait_for(1ms));

  static weft::mutex mutex;
  static weft::condition changed;
  static int turn = 0;
  std::unique_lock<weft::mutex> guard(mutex);
  assert(changed.wait_for(guard, 1ms) == std::cv_status::timeout);
  assert(!changed.wait_for(guard, 1ms, [] { return turn == 1; }));
  std::thread notifier([] {
    for (int i = 0; i < 100; i++) {
      std::unique_lock<weft::mutex> held(mutex);
      changed.wait(held, [] { return turn % 2 == 0; });
      turn++;
      i % 2 == 0 ? changed.notify_one() : changed.notify_all();
    }
  });
  const auto end = std::chrono::system_clock::now() + 1h;
  for (int i = 0; i < 100; i++) {
    assert(changed.wait_until(guard, end, [] { return turn % 2 == 1; }));
    turn++;
    changed.notify_all();
  }
  guard.unlock();
  assert(error_of([&] { changed.wait(guard); }) == EPERM);
  notifier.join();
  assert(turn == 200);
}

void events() {
  static weft::event opened, one(true);
  assert(!opened.is_set() && !opened.try_wait() && !opened.wait_for(1ms));
  on_threads(3, [](int i) {
    if (i == 0) {
      opened.set();
    } else {
      opened.wait();
      assert(opened.try_wait());
    }
  });
  opened.reset();
  assert(!opened.is_set());
  one.set();
  assert(one.is_set() && one.wait_for(1h) && !one.try_wait());
  alignas(4) static std::byte bytes[sizeof(weft::event)];
  assert(!weft::event::attach(bytes).is_set());

  static weft::barrier meeting(3);
  static std::array<int, 3> rounds;
  static int leaders = 0;
  on_threads(3, [](int i) {
    for (int n = 0; n < 50; n++) {
      rounds[static_cast<size_t>(i)]++;
      if (meeting.arrive_and_wait()) leaders++;
      for (int round : rounds) assert(round == n + 1);
      meeting.arrive_and_wait();
    }
    if (i > 0) meeting.leave();
  });
  assert(leaders == 50 && meeting.arrive_and_wait());
  assert(error_of([] { weft::barrier none(0); }) == EINVAL);

  static weft::once once;
  static int runs = 0;
  struct failure {};
  try {
    once.run([] { throw failure(); });
    assert(false);
  } catch (const failure &) {
    assert(!once.is_done());
  }
  on_threads(3, [](int) {
    once.run([] { runs++; });
    assert(runs == 1 && once.is_done());
  });
  static weft::once inner;
  inner.run([] {
    assert(error_of([] { inner.run([] {}); }) == EDEADLK);
  });
  assert(inner.is_done());

  // A semaphore that notes its holders lies where weft.h has made it.
  alignas(4) static std::byte rows[WEFT_SEMAPHORE_TRACKED_BYTES(2)];
  auto &noted = weft::semaphore::attach(
      weft_semaphore_init_tracked(rows, sizeof rows, 2, 2));
  noted.acquire();
  assert(noted.available() == 1);
  noted.release();
}

// This agent no longer pushes, nor pops, so that another one can.
template <class Queue>
void leave([[maybe_unused]] Queue &queue) {
  if constexpr (std::is_same_v<Queue, weft::spsc_queue<point>>)
    queue.abandon(weft_agent_id());
}

template <template <class> class Queue>
void queues(bool many) {
  using points = Queue<point>;
  static_assert(points::bytes(5) >= 8 * sizeof(point));
  static_assert(points::bytes(0) == 0 && points::bytes(-1) == 0);
  constexpr size_t length = points::bytes(8);
  const auto memory = std::make_unique<std::array<double, length / 8 + 1>>();
  void *at = memory.get();
  assert(error_of([&] { points::attach(at); }) == EINVAL);
  assert(error_of([&] { points::create(at, length - 1, 8); }) == EINVAL);
  const auto why = [&](size_t size, int32_t capacity) {
    return told_by([&] { points::create(at, size, capacity); });
  };
  assert(why(length - 1, 8).rfind("weft: too few bytes", 0) == 0);
  for (const int32_t wrong : {0, -1})
    assert(why(length, wrong).rfind("weft: the capacity is out", 0) == 0);
  assert(error_of([&] { points::create(nullptr, length, 8); }) == EINVAL);
  points queue = points::create(at, length, 7);
  assert(error_of([&] { Queue<int32_t>::attach(at); }) == EINVAL);
  void *odd = static_cast<char *>(at) + 4;
  assert(error_of([&] { points::attach(odd); }) == EINVAL);
  assert(queue.capacity() == 8 && queue.size() == 0 && !queue.try_pop());
  std::error_code ec;
  assert(!queue.try_pop_for(1ms, &ec) && ec == std::errc::timed_out);

  std::vector<point> sent(12);
  for (uint32_t i = 0; i < 12; i++) sent[i] = {i, i / 2.0, "point"};
  assert(queue.try_push_many(sent) == 8 && !queue.try_push(sent[0]));
  assert(!queue.try_push(sent[0], &ec) && ec.value() == EBUSY);
  assert(!queue.try_push_for(sent[0], 1ms));
  std::array<point, 3> seen;
  assert(queue.try_pop_many(seen) == 3 && seen[2].x == 1);
  point *slot = queue.reserve();
  *slot = sent[8];
  assert(queue.commit(slot));
  const point *oldest = queue.peek();
  assert(oldest->id == 3);
  queue.consume(oldest);
#if __cplusplus >= 202002L
  const std::span<const point> whole(sent);
  assert(queue.try_push_many(whole.subspan(9, 2)) == 2);
  assert(queue.try_pop_many(std::span<point>(seen).first(2)) == 2);
  assert(seen[0].id == 4 && seen[1].id == 5);
  for (uint32_t i = 6; i < 11; i++) assert(queue.pop()->id == i);
#else
  for (uint32_t i = 4; i < 9; i++) assert(queue.pop()->id == i);
#endif

  const int producers = many ? 3 : 1, consumers = many ? 2 : 1;
  static std::array<int64_t, 8> sums;
  sums = {};
  points other = points::attach(at);
  leave(queue);
  std::thread pushing([&] {
    on_threads(producers, [&](int) {
      for (uint32_t i = 1; i <= 2000; i++) assert(queue.push({i, i + .5, ""}));
      leave(queue);
    });
    queue.close();
  });
  on_threads(consumers, [&](int n) {
    while (std::optional<point> next = other.pop()) {
      assert(next->x == next->id + .5);
      sums[static_cast<size_t>(n)] += next->id;
    }
    leave(other);
  });
  pushing.join();
  int64_t sum = 0;
  for (int64_t part : sums) sum += part;
  assert(sum == producers * int64_t{2000} * 2001 / 2);
  assert(queue.closed() && !queue.push(sent[0]) && !queue.pop());
  assert(!queue.push(sent[0], &ec) && ec == std::errc::broken_pipe);
  assert(queue.try_push_many(sent) == 0 && queue.try_pop_many(seen) == 0);
}

}  // namespace

int main() {
  mutexes();
  others();
  events();
  queues<weft::spsc_queue>(false);
  queues<weft::mpmc_queue>(true);
  queues<weft::lock_free_queue>(true);
  std::puts("done");
}

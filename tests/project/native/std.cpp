// Uses what weft.hpp has of the standard library's locks. It prints "done".
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#include <weft.hpp>

#include "check.hpp"

using namespace std::chrono_literals;

namespace {

// They take no code before main.
STATIC weft::mutex plain;
STATIC weft::rw_lock shared;
STATIC weft::condition changed;
STATIC weft::once once;
STATIC weft::recursive_mutex nested;
STATIC weft::condition_variable_any any;
STATIC weft::phase_barrier<> two(2);
STATIC weft::semaphore full(WEFT_SEMAPHORE_MAX);
STATIC weft::latch open(0);

static_assert(std::is_same_v<weft::timed_mutex, weft::mutex>);
static_assert(std::is_same_v<weft::shared_mutex, weft::rw_lock>);
static_assert(
    std::is_same_v<weft::mutex::native_handle_type, weft_mutex *>);

int64_t sum_of(int n) {
  std::scoped_lock held(nested);
  return n == 0 ? 0 : n + sum_of(n - 1);
}

void recursive() {
  static int64_t sum = 0;
  on_threads(4, [](int) {
    for (int n = 0; n < 200; n++) {
      std::scoped_lock held(nested);
      sum += sum_of(10);
    }
  });
  assert(sum == 4 * 200 * 55);
  assert(nested.owner() == 0);
  assert(nested.lock() && nested.try_lock() && nested.try_lock_for(1ms));
  assert(nested.try_lock_until(std::chrono::system_clock::now()));
  const auto others = [](bool free) {
    std::thread([free] {
      assert(nested.try_lock() == free);
      if (free) return nested.unlock();
      std::error_code ec;
      assert(!nested.try_lock_for(1ms, &ec) && ec == std::errc::timed_out);
      assert(error_of([] { nested.unlock(); }) == EPERM);
    }).join();
  };
  for (int i = 0; i < 3; i++) nested.unlock(), others(false);
  nested.unlock(), others(true);
  assert(error_of([] { nested.unlock(); }) == EPERM);
  // An owner that dies while it holds it twice.
  int32_t dead = 0;
  std::thread([&] {
    dead = (nested.lock(), nested.lock(), weft_agent_id());
  }).join();
  assert(nested.abandon(dead) == 1);
  std::error_code ec;
  assert(nested.lock(&ec) && ec == std::errc::owner_dead);
  nested.unlock(), others(true);
}

// `turn` goes from one thread to the other, by any lock.
template <class Lock, class Guard>
void turns(Lock &lock) {
  int turn = 0;
  weft::condition_variable_any moved;
  std::thread other([&] {
    for (int i = 0; i < 100; i++) {
      Guard held(lock);
      moved.wait(held, [&] { return turn % 2 == 1; });
      turn++;
      moved.notify_one();
    }
  });
  for (int i = 0; i < 100; i++) {
    Guard held(lock);
    assert(moved.wait_for(held, 1h, [&] { return turn % 2 == 0; }));
    turn++;
    moved.notify_all();
  }
  other.join();
  assert(turn == 200);
}

/* A condition ends when all are notified, before their calls return; and one
   that nobody notifies does not keep a program from ending. */
void endings() {
  for (int i = 0; i < 200; i++) {
    auto ending = std::make_unique<weft::condition_variable_any>();
    int waits = 0;
    bool ends = false;
    const auto wait = [&] {
      std::unique_lock<weft::mutex> held(plain);
      waits++;
      while (!ends) ending->wait(held);
    };
    std::thread first(wait), second(wait);
    std::unique_lock<weft::mutex> held(plain);
    while (waits < 2) held.unlock(), std::this_thread::yield(), held.lock();
    ends = true;
    ending->notify_all();
    ending.reset(); /* they have not locked `plain` again */
    held.unlock();
    first.join(), second.join();
  }
  alignas(weft::condition_variable_any) static char
      memory[sizeof(weft::condition_variable_any)];
  auto *left = new (memory) weft::condition_variable_any;
  static std::atomic<bool> waits(false);
  std::thread([left] {
    std::unique_lock<weft::mutex> held(plain);
    waits = true;
    (void)left->wait_for(held, 20ms);
  }).detach();
  while (!waits) std::this_thread::yield();
  plain.lock(), plain.unlock();
  std::destroy_at(left);
  std::this_thread::sleep_for(100ms); /* until that thread is gone */
}

void conditions() {
  endings();
  static std::mutex theirs;
  turns<std::mutex, std::unique_lock<std::mutex>>(theirs);
  turns<weft::rw_lock, std::unique_lock<weft::rw_lock>>(shared);
  turns<weft::recursive_mutex, std::unique_lock<weft::recursive_mutex>>(nested);
  {  // Readers wait together, and the lock itself will do.
    static int value = 0;
    std::thread writer([] {
      std::this_thread::sleep_for(2ms);
      shared.lock(), value = 7, shared.unlock();
      any.notify_all();
    });
    on_threads(3, [](int) {
      std::shared_lock<weft::rw_lock> held(shared);
      any.wait(held, [] { return value == 7; });
    });
    writer.join();
  }
  const auto soon = std::chrono::steady_clock::now() + 1ms;
  std::unique_lock<weft::mutex> held(plain);
  assert(any.wait_until(held, soon) == std::cv_status::timeout);
  assert(any.wait_for(plain, -1s) == std::cv_status::timeout);
  assert(!any.wait_until(held, soon, [] { return false; }));
  // The first times of their types: what is left of them overflows.
  using clock = std::chrono::steady_clock;
  using days = std::chrono::duration<int64_t, std::ratio<86400>>;
  assert(any.wait_until(held, clock::time_point::min()) ==
         std::cv_status::timeout);
  const std::chrono::time_point<clock, days> first(days::min()),
      last(days::max());
  assert(!any.wait_until(held, first, [] { return false; }));
  assert(weft::detail::span(clock::now() - 2s).ns == 0);
  assert(weft::detail::span(last).ns == INT64_MAX / 4);
  assert(weft::detail::span(clock::time_point::max()).ns == INT64_MAX / 4);
  const int64_t hour = weft::detail::span(clock::now() + 1h).ns;
  assert(hour > 3599 * int64_t{1000000000} && hour <= 3600000000000);
  assert(held.owns_lock() && plain.owner() == weft_agent_id());
#ifdef __cpp_lib_jthread
  std::stop_source stop;
  const auto never = [] { return false; };
  assert(!any.wait_for(held, stop.get_token(), 1ms, never));
  assert(!any.wait_until(held, stop.get_token(), soon, never));
  assert(any.wait(held, stop.get_token(), [] { return true; }));
  std::thread stopping([&] { stop.request_stop(); });
  assert(!any.wait(held, stop.get_token(), never));
  assert(!any.wait(held, stop.get_token(), never) && held.owns_lock());
  stopping.join();
#endif
}

void barriers() {
  static int phases = 0;
  static std::array<int, 3> rounds;
  const auto count = [] {
    for (int round : rounds) assert(round == phases + 1);
    phases++;
  };
  static weft::phase_barrier meeting(3, count);
  on_threads(3, [](int i) {
    for (int n = 0; n < 50; n++) {
      rounds[static_cast<size_t>(i)]++;
      if (i == 0) {
        auto token = meeting.arrive();
        meeting.wait(std::move(token));
      } else {
        meeting.arrive_and_wait();
      }
      assert(phases > n);
    }
  });
  assert(phases == 50);
  weft::phase_barrier<> pair(2);
  pair.arrive_and_drop();
  pair.arrive_and_wait(), pair.arrive_and_wait();
  weft::phase_barrier<> three(3);
  assert(error_of([&] { (void)three.arrive(4); }) == EINVAL);
  assert(error_of([&] { (void)three.arrive(0); }) == EINVAL);
  auto token = three.arrive(3);
  three.wait(std::move(token));
  assert(error_of([] { weft::phase_barrier<> none(-1); }) == EINVAL);
  weft::phase_barrier<> one(1);
  one.arrive_and_drop();
  assert(error_of([&] { one.arrive_and_drop(); }) == EINVAL);
}

void counts() {
  weft::latch ready(2);
  std::thread first([&] { ready.arrive_and_wait(); });
  ready.arrive_and_wait(), first.join();
  assert(ready.try_wait() && weft::latch::max() == WEFT_LATCH_MAX);
  weft::semaphore few(1, 2);
  assert(few.max() == 2 && weft::barrier::max() == WEFT_BARRIER_MAX);
  few.release();
  assert(error_of([&] { few.release(); }) != 0 && few.available() == 2);
  const auto soon = std::chrono::steady_clock::now() + 1ms;
  assert(few.try_acquire_until(soon, 2) && !few.try_acquire_until(soon));
  few.release(2);
  assert(few.drain() == 2 && few.drain() == 0 && few.available() == 0);
  assert(error_of([] { weft::semaphore none(3, 2); }) == EINVAL);
}

struct odd {
  char text[7];
};
struct pixel {
  uint8_t red, green, blue;
};
class named {  // has no default constructor, and cannot be assigned
 public:
  explicit named(int16_t id) : id_(id) {}
  const int16_t id_;
};
struct alignas(16) vector4 {
  float of[4];
};

template <class T, class Make, class Same>
void elements(Make make, Same same) {
  using queue = weft::mpmc_queue<T>;
  alignas(16) static std::byte memory[queue::bytes(4)];
  queue q = queue::create(memory, sizeof memory, 4);
  for (int i = 0; i < 4; i++) assert(q.push(make(i)));
  assert(!q.try_push(make(4)) && q.size() == 4);
  const int32_t size = weft_mpmc_queue_element_size(q.native_handle());
  assert(size == int32_t{sizeof(T) <= 2 ? sizeof(T) : (sizeof(T) + 3) / 4 * 4});
  for (int i = 0; i < 4; i++) assert(same(*q.pop(), make(i)));
  assert(queue::attach(memory).native_handle() == q.native_handle());
  assert(!q.try_pop());
  const std::array<T, 2> items = {make(5), make(6)};
  assert(q.try_push_many(items) == 2);
  std::array<T, 2> back = {make(0), make(0)};
  if constexpr (std::is_copy_assignable_v<T>) {
    assert(q.try_pop_many(back) == 2);
  } else {
    assert(same(*q.try_pop(), items[0]) && same(*q.try_pop(), items[1]));
    return;
  }
  for (size_t i = 0; i < 2; i++) assert(same(back[i], items[i]));
}

void queues() {
  const auto same = [](auto a, auto b) { return a == b; };
  const auto bytes = [](const auto &a, const auto &b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  };
  elements<char>([](int i) { return static_cast<char>('a' + i); }, same);
  elements<bool>([](int i) { return i % 2 == 1; }, same);
  elements<int8_t>([](int i) { return static_cast<int8_t>(i - 2); }, same);
  elements<uint16_t>([](int i) { return static_cast<uint16_t>(i - 2); }, same);
  elements<double>([](int i) { return i / 2.0; }, same);
  elements<odd>(
      [](int i) {
        odd made{};
        made.text[6] = static_cast<char>(i);
        return made;
      },
      bytes);
  elements<pixel>([](int i) { return pixel{0, 255, uint8_t(i)}; }, bytes);
  elements<named>([](int i) { return named(static_cast<int16_t>(i)); }, bytes);
  elements<vector4>([](int i) { return vector4{{0, 1, 2, float(i)}}; }, bytes);
  // A place to write into is as good for a T of a few bytes.
  alignas(8) static std::byte memory[weft::spsc_queue<pixel>::bytes(2)];
  auto places = weft::spsc_queue<pixel>::create(memory, sizeof memory, 2);
  pixel *slot = places.reserve();
  *slot = {1, 2, 3};
  assert(places.commit(slot) && places.peek()->blue == 3);
  places.consume(places.peek());

  // Elements of 1 or 2 bytes lie side by side, but in a lock_free_queue.
  static_assert(weft::spsc_queue<char>::bytes(16) ==
                sizeof(weft_spsc_queue) + 16);
  weft::in_place<weft::spsc_queue<char>, 16> text;
  const std::string_view word = "a string";
  assert(text->try_push_many(word) == word.size());
  std::string read(16, ' ');
  assert(text->try_pop_many(read) == word.size());
  assert(read.substr(0, word.size()) == word && text->size() == 0);
  weft::in_place<weft::lock_free_queue<char>, 16> free;
  assert(weft_lock_free_queue_element_size(free->native_handle()) == 4);
  assert(free->try_push_many(word) == word.size() && *free->try_pop() == 'a');
  char *place = text->reserve();
  *place = 'z';
  assert(text->commit(place) && text->try_pop() == 'z');
  weft::in_place<weft::mpmc_queue<int16_t>, 4> numbers;
  int16_t *number = numbers->reserve();
  *number = -3;
  assert(numbers->commit(number) && *numbers->peek() == -3);
}

}  // namespace

// The first and the last of what there is.
void ends() {
  assert(full.available() == full.max() && full.try_acquire(full.max()));
  assert(error_of([] { weft::semaphore(WEFT_SEMAPHORE_MAX + 1); }) == EINVAL);
  const weft::latch &seen = open;
  seen.wait();
  assert(seen.wait_for(0ms) && !weft::latch(1).wait_for(1ms));
  std::thread other([] { two.arrive_and_wait(); });
  two.arrive_and_wait();
  other.join();
  using clock = std::chrono::steady_clock;
  using seconds = std::chrono::duration<double>;
  plain.lock();
  std::thread([] {
    assert(!plain.try_lock_until(clock::time_point::min()));
    assert(!plain.try_lock_for(std::chrono::hours::min()));
    assert(!plain.try_lock_for(seconds(-1e300)));
    assert(!plain.try_lock_for(seconds(std::nan(""))));
  }).join();
  plain.unlock();
  assert(plain.try_lock_until(clock::time_point::max())), plain.unlock();
  assert(plain.try_lock_for(seconds(1e300))), plain.unlock();
}

// Predicates that can only be moved.
void predicates() {
  std::unique_lock<weft::mutex> held(plain);
  const auto make = [] {
    return [of = std::make_unique<bool>(true)] { return *of; };
  };
  const auto now = std::chrono::steady_clock::now();
  changed.wait(held, make());
  assert(changed.wait_for(held, 1ms, make()));
  assert(changed.wait_until(held, now, make()));
  any.wait(held, make());
  assert(any.wait_for(held, 1ms, make()));
  assert(any.wait_until(held, now, make()));
#ifdef __cpp_lib_jthread
  const std::stop_source stop;
  assert(any.wait(held, stop.get_token(), make()));
  assert(any.wait_for(held, stop.get_token(), 1ms, make()));
  assert(any.wait_until(held, stop.get_token(), now, make()));
#endif
}

// A clock that takes three times as long as that of weft.h.
struct slow_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<slow_clock>;
  static constexpr bool is_steady = true;
  static time_point now() {
    return time_point(std::chrono::steady_clock::now().time_since_epoch() / 3);
  }
};

template <class Wait>
void is_late(Wait wait) {
  const auto end = slow_clock::now() + 3ms;
  assert(!wait(end));
  assert(slow_clock::now() >= end);
}

// No wait ends before the clock says so that it was given.
void clocks() {
  plain.lock(), shared.lock(), (void)nested.lock();
  std::thread([] {
    std::error_code ec;
    is_late([](auto end) { return plain.try_lock_until(end); });
    is_late([&](auto end) { return plain.try_lock_until(end, &ec); });
    assert(ec == std::errc::timed_out);
    is_late([](auto end) { return shared.try_lock_until(end); });
    is_late([](auto end) { return shared.try_lock_shared_until(end); });
    is_late([](auto end) { return nested.try_lock_until(end); });
  }).join();
  // Another error than that of the time ends a wait.
  std::error_code own;
  const auto far = slow_clock::now() + 1h;
  assert(!plain.try_lock_until(far, &own));
  assert(own == std::errc::resource_deadlock_would_occur);
  plain.unlock(), shared.unlock(), nested.unlock();
  weft::semaphore none(0);
  is_late([&](auto end) { return none.try_acquire_until(end); });
  std::unique_lock<weft::mutex> held(plain);
  const auto never = [] { return false; };
  is_late([&](auto end) {
    // It may return before, but not for the time.
    while (changed.wait_until(held, end) != std::cv_status::timeout) continue;
    return false;
  });
  is_late([&](auto end) { return changed.wait_until(held, end, never); });
  is_late([&](auto end) {
    while (any.wait_until(held, end) != std::cv_status::timeout) continue;
    return false;
  });
  is_late([&](auto end) { return any.wait_until(held, end, never); });
#ifdef __cpp_lib_jthread
  std::stop_source stop;
  is_late([&](auto end) {
    return any.wait_until(held, stop.get_token(), end, never);
  });
  stop.request_stop();
  assert(!any.wait_until(held, stop.get_token(), far, never));
#endif
}

// What std::call_once takes: members, what can only be moved, references.
void calls() {
  struct object {
    int sum;
    void add(std::unique_ptr<int> of, int &to) { sum += *of, to = sum; }
  } of = {3};
  weft::once first, second;
  int to = 0;
  for (int i = 0; i < 2; i++)
    weft::call_once(first, &object::add, of, std::make_unique<int>(4), to);
  assert(first.is_done() && of.sum == 7 && to == 7);
  weft::call_once(second, [&](int n) { to = n; }, 5);
  assert(to == 5 && second.is_done());
}

int main() {
  ends();
  predicates();
  clocks();
  calls();
  recursive();
  conditions();
  barriers();
  counts();
  queues();
  assert(!once.is_done());
  changed.notify_all();
  std::puts("done");
}

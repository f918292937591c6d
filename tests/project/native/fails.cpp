// What fails half way leaves nothing locked, counted or lost: functions that
// throw, memory that runs out, what is moved over another, and mistakes that an
// error code tells. It prints "done".
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>
#include <weft.hpp>

#include "check.hpp"

using namespace std::chrono_literals;

namespace {

// How many more allocations of this thread succeed; below 0, all.
thread_local int allocations = -1;

}  // namespace

[[gnu::noinline]] void *operator new(size_t size) {
  if (allocations == 0) throw std::bad_alloc();
  if (allocations > 0) allocations--;
  if (void *at = std::malloc(size == 0 ? 1 : size)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void *at, size_t) noexcept {
  std::free(at);
}

namespace {

alignas(8) unsigned char memory[1 << 14];
alignas(8) unsigned char more[1 << 14];

// What was done when `body` had memory at last. It may do so once.
template <class Body>
int when_memory_runs_out(Body body) {
  for (int room = 0;; room++) {
    allocations = room;
    try {
      body();
      allocations = -1;
      return room;
    } catch (const std::bad_alloc &) {
      allocations = -1;
    }
  }
}

void maps() {
  using map = weft::hash_map<std::string, std::string>;
  auto texts = map::create(memory, sizeof memory, {16, 1});
  const std::string value(100, 'x');
  assert(texts.set("a", value));
  const auto same = [](std::optional<std::string> old) { return old; };
  const int fails = when_memory_runs_out([&] { texts.update("a", same); });
  // Nobody holds the bucket: this thread may not wait for it.
  weft_agent_set_blocking(false);
  std::thread([&] {
    weft_agent_set_blocking(false);
    assert(texts.set("a", value + "y"));
  }).join();
  weft_agent_set_blocking(true);
  assert(fails > 1 && *texts.get("a") == value + "y");

  // An update that throws is no write: the entry expires when it would.
  weft::hash_map_config config{16, 1};
  config.evicts = true;
  config.ttl = 400;
  auto cache = weft::hash_map<int32_t, int32_t>::create(more, sizeof more,
                                                        config);
  assert(cache.set(1, 5));
  std::this_thread::sleep_for(250ms);
  const auto fail = [](std::optional<int32_t>) -> std::optional<int32_t> {
    throw std::system_error(EIO, std::generic_category());
  };
  assert(error_of([&] { cache.update(1, fail); }) == EIO);
  assert(error_of([&] { cache.update(2, fail); }) == EIO);
  std::this_thread::sleep_for(250ms);
  assert(!cache.get(1) && !cache.get(2));
}

void channels() {
  const weft_channel_config text = {WEFT_CHANNEL_TEXT, 4, 256, 0, 2};
  auto lines = weft::channel::create(memory, sizeof memory, text);
  const std::string line(200, 'x');
  assert(lines.send(line));
  std::optional<std::string> got;
  const auto receive = [&] { got = lines.try_receive(); };
  assert(when_memory_runs_out(receive) > 0 && got == line);
  assert(lines.send(line) && lines.try_receive() == line);

  // An end that takes the place of another ends that one.
  auto first = lines.sender(), second = lines.sender();
  assert(lines.senders() == 2);
  first = std::move(second);
  assert(lines.senders() == 1 && first && !second);
  auto &self = first;
  first = std::move(self);
  assert(lines.senders() == 1 && first);
  second = std::move(first);
  second.leave();
  assert(lines.closed());

  // A message of another size stays where it is.
  const weft_channel_config sized = {WEFT_CHANNEL_I32, 4, 0, 0, 0};
  auto numbers = weft::channel::create(more, sizeof more, sized);
  std::error_code ec;
  assert(numbers.send_as(int32_t{7}));
  assert(!numbers.receive_as<double>(&ec) && ec == std::errc::invalid_argument);
  assert(error_of([&] { (void)numbers.receive_as<double>(); }) == EINVAL);
  assert(numbers.receive_as<int32_t>(&ec) == 7 && !ec);
}

void seats() {
  auto news = weft::broadcast<int>::create(memory, sizeof memory, 4, 2);
  auto first = news.subscribe(), second = news.subscribe();
  assert(first && second && !news.subscribe());
  *first = std::move(*second);
  assert(news.subscribers() == 1 && news.try_push(1));
  auto &self = *first;
  *first = std::move(self);
  assert(first->size() == 1 && second->size() == 0 && second->dropped() == 0);
  std::error_code ec;
  assert(!second->try_pop(&ec) && ec == std::errc::invalid_argument);
  assert(error_of([&] { (void)second->pop(); }) == EINVAL);
  assert(first->try_pop(&ec) == 1 && !ec);
  // Another thread may have it, and end it.
  assert(news.try_push(2));
  std::thread([seat = std::move(*first)]() mutable {
    assert(seat.pop() == 2);
  }).join();
  assert(news.subscribers() == 0);
}

void completions() {
  int runs = 0;
  const auto complete = [&] {
    if (runs++ < 2) throw std::system_error(EIO, std::generic_category());
  };
  weft::phase_barrier meeting(2, complete);
  auto early = meeting.arrive();
  assert(error_of([&] { (void)meeting.arrive(); }) == EIO);
  assert(error_of([&] { meeting.arrive_and_drop(); }) == EIO);
  meeting.arrive_and_drop();
  meeting.wait(std::move(early));
  meeting.arrive_and_wait();
  assert(runs == 4);
}

void arrivals() {
  // Who leaves may let the others through.
  weft::barrier meeting(3);
  std::thread other([&] { assert(!meeting.arrive_and_wait()); });
  while (weft_barrier_arrived(meeting.native_handle()) == 0)
    std::this_thread::yield();
  assert(!meeting.leave() && meeting.leave());
  other.join();
  assert(!meeting.leave());
  assert(error_of([&] { meeting.leave(); }) == EINVAL);

  // Who may not wait has not arrived.
  weft::latch steps(2);
  weft_agent_set_blocking(false);
  assert(error_of([&] { steps.arrive_and_wait(); }) == EPERM);
  weft_agent_set_blocking(true);
  assert(error_of([&] { steps.arrive_and_wait(-1); }) == EINVAL);
  assert(weft_latch_count(steps.native_handle()) == 2);
  steps.arrive_and_wait(2), steps.arrive_and_wait(0);
  assert(error_of([&] { steps.arrive_and_wait(); }) == EINVAL);
}

// Whoever is let through frees the latch at once.
void freed() {
  for (int i = 0; i < 500; i++) {
    auto *steps = new weft::latch(1);
    std::thread other([steps] { steps->arrive_and_wait(); });
    steps->wait();
    delete steps;
    other.join();
  }
}

std::string number(std::string_view) { throw 42; }

void calls() {
  auto ring = weft::call_ring::create(memory, sizeof memory, 4, 64, 256);
  std::thread server([&] {
    const auto fail = [](std::string_view) -> std::string { throw 42; };
    assert(ring.serve(fail) == 1);
  });
  std::error_code ec;
  assert(ring.call("", &ec) == "C++ threw no std::exception");
  assert(ec == std::errc::io_error);
  ring.close(), server.join();

  ring = weft::call_ring::create(memory, sizeof memory, 4, 64, 256);
  server = std::thread([&] {
    weft::call_server all;
    assert(all.method<number>("number").serve(ring) == 1);
  });
  const auto error = weft::call_method(ring, "number", "[]", &ec);
  assert(error->find("C++ threw no std::exception") != std::string::npos);
  assert(!weft::call_method(ring, "number", "[]", &ec, 1s, -1));
  assert(ec == std::errc::invalid_argument);
  ring.close(), server.join();
}

void slabs() {
  auto pool = weft::slab_pool::create(memory, sizeof memory, 4, 64);
  auto other = weft::slab_pool::create(more, sizeof more, 4, 64);
  weft::slab_pool::cache own(pool);
  assert(error_of([&] { (void)other.allocate(own); }) == EINVAL);
  void *block = other.allocate();
  assert(error_of([&] { other.free(block, own); }) == EINVAL);
  other.free(block);
  assert(pool.available() == 4 && other.available() == 4);
}

}  // namespace

int main() {
  maps();
  channels();
  seats();
  completions();
  arrivals();
  freed();
  calls();
  slabs();
  std::puts("done");
}

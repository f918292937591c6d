// The classes of weft_data.hpp and weft_calls.hpp. It prints "done".
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include <weft.hpp>

#include "check.hpp"

using namespace std::chrono_literals;

namespace {

struct pose {
  double x, y;
  char name[3];
};

void snapshots() {
  using one = weft::snapshot<pose>;
  alignas(8) static unsigned char memory[one::bytes()];
  one latest = one::create(memory, sizeof memory);
  int32_t version = -1;
  assert(latest.read(&version).x == 0 && version == 0);
  latest.write({1, 2, {'a', 'b', 'c'}});
  const pose now = one::attach(memory).read(&version);
  assert(now.y == 2 && now.name[2] == 'c' && version == 1);
  assert(latest.version() == 1);
  assert(error_of([] { weft::snapshot<char>::attach(memory); }) == EINVAL);
  assert(error_of([] { one::create(memory, 4); }) == EINVAL);
  std::thread([&] { assert(error_of([&] { latest.write({}); }) == EPERM); })
      .join();
  assert(latest.abandon(weft_agent_id()) == 1);
  std::thread([&] { latest.write({5, 6, {}}); }).join();
  assert(latest.read().x == 5);
}

weft::broadcast<int64_t> news_of_three() {
  using one = weft::broadcast<int64_t>;
  alignas(8) static unsigned char memory[one::bytes(4, 3)];
  static one news = one::create(memory, sizeof memory, 4, 3);
  return news;
}

void broadcasts() {
  using one = weft::broadcast<int64_t>;
  alignas(8) static unsigned char memory[one::bytes(4, 3)];
  one news = one::create(memory, sizeof memory, 4, 3);
  std::atomic<int> ready = 0;
  std::atomic<int64_t> sum = 0;
  std::thread producer([&] {
    while (ready < 3) std::this_thread::yield();
    for (int64_t i = 1; i <= 1000; i++) assert(news.push(i));
    news.close();
    std::error_code closed;
    assert(!news.try_push(1, &closed) && closed == std::errc::broken_pipe);
  });
  on_threads(3, [&](int) {
    auto seat = one::attach(memory).subscribe();
    ready++;
    while (std::optional<int64_t> next = seat->pop()) sum += *next;
  });
  producer.join();
  assert(sum == 3 * 500500 && news.subscribers() == 0 && news.closed());
  assert(error_of([&] { (void)news.try_push(1); }) == EPERM);
  std::error_code ec;
  alignas(8) static unsigned char late[one::bytes(2, 1)];
  one drops = one::create(late, sizeof late, 2, 1, true);
  auto seat = drops.subscribe();
  assert(seat && !drops.subscribe() && !seat->try_pop(&ec));
  assert(ec == std::errc::device_or_resource_busy);
  for (int64_t i = 0; i < 5; i++) assert(drops.try_push(i));
  assert(*seat->try_pop() == 3 && seat->dropped() == 3 && seat->size() == 1);
  seat->leave();
  assert(drops.subscribers() == 0);
  assert(error_of([&] { (void)seat->try_pop(); }) == EINVAL);
  assert(!drops.subscribe()->try_pop_for(1ms, &ec));
  assert(ec == std::errc::timed_out);
  // Seats are moved, and each is given up once.
  std::vector<one::subscriber> seats;
  for (int i = 0; i < 3; i++) seats.push_back(*news_of_three().subscribe());
  assert(news_of_three().subscribers() == 3);
  seats.erase(seats.begin());
  seat = news_of_three().subscribe();
  assert(news_of_three().subscribers() == 3);
  seats.clear(), seat.reset();
  assert(news_of_three().subscribers() == 0);
}

void work() {
  alignas(8) static unsigned char memory[weft::work_deque::bytes(4)];
  auto deque = weft::work_deque::create(memory, sizeof memory, 4);
  for (int i = 0; i < 4; i++) assert(deque.push(i));
  assert(!deque.push(4) && deque.size() == 4 && deque.capacity() == 4);
  std::thread([&] { assert(*weft::work_deque::attach(memory).steal() == 0); })
      .join();
  assert(*deque.pop() == 3 && *deque.pop() == 2 && *deque.pop() == 1);
  assert(!deque.pop() && !deque.steal());
  std::thread([&] {
    assert(error_of([&] { deque.adopt(); }) == EPERM);
    assert(deque.abandon(weft_agent_id()) == 0);
  }).join();
  assert(deque.abandon(weft_agent_id()) == 1);
  std::thread([&] { deque.adopt(), assert(deque.push(7)); }).join();
  assert(*deque.steal() == 7);

  static weft::work_counter tasks(1000, 7);
  static std::array<std::atomic<int>, 1000> times;
  std::atomic<int32_t> all = 0;
  on_threads(3, [&](int) {
    all += tasks.run([](int32_t i) { times[static_cast<size_t>(i)]++; });
    tasks.wait();
    for (const auto &n : times) assert(n == 1);
  });
  assert(all == 1000 && tasks.completed() == 1000 && !tasks.cancelled());
  assert(tasks.remaining() == 0 && tasks.wait_for(0s));
  weft::work_counter stopped(4);
  assert(error_of([&] {
           (void)stopped.run([&](int32_t i) {
             if (i == 1) throw std::system_error(EIO, std::generic_category());
           });
         }) == EIO);
  stopped.cancel();
  stopped.wait();
  assert(stopped.completed() == 2 && stopped.cancelled());
  assert(error_of([] { weft::work_counter none(-1); }) == EINVAL);
}

void counters() {
  alignas(8) static unsigned char memory[weft::striped_counter::bytes(4)];
  auto sum = weft::striped_counter::create(memory, sizeof memory, 4);
  on_threads(3, [&](int i) {
    auto own = weft::striped_counter::attach(memory).claim();
    for (int n = 0; n < 1000; n++) own.add(i), sum.add(2);
  });
  assert(sum.sum() == 3000 + 6000 && sum.stripes() == 4);
}

void slabs() {
  alignas(8) static unsigned char memory[weft::slab_pool::bytes(8, 64)];
  auto pool = weft::slab_pool::create(memory, sizeof memory, 8, 64);
  {
    weft::slab_pool::cache own(pool, 4);
    void *block = pool.allocate(own);
    assert(block != nullptr && pool.block_size() == 64);
    pool.free(block, own);
    assert(pool.available() < 8);
    assert(error_of([&] { pool.free(block); }) == EINVAL);
  }
  assert(pool.available() == 8 && pool.capacity() == 8);
  std::vector<void *> blocks;
  while (void *block = pool.allocate()) blocks.push_back(block);
  assert(blocks.size() == 8);
  for (void *block : blocks) pool.free(block);
  assert(error_of([&] { weft::slab_pool::cache all(pool, 99); }) == EINVAL);
}

void channels() {
  const weft_channel_config text = {WEFT_CHANNEL_TEXT, 8, 32, 0, 0};
  std::vector<uint64_t> memory(weft::channel::bytes(text) / 8 + 1);
  auto lines = weft::channel::create(memory.data(), memory.size() * 8, text);
  std::thread sender([&] {
    auto there = weft::channel::attach(memory.data());
    for (int i = 0; i < 100; i++) assert(there.send(std::to_string(i)));
    assert(there.send("") && there.try_send_for("end", 1h));
    there.close();
  });
  for (int i = 0; i < 100; i++) assert(*lines.receive() == std::to_string(i));
  assert(lines.try_receive_for(1h)->empty() && *lines.receive() == "end");
  sender.join();
  std::error_code ec;
  assert(!lines.receive(&ec) && ec == std::errc::broken_pipe);
  assert(!lines.try_send("more", &ec) && ec == std::errc::broken_pipe);
  assert(lines.closed() && lines.codec() == WEFT_CHANNEL_TEXT);

  const weft_channel_config sized = {WEFT_CHANNEL_F64, 4, 0, 0, 0};
  std::vector<uint64_t> other(weft::channel::bytes(sized) / 8 + 1);
  auto numbers = weft::channel::create(other.data(), other.size() * 8, sized);
  assert(!numbers.try_receive(&ec));
  assert(ec == std::errc::device_or_resource_busy);
  assert(!numbers.try_receive_for(1ms, &ec) && ec == std::errc::timed_out);
  assert(numbers.send_as(2.5) && *numbers.receive_as<double>() == 2.5);
  assert(numbers.send_as(1.0) && numbers.receive()->size() == 8);
  assert(error_of([&] { (void)numbers.send("abc"); }) == EINVAL);
  assert(error_of([&] { (void)numbers.sender(); }) == EINVAL);
  assert(!numbers.receiver(&ec) && ec == std::errc::invalid_argument);
  try {
    (void)numbers.sender();
    assert(false);
  } catch (const std::system_error &error) {
    assert(std::strstr(error.what(), "without tracked") != nullptr);
  }
}

void ends() {
  const weft_channel_config config = {WEFT_CHANNEL_I32, 4, 0, 0, 2};
  std::vector<uint64_t> memory(weft::channel::bytes(config) / 8 + 1);
  auto made = weft::channel::create(memory.data(), memory.size() * 8, config);
  assert(made.tracked() == 2 && made.senders() == 0);
  weft::channel::end own = made.sender();
  std::thread other([&] {
    auto there = weft::channel::attach(memory.data());
    const auto end = there.sender();
    for (int32_t i = 0; i < 100; i++) assert(there.send_as(i));
  });
  for (int32_t i = 0; i < 100; i++) assert(*made.receive_as<int32_t>() == i);
  other.join();
  assert(made.senders() == 1 && !made.closed());
  auto moved = std::move(own);
  assert(moved && !own);
  moved.leave();
  moved.leave();
  assert(made.closed() && !made.receive_as<int32_t>());
  std::error_code ec;
  assert(!made.sender(&ec) && ec == std::errc::broken_pipe);
  {
    const auto end = made.receiver();
    assert(end && made.receivers() == 1);
  }
  assert(made.receivers() == 0);
}

std::string echo(std::string_view args) { return std::string(args); }
std::string nothing(std::string_view) { return ""; }
std::string many(std::string_view) { return std::string(300, '1'); }
std::string wrong(std::string_view) { throw std::runtime_error("no such day"); }

void calls() {
  alignas(8) static unsigned char memory[weft::call_ring::bytes(4, 64, 64)];
  auto ring = weft::call_ring::create(memory, sizeof memory, 4, 64, 64);
  std::thread server([&] {
    auto there = weft::call_ring::attach(memory);
    const int32_t n = there.serve([](std::string_view request) {
      if (request == "throw") throw std::runtime_error("thrown");
      return std::string(request) + "!";
    });
    assert(n == 3);
  });
  assert(*ring.call("hello") == "hello!" && *ring.call("") == "!");
  std::error_code ec;
  assert(*ring.call("throw", &ec) == "thrown" && ec == std::errc::io_error);
  assert(!ring.try_call_for(std::string(65, ' '), 1s, &ec));
  ring.close();
  server.join();
  assert(!ring.call("late", &ec) && ec == std::errc::broken_pipe);
}

void methods() {
  alignas(8) static unsigned char memory[weft::call_ring::bytes(4, 64, 128)];
  auto ring = weft::call_ring::create(memory, sizeof memory, 4, 64, 128);
  std::thread server([&] {
    weft::call_server all(2, 1024);
    all.method<echo>("echo").method<nothing>("nothing");
    all.method<many>("many").method<wrong>("wrong");
    (void)all.serve(ring);
  });
  assert(*weft::call_method(ring, "echo", "[1,2]") == "[1,2]");
  assert(weft::call_method(ring, "nothing", "[]")->empty());
  assert(weft::call_method(ring, "many", "[]")->size() == 300);
  const std::string args = "[\"" + std::string(200, 'x') + "\"]";
  assert(*weft::call_method(ring, "echo", args) == args);
  std::error_code ec;
  const auto error = weft::call_method(ring, "wrong", "[]", &ec);
  assert(ec == std::errc::io_error);
  assert(error->find("no such day") != std::string::npos);
  assert(error_of([&] { weft::call_method(ring, "other", "[]"); }) == EIO);
  ring.close();
  server.join();
  assert(!weft::call_method(ring, "echo", "[]", &ec));
  assert(error_of([] { weft::serve_pool<echo>(nullptr); }) == EINVAL);
}

}  // namespace

int main() {
  snapshots();
  broadcasts();
  work();
  counters();
  slabs();
  channels();
  ends();
  calls();
  methods();
  std::puts("done");
}

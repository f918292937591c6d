// weft::select and weft::wait_any: each kind of element, closed queues, errors
// and threads. It prints "done".
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>
#include <weft.hpp>

#include "check.hpp"

namespace {

using std::chrono::milliseconds;

struct pixel { // not whole words
  unsigned char red, green, blue;
};

struct alignas(16) wide {
  int64_t a, b;
};

// A new channel, in memory that is as large as it needs.
weft::channel channel_in(std::vector<uint64_t> &memory,
                         const weft_channel_config &config) {
  memory.resize(weft::channel::bytes(config) / 8 + 1);
  return weft::channel::create(memory.data(), memory.size() * 8, config);
}

template <class T>
struct queues {
  weft::in_place<weft::spsc_queue<T>, 2> s;
  weft::in_place<weft::mpmc_queue<T>, 2> m;
  weft::in_place<weft::lock_free_queue<T>, 2> f;
};

// Each kind of arm, when it can be done and when it cannot.
template <class T, class Make, class Same>
void arms(Make make, Same same) {
  queues<T> all;
  weft::spsc_queue<T> s = *all.s;
  weft::mpmc_queue<T> m = *all.m;
  std::optional<T> a, b;
  assert(!weft::select_for(milliseconds(0), weft::popping(s, a),
                           weft::popping(m, b)));
  assert(!weft::select_first_for(milliseconds(1), weft::popping(s, a),
                                 weft::popping(m, b)));
  assert(!weft::wait_any_for(milliseconds(1), s, m));
  for (int i = 0; i < 4; i++) { // the first in the list, until it is full
    const weft::selected got = weft::select_first(
        weft::pushing(s, make(i)), weft::pushing(m, make(i)));
    assert(got.index == i / 2 && !got.closed);
  }
  assert(weft::wait_any(m, s) == 0);
  for (int i = 0; i < 4; i++) {
    const weft::selected got =
        weft::select_first(weft::popping(s, a), weft::popping(m, b));
    assert(got.index == i / 2 && !got.closed);
    assert(a.has_value() == (i < 2) && b.has_value() == (i >= 2));
    assert(same(i < 2 ? *a : *b, i));
  }
  assert(m.push(make(7)));
  assert(weft::select(weft::popping(s, a), weft::popping(m, b)).index == 1);
  assert(!a && same(*b, 7));
  weft::lock_free_queue<T> f = *all.f;
  assert(!weft::select_for(milliseconds(1), weft::popping(f, a)));
  assert(weft::select(weft::pushing(f, make(6))).index == 0);
  assert(weft::wait_any(s, f) == 1);
  assert(weft::select(weft::popping(s, b), weft::popping(f, a)).index == 1);
  assert(same(*a, 6) && !b);
  // An arm that is not wanted is left out, and the others keep their places.
  assert(s.push(make(8)) && m.push(make(9)));
  auto got = weft::select_first(weft::popping(s, a, false),
                                weft::pushing(s, make(1), false),
                                weft::popping(m, b));
  assert(got.index == 2 && same(*b, 9) && !a && s.size() == 1);
  m.close();
  got = weft::select_first(weft::popping(m, b), weft::popping(s, a));
  assert(got.index == 0 && got.closed && !a && !b && s.size() == 1);
  got = weft::select_first(weft::pushing(m, make(1)), weft::popping(s, a));
  assert(got.index == 0 && got.closed && !a);
  assert(weft::wait_any(m, s) == 0);
  assert(weft::select_first(weft::popping(m, b, false), weft::popping(s, a))
             .index == 1);
  assert(same(*a, 8));
  const auto none = [&] { (void)weft::select(weft::popping(m, b, false)); };
  assert(error_of(none) == EINVAL);
}

// What can only be moved stays where it was unless its arm is done.
void moves() {
  using pointer = std::unique_ptr<int>;
  queues<pointer> all;
  pointer one = std::make_unique<int>(1), two = std::make_unique<int>(2);
  assert(weft::select_first(weft::pushing(*all.s, std::move(one)),
                            weft::pushing(*all.m, std::move(two)))
             .index == 0);
  assert(one == nullptr && *two == 2);
  assert(all.s->push(std::make_unique<int>(3)));
  assert(!weft::select_for(milliseconds(1),
                           weft::pushing(*all.s, std::move(two))));
  assert(*two == 2);
  all.m->close();
  assert(weft::select(weft::pushing(*all.m, std::move(two))).closed);
  assert(*two == 2);
  pointer &three = two; // a role that another thread has
  std::thread([&] { assert(*all.s->pop().value() == 1); }).join();
  std::optional<pointer> next;
  const auto pop = [&] { (void)weft::select(weft::popping(*all.s, next)); };
  assert(error_of(pop) == EPERM && !next);
  std::thread([&] {
    const auto push = [&] {
      (void)weft::select(weft::pushing(*all.s, std::move(three)));
    };
    assert(error_of(push) == EPERM && *three == 2);
  }).join();
}

// Channels of numbers and records, beside a queue.
void channels() {
  const weft_channel_config reals = {WEFT_CHANNEL_F64, 1, 0, 0, 0};
  const weft_channel_config records = {WEFT_CHANNEL_RECORD, 1, 3, 0, 0};
  const weft_channel_config texts = {WEFT_CHANNEL_TEXT, 1, 32, 0, 0};
  std::vector<uint64_t> at_x, at_y, at_z;
  auto x = channel_in(at_x, reals);
  auto y = channel_in(at_y, records);
  auto z = channel_in(at_z, texts);
  weft::in_place<weft::mpmc_queue<int>, 1> q;
  std::optional<double> real;
  std::optional<pixel> record;
  std::optional<int> number;
  const auto take = [&] {
    return weft::select_first(weft::receiving(x, real),
                              weft::receiving(y, record),
                              weft::popping(*q, number));
  };
  for (int i = 0; i < 3; i++) {
    const weft::selected got =
        weft::select_first(weft::sending(x, 1.5),
                           weft::sending(y, pixel{1, 2, 3}),
                           weft::pushing(*q, 7));
    assert(got.index == i && !got.closed);
  }
  assert(take().index == 0 && *real == 1.5);
  assert(take().index == 1 && record->blue == 3 && !real);
  assert(take().index == 2 && *number == 7 && !record);
  assert(y.send_as(pixel{4, 5, 6}) && take().index == 1 && record->red == 4);
  assert(y.send_as(pixel{7, 8, 9}) && y.receive_as<pixel>()->blue == 9);
  x.close();
  const weft::selected got = take();
  assert(got.index == 0 && got.closed);
  const auto other = [&] { (void)weft::select(weft::receiving(y, real)); };
  const auto text = [&] { (void)weft::select(weft::sending(z, 1.5)); };
  assert(error_of(other) == EINVAL && error_of(text) == EINVAL);
}

// Channels of capacity 0: an arm meets an agent that waits at the other end.
void rendezvous() {
  const weft_channel_config reals = {WEFT_CHANNEL_F64, 0, 0, 0, 0};
  const weft_channel_config records = {WEFT_CHANNEL_RECORD, 0, 3, 0, 0};
  const weft_channel_config texts = {WEFT_CHANNEL_TEXT, 0, 32, 0, 0};
  std::vector<uint64_t> at_x, at_y, at_z;
  auto x = channel_in(at_x, reals);
  auto y = channel_in(at_y, records);
  auto z = channel_in(at_z, texts);
  weft::in_place<weft::mpmc_queue<int>, 1> q;
  std::optional<double> real;
  std::optional<pixel> record;
  std::optional<int> number;

  // Nobody waits at the other end.
  assert(!weft::select_for(milliseconds(0), weft::sending(x, 1.5),
                           weft::sending(y, pixel{1, 2, 3})));
  assert(!weft::select_first_for(milliseconds(1), weft::receiving(x, real),
                                 weft::receiving(y, record),
                                 weft::popping(*q, number)));
  assert(!real && !record && !number);
  assert(!weft::wait_any_for(milliseconds(1), x, y, *q));
  assert(q->push(7) && weft::wait_any(x, y, *q) == 2);
  assert(weft::select(weft::receiving(x, real), weft::popping(*q, number))
             .index == 1);
  assert(*number == 7 && !real);

  const auto itself = [&] {
    (void)weft::select(weft::sending(x, 1.5), weft::receiving(x, real));
  };
  const auto other = [&] { (void)weft::select(weft::receiving(y, real)); };
  const auto text = [&] { (void)weft::select(weft::sending(z, 1.5)); };
  assert(error_of(itself) == EINVAL && error_of(other) == EINVAL);
  assert(error_of(text) == EINVAL);

  // A sender that waits is found by wait_any, and then by select.
  std::thread sender([&] { assert(y.send_as(pixel{4, 5, 6})); });
  assert(weft::wait_any(x, y, *q) == 1);
  auto got = weft::select(weft::receiving(x, real), weft::receiving(y, record));
  assert(got.index == 1 && !got.closed && record->green == 5 && !real);
  sender.join();

  // A receiver that waits is found by an arm that sends, and two selects meet.
  std::thread receiver([&] {
    assert(x.receive_as<double>() == 2.5);
    std::optional<double> next;
    std::optional<pixel> pixels;
    const auto at = weft::select(weft::receiving(x, next),
                                 weft::receiving(y, pixels));
    assert(at.index == 1 && pixels->blue == 9 && !next);
  });
  got = weft::select(weft::sending(x, 2.5), weft::sending(y, pixel{7, 8, 9}));
  assert(got.index == 0 && !got.closed);
  got = weft::select(weft::sending(x, 3.5, false),
                     weft::sending(y, pixel{7, 8, 9}));
  assert(got.index == 1 && !got.closed);
  receiver.join();

  // What is closed can be done at once, and does nothing.
  x.close();
  assert(weft::wait_any(y, x) == 1);
  got = weft::select_first(weft::receiving(y, record),
                           weft::receiving(x, real));
  assert(got.index == 1 && got.closed && !record && !real);
  got = weft::select_first(weft::sending(x, 1.5), weft::receiving(y, record));
  assert(got.index == 0 && got.closed && !record);
}

// Threads hand numbers to others, at two channels of capacity 0.
void handed_over() {
  constexpr int64_t n = 1000;
  const weft_channel_config reals = {WEFT_CHANNEL_F64, 0, 0, 0, 0};
  std::vector<uint64_t> at_x, at_y;
  auto x = channel_in(at_x, reals), y = channel_in(at_y, reals);
  weft::wait_group feeders;
  std::array<double, 2> sums = {0, 0};
  const auto feed = [&](int64_t from) {
    for (int64_t i = from; i <= n; i += 2) {
      const double value = static_cast<double>(i);
      if (i % 3 == 0) assert((i % 2 == 0 ? x : y).send_as(value));
      else assert(!weft::select(weft::sending(x, value),
                                weft::sending(y, value))
                       .closed);
    }
    feeders.done();
  };
  const auto take = [&](double &sum) {
    std::optional<double> a, b;
    for (bool open_x = true, open_y = true; open_x || open_y;) {
      const weft::selected got = weft::select(weft::receiving(x, a, open_x),
                                              weft::receiving(y, b, open_y));
      if (got.closed) (got.index == 0 ? open_x : open_y) = false;
      else sum += got.index == 0 ? *a : *b;
    }
  };
  feeders.add(2);
  std::thread one(feed, 1), two(feed, 2);
  std::thread three(take, std::ref(sums[0])), four(take, std::ref(sums[1]));
  feeders.wait();
  // An arm that finds the end leaves what was handed to another one.
  const auto phase = [](weft::channel it) {
    return weft__load(&it.native_handle()->handoff) & 3;
  };
  while ((phase(x) | phase(y)) != 0) std::this_thread::yield();
  x.close();
  y.close();
  for (std::thread *thread : {&one, &two, &three, &four}) thread->join();
  assert(sums[0] + sums[1] == static_cast<double>(n * (n + 1) / 2));
}

// Threads add to two queues, and others take from both until both are closed.
void threads() {
  constexpr int64_t n = 3000;
  weft::in_place<weft::mpmc_queue<int64_t>, 4> a, b;
  weft::wait_group feeders;
  std::array<int64_t, 2> sums = {0, 0};
  const auto feed = [&](int64_t from) {
    for (int64_t i = from; i <= n; i += 2)
      assert(!weft::select(weft::pushing(*a, i), weft::pushing(*b, i)).closed);
    feeders.done();
  };
  const auto take = [&](int64_t &sum) {
    std::optional<int64_t> x, y;
    for (bool open_a = true, open_b = true; open_a || open_b;) {
      const weft::selected got = weft::select(weft::popping(*a, x, open_a),
                                              weft::popping(*b, y, open_b));
      if (got.closed) (got.index == 0 ? open_a : open_b) = false;
      else sum += got.index == 0 ? *x : *y;
    }
  };
  feeders.add(2);
  std::thread one(feed, 1), two(feed, 2);
  std::thread three(take, std::ref(sums[0])), four(take, std::ref(sums[1]));
  feeders.wait();
  a->close();
  b->close();
  for (std::thread *thread : {&one, &two, &three, &four}) thread->join();
  assert(sums[0] + sums[1] == n * (n + 1) / 2);
}

}  // namespace

int main() {
  arms<int32_t>([](int i) { return i; },
                [](int32_t x, int i) { return x == i; });
  arms<char>([](int i) { return static_cast<char>(i); },
             [](char x, int i) { return x == i; });
  arms<pixel>(
      [](int i) { return pixel{1, static_cast<unsigned char>(i), 2}; },
      [](pixel x, int i) { return x.red == 1 && x.green == i && x.blue == 2; });
  arms<wide>([](int i) { return wide{i, -i}; },
             [](wide x, int i) { return x.a == i && x.b == -i; });
  arms<std::unique_ptr<int>>(
      [](int i) { return std::make_unique<int>(i); },
      [](const std::unique_ptr<int> &x, int i) { return *x == i; });
  moves();
  channels();
  rendezvous();
  handed_over();
  threads();
  std::puts("done");
}

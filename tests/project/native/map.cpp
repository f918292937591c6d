// Uses all of weft::hash_map from threads. It prints "done".
#undef NDEBUG
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <weft.hpp>

namespace {

struct point {
  double x, y;
};

alignas(8) char memory[1 << 16];

void texts() {
  using map = weft::hash_map<std::string, std::string>;
  const weft::hash_map_config config{3, 7, 9, 5};
  assert(map::bytes(config) > 0 && map::bytes({0, 7}) == 0);
  assert(map::bytes({99, 7, 9, 5, true, 1}) > map::bytes({99, 7, 9, 5, true}));
  assert(map::bytes({3, 7, 9, 5, false, 1}) == 0); // no cache
  map m = map::create(memory, sizeof memory, config);
  assert(m.capacity() == 3 && m.size() == 0 && !m.get("a"));
  assert(m.set("a", "one") && m.insert("", "") && !m.insert("a", "two"));
  assert(m.get("a") == "one" && m.get("") == "" && m.contains(""));
  assert(m.set("ninebytes", "three") && !m.set("b", "four"));
  assert(!m.get_or_insert("b", "four") && m.get_or_insert("a", "x") == "one");
  map other = map::attach(memory);
  assert(other.take("a") == "one" && !other.take("a") && !m.contains("a"));
  assert(m.erase("") && !m.erase("") && m.size() == 1);
  try {
    (void)m.set("ten bytes!", "x");
    assert(false);
  } catch (const std::system_error &error) {
    assert(error.code().value() == EINVAL);
  }
  using option = std::optional<std::string>;
  assert(m.update("c", [](option old) { return old ? old : "new"; }));
  assert(m.update("c", [](option old) { return old.value() + "er"; }));
  assert(m.get("c") == "newer");
  for (int i = 0; i < 2; i++) {
    try {
      (void)m.update(i ? "c" : "d", [](option old) -> option {
        throw std::runtime_error(old.value_or("none"));
      });
      assert(false);
    } catch (const std::runtime_error &error) {
      assert(std::string(error.what()) == (i ? "newer" : "none"));
    }
  }
  assert(m.get("c") == "newer" && !m.get("d"));
  std::map<std::string, std::string> seen;
  m.for_each([&](const std::string &key, const std::string &value) {
    assert(seen.emplace(key, value).second);
  });
  assert(seen.size() == 2 && seen["ninebytes"] == "three");
  assert(m.update("c", [](option) { return option(); }) && !m.contains("c"));
  m.clear();
  assert(m.size() == 0 && m.abandon(9) == 0);
  try {
    (void)weft::hash_map<std::string, int32_t>::attach(memory);
    assert(false);
  } catch (const std::system_error &) {
  }
}

void heaps() {
  using map = weft::hash_map<std::string, std::string>;
  weft::hash_map_config config{4, 7, 9, 100};
  config.heap = {16 * 32, 32, 8};
  assert(map::bytes(config) > map::bytes({4, 7, 9, 8}) + 16 * 32);
  map m = map::create(memory, sizeof memory, config);
  const std::string longest(100, 'x');
  assert(m.set("a", longest) && m.set("b", "short") && m.set("c", longest));
  assert(m.set("d", longest) && m.get("a") == longest);
  assert(!m.set("a", longest)); /* only one block is free */
  assert(m.erase("c") && m.set("a", "a" + longest.substr(1)));
  assert(map::attach(memory).take("a") == "a" + longest.substr(1));
  assert(m.update("d", [](auto old) { return old.value().substr(9); }));
  assert(m.get("d") == longest.substr(9) && m.get("b") == "short");
  try {
    (void)m.set("c", longest + "x");
    assert(false);
  } catch (const std::system_error &error) {
    assert(error.code().value() == EINVAL);
  }
  config.key_size = 100;
  config.heap.key_in_entry = 9;
  map both = map::create(memory, sizeof memory, config);
  assert(both.set(longest, longest) && both.get(longest) == longest);
  assert(both.set("a", "b") && !both.set(longest.substr(1), longest));
  assert(both.size() == 2 && map::attach(memory).erase(longest));
  config.value_size = 8;
  using counts = weft::hash_map<std::string, int32_t>;
  counts c = counts::create(memory, sizeof memory, config);
  assert(c.add(longest, 2) == 0 && c.add(longest, 3) == 2);
  assert(map::bytes(config) > 16 * 32);
  c.for_each([&](const std::string &key, int32_t value) {
    assert(key == longest && value == 5);
  });
  config = {4, 7, 9, 100};
  config.heap = {16 * 32, 10, 8};
  assert(map::bytes(config) == 0);
  config.heap = {16 * 32, 32, 8};
  assert((weft::hash_map<std::string, int32_t>::bytes(config)) == 0);
}

void structs() {
  using map = weft::hash_map<int64_t, point>;
  map m = map::create(memory, sizeof memory, {10, 7});
  assert(m.set(-5, {1.5, -2}) && m.get(-5)->y == -2 && !m.get(5));
  using reals = weft::hash_map<double, double>;
  reals r = reals::create(memory, sizeof memory, {10, 7});
  assert(r.add(0.0, 1.5) == 0 && r.add(-0.0, 1) == 1.5 && r.size() == 1);
  assert(r.compare_exchange(0, 2.5, NAN) == 2.5 && std::isnan(*r.get(0)));
  assert(!r.compare_exchange(1, 2, 3) && r.set(NAN, 4) && r.get(NAN) == 4);
}

void counts() {
  using map = weft::hash_map<int32_t, int32_t>;
  map m = map::create(memory, sizeof memory, {64, 7});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([m]() mutable {
      for (int i = 0; i < 600; i++) {
        assert(m.add(i % 6, 1));
        if (i % 6 == 0)
          assert(m.update(6, [](auto old) { return old.value_or(0) + 1; }));
      }
    });
  for (std::thread &thread : threads) thread.join();
  for (int i = 0; i < 7; i++) assert(m.get(i) == 300);
  assert(m.compare_exchange(6, 300, 1) == 300 && m.add(6, 1) == 1);
  std::thread waiting([m] { assert(m.wait_for(9) == 5); });
  assert(m.set(9, 5) && !m.wait_for(10, 1000));
  assert(!m.wait_for(10, std::chrono::milliseconds(1)));
  waiting.join();
}

void times() {
  using map = weft::hash_map<int32_t, int32_t>;
  map m = map::create(memory, sizeof memory, {8, 7, 32, 128, true, 1 << 30});
  assert(m.set(1, 2) && m.set_for(2, 3, 1));
  while (m.contains(2)) std::this_thread::yield();
  assert(m.get(1) == 2);
  try {
    (void)m.set_for(2, 3, 0);
    assert(false);
  } catch (const std::system_error &error) {
    assert(error.code().value() == EINVAL);
  }
}

}  // namespace

int main() {
  texts();
  heaps();
  structs();
  counts();
  times();
  std::puts("done");
}

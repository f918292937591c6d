/*
 * One turn of a map that threads share, ours or another's, for native_bench.ts:
 * `maps QUESTION WHOSE` prints {"ns": time of an operation}. `maps` alone
 * prints all pairs. Rivals whose headers are missing are left out. A
 * std::unordered_map in 64 parts, each behind a lock, is always there.
 */
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "../../wasm/weft/hash_map.h"

#if __has_include(<libcuckoo/cuckoohash_map.hh>)
#include <libcuckoo/cuckoohash_map.hh>
#define CUCKOO
#endif
#if __has_include(<tbb/concurrent_hash_map.h>) && !defined(NO_TBB)
#include <tbb/concurrent_hash_map.h>
#define TBB
#endif

namespace {

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

void check(bool right) {
  if (right) return;
  std::fputs("a key was lost, or a call failed\n", stderr);
  std::exit(1);
}

/* Texts of 9 letters, and numbers, as they lie in our map. */
template <class T>
struct codec;
template <>
struct codec<std::string> {
  static constexpr int32_t id = WEFT_HASH_MAP_TEXT, size = 12;
  static const void *at(const std::string &text) { return text.data(); }
  static size_t length(const std::string &text) { return text.size(); }
  static std::string of(int n) { return "wor" + std::to_string(100000 + n); }
};
template <>
struct codec<int> {
  static constexpr int32_t id = WEFT_HASH_MAP_I32, size = 4;
  static const void *at(const int &number) { return &number; }
  static size_t length(int) { return sizeof(int); }
  static int of(int n) { return n; }
};

// ---- maps: `get` copies the value, `set` adds or overwrites one -------------

template <class T>
struct Weft {
  weft_hash_map *map;
  explicit Weft(int most) {
    const weft_hash_map_config config = {.capacity = most,
                                         .key_codec = codec<T>::id,
                                         .key_size = codec<T>::size,
                                         .value_codec = codec<T>::id,
                                         .value_size = codec<T>::size,
                                         .seed = 0x9e3779b97f4a7c15,
                                         .evicts = false,
                                         .ttl = 0};
    const size_t bytes = weft_hash_map_bytes(config);
    map = weft_hash_map_init(std::aligned_alloc(128, (bytes + 127) & ~127ul),
                             bytes, config);
    check(map != nullptr);
  }
  bool get(const std::string &key, std::string &value) {
    char bytes[codec<std::string>::size];
    size_t length = 0;
    if (weft_hash_map_get(map, key.data(), key.size(), bytes, sizeof bytes,
                          &length) != 0)
      return false;
    value.assign(bytes, length);
    return true;
  }
  bool get(int key, int &value) {
    size_t length = 0;
    return weft_hash_map_get(map, &key, 4, &value, 4, &length) == 0;
  }
  void set(const T &key, const T &value) {
    check(weft_hash_map_set(map, codec<T>::at(key), codec<T>::length(key),
                            codec<T>::at(value), codec<T>::length(value),
                            false) == 0);
  }
};

/* Parts of a map, each in lines of its own and behind its own lock. */
template <class T>
struct Parts {
  static constexpr size_t COUNT = 64;
  struct alignas(128) Part {
    std::shared_mutex lock;
    std::unordered_map<T, T> map;
  };
  std::vector<Part> parts{COUNT};
  explicit Parts(int most) {
    for (Part &part : parts)
      part.map.reserve(static_cast<size_t>(most) / COUNT * 2);
  }
  Part &of(const T &key) {
    const uint64_t mixed = std::hash<T>{}(key) * 0x9e3779b97f4a7c15u;
    return parts[mixed >> 58];
  }
  bool get(const T &key, T &value) {
    Part &part = of(key);
    std::shared_lock guard(part.lock);
    const auto at = part.map.find(key);
    if (at == part.map.end()) return false;
    value = at->second;
    return true;
  }
  void set(const T &key, const T &value) {
    Part &part = of(key);
    std::unique_lock guard(part.lock);
    part.map[key] = value;
  }
};

#ifdef CUCKOO
template <class T>
struct Cuckoo {
  libcuckoo::cuckoohash_map<T, T> map;
  explicit Cuckoo(int most) : map(static_cast<size_t>(most)) {}
  bool get(const T &key, T &value) { return map.find(key, value); }
  void set(const T &key, const T &value) { map.insert_or_assign(key, value); }
};
#endif

#ifdef TBB
template <class T>
struct Tbb {
  using Map = tbb::concurrent_hash_map<T, T>;
  Map map;
  explicit Tbb(int most) : map(static_cast<size_t>(most)) {}
  bool get(const T &key, T &value) {
    typename Map::const_accessor at;
    if (!map.find(at, key)) return false;
    value = at->second;
    return true;
  }
  void set(const T &key, const T &value) {
    typename Map::accessor at;
    map.insert(at, key);
    at->second = value;
  }
};
#endif

// ---- questions --------------------------------------------------------------

/* A `get`, in one thread, with 1024 keys. */
template <class M, class T>
double gets() {
  constexpr int KEYS = 1024, N = 4000000;
  static M map(2 * KEYS);
  std::vector<T> keys;
  for (int i = 0; i < KEYS; i++) keys.push_back(codec<T>::of(i));
  for (const T &key : keys) map.set(key, key);
  T value{};
  const double begin = now();
  for (int i = 0; i < N; i++)
    check(map.get(keys[static_cast<size_t>(i) & (KEYS - 1)], value));
  return (now() - begin) / N;
}

constexpr int MANY = 100000, PICKS = 1 << 16;

/* Numbers below MANY, all as likely, or by Zipf's law with 0.99. */
std::vector<int> picks(bool zipf, unsigned state) {
  std::vector<double> sums(MANY);
  double sum = 0;
  for (int i = 0; i < MANY; i++)
    sums[static_cast<size_t>(i)] = sum += zipf ? std::pow(i + 1, -0.99) : 1;
  std::vector<int> picked;
  for (int i = 0; i < PICKS; i++) {
    state = state * 1664525u + 1013904223u;
    const double point = static_cast<double>(state) / 4294967296.0 * sum;
    size_t low = 0, high = MANY - 1;
    while (low < high) {
      const size_t half = (low + high) / 2;
      if (sums[half] < point)
        low = half + 1;
      else
        high = half;
    }
    // Popular keys must not be neighbours.
    picked.push_back(static_cast<int>(low * 7919 % MANY));
  }
  return picked;
}

/* 95 % `get` and 5 % `set` of 100,000 texts, in some threads. */
template <class M, int THREADS, bool ZIPF>
double mixed() {
  constexpr int N = 1000000;
  static M map(MANY + MANY / 4);
  static std::vector<std::string> keys;
  static std::vector<int> orders[THREADS];
  static std::atomic<int> ready{0};
  for (int i = 0; i < MANY; i++) keys.push_back(codec<std::string>::of(i));
  for (const std::string &key : keys) map.set(key, key);
  for (int i = 0; i < THREADS; i++)
    orders[i] = picks(ZIPF, static_cast<unsigned>(i) + 1);
  const auto run = [](void *order) -> void * {
    const auto &picked = *static_cast<const std::vector<int> *>(order);
    std::string value;
    ready++;
    while (ready < THREADS) {
    }
    for (int i = 0; i < N; i++) {
      const int pick = picked[static_cast<size_t>(i) & (PICKS - 1)];
      const std::string &key = keys[static_cast<size_t>(pick)];
      if (i % 20 == 0)
        map.set(key, key);
      else
        check(map.get(key, value));
    }
    return nullptr;
  };
  pthread_t threads[THREADS];
  const double begin = now();
  for (int i = 0; i < THREADS; i++)
    check(pthread_create(&threads[i], nullptr, run, &orders[i]) == 0);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return (now() - begin) / (double{N} * THREADS);
}

#define ALL_OF(whose, Map)                                                   \
  {"HashMap, get of a text alone", whose, gets<Map<std::string>, std::string>}, \
      {"HashMap, get of a number alone", whose, gets<Map<int>, int>},        \
      {"HashMap, 95 % get, 2 threads, 100,000 texts, uniform", whose,        \
       mixed<Map<std::string>, 2, false>},                                   \
      {"HashMap, 95 % get, 2 threads, 100,000 texts, Zipf 0.99", whose,      \
       mixed<Map<std::string>, 2, true>},                                    \
      {"HashMap, 95 % get, 4 threads, 100,000 texts, uniform", whose,        \
       mixed<Map<std::string>, 4, false>},                                   \
      {"HashMap, 95 % get, 4 threads, 100,000 texts, Zipf 0.99", whose,      \
       mixed<Map<std::string>, 4, true>}

const struct {
  const char *question, *whose;
  double (*turn)();
} TURNS[] = {
    ALL_OF("weft", Weft),
    ALL_OF("std::unordered_map in 64 parts", Parts),
#ifdef CUCKOO
    ALL_OF("libcuckoo", Cuckoo),
#endif
#ifdef TBB
    ALL_OF("TBB", Tbb),
#endif
};

}  // namespace

int main(int count, char **words) {
  for (const auto &[question, whose, turn] : TURNS) {
    if (count < 3) {
      std::printf("%s\t%s\n", question, whose);
    } else if (std::strcmp(words[1], question) == 0 &&
               std::strcmp(words[2], whose) == 0) {
      std::printf("{\"ns\": %.4f}\n", turn());
      return 0;
    }
  }
  return count < 3 ? 0 : 2;
}

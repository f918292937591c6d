/*
 * weft_map.hpp - hash_map<K, V>: the map of weft.h with keys and values of C++.
 * weft.hpp includes it. docs/primitives/hash_map.md says what each operation
 * guarantees.
 */
#ifndef WEFT_MAP_HPP
#define WEFT_MAP_HPP

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "weft_data.hpp"

#ifndef WEFT_REALTIME

namespace weft {
namespace detail {

/* How a T lies in a map. JavaScript has codec.i32 for int32_t, codec.f64 for
   double, codec.text for std::string, and codec.record for a struct. */
template <class T>
struct in_map {
  static_assert(std::is_trivially_copyable_v<T>, "T is copied as bytes");
  static_assert(!std::is_same_v<T, std::string_view>,
                "text is a std::string; its functions take a std::string_view");
  using argument = const T &;
  static constexpr bool varies = false;
  static constexpr bool is_i32 = std::is_same_v<T, int32_t>;
  static constexpr bool is_f64 = std::is_same_v<T, double>;
  static constexpr bool has_gaps =
      !is_f64 && !std::has_unique_object_representations_v<T>;
  static constexpr int32_t codec = is_i32   ? WEFT_HASH_MAP_I32
                                   : is_f64 ? WEFT_HASH_MAP_F64
                                            : WEFT_HASH_MAP_RECORD;
  static constexpr int32_t size(int32_t) { return int32_t{sizeof(T)}; }
  static const void *data(argument value) { return &value; }
  static size_t length(argument) { return sizeof(T); }
  static T from(const void *bytes, size_t) {
    union {
      char raw[sizeof(T)];
      T value;
    } copy = {{}};
    std::memcpy(copy.raw, bytes, sizeof(T));
    return copy.value;
  }
};

template <>
struct in_map<std::string> {
  using argument = std::string_view;
  static constexpr bool varies = true;
  static constexpr bool has_gaps = false;
  static constexpr int32_t codec = WEFT_HASH_MAP_TEXT;
  static constexpr int32_t size(int32_t size) { return size; }
  static const void *data(argument value) {
    return value.empty() ? "" : value.data();
  }
  static size_t length(argument value) { return value.size(); }
  static std::string from(const void *bytes, size_t length) {
    return std::string(static_cast<const char *>(bytes), length);
  }
};

}  // namespace detail

/* Where keys and values lie that are too long for an entry: the bytes of all
   blocks, up to 2^30, or 0 for no heap; the bytes of one, a multiple of 4 from
   12 to 65536, of which 8 are not for keys and values; the most bytes of a
   value that lies in its entry; and the same of a key, or 0 if all keys do. */
struct hash_map_heap {
  int32_t bytes = 0;
  int32_t block_size = 128;
  int32_t in_entry = 32;
  int32_t key_in_entry = 0;
};

/* How large a map is. The sizes are the most bytes of a std::string. Let the
   seed be random if others choose keys. If it `evicts`, it is a cache: when a
   key is added to a full one, it takes out an entry that was not used lately.
   An entry of a cache counts for `ttl` ms after it was written; 0 is for ever.
   */
struct hash_map_config {
  int32_t capacity;
  uint64_t seed;
  int32_t key_size = 32;
  int32_t value_size = 128;
  bool evicts = false;
  int32_t ttl = 0;
  hash_map_heap heap = {}; /* only if K or V is std::string */
};

/* A map from K to V: each is a std::string, an int32_t, a double, or a struct
   that is copied as bytes. It is a handle to memory, and its copies name the
   same map. */
template <class K, class V>
class hash_map
    : public detail::handle<weft_hash_map, WEFT_KIND_hash_map> {
  using keys = detail::in_map<K>;
  using values = detail::in_map<V>;
  using key = typename keys::argument;
  using value = typename values::argument;
  static_assert(!keys::has_gaps,
                "equal keys have equal bytes: a key has no bytes between its "
                "members, and a struct has no float or double");
  static_assert(!std::is_convertible_v<K, const char *>,
                "a key that is text is a std::string");

 public:
  /* The bytes of a map; 0 if a number is out of range. */
  static size_t bytes(hash_map_config config) {
    return config.heap.bytes == 0
               ? weft_hash_map_bytes(of(config))
               : weft_hash_map_bytes_with_heap(of(config), heap_of(config));
  }
  static hash_map create(void *at, size_t bytes, hash_map_config config) {
    return hash_map(config.heap.bytes == 0
                        ? weft_hash_map_init(at, bytes, of(config))
                        : weft_hash_map_init_with_heap(
                              at, bytes, of(config), heap_of(config)));
  }
  static hash_map attach(void *place) {
    weft_hash_map *m = at(place);
    if (m->codecs != (keys::codec | values::codec << 8) ||
        keys::size(weft_hash_map_key_size(m)) != weft_hash_map_key_size(m) ||
        values::size(weft_hash_map_value_size(m)) !=
            weft_hash_map_value_size(m))
      refuse("not a map of K and V");
    return hash_map(m);
  }
  int32_t capacity() const { return weft_hash_map_capacity(w_); }
  /* How many entries there are; they are counted one by one. */
  int32_t size() const { return weft_hash_map_size(w_); }
  /* How many calls of `get` and `get_or_insert` found their key; only in a
     cache, else 0. */
  int64_t hits() const { return weft_hash_map_hits(w_); }
  /* How many did not. */
  int64_t misses() const { return weft_hash_map_misses(w_); }
  /* How many entries were taken out so that others had room; or 0. */
  int64_t evictions() const { return weft_hash_map_evictions(w_); }

  /* The value of a key, or nothing. */
  std::optional<V> get(key k) const {
    room into(*this);
    return there(weft_hash_map_get(w_, keys::data(k), keys::length(k),
                                   into.at(), into.size(), &into.length),
                 into);
  }
  /* The same, but waits up to `timeout` ns, or for a time, until the key is
     there. */
  std::optional<V> wait_for(key k, int64_t timeout = WEFT_FOREVER) const {
    room into(*this);
    const int error = weft_hash_map_wait_for(
        w_, keys::data(k), keys::length(k), into.at(), into.size(),
        &into.length, timeout);
    if (!is(ETIMEDOUT, error)) return {};
    return into.value();
  }
  std::optional<V> wait_for(key k, detail::span time) const {
    return wait_for(k, time.ns);
  }
  bool contains(key k) const {
    return is(ENOENT, weft_hash_map_has(w_, keys::data(k), keys::length(k)));
  }
  /* Gives a key a value; false if the map is full and the key is not there. */
  bool set(key k, value v) { return is(ENOSPC, put(k, v, false)); }
  /* The same in a cache with a `ttl`: the value counts for `ttl` ms, which is 1
     to that of the cache. */
  bool set_for(key k, value v, int32_t ttl) {
    return is(ENOSPC, weft_hash_map_set_for(w_, keys::data(k), keys::length(k),
                                            values::data(v), values::length(v),
                                            false, ttl));
  }
  /* The same if the key is not there; false if it is, too. */
  bool insert(key k, value v) {
    const int error = put(k, v, true);
    return error != EEXIST && is(ENOSPC, error);
  }
  /* Deletes a key; whether it was there. */
  bool erase(key k) {
    return is(ENOENT,
               weft_hash_map_delete(w_, keys::data(k), keys::length(k)));
  }
  /* Deletes a key, and returns the value that it had. */
  std::optional<V> take(key k) {
    room into(*this);
    return there(weft_hash_map_take(w_, keys::data(k), keys::length(k),
                                    into.at(), into.size(), &into.length),
                 into);
  }
  /* The value of a key. If it is not there, adds `v`; nothing if it is full. */
  std::optional<V> get_or_insert(key k, value v) {
    room into(*this);
    const int error = weft_hash_map_get_or_insert(
        w_, keys::data(k), keys::length(k), values::data(v), values::length(v),
        into.at(), into.size(), &into.length);
    if (!is(ENOSPC, error)) return {};
    return into.value();
  }
  /* Gives a key the value that `change` makes of the old one, a
     std::optional<V>; an empty one deletes it. Nobody else writes to the bucket
     meanwhile, and `change` may not write to this map. If it throws, nothing
     has changed. Returns false if the map is full. */
  template <class Change>
  bool update(key k, Change change) {
    changing<Change> context{this, &change, {}, nullptr};
    room into(*this);
    const int error =
        weft_hash_map_update(w_, keys::data(k), keys::length(k),
                             changing<Change>::call, &context, into.at());
    if (context.thrown) std::rethrow_exception(context.thrown);
    return is(ENOSPC, error);
  }
  /* Adds to an int32_t or a double, which counts as 0 if it is not there.
     Returns the value before; nothing if the map is full. */
  std::optional<V> add(key k, V n) {
    V before{};
    int error;
    if constexpr (std::is_same_v<V, double>)
      error = weft_hash_map_add_f64(w_, keys::data(k), keys::length(k), n,
                                    &before);
    else
      error =
          weft_hash_map_add(w_, keys::data(k), keys::length(k), n, &before);
    if (!is(ENOSPC, error)) return {};
    return before;
  }
  /* Replaces an int32_t or a double that is `expected`. Returns the value that
     was there, or nothing. */
  std::optional<V> compare_exchange(key k, V expected, V desired) {
    V found{};
    int error;
    if constexpr (std::is_same_v<V, double>)
      error = weft_hash_map_compare_exchange_f64(
          w_, keys::data(k), keys::length(k), expected, desired, &found);
    else
      error = weft_hash_map_compare_exchange(
          w_, keys::data(k), keys::length(k), expected, desired, &found);
    if (!is(ENOENT, error)) return {};
    return found;
  }
  /* Calls `each(key, value)` for the entries. One that stays is seen once. */
  template <class Each>
  void for_each(Each each) const {
    std::vector<char> name(static_cast<size_t>(weft_hash_map_key_size(w_)));
    size_t length = 0;
    int32_t cursor = 0;
    for (;;) {
      room into(*this);
      const int error = weft_hash_map_next(w_, &cursor, name.data(), &length,
                                           into.at(), &into.length);
      if (!is(ENOENT, error)) return;
      each(keys::from(name.data(), length), into.value());
    }
  }
  /* Deletes all entries, bucket by bucket. */
  void clear() { tell(weft_hash_map_clear(w_)); }
  /* Mends and unlocks what the agent `id`, which is dead, was writing to; how
     many buckets. */
  int32_t abandon(int32_t id) {
    const int32_t count = weft_hash_map_abandon(w_, id);
    if (count < 0) tell(-count);
    return count;
  }

 private:
  using handle = detail::handle<weft_hash_map, WEFT_KIND_hash_map>;
  using handle::w_, handle::at, handle::tell, handle::refuse;
  explicit hash_map(weft_hash_map *made) : handle(made) {}
  /* Where a value goes. */
  struct room {
    explicit room(const hash_map &map)
        : bytes(static_cast<size_t>(weft_hash_map_value_size(map.w_))) {}
    void *at() {
      if constexpr (values::varies)
        return bytes.data();
      else
        return fixed;
    }
    size_t size() const { return bytes.size(); }
    V value() { return values::from(at(), length); }
    struct nothing {
      explicit nothing(size_t) {}
      size_t size() const { return sizeof fixed; }
    };
    std::conditional_t<values::varies, std::vector<char>, nothing> bytes;
    alignas(8) char fixed[values::varies ? 1 : sizeof(V)] = {};
    size_t length = 0;
  };

  template <class Change>
  struct changing {
    hash_map *map;
    Change *change;
    std::optional<V> next;
    std::exception_ptr thrown;

    static bool call(void *at, size_t *length, bool is_there, void *context) {
      auto *self = static_cast<changing *>(context);
      if (!self->made(at, *length, is_there)) {
        *length = SIZE_MAX; /* is refused, so that nothing changes */
        return true;
      }
      if (!self->next) return false;
      *length = values::length(*self->next);
      const size_t most =
          static_cast<size_t>(weft_hash_map_value_size(self->map->w_));
      // A longer one is refused because of its length.
      if (*length <= most)
        std::memcpy(at, values::data(*self->next), *length);
      return true;
    }

    /* Whether the function returned; the lock is not left by an exception. */
    bool made(const void *at, size_t length, bool is_there) {
#if defined(__cpp_exceptions)
      try {
#endif
        std::optional<V> old;
        if (is_there) old = values::from(at, length);
        next = (*change)(std::move(old));
#if defined(__cpp_exceptions)
      } catch (...) {
        thrown = std::current_exception();
        return false;
      }
#endif
      return true;
    }
  };

  static weft_hash_map_heap heap_of(hash_map_config config) {
    return {config.heap.bytes, config.heap.block_size,
            has_long_values(config) ? config.value_size : 0,
            config.heap.key_in_entry > 0 ? config.key_size : 0};
  }
  /* If there is a heap, one for keys alone is enough for short values. */
  static bool has_long_values(hash_map_config config) {
    if (config.heap.bytes == 0) return false;
    return config.heap.key_in_entry == 0 ||
           (std::is_same_v<V, std::string> &&
            config.value_size > config.heap.in_entry);
  }
  static weft_hash_map_config of(hash_map_config config) {
    return {config.capacity,
            keys::codec,
            keys::size(config.heap.key_in_entry > 0 ? config.heap.key_in_entry
                                                    : config.key_size),
            values::codec,
            values::size(has_long_values(config) ? config.heap.in_entry
                                                 : config.value_size),
            config.seed,
            config.evicts,
            config.ttl};
  }
  int put(key k, value v, bool if_absent) {
    return weft_hash_map_set(w_, keys::data(k), keys::length(k),
                             values::data(v), values::length(v), if_absent);
  }
  /* False for the error `no`, true for none; throws another. */
  static bool is(int no, int error) {
    if (error != no) tell(error);
    return error == 0;
  }
  static std::optional<V> there(int error, room &into) {
    if (!is(ENOENT, error)) return {};
    return into.value();
  }
};

}  // namespace weft

#endif /* WEFT_REALTIME */

#endif

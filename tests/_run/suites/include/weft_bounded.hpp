/*
 * weft_bounded.hpp - what the queues of others are made of here: a queue of
 * weft.hpp that owns its memory, has room for exactly as many elements as it
 * was asked for, and holds elements of any type.
 *
 * A T that is not plain bytes stands in the queue as a pointer, because tests
 * look at the address of an object, and where it is destroyed. An spsc_queue
 * knows its producer and its consumer: a thread that comes after another one
 * takes the role over, as these tests join in between.
 */
#ifndef WEFT_BOUNDED_HPP
#define WEFT_BOUNDED_HPP

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <weft.hpp>

namespace weft_bounded {

template <class T>
inline constexpr bool is_plain =
    std::is_trivially_copyable_v<T> && alignof(T) <= 8;

struct freed {
  void operator()(void *memory) const { std::free(memory); }
};

template <class T, template <class> class Queue>
class queue {
  using slot = std::conditional_t<is_plain<T>, T, T *>;
  using of = Queue<slot>;
  static constexpr bool has_roles =
      std::is_same_v<decltype(std::declval<of>().native_handle()),
                     weft_spsc_queue *>;

 public:
  /* Room for `limit` elements, and for `room` of those that ask for more. */
  explicit queue(size_t limit, size_t room = 0)
      : limit_(limit), memory_(made(limit > room ? limit : room)),
        q_(of::attach(memory_.get())) {}
  ~queue() {
    while (take([](T &) {})) continue;
  }
  queue(queue &&) = delete;

  size_t limit() const { return limit_; }
  size_t size() const { return static_cast<size_t>(q_.size()); }

  /* Constructs an element unless there are `most`. */
  template <class... From>
  bool try_emplace_below(size_t most, From &&...from) {
    own_push();
    if (size() >= most) return false;
    return try_put(std::forward<From>(from)...);
  }
  template <class... From>
  bool try_emplace(From &&...from) {
    return try_emplace_below(limit_, std::forward<From>(from)...);
  }
  /* The same, and waits for room, for this time. */
  template <class Time, class... From>
  bool emplace_for(Time time, From &&...from) {
    own_push();
    const auto end = std::chrono::steady_clock::now() + time;
    while (size() >= limit_) { /* Weft waits for a power of two of them */
      if (std::chrono::steady_clock::now() >= end) return false;
      if (size_t(q_.capacity()) == limit_) break;
      std::this_thread::yield();
    }
    holder made(std::forward<From>(from)...);
    made.gone = q_.try_push_for(made.value, time);
    return made.gone;
  }
  /* Gives the oldest element to `function`, and destroys it. */
  template <class Function>
  bool take(Function function) {
    own_pop();
    return given(q_.try_pop(), function);
  }
  template <class Time, class Function>
  bool take_for(Time time, Function function) {
    own_pop();
    return given(q_.try_pop_for(time), function);
  }
  T *peek() {
    own_pop();
    const slot *at = q_.peek();
    if constexpr (is_plain<T>) return const_cast<T *>(at);
    else return at == nullptr ? nullptr : *at;
  }
  /* As many of these as fit; how many. */
  size_t push_many(const T *items, size_t n) {
    own_push();
    const size_t left = limit_ - size();
    return q_.try_push_many(span<const T>{items, n < left ? n : left});
  }
  size_t pop_many(T *items, size_t n) {
    own_pop();
    return q_.try_pop_many(span<T>{items, n});
  }

 private:
  template <class Item>
  struct span {
    Item *items;
    size_t n;
    Item *data() const { return items; }
    size_t size() const { return n; }
  };
  /* An element that is destroyed unless a queue has it. */
  struct holder {
    template <class... From>
    explicit holder(From &&...from)
        : value(value_of(std::forward<From>(from)...)) {}
    ~holder() {
      if constexpr (!is_plain<T>)
        if (!gone) delete value;
    }
    holder(holder &&) = delete;
    template <class... From>
    static slot value_of(From &&...from) {
      if constexpr (is_plain<T>) return T(std::forward<From>(from)...);
      else return new T(std::forward<From>(from)...);
    }
    slot value;
    bool gone = false;
  };
  template <class... From>
  bool try_put(From &&...from) {
    holder made(std::forward<From>(from)...);
    made.gone = q_.try_push(made.value);
    return made.gone;
  }
  template <class Function>
  static bool given(std::optional<slot> got, Function &function) {
    if (!got) return false;
    if constexpr (is_plain<T>) {
      function(*got);
    } else {
      const std::unique_ptr<T> object(*got);
      function(*object);
    }
    return true;
  }
  static std::unique_ptr<void, freed> made(size_t room) {
    const size_t n = room < 1 ? 1 : room;
    const size_t bytes = n >> 30 ? 0 : of::bytes(static_cast<int32_t>(n));
    if (bytes == 0) throw std::length_error("more than a queue can have");
    std::unique_ptr<void, freed> memory(
        std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    (void)of::create(memory.get(), bytes, static_cast<int32_t>(n));
    return memory;
  }
  void own_push() {
    if constexpr (has_roles) own(q_.native_handle()->producer);
  }
  void own_pop() {
    if constexpr (has_roles) own(q_.native_handle()->consumer);
  }
  void own(const int32_t &role) {
    const int32_t id = weft__load(&role);
    if (id != 0 && id != weft_agent_id()) q_.abandon(id);
  }

  size_t limit_;
  std::unique_ptr<void, freed> memory_;
  of q_;
};

template <class T>
using spsc = queue<T, weft::spsc_queue>;
template <class T>
using mpmc = queue<T, weft::mpmc_queue>;
template <class T>
using lock_free = queue<T, weft::lock_free_queue>;

inline constexpr auto forever = std::chrono::hours(1000);

}  // namespace weft_bounded

#endif

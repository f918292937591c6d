/* weft_queue.hpp - queues of T. weft.hpp includes it. */
#ifndef WEFT_QUEUE_HPP
#define WEFT_QUEUE_HPP

#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "weft_base.hpp"

namespace weft {

/* Whether a T may be moved by copying its bytes and forgetting the old ones, as
   queues do. True for what is copied as bytes, and for a std::unique_ptr with
   the usual deleter. Specialize it for a T of yours that never points into
   itself: `template <> inline constexpr bool weft::is_relocatable<T> = true;`
   */
template <class T>
inline constexpr bool is_relocatable = std::is_trivially_copyable_v<T>;
template <class T>
inline constexpr bool is_relocatable<std::unique_ptr<T>> = true;

namespace detail {

/* The functions of weft.h for one kind of queue. */
/* clang-format off */
#define WEFT__NAMED(stem, name) \
  static constexpr auto name = weft_##stem##_##name;
#ifdef WEFT_REALTIME
#define WEFT__WAITS(stem, name)
#else
#define WEFT__WAITS(stem, name) WEFT__NAMED(stem, name)
#endif
#define WEFT__QUEUE(stem, NAME, has_short, more)                            \
  struct stem {                                                             \
    using words = weft_##stem;                                              \
    static constexpr auto KIND = WEFT_KIND_##stem;                          \
    static constexpr bool SHORT = has_short;                                \
    WEFT__NAMED(stem, init) WEFT__NAMED(stem, capacity)                     \
    WEFT__NAMED(stem, element_size) WEFT__NAMED(stem, size)                 \
    WEFT__NAMED(stem, closed) WEFT__NAMED(stem, close)                      \
    WEFT__NAMED(stem, try_push) WEFT__NAMED(stem, try_pop)                  \
    WEFT__NAMED(stem, try_push_many) WEFT__NAMED(stem, try_pop_many)        \
    WEFT__NAMED(stem, reserve) WEFT__NAMED(stem, commit)                    \
    WEFT__NAMED(stem, peek) WEFT__NAMED(stem, consume)                      \
    WEFT__WAITS(stem, push) WEFT__WAITS(stem, pop) more                     \
    static constexpr size_t bytes(uint64_t n, uint64_t of) {                \
      return static_cast<size_t>(WEFT_##NAME##_BYTES(0ull + n, 0ull + of)); \
    }                                                                       \
  };
/* clang-format on */
WEFT__QUEUE(spsc_queue, SPSC_QUEUE, true, WEFT__NAMED(spsc_queue, abandon))
WEFT__QUEUE(mpmc_queue, MPMC_QUEUE, true, )
WEFT__QUEUE(lock_free_queue, LOCK_FREE_QUEUE, false, )

/* try_push and try_pop of an element whose size the compiler knows. A program
   that shall be small has one copy of them for all sizes. */
template <class Of, size_t size>
inline WEFT__KNOWN int push_one(typename Of::words *q, const void *src) {
#ifndef __OPTIMIZE_SIZE__
  if constexpr (std::is_same_v<Of, spsc_queue>)
    return weft__spsc_push_one(q, src, size);
  if constexpr (std::is_same_v<Of, mpmc_queue>)
    return weft__mpmc_push_one(q, src, size);
#endif
  return Of::try_push(q, src);
}
template <class Of, size_t size>
inline WEFT__KNOWN int pop_one(typename Of::words *q, void *dst) {
#ifndef __OPTIMIZE_SIZE__
  if constexpr (std::is_same_v<Of, spsc_queue>)
    return weft__spsc_pop_one(q, dst, size);
  if constexpr (std::is_same_v<Of, mpmc_queue>)
    return weft__mpmc_pop_one(q, dst, size);
#endif
  return Of::try_pop(q, dst);
}

/* A T as it lies in a queue: whole words, or 1 or 2 bytes where `may_be_short`.
   The constructor leaves them as they are, so T needs none. */
template <class T, bool may_be_short = false>
union cell {
  static_assert(is_relocatable<T>,
                "T is copied as bytes: specialize weft::is_relocatable<T> if "
                "its objects may be moved so");
  static_assert(alignof(T) <= 16, "T is aligned at 16 or less");
  static constexpr bool is_short = may_be_short && sizeof(T) <= 2;
  static constexpr size_t size =
      is_short ? sizeof(T) : (sizeof(T) + 3) / 4 * 4;
  static constexpr bool is_bytes = std::is_trivially_copyable_v<T>;
  static constexpr bool is_T =
      is_bytes && size == sizeof(T) && (is_short || alignof(T) >= 4);
  static constexpr size_t alignment = alignof(T) < 4   ? 4
                                      : alignof(T) > 8 ? 8
                                                       : alignof(T);
  cell() noexcept : words{} {}
  explicit cell(const T &from) noexcept : words{} {
    std::memcpy(words, &from, sizeof(T));
  }
  ~cell() {} /* the bytes have moved, or move back: see relocated */
  int32_t words[(size + 3) / 4];
  T value;
};

/* Takes a T out of `from`, and gives it back if no queue takes it. */
template <class T>
struct relocated {
  explicit relocated(T &from) : from_(from) {
    ::new (static_cast<void *>(&as_cell.value)) T(std::move(from));
  }
  ~relocated() {
    if (!gone) std::destroy_at(&from_);
    if (!gone) ::new (static_cast<void *>(&from_)) T(std::move(as_cell.value));
    if (!gone) std::destroy_at(&as_cell.value);
  }
  relocated(relocated &&) = delete;
  cell<T> as_cell;
  bool gone = false;

 private:
  T &from_;
};

/* Moves the T out of a cell that a pop has filled. */
template <class T, bool may_be_short>
std::optional<T> moved_out(cell<T, may_be_short> &from) {
  if constexpr (cell<T>::is_bytes) {
    return std::optional<T>(std::move(from.value));
  } else {
    const std::unique_ptr<T, void (*)(T *)> old(&from.value, std::destroy_at);
    return std::optional<T>(std::move(*old));
  }
}

/* A queue of T. A push returns false, and a pop returns nothing, if the queue
   is full or empty, if the time is over, or if it is closed; a std::error_code
   says which: EBUSY, ETIMEDOUT or EPIPE. */
template <class T, class Of>
class queue : errors {
  using words = typename Of::words;
  using cell = detail::cell<T, Of::SHORT>;

 public:
  /* The bytes of a queue with room for `capacity` elements, rounded up to a
     power of two; 0 if that is out of range. */
  static constexpr size_t bytes(int32_t capacity) {
    return Of::bytes(static_cast<uint32_t>(capacity), cell::size);
  }
  static queue create(void *at, size_t bytes, int32_t capacity) {
    const size_t needed = capacity < 1 ? 0 : queue::bytes(capacity);
    if (needed == 0) refuse("the capacity is out of range");
    if (bytes < needed) refuse("too few bytes");
    return Of::init(aligned(at), bytes, {capacity, int32_t{cell::size}});
  }
  static queue attach(void *at) {
    const char *error = weft_attach_error(aligned(at), Of::KIND);
    if (error != nullptr) refuse(error);
    return static_cast<words *>(at);
  }
  /* The queue that a function of weft.h returned. */
  queue(words *q) : w_(q) {
    if (!is_of_T(q)) refuse("not a queue of T");
  }
  words *native_handle() const { return w_; }
  int32_t capacity() const { return Of::capacity(w_); }
  int32_t size() const { return Of::size(w_); }
  bool closed() const { return Of::closed(w_); }
  void close() { Of::close(w_); }
  /* Ends the roles of the agent `id`, the producer or the consumer of an
     spsc_queue, so that another agent can have them; how many it had. */
  template <class Kind = Of>
  int32_t abandon(int32_t id) {
    return Kind::abandon(w_, id);
  }
  /* A T that is not plain bytes is moved into the queue. It stays as it was if
     the push returns false. */
  WEFT__KNOWN bool try_push(const T &value, error_code *ec = nullptr) {
    return pushed(value, ec);
  }
  WEFT__KNOWN bool try_push(T &&value, error_code *ec = nullptr) {
    return pushed(std::move(value), ec);
  }
  WEFT__KNOWN std::optional<T> try_pop(error_code *ec = nullptr) {
    return popped(ec);
  }
#ifndef WEFT_REALTIME
  /* These wait for room, or for an element; pop until it is closed and empty.
   */
  bool push(const T &value, error_code *ec = nullptr) {
    return try_push_for(value, weft::detail::forever, ec);
  }
  bool push(T &&value, error_code *ec = nullptr) {
    return try_push_for(std::move(value), weft::detail::forever, ec);
  }
  std::optional<T> pop(error_code *ec = nullptr) {
    return try_pop_for(weft::detail::forever, ec);
  }
  bool try_push_for(const T &value, span time, error_code *ec = nullptr) {
    return pushed(value, ec, time.ns);
  }
  bool try_push_for(T &&value, span time, error_code *ec = nullptr) {
    return pushed(std::move(value), ec, time.ns);
  }
  std::optional<T> try_pop_for(span time, error_code *ec = nullptr) {
    return popped(ec, time.ns);
  }
#endif
  /* Pushes or pops as many of a span, vector or array as fit or as there are.
     Returns how many. A T that is not whole words goes one by one. */
  template <class Items>
  size_t try_push_many(const Items &items) {
    if constexpr (cell::is_T) {
      return many(Of::try_push_many, std::data(items), std::size(items));
    } else {
      size_t n = 0;
      while (n < std::size(items) && try_push(std::data(items)[n])) n++;
      return n;
    }
  }
  template <class Items>
  size_t try_pop_many(Items &&items) {
    if constexpr (cell::is_T) {
      return many(Of::try_pop_many, std::data(items), std::size(items));
    } else {
      size_t n = 0;
      if constexpr (cell::is_bytes) {
        cell next;
        while (n < std::size(items) && done(take(&next)))
          std::memcpy(&std::data(items)[n++], &next, sizeof(T));
      } else {
        for (; n < std::size(items); n++) {
          std::optional<T> next = try_pop();
          if (!next) break;
          std::data(items)[n] = *std::move(next);
        }
      }
      return n;
    }
  }
  /* Pops all that is there, and destroys it. Returns how many those were. */
  size_t clear() {
    size_t n = 0;
    while (try_pop()) n++;
    return n;
  }

  /* The place of an element to write, then commit; null if there is none. */
  T *reserve() { return place(Of::reserve(w_)); }
  bool commit(T *slot) {
    if constexpr (std::is_void_v<decltype(call(Of::commit, slot))>)
      return call(Of::commit, slot), true;
    else
      return done(call(Of::commit, slot));
  }
  /* The place of the oldest element to read, then consume; or null. */
  const T *peek() { return place(Of::peek(w_)); }
  void consume(const T *slot) { call(Of::consume, const_cast<T *>(slot)); }

 private:
  /* Not inline: gcc would warn of a static array that is too small for one. */
  [[gnu::noinline]] static bool is_of_T(words *q) {
    return q != nullptr && Of::element_size(q) == int32_t{cell::size};
  }
  static void *aligned(void *at) {
    const bool fits = reinterpret_cast<uintptr_t>(at) % cell::alignment == 0;
    if (at == nullptr || !fits)
      tell(EINVAL, nullptr, at ? "not aligned" : "a null pointer");
    return at;
  }
  static T *place(void *slot) {
    static_assert(alignof(T) <= 8,
                  "a place in a queue is aligned at 8 or less");
    static_assert(cell::is_bytes, "only a T of plain bytes is made in place");
    return static_cast<T *>(slot);
  }
  WEFT__KNOWN int put(const void *src) {
    return push_one<Of, cell::size>(w_, src);
  }
  WEFT__KNOWN int take(void *dst) {
    return pop_one<Of, cell::size>(w_, dst);
  }
#ifndef WEFT_REALTIME
  WEFT__KNOWN int put(const void *src, int64_t ns) {
    if (!weft__may_block()) return EPERM;
    const int error = put(src);
    return error == EBUSY ? Of::push(w_, src, ns) : error;
  }
  WEFT__KNOWN int take(void *dst, int64_t ns) {
    if (!weft__may_block()) return EPERM;
    const int error = take(dst);
    return error == EBUSY ? Of::pop(w_, dst, ns) : error;
  }
#endif
  template <class... Time>
  WEFT__KNOWN bool pushed(const T &value, error_code *ec, Time... time) {
    if constexpr (cell::is_T) {
      return done(put(&value, time...), ec);
    } else if constexpr (!cell::is_bytes) {
      T copy(value);
      return pushed(std::move(copy), ec, time...);
    } else {
      const cell padded(value);
      return done(put(&padded, time...), ec);
    }
  }
  template <class... Time>
  WEFT__KNOWN bool pushed(T &&value, error_code *ec, Time... time) {
    if constexpr (cell::is_bytes) {
      return pushed(std::as_const(value), ec, time...);
    } else {
      relocated<T> taken(value);
      taken.gone = done(put(&taken.as_cell, time...), ec);
      return taken.gone;
    }
  }
  template <class... Time>
  WEFT__KNOWN std::optional<T> popped(error_code *ec, Time... time) {
    cell next;
    if (!done(take(&next, time...), ec)) return {};
    return moved_out(next);
  }
  template <class Function>
  auto call(Function function, T *slot) {
    if constexpr (std::is_invocable_v<Function, words *, T *>)
      return function(w_, slot);
    else
      return function(w_);
  }
  template <class Move, class Item>
  size_t many(Move move, Item *items, size_t length) {
    static_assert(std::is_same_v<std::remove_const_t<Item>, T>, "items are T");
    const int32_t n = static_cast<int32_t>(length >> 30 ? 1 << 30 : length);
    const int32_t moved = move(w_, items, n);
    return moved < 0 ? (done(-moved), 0) : static_cast<size_t>(moved);
  }
  words *w_;
};

}  // namespace detail

template <class T>
using spsc_queue = detail::queue<T, detail::spsc_queue>;
template <class T>
using mpmc_queue = detail::queue<T, detail::mpmc_queue>;
template <class T>
using lock_free_queue = detail::queue<T, detail::lock_free_queue>;

/* A queue with room for `capacity` elements, and its memory. When it ends, it
   destroys the elements that are left; no other agent may use it by then. */
template <class Queue, int32_t capacity>
class in_place {
 public:
  in_place() : queue_(Queue::create(memory_, sizeof memory_, capacity)) {}
  ~in_place() {
    auto *words = queue_.native_handle();
    if constexpr (std::is_same_v<decltype(words), weft_spsc_queue *>)
      queue_.abandon(weft__load(&words->consumer));
    std::error_code ec; /* damaged words end the loop, too */
    while (queue_.try_pop(&ec)) continue;
  }
  in_place(in_place &&) = delete; /* nor is it copied */
  Queue &operator*() { return queue_; }
  Queue *operator->() { return &queue_; }

 private:
  static_assert(Queue::bytes(capacity) > 0, "the capacity is out of range");
  alignas(16) unsigned char memory_[Queue::bytes(capacity)];
  Queue queue_;
};

}  // namespace weft
#endif

/*
 * weft.hpp - weft.h for C++17 and later, in the style of <mutex>, <semaphore>
 * and <latch>, and queues of T. It calls weft.h on weft.h's words, so
 * JavaScript and C share every object.
 *
 * A mutex, rw_lock, condition, semaphore or latch is the primitive itself:
 * declare it, or use X::attach(at) for one in memory that another agent made. A
 * queue is a handle to memory that create() or attach() names, and its copies
 * name the same memory:
 *
 *   alignas(8) static std::byte memory[weft::mpmc_queue<point>::bytes(256)];
 *   auto points = weft::mpmc_queue<point>::create(memory, sizeof memory, 256);
 *   points.push({1, 2.5});
 *   while (std::optional<point> next = points.pop()) draw(*next);
 *
 * Where a time is wanted, a duration or a time point will do. A function throws
 * std::system_error for an error of weft.h that its comment does not mention;
 * it calls std::abort() where exceptions are off, and throws nothing if it can
 * set a std::error_code. What waits is missing if WEFT_REALTIME is defined.
 */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <optional>
#include <system_error>
#include <type_traits>

#include "weft.h"

namespace weft {
namespace detail {

/* Tells an error to the caller. */
inline void tell(int error, std::error_code *ec, const char *what = "weft") {
  if (ec != nullptr) return ec->assign(error, std::generic_category());
  if (error == 0) return;
#if defined(__cpp_exceptions)
  throw std::system_error(error, std::generic_category(), what);
#else
  (void)what;
  std::abort();
#endif
}

/* True for 0, and false for an error that only an error_code has to tell. */
inline bool done(int error, std::error_code *ec = nullptr) {
  const bool no = error == EBUSY || error == ETIMEDOUT || error == EPIPE;
  tell(ec == nullptr && no ? 0 : error, ec);
  return error == 0;
}

/* As done(), and true if it is locked but the last owner was abandoned. */
inline bool held(int error, std::error_code *ec = nullptr) {
  const bool dead = error == EOWNERDEAD;
  return done(dead && ec == nullptr ? 0 : error, ec) || dead;
}

/* Nanoseconds as weft.h counts them, no fewer than `time`. */
template <class Rep, class Period>
int64_t in_ns(const std::chrono::duration<Rep, Period> &time) {
  const double seconds = std::chrono::duration<double>(time).count();
  if (!(seconds > 0)) return 0;
  if (seconds > 9e9) return WEFT_FOREVER;
  return std::chrono::ceil<std::chrono::nanoseconds>(time).count();
}

/* Nanoseconds from now to `end`. */
template <class Clock, class Length>
int64_t in_ns(const std::chrono::time_point<Clock, Length> &end) {
  return in_ns(end - Clock::now());
}

/* The words of a primitive. KIND is 0 if they have no head that tells it. */
template <class Object, class Words, int32_t KIND = 0>
class object {
 public:
  object(const object &) = delete;
  object &operator=(const object &) = delete;
  static Object &attach(void *at) {
    const char *error = "weft: not at a multiple of 4";
    if (at != nullptr && weft__aligned(at))
      error = KIND == 0 ? nullptr : weft_attach_error(at, KIND);
    if (error != nullptr) tell(EINVAL, nullptr, error);
    return *static_cast<Object *>(at);
  }
  Words *native_handle() noexcept { return &words_; }

 protected:
  constexpr object() noexcept = default;
  /* Checks what an init function returned. */
  static void made(const void *at) {
    if (at == nullptr) tell(EINVAL, nullptr, "weft: out of range");
  }
  Words words_{};
};

}  // namespace detail

#ifndef WEFT_REALTIME

/* For std::scoped_lock, std::unique_lock and std::lock. Zeroed memory is an
   unlocked mutex. If the last owner was abandoned, each form locks and returns
   true, and only an error_code tells: std::errc::owner_dead. */
class mutex : public detail::object<mutex, weft_mutex> {
  using error_code = std::error_code;

 public:
  constexpr mutex() noexcept = default;
  bool lock(error_code *ec = nullptr) {
    return detail::held(weft_mutex_lock(&words_, WEFT_FOREVER), ec);
  }
  bool try_lock(error_code *ec = nullptr) {
    return detail::held(weft_mutex_try_lock(&words_), ec);
  }
  template <class Time>
  bool try_lock_for(const Time &time, error_code *ec = nullptr) {
    return detail::held(weft_mutex_lock(&words_, detail::in_ns(time)), ec);
  }
  template <class Time>
  bool try_lock_until(const Time &end, error_code *ec = nullptr) {
    return try_lock_for(end, ec);
  }
  void unlock() { detail::done(weft_mutex_unlock(&words_)); }
  /* The id of the agent that holds it, or 0. */
  int32_t owner() const { return weft_mutex_owner(&words_); }
  /* Frees it if the dead agent `id` held it. Returns 1, or 0 if it did not. */
  int32_t abandon(int32_t id) { return weft_mutex_abandon(&words_, id); }
};

/* For std::shared_lock and std::unique_lock. Zeroed memory is an unlocked
   lock. If the last writer was abandoned, each form locks. */
class rw_lock : public detail::object<rw_lock, weft_rw_lock> {
 public:
  constexpr rw_lock() noexcept = default;
  void lock() { detail::held(weft_rw_lock_write(&words_, WEFT_FOREVER)); }
  bool try_lock() { return detail::held(weft_rw_lock_try_write(&words_)); }
  template <class Time>
  bool try_lock_for(const Time &time) {
    return detail::held(weft_rw_lock_write(&words_, detail::in_ns(time)));
  }
  void unlock() { detail::done(weft_rw_lock_unlock_write(&words_)); }
  /* The writer goes on as a reader, and no writer comes in between. */
  void downgrade() { detail::done(weft_rw_lock_downgrade(&words_)); }
  void lock_shared() { detail::held(weft_rw_lock_read(&words_, WEFT_FOREVER)); }
  bool try_lock_shared() {
    return detail::held(weft_rw_lock_try_read(&words_));
  }
  template <class Time>
  bool try_lock_shared_for(const Time &time) {
    return detail::held(weft_rw_lock_read(&words_, detail::in_ns(time)));
  }
  void unlock_shared() { detail::done(weft_rw_lock_unlock_read(&words_)); }
};

/* For std::unique_lock<weft::mutex>. Zeroed memory is a condition. */
class condition : public detail::object<condition, weft_condition> {
  using guard = std::unique_lock<mutex>;

 public:
  constexpr condition() noexcept = default;
  void wait(guard &lock) { called(lock, WEFT_FOREVER); }
  template <class Predicate>
  void wait(guard &lock, Predicate is_true) {
    while (!is_true()) wait(lock);
  }
  template <class Time>
  std::cv_status wait_for(guard &lock, const Time &time) {
    return called(lock, detail::in_ns(time)) ? std::cv_status::no_timeout
                                             : std::cv_status::timeout;
  }
  template <class Time, class Predicate>
  bool wait_for(guard &lock, const Time &time, Predicate is_true) {
    return wait_until(lock, std::chrono::steady_clock::now() + time, is_true);
  }
  template <class Time, class Predicate>
  bool wait_until(guard &lock, const Time &end, Predicate is_true) {
    while (!is_true())
      if (wait_for(lock, end) == std::cv_status::timeout) return is_true();
    return true;
  }
  void notify_one() { detail::done(weft_condition_notify(&words_, 1)); }
  void notify_all() { detail::done(weft_condition_notify_all(&words_)); }

 private:
  bool called(guard &lock, int64_t time) {
    if (!lock.owns_lock()) return detail::done(EPERM);
    weft_mutex *m = lock.mutex()->native_handle();
    return detail::held(weft_condition_wait(&words_, m, time));
  }
};

/* Counts permits, as std::counting_semaphore. */
class semaphore
    : public detail::object<semaphore, weft_semaphore, WEFT_KIND_semaphore> {
 public:
  explicit semaphore(int32_t permits) {
    made(weft_semaphore_init(&words_, sizeof words_, permits));
  }
  void acquire(int32_t n = 1) {
    detail::done(weft_semaphore_acquire(&words_, n, WEFT_FOREVER));
  }
  bool try_acquire(int32_t n = 1) {
    return detail::done(weft_semaphore_try_acquire(&words_, n));
  }
  template <class Time>
  bool try_acquire_for(const Time &time, int32_t n = 1) {
    return detail::done(
        weft_semaphore_acquire(&words_, n, detail::in_ns(time)));
  }
  void release(int32_t n = 1) {
    detail::done(weft_semaphore_release(&words_, n));
  }
  int32_t available() const { return weft_semaphore_available(&words_); }
};

/* Opens for good after `count` steps, as std::latch. */
class latch : public detail::object<latch, weft_latch, WEFT_KIND_latch> {
 public:
  explicit latch(int32_t count) {
    made(weft_latch_init(&words_, sizeof words_, count));
  }
  void count_down(int32_t n = 1) {
    detail::done(weft_latch_count_down(&words_, n));
  }
  void wait() { detail::done(weft_latch_wait(&words_, WEFT_FOREVER)); }
  bool try_wait() const { return weft_latch_try_wait(&words_) == 0; }
};

#endif /* WEFT_REALTIME */

namespace detail {

/* The functions of weft.h for one kind of queue. */
#define WEFT__QUEUE(stem, NAME)                                             \
  struct stem {                                                             \
    using words = weft_##stem;                                              \
    static constexpr auto KIND = WEFT_KIND_##stem;                          \
    static constexpr auto init = weft_##stem##_init;                        \
    static constexpr auto capacity = weft_##stem##_capacity;                \
    static constexpr auto element_size = weft_##stem##_element_size;        \
    static constexpr auto size = weft_##stem##_size;                        \
    static constexpr auto closed = weft_##stem##_closed;                    \
    static constexpr auto close = weft_##stem##_close;                      \
    static constexpr auto try_push = weft_##stem##_try_push;                \
    static constexpr auto try_pop = weft_##stem##_try_pop;                  \
    static constexpr auto push_many = weft_##stem##_try_push_many;          \
    static constexpr auto pop_many = weft_##stem##_try_pop_many;            \
    static constexpr auto reserve = weft_##stem##_reserve;                  \
    static constexpr auto commit = weft_##stem##_commit;                    \
    static constexpr auto peek = weft_##stem##_peek;                        \
    static constexpr auto consume = weft_##stem##_consume;                  \
    WEFT__QUEUE_WAITS(stem)                                                 \
    static constexpr size_t bytes(uint64_t n, uint64_t of) {                \
      return static_cast<size_t>(WEFT_##NAME##_BYTES(0ull + n, 0ull + of)); \
    }                                                                       \
  };
#ifdef WEFT_REALTIME
#define WEFT__QUEUE_WAITS(stem)
#else
#define WEFT__QUEUE_WAITS(stem)                    \
  static constexpr auto push = weft_##stem##_push; \
  static constexpr auto pop = weft_##stem##_pop;
#endif
WEFT__QUEUE(spsc_queue, SPSC_QUEUE)
WEFT__QUEUE(mpmc_queue, MPMC_QUEUE)
WEFT__QUEUE(lock_free_queue, LOCK_FREE_QUEUE)

/* A queue of T. A push returns false, and a pop returns nothing, if the queue
   is full or empty, if the time is over, or if it is closed; a std::error_code
   says which: EBUSY, ETIMEDOUT or EPIPE. */
template <class T, class Of>
class queue {
  using error_code = std::error_code;
  using words = typename Of::words;
  static_assert(std::is_trivially_copyable_v<T>, "T is copied as bytes");
  static_assert(alignof(T) == 4 || alignof(T) == 8, "T is aligned at 4 or 8");

 public:
  /* The bytes of a queue with room for `capacity` elements, rounded up to a
     power of two; 0 if that is out of range. */
  static constexpr size_t bytes(int32_t capacity) {
    const int32_t n = capacity > 0 ? capacity : 0;
    return Of::bytes(static_cast<size_t>(n), sizeof(T));
  }
  static queue create(void *at, size_t bytes, int32_t capacity) {
    return Of::init(aligned(at), bytes, {capacity, int32_t{sizeof(T)}});
  }
  static queue attach(void *at) {
    const char *error = weft_attach_error(aligned(at), Of::KIND);
    if (error != nullptr) tell(EINVAL, nullptr, error);
    return static_cast<words *>(at);
  }
  /* The queue that a function of weft.h returned. */
  queue(words *q) : words_(q) {
    if (q == nullptr || Of::element_size(q) != int32_t{sizeof(T)})
      tell(EINVAL, nullptr, "weft: not a queue of T");
  }
  words *native_handle() const { return words_; }
  int32_t capacity() const { return Of::capacity(words_); }
  int32_t size() const { return Of::size(words_); }
  bool closed() const { return Of::closed(words_); }
  void close() { Of::close(words_); }

  bool try_push(const T &value, error_code *ec = nullptr) {
    return done(Of::try_push(words_, &value), ec);
  }
  std::optional<T> try_pop(error_code *ec = nullptr) {
    T value;
    if (!done(Of::try_pop(words_, &value), ec)) return {};
    return value;
  }
#ifndef WEFT_REALTIME
  /* Waits for room. */
  bool push(const T &value, error_code *ec = nullptr) {
    return done(Of::push(words_, &value, WEFT_FOREVER), ec);
  }
  /* Waits for an element, or until the queue is closed and empty. */
  std::optional<T> pop(error_code *ec = nullptr) {
    return try_pop_for(std::chrono::hours::max(), ec);
  }
  template <class Time>
  bool try_push_for(const T &value, const Time &time,
                    error_code *ec = nullptr) {
    return done(Of::push(words_, &value, in_ns(time)), ec);
  }
  template <class Time>
  std::optional<T> try_pop_for(const Time &time, error_code *ec = nullptr) {
    T value;
    if (!done(Of::pop(words_, &value, in_ns(time)), ec)) return {};
    return value;
  }
#endif
  /* Pushes or pops as many of a span, vector or array as fit or as there are.
     Returns how many. */
  template <class Items>
  size_t try_push_many(const Items &items) {
    return many(Of::push_many, std::data(items), std::size(items));
  }
  template <class Items>
  size_t try_pop_many(Items &&items) {
    return many(Of::pop_many, std::data(items), std::size(items));
  }

  /* The place of an element to write, then commit; null if there is none. */
  T *reserve() { return static_cast<T *>(Of::reserve(words_)); }
  bool commit(T *slot) {
    if constexpr (std::is_invocable_r_v<int, decltype(Of::commit), words *,
                                        T *>)
      return done(Of::commit(words_, slot));
    else
      return call(Of::commit, slot), true;
  }
  /* The place of the oldest element to read, then consume; or null. */
  const T *peek() { return static_cast<const T *>(Of::peek(words_)); }
  void consume(const T *slot) { call(Of::consume, const_cast<T *>(slot)); }

 private:
  static void *aligned(void *at) {
    const bool fits = reinterpret_cast<uintptr_t>(at) % alignof(T) == 0;
    if (at == nullptr || !fits)
      tell(EINVAL, nullptr, "weft: not aligned for T");
    return at;
  }
  template <class Function>
  void call(Function function, T *slot) {
    if constexpr (std::is_invocable_v<Function, words *, T *>)
      function(words_, slot);
    else
      function(words_);
  }
  template <class Move, class Item>
  size_t many(Move move, Item *items, size_t length) {
    static_assert(std::is_same_v<std::remove_const_t<Item>, T>, "items are T");
    const int32_t n = static_cast<int32_t>(length >> 30 ? 1 << 30 : length);
    const int32_t moved = move(words_, items, n);
    return moved < 0 ? (done(-moved), 0) : static_cast<size_t>(moved);
  }
  words *words_;
};

}  // namespace detail

template <class T>
using spsc_queue = detail::queue<T, detail::spsc_queue>;
template <class T>
using mpmc_queue = detail::queue<T, detail::mpmc_queue>;
template <class T>
using lock_free_queue = detail::queue<T, detail::lock_free_queue>;

}  // namespace weft
#endif

/*
 * weft.hpp - weft.h for C++17 and later, in the style of the standard library,
 * and queues of T. It calls weft.h on weft.h's words, so JavaScript and C share
 * every object. A queue is a handle to memory that create() or attach() names,
 * and its copies name the same memory. Every other class is the primitive
 * itself: declare it, or X::attach(at). docs/cpp.md has examples.
 *
 * A time is a duration or a time point. A function throws std::system_error for
 * an error of weft.h that its comment does not mention; it calls std::abort()
 * where exceptions are off, and throws nothing if it can set a std::error_code.
 * What waits is missing if WEFT_REALTIME is defined.
 */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include "weft.h"

/* What `clang -Wthread-safety` checks: which lock guards which data. */
#if defined(__clang__)
#define WEFT_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define WEFT_ATTRIBUTE(...)
#endif
#define WEFT_CAPABILITY(name) WEFT_ATTRIBUTE(capability(name))
#define WEFT_SCOPED_CAPABILITY WEFT_ATTRIBUTE(scoped_lockable)
#define WEFT_GUARDED_BY(lock) WEFT_ATTRIBUTE(guarded_by(lock))
#define WEFT_POINTED_GUARDED_BY(lock) WEFT_ATTRIBUTE(pt_guarded_by(lock))
#define WEFT_REQUIRES(...) WEFT_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define WEFT_REQUIRES_SHARED(...) \
  WEFT_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define WEFT_EXCLUDES(...) WEFT_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define WEFT_ACQUIRES(...) WEFT_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define WEFT_ACQUIRES_SHARED(...) \
  WEFT_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define WEFT_TRY_ACQUIRES(...) \
  WEFT_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define WEFT_TRY_ACQUIRES_SHARED(...) \
  WEFT_ATTRIBUTE(try_acquire_shared_capability(__VA_ARGS__))
#define WEFT_RELEASES(...) WEFT_ATTRIBUTE(release_capability(__VA_ARGS__))
#define WEFT_RELEASES_SHARED(...) \
  WEFT_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define WEFT_UNCHECKED WEFT_ATTRIBUTE(no_thread_safety_analysis)

namespace weft {
namespace detail {
struct errors {
 protected:
  using error_code = std::error_code;
  /* Tells an error to the caller. */
  static void tell(int error, std::error_code *ec = nullptr,
                   [[maybe_unused]] const char *what = "") {
    if (ec != nullptr) return ec->assign(error, std::generic_category());
    if (error == 0) return;
#if defined(__cpp_exceptions)
    throw std::system_error(error, std::generic_category(),
                            std::string("weft") + (*what ? ": " : "") + what);
#else
    std::abort();
#endif
  }

  /* The same for an error that there is: the compiler sees that it ends here. */
  [[noreturn]] static void refuse(const char *what) {
    tell(EINVAL, nullptr, what);
    std::abort();
  }

  /* True for 0, and false for an error that only an error_code has to tell. */
  static bool done(int error, std::error_code *ec = nullptr) {
    const bool no = error == EBUSY || error == ETIMEDOUT || error == EPIPE;
    tell(ec == nullptr && no ? 0 : error, ec);
    return error == 0;
  }

  /* As done(), and true if it is locked but the last owner was abandoned. */
  static bool held(int error, std::error_code *ec = nullptr) {
    const bool dead = error == EOWNERDEAD;
    return done(dead && ec == nullptr ? 0 : error, ec) || dead;
  }
};

/* Throws `error`, and says why. */
[[noreturn]] inline void fail(int error, const char *what) {
  struct teller : errors {
    using errors::tell;
  };
  teller::tell(error, nullptr, what);
  std::abort();
}

/* A time in nanoseconds as weft.h counts them, no fewer than were given. */
struct span {
  template <class Rep, class Period>
  span(const std::chrono::duration<Rep, Period> &time) {
    const double seconds = std::chrono::duration<double>(time).count();
    ns = INT64_MAX / 4;  // 73 years
    if (seconds < 2e9)
      ns = std::chrono::ceil<std::chrono::nanoseconds>(time).count();
    if (!(seconds > 0)) ns = 0;
  }
  template <class Clock, class Length>
  span(const std::chrono::time_point<Clock, Length> &end)
      : span(end - Clock::now()) {}
  int64_t ns = 0;
};

/* The words of a primitive. KIND is 0 if they have no head that tells it. */
template <class Object, class Words, int32_t KIND = 0>
class object : errors {
 public:
  object(object &&) = delete; /* nor is it copied */
  static Object &attach(void *at) {
    const char *error = at ? "not a multiple of 4" : "a null pointer";
    if (at != nullptr && weft__aligned(at))
      error = KIND == 0 ? nullptr : weft_attach_error(at, KIND);
    if (error != nullptr) tell(EINVAL, nullptr, error);
    return *static_cast<Object *>(at);
  }
  Words *native_handle() noexcept { return &w_; }

 protected:
  constexpr object() noexcept = default;
  using errors::done, errors::held, errors::tell, errors::error_code;
  using span = detail::span;
  static void made(const void *at) {
    if (at == nullptr) tell(EINVAL, nullptr, "out of range");
  }
  Words w_{};
};

/* The functions of weft.h for one kind of queue. */
/* clang-format off */
#define WEFT__NAMED(stem, name) \
  static constexpr auto name = weft_##stem##_##name;
#ifdef WEFT_REALTIME
#define WEFT__WAITS(stem, name)
#else
#define WEFT__WAITS(stem, name) WEFT__NAMED(stem, name)
#endif
#define WEFT__QUEUE(stem, NAME, more)                                       \
  struct stem {                                                             \
    using words = weft_##stem;                                              \
    static constexpr auto KIND = WEFT_KIND_##stem;                          \
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
WEFT__QUEUE(spsc_queue, SPSC_QUEUE, WEFT__NAMED(spsc_queue, abandon))
WEFT__QUEUE(mpmc_queue, MPMC_QUEUE, )
WEFT__QUEUE(lock_free_queue, LOCK_FREE_QUEUE, )

/* A T as it lies in a queue: whole words. The constructor leaves them as they
   are, so T needs none. */
template <class T>
union cell {
  static_assert(std::is_trivially_copyable_v<T>, "T is copied as bytes");
  static_assert(alignof(T) <= 16, "T is aligned at 16 or less");
  static constexpr size_t size = (sizeof(T) + 3) / 4 * 4;
  static constexpr bool is_T = size == sizeof(T) && alignof(T) >= 4;
  static constexpr size_t alignment = alignof(T) < 4   ? 4
                                      : alignof(T) > 8 ? 8
                                                       : alignof(T);
  cell() noexcept : words{} {}
  explicit cell(const T &from) noexcept : words{} {
    std::memcpy(words, &from, sizeof(T));
  }
  int32_t words[size / 4];
  T value;
};

/* A queue of T. A push returns false, and a pop returns nothing, if the queue
   is full or empty, if the time is over, or if it is closed; a std::error_code
   says which: EBUSY, ETIMEDOUT or EPIPE. */
template <class T, class Of>
class queue : errors {
  using words = typename Of::words;
  using cell = detail::cell<T>;

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
  bool try_push(const T &value, error_code *ec = nullptr) {
    return pushed(value, ec, Of::try_push);
  }
  std::optional<T> try_pop(error_code *ec = nullptr) {
    return popped(ec, Of::try_pop);
  }
#ifndef WEFT_REALTIME
  /* These wait for room, or for an element; pop until it is closed and empty.
   */
  bool push(const T &value, error_code *ec = nullptr) {
    return try_push_for(value, std::chrono::hours::max(), ec);
  }
  std::optional<T> pop(error_code *ec = nullptr) {
    return try_pop_for(std::chrono::hours::max(), ec);
  }
  bool try_push_for(const T &value, span time, error_code *ec = nullptr) {
    return pushed(value, ec, Of::push, time.ns);
  }
  std::optional<T> try_pop_for(span time, error_code *ec = nullptr) {
    return popped(ec, Of::pop, time.ns);
  }
#endif
  /* Pushes or pops as many of a span, vector or array as fit or as there are.
     Returns how many. A T that is no whole words goes one by one. */
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
      cell next;
      while (n < std::size(items) && done(Of::try_pop(w_, &next)))
        std::memcpy(&std::data(items)[n++], &next, sizeof(T));
      return n;
    }
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
    static_assert(alignof(T) <= 8, "a place in a queue is aligned at 8 or less");
    return static_cast<T *>(slot);
  }
  template <class Function, class... Time>
  bool pushed(const T &value, error_code *ec, Function move, Time... time) {
    if constexpr (cell::is_T) {
      return done(move(w_, &value, time...), ec);
    } else {
      const cell padded(value);
      return done(move(w_, &padded, time...), ec);
    }
  }
  template <class Function, class... Time>
  std::optional<T> popped(error_code *ec, Function move, Time... time) {
    cell next;
    if (!done(move(w_, &next, time...), ec)) return {};
    return std::optional<T>(std::move(next.value));
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

#ifndef WEFT_REALTIME

/* For std::scoped_lock, std::unique_lock and std::lock. Zeroed memory is an
   unlocked mutex. If the last owner was abandoned, each form locks and returns
   true, and only an error_code tells: std::errc::owner_dead. */
class WEFT_CAPABILITY("mutex") mutex
    : public detail::object<mutex, weft_mutex> {
 public:
  constexpr mutex() noexcept = default;
  bool lock(error_code *ec = nullptr) WEFT_ACQUIRES() WEFT_UNCHECKED {
    return held(weft_mutex_lock(&w_, WEFT_FOREVER), ec);
  }
  bool try_lock(error_code *ec = nullptr) WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return held(weft_mutex_try_lock(&w_), ec);
  }
  bool try_lock_for(span time, error_code *ec = nullptr) WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return held(weft_mutex_lock(&w_, time.ns), ec);
  }
  bool try_lock_until(span end, error_code *ec = nullptr) WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return try_lock_for(end, ec);
  }
  void unlock() WEFT_RELEASES() WEFT_UNCHECKED { done(weft_mutex_unlock(&w_)); }
  int32_t owner() const { return weft_mutex_owner(&w_); }
  /* Frees it if its owner(), the agent `id`, is dead. Returns 1, or 0. */
  int32_t abandon(int32_t id) { return weft_mutex_abandon(&w_, id); }
};

/* For std::shared_lock and std::unique_lock. Zeroed memory is an unlocked
   lock. If the last writer was abandoned, each form locks. */
class WEFT_CAPABILITY("mutex") rw_lock
    : public detail::object<rw_lock, weft_rw_lock> {
 public:
  constexpr rw_lock() noexcept = default;
  void lock() WEFT_ACQUIRES() WEFT_UNCHECKED { held(weft_rw_lock_write(&w_, WEFT_FOREVER)); }
  bool try_lock() WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED { return held(weft_rw_lock_try_write(&w_)); }
  bool try_lock_for(span time) WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return held(weft_rw_lock_write(&w_, time.ns));
  }
  bool try_lock_until(span end) WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED { return try_lock_for(end); }
  void unlock() WEFT_RELEASES() WEFT_UNCHECKED { done(weft_rw_lock_unlock_write(&w_)); }
  /* The writer goes on as a reader, and no writer comes in between. */
  void downgrade() WEFT_RELEASES() WEFT_ACQUIRES_SHARED() WEFT_UNCHECKED { done(weft_rw_lock_downgrade(&w_)); }
  void lock_shared() WEFT_ACQUIRES_SHARED() WEFT_UNCHECKED { held(weft_rw_lock_read(&w_, WEFT_FOREVER)); }
  bool try_lock_shared() WEFT_TRY_ACQUIRES_SHARED(true) WEFT_UNCHECKED { return held(weft_rw_lock_try_read(&w_)); }
  bool try_lock_shared_for(span time) WEFT_TRY_ACQUIRES_SHARED(true) WEFT_UNCHECKED {
    return held(weft_rw_lock_read(&w_, time.ns));
  }
  bool try_lock_shared_until(span end) WEFT_TRY_ACQUIRES_SHARED(true) WEFT_UNCHECKED { return try_lock_shared_for(end); }
  void unlock_shared() WEFT_RELEASES_SHARED() WEFT_UNCHECKED { done(weft_rw_lock_unlock_read(&w_)); }
};

/* For std::unique_lock<weft::mutex>. Zeroed memory is a condition. */
class condition : public detail::object<condition, weft_condition> {
  using guard = std::unique_lock<mutex>;

 public:
  constexpr condition() noexcept = default;
  void wait(guard &lock) { wait_for(lock, std::chrono::hours::max()); }
  template <class Predicate>
  void wait(guard &lock, Predicate is_true) {
    while (!is_true()) wait(lock);
  }
  std::cv_status wait_for(guard &lock, span time) {
    if (!lock.owns_lock()) tell(EPERM);
    weft_mutex *m = lock.mutex()->native_handle();
    const bool in_time = held(weft_condition_wait(&w_, m, time.ns));
    return in_time ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class Predicate>
  bool wait_for(guard &lock, span time, Predicate is_true) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(time.ns);
    while (!is_true())
      if (wait_for(lock, end) == std::cv_status::timeout) return is_true();
    return true;
  }
  template <class... Rest>
  auto wait_until(guard &lock, Rest... rest) {
    return wait_for(lock, rest...);
  }
  void notify_one() { done(weft_condition_notify(&w_, 1)); }
  void notify_all() { done(weft_condition_notify_all(&w_)); }
};

/* Counts `n` permits, as std::counting_semaphore, and never more than `max`. */
class semaphore
    : public detail::object<semaphore, weft_semaphore, WEFT_KIND_semaphore> {
 public:
  explicit semaphore(int32_t n, int32_t max = WEFT_SEMAPHORE_MAX) {
    made(weft_semaphore_init_max(&w_, sizeof w_, n, max));
  }
  void acquire(int32_t n = 1) {
    done(weft_semaphore_acquire(&w_, n, WEFT_FOREVER));
  }
  bool try_acquire(int32_t n = 1) {
    return done(weft_semaphore_try_acquire(&w_, n));
  }
  bool try_acquire_for(span time, int32_t n = 1) {
    return done(weft_semaphore_acquire(&w_, n, time.ns));
  }
  bool try_acquire_until(span end, int32_t n = 1) {
    return try_acquire_for(end, n);
  }
  void release(int32_t n = 1) {
    if (n != 0) done(weft_semaphore_release(&w_, n));
  }
  int32_t available() const { return weft_semaphore_available(&w_); }
  int32_t max() const { return weft_semaphore_max(&w_); }
};

/* Opens for good after `n` steps, as std::latch. */
class latch : public detail::object<latch, weft_latch, WEFT_KIND_latch> {
 public:
  explicit latch(int32_t n) { made(weft_latch_init(&w_, sizeof w_, n)); }
  void count_down(int32_t n = 1) {
    if (n != 0) done(weft_latch_count_down(&w_, n));
  }
  void wait() { done(weft_latch_wait(&w_, WEFT_FOREVER)); }
  bool try_wait() const { return weft_latch_try_wait(&w_) == 0; }
  void arrive_and_wait(int32_t n = 1) { count_down(n), wait(); }
  static constexpr int32_t max() noexcept { return WEFT_LATCH_MAX; }
};

/* A count that rises and falls; wait() returns when it is 0. Zeroed memory is
   one whose count is 0. */
class wait_group : public detail::object<wait_group, weft_wait_group> {
 public:
  constexpr wait_group() noexcept = default;
  void add(int32_t n = 1) { object::done(weft_wait_group_add(&w_, n)); }
  void done(int32_t n = 1) { object::done(weft_wait_group_done(&w_, n)); }
  int32_t count() const { return weft_wait_group_count(&w_); }
  void wait() { object::done(weft_wait_group_wait(&w_, WEFT_FOREVER)); }
  bool try_wait() const { return weft_wait_group_try_wait(&w_) == 0; }
  bool wait_for(span time) {
    return object::done(weft_wait_group_wait(&w_, time.ns));
  }
};

/* Lets all waiters through while it is set; with `auto_reset`, one a set. */
class event : public detail::object<event, weft_event> {
 public:
  explicit event(bool auto_reset = false) {
    made(weft_event_init(&w_, sizeof w_, auto_reset));
  }
  void set() { weft_event_set(&w_); }
  void reset() { weft_event_reset(&w_); }
  bool is_set() const { return weft_event_is_set(&w_); }
  void wait() { done(weft_event_wait(&w_, WEFT_FOREVER)); }
  bool try_wait() { return done(weft_event_try_wait(&w_)); }
  bool wait_for(span time) { return done(weft_event_wait(&w_, time.ns)); }
};

/* Lets `n` agents through together, again and again, as std::barrier. An agent
   that has not arrived may leave; then there is one less. */
class barrier
    : public detail::object<barrier, weft_barrier, WEFT_KIND_barrier> {
 public:
  explicit barrier(int32_t n) { made(weft_barrier_init(&w_, sizeof w_, n)); }
  bool arrive_and_wait() {
    bool leader = false; /* true for one of the agents */
    done(weft_barrier_arrive_and_wait(&w_, &leader, WEFT_FOREVER));
    return leader;
  }
  void leave() { done(weft_barrier_leave(&w_, false)); }
  static constexpr int32_t max() noexcept { return WEFT_BARRIER_MAX; }
};

/* As std::once_flag. Zeroed memory is one that was not run. */
class once : public detail::object<once, weft_once> {
 public:
  constexpr once() noexcept = default;
  bool is_done() const { return weft_once_done(&w_); }
  /* Calls `body` unless it was run. If it throws, the next agent runs it. */
  template <class Body>
  void run(Body body) {
    const int begun = weft__once_begin(&w_, WEFT_FOREVER);
    if (begun != EBUSY) return tell(begun);
    std::unique_ptr<weft_once, void (*)(weft_once *)> o(&w_, weft__once_fail);
    body();
    weft__once_end(o.release());
  }
};

#endif /* WEFT_REALTIME */

}  // namespace weft

#ifndef WEFT_REALTIME
#include "weft_std.hpp"
#endif
#endif

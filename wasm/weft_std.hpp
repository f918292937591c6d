/*
 * weft_std.hpp - what the standard library makes of locks, made of weft.hpp's:
 * recursive_mutex, condition_variable_any, phase_barrier (as std::barrier) and
 * the guards that clang checks. weft.hpp includes it. Threads of C++ share
 * these; a recursive_mutex is shared with C, too.
 */
#ifndef WEFT_STD_HPP
#define WEFT_STD_HPP

#include "weft_lock.hpp"

#ifndef WEFT_REALTIME

#if __cplusplus >= 202002L
#include <version>
#ifdef __cpp_lib_jthread
#include <stop_token>
#endif
#endif

namespace weft {

/* The standard's names for what mutex and rw_lock are. */
using timed_mutex = mutex;
using shared_mutex = rw_lock;
using shared_timed_mutex = rw_lock;

/* A mutex that its owner may lock again, and unlocks as often. Zeroed memory is
   an unlocked one. If the last owner was abandoned, each form locks. */
class WEFT_CAPABILITY("mutex") recursive_mutex
    : public detail::object<recursive_mutex, weft_recursive_mutex> {
 public:
  constexpr recursive_mutex() noexcept = default;
  bool lock(error_code *ec = nullptr) WEFT_ACQUIRES() WEFT_UNCHECKED {
    return held(weft_recursive_mutex_lock(&w_, WEFT_FOREVER), ec);
  }
  bool try_lock(error_code *ec = nullptr)
      WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return held(weft_recursive_mutex_try_lock(&w_), ec);
  }
  bool try_lock_for(span time, error_code *ec = nullptr)
      WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return held(weft_recursive_mutex_lock(&w_, time.ns), ec);
  }
  template <class Clock, class Length>
  bool try_lock_until(const moment<Clock, Length> &end,
                      error_code *ec = nullptr)
      WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return detail::wait_until(
        end, [&](span time) { return try_lock_for(time, ec); }, ec);
  }
  void unlock() WEFT_RELEASES() WEFT_UNCHECKED {
    done(weft_recursive_mutex_unlock(&w_));
  }
  int32_t owner() const { return weft_recursive_mutex_owner(&w_); }
  int32_t abandon(int32_t id) { return weft_recursive_mutex_abandon(&w_, id); }
};
using recursive_timed_mutex = recursive_mutex;

/* A condition for any lock with lock() and unlock(), such as rw_lock,
   std::shared_lock, recursive_mutex or std::mutex. All zero, nobody waits. It
   may end when all who wait are notified: it waits until they have left it. */
class condition_variable_any {
 public:
  constexpr condition_variable_any() noexcept = default;
  condition_variable_any(condition_variable_any &&) = delete;
  ~condition_variable_any() {
    while (!is_left()) {
      int32_t nowhere = 0; /* as a pause, because nobody has to wake us then */
      if (weft__may_block()) (void)weft__sleep(&nowhere, 0, INT64_MAX, 50000);
    }
  }
  template <class Lock>
  void wait(Lock &lock) {
    (void)wait_for(lock, weft::detail::forever);
  }
  template <class Lock, class Predicate>
  void wait(Lock &lock, Predicate is_true) {
    while (!is_true()) wait(lock);
  }
  template <class Lock>
  std::cv_status wait_for(Lock &lock, detail::span time) {
    return wait_if(lock, time, [] { return true; });
  }
  template <class Lock, class Predicate>
  bool wait_for(Lock &lock, detail::span time, Predicate is_true) {
    const auto end = end_of(time);
    while (!is_true())
      if (wait_for(lock, end) == std::cv_status::timeout) return is_true();
    return true;
  }
  template <class Lock, class Clock, class Length>
  std::cv_status wait_until(Lock &lock,
                            const detail::moment<Clock, Length> &end) {
    const bool is_over = wait_for(lock, end) == std::cv_status::timeout;
    return is_over && detail::span(end).ns == 0 ? std::cv_status::timeout
                                                : std::cv_status::no_timeout;
  }
  template <class Lock, class Clock, class Length, class Predicate>
  bool wait_until(Lock &lock, const detail::moment<Clock, Length> &end,
                  Predicate is_true) {
    while (!is_true())
      if (wait_until(lock, end) == std::cv_status::timeout) return is_true();
    return true;
  }
#ifdef __cpp_lib_jthread
  /* These return, too, when a stop is requested: is_true() at that moment. */
  template <class Lock, class Predicate>
  bool wait(Lock &lock, std::stop_token stop, Predicate is_true) {
    return wait_for(lock, std::move(stop), weft::detail::forever,
                    std::move(is_true));
  }
  template <class Lock, class Predicate>
  bool wait_for(Lock &lock, std::stop_token stop, detail::span time,
                Predicate is_true) {
    const auto end = end_of(time);
    const std::stop_callback wake(stop, [this] { notify_all(); });
    while (!stop.stop_requested()) {
      if (is_true()) return true;
      const auto goes_on = [&] { return !stop.stop_requested(); };
      if (wait_if(lock, end, goes_on) == std::cv_status::timeout) break;
    }
    return is_true();
  }
  template <class Lock, class Clock, class Length, class Predicate>
  bool wait_until(Lock &lock, std::stop_token stop,
                  const detail::moment<Clock, Length> &end,
                  Predicate is_true) {
    const auto check = [&] { return is_true(); }; /* it may not be copied */
    while (!wait_for(lock, stop, end, check))
      if (stop.stop_requested() || detail::span(end).ns == 0) return false;
    return true;
  }
#endif
  void notify_one() { notify([this] { c_.notify_one(); }); }
  void notify_all() { notify([this] { c_.notify_all(); }); }

 private:
  /* Locks again what the wait has unlocked, also if the wait throws. */
  template <class Lock>
  struct relock {
    explicit relock(Lock &lock) : lock_(lock) { lock.unlock(); }
    ~relock() { lock_.lock(); }
    relock(relock &&) = delete;
    Lock &lock_;
  };

  /* A call that waits on c_. It goes while m_ is locked. */
  struct visit {
    explicit visit(int32_t &inside) : inside_(inside) { inside_++; }
    ~visit() { inside_--; }
    visit(visit &&) = delete;
    int32_t &inside_;
  };

  /* Whether all who are inside still wait for a call: none comes any more. */
  bool is_left() WEFT_UNCHECKED {
    if (!m_.try_lock()) return false; /* somebody is leaving */
    const weft_condition *c = c_.native_handle();
    int32_t waiting = weft__condition_waiting(weft__load(&c->even));
    waiting += weft__condition_waiting(weft__load(&c->odd));
    const int32_t leaving = inside_ - waiting;
    m_.unlock();
    return leaving <= 0;
  }

  static std::chrono::steady_clock::time_point end_of(detail::span time) {
    return std::chrono::steady_clock::now() + std::chrono::nanoseconds(time.ns);
  }

  /* The inner mutex is locked before the user's is unlocked. So whoever changes
     the state after that, and notifies, finds us waiting. */
  template <class Lock, class Check>
  std::cv_status wait_if(Lock &lock, detail::span time, Check goes_on) {
    std::unique_lock<mutex> inner(m_);
    if (!goes_on()) return std::cv_status::no_timeout;
    const relock<Lock> outer(lock);
    /* The inner one goes first: whoever holds the user's lock may notify. */
    std::unique_lock<mutex> held(std::move(inner));
    const visit during(inside_);
    return c_.wait_for(held, time);
  }
  template <class Body>
  void notify(Body body) {
    const std::scoped_lock inner(m_);
    body();
  }
  condition c_;
  mutex m_;
  int32_t inside_ = 0;
};

namespace detail {
struct nothing {
  void operator()() const noexcept {}
};
}  // namespace detail

/* As std::barrier: whoever arrives need not wait, and the last one to arrive
   calls `completion` before the others go on. If it throws, that one has not
   arrived. It is made of a mutex and a condition; weft::barrier is faster, and
   is shared with other languages. It may be freed when all calls have returned.
   */
template <class Completion = detail::nothing>
class phase_barrier {
 public:
  /* The phase in which somebody has arrived. */
  class arrival_token {
    friend class phase_barrier;
    explicit arrival_token(uint32_t phase) : phase_(phase) {}
    uint32_t phase_;
  };
  constexpr explicit phase_barrier(int32_t n,
                                   Completion completion = Completion())
      : left_(n), all_(n), completion_(std::move(completion)) {
    if (n < 0) detail::fail(EINVAL, "out of range");
  }
  phase_barrier(phase_barrier &&) = delete;
  [[nodiscard]] arrival_token arrive(int32_t n = 1) {
    const std::scoped_lock held(m_);
    return come(n);
  }
  void wait(arrival_token &&token) const {
    std::unique_lock<mutex> held(m_);
    c_.wait(held, [&] { return phase_ != token.phase_; });
  }
  void arrive_and_wait() { wait(arrive()); }
  /* Arrives, and is not waited for in later phases. */
  void arrive_and_drop() {
    const std::scoped_lock held(m_);
    if (left_ < 1) detail::fail(EINVAL, "all have arrived");
    (void)come(1, 1);
  }
  static constexpr int32_t (max)() noexcept { return INT32_MAX; }

 private:
  /* `n` arrive, of whom `drop` leave. */
  arrival_token come(int32_t n, int32_t drop = 0) {
    if (n < 1 || n > left_) detail::fail(EINVAL, "more than are to arrive");
    const arrival_token token(phase_);
    const bool last = n == left_;
    if (last) completion_(); /* before anything changes: it may throw */
    all_ -= drop;
    left_ = last ? all_ : left_ - n;
    if (last) phase_++, c_.notify_all();
    return token;
  }
  mutable mutex m_;
  mutable condition c_;
  int32_t left_; /* who are to arrive in this phase */
  int32_t all_;  /* in the next one */
  uint32_t phase_ = 0;
  Completion completion_;
};

/* A std::scoped_lock of one lock, which `clang -Wthread-safety` follows. */
template <class Lock = mutex>
class WEFT_SCOPED_CAPABILITY guard {
 public:
  explicit guard(Lock &lock) WEFT_ACQUIRES(lock) : lock_(lock) { lock.lock(); }
  ~guard() WEFT_RELEASES() { lock_.unlock(); }
  guard(guard &&) = delete;

 private:
  Lock &lock_;
};

/* A std::shared_lock that `clang -Wthread-safety` follows. */
template <class Lock = rw_lock>
class WEFT_SCOPED_CAPABILITY shared_guard {
 public:
  explicit shared_guard(Lock &lock) WEFT_ACQUIRES_SHARED(lock) : lock_(lock) {
    lock.lock_shared();
  }
  ~shared_guard() WEFT_RELEASES() { lock_.unlock_shared(); }
  shared_guard(shared_guard &&) = delete;

 private:
  Lock &lock_;
};

}  // namespace weft

#endif /* WEFT_REALTIME */
#endif

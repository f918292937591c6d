/* weft_lock.hpp - locks, and what else agents wait for. weft.hpp includes it.
   */
#ifndef WEFT_LOCK_HPP
#define WEFT_LOCK_HPP

#include <condition_variable>
#include <memory>
#include <mutex>
#include <tuple>

#include "weft_base.hpp"

#ifndef WEFT_REALTIME

namespace weft {

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
  bool try_lock(error_code *ec = nullptr) WEFT_TRY_ACQUIRES(true)
      WEFT_UNCHECKED {
    return held(weft_mutex_try_lock(&w_), ec);
  }
  bool try_lock_for(span time, error_code *ec = nullptr) WEFT_TRY_ACQUIRES(true)
      WEFT_UNCHECKED {
    return held(weft_mutex_lock(&w_, time.ns), ec);
  }
  template <class Clock, class Length>
  bool try_lock_until(const moment<Clock, Length> &end,
                      error_code *ec = nullptr)
      WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return detail::wait_until(
        end, [&](span time) { return try_lock_for(time, ec); }, ec);
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
  void lock() WEFT_ACQUIRES() WEFT_UNCHECKED {
    held(weft_rw_lock_write(&w_, WEFT_FOREVER));
  }
  bool try_lock() WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return held(weft_rw_lock_try_write(&w_));
  }
  bool try_lock_for(span time) WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return held(weft_rw_lock_write(&w_, time.ns));
  }
  template <class Clock, class Length>
  bool try_lock_until(const moment<Clock, Length> &end)
      WEFT_TRY_ACQUIRES(true) WEFT_UNCHECKED {
    return detail::wait_until(
        end, [&](span time) { return try_lock_for(time); });
  }
  void unlock() WEFT_RELEASES() WEFT_UNCHECKED {
    done(weft_rw_lock_unlock_write(&w_));
  }
  /* The writer goes on as a reader, and no writer comes in between. */
  void downgrade() WEFT_RELEASES() WEFT_ACQUIRES_SHARED() WEFT_UNCHECKED {
    done(weft_rw_lock_downgrade(&w_));
  }
  void lock_shared() WEFT_ACQUIRES_SHARED() WEFT_UNCHECKED {
    held(weft_rw_lock_read(&w_, WEFT_FOREVER));
  }
  bool try_lock_shared() WEFT_TRY_ACQUIRES_SHARED(true) WEFT_UNCHECKED {
    return held(weft_rw_lock_try_read(&w_));
  }
  bool try_lock_shared_for(span time) WEFT_TRY_ACQUIRES_SHARED(true)
      WEFT_UNCHECKED {
    return held(weft_rw_lock_read(&w_, time.ns));
  }
  template <class Clock, class Length>
  bool try_lock_shared_until(const moment<Clock, Length> &end)
      WEFT_TRY_ACQUIRES_SHARED(true) WEFT_UNCHECKED {
    return detail::wait_until(
        end, [&](span time) { return try_lock_shared_for(time); });
  }
  void unlock_shared() WEFT_RELEASES_SHARED() WEFT_UNCHECKED {
    done(weft_rw_lock_unlock_read(&w_));
  }
};

/* For std::unique_lock<weft::mutex>. Zeroed memory is a condition. */
class condition : public detail::object<condition, weft_condition> {
  using guard = std::unique_lock<mutex>;

 public:
  constexpr condition() noexcept = default;
  void wait(guard &lock) { wait_for(lock, weft::detail::forever); }
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
  template <class Clock, class Length>
  std::cv_status wait_until(guard &lock, const moment<Clock, Length> &end) {
    const bool is_over = wait_for(lock, end) == std::cv_status::timeout;
    return is_over && span(end).ns == 0 ? std::cv_status::timeout
                                     : std::cv_status::no_timeout;
  }
  template <class Clock, class Length, class Predicate>
  bool wait_until(guard &lock, const moment<Clock, Length> &end,
                  Predicate is_true) {
    while (!is_true())
      if (wait_until(lock, end) == std::cv_status::timeout) return is_true();
    return true;
  }
  void notify_one() { done(weft_condition_notify(&w_, 1)); }
  void notify_all() { done(weft_condition_notify_all(&w_)); }
};

/* Counts `n` permits, as std::counting_semaphore, and never more than `max`. */
class semaphore
    : public detail::object<semaphore, weft_semaphore, WEFT_KIND_semaphore> {
 public:
  constexpr explicit semaphore(int32_t n, int32_t max = WEFT_SEMAPHORE_MAX)
      : object(words(n, max)) {}
  void acquire(int32_t n = 1) {
    done(weft_semaphore_acquire(&w_, n, WEFT_FOREVER));
  }
  bool try_acquire(int32_t n = 1) {
    return done(weft_semaphore_try_acquire(&w_, n));
  }
  bool try_acquire_for(span time, int32_t n = 1) {
    return done(weft_semaphore_acquire(&w_, n, time.ns));
  }
  template <class Clock, class Length>
  bool try_acquire_until(const moment<Clock, Length> &end, int32_t n = 1) {
    return detail::wait_until(
        end, [&](span time) { return try_acquire_for(time, n); });
  }
  /* Takes all permits that are free, in one step; how many those were. */
  int32_t drain() {
    const int32_t n = weft_semaphore_drain(&w_);
    done(n < 0 ? -n : 0);
    return n;
  }
  void release(int32_t n = 1) {
    if (n != 0) done(weft_semaphore_release(&w_, n));
  }
  int32_t available() const { return weft_semaphore_available(&w_); }
  int32_t waiters() const { return weft_semaphore_waiters(&w_); }
  int32_t (max)() const { return weft_semaphore_max(&w_); }

 private:
  /* What weft_semaphore_init_max writes. */
  static constexpr weft_semaphore words(int32_t n, int32_t max) {
    check_range(max >= 1 && max <= WEFT_SEMAPHORE_MAX && n >= 0 && n <= max);
    weft_semaphore w{};
    w.magic = weft__magic(WEFT_KIND_semaphore);
    w.max = max;
    w.seal = weft__seal(WEFT_KIND_semaphore, 0, max);
    w.permits = static_cast<int32_t>(static_cast<uint32_t>(n)
                                     << WEFT__SEMAPHORE_SHIFT);
    return w;
  }
};

/* Opens for good after `n` steps, as std::latch. */
class latch : public detail::object<latch, weft_latch, WEFT_KIND_latch> {
 public:
  constexpr explicit latch(int32_t n) : object(words(n)) {}
  void count_down(int32_t n = 1) {
    if (n != 0) done(weft_latch_count_down(&w_, n));
  }
  void wait() const {
    /* It notes there that it waits: a latch is no object that is const. */
    done(weft_latch_wait(const_cast<weft_latch *>(&w_), WEFT_FOREVER));
  }
  bool try_wait() const { return weft_latch_try_wait(&w_) == 0; }
  bool wait_for(span time) const {
    return done(weft_latch_wait(const_cast<weft_latch *>(&w_), time.ns));
  }
  void arrive_and_wait(int32_t n = 1) {
    check_range(n >= 0 && n <= (max)());
    if (!weft__may_block()) tell(EPERM);
    bool opened = false;
    if (n != 0) done(weft__latch_step(&w_, n, &opened));
    if (!opened) wait(); /* an open latch may have been freed by now */
  }
  static constexpr int32_t (max)() noexcept { return WEFT_LATCH_MAX; }

 private:
  /* What weft_latch_init writes. */
  static constexpr weft_latch words(int32_t n) {
    check_range(n >= 0 && n <= WEFT_LATCH_MAX);
    weft_latch w{};
    w.magic = weft__magic(WEFT_KIND_latch);
    w.seal = weft__seal(WEFT_KIND_latch, 0, 0);
    w.state = n * WEFT_LATCH_ONE;
    return w;
  }
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
  constexpr explicit event(bool auto_reset = false) noexcept
      : object(weft_event{auto_reset ? WEFT_EVENT_AUTO_BIT : 0}) {}
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
  constexpr explicit barrier(int32_t n) : object(words(n)) {}
  bool arrive_and_wait() {
    bool leader = false; /* true for one of the agents */
    done(weft_barrier_arrive_and_wait(&w_, &leader, WEFT_FOREVER));
    return leader;
  }
  /* Whether that let the others through. */
  bool leave() {
    const int ended = weft_barrier_leave(&w_, false);
    done(ended < 0 ? -ended : 0);
    return ended > 0;
  }
  static constexpr int32_t (max)() noexcept { return WEFT_BARRIER_MAX; }

 private:
  /* What weft_barrier_init writes. */
  static constexpr weft_barrier words(int32_t n) {
    check_range(n >= 1 && n <= WEFT_BARRIER_MAX);
    weft_barrier w{};
    w.magic = weft__magic(WEFT_KIND_barrier);
    w.parties = n;
    w.seal = weft__seal(WEFT_KIND_barrier, n, 0);
    w.state = n * WEFT_BARRIER_ONE_PARTY;
    return w;
  }
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

/* As std::call_once. */
template <class Function, class... Arguments>
void call_once(once &flag, Function &&function, Arguments &&...arguments) {
  flag.run([&] {
    std::apply(std::forward<Function>(function),
               std::forward_as_tuple(std::forward<Arguments>(arguments)...));
  });
}

}  // namespace weft

#endif /* WEFT_REALTIME */
#endif

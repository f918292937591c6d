/*
 * weft_base.hpp - what all classes of weft.hpp are made of: errors, times, the
 * words of a primitive, and the annotations that clang checks.
 */
#ifndef WEFT_BASE_HPP
#define WEFT_BASE_HPP

#if __cplusplus < 201703L
#error "weft.hpp needs C++17: compile with -std=c++17 or a later one"
#endif

#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>
#include <type_traits>

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
  [[gnu::cold]] static void tell(int error, std::error_code *ec = nullptr,
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

  /* The same for an error that there is: this does not return. */
  [[noreturn]] static void refuse(const char *what) {
    tell(EINVAL, nullptr, what);
    std::abort();
  }

  /* True for 0, and false for an error that only an error_code has to tell. */
  static bool done(int error, std::error_code *ec = nullptr) {
    if (error == 0 && ec == nullptr) return true; /* in line; the rest is not */
    const bool no = error == EBUSY || error == ETIMEDOUT || error == EPIPE;
    if (ec != nullptr || !no) tell(error, ec);
    return error == 0;
  }

  /* As done(), and true if it is locked but the last owner was abandoned. */
  static bool held(int error, std::error_code *ec = nullptr) {
    if (error == 0 && ec == nullptr) return true;
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

/* In parentheses, because some headers of C define a macro `max`. */
inline constexpr std::chrono::hours forever = (std::chrono::hours::max)();

/* A time in nanoseconds as weft.h counts them, no fewer than were given. */
struct span {
  template <class Rep, class Period>
  span(const std::chrono::duration<Rep, Period> &time) {
    const double seconds = std::chrono::duration<double>(time).count();
    if (!(seconds > 0)) return;
    ns = INT64_MAX / 4;  // 73 years
    if (seconds < 2e9)
      ns = std::chrono::ceil<std::chrono::nanoseconds>(time).count();
  }
  template <class Clock, class Length>
  span(const std::chrono::time_point<Clock, Length> &end)
      : span(between(Clock::now(), end)) {}
  int64_t ns = 0;

 private:
  /* `end - now` overflows if `end` is the last or the first time of its type.
     */
  template <class Clock, class Now, class End>
  static span between(const std::chrono::time_point<Clock, Now> &now,
                      const std::chrono::time_point<Clock, End> &end) {
    using seconds = std::chrono::duration<double>;
    const seconds about =
        seconds(end.time_since_epoch()) - seconds(now.time_since_epoch());
    if (about.count() > -1 && about.count() < 2e9) return span(end - now);
    return span(about);
  }
};

template <class Clock, class Length>
using moment = std::chrono::time_point<Clock, Length>;

/* Waits until `end` by `wait(span)`, which says whether that was in time. A
   clock of a program may be slower than that of weft.h, or be set back, so it
   is not over before that clock says so. */
template <class Clock, class Length, class Wait>
bool wait_until(const moment<Clock, Length> &end, Wait wait,
                const std::error_code *ec = nullptr) {
  while (!wait(span(end))) {
    if (ec != nullptr && *ec != std::errc::timed_out) return false;
    if (span(end).ns == 0) return false;
  }
  return true;
}

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
  using native_handle_type = Words *;
  native_handle_type native_handle() noexcept { return &w_; }

 protected:
  constexpr object() noexcept = default;
  constexpr explicit object(const Words &words) noexcept : w_(words) {}
  using errors::done, errors::held, errors::tell, errors::error_code;
  using span = detail::span;
  template <class Clock, class Length>
  using moment = detail::moment<Clock, Length>;
  /* In a constant expression, a number out of range does not compile. */
  static constexpr void check_range(bool in_range) {
    if (!in_range) tell(EINVAL, nullptr, "out of range");
  }
  Words w_{};
};

}  // namespace detail
}  // namespace weft

#endif

/* SPSCQueue.h - rigtorp's names for a weft::spsc_queue. */
#ifndef WEFT_RIGTORP_SPSC_HPP
#define WEFT_RIGTORP_SPSC_HPP

#include <atomic>
#include <memory>

#include "../weft_bounded.hpp"

namespace rigtorp {
template <class T>
class SPSCQueue {
  template <class... From>
  static constexpr bool is_safe = std::is_nothrow_constructible_v<T, From...>;

 public:
  explicit SPSCQueue(size_t capacity) : q_(capacity < 1 ? 1 : capacity) {}
  template <class... From>
  void emplace(From &&...from) noexcept(is_safe<From &&...>) {
    q_.emplace_for(weft_bounded::forever, std::forward<From>(from)...);
  }
  template <class... From>
  [[nodiscard]] bool try_emplace(From &&...from) noexcept(is_safe<From &&...>) {
    return q_.try_emplace(std::forward<From>(from)...);
  }
  template <class From>
  void push(From &&from) noexcept(is_safe<copied<From>>) {
    emplace(static_cast<copied<From>>(from));
  }
  template <class From>
  [[nodiscard]] bool try_push(From &&from) noexcept(is_safe<copied<From>>) {
    return try_emplace(static_cast<copied<From>>(from));
  }
  T *front() noexcept { return q_.peek(); }
  void pop() noexcept {
    q_.take([](T &) {});
  }
  size_t size() const noexcept { return q_.size(); }
  bool empty() const noexcept { return size() == 0; }
  size_t capacity() const noexcept { return q_.limit(); }

 private:
  /* A T that cannot be moved is copied. */
  template <class From>
  using copied = std::conditional_t<std::is_constructible_v<T, From &&>,
                                    From &&, const T &>;
  weft_bounded::spsc<T> q_;
};
}  // namespace rigtorp

#endif

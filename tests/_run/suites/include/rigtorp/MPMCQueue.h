/* MPMCQueue.h - rigtorp's names for a weft::mpmc_queue. */
#ifndef WEFT_RIGTORP_MPMC_HPP
#define WEFT_RIGTORP_MPMC_HPP

#include <atomic>
#include <memory>

#include "../weft_bounded.hpp"

namespace rigtorp {
template <class T>
class MPMCQueue {
 public:
  explicit MPMCQueue(size_t capacity) : q_(checked(capacity)) {}
  template <class... From>
  void emplace(From &&...from) {
    q_.emplace_for(weft_bounded::forever, std::forward<From>(from)...);
  }
  template <class... From>
  bool try_emplace(From &&...from) {
    return q_.try_emplace(std::forward<From>(from)...);
  }
  template <class From>
  void push(From &&from) {
    emplace(static_cast<copied<From>>(from));
  }
  template <class From>
  bool try_push(From &&from) {
    return try_emplace(static_cast<copied<From>>(from));
  }
  void pop(T &into) { q_.take_for(weft_bounded::forever, moving(into)); }
  bool try_pop(T &into) { return q_.take(moving(into)); }
  ptrdiff_t size() const { return static_cast<ptrdiff_t>(q_.size()); }
  bool empty() const { return size() == 0; }

 private:
  template <class From>
  using copied = std::conditional_t<std::is_constructible_v<T, From &&>,
                                    From &&, const T &>;
  static size_t checked(size_t capacity) {
    if (capacity < 1) throw std::invalid_argument("no room");
    return capacity;
  }
  static auto moving(T &into) {
    return [&into](T &from) { into = std::move(from); };
  }
  weft_bounded::mpmc<T> q_;
};
}  // namespace rigtorp

#endif

/* _fixed.hpp - what both of Boost's queues can do. */
#ifndef WEFT_BOOST_FIXED_HPP
#define WEFT_BOOST_FIXED_HPP

#include <memory>

#include <boost/lockfree/lockfree_forward.hpp>
#include <boost/lockfree/policies.hpp>

#include "../../weft_bounded.hpp"

namespace weft_boost {

/* The number that an option capacity<N> has; 0 for another one. */
template <class Option>
inline constexpr size_t size_in = 0;
template <size_t N>
inline constexpr size_t size_in<boost::lockfree::capacity<N>> = N;

template <class Queue, class T, class... Options>
class fixed {
 public:
  static constexpr size_t SIZE = (size_t(0) + ... + size_in<Options>);

  fixed() : q_(SIZE > 0 ? SIZE : 1024) {}
  explicit fixed(size_t capacity) : q_(capacity) {}
  bool empty() const { return q_.size() == 0; }
  bool is_lock_free() const { return true; }
  bool push(const T &value) { return q_.try_emplace(value); }
  template <class Into>
  std::enable_if_t<std::is_constructible_v<Into, T>, bool> pop(Into &into) {
    return q_.take([&](T &from) { into = Into(from); });
  }
  template <class Function>
  bool consume_one(Function &&function) {
    return q_.take(function);
  }
  template <class Function>
  size_t consume_all(Function &&function) {
    size_t n = 0;
    while (q_.take(function)) n++;
    return n;
  }

 protected:
  Queue q_;
};

}  // namespace weft_boost

#endif

/*
 * queue.hpp - Boost's names for a weft::lock_free_queue. Theirs grows by a
 * push unless its capacity is fixed; here a push fails if there is no room.
 */
#ifndef WEFT_BOOST_QUEUE_HPP
#define WEFT_BOOST_QUEUE_HPP

#include "_fixed.hpp"

namespace boost {
namespace lockfree {
template <class T, class... Options>
class queue
    : public weft_boost::fixed<weft_bounded::lock_free<T>, T, Options...> {
  using base = weft_boost::fixed<weft_bounded::lock_free<T>, T, Options...>;

 public:
  using base::base;
  bool bounded_push(const T &value) { return this->push(value); }
  bool unsynchronized_push(const T &value) { return this->push(value); }
  template <class Into>
  bool unsynchronized_pop(Into &into) {
    return this->pop(into);
  }
  void reserve(size_t) {}
  void reserve_unsafe(size_t) {}
};
}  // namespace lockfree
}  // namespace boost

#endif

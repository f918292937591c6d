/* spsc_queue.hpp - Boost's names for a weft::spsc_queue. */
#ifndef WEFT_BOOST_SPSC_QUEUE_HPP
#define WEFT_BOOST_SPSC_QUEUE_HPP

#include "_fixed.hpp"

namespace boost {
namespace lockfree {
template <class T, class... Options>
class spsc_queue
    : public weft_boost::fixed<weft_bounded::spsc<T>, T, Options...> {
  using base = weft_boost::fixed<weft_bounded::spsc<T>, T, Options...>;

 public:
  using base::base;
  using base::pop;
  using base::push;

  size_t read_available() const { return this->q_.size(); }
  size_t write_available() const { return this->q_.limit() - this->q_.size(); }

  size_t push(const T *items, size_t n) { return this->q_.push_many(items, n); }
  template <size_t n>
  size_t push(const T (&items)[n]) {
    return push(items, n);
  }
  template <class Iterator>
  Iterator push(Iterator begin, Iterator end) {
    while (begin != end && push(*begin)) ++begin;
    return begin;
  }
  bool pop() {
    return this->q_.take([](T &) {});
  }
  size_t pop(T *items, size_t n) { return this->q_.pop_many(items, n); }
  template <size_t n>
  size_t pop(T (&items)[n]) {
    return pop(items, n);
  }
  template <class Iterator>
  std::enable_if_t<!std::is_assignable_v<Iterator &, T> ||
                       !std::is_convertible_v<T, Iterator>,
                   size_t>
  pop(Iterator into) {
    return this->consume_all([&](T &next) { *into++ = std::move(next); });
  }
  T &front() { return *this->q_.peek(); }
  void reset() {
    this->consume_all([](T &) {});
  }
};
}  // namespace lockfree
}  // namespace boost

#endif

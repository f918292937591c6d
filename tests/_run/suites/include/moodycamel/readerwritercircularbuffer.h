/* readerwritercircularbuffer.h - moodycamel's names for a weft::spsc_queue. */
#ifndef WEFT_READER_WRITER_CIRCULAR_BUFFER_H
#define WEFT_READER_WRITER_CIRCULAR_BUFFER_H

#include <memory>

#include <weft_bounded.hpp>

namespace moodycamel {
template <class T>
class BlockingReaderWriterCircularBuffer {
 public:
  explicit BlockingReaderWriterCircularBuffer(size_t capacity)
      : q_(new weft_bounded::spsc<T>(capacity)) {}
  template <class From>
  bool try_enqueue(From &&from) {
    return q_->try_emplace(std::forward<From>(from));
  }
  template <class From>
  void wait_enqueue(From &&from) {
    q_->emplace_for(weft_bounded::forever, std::forward<From>(from));
  }
  template <class From>
  bool wait_enqueue_timed(From &&from, int64_t microseconds) {
    return q_->emplace_for(std::chrono::microseconds(microseconds),
                           std::forward<From>(from));
  }
  bool try_dequeue(T &into) { return q_ && q_->take(moving(into)); }
  void wait_dequeue(T &into) {
    q_->take_for(weft_bounded::forever, moving(into));
  }
  bool wait_dequeue_timed(T &into, int64_t microseconds) {
    return q_->take_for(std::chrono::microseconds(microseconds), moving(into));
  }
  T *peek() { return q_->peek(); }
  bool try_pop() {
    return q_->take([](T &) {});
  }
  size_t size_approx() const { return q_ ? q_->size() : 0; }
  size_t max_capacity() const { return q_ ? q_->limit() : 0; }

 private:
  static auto moving(T &into) {
    return [&into](T &from) { into = std::move(from); };
  }
  std::unique_ptr<weft_bounded::spsc<T>> q_;
};
}  // namespace moodycamel

#endif

/*
 * readerwriterqueue.h - moodycamel's names for a weft::spsc_queue.
 *
 * Theirs grows: this one has room for ROOM elements, and an enqueue beyond that
 * ends the program. try_enqueue refuses above the capacity, as theirs does.
 */
#ifndef WEFT_READER_WRITER_QUEUE_H
#define WEFT_READER_WRITER_QUEUE_H

#include <cstdio>
#include <memory>
#include <vector>

#include "atomicops.h"

#include <weft_bounded.hpp>

#define MOODYCAMEL_HAS_EMPLACE 1

namespace moodycamel {
template <class T, size_t block = 512>
class ReaderWriterQueue {
 public:
  static constexpr size_t ROOM = 1 << 20;

  explicit ReaderWriterQueue(size_t size = 15)
      : q_(new weft_bounded::spsc<T>(least(size), ROOM)) {}
  bool try_enqueue(const T &value) { return q_->try_emplace(value); }
  bool try_enqueue(T &&value) { return q_->try_emplace(std::move(value)); }
  bool enqueue(const T &value) { return grown(value); }
  bool enqueue(T &&value) { return grown(std::move(value)); }
  template <class... From>
  bool try_emplace(From &&...from) {
    return q_->try_emplace(std::forward<From>(from)...);
  }
  template <class... From>
  bool emplace(From &&...from) {
    return grown(std::forward<From>(from)...);
  }
  bool try_dequeue(T &into) {
    return q_->take([&](T &from) { into = std::move(from); });
  }
  T *peek() const { return q_->peek(); }
  bool pop() {
    return q_->take([](T &) {});
  }
  size_t size_approx() const { return q_->size(); }
  size_t max_capacity() const { return q_->limit(); }

 protected:
  std::unique_ptr<weft_bounded::spsc<T>> q_;

 private:
  /* One less than a power of two, as theirs. */
  static size_t least(size_t size) {
    size_t power = 1;
    while (power < size + 1) power *= 2;
    return power - 1;
  }
  template <class... From>
  bool grown(From &&...from) {
    if (q_->try_emplace_below(ROOM, std::forward<From>(from)...)) return true;
    std::puts("a queue of Weft does not grow");
    std::exit(3);
  }
};

template <class T, size_t block = 512>
class BlockingReaderWriterQueue : public ReaderWriterQueue<T, block> {
 public:
  using ReaderWriterQueue<T, block>::ReaderWriterQueue;
  void wait_dequeue(T &into) {
    wait_dequeue_timed(into, weft_bounded::forever);
  }
  bool wait_dequeue_timed(T &into, int64_t microseconds) {
    return wait_dequeue_timed(into, std::chrono::microseconds(microseconds));
  }
  template <class Rep, class Period>
  bool wait_dequeue_timed(T &into, std::chrono::duration<Rep, Period> time) {
    return this->q_->take_for(time, [&](T &from) { into = std::move(from); });
  }
};
}  // namespace moodycamel

#endif

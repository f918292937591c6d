/* weft_select.hpp - does the first of several pushes and pops of queues of T,
   and sends and receives of channels, that can be done. weft.hpp includes it.
   */
#ifndef WEFT_SELECT_HPP
#define WEFT_SELECT_HPP

#include "weft_calls.hpp"
#include "weft_queue.hpp"

#ifndef WEFT_REALTIME

namespace weft {

/* What a select did. */
struct selected {
  /* Which of its arms. */
  int32_t index;
  /* Whether the queue of this arm was closed (and, to pop, is empty). Then
     nothing was done. */
  bool closed;
};

namespace detail {

inline weft_arm arm_of(weft_spsc_queue *q, void *dst) {
  return weft_spsc_queue_popping(q, dst);
}
inline weft_arm arm_of(weft_mpmc_queue *q, void *dst) {
  return weft_mpmc_queue_popping(q, dst);
}
inline weft_arm arm_of(weft_spsc_queue *q, const void *src) {
  return weft_spsc_queue_pushing(q, src);
}
inline weft_arm arm_of(weft_mpmc_queue *q, const void *src) {
  return weft_mpmc_queue_pushing(q, src);
}
inline weft_arm arm_of(weft_channel *c, void *dst) {
  return weft_channel_receiving(c, dst);
}
inline weft_arm arm_of(weft_channel *c, const void *src) {
  return weft_channel_sending(c, src);
}
inline weft_arm arm_of(weft_lock_free_queue *q, void *dst) {
  return weft_lock_free_queue_popping(q, dst);
}
inline weft_arm arm_of(weft_lock_free_queue *q, const void *src) {
  return weft_lock_free_queue_pushing(q, src);
}

/* An arm that takes a T. */
template <class T, class Words>
class pop_arm {
 public:
  pop_arm(Words *from, std::optional<T> &into, bool is_wanted)
      : wanted(is_wanted), q_(from), into_(into) {
    into_.reset();
  }
  pop_arm(pop_arm &&) = delete;
  weft_arm words() { return arm_of(q_, static_cast<void *>(&next_)); }
  void done() { into_ = moved_out(next_); }
  const bool wanted;

 private:
  Words *q_;
  std::optional<T> &into_;
  cell<T> next_;
};

/* Copies a T of plain bytes, as `relocated` moves another one. */
template <class T>
struct copied {
  explicit copied(const T &from) : as_cell(from) {}
  cell<T> as_cell;
  bool gone = false;
};

/* An arm that adds a T. */
template <class T, class Words>
class push_arm {
  using item = std::conditional_t<cell<T>::is_bytes, copied<T>, relocated<T>>;

 public:
  template <class Value>
  push_arm(Words *to, Value &value, bool is_wanted)
      : wanted(is_wanted), q_(to), item_(value) {}
  push_arm(push_arm &&) = delete;
  weft_arm words() {
    return arm_of(q_, static_cast<const void *>(&item_.as_cell));
  }
  void done() { item_.gone = true; }
  const bool wanted;

 private:
  Words *q_;
  item item_;
};

/* The words of a channel whose messages have the size of a T. */
template <class T>
weft_channel *channel_of(const channel &it) {
  static_assert(cell<T>::is_bytes, "T is copied as bytes");
  weft_channel *words = it.native_handle();
  const bool fits = weft__channel_sized(it.codec()) &&
                    it.max_length() == int32_t{cell<T>::size};
  if (!fits) fail(EINVAL, "the messages are not T");
  return words;
}

using select_way = int (*)(weft_arm *, int32_t, int64_t, int32_t *);

struct selecting : errors {
  /* Nothing if the time is over. */
  static std::optional<selected> call(select_way how, weft_arm *arms,
                                      int32_t n, int64_t time) {
    int32_t index = -1;
    const int error = how(arms, n, time, &index);
    if (error == ETIMEDOUT) return {};
    if (error != EPIPE) tell(error, nullptr, n == 0 ? "no arm" : "");
    return selected{index, error == EPIPE};
  }
};

template <class... Arms>
std::optional<selected> select_by(select_way how, span time, Arms &&...arms) {
  constexpr size_t most = sizeof...(Arms);
  static_assert(most > 0, "select needs an arm");
  static_assert((!std::is_lvalue_reference_v<Arms> && ...),
                "an arm is for one select: make it in the call");
  weft_arm words[most];
  int32_t places[most] = {}; /* in the list of all arms */
  int32_t n = 0, place = 0;
  const auto add = [&](auto &arm) {
    if (arm.wanted) words[n] = arm.words(), places[n++] = place;
    place++;
  };
  (add(arms), ...);
  std::optional<selected> got = selecting::call(how, words, n, time.ns);
  if (!got) return got;
  got->index = places[got->index];
  if (got->closed) return got;
  place = 0;
  ((place++ == got->index ? arms.done() : void()), ...);
  return got;
}

}  // namespace detail

/* An arm that moves the oldest element of a queue to `into`, which is empty if
   another arm was done. Without `wanted`, select leaves the arm out; use that
   for a queue that was closed. Make it in the call of select. */
template <class T, class Of>
detail::pop_arm<T, typename Of::words> popping(detail::queue<T, Of> from,
                                               std::optional<T> &into,
                                               bool wanted = true) {
  return {from.native_handle(), into, wanted};
}

/* An arm that appends `value` to a queue. A T that is not plain bytes is moved
   into it, and stays as it was if another arm was done: see try_push. */
template <class T, class Of>
detail::push_arm<T, typename Of::words> pushing(
    detail::queue<T, Of> to, const std::common_type_t<T> &value,
    bool wanted = true) {
  static_assert(detail::cell<T>::is_bytes, "move a T that is not plain bytes");
  return {to.native_handle(), value, wanted};
}
template <class T, class Of>
detail::push_arm<T, typename Of::words> pushing(detail::queue<T, Of> to,
                                                std::common_type_t<T> &&value,
                                                bool wanted = true) {
  return {to.native_handle(), value, wanted};
}

/* The same for a channel of numbers or records of the size of a T. */
template <class T>
detail::pop_arm<T, weft_channel> receiving(channel from,
                                           std::optional<T> &into,
                                           bool wanted = true) {
  return {detail::channel_of<T>(from), into, wanted};
}
template <class T>
detail::push_arm<T, weft_channel> sending(channel to, const T &value,
                                          bool wanted = true) {
  return {detail::channel_of<T>(to), value, wanted};
}

/* Waits until one of the arms can be done, does it, and returns which. If
   several can be done at the call, one of them is chosen at random. */
template <class... Arms>
selected select(Arms &&...arms) {
  return *detail::select_by(weft_select, weft::detail::forever,
                            std::forward<Arms>(arms)...);
}
/* The same; nothing if the time is over. */
template <class... Arms>
std::optional<selected> select_for(detail::span time, Arms &&...arms) {
  return detail::select_by(weft_select, time, std::forward<Arms>(arms)...);
}

/* The same, but if several arms can be done at the call, the first of them
   is. */
template <class... Arms>
selected select_first(Arms &&...arms) {
  return *detail::select_by(weft_select_first, weft::detail::forever,
                            std::forward<Arms>(arms)...);
}
template <class... Arms>
std::optional<selected> select_first_for(detail::span time, Arms &&...arms) {
  return detail::select_by(weft_select_first, time,
                           std::forward<Arms>(arms)...);
}

/* Waits until a pop of one of the queues would not wait, because there is an
   element or the queue is closed; returns which, the first if there are
   several. It takes nothing, so another agent may be faster. */
template <class... Queues>
std::optional<int32_t> wait_any_for(detail::span time, Queues... queues) {
  static_assert(sizeof...(Queues) > 0, "wait_any needs a queue");
  weft_arm arms[] = {
      detail::arm_of(queues.native_handle(), static_cast<void *>(nullptr))...};
  const auto got = detail::selecting::call(
      weft_wait_any, arms, int32_t{sizeof...(Queues)}, time.ns);
  return got ? std::optional<int32_t>(got->index) : std::nullopt;
}
template <class... Queues>
int32_t wait_any(Queues... queues) {
  return *wait_any_for(weft::detail::forever, queues...);
}

}  // namespace weft

#endif /* WEFT_REALTIME */
#endif

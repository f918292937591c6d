/*
 * weft_calls.hpp - channel, call_ring, typed calls and workers of a pool, in
 * C++. Bytes and text are std::string_view; the ones that a handler or a
 * receiver gets hold until it returns. weft.hpp includes it.
 */
#ifndef WEFT_CALLS_HPP
#define WEFT_CALLS_HPP

#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "weft_data.hpp"

#ifndef WEFT_REALTIME

namespace weft {

/* Messages of any length, or of one size: bytes, text, JSON, numbers, records.
   `config` is as in weft/channel.h. */
class channel : public detail::handle<weft_channel, WEFT_KIND_channel> {
  using error_code = std::error_code;
  using span = detail::span;

 public:
  static size_t bytes(weft_channel_config config) {
    return weft_channel_bytes(config);
  }
  static channel create(void *at, size_t bytes, weft_channel_config config) {
    return channel(weft_channel_init(at, bytes, config));
  }
  static channel attach(void *place) {
    weft_channel *words = weft_channel_attach(at(place));
    if (words == nullptr) refuse("JavaScript made it with a carrier");
    return channel(words);
  }
  /* False if it is full, if the time is over, or if it is closed. */
  bool try_send(std::string_view message, error_code *ec = nullptr) {
    return done(weft_channel_try_send(w_, message.data(), length(message)),
                ec);
  }
  bool send(std::string_view message, error_code *ec = nullptr) {
    return try_send_for(message, weft::detail::forever, ec);
  }
  bool try_send_for(std::string_view message, span time,
                    error_code *ec = nullptr) {
    return done(
        weft_channel_send(w_, message.data(), length(message), time.ns), ec);
  }
  std::optional<std::string> try_receive(error_code *ec = nullptr) {
    return try_receive_for(std::chrono::seconds(0), ec, EBUSY);
  }
  std::optional<std::string> receive(error_code *ec = nullptr) {
    return try_receive_for(weft::detail::forever, ec);
  }
  std::optional<std::string> try_receive_for(span time,
                                             error_code *ec = nullptr) {
    return try_receive_for(time, ec, ETIMEDOUT);
  }
  /* A number or a record, where all messages have the size of a T. */
  template <class T>
  bool send_as(const T &value, error_code *ec = nullptr) {
    static_assert(std::is_trivially_copyable_v<T>, "T is copied as bytes");
    return done(weft_channel_send(w_, &value, sizeof value, WEFT_FOREVER), ec);
  }
  template <class T>
  std::optional<T> receive_as(error_code *ec = nullptr) {
    using cell = detail::cell<T>;
    static_assert(cell::is_bytes, "T is copied as bytes");
    cell next;
    int32_t bytes = sizeof next;
    const bool sized = weft__channel_sized(codec()); /* to whole words */
    bool fits = !sized || max_length() == int32_t{cell::size};
    if (fits && !done(weft_channel_receive(w_, &next, &bytes, WEFT_FOREVER), ec))
      return {};
    fits = fits && (sized || bytes == int32_t{sizeof(T)});
    if (!fits) return tell(EINVAL, ec, "the message is not a T"), std::nullopt;
    return next.value;
  }
  int32_t codec() const { return weft_channel_codec(w_); }
  int32_t capacity() const { return weft_channel_capacity(w_); }
  int32_t max_length() const { return weft_channel_max_length(w_); }
  bool closed() const { return weft_channel_closed(w_); }
  void close() { weft_channel_close(w_); }
  /* How many messages it ended; -EBUSY if another agent is sending now: see
     weft_channel_abandon. */
  int32_t abandon(int32_t id) {
    const int32_t count = weft_channel_abandon(w_, id);
    if (count < 0 && count != -EBUSY) tell(-count);
    return count;
  }
  int32_t tracked() const { return weft_channel_tracked(w_); }
  int32_t senders() const { return weft_channel_senders(w_); }
  int32_t receivers() const { return weft_channel_receivers(w_); }

  /* One sender or receiver of the thread that made it, until it is destroyed
     there; false if it is none. */
  class end {
   public:
    end(end &&other) noexcept
        : w_(std::exchange(other.w_, nullptr)), leave_(other.leave_) {}
    end &operator=(end &&other) noexcept {
      if (this == &other) return *this;
      leave();
      w_ = std::exchange(other.w_, nullptr);
      leave_ = other.leave_;
      return *this;
    }
    ~end() { leave(); }
    void leave() {
      if (w_ != nullptr) static_cast<void>(leave_(std::exchange(w_, nullptr)));
    }
    explicit operator bool() const { return w_ != nullptr; }

   private:
    friend class channel;
    using way = int (*)(weft_channel *);
    end(weft_channel *w, way how) : w_(w), leave_(how) {}
    weft_channel *w_;
    way leave_;
  };
  /* Counts this thread as a sender. When the last one has left, the channel is
     closed. It is none if the channel is closed already. */
  end sender(error_code *ec = nullptr) {
    if (ec == nullptr && tracked() == 0) refuse(UNCOUNTED);
    bool is = done(weft_channel_sender(w_), ec);
    return end(is ? w_ : nullptr, weft_channel_leave_sender);
  }
  /* Counts this thread as a receiver. When the last one has left, the channel
     is closed, and every send fails. */
  end receiver(error_code *ec = nullptr) {
    if (ec == nullptr && tracked() == 0) refuse(UNCOUNTED);
    bool is = done(weft_channel_receiver(w_), ec);
    return end(is ? w_ : nullptr, weft_channel_leave_receiver);
  }

 private:
  using handle::handle;
  static constexpr const char *UNCOUNTED =
      "the channel was made without tracked: it counts no ends";
  static int32_t length(std::string_view message) {
    return message.size() > INT32_MAX ? INT32_MAX
                                      : static_cast<int32_t>(message.size());
  }
  std::optional<std::string> try_receive_for(span time, error_code *ec,
                                             int late) {
    const void *place = nullptr;
    int32_t size = 0;
    std::string message;
    int result = 0;
    if (weft__channel_sized(codec()) || capacity() == 0) {
      size = max_length();
      message.resize(static_cast<size_t>(size));
      result = time.ns == 0
                   ? weft_channel_try_receive(w_, message.data(), &size)
                   : weft_channel_receive(w_, message.data(), &size, time.ns);
    } else {
      result = time.ns == 0 ? weft_channel_try_peek(w_, &place, &size)
                            : weft_channel_peek(w_, &place, &size, time.ns);
    }
    if (result == EBUSY) result = late;
    if (!done(result, ec)) return {};
    /* If there is no memory for a copy, a message in its place stays there. */
    std::unique_ptr<weft_channel, void (*)(weft_channel *)> peeked(
        place ? w_ : nullptr, leave_in_place);
    message.resize(static_cast<size_t>(size));
    if (place == nullptr) return message;
    if (size != 0)
      std::memcpy(message.data(), place, static_cast<size_t>(size));
    weft_channel_consume(peeked.release());
    return message;
  }
  static void leave_in_place(weft_channel *words) {
    weft__record_end_reading(weft__channel_ring(words));
  }
};

namespace detail {

/* The text of what a handler throws that has none. */
inline constexpr const char *NOT_AN_EXCEPTION = "C++ threw no std::exception";

#if defined(__cpp_exceptions)
/* Within catch (...): what ends the thread, as pthread_exit does, goes on. It
   is no exception of C++. */
inline void pass_thread_end() {
  if (std::current_exception() == nullptr) throw;
}
#endif

}  // namespace detail

/* Calls of bytes, which any number of agents serve. */
class call_ring : public detail::handle<weft_call_ring, WEFT_KIND_call_ring> {
  using error_code = std::error_code;
  using span = detail::span;

 public:
  static constexpr size_t bytes(int32_t slots, int32_t request,
                                int32_t reply) {
    if (slots < 1 || request < 0 || reply < 0) return 0;
    return ring_bytes(static_cast<uint32_t>(slots),
                      static_cast<uint32_t>(request),
                      static_cast<uint32_t>(reply));
  }
  static call_ring create(void *at, size_t bytes, int32_t slots,
                          int32_t request, int32_t reply) {
    return call_ring(weft_call_ring_init(at, bytes, {slots, request, reply}));
  }
  static call_ring attach(void *place) { return call_ring(at(place)); }
  /* The reply; nothing if the time is over, or if the ring is closed. If the
     server fails, it throws EIO, or sets *ec and returns the message. */
  std::optional<std::string> call(std::string_view request,
                                  error_code *ec = nullptr) {
    return try_call_for(request, weft::detail::forever, ec);
  }
  std::optional<std::string> try_call_for(std::string_view request, span time,
                                          error_code *ec = nullptr) {
    if (request.size() > INT32_MAX)
      return tell(EINVAL, ec, "the request is too long"), std::nullopt;
    int32_t room = weft_call_ring_max_reply(w_);
    std::string reply(static_cast<size_t>(room), '\0');
    const int32_t length = static_cast<int32_t>(request.size());
    const int result = weft_call_ring_call(w_, request.data(), length,
                                           reply.data(), &room, time.ns);
    const bool answered = done(result, ec);
    if (!answered && result != EIO) return {};
    reply.resize(static_cast<size_t>(room));
    return reply;
  }
  /* Serves calls until the ring is closed, or none came for the time. What
     `handler` makes of a request is the reply; if it throws, the call fails
     with the text of a std::exception. Returns how many calls it served. */
  template <class Handler>
  int32_t serve(Handler handler, span idle = weft::detail::forever) {
    served<Handler> all{handler, weft_call_ring_max_reply(w_)};
    const int32_t n = weft_call_ring_serve(w_, answer<Handler>, &all, idle.ns);
    return n < 0 ? (done(-n), 0) : n;
  }
  void close() { weft_call_ring_close(w_); }
  int32_t abandon(int32_t id) { return weft_call_ring_abandon(w_, id); }

 private:
  using handle::handle;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits" /* none is below 0 */
  WEFT__USELESS_CAST /* size_t may have 32 bits */
  static constexpr size_t ring_bytes(uint64_t n, uint64_t request,
                                     uint64_t reply) {
    return static_cast<size_t>(WEFT_CALL_RING_BYTES(n, request, reply));
  }
#pragma GCC diagnostic pop
  template <class Handler>
  struct served {
    Handler &handler;
    int32_t room;
  };
  template <class Handler>
  static int32_t answer(void *context, const void *request, int32_t length,
                        void *reply) {
    const auto &all = *static_cast<served<Handler> *>(context);
    const size_t room = static_cast<size_t>(all.room);
    const auto put = [&](std::string_view text) {
      const size_t n = text.size() < room ? text.size() : room;
      if (n != 0) std::memcpy(reply, text.data(), n);
      return static_cast<int32_t>(n);
    };
    const std::string_view bytes(static_cast<const char *>(request),
                                 static_cast<size_t>(length));
#if defined(__cpp_exceptions)
    try {
#endif
      const std::string made = all.handler(bytes);
      if (made.size() <= room) return put(made);
      return -1 - put("The reply is too long");
#if defined(__cpp_exceptions)
    } catch (const std::exception &error) {
      return -1 - put(error.what());
    } catch (...) {
      detail::pass_thread_end();
      return -1 - put(detail::NOT_AN_EXCEPTION);
    }
#endif
  }
};

namespace detail {

/* As C calls a `std::string Function(std::string_view)`. */
template <auto Function>
int32_t invoke(void *, weft_call *, const void *args, int32_t length,
               void *result, int32_t room) {
  const auto fail = [&](const char *name, const char *why) {
    return weft_calls_throw(result, room, name, why, nullptr);
  };
#if defined(__cpp_exceptions)
  try {
#endif
    const std::string made = Function(std::string_view(
        static_cast<const char *>(args), static_cast<size_t>(length)));
    if (made.size() > static_cast<size_t>(room))
      return fail("RangeError", "The result of C++ is too long");
    if (made.empty()) return WEFT_CALLS_UNDEFINED;
    std::memcpy(result, made.data(), made.size());
    return static_cast<int32_t>(made.size());
#if defined(__cpp_exceptions)
  } catch (const std::exception &error) {
    return fail("Error", error.what());
  } catch (...) {
    pass_thread_end();
    return fail("Error", NOT_AN_EXCEPTION);
  }
#endif
}

}  // namespace detail

/* Serves functions by their names, as JavaScript's serve does with codec.json.
   Each gets the JSON of the array of its arguments, and returns that of its
   result, or "" for `undefined`. What it throws is an error of its caller. One
   thread uses it at a time. */
class call_server {
 public:
  /* Results and requests that do not fit a slot of the ring go through `rooms`
     of `bytes` bytes. */
  explicit call_server(int32_t rooms = 0, int32_t bytes = 0)
      : room_(words(rooms, bytes)) {
    server_.rooms = room_.data();
    server_.room_count = rooms;
    server_.room_bytes = bytes;
  }
  call_server(call_server &&) = delete;
  /* `name` must stay where it is: write it as a literal. */
  template <auto Function>
  call_server &method(const char *name) {
    methods_.push_back({name, detail::invoke<Function>});
    return *this;
  }
  /* Until the ring is closed, or no call came for the time; how many calls. */
  int32_t serve(call_ring ring,
                detail::span idle = weft::detail::forever) {
    server_.ring = ring.native_handle();
    server_.methods = methods_.data();
    server_.count = static_cast<int32_t>(methods_.size());
    const int32_t n = weft_calls_serve(&server_, idle.ns);
    if (n < 0) detail::fail(-n, "the ring is too small, or must not block");
    return n;
  }

 private:
  static size_t words(int32_t rooms, int32_t bytes) {
    if (rooms < 0 || bytes < 0) detail::fail(EINVAL, "out of range");
    const size_t each = (static_cast<size_t>(bytes) + 7) / 8;
    return static_cast<size_t>(rooms) * (sizeof(weft__calls_room) / 8 + each);
  }
  std::vector<uint64_t> room_;
  std::vector<weft_calls_method> methods_;
  weft_calls_server server_{};
};

/* Calls a method that JavaScript, C or C++ serves, with the JSON of the array
   of its arguments. Returns the JSON of its result, "" for `undefined`, of at
   most `room` bytes. If it throws, that is EIO; with an error code, the JSON of
   the error is returned. Nothing if the time is over, or the ring is closed. */
inline std::optional<std::string> call_method(
    call_ring ring, const char *name, std::string_view args,
    std::error_code *ec = nullptr,
    detail::span time = weft::detail::forever, int32_t room = 1 << 16) {
  if (args.size() > INT32_MAX || room < 0) {
    if (ec == nullptr) detail::fail(EINVAL, "out of range");
    return ec->assign(EINVAL, std::generic_category()), std::nullopt;
  }
  std::string text(static_cast<size_t>(room), '\0');
  weft_calls_request request{};
  request.method = name;
  request.args = args.data();
  request.length = static_cast<int32_t>(args.size());
  weft_calls_answer answer{};
  answer.bytes = text.data();
  answer.room = room;
  const int result =
      weft_calls_call(ring.native_handle(), &request, &answer, time.ns);
  if (ec != nullptr) ec->assign(result, std::generic_category());
  if (result == EPIPE || result == ETIMEDOUT) return {};
  if (result != 0 && ec == nullptr) detail::fail(result, text.c_str());
  if (result != 0 && result != EIO) return {};
  text.resize(static_cast<size_t>(
      answer.length < room ? answer.length : room));
  return text;
}

/* Makes this thread a worker of JavaScript's pool in the memory at `at`, until
   the pool ends it. The functions are those of the pool's tasks in the order in
   which they are declared; see call_server. Returns how many tasks it did. */
template <auto... Functions>
int32_t serve_pool(void *at) {
  const weft_calls_function tasks[] = {detail::invoke<Functions>...};
  const int32_t n = weft_pool_serve(
      at, tasks, static_cast<int32_t>(sizeof...(Functions)), nullptr);
  if (n < 0) detail::fail(-n, "no pool, or must not block");
  return n;
}

}  // namespace weft

#endif /* WEFT_REALTIME */
#endif

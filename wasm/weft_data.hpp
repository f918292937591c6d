/*
 * weft_data.hpp - snapshot, broadcast, work_deque, work_counter,
 * striped_counter and slab_pool, in C++. Each but work_counter is a handle to
 * memory, and its copies name the same. weft.hpp includes it.
 */
#ifndef WEFT_DATA_HPP
#define WEFT_DATA_HPP

#include "weft_queue.hpp"

namespace weft {
namespace detail {

/* A handle to the words of a primitive. */
template <class Words, int32_t KIND>
class handle : protected errors {
 public:
  Words *native_handle() const { return w_; }

 protected:
  /* What an init of weft.h returned, or what lies at an address. */
  explicit handle(Words *made) : w_(made) {
    if (made == nullptr) refuse("out of range, or too few bytes");
  }
  static Words *at(void *place) {
    const char *error = weft_attach_error(place, KIND);
    if (error != nullptr) refuse(error);
    return static_cast<Words *>(place);
  }
  Words *w_;
};

}  // namespace detail

/* The latest value of a T, which one agent writes and any number read. */
template <class T>
class snapshot
    : public detail::handle<weft_snapshot, WEFT_KIND_snapshot> {
  using cell = detail::cell<T>;
  static_assert(cell::is_bytes, "a snapshot copies T as bytes");

 public:
  /* With `single_reader` only one agent may read, which is faster. */
  static constexpr size_t bytes(bool single_reader = false) {
    return static_cast<size_t>(
        WEFT_SNAPSHOT_BYTES(0ull + cell::size, single_reader));
  }
  /* Its value is all zero. */
  static snapshot create(void *at, size_t bytes, bool single_reader = false) {
    return snapshot(weft_snapshot_init(
        at, bytes, {int32_t{cell::size}, single_reader}));
  }
  static snapshot attach(void *place) {
    weft_snapshot *words = at(place);
    if (words->size != int32_t{cell::size}) refuse("not a snapshot of T");
    return snapshot(words);
  }
  void write(const T &value) {
    const cell whole(value);
    done(weft_snapshot_write(w_, &whole));
  }
  /* The latest value. *version is how many were written, modulo 2^27. */
  T read(int32_t *version = nullptr) const {
    cell whole;
    const int32_t n = weft_snapshot_read(w_, &whole);
    if (n < 0) done(-n);
    if (version != nullptr) *version = n;
    return whole.value;
  }
  int32_t version() const { return weft_snapshot_version(w_); }
  /* Ends the roles of the agent `id`, as spsc_queue::abandon. */
  int32_t abandon(int32_t id) { return weft_snapshot_abandon(w_, id); }

 private:
  using handle = detail::handle<weft_snapshot, WEFT_KIND_snapshot>;
  using handle::handle;
};

#ifndef WEFT_REALTIME /* broadcast.h is for agents that may wait */

/* Elements of T from one producer, each of which every subscriber gets. */
template <class T>
class broadcast
    : public detail::handle<weft_broadcast, WEFT_KIND_broadcast> {
  using cell = detail::cell<T>;
  using span = detail::span;
  static_assert(cell::is_bytes, "a broadcast copies T as bytes");

 public:
  static constexpr size_t bytes(int32_t capacity, int32_t subscribers) {
    return static_cast<size_t>(WEFT_BROADCAST_BYTES(
        0ull + static_cast<uint32_t>(capacity), 0ull + cell::size,
        0ull + static_cast<uint32_t>(subscribers)));
  }
  /* If a subscriber is `capacity` elements late, the producer waits. With
     `drop`, the subscriber loses the oldest elements instead. */
  static broadcast create(void *at, size_t bytes, int32_t capacity,
                          int32_t subscribers, bool drop = false) {
    return broadcast(weft_broadcast_init(
        at, bytes, {capacity, int32_t{cell::size}, subscribers, drop}));
  }
  static broadcast attach(void *place) {
    weft_broadcast *words = at(place);
    if (weft_broadcast_element_size(words) != int32_t{cell::size})
      refuse("not a broadcast of T");
    return broadcast(words);
  }

  /* A seat, which sees each element pushed since. It is given up at the end,
     also by another thread than subscribed; abandon() knows it by that one. */
  class subscriber : detail::errors {
   public:
    subscriber(subscriber &&from) noexcept
        : w_(from.w_), seat_(std::exchange(from.seat_, -1)), id_(from.id_) {}
    subscriber &operator=(subscriber &&from) noexcept {
      if (this == &from) return *this;
      leave();
      w_ = from.w_;
      seat_ = std::exchange(from.seat_, -1);
      id_ = from.id_;
      return *this;
    }
    ~subscriber() { leave(); }
    void leave() {
      if (seat_ >= 0) weft__broadcast_leave(w_, std::exchange(seat_, -1), id_);
    }
    std::optional<T> try_pop(error_code *ec = nullptr) {
      return popped(ec, weft_broadcast_try_pop);
    }
    std::optional<T> pop(error_code *ec = nullptr) {
      return try_pop_for(weft::detail::forever, ec);
    }
    std::optional<T> try_pop_for(span time, error_code *ec = nullptr) {
      return popped(ec, weft_broadcast_pop, time.ns);
    }
    /* 0 once it has left, as dropped(). */
    int32_t size() const {
      return seat_ < 0 ? 0 : weft_broadcast_size(w_, seat_);
    }
    /* How many elements it lost because it was late. */
    int32_t dropped() const {
      return seat_ < 0 ? 0 : weft_broadcast_dropped(w_, seat_);
    }

   private:
    friend class broadcast;
    using error_code = std::error_code;
    subscriber(weft_broadcast *words, int32_t seat)
        : w_(words), seat_(seat), id_(weft_agent_id()) {}
    template <class Function, class... Time>
    std::optional<T> popped(error_code *ec, Function take, Time... time) {
      cell next;
      if (seat_ < 0)
        return tell(EINVAL, ec, "the subscriber has left"), std::nullopt;
      if (!done(take(w_, seat_, &next, time...), ec)) return {};
      return next.value;
    }
    weft_broadcast *w_;
    int32_t seat_;
    int32_t id_; /* whose seat it is */
  };

  /* Nothing if all seats are taken. */
  std::optional<subscriber> subscribe() {
    const int32_t seat = weft_broadcast_subscribe(w_);
    if (seat < 0) return {};
    return subscriber(w_, seat);
  }
  bool try_push(const T &value, std::error_code *ec = nullptr) {
    const cell whole(value);
    return this->done(weft_broadcast_try_push(w_, &whole), ec);
  }
  bool push(const T &value, std::error_code *ec = nullptr) {
    return try_push_for(value, weft::detail::forever, ec);
  }
  bool try_push_for(const T &value, span time, std::error_code *ec = nullptr) {
    const cell whole(value);
    return this->done(weft_broadcast_push(w_, &whole, time.ns), ec);
  }
  int32_t capacity() const { return weft_broadcast_capacity(w_); }
  int32_t subscribers() const { return weft_broadcast_subscribers(w_); }
  bool closed() const { return weft_broadcast_closed(w_); }
  void close() { weft_broadcast_close(w_); }
  int32_t abandon(int32_t id) { return weft_broadcast_abandon(w_, id); }

 private:
  using handle = detail::handle<weft_broadcast, WEFT_KIND_broadcast>;
  using handle::handle;
};

#endif /* WEFT_REALTIME */

/* Numbers of tasks. Its owner pushes and pops at one end, and other agents
   steal at the other one. */
class work_deque
    : public detail::handle<weft_work_deque, WEFT_KIND_work_deque> {
 public:
  static constexpr size_t bytes(int32_t capacity) {
    return static_cast<size_t>(
        WEFT_WORK_DEQUE_BYTES(0ull + static_cast<uint32_t>(capacity)));
  }
  static work_deque create(void *at, size_t bytes, int32_t capacity) {
    return work_deque(weft_work_deque_init(at, bytes, capacity));
  }
  static work_deque attach(void *place) { return work_deque(at(place)); }
  /* False if it is full. */
  bool push(int32_t item) { return done(weft_work_deque_push(w_, item)); }
  std::optional<int32_t> pop() { return taken(weft_work_deque_pop); }
  std::optional<int32_t> steal() { return taken(weft_work_deque_steal); }
  /* Makes this agent the owner, after the last one gave it up, or was
     abandoned. */
  void adopt() { done(weft_work_deque_adopt(w_)); }
  /* Ends the ownership of the agent `id`, so that another one can adopt it. */
  int32_t abandon(int32_t id) { return weft_work_deque_abandon(w_, id); }
  int32_t capacity() const { return weft_work_deque_capacity(w_); }
  int32_t size() const { return weft_work_deque_size(w_); }

 private:
  using handle::handle;
  template <class Function>
  std::optional<int32_t> taken(Function take) {
    int32_t item = 0;
    if (!done(take(w_, &item))) return {};
    return item;
  }
};

#ifndef WEFT_REALTIME

/* Hands out the tasks 0 to `total` - 1, and tells when all are done. */
class work_counter
    : public detail::object<work_counter, weft_work_counter,
                            WEFT_KIND_work_counter> {
 public:
  /* `chunk` tasks at a time; for `agents` above 0, ever fewer of them. */
  explicit work_counter(int32_t total, int32_t chunk = 1, int32_t agents = 0) {
    check_range(weft_work_counter_init(&w_, sizeof w_, total,
                                       {chunk, agents}) != nullptr);
  }
  /* Calls body(task) for each task that this agent gets, until none is left,
     and counts it as done. Returns how many those were. If body throws, its
     task counts as done, and the rest of the range is not handed out again. */
  template <class Body>
  int32_t run(Body body) {
    int32_t count = 0;
    weft_work_range range{};
    for (;;) {
      const int32_t task = weft_work_counter_next(&w_, &range);
      if (task == -2) tell(EPERM, nullptr, "work is not done");
      if (task < 0) return count;
      struct finish {
        weft_work_counter *words;
        ~finish() { (void)weft_work_counter_done(words, 1); }
      } const at_end{&w_};
      count++;
      body(task);
    }
  }
  void wait() { object::done(weft_work_counter_wait(&w_, WEFT_FOREVER)); }
  bool wait_for(span time) {
    return object::done(weft_work_counter_wait(&w_, time.ns));
  }
  void cancel() { weft_work_counter_cancel(&w_); }
  bool cancelled() const { return weft_work_counter_cancelled(&w_); }
  int32_t remaining() const { return weft_work_counter_remaining(&w_); }
  int32_t completed() const { return weft_work_counter_completed(&w_); }
  int32_t abandon(int32_t id) {
    const int32_t count = weft_work_counter_abandon(&w_, id);
    if (count < 0) tell(-count);
    return count;
  }
};

#endif /* WEFT_REALTIME */

/* A sum to which many agents add without meeting. */
class striped_counter
    : public detail::handle<weft_striped_counter, WEFT_KIND_striped_counter> {
 public:
  static constexpr size_t bytes(int32_t stripes) {
    return static_cast<size_t>(
        WEFT_STRIPED_COUNTER_BYTES(0ull + static_cast<uint32_t>(stripes)));
  }
  static striped_counter create(void *at, size_t bytes, int32_t stripes) {
    return striped_counter(weft_striped_counter_init(at, bytes, stripes));
  }
  static striped_counter attach(void *place) {
    return striped_counter(at(place));
  }
  void add(int32_t n = 1) { weft_striped_counter_add(w_, n); }
  int64_t sum() const { return weft_striped_counter_sum(w_); }
  int32_t stripes() const { return weft_striped_counter_stripes(w_); }
  /* A stripe for this thread alone, while there are any. */
  class stripe {
   public:
    void add(int32_t n = 1) { weft_striped_counter_add_to(s_, n); }

   private:
    friend class striped_counter;
    explicit stripe(weft_striped_counter_stripe *s) : s_(s) {}
    weft_striped_counter_stripe *s_;
  };
  stripe claim() { return stripe(weft_striped_counter_claim(w_)); }

 private:
  using handle::handle;
};

/* Blocks of one size, which any agent allocates, and any other frees. */
class slab_pool : public detail::handle<weft_slab_pool, WEFT_KIND_slab_pool> {
 public:
  static constexpr size_t bytes(int32_t capacity, int32_t block_size) {
    return static_cast<size_t>(
        WEFT_SLAB_POOL_BYTES(0ull + static_cast<uint32_t>(capacity),
                             0ull + static_cast<uint32_t>(block_size)));
  }
  static slab_pool create(void *at, size_t bytes, int32_t capacity,
                          int32_t block_size) {
    return slab_pool(weft_slab_pool_init(at, bytes, {capacity, block_size}));
  }
  static slab_pool attach(void *place) { return slab_pool(at(place)); }
  /* Free blocks that one thread keeps; it gives them back at the end. */
  class cache {
   public:
    explicit cache(slab_pool pool, int32_t limit = WEFT_SLAB_POOL_MAX_CACHE)
        : pool_(pool.w_) {
      const bool fits = limit >= 0 && limit <= WEFT_SLAB_POOL_MAX_CACHE;
      if (!fits) detail::fail(EINVAL, "out of range");
      c_.limit = limit;
    }
    ~cache() { weft_slab_pool_release(pool_, &c_); }
    cache(cache &&) = delete;

   private:
    friend class slab_pool;
    weft_slab_pool *pool_;
    weft_slab_cache c_{};
  };
  /* Null if no block is free. */
  void *allocate() { return weft_slab_pool_allocate(w_, nullptr); }
  void *allocate(cache &from) {
    return weft_slab_pool_allocate(w_, words(from));
  }
  void free(void *block) { done(weft_slab_pool_free(w_, block, nullptr)); }
  void free(void *block, cache &to) {
    done(weft_slab_pool_free(w_, block, words(to)));
  }
  int32_t capacity() const { return weft_slab_pool_capacity(w_); }
  int32_t block_size() const { return weft_slab_pool_block_size(w_); }
  int32_t available() const { return weft_slab_pool_available(w_); }
  /* Gives back the blocks that the agent `id` kept; with `everything`, also
     those that it had allocated. */
  int32_t abandon(int32_t id, bool everything = false) {
    return weft_slab_pool_abandon(w_, id, everything);
  }

 private:
  using handle::handle;
  /* A cache has numbers of blocks, which are others in another pool. */
  weft_slab_cache *words(cache &it) const {
    if (it.pool_ != w_) refuse("the cache is of another pool");
    return &it.c_;
  }
};

}  // namespace weft

#endif

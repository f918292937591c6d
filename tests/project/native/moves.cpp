// Constants that need no code before main, and queues of what can only be
// moved. It prints "done".
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>
#include <weft.hpp>

#include "check.hpp"

namespace {

STATIC weft::semaphore permits(3, 5);
STATIC weft::semaphore none(0);
STATIC weft::latch steps(2);
STATIC weft::event manual;
STATIC weft::event automatic(true);
STATIC weft::barrier meeting(2);
STATIC weft::wait_group group;

// The words are those that weft.h writes.
template <class Words>
bool same(const Words *ours, const Words &theirs) {
  return ours != nullptr && std::memcmp(ours, &theirs, sizeof theirs) == 0;
}

void constants() {
  weft_semaphore s;
  assert(same(weft_semaphore_init_max(&s, sizeof s, 3, 5),
              *permits.native_handle()));
  assert(same(weft_semaphore_init(&s, sizeof s, 0), *none.native_handle()));
  weft_latch l;
  assert(same(weft_latch_init(&l, sizeof l, 2), *steps.native_handle()));
  weft_event e;
  assert(same(weft_event_init(&e, sizeof e, false), *manual.native_handle()));
  assert(same(weft_event_init(&e, sizeof e, true), *automatic.native_handle()));
  weft_barrier b;
  assert(same(weft_barrier_init(&b, sizeof b, 2), *meeting.native_handle()));
  assert(&weft::semaphore::attach(permits.native_handle()) == &permits);
  assert(&weft::barrier::attach(meeting.native_handle()) == &meeting);
  std::thread other([] {
    steps.count_down(), (void)meeting.arrive_and_wait(), none.release();
  });
  steps.arrive_and_wait(), (void)meeting.arrive_and_wait(), none.acquire();
  other.join();
  assert(group.try_wait());
  for (const int32_t n : {-1, WEFT_LATCH_MAX}) {
    bool thrown = false;
    try {
      weft::latch wrong(n);
    } catch (const std::system_error &error) {
      thrown = error.code().value() == EINVAL;
    }
    assert(thrown == (n < 0));
  }
}

// A number that counts itself, and can only be moved.
class owner {
 public:
  explicit owner(int64_t of) : of_(new int64_t(of)) { alive++; }
  owner(owner &&from) noexcept : of_(from.of_) { from.of_ = nullptr; }
  owner &operator=(owner &&from) noexcept {
    if (this != &from) destroy(), of_ = from.of_, from.of_ = nullptr;
    return *this;
  }
  ~owner() { destroy(); }
  int64_t of() const { return of_ == nullptr ? -1 : *of_; }
  static inline std::atomic<int> alive = 0;

 private:
  void destroy() {
    if (of_ != nullptr) alive--, delete of_;
  }
  int64_t *of_;
};

}  // namespace

template <>
inline constexpr bool weft::is_relocatable<owner> = true;

namespace {

template <class Queue>
void moves() {
  {
    weft::in_place<Queue, 4> memory;
    Queue queue = *memory;
    owner first(1);
    assert(queue.push(std::move(first)) && first.of() == -1);
    for (int i = 2; i < 5; i++) assert(queue.try_push(owner(i)));
    owner kept(5);
    assert(!queue.try_push(std::move(kept)) && kept.of() == 5);
    std::error_code ec;
    assert(!queue.try_push_for(std::move(kept), std::chrono::milliseconds(1),
                               &ec));
    assert(ec == std::errc::timed_out && kept.of() == 5);
    assert(owner::alive == 5 && queue.pop()->of() == 1);
    assert(owner::alive == 4);
    std::array<owner, 2> two = {owner(8), owner(9)};
    assert(queue.try_pop_many(two) == 2 && owner::alive == 4);
    assert(two[0].of() == 2 && two[1].of() == 3);
    queue.close();
    assert(!queue.push(std::move(kept), &ec) && ec == std::errc::broken_pipe);
    assert(kept.of() == 5 && queue.size() == 1);
  }  // what is left is destroyed
  assert(owner::alive == 0);
}

// Elements go from one thread to another, and each is destroyed once.
void passes() {
  weft::in_place<weft::spsc_queue<std::unique_ptr<int64_t>>, 16> memory;
  int64_t sum = 0;
  std::thread consumer([&] {
    while (std::optional<std::unique_ptr<int64_t>> next = memory->pop())
      sum += **next;
  });
  for (int64_t i = 1; i <= 1000; i++)
    assert(memory->push(std::make_unique<int64_t>(i)));
  memory->close();
  consumer.join();
  assert(sum == 500500);
}

// Another agent was the consumer, and elements are left.
void leaves() {
  {
    weft::in_place<weft::spsc_queue<owner>, 4> memory;
    std::thread other([&] {
      for (int i = 0; i < 3; i++) assert(memory->push(owner(i)));
      assert(memory->pop()->of() == 0);
    });
    other.join();
    bool refused = false;
    try {
      (void)memory->try_push(owner(7));
    } catch (const std::system_error &error) {
      refused = error.code().value() == EPERM;
    }
    assert(refused && owner::alive == 2);
  }
  assert(owner::alive == 0);
  weft::in_place<weft::mpmc_queue<std::unique_ptr<int>>, 2> memory;
  assert(memory->push(std::make_unique<int>(1)) && memory->clear() == 1);
}

}  // namespace

int main() {
  constants();
  moves<weft::spsc_queue<owner>>();
  moves<weft::mpmc_queue<owner>>();
  moves<weft::lock_free_queue<owner>>();
  passes();
  leaves();
  std::puts("done");
}

/*
 * weft_as_std.hpp - Weft's classes under the names of the standard library, for
 * tests of others that say `std::mutex`. Put it in front by -include.
 *
 * It includes all that the tests may include, because `std` is another name
 * after it. What is not here, such as std::unique_lock, is the standard's own.
 */
#ifndef WEFT_AS_STD_HPP
#define WEFT_AS_STD_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <ciso646>
#include <climits>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <forward_list>
#include <functional>
#include <future>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <queue>
#include <random>
#include <set>
#include <shared_mutex>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <barrier>
#include <concepts>
#include <latch>
#include <semaphore>
#include <stop_token>
#include <version>
#endif
#ifdef __has_include
#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#endif
#endif

#include <weft.hpp>

namespace weft_as_std {
using namespace std;

using weft::call_once;
using weft::condition_variable_any;
using weft::latch;
using weft::mutex;
using weft::recursive_mutex;
using weft::recursive_timed_mutex;
using weft::shared_mutex;
using weft::shared_timed_mutex;
using weft::timed_mutex;
using condition_variable = weft::condition;
using once_flag = weft::once;

template <ptrdiff_t least_max = WEFT_SEMAPHORE_MAX>
class counting_semaphore : public weft::semaphore {
  static_assert(least_max >= 0);

 public:
  constexpr explicit counting_semaphore(ptrdiff_t n)
      : semaphore(static_cast<int32_t>(n), static_cast<int32_t>(max())) {}
  static constexpr ptrdiff_t max() noexcept {
    return least_max < WEFT_SEMAPHORE_MAX ? least_max : WEFT_SEMAPHORE_MAX;
  }
};
using binary_semaphore = counting_semaphore<1>;

template <class Completion = weft::detail::nothing>
class barrier : public weft::phase_barrier<Completion> {
 public:
  using weft::phase_barrier<Completion>::phase_barrier;
};
template <class Completion>
barrier(int, Completion) -> barrier<Completion>;
barrier(int)->barrier<>;
}  // namespace weft_as_std

#define std weft_as_std

#endif

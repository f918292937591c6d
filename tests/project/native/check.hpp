// What several of these programs use: assert, errors and threads.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <system_error>
#include <thread>
#include <vector>

#undef NDEBUG
#include <cassert>

// Of what takes no code before main.
#if __cplusplus >= 202002L
#define STATIC constinit static
#else
#define STATIC static
#endif

// The error that `body` throws, or 0.
template <class Body>
int error_of(Body body) {
  try {
    body();
  } catch (const std::system_error &error) {
    assert(error.code().category() == std::generic_category());
    return error.code().value();
  }
  return 0;
}

// Runs `body` on each of `count` threads, with the thread's number.
template <class Body>
void on_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++) threads.emplace_back(body, i);
  for (std::thread &thread : threads) thread.join();
}

#endif

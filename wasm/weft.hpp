/*
 * weft.hpp - weft.h for C++17 and later, in the style of the standard library,
 * and queues of T. It calls weft.h on weft.h's words, so JavaScript and C share
 * every object. A queue or map, and what weft_data.hpp and weft_calls.hpp have,
 * is a handle to memory that create() or attach() names, and its copies name
 * the same memory. A lock, or what else agents wait for, is the primitive
 * itself: declare it, or X::attach(at). docs/cpp.md has examples.
 *
 * A time is a duration or a time point. A function throws std::system_error for
 * an error of weft.h that its comment does not mention; it calls std::abort()
 * where exceptions are off, and throws nothing if it can set a std::error_code.
 * What waits is missing if WEFT_REALTIME is defined.
 */
#ifndef WEFT_HPP
#define WEFT_HPP

#include "weft_calls.hpp"
#include "weft_data.hpp"
#include "weft_lock.hpp"
#include "weft_map.hpp"
#include "weft_queue.hpp"
#include "weft_select.hpp"
#include "weft_std.hpp"

#endif

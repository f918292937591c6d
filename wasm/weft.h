/*
 * weft.h - Weft's primitives for C and C++. It has the words of
 * primitives/_memory/layout.ts and the algorithms of primitives/, so both
 * languages can use a primitive at the same time. Each section is the twin of
 * the file that it names. That file explains the words, the progress and the
 * source.
 *
 * The library is header only, for C11 or C++17 and later. Every function is
 * static inline, and none allocates memory. Build with -pthread; bare wasm32
 * needs -matomics -mbulk-memory. It also works natively on Linux and macOS. On
 * Linux it needs no headers of the kernel: those of musl are enough. All atomic
 * operations of WebAssembly and of JavaScript are sequentially consistent, and
 * so are these.
 *
 * weft_x_init(at, bytes, ...) initializes unused memory. It returns NULL, and
 * writes nothing, if `bytes` is too small, if `at` is not a multiple of 4, or
 * if the configuration is out of range. WEFT_X_BYTES(...) is the size as a
 * constant expression, and weft_x_bytes(...) is the same as a function:
 *
 *   static int32_t memory[WEFT_MPMC_QUEUE_BYTES(256, 16) / 4];
 *   const weft_queue_config config = {.capacity = 256, .element_size = 16};
 *   weft_mpmc_queue *q = weft_mpmc_queue_init(memory, sizeof memory, config);
 *
 * Durations are nanoseconds from now. WEFT_FOREVER never ends, nor does any
 * other below 0, and 0 tries once. Functions return 0 or an errno, unless their
 * comment names a count or a pointer. They leave the variable `errno` as it is:
 *
 *   EBUSY       a try_ form would have to wait
 *   ETIMEDOUT   the time is over
 *   EINVAL      an argument is out of range
 *   EOVERFLOW   a count would be too high, or a value is longer than its place
 *   EPIPE       closed
 *   EOWNERDEAD  locked, but the last owner was abandoned; or the server of a
 *               call died
 *   EDEADLK     this agent has locked it already
 *   EPERM       this agent is not the owner, or may not block
 *   EIO         the server of a call failed
 *   ENOTRECOVERABLE  the words are damaged, or an agent blocks a queue
 *   ENOENT, EEXIST, ENOSPC  a key of a map is not there, is there already, or
 *               has no room
 *
 * WASI has a clock and random numbers, bare wasm32 has neither. There, import
 * env.weft_now (a double, milliseconds) or define WEFT_NOW() (int64_t,
 * nanoseconds). A program with a weft_hash_map also imports env.weft_date (a
 * double, Date.now() of JavaScript), or defines WEFT_DATE() (int64_t,
 * milliseconds since 1970). Define WEFT_RANDOM() (uint32_t), or call
 * weft_agent_set_id() in each thread. If nobody sets up thread-local storage,
 * define WEFT_AGENT() as an lvalue of type weft_agent that each thread has for
 * itself.
 *
 * Freed when: the memory of a primitive may be freed, or used for something
 * else, when every operation of every agent has returned, and none will begin
 * another. weft_semaphore (unless it is tracked), weft_event, weft_latch,
 * weft_wait_group, weft_mutex, weft_once and weft_barrier promise more, as
 * POSIX does: when no agent waits, and none will begin another operation. An
 * agent that let others go may still be inside weft_semaphore_release and the
 * like, but it uses no memory any more, only the address, which it wakes. That
 * wake may reach a stranger that sleeps at the same address by then. All waits
 * here are loops; if you call a futex yourself, let that be one, too.
 *
 * No function here is a cancellation point: pthread_cancel does not end a wait.
 * Do not use asynchronous cancellation.
 *
 * Define WEFT_REALTIME before you include this file in code that must never
 * block, such as an audio worklet. Then it only has what cannot block, as
 * realtime.ts. Define WEFT_PROCESS_SHARED in native programs if processes share
 * the memory. Define WEFT_STDIO for weft_inspect, which prints the words of a
 * primitive. Define WEFT_NAMED_AGENTS for weft_agent_name, by which JavaScript
 * can tell who waits for whom.
 */
#ifndef WEFT_H
#define WEFT_H

/* Each header needs only those above it. */
/* clang-format off */
#include "weft/agent.h"
#include "weft/mutex.h"
#include "weft/rw_lock.h"
#include "weft/condition.h"
#include "weft/recursive_mutex.h"
#include "weft/condition_any.h"
#include "weft/semaphore.h"
#include "weft/event.h"
#include "weft/latch.h"
#include "weft/wait_group.h"
#include "weft/barrier.h"
#include "weft/once.h"
#include "weft/snapshot.h"
#include "weft/spsc_queue.h"
#include "weft/mpmc_queue.h"
#include "weft/lock_free_queue.h"
#include "weft/record_ring.h"
#include "weft/broadcast.h"
#include "weft/shape_table.h"
#include "weft/channel.h"
#include "weft/select_blocking.h"
#include "weft/call_ring.h"
#include "weft/work_counter.h"
#include "weft/work_deque.h"
#include "weft/slab_pool.h"
#include "weft/hash_map.h"
#include "weft/striped_counter.h"
#include "weft/value.h"
#include "weft/recover.h"
#include "weft/inspect.h"
#include "weft/deadlocks.h"
#include "weft/calls.h"
#include "weft/pool.h"
/* clang-format on */

#endif /* WEFT_H */

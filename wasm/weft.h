/*
 * weft.h - Weft's primitives for C and C++: the words of primitives/_layout.ts
 * and the algorithms of primitives/, usable from both languages at once. Each
 * section is the twin of the file it names; the comments on its words, its
 * progress and its source are there.
 *
 * Header only, C11 or C++17 and later; every function is static inline and
 * none allocates. Build with -pthread, or with -matomics -mbulk-memory for
 * bare wasm32; natively on Linux and macOS. WebAssembly's atomics, like
 * JavaScript's, are all sequentially consistent, and so are all of these.
 *
 * Durations are nanoseconds from now, WEFT_FOREVER without an end, 0 to try
 * once. Results are 0 or an errno: EBUSY (a try_ form: not now), ETIMEDOUT,
 * EINVAL (an argument out of range), EPIPE (closed), EOWNERDEAD (locked, and
 * abandoned before; or the server of a call died), EDEADLK (locked by this
 * agent already), EPERM (not the owner; or this agent may not block), EIO (the
 * server of a call failed); or a count or pointer where said.
 *
 * Bare wasm32 has neither clock nor entropy: import env.weft_now (a double,
 * milliseconds) or define WEFT_NOW() (int64_t, nanoseconds), and define
 * WEFT_RANDOM() (uint32_t) or call weft_agent_set_id() in each thread. Where
 * nobody sets up thread-local storage, define WEFT_AGENT() as an lvalue of
 * type weft_agent that is this thread's own.
 *
 * Define WEFT_REALTIME before including this in code of an audio worklet, or
 * what else must never block: only what cannot is left, as in realtime.ts.
 * Define WEFT_PROCESS_SHARED natively if processes share the memory.
 * Define WEFT_STDIO for weft_inspect, which prints what a primitive's words
 * say.
 */
#ifndef WEFT_H
#define WEFT_H

/* A header builds only on those above it. */
/* clang-format off */
#include "weft/agent.h"
#include "weft/mutex.h"
#include "weft/rw_lock.h"
#include "weft/condition.h"
#include "weft/semaphore.h"
#include "weft/event.h"
#include "weft/latch.h"
#include "weft/barrier.h"
#include "weft/once.h"
#include "weft/snapshot.h"
#include "weft/spsc_queue.h"
#include "weft/mpmc_queue.h"
#include "weft/lock_free_queue.h"
#include "weft/record_ring.h"
#include "weft/broadcast.h"
#include "weft/channel.h"
#include "weft/call_ring.h"
#include "weft/work_counter.h"
#include "weft/work_deque.h"
#include "weft/slab_pool.h"
#include "weft/striped_counter.h"
#include "weft/recover.h"
#include "weft/inspect.h"
/* clang-format on */

#endif /* WEFT_H */

/* agent.h - the twin of primitives/agent.ts. */
#ifndef WEFT_AGENT_H
#define WEFT_AGENT_H

#include "_fence.h"

WEFT__BEGIN

/* What a thread knows about itself, and few primitives ask for. All words are
   zero at first. */
typedef struct {
  /* To wait for agents that work for this one: see _spin_patiently.h. */
  uint8_t better, tried; /* the way that was better, and the one timed now */
  uint8_t waits;         /* of this trial */
  uint8_t trust;         /* how often the other way has lost */
  uint16_t trials;       /* since it was tried */
  int32_t spent;         /* from the first to the last of these waits, in ns */
  int32_t costs[2];      /* of the last trial of each way */
  int64_t began;         /* when the last wait began */
  int64_t handed;        /* when this thread first saw `gate` */
  int64_t gave_way;      /* when it last let other callers go first */
  int32_t gate;          /* of the RwLock that a writer was last handed */
  int32_t made;          /* how many typed calls this thread has made */
  uint32_t selects;      /* how many calls of weft_select */
} weft__agent_rest;

/* What a thread knows about itself. All words are zero at first. */
typedef struct {
  int32_t id;
  int8_t blocking; /* 1 allowed, -1 not, 0 nobody asked yet */
  uint8_t calls;   /* of spinning */
  /* Rounds that the last spin waited before its first look. */
  uint8_t initial_delay;
  int32_t spared; /* rounds of spinning that were useless lately */
  int32_t spun_at;
  const int32_t *spun_on; /* the index where it began, and its address */
#ifdef WEFT_AGENT
  weft__agent_rest rest;
#endif
} weft_agent;

#ifdef WEFT_AGENT
#define WEFT__AGENT_REST() WEFT_AGENT().rest
#else
#if defined(WEFT__ASYMMETRIC)
/* This thread's id once it has a role, and the system is known to run fences
   for it; before that, -1. */
#define WEFT__ACTS 1
#define WEFT__HARDLY WEFT__SELDOM
__attribute__((
    weak, visibility("default"))) WEFT__THREAD_LOCAL int32_t weft__acts_as = -1;
#endif
/* Each thread has its own. They are weak, so that all translation units of a
   program share them, and visible, so that shared libraries do, too; but see
   "Shared libraries" in docs/primitives/agent.md. Two variables: a program that
   needs only the first has no bytes for the rest. */
__attribute__((
    weak, visibility("default"))) WEFT__THREAD_LOCAL weft_agent weft__agent;
__attribute__((weak, visibility("default"))) WEFT__THREAD_LOCAL weft__agent_rest
    weft__rest_of_agent;
#define WEFT_AGENT() weft__agent
#define WEFT__AGENT_REST() weft__rest_of_agent
#endif

#ifndef WEFT__HARDLY /* called each time */
#define WEFT__HARDLY
#endif

#ifndef WEFT_RANDOM
#if defined(__wasi__)
__attribute__((import_module("wasi_snapshot_preview1"),
               import_name("random_get"))) int32_t
weft__wasi_random_get(void *at, size_t bytes);
#endif

static inline uint32_t weft__random(void) {
#if defined(__EMSCRIPTEN__)
  return (uint32_t)(emscripten_random() * 268435456.0f);
#elif defined(__APPLE__)
  return arc4random();
#elif defined(__wasi__)
  uint32_t bits = 0;
  (void)weft__wasi_random_get(&bits, sizeof bits);
  return bits;
#else
  uint32_t bits = 0;
#if defined(__linux__)
  int kept = errno;
  long got = syscall(WEFT__SYS_RANDOM, &bits, sizeof bits, 0);
  if (got == (long)sizeof bits) return bits;
  errno = kept; /* an old kernel, or a sandbox that refuses it */
#endif
  /* The address of the stack differs between the threads of a program; the
     numbers are not random otherwise. */
  return weft__times((uint32_t)(uintptr_t)&bits, UINT32_C(2654435761));
#endif
}
#define WEFT_RANDOM() weft__random()
#endif

#if defined(WEFT_PROCESS_SHARED) && !defined(__wasm__)
/* Whether forks are watched. */
__attribute__((weak, visibility("default"))) int32_t weft__agent_watches;

/* A child of fork() is another agent than its parent: with the same id it could
   unlock what the parent holds. */
static inline void weft__agent_forked(void) { WEFT_AGENT().id = 0; }

static inline void weft__agent_watch_forks(void) {
  if (weft__exchange(&weft__agent_watches, 1) == 0)
    (void)pthread_atfork(NULL, NULL, weft__agent_forked);
}
#else
#define weft__agent_watch_forks() ((void)0)
#endif

/* Draws the id of this thread. */
WEFT__SELDOM static inline int32_t weft__agent_draw(void) {
  weft_agent *agent = &WEFT_AGENT();
  weft__agent_watch_forks();
  do agent->id = (int32_t)(WEFT_RANDOM() & 0x0fffffff);
  while (agent->id == 0);
  return agent->id;
}

/* This thread's id, 1 to 2^28 - 1, drawn at random when first asked for. If
   WEFT_PROCESS_SHARED is defined, the child of a fork draws another one. */
static inline int32_t weft_agent_id(void) {
#ifdef WEFT_AGENT_ID /* kernel.c gets the id with each call */
  return WEFT_AGENT_ID();
#else
  int32_t id = WEFT_AGENT().id;
  return id != 0 ? id : weft__agent_draw();
#endif
}

/* Whether an agent can have this id: 1 to 2^28 - 1. */
#define WEFT__AGENT_CAN_BE(id) ((id) >= 1 && (id) <= 0x0fffffff)

/* Sets the id of this thread; EINVAL if `id` is not 1 to 2^28 - 1. */
static inline int weft_agent_set_id(int32_t id) {
  if (!WEFT__AGENT_CAN_BE(id)) return EINVAL;
  weft__agent_watch_forks();
  WEFT_AGENT().id = id;
#ifdef WEFT__ACTS
  weft__acts_as = -1;
#endif
  return 0;
}

/* Whether this thread has the role that a word names, and the system is known
   to run fences: where one comparison tells both. If not, neither is known. */
static inline bool weft__acts(const int32_t *word) {
#ifdef WEFT__ACTS
  return weft__hint(word) == weft__acts_as;
#else
  (void)word;
  return false;
#endif
}

/* As weft__take_role, where this thread may not have the role. */
WEFT__HARDLY static inline int weft__take_role_slow(int32_t *word) {
  int32_t id = weft_agent_id();
  if (weft__hint(word) != id && weft__compare_exchange(word, 0, id) != 0)
    return EPERM;
#ifdef WEFT__ACTS
  if (weft__hint(&weft__system_fences) > 0) weft__acts_as = id;
#endif
  return 0;
}

/* Makes this thread the only agent with the role that a word names, if it is
   not that already. EPERM if another agent has the role; nothing was changed.
   */
static inline WEFT__SHARED int weft__take_role(int32_t *word) {
  return WEFT__OFTEN(weft__acts(word)) ? 0 : weft__take_role_slow(word);
}

/* Ends the role of agent `id`, if it has it. Returns how many roles that
   was. */
static inline int32_t weft__leave_role(int32_t *word, int32_t id) {
  return id != 0 && weft__compare_exchange(word, id, 0) == id ? 1 : 0;
}

#if defined(__EMSCRIPTEN_PTHREADS__)
extern int _emscripten_thread_supports_atomics_wait(void);
#endif

/*
 * Sets whether this thread may block. If it may not, blocking calls return
 * EPERM before they touch anything. By default every thread may block, except
 * the main thread of a page. Call it with `false` in an audio worklet, and in a
 * page that is built without Emscripten's pthreads. With `true` the main thread
 * of a page spins instead of sleeping, and the page does not respond meanwhile.
 */
static inline void weft_agent_set_blocking(bool allowed) {
  WEFT_AGENT().blocking = allowed ? 1 : -1;
}

static inline WEFT__SHARED bool weft__may_block(void) {
  weft_agent *agent = &WEFT_AGENT();
  if (agent->blocking == 0) {
#if defined(__EMSCRIPTEN_PTHREADS__)
    /* The main thread of a page could only spin until the time is over. */
    agent->blocking = _emscripten_thread_supports_atomics_wait() ? 1 : -1;
#else
    agent->blocking = 1;
#endif
  }
  return agent->blocking > 0;
}

WEFT__END

#endif /* WEFT_AGENT_H */

/* _call_words.h - the words of a call ring, how it is made, and where its
   calls lie. */
#ifndef WEFT__CALL_WORDS_H
#define WEFT__CALL_WORDS_H

#include "_event_count.h"
#include "_region.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* In a state: the agent that it is about, the phase, and whether somebody
   sleeps. */
#define WEFT_CALL_RING_ID_MASK 0xfffffff /* CALL_RING_BITS.ID */
#define WEFT_CALL_RING_PHASE_MASK (7 << 28) /* CALL_RING_BITS.PHASE */
#define WEFT_CALL_RING_WAITING_BIT INT32_MIN /* CALL_RING_BITS.WAITING */
/* The phases of a call, and which agent the state names. */
#define WEFT_CALL_RING_FREE 0
#define WEFT_CALL_RING_CLAIMED (1 << 28) /* the caller, which writes */
#define WEFT_CALL_RING_POSTED (2 << 28)  /* the caller */
#define WEFT_CALL_RING_SERVING (3 << 28) /* the server */
#define WEFT_CALL_RING_DROPPED (4 << 28) /* the server; nobody waits */
#define WEFT_CALL_RING_REPLIED (5 << 28) /* the caller, for all from here */
#define WEFT_CALL_RING_FAILED (6 << 28)
#define WEFT_CALL_RING_LOST (7 << 28)
/* In caller: that agent was abandoned. */
#define WEFT_CALL_RING_DEAD_BIT (1 << 28) /* CALL_RING_BITS.DEAD */

/* How many entries there are from `dead` on, and where an entry has its
   round. */
#define WEFT__CALL_ENTRIES 16
#define WEFT__CALL_ROUND_SHIFT 28 /* CALL_RING_BITS.ROUND */

/* In `shape`: the number of slots less 1, above the words of a request. */
#define WEFT__CALL_SLOTS_SHIFT 22 /* CALL_RING_BITS.SLOTS */
#define WEFT__CALL_WORDS_MASK 0x3fffff /* CALL_RING_BITS.WORDS */
#define WEFT__CALL_MAX_SLOTS 1024
#define WEFT__CALL_MAX_BYTES (1 << 30)

/* The configuration of a ring. `slots` is how many calls may be under way at
   the same time, 1 to 1024. `request` is the most bytes of a request, 0 to 2^24
   - 4, `reply` those of a reply; both are rounded up to multiples of 4. All
   slots together have at most 2^30 bytes. */
typedef struct {
  int32_t slots;
  int32_t request;
  int32_t reply;
} weft_call_ring_config;

/* A call is its slot: these words, then the request, then the reply. */
typedef struct {
  int32_t state;
  int32_t caller;
  int32_t request_length;
  int32_t reply_length;
} weft_call;

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A ring of calls from many callers to many servers.
 *
 * word 0   magic          Kind and layout version.
 * word 1   shape          bits 0-21   the most words of a request
 *                         bits 22-31  the number of slots, less 1
 * word 2   reply          The most bytes of a reply, a multiple of 4.
 * word 3   seal           Check word over the configuration.
 * word 4   closed         1 after `close`.
 * word 32  serve_epoch    Changes when sleeping servers must look again.
 *                         sleepers: servers
 * word 33  serve_waiters  bits 0-30  servers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 34  look           The slot where a server written in C looks first.
 * word 64  slot_epoch     Changes when callers without a slot must look again.
 *                         sleepers: callers without a slot
 * word 65  slot_waiters   bits 0-30  callers that sleep there, or are about to
 *                         bit 31     one of them awaits, or did
 * word 66  pauses         How many pauses callers still owe to others, which
 *                         found no free slot.
 * word 67  deaths         How many agents were abandoned, modulo 2^32.
 * word 68  dead           The first of 16 words for the agents that were
 *                         abandoned last: entry `n` lies in word 68 + `n`
 *                         modulo 16.
 *                         bits 0-27   the agent
 *                         bits 28-31  `n` / 16, modulo 16
 * word 96  The slots, each at a multiple of 32 words. A slot has four words:
 *          `state`, the agent id of the caller, the length of the request and
 *          the length of the reply. The bytes of both follow. In `state`, bits
 *          0-27 are the id of the agent that the state names. Bits 28-30 are 0
 *          FREE, 1 CLAIMED by a caller, 2 POSTED, 3 SERVING, 4 DROPPED (a
 *          server has it, and the caller gave up), 5 REPLIED, 6 FAILED or 7
 *          LOST (its server died). Bit 31 says that the caller sleeps there.
 *          Bit 28 of the caller says that it died.
 *
 * Freed when: every operation of every agent has returned, close included, and
 * none will begin. That it is closed and empty does not say so.
 */
typedef struct {
  int32_t magic;
  int32_t shape;
  int32_t reply;
  int32_t seal;
  int32_t closed;
  int32_t _pad0[27];
  int32_t serve_epoch;
  int32_t serve_waiters;
  int32_t look;
  int32_t _pad1[29];
  int32_t slot_epoch;
  int32_t slot_waiters;
  int32_t pauses;
  int32_t deaths;
  int32_t dead;
  int32_t _pad2[27];
} weft_call_ring;
WEFT_WORD(call_ring, magic, 0);
WEFT_WORD(call_ring, shape, 1);
WEFT_WORD(call_ring, reply, 2);
WEFT_WORD(call_ring, seal, 3);
WEFT_WORD(call_ring, closed, 4);
WEFT_WORD(call_ring, serve_epoch, 32);
WEFT_WORD(call_ring, serve_waiters, 33);
WEFT_WORD(call_ring, look, 34);
WEFT_WORD(call_ring, slot_epoch, 64);
WEFT_WORD(call_ring, slot_waiters, 65);
WEFT_WORD(call_ring, pauses, 66);
WEFT_WORD(call_ring, deaths, 67);
WEFT_WORD(call_ring, dead, 68);
WEFT_LENGTH(call_ring, 96);
/* clang-format on */
/* End of what `deno task layout` makes. */

/*
 * Serves a call: reads `length` bytes of `request` and writes at most max_reply
 * bytes to `reply`. Returns how many bytes it wrote. A handler that fails
 * writes a message of `n` bytes instead, and returns -1 - n.
 */
typedef int32_t (*weft_call_handler)(void *context, const void *request,
                                     int32_t length, void *reply);

static inline int32_t weft__call_rounded(int32_t bytes) {
  return (int32_t)(((uint32_t)bytes + 3) & ~UINT32_C(3));
}

/* The bytes of a slot, for lengths that are multiples of 4. */
static inline size_t weft__call_stride(int32_t request, int32_t reply) {
  size_t bytes = sizeof(weft_call) + (size_t)request + (size_t)reply;
  return (bytes + 127) / 128 * 128;
}

/* The bytes of a ring as a constant expression; 0 if out of range. */
#define WEFT_CALL_RING_BYTES(slots, request, reply)                      \
  ((slots) < 1 || (slots) > WEFT__CALL_MAX_SLOTS || (request) < 0 ||     \
           (request) > WEFT__CALL_WORDS_MASK * 4 || (reply) < 0 ||       \
           (reply) > WEFT__CALL_MAX_BYTES ||                             \
           WEFT__CALL_SLOT(request, reply) >                             \
               (WEFT__CALL_MAX_BYTES - sizeof(weft_call_ring)) / (slots) \
       ? 0                                                               \
       : sizeof(weft_call_ring) + WEFT__CALL_SLOT(request, reply) * (slots))
#define WEFT__CALL_SLOT(request, reply)                           \
  WEFT__MULTIPLE(sizeof(weft_call) + WEFT__MULTIPLE(request, 4) + \
                     WEFT__MULTIPLE(reply, 4),                    \
                 128)

/* The bytes of a ring of this configuration; 0 if it is out of range. */
static inline size_t weft_call_ring_bytes(weft_call_ring_config config) {
  const int32_t most = WEFT__CALL_WORDS_MASK * 4;
  if (config.slots < 1 || config.slots > WEFT__CALL_MAX_SLOTS) return 0;
  if (config.request < 0 || config.request > most) return 0;
  if (config.reply < 0 || config.reply > WEFT__CALL_MAX_BYTES) return 0;
  size_t stride = weft__call_stride(weft__call_rounded(config.request),
                                    weft__call_rounded(config.reply));
  size_t room = (size_t)WEFT__CALL_MAX_BYTES - sizeof(weft_call_ring);
  if (stride > room / (size_t)config.slots) return 0;
  return sizeof(weft_call_ring) + (size_t)config.slots * stride;
}

/* The ring at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_call_ring *weft_call_ring_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_call_ring) != NULL) return NULL;
  return (weft_call_ring *)at;
}

/* Initializes `bytes` bytes of unused memory as a ring without calls. NULL if
   the configuration is out of range, the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_call_ring *weft_call_ring_init(
    void *at, size_t bytes, weft_call_ring_config config) {
  weft_call_ring *r = (weft_call_ring *)at;
  size_t needed = weft_call_ring_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  uint32_t slots = (uint32_t)(config.slots - 1) << WEFT__CALL_SLOTS_SHIFT;
  uint32_t words = (uint32_t)weft__call_rounded(config.request) / 4;
  r->shape = (int32_t)(slots | words);
  r->reply = weft__call_rounded(config.reply);
  r->seal = weft__seal(WEFT_KIND_call_ring, r->shape, r->reply);
  weft__store(&r->magic, weft__magic(WEFT_KIND_call_ring));
  return r;
}

/* How many calls may be under way at the same time. */
static inline int32_t weft_call_ring_slots(const weft_call_ring *r) {
  return (int32_t)((uint32_t)r->shape >> WEFT__CALL_SLOTS_SHIFT) + 1;
}

/* The most bytes of a request. */
static inline int32_t weft_call_ring_max_request(const weft_call_ring *r) {
  return (r->shape & WEFT__CALL_WORDS_MASK) * 4;
}

/* The most bytes of a reply. */
static inline int32_t weft_call_ring_max_reply(const weft_call_ring *r) {
  return r->reply;
}

static inline weft_call *weft__call_at(const weft_call_ring *r, int32_t slot) {
  size_t stride = weft__call_stride(weft_call_ring_max_request(r), r->reply);
  return (weft_call *)(void *)((char *)(uintptr_t)(r + 1) +
                               (size_t)slot * stride);
}

/* How many slots are in use. The number may change at any moment. */
static inline int32_t weft_call_ring_pending(const weft_call_ring *r) {
  int32_t count = 0;
  for (int32_t i = weft_call_ring_slots(r); i-- > 0;)
    if (weft__load(&weft__call_at(r, i)->state) != WEFT_CALL_RING_FREE) count++;
  return count;
}

/* Whether close was called; calls may still be under way. */
static inline bool weft_call_ring_closed(const weft_call_ring *r) {
  return weft__load(&r->closed) != 0;
}

static inline int32_t weft__call_phase(int32_t state) {
  return state & WEFT_CALL_RING_PHASE_MASK;
}

WEFT__END

#endif

#endif /* WEFT__CALL_WORDS_H */

/* striped_counter.h - the twin of primitives/striped_counter.ts. */
#ifndef WEFT_STRIPED_COUNTER_H
#define WEFT_STRIPED_COUNTER_H

#include "_region.h"
#include "_stripes.h"
#include "agent.h"

WEFT__BEGIN

/* The most stripes a counter can have. */
#define WEFT_STRIPED_COUNTER_MAX_STRIPES 1024

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A sum that many agents add to.
 *
 * word 0   magic    Kind and layout version.
 * word 1   stripes  How many stripes there are, 1 to 1024.
 * word 2   seal     Check word over the configuration.
 * word 3   claims   Views, or threads of C, that took a stripe, modulo 2^32.
 * word 32  Stripes of 32 words each. A stripe has `low`, the sum of the numbers
 *          added there, modulo 2^32, and `high`, that sum divided by 2^28. A
 *          carry into `high` may be late.
 *
 * Freed when: every operation of every agent has returned, and none will begin.
 */
typedef struct {
  int32_t magic;
  int32_t stripes;
  int32_t seal;
  int32_t claims;
  int32_t _pad0[28];
} weft_striped_counter;
WEFT_WORD(striped_counter, magic, 0);
WEFT_WORD(striped_counter, stripes, 1);
WEFT_WORD(striped_counter, seal, 2);
WEFT_WORD(striped_counter, claims, 3);
WEFT_LENGTH(striped_counter, 32);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* One of a counter's stripes, on a cache line of its own. */
typedef struct {
  weft__stripe sum;
  int32_t _pad[30];
} weft_striped_counter_stripe;

/* The bytes of a counter as a constant expression; 0 if out of range. */
#define WEFT_STRIPED_COUNTER_BYTES(stripes)                      \
  ((stripes) < 1 || (stripes) > WEFT_STRIPED_COUNTER_MAX_STRIPES \
       ? 0                                                       \
       : sizeof(weft_striped_counter) +                          \
             sizeof(weft_striped_counter_stripe) * (stripes))

/* The bytes of a counter with 1 to 1024 stripes; 0 if the number is out of
   range. */
static inline size_t weft_striped_counter_bytes(int32_t stripes) {
  return WEFT_STRIPED_COUNTER_BYTES((uint32_t)stripes);
}

/* The counter at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_striped_counter *weft_striped_counter_attach(
    void *at) {
  if (weft_attach_error(at, WEFT_KIND_striped_counter) != NULL) return NULL;
  return (weft_striped_counter *)at;
}

/* Initializes `bytes` bytes of unused memory as a counter with a sum of 0. NULL
   if the number of stripes is out of range, the bytes are too few, or `at` is
   not a multiple of 4. */
static inline WEFT__RESULT weft_striped_counter *weft_striped_counter_init(
    void *at, size_t bytes, int32_t stripes) {
  weft_striped_counter *c = (weft_striped_counter *)at;
  size_t needed = weft_striped_counter_bytes(stripes);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  c->stripes = stripes;
  c->seal = weft__seal(WEFT_KIND_striped_counter, stripes, 0);
  weft__store(&c->magic, weft__magic(WEFT_KIND_striped_counter));
  return c;
}

/* How many stripes it has: that many agents can add without meeting. */
static inline int32_t weft_striped_counter_stripes(
    const weft_striped_counter *c) {
  return c->stripes;
}

/* Returns a stripe for this thread alone, while there are stripes left; then
   threads share them. */
static inline weft_striped_counter_stripe *weft_striped_counter_claim(
    weft_striped_counter *c) {
  uint32_t claims = (uint32_t)weft__add(&c->claims, 1);
  return (weft_striped_counter_stripe *)(c + 1) + claims % (uint32_t)c->stripes;
}

/* Adds n, as weft_striped_counter_add does, to a stripe that this thread
   claimed. */
static inline void weft_striped_counter_add_to(weft_striped_counter_stripe *s,
                                               int32_t n) {
  while (n > WEFT__STRIPE_SECTOR) {
    weft__stripe_add(&s->sum, WEFT__STRIPE_SECTOR);
    n -= WEFT__STRIPE_SECTOR;
  }
  while (n < -WEFT__STRIPE_SECTOR) {
    weft__stripe_add(&s->sum, -WEFT__STRIPE_SECTOR);
    n += WEFT__STRIPE_SECTOR;
  }
  weft__stripe_add(&s->sum, n);
}

/* Adds n, which may be negative, to the stripe that the id of this thread
   selects; two threads may share it. More than 2^28 is added in several steps.
   */
static inline void weft_striped_counter_add(weft_striped_counter *c,
                                            int32_t n) {
  uint32_t id = (uint32_t)weft_agent_id();
  id = weft__times(id, UINT32_C(0x9e3779b1)) >> 16;
  weft_striped_counter_add_to(
      (weft_striped_counter_stripe *)(c + 1) + id % (uint32_t)c->stripes, n);
}

/* The sum of all that was added. Other agents may add while it counts. */
static inline int64_t weft_striped_counter_sum(const weft_striped_counter *c) {
  const weft_striped_counter_stripe *s =
      (const weft_striped_counter_stripe *)(c + 1);
  int64_t sum = 0;
  for (int32_t i = 0; i < c->stripes; i++) sum += weft__stripe_sum(&s[i].sum);
  return sum;
}

WEFT__END

#endif /* WEFT_STRIPED_COUNTER_H */

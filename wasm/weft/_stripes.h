/* _stripes.h - the twin of primitives/_lock/stripes.ts. */
#ifndef WEFT__STRIPES_H
#define WEFT__STRIPES_H

#include "_layout.h"

WEFT__BEGIN

/* `high` counts sectors of this size. The top 4 bits of `low` are the lowest 4
   bits of that count. */
#define WEFT__STRIPE_SECTOR_BITS 28
#define WEFT__STRIPE_SECTOR (1 << WEFT__STRIPE_SECTOR_BITS)

/* A sum to which many agents add. */
typedef struct {
  int32_t low;  /* the sum modulo 2^32 */
  int32_t high; /* the sum divided by 2^28; a carry may be late */
} weft__stripe;

/* How far `high` is behind, -8 to 7. */
static inline int32_t weft__stripe_lag(int32_t high, int32_t low) {
  uint32_t sectors = (uint32_t)low >> WEFT__STRIPE_SECTOR_BITS;
  int32_t late = weft__minus((int32_t)sectors, high);
  return (weft__plus(late, 8) & 15) - 8;
}

/* Brings `high` up to date. If the exchange fails, another agent did that. */
static inline void weft__stripe_carry(weft__stripe *s) {
  int32_t high = weft__load(&s->high);
  int32_t late = weft__stripe_lag(high, weft__load(&s->low));
  weft__compare_exchange(&s->high, high, weft__plus(high, late));
}

/* Adds n, at most a sector in either direction. */
static inline void weft__stripe_add(weft__stripe *s, int32_t n) {
  int32_t low = weft__plus(weft__add(&s->low, n), n);
  /* The hint may be old. Then a later step, or the sum, corrects it. */
  if (weft__stripe_lag(weft__hint(&s->high), low) != 0) weft__stripe_carry(s);
}

/* What was added to the stripe. */
static inline int64_t weft__stripe_sum(const weft__stripe *s) {
  int32_t high = weft__load(&s->high);
  int32_t low;
  for (;;) {
    low = weft__load(&s->low);
    int32_t seen = weft__load(&s->high);
    if (seen == high) break;
    high = seen; /* meanwhile `low` may have moved far ahead */
  }
  int64_t sectors = (int64_t)high + weft__stripe_lag(high, low);
  return sectors * WEFT__STRIPE_SECTOR + (low & (WEFT__STRIPE_SECTOR - 1));
}

/* Whether the words can be those of a sum. */
static inline bool weft__stripe_is_sum(const weft__stripe *s) {
  int32_t high = weft__load(&s->high);
  return weft__stripe_lag(high, weft__load(&s->low)) != -8;
}

WEFT__END

#endif /* WEFT__STRIPES_H */
